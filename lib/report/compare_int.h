#ifndef COMPARE_INT_H
#define COMPARE_INT_H

/*
 * What the forms of a comparison share: columns and rows of both sides, each
 * matched by name or index, with what has no partner beside nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/cell.h"
#include "cl/compare.h"
#include "cl/decision.h"
#include "cl/json.h"
#include "cl/render.h"
#include "cl/run.h"

/* One name, and what either side has under it. */
struct field {
	const char	*name;
	struct cl_cell	 a;
	struct cl_cell	 b;
};

/* The rows of both sides at one index; NULL where a side has none. */
struct row_pair {
	uint32_t	 index;
	const struct cl_run_row *a;
	const struct cl_run_row *b;
};

/* Rows of a table that have the same keys; CL_COMPARE_ALONE: none. */
struct table_row {
	size_t		 a;
	size_t		 b;
};

/* Events of the same number in the logs; NULL where a log is over. */
struct event_pair {
	uint64_t	 number;	/* from 0 */
	const struct cl_decision *a;
	const struct cl_decision *b;
};

struct log_walk {
	uint64_t	 n;		/* events so far */
	struct cl_decision_log log_a;
	struct cl_decision_log log_b;
	struct cl_decision a;
	struct cl_decision b;
};

struct log_counts {
	uint64_t	 differ;	/* events; of them: */
	uint64_t	 others;	/* have another layer, other members */
	uint64_t	 alone;		/* behind the end of a log */
	/* Members that hit on one side alone, of events of the same members. */
	uint64_t	 hits_a;
	uint64_t	 hits_b;
};

#define COMPARE_EVENTS	10u		/* that are shown, if not all */

struct cl_compare {
	const struct compare_form *form;
	struct cl_dst	*dst;		/* borrowed */
	struct cl_render_options options;
	const struct cl_compare_side *a;
	const struct cl_compare_side *b;
	const struct cl_compare_pairs *pairs;
	size_t		 npairs;	/* that were begun */
	size_t		 nsame;		/* of them */
	/* Summed over them; none where one of them does not know. */
	struct field	 hits;
	struct field	 misses;
	struct cl_json	 json;		/* json: the open document */
};

struct compare_form {
	int	(*begin)(struct cl_compare *, struct cl_err *);
	int	(*pair)(struct cl_compare *, const struct cl_compare_pair *,
		    const struct cl_compare_verdict *, const char *note,
		    struct cl_err *);
	int	(*end)(struct cl_compare *, struct cl_err *);
};

extern const struct compare_form cl_compare_text;
extern const struct compare_form cl_compare_tsv;
extern const struct compare_form cl_compare_json;

/* Condition or counter number i of both sides; false behind the last. */
bool	cl_compare_cond(const struct cl_compare_pair *, size_t i,
	    struct field *);
bool	cl_compare_field(const struct cl_compare_pair *, enum cl_stats_kind,
	    const struct row_pair *, size_t i, struct field *);

/* The next index of either side; *next is 0 at first. */
bool	cl_compare_rows(const struct cl_compare_pair *, enum cl_stats_kind,
	    enum cl_stats_scope, uint64_t *next, struct row_pair *);

/* Do the rows differ in any field? */
bool	cl_compare_differ(const struct cl_compare_pair *, enum cl_stats_kind,
	    const struct row_pair *);

/* Fill in columns and tables of a pair whose runs are set. */
int	cl_compare_match(struct cl_compare_pair *, struct cl_err *);
void	cl_compare_match_columns(struct cl_compare_columns *,
	    const struct cl_stats_columns *a,
	    const struct cl_stats_columns *b);
int	cl_compare_match_tables(struct cl_compare_pair *, struct cl_err *);
void	cl_compare_free_tables(struct cl_compare_pair *);

/* Rows of both sides, those without a partner once each. */
size_t	cl_compare_table_rows(const struct cl_compare_table *);

/*
 * They in the order of a, then those of b alone; *next is 0 at first.  Fields
 * are numbered as columns are.
 */
bool	cl_compare_table_next(const struct cl_compare_table *, size_t *next,
	    struct table_row *);
bool	cl_compare_table_field(const struct cl_compare_pair *,
	    const struct cl_compare_table *, const struct table_row *,
	    size_t i, struct field *);
bool	cl_compare_table_differ(const struct cl_compare_pair *,
	    const struct cl_compare_table *, const struct table_row *);

/* Do both have it, and no row that differs? */
bool	cl_compare_table_same(const struct cl_compare_pair *,
	    const struct cl_compare_table *);
size_t	cl_compare_table_ndiffer(const struct cl_compare_pair *,
	    const struct cl_compare_table *);

/* Do both have a log of events? */
bool	cl_compare_has_logs(const struct cl_compare_pair *);

/* Its next events that differ, CL_END behind the last; end it in any case. */
void	cl_compare_log_begin(struct log_walk *, const struct cl_compare_pair *);
int	cl_compare_log_next(struct log_walk *, struct event_pair *,
	    struct cl_err *);
void	cl_compare_log_end(struct log_walk *);

int	cl_compare_log_count(const struct cl_compare_pair *,
	    struct log_counts *, struct cl_err *);

/* Are they of the same members of the same layer? */
bool	cl_compare_log_members(const struct cl_decision *,
	    const struct cl_decision *);

/* May windows be compared: do both sides have the same bounds? */
bool	cl_compare_windows(const struct cl_compare_pair *);

#endif /* COMPARE_INT_H */
