/*
 * Replays as points of matrices: of each only the line is kept that a matrix
 * has of it, since runs are printed as they come.  A point is known by its
 * policy's whole name, its partition and its budget; runs that differ in more
 * are points of other matrices.  As lines and as JSON the points are printed as
 * they are, since programs make matrices of their own.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/vec.h"
#include "render_int.h"

/* Policies that no engine could have: they are not best of anything. */
static bool
is_bound(const struct cl_run *run)
{
	const char *policy = cl_run_cond_text(run, "policy", "");

	return (strncmp(policy, "belady", 6) == 0 ||
	    strcmp(policy, "infinite") == 0 || cl_run_hindsight(run));
}

static void
count(struct render_point *p, const struct cl_run *run)
{
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0), *decode = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_PHASE, 1);

	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "tokens", &p->tokens);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "misses", &p->misses);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "accesses",
	    &p->accesses[RENDER_ALL]);
	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "hits",
	    &p->hits[RENDER_ALL]);
	(void)cl_run_count(run, CL_STATS_LOGICAL, decode, "accesses",
	    &p->accesses[RENDER_DECODE]);
	(void)cl_run_count(run, CL_STATS_LOGICAL, decode, "hits",
	    &p->hits[RENDER_DECODE]);
}

int
cl_render_sweep_add(struct render_sweep *s, const struct cl_run *run,
    size_t n, struct cl_err *err)
{
	struct cl_cell slots = cl_run_cond(run, "cache_experts");
	struct cl_cell of = cl_run_cond(run, "experts");
	char trace[RENDER_NAME_MAX];
	const char *text[RENDER_TEXTS] = {
	    [RENDER_POLICY] = cl_run_cond_text(run, "policy", "-"),
	    [RENDER_PARTITION] = cl_run_cond_text(run, "partition", "global"),
	    [RENDER_TRACE] = cl_render_marked(trace, run),
	    [RENDER_BUDGET] = cl_run_cond_text(run, "budget", "") };
	struct render_point *p;
	size_t i, group;

	if (cl_render_groups_add(&s->groups, run, n, &group, err) != CL_OK)
		return (err->code);
	if (slots.type != CL_STATS_U64)
		return (CL_OK);		/* there was no cache */
	if (cl_vec_grow(&s->point, &s->cap, s->n + 1, sizeof(*s->point),
	    err) != CL_OK)
		return (CL_ENOMEM);
	p = &s->point[s->n++];
	*p = (struct render_point){ .group = group, .experts = slots.u };
	for (i = 0; i < RENDER_TEXTS; i++)
		if ((p->text[i] = cl_vec_strndup(text[i], strlen(text[i]),
		    err)) == NULL)
			return (CL_ENOMEM);
	p->key = cl_render_conditions(run, cl_render_varies);
	p->of = of.type == CL_STATS_U64 ? of.u : 0;
	p->bound = is_bound(run);
	p->endless = strcmp(text[RENDER_POLICY], "infinite") == 0;
	p->whole = run->whole && run->end.end == 1;
	count(p, run);
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
	size_t i;

	while (s->n > 0) {
		s->n--;
		for (i = 0; i < RENDER_TEXTS; i++)
			free(s->point[s->n].text[i]);
	}
	free(s->point);
	s->point = NULL;
	cl_render_groups_free(&s->groups);
}

double
cl_render_rate(const struct render_point *p, unsigned what)
{
	double r;

	(void)cl_figure_ratio(p->hits[what], p->accesses[what], &r);
	return (r);
}

/* A report of the sweep alone says nothing of a run before the last. */
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

/* Runs came, and none of them has a place in a matrix. */
static int
want_replays(const struct cl_render *r, struct cl_err *err)
{

	if (r->nruns == 0 || r->sweep.n > 0)
		return (CL_OK);
	return (cl_fail(err, CL_EINVAL, "--sweep: %zu run%s came, and none "
	    "is a replay with a cache", r->nruns, r->nruns == 1 ? "" : "s"));
}

/*
 * The fields of a line, in their order, which is part of the interface: new
 * ones come last.
 */
static const char *const fields[] = { "trace", "policy", "cache_experts",
    "tokens", "accesses", "hits", "misses", "hit_rate", "contract",
    "partition", "prefill", "budget", "complete", "decode_accesses",
    "decode_hits", "decode_hit_rate" };

#define NFIELDS	(sizeof(fields) / sizeof(fields[0]))

static struct cl_cell
text_cell(const char *s)
{

	return ((struct cl_cell){ .type = s == NULL || *s == '\0' ?
	    CL_STATS_NONE : CL_STATS_STR, .s = s });
}

static struct cl_cell
count_cell(uint64_t n)
{

	return ((struct cl_cell){ .type = CL_STATS_U64, .u = n });
}

static struct cl_cell
rate_cell(const struct render_point *p, unsigned what)
{

	return ((struct cl_cell){ .type = p->accesses[what] == 0 ?
	    CL_STATS_NONE : CL_STATS_F64, .f = cl_render_rate(p, what) });
}

static void
fill(struct cl_cell cell[NFIELDS], const struct render_groups *gs,
    const struct render_point *p)
{
	struct cl_cell *c = cell;

	*c++ = text_cell(p->text[RENDER_TRACE]);
	*c++ = text_cell(p->text[RENDER_POLICY]);
	*c++ = count_cell(p->experts);
	*c++ = count_cell(p->tokens);
	*c++ = count_cell(p->accesses[RENDER_ALL]);
	*c++ = count_cell(p->hits[RENDER_ALL]);
	*c++ = count_cell(p->misses);
	*c++ = rate_cell(p, RENDER_ALL);
	*c++ = text_cell(cl_render_group_cond(gs, p->group, "contract"));
	*c++ = text_cell(p->text[RENDER_PARTITION]);
	*c++ = text_cell(cl_render_group_cond(gs, p->group, "prefill"));
	*c++ = text_cell(p->text[RENDER_BUDGET]);
	*c++ = (struct cl_cell){ .type = CL_STATS_BOOL, .u = p->whole };
	*c++ = count_cell(p->accesses[RENDER_DECODE]);
	*c++ = count_cell(p->hits[RENDER_DECODE]);
	*c++ = rate_cell(p, RENDER_DECODE);
}

static int
text(struct cl_render *r, struct cl_err *err)
{
	int status = want_replays(r, err);

	return (status == CL_OK ? cl_render_sweep(r, err) : status);
}

static int
tsv(struct cl_render *r, struct cl_err *err)
{
	const struct render_point *p;
	struct cl_cell cell[NFIELDS];
	size_t i;

	if (want_replays(r, err) != CL_OK)
		return (err->code);
	for (i = 0; i < NFIELDS; i++)
		cl_dst_printf(r->dst, "%s%s", i == 0 ? "" : "\t", fields[i]);
	cl_dst_printf(r->dst, "\n");
	for (p = r->sweep.point; p < r->sweep.point + r->sweep.n; p++) {
		fill(cell, &r->sweep.groups, p);
		for (i = 0; i < NFIELDS; i++) {
			cl_dst_printf(r->dst, "%s", i == 0 ? "" : "\t");
			cl_cell_tsv(&cell[i], r->dst);
		}
		cl_dst_printf(r->dst, "\n");
	}
	return (CL_OK);
}

static int
json(struct cl_render *r, struct cl_err *err)
{
	const struct render_point *p;
	struct cl_cell cell[NFIELDS];
	struct cl_json *j = &r->json;
	size_t i;

	if (want_replays(r, err) != CL_OK)
		return (err->code);
	cl_json_init(j, r->dst);
	cl_json_array(j, NULL);
	for (p = r->sweep.point; p < r->sweep.point + r->sweep.n; p++) {
		fill(cell, &r->sweep.groups, p);
		cl_json_object_row(j, NULL);
		for (i = 0; i < NFIELDS; i++)
			cl_cell_json(&cell[i], j, fields[i]);
		cl_json_end(j);
	}
	cl_json_end(j);
	cl_json_finish(j);
	return (CL_OK);
}

const struct render_form cl_render_sweep_text = { nothing, no_run, text };
const struct render_form cl_render_sweep_tsv = { nothing, no_run, tsv };
const struct render_form cl_render_sweep_json = { nothing, no_run, json };
