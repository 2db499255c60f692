/*
 * Runs as a table of one value a line: run, scope, index, kind, name, value.
 * Six columns always; an empty value is none.
 */

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "render_int.h"

static int
begin(struct cl_render *r, struct cl_err *err)
{

	(void)err;
	cl_dst_printf(r->dst, "run\tscope\tindex\tkind\tname\tvalue\n");
	return (CL_OK);
}

/* All of a line before its value. */
static void
key(struct cl_render *r, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const char *name)
{
	static const char *const scopes[] = { "", "run", "phase", "layer",
	    "window" };

	cl_dst_printf(r->dst, "%zu\t%s\t", r->nruns, scopes[scope]);
	if (scope == CL_STATS_PHASE)
		cl_dst_printf(r->dst, "%s", index == 0 ? "prefill" :
		    "decode");
	else if (scope != CL_STATS_RUN)
		cl_dst_printf(r->dst, "%u", index);
	cl_dst_printf(r->dst, "\t%s\t", kind);
	cl_cell_tsv_text(r->dst, name);
	cl_dst_printf(r->dst, "\t");
}

static void
value(struct cl_render *r, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const char *name, const struct cl_cell *cell)
{

	key(r, scope, index, kind, name);
	cl_cell_tsv(cell, r->dst);
	cl_dst_printf(r->dst, "\n");
}

static void
conditions(struct cl_render *r, const char *kind,
    const struct cl_stats_conds *conds)
{
	struct cl_cell cell;
	size_t i;

	for (i = 0; i < conds->n; i++) {
		cell = cl_cell_cond(&conds->cond[i]);
		value(r, CL_STATS_RUN, 0, kind, conds->cond[i].name, &cell);
	}
}

/* The rows of a scope; columns that no row of it uses are left out. */
static void
rows(struct cl_render *r, const struct cl_run *run, enum cl_stats_kind kind,
    enum cl_stats_scope scope)
{
	static const char *const kinds[] = { "", "logical", "measured" };
	const struct cl_run_rows *all = &run->rows[kind][scope];
	const struct cl_stats_columns *columns = &run->columns[kind];
	struct cl_cell cell;
	size_t i, k;

	for (i = 0; i < all->n; i++) {
		if (scope == CL_STATS_WINDOW && kind == CL_STATS_LOGICAL) {
			cell = (struct cl_cell){ .type = CL_STATS_U64,
			    .u = all->row[i].tokens };
			value(r, scope, all->row[i].index, "logical",
			    "tokens_end", &cell);
		}
		for (k = 0; k < columns->n; k++) {
			if (scope != CL_STATS_RUN &&
			    !cl_run_holds(run, kind, scope, k))
				continue;
			cell = cl_run_cell(run, kind, &all->row[i], k);
			value(r, scope, all->row[i].index, kinds[kind],
			    columns->column[k].name, &cell);
		}
	}
}

static void
ratio(struct cl_render *r, const char *name, uint64_t part, uint64_t whole,
    double factor)
{
	struct cl_cell cell = { .type = CL_STATS_NONE };

	if (cl_figure_ratio(part, whole, &cell.f)) {
		cell.type = CL_STATS_F64;
		cell.f *= factor;
	}
	value(r, CL_STATS_RUN, 0, "ratio", name, &cell);
}

static void
ratios(struct cl_render *r, const struct cl_run *run)
{
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	const struct cl_run_row *met = cl_run_find(run, CL_STATS_MEASURED,
	    CL_STATS_RUN, 0);
	uint64_t accesses, hits, tokens, wall;

	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "accesses", &accesses);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "hits", &hits);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "tokens", &tokens);
	(void)cl_run_count(run, CL_STATS_MEASURED, met, "wall_ns", &wall);
	ratio(r, "hit_rate", hits, accesses, 1);
	ratio(r, "tokens_per_s", tokens, tokens == 0 ? 0 : wall, 1e9);
}

static int
one_run(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{
	static const enum cl_stats_scope order[] = { CL_STATS_RUN,
	    CL_STATS_PHASE, CL_STATS_LAYER, CL_STATS_WINDOW };
	struct cl_cell cell;
	size_t i;

	(void)err;
	conditions(r, "condition", &run->conds);
	conditions(r, "machine", &run->machine);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		rows(r, run, CL_STATS_LOGICAL, order[i]);
		rows(r, run, CL_STATS_MEASURED, order[i]);
		if (order[i] == CL_STATS_RUN)
			ratios(r, run);
	}
	cell = (struct cl_cell){ .type = CL_STATS_STR,
	    .s = cl_run_end(run) };
	value(r, CL_STATS_RUN, 0, "end", "end", &cell);
	cell = (struct cl_cell){ .type = run->whole ? CL_STATS_U64 :
	    CL_STATS_NONE, .u = run->end.tokens };
	value(r, CL_STATS_RUN, 0, "end", "tokens_read", &cell);
	cell = (struct cl_cell){ .type = run->whole && run->end.routing != 0 ?
	    CL_STATS_HASH : CL_STATS_NONE, .u = run->end.routing };
	value(r, CL_STATS_RUN, 0, "end", "routing_fingerprint", &cell);
	return (CL_OK);
}

static int
end(struct cl_render *r, struct cl_err *err)
{

	(void)r;
	(void)err;
	return (CL_OK);
}

const struct render_form cl_render_tsv = { begin, one_run, end };
