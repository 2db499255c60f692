/*
 * Runs as strict JSON, laid out as cl-report(1) says.  Counters are exact
 * integers; what has no value is null; layers and windows are a line each.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/run.h"
#include "render_int.h"

static int
begin(struct cl_render *r, struct cl_err *err)
{

	(void)err;
	cl_json_init(&r->json, r->dst);
	cl_json_object(&r->json, NULL);
	cl_json_array(&r->json, "runs");
	return (CL_OK);
}

/* Is it a name of ours?  Readers disagree about names that stand twice. */
static bool
taken(const char *name)
{
	static const char *const ours[] = { "digest", "totals", "phases",
	    "measured", "ratios", "layers", "windows", "machine",
	    "tables", "end", "tokens_read", "routing_fingerprint" };
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(name, ours[i]) == 0)
			return (true);
	return (false);
}

static void
conditions(struct cl_json *j, const struct cl_stats_conds *conds)
{
	struct cl_cell cell;
	size_t i;

	for (i = 0; i < conds->n; i++) {
		if (taken(conds->cond[i].name))
			continue;
		cell = cl_cell_cond(&conds->cond[i]);
		cl_cell_json(&cell, j, conds->cond[i].name);
	}
}

/* The cells of a row under their names; only: columns its scope ever uses. */
static void
members(struct cl_json *j, const struct cl_run *run, enum cl_stats_kind kind,
    enum cl_stats_scope scope, const struct cl_run_row *row, bool only)
{
	struct cl_cell cell;
	size_t i;

	for (i = 0; i < run->columns[kind].n; i++) {
		if (only && !cl_run_holds(run, kind, scope, i))
			continue;
		cell = cl_run_cell(run, kind, row, i);
		cl_cell_json(&cell, j, run->columns[kind].column[i].name);
	}
}

/* An object of one row, or null where there is none. */
static void
row_object(struct cl_json *j, const char *key, const struct cl_run *run,
    enum cl_stats_kind kind, enum cl_stats_scope scope, uint32_t index)
{
	const struct cl_run_row *row = cl_run_find(run, kind, scope, index);

	if (row == NULL) {
		cl_json_null(j, key);
		return;
	}
	cl_json_object(j, key);
	members(j, run, kind, scope, row, scope == CL_STATS_PHASE);
	if (scope == CL_STATS_PHASE)	/* what it took, too */
		members(j, run, CL_STATS_MEASURED, scope, cl_run_find(run,
		    CL_STATS_MEASURED, scope, index), true);
	cl_json_end(j);
}

/* What is true of the whole run by division; null where there is no base. */
static void
ratios(struct cl_json *j, const struct cl_run *run)
{
	struct cl_cell hits = cl_run_hit_rate(run);
	struct cl_cell speed = cl_run_tokens_per_s(run);

	cl_json_object(j, "ratios");
	cl_cell_json(&hits, j, "hit_rate");
	cl_cell_json(&speed, j, "tokens_per_s");
	cl_json_end(j);
}

/* Rows of a scope, logical and measured cells of an index in one object. */
static void
rows_array(struct cl_json *j, const char *key, const char *index_key,
    const struct cl_run *run, enum cl_stats_scope scope)
{
	const struct cl_run_rows *rows = &run->rows[CL_STATS_LOGICAL][scope];
	const struct cl_run_row *row, *met;
	size_t i;

	cl_json_array(j, key);
	for (i = 0; i < rows->n; i++) {
		row = &rows->row[i];
		met = cl_run_find(run, CL_STATS_MEASURED, scope, row->index);
		cl_json_object_row(j, NULL);
		cl_json_u64(j, index_key, row->index);
		if (scope == CL_STATS_WINDOW)
			cl_json_u64(j, "tokens_end", row->tokens);
		members(j, run, CL_STATS_LOGICAL, scope, row, true);
		members(j, run, CL_STATS_MEASURED, scope, met, true);
		cl_json_end(j);
	}
	cl_json_end(j);
}

/* Every table under its name, a row a line. */
static void
tables(struct cl_json *j, const struct cl_run *run)
{
	size_t i;

	cl_json_object(j, "tables");
	for (i = 0; i < run->ntables; i++)
		cl_render_rows_json(j, run->table[i].name, run,
		    &run->table[i]);
	cl_json_end(j);
}

static void
ending(struct cl_json *j, const struct cl_run *run)
{

	cl_json_str(j, "end", cl_run_end(run));
	if (!run->whole) {
		cl_json_null(j, "tokens_read");
		cl_json_null(j, "routing_fingerprint");
		return;
	}
	cl_json_u64(j, "tokens_read", run->end.tokens);
	if (run->end.routing == 0)
		cl_json_null(j, "routing_fingerprint");
	else
		cl_json_hex64(j, "routing_fingerprint", run->end.routing);
}

static int
one_run(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{
	struct cl_json *j = &r->json;
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	struct cl_cell digest = cl_run_named(run, CL_STATS_LOGICAL, all,
	    "digest");

	(void)err;
	cl_json_object(j, NULL);
	conditions(j, &run->conds);
	cl_cell_json(&digest, j, "digest");
	row_object(j, "totals", run, CL_STATS_LOGICAL, CL_STATS_RUN, 0);
	cl_json_object(j, "phases");
	row_object(j, "prefill", run, CL_STATS_LOGICAL, CL_STATS_PHASE, 0);
	row_object(j, "decode", run, CL_STATS_LOGICAL, CL_STATS_PHASE, 1);
	cl_json_end(j);
	row_object(j, "measured", run, CL_STATS_MEASURED, CL_STATS_RUN, 0);
	ratios(j, run);
	rows_array(j, "layers", "layer", run, CL_STATS_LAYER);
	rows_array(j, "windows", "window", run, CL_STATS_WINDOW);
	tables(j, run);
	if (run->machine.n == 0)
		cl_json_null(j, "machine");
	else {
		cl_json_object(j, "machine");
		conditions(j, &run->machine);
		cl_json_end(j);
	}
	ending(j, run);
	cl_json_end(j);
	return (CL_OK);
}

static void
total(struct cl_json *j, const struct render_total *t)
{
	uint64_t n;
	size_t i;

	if (!cl_render_total_is(t)) {
		cl_json_null(j, "total");
		return;
	}
	cl_json_object(j, "total");
	cl_json_u64(j, "runs", t->nruns);
	for (i = 0; i < RENDER_SUMMED; i++)
		if (cl_render_total_get(t, cl_render_summed[i], &n))
			cl_json_u64(j, cl_render_summed[i], n);
		else
			cl_json_null(j, cl_render_summed[i]);
	cl_json_bool(j, "complete", !t->cut);
	cl_json_end(j);
}

static int
end(struct cl_render *r, struct cl_err *err)
{

	(void)err;
	cl_json_end(&r->json);
	total(&r->json, &r->total);
	cl_json_end(&r->json);
	cl_json_finish(&r->json);
	return (CL_OK);
}

const struct render_form cl_render_json = { begin, one_run, end };
