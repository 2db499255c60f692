/*
 * What a tally writes adds up, and says what it does not know.
 */

#include <string.h>

#include "cl/buf.h"
#include "cl/counters.h"
#include "cl/err.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/tally.h"
#include "memio.h"
#include "stats_run.h"
#include "stats_say.h"
#include "unit.h"

/* A cell of a run that write_run has written; there: is it there at all? */
static struct cl_stats_value
cell(const struct cl_buf *buf, unsigned kind, unsigned scope, unsigned index,
    const char *name, uint64_t *tokens)
{
	struct cl_err err = { 0 };
	struct cl_stats_reader *r;
	struct cl_stats_value v = { 0 };
	const struct cl_stats_rec *rec;
	size_t i;
	int found = 0;

	r = cl_stats_reader_new(mem_src(buf->p, buf->n, 4096), &err);
	while (cl_stats_read(r, &rec, &err) == CL_OK) {
		if (rec->kind != CL_STATS_REC_ROW || rec->row->kind != kind ||
		    rec->row->scope != scope || rec->row->index != index)
			continue;
		i = cl_stats_column(rec->columns, name);
		assert(i < rec->row->n);
		v = rec->row->value[i];
		*tokens = rec->row->tokens;
		found++;
	}
	assert(found == 1);
	cl_stats_reader_free(r);
	return (v);
}

/* What write_run has counted. */
static const struct {
	unsigned	 kind, scope, index;
	const char	*name;
	uint64_t	 want, tokens;
} counts[] = {
	{ 1, CL_STATS_RUN, 0, "accesses", 50, 30 },
	{ 1, CL_STATS_RUN, 0, "hits", 33, 30 },
	{ 1, CL_STATS_RUN, 0, "misses", 17, 30 },
	{ 1, CL_STATS_RUN, 0, "digest", 0xd2, 30 },
	{ 1, CL_STATS_PHASE, 0, "cold", 7, 20 },
	{ 1, CL_STATS_PHASE, 1, "capacity", 10, 10 },
	{ 1, CL_STATS_PHASE, 1, "bypass", 5, 10 },
	{ 1, CL_STATS_LAYER, 1, "misses", 12, 0 },
	{ 1, CL_STATS_LAYER, 4, "hits", 33, 0 },
	{ 1, CL_STATS_LAYER, 4, "demand_bytes", 500, 0 },
	{ 1, CL_STATS_WINDOW, 0, "tokens", 20, 20 },
	{ 1, CL_STATS_WINDOW, 0, "digest", 0xd1, 20 },
	{ 1, CL_STATS_WINDOW, 1, "tokens", 10, 30 },
	{ 1, CL_STATS_WINDOW, 1, "hits", 30, 30 },
	{ 1, CL_STATS_WINDOW, 1, "demand_bytes", 1000, 30 },
	{ 2, CL_STATS_RUN, 0, "wall_ns", 80, 30 },
	{ 2, CL_STATS_WINDOW, 0, "wall_ns", 50, 20 },
	{ 2, CL_STATS_WINDOW, 1, "wall_ns", 30, 30 },
	{ 2, CL_STATS_WINDOW, 1, "rss_peak", 8192, 30 },
	{ 2, CL_STATS_LAYER, 4, "io_wait_ns", 77, 0 },
	{ 2, CL_STATS_PHASE, 0, "wall_ns", 50, 20 },
	{ 2, CL_STATS_PHASE, 1, "wall_ns", 30, 10 },
};
static const struct {
	unsigned	 scope, index;
	const char	*name;
	double		 want;
} reals[] = {
	{ CL_STATS_RUN, 0, "dropped_mass", 0.75 },
	{ CL_STATS_WINDOW, 1, "dropped_mass", 0.25 },
	{ CL_STATS_RUN, 0, "max_delta", 4 },
	{ CL_STATS_PHASE, 1, "max_delta", 3 },
	{ CL_STATS_WINDOW, 0, "max_delta", 4 },
	{ CL_STATS_WINDOW, 1, "max_delta", 3 },
};
static const struct {
	unsigned	 kind, scope, index;
	const char	*name;
} nothing[] = {
	{ 1, CL_STATS_PHASE, 0, "digest" },
	{ 1, CL_STATS_LAYER, 1, "tokens" },
	{ 1, CL_STATS_LAYER, 1, "max_delta" },
	{ 2, CL_STATS_LAYER, 1, "wall_ns" },
	{ 2, CL_STATS_WINDOW, 1, "rss_start" },
	{ 2, CL_STATS_PHASE, 1, "rss_peak" },
};

static void
tally_adds_up(void)
{
	struct cl_buf buf;
	struct cl_stats_value v;
	uint64_t tokens;
	size_t i;

	cl_buf_init(&buf);
	write_run(&buf, true, true);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		v = cell(&buf, counts[i].kind, counts[i].scope,
		    counts[i].index, counts[i].name, &tokens);
		assert(v.there && v.u == counts[i].want);
		assert(tokens == counts[i].tokens);
	}
	for (i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		v = cell(&buf, 1, reals[i].scope, reals[i].index,
		    reals[i].name, &tokens);
		assert(v.there);
		assert(!(v.f < reals[i].want || v.f > reals[i].want));
	}
	for (i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		assert(!cell(&buf, nothing[i].kind, nothing[i].scope,
		    nothing[i].index, nothing[i].name, &tokens).there);
	cl_buf_free(&buf);
}

static void
unknown_bytes_are_not_zero(void)
{
	struct cl_buf buf;
	uint64_t tokens;

	cl_buf_init(&buf);
	write_run(&buf, false, false);
	assert(!cell(&buf, 1, CL_STATS_RUN, 0, "demand_bytes",
	    &tokens).there);
	assert(!cell(&buf, 1, CL_STATS_LAYER, 1, "demand_bytes",
	    &tokens).there);
	assert(cell(&buf, 1, CL_STATS_RUN, 0, "misses", &tokens).u == 17);
	cl_buf_free(&buf);
}

static void
names_are_those_of_the_manual(void)
{
	struct cl_tally *t = cl_tally_new(NULL, 0, true, true, NULL);
	size_t i;

	for (i = 0; i < CL_N_COUNTERS; i++)
		assert(cl_counters_name((enum cl_counter)i) != NULL);
	for (i = 0; i < CL_F_COUNTERS; i++)
		assert(cl_counters_f64_name((enum cl_counter_f64)i) != NULL);
	for (i = 0; i < CL_M_MEASURES; i++)
		assert(cl_counters_measure_name((enum cl_measure)i) != NULL);
	assert(strcmp(cl_counters_name(CL_N_DIGEST), "digest") == 0);
	assert(strcmp(cl_counters_name(CL_N_STAGE_HITS), "stage_hits") == 0);
	assert(strcmp(cl_counters_measure_name(CL_M_IO_WAIT_NS),
	    "io_wait_ns") == 0);
	cl_tally_free(t);
}

static const struct unit units[] = {
	{ "phases, layers, windows and the run are of the same counts",
	    tally_adds_up },
	{ "byte counters are absent where bytes are unknown",
	    unknown_bytes_are_not_zero },
	{ "every counter has a name", names_are_those_of_the_manual },
};

UNIT_MAIN(units)
