/*
 * Text to traces.  HEAD is written first and depends on what comes last: of a
 * dumped trace, whether its rows are still those that were summed up; of plain
 * rows, how many layers and experts they speak of.  So the text of a trace is
 * scanned and held back, then read again; only rows about which everything was
 * given stream.
 *
 * Rows of a token stand together, layers ascending.  A new token begins where
 * the layer does not rise, where anything else that a token has differs from
 * the row before, and at a row without a layer.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/model.h"
#include "cl/src.h"
#include "cl/trace_write.h"
#include "cl/vec.h"
#include "import_tsv_int.h"

#define NONE		UINT32_MAX
#define SEQ_GAP_MAX	65536	/* sequences beyond the number of tokens */

struct import {
	const struct cl_import_tsv *opts;
	struct cl_model	*model;		/* of the options, until it is used */
	struct cl_dst	*dst;
	struct tsv_lines in;		/* all of the input */
	/* The trace at hand. */
	bool		 headed;	/* it was dumped, and has # lines */
	bool		 edited;	/* not as it was dumped */
	struct tsv_found found;		/* what plain rows speak of */
	bool		 has_columns;
	struct tsv_columns columns;
	struct tsv_head	 head;
	struct cl_trace_writer *w;
	uint32_t	*column;	/* of each layer, or NONE */
	bool		 any;		/* a token was begun */
	struct tsv_row	 last;		/* the row before */
	uint32_t	*npos;		/* tokens so far, of each sequence */
	size_t		 npos_cap;
	uint32_t	 nsequences;	/* announced here */
	uint16_t	*ids;		/* as many as a layer has experts */
	float		*weights;
	float		*scores;
	float		*forecast;
};

/* What the writer refuses is the line's fault; a failed sink is not. */
static int
at_line(const struct tsv_lines *l, const struct cl_err *why,
    struct cl_err *err)
{

	if (why->code == CL_EIO || why->code == CL_ENOMEM)
		return (cl_fail(err, why->code, "%s", why->msg));
	return (cl_import_fail(l, err, "%s", why->msg));
}

/* The head of plain rows: what the first one has, all of them must have. */
static int
make_head(struct import *im, const struct tsv_lines *l,
    const struct tsv_row *row, struct cl_err *err)
{
	struct cl_trace_head *h = im->head.head;

	if (im->model != NULL) {
		h->model = im->model;
		im->model = NULL;
	} else if ((h->model = cl_import_model(l, im->opts, &im->found,
	    err)) == NULL) {
		return (CL_EFORMAT);
	}
	h->origin = CL_ORIGIN_IMPORTED;
	h->scores = row->scores.p != NULL ? CL_SCORES_F32 : CL_SCORES_NONE;
	h->weights = row->weights.p != NULL;
	h->tokens = im->columns.at[TSV_TOKEN] != -1;
	h->forecast = row->scores.p != NULL &&
	    im->columns.at[TSV_FORECAST] != -1;
	return (cl_trace_head_note(h, "format", "tsv", err));
}

/* An edited trace says what it was before. */
static int
mark_edited(struct cl_trace_head *h, struct cl_err *err)
{
	enum cl_trace_origin was = h->origin;

	h->origin = CL_ORIGIN_EDITED;
	return (was == CL_ORIGIN_EDITED ? CL_OK :
	    cl_trace_head_note(h, "was", cl_trace_origin_name(was), err));
}

/* The head is complete: write it, and make ready for rows. */
static int
begin(struct import *im, const struct tsv_lines *l, struct cl_err *err)
{
	const struct cl_model *m = im->head.head->model;
	struct cl_err why = { 0 };
	uint32_t *layers, nlayers, i, most = 1;

	im->w = cl_trace_writer_new(im->dst, im->head.head, &why);
	if (im->w == NULL)
		return (at_line(l, &why, err));
	if (cl_trace_layers(m, &layers, &nlayers, err) != CL_OK)
		return (CL_ENOMEM);
	im->column = calloc(m->nlayers, sizeof(*im->column));
	for (i = 0; im->column != NULL && i < m->nlayers; i++) {
		im->column[i] = NONE;
		if (m->layers[i].nexperts > most)
			most = m->layers[i].nexperts;
	}
	for (i = 0; im->column != NULL && i < nlayers; i++)
		im->column[layers[i]] = i;
	free(layers);
	if (im->column == NULL ||
	    (im->ids = calloc(most, sizeof(*im->ids))) == NULL ||
	    (im->weights = calloc(most, sizeof(*im->weights))) == NULL ||
	    (im->scores = calloc(most, sizeof(*im->scores))) == NULL ||
	    (im->forecast = calloc(most, sizeof(*im->forecast))) == NULL)
		return (cl_fail_nomem(err, "a row"));
	return (CL_OK);
}

static bool
begins_token(const struct import *im, const struct tsv_row *r)
{
	const struct tsv_row *a = &im->last;

	return (!im->any || !r->has_layer ||
	    (a->has_layer && r->layer <= a->layer) || r->seq != a->seq ||
	    r->pos != a->pos || r->token != a->token ||
	    r->decode != a->decode || r->padding != a->padding ||
	    r->pass != a->pass);
}

/* Plain rows announce their sequences by having them. */
static int
announce(struct import *im, const struct tsv_lines *l, uint32_t seq,
    struct cl_err *err)
{
	struct cl_err why = { 0 };
	uint32_t got;

	if (seq > cl_trace_writer_counts(im->w)->tokens + SEQ_GAP_MAX)
		return (cl_import_fail(l, err, "column seq: sequence %u, and "
		    "the next one is %u; number them from 0", seq,
		    im->nsequences));
	for (; seq >= im->nsequences; im->nsequences++)
		if (cl_trace_write_seq(im->w, "", &got, &why) != CL_OK)
			return (at_line(l, &why, err));
	return (CL_OK);
}

static int
put_token(struct import *im, const struct tsv_lines *l,
    const struct tsv_row *r, struct cl_err *err)
{
	struct cl_trace_token t = { .seq = r->seq, .pos = r->pos,
	    .token = r->token, .decode = r->decode, .padding = r->padding };
	struct cl_err why = { 0 };
	int status;

	if (im->headed && r->seq >= im->head.nsequences)
		return (cl_import_fail(l, err, "column seq: no # sequence "
		    "line has announced sequence %u", r->seq));
	if (!im->headed && (status = announce(im, l, r->seq, err)) != CL_OK)
		return (status);
	if (im->columns.at[TSV_POS] == -1) {
		if (cl_vec_grow(&im->npos, &im->npos_cap, (size_t)r->seq + 1,
		    sizeof(*im->npos), err) != CL_OK)
			return (CL_ENOMEM);
		t.pos = im->npos[r->seq]++;
	}
	t.begins = !im->any || im->columns.at[TSV_PASS] == -1 ||
	    r->pass != im->last.pass;
	im->any = true;
	if (cl_trace_write_token(im->w, &t, &why) != CL_OK)
		return (at_line(l, &why, err));
	return (CL_OK);
}

/* E numbers, where the head says that rows have them. */
static int
get_scores(const struct tsv_lines *l, const char *name,
    const struct tsv_field *f, bool held, float *to, uint32_t nexperts,
    const float **scores, struct cl_err *err)
{
	uint32_t n;

	*scores = NULL;
	if (f->p == NULL)
		return (CL_OK);
	if (!held)
		return (cl_import_fail(l, err, "column %s: given here, and not "
		    "at the first row or in the # lines", name));
	if (!cl_import_floats(f, to, nexperts, &n) || n != nexperts)
		return (cl_import_fail(l, err, "column %s: not %u numbers "
		    "between commas", name, nexperts));
	*scores = to;
	return (CL_OK);
}

static int
get_experts(struct import *im, const struct tsv_lines *l,
    const struct tsv_row *r, uint32_t nexperts, struct cl_trace_cell *cell,
    struct cl_err *err)
{
	uint32_t n = 0;

	if (r->experts.p != NULL) {
		if (!cl_import_ids(&r->experts, im->ids, nexperts, &cell->n))
			return (cl_import_fail(l, err, "column experts: not 1 "
			    "to %u numbers between commas", nexperts));
		cell->ids = im->ids;
	}
	if (r->weights.p == NULL)
		return (CL_OK);
	if (!im->headed && !im->head.head->weights)
		return (cl_import_fail(l, err, "column weights: given here, "
		    "and not at the first row"));
	if (!cl_import_floats(&r->weights, im->weights, nexperts, &n) ||
	    n != cell->n)
		return (cl_import_fail(l, err, "column weights: not %u "
		    "numbers between commas, as there are experts", cell->n));
	cell->weights = im->weights;
	return (CL_OK);
}

static int
put_cell(struct import *im, const struct tsv_lines *l,
    const struct tsv_row *r, struct cl_err *err)
{
	const struct cl_trace_head *h = im->head.head;
	struct cl_trace_cell cell = { 0 };
	struct cl_err why = { 0 };
	uint32_t nexperts;
	int status;

	if (r->layer >= h->model->nlayers || im->column[r->layer] == NONE)
		return (cl_import_fail(l, err, "column layer: layer %u has no "
		    "experts in this model of %u layers", r->layer,
		    h->model->nlayers));
	nexperts = h->model->layers[r->layer].nexperts;
	if ((status = get_experts(im, l, r, nexperts, &cell, err)) != CL_OK ||
	    (status = get_scores(l, "scores", &r->scores,
	    h->scores != CL_SCORES_NONE, im->scores, nexperts, &cell.scores,
	    err)) != CL_OK ||
	    (status = get_scores(l, "forecast", &r->forecast, h->forecast,
	    im->forecast, nexperts, &cell.forecast, err)) != CL_OK)
		return (status);
	if (cl_trace_write_cell(im->w, im->column[r->layer], &cell,
	    &why) != CL_OK)
		return (at_line(l, &why, err));
	return (CL_OK);
}

static int
put_row(struct import *im, const struct tsv_lines *l, struct cl_err *err)
{
	struct tsv_row row;
	int status;

	if ((status = cl_import_row(l, &im->columns, &row, err)) != CL_OK)
		return (status);
	if (im->w == NULL && ((status = make_head(im, l, &row, err)) != CL_OK ||
	    (status = begin(im, l, err)) != CL_OK))
		return (status);
	if (begins_token(im, &row) &&
	    (status = put_token(im, l, &row, err)) != CL_OK)
		return (status);
	im->last = row;
	return (row.has_layer ? put_cell(im, l, &row, err) : CL_OK);
}

/* The header line: behind it no more is said about the head. */
static int
put_columns(struct import *im, const struct tsv_lines *l, struct cl_err *err)
{
	int status;

	im->has_columns = true;
	status = cl_import_columns(l, &im->columns, err);
	if (status != CL_OK || !im->headed)
		return (status);
	if ((status = cl_import_head_check(l, &im->head, err)) != CL_OK ||
	    (im->edited && (status = mark_edited(im->head.head,
	    err)) != CL_OK))
		return (status);
	return (begin(im, l, err));
}

/* A # line of a dumped trace; CL_END at the last. */
static int
put_comment(struct import *im, const struct tsv_lines *l, struct cl_err *err)
{
	struct cl_err why = { 0 };
	enum tsv_line line;
	uint32_t seq;
	int status;

	if (!im->headed)
		return (!cl_import_is_dumped(l) ? CL_OK : cl_import_fail(l, err,
		    "a dumped trace begins among rows of another kind"));
	if ((status = cl_import_head(l, &im->head, &line, err)) != CL_OK)
		return (status);
	if ((line == TSV_OF_HEAD) != (im->w == NULL))
		return (cl_import_fail(l, err, "this line stands %s the "
		    "header line of its rows",
		    im->w == NULL ? "before" : "behind"));
	if (line == TSV_SEQUENCE && cl_trace_write_seq(im->w, im->head.name,
	    &seq, &why) != CL_OK)
		return (at_line(l, &why, err));
	return (line == TSV_ROWS ? CL_END : CL_OK);
}

/* All lines of a trace, again or for the first time. */
static int
put_lines(struct import *im, struct tsv_lines *l, struct cl_err *err)
{
	int status;

	while ((status = cl_import_line(l, err)) == CL_OK) {
		if (cl_import_is_comment(l))
			status = put_comment(im, l, err);
		else if (l->n > 0 && !im->has_columns)
			status = put_columns(im, l, err);
		else if (l->n > 0)
			status = put_row(im, l, err);
		if (status != CL_OK)
			break;
	}
	return (status == CL_END ? CL_OK : status);
}

static int
finish(struct import *im, const struct tsv_lines *l, struct cl_err *err)
{
	enum cl_trace_end end = im->headed ? im->head.end : CL_END_COMPLETE;

	if (im->w == NULL)
		return (cl_fail(err, CL_ECUT, "%s: no rows in it",
		    cl_src_name(l->src)));
	if (end == 0)
		return (cl_import_fail(l, err, "there was no # end"));
	if (im->headed && !im->edited) {
		if (im->head.mismatches > cl_trace_writer_counts(im->w)->cells)
			return (cl_import_fail(l, err, "# end has more "
			    "mismatches than there are rows"));
		cl_trace_writer_mismatches(im->w, im->head.mismatches);
	}
	return (cl_trace_writer_finish(im->w, end, err));
}

static void
forget_trace(struct import *im)
{

	cl_trace_writer_free(im->w);
	cl_import_head_free(&im->head);
	free(im->found.layers);
	free(im->column);
	free(im->npos);
	free(im->ids);
	free(im->weights);
	free(im->scores);
	free(im->forecast);
	im->w = NULL;
	memset(&im->found, 0, sizeof(im->found));
	im->column = im->npos = NULL;
	im->ids = NULL;
	im->weights = im->scores = im->forecast = NULL;
	im->npos_cap = 0;
	im->nsequences = 0;
	im->has_columns = im->any = im->edited = false;
}

/* Scan what has to be held back, then write it. */
static int
import_held(struct import *im, struct cl_err *err)
{
	struct tsv_lines again = { .no = im->in.no - 1 };
	struct tsv_spool *spool;
	struct cl_src *src = NULL;
	int status;

	if ((spool = cl_import_spool_new(err)) == NULL)
		return (CL_ENOMEM);
	status = im->headed ?
	    cl_import_scan_dumped(&im->in, spool, &im->edited, err) :
	    cl_import_scan_plain(&im->in, spool, &im->found, err);
	if (status == CL_OK)
		status = cl_import_spool_read(spool, cl_src_name(im->in.src),
		    &src, err);
	again.src = src;
	if (status == CL_OK &&
	    (status = put_lines(im, &again, err)) == CL_OK)
		status = finish(im, &again, err);
	cl_src_close(src);
	cl_import_spool_free(spool);
	return (status);
}

/* The trace that begins at the line at hand. */
static int
import_trace(struct import *im, struct cl_err *err)
{
	const struct cl_import_tsv *o = im->opts;
	bool given = o->layers != 0 && o->experts != 0 && o->used != 0;
	int status;

	im->headed = cl_import_is_dumped(&im->in);
	if (im->headed && (im->model != NULL || o->layers != 0 ||
	    o->experts != 0 || o->used != 0))
		return (cl_fail(err, CL_EINVAL, "%s: line %llu: a dumped "
		    "trace, whose # lines say what its model is",
		    cl_src_name(im->in.src), (unsigned long long)im->in.no));
	im->head.head = cl_trace_head_new(NULL, err);
	if (im->head.head == NULL)
		return (CL_ENOMEM);
	im->in.again = true;
	if (im->headed || (im->model == NULL && !given))
		return (import_held(im, err));
	if ((status = put_lines(im, &im->in, err)) != CL_OK)
		return (status);
	return (finish(im, &im->in, err));
}

static int
check_options(const struct cl_import_tsv *o, struct cl_err *err)
{

	if (o->model != NULL && (o->layers != 0 || o->experts != 0 ||
	    o->used != 0))
		return (cl_fail(err, CL_EINVAL, "a model says its layers, "
		    "experts and k itself"));
	if (o->layers > CL_MODEL_LAYERS_MAX ||
	    o->experts > CL_RULE_EXPERTS_MAX ||
	    (o->experts != 0 && o->used > o->experts))
		return (cl_fail(err, CL_EINVAL, "%u layers of %u experts, %u "
		    "used; at most %d layers of %d", o->layers, o->experts,
		    o->used, CL_MODEL_LAYERS_MAX, CL_RULE_EXPERTS_MAX));
	return (CL_OK);
}

int
cl_import_tsv(struct cl_src *src, const struct cl_import_tsv *opts,
    struct cl_dst *dst, struct cl_err *err)
{
	struct import im = { .opts = opts, .model = opts->model, .dst = dst,
	    .in = { .src = src } };
	uint64_t ntraces = 0;
	int status = check_options(opts, err);

	while (status == CL_OK &&
	    (status = cl_import_line(&im.in, err)) == CL_OK) {
		if (im.in.n == 0)
			continue;
		if (ntraces > 0 && !cl_import_is_dumped(&im.in)) {
			status = cl_import_fail(&im.in, err, "behind a dumped "
			    "trace, and no other one begins");
			break;
		}
		status = import_trace(&im, err);
		forget_trace(&im);
		ntraces++;
	}
	cl_model_free(im.model);
	if (status == CL_END && ntraces == 0)
		return (cl_fail(err, CL_ECUT, "%s: empty input, no rows",
		    cl_src_name(src)));
	return (status == CL_END ? CL_OK : status);
}
