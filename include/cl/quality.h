#ifndef CL_QUALITY_H
#define CL_QUALITY_H

/*
 * How well a cache decides, with the future known: it is told of every event
 * what became of its members and when each will be used next, and keeps for
 * itself who is resident.  Log n an access.  Borrows the keys and
 * the pools.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/cache.h"

struct cl_err;
struct cl_keys;
struct cl_quality;
struct cl_stats_writer;

/* Of evictions and refusals: of all, of a phase, of experts of a layer. */
struct cl_quality_sum {
	uint64_t	 evictions;
	/*
	 * Nobody who stayed, and could have left instead, will be used later.
	 * Else what was given up, in events, under serial accesses; who is
	 * not used again is as far away as the end.
	 */
	uint64_t	 optimal;
	uint64_t	 regret;
	uint64_t	 never_stayed;	/* somebody stayed who is never used,
					   and the victim is */
	uint64_t	 newcomer_later; /* came for who is used later still */
	uint64_t	 returned;	/* missed again, or staged */
	/* A miss was not kept, and somebody could have left for it. */
	uint64_t	 refusals;
	uint64_t	 refusals_optimal; /* nobody is used later than it */
};

struct cl_quality_options {
	const struct cl_keys *keys;
	enum cl_contract contract;
	const uint32_t	*pool;		/* of each column; NULL: all are one */
	uint32_t	 end;		/* when the trace is over */
};

struct cl_quality	*cl_quality_new(const struct cl_quality_options *,
			    struct cl_err *);

/* Before any event: a key is resident, and will first be used then. */
void	cl_quality_holds(struct cl_quality *, uint32_t key, uint32_t first);

/* What came so far is not counted. */
void	cl_quality_reset(struct cl_quality *);

/*
 * An event of n keys of a column, its outcome, and the next uses: the times of
 * cl/lookahead.h.  Under serial each access comes by itself.
 */
void	cl_quality_event(struct cl_quality *, unsigned phase,
	    const uint32_t *keys, const uint32_t *next, uint32_t n,
	    const struct cl_cache_outcome *);

/* So many tokens have passed. */
void	cl_quality_tokens(struct cl_quality *, uint64_t);

/* Of phase -1 and column -1 all; else one of them is -1. */
const struct cl_quality_sum	*cl_quality_sum(const struct cl_quality *,
				    int phase, int64_t column);

/* Evictions whose expert came back after 2^(i - 1) tokens and more; 0: none. */
uint64_t	cl_quality_returns(const struct cl_quality *, unsigned i);

/*
 * The tables decision_quality, eviction_regret and eviction_return of
 * cl-stats(5).
 */
int	cl_quality_write(const struct cl_quality *, struct cl_stats_writer *,
	    struct cl_err *);
void	cl_quality_free(struct cl_quality *);		/* NULL is legal */

#endif /* CL_QUALITY_H */
