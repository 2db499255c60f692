/*
 * --stats: what the trace says of locality.
 */

#include "cl/err.h"
#include "cl/profile.h"
#include "study.h"

static void *
profile_open(const struct replay_options *o, const struct cl_keys *keys,
    const struct cl_model *m, struct cl_err *err)
{

	(void)o;
	return (cl_profile_new(keys, m, err));
}

static int
profile_pass(void *state, const struct cl_pass *pass, struct cl_err *err)
{

	(void)err;
	cl_profile_pass(state, pass);
	return (CL_OK);
}

static void
profile_reset(void *state)
{

	cl_profile_reset(state);
}

static int
profile_write(void *state, struct cl_stats_writer *w, struct cl_err *err)
{

	return (cl_profile_write(state, w, err));
}

static void
profile_free(void *state)
{

	cl_profile_free(state);
}

int
replay_stats(const struct replay_options *o, char *const *operands, int n)
{
	static const struct study study = {
		.conditions = { .what = "stats" },
		.cells = CL_CELLS_IDS,
		.open = profile_open,
		.pass = profile_pass,
		.reset = profile_reset,
		.write = profile_write,
		.free = profile_free,
	};

	return (study_traces(&study, o, 1, operands, n));
}
