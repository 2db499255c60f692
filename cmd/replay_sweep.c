/*
 * A sweep: every policy with every budget, as runs of one pass over each
 * trace.  What a trace's runs have written waits until all of them are whole.
 */

#include <stdio.h>
#include <stdlib.h>

#include "cl/budget.h"
#include "cl/conditions.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/stats.h"
#include "cl/sweep.h"
#include "cl/trace.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "feed.h"
#include "replay.h"

#define NAME_MAX_BYTES	(CL_CACHE_POLICY_TEXT + 128)

struct sweep {
	const struct replay_options *o;
	struct cl_dst	*out;
	uint32_t	 from;		/* runs of the product, up to */
	uint32_t	 to;
	bool		 told_raised;
	struct replay_fit *fit;		/* of each policy, if it loads */

	struct cl_sweep	*before;	/* --warm: of the last trace */
	struct cl_keys	*before_keys;
	uint64_t	 fingerprint;	/* and of its model */
	struct cl_keys	*keys;
	struct cl_events *events;
	struct cl_sweep	*sweep;
	uint64_t	 ntokens;	/* replayed when the trace last began */
	bool		 broken;	/* the output, for good */
};

/* Run i of the product: policies outside, budgets inside. */
static int
add_run(struct sweep *s, uint32_t i, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	static const struct cl_budget everything = { CL_BUDGET_PERCENT,
	    10000 };
	const struct replay_lists *l = &s->o->lists;
	const struct cl_budgets_item *b = &l->budgets.item[i % l->budgets.n];
	struct cl_replay_options o = s->o->replay;
	struct replay_fit *fit = &s->fit[i / l->budgets.n];
	struct cl_stats_conds c = { 0 };
	struct cl_conditions what;
	struct cl_budget_slots slots;
	struct cl_model_sums sums;
	char policy[CL_CACHE_POLICY_TEXT], name[NAME_MAX_BYTES];
	int status;

	o.policy = l->policy[i / l->budgets.n];
	if ((status = cl_budget_resolve(o.policy.info->holds_all ?
	    &everything : &b->budget, o.partition, head->model, &slots,
	    err)) != CL_OK)
		return (status);
	replay_raised(&slots, b->text, &s->told_raised);
	cl_model_sums(head->model, &sums);
	o.dense = replay_dense(s->o, sums.dense_bytes);
	if (o.policy.file[0] != '\0' && fit->uses == NULL &&
	    (status = replay_fit(fit, o.policy.file, head->model, s->keys,
	    s->o->prefill, err)) != CL_OK)
		return (status);
	o.uses = fit->uses;
	o.nslots = slots.nslots;
	o.classes = slots.classes;
	o.stop = fe_stop();
	if (s->before != NULL)
		o.before = cl_sweep_replay(s->before, i - s->from);
	(void)snprintf(name, sizeof(name), "%s: --policy %s --cache %s",
	    t->name, cl_cache_policy_text(&o.policy, policy), b->text);
	replay_conditions(&what, s->o, t, b->text, fit);
	if ((status = cl_conditions_set(&c, &what, head, head->model, &slots,
	    &o, err)) == CL_OK)
		status = cl_sweep_add(s->sweep, name, head->model, &o, &c,
		    err);
	cl_stats_conds_free(&c);
	return (status);
}

static int
take_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_sweep_pass(arg, pass, err));
}

/* A trace begins: all that replays of it need. */
static int
begin_sweep(void *arg, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_events_sink sink = { .pass = take_pass };
	struct sweep *s = arg;
	uint32_t i;
	int status;

	cl_trace_reader_want(t->reader, CL_TRACE_CHECK);
	status = replay_same_model(t, head->model, s->before != NULL,
	    &s->fingerprint, err);
	if (status != CL_OK)
		return (status);
	if ((s->keys = cl_keys_for(s->o->replay.partition, head->model,
	    err)) == NULL ||
	    (s->sweep = cl_sweep_new(s->keys, s->o->lists.njobs,
	    fe_scratch(), err)) == NULL)
		return (err->code);
	for (i = s->from; i < s->to; i++)
		if ((status = add_run(s, i, t, head, err)) != CL_OK)
			return (status);
	sink.arg = s->sweep;
	s->events = cl_events_new(s->keys, s->o->prefill, CL_CELLS_NONE,
	    &sink, err);
	return (s->events == NULL ? err->code : CL_OK);
}

static int
take_block(void *arg, const struct feed_trace *t,
    const struct cl_trace_block *block, struct cl_err *err)
{
	struct sweep *s = arg;

	if (!cl_sweep_done(s->sweep))
		return (cl_events_block(s->events, block, err));
	cl_trace_reader_want(t->reader, CL_TRACE_SKIM);
	return (CL_OK);
}

static int
again(void *arg, bool *yes, struct cl_err *err)
{
	struct sweep *s = arg;
	int status;

	*yes = false;
	if ((status = cl_events_finish(s->events, err)) != CL_OK ||
	    !replay_more(s->o, s->events, &s->ntokens))
		return (status);
	status = cl_sweep_settle(s->sweep, err);
	*yes = status == CL_OK && !cl_sweep_done(s->sweep);
	return (status);
}

/* The trace is over: whole, or cut off after so many tokens. */
static int
end_sweep(void *arg, const struct feed_trace *t,
    const struct cl_stats_end *end, struct cl_err *err)
{
	struct sweep *s = arg;
	size_t i;
	int status;

	(void)t;
	for (i = 0; i < s->o->lists.npolicies && s->before == NULL; i++) {
		s->fit[i].routing = end->routing;
		s->fit[i].end = (enum cl_trace_end)end->end;
	}
	if ((status = cl_events_finish(s->events, err)) != CL_OK ||
	    (status = cl_sweep_finish(s->sweep, end, err)) != CL_OK)
		return (status);
	status = cl_sweep_write(s->sweep, s->out, err);
	s->broken = status != CL_OK;
	return (status);
}

static void
cool(struct sweep *s)
{

	cl_sweep_free(s->before);
	cl_keys_free(s->before_keys);
	s->before = NULL;
	s->before_keys = NULL;
}

/* With --warm the caches stay, and so does what their slots stand for. */
static void
drop_sweep(void *arg)
{
	struct sweep *s = arg;
	size_t i;

	cl_events_free(s->events);
	s->events = NULL;
	s->ntokens = 0;
	for (i = 0; i < s->o->lists.npolicies; i++) {
		free(s->fit[i].uses);
		s->fit[i].uses = NULL;
	}
	if (s->o->warm && s->sweep != NULL) {
		cool(s);
		s->before = s->sweep;
		s->before_keys = s->keys;
	} else {
		cl_sweep_free(s->sweep);
		cl_keys_free(s->keys);
	}
	s->sweep = NULL;
	s->keys = NULL;
}

static bool
is_broken(const void *arg)
{
	const struct sweep *s = arg;

	return (s->broken);
}

int
replay_sweep(const struct replay_options *o, char *const *operands, int n)
{
	const struct replay_lists *l = &o->lists;
	uint64_t nruns = l->npolicies * l->budgets.n;
	struct sweep s = { .o = o, .to = (uint32_t)nruns };
	struct feed_sink sink = {
		.begin = begin_sweep,
		.block = take_block,
		.again = again,
		.end = end_sweep,
		.drop = drop_sweep,
		.broken = is_broken,
		.arg = &s,
		.unit = "tokens replayed",
	};
	struct cl_err err = { 0 };
	size_t i;
	int status;

	if ((s.fit = calloc(l->npolicies, sizeof(*s.fit))) == NULL) {
		cl_fail_nomem(&err, "the policies of a sweep");
		fe_die(&err);
	}
	if (l->nparts != 0) {
		s.from = (uint32_t)(nruns * (l->part - 1) / l->nparts);
		s.to = (uint32_t)(nruns * l->part / l->nparts);
	}
	s.out = fe_output(o->output, o->replace, true);
	status = feed(operands, n, &sink);
	for (i = 0; i < l->npolicies; i++)
		if (s.fit[i].told)
			status = FE_TROUBLE;
	cool(&s);
	free(s.fit);
	return (s.broken ? fe_abandon(s.out) : fe_finish(s.out, status));
}
