#ifndef CL_STATS_WRITE_H
#define CL_STATS_WRITE_H

/*
 * Writes one run of a stat stream to a sink, which it borrows: run, columns,
 * rows and tables, trailer, in this order.  One thread.  The first failure
 * sticks and comes back from every later call.
 */

#include "cl/stats.h"

struct cl_decision;
struct cl_dst;
struct cl_stats_writer;

/* Writes the preamble and the RUN record at once. */
struct cl_stats_writer	*cl_stats_writer_new(struct cl_dst *,
			    const struct cl_stats_conds *run,
			    struct cl_err *);

int	cl_stats_write_columns(struct cl_stats_writer *,
	    const struct cl_stats_columns *, struct cl_err *);
int	cl_stats_write_machine(struct cl_stats_writer *,
	    const struct cl_stats_conds *, struct cl_err *);

/* A window row is flushed at once, so that a reader can draw progress. */
int	cl_stats_write_row(struct cl_stats_writer *,
	    const struct cl_stats_row *, struct cl_err *);

/*
 * A whole table, which stays the caller's.  A name stands once in a run; the
 * tables stand behind the columns, in any order among the rows.
 */
int	cl_stats_write_table(struct cl_stats_writer *,
	    const struct cl_stats_table *, struct cl_err *);

/*
 * The same as it is made, in bounded memory: its head, of which the cells are
 * not looked at, then rows of ncolumns values, then its end.  Nothing else is
 * written in between.
 */
int	cl_stats_write_table_head(struct cl_stats_writer *,
	    const struct cl_stats_table *, struct cl_err *);
int	cl_stats_write_table_row(struct cl_stats_writer *,
	    const struct cl_stats_value *, struct cl_err *);
int	cl_stats_write_table_end(struct cl_stats_writer *, struct cl_err *);

/*
 * The next event of the log, in the order of the run, once columns are
 * written.  It leaves with the next row or table, or when there are many.
 */
int	cl_stats_write_decision(struct cl_stats_writer *,
	    const struct cl_decision *, struct cl_err *);

/* The trailer; the sink is flushed, not finished.  end->records is ours. */
int	cl_stats_writer_finish(struct cl_stats_writer *,
	    const struct cl_stats_end *, struct cl_err *);

void	cl_stats_writer_free(struct cl_stats_writer *);	/* NULL is legal */

#endif /* CL_STATS_WRITE_H */
