/*
 * BLOCK records.  First all of the record is walked: the tokens here, the
 * columns in trace_walk.c, so that what they hold is known and nothing is left
 * over.  Only then memory is made ready, all of it in a few arrays that later
 * blocks use again, and the parts are decoded into it.  Where scores are held,
 * the experts of cells that are not explicit are what the rule makes of them.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/rec.h"
#include "cl/route.h"
#include "cl/trace_read.h"
#include "cl/vec.h"
#include "trace_int.h"

#define NONE	UINT32_MAX
#define STRIP	32			/* ids at once, for vector code */

struct cl_trace_decoder {
	const struct cl_trace_head *head;
	struct cl_route	*route;		/* NULL where no scores are held */
	struct trace_part *parts;
	struct cl_trace_column *columns;
	struct cl_trace_token *tokens;
	size_t		 tokens_cap;
	struct cl_trace_block block;
	/* Shared by all columns of a block, in their order. */
	uint32_t	*index;		/* first, row, forecast_row */
	size_t		 index_cap;
	uint8_t		*given;
	size_t		 given_cap;
	uint16_t	*ids;
	size_t		 ids_cap;
	float		*weights;
	size_t		 weights_cap;
	float		*scores;
	size_t		 scores_cap;
	uint32_t	 nseen;		/* experts of the largest layer */
	uint32_t	*seen;		/* of each expert: last cell with it */
	uint32_t	 stamp;
};

struct cl_trace_decoder *
cl_trace_decoder_new(const struct cl_trace_head *head, struct cl_err *err)
{
	const struct cl_model *m = head->model;
	struct cl_trace_decoder *d;
	uint32_t *layers, i, n;

	if (cl_trace_layers(m, &layers, &n, err) != CL_OK)
		return (NULL);
	if ((d = calloc(1, sizeof(*d))) == NULL ||
	    (d->parts = calloc(n, sizeof(*d->parts))) == NULL ||
	    (d->columns = calloc(n, sizeof(*d->columns))) == NULL)
		goto nomem;
	d->head = head;
	d->block.ncolumns = n;
	d->block.columns = d->columns;
	for (i = 0; i < n; i++) {
		d->columns[i].layer = layers[i];
		d->columns[i].nexperts = m->layers[layers[i]].nexperts;
		d->columns[i].k = m->layers[layers[i]].k;
		if (d->columns[i].nexperts > d->nseen)
			d->nseen = d->columns[i].nexperts;
	}
	if ((d->seen = calloc(d->nseen, sizeof(*d->seen))) == NULL)
		goto nomem;
	if (head->scores != CL_SCORES_NONE &&
	    (d->route = cl_route_new(d->nseen, err)) == NULL)
		goto fail;
	free(layers);
	return (d);

nomem:
	cl_fail_nomem(err, "a trace decoder");
fail:
	free(layers);
	cl_trace_decoder_free(d);
	return (NULL);
}

static inline bool
bit(const uint8_t *bits, uint32_t i)
{

	return ((bits[i / 8] >> i % 8 & 1) != 0);
}

static inline uint32_t
get_u16(const uint8_t *p)
{

	return ((uint32_t)p[0] | (uint32_t)p[1] << 8);
}

static inline uint32_t
get_u32(const uint8_t *p)
{

	return (get_u16(p) | get_u16(p + 2) << 16);
}

/* The flags of n tokens: known, and the pass they begin with. */
static int
walk_flags(const uint8_t *flags, uint32_t n, uint64_t pass,
    struct cl_trace_counts *counts, struct cl_err *err)
{
	bool begins = (flags[0] & TRACE_TOKEN_BEGINS) != 0;
	uint32_t i, all = 0;

	if (!begins && counts->passes == 0)
		return (cl_fail(err, CL_EFORMAT, "the first token of the "
		    "trace begins no pass"));
	if (pass != counts->passes - !begins)
		return (cl_fail(err, CL_EFORMAT, "pass %llu where pass %llu "
		    "is due", (unsigned long long)pass,
		    (unsigned long long)(counts->passes - !begins)));
	for (i = 0; i < n; i++) {
		all |= flags[i];
		counts->passes += (flags[i] & TRACE_TOKEN_BEGINS) != 0;
	}
	if ((all & ~(uint32_t)TRACE_TOKEN_FLAGS) != 0)
		return (cl_fail(err, CL_EFORMAT, "unknown flags of a token"));
	return (CL_OK);
}

/* The columns that all tokens have, decoded at once: they are few. */
static int
get_tokens(struct cl_trace_decoder *d, struct cl_cur *c,
    struct cl_trace_counts *counts, struct cl_err *err)
{
	uint32_t n = cl_cur_u32(c), zero = cl_cur_u32(c), i;
	uint64_t pass = cl_cur_u64(c);
	const uint8_t *seq, *pos, *flags, *token = NULL;
	struct cl_trace_token *t;
	int status;

	if (!cl_cur_ok(c) || n == 0 || n > d->head->block_tokens)
		return (cl_fail(err, CL_EFORMAT, "%u tokens, 1 to %u are "
		    "possible", n, d->head->block_tokens));
	if (zero != 0)
		return (cl_fail(err, CL_EFORMAT, "reserved bytes are not 0"));
	seq = cl_cur_bytes(c, 4 * (uint64_t)n);
	pos = cl_cur_bytes(c, 4 * (uint64_t)n);
	flags = cl_cur_bytes(c, n);
	if (d->head->tokens)
		token = cl_cur_bytes(c, 4 * (uint64_t)n);
	if (!cl_cur_ok(c))
		return (cl_fail(err, CL_EFORMAT, "%u tokens do not fit it",
		    n));
	if ((status = walk_flags(flags, n, pass, counts, err)) != CL_OK ||
	    (status = cl_vec_grow(&d->tokens, &d->tokens_cap, n,
	    sizeof(*d->tokens), err)) != CL_OK)
		return (status);
	for (i = 0; i < n; i++) {
		t = &d->tokens[i];
		t->seq = get_u32(seq + 4 * i);
		t->pos = get_u32(pos + 4 * i);
		t->token = token == NULL ? -1 : (int32_t)get_u32(token +
		    4 * i);
		t->decode = (flags[i] & TRACE_TOKEN_DECODE) != 0;
		t->padding = (flags[i] & TRACE_TOKEN_PADDING) != 0;
		t->begins = (flags[i] & TRACE_TOKEN_BEGINS) != 0;
		pass += i > 0 && t->begins;
		t->pass = pass;
		if (t->seq >= counts->sequences)
			return (cl_fail(err, CL_EFORMAT, "token %u is of "
			    "sequence %u, which was not announced", i,
			    t->seq));
		if (t->token < -1)
			return (cl_fail(err, CL_EFORMAT, "token %u has the "
			    "id %d", i, t->token));
	}
	d->block.tokens = d->tokens;
	d->block.ntokens = n;
	counts->tokens += n;
	return (CL_OK);
}

/* One array for all columns: n elements of size bytes, and never none. */
static int
make_room(void *array, size_t *cap, uint64_t n, size_t size,
    struct cl_err *err)
{

	if (n >= SIZE_MAX / size)
		return (cl_fail_nomem(err, "a block of a trace"));
	return (cl_vec_grow(array, cap, (size_t)n + 1, size, err));
}

static bool
wants_weights(const struct cl_trace_decoder *d, unsigned wants)
{

	if (d->head->scores == CL_SCORES_NONE)
		return (d->head->weights);
	return ((wants & CL_TRACE_WEIGHTS) != 0);
}

/* Memory for all that the parts said there is. */
static int
make_arrays(struct cl_trace_decoder *d, unsigned wants, struct cl_err *err)
{
	uint64_t n = d->block.ntokens, cols = d->block.ncolumns;
	uint64_t nids = 0, values = 0;
	unsigned nindex = 1;
	uint32_t i;
	int status;

	if (d->head->scores != CL_SCORES_NONE)
		nindex = d->head->forecast ? 3 : 2;
	for (i = 0; i < cols; i++) {
		nids += d->parts[i].nids;
		if (d->head->scores != CL_SCORES_NONE)
			values += (uint64_t)d->columns[i].nexperts *
			    (d->parts[i].npresent + d->parts[i].nforeseen);
	}
	if ((status = make_room(&d->index, &d->index_cap,
	    cols * (nindex * n + 1), sizeof(*d->index), err)) != CL_OK ||
	    (status = make_room(&d->given, &d->given_cap, cols * n, 1,
	    err)) != CL_OK ||
	    (status = make_room(&d->ids, &d->ids_cap, nids,
	    sizeof(*d->ids), err)) != CL_OK ||
	    (status = make_room(&d->scores, &d->scores_cap, values,
	    sizeof(*d->scores), err)) != CL_OK)
		return (status);
	if (!wants_weights(d, wants))
		return (CL_OK);
	return (make_room(&d->weights, &d->weights_cap, nids,
	    sizeof(*d->weights), err));
}

/* Row numbers of tokens from their bits. */
static void
number_rows(uint32_t *row, const uint8_t *bits, uint32_t n)
{
	uint32_t t, next = 0;

	for (t = 0; t < n; t++)
		row[t] = bit(bits, t) ? next++ : NONE;
}

/* n ids of one byte, and the greatest; inlined with a fixed n. */
static inline uint16_t
widen(uint16_t *restrict to, const uint8_t *restrict from, uint32_t n)
{
	uint16_t most = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		to[i] = from[i];
		most = to[i] > most ? to[i] : most;
	}
	return (most);
}

/* n ids of one or two bytes; false where one is none of the experts. */
static bool
get_ids(uint16_t *to, const uint8_t *from, uint32_t n, uint32_t nexperts)
{
	uint16_t most = 0, m;
	uint32_t i = 0;

	if (nexperts > TRACE_ID8_MAX) {
		for (; i < n; i++) {
			to[i] = (uint16_t)get_u16(from + 2 * (size_t)i);
			most = to[i] > most ? to[i] : most;
		}
		return (most < nexperts);
	}
	for (; n - i >= STRIP; i += STRIP) {
		m = widen(to + i, from + i, STRIP);
		most = m > most ? m : most;
	}
	m = widen(to + i, from + i, n - i);
	return ((m > most ? m : most) < nexperts);
}

/* Are n ids, each below nseen, all different? */
static bool
all_differ(struct cl_trace_decoder *d, const uint16_t *ids, uint32_t n)
{
	uint32_t i, *seen, twice = 0;

	if (++d->stamp == 0) {
		memset(d->seen, 0, d->nseen * sizeof(*d->seen));
		d->stamp = 1;
	}
	for (i = 0; i < n; i++) {
		seen = &d->seen[ids[i]];
		twice |= *seen == d->stamp;
		*seen = d->stamp;
	}
	return (!twice);
}

/* Where the next column's share of the arrays begins. */
struct shares {
	uint32_t	*index;
	uint8_t		*given;
	uint16_t	*ids;
	float		*weights;	/* NULL: not wanted */
	float		*scores;
};

/* All ids stand in the record: decode them in one go. */
static int
get_all_given(struct cl_trace_decoder *d, const struct trace_part *p,
    struct cl_trace_column *col, struct shares *to, struct cl_err *err)
{
	uint32_t t, x = 0, at = 0, n = d->block.ntokens, count;
	uint32_t *first = to->index;

	if (!get_ids(to->ids, p->ids, p->nstored, col->nexperts))
		return (cl_fail(err, CL_EFORMAT, "an expert above %u",
		    col->nexperts - 1));
	for (t = 0; t < n; t++) {
		first[t] = at;
		to->given[t] = bit(p->given, t);
		if (!to->given[t])
			continue;
		count = get_u16(p->counts + 2 * (size_t)x++);
		if (!all_differ(d, to->ids + at, count))
			return (cl_fail(err, CL_EFORMAT, "token %u chose an "
			    "expert twice", t));
		at += count;
	}
	first[n] = at;
	for (at = 0; to->weights != NULL && p->weights != NULL &&
	    at < p->nstored; at++) {
		struct cl_cur c;

		cl_cur_init(&c, p->weights + 4 * (size_t)at, 4);
		to->weights[at] = cl_cur_f32(&c);
	}
	return (CL_OK);
}

/*
 * A cell of a column with scores: its count experts, stored ones from place
 * `from` of the record on, or by the rule.
 */
static int
get_cell(struct cl_trace_decoder *d, const struct trace_part *p,
    const struct cl_trace_column *col, const float *scores, bool given,
    uint32_t from, uint32_t count, uint16_t *ids, float *weights,
    struct cl_err *err)
{
	const struct cl_rule *rule = &d->head->model->layers[col->layer].rule;
	struct cl_cur c;
	uint32_t i;

	if (!given) {
		cl_route_choose(d->route, rule, scores, ids, weights);
		return (CL_OK);
	}
	if (!get_ids(ids, p->ids + (size_t)from *
	    (col->nexperts <= TRACE_ID8_MAX ? 1 : 2), count, col->nexperts))
		return (cl_fail(err, CL_EFORMAT, "an expert above %u",
		    col->nexperts - 1));
	if (!all_differ(d, ids, count))
		return (cl_fail(err, CL_EFORMAT, "an expert is chosen twice "
		    "for one token"));
	if (weights != NULL && p->weights != NULL) {
		cl_cur_init(&c, p->weights + 4 * (size_t)from,
		    4 * (size_t)count);
		for (i = 0; i < count; i++)
			weights[i] = cl_cur_f32(&c);
	} else if (weights != NULL) {
		cl_route_weigh(d->route, rule, scores, ids, count, weights);
	}
	return (CL_OK);
}

static int
get_mixed(struct cl_trace_decoder *d, const struct trace_part *p,
    struct cl_trace_column *col, struct shares *to, struct cl_err *err)
{
	uint32_t t, x = 0, at = 0, from = 0, n = d->block.ntokens, count;
	uint32_t *first = to->index;
	int status;

	for (t = 0; t < n; t++) {
		first[t] = at;
		to->given[t] = bit(p->given, t);
		if (col->row[t] == NONE)
			continue;
		count = !to->given[t] ? col->k :
		    get_u16(p->counts + 2 * (size_t)x++);
		status = get_cell(d, p, col, col->scores +
		    (size_t)col->row[t] * col->nexperts, to->given[t], from,
		    count, to->ids + at, to->weights == NULL ? NULL :
		    to->weights + at, err);
		if (status != CL_OK)
			return (status);
		from += to->given[t] ? count : 0;
		at += count;
	}
	first[n] = at;
	return (CL_OK);
}

/* Score rows, from the planes to the next share of the arrays. */
static void
get_scores(struct cl_trace_decoder *d, const struct trace_part *p,
    struct cl_trace_column *col, struct shares *to)
{
	uint32_t n = d->block.ntokens;
	uint32_t *row = to->index + n + 1;
	size_t values = (size_t)p->npresent * col->nexperts;

	number_rows(row, p->present, n);
	cl_trace_join(to->scores, p->scores, values, d->head->scores);
	col->row = row;
	col->scores = to->scores;
	to->scores += values;
	if (!d->head->forecast)
		return;
	row += n;
	values = (size_t)p->nforeseen * col->nexperts;
	number_rows(row, p->foreseen, n);
	cl_trace_join(to->scores, p->forecast, values, d->head->scores);
	col->forecast_row = row;
	col->forecast = to->scores;
	to->scores += values;
}

static int
get_column(struct cl_trace_decoder *d, uint32_t i, struct shares *to,
    struct cl_err *err)
{
	const struct trace_part *p = &d->parts[i];
	struct cl_trace_column *col = &d->columns[i];
	uint32_t n = d->block.ntokens, nindex = n + 1;
	int status;

	if (d->head->scores == CL_SCORES_NONE) {
		status = get_all_given(d, p, col, to, err);
	} else {
		get_scores(d, p, col, to);
		nindex += d->head->forecast ? 2 * n : n;
		status = get_mixed(d, p, col, to, err);
	}
	col->first = to->index;
	col->given = to->given;
	col->ids = to->ids;
	col->weights = to->weights;
	to->index += nindex;
	to->given += n;
	to->ids += p->nids;
	if (to->weights != NULL)
		to->weights += p->nids;
	return (status);
}

/* Name the layer that a column's error is about. */
static int
in_layer(const struct cl_trace_decoder *d, uint32_t i, struct cl_err *why,
    struct cl_err *err)
{

	return (cl_fail(err, why->code, "layer %u: %s", d->columns[i].layer,
	    why->msg));
}

static int
get_columns(struct cl_trace_decoder *d, unsigned wants, struct cl_err *err)
{
	struct cl_err why = { 0 };
	struct shares to;
	uint32_t i;
	int status;

	if ((status = make_arrays(d, wants, err)) != CL_OK)
		return (status);
	to = (struct shares){ d->index, d->given, d->ids,
	    wants_weights(d, wants) ? d->weights : NULL, d->scores };
	for (i = 0; i < d->block.ncolumns; i++)
		if (get_column(d, i, &to, &why) != CL_OK)
			return (in_layer(d, i, &why, err));
	return (CL_OK);
}

int
cl_trace_decode(struct cl_trace_decoder *d, const struct cl_rec *rec,
    unsigned wants, struct cl_trace_counts *counts,
    const struct cl_trace_block **block, struct cl_err *err)
{
	struct cl_err why = { 0 };
	struct cl_cur c;
	uint32_t i;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	if ((status = get_tokens(d, &c, counts, err)) != CL_OK)
		return (status);
	for (i = 0; i < d->block.ncolumns; i++) {
		if (cl_trace_walk(d->head, &d->columns[i], d->block.ntokens,
		    &c, &d->parts[i], &why) != CL_OK)
			return (in_layer(d, i, &why, err));
		counts->cells += d->parts[i].npresent;
		counts->choices += d->parts[i].nids;
	}
	if (cl_cur_left(&c) != 0)
		return (cl_fail(err, CL_EFORMAT, "%zu bytes are left over",
		    cl_cur_left(&c)));
	*block = &d->block;
	return ((wants & CL_TRACE_SKIM) != 0 ? CL_OK :
	    get_columns(d, wants, err));
}

void
cl_trace_decoder_free(struct cl_trace_decoder *d)
{

	if (d == NULL)
		return;
	cl_route_free(d->route);
	free(d->parts);
	free(d->columns);
	free(d->tokens);
	free(d->index);
	free(d->given);
	free(d->ids);
	free(d->weights);
	free(d->scores);
	free(d->seen);
	free(d);
}
