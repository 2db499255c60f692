/*
 * What the parts of a report for people ask of a run: a counter or measurement
 * as a number or as text, "-" where there is none.
 */

#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

uint64_t
cl_render_count(const struct view *v, const struct cl_run_row *row,
    const char *name)
{
	uint64_t n;

	(void)cl_run_count(v->run, CL_STATS_LOGICAL, row, name, &n);
	return (n);
}

bool
cl_render_measure(const struct view *v, const char *name, uint64_t *n)
{

	return (cl_run_count(v->run, CL_STATS_MEASURED, v->met, name, n));
}

const char *
cl_render_cell(char buf[32], const struct view *v, const struct cl_run_row *row,
    const char *name)
{
	struct cl_cell cell = cl_run_named(v->run, CL_STATS_LOGICAL, row,
	    name);

	return (cl_cell_text(&cell, buf, 32));
}

const char *
cl_render_bytes(char buf[CL_TEXT_SIZE_MAX], const struct view *v,
    enum cl_stats_kind kind, const struct cl_run_row *row, const char *name)
{
	uint64_t n;

	return (cl_run_count(v->run, kind, row, name, &n) ?
	    cl_text_bytes(buf, n) : "-");
}

/* Names are heads of columns, so that a table says what it holds. */
void
cl_render_heads(struct cl_table *t, const char *const *heads, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		cl_table_add(t, "%s", heads[i]);
}
