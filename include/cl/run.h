#ifndef CL_RUN_H
#define CL_RUN_H

/*
 * One run of a stat stream, gathered: its conditions, what it met, and all its
 * rows, found by kind, scope and index.  Memory follows the bytes of the run.
 * Read-only once gathered; cells borrow from it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/buf.h"
#include "cl/cell.h"
#include "cl/decision.h"
#include "cl/stats.h"

struct cl_err;
struct cl_stats_reader;

struct cl_run_row {
	uint32_t	 index;
	uint64_t	 tokens;
	size_t		 at;		/* its words in the pool */
};

struct cl_run_rows {			/* of one kind and scope, ascending */
	size_t		 n;
	size_t		 cap;
	struct cl_run_row *row;
	/* A bit for each column that has a value in any of them. */
	uint64_t	 used[CL_STATS_COLUMNS_MAX / 64];
};

struct cl_run_table {
	char			*name;
	size_t			 nkeys;
	struct cl_stats_columns	 columns; /* and its kind */
	size_t			 n;	/* rows */
	size_t			 cap;
	size_t			*at;	/* of each, its words in the pool */
};

struct cl_run {
	struct cl_stats_conds	 conds;
	struct cl_stats_conds	 machine;	/* empty where it has none */
	struct cl_stats_columns	 columns[CL_STATS_MEASURED + 1];
	struct cl_run_rows	 rows[CL_STATS_MEASURED + 1]
				    [CL_STATS_WINDOW + 1];
	bool			 begun;	/* there is anything at all */
	bool			 whole;	/* its trailer came: end holds */
	struct cl_stats_end	 end;
	size_t			 ntables;
	size_t			 tables_cap;
	struct cl_run_table	*table;	/* as they came */
	struct cl_buf		 text;	/* of their cells, each with its NUL */
	/* The log of events, as cl_decision_put has put it. */
	struct cl_buf		 log;
	struct cl_decision_place last;
	uint64_t		 nlogged;
	/* For each row: a bit per column, then the values that are there. */
	uint64_t		*pool;
	size_t			 npool;
	size_t			 pool_cap;
};

/*
 * Gather the next run, with its log where the reader hands it out, into *run,
 * which must be zero or freed; CL_END behind the last.  On failure *run holds
 * what was intact of the run at hand (begun, but not whole), or nothing; free
 * it all the same.
 */
int	cl_run_next(struct cl_stats_reader *, struct cl_run *run,
	    struct cl_err *);

/* "complete", "incomplete", "interrupted"; "cut" without a trailer. */
const char	*cl_run_end(const struct cl_run *);

/* The row of that index, or NULL. */
const struct cl_run_row	*cl_run_find(const struct cl_run *,
			    enum cl_stats_kind, enum cl_stats_scope,
			    uint32_t index);

/* The cell of a row (NULL: none) by number or name of its column. */
struct cl_cell	cl_run_cell(const struct cl_run *, enum cl_stats_kind,
		    const struct cl_run_row *, size_t column);
struct cl_cell	cl_run_named(const struct cl_run *, enum cl_stats_kind,
		    const struct cl_run_row *, const char *column);

/* A counter; 0, and false, where it has no value. */
bool	cl_run_count(const struct cl_run *, enum cl_stats_kind,
	    const struct cl_run_row *, const char *column, uint64_t *);

/* Has any row of that scope a value in this column? */
bool	cl_run_holds(const struct cl_run *, enum cl_stats_kind,
	    enum cl_stats_scope, size_t column);

/* The table of that name, or NULL. */
const struct cl_run_table	*cl_run_table(const struct cl_run *,
				    const char *name);

/* A cell of its row i < n, by number or name of its column. */
struct cl_cell	cl_run_table_cell(const struct cl_run *,
		    const struct cl_run_table *, size_t i, size_t column);
struct cl_cell	cl_run_table_named(const struct cl_run *,
		    const struct cl_run_table *, size_t i,
		    const char *column);

/* What was run: "replay", or what a run without a cache calls itself. */
const char	*cl_run_what(const struct cl_run *);

/* Are its times those of a modelled device? */
bool	cl_run_modelled(const struct cl_run *);

/* Was its policy fitted on the trace that it is replayed on? */
bool	cl_run_hindsight(const struct cl_run *);

struct cl_cell	cl_run_cond(const struct cl_run *, const char *name);

/* The text of a condition, or instead where it has none. */
const char	*cl_run_cond_text(const struct cl_run *, const char *name,
		    const char *instead);

/*
 * Of the whole run: hits / accesses, and tokens / wall time in seconds; none
 * where there is no base, or no token.
 */
struct cl_cell	cl_run_hit_rate(const struct cl_run *);
struct cl_cell	cl_run_tokens_per_s(const struct cl_run *);

/* "run\t", "phase\tdecode", "layer\t3": two columns of a table of tabs. */
const char	*cl_run_place(char buf[32], enum cl_stats_scope,
		    uint32_t index);

/* Did the trace come from the synthetic router? */
bool	cl_run_synthetic(const struct cl_run *);

void	cl_run_free(struct cl_run *);

#endif /* CL_RUN_H */
