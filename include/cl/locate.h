#ifndef CL_LOCATE_H
#define CL_LOCATE_H

/*
 * Finds the model that a trace was recorded from.
 */

struct cl_err;
struct cl_model;
struct cl_trace_head;

/*
 * The model of a trace, opened: where its path says, else beside the trace
 * (trace: its path, or NULL for a pipe), else where `given` says (or NULL).
 * The first place that holds a model with the trace's fingerprint and with
 * experts as many and as large as the trace says, or with its layers and
 * experts where the trace knows no fingerprint.  NULL where there is none: the
 * error names the model that did not match, or all places.
 */
struct cl_model	*cl_locate_model(const struct cl_trace_head *,
		    const char *trace, const char *given, struct cl_err *);

#endif /* CL_LOCATE_H */
