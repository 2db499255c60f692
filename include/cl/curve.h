#ifndef CL_CURVE_H
#define CL_CURVE_H

/*
 * The hits of a cache of every capacity in one pass over a trace, exactly:
 * lru, or belady where next uses are told.  One pool for all keys, and one for
 * each column where asked.  Capacities are in slots, of a key each.  Borrows
 * the keys, which outlive it.  Memory is proportional to their number, and
 * nothing is allocated once it is open.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/cache.h"

struct cl_curve;
struct cl_err;
struct cl_keys;
struct cl_pass;
struct cl_stats_writer;

enum cl_curve_policy {
	CL_CURVE_LRU,
	CL_CURVE_BELADY			/* as the policy of that name */
};

struct cl_curve_options {
	enum cl_contract contract;	/* belady has no retain */
	enum cl_curve_policy policy;
	bool		 layers;	/* one for each column, too */
};

/* What a curve is made of; scope 0 is all keys, c + 1 column c. */
struct cl_curve_counts {
	uint64_t	 accesses;
	uint64_t	 cold;
	uint32_t	 ncapacities;	/* 1 to this: all keys of the scope */
	/* The curve's: accesses that hit from c slots on, not below; [0]: 0. */
	const uint64_t	*from;
};

struct cl_curve	*cl_curve_new(const struct cl_keys *,
		    const struct cl_curve_options *, struct cl_err *);

/* Keys of an event join the working set of the window at hand. */
void	cl_curve_use(struct cl_curve *, const uint32_t *keys, uint32_t n);

/*
 * An event of a column.  next is NULL for lru; for belady, the place in time
 * where each key is used next, in one pool of all keys, as CL_FUTURE_EVENTS of
 * cl/cache.h has it: no two keys have the same.  Times will not do.
 */
void	cl_curve_event(struct cl_curve *, uint32_t column,
	    const uint32_t *keys, const uint32_t *next, uint32_t n);

/* Counts start anew, and caches stay: the warm-up is over. */
void	cl_curve_reset(struct cl_curve *);

/* The same for the window at hand. */
void	cl_curve_next_window(struct cl_curve *);

/*
 * The tables of cl-stats(5): a row of working_set where a window ends behind
 * so many tokens, which nothing else may come between; then curve and
 * capacities.
 */
int	cl_curve_window(struct cl_curve *, uint64_t tokens,
	    struct cl_stats_writer *, struct cl_err *);
int	cl_curve_write(struct cl_curve *, struct cl_stats_writer *,
	    struct cl_err *);

void	cl_curve_counts(const struct cl_curve *, uint32_t scope,
	    struct cl_curve_counts *);

void	cl_curve_free(struct cl_curve *);		/* NULL is legal */

#endif /* CL_CURVE_H */
