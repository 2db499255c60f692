#ifndef REPLAY_MAKE_H
#define REPLAY_MAKE_H

/*
 * For tests of the replay: a model whose slabs are patterned, blocks of tokens
 * made by hand or at random, a run of them, and its counters read back.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../gen/pattern.h"
#include "cl/counters.h"
#include "cl/decision.h"
#include "cl/device.h"
#include "cl/model.h"
#include "cl/replay.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/trace.h"
#include "fed.h"
#include "memio.h"

#define NLAYERS		3
#define NCOLUMNS	2		/* layers 0 and 2 have experts */
#define CELL_MAX	8
#define SLAB_BYTES	5000		/* over a page, and no multiple of it */

static const uint32_t moe_layer[NCOLUMNS] = { 0, 2 };
static const uint32_t moe_experts[NCOLUMNS] = { 8, 4 };

/* A file of patterned slabs, and the model that says where they are. */
static struct cl_model *
make_model(char *path)
{
	struct cl_model *m = cl_model_new(NLAYERS, NULL);
	uint8_t slab[SLAB_BYTES];
	struct cl_layer *l;
	uint64_t off = 0;
	uint32_t i, e, kind;
	int fd = mkstemp(path);

	assert(m != NULL && fd != -1);
	for (i = 0; i < NCOLUMNS; i++) {
		l = &m->layers[moe_layer[i]];
		l->nexperts = moe_experts[i];
		l->k = 2;
		cl_rule_init(&l->rule, l->nexperts, l->k);
		l->nslabs = 2 - i;	/* so that sizes differ */
		l->slabs = calloc(l->nslabs, sizeof(*l->slabs));
		assert(l->slabs != NULL);
		for (kind = 1; kind <= l->nslabs; kind++) {
			l->slabs[kind - 1] = (struct cl_slab){
			    .kind = kind, .off = off, .stride = SLAB_BYTES,
			    .nbytes = SLAB_BYTES };
			l->expert_bytes += SLAB_BYTES;
			for (e = 0; e < l->nexperts; e++) {
				pattern_fill(slab, SLAB_BYTES, moe_layer[i], e,
				    kind, 0);
				assert(write(fd, slab, SLAB_BYTES) ==
				    SLAB_BYTES);
				off += SLAB_BYTES;
			}
		}
	}
	m->nshards = 1;
	m->shards = calloc(1, sizeof(*m->shards));
	assert(m->shards != NULL && close(fd) == 0);
	m->shards[0].path = strdup(path);
	m->shards[0].nbytes = off;
	assert(m->shards[0].path != NULL);
	return (m);
}

static struct cl_model *
bare_model(void)
{
	char path[] = "/tmp/cl-test-replay.XXXXXX";
	struct cl_model *m = make_model(path);

	assert(unlink(path) == 0);
	return (m);
}

/* A block under construction: tokens, and their cells by column. */
#define BLOCK_MAX	64

struct block {
	struct cl_trace_block b;
	struct cl_trace_token token[BLOCK_MAX];
	struct cl_trace_column column[NCOLUMNS];
	uint32_t	first[NCOLUMNS][BLOCK_MAX + 1];
	uint16_t	ids[NCOLUMNS][BLOCK_MAX * CELL_MAX];
};

static void
begin_block(struct block *x)
{
	uint32_t i;

	memset(x, 0, sizeof(*x));
	x->b.tokens = x->token;
	x->b.ncolumns = NCOLUMNS;
	x->b.columns = x->column;
	for (i = 0; i < NCOLUMNS; i++) {
		x->column[i].layer = moe_layer[i];
		x->column[i].nexperts = moe_experts[i];
		x->column[i].k = 2;
		x->column[i].first = x->first[i];
		x->column[i].ids = x->ids[i];
	}
}

/* A token whose cells are strings of digits: "01" is experts 0 and 1. */
static void
add_token(struct block *x, bool begins, bool decode, const char *cell0,
    const char *cell1)
{
	const char *cell[NCOLUMNS] = { cell0, cell1 };
	uint32_t t = x->b.ntokens++, i, at;

	x->token[t].begins = begins;
	x->token[t].decode = decode;
	x->token[t].pos = t;
	for (i = 0; i < NCOLUMNS; i++) {
		at = x->first[i][t];
		for (; *cell[i] != '\0'; cell[i]++)
			x->ids[i][at++] = (uint16_t)(*cell[i] - '0');
		x->first[i][t + 1] = at;
	}
}

/* The counters of a finished run, read back from its stat stream. */
struct result {
	uint64_t	total[CL_N_COUNTERS];
	uint64_t	phase[2][CL_N_COUNTERS];
	uint64_t	layer_bytes[NLAYERS];
	uint64_t	window[BLOCK_MAX];	/* hits of each */
	uint32_t	nwindows;
	bool		measured;
	uint64_t	input_wait_ns;
	/* Of its log of events: members by class, and what is added to it. */
	uint64_t	log_events;
	uint64_t	log_class[4];
	uint64_t	log_not_kept;
	uint64_t	log_victims;
	uint64_t	log_phase[2];	/* members */
	uint64_t	log_digest;
};

#define WAIT_NS	5			/* for the trace, said at its end */

static void
take_row(struct result *r, const struct cl_stats_rec *rec)
{
	const struct cl_stats_row *row = rec->row;
	uint64_t *to;
	size_t c;
	int i;

	if (row->kind == CL_STATS_MEASURED) {
		r->measured = true;
		c = cl_stats_column(rec->columns, "input_wait_ns");
		if (row->scope == CL_STATS_RUN)
			r->input_wait_ns = row->value[c].u;
		return;
	}
	if (row->scope == CL_STATS_LAYER) {
		c = cl_stats_column(rec->columns, "demand_bytes");
		r->layer_bytes[row->index] = row->value[c].u;
		return;
	}
	if (row->scope == CL_STATS_WINDOW) {
		c = cl_stats_column(rec->columns, "hits");
		r->window[r->nwindows++] = row->value[c].u;
		return;
	}
	to = row->scope == CL_STATS_RUN ? r->total : r->phase[row->index];
	for (i = 0; i < CL_N_COUNTERS; i++) {
		c = cl_stats_column(rec->columns,
		    cl_counters_name((enum cl_counter)i));
		assert(c < row->n);
		to[i] = row->value[c].u;
	}
}

static void
take_decision(struct result *r, const struct cl_decision *d)
{
	uint32_t i;

	r->log_events++;
	r->log_victims += d->nvictims;
	r->log_phase[!d->prefill] += d->n;
	r->log_digest = cl_decision_digest(r->log_digest, d);
	for (i = 0; i < d->n; i++) {
		r->log_class[d->class[i] & CL_DECISION_CLASS]++;
		r->log_not_kept += (d->class[i] & CL_DECISION_NOT_KEPT) != 0;
	}
}

static void
read_back(const struct cl_buf *bytes, struct result *r)
{
	struct cl_stats_reader *in;
	const struct cl_stats_rec *rec;
	int status;

	memset(r, 0, sizeof(*r));
	in = cl_stats_reader_new(mem_src(bytes->p, bytes->n, 64), NULL);
	assert(in != NULL);
	cl_stats_reader_want(in, true);
	while ((status = cl_stats_read(in, &rec, NULL)) == CL_OK)
		if (rec->kind == CL_STATS_REC_ROW)
			take_row(r, rec);
		else if (rec->kind == CL_STATS_REC_DECISION)
			take_decision(r, rec->decision);
	assert(status == CL_END);
	cl_stats_reader_free(in);
}

static struct cl_replay_options
options(uint32_t nslots)
{
	struct cl_replay_options o = { .nslots = nslots };

	assert(cl_cache_policy_parse("lru", &o.policy, NULL) == CL_OK);
	return (o);
}

static enum cl_prefill prefill;		/* of the replays that follow */

/* Replay nblocks blocks; the run is for another to go on with. */
static struct fed
replay_kept(const struct cl_model *m, const struct cl_replay_options *o,
    struct block *blocks, uint32_t nblocks, struct result *r)
{
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_end end = { .end = CL_END_COMPLETE };
	struct cl_stats_writer *w;
	struct fed run;
	struct cl_err err = { 0 };
	struct cl_buf bytes;
	struct cl_dst *dst;
	uint32_t i;

	cl_buf_init(&bytes);
	dst = mem_dst(&bytes);
	assert((w = cl_stats_writer_new(dst, &conds, &err)) != NULL);
	run = fed_new(m, o, prefill, w, &err);
	assert(run.replay != NULL);
	for (i = 0; i < nblocks && !cl_replay_done(run.replay); i++)
		assert(cl_events_block(run.events, &blocks[i].b, &err) ==
		    CL_OK);
	assert(fed_finish(&run, &end, WAIT_NS, &err) == CL_OK);
	cl_stats_writer_free(w);
	assert(cl_dst_finish(dst, &err) == CL_OK);
	cl_dst_free(dst);
	read_back(&bytes, r);
	cl_buf_free(&bytes);
	return (run);
}

static void
replay(const struct cl_model *m, const struct cl_replay_options *o,
    struct block *blocks, uint32_t nblocks, struct result *r)
{
	struct fed run = replay_kept(m, o, blocks, nblocks, r);

	fed_free(&run);
}

/* Every expert handed on holds its own pattern. */
struct served {
	uint64_t	n;
};

static inline int
check_served(void *arg, uint32_t layer, uint32_t expert,
    const struct cl_device_slab *slab, uint32_t nslabs, struct cl_err *err)
{
	struct served *s = arg;
	uint32_t i;

	(void)err;
	assert(nslabs == (layer == 0 ? 2 : 1));
	for (i = 0; i < nslabs; i++)
		assert(slab[i].nbytes == SLAB_BYTES && pattern_holds(slab[i].p,
		    SLAB_BYTES, layer, expert, i + 1, 0));
	s->n++;
	return (CL_OK);
}

/* Random passes of decode and prefill tokens. */
static void
random_blocks(struct block *x, uint32_t n, uint64_t seed)
{
	static const char *const cells[] = { "0123", "456", "7", "17", "05",
	    "2467", "31", "6", "01234567" };
	static const char *const small[] = { "01", "2", "3", "0123", "" };
	uint32_t i, t;

	for (i = 0; i < n; i++) {
		begin_block(&x[i]);
		for (t = 0; t < BLOCK_MAX; t++)
			add_token(&x[i], (i == 0 && t == 0) ||
			    cl_rng_below(&seed, 3) != 0,
			    cl_rng_below(&seed, 4) != 0,
			    cells[cl_rng_below(&seed, 9)],
			    small[cl_rng_below(&seed, 5)]);
	}
}

#endif /* REPLAY_MAKE_H */
