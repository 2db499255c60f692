/*
 * stats/: every rule of cl-stats(5) is broken once, in a stream made by hand.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "memio.h"
#include "stats_say.h"
#include "unit.h"

enum { COLUMNS = 2 };	/* as on the page */

/*
 * Streams by hand, sums right and rules broken.  A script is a list of
 * records: type, ':', payload in hex with blanks, ';'.
 */
static void
assemble(const char *script, struct cl_buf *out)
{
	struct cl_err err = { 0 };
	struct cl_dst *dst = mem_dst(out);
	struct cl_buf payload;
	char *end;
	unsigned long type;
	int nibble, half;

	cl_buf_init(&payload);
	cl_rec_preamble(dst, CL_REC_STATS);
	while (*script != '\0') {
		type = strtoul(script, &end, 16);
		assert(*end == ':');
		cl_buf_clear(&payload);
		half = -1;
		for (script = end + 1; *script != ';'; script++) {
			if (*script == ' ')
				continue;
			nibble = *script <= '9' ? *script - '0' :
			    *script - 'a' + 10;
			assert(nibble >= 0 && nibble < 16);
			if (half >= 0)
				cl_buf_u8(&payload,
				    (uint8_t)(half << 4 | nibble));
			half = half >= 0 ? -1 : nibble;
		}
		assert(half == -1);
		assert(cl_rec_put(dst, (uint16_t)type, &payload, &err) ==
		    CL_OK);
		script += strspn(script, "; ");
	}
	assert(cl_dst_finish(dst, &err) == CL_OK);
	cl_dst_free(dst);
	cl_buf_free(&payload);
}

#define RUN1	"1: 0100 01 0100 61 0700000000000000; "	/* a = 7 */
#define COLS	"2: 01 00 0200 01 0100 68 02 0100 66; "	/* u64 h, f64 f */
#define COLM	"2: 02 00 0100 01 0100 77; "		/* u64 w */
#define AT(scope, index)						\
	"01" #scope "0000" #index "000000 0000000000000000 "
#define WHOLE	"3: " AT(01, 00) "01 0500000000000000; "
#define TRAIL(n)							\
	"5: 01 00000000000000 " #n "00000000000000 "			\
	"0900000000000000 0000000000000000; "

/* A table "t" of u64 "k" and str "s", keys and rows to be given. */
#define TABLE(more, before, n)						\
	"8006: 01" #more "0200 0100 0000 " #before "00000000000000 "	\
	#n "000000 0100 74 01 0100 6b 03 0100 73 "
/* A part of the log, its events to be given. */
#define LOG(before, n)							\
	"8007: " #before "00000000000000 " #n "000000 "
#define EVENT	"00 05 01 09 02 "		/* layer 5: 9, cold */
#define THROWS	"03 01 8001 05 02 09 08 b0 04 ac02 "
			/* a pass on, 128 tokens: 9 hit, 8 for 4.300 */
#define ROW_A	"01 0700000000000000 "			/* 7, none */
#define ROW_B	"02 0200 6869 "				/* none, "hi" */

static int
verdict(const char *script, struct cl_err *err)
{
	struct text t = { 0 };
	struct cl_buf buf;
	int status;

	memset(err, 0, sizeof(*err));
	cl_buf_init(&buf);
	assemble(script, &buf);
	status = ours(buf.p, buf.n, 4096, &t, err);
	free(t.s);
	cl_buf_free(&buf);
	return (status);
}

static void
what_the_page_allows_is_read(void)
{
	static const char *const good[] = {
		RUN1 COLS WHOLE TRAIL(04),
		"1: 0000; " COLS WHOLE TRAIL(04),
		/* No columns but the bits of none. */
		"1: 0000; 2: 01 00 0000; 3: " AT(01, 00) "; " TRAIL(04),
		/* Records to be skipped count. */
		RUN1 "8009: ff; " COLS "ffff: ; " WHOLE TRAIL(06),
		/* MACHINE behind the rows; indices with gaps. */
		RUN1 COLS COLM "3: " AT(04, 03) "00; " "3: " AT(04, 09) "00; "
		    "3: " AT(03, 02) "00; " WHOLE "4: 0000; " TRAIL(09),
		/* The same index in another kind. */
		RUN1 COLS COLM WHOLE
		    "3: 02 01 0000 00000000 0000000000000000 00; " TRAIL(06),
		/* Tables: whole, in parts, of nothing, before any row. */
		RUN1 COLS TABLE(00, 00, 02) ROW_A ROW_B "; " WHOLE TRAIL(05),
		RUN1 COLS WHOLE TABLE(01, 00, 01) ROW_A "; "
		    TABLE(01, 01, 00) "; " TABLE(00, 01, 02) ROW_B ROW_A "; "
		    TRAIL(07),
		RUN1 COLS WHOLE TABLE(00, 00, 00) "; " TRAIL(05),
		/* The log: anywhere behind the columns, in parts. */
		RUN1 COLS LOG(00, 01) EVENT "; " WHOLE TRAIL(05),
		/* Two tokens changed, the second to nothing; no members. */
		RUN1 COLS LOG(00, 01) "04 05 01 09 02 02 00 01 01 07 09 "
		    "feffffff0f 01 00 07 07; " WHOLE TRAIL(05),
		RUN1 COLS LOG(00, 01) "04 05 00 01 00 01 00 ffff03 ffff03; "
		    WHOLE TRAIL(05),
		RUN1 COLS LOG(00, 02) EVENT THROWS "; " WHOLE
		    LOG(02, 03) THROWS EVENT THROWS "; " TRAIL(06),
		RUN1 COLS LOG(00, 01) "01 ffffffffffffffffff01 00 ffffffff07 "
		    "01 ffffffff0f 06; " WHOLE TRAIL(05),
		/* Interrupted, and incomplete input. */
		RUN1 COLS WHOLE "5: 02 00000000000000 0400000000000000 "
		    "0000000000000000 0000000000000000; ",
		RUN1 COLS WHOLE "5: 03 00000000000000 0400000000000000 "
		    "0000000000000000 0000000000000000; ",
	};
	struct cl_err err;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert(verdict(good[i], &err) == CL_END);
}

static const struct {
	const char	*script;
	const char	*says;
} forbidden[] = {
	{ COLS, "where RUN is wanted" },
	{ "8001: ; " RUN1, "where RUN is wanted" },
	{ RUN1 RUN1, "second RUN" },
	{ RUN1 COLS "6: ; ", "unknown record type 6" },
	{ RUN1 COLS "0: ; ", "unknown record type 0" },
	/* RUN */
	{ "1: ; ", "RUN record of 0 bytes" },
	{ "1: 0200 00 0100 61; ", "claims 2 conditions" },
	{ "1: ffff 00 0100 61; ", "claims 65535 conditions" },
	{ "1: 0100 00 0100 61 00; ", "1 bytes behind its fields" },
	{ "1: 0100 01 0100 61 00; ", "too short" },
	{ "1: 0100 00 0200 6100; ", "NUL" },
	{ "1: 0100 00 0000 00; ", "no name" },
	{ "1: 0100 06 0100 61; ", "unknown type 6" },
	{ "1: 0100 05 0100 61 02; ", "truth value is 2" },
	{ "1: 0200 00 0100 61 00 0100 61; ", "\"a\" stands twice" },
	/* COLUMNS */
	{ RUN1 WHOLE, "before its columns" },
	{ RUN1 "2: 03 00 0000; ", "columns of kind 3" },
	{ RUN1 "2: 00 00 0000; ", "columns of kind 0" },
	{ RUN1 "2: 01 01 0000; ", "what must be 0" },
	{ RUN1 COLM, "out of place" },
	{ RUN1 COLS COLS, "out of place" },
	{ RUN1 COLS WHOLE COLM, "out of place" },
	{ RUN1 "2: 01 00 0200 01 0100 61; ", "claims 2 columns" },
	{ RUN1 "2: 01 00 0101 01 0100 61; ", "claims 257 columns" },
	{ RUN1 "2: 01 00 0100 03 0100 61; ", "unknown type 3" },
	{ RUN1 "2: 01 00 0100 01 0000 61; ", "no name" },
	{ RUN1 "2: 01 00 0200 01 0100 61 01 0100 61; ", "twice" },
	{ RUN1 "2: 01 00 0100 01 0100 61 00; ", "behind its fields" },
	/* MACHINE */
	{ RUN1 "4: 0000; ", "before its columns" },
	{ RUN1 COLS "4: 0000; 4: 0000; ", "second time" },
	/* ROW */
	{ RUN1 COLS "3: 01 01 0000 0000; ", "too short" },
	{ RUN1 COLS "3: 03 01 0000 00000000 0000000000000000 00; ",
	    "kind 3" },
	{ RUN1 COLS "3: 02 01 0000 00000000 0000000000000000 00; ",
	    "before its columns" },
	{ RUN1 COLS "3: " AT(00, 00) "00; ", "scope 0" },
	{ RUN1 COLS "3: " AT(05, 00) "00; ", "scope 5" },
	{ RUN1 COLS "3: 01 01 0100 00000000 0000000000000000 00; ",
	    "must be 0 in a row" },
	{ RUN1 COLS "3: " AT(01, 01) "00; ", "has index 1" },
	{ RUN1 COLS "3: " AT(02, 02) "00; ", "has index 2" },
	{ RUN1 COLS WHOLE WHOLE, "index 0 behind index 0" },
	{ RUN1 COLS "3: " AT(04, 05) "00; 3: " AT(04, 04) "00; ",
	    "index 4 behind index 5" },
	{ RUN1 COLS "3: " AT(01, 00) "04; ", "behind the last" },
	{ RUN1 COLS "3: " AT(01, 00) "01 05; ", "too short" },
	{ RUN1 COLS "3: " AT(01, 00) "00 05; ", "behind its fields" },
	/* TABLE */
	{ RUN1 TABLE(00, 00, 00) "; ", "before the columns" },
	{ TABLE(00, 00, 00) "; ", "where RUN is wanted" },
	{ RUN1 COLS "8006: 0100 0100; ", "too short" },
	{ RUN1 COLS "8006: 0300 0100 0000 0000 0000000000000000 00000000 "
	    "0100 74 01 0100 6b; ", "kind 3" },
	{ RUN1 COLS "8006: 0102 0100 0000 0000 0000000000000000 00000000 "
	    "0100 74 01 0100 6b; ", "must be 0" },
	{ RUN1 COLS "8006: 0100 0100 0000 0100 0000000000000000 00000000 "
	    "0100 74 01 0100 6b; ", "must be 0" },
	{ RUN1 COLS "8006: 0100 0000 0000 0000 0000000000000000 00000000 "
	    "0100 74; ", "0 columns" },
	{ RUN1 COLS "8006: 0100 0101 0000 0000 0000000000000000 00000000 "
	    "0100 74; ", "257 columns" },
	{ RUN1 COLS "8006: 0100 0100 0200 0000 0000000000000000 00000000 "
	    "0100 74 01 0100 6b; ", "2 are keys" },
	{ RUN1 COLS "8006: 0100 0100 0000 0000 0000000000000000 00000000 "
	    "0000 01 0100 6b; ", "a name of 0 bytes" },
	{ RUN1 COLS "8006: 0100 0100 0000 0000 0000000000000000 00000000 "
	    "0100 74 05 0100 6b; ", "unknown type 5" },
	{ RUN1 COLS "8006: 0100 0200 0000 0000 0000000000000000 00000000 "
	    "0100 74 01 0100 6b 01 0100 6b; ", "\"k\" stands twice" },
	{ RUN1 COLS TABLE(00, 01, 00) "; ", "behind row 1" },
	{ RUN1 COLS TABLE(00, 00, 03) ROW_A "; ", "too short" },
	{ RUN1 COLS TABLE(00, 00, ff) ROW_A "; ", "255 rows" },
	{ RUN1 COLS TABLE(00, 00, 01) ROW_A "00; ", "behind its fields" },
	{ RUN1 COLS TABLE(00, 00, 00) "00; ", "behind its fields" },
	{ RUN1 COLS TABLE(00, 00, 01) "04; ", "behind the last" },
	{ RUN1 COLS TABLE(00, 00, 01) "02 0200 6800; ", "NUL" },
	{ RUN1 COLS TABLE(00, 00, 00) "; " TABLE(00, 00, 00) "; ",
	    "\"t\" stands twice" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; " WHOLE, "is to go on" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; 8009: ; ", "is to go on" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; " TABLE(00, 00, 01) ROW_A
	    "; ", "behind row 0" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; " TABLE(00, 02, 01) ROW_A
	    "; ", "behind row 2" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; 8006: 0200 0200 0100 0000 "
	    "0100000000000000 00000000 0100 74 01 0100 6b 03 0100 73; ",
	    "does not go on" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; 8006: 0100 0200 0000 0000 "
	    "0100000000000000 00000000 0100 74 01 0100 6b 03 0100 73; ",
	    "does not go on" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; 8006: 0100 0200 0100 0000 "
	    "0100000000000000 00000000 0100 75 01 0100 6b 03 0100 73; ",
	    "does not go on" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; 8006: 0100 0200 0100 0000 "
	    "0100000000000000 00000000 0100 74; ", "does not go on" },
	/* EVENTS */
	{ RUN1 LOG(00, 01) EVENT "; ", "before the columns" },
	{ RUN1 COLS "8007: 00000000000000; ", "0 events" },
	{ RUN1 COLS LOG(00, 00) "; ", "0 events" },
	{ RUN1 COLS LOG(01, 01) EVENT "; ", "behind event 1" },
	{ RUN1 COLS LOG(00, 01) EVENT "; " LOG(00, 01) EVENT "; ",
	    "behind event 0" },
	{ RUN1 COLS LOG(00, 02) EVENT "00 05 01 09; ", "2 events" },
	{ RUN1 COLS LOG(00, 02) THROWS "00; ", "is cut" },
	{ RUN1 COLS LOG(00, 01) EVENT "00; ", "has bytes behind it" },
	{ RUN1 COLS LOG(00, 01) "08 05 01 09 02; ", "flags" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02; ", "is cut" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 00; ", "no changes" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 02 00 01 00 07 07; ",
	    "no changes, or more" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 01 00 00 00 07 07; ",
	    "changes no choice" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 01 00 02 01 07 08 07; ",
	    "more than it has" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 01 00 01 02 07 07; ",
	    "too large" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 01 00 01 01 07 07; ",
	    "into itself" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 01 00 01 00 808004 808004; ",
	    "too large" },
	{ RUN1 COLS LOG(00, 01) "04 05 01 09 02 02 00 01 00 07 07 "
	    "ffffffff0f 01 00 07 07; " WHOLE, "too large" },
	{ RUN1 COLS LOG(00, 01) "01 00 00 05 01 09 02; ", "moves nowhere" },
	{ RUN1 COLS LOG(00, 02) "01 ffffffffffffffffff01 00 05 01 09 02 "
	    "01 01 00 05 01 09 02; ", "moves beyond" },
	{ RUN1 COLS LOG(00, 01) "01 ffffffffffffffffff02 00 05 01 09 02; ",
	    "too large" },
	{ RUN1 COLS LOG(00, 01) "01 80808080808080808080 01 00 05 01 09 02; ",
	    "too large" },
	{ RUN1 COLS LOG(00, 01) "00 8500 01 09 02; ", "shortest form" },
	{ RUN1 COLS LOG(00, 01) "00 8080808008 01 09 02; ", "too large" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 ffffffff1f 02; ", "too large" },
	{ RUN1 COLS LOG(00, 01) "00 05 00 09 02; ", "no members" },
	{ RUN1 COLS LOG(00, 01) "00 05 7f 09 02; ", "more than it has" },
	{ RUN1 COLS LOG(00, 01) "00 05 02 09 08; ", "is cut" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 09 12; ", "behind its last" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 09 08 04 01; ", "does not come" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 09 0e 04 01; ", "does not come" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 09 0a 04; ", "more victims" },
	{ RUN1 COLS LOG(00, 01) "00 05 01 09 0a 8080808008 01; ",
	    "too large" },
	{ RUN1 COLS TABLE(01, 00, 01) ROW_A "; " LOG(00, 01) EVENT "; ",
	    "is to go on" },
	/* TRAILER */
	{ RUN1 COLS TRAIL(03), "without a row for the whole run" },
	{ RUN1 COLS COLM "3: 02 01 0000 00000000 0000000000000000 00; "
	    TRAIL(05), "without a row for the whole run" },
	{ RUN1 COLS WHOLE TRAIL(05), "counts 5 records" },
	{ RUN1 COLS WHOLE "5: 00 00000000000000 0400000000000000 "
	    "0000000000000000 0000000000000000; ", "end 0" },
	{ RUN1 COLS WHOLE "5: 04 00000000000000 0400000000000000 "
	    "0000000000000000 0000000000000000; ", "end 4" },
	{ RUN1 COLS WHOLE "5: 01 00000000000001 0400000000000000 "
	    "0000000000000000 0000000000000000; ", "must be 0" },
	{ RUN1 COLS WHOLE "5: 01 00000000000000 0400000000000000; ",
	    "too short" },
	/* What stands behind a run is a run. */
	{ RUN1 COLS WHOLE TRAIL(04) "5: ; ", "not a stat stream" },
};

static void
what_the_page_forbids_is_refused(void)
{
	struct cl_err err;
	size_t i;

	for (i = 0; i < sizeof(forbidden) /
	    sizeof(forbidden[0]); i++) {
		assert(verdict(forbidden[i].script, &err) < 0);
		if (strstr(err.msg, forbidden[i].says) == NULL)
			fprintf(stderr, "case %zu: %s\n", i, err.msg);
		assert(strstr(err.msg, forbidden[i].says) != NULL);
		assert(err.code == CL_EFORMAT || err.code == CL_ENOTSUP);
	}
}

/* n conditions, and as many columns up to their limit and one beyond. */
static void
limits_hold(void)
{
	struct cl_err err = { 0 };
	struct cl_stats_conds conds = { 0 };
	struct cl_buf out, payload;
	struct text t = { 0 };
	struct cl_dst *dst;
	char name[16];
	size_t i;
	unsigned n;

	for (i = 0; i < CL_STATS_CONDS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "c%zu", i);
		assert(cl_stats_set_u64(&conds, name, i, &err) == CL_OK);
	}
	assert(cl_stats_set_u64(&conds, "c7", 8, &err) == CL_OK);
	assert(cl_stats_set_u64(&conds, "new", 1, &err) == CL_EINVAL);
	for (n = CL_STATS_COLUMNS_MAX; n <= CL_STATS_COLUMNS_MAX + 1; n++) {
		cl_buf_init(&out);
		cl_buf_init(&payload);
		dst = mem_dst(&out);
		memset(&err, 0, sizeof(err));
		cl_stats_writer_free(cl_stats_writer_new(dst, &conds, &err));
		cl_buf_u16(&payload, 1);
		cl_buf_u16(&payload, (uint16_t)n);
		for (i = 0; i < n; i++) {
			(void)snprintf(name, sizeof(name), "c%zu", i);
			cl_buf_u8(&payload, 1);
			cl_buf_str(&payload, name);
		}
		assert(cl_rec_put(dst, COLUMNS, &payload, &err) == CL_OK);
		assert(cl_dst_finish(dst, &err) == CL_OK);
		assert(ours(out.p, out.n, 4096, &t, &err) ==
		    (n == CL_STATS_COLUMNS_MAX ? CL_ECUT : CL_EFORMAT));
		cl_dst_free(dst);
		cl_buf_free(&out);
		cl_buf_free(&payload);
	}
	cl_stats_conds_free(&conds);
	free(t.s);
}

/* As many tables as a run may have, and one more. */
static void
tables_have_a_limit(void)
{
	struct cl_err err = { 0 };
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_column column = { CL_STATS_U64, "n" };
	struct cl_stats_table table = { .kind = CL_STATS_LOGICAL,
	    .ncolumns = 1, .column = &column };
	struct cl_stats_end end = { 1, 0, 0, 0 };
	struct cl_stats_writer *w;
	struct cl_buf out;
	struct text t = { 0 };
	struct cl_dst *dst;
	char name[16];
	unsigned n, i;

	table.name = name;
	for (n = CL_STATS_TABLES_MAX; n <= CL_STATS_TABLES_MAX + 1; n++) {
		cl_buf_init(&out);
		dst = mem_dst(&out);
		w = cl_stats_writer_new(dst, &conds, &err);
		assert(write_nothing(w, &err) == CL_OK);
		for (i = 0; i < n; i++) {
			(void)snprintf(name, sizeof(name), "t%u", i);
			assert(cl_stats_write_table(w, &table, &err) ==
			    CL_OK);
		}
		assert(cl_stats_writer_finish(w, &end, &err) == CL_OK);
		cl_stats_writer_free(w);
		assert(cl_dst_finish(dst, &err) == CL_OK);
		assert(ours(out.p, out.n, 4096, &t, &err) ==
		    (n == CL_STATS_TABLES_MAX ? CL_END : CL_EFORMAT));
		memset(&err, 0, sizeof(err));
		cl_dst_free(dst);
		cl_buf_free(&out);
	}
	free(t.s);
}

static const struct unit units[] = {
	{ "what the page allows is read", what_the_page_allows_is_read },
	{ "what the page forbids is refused, saying what",
	    what_the_page_forbids_is_refused },
	{ "limits hold at N and not at N + 1", limits_hold },
	{ "a run has so many tables, and not one more", tables_have_a_limit },
};

UNIT_MAIN(units)
