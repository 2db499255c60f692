/*
 * Traces to a study: warm-up, tokens and windows act where they do in a
 * replay, and the run says which trace it is of in the same words.
 */

#include <string.h>

#include "cl/conditions.h"
#include "cl/counters.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/stats_write.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "feed.h"
#include "study.h"

/* What is counted of the trace itself. */
static const enum cl_counter counted[] = { CL_N_TOKENS, CL_N_PADDING,
    CL_N_SKIPPED, CL_N_EVENTS, CL_N_ACCESSES };

#define NCOUNTED	(sizeof(counted) / sizeof(counted[0]))

struct run {
	const struct study *study;
	const struct replay_options *o;
	uint64_t	 window;	/* in tokens; 0: none */
	struct cl_dst	*out;
	struct cl_keys	*keys;
	struct cl_events *events;
	struct cl_stats_writer *writer;
	void		*state;		/* the study's */
	bool		 broken;	/* the output lacks its trailer */

	bool		 warming;
	bool		 done;
	uint64_t	 ntokens;	/* when the trace last began */
	uint64_t	 pass_tokens;	/* of the pass at hand, so far */
	uint64_t	 seen;		/* tokens, in or behind the warm-up */
	bool		 windows;	/* there are any */
	uint64_t	 next_window;
	uint64_t	 windowed;	/* seen when the last one ended */
	uint64_t	 n[CL_N_COUNTERS];
};

static int
end_window(struct run *r, struct cl_err *err)
{

	r->next_window = (r->seen / r->window + 1) * r->window;
	r->windowed = r->seen;
	return (r->study->window(r->state, r->writer, r->seen, err));
}

static int
end_pass(struct run *r, struct cl_err *err)
{
	const struct cl_replay_options *o = &r->o->replay;

	r->seen += r->pass_tokens;
	r->pass_tokens = 0;
	if (r->warming && r->seen >= o->warmup) {
		r->warming = false;
		r->seen = 0;
		r->study->reset(r->state);
		memset(r->n, 0, sizeof(r->n));
	} else if (!r->warming) {
		r->done = o->tokens != 0 && r->seen >= o->tokens;
		if (r->windows && r->seen >= r->next_window)
			return (end_window(r, err));
	}
	return (CL_OK);
}

static void
count(struct run *r, const struct cl_pass *pass)
{
	const struct cl_event *event = pass->event;
	uint32_t i;

	r->n[CL_N_PADDING] += pass->npadding;
	if (pass->skipped) {
		r->n[CL_N_SKIPPED] += pass->ntokens;
		return;
	}
	r->n[CL_N_TOKENS] += pass->ntokens;
	r->pass_tokens += pass->ntokens;
	for (i = 0; i < r->keys->ncolumns; i++, event++) {
		r->n[CL_N_ACCESSES] += event->n;
		r->n[CL_N_EVENTS] += r->o->replay.contract ==
		    CL_CONTRACT_SERIAL ? event->n : event->n > 0;
	}
}

static int
take_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	struct run *r = arg;
	int status;

	if (r->done)
		return (CL_OK);
	count(r, pass);
	if ((status = r->study->pass(r->state, pass, err)) != CL_OK)
		return (status);
	return (pass->ends ? end_pass(r, err) : CL_OK);
}

static int
write_conditions(struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_replay_options o = r->o->replay;
	struct cl_stats_conds c = { 0 };
	struct cl_conditions what = {
		.trace = t->input,
		.member = t->number,
		.member_name = t->member,
		.prefill = r->o->prefill,
	};

	o.window = r->window;
	if (cl_conditions_study(&c, &r->study->conditions, &what, head, &o,
	    err) == CL_OK)
		r->writer = cl_stats_writer_new(r->out, &c, err);
	cl_stats_conds_free(&c);
	return (r->writer == NULL ? err->code : CL_OK);
}

static void
start(struct run *r)
{
	const struct cl_replay_options *o = &r->o->replay;

	r->warming = o->warmup > 0;
	r->done = false;
	r->seen = r->pass_tokens = r->windowed = r->ntokens = 0;
	r->windows = r->window != 0 && r->study->window != NULL;
	r->next_window = r->window;
	memset(r->n, 0, sizeof(r->n));
}

static int
write_columns(struct run *r, struct cl_err *err)
{
	struct cl_stats_columns columns = { .kind = CL_STATS_LOGICAL };
	const char *name;
	size_t i;
	int status = CL_OK;

	for (i = 0; i < NCOUNTED && status == CL_OK; i++) {
		name = cl_counters_name(counted[i]);
		status = cl_stats_add_column(&columns, CL_STATS_U64, name,
		    strlen(name), err);
	}
	if (status == CL_OK)
		status = cl_stats_write_columns(r->writer, &columns, err);
	cl_stats_columns_free(&columns);
	return (status);
}

static int
open_run(struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_events_sink sink = { take_pass, r };
	int status;

	r->window = replay_window(r->o, head);
	start(r);
	if ((r->keys = cl_keys_new(head->model, err)) == NULL ||
	    (r->events = cl_events_new(r->keys, r->o->prefill,
	    r->study->cells, &sink, err)) == NULL ||
	    (r->state = r->study->open(r->o, r->keys, head->model,
	    err)) == NULL)
		return (err->code);
	status = write_conditions(r, t, head, err);
	return (status == CL_OK ? write_columns(r, err) : status);
}

/* A run that fails once its conditions are out leaves half a stream. */
static int
note(struct run *r, int status)
{

	if (status != CL_OK)
		r->broken = r->writer != NULL;
	return (status);
}

static int
begin_run(void *arg, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{

	cl_trace_reader_want(t->reader, CL_TRACE_CHECK);
	return (note(arg, open_run(arg, t, head, err)));
}

static int
take_block(void *arg, const struct feed_trace *t,
    const struct cl_trace_block *block, struct cl_err *err)
{
	struct run *r = arg;
	int status;

	if (r->done)
		return (CL_OK);
	status = cl_events_block(r->events, block, err);
	if (r->done)
		cl_trace_reader_want(t->reader, CL_TRACE_SKIM);
	return (note(r, status));
}

/* The row of the run. */
static int
write_counts(struct run *r, struct cl_err *err)
{
	struct cl_stats_value value[NCOUNTED];
	struct cl_stats_row row = { CL_STATS_LOGICAL, CL_STATS_RUN, 0,
	    r->n[CL_N_TOKENS], NCOUNTED, value };
	size_t i;

	memset(value, 0, sizeof(value));
	for (i = 0; i < NCOUNTED; i++) {
		value[i].there = true;
		value[i].u = r->n[counted[i]];
	}
	return (cl_stats_write_row(r->writer, &row, err));
}

static int
finish(struct run *r, const struct cl_stats_end *end, struct cl_err *err)
{
	int status;

	if ((status = cl_events_finish(r->events, err)) != CL_OK)
		return (status);
	if (r->warming) {			/* nothing was counted */
		r->study->reset(r->state);
		memset(r->n, 0, sizeof(r->n));
	} else if (r->windows && r->seen > r->windowed &&
	    (status = end_window(r, err)) != CL_OK)
		return (status);
	if ((status = r->study->write(r->state, r->writer, err)) != CL_OK ||
	    (status = write_counts(r, err)) != CL_OK)
		return (status);
	return (cl_stats_writer_finish(r->writer, end, err));
}

static int
again(void *arg, bool *yes, struct cl_err *err)
{
	struct run *r = arg;
	int status = cl_events_finish(r->events, err);

	*yes = status == CL_OK && replay_more(r->o, r->events, &r->ntokens) &&
	    !r->done;
	return (note(r, status));
}

static int
end_run(void *arg, const struct feed_trace *t, const struct cl_stats_end *end,
    struct cl_err *err)
{

	(void)t;
	return (note(arg, finish(arg, end, err)));
}

static void
drop_run(void *arg)
{
	struct run *r = arg;

	if (r->state != NULL)
		r->study->free(r->state);
	cl_stats_writer_free(r->writer);
	cl_events_free(r->events);
	cl_keys_free(r->keys);
	r->state = NULL;
	r->writer = NULL;
	r->events = NULL;
	r->keys = NULL;
}

static bool
is_broken(const void *arg)
{
	const struct run *r = arg;

	return (r->broken);
}

int
study_traces(const struct study *study, const struct replay_options *o,
    char *const *operands, int n)
{
	struct run r = { .study = study, .o = o };
	struct feed_sink sink = {
		.begin = begin_run,
		.block = take_block,
		.again = study->cyclic ? again : NULL,
		.end = end_run,
		.drop = drop_run,
		.broken = is_broken,
		.arg = &r,
		.unit = "tokens studied",
	};
	int status;

	r.out = fe_output(o->output, o->replace, true);
	status = feed(operands, n, &sink);
	return (r.broken ? fe_abandon(r.out) : fe_finish(r.out, status));
}
