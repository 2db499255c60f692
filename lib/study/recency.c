/*
 * All keys have a rank from the start, those that were not used behind those
 * that were, so that a key is new where its rank is above the number of keys
 * that were used.
 *
 * A few keys, such as those of a layer, are kept as their ranks, a byte each:
 * a use adds one to all that are below the key's own, sixteen at a time.
 *
 * More are on a line: uses have numbered places, and a bit says that a place is
 * the last use of its key; so the rank of a key is the number of bits from its
 * place on, which is all but those before it.  These are known for each word
 * within its group, for each group within its block, and for each block; a bit
 * that goes takes one from the counts behind it, and one that comes is the last
 * and changes none.  Nothing of this branches by what the trace has.  The line
 * is a few times as long as there are keys; where it ends, the places in use
 * move to its front.
 *
 * Keys are used up to TURN at a time.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/num.h"
#include "cl/recency.h"

#define TURN		8u
#define FEW		256u			/* keys that have bytes */
#define WORD		64u			/* places */
#define FAN		16u			/* words, or groups */
#define GROUP		(WORD * FAN)		/* places */
#define BLOCK		(GROUP * FAN)
#define LENGTH		4u			/* of the line, in keys */
#define BYTES		16u			/* lanes */
#define COUNTS		8u
#define BLOCKS		4u

typedef int8_t bytes __attribute__((vector_size(16)));
typedef uint16_t counts __attribute__((vector_size(16)));
typedef uint32_t blocks __attribute__((vector_size(16)));

struct cl_recency {
	uint32_t	 nkeys;
	uint32_t	 used;		/* so many were */

	/* few keys */
	bytes		*few;		/* ranks less FIRST; NULL: a line */
	uint32_t	 nfew;		/* vectors; what is no key is last */

	/* a line */
	uint32_t	 end;		/* places */
	uint32_t	 next;		/* the first free place */
	uint32_t	 nblocks;	/* and room for a vector behind them */
	uint32_t	*place;		/* of each key */
	uint64_t	*bits;
	uint16_t	*word;		/* bits of the group before each */
	uint16_t	*group;		/* of the block before each */
	uint32_t	*block;		/* before each */
};

static inline bytes
splat(int8_t x)
{
	uint64_t v[2];
	bytes all;

	v[0] = v[1] = (uint8_t)x * UINT64_C(0x0101010101010101);
	memcpy(&all, v, sizeof(all));
	return (all);
}

/* The line reaches a word: so many bits are before it. */
static void
enter_word(struct cl_recency *r, uint32_t word, uint32_t before)
{
	uint32_t group = word / FAN, block = group / FAN;

	if (word % (FAN * FAN) == 0)
		r->block[block] = before;
	before -= r->block[block];
	if (word % FAN == 0)
		r->group[group] = (uint16_t)before;
	r->word[word] = (uint16_t)(before - r->group[group]);
	r->bits[word] = 0;
}

/* All keys are the first places of the line. */
static void
fill_front(struct cl_recency *r)
{
	uint32_t at;

	for (at = 0; at < r->nkeys; at += WORD) {
		enter_word(r, at / WORD, at);
		r->bits[at / WORD] = r->nkeys - at >= WORD ? UINT64_MAX :
		    (UINT64_C(1) << (r->nkeys - at)) - 1;
	}
	r->next = r->nkeys;
}

static int
open_line(struct cl_recency *r)
{
	uint32_t key;
	size_t places;

	r->end = LENGTH * r->nkeys + TURN;
	r->nblocks = r->end / BLOCK + 1;
	places = (size_t)r->nblocks * BLOCK;
	r->place = calloc(r->nkeys, sizeof(*r->place));
	r->bits = calloc(places / WORD, sizeof(*r->bits));
	r->word = calloc(places / WORD, sizeof(*r->word));
	r->group = calloc(places / GROUP, sizeof(*r->group));
	r->block = calloc(r->nblocks + BLOCKS, sizeof(*r->block));
	if (r->place == NULL || r->bits == NULL || r->word == NULL ||
	    r->group == NULL || r->block == NULL)
		return (CL_ENOMEM);
	for (key = 0; key < r->nkeys; key++)
		r->place[key] = key;
	fill_front(r);
	return (CL_OK);
}

static int
open_few(struct cl_recency *r)
{
	int8_t *rank;
	uint32_t i;

	r->nfew = (r->nkeys + BYTES - 1) / BYTES;
	if ((r->few = calloc(r->nfew, sizeof(*r->few))) == NULL)
		return (CL_ENOMEM);
	rank = (int8_t *)r->few;
	for (i = 0; i < r->nfew * BYTES; i++)
		rank[i] = i < r->nkeys ? (int8_t)((int)i + INT8_MIN) :
		    INT8_MAX;
	return (CL_OK);
}

struct cl_recency *
cl_recency_new(uint32_t nkeys, struct cl_err *err)
{
	struct cl_recency *r;

	assert(nkeys > 0 && nkeys < 1u << 28);
	if ((r = calloc(1, sizeof(*r))) != NULL) {
		r->nkeys = nkeys;
		if ((nkeys <= FEW ? open_few(r) : open_line(r)) == CL_OK)
			return (r);
	}
	cl_fail_nomem(err, "ranks of experts");
	cl_recency_free(r);
	return (NULL);
}

/* How many bits are before a place. */
static inline uint32_t
count_before(const struct cl_recency *r, uint32_t place)
{

	return (cl_popcount(r->bits[place / WORD] &
	    ((UINT64_C(1) << place % WORD) - 1)) + r->word[place / WORD] +
	    r->group[place / GROUP] + r->block[place / BLOCK]);
}

/* Of FAN counts, those behind one go down by one. */
static inline void
lower(uint16_t *count, uint32_t at)
{
	static const uint16_t one[2 * FAN] = { [FAN] = 1, 1, 1, 1, 1, 1, 1, 1,
	    1, 1, 1, 1, 1, 1, 1, 1 };
	uint32_t i;
	counts v, w;

	for (i = 0; i < FAN; i += COUNTS) {
		memcpy(&v, count + i, sizeof(v));
		memcpy(&w, one + FAN - 1 - at + i, sizeof(w));
		v -= w;
		memcpy(count + i, &v, sizeof(v));
	}
}

/* A bit goes. */
static inline void
clear_place(struct cl_recency *r, uint32_t place)
{
	uint32_t word = place / WORD, group = place / GROUP, i;
	const uint32_t b = place / BLOCK;
	const blocks block = { b, b, b, b };
	blocks at = { 1, 2, 3, 4 }, v;

	r->bits[word] ^= UINT64_C(1) << place % WORD;
	lower(r->word + group * FAN, word % FAN);
	lower(r->group + b * FAN, group % FAN);
	for (i = 1; i < r->nblocks; i += BLOCKS, at += BLOCKS) {
		memcpy(&v, r->block + i, sizeof(v));
		v += (blocks)(at > block);
		memcpy(r->block + i, &v, sizeof(v));
	}
}

/* Up to TURN bits come, at the end of the line. */
static inline void
add_places(struct cl_recency *r, uint32_t n)
{
	uint32_t word = r->next / WORD, at = r->next % WORD;
	uint64_t ones = (UINT64_C(1) << n) - 1;

	if (at == 0)
		enter_word(r, word, r->nkeys - n);
	r->bits[word] |= ones << at;
	if (at + n > WORD) {
		enter_word(r, word + 1, r->nkeys - n + WORD - at);
		r->bits[word + 1] = ones >> (WORD - at);
	}
	r->next += n;
}

/* The places in use move to the front of the line, in their order. */
static void
compact(struct cl_recency *r)
{
	uint32_t key;

	for (key = 0; key < r->nkeys; key++)
		r->place[key] = count_before(r, r->place[key]);
	fill_front(r);
}

/* The rank of a key, from 0 on, among all. */
static inline uint32_t
order_of(const struct cl_recency *r, uint32_t key)
{

	if (r->few != NULL)
		return ((uint32_t)(((const int8_t *)r->few)[key] - INT8_MIN));
	return (r->nkeys - 1 - count_before(r, r->place[key]));
}

static inline uint32_t
rank_of(const struct cl_recency *r, uint32_t key)
{
	uint32_t order = order_of(r, key);

	return (order < r->used ? order + 1 : 0);
}

uint32_t
cl_recency_rank(const struct cl_recency *r, uint32_t key)
{

	return (rank_of(r, key));
}

/* What members have in their turn: those before it were used since. */
static inline void
order_few(const bytes *limit, uint32_t n, uint32_t *order)
{
	bytes at = { 0, 1, 2, 3, 4, 5, 6, 7 }, own = { 0 }, v = { 0 };
	int8_t *was = (int8_t *)&own;
	uint32_t i;

	for (i = 0; i < n; i++)
		was[i] = ((const int8_t *)&limit[i])[0];
	for (i = 0; i < n; i++)
		v -= (bytes)(limit[i] > own) & (bytes)(at > splat((int8_t)i));
	for (i = 0; i < n; i++)
		order[i] = (uint32_t)(was[i] - INT8_MIN +
		    ((const int8_t *)&v)[i]);
}

/* How many limits are above, as a negative number: what a comparison has. */
static inline bytes
count_above(bytes v, const bytes *limit)
{

	return ((bytes)(v < limit[0]) + (bytes)(v < limit[1]) +
	    (bytes)(v < limit[2]) + (bytes)(v < limit[3]) +
	    (bytes)(v < limit[4]) + (bytes)(v < limit[5]) +
	    (bytes)(v < limit[6]) + (bytes)(v < limit[7]));
}

/* Up to TURN keys are used; order, if any: what each has in its turn. */
static inline void
use_few(struct cl_recency *r, const uint32_t *keys, uint32_t n, uint32_t base,
    uint32_t *order)
{
	int8_t *rank = (int8_t *)r->few;
	bytes limit[TURN];
	uint32_t i;

	for (i = 0; i < n; i++)
		limit[i] = splat(rank[keys[i] - base]);
	for (; i < TURN; i++)
		limit[i] = splat(INT8_MIN);
	if (order != NULL)
		order_few(limit, n, order);
	for (i = 0; i < r->nfew; i++)
		r->few[i] -= count_above(r->few[i], limit);
	for (i = 0; i < n; i++)
		rank[keys[i] - base] = (int8_t)((int)(n - 1 - i) + INT8_MIN);
}

static inline void
use_line(struct cl_recency *r, const uint32_t *keys, uint32_t n, uint32_t base,
    uint32_t *order)
{
	uint32_t i, place;

	if (r->end - r->next < n)
		compact(r);
	for (i = 0; i < n; i++) {
		place = r->place[keys[i] - base];
		if (order != NULL)
			order[i] = r->nkeys - 1 - count_before(r, place);
		clear_place(r, place);
	}
	for (i = 0; i < n; i++)
		r->place[keys[i] - base] = r->next + i;
	add_places(r, n);
}

void
cl_recency_use(struct cl_recency *r, const uint32_t *keys, uint32_t n,
    uint32_t base, uint32_t *rank)
{
	uint32_t i, at, turn;

	for (at = 0; at < n; at += turn) {
		turn = n - at < TURN ? n - at : TURN;
		if (r->few != NULL)
			use_few(r, keys + at, turn, base, rank + at);
		else
			use_line(r, keys + at, turn, base, rank + at);
	}
	for (i = 0; i < n; i++) {
		rank[i] = rank[i] < r->used ? rank[i] + 1 : 0;
		r->used += rank[i] == 0;
	}
}

void
cl_recency_event(struct cl_recency *r, const uint32_t *keys, uint32_t n,
    uint32_t base, uint32_t *rank)
{
	uint32_t i, at, turn, fresh = 0;

	for (i = 0; i < n; i++) {
		rank[i] = rank_of(r, keys[i] - base);
		fresh += rank[i] == 0;
	}
	r->used += fresh;
	for (at = 0; at < n; at += turn) {
		turn = n - at < TURN ? n - at : TURN;
		if (r->few != NULL)
			use_few(r, keys + at, turn, base, NULL);
		else
			use_line(r, keys + at, turn, base, NULL);
	}
}

uint32_t
cl_recency_top(const struct cl_recency *r, uint32_t *keys, uint32_t n)
{
	uint32_t key, rank;

	for (key = 0; key < r->nkeys; key++)
		if ((rank = rank_of(r, key)) > 0 && rank <= n)
			keys[rank - 1] = key;
	return (n < r->used ? n : r->used);
}

void
cl_recency_free(struct cl_recency *r)
{

	if (r == NULL)
		return;
	free(r->few);
	free(r->place);
	free(r->bits);
	free(r->word);
	free(r->group);
	free(r->block);
	free(r);
}
