/*
 * report/: figures at their edges, tables and paragraphs to the byte, runs as
 * packed as they came.  What whole reports look like is tested through the
 * commands.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/cell.h"
#include "cl/compare.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "cl/table.h"
#include "memio.h"
#include "unit.h"

static bool
percent_is(uint64_t part, uint64_t whole, const char *want)
{
	char buf[CL_FIGURE_MAX];

	return (strcmp(cl_figure_percent(buf, part, whole), want) == 0);
}

static void
shares_do_not_lie(void)
{
	double r;

	assert(percent_is(30, 40, "75.00%"));
	assert(percent_is(0, 40, "0.00%") && percent_is(40, 40, "100.00%"));
	assert(percent_is(0, 0, "-") && percent_is(7, 0, "-"));
	assert(percent_is(1, 1000000, "<0.01%"));
	assert(percent_is(999999, 1000000, ">99.99%"));
	assert(percent_is(UINT64_MAX, UINT64_MAX, "100.00%"));
	assert(percent_is(3, 2, "150.00%"));	/* never clamped */
	assert(!cl_figure_ratio(0, 0, &r) && !(r < 0 || r > 0));
	assert(cl_figure_ratio(1, 4, &r) && !(r < 0.25 || r > 0.25));
}

static bool
ns_is(uint64_t ns, const char *want)
{
	char buf[CL_FIGURE_MAX];

	return (strcmp(cl_figure_ns(buf, ns), want) == 0);
}

static void
times_have_three_digits(void)
{
	char buf[CL_FIGURE_MAX];

	assert(ns_is(0, "0 ns") && ns_is(999, "999 ns"));
	assert(ns_is(1000, "1.00 us") && ns_is(81234, "81.2 us"));
	assert(ns_is(999499, "999 us") && ns_is(999500, "1.00 ms"));
	assert(ns_is(1234567, "1.23 ms"));
	assert(ns_is(61500000000, "61.5 s") && ns_is(4000000000000, "4000 s"));
	assert(strcmp(cl_figure_rate(buf, 10, 0), "-") == 0);
	assert(strcmp(cl_figure_rate(buf, 0, 10), "0.000") == 0);
	assert(strcmp(cl_figure_rate(buf, 1, 8000000000), "0.125") == 0);
	assert(strcmp(cl_figure_rate(buf, 567, 10000000000), "56.7") == 0);
	assert(strcmp(cl_figure_rate(buf, 1234, 1000000000), "1234") == 0);
}

static void
changes_have_signs(void)
{
	char buf[CL_FIGURE_MAX];

	assert(strcmp(cl_figure_change(buf, 5, 5), "0") == 0);
	assert(strcmp(cl_figure_change(buf, 5, 1239), "+1,234") == 0);
	assert(strcmp(cl_figure_change(buf, UINT64_MAX, 0),
	    "-18,446,744,073,709,551,615") == 0);
	assert(strcmp(cl_figure_relative(buf, 4, 5), "+25.00%") == 0);
	assert(strcmp(cl_figure_relative(buf, 4, 0), "-100.00%") == 0);
	assert(strcmp(cl_figure_relative(buf, 4, 4), "") == 0);
	assert(strcmp(cl_figure_relative(buf, 0, 4), "new") == 0);
	assert(strcmp(cl_figure_relative(buf, 1e6, 1e6 + 1), "<+0.01%") == 0);
	assert(strcmp(cl_figure_relative(buf, 1e6, 1e6 - 1), ">-0.01%") == 0);
	assert(strcmp(cl_figure_relative(buf, NAN, 1), "") == 0);
}

/* What a sink got, as a string. */
static const char *
text_of(struct cl_buf *b, struct cl_dst *dst)
{

	assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
	return (mem_text(b));
}

static void
tables_find_their_widths(void)
{
	struct cl_table t;
	struct cl_buf b;
	struct cl_dst *dst;

	cl_buf_init(&b);
	dst = mem_dst(&b);
	cl_table_init(&t, 3, 1);
	cl_table_add(&t, "name");
	cl_table_add(&t, "n");
	cl_table_fill(&t);
	cl_table_add(&t, "%s", "\xc3\xa9\x1b[1m");	/* one column each */
	cl_table_add(&t, "%d", 12345);
	cl_table_add(&t, "x");
	cl_table_add(&t, "only");
	cl_table_fill(&t);
	assert(cl_table_print(&t, dst, 1, false, NULL) == CL_OK);
	cl_table_init(&t, 1, 0);
	cl_table_add(&t, "head");
	cl_table_add(&t, "1");
	assert(cl_table_print(&t, dst, 0, true, NULL) == CL_OK);
	assert(strcmp(text_of(&b, dst),
	    " name       n\n"
	    " \xc3\xa9?[1m  12345  x\n"
	    " only\n"
	    "\033[1mhead\033[0m\n"
	    "   1\n") == 0);
	cl_buf_free(&b);
}

#define W10	"wwwwwwwwww"
#define W60	W10 W10 W10 W10 W10 W10

static void
paragraphs_are_broken_at_blanks(void)
{
	struct cl_buf b;
	struct cl_dst *dst;

	cl_buf_init(&b);
	dst = mem_dst(&b);
	cl_table_wrap(dst, "label", 8, "");
	cl_table_wrap(dst, "label", 8, "  one\ntwo   three ");
	cl_table_wrap(dst, "", 8, W60 " " W10);		/* 79 columns */
	cl_table_wrap(dst, "", 8, W60 " w" W10);	/* 80 */
	cl_table_wrap(dst, "", 8, "a " W60 W60 " b");
	assert(strcmp(text_of(&b, dst),
	    "label\n"
	    "label   one?two three\n"
	    "        " W60 " " W10 "\n"
	    "        " W60 "\n"
	    "        w" W10 "\n"
	    "        a\n"
	    "        " W60 W60 "\n"
	    "        b\n") == 0);
	cl_buf_free(&b);
}

/* A run of n windows over ncolumns columns, of which a row has one value. */
static void
write_sparse(struct cl_buf *buf, size_t ncolumns, uint32_t n)
{
	struct cl_stats_value value[CL_STATS_COLUMNS_MAX];
	struct cl_stats_row row = { CL_STATS_LOGICAL, CL_STATS_WINDOW, 0, 0,
	    ncolumns, value };
	struct cl_stats_columns columns = { .kind = CL_STATS_LOGICAL };
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_end end = { 1, 0, n, 7 };
	struct cl_dst *dst = mem_dst(buf);
	struct cl_stats_writer *w = cl_stats_writer_new(dst, &conds, NULL);
	char name[16];
	size_t i;

	for (i = 0; i < ncolumns; i++) {
		(void)snprintf(name, sizeof(name), "c%zu", i);
		assert(cl_stats_add_column(&columns, i % 2 == 0 ?
		    CL_STATS_U64 : CL_STATS_F64, name, strlen(name), NULL) ==
		    CL_OK);
	}
	assert(cl_stats_write_columns(w, &columns, NULL) == CL_OK);
	for (; row.index < n; row.index++) {
		memset(value, 0, sizeof(value));
		i = row.index % ncolumns;
		value[i].there = true;
		value[i].u = row.index;
		value[i].f = -(double)row.index;
		row.tokens = row.index + 1;
		assert(cl_stats_write_row(w, &row, NULL) == CL_OK);
	}
	row.scope = CL_STATS_RUN;
	row.index = 0;
	assert(cl_stats_write_row(w, &row, NULL) == CL_OK);
	assert(cl_stats_writer_finish(w, &end, NULL) == CL_OK);
	cl_stats_writer_free(w);
	cl_stats_columns_free(&columns);
	assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
}

static void
sparse_rows_stay_small(void)
{
	const uint32_t n = 2000;
	struct cl_buf b;
	struct cl_stats_reader *r;
	const struct cl_run_row *row;
	struct cl_cell cell;
	struct cl_run run;
	size_t c;
	uint32_t i;

	cl_buf_init(&b);
	write_sparse(&b, 256, n);
	r = cl_stats_reader_new(mem_src(b.p, b.n, 4096), NULL);
	assert(cl_run_next(r, &run, NULL) == CL_OK && run.whole);
	assert(run.npool <= (size_t)(n + 1) * 5);	/* words */
	for (i = 0; i < n; i++) {
		row = cl_run_find(&run, CL_STATS_LOGICAL, CL_STATS_WINDOW, i);
		assert(row != NULL && row->tokens == i + 1);
		for (c = 0; c < 256; c++) {
			cell = cl_run_cell(&run, CL_STATS_LOGICAL, row, c);
			if (c != i % 256)
				assert(cell.type == CL_STATS_NONE);
			else if (c % 2 == 0)
				assert(cell.u == i);
			else
				assert((int64_t)cell.f == -(int64_t)i);
		}
	}
	assert(cl_run_find(&run, CL_STATS_LOGICAL, CL_STATS_WINDOW, n) ==
	    NULL);
	assert(cl_run_cell(&run, CL_STATS_LOGICAL, NULL, 0).type ==
	    CL_STATS_NONE);
	assert(cl_run_named(&run, CL_STATS_LOGICAL, row, "none").type ==
	    CL_STATS_NONE);
	cl_run_free(&run);
	assert(cl_run_next(r, &run, NULL) == CL_END && !run.begun);
	cl_stats_reader_free(r);
	cl_buf_free(&b);
}

static void
load(struct cl_compare_side *side, const char *name, size_t ncolumns,
    uint32_t n)
{
	struct cl_stats_reader *r;
	struct cl_buf b;

	memset(side, 0, sizeof(*side));
	side->name = name;
	cl_buf_init(&b);
	write_sparse(&b, ncolumns, n);
	r = cl_stats_reader_new(mem_src(b.p, b.n, 4096), NULL);
	assert(cl_compare_load(side, r, NULL) == CL_OK);
	cl_stats_reader_free(r);
	cl_buf_free(&b);
}

static void
columns_of_one_side_are_compared_with_nothing(void)
{
	struct cl_compare_side a, b;
	struct cl_compare_pairs pairs;
	struct cl_compare_verdict v;

	load(&a, "a", 2, 3);
	load(&b, "b", 4, 3);
	assert(cl_compare_pair_up(&a, &b, &pairs, NULL) == CL_OK);
	assert(pairs.n == 1 && pairs.nonly_a == 0 && pairs.nonly_b == 0);
	assert(cl_compare_check(pairs.pair, NULL) == CL_OK);
	cl_compare_judge(pairs.pair, &v);
	/* Row 2, which both end with, is c0 = 2 in a and c2 = 2 in b. */
	assert(!v.same && v.counters == 4 && v.counters_differ == 2);
	assert(v.windows && v.windows_differ == 1 && v.layers == 0);
	cl_compare_pairs_free(&pairs);
	assert(cl_compare_pair_up(&b, &b, &pairs, NULL) == CL_OK);
	cl_compare_judge(pairs.pair, &v);
	assert(v.same && v.counters == 4);
	cl_compare_pairs_free(&pairs);
	cl_compare_side_free(&a);
	cl_compare_side_free(&b);
}

static const struct unit units[] = {
	{ "a part is never shown as all, nor something as nothing",
	    shares_do_not_lie },
	{ "times and rates have the digits that count",
	    times_have_three_digits },
	{ "changes are exact and have a sign", changes_have_signs },
	{ "tables find their widths and no line ends in blanks",
	    tables_find_their_widths },
	{ "paragraphs are broken at blanks, words never",
	    paragraphs_are_broken_at_blanks },
	{ "a run of many empty cells stays as small as its stream",
	    sparse_rows_stay_small },
	{ "a column of one side is compared with nothing",
	    columns_of_one_side_are_compared_with_nothing },
};

UNIT_MAIN(units)
