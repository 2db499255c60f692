/*
 * The long tables: layers and windows, shortened in their middle unless all
 * is asked for.
 */

#include <stdio.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define HEAD	14			/* rows kept of a long table */
#define TAIL	6
#define BAR	12			/* columns of a whole bar */

bool
cl_render_shown(struct cl_table *t, const struct view *v, size_t i, size_t n)
{

	if (v->r->options.all || n <= HEAD + TAIL || i < HEAD || i >= n - TAIL)
		return (true);
	if (i == HEAD) {
		cl_table_add(t, "...");
		cl_table_fill(t);
	}
	return (false);
}

/* A table that may hold times says whose they are. */
static void
begin(const struct view *v)
{

	cl_dst_printf(v->dst, "\n%s", cl_run_modelled(v->run) ?
	    "times are MODELLED\n" : "");
}

static void
add_layer(struct cl_table *t, const struct view *v,
    const struct cl_run_row *row)
{
	static const char *const names[] = { "misses", "cold", "bypass",
	    "evictions" };
	const struct cl_run_row *met = cl_run_find(v->run, CL_STATS_MEASURED,
	    CL_STATS_LAYER, row->index);
	char b[64];
	uint64_t ns;
	size_t i;

	cl_table_add(t, "%u", row->index);
	cl_table_add(t, "%s", cl_render_cell(b, v, row, "accesses"));
	cl_table_add(t, "%s", cl_figure_percent(b,
	    cl_render_count(v, row, "hits"),
	    cl_render_count(v, row, "accesses")));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cl_table_add(t, "%s", cl_render_cell(b, v, row, names[i]));
	cl_table_add(t, "%s", cl_render_bytes(b, v, CL_STATS_LOGICAL, row,
	    "demand_bytes"));
	if (t->ncolumns == 9 && cl_run_count(v->run, CL_STATS_MEASURED, met,
	    "io_wait_ns", &ns))
		cl_table_add(t, "%s", cl_figure_ns(b, ns));
	cl_table_fill(t);
}

int
cl_render_layers(const struct view *v, struct cl_err *err)
{
	static const char *const heads[] = { "layer", "accesses", "hits",
	    "misses", "cold", "bypass", "evicted", "demand", "waited" };
	const struct cl_run_rows *rows =
	    &v->run->rows[CL_STATS_LOGICAL][CL_STATS_LAYER];
	struct cl_table t;
	size_t i;

	if (rows->n == 0)
		return (CL_OK);
	cl_table_init(&t, v->run->rows[CL_STATS_MEASURED][CL_STATS_LAYER].n >
	    0 ? 9 : 8, 0);
	cl_render_heads(&t, heads, t.ncolumns);
	for (i = 0; i < rows->n; i++)
		if (cl_render_shown(&t, v, i, rows->n))
			add_layer(&t, v, &rows->row[i]);
	begin(v);
	return (cl_table_print(&t, v->dst, 0, v->r->options.bold, err));
}

static void
add_window(struct cl_table *t, const struct view *v,
    const struct cl_run_row *row)
{
	const struct cl_run_row *met = cl_run_find(v->run, CL_STATS_MEASURED,
	    CL_STATS_WINDOW, row->index);
	uint64_t hits = cl_render_count(v, row, "hits"), ns;
	uint64_t accesses = cl_render_count(v, row, "accesses");
	char b[64];
	double r;

	cl_table_add(t, "%s", cl_text_count(b, row->tokens));
	cl_table_add(t, "%s", cl_figure_percent(b, hits, accesses));
	(void)cl_figure_ratio(hits, accesses, &r);
	cl_table_add(t, "%.*s", (int)(BAR * (r > 1 ? 1 : r) + 0.5),
	    "############");
	cl_table_add(t, "%s", cl_render_cell(b, v, row, "misses"));
	cl_table_add(t, "%s", cl_render_bytes(b, v, CL_STATS_LOGICAL, row,
	    "demand_bytes"));
	if (t->ncolumns > 5) {
		cl_table_add(t, "%s", cl_render_bytes(b, v,
		    CL_STATS_MEASURED, met, "device_bytes"));
		(void)cl_run_count(v->run, CL_STATS_MEASURED, met,
		    "io_wait_ns", &ns);
		cl_table_add(t, "%s", cl_figure_ns(b, ns));
		(void)cl_run_count(v->run, CL_STATS_MEASURED, met, "wall_ns",
		    &ns);
		cl_table_add(t, "%s", cl_figure_rate(b,
		    cl_render_count(v, row, "tokens"), ns));
	}
}

/* One window says nothing that the whole run does not; but for a cut run. */
int
cl_render_windows(const struct view *v, struct cl_err *err)
{
	static const char *const heads[] = { "to token", "hits", "", "misses",
	    "demand", "device", "waited", "tokens/s" };
	const struct cl_run_rows *rows =
	    &v->run->rows[CL_STATS_LOGICAL][CL_STATS_WINDOW];
	struct cl_table t;
	size_t i;

	if (rows->n == 0 || (rows->n == 1 && v->all != NULL))
		return (CL_OK);
	cl_table_init(&t, v->run->rows[CL_STATS_MEASURED][CL_STATS_WINDOW].n >
	    0 ? 8 : 5, 4);
	cl_render_heads(&t, heads, t.ncolumns);
	for (i = 0; i < rows->n; i++)
		if (cl_render_shown(&t, v, i, rows->n))
			add_window(&t, v, &rows->row[i]);
	begin(v);
	return (cl_table_print(&t, v->dst, 0, v->r->options.bold, err));
}
