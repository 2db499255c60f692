#ifndef CL_STATS_READ_H
#define CL_STATS_READ_H

/*
 * Reads a stat stream record by record, and tables row by row, in memory that
 * follows the largest record.  One thread.  What a record points to
 * borrows from the reader and dies at the next call.
 */

#include "cl/stats.h"

struct cl_decision;
struct cl_src;
struct cl_stats_reader;

struct cl_stats_rec {
	enum cl_stats_rec_kind {
		CL_STATS_REC_RUN,	/* a run begins: conds */
		CL_STATS_REC_COLUMNS,	/* columns */
		CL_STATS_REC_MACHINE,	/* conds */
		CL_STATS_REC_ROW,	/* row, and its columns */
		CL_STATS_REC_TRAILER,	/* a run ends, whole: end */
		CL_STATS_REC_TABLE,	/* a table begins: table */
		CL_STATS_REC_CELLS,	/* a row of it: table, cells */
		CL_STATS_REC_DECISION	/* an event of the log: decision */
	}		 kind;
	const struct cl_stats_conds *conds;
	const struct cl_stats_columns *columns;
	const struct cl_stats_row *row;
	const struct cl_stats_end *end;
	const struct cl_stats_table *table;	/* without its cells */
	const struct cl_stats_value *cells;	/* table->ncolumns of them */
	const struct cl_decision *decision;
};

/* A reader of src, which it owns from now on, also where this fails. */
struct cl_stats_reader	*cl_stats_reader_new(struct cl_src *, struct cl_err *);

/* Is the log of events handed out, too?  Else it is only checked. */
void	cl_stats_reader_want(struct cl_stats_reader *, bool decisions);

/*
 * The next record, or CL_END behind the last trailer.  An empty stream and
 * input that merely stops are CL_ECUT, never CL_END.
 */
int	cl_stats_read(struct cl_stats_reader *, const struct cl_stats_rec **,
	    struct cl_err *);

void	cl_stats_reader_free(struct cl_stats_reader *);	/* NULL is legal */

#endif /* CL_STATS_READ_H */
