/*
 * The forms, in one table; a form is added by one file and one row.
 */

#include <stdlib.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/run.h"
#include "render_int.h"

const char *const cl_render_forms[] = { "text", "tsv", "json", NULL };

static const struct render_form *const forms[] = { &cl_render_text,
    &cl_render_tsv, &cl_render_json };
static const struct render_form *const one_table[] = { &cl_render_one_text,
    &cl_render_one_tsv, &cl_render_one_json };

static const struct render_form *const sweeps[] = { &cl_render_sweep_text,
    &cl_render_sweep_tsv, &cl_render_sweep_json };

struct cl_render *
cl_render_new(unsigned form, struct cl_dst *dst,
    const struct cl_render_options *options, struct cl_err *err)
{
	struct cl_render *r;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		cl_fail_nomem(err, "a report");
		return (NULL);
	}
	r->form = options->sweep ? sweeps[form] :
	    options->table != NULL ? one_table[form] : forms[form];
	r->dst = dst;
	r->options = *options;
	if (r->form->begin(r, err) != CL_OK) {
		cl_render_free(r);
		return (NULL);
	}
	return (r);
}

int
cl_render_run(struct cl_render *r, const struct cl_run *run,
    struct cl_err *err)
{
	int status;

	r->nruns++;
	cl_render_total_add(&r->total, run);
	if ((status = cl_render_sweep_add(&r->sweep, run, r->nruns,
	    err)) == CL_OK)
		status = r->form->run(r, run, err);
	return (status == CL_OK ? cl_dst_flush(r->dst, err) : status);
}

int
cl_render_end(struct cl_render *r, struct cl_err *err)
{
	int status = r->form->end(r, err);

	return (status == CL_OK ? cl_dst_flush(r->dst, err) : status);
}

void
cl_render_free(struct cl_render *r)
{

	if (r == NULL)
		return;
	cl_table_free(&r->summary);
	cl_render_sweep_free(&r->sweep);
	free(r);
}
