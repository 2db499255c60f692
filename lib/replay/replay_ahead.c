/*
 * A policy that knows the future gets it here, and one that has hindsight what
 * is used most: passes are collected as they come, and replayed when the trace
 * is over, whole or not.  What is collected ends where the replay will, so that
 * what it foretells is what comes.
 */

#include <stdlib.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/lookahead.h"
#include "cl/stats.h"
#include "cl/trace.h"
#include "replay_int.h"

/* The rules of cl_replay_pass for where a run ends, ahead of it. */
static bool
enough(struct cl_replay *r)
{
	uint64_t n = r->pass_tokens;

	r->pass_tokens = 0;
	if (r->ahead_warmed < r->o.warmup) {
		r->ahead_warmed += n;
		return (false);
	}
	r->ahead_counted += n;
	return (r->o.tokens != 0 && r->ahead_counted >= r->o.tokens);
}

int
cl_replay_collect(struct cl_replay *r, const struct cl_pass *pass,
    struct cl_err *err)
{
	int status;

	if ((status = cl_lookahead_add(r->ahead, pass, err)) != CL_OK)
		return (status);
	if (!pass->skipped)
		r->pass_tokens += pass->ntokens;
	if (pass->ends)
		r->collected = enough(r);
	return (CL_OK);
}

static bool
stopped(const struct cl_replay *r)
{

	return (r->o.stop != NULL && atomic_load(r->o.stop));
}

/* Find next uses, in the cache's pools. */
static int
look(struct cl_replay *r, struct cl_err *err)
{
	uint32_t i, n = r->keys->ncolumns, *pools, npools = 1;
	int status;

	if ((pools = calloc(n, sizeof(*pools))) == NULL)
		return (cl_fail_nomem(err, "what is to come"));
	for (i = 0; i < n; i++) {
		pools[i] = r->column[i].pool;
		if (pools[i] >= npools)
			npools = pools[i] + 1;
	}
	status = cl_lookahead_look(r->ahead, r->o.contract,
	    r->o.policy.info->foresees, npools > 1 ? pools : NULL, npools,
	    err);
	free(pools);
	return (status);
}

int
cl_replay_foresee(struct cl_replay *r, struct cl_err *err)
{

	if (r->ahead == NULL || r->foreseen)
		return (CL_OK);
	r->foreseen = true;
	return (r->o.policy.info->foresees != CL_FUTURE_NONE || r->o.quality ?
	    look(r, err) : CL_OK);
}

/* Load what will be used most. */
static int
pin(struct cl_replay *r, struct cl_err *err)
{
	uint64_t *uses = calloc(r->keys->nkeys, sizeof(*uses));
	int status;

	if (uses == NULL)
		return (cl_fail_nomem(err, "the pinned experts"));
	cl_lookahead_count(r->ahead, uses);
	status = cl_replay_pin(r, uses, err);
	free(uses);
	return (status);
}

int
cl_replay_collected(struct cl_replay *r, struct cl_stats_end *end,
    struct cl_err *err)
{
	const struct cl_pass *pass;
	int status;

	r->pass_tokens = 0;
	if (r->o.ahead != NULL && (r->ahead = cl_lookahead_view(
	    r->o.ahead->ahead, err)) == NULL)
		return (err->code);
	if (r->o.ahead == NULL && (status = cl_replay_foresee(r, err)) !=
	    CL_OK)
		return (status);
	if (r->o.policy.info->foresees != CL_FUTURE_NONE &&
	    (status = cl_cache_begin(r->cache, cl_lookahead_places(r->ahead),
	    cl_lookahead_first(r->ahead), err)) != CL_OK)
		return (status);
	if (r->hindsight && (status = pin(r, err)) != CL_OK)
		return (status);
	if ((status = cl_replay_open_quality(r, err)) != CL_OK)
		return (status);
	cl_replay_begin(r);
	while (!stopped(r)) {
		if (cl_lookahead_next(r->ahead, &pass, &r->next) == CL_END)
			return (CL_OK);
		if ((status = cl_replay_serve(r, pass, err)) != CL_OK)
			return (status);
	}
	end->end = CL_END_INTERRUPTED;
	return (CL_OK);
}
