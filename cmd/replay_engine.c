/*
 * Options of the engine: what is read ahead, and what is done with the bytes.
 */

#include "cl/err.h"
#include "cl/host.h"
#include "cl/rule.h"
#include "fe.h"
#include "replay.h"

#define DROP_MAX	16384	/* all but what has every gate */
#define MICROSECONDS_MAX	1000000000	/* a thousand seconds */
#define STAGE_MAX	65536

const char *const replay_denses[] = {
	[CL_DENSE_SKIP] = "skip",
	[CL_DENSE_RESIDENT] = "resident",
	[CL_DENSE_RING] = "ring",
	"auto", NULL
};

static void
take_prefetch(struct replay_options *o, const char *text)
{
	struct cl_err err = { 0 };

	if (cl_predict_parse(text, &o->replay.predict, &err) != CL_OK)
		fe_misuse("--prefetch: %s", err.msg);
}

static void
take_smart(struct replay_options *o, const char *text)
{
	struct cl_err err = { 0 };

	if (cl_smart_parse(text, &o->replay.smart, &err) != CL_OK)
		fe_misuse("--smart: %s", err.msg);
}

/* Resident, if they fit in a quarter of what the process may use. */
enum cl_replay_dense
replay_dense(const struct replay_options *o, uint64_t nbytes)
{

	if (nbytes == 0)
		return (CL_DENSE_SKIP);
	if (o->dense <= CL_DENSE_RING)
		return ((enum cl_replay_dense)o->dense);
	return (nbytes <= cl_host_memory("") / 4 ? CL_DENSE_RESIDENT :
	    CL_DENSE_RING);
}

void
replay_engine_option(struct replay_options *o, int c, const char *arg)
{

	switch (c) {
	case OPT_COMPUTE:
		if ((o->compute = cl_compute_kind_by_name(arg)) == 0)
			fe_misuse("--compute \"%.40s\": kernel, checksum or "
			    "none is wanted", arg);
		break;
	case OPT_COMPUTE_US:
		o->replay.compute_ns = 1000 * fe_u64("--compute-us", arg, 0,
		    MICROSECONDS_MAX);
		break;
	case OPT_DROP:
		o->replay.smart.drop = fe_f64("--drop", arg, 0, DROP_MAX);
		break;
	case OPT_DENSE:
		o->dense = fe_choice("--dense", arg, replay_denses);
		break;
	case OPT_PREFETCH:
		take_prefetch(o, arg);
		break;
	case OPT_SEED:
		o->seed = fe_u64("--seed", arg, 0, UINT64_MAX);
		o->replay.predict.seed = o->seed;
		break;
	case OPT_SMART:
		take_smart(o, arg);
		break;
	case OPT_STAGE:
		o->nstage = fe_u64("--stage", arg, 1, STAGE_MAX);
		break;
	case OPT_VERIFY_BYTES:
		o->verify = true;
		break;
	case OPT_WIDTH:
		o->replay.predict.width = (uint32_t)fe_u64("--width", arg, 1,
		    CL_RULE_EXPERTS_MAX);
		break;
	}
}

void
replay_engine_check(const struct replay_options *o)
{
	bool ahead = o->replay.predict.kind != CL_PREDICT_OFF;

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
}
