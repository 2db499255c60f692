/*
 * cl-trace --synthetic: a trace for the geometry of a model, from no model.
 */

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/trace_write.h"
#include "fe.h"
#include "trace.h"

/* All tokens, or as many as there are before a signal. */
static int
write_tokens(struct cl_synth *synth, struct cl_trace_writer *w,
    uint64_t ntokens, struct cl_err *err)
{
	const atomic_bool *stop = fe_stop();
	int status;

	while ((status = cl_synth_write(synth, w, err)) == CL_OK &&
	    !atomic_load(stop))
		fe_progress(cl_trace_writer_counts(w)->tokens, ntokens,
		    "tokens");
	if (status == CL_END)
		return (cl_trace_writer_finish(w, CL_END_COMPLETE, err));
	if (status != CL_OK)
		return (status);
	status = cl_trace_writer_finish(w, CL_END_INTERRUPTED, err);
	return (status != CL_OK ? status : CL_END);
}

int
trace_synthetic(const struct trace_options *o)
{
	struct cl_err err = { 0 };
	struct cl_trace_writer *w;
	struct cl_trace_head *head;
	struct cl_synth *synth;
	struct cl_model *m;
	struct cl_dst *out;
	int status;

	if ((m = cl_model_open(o->operand[0], &err)) == NULL ||
	    (synth = cl_synth_new(m, &o->synth, &err)) == NULL ||
	    (head = cl_synth_head(m, &o->synth, o->scores, &err)) == NULL)
		fe_die(&err);
	out = fe_output(o->output, o->replace, true);
	if ((w = cl_trace_writer_new(out, head, &err)) == NULL)
		fe_die(&err);
	status = write_tokens(synth, w, o->synth.ntokens, &err);
	cl_trace_writer_free(w);
	cl_trace_head_free(head);
	cl_synth_free(synth);
	if (status == CL_OK)
		return (fe_finish(out, FE_DONE));
	fe_warn("%s", status == CL_END ? "interrupted" : err.msg);
	return (status == CL_END ? fe_finish(out, FE_TROUBLE) :
	    fe_abandon(out));
}
