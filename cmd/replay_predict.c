/*
 * --predict: how well predictors foretell a layer.
 */

#include "cl/err.h"
#include "cl/foresight.h"
#include "study.h"

static void *
foresight_open(const struct replay_options *o, const struct cl_keys *keys,
    const struct cl_model *m, struct cl_err *err)
{

	return (cl_foresight_new(keys, m, o->replay.predict.width, err));
}

static int
foresight_pass(void *state, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_foresight_pass(state, pass, err));
}

static void
foresight_reset(void *state)
{

	cl_foresight_reset(state);
}

static int
foresight_write(void *state, struct cl_stats_writer *w, struct cl_err *err)
{

	return (cl_foresight_write(state, w, err));
}

static void
foresight_free(void *state)
{

	cl_foresight_free(state);
}

int
replay_predict(const struct replay_options *o, char *const *operands, int n)
{
	static const struct study study = {
		.conditions = { .what = "predict" },
		.cells = CL_CELLS_ALL,
		.open = foresight_open,
		.pass = foresight_pass,
		.reset = foresight_reset,
		.write = foresight_write,
		.free = foresight_free,
	};

	return (study_traces(&study, o, 1, operands, n));
}
