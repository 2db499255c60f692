/*
 * Rows of layers and experts from elsewhere, of which a trace is made.
 */

#include <stdio.h>

#include "cl/export_tsv.h"
#include "cl/import_tsv.h"
#include "trace_make.h"
#include "tsv_load.h"

/* Plain rows loaded and dumped; the rows of it are these. */
static void
becomes(const char *rows, const struct cl_import_tsv *opts,
    const char *wanted)
{
	struct cl_buf out, text;
	struct cl_err err = { 0 };
	char *p, *end;

	cl_buf_init(&out);
	cl_buf_init(&text);
	if (load(rows, strlen(rows), 3, opts, &out, &err) != CL_OK)
		fprintf(stderr, "# %s\n", err.msg);
	assert(err.code == CL_OK);
	assert(dump(out.p, out.n, &text, NULL) == CL_OK);
	cl_buf_u8(&text, 0);
	p = strstr((char *)text.p, "\tforecast\n");
	end = strstr((char *)text.p, "# end\t");
	assert(p != NULL && end != NULL);
	*end = '\0';
	p += strlen("\tforecast\n");
	if (strcmp(p, wanted) != 0)
		fprintf(stderr, "# got: %s\n", p);
	assert(strcmp(p, wanted) == 0);
	cl_buf_free(&out);
	cl_buf_free(&text);
}

static void
plain_rows_are_understood(void)
{
	static const struct cl_import_tsv all = { .layers = 2, .experts = 4,
	    .used = 2 };

	becomes("layer\texperts\n0\t1,3\n1\t2,0\n0\t1\n", NULL,
	    "# sequence\t0\t\n"
	    "0\t0\t-\tdecode\t0\t0\t1,3\t-\t-\t-\n"
	    "0\t0\t-\tdecode\t0\t1\t2,0\t-\t-\t-\n"
	    "0\t1\t-\tdecode\t1\t0\t1\t-\t-\t-\n");
	becomes("# a comment\n\nexperts\tlayer\t_mine\r\n1,3\t0\tx\r\n", &all,
	    "# sequence\t0\t\n"
	    "0\t0\t-\tdecode\t0\t0\t1,3\t-\t-\t-\n");
	becomes("seq\tpos\ttoken\tphase\tpass\tlayer\texperts\n"
	    "1\t7\t5\tprefill\t3\t0\t1\n1\t8\t-\tprefill+pad\t3\t1\t0\n"
	    "0\t0\t0\tdecode\t9\t1\t1\n", NULL,
	    "# sequence\t0\t\n# sequence\t1\t\n"
	    "1\t7\t5\tprefill\t0\t0\t1\t-\t-\t-\n"
	    "1\t8\t-1\tprefill+pad\t0\t1\t0\t-\t-\t-\n"
	    "0\t0\t0\tdecode\t1\t1\t1\t-\t-\t-\n");
	becomes("layer\texperts\tweights\tscores\n"
	    "0\t1,0\t0.75,0.25\t1,2,0.5\n1\t1,2\t0.5,nan\t-inf,1e-45,0\n",
	    NULL, "# sequence\t0\t\n"
	    "0\t0\t-\tdecode\t0\t0\t1,0\t0.7310586,0.26894143\t1,2,0.5\t-\n"
	    "0\t0\t-\tdecode\t0\t1\t1,2\t0.5,0.5\t-inf,1.4013e-45,0\t-\n");
}

static void
rows_give_layers_and_experts(void)
{
	const struct cl_trace_head *h;
	struct cl_trace_reader *r;
	struct cl_buf out;
	static const char rows[] = "layer\texperts\n1\t4,0,1\n3\t2\n1\t7\n";

	cl_buf_init(&out);
	assert(load(rows, strlen(rows), 99, NULL, &out, NULL) == CL_OK);
	r = open_head(&out, &h);
	assert(h->origin == CL_ORIGIN_IMPORTED);
	assert(strcmp(cl_trace_head_find(h, "format"), "tsv") == 0);
	assert(h->model->nlayers == 4);
	assert(h->model->layers[0].nexperts == 0);
	assert(h->model->layers[1].nexperts == 8);
	assert(h->model->layers[1].k == 3);
	assert(h->model->layers[2].nexperts == 0);
	assert(h->model->layers[3].nexperts == 8);
	assert(h->model->layers[3].k == 1);
	cl_trace_reader_free(r);
	cl_buf_free(&out);
}

static void
a_model_fills_in(void)
{
	struct cl_import_tsv opts = { .model = make_model() };
	const struct cl_trace_head *h;
	struct cl_trace_reader *r;
	struct cl_buf out;
	static const char rows[] = "layer\texperts\n1\t4,0\n3\t299\n";

	cl_buf_init(&out);
	assert(load(rows, strlen(rows), 99, &opts, &out, NULL) == CL_OK);
	r = open_head(&out, &h);
	assert(h->model->layers[3].nexperts == 300);
	assert(h->model->layers[1].nslabs == 3);
	cl_trace_reader_free(r);
	cl_buf_free(&out);
	opts.model = make_model();
	refused("layer\texperts\n0\t1\n", 19, &opts, CL_EFORMAT,
	    "layer 0 has no experts");
}

static void
sequences_may_have_gaps(void)
{
	static const char rows[] = "seq\tlayer\texperts\n65536\t0\t1\n";
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_buf out;
	uint32_t n = 0;

	cl_buf_init(&out);
	assert(load(rows, strlen(rows), 99, NULL, &out, NULL) == CL_OK);
	r = cl_trace_reader_new(mem_src(out.p, out.n, 999), 0, NULL);
	assert(r != NULL);
	while (cl_trace_read(r, &rec, NULL) == CL_OK)
		n += rec->kind == CL_TRACE_SEQ;
	assert(n == 65537);
	cl_trace_reader_free(r);
	cl_buf_free(&out);
}

static const struct unit units[] = {
	{ "plain rows of any columns are understood",
	    plain_rows_are_understood },
	{ "rows say which layers and how many experts there are",
	    rows_give_layers_and_experts },
	{ "sequences may be left out, up to a limit",
	    sequences_may_have_gaps },
	{ "a model fills in what rows cannot say", a_model_fills_in },
};

UNIT_MAIN(units)
