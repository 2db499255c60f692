/*
 * cl-trace --load: a trace from rows of text.
 */

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/model.h"
#include "cl/src.h"
#include "fe.h"
#include "trace.h"

int
trace_load(const struct trace_options *o)
{
	struct cl_import_tsv opts = { o->layers, o->experts, o->used, NULL };
	struct cl_err err = { 0 };
	struct cl_src *src;
	struct cl_dst *out;
	int status;

	if (o->model != NULL &&
	    (opts.model = cl_model_open(o->model, &err)) == NULL)
		fe_die(&err);
	src = fe_input(o->noperands > 0 ? o->operand[0] : "-");
	out = fe_output(o->output, o->replace, true);
	status = cl_import_tsv(src, &opts, out, &err);
	cl_src_close(src);
	if (status == CL_OK)
		return (fe_finish(out, FE_DONE));
	fe_warn("%s", err.msg);
	return (fe_abandon(out));
}
