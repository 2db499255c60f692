/*
 * Runs by what they have in common.  What a list or a matrix shows of a run is
 * its trace, policy and budget; runs that differ in more must not look alike in
 * it.  So each run is put into the group of its other conditions, and a
 * condition is worth telling where groups of one kind of run (replays, curves)
 * differ in it.  All of a kind are compared with its first group: two that
 * differ from each other cannot both be like the first.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/run.h"
#include "cl/vec.h"
#include "render_int.h"

static bool
is_one_of(const char *name, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (true);
	return (false);
}

#define IS_ONE_OF(name, names) \
	is_one_of(name, names, sizeof(names) / sizeof(names[0]))

bool
cl_render_varies(const char *name)
{
	static const char *const names[] = { "policy", "partition", "budget",
	    "cache_experts", "cache_bytes", "stride_bytes",
	    "slot_waste_bytes", "foresight", "fitted_routing", "fitted_end",
	    "hindsight" };

	return (IS_ONE_OF(name, names));
}

static bool
varies_in_group(const char *name)
{

	return (cl_render_varies(name) || cl_render_of_trace(name));
}

/*
 * What is seen in every line of a list, follows from the model, which is told
 * by its name, or changes no result.
 */
static bool
is_silent(const char *name)
{
	static const char *const names[] = { "what", "origin", "architecture",
	    "model_fingerprint", "moe_layers", "experts", "expert_bytes",
	    "token_demand_experts", "token_demand_bytes",
	    "model_dense_bytes", "dense_why", "window" };

	return (IS_ONE_OF(name, names));
}

/* By which rules it was replayed, and what of the trace. */
static bool
is_rule(const char *name)
{
	static const char *const names[] = { "contract", "prefill" };

	return (IS_ONE_OF(name, names));
}

const char *
cl_render_group_cond(const struct render_groups *gs, size_t group,
    const char *name)
{
	const struct cl_stats_cond *c = cl_stats_find(
	    &gs->group[group].conds, name);

	return (c == NULL ? NULL : c->s);
}

static int
take_conds(struct cl_stats_conds *to, const struct cl_run *run,
    struct cl_err *err)
{
	const struct cl_stats_cond *c;
	struct cl_cell cell;
	char text[40];
	int status = CL_OK;

	for (c = run->conds.cond; c < run->conds.cond + run->conds.n &&
	    status == CL_OK; c++) {
		if (varies_in_group(c->name) || c->type == CL_STATS_NONE)
			continue;
		cell = cl_cell_cond(c);
		status = cl_stats_set_str(to, c->name,
		    cell.type == CL_STATS_STR ? cell.s :
		    cl_cell_text(&cell, text, sizeof(text)), err);
	}
	return (status);
}

/* Note the names of conditions that a has, and b has not so. */
static int
differ(struct render_groups *gs, const struct cl_stats_conds *a,
    const struct cl_stats_conds *b, struct cl_err *err)
{
	const struct cl_stats_cond *c, *other;
	int status = CL_OK;

	for (c = a->cond; c < a->cond + a->n && status == CL_OK; c++) {
		other = cl_stats_find(b, c->name);
		if ((other == NULL || strcmp(c->s, other->s) != 0) &&
		    gs->differ.n < CL_STATS_CONDS_MAX)
			status = cl_stats_set_none(&gs->differ, c->name, err);
	}
	return (status);
}

static const char *
kind(const struct render_group *g)
{
	const struct cl_stats_cond *c = cl_stats_find(&g->conds, "what");

	return (c == NULL ? "replay" : c->s);
}

/* The last group is new: how does it differ from the first of its kind? */
static int
compare(struct render_groups *gs, struct cl_err *err)
{
	struct render_group *g = &gs->group[gs->n - 1], *first = gs->group;
	int status;

	while (strcmp(kind(first), kind(g)) != 0)
		first++;
	if ((g->alone = first == g))
		return (CL_OK);
	first->alone = false;
	if ((status = differ(gs, &g->conds, &first->conds, err)) == CL_OK)
		status = differ(gs, &first->conds, &g->conds, err);
	return (status);
}

/* Run n is of that group. */
static int
extend(struct render_groups *gs, size_t n, size_t group, struct cl_err *err)
{
	struct render_span *s;

	if (gs->nspans == 0 || gs->span[gs->nspans - 1].group != group) {
		if (cl_vec_grow(&gs->span, &gs->spans_cap, gs->nspans + 1,
		    sizeof(*gs->span), err) != CL_OK)
			return (CL_ENOMEM);
		s = &gs->span[gs->nspans++];
		*s = (struct render_span){ .group = group, .first = n };
	}
	gs->span[gs->nspans - 1].last = n;
	return (CL_OK);
}

int
cl_render_groups_add(struct render_groups *gs, const struct cl_run *run,
    size_t n, size_t *group, struct cl_err *err)
{
	uint64_t key = cl_render_conditions(run, varies_in_group);
	size_t i = gs->n;
	int status;

	/* Most runs are like the one before. */
	while (i > 0 && gs->group[i - 1].key != key)
		i--;
	if (i == 0) {
		if (cl_vec_grow(&gs->group, &gs->cap, gs->n + 1,
		    sizeof(*gs->group), err) != CL_OK)
			return (CL_ENOMEM);
		i = ++gs->n;
		gs->group[i - 1] = (struct render_group){ .key = key };
		if ((status = take_conds(&gs->group[i - 1].conds, run,
		    err)) != CL_OK || (status = compare(gs, err)) != CL_OK)
			return (status);
	}
	*group = i - 1;
	return (extend(gs, n, i - 1, err));
}

const char *
cl_render_group_text(char *buf, size_t cap, const struct render_groups *gs,
    size_t group, bool rules)
{
	const struct render_group *g = &gs->group[group];
	const struct cl_stats_cond *c;
	size_t n = 0;

	*buf = '\0';
	for (c = g->conds.cond; c < g->conds.cond + g->conds.n; c++)
		if (((rules && is_rule(c->name)) || (!g->alone &&
		    cl_stats_find(&gs->differ, c->name) != NULL)) &&
		    !is_silent(c->name) && n < cap)
			n += (size_t)snprintf(buf + n, cap - n,
			    "%s%.60s=%.200s", n == 0 ? "" : " ", c->name,
			    c->s);
	return (buf);
}

/* "4 has" or "1-3, 7 have", of many the first; returns how many runs it is. */
static size_t
print_spans(const struct render_groups *gs, size_t group, char *buf,
    size_t cap)
{
	const struct render_span *s;
	size_t n = 0, nruns = 0;
	char spans[900] = "";

	for (s = gs->span; s < gs->span + gs->nspans; s++) {
		if (s->group != group)
			continue;
		nruns += s->last - s->first + 1;
		if (sizeof(spans) - n < 60) {
			(void)snprintf(spans + n, sizeof(spans) - n, ", ...");
			break;
		}
		n += (size_t)snprintf(spans + n, sizeof(spans) - n, "%s%zu",
		    n == 0 ? "" : ", ", s->first);
		if (s->last > s->first)
			n += (size_t)snprintf(spans + n, sizeof(spans) - n,
			    "-%zu", s->last);
	}
	(void)snprintf(buf, cap, "%s %s", spans, nruns == 1 ? "has" : "have");
	return (nruns);
}

void
cl_render_groups_print(const struct render_groups *gs, struct cl_dst *dst)
{
	char text[2000], runs[1000], line[3100];
	size_t i, nruns;

	for (i = 0; i < gs->n; i++) {
		(void)cl_render_group_text(text, sizeof(text), gs, i, false);
		if (*text == '\0')
			continue;
		nruns = print_spans(gs, i, runs, sizeof(runs));
		(void)snprintf(line, sizeof(line), "%s %s", runs, text);
		cl_table_wrap(dst, nruns == 1 ? "run" : "runs", 4, line);
	}
}

void
cl_render_groups_free(struct render_groups *gs)
{

	while (gs->n > 0)
		cl_stats_conds_free(&gs->group[--gs->n].conds);
	cl_stats_conds_free(&gs->differ);
	free(gs->group);
	free(gs->span);
	*gs = (struct render_groups){ 0 };
}
