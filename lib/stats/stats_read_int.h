#ifndef STATS_READ_INT_H
#define STATS_READ_INT_H

/*
 * Inside the reader of stat streams: what it knows of the run at hand, and who
 * takes which record.  A taker checks the record whole before it leaves it in
 * r->out; what is wrong is told by cl_stats_bad.
 */

#include "cl/buf.h"
#include "cl/cur.h"
#include "cl/decision.h"
#include "cl/err.h"
#include "cl/stats_read.h"

struct cl_rec;

#define KINDS		(CL_STATS_MEASURED + 1)
#define SCOPES		(CL_STATS_WINDOW + 1)

struct cl_stats_reader {
	struct cl_src	*src;
	struct cl_err	 err;		/* the first failure */
	uint64_t	 runs;		/* begun so far */
	/* Of the run at hand. */
	bool		 inside;	/* its preamble is read */
	bool		 machine;	/* its MACHINE is read */
	bool		 rows;		/* its rows have begun */
	uint64_t	 records;
	uint64_t	 off;		/* of the record at hand */
	uint64_t	 next[KINDS][SCOPES];	/* least index allowed */
	struct cl_stats_conds run;
	struct cl_stats_conds facts;
	struct cl_stats_columns columns[KINDS];	/* kind 0: not there yet */
	struct cl_stats_value value[CL_STATS_COLUMNS_MAX];
	struct cl_stats_row row;
	struct cl_stats_end end;
	/* Its tables, and the one at hand. */
	char		*tables[CL_STATS_TABLES_MAX];
	size_t		 ntables;
	struct cl_stats_table table;
	struct cl_stats_columns table_columns;
	struct cl_cur	 part;		/* of the record: rows to come */
	uint32_t	 part_rows;	/* that are left in it */
	bool		 more;		/* another part must follow */
	uint64_t	 table_rows;	/* up to the end of this part */
	struct cl_buf	 head;		/* of its first part, up to rows */
	struct cl_buf	 text;		/* of the row at hand */
	struct cl_decision_log log;	/* handed out if it is wanted */
	bool		 wants;
	struct cl_decision decision;
	struct cl_stats_rec out;
};

/* A rule is broken in the record at hand; names from it are made harmless. */
int	cl_stats_bad(struct cl_stats_reader *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

/* All fields of a record of that name were there, and nothing behind them. */
int	cl_stats_used_up(struct cl_stats_reader *,
	    const struct cl_cur *, const char *what);

/* What stands ahead of the rows. */
int	cl_stats_take_conds(struct cl_stats_reader *, const struct cl_rec *,
	    const char *what, struct cl_stats_conds *);
int	cl_stats_take_machine(struct cl_stats_reader *,
	    const struct cl_rec *);
int	cl_stats_take_columns(struct cl_stats_reader *,
	    const struct cl_rec *);

/* The next column of those a record has; text: one of it is allowed. */
int	cl_stats_take_column(struct cl_stats_reader *, struct cl_cur *,
	    struct cl_stats_columns *, bool text);

int	cl_stats_take_row(struct cl_stats_reader *, const struct cl_rec *);

/*
 * A part of a table; *began: the first.  Its rows are left to
 * cl_stats_take_cells, and the record stays where it is until they are taken.
 */
int	cl_stats_take_table(struct cl_stats_reader *, const struct cl_rec *,
	    bool *began);

/* The next row of the part at hand, and nothing behind the last. */
int	cl_stats_take_cells(struct cl_stats_reader *);

/* The tables of the run are over. */
void	cl_stats_forget_tables(struct cl_stats_reader *);

#endif /* STATS_READ_INT_H */
