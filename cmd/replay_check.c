/*
 * Options that are of use only together, or not together: whatever can be told
 * from them alone is told before anything is opened.
 */

#include <unistd.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "fe.h"
#include "replay.h"

/* Of each policy, as a replay will find it; staging is of each trace. */
static void
check_policies(const struct replay_options *o)
{
	struct cl_replay_options each = o->replay;
	struct cl_err err = { 0 };
	size_t i;

	each.nstage = 1;
	for (i = 0; i < o->lists.npolicies; i++) {
		each.policy = o->lists.policy[i];
		if (cl_replay_check(&each, o->io != REPLAY_NONE, &err) !=
		    CL_OK)
			fe_misuse("%s", err.msg);
	}
}

void
replay_check(const struct replay_options *o)
{
	bool ahead = o->replay.predict.kind != CL_PREDICT_OFF;
	unsigned i;

	if (o->io == REPLAY_MODEL && o->device == NULL)
		fe_misuse("--io model needs a --device: "
		    "read=7G,latency=80us,depth=32");
	if (o->io != REPLAY_MODEL && o->device != NULL)
		fe_misuse("--device is of --io model");
	if (!ahead && o->mode != replay_predict &&
	    o->replay.predict.width != 0)
		fe_misuse("--width is of --prefetch and --predict");
	if (o->io != REPLAY_REAL && o->verify)
		fe_misuse("--verify-bytes is of --io real");
	if (o->io != REPLAY_REAL && o->replay.compute_ns != 0)
		fe_misuse("--compute-us is of --io real; a --device computes "
		    "for compute=");
	if (!ahead && o->nstage != 0)
		fe_misuse("--stage is of --prefetch");
	if (o->mode == replay_traces || o->mode == replay_sweep)
		check_policies(o);
	if (o->mode != replay_curve && o->ncontracts > 1)
		fe_misuse("a list of contracts is of --curve: give one at a "
		    "time");
	for (i = 0; i < o->ncontracts; i++)
		if (o->mode == replay_curve && o->curve == CL_CURVE_BELADY &&
		    o->contract[i] == CL_CONTRACT_RETAIN)
			fe_misuse("--curve belady is of --contract event or "
			    "serial: under retain, replay --policy belady");
	if (o->mode == replay_bound &&
	    o->replay.contract != CL_CONTRACT_SERIAL)
		fe_misuse("--bound is of --contract serial");
}

void
replay_check_operand(const struct replay_options *o, const char *operand)
{
	const char *list = operand;
	struct cl_cache_policy policy;
	struct cl_err err = { 0 };

	if (o->mode == replay_curve && access(operand, F_OK) != 0 &&
	    cl_cache_policy_next(&list, &policy, &err) == CL_OK)
		fe_misuse("--curve takes lru or belady, and %s is no file",
		    operand);
}
