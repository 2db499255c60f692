/*
 * A sink of traces that does what all sinks of cl-replay do, and calls for
 * what they do not.
 */

#include "cl/err.h"
#include "cl/events.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "feed.h"
#include "frame.h"
#include "replay.h"

/* What fails once the conditions are out leaves half a stream. */
static int
note(struct frame *f, int status)
{

	if (status != CL_OK && f->begun)
		f->broken = true;
	return (status);
}

static int
begin(void *arg, const struct feed_trace *t, const struct cl_trace_head *head,
    struct cl_err *err)
{
	struct frame *f = arg;

	cl_trace_reader_want(t->reader, CL_TRACE_CHECK);
	return (note(f, f->verbs->open(f->arg, t, head, err)));
}

static int
block(void *arg, const struct feed_trace *t,
    const struct cl_trace_block *b, struct cl_err *err)
{
	struct frame *f = arg;
	int status = CL_OK;

	if (!f->verbs->done(f->arg)) {
		if (f->verbs->waited != NULL)
			f->verbs->waited(f->arg, feed_wait_ns(t));
		status = cl_events_block(f->events, b, err);
	}
	if (f->verbs->done(f->arg))
		cl_trace_reader_want(t->reader, CL_TRACE_SKIM);
	return (note(f, status));
}

/* Too short for what was asked for?  Not where a round gave no token. */
static int
again(void *arg, bool *yes, struct cl_err *err)
{
	struct frame *f = arg;
	uint64_t was = f->ntokens;
	int status = cl_events_finish(f->events, err);

	f->ntokens = cl_events_tokens(f->events);
	*yes = status == CL_OK && f->ntokens > was && !f->verbs->done(f->arg);
	if (*yes && f->verbs->again != NULL)
		status = f->verbs->again(f->arg, yes, err);
	return (note(f, status));
}

/* The trace is over: whole, or cut off after so many tokens. */
static int
end(void *arg, const struct feed_trace *t, const struct cl_stats_end *e,
    struct cl_err *err)
{
	struct frame *f = arg;
	int status;

	if (f->verbs->waited != NULL)
		f->verbs->waited(f->arg, feed_wait_ns(t));
	if ((status = cl_events_finish(f->events, err)) == CL_OK)
		status = f->verbs->finish(f->arg, e, err);
	return (note(f, status));
}

static void
drop(void *arg)
{
	struct frame *f = arg;

	cl_events_free(f->events);
	f->events = NULL;
	f->begun = false;
	f->ntokens = 0;
	f->verbs->drop(f->arg);
}

static bool
is_broken(const void *arg)
{
	const struct frame *f = arg;

	return (f->broken);
}

int
frame_run(struct frame *f, const struct replay_options *o,
    char *const *operands, int n)
{
	struct feed_sink sink = {
		.begin = begin,
		.block = block,
		.again = f->rounds ? again : NULL,
		.end = end,
		.drop = drop,
		.broken = is_broken,
		.arg = f,
		.unit = f->verbs->unit,
	};
	int status;

	f->out = fe_output(o->output, o->replace, true);
	status = feed(operands, n, &sink);
	if (f->trouble)
		status = FE_TROUBLE;
	return (f->broken ? fe_abandon(f->out) : fe_finish(f->out, status));
}
