/*
 * Options that are of use only together, or not together: whatever can be told
 * from them alone is told before anything is opened.
 */

#include "fe.h"
#include "replay.h"

void
replay_check(const struct replay_options *o)
{
	bool ahead = o->replay.predict.kind != CL_PREDICT_OFF;

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
}
