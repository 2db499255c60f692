#ifndef CL_STATS_H
#define CL_STATS_H

/*
 * A stat stream in memory: conditions, columns, rows and tables, shared by
 * whoever reads or writes one; the bytes are cl-stats(5).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;

#define CL_STATS_CONDS_MAX	1024
#define CL_STATS_COLUMNS_MAX	256
#define CL_STATS_TABLES_MAX	256		/* in a run */

enum cl_stats_type {			/* numbered as in cl-stats(5) */
	CL_STATS_NONE = 0,
	CL_STATS_U64 = 1,
	CL_STATS_F64 = 2,
	CL_STATS_STR = 3,
	CL_STATS_HASH = 4,		/* u64, shown as 16 hex digits */
	CL_STATS_BOOL = 5
};

enum cl_stats_kind {
	CL_STATS_LOGICAL = 1,
	CL_STATS_MEASURED = 2
};

enum cl_stats_scope {
	CL_STATS_RUN = 1,
	CL_STATS_PHASE = 2,		/* index 0 prefill, 1 decode */
	CL_STATS_LAYER = 3,
	CL_STATS_WINDOW = 4
};

/* A named value; owns its name, and its text where it is one. */
struct cl_stats_cond {
	char			*name;
	enum cl_stats_type	 type;
	uint64_t		 u;	/* U64, HASH, BOOL */
	double			 f;	/* F64 */
	char			*s;	/* STR */
};

struct cl_stats_conds {
	size_t			 n;
	size_t			 cap;
	struct cl_stats_cond	*cond;
};

struct cl_stats_column {
	enum cl_stats_type	 type;	/* U64, F64, HASH; STR in a table */
	const char		*name;
};

struct cl_stats_columns {
	enum cl_stats_kind	 kind;
	size_t			 n;
	size_t			 cap;
	struct cl_stats_column	*column; /* the list owns their names */
};

/* One cell of a row; which member holds follows from its column's type. */
struct cl_stats_value {
	bool			 there;
	uint64_t		 u;	/* U64, HASH */
	double			 f;	/* F64 */
	const char		*s;	/* STR: borrowed */
};

/*
 * Anything tabular that is no counter.  The first nkeys columns say what a row
 * is of, so that rows of two runs find each other.  Name and columns are the
 * caller's, mostly constants; cells are added row by row, left to right, and
 * text in them is borrowed until the table is written.  Running out of memory
 * shows when it is.  Filled with zero bytes but for the head, it is empty.
 */
struct cl_stats_table {
	const char		*name;
	enum cl_stats_kind	 kind;
	size_t			 nkeys;
	size_t			 ncolumns;
	const struct cl_stats_column *column;
	size_t			 ncells;
	size_t			 cap;
	struct cl_stats_value	*cell;
	bool			 bad;	/* one of them found no memory */
};

struct cl_stats_row {
	enum cl_stats_kind	 kind;
	enum cl_stats_scope	 scope;
	uint32_t		 index;
	uint64_t		 tokens;
	size_t			 n;	/* as many as its columns */
	const struct cl_stats_value *value;
};

struct cl_stats_end {			/* the trailer */
	unsigned		 end;	/* 1 complete, 2 incomplete,
					   3 interrupted */
	uint64_t		 records;
	uint64_t		 tokens;
	uint64_t		 routing; /* 0: unknown */
};

/*
 * Set a condition by name, new or anew.  The list takes copies; a list filled
 * with zero bytes is empty.
 */
int	cl_stats_set_none(struct cl_stats_conds *, const char *name,
	    struct cl_err *);
int	cl_stats_set_u64(struct cl_stats_conds *, const char *name, uint64_t,
	    struct cl_err *);
int	cl_stats_set_f64(struct cl_stats_conds *, const char *name, double,
	    struct cl_err *);
int	cl_stats_set_str(struct cl_stats_conds *, const char *name,
	    const char *, struct cl_err *);
int	cl_stats_set_hash(struct cl_stats_conds *, const char *name, uint64_t,
	    struct cl_err *);
int	cl_stats_set_bool(struct cl_stats_conds *, const char *name, bool,
	    struct cl_err *);

/* The condition of that name, or NULL. */
const struct cl_stats_cond	*cl_stats_find(const struct cl_stats_conds *,
				    const char *name);

/* Append a column, which takes a copy of the n bytes of its name. */
int	cl_stats_add_column(struct cl_stats_columns *, enum cl_stats_type,
	    const char *name, size_t n, struct cl_err *);

/* The index of the column of that name, or n where there is none. */
size_t	cl_stats_column(const struct cl_stats_columns *, const char *name);

/* The next cell of a table; none: nothing is known. */
void	cl_stats_table_u64(struct cl_stats_table *, uint64_t);
void	cl_stats_table_f64(struct cl_stats_table *, double);
void	cl_stats_table_str(struct cl_stats_table *, const char *);
void	cl_stats_table_none(struct cl_stats_table *);

/* All rows go, the head stays. */
void	cl_stats_table_clear(struct cl_stats_table *);

void	cl_stats_conds_free(struct cl_stats_conds *);
void	cl_stats_columns_free(struct cl_stats_columns *);

#endif /* CL_STATS_H */
