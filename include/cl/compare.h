#ifndef CL_COMPARE_H
#define CL_COMPARE_H

/*
 * Two runs side by side: conditions that differ, every counter with its
 * change, what was measured, layers that differ; the forms are those of
 * cl-diff(1).  Runs are the same when their logical counters and digests are,
 * in every row; conditions and measurements do not count.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/run.h"

struct cl_compare;
struct cl_dst;
struct cl_err;
struct cl_render_options;
struct cl_stats_reader;

/* All runs of one input. */
struct cl_compare_side {
	const char	*name;		/* the caller's */
	size_t		 n;
	size_t		 cap;
	struct cl_run	*run;
};

/* The columns of both runs by name; one that a side lacks is its n there. */
struct cl_compare_columns {
	size_t		 n;
	uint16_t	 a[2 * CL_STATS_COLUMNS_MAX];
	uint16_t	 b[2 * CL_STATS_COLUMNS_MAX];
};

/*
 * A logical table of that name, with the partner of each row of either side;
 * a or b is NULL where that side has none, and then none has a partner.
 */
struct cl_compare_table {
	const char	*name;
	const struct cl_run_table *a;
	const struct cl_run_table *b;
	struct cl_compare_columns columns;
	size_t		*partner_a;	/* or CL_COMPARE_ALONE */
	size_t		*partner_b;
};

#define CL_COMPARE_ALONE	SIZE_MAX

/* Two runs that belong together; borrows them. */
struct cl_compare_pair {
	const struct cl_run *a;
	const struct cl_run *b;
	struct cl_compare_columns columns[CL_STATS_MEASURED + 1]; /* by kind */
	size_t		 ntables;
	size_t		 tables_cap;
	struct cl_compare_table *table;
};

/*
 * All pairs, in the order of a, and the numbers from 0 of the runs that have
 * no partner.
 */
struct cl_compare_pairs {
	struct cl_compare_pair *pair;
	size_t		 n;
	size_t		*only_a;
	size_t		 nonly_a;
	size_t		*only_b;
	size_t		 nonly_b;
};

struct cl_compare_verdict {
	size_t		 counters;	/* of the whole run */
	size_t		 counters_differ;
	size_t		 phases_differ;
	size_t		 layers;	/* of either side */
	size_t		 layers_differ;
	size_t		 windows_differ;
	size_t		 tables;	/* of either side */
	size_t		 tables_differ;
	bool		 windows;	/* were comparable: same bounds */
	bool		 parted;	/* in a window that is known: */
	uint64_t	 parted_from;	/* tokens before it */
	uint64_t	 parted_to;	/* tokens up to its end */
	bool		 same;
};

/* Gather every run into an empty side with its name set; all or an error. */
int	cl_compare_load(struct cl_compare_side *, struct cl_stats_reader *,
	    struct cl_err *);

/*
 * Which runs belong together: one and one always do; of several those that
 * are alike in whatever varies within a side (cl-diff(1), Pairs).  An error
 * where none are.  Free *pairs in any case.
 */
int	cl_compare_pair_up(const struct cl_compare_side *a,
	    const struct cl_compare_side *b, struct cl_compare_pairs *pairs,
	    struct cl_err *);
void	cl_compare_pairs_free(struct cl_compare_pairs *);

/*
 * Why the pair should not be compared, as an error: another trace, model,
 * contract or kind of run; CL_OK where nothing is known against it.
 */
int	cl_compare_check(const struct cl_compare_pair *, struct cl_err *);

void	cl_compare_judge(const struct cl_compare_pair *,
	    struct cl_compare_verdict *);

/* "text", "tsv", "json", NULL, as in cl/render.h. */
extern const char *const cl_compare_forms[];

/* Prints what stands before the first pair. */
struct cl_compare	*cl_compare_new(unsigned form, struct cl_dst *,
			    const struct cl_render_options *,
			    const struct cl_compare_side *a,
			    const struct cl_compare_side *b,
			    const struct cl_compare_pairs *,
			    struct cl_err *);

/* note: why cl_compare_check refused what was forced; NULL: it did not. */
int	cl_compare_pair(struct cl_compare *, const struct cl_compare_pair *,
	    const char *note, struct cl_err *);

/* Runs without a partner, and all pairs summed up. */
int	cl_compare_end(struct cl_compare *, struct cl_err *);
void	cl_compare_free(struct cl_compare *);		/* NULL is legal */
void	cl_compare_side_free(struct cl_compare_side *);

#endif /* CL_COMPARE_H */
