#ifndef CL_LOOKAHEAD_H
#define CL_LOOKAHEAD_H

/*
 * What is to come: the passes of a trace are collected, then looked through
 * from the end, and handed out again as they came, with the next use of each
 * member of each event.
 *
 * Memory: 4 bytes an access, 4 an event and 24 a pass; where passes come with
 * what is foretold, 4 bytes for each of that and 4 more an event.  Once it is
 * looked through, 4 more an access, and 4 more where places differ from the
 * order of accesses: under event and retain, and with several pools; and 4
 * more again where times are asked for.  While it is collected, what is there
 * may have grown twice as large.  Borrows the keys.  One thread.
 */

#include <stdint.h>

#include "cl/cache.h"
#include "cl/keys.h"

struct cl_err;
struct cl_lookahead;
struct cl_pass;

#define CL_LOOKAHEAD_NEVER	UINT32_MAX
#define CL_LOOKAHEAD_MAX	(UINT32_MAX - CL_KEYS_MAX)	/* accesses */

struct cl_lookahead	*cl_lookahead_new(const struct cl_keys *,
			    struct cl_err *);

/*
 * Add a pass, or the next part of one; of what is skipped, its counts alone.
 * Places are 32 bits: more accesses than CL_LOOKAHEAD_MAX are CL_ENOTSUP.
 */
int	cl_lookahead_add(struct cl_lookahead *, const struct cl_pass *,
	    struct cl_err *);

/* Add to the uses of each key, by events, those that were collected. */
void	cl_lookahead_count(const struct cl_lookahead *, uint64_t *uses);

/*
 * All is there: find next uses, as places of cl/cache.h, in pools of which
 * each column names its own, and whose keys stand together, in their order;
 * NULL: one for all.  Nothing is added then.  Who wants no next uses needs not
 * look, and is handed out none.
 */
int	cl_lookahead_look(struct cl_lookahead *, enum cl_contract,
	    enum cl_cache_future, const uint32_t *pools, uint32_t npools,
	    struct cl_err *);

/*
 * Another one that hands out the same from the beginning, and may do so in
 * another thread; what was collected is borrowed from the first, which outlives
 * it and takes no more.
 */
struct cl_lookahead	*cl_lookahead_view(const struct cl_lookahead *,
			    struct cl_err *);

/* The places of each pool, and of each key's first use. */
const struct cl_cache_places	*cl_lookahead_places(
				    const struct cl_lookahead *);
const uint32_t	*cl_lookahead_first(const struct cl_lookahead *);

/*
 * What was looked through is also told as times: how many events, under serial
 * accesses, come before the next use, or CL_LOOKAHEAD_NEVER.
 */
int	cl_lookahead_tell_times(struct cl_lookahead *, enum cl_contract,
	    struct cl_err *);

/* The time of each key's first use, and that when all is over. */
const uint32_t	*cl_lookahead_first_time(const struct cl_lookahead *);
uint32_t	 cl_lookahead_end(const struct cl_lookahead *);

/* Of the pass handed out last, as next is of it. */
const uint32_t *const	*cl_lookahead_times(const struct cl_lookahead *);

/*
 * The passes as they were added, one a call, then CL_END.  Their events borrow
 * from the lookahead; next[i] are the next uses of the event of column i.
 */
int	cl_lookahead_next(struct cl_lookahead *, const struct cl_pass **,
	    const uint32_t *const **next);

void	cl_lookahead_free(struct cl_lookahead *);	/* NULL is legal */

#endif /* CL_LOOKAHEAD_H */
