/*
 * stats/: what is written is what is read, and a reader from scratch, which
 * knows cl-stats(5) and nothing of lib/stats, agrees.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/counters.h"
#include "cl/decision.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/tally.h"
#include "memio.h"
#include "stats_say.h"
#include "unit.h"

/*
 * The reader from scratch.  It is given whole, sound streams only.
 */
static uint64_t
num(const uint8_t **p, int n)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)(*p)[i] << (8 * i);
	*p += n;
	return (v);
}

static double
real(const uint8_t **p)
{
	uint64_t u = num(p, 8);
	double v;

	memcpy(&v, &u, sizeof(v));
	return (v);
}

static void
say_str(const uint8_t **p, struct text *t, const char *before)
{
	int n = (int)num(p, 2);

	say(t, "%s%.*s", before, n, (const char *)*p);
	*p += n;
}

static void
scratch_conds(const uint8_t *p, struct text *t)
{
	int i, n = (int)num(&p, 2), type;

	for (i = 0; i < n; i++) {
		type = (int)num(&p, 1);
		say_str(&p, t, " ");
		say(t, "=%d", type);
		if (type == 3)
			say_str(&p, t, ":");
		else if (type == 2)
			say(t, ":%a", real(&p));
		else if (type != 0)
			say(t, ":%llu", (unsigned long long)num(&p,
			    type == 5 ? 1 : 8));
	}
}

static void
scratch_columns(const uint8_t *p, struct text *t, char types[3][257])
{
	int i, n, kind = (int)num(&p, 2);	/* and the zero behind it */

	n = (int)num(&p, 2);
	say(t, "%d", kind);
	memset(types[kind], 0, sizeof(types[kind]));
	for (i = 0; i < n; i++) {
		types[kind][i] = (char)num(&p, 1);
		say_str(&p, t, " ");
		say(t, "=%d", types[kind][i]);
	}
}

static void
scratch_row(const uint8_t *p, struct text *t, char types[3][257])
{
	int i, n, kind = p[0];
	const uint8_t *bits = p + 16, *v;

	n = (int)strlen(types[kind]);
	v = bits + (n + 7) / 8;
	say(t, "%d %d", p[0], p[1]);
	p += 4;
	say(t, " %u", (unsigned)num(&p, 4));
	say(t, " %llu", (unsigned long long)num(&p, 8));
	for (i = 0; i < n; i++) {
		if ((bits[i / 8] & 1 << i % 8) == 0)
			say(t, " -");
		else if (types[kind][i] == 2)
			say(t, " %a", real(&v));
		else
			say(t, " %llu", (unsigned long long)num(&v, 8));
	}
}

/* A part of a table, its head only where the table begins. */
static void
scratch_table(const uint8_t *p, struct text *t)
{
	int type[256], i, kind = (int)num(&p, 2) & 0xff; /* and "more" */
	int n = (int)num(&p, 2), nkeys = (int)num(&p, 4);
	uint64_t before = num(&p, 8);
	unsigned rows = (unsigned)num(&p, 4);
	const uint8_t *bits;
	struct text none = { 0 }, *head = before == 0 ? t : &none;

	if (before == 0)
		say(t, "5:");
	say_str(&p, head, "");
	say(head, " %d %d", kind, nkeys);
	for (i = 0; i < n; i++) {
		type[i] = (int)num(&p, 1);
		say_str(&p, head, " ");
		say(head, "=%d", type[i]);
	}
	say(head, "\n");
	free(none.s);
	for (; rows > 0; rows--) {
		say(t, "6:");
		bits = p;
		p += (n + 7) / 8;
		for (i = 0; i < n; i++) {
			if ((bits[i / 8] & 1 << i % 8) == 0)
				say(t, " -");
			else if (type[i] == 3) {
				say_str(&p, t, " \"");
				say(t, "\"");
			} else if (type[i] == 2)
				say(t, " %a", real(&p));
			else
				say(t, " %llu", (unsigned long long)num(&p,
				    8));
		}
		say(t, "\n");
	}
}

/* 7 bits a byte. */
static unsigned long long
small(const uint8_t **p)
{
	unsigned long long v = 0;
	int i = 0;

	do
		v |= (unsigned long long)(**p & 127) << 7 * i++;
	while (*(*p)++ >= 128);
	return (v);
}

/* A part of the log; at: pass and token of the event before. */
/* Tokens by what lies between them; experts as often again. */
static void
scratch_changes(const uint8_t **p, struct text *t)
{
	unsigned n, used, i, left = (unsigned)small(p);
	unsigned long long token = 0;

	for (; left > 0; left--) {
		token += small(p);
		say(t, " token %llu", token++);
		n = (unsigned)small(p);
		used = (unsigned)small(p);
		for (i = 0; i < 2 * n; i++)
			say(t, "%s%llu", i == n ? " uses " : i == n + used ?
			    " leaves out " : " ", small(p));
	}
}

static void
scratch_log(const uint8_t *p, struct text *t, unsigned long long at[2])
{
	static const char *const names[] = { "hit", "staged", "cold",
	    "capacity" };
	unsigned expert[300], n, i, flags, class, events;
	const uint8_t *classes;

	p += 8;
	for (events = (unsigned)num(&p, 4); events > 0; events--) {
		flags = *p++;
		if ((flags & 1) != 0) {
			at[0] += small(&p);
			at[1] += small(&p);
		}
		say(t, "7:%llu %llu %d %llu:", at[0], at[1],
		    (flags & 2) != 0, small(&p));
		n = (unsigned)small(&p);
		for (i = 0; i < n; i++)
			expert[i] = (unsigned)small(&p);
		classes = p;
		p += (n + 1) / 2;
		for (i = 0; i < n; i++) {
			class = i % 2 == 0 ? classes[i / 2] & 15 :
			    classes[i / 2] >> 4;
			say(t, " %u %s%s", expert[i], names[class & 3],
			    (class & 4) != 0 ? "!" : "");
			if ((class & 8) == 0)
				continue;
			say(t, " for %llu", small(&p));
			say(t, ".%llu", small(&p));
		}
		if ((flags & 4) != 0)
			scratch_changes(&p, t);
		say(t, "\n");
	}
}

static void
scratch(const uint8_t *p, size_t n, struct text *t)
{
	static const int kind_of[] = { 0, 0, 1, 3, 2, 4 };
	char types[3][257] = { "", "", "" };
	const uint8_t *end = p + n, *payload;
	unsigned long long at[2] = { 0, 0 };
	unsigned type, len;

	while (p < end) {
		if (memcmp(p, "CLS\x1a\1\0\0\0", 8) == 0)
			p += 8;
		type = (unsigned)num(&p, 4);
		len = (unsigned)num(&p, 4);
		payload = p + 4;
		p = payload + len;
		if (type == 0x8006) {
			scratch_table(payload, t);
			continue;
		}
		if (type == 0x8007) {
			scratch_log(payload, t, at);
			continue;
		}
		if (type == 1)
			at[0] = at[1] = 0;
		say(t, "%d:", kind_of[type]);
		if (type == 1 || type == 4)
			scratch_conds(payload, t);
		else if (type == 2)
			scratch_columns(payload, t, types);
		else if (type == 3)
			scratch_row(payload, t, types);
		else {
			say(t, "%u", (unsigned)num(&payload, 8));
			say(t, " %llu", (unsigned long long)num(&payload, 8));
			say(t, " %llu", (unsigned long long)num(&payload, 8));
			say(t, " %llx", (unsigned long long)num(&payload, 8));
		}
		say(t, "\n");
	}
	assert(p == end);
}

/* A run with every type of condition, of which one is set twice. */
static void
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
static void
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
static void
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
static void
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
static void
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

static void
readers_agree(void)
{
	struct text a = { 0 }, b = { 0 };
	struct cl_err err = { 0 };
	struct cl_buf buf;
	size_t piece;

	cl_buf_init(&buf);
	write_run(&buf, true, true);
	write_run(&buf, false, false);		/* as cat would do */
	scratch(buf.p, buf.n, &a);
	for (piece = 1; piece < buf.n; piece = piece * 3 + 1) {
		b.n = 0;
		assert(ours(buf.p, buf.n, piece, &b, &err) == CL_END);
		assert(a.n == b.n && memcmp(a.s, b.s, a.n) == 0);
	}
	assert(strncmp(a.s, "0: contract=3:event cache_bytes=0 "
	    "cache_experts=1:18446744073709551615 share=2:0x1.999999999999ap-4"
	    " model_fingerprint=4:2748 live=5:1 model=3:\n1:1 tokens=1",
	    100) == 0);
	free(a.s);
	free(b.s);
	cl_buf_free(&buf);
}

/* Three mebibytes and a half: in parts, and read in no more than one. */
static void
long_tables_come_in_parts(void)
{
	struct text a = { 0 }, b = { 0 };
	struct cl_err err = { 0 };
	struct cl_buf buf;
	const uint8_t *p;
	unsigned parts = 0;
	uint32_t len;

	cl_buf_init(&buf);
	long_tables = true;
	write_run(&buf, true, false);
	long_tables = false;
	for (p = buf.p + 8; p < buf.p + buf.n; p += 12 + len) {
		len = p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 |
		    (uint32_t)p[7] << 24;
		assert(len < (1u << 20) + 256);
		parts += p[0] == 6 && p[1] == 0x80;
	}
	assert(parts == 2 + 4);
	scratch(buf.p, buf.n, &a);
	assert(ours(buf.p, buf.n, 65536, &b, &err) == CL_END);
	assert(a.n == b.n && memcmp(a.s, b.s, a.n) == 0);
	assert(strstr(a.s, "\n6: \"x\" 199999 - 0\n") != NULL);
	assert(strstr(a.s, "\n6: - 18446744073709551615 0x1.999999999999ap-4 "
	    "65261\n6: \"\" - - -\n5:empty 2 1 who=3") != NULL);
	free(a.s);
	free(b.s);
	cl_buf_free(&buf);
}

/* A window's events stand before it, however many: in parts of a mebibyte. */
static void
long_logs_come_in_parts(void)
{
	struct text a = { 0 }, b = { 0 };
	struct cl_err err = { 0 };
	struct cl_buf buf;
	const uint8_t *p;
	unsigned parts = 0, windows = 0;
	uint32_t len;

	cl_buf_init(&buf);
	long_log = 2000;
	write_run(&buf, true, false);
	long_log = 0;
	for (p = buf.p + 8; p < buf.p + buf.n; p += 12 + len) {
		len = p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 |
		    (uint32_t)p[7] << 24;
		assert(len < (1u << 20) + 2048);
		parts += p[0] == 7 && p[1] == 0x80;
		windows += p[0] == 3 && p[13] == CL_STATS_WINDOW;
		assert(windows > 0 || parts == 0 || p[0] == 7 || p[0] == 3);
	}
	assert(parts == 5);
	scratch(buf.p, buf.n, &a);
	assert(ours(buf.p, buf.n, 65536, &b, &err) == CL_END);
	assert(a.n == b.n && memcmp(a.s, b.s, a.n) == 0);
	free(a.s);
	free(b.s);
	cl_buf_free(&buf);
}

/* A cell of a run that write_run has written; there: is it there at all? */
static struct cl_stats_value
cell(const struct cl_buf *buf, unsigned kind, unsigned scope, unsigned index,
    const char *name, uint64_t *tokens)
{
	struct cl_err err = { 0 };
	struct cl_stats_reader *r;
	struct cl_stats_value v = { 0 };
	const struct cl_stats_rec *rec;
	size_t i;
	int found = 0;

	r = cl_stats_reader_new(mem_src(buf->p, buf->n, 4096), &err);
	while (cl_stats_read(r, &rec, &err) == CL_OK) {
		if (rec->kind != CL_STATS_REC_ROW || rec->row->kind != kind ||
		    rec->row->scope != scope || rec->row->index != index)
			continue;
		i = cl_stats_column(rec->columns, name);
		assert(i < rec->row->n);
		v = rec->row->value[i];
		*tokens = rec->row->tokens;
		found++;
	}
	assert(found == 1);
	cl_stats_reader_free(r);
	return (v);
}

/* What write_run has counted. */
static const struct {
	unsigned	 kind, scope, index;
	const char	*name;
	uint64_t	 want, tokens;
} counts[] = {
	{ 1, CL_STATS_RUN, 0, "accesses", 50, 30 },
	{ 1, CL_STATS_RUN, 0, "hits", 33, 30 },
	{ 1, CL_STATS_RUN, 0, "misses", 17, 30 },
	{ 1, CL_STATS_RUN, 0, "digest", 0xd2, 30 },
	{ 1, CL_STATS_PHASE, 0, "cold", 7, 20 },
	{ 1, CL_STATS_PHASE, 1, "capacity", 10, 10 },
	{ 1, CL_STATS_PHASE, 1, "bypass", 5, 10 },
	{ 1, CL_STATS_LAYER, 1, "misses", 12, 0 },
	{ 1, CL_STATS_LAYER, 4, "hits", 33, 0 },
	{ 1, CL_STATS_LAYER, 4, "demand_bytes", 500, 0 },
	{ 1, CL_STATS_WINDOW, 0, "tokens", 20, 20 },
	{ 1, CL_STATS_WINDOW, 0, "digest", 0xd1, 20 },
	{ 1, CL_STATS_WINDOW, 1, "tokens", 10, 30 },
	{ 1, CL_STATS_WINDOW, 1, "hits", 30, 30 },
	{ 1, CL_STATS_WINDOW, 1, "demand_bytes", 1000, 30 },
	{ 2, CL_STATS_RUN, 0, "wall_ns", 80, 30 },
	{ 2, CL_STATS_WINDOW, 0, "wall_ns", 50, 20 },
	{ 2, CL_STATS_WINDOW, 1, "wall_ns", 30, 30 },
	{ 2, CL_STATS_WINDOW, 1, "rss_peak", 8192, 30 },
	{ 2, CL_STATS_LAYER, 4, "io_wait_ns", 77, 0 },
	{ 2, CL_STATS_PHASE, 0, "wall_ns", 50, 20 },
	{ 2, CL_STATS_PHASE, 1, "wall_ns", 30, 10 },
};
static const struct {
	unsigned	 scope, index;
	const char	*name;
	double		 want;
} reals[] = {
	{ CL_STATS_RUN, 0, "dropped_mass", 0.75 },
	{ CL_STATS_WINDOW, 1, "dropped_mass", 0.25 },
	{ CL_STATS_RUN, 0, "max_delta", 4 },
	{ CL_STATS_PHASE, 1, "max_delta", 3 },
	{ CL_STATS_WINDOW, 0, "max_delta", 4 },
	{ CL_STATS_WINDOW, 1, "max_delta", 3 },
};
static const struct {
	unsigned	 kind, scope, index;
	const char	*name;
} nothing[] = {
	{ 1, CL_STATS_PHASE, 0, "digest" },
	{ 1, CL_STATS_LAYER, 1, "tokens" },
	{ 1, CL_STATS_LAYER, 1, "max_delta" },
	{ 2, CL_STATS_LAYER, 1, "wall_ns" },
	{ 2, CL_STATS_WINDOW, 1, "rss_start" },
	{ 2, CL_STATS_PHASE, 1, "rss_peak" },
};

static void
tally_adds_up(void)
{
	struct cl_buf buf;
	struct cl_stats_value v;
	uint64_t tokens;
	size_t i;

	cl_buf_init(&buf);
	write_run(&buf, true, true);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		v = cell(&buf, counts[i].kind, counts[i].scope,
		    counts[i].index, counts[i].name, &tokens);
		assert(v.there && v.u == counts[i].want);
		assert(tokens == counts[i].tokens);
	}
	for (i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		v = cell(&buf, 1, reals[i].scope, reals[i].index,
		    reals[i].name, &tokens);
		assert(v.there);
		assert(!(v.f < reals[i].want || v.f > reals[i].want));
	}
	for (i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		assert(!cell(&buf, nothing[i].kind, nothing[i].scope,
		    nothing[i].index, nothing[i].name, &tokens).there);
	cl_buf_free(&buf);
}

static void
unknown_bytes_are_not_zero(void)
{
	struct cl_buf buf;
	uint64_t tokens;

	cl_buf_init(&buf);
	write_run(&buf, false, false);
	assert(!cell(&buf, 1, CL_STATS_RUN, 0, "demand_bytes",
	    &tokens).there);
	assert(!cell(&buf, 1, CL_STATS_LAYER, 1, "demand_bytes",
	    &tokens).there);
	assert(cell(&buf, 1, CL_STATS_RUN, 0, "misses", &tokens).u == 17);
	cl_buf_free(&buf);
}

static void
every_cut_is_found(void)
{
	struct text whole = { 0 }, part = { 0 };
	struct cl_err err;
	struct cl_buf buf;
	size_t n, ends = 0;

	cl_buf_init(&buf);
	write_run(&buf, true, true);
	n = buf.n;
	write_run(&buf, true, true);
	memset(&err, 0, sizeof(err));
	assert(ours(buf.p, buf.n, 4096, &whole, &err) == CL_END);
	for (n = 0; n < buf.n; n++) {
		memset(&err, 0, sizeof(err));
		part.n = 0;
		say(&part, "%s", "");
		if (ours(buf.p, n, 4096, &part, &err) == CL_END) {
			ends++;		/* between the runs */
			assert(n == buf.n / 2);
		} else {
			assert(err.code == CL_ECUT);
		}
		/* What was intact has come, and nothing else. */
		assert(part.n <= whole.n);
		assert(memcmp(whole.s, part.s, part.n) == 0);
	}
	assert(ends == 1);
	/* Up to the last byte only the trailer may be missing. */
	assert(whole.n - part.n < 64);
	free(whole.s);
	free(part.s);
	cl_buf_free(&buf);
}

static void
any_changed_byte_is_found(void)
{
	struct text t = { 0 };
	struct cl_err err;
	struct cl_buf buf;
	size_t i;

	cl_buf_init(&buf);
	write_run(&buf, true, false);
	for (i = 0; i < buf.n; i++) {
		memset(&err, 0, sizeof(err));
		buf.p[i] ^= 0x10;
		t.n = 0;
		assert(ours(buf.p, buf.n, 4096, &t, &err) < 0);
		buf.p[i] ^= 0x10;
	}
	free(t.s);
	cl_buf_free(&buf);
}

static int
refuse(void *ctx, const void *p, size_t n, struct cl_err *err)
{

	(void)ctx;
	(void)p;
	(void)n;
	return (cl_fail(err, CL_EIO, "output: no space"));
}

static void
a_full_disk_sticks(void)
{
	static const struct cl_dst_ops full = { refuse, mem_done, mem_done,
	    mem_keep };
	struct cl_err err = { 0 };
	struct cl_dst *dst = cl_dst_new(&full, NULL, &err);
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_end end = { 1, 0, 0, 0 };
	struct cl_tally *t = cl_tally_new(layers, 2, true, false, &err);
	struct cl_stats_writer *w = cl_stats_writer_new(dst, &conds, &err);

	assert(cl_tally_write_columns(t, w, &err) == CL_OK);
	assert(cl_tally_write_window(t, 0, w, &err) == CL_EIO);
	assert(strcmp(err.msg, "output: no space") == 0);
	memset(&err, 0, sizeof(err));
	assert(cl_tally_write_totals(t, 0, w, &err) == CL_EIO);
	assert(cl_stats_writer_finish(w, &end, &err) == CL_EIO);
	cl_tally_free(t);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
}

static void
names_are_those_of_the_manual(void)
{
	struct cl_tally *t = cl_tally_new(NULL, 0, true, true, NULL);
	size_t i;

	for (i = 0; i < CL_N_COUNTERS; i++)
		assert(cl_counters_name((enum cl_counter)i) != NULL);
	for (i = 0; i < CL_F_COUNTERS; i++)
		assert(cl_counters_f64_name((enum cl_counter_f64)i) != NULL);
	for (i = 0; i < CL_M_MEASURES; i++)
		assert(cl_counters_measure_name((enum cl_measure)i) != NULL);
	assert(strcmp(cl_counters_name(CL_N_DIGEST), "digest") == 0);
	assert(strcmp(cl_counters_name(CL_N_STAGE_HITS), "stage_hits") == 0);
	assert(strcmp(cl_counters_measure_name(CL_M_IO_WAIT_NS),
	    "io_wait_ns") == 0);
	cl_tally_free(t);
}

static const struct unit units[] = {
	{ "what is written is read, and a reader from scratch agrees",
	    readers_agree },
	{ "a long table is written and read in parts",
	    long_tables_come_in_parts },
	{ "phases, layers, windows and the run are of the same counts",
	    tally_adds_up },
	{ "byte counters are absent where bytes are unknown",
	    unknown_bytes_are_not_zero },
	{ "a long log comes in parts, before the row of its window",
	    long_logs_come_in_parts },
	{ "a stream cut at any byte is refused after what is intact",
	    every_cut_is_found },
	{ "any changed byte is found", any_changed_byte_is_found },
	{ "the first failure to write comes back from every later call",
	    a_full_disk_sticks },
	{ "every counter has a name", names_are_those_of_the_manual },
};

UNIT_MAIN(units)
