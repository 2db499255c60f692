/*
 * A comparison as a table of one name a line: pair, scope, index, kind, name,
 * the values of a and b, and b - a where that is a number.
 */

#include <inttypes.h>
#include <math.h>

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

static void
line(struct cl_compare *c, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const struct field *f)
{
	char place[32];

	cl_dst_printf(c->dst, "%zu\t%s\t%s\t", c->npairs,
	    cl_run_place(place, scope, index), kind);
	cl_cell_tsv_text(c->dst, f->name);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->a, c->dst);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->b, c->dst);
	cl_dst_printf(c->dst, "\t");
	change(c, f);
	cl_dst_printf(c->dst, "\n");
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
	line(c, CL_STATS_RUN, 0, "verdict", &f);
	if (note != NULL) {
		f = (struct field){ "forced", { .type = CL_STATS_STR,
		    .s = note }, { .type = CL_STATS_STR, .s = note } };
		line(c, CL_STATS_RUN, 0, "verdict", &f);
	}
	return (CL_OK);
}

static int
end(struct cl_compare *c, struct cl_err *err)
{

	(void)c;
	(void)err;
	return (CL_OK);
}

const struct compare_form cl_compare_tsv = { begin, pair, end };
