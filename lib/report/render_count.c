/*
 * What was counted: a table with prefill, decode and the whole run side by
 * side.  Counters of features that are off are left out; those that this file
 * does not know are shown under their own names.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

/*
 * Counters.  A row is a name, how it is spelled, and whether it is left out
 * where the whole run has none.
 */
enum spelling { COUNT, BYTES, REAL, DIGEST, PERCENT_HITS, PER_TOKEN, KEPT,
    AGREEMENT, ACCURACY, COVERAGE };

static const struct line {
	const char	*label;
	const char	*name;
	enum spelling	 spelling;
	bool		 quiet;
} lines[] = {
	{ "tokens", "tokens", COUNT, false },
	{ "padding tokens", "padding", COUNT, true },
	{ "events", "events", COUNT, false },
	{ "accesses", "accesses", COUNT, false },
	{ "hits", "hits", COUNT, false },
	{ "  hits / accesses", "hits", PERCENT_HITS, false },
	{ "experts preloaded", "preload", COUNT, true },
	{ "bytes preloaded", "preload_bytes", BYTES, true },
	{ "staged hits", "stage_hits", COUNT, true },
	{ "misses", "misses", COUNT, false },
	{ "  cold", "cold", COUNT, false },
	{ "  capacity", "capacity", COUNT, false },
	{ "  of them bypass", "bypass", COUNT, false },
	{ "not admitted", "admit_rejects", COUNT, true },
	{ "evictions", "evictions", COUNT, false },
	{ "prefetch issued", "prefetch_issued", COUNT, true },
	{ "  useful", "prefetch_useful", COUNT, true },
	{ "  accuracy", "prefetch_issued", ACCURACY, true },
	{ "  coverage", "prefetch_issued", COVERAGE, true },
	{ "  wasted", "prefetch_wasted", COUNT, true },
	{ "  left", "prefetch_left", COUNT, true },
	{ "prefetch refused", "prefetch_refused", COUNT, true },
	{ "plain choices", "choices", COUNT, true },
	{ "substituted", "substituted", COUNT, true },
	{ "dropped", "dropped", COUNT, true },
	{ "  agreement", "choices", AGREEMENT, true },
	{ "gate mass lost", "dropped_mass", REAL, true },
	{ "gate mass kept", "gate_total", KEPT, true },
	{ "largest gap", "max_delta", REAL, true },
	{ "bytes demanded", "demand_bytes", BYTES, false },
	{ "  a token", "demand_bytes", PER_TOKEN, false },
	{ "bytes prefetched", "prefetch_bytes", BYTES, true },
	{ "bytes dense", "dense_bytes", BYTES, true },
	{ "digest", "digest", DIGEST, true },	/* on a line of its own */
};

#define NLINES	(sizeof(lines) / sizeof(lines[0]))

/* The gate mass that was used, of what the plain choice has. */
static void
add_kept(struct cl_table *t, const struct view *v,
    const struct cl_run_row *row)
{
	struct cl_cell lost = cl_run_named(v->run, CL_STATS_LOGICAL, row,
	    "dropped_mass");
	struct cl_cell total = cl_run_named(v->run, CL_STATS_LOGICAL, row,
	    "gate_total");
	double l, g;

	if (cl_cell_number(&lost, &l) && cl_cell_number(&total, &g) && g > 0)
		cl_table_add(t, "%.2f%%", 100 * (1 - l / g));
	else
		cl_table_add(t, "-");
}

/* A ratio of counters of the row, by what it is called. */
static const char *
ratio(char p[CL_FIGURE_MAX], const struct view *v,
    const struct cl_run_row *row, enum spelling what)
{
	uint64_t hits = cl_render_count(v, row, "hits");
	uint64_t useful = cl_render_count(v, row, "prefetch_useful");
	uint64_t choices = cl_render_count(v, row, "choices"), other;

	switch (what) {
	case PERCENT_HITS:
		return (cl_figure_percent(p, hits,
		    cl_render_count(v, row, "accesses")));
	case ACCURACY:
		return (cl_figure_percent(p, useful,
		    cl_render_count(v, row, "prefetch_issued")));
	case COVERAGE:
		return (cl_figure_percent(p, useful, useful +
		    cl_render_count(v, row, "misses")));
	default:			/* AGREEMENT */
		other = cl_render_count(v, row, "substituted") +
		    cl_render_count(v, row, "dropped");
		return (cl_figure_percent(p, other > choices ? 0 :
		    choices - other, choices));
	}
}

static void
add_cell(struct cl_table *t, const struct view *v,
    const struct cl_run_row *row, const struct line *l)
{
	char b[64], p[CL_FIGURE_MAX];
	struct cl_cell cell = cl_run_named(v->run, CL_STATS_LOGICAL, row,
	    l->name);
	uint64_t tokens = cl_render_count(v, row, "tokens");
	double n;

	if (!cl_cell_number(&cell, &n))
		cl_table_add(t, "-");
	else if (l->spelling == PERCENT_HITS || l->spelling >= AGREEMENT)
		cl_table_add(t, "%s", ratio(p, v, row, l->spelling));
	else if (l->spelling == PER_TOKEN && tokens == 0)
		cl_table_add(t, "-");
	else if (l->spelling == PER_TOKEN)
		cl_table_add(t, "%s", cl_text_bytes(b, cell.u / tokens));
	else if (l->spelling == BYTES)
		cl_table_add(t, "%s", cl_text_bytes(b, cell.u));
	else if (l->spelling == REAL)
		cl_table_add(t, "%.6g", n);
	else if (l->spelling == KEPT)
		add_kept(t, v, row);
	else
		cl_table_add(t, "%s", cl_cell_text(&cell, b, sizeof(b)));
}

/* Is the column one of ours?  Those of a later writer are shown as they are. */
static bool
known(const char *name)
{
	size_t i;

	for (i = 0; i < NLINES; i++)
		if (strcmp(lines[i].name, name) == 0)
			return (true);
	return (false);
}

static void
add_line(struct cl_table *t, const struct view *v, const struct line *l)
{
	const struct cl_stats_columns *columns =
	    &v->run->columns[CL_STATS_LOGICAL];
	struct cl_cell cell = cl_run_named(v->run, CL_STATS_LOGICAL, v->all,
	    l->name);

	if (!v->replay && cl_stats_column(columns, l->name) == columns->n)
		return;
	if (l->spelling == DIGEST || (l->quiet && cl_cell_zero(&cell)))
		return;
	if (l->spelling == KEPT &&
	    cl_render_count(v, v->all, "substituted") == 0 &&
	    cl_render_count(v, v->all, "dropped") == 0)
		return;
	cl_table_add(t, "%s", l->label);
	add_cell(t, v, cl_run_find(v->run, CL_STATS_LOGICAL, CL_STATS_PHASE,
	    0), l);
	add_cell(t, v, cl_run_find(v->run, CL_STATS_LOGICAL, CL_STATS_PHASE,
	    1), l);
	add_cell(t, v, v->all, l);
}

int
cl_render_counters(const struct view *v, struct cl_err *err)
{
	const struct cl_stats_columns *columns =
	    &v->run->columns[CL_STATS_LOGICAL];
	struct cl_cell digest = cl_run_named(v->run, CL_STATS_LOGICAL, v->all,
	    "digest");
	struct cl_table t;
	struct line extra = { NULL, NULL, COUNT, true };
	char hash[24];
	size_t i;
	int status;

	cl_table_init(&t, 4, 1);
	cl_table_add(&t, "counted");
	cl_table_add(&t, "     prefill");
	cl_table_add(&t, "      decode");
	cl_table_add(&t, "   whole run");
	for (i = 0; i < NLINES; i++)
		add_line(&t, v, &lines[i]);
	for (i = 0; i < columns->n; i++) {
		extra.label = extra.name = columns->column[i].name;
		if (!known(extra.name))
			add_line(&t, v, &extra);
	}
	cl_dst_printf(v->dst, "\n");
	status = cl_table_print(&t, v->dst, 0, v->r->options.bold, err);
	if (cl_render_count(v, v->all, "substituted") +
	    cl_render_count(v, v->all, "dropped") > 0)
		cl_table_wrap(v->dst, "note", 6, "open loop: another choice of "
		    "experts would have changed what the layers behind it "
		    "choose.  This prices reads, not quality.");
	if (cl_render_count(v, v->all, "preload") > 0)
		cl_table_wrap(v->dst, "note", 6, "what was preloaded is no "
		    "miss: bounds for caches that start empty do not hold "
		    "for these hits and misses.");
	if (digest.type != CL_STATS_NONE)
		cl_dst_printf(v->dst, "decision digest %s\n",
		    cl_cell_text(&digest, hash, sizeof(hash)));
	return (status);
}
