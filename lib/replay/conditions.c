/*
 * One line a condition.  The first failure is kept by the error record, so
 * that the list reads as a list.
 */

#include "cl/budget.h"
#include "cl/compute.h"
#include "cl/conditions.h"
#include "cl/err.h"
#include "cl/events.h"
#include "cl/model.h"
#include "cl/replay.h"
#include "cl/stats.h"
#include "cl/trace.h"

#define ORIGIN_CAP	1000		/* of its notes, kept whole in traces */

const char *const cl_conditions_contracts[] = {
	[CL_CONTRACT_EVENT] = "event",
	[CL_CONTRACT_SERIAL] = "serial",
	[CL_CONTRACT_RETAIN] = "retain",
	NULL
};
const char *const cl_conditions_prefills[] = {
	[CL_PREFILL_UNION] = "union",
	[CL_PREFILL_TOKEN] = "token",
	[CL_PREFILL_SKIP] = "skip",
	NULL
};
static const char *const denses[] = {
	[CL_DENSE_SKIP] = "skip",
	[CL_DENSE_RESIDENT] = "resident",
	[CL_DENSE_RING] = "ring"
};
const char *const cl_conditions_partitions[] = {
	[CL_PARTITION_GLOBAL] = "global",
	[CL_PARTITION_LAYER] = "layer",
	[CL_PARTITION_CLASS] = "class",
	NULL
};

static void
set_number(struct cl_stats_conds *c, const char *name, uint64_t v, bool known,
    struct cl_err *err)
{

	if (known)
		(void)cl_stats_set_u64(c, name, v, err);
	else
		(void)cl_stats_set_none(c, name, err);
}

static void
set_model(struct cl_stats_conds *c, const struct cl_model *m,
    struct cl_err *err)
{
	struct cl_model_sums s;

	cl_model_sums(m, &s);
	(void)cl_stats_set_str(c, "model", m->name, err);
	(void)cl_stats_set_str(c, "architecture", m->arch, err);
	if (m->fingerprint != 0)
		(void)cl_stats_set_hash(c, "model_fingerprint",
		    m->fingerprint, err);
	else
		(void)cl_stats_set_none(c, "model_fingerprint", err);
	(void)cl_stats_set_u64(c, "moe_layers", s.nmoe, err);
	(void)cl_stats_set_u64(c, "experts", s.experts, err);
	set_number(c, "expert_bytes", s.expert_bytes, s.bytes_known, err);
	(void)cl_stats_set_u64(c, "token_demand_experts", s.demand_experts,
	    err);
	set_number(c, "token_demand_bytes", s.demand_bytes,
	    s.bytes_known, err);
	set_number(c, "model_dense_bytes", s.dense_bytes, s.bytes_known,
	    err);
}

static void
set_origin(struct cl_stats_conds *c, const struct cl_trace_head *head,
    struct cl_err *err)
{
	char text[ORIGIN_CAP];

	(void)cl_stats_set_str(c, "origin",
	    cl_trace_origin_name(head->origin), err);
	(void)cl_stats_set_str(c, "origin_text",
	    cl_trace_head_text(head, text, sizeof(text)), err);
}

/* Which trace it is, and of which model. */
static void
set_trace(struct cl_stats_conds *c, const struct cl_conditions *what,
    const struct cl_trace_head *head, const struct cl_model *m,
    struct cl_err *err)
{

	(void)cl_stats_set_str(c, "trace", what->trace, err);
	(void)cl_stats_set_u64(c, "member", what->member, err);
	if (what->member_name != NULL)
		(void)cl_stats_set_str(c, "member_name", what->member_name,
		    err);
	set_origin(c, head, err);
	set_model(c, m, err);
}

static void
set_contract(struct cl_stats_conds *c, const struct cl_replay_options *o,
    struct cl_err *err)
{

	(void)cl_stats_set_str(c, "contract",
	    cl_conditions_contracts[o->contract], err);
}

/* What of it becomes events, and which of these are counted. */
static void
set_events(struct cl_stats_conds *c, const struct cl_conditions *what,
    const struct cl_replay_options *o, struct cl_err *err)
{

	(void)cl_stats_set_str(c, "prefill",
	    cl_conditions_prefills[what->prefill], err);
	(void)cl_stats_set_u64(c, "warmup", o->warmup, err);
	set_number(c, "tokens", o->tokens, o->tokens != 0, err);
}

/* What a slot of one pool takes: capacities in experts as bytes. */
static void
set_stride(struct cl_stats_conds *c, const struct cl_model *m,
    struct cl_err *err)
{
	uint64_t stride = cl_budget_stride(m);

	set_number(c, "stride_bytes", stride, stride != 0, err);
}

static void
set_window(struct cl_stats_conds *c, const struct cl_replay_options *o,
    struct cl_err *err)
{

	(void)cl_stats_set_u64(c, "window", o->window, err);
}

int
cl_conditions_study(struct cl_stats_conds *c,
    const struct cl_conditions_study *study, const struct cl_conditions *what,
    const struct cl_trace_head *head, const struct cl_replay_options *o,
    struct cl_err *err)
{

	(void)cl_stats_set_str(c, "what", study->what, err);
	set_trace(c, what, head, head->model, err);
	if (study->contract)
		set_contract(c, o, err);
	set_events(c, what, o, err);
	if (study->windows)
		set_window(c, o, err);
	if (study->slots)
		set_stride(c, head->model, err);
	if (study->policy != NULL)
		(void)cl_stats_set_str(c, "policy", study->policy, err);
	if (o->predict.width != 0)
		(void)cl_stats_set_u64(c, "width", o->predict.width, err);
	return (err->code);
}

/*
 * What a policy that knows the future makes of it.  It counts misses: where
 * one pool has experts of several sizes, the fewest may not be the fewest
 * bytes.
 */
static const char *
foresight(const struct cl_budget_slots *slots,
    const struct cl_replay_options *o)
{

	return (o->partition == CL_PARTITION_GLOBAL && slots->classes.n != 1 ?
	    "heuristic" : "exact");
}

/* What the policy was chosen by; a trace cut off has no fingerprint. */
static void
set_fit(struct cl_stats_conds *c, const struct cl_conditions *what,
    const struct cl_replay_options *o, struct cl_err *err)
{

	if (cl_replay_hindsight(o)) {
		(void)cl_stats_set_bool(c, "hindsight", true, err);
		return;
	}
	if (what->fitted != 0)
		(void)cl_stats_set_hash(c, "fitted_routing", what->fitted,
		    err);
	else
		(void)cl_stats_set_none(c, "fitted_routing", err);
	(void)cl_stats_set_str(c, "fitted_end", cl_trace_end_name(
	    (enum cl_trace_end)what->fitted_end), err);
}

static bool
has_dense(const struct cl_model *m)
{
	struct cl_model_sums s;

	cl_model_sums(m, &s);
	return (s.dense_bytes > 0);
}

/* What is read ahead; none where that is off, but for its name. */
static void
set_prefetch(struct cl_stats_conds *c, const struct cl_replay_options *o,
    struct cl_err *err)
{
	const struct cl_predict_options *p = &o->predict;
	char text[CL_PREDICT_TEXT];
	bool on = p->kind != CL_PREDICT_OFF;

	(void)cl_stats_set_str(c, "prefetch", cl_predict_text(p, text), err);
	if (!on)
		return;
	set_number(c, "width", p->width, p->width != 0, err);
	(void)cl_stats_set_u64(c, "stage", o->nstage, err);
	if (p->kind == CL_PREDICT_ORACLE)
		(void)cl_stats_set_u64(c, "seed", p->seed, err);
}

/* How routing heeds the cache; how much is dropped where anything is. */
static void
set_smart(struct cl_stats_conds *c, const struct cl_smart_options *s,
    struct cl_err *err)
{
	char text[CL_SMART_TEXT];

	(void)cl_stats_set_str(c, "smart", cl_smart_text(s, text), err);
	if (s->drop > 0)
		(void)cl_stats_set_f64(c, "drop", s->drop, err);
}

int
cl_conditions_set(struct cl_stats_conds *c, const struct cl_conditions *what,
    const struct cl_trace_head *head, const struct cl_model *m,
    const struct cl_budget_slots *slots, const struct cl_replay_options *o,
    struct cl_err *err)
{
	char policy[CL_CACHE_POLICY_TEXT];
	bool bytes = slots->stride != 0;

	set_trace(c, what, head, m, err);
	set_contract(c, o, err);
	set_events(c, what, o, err);
	set_window(c, o, err);
	(void)cl_stats_set_str(c, "policy",
	    cl_cache_policy_text(&o->policy, policy), err);
	if (o->policy.info->loads)
		set_fit(c, what, o, err);
	if (o->policy.info->foresees != CL_FUTURE_NONE)
		(void)cl_stats_set_str(c, "foresight", foresight(slots, o),
		    err);
	(void)cl_stats_set_str(c, "partition",
	    cl_conditions_partitions[o->partition], err);
	(void)cl_stats_set_str(c, "budget", what->budget, err);
	(void)cl_stats_set_u64(c, "cache_experts", slots->nslots, err);
	set_number(c, "cache_bytes", slots->nbytes, bytes, err);
	set_number(c, "stride_bytes", slots->stride, bytes, err);
	set_number(c, "slot_waste_bytes", slots->waste, bytes, err);
	if (what->warm)
		(void)cl_stats_set_bool(c, "warm", true, err);
	(void)cl_stats_set_str(c, "dense", denses[o->dense],
	    err);
	if (o->dense == CL_DENSE_SKIP && !has_dense(m))
		(void)cl_stats_set_str(c, "dense_why", "the trace does not "
		    "say where dense weights are", err);
	set_prefetch(c, o, err);
	set_smart(c, &o->smart, err);
	(void)cl_stats_set_str(c, "io", what->io, err);
	if (what->compute != 0) {
		(void)cl_stats_set_str(c, "compute", cl_compute_kind_name(
		    (enum cl_compute_kind)what->compute), err);
		(void)cl_stats_set_u64(c, "compute_us", o->compute_ns / 1000,
		    err);
		(void)cl_stats_set_u64(c, "seed", what->seed, err);
	}
	if (what->threads != 0)
		(void)cl_stats_set_u64(c, "threads", what->threads, err);
	if (what->os_cache != NULL)
		(void)cl_stats_set_str(c, "os_cache", what->os_cache, err);
	return (err->code);
}
