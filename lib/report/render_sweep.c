/*
 * Runs that differ in nothing but policy and budget, as one matrix: a line for
 * each policy, a column for each budget, the share of hits in each cell.  Of
 * each run only a line is kept.  Runs that differ in more are matrices of their
 * own, in the order in which the first run of each came.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/hash.h"
#include "cl/run.h"
#include "cl/text.h"
#include "cl/vec.h"
#include "render_int.h"

#define CELL		10		/* characters of a column, with gap */
#define POLICY		30		/* shown of a policy */
#define COLUMNS		8		/* in one part of a matrix, at most */

struct render_point {
	uint64_t	 key;		/* of all that is no policy or budget */
	char		*trace;
	char		*policy;
	uint64_t	 experts;	/* that fit */
	uint64_t	 tokens;
	uint64_t	 accesses;
	uint64_t	 hits;
	uint64_t	 misses;
	bool		 bound;		/* the policy knows the future */
	bool		 whole;
};

/* What a sweep sweeps, and what follows from that. */
static bool
varies(const char *name)
{
	static const char *const names[] = { "policy", "partition", "budget",
	    "cache_experts", "cache_bytes", "stride_bytes",
	    "slot_waste_bytes", "foresight", "fitted_routing", "fitted_end",
	    "hindsight" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return (true);
	return (false);
}

/* Policies that no engine could have: they are not best of anything. */
static bool
is_bound(const struct cl_run *run)
{
	const char *policy = cl_run_cond_text(run, "policy", "");

	return (strncmp(policy, "belady", 6) == 0 ||
	    strcmp(policy, "infinite") == 0 || cl_run_hindsight(run));
}

int
cl_render_sweep_add(struct render_sweep *s, const struct cl_run *run,
    struct cl_err *err)
{
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	struct cl_cell slots = cl_run_cond(run, "cache_experts");
	const char *partition = cl_run_cond_text(run, "partition", "global");
	struct render_point *p;
	char policy[POLICY + 40], trace[256];

	if (slots.type != CL_STATS_U64)
		return (CL_OK);		/* there was no cache */
	(void)snprintf(policy, sizeof(policy), "%.*s%s%.20s", POLICY,
	    cl_run_cond_text(run, "policy", "-"),
	    strcmp(partition, "global") == 0 ? "" : " by ",
	    strcmp(partition, "global") == 0 ? "" : partition);
	(void)snprintf(trace, sizeof(trace), "%s%.200s",
	    cl_run_synthetic(run) ? "SYNTHETIC " : "",
	    cl_run_cond_text(run, "trace", "a trace"));
	if (cl_vec_grow(&s->point, &s->cap, s->n + 1, sizeof(*s->point),
	    err) != CL_OK)
		return (CL_ENOMEM);
	p = &s->point[s->n++];
	memset(p, 0, sizeof(*p));
	p->policy = cl_vec_strndup(policy, strlen(policy), err);
	p->trace = cl_vec_strndup(trace, strlen(trace), err);
	if (p->policy == NULL || p->trace == NULL)
		return (CL_ENOMEM);
	p->key = cl_render_conditions(run, varies);
	p->experts = slots.u;
	p->bound = is_bound(run);
	p->whole = run->whole && run->end.end == 1;
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "tokens", &p->tokens);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "hits", &p->hits);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "misses", &p->misses);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "accesses",
	    &p->accesses);
	return (CL_OK);
}

bool
cl_render_sweep_is(const struct render_sweep *s)
{
	size_t i;

	for (i = 1; i < s->n; i++)
		if (s->point[i].key != s->point[0].key)
			return (false);
	return (s->n > 2);
}

void
cl_render_sweep_free(struct render_sweep *s)
{

	while (s->n > 0) {
		s->n--;
		free(s->point[s->n].policy);
		free(s->point[s->n].trace);
	}
	free(s->point);
	s->point = NULL;
}

/* One matrix: its points by policy and by budget. */
struct matrix {
	const struct render_sweep *s;
	uint64_t	 key;
	size_t		 nrows;
	size_t		 ncolumns;
	const char	**policy;	/* in the order they came */
	uint64_t	*experts;	/* ascending */
	const struct render_point **cell; /* row by row; NULL: no run */
};

static int
by_number(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a < b ? -1 : a > b);
}

static size_t
row_of(const struct matrix *m, const char *policy)
{
	size_t i;

	for (i = 0; i < m->nrows; i++)
		if (strcmp(m->policy[i], policy) == 0)
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

	free(m->policy);
	free(m->experts);
	free(m->cell);
}

/* Lay out all points with the key of point first. */
static int
make(struct matrix *m, const struct render_sweep *s, size_t first,
    struct cl_err *err)
{
	const struct render_point *p, *end = s->point + s->n;
	size_t i;

	*m = (struct matrix){ .s = s, .key = s->point[first].key };
	m->policy = calloc(s->n, sizeof(*m->policy));
	m->experts = calloc(s->n, sizeof(*m->experts));
	if (m->policy == NULL || m->experts == NULL)
		return (cl_fail_nomem(err, "a matrix of runs"));
	for (p = s->point + first; p < end; p++) {
		if (p->key != m->key)
			continue;
		m->experts[m->ncolumns++] = p->experts;
		if ((i = row_of(m, p->policy)) == m->nrows)
			m->policy[m->nrows++] = p->policy;
	}
	qsort(m->experts, m->ncolumns, sizeof(*m->experts), by_number);
	for (i = 1, first = 1; i < m->ncolumns; i++)
		if (m->experts[i] != m->experts[i - 1])
			m->experts[first++] = m->experts[i];
	m->ncolumns = first;
	if ((m->cell = calloc(m->nrows, m->ncolumns * sizeof(*m->cell))) ==
	    NULL)
		return (cl_fail_nomem(err, "a matrix of runs"));
	for (p = s->point; p < end; p++)
		if (p->key == m->key)
			m->cell[row_of(m, p->policy) * m->ncolumns +
			    column_of(m, p->experts)] = p;
	return (CL_OK);
}

static double
rate(const struct render_point *p)
{
	double r;

	(void)cl_figure_ratio(p->hits, p->accesses, &r);
	return (r);
}

/* No other policy that could exist hits more with that budget. */
static bool
is_best(const struct matrix *m, const struct render_point *p, size_t column)
{
	const struct render_point *q;
	size_t i;

	for (i = 0; i < m->nrows; i++) {
		q = m->cell[i * m->ncolumns + column];
		if (q != NULL && !q->bound && rate(q) > rate(p))
			return (false);
	}
	return (!p->bound && m->nrows > 1);
}

static void
add_point(struct cl_table *t, const struct matrix *m, size_t row,
    size_t column)
{
	const struct render_point *p = m->cell[row * m->ncolumns + column];
	char b[CL_FIGURE_MAX];

	if (p == NULL)
		cl_table_add(t, "%s", "");
	else
		cl_table_add(t, "%s%s%s", p->whole ? "" : "?",
		    is_best(m, p, column) ? "*" : "",
		    cl_figure_percent(b, p->hits, p->accesses));
}

/* Columns from first to end. */
static int
print_part(struct cl_render *r, const struct matrix *m, size_t first,
    size_t end, struct cl_err *err)
{
	struct cl_table t;
	char b[32];
	size_t i, k;

	cl_table_init(&t, (unsigned)(1 + end - first), 1);
	cl_table_add(&t, "experts cached");
	for (k = first; k < end; k++)
		cl_table_add(&t, "%s", cl_text_count(b, m->experts[k]));
	for (i = 0; i < m->nrows; i++) {
		cl_table_add(&t, "%s", m->policy[i]);
		for (k = first; k < end; k++)
			add_point(&t, m, i, k);
	}
	cl_dst_printf(r->dst, "\n");
	return (cl_table_print(&t, r->dst, 0, r->options.bold, err));
}

static int
print(struct cl_render *r, const struct matrix *m, const char *trace,
    struct cl_err *err)
{
	size_t i, width = 14, first, end, per;
	bool whole = true;
	char vis[256];
	int status = CL_OK;

	for (i = 0; i < m->nrows; i++)
		if (strlen(m->policy[i]) > width)
			width = strlen(m->policy[i]);
	for (i = 0; i < m->nrows * m->ncolumns; i++)
		whole = whole && (m->cell[i] == NULL || m->cell[i]->whole);
	per = (CL_TABLE_WIDTH - width) / CELL;
	per = per > COLUMNS ? COLUMNS : per == 0 ? 1 : per;
	cl_dst_printf(r->dst, "sweep of %s: hits / accesses\n",
	    cl_text_vis(vis, sizeof(vis), trace, strlen(trace)));
	for (first = 0; first < m->ncolumns && status == CL_OK; first = end) {
		end = m->ncolumns - first > per ? first + per : m->ncolumns;
		status = print_part(r, m, first, end, err);
	}
	cl_dst_printf(r->dst, "%s%s", m->nrows < 2 ? "" :
	    "* best of its budget, but for what knows the future\n",
	    whole ? "" : "? not of a whole trace\n");
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
			status = print(r, &m, s->point[i].trace, err);
		unmake(&m);
	}
	return (status);
}

/*
 * The matrix alone: as lines and as JSON a run a line, since programs make
 * matrices of their own.
 */
static int
nothing(struct cl_render *r, struct cl_err *err)
{

	(void)r;
	(void)err;
	return (CL_OK);
}

static int
no_run(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{

	(void)r;
	(void)run;
	(void)err;
	return (CL_OK);
}

static int
tsv(struct cl_render *r, struct cl_err *err)
{
	const struct render_point *p;
	struct cl_cell cell = { .type = CL_STATS_F64 };

	(void)err;
	cl_dst_printf(r->dst, "trace\tpolicy\tcache_experts\ttokens\taccesses"
	    "\thits\tmisses\thit_rate\n");
	for (p = r->sweep.point; p < r->sweep.point + r->sweep.n; p++) {
		cl_cell_tsv_text(r->dst, p->trace);
		cl_dst_printf(r->dst, "\t");
		cl_cell_tsv_text(r->dst, p->policy);
		cl_dst_printf(r->dst, "\t%llu\t%llu\t%llu\t%llu\t%llu\t",
		    (unsigned long long)p->experts,
		    (unsigned long long)p->tokens,
		    (unsigned long long)p->accesses,
		    (unsigned long long)p->hits,
		    (unsigned long long)p->misses);
		cell.type = p->accesses == 0 ? CL_STATS_NONE : CL_STATS_F64;
		cell.f = rate(p);
		cl_cell_tsv(&cell, r->dst);
		cl_dst_printf(r->dst, "\n");
	}
	return (CL_OK);
}

static int
json(struct cl_render *r, struct cl_err *err)
{
	const struct render_point *p;
	struct cl_json *j = &r->json;

	(void)err;
	cl_json_init(j, r->dst);
	cl_json_array(j, NULL);
	for (p = r->sweep.point; p < r->sweep.point + r->sweep.n; p++) {
		cl_json_object_row(j, NULL);
		cl_json_str(j, "trace", p->trace);
		cl_json_str(j, "policy", p->policy);
		cl_json_u64(j, "cache_experts", p->experts);
		cl_json_u64(j, "tokens", p->tokens);
		cl_json_u64(j, "accesses", p->accesses);
		cl_json_u64(j, "hits", p->hits);
		cl_json_u64(j, "misses", p->misses);
		if (p->accesses == 0)
			cl_json_null(j, "hit_rate");
		else
			cl_json_double(j, "hit_rate", rate(p));
		cl_json_bool(j, "complete", p->whole);
		cl_json_end(j);
	}
	cl_json_end(j);
	cl_json_finish(j);
	return (CL_OK);
}

const struct render_form cl_render_sweep_text = { nothing, no_run,
    cl_render_sweep };
const struct render_form cl_render_sweep_tsv = { nothing, no_run, tsv };
const struct render_form cl_render_sweep_json = { nothing, no_run, json };
