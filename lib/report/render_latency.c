/*
 * How long reads took: quantiles out of the counted buckets of the table
 * read_latency, demand and prefetch apart, since nobody waits for the latter.
 * A quantile is the upper end of its bucket, so it is never below the true
 * one, and at most 1/32 above it (cl-stats(5)).
 */

#include <stdio.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/num.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define QUEUES	2

/* A counter in row i of the table; 0 where it is none. */
static uint64_t
count(const struct view *v, const struct cl_run_table *t, size_t i,
    const char *name)
{
	struct cl_cell cell = cl_run_table_named(v->run, t, i, name);

	return (cell.type == CL_STATS_U64 ? cell.u : 0);
}

/* All reads of a queue; those beyond 2^64 are not believed. */
static uint64_t
reads(const struct view *v, const struct cl_run_table *t, uint64_t queue)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (count(v, t, i, "queue") == queue &&
		    !cl_add(n, count(v, t, i, "count"), &n))
			return (UINT64_MAX);
	return (n);
}

/* What rank of n reads, from 1, took at most; rows ascend. */
static uint64_t
time_of(const struct view *v, const struct cl_run_table *t, uint64_t queue,
    uint64_t rank)
{
	uint64_t n, ns = 0;
	size_t i;

	for (i = 0; i < t->n && rank > 0; i++) {
		if (count(v, t, i, "queue") != queue)
			continue;
		n = count(v, t, i, "count");
		ns = count(v, t, i, "high_ns");
		rank -= n < rank ? n : rank;
	}
	return (ns);
}

/* The least rank that part / 1000 of n are not above. */
static uint64_t
rank_of(uint64_t n, unsigned part)
{

	return (n / 1000 * part + (n % 1000 * part + 999) / 1000);
}

int
cl_render_latency(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	static const char *const queues[QUEUES] = { "demand", "prefetch" };
	static const unsigned parts[] = { 500, 900, 990, 999, 1000 };
	struct cl_table to;
	char b[64];
	uint64_t n;
	size_t queue, i;

	cl_table_init(&to, 7, 1);
	cl_table_add(&to, cl_run_modelled(v->run) ? "MODELLED latency" :
	    "read latency");
	cl_render_heads(&to, (const char *const[]){ "reads", "p50", "p90",
	    "p99", "p99.9", "max" }, 6);
	for (queue = 0; queue < QUEUES; queue++) {
		if ((n = reads(v, t, queue)) == 0)
			continue;
		cl_table_add(&to, "%s", queues[queue]);
		cl_table_add(&to, "%s", cl_text_count(b, n));
		for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			cl_table_add(&to, "%s", cl_figure_ns(b, time_of(v, t,
			    queue, rank_of(n, parts[i]))));
	}
	cl_dst_printf(v->dst, "\n");
	return (cl_table_print(&to, v->dst, 0, v->r->options.bold, err));
}
