/*
 * stats/: what is written is what is read, and a reader from scratch, which
 * knows cl-stats(5) and nothing of lib/stats, agrees.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/tally.h"
#include "memio.h"
#include "stats_run.h"
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

static const struct unit units[] = {
	{ "what is written is read, and a reader from scratch agrees",
	    readers_agree },
	{ "a long table is written and read in parts",
	    long_tables_come_in_parts },
	{ "a long log comes in parts, before the row of its window",
	    long_logs_come_in_parts },
	{ "a stream cut at any byte is refused after what is intact",
	    every_cut_is_found },
	{ "any changed byte is found", any_changed_byte_is_found },
	{ "the first failure to write comes back from every later call",
	    a_full_disk_sticks },
};

UNIT_MAIN(units)
