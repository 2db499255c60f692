#ifndef TRACE_MAKE_H
#define TRACE_MAKE_H

/*
 * Traces for tests: a small model of uneven layers, and random tokens for it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/src.h"
#include "cl/trace_read.h"
#include "cl/trace_write.h"
#include "cl/zio.h"
#include "memio.h"
#include "unit.h"

/* Decoded bytes at the end of *out. */
static inline void
unzip(const struct cl_buf *in, struct cl_buf *out)
{
	struct cl_src *src = cl_zio_reader(mem_src(in->p, in->n, 99), NULL);
	const uint8_t *p;
	size_t n;

	assert(src != NULL);
	for (;;) {
		assert(cl_src_peek(src, 1, &p, &n, NULL) == CL_OK);
		if (n == 0)
			break;
		cl_buf_bytes(out, p, n);
		cl_src_consume(src, n);
	}
	cl_src_close(src);
	assert(!out->bad);
}

/* n bytes as frames of `frame` bytes each, at the end of *out. */
static inline void
zip(const uint8_t *p, size_t n, size_t frame, struct cl_buf *out)
{
	struct cl_dst *dst = mem_dst(out), *zio;
	size_t take;

	do {
		take = n < frame ? n : frame;
		zio = cl_zio_writer(dst, 1, NULL);
		assert(zio != NULL);
		cl_dst_write(zio, p, take);
		assert(cl_dst_finish(zio, NULL) == CL_OK);
		cl_dst_free(zio);
		p += take;
		n -= take;
	} while (n > 0);
	cl_dst_free(dst);
	assert(!out->bad);
}

static inline char *
copy_string(const char *s)
{
	char *p = strdup(s);

	assert(p != NULL);
	return (p);
}

static inline void
make_moe(struct cl_layer *l, uint32_t nexperts, uint32_t k)
{

	l->nexperts = nexperts;
	l->k = k;
	cl_rule_init(&l->rule, nexperts, k);
}

static inline void
make_slab(struct cl_layer *l, enum cl_slab_kind kind, uint64_t off,
    uint64_t nbytes)
{

	l->slabs = realloc(l->slabs, (l->nslabs + 1) * sizeof(*l->slabs));
	assert(l->slabs != NULL);
	l->slabs[l->nslabs++] = (struct cl_slab){ .kind = kind, .type = 8,
	    .off = off, .stride = nbytes, .nbytes = nbytes };
	l->expert_bytes += nbytes;
}

/* The last slab of a layer becomes one of a tensor for each expert. */
static inline void
make_places(struct cl_layer *l)
{
	struct cl_slab *s = &l->slabs[l->nslabs - 1];
	uint32_t i;

	s->places = calloc(l->nexperts, sizeof(*s->places));
	assert(s->places != NULL);
	for (i = 0; i < l->nexperts; i++)
		s->places[i].off = s->off - i * 1000;
	s->off = s->stride = 0;
}

/*
 * Layer 0 is dense, 1 has 8 experts and slabs, 2 has one expert, 3 has 300
 * (ids of two bytes) in groups with biases, 4 has 5 in a tensor each, 5 is an
 * extra one.
 */
static inline struct cl_model *
make_model(void)
{
	struct cl_model *m = cl_model_new(6, NULL);
	struct cl_rule *r;
	uint32_t i;

	assert(m != NULL);
	free(m->name);
	free(m->arch);
	m->name = copy_string("a\ttest \\ of \n\x01\xff" "\xc3\xa4");
	m->arch = copy_string("testmoe");
	m->fingerprint = UINT64_C(0xfedcba9876543210);
	m->shards = calloc(1, sizeof(*m->shards));
	assert(m->shards != NULL);
	m->nshards = 1;
	m->shards[0] = (struct cl_shard){ copy_string("dir/a b.gguf"), 100000,
	    UINT64_C(0x0123456789abcdef) };
	m->dense = calloc(1, sizeof(*m->dense));
	assert(m->dense != NULL);
	m->ndense = 1;
	m->dense[0] = (struct cl_dense){ 0, 64, 1000 };
	m->layers[0].dense = calloc(1, sizeof(*m->layers[0].dense));
	assert(m->layers[0].dense != NULL);
	m->layers[0].ndense = 1;
	m->layers[0].dense[0] = (struct cl_dense){ 0, 2000, 10 };
	make_moe(&m->layers[1], 8, 2);
	make_slab(&m->layers[1], CL_SLAB_GATE, 4096, 96);
	make_slab(&m->layers[1], CL_SLAB_UP, 8192, 96);
	make_slab(&m->layers[1], CL_SLAB_DOWN, 12288, 100);
	make_moe(&m->layers[2], 1, 1);
	make_moe(&m->layers[3], 300, 6);
	r = &m->layers[3].rule;
	r->gate = CL_GATE_SIGMOID;
	r->ngroup = 10;
	r->ngroup_used = 4;
	r->scale = 2.5f;
	r->assumed = CL_RULE_SCALE;
	r->sel_bias = calloc(300, sizeof(float));
	r->gate_bias = calloc(300, sizeof(float));
	assert(r->sel_bias != NULL && r->gate_bias != NULL);
	for (i = 0; i < 300; i++) {
		r->sel_bias[i] = (float)i / 1000;
		r->gate_bias[i] = -0.1f * (float)(i % 7);
	}
	make_moe(&m->layers[4], 5, 2);
	make_slab(&m->layers[4], CL_SLAB_UP, 30000, 50);
	make_places(&m->layers[4]);
	make_moe(&m->layers[5], 8, 2);
	m->layers[5].extra = true;
	return (m);
}

static inline void
same_slabs(const struct cl_layer *a, const struct cl_layer *b)
{
	const struct cl_slab *x = a->slabs, *y = b->slabs;
	uint32_t i, e;

	assert(a->nexperts == b->nexperts && a->nslabs == b->nslabs);
	for (i = 0; i < a->nslabs; i++, x++, y++) {
		assert(x->kind == y->kind && x->type == y->type &&
		    x->shard == y->shard && x->off == y->off &&
		    x->stride == y->stride && x->nbytes == y->nbytes);
		assert((x->places == NULL) == (y->places == NULL));
		for (e = 0; x->places != NULL && e < a->nexperts; e++)
			assert(x->places[e].shard == y->places[e].shard &&
			    x->places[e].off == y->places[e].off);
	}
}

/* What a random trace is to hold. */
struct make {
	uint64_t	 seed;
	enum cl_trace_scores scores;
	bool		 tokens;
	bool		 weights;
	bool		 forecast;
	uint32_t	 block_tokens;
	uint32_t	 ntokens;
	bool		 strange;	/* NaN and infinite scores, too */
};

static inline struct cl_trace_head *
make_head(const struct make *m)
{
	struct cl_trace_head *h = cl_trace_head_new(make_model(), NULL);

	assert(h != NULL);
	h->origin = CL_ORIGIN_RECORDED;
	h->scores = m->scores;
	h->tokens = m->tokens;
	h->weights = m->weights;
	h->forecast = m->forecast;
	h->block_tokens = m->block_tokens;
	assert(cl_trace_head_note(h, "engine", "unit test 1", NULL) == CL_OK);
	assert(cl_trace_head_note(h, "od\td", "a\nb\\c=", NULL) == CL_OK);
	return (h);
}

static inline float
make_score(uint64_t *rng, bool strange)
{
	static const float odd[] = { 0.0f, -0.0f, 1e-40f, 70000.0f, -3e38f };
	uint64_t pick = cl_rng_below(rng, 40);

	if (strange && pick < 5)
		return (odd[pick]);
	if (strange && pick == 5)
		return ((float)strtod("nan", NULL));
	if (strange && pick < 8)
		return ((float)strtod(pick == 6 ? "inf" : "-inf", NULL));
	return ((float)(cl_rng_unit(rng) * 16 - 8));
}

/* n different ids below nexperts, in any order. */
static inline void
make_ids(uint64_t *rng, uint16_t *ids, uint32_t n, uint32_t nexperts)
{
	uint32_t i, j;

	for (i = 0; i < n; i++)
		do {
			ids[i] = (uint16_t)cl_rng_below(rng, nexperts);
			for (j = 0; j < i && ids[j] != ids[i]; j++)
				;
		} while (j < i);
}

static inline void
make_cell(struct cl_trace_writer *w, const struct make *m, uint64_t *rng,
    uint32_t column, const struct cl_layer *l)
{
	float scores[300], forecast[300], weights[300];
	struct cl_trace_cell cell = { 0 };
	uint16_t ids[300];
	uint32_t i;

	for (i = 0; i < l->nexperts; i++) {
		scores[i] = make_score(rng, m->strange);
		forecast[i] = make_score(rng, m->strange);
	}
	if (m->scores != CL_SCORES_NONE || cl_rng_below(rng, 2) == 0)
		cell.scores = scores;
	if (cl_rng_below(rng, 3) != 0)
		cell.forecast = forecast;
	if (cell.scores == NULL || cl_rng_below(rng, 3) == 0) {
		cell.n = 1 + (uint32_t)cl_rng_below(rng, l->nexperts < 9 ?
		    l->nexperts : 9);
		make_ids(rng, ids, cell.n, l->nexperts);
		cell.ids = ids;
		for (i = 0; i < cell.n; i++)
			weights[i] = make_score(rng, m->strange);
		cell.weights = weights;
	}
	assert(cl_trace_write_cell(w, column, &cell, NULL) == CL_OK);
}

/* A random trace of its kind at the end of *out; its counts at *counts. */
static inline void
make_trace(const struct make *m, struct cl_buf *out,
    struct cl_trace_counts *counts)
{
	struct cl_trace_head *h = make_head(m);
	struct cl_dst *dst = mem_dst(out);
	struct cl_trace_writer *w = cl_trace_writer_new(dst, h, NULL);
	struct cl_trace_token t = { 0 };
	uint64_t rng = m->seed;
	uint32_t i, j, seq, nseq = 0, *layers, nlayers;

	assert(w != NULL);
	assert(cl_trace_layers(h->model, &layers, &nlayers, NULL) == CL_OK);
	for (i = 0; i < m->ntokens; i++) {
		if (nseq == 0 || cl_rng_below(&rng, 7) == 0) {
			assert(cl_trace_write_seq(w, nseq == 1 ? "" :
			    "prompt\t1", &seq, NULL) == CL_OK);
			assert(seq == nseq++);
		}
		t.seq = (uint32_t)cl_rng_below(&rng, nseq);
		t.pos = (uint32_t)cl_rng_below(&rng, 3);
		t.token = (int32_t)cl_rng_below(&rng, 1000) - 1;
		t.decode = cl_rng_below(&rng, 2) == 0;
		t.padding = cl_rng_below(&rng, 8) == 0;
		t.begins = cl_rng_below(&rng, 3) == 0;
		assert(cl_trace_write_token(w, &t, NULL) == CL_OK);
		for (j = nlayers; j-- > 0;)	/* any order will do */
			if (cl_rng_below(&rng, 5) != 0)
				make_cell(w, m, &rng, j,
				    &h->model->layers[layers[j]]);
	}
	assert(cl_trace_writer_finish(w, CL_END_COMPLETE, NULL) == CL_OK);
	if (counts != NULL)
		*counts = *cl_trace_writer_counts(w);
	free(layers);
	cl_trace_writer_free(w);
	assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
	cl_trace_head_free(h);
	assert(!out->bad);
}

/* Read all of a stream; how it ends, with the tokens and traces on the way. */
static inline int
read_all(const void *p, size_t n, size_t step, unsigned wants,
    uint64_t *tokens, uint64_t *traces, struct cl_err *err)
{
	struct cl_trace_reader *r;
	const struct cl_trace_rec *rec;
	int status;

	*tokens = *traces = 0;
	r = cl_trace_reader_new(mem_src(p, n, step), wants, err);
	assert(r != NULL);
	while ((status = cl_trace_read(r, &rec, err)) == CL_OK) {
		*tokens += rec->kind == CL_TRACE_BLOCK ?
		    rec->block->ntokens : 0;
		*traces += rec->kind == CL_TRACE_TRAILER;
	}
	assert(cl_trace_read(r, &rec, NULL) == status);
	cl_trace_reader_free(r);
	return (status);
}

#endif /* TRACE_MAKE_H */
