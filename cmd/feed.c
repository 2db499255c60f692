/*
 * Operands, their members, the traces of each, the records of each.
 */

#include <inttypes.h>

#include "cl/clock.h"
#include "cl/err.h"
#include "cl/src.h"
#include "cl/stats.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "feed.h"
#include "input.h"

struct feed {
	const struct feed_sink *sink;
	struct feed_trace trace;
	bool		 open;		/* a trace has begun, and not ended */
	struct input	*in;
	uint64_t	 source;	/* of the input's, from 1 */
	uint64_t	 number;	/* of the source's traces, from 1 */
};

uint64_t
feed_wait_ns(const struct feed_trace *t)
{

	return (t->waited_ns + cl_trace_reader_wait_ns(t->reader));
}

/* What a trailer makes of the exit status. */
static int
judge(const struct feed *f, const struct cl_trace_counts *counts)
{

	if (counts->end == CL_END_COMPLETE)
		return (FE_DONE);
	fe_warn("%s: the trace is %s: its writer stopped after token %llu",
	    f->trace.name, cl_trace_end_name(counts->end),
	    (unsigned long long)counts->tokens);
	return (FE_TROUBLE);
}

/* The trace is over: whole, with counts, or cut off after so many tokens. */
static int
end_trace(struct feed *f, const struct cl_trace_counts *counts,
    enum cl_trace_end end, struct cl_err *err)
{
	struct cl_stats_end e = { 0 };

	f->open = false;
	e.end = end;
	e.tokens = cl_trace_reader_tokens(f->trace.reader);
	e.routing = counts == NULL ? 0 : counts->routing;
	return (f->sink->end(f->sink->arg, &f->trace, &e, err));
}

/* A reader of the trace at hand from its head on, in an input of its own. */
static struct cl_trace_reader *
find_again(const struct feed *f, struct input *in, struct cl_err *err)
{
	struct cl_trace_reader *reader = NULL;
	const struct cl_trace_rec *rec;
	struct cl_src *src = NULL;
	uint64_t i;
	int status = CL_OK;

	for (i = 0; i < f->source && status == CL_OK; i++) {
		cl_src_close(src);
		src = NULL;
		status = input_next(in, &src, err);
	}
	if (status == CL_OK)
		reader = cl_trace_reader_new(src, CL_TRACE_SKIM, err);
	for (i = 0; reader != NULL && i < f->number;) {
		status = cl_trace_read(reader, &rec, err);
		if (status != CL_OK) {
			cl_trace_reader_free(reader);
			reader = NULL;
		} else
			i += rec->kind == CL_TRACE_HEAD;
	}
	if (reader != NULL)
		cl_trace_reader_want(reader, CL_TRACE_CHECK);
	else if (status == CL_END)
		(void)cl_fail(err, CL_EFORMAT, "%s: it is gone from where it "
		    "was read", f->trace.name);
	return (reader);
}

/*
 * Blocks up to the trailer, which must be the one that was there.  What of it
 * cannot be read is told in why, and a failure of the sink in err.
 */
static int
take_round(struct feed *f, const struct cl_trace_counts *was,
    struct cl_err *why, struct cl_err *err)
{
	const struct cl_trace_rec *rec;
	int status;

	while (cl_trace_read(f->trace.reader, &rec, why) == CL_OK) {
		if (rec->kind == CL_TRACE_TRAILER) {
			if (rec->counts->routing != was->routing ||
			    rec->counts->tokens != was->tokens)
				(void)cl_fail(why, CL_EFORMAT, "%s: it was "
				    "changed while it was replayed",
				    f->trace.name);
			return (CL_OK);
		}
		if (rec->kind == CL_TRACE_BLOCK && (status = f->sink->block(
		    f->sink->arg, &f->trace, rec->block, err)) != CL_OK)
			return (status);
		if (atomic_load(fe_stop())) {
			(void)cl_fail(why, CL_ECUT, "%s: interrupted",
			    f->trace.name);
			break;
		}
	}
	return (CL_OK);
}

/* Once more from its beginning, while the first reader stands at its end. */
static int
read_again(struct feed *f, const struct cl_trace_counts *was,
    struct cl_err *why, struct cl_err *err)
{
	struct cl_trace_reader *first = f->trace.reader, *reader = NULL;
	uint64_t waited = feed_wait_ns(&f->trace), t0 = cl_clock_ns();
	struct input *in = NULL;
	int status = CL_OK;

	if (f->trace.pipe)
		(void)cl_fail(why, CL_ENOTSUP, "%s: --tokens asks for more "
		    "than its %" PRIu64 " tokens, and a pipe cannot be read "
		    "again", f->trace.name, was->tokens);
	else if ((in = input_again(f->in, why)) != NULL)
		reader = find_again(f, in, why);
	if (reader != NULL) {
		f->trace.reader = reader;
		f->trace.waited_ns = waited + (cl_clock_ns() - t0) -
		    cl_trace_reader_wait_ns(reader);
		status = take_round(f, was, why, err);
		waited = feed_wait_ns(&f->trace);
		f->trace.reader = first;
		f->trace.waited_ns = waited - cl_trace_reader_wait_ns(first);
		cl_trace_reader_free(reader);
	}
	if (in != NULL)
		input_close(in);
	return (status);
}

/*
 * As often as it is wanted.  Where it cannot be had again, the trace ends as
 * one that was cut off.
 */
static int
end_whole(struct feed *f, const struct cl_trace_counts *counts,
    int *exit_status, struct cl_err *err)
{
	enum cl_trace_end end = counts->end == CL_END_COMPLETE ?
	    CL_END_COMPLETE : CL_END_INCOMPLETE;
	struct cl_err why = { 0 };
	bool yes = f->sink->again != NULL && end == CL_END_COMPLETE;
	int status = CL_OK;

	while (yes && why.code == CL_OK) {
		status = f->sink->again(f->sink->arg, &yes, err);
		if (status == CL_OK && yes)
			status = read_again(f, counts, &why, err);
		if (status != CL_OK)
			return (status);
	}
	if (why.code != CL_OK && atomic_load(fe_stop()))
		end = CL_END_INTERRUPTED;	/* which will be told */
	else if (why.code != CL_OK) {
		fe_warn("%s", why.msg);
		*exit_status = FE_TROUBLE;
		end = CL_END_INCOMPLETE;
	}
	return (end_trace(f, counts, end, err));
}

static int
take_record(struct feed *f, const struct cl_trace_rec *rec, int *exit_status,
    struct cl_err *err)
{
	int status = CL_OK;

	switch (rec->kind) {
	case CL_TRACE_HEAD:
		f->trace.number++;
		f->number++;
		f->open = true;
		return (f->sink->begin(f->sink->arg, &f->trace, rec->head,
		    err));
	case CL_TRACE_SEQ:
		break;
	case CL_TRACE_BLOCK:
		status = f->sink->block(f->sink->arg, &f->trace, rec->block,
		    err);
		break;
	case CL_TRACE_TRAILER:
		if (judge(f, rec->counts) != FE_DONE)
			*exit_status = FE_TROUBLE;
		status = end_whole(f, rec->counts, exit_status, err);
		if (status == CL_OK)
			f->sink->drop(f->sink->arg);
		break;
	}
	fe_progress(cl_trace_reader_tokens(f->trace.reader), 0,
	    f->sink->unit);
	return (status);
}

/*
 * The input failed, or a signal came: the trace at hand is brought to an end
 * with what there is of it, and says so.
 */
static void
break_off(struct feed *f, bool stopped)
{
	struct cl_err err = { 0 };

	if (f->open && end_trace(f, NULL, stopped ? CL_END_INTERRUPTED :
	    CL_END_INCOMPLETE, &err) != CL_OK)
		fe_warn("%s", err.msg);
}

/* Every trace of a source. */
static int
read_traces(struct feed *f)
{
	const atomic_bool *stop = fe_stop();
	const struct cl_trace_rec *rec;
	struct cl_err err = { 0 };
	int status, exit_status = FE_DONE;

	while (!atomic_load(stop)) {
		status = cl_trace_read(f->trace.reader, &rec, &err);
		if (status == CL_END)
			return (exit_status);
		if (status == CL_ECUT && atomic_load(stop))
			break;
		if (status != CL_OK) {
			fe_warn("%s", err.msg);
			break_off(f, false);
			return (FE_TROUBLE);
		}
		if (take_record(f, rec, &exit_status, &err) != CL_OK) {
			fe_warn("%s", err.msg);
			return (FE_TROUBLE);
		}
	}
	fe_warn("%s: interrupted", f->trace.name);
	break_off(f, true);
	return (FE_TROUBLE);
}

/* A source of traces: an input, or a member of one. */
static int
feed_source(struct feed *f, struct cl_src *src)
{
	struct cl_err err = { 0 };
	int status;

	f->trace.name = cl_src_name(src);
	f->trace.reader = cl_trace_reader_new(src, CL_TRACE_CHECK, &err);
	if (f->trace.reader == NULL)
		fe_die(&err);
	f->trace.waited_ns = 0;
	f->number = 0;
	f->open = false;
	status = read_traces(f);
	f->sink->drop(f->sink->arg);
	cl_trace_reader_free(f->trace.reader);
	return (status);
}

static int
feed_operand(struct feed *f, const char *operand)
{
	struct input *in = input_open(operand);
	const atomic_bool *stop = fe_stop();
	struct cl_err err = { 0 };
	struct cl_src *src;
	int status, exit_status = FE_DONE;

	f->in = in;
	f->source = 0;
	f->trace.input = input_name(in);
	f->trace.path = input_path(in);
	f->trace.pipe = input_pipe(in);
	f->trace.number = 0;
	while ((status = input_next(in, &src, &err)) == CL_OK) {
		f->source++;
		f->trace.member = input_member(in);
		if (feed_source(f, src) != FE_DONE)
			exit_status = FE_TROUBLE;
		if (f->sink->broken(f->sink->arg) || atomic_load(stop))
			break;
	}
	if (status < 0) {
		fe_warn("%s", err.msg);
		exit_status = FE_TROUBLE;
	}
	input_close(in);
	return (exit_status);
}

int
feed(char *const *operands, int n, const struct feed_sink *sink)
{
	static char stdin_name[] = "-", *const only_stdin[] = { stdin_name };
	struct feed f = { .sink = sink };
	const atomic_bool *stop = fe_stop();
	int i, status = FE_DONE;

	if (n == 0) {
		operands = only_stdin;
		n = 1;
	}
	for (i = 0; i < n; i++) {
		if (sink->broken(sink->arg) || atomic_load(stop))
			break;
		if (feed_operand(&f, operands[i]) != FE_DONE)
			status = FE_TROUBLE;
	}
	return (status);
}
