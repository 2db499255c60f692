/*
 * cl-trace on what exists already: the geometry of a model; what traces hold,
 * whether they are whole, and their rows as text.
 */

#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/export_tsv.h"
#include "cl/geometry.h"
#include "cl/info.h"
#include "cl/json.h"
#include "cl/model.h"
#include "cl/src.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "input.h"
#include "trace.h"

int
trace_geometry(const struct trace_options *o)
{
	struct cl_err err = { 0 };
	struct cl_model *m;
	struct cl_dst *out;

	if ((m = cl_model_open(o->operand[0], &err)) == NULL)
		fe_die(&err);
	out = fe_output(o->output, o->replace, false);
	(o->json ? cl_geometry_json : cl_geometry_text)(m, out);
	cl_model_free(m);
	return (fe_finish(out, FE_DONE));
}

/* Where to show something: as text, or into an array of JSON. */
struct show {
	struct cl_dst	*out;
	struct cl_json	*json;		/* NULL: text */
};

/* Do it for the traces of one input, each member of an archive by itself. */
static int
each_source(const char *operand, unsigned wants, const struct show *show,
    int (*act)(struct cl_trace_reader *, const char *, const struct show *,
    struct cl_err *))
{
	struct input *in = input_open(operand);
	struct cl_trace_reader *reader;
	struct cl_err err = { 0 };
	struct cl_src *src;
	int status = FE_DONE;

	while (input_next(in, &src, &err) == CL_OK) {
		reader = cl_trace_reader_new(src, wants, &err);
		if (reader == NULL || act(reader, cl_src_name(src), show,
		    &err) != CL_OK) {
			fe_warn("%s", err.msg);
			status = FE_TROUBLE;
		}
		cl_trace_reader_free(reader);
		memset(&err, 0, sizeof(err));
	}
	if (err.code != CL_OK) {
		fe_warn("%s", err.msg);
		status = FE_TROUBLE;
	}
	input_close(in);
	return (status);
}

/*
 * Do it for each input; the last output is whole only if all were.  What
 * reads a trace gets the reader and the input's name.
 */
static int
each_input(const struct trace_options *o, unsigned wants, struct show *show,
    int (*act)(struct cl_trace_reader *, const char *, const struct show *,
    struct cl_err *))
{
	static char dash[] = "-";
	static char *const only_stdin[] = { dash, NULL };
	char *const *path = o->noperands > 0 ? o->operand : only_stdin;
	int status = FE_DONE;

	for (; *path != NULL; path++)
		if (each_source(*path, wants, show, act) != FE_DONE)
			status = FE_TROUBLE;
	return (status);
}

static int
info(struct cl_trace_reader *reader, const char *name,
    const struct show *show, struct cl_err *err)
{

	return (show->json != NULL ?
	    cl_info_json(reader, name, show->json, err) :
	    cl_info_text(reader, name, show->out, err));
}

int
trace_info(const struct trace_options *o)
{
	struct show show = { NULL, NULL };
	struct cl_json j;
	int status;

	input_check(o->operand, o->noperands);
	show.out = fe_output(o->output, o->replace, false);
	if (o->json) {
		show.json = &j;
		cl_json_init(&j, show.out);
		cl_json_object(&j, NULL);
		cl_json_array(&j, "traces");
	}
	status = each_input(o, 0, &show, info);
	if (o->json) {
		cl_json_end(&j);
		cl_json_end(&j);
		cl_json_finish(&j);
	}
	return (fe_finish(show.out, status));
}

/* The same for what is text in any case. */
static int
show_text(const struct trace_options *o, unsigned wants,
    int (*act)(struct cl_trace_reader *, const char *, const struct show *,
    struct cl_err *))
{
	struct show show = { NULL, NULL };

	input_check(o->operand, o->noperands);
	show.out = fe_output(o->output, o->replace, false);
	return (fe_finish(show.out, each_input(o, wants, &show, act)));
}

static int
dump(struct cl_trace_reader *reader, const char *name,
    const struct show *show, struct cl_err *err)
{

	(void)name;
	return (cl_export_tsv(reader, show->out, err));
}

int
trace_dump(const struct trace_options *o)
{

	return (show_text(o, CL_TRACE_WEIGHTS, dump));
}

/* A line for each trace that is whole and chose what its scores say. */
static int
verify(struct cl_trace_reader *reader, const char *name,
    const struct show *show, struct cl_err *err)
{
	const struct cl_trace_rec *rec;
	unsigned long long member = 0;
	int status;

	while ((status = cl_trace_read(reader, &rec, err)) == CL_OK) {
		if (rec->kind != CL_TRACE_TRAILER)
			continue;
		member++;
		if (rec->counts->end != CL_END_COMPLETE)
			(void)cl_fail(err, CL_ECUT, "%s: trace %llu is %s: "
			    "its writer stopped after token %llu", name,
			    member, cl_trace_end_name(rec->counts->end),
			    (unsigned long long)rec->counts->tokens);
		else
			cl_dst_printf(show->out, "%s: trace %llu is whole: "
			    "%llu tokens, routing %016llx\n", name, member,
			    (unsigned long long)rec->counts->tokens,
			    (unsigned long long)rec->counts->routing);
	}
	return (status == CL_END ? err->code : status);
}

int
trace_verify(const struct trace_options *o)
{

	return (show_text(o, CL_TRACE_CHECK, verify));
}
