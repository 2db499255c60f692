/*
 * --curve: the hits of a cache of every capacity.  Those of belady need next
 * uses: the trace is collected, and goes through the curve when it is whole.
 */

#include <stdlib.h>

#include "cl/curve.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "study.h"

struct state {
	enum cl_contract contract;
	uint32_t	 ncolumns;
	struct cl_curve	*curve;
	struct cl_lookahead *ahead;	/* belady */
	uint64_t	 npasses;	/* and parts of them, so far */
	uint64_t	 warm;		/* of these belong to the warm-up */
};

static void
curve_free(void *arg)
{
	struct state *s = arg;

	cl_curve_free(s->curve);
	cl_lookahead_free(s->ahead);
	free(s);
}

static void *
curve_open(const struct replay_options *o, const struct cl_keys *keys,
    const struct cl_model *m, struct cl_err *err)
{
	struct cl_curve_options curve = { .contract = o->replay.contract,
	    .policy = o->curve, .layers = true };
	struct state *s;

	(void)m;
	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "a curve");
		return (NULL);
	}
	s->contract = curve.contract;
	s->ncolumns = keys->ncolumns;
	if ((s->curve = cl_curve_new(keys, &curve, err)) == NULL ||
	    (o->curve == CL_CURVE_BELADY &&
	    (s->ahead = cl_lookahead_new(keys, err)) == NULL)) {
		curve_free(s);
		return (NULL);
	}
	return (s);
}

/* The events of a pass; next is NULL but for belady. */
static void
take_events(struct state *s, const struct cl_pass *pass,
    const uint32_t *const *next)
{
	const struct cl_event *event = pass->event;
	uint32_t i;

	for (i = 0; i < s->ncolumns; i++, event++)
		if (event->n > 0)
			cl_curve_event(s->curve, i, event->keys,
			    next == NULL ? NULL : next[i], event->n);
}

static int
curve_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	struct state *s = arg;
	uint32_t i;

	s->npasses++;
	for (i = 0; i < s->ncolumns && !pass->skipped; i++)
		cl_curve_use(s->curve, pass->event[i].keys, pass->event[i].n);
	if (s->ahead != NULL)
		return (cl_lookahead_add(s->ahead, pass, err));
	if (!pass->skipped)
		take_events(s, pass, NULL);
	return (CL_OK);
}

static void
curve_reset(void *arg)
{
	struct state *s = arg;

	s->warm = s->npasses;
	cl_curve_next_window(s->curve);
	if (s->ahead == NULL)
		cl_curve_reset(s->curve);
}

static int
curve_window(void *arg, struct cl_stats_writer *w, uint64_t tokens,
    struct cl_err *err)
{
	struct state *s = arg;

	return (cl_curve_window(s->curve, tokens, w, err));
}

/* All passes are there: belady's go through the curve. */
static int
look_ahead(struct state *s, struct cl_err *err)
{
	const uint32_t *const *next;
	const struct cl_pass *pass;
	uint64_t n = 0;
	int status;

	if ((status = cl_lookahead_look(s->ahead, s->contract,
	    CL_FUTURE_EVENTS, NULL, 1, err)) != CL_OK)
		return (status);
	while ((status = cl_lookahead_next(s->ahead, &pass, &next)) == CL_OK) {
		if (!pass->skipped)
			take_events(s, pass, next);
		if (++n == s->warm)
			cl_curve_reset(s->curve);
	}
	return (status == CL_END ? CL_OK : status);
}

static int
curve_write(void *arg, struct cl_stats_writer *w, struct cl_err *err)
{
	struct state *s = arg;
	int status;

	if (s->ahead != NULL && (status = look_ahead(s, err)) != CL_OK)
		return (status);
	return (cl_curve_write(s->curve, w, err));
}

int
replay_curve(const struct replay_options *o, char *const *operands, int n)
{
	struct study study = {
		.conditions = {
			.what = "curve",
			.policy = replay_curves[o->curve],
			.contract = true,
			.windows = true,
			.slots = true,
		},
		.cells = CL_CELLS_NONE,
		.cyclic = true,
		.open = curve_open,
		.pass = curve_pass,
		.reset = curve_reset,
		.window = curve_window,
		.write = curve_write,
		.free = curve_free,
	};
	struct replay_options each[REPLAY_CONTRACTS];
	unsigned i;

	for (i = 0; i < o->ncontracts; i++) {
		each[i] = *o;
		each[i].replay.contract = o->contract[i];
	}
	return (study_traces(&study, each, o->ncontracts, operands, n));
}
