/*
 * predict: each predictor foretells what its sentence says, and nothing of
 * what is still to come.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/predict.h"
#include "cl/rng.h"
#include "cl/rule.h"
#include "unit.h"

#define E	8
#define K	2
#define NLAYERS	2

static struct cl_rule rule;

static struct cl_predict *
predictor(const char *text, uint32_t width)
{
	struct cl_predict_options o = { .width = width, .seed = 1 };
	struct cl_predict_layer layers[NLAYERS] = { { 3, &rule },
	    { 7, &rule } };
	struct cl_predict *p;

	cl_rule_init(&rule, E, K);
	assert(cl_predict_parse(text, &o, NULL) == CL_OK);
	p = cl_predict_new(&o, layers, NLAYERS, NULL);
	assert(p != NULL);
	return (p);
}

/* A cell of digits. */
static struct cl_predict_cell
cell(uint32_t seq, uint64_t token, const char *digits, uint16_t ids[E])
{
	struct cl_predict_cell c = { .seq = seq, .token = token, .ids = ids };

	for (; *digits != '\0'; digits++)
		ids[c.n++] = (uint16_t)(*digits - '0');
	return (c);
}

static void
tell(struct cl_predict *p, uint32_t i, uint32_t seq, const char *digits)
{
	uint16_t ids[E];
	struct cl_predict_cell c = cell(seq, 0, digits, ids);

	cl_predict_tell(p, i, &c);
}

/* What is foretold of a token that will choose truth. */
static void
foretold(struct cl_predict *p, uint32_t i, uint32_t seq, const char *truth,
    const char *digits)
{
	uint16_t ids[E], out[E], want[E];
	struct cl_predict_cell c = cell(seq, 0, truth, ids);
	struct cl_predict_cell w = cell(seq, 0, digits, want);

	assert(cl_predict_choose(p, i, &c, out) == w.n);
	assert(memcmp(out, want, w.n * sizeof(want[0])) == 0);
}

static void
previous_is_of_the_same_sequence_and_layer(void)
{
	struct cl_predict *p = predictor("previous", 0);

	foretold(p, 0, 1, "45", "");
	tell(p, 0, 1, "45");
	tell(p, 1, 1, "70");
	tell(p, 0, 2, "10");
	foretold(p, 0, 1, "10", "45");
	foretold(p, 1, 1, "10", "70");
	foretold(p, 1, 2, "10", "");
	tell(p, 0, 1, "");		/* the layer was not evaluated */
	foretold(p, 0, 1, "10", "");
	cl_predict_forget(p);
	foretold(p, 0, 2, "10", "");
	cl_predict_free(p);
}

static void
of_sequences_with_one_remainder_the_last_is_remembered(void)
{
	struct cl_predict *p = predictor("previous", 3);

	tell(p, 0, 5, "4567");
	tell(p, 0, 5 + CL_PREDICT_SEQUENCES - 1, "10");
	foretold(p, 0, 5, "", "456");		/* width 3 */
	tell(p, 1, 5 + CL_PREDICT_SEQUENCES, "2");
	foretold(p, 0, 5, "", "");
	foretold(p, 0, 5 + CL_PREDICT_SEQUENCES, "", "");
	foretold(p, 1, 5 + CL_PREDICT_SEQUENCES, "", "2");
	cl_predict_free(p);
}

static void
popular_is_the_most_used_so_far(void)
{
	struct cl_predict *p = predictor("popular", 3);
	uint64_t seed = 5, uses[E] = { 0 };
	uint16_t ids[E], out[E];
	struct cl_predict_cell c = { .ids = ids, .n = 1 };
	uint32_t i, j, e, n, best;
	bool taken[E];

	foretold(p, 0, 1, "45", "");
	tell(p, 0, 1, "54");
	foretold(p, 0, 9, "", "45");
	tell(p, 0, 1, "5");
	foretold(p, 0, 9, "", "54");
	foretold(p, 1, 9, "", "");
	for (i = 0; i < 300; i++) {
		ids[0] = (uint16_t)(cl_rng_below(&seed, E) &
		    cl_rng_below(&seed, E));
		uses[ids[0]]++;
		cl_predict_tell(p, 1, &c);
		n = cl_predict_choose(p, 1, &c, out);
		memset(taken, 0, sizeof(taken));
		for (j = 0; j < 3; j++) {
			for (e = 0, best = E; e < E; e++)
				if (!taken[e] && uses[e] > 0 && (best == E ||
				    uses[e] > uses[best]))
					best = e;
			if (best == E)
				break;
			taken[best] = true;
			assert(j < n && out[j] == best);
		}
		assert(j == n);
	}
	cl_predict_free(p);
}

static void
ahead_is_the_rule_on_the_forecast(void)
{
	static const float forecast[E] = { 1, 5, 3, 5, -2, 0, 4, 2 };
	struct cl_predict *p = predictor("ahead", 4);
	uint16_t out[E];
	struct cl_predict_cell c = { .forecast = forecast };

	assert(cl_predict_choose(p, 0, &c, out) == 4);
	assert(out[0] == 1 && out[1] == 3 && out[2] == 6 && out[3] == 2);
	foretold(p, 0, 1, "45", "");
	cl_predict_free(p);
	p = predictor("ahead", 0);
	assert(cl_predict_choose(p, 0, &c, out) == K);
	cl_predict_free(p);
	p = predictor("ahead", 100);
	assert(cl_predict_choose(p, 0, &c, out) == E);
	cl_predict_free(p);
}

static void
ahead_goes_no_further_than_groups_that_the_rule_uses(void)
{
	static const float forecast[E] = { 1, 5, 3, 5, -2, 0, 4, 2 };
	struct cl_predict_options o = { .kind = CL_PREDICT_AHEAD,
	    .width = E };
	struct cl_predict_layer layer = { 3, &rule };
	struct cl_predict_cell c = { .forecast = forecast };
	struct cl_predict *p;
	uint16_t out[E];

	cl_rule_init(&rule, E, K);
	rule.ngroup = 4;
	rule.ngroup_used = 2;
	assert((p = cl_predict_new(&o, &layer, 1, NULL)) != NULL);
	assert(cl_predict_choose(p, 0, &c, out) == 4);
	assert(out[0] == 1 && out[1] == 3 && out[2] == 2 && out[3] == 0);
	cl_predict_free(p);
}

static void
the_oracle_keeps_its_share_of_the_truth(void)
{
	struct cl_predict *p = predictor("oracle", E);
	uint16_t ids[E], out[E], again[E];
	struct cl_predict_cell c = cell(1, 0, "70123456", ids);
	uint32_t n, kept = 0;

	foretold(p, 0, 1, "70123456", "70123456");
	cl_predict_free(p);
	p = predictor("oracle:recall=0", E);
	foretold(p, 0, 1, "70123456", "");
	cl_predict_free(p);
	p = predictor("oracle:recall=0.75", E);
	for (c.token = 0; c.token < 2000; c.token++) {
		n = cl_predict_choose(p, 1, &c, out);
		assert(cl_predict_choose(p, 1, &c, again) == n);
		assert(memcmp(out, again, n * sizeof(out[0])) == 0);
		kept += n;
	}
	assert(kept > 16000 * 74 / 100 && kept < 16000 * 76 / 100);
	cl_predict_free(p);
}

static void
names_are_read_and_written(void)
{
	static const char *const same[] = { "off", "previous", "popular",
	    "ahead", "oracle:recall=0.25", "oracle:recall=1" };
	static const char *const bad[] = { "", "Off", "oracle:", "previous:2",
	    "oracle:recall=", "oracle:recall=1.1", "oracle:recall=-1",
	    "oracle:recall=0.5,x" };
	struct cl_predict_options o = { 0 };
	char buf[CL_PREDICT_TEXT];
	struct cl_err err;
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert(cl_predict_parse(same[i], &o, NULL) == CL_OK);
		assert(strcmp(cl_predict_text(&o, buf), same[i]) == 0);
	}
	assert(cl_predict_parse("oracle", &o, NULL) == CL_OK);
	assert(strcmp(cl_predict_text(&o, buf), "oracle:recall=1") == 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert(cl_predict_parse(bad[i], &o, &err) != CL_OK);
		assert(err.msg[0] != '\0');
	}
}

static const struct unit units[] = {
	{ "previous is of the same sequence and layer, and nothing at first",
	    previous_is_of_the_same_sequence_and_layer },
	{ "of sequences with one remainder the last is remembered",
	    of_sequences_with_one_remainder_the_last_is_remembered },
	{ "popular is the most used so far, ties to the lower expert",
	    popular_is_the_most_used_so_far },
	{ "ahead is the rule's choice from the forecast",
	    ahead_is_the_rule_on_the_forecast },
	{ "ahead goes no further than groups that the rule uses",
	    ahead_goes_no_further_than_groups_that_the_rule_uses },
	{ "the oracle keeps its share of the truth, the same each time",
	    the_oracle_keeps_its_share_of_the_truth },
	{ "names are read and written", names_are_read_and_written },
};

UNIT_MAIN(units)
