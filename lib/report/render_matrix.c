/*
 * Replays that differ in nothing but policy and budget, as one matrix for
 * people: a line for each policy, by its whole name and its partition, a column
 * for each budget, the share of hits in each cell; and once more for decode
 * alone where prefill, whose unions of many tokens hit otherwise, was counted
 * with it.  A name that is cut has a number, under which it stands whole below
 * the matrix, so that no two lines look alike.  Matrices come in the order in
 * which the first run of each came.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/text.h"
#include "render_int.h"

#define CELL		10		/* characters of a column, with gap */
#define POLICY		30		/* shown of a policy */
#define LINE		(4 * POLICY + 64) /* bytes of it and its marks */
#define COLUMNS		8		/* in one part of a matrix, at most */

/* One matrix: its points by policy and by budget. */
struct matrix {
	const struct render_sweep *s;
	uint64_t	 key;
	size_t		 nrows;
	size_t		 ncolumns;
	const struct render_point **row; /* the first of each, as they came */
	uint64_t	*experts;	/* ascending */
	const struct render_point **cell; /* row by row; NULL: no run */
	unsigned	 what;		/* it shows: all, or decode */
	bool		 starred;	/* something was best */
};

static int
by_number(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a < b ? -1 : a > b);
}

static size_t
row_of(const struct matrix *m, const struct render_point *p)
{
	size_t i;

	for (i = 0; i < m->nrows; i++)
		if (strcmp(m->row[i]->text[RENDER_POLICY],
		    p->text[RENDER_POLICY]) == 0 &&
		    strcmp(m->row[i]->text[RENDER_PARTITION],
		    p->text[RENDER_PARTITION]) == 0)
			break;
	return (i);
}

static size_t
column_of(const struct matrix *m, uint64_t experts)
{

	return ((size_t)((uint64_t *)bsearch(&experts, m->experts,
	    m->ncolumns, sizeof(*m->experts), by_number) - m->experts));
}

static void
unmake(struct matrix *m)
{

	free(m->row);
	free(m->experts);
	free(m->cell);
}

/*
 * The budgets of all points with the matrix's key; of those that need none
 * only where there are no others.
 */
static void
take_columns(struct matrix *m, bool endless)
{
	const struct render_point *p, *end = m->s->point + m->s->n;
	size_t i, n = 0;

	for (p = m->s->point; p < end; p++)
		if (p->key == m->key && p->endless == endless)
			m->experts[n++] = p->experts;
	qsort(m->experts, n, sizeof(*m->experts), by_number);
	for (i = 0; i < n; i++)
		if (i == 0 || m->experts[i] != m->experts[i - 1])
			m->experts[m->ncolumns++] = m->experts[i];
}

/* What needs no budget has the same hits with every one. */
static void
take_cell(struct matrix *m, const struct render_point *p)
{
	const struct render_point **row = m->cell + row_of(m, p) *
	    m->ncolumns;
	size_t k;

	if (!p->endless)
		row[column_of(m, p->experts)] = p;
	for (k = 0; k < m->ncolumns && p->endless; k++)
		row[k] = p;
}

/* Lay out all points with the key of point first. */
static int
make(struct matrix *m, const struct render_sweep *s, size_t first,
    struct cl_err *err)
{
	const struct render_point *p, *end = s->point + s->n;

	*m = (struct matrix){ .s = s, .key = s->point[first].key };
	m->row = calloc(s->n, sizeof(*m->row));
	m->experts = calloc(s->n, sizeof(*m->experts));
	if (m->row == NULL || m->experts == NULL)
		return (cl_fail_nomem(err, "a matrix of runs"));
	for (p = s->point + first; p < end; p++)
		if (p->key == m->key && row_of(m, p) == m->nrows)
			m->row[m->nrows++] = p;
	take_columns(m, false);
	if (m->ncolumns == 0)
		take_columns(m, true);
	if ((m->cell = calloc(m->nrows, m->ncolumns * sizeof(*m->cell))) ==
	    NULL)
		return (cl_fail_nomem(err, "a matrix of runs"));
	for (p = s->point + first; p < end; p++)
		if (p->key == m->key)
			take_cell(m, p);
	return (CL_OK);
}

static const struct render_point *
at(const struct matrix *m, size_t row, size_t column)
{

	return (m->cell[row * m->ncolumns + column]);
}

/*
 * No other policy that could exist hits more with that budget, and one hits
 * less: what all have, or none, is no merit.
 */
static bool
is_best(const struct matrix *m, const struct render_point *p, size_t column)
{
	double mine = cl_render_rate(p, m->what), rate;
	const struct render_point *q;
	bool merit = false;
	size_t i;

	for (i = 0; i < m->nrows && !p->bound; i++) {
		if ((q = at(m, i, column)) == NULL || q->bound)
			continue;
		rate = cl_render_rate(q, m->what);
		if (rate > mine)
			return (false);
		merit = merit || rate < mine;
	}
	return (merit);
}

static void
add_point(struct cl_table *t, struct matrix *m, size_t row, size_t column)
{
	const struct render_point *p = at(m, row, column);
	char b[CL_FIGURE_MAX];
	bool best;

	if (p == NULL) {
		cl_table_add(t, "%s", "");
		return;
	}
	best = is_best(m, p, column);
	m->starred = m->starred || best;
	cl_table_add(t, "%s%s%s", p->whole ? "" : "?", best ? "*" : "",
	    cl_figure_percent(b, p->hits[m->what], p->accesses[m->what]));
}

/* The policy as it is written, and where its cache is not one pool, how. */
static void
row_marks(char *buf, size_t cap, const struct render_point *p)
{
	const char *partition = p->text[RENDER_PARTITION];
	bool pools = strcmp(partition, "global") != 0;

	(void)snprintf(buf, cap, "%s%.20s%s", pools ? " by " : "",
	    pools ? partition : "", p->bound ? " +" : "");
}

static bool
is_cut(const struct render_point *p)
{

	return (strlen(p->text[RENDER_POLICY]) > POLICY);
}

static const char *
row_name(char buf[LINE], const struct matrix *m, size_t row)
{
	const struct render_point *p = m->row[row];
	char name[4 * POLICY], marks[32], number[24] = "";

	row_marks(marks, sizeof(marks), p);
	if (is_cut(p))
		(void)snprintf(number, sizeof(number), " [%zu]", row + 1);
	(void)snprintf(buf, LINE, "%s%s%s", cl_table_cut(name, sizeof(name),
	    p->text[RENDER_POLICY], POLICY), number, marks);
	return (buf);
}

/*
 * What was asked for; where that was a number of experts, or not the same for
 * all of the column, which share of all experts it is.
 */
static const char *
asked(char buf[CL_FIGURE_MAX], const struct matrix *m, size_t column)
{
	const struct render_point *p, *first = NULL;
	const char *text;
	bool same = true;
	size_t i;

	for (i = 0; i < m->nrows; i++) {
		if ((p = at(m, i, column)) == NULL || p->endless)
			continue;
		first = first == NULL ? p : first;
		same = same && strcmp(p->text[RENDER_BUDGET],
		    first->text[RENDER_BUDGET]) == 0;
	}
	if (first == NULL)
		return ("");
	text = first->text[RENDER_BUDGET];
	if (same && *text != '\0' && strlen(text) < CELL - 1 &&
	    text[strlen(text) - 1] != 'e')
		return (text);
	return (first->of == 0 ? "" : cl_figure_percent(buf, m->experts[column],
	    first->of));
}

/* The columns from first to end: their experts, and what these come from. */
static void
add_heads(struct cl_table *t, const struct matrix *m, size_t first, size_t end)
{
	char b[32], share[CL_FIGURE_MAX];
	bool any = false;
	size_t k;

	cl_table_add(t, "experts cached");
	for (k = first; k < end; k++) {
		cl_table_add(t, "%s", cl_text_count(b, m->experts[k]));
		any = any || *asked(share, m, k) != '\0';
	}
	if (!any)
		return;
	cl_table_add(t, "of a budget of");
	for (k = first; k < end; k++)
		cl_table_add(t, "%s", asked(share, m, k));
}

/* Columns from first to end. */
static int
print_part(struct cl_render *r, struct matrix *m, size_t first, size_t end,
    struct cl_err *err)
{
	struct cl_table t;
	char name[LINE];
	size_t i, k;

	cl_table_init(&t, (unsigned)(1 + end - first), 1);
	add_heads(&t, m, first, end);
	for (i = 0; i < m->nrows; i++) {
		cl_table_add(&t, "%s", row_name(name, m, i));
		for (k = first; k < end; k++)
			add_point(&t, m, i, k);
	}
	cl_dst_printf(r->dst, "\n");
	return (cl_table_print(&t, r->dst, 0, r->options.bold, err));
}

/* All columns, in parts that a page has room for. */
static int
print_parts(struct cl_render *r, struct matrix *m, struct cl_err *err)
{
	size_t i, first, end, per, width = 14;
	char name[LINE];
	int status = CL_OK;

	for (i = 0; i < m->nrows; i++)
		if (strlen(row_name(name, m, i)) > width)
			width = strlen(name);
	per = width + CELL > CL_TABLE_WIDTH ? 1 :
	    (CL_TABLE_WIDTH - width) / CELL;
	per = per > COLUMNS ? COLUMNS : per;
	for (first = 0; first < m->ncolumns && status == CL_OK; first = end) {
		end = m->ncolumns - first > per ? first + per : m->ncolumns;
		status = print_part(r, m, first, end, err);
	}
	return (status);
}

/* What its marks mean, as far as it has them. */
static void
print_marks(struct cl_render *r, const struct matrix *m)
{
	bool bound = false, whole = true;
	char number[32];
	size_t i;

	for (i = 0; i < m->nrows; i++)
		bound = bound || m->row[i]->bound;
	for (i = 0; i < m->nrows * m->ncolumns; i++)
		whole = whole && (m->cell[i] == NULL || m->cell[i]->whole);
	cl_dst_printf(r->dst, "%s%s%s", !m->starred ? "" :
	    "* best of its budget, but for what knows the future\n",
	    !bound ? "" : "+ knows the future, or was fitted on this trace\n",
	    whole ? "" : "? not of a whole trace\n");
	for (i = 0; i < m->nrows; i++) {
		if (!is_cut(m->row[i]))
			continue;
		(void)snprintf(number, sizeof(number), "[%zu]", i + 1);
		cl_table_wrap(r->dst, number,
		    (unsigned)strlen(number) + 1,
		    m->row[i]->text[RENDER_POLICY]);
	}
}

/* Was a prefill counted with what was decoded? */
static bool
has_both(const struct matrix *m)
{
	const struct render_point *p;
	size_t i;

	for (i = 0; i < m->nrows * m->ncolumns; i++) {
		if ((p = m->cell[i]) == NULL)
			continue;
		if (p->accesses[RENDER_DECODE] > 0 &&
		    p->accesses[RENDER_DECODE] < p->accesses[RENDER_ALL])
			return (true);
	}
	return (false);
}

static int
print(struct cl_render *r, struct matrix *m, const struct render_point *p,
    struct cl_err *err)
{
	char text[RENDER_NAME_MAX];
	int status;

	cl_dst_printf(r->dst, "sweep of %s: hits / accesses\n",
	    cl_text_vis(text, sizeof(text), p->text[RENDER_TRACE],
	    strlen(p->text[RENDER_TRACE])));
	if (*cl_render_group_text(text, sizeof(text), &m->s->groups,
	    p->group, true) != '\0')
		cl_table_wrap(r->dst, "", 2, text);
	status = print_parts(r, m, err);
	if (status == CL_OK && has_both(m)) {
		cl_dst_printf(r->dst, "\ndecode alone: hits / accesses\n");
		m->what = RENDER_DECODE;
		status = print_parts(r, m, err);
	}
	if (status == CL_OK)
		print_marks(r, m);
	return (status);
}

/* Is it the first of its matrix? */
static bool
leads(const struct render_sweep *s, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (s->point[k].key == s->point[i].key)
			return (false);
	return (true);
}

int
cl_render_sweep(struct cl_render *r, struct cl_err *err)
{
	const struct render_sweep *s = &r->sweep;
	struct matrix m;
	size_t i;
	int status = CL_OK;

	for (i = 0; i < s->n && status == CL_OK; i++) {
		if (!leads(s, i))
			continue;
		if (i > 0 || !r->options.sweep)
			cl_dst_printf(r->dst, "\n");
		if ((status = make(&m, s, i, err)) == CL_OK)
			status = print(r, &m, &s->point[i], err);
		unmake(&m);
	}
	return (status);
}
