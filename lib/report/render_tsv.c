/*
 * Runs as a table of one value a line: run, scope, index, kind, name, value.
 * Six columns always; an empty value is none.
 */

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/run.h"
#include "render_int.h"

static const char *const kinds[] = { "", "logical", "measured" };

static int
begin(struct cl_render *r, struct cl_err *err)
{

	(void)err;
	cl_dst_printf(r->dst, "run\tscope\tindex\tkind\tname\tvalue\n");
	return (CL_OK);
}

static void
value(struct cl_render *r, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const char *name, const struct cl_cell *cell)
{
	char place[32];

	cl_dst_printf(r->dst, "%zu\t%s\t%s\t", r->nruns,
	    cl_run_place(place, scope, index), kind);
	cl_cell_tsv_text(r->dst, name);
	cl_dst_printf(r->dst, "\t");
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
ratios(struct cl_render *r, const struct cl_run *run)
{
	struct cl_cell hits = cl_run_hit_rate(run);
	struct cl_cell speed = cl_run_tokens_per_s(run);

	value(r, CL_STATS_RUN, 0, "ratio", "hit_rate", &hits);
	value(r, CL_STATS_RUN, 0, "ratio", "tokens_per_s", &speed);
}

/* Cells of tables; their scope is the table. */
static void
tables(struct cl_render *r, const struct cl_run *run)
{
	const struct cl_run_table *t;
	struct cl_cell cell;
	size_t i, k;

	for (t = run->table; t < run->table + run->ntables; t++)
		for (i = 0; i < t->n; i++)
			for (k = 0; k < t->columns.n; k++) {
				cl_dst_printf(r->dst, "%zu\ttable:",
				    r->nruns);
				cl_cell_tsv_text(r->dst, t->name);
				cl_dst_printf(r->dst, "\t%zu\t%s\t", i,
				    kinds[t->columns.kind]);
				cl_cell_tsv_text(r->dst,
				    t->columns.column[k].name);
				cl_dst_printf(r->dst, "\t");
				cell = cl_run_table_cell(run, t, i, k);
				cl_cell_tsv(&cell, r->dst);
				cl_dst_printf(r->dst, "\n");
			}
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
	tables(r, run);
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
