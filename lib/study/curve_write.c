/*
 * A curve as tables.  Hits change at few of the capacities of a layer and at
 * most of those of all layers, so a capacity has a row where it has more hits
 * than the one below, and the last one always.
 */

#include <stdlib.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "cl/stats_write.h"
#include "curve_int.h"

static const unsigned percents[] = { 50, 80, 90, 95, 99 };

#define NPERCENTS	(sizeof(percents) / sizeof(percents[0]))

/* The layer of a scope: none for all of them together. */
static struct cl_stats_value
layer_of(const struct cl_curve *c, uint32_t scope)
{
	struct cl_stats_value v = { .there = scope > 0 };

	if (scope > 0)
		v.u = c->keys->column[scope - 1].layer;
	return (v);
}

static struct cl_stats_value
number(uint64_t u)
{
	struct cl_stats_value v = { .there = true, .u = u };

	return (v);
}

static int
write_scope(const struct cl_curve *c, uint32_t scope,
    struct cl_stats_writer *w, struct cl_err *err)
{
	const struct scope *s = &c->scope[scope];
	struct cl_stats_value row[4];
	uint64_t hits = 0;
	uint32_t i;
	int status = CL_OK;

	row[0] = layer_of(c, scope);
	for (i = 1; i <= s->nkeys && status == CL_OK; i++) {
		hits += s->from[i];
		if (s->from[i] == 0 && i < s->nkeys)
			continue;
		row[1] = number(i);
		row[2] = number(hits);
		row[3] = number(s->accesses - hits);
		status = cl_stats_write_table_row(w, row, err);
	}
	return (status);
}

static int
write_curve(const struct cl_curve *c, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "capacity_experts" },
		{ CL_STATS_U64, "hits" }, { CL_STATS_U64, "misses" }
	};
	static const struct cl_stats_table t = { .name = "curve",
	    .kind = CL_STATS_LOGICAL, .nkeys = 2, .ncolumns = 4,
	    .column = columns };
	uint32_t i;
	int status = cl_stats_write_table_head(w, &t, err);

	for (i = 0; i < c->nscopes && status == CL_OK; i++)
		status = write_scope(c, i, w, err);
	return (status == CL_OK ? cl_stats_write_table_end(w, err) : status);
}

/* The least capacity at which so many percent hit; 0: there is none. */
static uint32_t
capacity_for(const struct scope *s, unsigned percent)
{
	uint64_t hits = 0;
	uint32_t i;

	for (i = 1; i <= s->nkeys && s->accesses > 0; i++) {
		hits += s->from[i];
		/* hits / accesses >= percent / 100, without overflow */
		if (hits / s->accesses * 100 + hits % s->accesses * 100 /
		    s->accesses >= percent)
			return (i);
	}
	return (0);
}

static int
write_capacities(const struct cl_curve *c, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "percent" },
		{ CL_STATS_U64, "capacity_experts" }
	};
	static const struct cl_stats_table t = { .name = "capacities",
	    .kind = CL_STATS_LOGICAL, .nkeys = 2, .ncolumns = 3,
	    .column = columns };
	struct cl_stats_value row[3];
	uint32_t i;
	size_t j;
	int status = cl_stats_write_table_head(w, &t, err);

	for (i = 0; i < c->nscopes; i++) {
		row[0] = layer_of(c, i);
		for (j = 0; j < NPERCENTS && status == CL_OK; j++) {
			row[1] = number(percents[j]);
			row[2] = number(capacity_for(&c->scope[i],
			    percents[j]));
			row[2].there = row[2].u > 0;
			status = cl_stats_write_table_row(w, row, err);
		}
	}
	return (status == CL_OK ? cl_stats_write_table_end(w, err) : status);
}

int
cl_curve_window(struct cl_curve *c, uint64_t tokens,
    struct cl_stats_writer *w, struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "window" }, { CL_STATS_U64, "tokens" },
		{ CL_STATS_U64, "used" }, { CL_STATS_U64, "new" },
		{ CL_STATS_U64, "seen" }
	};
	static const struct cl_stats_table t = { .name = "working_set",
	    .kind = CL_STATS_LOGICAL, .nkeys = 1, .ncolumns = 5,
	    .column = columns };
	struct cl_stats_value row[5];
	int status = CL_OK;

	if (c->nwindows == 0)
		status = cl_stats_write_table_head(w, &t, err);
	row[0] = number(c->nwindows++);
	row[1] = number(tokens);
	row[2] = number(c->used);
	row[3] = number(c->fresh);
	row[4] = number(c->seen);
	cl_curve_next_window(c);
	return (status == CL_OK ? cl_stats_write_table_row(w, row, err) :
	    status);
}

int
cl_curve_write(struct cl_curve *c, struct cl_stats_writer *w,
    struct cl_err *err)
{
	int status = CL_OK;

	if (c->nwindows > 0)
		status = cl_stats_write_table_end(w, err);
	if (status == CL_OK)
		status = write_curve(c, w, err);
	return (status == CL_OK ? write_capacities(c, w, err) : status);
}
