/*
 * --curve: the hits of a cache of every capacity.
 */

#include <stdlib.h>

#include "cl/curve.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "study.h"

struct state {
	uint32_t	 ncolumns;
	struct cl_curve	*curve;
};

static void
curve_free(void *arg)
{
	struct state *s = arg;

	cl_curve_free(s->curve);
	free(s);
}

static void *
curve_open(const struct replay_options *o, const struct cl_keys *keys,
    const struct cl_model *m, struct cl_err *err)
{
	struct cl_curve_options curve = { .contract = o->replay.contract,
	    .policy = CL_CURVE_LRU, .layers = true };
	struct state *s;

	(void)m;
	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "a curve");
		return (NULL);
	}
	s->ncolumns = keys->ncolumns;
	if ((s->curve = cl_curve_new(keys, &curve, err)) != NULL)
		return (s);
	curve_free(s);
	return (NULL);
}

static int
curve_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	struct state *s = arg;
	uint32_t i;

	(void)err;
	for (i = 0; i < s->ncolumns && !pass->skipped; i++)
		if (pass->event[i].n > 0)
			cl_curve_event(s->curve, i, pass->event[i].keys, NULL,
			    pass->event[i].n);
	return (CL_OK);
}

static void
curve_reset(void *arg)
{
	struct state *s = arg;

	cl_curve_reset(s->curve);
}

static int
curve_window(void *arg, struct cl_stats_writer *w, uint64_t tokens,
    struct cl_err *err)
{
	struct state *s = arg;

	return (cl_curve_window(s->curve, tokens, w, err));
}

static int
curve_write(void *arg, struct cl_stats_writer *w, struct cl_err *err)
{
	struct state *s = arg;

	return (cl_curve_write(s->curve, w, err));
}

int
replay_curve(const struct replay_options *o, char *const *operands, int n)
{
	static const struct study study = {
		.what = "curve",
		.policy = "lru",
		.cells = CL_CELLS_NONE,
		.open = curve_open,
		.pass = curve_pass,
		.reset = curve_reset,
		.window = curve_window,
		.write = curve_write,
		.free = curve_free,
	};

	return (study_traces(&study, o, operands, n));
}
