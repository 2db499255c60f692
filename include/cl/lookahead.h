#ifndef CL_LOOKAHEAD_H
#define CL_LOOKAHEAD_H

/*
 * What is to come: the passes of a trace are collected, then looked through
 * from the end, and handed out again as they came, with the next use of each
 * member of each event.
 *
 * Memory: 8 bytes an access, 4 an event and 32 a pass; where passes come with
 * what is foretold, 4 bytes for each of that and 4 more an event.  While it is collected
 * there are no next uses yet, and what is there may have grown twice as large.
 * Borrows the keys.  One thread.
 */

#include <stdint.h>

#include "cl/cache.h"

struct cl_err;
struct cl_keys;
struct cl_lookahead;
struct cl_pass;

struct cl_lookahead	*cl_lookahead_new(const struct cl_keys *,
			    struct cl_err *);

/*
 * Add a pass, or the next part of one; of what is skipped, its counts alone.
 * Times are 32 bits: 2^32 - 2 accesses, and CL_ENOTSUP.
 */
int	cl_lookahead_add(struct cl_lookahead *, const struct cl_pass *,
	    struct cl_err *);

/* All is there: find next uses, in that unit of time.  Nothing is added then. */
int	cl_lookahead_look(struct cl_lookahead *, enum cl_contract,
	    enum cl_cache_future, struct cl_err *);

/*
 * Another one that hands out the same from the beginning, and may do so in
 * another thread; what was looked through is borrowed from the first, which
 * outlives it.
 */
struct cl_lookahead	*cl_lookahead_view(const struct cl_lookahead *,
			    struct cl_err *);

/* Of each key, when it is first used, or CL_CACHE_NEVER. */
const uint32_t	*cl_lookahead_first(const struct cl_lookahead *);

/*
 * The passes as they were added, one a call, then CL_END.  Their events borrow
 * from the lookahead; next[i] are the next uses of the event of column i.
 */
int	cl_lookahead_next(struct cl_lookahead *, const struct cl_pass **,
	    const uint32_t *const **next);

void	cl_lookahead_free(struct cl_lookahead *);	/* NULL is legal */

#endif /* CL_LOOKAHEAD_H */
