#ifndef CL_STATS_WRITE_H
#define CL_STATS_WRITE_H

/*
 * Writes one run of a stat stream to a sink, which it borrows: run, columns,
 * rows, trailer, in this order.  One thread.  The first failure sticks and
 * comes back from every later call.
 */

#include "cl/stats.h"

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

/* The trailer; the sink is flushed, not finished.  end->records is ours. */
int	cl_stats_writer_finish(struct cl_stats_writer *,
	    const struct cl_stats_end *, struct cl_err *);

void	cl_stats_writer_free(struct cl_stats_writer *);	/* NULL is legal */

#endif /* CL_STATS_WRITE_H */
