/*
 * The payloads of the records that hold no tokens: HEAD, LAYER, TRAILER.
 */

#include <string.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/trace_write.h"
#include "trace_int.h"

static bool
long_string(const char *s)
{

	return (s == NULL || strlen(s) > UINT16_MAX);
}

static int
check_strings(const struct cl_trace_head *h, struct cl_err *err)
{
	const struct cl_model *m = h->model;
	bool bad = long_string(m->name) || long_string(m->arch);
	uint32_t i, j;

	for (i = 0; i < m->nshards; i++)
		bad |= long_string(m->shards[i].path);
	for (i = 0; i < h->nnotes; i++) {
		bad |= long_string(h->notes[i].key) ||
		    long_string(h->notes[i].value);
		for (j = 0; !bad && j < i; j++)
			if (strcmp(h->notes[i].key, h->notes[j].key) == 0)
				return (cl_fail(err, CL_EINVAL, "two notes "
				    "have the key %.60s", h->notes[i].key));
	}
	if (bad)
		return (cl_fail(err, CL_EINVAL, "a name, path or note is "
		    "longer than %u bytes", UINT16_MAX));
	return (CL_OK);
}

int
cl_trace_head_check(const struct cl_trace_head *h, struct cl_err *err)
{
	int status;

	if (cl_trace_origin_name(h->origin) == NULL ||
	    cl_trace_scores_name(h->scores) == NULL)
		return (cl_fail(err, CL_EINVAL, "a trace of origin %u with "
		    "scores of kind %u", (unsigned)h->origin,
		    (unsigned)h->scores));
	if (h->forecast && h->scores == CL_SCORES_NONE)
		return (cl_fail(err, CL_EINVAL, "a forecast needs scores"));
	if (h->block_tokens == 0 || h->block_tokens > CL_TRACE_BLOCK_MAX)
		return (cl_fail(err, CL_EINVAL, "blocks of %u tokens; 1 to %d "
		    "are possible", h->block_tokens, CL_TRACE_BLOCK_MAX));
	if (h->nnotes > CL_TRACE_NOTES_MAX)
		return (cl_fail(err, CL_EINVAL, "%u notes, at most %d",
		    h->nnotes, CL_TRACE_NOTES_MAX));
	if ((status = check_strings(h, err)) != CL_OK)
		return (status);
	return (cl_model_check(h->model, err));
}

static void
put_dense(struct cl_buf *b, const struct cl_dense *d, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		cl_buf_u32(b, d[i].shard);
		cl_buf_u64(b, d[i].off);
		cl_buf_u64(b, d[i].nbytes);
	}
}

void
cl_trace_put_head(struct cl_buf *b, const struct cl_trace_head *h,
    uint32_t block_tokens)
{
	const struct cl_model *m = h->model;
	uint32_t i;

	cl_buf_u8(b, (uint8_t)h->origin);
	cl_buf_u8(b, (uint8_t)h->scores);
	cl_buf_u8(b, (uint8_t)((h->tokens ? TRACE_HEAD_TOKENS : 0) |
	    (h->weights ? TRACE_HEAD_WEIGHTS : 0) |
	    (h->forecast ? TRACE_HEAD_FORECAST : 0)));
	cl_buf_u8(b, 0);
	cl_buf_u32(b, block_tokens);
	cl_buf_u64(b, m->fingerprint);
	cl_buf_u32(b, m->nlayers);
	cl_buf_u32(b, h->nnotes);
	cl_buf_u32(b, m->nshards);
	cl_buf_u32(b, m->ndense);
	cl_buf_str(b, m->name);
	cl_buf_str(b, m->arch);
	for (i = 0; i < h->nnotes; i++) {
		cl_buf_str(b, h->notes[i].key);
		cl_buf_str(b, h->notes[i].value);
	}
	for (i = 0; i < m->nshards; i++) {
		cl_buf_str(b, m->shards[i].path);
		cl_buf_u64(b, m->shards[i].nbytes);
		cl_buf_u64(b, m->shards[i].head_hash);
	}
	put_dense(b, m->dense, m->ndense);
}

static void
put_rule(struct cl_buf *b, const struct cl_rule *r)
{
	uint32_t i;

	cl_buf_u8(b, (uint8_t)r->gate);
	cl_buf_u8(b, (uint8_t)r->select);
	cl_buf_u8(b, (uint8_t)((r->norm ? TRACE_RULE_NORM : 0) |
	    (r->softmax_w ? TRACE_RULE_SOFTMAX_W : 0) |
	    (r->gate_bias != NULL ? TRACE_RULE_GATE_BIAS : 0) |
	    (r->sel_bias != NULL ? TRACE_RULE_SEL_BIAS : 0)));
	cl_buf_u8(b, 0);
	cl_buf_u32(b, r->ngroup);
	cl_buf_u32(b, r->ngroup_used);
	cl_buf_f32(b, r->scale);
	cl_buf_u32(b, r->assumed);
	for (i = 0; r->gate_bias != NULL && i < r->nexperts; i++)
		cl_buf_f32(b, r->gate_bias[i]);
	for (i = 0; r->sel_bias != NULL && i < r->nexperts; i++)
		cl_buf_f32(b, r->sel_bias[i]);
}

static void
put_slab(struct cl_buf *b, const struct cl_slab *s, uint32_t nexperts)
{
	uint32_t i;

	cl_buf_u8(b, (uint8_t)s->kind);
	cl_buf_u8(b, s->places != NULL ? TRACE_SLAB_PLACES :
	    TRACE_SLAB_STRIDED);
	cl_buf_u16(b, 0);
	cl_buf_u32(b, s->type);
	cl_buf_u32(b, s->shard);
	cl_buf_u64(b, s->off);
	cl_buf_u64(b, s->stride);
	cl_buf_u64(b, s->nbytes);
	for (i = 0; s->places != NULL && i < nexperts; i++) {
		cl_buf_u32(b, s->places[i].shard);
		cl_buf_u64(b, s->places[i].off);
	}
}

void
cl_trace_put_layer(struct cl_buf *b, const struct cl_model *m, uint32_t layer)
{
	const struct cl_layer *l = &m->layers[layer];
	uint32_t i;

	cl_buf_u32(b, layer);
	cl_buf_u32(b, l->nexperts);
	cl_buf_u32(b, l->k);
	cl_buf_u8(b, l->extra ? TRACE_LAYER_EXTRA : 0);
	cl_buf_u8(b, (uint8_t)l->nslabs);
	cl_buf_u16(b, 0);
	cl_buf_u64(b, l->expert_bytes);
	cl_buf_u32(b, l->ndense);
	for (i = 0; i < l->nslabs; i++)
		put_slab(b, &l->slabs[i], l->nexperts);
	put_dense(b, l->dense, l->ndense);
	if (l->nexperts > 0)
		put_rule(b, &l->rule);
}

void
cl_trace_put_trailer(struct cl_buf *b, const struct cl_trace_counts *c)
{

	cl_buf_u8(b, (uint8_t)c->end);
	cl_buf_u8(b, 0);
	cl_buf_u16(b, 0);
	cl_buf_u32(b, 0);
	cl_buf_u64(b, c->records);
	cl_buf_u64(b, c->sequences);
	cl_buf_u64(b, c->tokens);
	cl_buf_u64(b, c->passes);
	cl_buf_u64(b, c->cells);
	cl_buf_u64(b, c->choices);
	cl_buf_u64(b, c->mismatches);
	cl_buf_u64(b, c->routing);
}
