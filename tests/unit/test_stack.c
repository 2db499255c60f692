/*
 * A stack is what caches of each capacity hold, which are told one by one.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "cl/rng.h"
#include "cl/stack.h"
#include "unit.h"

#define BASE		7u
#define NKEYS		90u		/* at most */
#define NMEMBERS	40u

struct caches {
	uint32_t	nkeys;
	bool		holds[NKEYS + 1][NKEYS];	/* by capacity, key */
	uint64_t	worth[NKEYS];
	uint64_t	nworths;
	uint64_t	seed;
};

/* Another one every time. */
static uint64_t
new_worth(struct caches *c)
{

	return (cl_rng_below(&c->seed, 1u << 31) << 20 | c->nworths++);
}

/* Of what one cache holds and is no member, the least worth; or nkeys. */
static uint32_t
victim(const struct caches *c, uint32_t capacity, const bool *member)
{
	uint32_t key, worst = c->nkeys;

	for (key = 0; key < c->nkeys; key++)
		if (c->holds[capacity][key] && !member[key] &&
		    (worst == c->nkeys || c->worth[key] < c->worth[worst]))
			worst = key;
	return (worst);
}

/* Members that hit stay; the others come, in order, while there is room. */
static void
serve_one(struct caches *c, uint32_t capacity, const uint32_t *keys,
    uint32_t n)
{
	bool *holds = c->holds[capacity], member[NKEYS] = { false };
	uint32_t i, key, used = 0;

	for (key = 0; key < c->nkeys; key++)
		used += holds[key];
	for (i = 0; i < n; i++)
		member[keys[i] - BASE] = true;
	for (i = 0; i < n; i++) {
		if (holds[keys[i] - BASE])
			continue;
		if (used == capacity) {
			if ((key = victim(c, capacity, member)) == c->nkeys)
				return;
			holds[key] = false;
			used--;
		}
		holds[keys[i] - BASE] = true;
		used++;
	}
}

/* The least capacity up to the depth that holds a key, or 0. */
static uint32_t
least(const struct caches *c, uint32_t depth, uint32_t key)
{
	uint32_t capacity;

	for (capacity = 1; capacity <= depth; capacity++)
		if (c->holds[capacity][key])
			return (capacity);
	return (0);
}

static void
check_event(struct caches *c, struct cl_stack *s, uint32_t depth,
    uint32_t most)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(&c->seed, most);
	uint32_t keys[NMEMBERS], place[NMEMBERS], i, j;
	uint64_t worth[NMEMBERS];

	for (i = 0; i < n; i++) {
		do {
			keys[i] = BASE + (uint32_t)cl_rng_below(&c->seed,
			    1 + cl_rng_below(&c->seed, c->nkeys));
			for (j = 0; keys[j] != keys[i]; j++)
				continue;
		} while (j < i);
		worth[i] = new_worth(c);
	}
	cl_stack_event(s, keys, worth, n, BASE, place);
	for (i = 0; i < n; i++)
		assert(place[i] == least(c, depth, keys[i] - BASE));
	for (i = 1; i <= c->nkeys; i++)
		serve_one(c, i, keys, n);
	for (i = 0; i < n; i++)
		c->worth[keys[i] - BASE] = worth[i];
}

/* What the largest cache holds is told anew, and has become worth other. */
static void
deepen(struct caches *c, struct cl_stack *s, uint32_t depth)
{
	uint32_t capacity, key;

	cl_stack_deepen(s, depth);
	for (capacity = 1; capacity <= depth; capacity++)
		for (key = 0; key < c->nkeys; key++)
			if (least(c, depth, key) == capacity) {
				c->worth[key] = new_worth(c);
				cl_stack_append(s, key, c->worth[key]);
			}
}

static void
check_stack(uint32_t nkeys, uint32_t most, uint32_t most_as_a_rule)
{
	struct caches *c = calloc(1, sizeof(*c));
	struct cl_stack *s = cl_stack_new(nkeys, nkeys / 2, most, NULL);
	uint32_t i, depth = nkeys / 2;

	assert(c != NULL && s != NULL);
	c->nkeys = nkeys;
	c->seed = nkeys;
	for (i = 0; i < 2000; i++) {
		check_event(c, s, depth, i % 20 == 0 ? most : most_as_a_rule);
		switch (cl_rng_below(&c->seed, 20)) {
		case 0:
			depth = (uint32_t)cl_rng_below(&c->seed, depth + 1);
			cl_stack_cut(s, depth);
			break;
		case 1:
		case 2:
			depth += (uint32_t)cl_rng_below(&c->seed,
			    nkeys - depth + 1);
			deepen(c, s, depth);
			break;
		}
	}
	cl_stack_free(s);
	free(c);
}

static void
a_place_is_the_least_capacity_that_holds_a_key(void)
{

	check_stack(1, 1, 1);
	check_stack(5, 5, 3);
	check_stack(40, 12, 4);
	check_stack(NKEYS, NMEMBERS, 8);
}

static struct cl_stack *
make_stack(void)
{
	static const uint32_t keys[] = { 0, 1 };
	static const uint64_t worth[] = { 10, 20 };
	struct cl_stack *s = cl_stack_new(8, 4, 2, NULL);
	uint32_t place[2];

	assert(s != NULL);
	cl_stack_event(s, keys, worth, 2, 0, place);
	assert(place[0] == 0 && place[1] == 0);
	return (s);
}

static void
a_cut_forgets_what_is_below(void)
{
	static const uint32_t keys[] = { 1, 0 };
	static const uint64_t worth[] = { 30, 40 };
	struct cl_stack *s = make_stack();
	uint32_t place[2];

	cl_stack_cut(s, 1);
	cl_stack_deepen(s, 4);
	cl_stack_event(s, keys, worth, 2, 0, place);
	assert(place[0] == 0 && place[1] == 1);
	cl_stack_free(s);
}

static void
give_two_the_same_worth(void)
{
	static const uint32_t keys[] = { 0, 1, 2 };
	static const uint64_t worth[] = { 10, 10, 30 };
	struct cl_stack *s = cl_stack_new(8, 4, 2, NULL);
	uint32_t place[2];

	cl_stack_event(s, keys, worth, 2, 0, place);
	cl_stack_event(s, keys + 2, worth + 2, 1, 0, place);
}

static void
append_below_the_depth(void)
{
	struct cl_stack *s = make_stack();

	cl_stack_cut(s, 2);
	cl_stack_append(s, 2, 30);
}

static void
cut_to_more(void)
{

	cl_stack_cut(make_stack(), 5);
}

static void
misuse_fails_an_assertion(void)
{

	assert(unit_aborts(give_two_the_same_worth));
	assert(unit_aborts(append_below_the_depth));
	assert(unit_aborts(cut_to_more));
}

static const struct unit table[] = {
	{ "a place is the least capacity that holds a key, through cuts and "
	    "appends", a_place_is_the_least_capacity_that_holds_a_key },
	{ "a cut forgets what is below", a_cut_forgets_what_is_below },
	{ "misuse fails an assertion", misuse_fails_an_assertion },
};

UNIT_MAIN(table)
