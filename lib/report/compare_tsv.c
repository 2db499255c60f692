/*
 * A comparison as a table of one name a line: pair, scope, index, kind, name,
 * the values of a and b, and b - a where that is a number.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/text.h"
#include "compare_int.h"

static int
begin(struct cl_compare *c, struct cl_err *err)
{

	(void)err;
	cl_dst_printf(c->dst, "pair\tscope\tindex\tkind\tname\ta\tb\t"
	    "change\n");
	return (CL_OK);
}

static void
change(struct cl_compare *c, const struct field *f)
{
	char buf[32];

	if (f->a.type != f->b.type)
		return;
	if (f->a.type == CL_STATS_U64)
		cl_dst_printf(c->dst, "%s%" PRIu64, f->b.u < f->a.u ? "-" :
		    "", f->b.u < f->a.u ? f->a.u - f->b.u : f->b.u - f->a.u);
	else if (f->a.type == CL_STATS_F64 && isfinite(f->b.f - f->a.f))
		cl_dst_printf(c->dst, "%s", cl_text_double(buf,
		    f->b.f - f->a.f));
}

/* The rest of a line: name, values, change. */
static void
finish_line(struct cl_compare *c, const struct field *f)
{

	cl_cell_tsv_text(c->dst, f->name);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->a, c->dst);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->b, c->dst);
	cl_dst_printf(c->dst, "\t");
	change(c, f);
	cl_dst_printf(c->dst, "\n");
}

/* pair: a number, "total", or empty; place: scope and index. */
static void
line_of(struct cl_compare *c, const char *pair, const char *place,
    const char *kind, const struct field *f)
{

	cl_dst_printf(c->dst, "%s\t%s\t%s\t", pair, place, kind);
	finish_line(c, f);
}

static void
table_line(struct cl_compare *c, const char *name,
    const struct table_row *row, const struct field *f)
{

	cl_dst_printf(c->dst, "%zu\ttable:", c->npairs);
	cl_cell_tsv_text(c->dst, name);
	cl_dst_printf(c->dst, "\t%zu\tlogical\t",
	    row->a == CL_COMPARE_ALONE ? row->b : row->a);
	finish_line(c, f);
}

static void
line(struct cl_compare *c, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const struct field *f)
{
	char number[24], place[32];

	(void)snprintf(number, sizeof(number), "%zu", c->npairs);
	line_of(c, number, cl_run_place(place, scope, index), kind, f);
}

/* All rows of a scope; names that neither side has a value for are not. */
static void
rows(struct cl_compare *c, const struct cl_compare_pair *p,
    enum cl_stats_kind kind, enum cl_stats_scope scope)
{
	struct row_pair at;
	struct field f;
	uint64_t next = 0;
	size_t i;

	while (cl_compare_rows(p, kind, scope, &next, &at))
		for (i = 0; cl_compare_field(p, kind, &at, i, &f); i++)
			if (f.a.type != CL_STATS_NONE ||
			    f.b.type != CL_STATS_NONE)
				line(c, scope, at.index,
				    kind == CL_STATS_LOGICAL ? "logical" :
				    "measured", &f);
}

/* Rows of tables that differ, by their number in a, or in b alone. */
static void
tables(struct cl_compare *c, const struct cl_compare_pair *p)
{
	const struct cl_compare_table *t;
	struct table_row row;
	struct field f;
	size_t next, i;

	for (t = p->table; t < p->table + p->ntables; t++)
		for (next = 0; cl_compare_table_next(t, &next, &row);) {
			if (!cl_compare_table_differ(p, t, &row))
				continue;
			for (i = 0; cl_compare_table_field(p, t, &row, i,
			    &f); i++)
				table_line(c, t->name, &row, &f);
		}
}

static int
pair(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_verdict *v, const char *note, struct cl_err *err)
{
	struct field f = { "same", { .type = CL_STATS_BOOL, .u = v->same },
	    { .type = CL_STATS_BOOL, .u = v->same } };
	struct field cond;
	size_t i;

	(void)err;
	for (i = 0; cl_compare_cond(p, i, &cond); i++)
		if (!cl_cell_equal(&cond.a, &cond.b))
			line(c, CL_STATS_RUN, 0, "condition", &cond);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_RUN);
	rows(c, p, CL_STATS_MEASURED, CL_STATS_RUN);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_PHASE);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_LAYER);
	if (v->windows)
		rows(c, p, CL_STATS_LOGICAL, CL_STATS_WINDOW);
	tables(c, p);
	line(c, CL_STATS_RUN, 0, "verdict", &f);
	if (note != NULL) {
		f = (struct field){ "forced", { .type = CL_STATS_STR,
		    .s = note }, { .type = CL_STATS_STR, .s = note } };
		line(c, CL_STATS_RUN, 0, "verdict", &f);
	}
	return (CL_OK);
}

/* The numbers, from 1, of runs without a partner, under their side. */
static void
alone(struct cl_compare *c, const size_t *list, size_t n, bool of_b)
{
	struct field f = { .name = "run" };
	struct cl_cell *cell = of_b ? &f.b : &f.a;
	size_t i;

	cell->type = CL_STATS_U64;
	for (i = 0; i < n; i++) {
		cell->u = list[i] + 1;
		line_of(c, "", "run\t", "unpaired", &f);
	}
}

static void
total_number(struct cl_compare *c, const char *name, size_t n)
{
	struct cl_cell cell = { .type = CL_STATS_U64, .u = n };
	struct field f = { name, cell, cell };

	line_of(c, "total", "run\t", "verdict", &f);
}

static int
end(struct cl_compare *c, struct cl_err *err)
{

	(void)err;
	alone(c, c->pairs->only_a, c->pairs->nonly_a, false);
	alone(c, c->pairs->only_b, c->pairs->nonly_b, true);
	line_of(c, "total", "run\t", "logical", &c->hits);
	line_of(c, "total", "run\t", "logical", &c->misses);
	total_number(c, "pairs", c->npairs);
	total_number(c, "same", c->nsame);
	return (CL_OK);
}

const struct compare_form cl_compare_tsv = { begin, pair, end };
