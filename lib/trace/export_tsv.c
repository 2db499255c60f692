/*
 * Traces as text.  Each line is built in a buffer, added to the checksum and
 * written.  What is printed is a function of what the trace holds, never of
 * how its records were cut: a sequence is named right before its first row
 * (or at the end), and a token whose rows would run into those of the token
 * before is set off by a row without a layer.
 */

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/export_tsv.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "cl/text.h"
#include "cl/trace_read.h"
#include "cl/vec.h"

struct export {
	struct cl_dst	*dst;
	const struct cl_trace_head *head;
	struct cl_buf	 line;
	struct cl_hash	 sum;		/* of the trace's lines so far */
	uint64_t	 nrows;
	char		**names;	/* of sequences not printed yet */
	size_t		 names_cap;
	uint32_t	 nnamed;	/* sequences announced */
	uint32_t	 nprinted;	/* of them */
	struct cl_trace_token last;	/* the token before */
	int64_t		 last_layer;	/* of its last row, -1: none */
	bool		 any;		/* there was one */
};

static void
add(struct export *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Short pieces only; strings of any length go through add_string(). */
static void
add(struct export *x, const char *fmt, ...)
{
	char piece[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(piece))
		x->line.bad = true;
	else
		cl_buf_bytes(&x->line, piece, (size_t)n);
}

static void
add_number(struct export *x, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	cl_buf_bytes(&x->line, digits + n, sizeof(digits) - n);
}

static void
add_string(struct export *x, const char *s)
{
	size_t left = strlen(s), n;
	char buf[8];

	for (; left > 0; s += n, left -= n) {
		n = cl_text_escape(buf, s, left);
		cl_buf_bytes(&x->line, buf, strlen(buf));
	}
}

static void
add_float(struct export *x, float v)
{
	char text[32];

	if (isnan(v))			/* its sign and payload are nobody's */
		cl_buf_bytes(&x->line, "nan", 3);
	else
		cl_buf_bytes(&x->line, text, strlen(cl_text_f32(text, v)));
}

static void
add_floats(struct export *x, const float *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (i > 0)
			cl_buf_u8(&x->line, ',');
		add_float(x, v[i]);
	}
}

static int
end_line(struct export *x, struct cl_err *err)
{

	cl_buf_u8(&x->line, '\n');
	if (x->line.bad)
		return (cl_fail_nomem(err, "a line of text"));
	cl_hash_add(&x->sum, x->line.p, x->line.n);
	cl_dst_write(x->dst, x->line.p, x->line.n);
	cl_buf_clear(&x->line);
	return (CL_OK);
}

static int
put_dense(struct export *x, const char *layer, const struct cl_dense *d,
    uint32_t n, struct cl_err *err)
{
	uint32_t i;
	int status = CL_OK;

	for (i = 0; status == CL_OK && i < n; i++) {
		add(x, "# dense\t%s\t%u\t%" PRIu64 "\t%" PRIu64, layer,
		    d[i].shard, d[i].off, d[i].nbytes);
		status = end_line(x, err);
	}
	return (status);
}

static int
put_bias(struct export *x, const char *word, uint32_t layer,
    const float *bias, uint32_t n, struct cl_err *err)
{

	if (bias == NULL)
		return (CL_OK);
	add(x, "# %s\t%u\t", word, layer);
	add_floats(x, bias, n);
	return (end_line(x, err));
}

static int
put_rule(struct export *x, uint32_t layer, const struct cl_rule *r,
    struct cl_err *err)
{
	char assumed[80];
	int status;

	(void)cl_rule_assumed_text(assumed, r->assumed);
	add(x, "# rule\t%u\t%s\t%s\t%s%s%s\t%u\t%u\t", layer,
	    cl_rule_gate_name(r->gate), cl_rule_select_name(r->select),
	    r->norm ? "norm" : "", r->norm && r->softmax_w ? "," : "",
	    r->softmax_w ? "softmax" : (r->norm ? "" : "-"), r->ngroup,
	    r->ngroup_used);
	add_float(x, r->scale);
	add(x, "\t%s", r->assumed == 0 ? "-" : assumed);
	if ((status = end_line(x, err)) != CL_OK ||
	    (status = put_bias(x, "gate_bias", layer, r->gate_bias,
	    r->nexperts, err)) != CL_OK)
		return (status);
	return (put_bias(x, "sel_bias", layer, r->sel_bias, r->nexperts,
	    err));
}

static int
put_slab(struct export *x, uint32_t layer, const struct cl_layer *l,
    const struct cl_slab *s, struct cl_err *err)
{
	uint32_t i, n = s->places != NULL ? l->nexperts : 1;

	add(x, "# slab\t%u\t%s\t%u\t", layer, cl_model_slab_name(s->kind),
	    s->type);
	for (i = 0; i < n; i++)
		add(x, "%s%u", i > 0 ? "," : "", cl_model_place(s, i).shard);
	cl_buf_u8(&x->line, '\t');
	for (i = 0; i < n; i++)
		add(x, "%s%" PRIu64, i > 0 ? "," : "",
		    cl_model_place(s, i).off);
	if (s->places != NULL)
		add(x, "\t-\t%" PRIu64, s->nbytes);
	else
		add(x, "\t%" PRIu64 "\t%" PRIu64, s->stride, s->nbytes);
	return (end_line(x, err));
}

static int
put_layer(struct export *x, uint32_t layer, const struct cl_layer *l,
    struct cl_err *err)
{
	char number[16];
	uint32_t i;
	int status;

	add(x, "# layer\t%u\t%u\t%u\t%" PRIu64 "\t%s", layer, l->nexperts,
	    l->k, l->expert_bytes, l->extra ? "extra" : "-");
	status = end_line(x, err);
	for (i = 0; status == CL_OK && i < l->nslabs; i++)
		status = put_slab(x, layer, l, &l->slabs[i], err);
	(void)snprintf(number, sizeof(number), "%u", layer);
	if (status == CL_OK)
		status = put_dense(x, number, l->dense, l->ndense, err);
	if (status == CL_OK && l->nexperts > 0)
		status = put_rule(x, layer, &l->rule, err);
	return (status);
}

static int
put_model(struct export *x, const struct cl_model *m, struct cl_err *err)
{
	uint32_t i;
	int status;

	add(x, "# model\t%u\t%016" PRIx64 "\t", m->nlayers, m->fingerprint);
	add_string(x, m->name);
	cl_buf_u8(&x->line, '\t');
	add_string(x, m->arch);
	status = end_line(x, err);
	for (i = 0; status == CL_OK && i < m->nshards; i++) {
		add(x, "# shard\t%" PRIu64 "\t%016" PRIx64 "\t",
		    m->shards[i].nbytes, m->shards[i].head_hash);
		add_string(x, m->shards[i].path);
		status = end_line(x, err);
	}
	if (status == CL_OK)
		status = put_dense(x, "-", m->dense, m->ndense, err);
	for (i = 0; status == CL_OK && i < m->nlayers; i++)
		status = put_layer(x, i, &m->layers[i], err);
	return (status);
}

static int
put_head(struct export *x, const struct cl_trace_head *h, struct cl_err *err)
{
	uint32_t i;
	int status;

	cl_hash_init(&x->sum);
	x->head = h;
	x->nrows = 0;
	x->any = false;
	add(x, "# cl-trace\t1\n");
	add(x, "# origin\t%s\n", cl_trace_origin_name(h->origin));
	add(x, "# scores\t%s\n", cl_trace_scores_name(h->scores));
	add(x, "# holds\trows%s%s%s\n", h->tokens ? ",tokens" : "",
	    h->weights ? ",weights" : "", h->forecast ? ",forecast" : "");
	add(x, "# block\t%u", h->block_tokens);
	status = end_line(x, err);
	for (i = 0; status == CL_OK && i < h->nnotes; i++) {
		add(x, "# note\t");
		add_string(x, h->notes[i].key);
		cl_buf_u8(&x->line, '\t');
		add_string(x, h->notes[i].value);
		status = end_line(x, err);
	}
	if (status == CL_OK)
		status = put_model(x, h->model, err);
	if (status != CL_OK)
		return (status);
	add(x, "seq\tpos\ttoken\tphase\tpass\tlayer\texperts\tweights\t"
	    "scores\tforecast");
	return (end_line(x, err));
}

/* Remember a name until a row needs it. */
static int
keep_name(struct export *x, const char *name, struct cl_err *err)
{

	if (cl_vec_grow(&x->names, &x->names_cap, (size_t)x->nnamed + 1,
	    sizeof(*x->names), err) != CL_OK)
		return (CL_ENOMEM);
	x->names[x->nnamed] = cl_vec_strndup(name, strlen(name), err);
	if (x->names[x->nnamed] == NULL)
		return (CL_ENOMEM);
	x->nnamed++;
	return (CL_OK);
}

/* Print the names of all sequences below end. */
static int
put_names(struct export *x, uint32_t end, struct cl_err *err)
{
	int status = CL_OK;

	for (; status == CL_OK && x->nprinted < end; x->nprinted++) {
		add(x, "# sequence\t%u\t", x->nprinted);
		add_string(x, x->names[x->nprinted]);
		free(x->names[x->nprinted]);
		x->names[x->nprinted] = NULL;
		status = end_line(x, err);
	}
	return (status);
}

/* The columns that all rows of a token share, up to the layer. */
static void
add_token(struct export *x, const struct cl_trace_token *t)
{

	add_number(x, t->seq);
	cl_buf_u8(&x->line, '\t');
	add_number(x, t->pos);
	if (x->head->tokens)
		add(x, "\t%d", (int)t->token);
	else
		add(x, "\t-");
	add(x, "\t%s%s\t", t->decode ? "decode" : "prefill",
	    t->padding ? "+pad" : "");
	add_number(x, t->pass);
	cl_buf_u8(&x->line, '\t');
}

static int
put_bare(struct export *x, const struct cl_trace_token *t, struct cl_err *err)
{

	add_token(x, t);
	add(x, "-\t-\t-\t-\t-");
	x->nrows++;
	x->last_layer = -1;
	return (end_line(x, err));
}

static void
add_scores(struct export *x, const float *scores, const uint32_t *row,
    uint32_t t, uint32_t nexperts)
{

	cl_buf_u8(&x->line, '\t');
	if (scores == NULL || row[t] == UINT32_MAX)
		cl_buf_u8(&x->line, '-');
	else
		add_floats(x, scores + (size_t)row[t] * nexperts, nexperts);
}

static int
put_cell(struct export *x, const struct cl_trace_token *token,
    const struct cl_trace_column *c, uint32_t t, struct cl_err *err)
{
	uint32_t i;

	add_token(x, token);
	add_number(x, c->layer);
	for (i = c->first[t]; i < c->first[t + 1]; i++) {
		cl_buf_u8(&x->line, i == c->first[t] ? '\t' : ',');
		add_number(x, c->ids[i]);
	}
	cl_buf_u8(&x->line, '\t');
	if (c->weights == NULL)
		cl_buf_u8(&x->line, '-');
	else
		add_floats(x, c->weights + c->first[t],
		    c->first[t + 1] - c->first[t]);
	add_scores(x, c->scores, c->row, t, c->nexperts);
	add_scores(x, c->forecast, c->forecast_row, t, c->nexperts);
	x->nrows++;
	x->last_layer = c->layer;
	return (end_line(x, err));
}

/* Could rows of b be taken for more rows of a? */
static bool
look_alike(const struct cl_trace_token *a, const struct cl_trace_token *b)
{

	return (a->seq == b->seq && a->pos == b->pos && a->pass == b->pass &&
	    a->token == b->token && a->decode == b->decode &&
	    a->padding == b->padding);
}

static int
put_token(struct export *x, const struct cl_trace_block *b, uint32_t t,
    struct cl_err *err)
{
	const struct cl_trace_token *token = &b->tokens[t];
	const struct cl_trace_column *c = b->columns;
	const struct cl_trace_column *end = c + b->ncolumns;
	int status = CL_OK;

	if (token->seq >= x->nprinted)
		status = put_names(x, token->seq + 1, err);
	for (; c < end && c->first[t] == c->first[t + 1]; c++)
		;
	if (status == CL_OK && (c == end || (x->any &&
	    look_alike(token, &x->last) && c->layer > x->last_layer)))
		status = put_bare(x, token, err);
	for (; status == CL_OK && c < end; c++)
		if (c->first[t] != c->first[t + 1])
			status = put_cell(x, token, c, t, err);
	x->last = *token;
	x->any = true;
	return (status);
}

static int
put_block(struct export *x, const struct cl_trace_block *b,
    struct cl_err *err)
{
	uint32_t t;
	int status = CL_OK;

	for (t = 0; status == CL_OK && t < b->ntokens; t++)
		status = put_token(x, b, t, err);
	return (status == CL_OK ? cl_dst_flush(x->dst, err) : status);
}

static void
forget_names(struct export *x)
{
	uint32_t i;

	for (i = x->nprinted; i < x->nnamed; i++)
		free(x->names[i]);
	x->nprinted = x->nnamed = 0;
}

static int
put_trailer(struct export *x, const struct cl_trace_counts *c,
    struct cl_err *err)
{
	int status;

	if ((status = put_names(x, x->nnamed, err)) != CL_OK)
		return (status);
	add(x, "# end\t%s\t%" PRIu64, cl_trace_end_name(c->end),
	    c->mismatches);
	if ((status = end_line(x, err)) != CL_OK)
		return (status);
	add(x, "# rows\t%" PRIu64 "\t%016" PRIx64, x->nrows,
	    cl_hash_end(&x->sum));
	if ((status = end_line(x, err)) != CL_OK)
		return (status);
	forget_names(x);
	return (cl_dst_flush(x->dst, err));
}

int
cl_export_tsv(struct cl_trace_reader *r, struct cl_dst *dst,
    struct cl_err *err)
{
	struct export x = { .dst = dst };
	const struct cl_trace_rec *rec;
	int status;

	cl_buf_init(&x.line);
	cl_trace_reader_want(r, CL_TRACE_WEIGHTS | CL_TRACE_CHECK);
	while ((status = cl_trace_read(r, &rec, err)) == CL_OK) {
		switch (rec->kind) {
		case CL_TRACE_HEAD:
			status = put_head(&x, rec->head, err);
			break;
		case CL_TRACE_SEQ:
			status = keep_name(&x, rec->name, err);
			break;
		case CL_TRACE_BLOCK:
			status = put_block(&x, rec->block, err);
			break;
		case CL_TRACE_TRAILER:
			status = put_trailer(&x, rec->counts, err);
			break;
		}
		if (status != CL_OK)
			break;
	}
	forget_names(&x);
	free(x.names);
	cl_buf_free(&x.line);
	(void)cl_dst_flush(dst, err);	/* what is intact, in any case */
	return (status == CL_END ? CL_OK : status);
}
