/*
 * The sum of several runs, for those that differ in nothing but their traces:
 * the members of an archive.  A sum over policies or budgets would say nothing,
 * and is not made.
 */

#include <string.h>

#include "cl/hash.h"
#include "cl/num.h"
#include "cl/run.h"
#include "render_int.h"

const char *const cl_render_summed[RENDER_SUMMED] = { "tokens", "padding",
    "events", "accesses", "hits", "stage_hits", "misses", "cold", "capacity",
    "bypass", "admit_rejects", "evictions", "demand_bytes", "wall_ns" };

bool
cl_render_of_trace(const char *name)
{
	static const char *const names[] = { "trace", "member", "member_name",
	    "origin_text" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (true);
	return (false);
}

uint64_t
cl_render_conditions(const struct cl_run *run,
    bool (*except)(const char *name))
{
	struct cl_hash h;
	struct cl_cell cell;
	char text[300];
	size_t i;

	cl_hash_init(&h);
	for (i = 0; i < run->conds.n; i++) {
		if (except(run->conds.cond[i].name))
			continue;
		cell = cl_cell_cond(&run->conds.cond[i]);
		cl_hash_add_str(&h, run->conds.cond[i].name);
		cl_hash_add_str(&h, cell.type == CL_STATS_STR ? cell.s :
		    cl_cell_text(&cell, text, sizeof(text)));
	}
	return (cl_hash_end(&h));
}

void
cl_render_total_add(struct render_total *t, const struct cl_run *run)
{
	const struct cl_run_row *row[2] = {
	    cl_run_find(run, CL_STATS_LOGICAL, CL_STATS_RUN, 0),
	    cl_run_find(run, CL_STATS_MEASURED, CL_STATS_RUN, 0) };
	uint64_t conds = cl_render_conditions(run, cl_render_of_trace), n;
	enum cl_stats_kind kind;
	bool measured;
	size_t i;

	t->mixed = t->mixed || (t->nruns > 0 && conds != t->conds);
	t->conds = conds;
	t->cut = t->cut || !run->whole || run->end.end != 1;
	t->nruns++;
	for (i = 0; i < RENDER_SUMMED; i++) {
		measured = i == RENDER_SUMMED - 1;
		kind = measured ? CL_STATS_MEASURED : CL_STATS_LOGICAL;
		if (!cl_run_count(run, kind, row[measured],
		    cl_render_summed[i], &n) ||
		    !cl_add(t->sum[i], n, &t->sum[i]))
			t->unknown[i] = true;
	}
}

bool
cl_render_total_is(const struct render_total *t)
{

	return (t->nruns > 1 && !t->mixed);
}

bool
cl_render_total_get(const struct render_total *t, const char *name,
    uint64_t *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < RENDER_SUMMED; i++)
		if (strcmp(cl_render_summed[i], name) == 0 && !t->unknown[i]) {
			*n = t->sum[i];
			return (true);
		}
	return (false);
}
