/*
 * A sweep: every policy with every budget, as runs of one pass over each
 * trace.  What a trace's runs have written waits until all of them are whole.
 */

#include <stdio.h>
#include <stdlib.h>

#include "cl/budget.h"
#include "cl/conditions.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/stats.h"
#include "cl/sweep.h"
#include "cl/trace.h"
#include "fe.h"
#include "feed.h"
#include "frame.h"
#include "replay.h"

#define NAME_MAX_BYTES	(CL_CACHE_POLICY_TEXT + 128)

struct sweep {
	const struct replay_options *o;
	struct frame	 frame;
	uint32_t	 from;		/* runs of the product, up to */
	uint32_t	 to;
	bool		 told_raised;
	struct replay_fit *fit;		/* of each policy, if it loads */

	struct cl_sweep	*before;	/* --warm: of the last trace */
	struct cl_keys	*before_keys;
	uint64_t	 fingerprint;	/* and of its model */
	struct cl_keys	*keys;
	struct cl_sweep	*sweep;
	bool		 begun;		/* all its runs are there */
};

/* What the policies of these runs are chosen by. */
static int
fit_policies(struct sweep *s, const struct cl_trace_head *head,
    struct cl_err *err)
{
	const struct replay_lists *l = &s->o->lists;
	struct replay_fit *fit;
	const char *file;
	uint32_t i;
	int status;

	for (i = s->from; i < s->to; i++) {
		fit = &s->fit[i / l->budgets.n];
		file = l->policy[i / l->budgets.n].file;
		if (file[0] != '\0' && fit->uses == NULL &&
		    (status = replay_fit(fit, file, head->model, s->keys,
		    s->o->prefill, err)) != CL_OK)
			return (status);
		s->frame.trouble = s->frame.trouble || fit->told;
	}
	return (CL_OK);
}

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
	const struct replay_fit *fit = &s->fit[i / l->budgets.n];
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

/* All that is asked of a trace before the first cache goes over to it. */
static int
admit(struct sweep *s, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	int status;

	status = replay_same_model(t, head->model, s->before != NULL,
	    &s->fingerprint, err);
	if (status != CL_OK)
		return (status);
	if ((s->keys = cl_keys_for(s->o->replay.partition, head->model,
	    err)) == NULL)
		return (err->code);
	status = replay_same_experts(t, s->keys, s->before_keys, err);
	return (status != CL_OK ? status : fit_policies(s, head, err));
}

/*
 * A trace begins: all that replays of it need.  With --warm, what fails once
 * caches go over to it leaves some that nothing can go on with, as in a run.
 */
static int
begin_sweep(void *arg, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_events_sink sink = { .pass = take_pass };
	struct sweep *s = arg;
	uint32_t i;
	int status;

	if ((status = admit(s, t, head, err)) != CL_OK)
		return (status);
	if ((s->sweep = cl_sweep_new(s->keys, s->o->lists.njobs, fe_scratch(),
	    err)) == NULL)
		return (err->code);
	sink.arg = s->sweep;
	s->frame.events = cl_events_new(s->keys, s->o->prefill, CL_CELLS_NONE,
	    &sink, err);
	if (s->frame.events == NULL)
		return (err->code);
	s->frame.begun = s->before != NULL;
	for (i = s->from; i < s->to; i++)
		if ((status = add_run(s, i, t, head, err)) != CL_OK)
			return (status);
	s->begun = true;
	s->frame.begun = s->o->warm;
	return (CL_OK);
}

static bool
is_done(const void *arg)
{
	const struct sweep *s = arg;

	return (cl_sweep_done(s->sweep));
}

static int
again(void *arg, bool *yes, struct cl_err *err)
{
	struct sweep *s = arg;
	int status = cl_sweep_settle(s->sweep, err);

	*yes = status == CL_OK && !cl_sweep_done(s->sweep);
	return (status);
}

static int
finish_sweep(void *arg, const struct cl_stats_end *end, struct cl_err *err)
{
	struct sweep *s = arg;
	size_t i;
	int status;

	for (i = 0; i < s->o->lists.npolicies && s->before == NULL; i++) {
		s->fit[i].routing = end->routing;
		s->fit[i].end = (enum cl_trace_end)end->end;
	}
	if ((status = cl_sweep_finish(s->sweep, end, err)) != CL_OK)
		return (status);
	status = cl_sweep_write(s->sweep, s->frame.out, err);
	s->frame.broken = status != CL_OK;
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

	for (i = 0; i < s->o->lists.npolicies; i++) {
		free(s->fit[i].uses);
		s->fit[i].uses = NULL;
	}
	if (s->o->warm && s->begun) {
		cool(s);
		s->before = s->sweep;
		s->before_keys = s->keys;
	} else {
		cl_sweep_free(s->sweep);
		cl_keys_free(s->keys);
	}
	s->sweep = NULL;
	s->keys = NULL;
	s->begun = false;
}

int
replay_sweep(const struct replay_options *o, char *const *operands, int n)
{
	const struct replay_lists *l = &o->lists;
	uint64_t nruns = l->npolicies * l->budgets.n;
	static const struct frame_verbs verbs = {
		.open = begin_sweep,
		.done = is_done,
		.again = again,
		.finish = finish_sweep,
		.drop = drop_sweep,
		.unit = "tokens replayed",
	};
	struct sweep s = { .o = o, .to = (uint32_t)nruns, .frame = {
	    .verbs = &verbs, .arg = &s, .rounds = o->replay.tokens != 0 } };
	struct cl_err err = { 0 };
	int status;

	if ((s.fit = calloc(l->npolicies, sizeof(*s.fit))) == NULL) {
		cl_fail_nomem(&err, "the policies of a sweep");
		fe_die(&err);
	}
	if (l->nparts != 0) {
		s.from = (uint32_t)(nruns * (l->part - 1) / l->nparts);
		s.to = (uint32_t)(nruns * l->part / l->nparts);
	}
	status = frame_run(&s.frame, o, operands, n);
	cool(&s);
	free(s.fit);
	return (status);
}
