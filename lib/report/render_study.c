/*
 * Studies of a trace whose tables are counts by layer, rank and predictor:
 * what people ask of them is shares.  A table is folded by one of its keys,
 * summed over the others: into a row for each value of that key with the sums
 * and their shares, or into one share with a column for each value of another.
 * What is folded by nothing is one row.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/num.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define SUMS		4u
#define SHARES		3u
#define FOLDS		2u		/* of a table */
#define OF_ALL		SUMS		/* a whole: the part of all rows */
#define ACROSS_MAX	(CL_TABLE_COLUMNS_MAX - 1)

struct share {
	const char	*head;		/* NULL: none */
	unsigned	 part;		/* by number of the sum */
	unsigned	 whole;
};

struct fold {
	const char	*title;		/* NULL: no further one */
	const char	*key;
	const char	*across;	/* its values head columns, or NULL */
	const char	*sum[SUMS];	/* columns */
	struct share	 share[SHARES];	/* across: the first one alone */
};

/* Rows that are alike in their keys. */
struct group {
	struct cl_cell	 key;
	struct cl_cell	 across;
	uint64_t	 sum[SUMS];
	double		 rest[SUMS];	/* of estimates: below 1 */
};

struct groups {
	struct group	*group;		/* in the order of both keys */
	size_t		 n;
	struct group	 all;		/* their sums */
};

static const struct study {
	const char	*table;
	struct fold	 fold[FOLDS];
} studies[] = {
	{ "foresight", {
	    { "foresight: right of all choices (recall), and of what was "
	    "foretold (precision)", "predictor", NULL,
	    { "choices", "foretold", "right" },
	    { { "recall", 2, 0 }, { "precision", 2, 1 } } },
	    { "recall by layer", "layer", "predictor",
	    { "choices", "right" }, { { "recall", 1, 0 } } } } },
	{ "foresight_rank", {
	    { "recall by the rank that an expert was chosen with", "rank",
	    "predictor", { "choices", "right" }, { { "recall", 1, 0 } } } } },
	{ "reuse", {
	    { "reuse: choices that the token before had made in any rank, or "
	    "in the same", "layer", NULL,
	    { "choices", "repeated", "same_rank", "by_chance" },
	    { { "any rank", 1, 0 }, { "same rank", 2, 0 },
	    { "chance", 3, 0 } } },
	    { "reuse by rank", "rank", NULL,
	    { "choices", "repeated", "same_rank" },
	    { { "any rank", 1, 0 }, { "same rank", 2, 0 } } } } },
	{ "reuse_distance", {
	    { "reuse distance: uses by the tokens since the one before",
	    "tokens_from", NULL, { "uses" }, { { "of all", 0, OF_ALL } } } } },
	{ "layer_overlap", {
	    { "layer overlap: choices that the next layer makes by the same "
	    "numbers", "layer", NULL, { "choices", "shared", "by_chance" },
	    { { "overlap", 1, 0 }, { "chance", 2, 0 } } } } },
};

#define NSTUDIES	(sizeof(studies) / sizeof(studies[0]))

/* Can rows be told apart by that column? */
static bool
tells(const struct cl_run_table *t, const char *name)
{
	size_t i = cl_stats_column(&t->columns, name);

	return (i < t->columns.n &&
	    t->columns.column[i].type != CL_STATS_F64);
}

/* Has the table, which anybody may have written, all that is folded? */
static bool
has_all(const struct cl_run_table *t, const struct fold *f)
{
	unsigned i;

	for (i = 0; i < SUMS && f->sum[i] != NULL; i++)
		if (cl_stats_column(&t->columns, f->sum[i]) == t->columns.n)
			return (false);
	return (tells(t, f->key) && (f->across == NULL ||
	    tells(t, f->across)));
}

static struct cl_cell
named(const struct view *v, const struct cl_run_table *t, size_t i,
    const char *name)
{

	return (name == NULL ? (struct cl_cell){ .type = CL_STATS_NONE } :
	    cl_run_table_named(v->run, t, i, name));
}

/* A count, or an estimate of one, which leaves a rest. */
static uint64_t
count(const struct view *v, const struct cl_run_table *t, size_t i,
    const char *name, double *rest)
{
	struct cl_cell cell = named(v, t, i, name);

	*rest = 0;
	if (cell.type == CL_STATS_F64 && cell.f >= 0 && cell.f < 1e18) {
		*rest = cell.f - (double)(uint64_t)cell.f;
		return ((uint64_t)cell.f);
	}
	return (cell.type == CL_STATS_U64 ? cell.u : 0);
}

static int
compare_cells(const struct cl_cell *a, const struct cl_cell *b)
{

	if (a->type != b->type)
		return (a->type < b->type ? -1 : 1);
	if (a->type == CL_STATS_STR)
		return (strcmp(a->s, b->s));
	return ((a->u > b->u) - (a->u < b->u));
}

/* By both keys; none stands first. */
static int
compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int key = compare_cells(&x->key, &y->key);

	return (key != 0 ? key : compare_cells(&x->across, &y->across));
}

static void
add_up(struct group *to, const struct group *from)
{
	uint64_t whole;
	unsigned k;

	for (k = 0; k < SUMS; k++) {
		to->rest[k] += from->rest[k];
		whole = to->rest[k] >= 1;
		to->rest[k] -= (double)whole;
		if (!cl_add(to->sum[k], from->sum[k], &to->sum[k]) ||
		    !cl_add(to->sum[k], whole, &to->sum[k]))
			to->sum[k] = UINT64_MAX;
	}
}

/* What was estimated as a count. */
static void
round_off(struct group *g)
{
	unsigned k;

	for (k = 0; k < SUMS; k++)
		if (g->rest[k] >= 0.5 && g->sum[k] < UINT64_MAX)
			g->sum[k]++;
}

/* A group for each row, then one for all that are alike. */
static int
gather(struct groups *g, const struct view *v, const struct cl_run_table *t,
    const struct fold *f, struct cl_err *err)
{
	struct group *to;
	size_t i;
	unsigned k;

	if (t->n == 0)
		return (CL_OK);
	if ((g->group = calloc(t->n, sizeof(*g->group))) == NULL)
		return (cl_fail_nomem(err, "a table's sums"));
	for (i = 0, to = g->group; i < t->n; i++, to++) {
		to->key = named(v, t, i, f->key);
		to->across = named(v, t, i, f->across);
		for (k = 0; k < SUMS && f->sum[k] != NULL; k++)
			to->sum[k] = count(v, t, i, f->sum[k],
			    &to->rest[k]);
		add_up(&g->all, to);
	}
	qsort(g->group, t->n, sizeof(*g->group), compare);
	for (i = 1, to = g->group; i < t->n; i++)
		if (compare(to, &g->group[i]) == 0)
			add_up(to, &g->group[i]);
		else
			*++to = g->group[i];
	g->n = (size_t)(to - g->group) + 1;
	for (i = 0; i < g->n; i++)
		round_off(&g->group[i]);
	return (CL_OK);
}

static void
add_key(struct cl_table *to, const struct cl_cell *key)
{
	char b[256];

	cl_table_add(to, "%.40s", cl_cell_text(key, b, sizeof(b)));
}

static void
add_share(struct cl_table *to, const struct groups *g, const struct group *row,
    const struct share *s)
{
	uint64_t whole = s->whole == OF_ALL ? g->all.sum[s->part] :
	    row->sum[s->whole];
	char b[CL_FIGURE_MAX];

	cl_table_add(to, "%s", cl_figure_percent(b, row->sum[s->part],
	    whole));
}

/* A row for each group: its sums, then their shares. */
static int
list(const struct view *v, const struct fold *f, const struct groups *g,
    struct cl_err *err)
{
	struct cl_table to;
	unsigned nsums = 0, nshares = 0, k;
	char b[32];
	size_t i;

	while (nsums < SUMS && f->sum[nsums] != NULL)
		nsums++;
	while (nshares < SHARES && f->share[nshares].head != NULL)
		nshares++;
	cl_table_init(&to, 1 + nsums + nshares,
	    g->n > 0 && g->group[0].key.type == CL_STATS_STR);
	cl_table_add(&to, "%s", f->key);
	for (k = 0; k < nsums; k++)
		cl_table_add(&to, "%s", f->sum[k]);
	for (k = 0; k < nshares; k++)
		cl_table_add(&to, "%s", f->share[k].head);
	for (i = 0; i < g->n; i++) {
		if (!cl_render_shown(&to, v, i, g->n))
			continue;
		add_key(&to, &g->group[i].key);
		for (k = 0; k < nsums; k++)
			cl_table_add(&to, "%s", cl_text_count(b,
			    g->group[i].sum[k]));
		for (k = 0; k < nshares; k++)
			add_share(&to, g, &g->group[i], &f->share[k]);
	}
	return (cl_table_print(&to, v->dst, 2, v->r->options.bold, err));
}

/* The group of that key, among those from i on, and of that column. */
static const struct group *
beside(const struct groups *g, size_t i, const struct cl_cell *column)
{
	const struct cl_cell *key = &g->group[i].key;

	for (; i < g->n && cl_cell_equal(&g->group[i].key, key); i++)
		if (cl_cell_equal(&g->group[i].across, column))
			return (&g->group[i]);
	return (NULL);
}

/* Where the groups begin that have the next key after the i-th one's. */
static size_t
next_key(const struct groups *g, size_t i)
{
	const struct cl_cell *key = &g->group[i].key;

	while (i < g->n && cl_cell_equal(&g->group[i].key, key))
		i++;
	return (i);
}

/* All values of the other key, in order; 0: more than a table has columns. */
static unsigned
columns_of(const struct groups *g, struct cl_cell column[ACROSS_MAX])
{
	unsigned n = 0, at;
	size_t i;

	for (i = 0; i < g->n; i++) {
		for (at = 0; at < n && compare_cells(&column[at],
		    &g->group[i].across) < 0; at++)
			;
		if (at < n && cl_cell_equal(&column[at], &g->group[i].across))
			continue;
		if (n == ACROSS_MAX)
			return (0);
		memmove(&column[at + 1], &column[at],
		    (n++ - at) * sizeof(column[0]));
		column[at] = g->group[i].across;
	}
	return (n);
}

/* A row for each key, a column for each value of the other one. */
static int
cross(const struct view *v, const struct fold *f, const struct groups *g,
    const struct cl_cell *column, unsigned ncolumns, struct cl_err *err)
{
	const struct group *cell;
	size_t i, row, nrows = 0;
	struct cl_table to;
	unsigned k;

	for (i = 0; i < g->n; i = next_key(g, i))
		nrows++;
	cl_table_init(&to, 1 + ncolumns, 0);
	cl_table_add(&to, "%s", f->key);
	for (k = 0; k < ncolumns; k++)
		add_key(&to, &column[k]);
	for (i = 0, row = 0; i < g->n; i = next_key(g, i), row++) {
		if (!cl_render_shown(&to, v, row, nrows))
			continue;
		add_key(&to, &g->group[i].key);
		for (k = 0; k < ncolumns; k++) {
			cell = beside(g, i, &column[k]);
			if (cell != NULL)
				add_share(&to, g, cell, &f->share[0]);
			else
				cl_table_add(&to, "-");
		}
	}
	return (cl_table_print(&to, v->dst, 2, v->r->options.bold, err));
}

static int
print_fold(const struct view *v, const struct cl_run_table *t,
    const struct fold *f, struct cl_err *err)
{
	struct cl_cell column[ACROSS_MAX];
	struct groups g = { 0 };
	unsigned ncolumns = 0;
	int status;

	if ((status = gather(&g, v, t, f, err)) != CL_OK)
		return (status);
	if (f->across != NULL && (ncolumns = columns_of(&g, column)) == 0)
		status = cl_render_plain(v, t, err);
	else {
		cl_dst_printf(v->dst, "\n%s\n", f->title);
		status = f->across == NULL ? list(v, f, &g, err) :
		    cross(v, f, &g, column, ncolumns, err);
	}
	free(g.group);
	return (status);
}

int
cl_render_elsewhere(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	char n[32];

	(void)err;
	cl_dst_printf(v->dst, "\n%s: %s rows, which --table %s shows\n",
	    t->name, cl_text_count(n, t->n), t->name);
	return (CL_OK);
}

int
cl_render_study(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	const struct study *s = studies;
	unsigned i;
	int status = CL_OK;

	while (s < studies + NSTUDIES && strcmp(s->table, t->name) != 0)
		s++;
	assert(s < studies + NSTUDIES);
	if (t->n == 0)
		return (cl_render_plain(v, t, err));
	for (i = 0; i < FOLDS && s->fold[i].title != NULL; i++)
		if (!has_all(t, &s->fold[i]))
			return (cl_render_plain(v, t, err));
	for (i = 0; i < FOLDS && s->fold[i].title != NULL && status == CL_OK;
	    i++)
		status = print_fold(v, t, &s->fold[i], err);
	return (status);
}
