/*
 * The writer.  A block's cells are gathered column by column in arrays that
 * grow to the shape of a block and are then used again, so that a token costs
 * no allocation.  Ids of all cells are kept until their block is closed, since
 * the routing fingerprint goes token by token; those that the rule gives
 * are left out of the record.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "cl/rec.h"
#include "cl/route.h"
#include "cl/trace_write.h"
#include "cl/vec.h"
#include "cl/zio.h"
#include "trace_int.h"

#define LEVEL	3			/* zstd's own default */

/* Score rows of one kind of a column, and which tokens have one. */
struct rows {
	uint8_t		*has;		/* of each token: 0 or 1 */
	float		*values;
	size_t		 cap;
	uint32_t	 n;
};

struct column {
	struct rows	 scores;	/* has: present */
	struct rows	 forecast;
	uint8_t		*given;		/* of each token: ids are explicit */
	uint32_t	*first;		/* as in struct cl_trace_column */
	uint16_t	*ids;
	size_t		 ids_cap;
	float		*weights;
	size_t		 weights_cap;
};

struct cl_trace_writer {
	struct cl_dst	*zio;
	const struct cl_trace_head *head;
	struct cl_err	 err;		/* the first failure */
	uint32_t	 block_tokens;
	uint32_t	 ntokens;	/* of the open block */
	struct cl_trace_token *tokens;
	uint32_t	 ncolumns;
	struct column	*columns;
	struct cl_trace_column *views;	/* of the columns, to hash them */
	struct cl_route	*route;
	uint16_t	*choice;	/* what a rule chose */
	uint32_t	 nseen;		/* experts of the largest layer */
	uint32_t	*seen;		/* of each expert: last cell with it */
	uint32_t	 stamp;
	struct cl_buf	 buf;
	struct cl_hash	 routing;
	bool		 copy;		/* mismatches are told, not counted */
	struct cl_trace_counts counts;
};

/* Keep the first failure, and tell it. */
static int
stuck(struct cl_trace_writer *w, struct cl_err *err)
{

	return (cl_fail(err, w->err.code, "%s", w->err.msg));
}

static int
put_record(struct cl_trace_writer *w, uint16_t type)
{
	int status = cl_rec_put(w->zio, type, &w->buf, &w->err);

	w->counts.records += status == CL_OK;
	return (status);
}

static void
put_bits(struct cl_buf *b, const uint8_t *has, uint32_t n)
{
	uint8_t *p = cl_buf_room(b, (n + 7) / 8);
	uint32_t i;

	if (p == NULL)
		return;
	memset(p, 0, (n + 7) / 8);
	for (i = 0; i < n; i++)
		p[i / 8] |= (uint8_t)(has[i] << i % 8);
}

static void
put_rows(struct cl_trace_writer *w, const struct rows *r, uint32_t nexperts)
{
	enum cl_trace_scores kind = w->head->scores;
	size_t n = (size_t)r->n * nexperts;
	uint8_t *p = cl_buf_room(&w->buf, n * cl_trace_score_bytes(kind));

	if (p != NULL && n > 0)
		cl_trace_split(p, r->values, n, kind);
}

/* Counts, ids and weights of the cells that the rule does not give. */
static void
put_given(struct cl_trace_writer *w, const struct column *c, uint32_t nexperts)
{
	uint32_t t, i;

	for (t = 0; t < w->ntokens; t++)
		if (c->given[t])
			cl_buf_u16(&w->buf,
			    (uint16_t)(c->first[t + 1] - c->first[t]));
	for (t = 0; t < w->ntokens; t++)
		for (i = c->first[t]; c->given[t] && i < c->first[t + 1]; i++)
			if (nexperts <= TRACE_ID8_MAX)
				cl_buf_u8(&w->buf, (uint8_t)c->ids[i]);
			else
				cl_buf_u16(&w->buf, c->ids[i]);
	for (t = 0; w->head->weights && t < w->ntokens; t++)
		for (i = c->first[t]; c->given[t] && i < c->first[t + 1]; i++)
			cl_buf_f32(&w->buf, c->weights[i]);
}

static void
put_column(struct cl_trace_writer *w, uint32_t i)
{
	const struct column *c = &w->columns[i];
	uint32_t nexperts = w->views[i].nexperts;

	put_bits(&w->buf, c->scores.has, w->ntokens);
	put_bits(&w->buf, c->given, w->ntokens);
	put_rows(w, &c->scores, nexperts);
	if (w->head->forecast) {
		put_bits(&w->buf, c->forecast.has, w->ntokens);
		put_rows(w, &c->forecast, nexperts);
	}
	put_given(w, c, nexperts);
}

static void
put_tokens(struct cl_trace_writer *w)
{
	struct cl_buf *b = &w->buf;
	uint32_t t;

	cl_buf_u32(b, w->ntokens);
	cl_buf_u32(b, 0);
	cl_buf_u64(b, w->tokens[0].pass);
	for (t = 0; t < w->ntokens; t++)
		cl_buf_u32(b, w->tokens[t].seq);
	for (t = 0; t < w->ntokens; t++)
		cl_buf_u32(b, w->tokens[t].pos);
	for (t = 0; t < w->ntokens; t++)
		cl_buf_u8(b, cl_trace_token_flags(&w->tokens[t]));
	for (t = 0; w->head->tokens && t < w->ntokens; t++)
		cl_buf_u32(b, (uint32_t)w->tokens[t].token);
}

static void
add_routing(struct cl_trace_writer *w)
{
	struct cl_trace_block b = { .ntokens = w->ntokens,
	    .tokens = w->tokens, .ncolumns = w->ncolumns,
	    .columns = w->views };
	uint32_t i;

	for (i = 0; i < w->ncolumns; i++) {
		w->views[i].first = w->columns[i].first;
		w->views[i].ids = w->columns[i].ids;
	}
	cl_trace_routing_add(&w->routing, &b);
	w->counts.routing = cl_hash_end(&w->routing);
}

static int
close_block(struct cl_trace_writer *w)
{
	uint32_t i;
	int status;

	if (w->ntokens == 0)
		return (CL_OK);
	cl_buf_clear(&w->buf);
	put_tokens(w);
	for (i = 0; i < w->ncolumns; i++)
		put_column(w, i);
	if ((status = put_record(w, TRACE_BLOCK)) != CL_OK)
		return (status);
	add_routing(w);
	w->ntokens = 0;
	for (i = 0; i < w->ncolumns; i++)
		w->columns[i].scores.n = w->columns[i].forecast.n = 0;
	return (cl_dst_flush(w->zio, &w->err));
}

/* As many tokens as the head wants and a record is sure to hold. */
static int
size_block(struct cl_trace_writer *w)
{
	const struct cl_trace_head *h = w->head;
	uint64_t token = 17, fixed = 16, e, most;
	uint32_t i;

	for (i = 0; i < w->ncolumns; i++) {
		e = w->views[i].nexperts;
		fixed += 3;
		token += 3 + e * (cl_trace_score_bytes(h->scores) *
		    (h->forecast ? 2u : 1u) + (e <= TRACE_ID8_MAX ? 1u : 2u) +
		    (h->weights ? 4u : 0u));
	}
	most = (CL_REC_LEN_MAX - fixed) / token;
	if (most == 0)
		return (cl_fail(&w->err, CL_ENOTSUP, "a token of this model "
		    "may take %llu bytes, and a block holds at most %u",
		    (unsigned long long)token, CL_REC_LEN_MAX));
	w->block_tokens = most < h->block_tokens ? (uint32_t)most :
	    h->block_tokens;
	return (CL_OK);
}

static int
make_column(struct cl_trace_writer *w, struct column *c)
{
	size_t n = w->block_tokens;

	if ((c->scores.has = calloc(n, 1)) == NULL ||
	    (c->forecast.has = calloc(n, 1)) == NULL ||
	    (c->given = calloc(n, 1)) == NULL ||
	    (c->first = calloc(n + 1, sizeof(*c->first))) == NULL)
		return (cl_fail_nomem(&w->err, "a block of a trace"));
	return (CL_OK);
}

static int
make_columns(struct cl_trace_writer *w)
{
	const struct cl_model *m = w->head->model;
	uint32_t i, *layers, nexperts = 1;
	int status;

	if ((status = cl_trace_layers(m, &layers, &w->ncolumns,
	    &w->err)) != CL_OK)
		return (status);
	w->columns = calloc(w->ncolumns, sizeof(*w->columns));
	w->views = calloc(w->ncolumns, sizeof(*w->views));
	for (i = 0; w->views != NULL && i < w->ncolumns; i++) {
		w->views[i].layer = layers[i];
		w->views[i].nexperts = m->layers[layers[i]].nexperts;
		if (w->views[i].nexperts > nexperts)
			nexperts = w->views[i].nexperts;
	}
	free(layers);
	w->nseen = nexperts;
	if (w->columns == NULL || w->views == NULL ||
	    (w->choice = calloc(nexperts, sizeof(*w->choice))) == NULL ||
	    (w->seen = calloc(nexperts, sizeof(*w->seen))) == NULL)
		return (cl_fail_nomem(&w->err, "a block of a trace"));
	if ((w->route = cl_route_new(nexperts, &w->err)) == NULL ||
	    (status = size_block(w)) != CL_OK)
		return (w->err.code);
	for (i = 0; status == CL_OK && i < w->ncolumns; i++)
		status = make_column(w, &w->columns[i]);
	w->tokens = calloc(w->block_tokens, sizeof(*w->tokens));
	return (w->tokens != NULL ? status :
	    cl_fail_nomem(&w->err, "a block of a trace"));
}

static int
put_heads(struct cl_trace_writer *w)
{
	uint32_t i;
	int status;

	cl_rec_preamble(w->zio, CL_REC_TRACE);
	cl_buf_clear(&w->buf);
	cl_trace_put_head(&w->buf, w->head, w->block_tokens);
	status = put_record(w, TRACE_HEAD);
	for (i = 0; status == CL_OK && i < w->head->model->nlayers; i++) {
		cl_buf_clear(&w->buf);
		cl_trace_put_layer(&w->buf, w->head->model, i);
		status = put_record(w, TRACE_LAYER);
	}
	return (status == CL_OK ? cl_dst_flush(w->zio, &w->err) : status);
}

struct cl_trace_writer *
cl_trace_writer_new(struct cl_dst *dst, const struct cl_trace_head *head,
    struct cl_err *err)
{
	struct cl_trace_writer *w;

	if (cl_trace_head_check(head, err) != CL_OK)
		return (NULL);
	if ((w = calloc(1, sizeof(*w))) == NULL) {
		cl_fail_nomem(err, "a trace writer");
		return (NULL);
	}
	w->head = head;
	cl_buf_init(&w->buf);
	cl_hash_init(&w->routing);
	w->counts.routing = cl_hash_end(&w->routing);
	if ((w->zio = cl_zio_writer(dst, LEVEL, &w->err)) == NULL ||
	    make_columns(w) != CL_OK || put_heads(w) != CL_OK) {
		(void)stuck(w, err);
		cl_trace_writer_free(w);
		return (NULL);
	}
	return (w);
}

int
cl_trace_write_seq(struct cl_trace_writer *w, const char *name,
    uint32_t *seq, struct cl_err *err)
{

	if (w->err.code != CL_OK)
		return (stuck(w, err));
	if (strlen(name) > UINT16_MAX || w->counts.sequences == UINT32_MAX) {
		(void)cl_fail(&w->err, CL_EINVAL, "sequence %llu: at most %u "
		    "sequences, with names of at most %u bytes",
		    (unsigned long long)w->counts.sequences, UINT32_MAX,
		    UINT16_MAX);
		return (stuck(w, err));
	}
	*seq = (uint32_t)w->counts.sequences++;
	if (w->ntokens == w->block_tokens && close_block(w) != CL_OK)
		return (stuck(w, err));
	cl_buf_clear(&w->buf);
	cl_buf_u32(&w->buf, *seq);
	cl_buf_str(&w->buf, name);
	if (put_record(w, TRACE_SEQUENCE) != CL_OK)
		return (stuck(w, err));
	return (CL_OK);
}

static int
check_token(struct cl_trace_writer *w, const struct cl_trace_token *t)
{

	if (t->seq >= w->counts.sequences)
		return (cl_fail(&w->err, CL_EINVAL, "a token of sequence %u, "
		    "which was not announced", t->seq));
	if (t->token < -1)
		return (cl_fail(&w->err, CL_EINVAL, "token id %d; -1 is the "
		    "least", t->token));
	return (CL_OK);
}

int
cl_trace_write_token(struct cl_trace_writer *w,
    const struct cl_trace_token *t, struct cl_err *err)
{
	struct cl_trace_token *to;
	struct column *c;
	uint32_t i;

	if (w->err.code != CL_OK || check_token(w, t) != CL_OK ||
	    (w->ntokens == w->block_tokens && close_block(w) != CL_OK))
		return (stuck(w, err));
	to = &w->tokens[w->ntokens];
	*to = *t;
	to->begins |= w->counts.tokens == 0;
	w->counts.passes += to->begins;
	to->pass = w->counts.passes - 1;
	for (i = 0; i < w->ncolumns; i++) {
		c = &w->columns[i];
		c->scores.has[w->ntokens] = c->forecast.has[w->ntokens] = 0;
		c->given[w->ntokens] = 0;
		c->first[w->ntokens + 1] = c->first[w->ntokens];
	}
	w->ntokens++;
	w->counts.tokens++;
	return (CL_OK);
}

/* Ids may come from a file: in range and all different. */
static int
check_ids(struct cl_trace_writer *w, const struct cl_trace_column *v,
    const struct cl_trace_cell *cell)
{
	uint32_t i, id;

	if (cell->n == 0 || cell->n > v->nexperts)
		return (cl_fail(&w->err, CL_EINVAL, "layer %u: %u experts "
		    "chosen of %u", v->layer, cell->n, v->nexperts));
	if (++w->stamp == 0) {
		memset(w->seen, 0, w->nseen * sizeof(*w->seen));
		w->stamp = 1;
	}
	for (i = 0; i < cell->n; i++) {
		id = cell->ids[i];
		if (id >= v->nexperts)
			return (cl_fail(&w->err, CL_EINVAL, "layer %u: expert "
			    "%u, and there are %u", v->layer, id,
			    v->nexperts));
		if (w->seen[id] == w->stamp)
			return (cl_fail(&w->err, CL_EINVAL, "layer %u: expert "
			    "%u is chosen twice", v->layer, id));
		w->seen[id] = w->stamp;
	}
	return (CL_OK);
}

static int
check_cell(struct cl_trace_writer *w, uint32_t column,
    const struct cl_trace_cell *cell)
{
	const struct cl_trace_column *v;
	const struct cl_rule *rule;

	if (column >= w->ncolumns || w->ntokens == 0)
		return (cl_fail(&w->err, CL_EINVAL, "a cell of column %u, or "
		    "before any token; there are %u columns", column,
		    w->ncolumns));
	v = &w->views[column];
	rule = &w->head->model->layers[v->layer].rule;
	if (w->columns[column].scores.has[w->ntokens - 1])
		return (cl_fail(&w->err, CL_EINVAL, "layer %u: a second cell "
		    "of the same token", v->layer));
	if (w->head->scores != CL_SCORES_NONE && cell->scores == NULL)
		return (cl_fail(&w->err, CL_EINVAL, "layer %u: a cell without "
		    "the scores that the head promises", v->layer));
	if (cell->ids == NULL && (cell->scores == NULL ||
	    rule->select == CL_SELECT_TABLE))
		return (cl_fail(&w->err, CL_EINVAL, "layer %u: neither "
		    "experts nor scores that give them", v->layer));
	if (w->head->weights && cell->scores == NULL && cell->weights == NULL)
		return (cl_fail(&w->err, CL_EINVAL, "layer %u: a cell without "
		    "the weights that the head promises", v->layer));
	return (cell->ids == NULL ? CL_OK : check_ids(w, v, cell));
}

static int
add_row(struct cl_trace_writer *w, struct rows *r, const float *values,
    uint32_t nexperts)
{
	size_t at = (size_t)r->n * nexperts, i;

	if (cl_vec_grow(&r->values, &r->cap, at + nexperts,
	    sizeof(*r->values), &w->err) != CL_OK)
		return (w->err.code);
	if (w->head->scores == CL_SCORES_F16)
		for (i = 0; i < nexperts; i++)
			r->values[at + i] =
			    cl_trace_unhalf(cl_trace_half(values[i]));
	else
		memcpy(r->values + at, values, nexperts * sizeof(*values));
	r->n++;
	return (CL_OK);
}

/* Does the rule make of these scores the n experts in ids? */
static bool
agrees(struct cl_trace_writer *w, const struct cl_rule *rule,
    const float *scores, const uint16_t *ids, uint32_t n)
{

	if (rule->select == CL_SELECT_TABLE || n != rule->k)
		return (false);
	cl_route_choose(w->route, rule, scores, w->choice, NULL);
	return (memcmp(w->choice, ids, n * sizeof(*ids)) == 0);
}

/* Append the cell's ids; n of them at *ids, which stay. */
static int
add_ids(struct cl_trace_writer *w, struct column *c,
    const struct cl_rule *rule, const struct cl_trace_cell *cell,
    uint16_t **ids, uint32_t *n)
{
	uint32_t at = c->first[w->ntokens];

	*n = cell->ids != NULL ? cell->n : rule->k;
	if (cl_vec_grow(&c->ids, &c->ids_cap, at + *n, sizeof(*c->ids),
	    &w->err) != CL_OK)
		return (w->err.code);
	*ids = c->ids + at;
	if (cell->ids != NULL)
		memcpy(*ids, cell->ids, *n * sizeof(**ids));
	else
		cl_route_choose(w->route, rule, cell->scores, *ids, NULL);
	c->first[w->ntokens] = at + *n;
	return (CL_OK);
}

/* An explicit cell holds weights where the head says so. */
static int
add_weights(struct cl_trace_writer *w, struct column *c,
    const struct cl_rule *rule, const struct cl_trace_cell *cell,
    const uint16_t *ids, uint32_t n)
{
	uint32_t end = c->first[w->ntokens];
	float *to;

	if (cl_vec_grow(&c->weights, &c->weights_cap, end,
	    sizeof(*c->weights), &w->err) != CL_OK)
		return (w->err.code);
	to = c->weights + end - n;
	if (cell->weights != NULL && cell->ids != NULL)
		memcpy(to, cell->weights, n * sizeof(*to));
	else
		cl_route_weigh(w->route, rule, cell->scores, ids, n, to);
	return (CL_OK);
}

/*
 * Must ids be stored: does the rule, applied to the scores as they will be
 * read, choose otherwise?  A mismatch is a difference without rounding.
 */
static bool
must_give(struct cl_trace_writer *w, const struct cl_rule *rule,
    const struct cl_trace_cell *cell, const float *held, const uint16_t *ids,
    uint32_t n)
{
	enum cl_trace_scores kind = w->head->scores;
	bool mismatch;

	if (kind != CL_SCORES_NONE && agrees(w, rule, held, ids, n))
		return (false);
	if (cell->ids != NULL && cell->scores != NULL && !w->copy &&
	    rule->select != CL_SELECT_TABLE) {
		mismatch = kind == CL_SCORES_F32 ||
		    !agrees(w, rule, cell->scores, ids, n);
		w->counts.mismatches += mismatch;
	}
	return (true);
}

static int
add_cell(struct cl_trace_writer *w, uint32_t column,
    const struct cl_trace_cell *cell)
{
	struct column *c = &w->columns[column];
	const struct cl_trace_column *v = &w->views[column];
	const struct cl_rule *rule = &w->head->model->layers[v->layer].rule;
	bool foreseen = w->head->forecast && cell->forecast != NULL, given;
	const float *held = NULL;
	uint16_t *ids = NULL;
	uint32_t n = 0;

	if (add_ids(w, c, rule, cell, &ids, &n) != CL_OK)
		return (w->err.code);
	if (w->head->scores != CL_SCORES_NONE) {
		if (add_row(w, &c->scores, cell->scores, v->nexperts) != CL_OK)
			return (w->err.code);
		held = c->scores.values +
		    (size_t)(c->scores.n - 1) * v->nexperts;
	}
	if (foreseen && add_row(w, &c->forecast, cell->forecast,
	    v->nexperts) != CL_OK)
		return (w->err.code);
	given = must_give(w, rule, cell, held, ids, n);
	if (given && w->head->weights &&
	    add_weights(w, c, rule, cell, ids, n) != CL_OK)
		return (w->err.code);
	c->scores.has[w->ntokens - 1] = 1;
	c->forecast.has[w->ntokens - 1] = foreseen;
	c->given[w->ntokens - 1] = given;
	w->counts.cells++;
	w->counts.choices += n;
	return (CL_OK);
}

int
cl_trace_write_cell(struct cl_trace_writer *w, uint32_t column,
    const struct cl_trace_cell *cell, struct cl_err *err)
{

	if (w->err.code != CL_OK || check_cell(w, column, cell) != CL_OK ||
	    add_cell(w, column, cell) != CL_OK)
		return (stuck(w, err));
	return (CL_OK);
}

void
cl_trace_writer_mismatches(struct cl_trace_writer *w, uint64_t n)
{

	w->copy = true;
	w->counts.mismatches = n;
}

const struct cl_trace_counts *
cl_trace_writer_counts(const struct cl_trace_writer *w)
{

	return (&w->counts);
}

int
cl_trace_writer_finish(struct cl_trace_writer *w, enum cl_trace_end end,
    struct cl_err *err)
{

	if (w->err.code == CL_OK && close_block(w) == CL_OK) {
		w->counts.end = end;
		w->counts.records++;
		cl_buf_clear(&w->buf);
		cl_trace_put_trailer(&w->buf, &w->counts);
		if (cl_rec_put(w->zio, TRACE_TRAILER, &w->buf,
		    &w->err) == CL_OK)
			(void)cl_dst_finish(w->zio, &w->err);
	}
	return (w->err.code == CL_OK ? CL_OK : stuck(w, err));
}

void
cl_trace_writer_free(struct cl_trace_writer *w)
{
	uint32_t i;

	if (w == NULL)
		return;
	for (i = 0; w->columns != NULL && i < w->ncolumns; i++) {
		free(w->columns[i].scores.has);
		free(w->columns[i].scores.values);
		free(w->columns[i].forecast.has);
		free(w->columns[i].forecast.values);
		free(w->columns[i].given);
		free(w->columns[i].first);
		free(w->columns[i].ids);
		free(w->columns[i].weights);
	}
	free(w->columns);
	free(w->views);
	free(w->tokens);
	free(w->choice);
	free(w->seen);
	cl_route_free(w->route);
	cl_buf_free(&w->buf);
	cl_dst_free(w->zio);
	free(w);
}
