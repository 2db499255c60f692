/*
 * Traces to a study: warm-up, tokens and windows act where they do in a
 * replay, and the run says which trace it is of in the same words.  Where it is
 * of several contracts, passes go to each, and the runs behind the first wait
 * until that is whole.
 */

#include <string.h>

#include "cl/conditions.h"
#include "cl/counters.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/spool.h"
#include "cl/stats_write.h"
#include "fe.h"
#include "feed.h"
#include "frame.h"
#include "study.h"

/* What is counted of the trace itself. */
static const enum cl_counter counted[] = { CL_N_TOKENS, CL_N_PADDING,
    CL_N_SKIPPED, CL_N_EVENTS, CL_N_ACCESSES };

#define NCOUNTED	(sizeof(counted) / sizeof(counted[0]))

struct run {
	const struct replay_options *o;
	struct cl_spool_stream *stream;	/* NULL: the output itself */
	struct cl_stats_writer *writer;
	void		*state;		/* the study's */
};

struct work {
	const struct study *study;
	const struct replay_options *o;	/* those of all runs */
	uint64_t	 window;	/* in tokens; 0: none */
	struct frame	 frame;
	struct cl_keys	*keys;
	struct cl_spool	*spool;		/* NULL: one run alone */
	struct run	 run[REPLAY_CONTRACTS];
	unsigned	 nruns;

	bool		 warming;
	bool		 done;
	uint64_t	 pass_tokens;	/* of the pass at hand, so far */
	uint64_t	 seen;		/* tokens, in or behind the warm-up */
	bool		 windows;	/* there are any */
	uint64_t	 next_window;
	uint64_t	 windowed;	/* seen when the last one ended */
	uint64_t	 n[CL_N_COUNTERS];
};

static int
end_window(struct work *w, struct cl_err *err)
{
	struct run *r = w->run;
	int status = CL_OK;
	unsigned i;

	w->next_window = (w->seen / w->window + 1) * w->window;
	w->windowed = w->seen;
	for (i = 0; i < w->nruns && status == CL_OK; i++, r++) {
		status = w->study->window(r->state, r->writer, w->seen, err);
		if (status == CL_OK && r->stream != NULL)
			status = cl_spool_stream_settle(r->stream, err);
	}
	return (status);
}

/* Nothing of what there was so far counts. */
static void
reset(struct work *w)
{
	unsigned i;

	for (i = 0; i < w->nruns; i++)
		w->study->reset(w->run[i].state);
	memset(w->n, 0, sizeof(w->n));
}

static int
end_pass(struct work *w, struct cl_err *err)
{
	const struct cl_replay_options *o = &w->o->replay;

	w->seen += w->pass_tokens;
	w->pass_tokens = 0;
	if (w->warming && w->seen >= o->warmup) {
		w->warming = false;
		w->seen = 0;
		reset(w);
	} else if (!w->warming) {
		w->done = o->tokens != 0 && w->seen >= o->tokens;
		if (w->windows && w->seen >= w->next_window)
			return (end_window(w, err));
	}
	return (CL_OK);
}

static void
count(struct work *w, const struct cl_pass *pass)
{
	const struct cl_event *event = pass->event;
	uint32_t i;

	w->n[CL_N_PADDING] += pass->npadding;
	if (pass->skipped) {
		w->n[CL_N_SKIPPED] += pass->ntokens;
		return;
	}
	w->n[CL_N_TOKENS] += pass->ntokens;
	w->pass_tokens += pass->ntokens;
	for (i = 0; i < w->keys->ncolumns; i++, event++) {
		w->n[CL_N_ACCESSES] += event->n;
		w->n[CL_N_EVENTS] += event->n > 0;
	}
}

static int
take_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	struct work *w = arg;
	int status = CL_OK;
	unsigned i;

	if (w->done)
		return (CL_OK);
	count(w, pass);
	for (i = 0; i < w->nruns && status == CL_OK; i++)
		status = w->study->pass(w->run[i].state, pass, err);
	return (status == CL_OK && pass->ends ? end_pass(w, err) : status);
}

static int
write_conditions(struct work *w, struct run *r, const struct feed_trace *t,
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

	o.window = w->window;
	if (cl_conditions_study(&c, &w->study->conditions, &what, head, &o,
	    err) == CL_OK)
		r->writer = cl_stats_writer_new(r->stream == NULL ?
		    w->frame.out : cl_spool_stream_dst(r->stream), &c, err);
	cl_stats_conds_free(&c);
	w->frame.begun = w->run[0].writer != NULL;
	return (r->writer == NULL ? err->code : CL_OK);
}

static void
start(struct work *w)
{
	const struct cl_replay_options *o = &w->o->replay;

	w->warming = o->warmup > 0;
	w->done = false;
	w->seen = w->pass_tokens = w->windowed = 0;
	w->windows = w->window != 0 && w->study->window != NULL;
	w->next_window = w->window;
	memset(w->n, 0, sizeof(w->n));
}

static int
write_columns(const struct run *r, struct cl_err *err)
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
open_run(struct work *w, struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	int status;

	if (r != w->run &&
	    (r->stream = cl_spool_stream_new(w->spool, err)) == NULL)
		return (err->code);
	if ((r->state = w->study->open(r->o, w->keys, head->model, err)) ==
	    NULL)
		return (err->code);
	status = write_conditions(w, r, t, head, err);
	return (status == CL_OK ? write_columns(r, err) : status);
}

static int
open_runs(void *arg, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_events_sink sink = { take_pass, arg };
	struct work *w = arg;
	int status = CL_OK;
	unsigned i;

	w->window = replay_window(w->o, head);
	start(w);
	if ((w->keys = cl_keys_new(head->model, err)) == NULL ||
	    (w->frame.events = cl_events_new(w->keys, w->o->prefill,
	    w->study->cells, &sink, err)) == NULL ||
	    (w->nruns > 1 &&
	    (w->spool = cl_spool_new(fe_scratch(), err)) == NULL))
		return (err->code);
	for (i = 0; i < w->nruns && status == CL_OK; i++)
		status = open_run(w, &w->run[i], t, head, err);
	return (status);
}

/* The row of the run; under serial each access is an event. */
static int
write_counts(const struct work *w, const struct run *r, struct cl_err *err)
{
	bool serial = r->o->replay.contract == CL_CONTRACT_SERIAL;
	struct cl_stats_value value[NCOUNTED];
	struct cl_stats_row row = { CL_STATS_LOGICAL, CL_STATS_RUN, 0,
	    w->n[CL_N_TOKENS], NCOUNTED, value };
	size_t i;

	memset(value, 0, sizeof(value));
	for (i = 0; i < NCOUNTED; i++) {
		value[i].there = true;
		value[i].u = w->n[serial && counted[i] == CL_N_EVENTS ?
		    CL_N_ACCESSES : counted[i]];
	}
	return (cl_stats_write_row(r->writer, &row, err));
}

static int
finish_run(struct work *w, struct run *r, const struct cl_stats_end *end,
    struct cl_err *err)
{
	int status;

	if ((status = w->study->write(r->state, r->writer, err)) != CL_OK ||
	    (status = write_counts(w, r, err)) != CL_OK ||
	    (status = cl_stats_writer_finish(r->writer, end, err)) != CL_OK ||
	    r->stream == NULL)
		return (status);
	return (cl_spool_stream_copy(r->stream, w->frame.out, err));
}

static bool
is_done(const void *arg)
{
	const struct work *w = arg;

	return (w->done);
}

static int
finish(void *arg, const struct cl_stats_end *end, struct cl_err *err)
{
	struct work *w = arg;
	unsigned i;
	int status = CL_OK;

	if (w->warming)				/* nothing was counted */
		reset(w);
	else if (w->windows && w->seen > w->windowed)
		status = end_window(w, err);
	for (i = 0; i < w->nruns && status == CL_OK; i++)
		status = finish_run(w, &w->run[i], end, err);
	return (status == CL_OK ? cl_dst_flush(w->frame.out, err) : status);
}

static void
drop_runs(void *arg)
{
	struct work *w = arg;
	struct run *r;

	for (r = w->run; r < w->run + w->nruns; r++) {
		if (r->state != NULL)
			w->study->free(r->state);
		cl_stats_writer_free(r->writer);
		cl_spool_stream_free(r->stream);
		*r = (struct run){ .o = r->o };
	}
	cl_spool_free(w->spool);
	cl_keys_free(w->keys);
	w->spool = NULL;
	w->keys = NULL;
}

int
study_traces(const struct study *study, const struct replay_options *o,
    unsigned nruns, char *const *operands, int n)
{
	static const struct frame_verbs verbs = {
		.open = open_runs,
		.done = is_done,
		.finish = finish,
		.drop = drop_runs,
		.unit = "tokens studied",
	};
	struct work w = { .study = study, .o = o, .nruns = nruns, .frame = {
	    .verbs = &verbs, .arg = &w,
	    .rounds = study->cyclic && o->replay.tokens != 0 } };
	unsigned i;

	for (i = 0; i < nruns; i++)
		w.run[i].o = &o[i];
	return (frame_run(&w.frame, o, operands, n));
}
