#ifndef FED_H
#define FED_H

/*
 * A replay with the events that feed it, for tests that have blocks.
 */

#include <assert.h>

#include "cl/events.h"
#include "cl/keys.h"
#include "cl/replay.h"

struct fed {
	struct cl_keys	*keys;
	struct cl_events *events;
	struct cl_replay *replay;	/* NULL: it was refused */
};

static int
fed_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_replay_pass(arg, pass, err));
}

static struct fed
fed_new(const struct cl_model *m, const struct cl_replay_options *o,
    enum cl_prefill prefill, struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_events_sink sink = { .pass = fed_pass };
	struct fed f = { 0 };

	if ((f.keys = cl_keys_for(o->partition, m, err)) == NULL ||
	    (f.replay = cl_replay_new(m, f.keys, o, w, 0, err)) == NULL)
		return (f);
	sink.arg = f.replay;
	f.events = cl_events_new(f.keys, prefill, o->predict.kind ==
	    CL_PREDICT_OFF ? CL_CELLS_NONE : CL_CELLS_ALL, &sink, err);
	assert(f.events != NULL);
	return (f);
}

/* The trace ends, having been waited for so long. */
static int
fed_finish(struct fed *f, const struct cl_stats_end *end, uint64_t wait_ns,
    struct cl_err *err)
{
	int status;

	cl_replay_waited(f->replay, wait_ns);
	if ((status = cl_events_finish(f->events, err)) != CL_OK)
		return (status);
	return (cl_replay_finish(f->replay, end, err));
}

static void
fed_free(struct fed *f)
{

	cl_events_free(f->events);
	cl_replay_free(f->replay);
	cl_keys_free(f->keys);
}

#endif /* FED_H */
