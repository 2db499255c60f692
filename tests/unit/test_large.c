/*
 * What 32 bits cannot hold: places in a model of more than 8 GiB, and counters
 * of runs that go on for long.  The model is a sparse file; nothing in it but
 * the experts about each power of two takes room.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "cl/counters.h"
#include "cl/device.h"
#include "cl/model.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/tally.h"
#include "memio.h"
#include "unit.h"

#define GIB		(UINT64_C(1) << 30)
#define EMBD		64
#define FF		4096
#define NEXPERTS	16384		/* 4.25 GiB of each kind */
#define SLAB_BYTES	UINT64_C(278528)	/* 64 x 4096 weights of q8_0 */
#define NKINDS		3

static const uint64_t bounds[] = { 2 * GIB, 4 * GIB, 8 * GIB };

#define NBOUNDS		(sizeof(bounds) / sizeof(bounds[0]))
#define NPLACES		(NBOUNDS + 1)	/* the last experts, too */

/* The head of a layer whose three tensors of experts take 12.75 GiB. */
static void
describe(struct gout *o, struct gout_tensor *kind[NKINDS])
{
	static const char *const names[NKINDS] = { "gate", "up", "down" };
	char name[64];
	size_t i;

	gout_init(o);
	gout_str(o, "general.architecture", "qwen3moe");
	gout_u32(o, "qwen3moe.block_count", 1);
	gout_u32(o, "qwen3moe.expert_count", NEXPERTS);
	gout_u32(o, "qwen3moe.expert_used_count", 2);
	(void)gout_tensor(o, "blk.0.ffn_gate_inp.weight", GOUT_T_F32, 2, EMBD,
	    NEXPERTS, 1);
	for (i = 0; i < NKINDS; i++) {
		(void)snprintf(name, sizeof(name), "blk.0.ffn_%s_exps.weight",
		    names[i]);
		(void)gout_tensor(o, name, GOUT_T_Q8_0, 3, i == 2 ? FF : EMBD,
		    i == 2 ? EMBD : FF, NEXPERTS);
	}
	for (i = 0; i < NKINDS; i++)
		kind[i] = &o->t[1 + i];
}

/* The expert that has the byte at bound, in whichever tensor that lies. */
static uint32_t
expert_at(struct gout_tensor *const kind[NKINDS], uint64_t base,
    uint64_t bound)
{
	uint64_t off;
	size_t i;

	for (i = 0; i < NKINDS; i++) {
		off = base + kind[i]->off;
		if (off <= bound && bound < off + NEXPERTS * SLAB_BYTES)
			return ((uint32_t)((bound - off) / SLAB_BYTES));
	}
	assert(false);
	return (0);
}

/*
 * Writes the file; at: the expert that straddles each of the bounds, and the
 * last but one, which is over 4 GiB into its tensors.
 */
static void
write_large(const char *path, uint32_t at[NPLACES])
{
	struct gout_tensor *kind[NKINDS];
	static uint8_t slab[SLAB_BYTES];
	struct gout o;
	uint64_t base;
	uint32_t e;
	size_t i, b;
	int fd;

	describe(&o, kind);
	base = gout_write(&o, path);
	assert(base > 9 * GIB);
	base -= o.data;
	assert((fd = open(path, O_WRONLY)) != -1);
	for (b = 0; b < NPLACES; b++) {
		at[b] = b == NBOUNDS ? NEXPERTS - 2 :
		    expert_at(kind, base, bounds[b]);
		for (e = at[b] - 1; e <= at[b] + 1; e++)
			for (i = 0; i < NKINDS; i++) {
				pattern_fill(slab, SLAB_BYTES, 0, e,
				    (unsigned)i + 1, 0);
				gout_pwrite(fd, slab, SLAB_BYTES, base +
				    kind[i]->off + e * SLAB_BYTES);
			}
	}
	assert(close(fd) == 0);
	gout_free(&o);
}

/* All slabs of the expert, read through the device, are its own. */
static void
check_expert(const struct cl_model *m, struct cl_device *d, uint32_t e)
{
	uint8_t *buf = cl_device_slot(d, 0);
	const struct cl_layer *l = &m->layers[0];
	struct cl_io_job job;
	struct cl_err err = { 0 };
	uint32_t i;

	memset(&job, 0, sizeof(job));
	memset(buf, 0, NKINDS * SLAB_BYTES);
	cl_device_read(d, &job, 0, e, buf, CL_IO_DEMAND);
	assert(cl_device_wait(d, &job, 0, e, &err) == CL_OK);
	assert(l->nslabs == NKINDS);
	for (i = 0; i < l->nslabs; i++)
		assert(pattern_holds(buf + i * SLAB_BYTES, SLAB_BYTES, 0, e,
		    l->slabs[i].kind, 0));
}

static void
places_above_8_gib(void)
{
	struct cl_device_options o = { .nslots = 1,
	    .stride = NKINDS * SLAB_BYTES };
	char path[] = "/tmp/cl-test-large.XXXXXX";
	uint32_t at[NPLACES], e;
	struct cl_device *d;
	struct cl_model *m;
	size_t b;
	int fd;

	assert((fd = mkstemp(path)) != -1 && close(fd) == 0);
	write_large(path, at);
	m = cl_model_open(path, NULL);
	assert(m != NULL);
	for (o.io.nthreads = 0; o.io.nthreads <= 2;
	    o.io.nthreads += 2) {
		assert((d = cl_device_new(m, &o, NULL)) != NULL);
		for (b = 0; b < NPLACES; b++)
			for (e = at[b] - 1; e <= at[b] + 1; e++)
				check_expert(m, d, e);
		cl_device_free(d);
	}
	assert(unlink(path) == 0);
	cl_model_free(m);
}

#define MANY		((UINT64_C(1) << 32) + 5)

/* Two layers and two phases, each with as much as 32 bits do not hold. */
static void
count_many(struct cl_tally *t)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		cl_tally_phase(t, i)->n[CL_N_TOKENS] += MANY;
		cl_tally_phase(t, i)->n[CL_N_ACCESSES] += 3 * MANY;
		cl_tally_phase(t, i)->n[CL_N_HITS] += 2 * MANY;
		cl_tally_phase(t, i)->n[CL_N_MISSES] += MANY;
		cl_tally_phase(t, i)->n[CL_N_COLD] += MANY;
		cl_tally_layer(t, i)->accesses += 3 * MANY;
		cl_tally_layer(t, i)->hits += 2 * MANY;
		cl_tally_layer(t, i)->misses += MANY;
		cl_tally_layer(t, i)->cold += MANY;
	}
}

static void
write_many(struct cl_buf *buf)
{
	static const uint32_t layers[2] = { 0, 1 };
	struct cl_tally *t = cl_tally_new(layers, 2, false, false, NULL);
	struct cl_stats_end end = { 1, 0, 4 * MANY, 0 };
	struct cl_dst *dst = mem_dst(buf);
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_writer *w;
	unsigned i;

	w = cl_stats_writer_new(dst, &conds, NULL);
	assert(t != NULL && w != NULL);
	assert(cl_tally_write_columns(t, w, NULL) == CL_OK);
	for (i = 0; i < 2; i++) {
		count_many(t);
		assert(cl_tally_write_window(t, 0, w, NULL) == CL_OK);
	}
	assert(cl_tally_write_totals(t, 0, w, NULL) == CL_OK);
	assert(cl_stats_writer_finish(w, &end, NULL) == CL_OK);
	cl_stats_writer_free(w);
	cl_stats_conds_free(&conds);
	cl_tally_free(t);
	assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
}

static void
row_is(const struct cl_stats_rec *rec, const char *name, uint64_t want)
{
	size_t i = cl_stats_column(rec->columns, name);

	assert(i < rec->row->n && rec->row->value[i].u == want);
}

static void
counters_above_32_bits(void)
{
	/* by scope: run, phase, layer, window, in units of MANY */
	static const uint64_t times[] = { 0, 4, 2, 2, 2 };
	const struct cl_stats_rec *rec;
	struct cl_stats_reader *r;
	struct cl_buf buf;
	uint64_t n, nrows = 0, tokens = 0;

	cl_buf_init(&buf);
	write_many(&buf);
	r = cl_stats_reader_new(mem_src(buf.p, buf.n, 4096), NULL);
	assert(r != NULL);
	while (cl_stats_read(r, &rec, NULL) == CL_OK) {
		if (rec->kind == CL_STATS_REC_TRAILER)
			tokens = rec->end->tokens;
		if (rec->kind != CL_STATS_REC_ROW)
			continue;
		n = times[rec->row->scope] * MANY;
		row_is(rec, "accesses", 3 * n);
		row_is(rec, "hits", 2 * n);
		row_is(rec, "misses", n);
		nrows++;
	}
	assert(nrows == 7 && tokens == 4 * MANY);
	cl_stats_reader_free(r);
	cl_buf_free(&buf);
}

static const struct unit units[] = {
	{ "experts about 2, 4 and 8 GiB are read from where they lie",
	    places_above_8_gib },
	{ "counters above 2^32 are whole in every row",
	    counters_above_32_bits },
};

UNIT_MAIN(units)
