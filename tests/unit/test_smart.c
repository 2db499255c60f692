/*
 * Cache-aware routing: by hand, and against a twin that is written from the
 * header and looks at everything anew for each choice.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rng.h"
#include "cl/route.h"
#include "cl/rule.h"
#include "cl/smart.h"
#include "unit.h"

#define E	12
#define K	4

static struct cl_rule
plain_rule(void)
{
	struct cl_rule rule = { 0 };

	cl_rule_init(&rule, E, K);
	return (rule);
}

static struct cl_smart *
make(const char *text, double drop, const struct cl_rule *rule)
{
	struct cl_smart_options o = { 0 };
	struct cl_smart *s;

	assert(cl_smart_parse(text, &o, NULL) == CL_OK);
	o.drop = drop;
	assert((s = cl_smart_new(&o, &rule, 1, NULL)) != NULL);
	return (s);
}

/* Scores 11, 10, ... 0: expert e has rank e. */
static void
falling(float *scores)
{
	uint32_t e;

	for (e = 0; e < E; e++)
		scores[e] = (float)(E - 1 - e) / 4;
}

static uint32_t
choose(struct cl_smart *s, const float *scores, const char *residents,
    uint16_t *ids, struct cl_smart_price *price)
{
	static const uint16_t plain[K] = { 0, 1, 2, 3 };
	uint8_t resident[E] = { 0 };

	for (; *residents != '\0'; residents++)
		resident[*residents - 'a'] = 1;
	memset(price, 0, sizeof(*price));
	return (cl_smart_choose(s, 0, scores, plain, K, resident, ids,
	    price));
}

static void
expect(const uint16_t *ids, uint32_t n, const char *letters)
{
	uint32_t i;

	assert(n == strlen(letters));
	for (i = 0; i < n; i++)
		assert(ids[i] == letters[i] - 'a');
}

static void
a_near_resident_takes_the_place_of_a_missing_expert(void)
{
	struct cl_rule rule = plain_rule();
	struct cl_smart *s = make("delta:0.75", 0, &rule);
	struct cl_smart_price price;
	float scores[E];
	uint16_t ids[K];

	falling(scores);
	expect(ids, choose(s, scores, "acfg", ids, &price), "abcf");
	assert(price.choices == 4 && price.substituted == 1);
	assert(price.max_delta == 0.5);		/* d to f; b to g is 1.25 */
	assert(price.dropped_mass > 0 && price.gate_total < 1);
	expect(ids, choose(s, scores, "abcd", ids, &price), "abcd");
	assert(price.substituted == 0 && price.dropped_mass == 0);
	expect(ids, choose(s, scores, "", ids, &price), "abcd");
	cl_smart_free(s);
}

static void
residents_of_the_first_ranks_fill_in_but_for_the_kept(void)
{
	struct cl_rule rule = plain_rule();
	struct cl_smart *s = make("rank:6,keep=2", 0, &rule);
	struct cl_smart_price price;
	float scores[E];
	uint16_t ids[K];

	falling(scores);
	expect(ids, choose(s, scores, "efg", ids, &price), "abef");
	assert(price.substituted == 2 && price.max_delta == 0.5);
	expect(ids, choose(s, scores, "g", ids, &price), "abcd");
	expect(ids, choose(s, scores, "df", ids, &price), "abfd");
	cl_smart_free(s);
}

static void
a_prior_raises_residents_by_the_mean_spread(void)
{
	struct cl_rule rule = plain_rule();
	struct cl_smart *s = make("prior:0.2", 0, &rule);
	struct cl_smart_price price;
	float scores[E];
	uint16_t ids[K];

	falling(scores);			/* a spread of 2.75: +0.55 */
	expect(ids, choose(s, scores, "ef", ids, &price), "abec");
	assert(price.substituted == 1 && price.max_delta == 0.25);
	scores[0] += 8.25f;			/* 11, a mean of 6.875: +1.375 */
	expect(ids, choose(s, scores, "efgh", ids, &price), "aefg");
	cl_smart_free(s);
}

static void
a_missing_expert_of_a_small_share_is_left_out(void)
{
	struct cl_rule rule = plain_rule();
	struct cl_smart *s = make("off", 0.6, &rule);
	struct cl_smart_price price;
	float scores[E];
	uint16_t ids[K];

	falling(scores);	/* shares of 0.35, 0.27, 0.21 and 0.17 */
	expect(ids, choose(s, scores, "", ids, &price), "abcd");
	scores[3] -= 1;
	expect(ids, choose(s, scores, "", ids, &price), "abc");
	assert(price.dropped == 1 && price.dropped_mass > 0);
	scores[1] -= 2;				/* who is left out stands behind */
	expect(ids, choose(s, scores, "", ids, &price), "ac");
	expect(ids + 2, K - 2, "bd");
	scores[1] += 2;
	expect(ids, choose(s, scores, "d", ids, &price), "abcd");
	assert(price.dropped == 0 && price.dropped_mass == 0);
	cl_smart_free(s);
}

static bool
among(const uint16_t *ids, uint32_t n, uint32_t e)
{

	while (n > 0)
		if (ids[--n] == e)
			return (true);
	return (false);
}

/* The twin of delta and rank, which knows the gates of a plain softmax. */
static void
twin(const struct cl_smart_options *o, const float *scores,
    const uint16_t *order, const uint8_t *resident, const uint16_t *plain,
    uint16_t *ids)
{
	uint32_t i, j, e, best;

	memcpy(ids, plain, K * sizeof(*ids));
	for (i = 0; i < K; i++) {
		best = E;
		if (resident[ids[i]])
			continue;
		for (j = 0; j < E && best == E; j++) {
			e = order[j];
			if (resident[e] && !among(plain, K, e) &&
			    !among(ids, K, e))
				best = e;
			if (o->kind == CL_SMART_RANK && (i < o->keep ||
			    j >= (o->among < K ? K : o->among)))
				best = E;
		}
		if (best < E && (o->kind == CL_SMART_RANK ||
		    (double)scores[ids[i]] - (double)scores[best] <=
		    o->value))
			ids[i] = (uint16_t)best;
	}
}

static void
random_choices_are_the_twins(void)
{
	static const char *const kinds[] = { "delta:0", "delta:0.25",
	    "delta:1", "rank:1", "rank:6", "rank:9,keep=1", "rank:12,keep=3" };
	struct cl_rule rule = plain_rule(), all = rule;
	struct cl_route *route = cl_route_new(E, NULL);
	uint32_t round, kind, e, n;
	uint64_t seed = 7, substituted = 0;

	assert(route != NULL);
	all.k = E;
	for (round = 0; round < 700; round++) {
		struct cl_smart_options o = { 0 };
		struct cl_smart_price price = { 0 };
		float scores[E];
		uint8_t resident[E];
		uint16_t order[E], ids[E], want[K];
		struct cl_smart *s;

		kind = round % 7;
		assert(cl_smart_parse(kinds[kind], &o, NULL) == CL_OK);
		assert((s = cl_smart_new(&o, (const struct cl_rule *[]){
		    &rule }, 1, NULL)) != NULL);
		for (e = 0; e < E; e++) {
			scores[e] = (float)cl_rng_below(&seed, 16) / 8;
			resident[e] = cl_rng_below(&seed, 3) == 0;
		}
		cl_route_choose(route, &all, scores, order, NULL);
		twin(&o, scores, order, resident, order, want);
		n = cl_smart_choose(s, 0, scores, order, K, resident, ids,
		    &price);
		assert(n == K && memcmp(ids, want, sizeof(want)) == 0);
		for (e = 0, n = 0; e < K; e++)
			n += !among(order, K, want[e]);
		assert(price.substituted == n && price.choices == K);
		substituted += n;
		cl_smart_free(s);
	}
	assert(substituted > 200);
	cl_route_free(route);
}

static void
scores_that_are_no_numbers_do_no_harm(void)
{
	static const char *const kinds[] = { "delta:1", "rank:8",
	    "prior:0.5", "off" };
	struct cl_rule rule = plain_rule();
	struct cl_smart_price price;
	float scores[E];
	uint16_t ids[K];
	struct cl_smart *s;
	uint32_t i, n;

	for (i = 0; i < 4; i++) {
		s = make(kinds[i], 0.5, &rule);
		falling(scores);
		scores[1] = NAN;
		scores[4] = INFINITY;
		n = choose(s, scores, "efg", ids, &price);
		assert(n <= K && isfinite(price.dropped_mass));
		assert(isfinite(price.gate_total));
		cl_smart_free(s);
	}
}

static void
texts_are_read_and_written(void)
{
	static const char *const good[][2] = {
		{ "off", "off" }, { "delta:0.5", "delta:0.5" },
		{ "rank:12", "rank:12,keep=0" },
		{ "rank:12,keep=2", "rank:12,keep=2" },
		{ "prior:0.40", "prior:0.4" }
	};
	static const char *const bad[] = { "", "delta", "delta:", "delta:-1",
	    "delta:x", "rank:0", "rank:a", "rank:4,keep=", "rank:4,kept=1",
	    "prior:nan", "on" };
	struct cl_smart_options o;
	char buf[CL_SMART_TEXT];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert(cl_smart_parse(good[i][0], &o, NULL) == CL_OK);
		assert(strcmp(cl_smart_text(&o, buf), good[i][1]) == 0);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert(cl_smart_parse(bad[i], &o, NULL) != CL_OK);
}

static void
rank_goes_no_further_than_groups_that_the_rule_uses(void)
{
	struct cl_rule rule = plain_rule();
	const struct cl_rule *rules = &rule;
	struct cl_smart_options o = { .kind = CL_SMART_RANK, .among = E };
	struct cl_smart_price price;
	struct cl_smart *s;
	float scores[E];
	uint16_t ids[K];

	falling(scores);
	rule.ngroup = 3;
	rule.ngroup_used = 1;
	assert((s = cl_smart_new(&o, &rules, 1, NULL)) != NULL);
	expect(ids, choose(s, scores, "el", ids, &price), "abcd");
	assert(price.substituted == 0);
	cl_smart_free(s);
}

static const struct unit table[] = {
	{ "rank goes no further than groups that the rule uses",
	    rank_goes_no_further_than_groups_that_the_rule_uses },
	{ "a near resident takes the place of a missing expert",
	    a_near_resident_takes_the_place_of_a_missing_expert },
	{ "residents of the first ranks fill in, but for the kept",
	    residents_of_the_first_ranks_fill_in_but_for_the_kept },
	{ "a prior raises residents by the mean spread",
	    a_prior_raises_residents_by_the_mean_spread },
	{ "a missing expert of a small share is left out",
	    a_missing_expert_of_a_small_share_is_left_out },
	{ "random choices are the twin's", random_choices_are_the_twins },
	{ "scores that are no numbers do no harm",
	    scores_that_are_no_numbers_do_no_harm },
	{ "texts are read and written", texts_are_read_and_written },
};

UNIT_MAIN(table)
