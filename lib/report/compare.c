/*
 * Matching and judging.  Columns and conditions are matched by name, rows by
 * index; what one side lacks is compared with nothing, which equals nothing
 * but itself.  Unknown is never taken for 0, and never skipped.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/num.h"
#include "cl/stats_read.h"
#include "cl/text.h"
#include "cl/vec.h"
#include "compare_int.h"

const char *const cl_compare_forms[] = { "text", "tsv", "json", NULL };

static const struct compare_form *const forms[] = { &cl_compare_text,
    &cl_compare_tsv, &cl_compare_json };

int
cl_compare_load(struct cl_compare_side *side, struct cl_stats_reader *in,
    struct cl_err *err)
{
	int status;

	for (;;) {
		status = cl_vec_grow(&side->run, &side->cap, side->n + 1,
		    sizeof(*side->run), err);
		if (status != CL_OK)
			return (status);
		status = cl_run_next(in, &side->run[side->n], err);
		if (status != CL_OK) {
			cl_run_free(&side->run[side->n]);
			return (status == CL_END ? CL_OK : status);
		}
		side->n++;
	}
}

bool
cl_compare_cond(const struct cl_compare_pair *p, size_t i, struct field *f)
{
	const struct cl_stats_conds *a = &p->a->conds, *b = &p->b->conds;

	if (i < a->n) {
		f->name = a->cond[i].name;
		f->a = cl_cell_cond(&a->cond[i]);
		f->b = cl_run_cond(p->b, f->name);
		return (true);
	}
	if ((i -= a->n) >= b->n)
		return (false);
	f->name = b->cond[i].name;	/* once more, where a has it, too */
	f->a = cl_run_cond(p->a, f->name);
	f->b = cl_stats_find(a, f->name) == NULL ?
	    cl_cell_cond(&b->cond[i]) : f->a;
	return (true);
}

/* All columns of a, then those that only b has. */
void
cl_compare_match_columns(struct cl_compare_columns *m,
    const struct cl_stats_columns *a, const struct cl_stats_columns *b)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		m->a[i] = (uint16_t)i;
		m->b[i] = (uint16_t)cl_stats_column(b, a->column[i].name);
	}
	m->n = a->n;
	for (i = 0; i < b->n; i++) {
		if (cl_stats_column(a, b->column[i].name) < a->n)
			continue;
		m->a[m->n] = (uint16_t)a->n;
		m->b[m->n++] = (uint16_t)i;
	}
}

int
cl_compare_match(struct cl_compare_pair *p, struct cl_err *err)
{
	size_t kind;

	for (kind = CL_STATS_LOGICAL; kind <= CL_STATS_MEASURED; kind++)
		cl_compare_match_columns(&p->columns[kind],
		    &p->a->columns[kind], &p->b->columns[kind]);
	return (cl_compare_match_tables(p, err));
}

bool
cl_compare_field(const struct cl_compare_pair *p, enum cl_stats_kind kind,
    const struct row_pair *rows, size_t i, struct field *f)
{
	const struct cl_compare_columns *m = &p->columns[kind];
	const struct cl_stats_columns *a = &p->a->columns[kind];

	if (i >= m->n)
		return (false);
	f->name = m->a[i] < a->n ? a->column[m->a[i]].name :
	    p->b->columns[kind].column[m->b[i]].name;
	f->a = cl_run_cell(p->a, kind, rows->a, m->a[i]);
	f->b = cl_run_cell(p->b, kind, rows->b, m->b[i]);
	return (true);
}

/* The first row whose index is not below next, or NULL. */
static const struct cl_run_row *
row_from(const struct cl_run_rows *rows, uint64_t next)
{
	size_t lo = 0, hi = rows->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (rows->row[mid].index < next)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (lo == rows->n ? NULL : &rows->row[lo]);
}

bool
cl_compare_rows(const struct cl_compare_pair *p, enum cl_stats_kind kind,
    enum cl_stats_scope scope, uint64_t *next, struct row_pair *out)
{

	out->a = row_from(&p->a->rows[kind][scope], *next);
	out->b = row_from(&p->b->rows[kind][scope], *next);
	if (out->a == NULL && out->b == NULL)
		return (false);
	if (out->a == NULL || (out->b != NULL &&
	    out->b->index < out->a->index))
		out->index = out->b->index;
	else
		out->index = out->a->index;
	if (out->a != NULL && out->a->index != out->index)
		out->a = NULL;
	if (out->b != NULL && out->b->index != out->index)
		out->b = NULL;
	*next = (uint64_t)out->index + 1;
	return (true);
}

bool
cl_compare_differ(const struct cl_compare_pair *p, enum cl_stats_kind kind,
    const struct row_pair *rows)
{
	struct field f;
	size_t i;

	for (i = 0; cl_compare_field(p, kind, rows, i, &f); i++)
		if (!cl_cell_equal(&f.a, &f.b))
			return (true);
	return (false);
}

bool
cl_compare_windows(const struct cl_compare_pair *p)
{
	const struct cl_run_rows *a =
	    &p->a->rows[CL_STATS_LOGICAL][CL_STATS_WINDOW];
	const struct cl_run_rows *b =
	    &p->b->rows[CL_STATS_LOGICAL][CL_STATS_WINDOW];
	size_t i;

	if (a->n != b->n)
		return (false);
	for (i = 0; i < a->n; i++)
		if (a->row[i].index != b->row[i].index ||
		    a->row[i].tokens != b->row[i].tokens)
			return (false);
	return (true);
}

int
cl_compare_check(const struct cl_compare_pair *p, struct cl_err *err)
{
	const char *a = cl_run_cond_text(p->a, "contract", "unknown");
	const char *b = cl_run_cond_text(p->b, "contract", "unknown");
	struct cl_cell ma = cl_run_cond(p->a, "model_fingerprint");
	struct cl_cell mb = cl_run_cond(p->b, "model_fingerprint");
	uint64_t ra = p->a->end.routing, rb = p->b->end.routing;
	const char *wa = cl_run_what(p->a), *wb = cl_run_what(p->b);
	char va[40], vb[40];

	if (strcmp(wa, wb) != 0)
		return (cl_fail(err, CL_EINVAL, "different kinds of run, %s "
		    "and %s: they have little to compare",
		    cl_text_vis(va, sizeof(va), wa, strlen(wa)),
		    cl_text_vis(vb, sizeof(vb), wb, strlen(wb))));
	if (strcmp(a, b) != 0)
		return (cl_fail(err, CL_EINVAL, "different contracts, %s and "
		    "%s: the same events are counted by other rules",
		    cl_text_vis(va, sizeof(va), a, strlen(a)),
		    cl_text_vis(vb, sizeof(vb), b, strlen(b))));
	if (ra != 0 && rb != 0 && ra != rb)
		return (cl_fail(err, CL_EINVAL, "different traces, of routing "
		    "%016llx and %016llx: other choices were replayed",
		    (unsigned long long)ra, (unsigned long long)rb));
	if (ma.type == CL_STATS_HASH && mb.type == CL_STATS_HASH &&
	    ma.u != mb.u)
		return (cl_fail(err, CL_EINVAL, "different models, %016llx "
		    "and %016llx: their experts are not the same things",
		    (unsigned long long)ma.u, (unsigned long long)mb.u));
	return (CL_OK);
}

/* Rows of a scope that either side has, and those that differ. */
static size_t
count_differing(const struct cl_compare_pair *p, enum cl_stats_scope scope,
    size_t *n)
{
	struct row_pair rows;
	uint64_t next = 0;
	size_t differ = 0;

	*n = 0;
	while (cl_compare_rows(p, CL_STATS_LOGICAL, scope, &next, &rows)) {
		++*n;
		differ += cl_compare_differ(p, CL_STATS_LOGICAL, &rows);
	}
	return (differ);
}

static size_t
count_counters(const struct cl_compare_pair *p, size_t *n)
{
	struct row_pair rows;
	struct field f;
	uint64_t next = 0;
	size_t differ = 0;

	*n = 0;
	if (!cl_compare_rows(p, CL_STATS_LOGICAL, CL_STATS_RUN, &next, &rows))
		return (0);
	for (; cl_compare_field(p, CL_STATS_LOGICAL, &rows, *n, &f); ++*n)
		differ += !cl_cell_equal(&f.a, &f.b);
	return (differ);
}

/* The window in which the digests part. */
static void
find_parting(const struct cl_compare_pair *p, struct cl_compare_verdict *v)
{
	struct row_pair rows;
	struct cl_cell a, b;
	uint64_t next = 0, from = 0;

	while (v->windows && cl_compare_rows(p, CL_STATS_LOGICAL,
	    CL_STATS_WINDOW, &next, &rows)) {
		a = cl_run_named(p->a, CL_STATS_LOGICAL, rows.a, "digest");
		b = cl_run_named(p->b, CL_STATS_LOGICAL, rows.b, "digest");
		if (!cl_cell_equal(&a, &b)) {
			v->parted = true;
			v->parted_from = from;
			v->parted_to = rows.a->tokens;
			return;
		}
		from = rows.a->tokens;
	}
}

void
cl_compare_judge(const struct cl_compare_pair *p,
    struct cl_compare_verdict *v)
{
	size_t n;

	memset(v, 0, sizeof(*v));
	v->counters_differ = count_counters(p, &v->counters);
	v->phases_differ = count_differing(p, CL_STATS_PHASE, &n);
	v->layers_differ = count_differing(p, CL_STATS_LAYER, &v->layers);
	v->windows = cl_compare_windows(p);
	if (v->windows)
		v->windows_differ = count_differing(p, CL_STATS_WINDOW, &n);
	v->tables = p->ntables;
	for (n = 0; n < p->ntables; n++)
		v->tables_differ += !cl_compare_table_same(p, &p->table[n]);
	find_parting(p, v);
	v->same = v->counters_differ == 0 && v->phases_differ == 0 &&
	    v->layers_differ == 0 && v->windows_differ == 0 &&
	    v->tables_differ == 0;
}

struct cl_compare *
cl_compare_new(unsigned form, struct cl_dst *dst,
    const struct cl_render_options *options, const struct cl_compare_side *a,
    const struct cl_compare_side *b, const struct cl_compare_pairs *pairs,
    struct cl_err *err)
{
	static const struct cl_cell zero = { .type = CL_STATS_U64 };
	struct cl_compare *c;

	if ((c = calloc(1, sizeof(*c))) == NULL) {
		cl_fail_nomem(err, "a comparison");
		return (NULL);
	}
	c->form = forms[form];
	c->dst = dst;
	c->options = *options;
	c->a = a;
	c->b = b;
	c->pairs = pairs;
	c->hits = (struct field){ "hits", zero, zero };
	c->misses = (struct field){ "misses", zero, zero };
	if (c->form->begin(c, err) != CL_OK) {
		cl_compare_free(c);
		return (NULL);
	}
	return (c);
}

/* Add a counter of a whole run to a sum that is known. */
static void
add_up(struct cl_cell *sum, const struct cl_run *run, const char *name)
{
	const struct cl_run_row *row = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	uint64_t n;

	if (!cl_run_count(run, CL_STATS_LOGICAL, row, name, &n) ||
	    !cl_add(sum->u, n, &sum->u))
		sum->type = CL_STATS_NONE;
}

int
cl_compare_pair(struct cl_compare *c, const struct cl_compare_pair *p,
    const char *note, struct cl_err *err)
{
	struct cl_compare_verdict v;

	c->npairs++;
	cl_compare_judge(p, &v);
	c->nsame += v.same;
	add_up(&c->hits.a, p->a, c->hits.name);
	add_up(&c->hits.b, p->b, c->hits.name);
	add_up(&c->misses.a, p->a, c->misses.name);
	add_up(&c->misses.b, p->b, c->misses.name);
	return (c->form->pair(c, p, &v, note, err));
}

int
cl_compare_end(struct cl_compare *c, struct cl_err *err)
{

	return (c->form->end(c, err));
}

void
cl_compare_free(struct cl_compare *c)
{

	free(c);
}

void
cl_compare_side_free(struct cl_compare_side *side)
{
	size_t i;

	for (i = 0; i < side->n; i++)
		cl_run_free(&side->run[i]);
	free(side->run);
	side->run = NULL;
	side->n = side->cap = 0;
}
