/*
 * What was measured.  Speed, waiting and what the device really delivered
 * stand together, since none of them can be told from a hit rate.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

/* One measured time, with its share of the wall time. */
static void
add_time(struct cl_table *t, const struct view *v, const char *label,
    const char *name, bool quiet, const char *remark)
{
	char b[CL_FIGURE_MAX], p[CL_FIGURE_MAX];
	uint64_t ns, wall;

	(void)cl_render_measure(v, "wall_ns", &wall);
	if (!cl_render_measure(v, name, &ns) || (quiet && ns == 0))
		return;
	cl_table_add(t, "%s", label);
	cl_table_add(t, "%s", cl_figure_ns(b, ns));
	if (remark == NULL)
		cl_table_add(t, "%s of the wall time", cl_figure_percent(p,
		    ns, wall));
	else
		cl_table_add(t, "%s", remark);
}

/* Where one measured time went, of every phase that has one. */
static void
add_phase(struct cl_table *t, const struct view *v, uint32_t phase)
{
	static const char *const names[] = { "wall_ns", "io_wait_ns",
	    "compute_ns", "read_ns" };
	const struct cl_run_row *met = cl_run_find(v->run, CL_STATS_MEASURED,
	    CL_STATS_PHASE, phase);
	char b[CL_FIGURE_MAX];
	uint64_t ns;
	size_t i;

	if (met == NULL || met->tokens == 0)
		return;
	cl_table_add(t, phase == 0 ? "prefill" : "decode");
	(void)cl_run_count(v->run, CL_STATS_MEASURED, met, "wall_ns", &ns);
	cl_table_add(t, "%s", cl_figure_rate(b, met->tokens, ns));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cl_table_add(t, "%s", cl_run_count(v->run, CL_STATS_MEASURED,
		    met, names[i], &ns) ? cl_figure_ns(b, ns) : "-");
}

static int
by_phase(const struct view *v, struct cl_err *err)
{
	struct cl_table t;

	if (v->run->rows[CL_STATS_MEASURED][CL_STATS_PHASE].n == 0)
		return (CL_OK);
	cl_table_init(&t, 6, 1);
	cl_render_heads(&t, (const char *const[]){ cl_run_modelled(v->run) ?
	    "MODELLED by phase" : "by phase", "tokens/s", "wall", "waited",
	    "computed", "reading" }, 6);
	add_phase(&t, v, 0);
	add_phase(&t, v, 1);
	cl_dst_printf(v->dst, "\n");
	return (cl_table_print(&t, v->dst, 0, v->r->options.bold, err));
}

/* What really came from the device, beside what was asked for. */
static void
add_device(struct cl_table *t, const struct view *v)
{
	char b[CL_TEXT_SIZE_MAX], p[CL_FIGURE_MAX];
	uint64_t asked = cl_render_count(v, v->all, "demand_bytes") +
	    cl_render_count(v, v->all, "prefetch_bytes") +
	    cl_render_count(v, v->all, "dense_bytes");
	uint64_t got;

	if (cl_run_modelled(v->run) ||	/* which reads nothing */
	    !cl_render_measure(v, "device_bytes", &got))
		return;
	cl_table_add(t, "from the device");
	cl_table_add(t, "%s", cl_text_bytes(b, got));
	cl_table_add(t, "%s of %s asked for", cl_figure_percent(p, got,
	    asked), cl_text_bytes(b, asked));
	if ((got > asked ? got - asked : asked - got) <= asked / 10)
		return;
	cl_table_add(t, "%s", "");
	cl_table_add(t, "%s", "");
	cl_table_add(t, got < asked ? "the page cache served the rest" :
	    "more was read than was asked for");
}

/* Direct reads begin and end with pages. */
static void
add_surplus(struct cl_table *t, const struct view *v)
{
	char b[CL_TEXT_SIZE_MAX];
	uint64_t n;

	if (!cl_render_measure(v, "surplus_bytes", &n) || n == 0)
		return;
	cl_table_add(t, "beyond what was asked");
	cl_table_add(t, "%s", cl_text_bytes(b, n));
	cl_table_add(t, "of the pages that direct reads begin and end in");
}

static void
add_memory(struct cl_table *t, const struct view *v)
{
	char peak[CL_TEXT_SIZE_MAX], start[CL_TEXT_SIZE_MAX];
	char b[CL_TEXT_SIZE_MAX];
	uint64_t n, before, said;

	if (!cl_render_measure(v, "rss_peak", &n) || n == 0)
		return;
	(void)cl_render_measure(v, "rss_start", &before);
	cl_table_add(t, "peak memory");
	cl_table_add(t, "%s", cl_text_bytes(peak, n));
	if (cl_render_measure(v, "rss_predicted", &said) && said != 0)
		cl_table_add(t, "%s at the start, %s predicted",
		    cl_text_bytes(start, before), cl_text_bytes(b, said));
	else
		cl_table_add(t, "%s at the start", cl_text_bytes(start,
		    before));
}

static void
add_count(struct cl_table *t, const struct view *v, const char *label,
    const char *name)
{
	char b[32];
	uint64_t n;

	if (!cl_render_measure(v, name, &n) || n == 0)
		return;
	cl_table_add(t, "%s", label);
	cl_table_add(t, "%s", cl_text_count(b, n));
	cl_table_fill(t);
}

/* Pages that had to be read; more than one in 100 tokens are worth a word. */
static void
add_faults(struct cl_table *t, const struct view *v)
{
	char b[32];
	uint64_t n;

	if (!cl_render_measure(v, "major_faults", &n))
		return;
	cl_table_add(t, "major faults");
	cl_table_add(t, "%s", cl_text_count(b, n));
	cl_table_add(t, n > cl_render_count(v, v->all, "tokens") / 100 ?
	    "PAGED: hits may have waited, too; is memory short?" : "");
}

/* Measurements that this file does not know. */
static void
add_unknown(struct cl_table *t, const struct view *v)
{
	static const char *const names[] = { "device_bytes", "read_ns",
	    "io_wait_ns", "dense_wait_ns", "compute_ns", "input_wait_ns",
	    "wall_ns", "prefetch_late", "major_faults", "rss_start",
	    "rss_peak", "rss_start_peak", "rss_predicted", "read_retries",
	    "prefetch_failed", "surplus_bytes" };
	const struct cl_stats_columns *columns =
	    &v->run->columns[CL_STATS_MEASURED];
	struct cl_cell cell;
	char b[64];
	size_t i, k, n = sizeof(names) / sizeof(names[0]);

	for (i = 0; i < columns->n; i++) {
		for (k = 0; k < n; k++)
			if (strcmp(names[k], columns->column[i].name) == 0)
				break;
		cell = cl_run_cell(v->run, CL_STATS_MEASURED, v->met, i);
		if (k < n || cl_cell_zero(&cell))
			continue;
		cl_table_add(t, "%s", columns->column[i].name);
		cl_table_add(t, "%s", cl_cell_text(&cell, b, sizeof(b)));
		cl_table_fill(t);
	}
}

int
cl_render_measured(const struct view *v, struct cl_err *err)
{
	static const char outside[] = "for the trace; no part of the wall time";
	char b[CL_FIGURE_MAX];
	struct cl_table t;
	uint64_t wall, tokens = cl_render_count(v, v->all, "tokens");
	struct cl_cell piped = cl_cell_cond(cl_stats_find(&v->run->machine,
	    "trace_from_pipe"));

	if (v->met == NULL && !v->replay)
		return (CL_OK);
	if (v->met == NULL) {
		cl_dst_printf(v->dst, "\nnothing measured: no expert was "
		    "read\n");
		return (CL_OK);
	}
	(void)cl_render_measure(v, "wall_ns", &wall);
	cl_table_init(&t, 3, 1 | 4);
	cl_table_add(&t, cl_run_modelled(v->run) ? "MODELLED" : "measured");
	cl_table_fill(&t);
	cl_table_add(&t, "tokens a second");
	cl_table_add(&t, "%s", cl_figure_rate(b, tokens, wall));
	cl_table_add(&t, "measured tokens / wall time");
	add_time(&t, v, "wall time", "wall_ns", false, "");
	add_time(&t, v, "waited for reads", "io_wait_ns", false, NULL);
	add_time(&t, v, "  for dense", "dense_wait_ns", true, NULL);
	add_time(&t, v, "computed", "compute_ns", true, NULL);
	add_time(&t, v, "reading", "read_ns", false, "summed over workers");
	add_device(&t, v);
	add_surplus(&t, v);
	add_count(&t, v, "late prefetches", "prefetch_late");
	add_time(&t, v, "waited for input", "input_wait_ns", true, outside);
	add_count(&t, v, "reads tried again", "read_retries");
	add_count(&t, v, "failed prefetches", "prefetch_failed");
	add_faults(&t, v);
	add_memory(&t, v);
	add_unknown(&t, v);
	cl_dst_printf(v->dst, "\n");
	if (cl_table_print(&t, v->dst, 0, v->r->options.bold, err) != CL_OK ||
	    by_phase(v, err) != CL_OK)
		return (CL_ENOMEM);
	if (piped.type == CL_STATS_BOOL && piped.u != 0)
		cl_dst_printf(v->dst, "trace from a pipe: a recorder at its "
		    "other end shared processor and page cache\n");
	return (CL_OK);
}
