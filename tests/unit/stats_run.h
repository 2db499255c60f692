#ifndef STATS_RUN_H
#define STATS_RUN_H

/*
 * A run for tests, with everything that a stat stream can hold.
 */

#include <string.h>

#include "cl/buf.h"
#include "cl/decision.h"
#include "cl/err.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/tally.h"
#include "memio.h"
#include "stats_say.h"
#include "unit.h"

/* A run with every type of condition, of which one is set twice. */
static inline void
fill_conds(struct cl_stats_conds *c)
{
	struct cl_err err = { 0 };

	memset(c, 0, sizeof(*c));
	assert(cl_stats_set_str(c, "contract", "serial", &err) == CL_OK);
	assert(cl_stats_set_str(c, "contract", "event", &err) == CL_OK);
	assert(cl_stats_set_none(c, "cache_bytes", &err) == CL_OK);
	assert(cl_stats_set_u64(c, "cache_experts", UINT64_MAX, &err) ==
	    CL_OK);
	assert(cl_stats_set_f64(c, "share", 0.1, &err) == CL_OK);
	assert(cl_stats_set_hash(c, "model_fingerprint", 0xabc, &err) ==
	    CL_OK);
	assert(cl_stats_set_bool(c, "live", true, &err) == CL_OK);
	assert(cl_stats_set_str(c, "model", "", &err) == CL_OK);
	assert(c->n == 7 && cl_stats_find(c, "nothing") == NULL);
	assert(strcmp(cl_stats_find(c, "contract")->s, "event") == 0);
}

static const uint32_t layers[] = { 1, 4 };
static bool long_tables;		/* too, in what write_run writes */
static unsigned long_log;		/* times 4 events more */

/* One access in layer i of a phase: h a hit, c cold, C capacity, b bypass. */
static inline void
count(struct cl_tally *t, unsigned phase, uint32_t i, char what, uint64_t n)
{
	struct cl_tally_phase *p = cl_tally_phase(t, phase);
	struct cl_tally_layer *l = cl_tally_layer(t, i);

	p->n[CL_N_ACCESSES] += n;
	l->accesses += n;
	if (what == 'h') {
		p->n[CL_N_HITS] += n;
		l->hits += n;
		return;
	}
	p->n[CL_N_MISSES] += n;
	l->misses += n;
	p->n[CL_N_DEMAND_BYTES] += 100 * n;
	l->demand_bytes += 100 * n;
	p->n[what == 'c' ? CL_N_COLD : CL_N_CAPACITY] += n;
	*(what == 'c' ? &l->cold : &l->capacity) += n;
	if (what == 'b') {
		p->n[CL_N_BYPASS] += n;
		l->bypass += n;
	}
}

static const struct cl_stats_column odd_columns[] = {
	{ CL_STATS_STR, "who" }, { CL_STATS_U64, "n" },
	{ CL_STATS_F64, "share" }, { CL_STATS_HASH, "print" }
};

/* Tables of every type of cell, of nothing, and of several parts. */
static inline void
write_tables(struct cl_stats_writer *w)
{
	struct cl_err err = { 0 };
	struct cl_stats_table t = { .name = "odd", .kind = CL_STATS_LOGICAL,
	    .nkeys = 1, .ncolumns = 4, .column = odd_columns };
	struct cl_stats_value row[4] = { { .there = true, .s = "x" },
	    { .there = true }, { .there = false }, { .there = true } };
	unsigned i;

	for (i = 0; i < 9; i++)
		cl_stats_table_none(&t);
	cl_stats_table_u64(&t, UINT64_MAX);
	cl_stats_table_f64(&t, 0.1);
	cl_stats_table_u64(&t, 0xfeed);
	cl_stats_table_str(&t, "");
	cl_stats_table_none(&t);
	cl_stats_table_none(&t);
	cl_stats_table_none(&t);
	assert(t.ncells == 16);
	assert(cl_stats_write_table(w, &t, &err) == CL_OK);
	cl_stats_table_clear(&t);
	t.name = "empty";
	t.kind = CL_STATS_MEASURED;
	assert(cl_stats_write_table(w, &t, &err) == CL_OK);
	if (!long_tables)
		return;
	t.name = "long";
	assert(cl_stats_write_table_head(w, &t, &err) == CL_OK);
	for (i = 0; i < 200000; i++) {
		row[1].u = i;
		assert(cl_stats_write_table_row(w, row, &err) == CL_OK);
	}
	assert(cl_stats_write_table_end(w, &err) == CL_OK);
}

/* Events of 1, 2 and 300 members, in two passes of several parts. */
static inline void
write_log(struct cl_stats_writer *w, uint64_t pass)
{
	static const struct cl_decision_victim victim[] = { { 4, 300 },
	    { CL_DECISION_LAYER_MAX, UINT32_MAX } };
	static const struct cl_decision_change change[] = { { 0, 2, 0 },
	    { 1, 1, 1 }, { UINT32_MAX, 3, 2 } };
	static const uint16_t choice[] = { 5, 300, 300, 5, 7, 8, 1, 2, 3, 1,
	    UINT16_MAX, 3 };
	struct cl_err err = { 0 };
	uint32_t expert[300], i;
	uint8_t class[300];
	struct cl_decision d = { .pass = pass, .token = 3 * pass, .layer = 1,
	    .expert = expert, .class = class, .victim = victim };

	for (i = 0; i < 300; i++) {
		expert[i] = i == 7 ? UINT32_MAX : 200 - i;
		class[i] = i % 8;
	}
	d.n = 1;
	d.prefill = pass == 0;
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
	d.n = 300;
	d.layer = CL_DECISION_LAYER_MAX;
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
	class[2] |= CL_DECISION_THREW;
	class[11] |= CL_DECISION_THREW;
	d.nvictims = 2;
	d.token += 2;
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
	d.nvictims = 0;
	d.n = 2;
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
	d.change = change;
	d.choice = choice;
	d.nchanges = 3;
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
	d.nchanges = 1;
	d.n = 0;			/* nobody is left */
	assert(cl_stats_write_decision(w, &d, &err) == CL_OK);
}

/* A run of two windows; its numbers are looked for one by one below. */
static inline void
write_run(struct cl_buf *buf, bool bytes, bool measured)
{
	struct cl_err err = { 0 };
	struct cl_dst *dst = mem_dst(buf);
	struct cl_stats_conds conds;
	struct cl_stats_end end = { 1, 0, 30, 0x1234 };
	struct cl_stats_writer *w;
	struct cl_tally *t = cl_tally_new(layers, 2, bytes, measured, &err);
	unsigned i;

	fill_conds(&conds);
	w = cl_stats_writer_new(dst, &conds, &err);
	assert(t != NULL && w != NULL);
	assert(cl_tally_write_columns(t, w, &err) == CL_OK);
	assert(!measured ||
	    cl_stats_write_machine(w, &conds, &err) == CL_OK);
	count(t, 1, 0, 'h', 1000);		/* the warm-up, to be lost */
	cl_tally_measures(t)[CL_M_WALL_NS] = 12;
	cl_tally_spend(t, 1);
	cl_tally_phase(t, 1)->f[CL_F_MAX_DELTA] = 9;
	cl_tally_reset(t);
	cl_tally_phase(t, 0)->n[CL_N_TOKENS] = 20;
	count(t, 0, 0, 'c', 7);
	count(t, 0, 1, 'h', 3);
	cl_tally_phase(t, 0)->f[CL_F_DROPPED_MASS] = 0.5;
	cl_tally_phase(t, 0)->f[CL_F_MAX_DELTA] = 4;
	cl_tally_measures(t)[CL_M_WALL_NS] = 50;
	cl_tally_measures(t)[CL_M_RSS_PEAK] = 4096;
	cl_tally_spend(t, 0);
	write_log(w, 0);
	for (i = 0; i < long_log; i++)
		write_log(w, 1 + i);
	assert(cl_tally_write_window(t, 0xd1, w, &err) == CL_OK);
	cl_tally_phase(t, 1)->n[CL_N_TOKENS] = 10;
	count(t, 1, 1, 'h', 30);
	count(t, 1, 0, 'C', 5);
	count(t, 1, 1, 'b', 5);
	cl_tally_phase(t, 1)->f[CL_F_DROPPED_MASS] = 0.25;
	cl_tally_phase(t, 1)->f[CL_F_MAX_DELTA] = 3;
	cl_tally_measures(t)[CL_M_WALL_NS] = 80;
	cl_tally_measures(t)[CL_M_RSS_PEAK] = 8192;
	cl_tally_layer(t, 1)->io_wait_ns = 77;
	cl_tally_spend(t, 1);
	assert(cl_tally_write_window(t, 0xd2, w, &err) == CL_OK);
	write_log(w, UINT64_MAX / 3 - 1);
	write_tables(w);
	assert(cl_tally_write_totals(t, 0xd2, w, &err) == CL_OK);
	assert(cl_stats_writer_finish(w, &end, &err) == CL_OK);
	cl_stats_writer_free(w);
	cl_stats_conds_free(&conds);
	cl_tally_free(t);
	assert(cl_dst_finish(dst, &err) == CL_OK);
	cl_dst_free(dst);
}

#endif /* STATS_RUN_H */
