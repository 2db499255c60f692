/*
 * What the parts of a report for people ask of a run: what it is called, and a
 * counter or measurement as a number or as text, "-" where there is none.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define HEADLINE_NAME	50		/* characters of a name in it */

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

const char *
cl_render_trace(char buf[RENDER_NAME_MAX], const struct cl_run *run)
{
	const char *name = cl_run_cond_text(run, "member_name", "");
	struct cl_cell member = cl_run_cond(run, "member");
	char which[40] = "";

	if (*name == '\0' && member.type == CL_STATS_U64 && member.u > 1)
		(void)snprintf(which, sizeof(which), " (%llu)",
		    (unsigned long long)member.u);
	(void)snprintf(buf, RENDER_NAME_MAX, "%s%s%s%s",
	    cl_run_cond_text(run, "trace", "a trace"),
	    *name == '\0' ? "" : ":", name, which);
	return (buf);
}

const char *
cl_render_marked(char buf[RENDER_NAME_MAX], const struct cl_run *run)
{
	char trace[RENDER_NAME_MAX];

	if (!cl_run_synthetic(run))
		return (cl_render_trace(buf, run));
	(void)snprintf(buf, RENDER_NAME_MAX, "SYNTHETIC %.*s",
	    RENDER_NAME_MAX - 20, cl_render_trace(trace, run));
	return (buf);
}

/* Its whole name is below it, in the line of the trace. */
void
cl_render_headline(const struct view *v)
{
	struct cl_cell slots = cl_run_cond(v->run, "cache_experts");
	char trace[RENDER_NAME_MAX], name[300], label[32], count[40];
	char line[700];
	size_t n;

	(void)cl_render_marked(trace, v->run);
	n = (size_t)snprintf(line, sizeof(line), "%s, ", cl_table_cut(name,
	    sizeof(name), trace, HEADLINE_NAME));
	if (v->replay)
		(void)snprintf(line + n, sizeof(line) - n,
		    "%s, %s experts cached%s", cl_table_cut(name,
		    sizeof(name), cl_run_cond_text(v->run, "policy", ""),
		    HEADLINE_NAME), cl_cell_text(&slots, count,
		    sizeof(count)), cl_run_modelled(v->run) ?
		    ", times MODELLED" : "");
	else
		(void)snprintf(line + n, sizeof(line) - n, "%s",
		    cl_table_cut(name, sizeof(name), cl_run_what(v->run),
		    HEADLINE_NAME));
	n = (size_t)snprintf(label, sizeof(label), "run %zu:", v->r->nruns);
	cl_dst_printf(v->dst, "%s", v->r->options.bold ? "\033[1m" : "");
	cl_table_wrap(v->dst, label, (unsigned)n + 1, line);
	cl_dst_printf(v->dst, "%s", v->r->options.bold ? "\033[0m" : "");
}
