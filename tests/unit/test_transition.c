/*
 * What followed on what: against a count for every pair, whatever form the
 * rows have; and the memory that it takes.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/rng.h"
#include "cl/transition.h"
#include "unit.h"

#define NCOLUMNS	3u
#define K		6u

/* Columns of so many experts each. */
static struct cl_keys
make_keys(struct cl_keys_column *column, uint32_t n, uint32_t nexperts)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		column[i] = (struct cl_keys_column){ .layer = i,
		    .base = i * nexperts, .nexperts = nexperts, .k = K };
	return ((struct cl_keys){ .ncolumns = n, .nkeys = n * nexperts,
	    .nlargest = nexperts, .kmax = K, .column = column });
}

/* Distinct experts, few of them mostly. */
static struct cl_cell
choose(uint16_t ids[K], uint32_t nexperts, uint64_t *rng)
{
	struct cl_cell cell = { .ids = ids };
	uint32_t among, i;
	uint16_t id;

	while (cell.n < K && cell.n < nexperts) {
		among = 1 + (uint32_t)cl_rng_below(rng, nexperts);
		id = (uint16_t)cl_rng_below(rng, among);
		for (i = 0; i < cell.n && ids[i] != id; i++)
			continue;
		if (i == cell.n)
			ids[cell.n++] = id;
	}
	return (cell);
}

/* By counts of all pairs: the next best each time, ties to the lower. */
static uint32_t
choose_plainly(const uint32_t *count, uint32_t nexperts,
    const struct cl_cell *before, uint16_t *ids, uint32_t width)
{
	uint64_t *sum = calloc(nexperts, sizeof(*sum)), best;
	uint32_t i, e, n;

	assert(sum != NULL);
	for (i = 0; i < before->n; i++)
		for (e = 0; e < nexperts; e++)
			sum[e] += count[(size_t)before->ids[i] * nexperts + e];
	for (n = 0; n < width; n++) {
		for (best = 0, e = 0; e < nexperts; e++)
			if (sum[e] > best) {
				best = sum[e];
				ids[n] = (uint16_t)e;
			}
		if (best == 0)
			break;
		sum[ids[n]] = 0;
	}
	free(sum);
	return (n);
}

static void
against_plain_counts(uint32_t nexperts, unsigned ntokens)
{
	struct cl_keys_column column[NCOLUMNS];
	struct cl_keys keys = make_keys(column, NCOLUMNS, nexperts);
	struct cl_transition *t = cl_transition_new(&keys, 0, NULL);
	size_t npairs = (size_t)nexperts * nexperts;
	uint32_t *count = calloc(NCOLUMNS * npairs, sizeof(*count));
	uint16_t ids[NCOLUMNS][K], *a, *b;
	struct cl_cell cell[NCOLUMNS];
	uint64_t rng = nexperts;
	uint32_t c, i, j, n, width;

	a = calloc(nexperts, sizeof(*a));
	b = calloc(nexperts, sizeof(*b));
	assert(t != NULL && count != NULL && a != NULL && b != NULL);
	for (; ntokens > 0; ntokens--)
		for (c = 0; c < NCOLUMNS; c++) {
			cell[c] = choose(ids[c], nexperts, &rng);
			if (c == 0)
				continue;
			width = 1 + (uint32_t)cl_rng_below(&rng, nexperts);
			n = choose_plainly(count + c * npairs, nexperts,
			    &cell[c - 1], a, width);
			assert(cl_transition_choose(t, c, &cell[c - 1], b,
			    width) == n);
			assert(memcmp(a, b, n * sizeof(*a)) == 0);
			assert(cl_transition_tell(t, c, &cell[c - 1],
			    &cell[c], NULL) == CL_OK);
			for (i = 0; i < cell[c - 1].n; i++)
				for (j = 0; j < cell[c].n; j++)
					count[c * npairs + (size_t)
					    ids[c - 1][i] * nexperts +
					    ids[c][j]]++;
		}
	cl_transition_free(t);
	free(count);
	free(a);
	free(b);
}

static void
counts_are_those_of_all_pairs(void)
{

	against_plain_counts(1, 10);
	against_plain_counts(5, 200);
	against_plain_counts(64, 300);
	against_plain_counts(200, 300);
	against_plain_counts(700, 60);
}

/* 64 layers of 16384 experts could take 67 billion bytes. */
static void
memory_follows_what_was_seen(void)
{
	static struct cl_keys_column column[64];
	struct cl_keys keys = make_keys(column, 64, 16384);
	struct cl_transition *t;
	uint16_t ids[2][K];
	struct cl_cell cell[2];
	unsigned i, c, ntokens = 8;
	uint64_t rng = 1, pairs = (uint64_t)ntokens * 63 * K * K;

	t = cl_transition_new(&keys, pairs * 12, NULL);
	assert(t != NULL);
	for (i = 0; i < ntokens; i++)
		for (c = 0; c < 64; c++) {
			cell[c % 2] = choose(ids[c % 2], 16384, &rng);
			assert(c == 0 || cl_transition_tell(t, c,
			    &cell[(c + 1) % 2], &cell[c % 2], NULL) == CL_OK);
		}
	cl_transition_free(t);
}

/* Tell of n experts that followed on one; how it ends. */
static int
tell(uint64_t limit, uint32_t nexperts, uint16_t n, struct cl_err *err)
{
	struct cl_keys_column column[2];
	struct cl_keys keys = make_keys(column, 2, nexperts);
	struct cl_transition *t = cl_transition_new(&keys, limit, err);
	uint16_t ids[64] = { 0 }, i;
	struct cl_cell one = { .ids = ids, .n = 1 };
	struct cl_cell many = { .ids = ids, .n = n };
	int status;

	assert(t != NULL && n <= 64);
	for (i = 0; i < n; i++)
		ids[i] = i;
	status = cl_transition_tell(t, 1, &one, &many, err);
	cl_transition_free(t);
	return (status);
}

/* A list of 8 takes 48 bytes, one of 16 twice that; a row 4 an expert. */
static void
the_limit_holds(void)
{
	static const struct {
		uint64_t	 limit;
		uint32_t	 nexperts;
		uint16_t	 n;
	} least[] = {
		{ 48, 16384, 8 }, { 96, 16384, 9 }, { 96, 16384, 16 },
		{ 192, 16384, 17 }, { 4 * 63, 63, 1 }, { 4 * 63, 63, 63 },
		{ 48 + 4 * 64, 64, 9 },
	};
	struct cl_err err;
	unsigned i;

	for (i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert(tell(least[i].limit, least[i].nexperts, least[i].n,
		    &err) == CL_OK);
		assert(tell(least[i].limit - 1, least[i].nexperts, least[i].n,
		    &err) == CL_ENOMEM);
	}
	assert(strcmp(err.msg, "counts of transitions between experts need "
	    "more than the 303 bytes of memory that they may take") == 0);
}

static const struct unit units[] = {
	{ "what is foretold is what a count of every pair foretells",
	    counts_are_those_of_all_pairs },
	{ "memory follows what was seen, and not how much there could be",
	    memory_follows_what_was_seen },
	{ "a limit of memory holds at N bytes and not at N - 1",
	    the_limit_holds },
};

UNIT_MAIN(units)
