#ifndef CURVE_INT_H
#define CURVE_INT_H

#include "cl/curve.h"

/* A pool of keys, and its hits. */
struct scope {
	uint32_t	 base;
	uint32_t	 nkeys;
	uint32_t	 depth;		/* of the stack */
	uint32_t	 since;		/* keys since all of it overflowed */
	uint64_t	 uses;		/* the same of accesses, */
	uint32_t	 most;		/* and of the largest event */
	uint64_t	 accesses;
	uint64_t	 cold;
	uint64_t	*from;		/* [nkeys + 1] */
	struct cl_recency *recency;	/* lru */
	struct cl_stack	*stack;		/* lru under event, and belady */
};

struct cl_curve {
	const struct cl_keys *keys;
	struct cl_curve_options o;
	uint32_t	 nscopes;
	struct scope	*scope;		/* all keys, then each column's */
	uint64_t	 now;		/* accesses so far */

	/* the working set */
	uint32_t	 window;	/* number of the window at hand, > 0 */
	uint32_t	*last;		/* of each key: the window it is in */
	uint64_t	 used;		/* distinct keys of the window */
	uint64_t	 fresh;		/* of these, never used before */
	uint64_t	 seen;		/* distinct keys so far */
	uint64_t	 nwindows;	/* that were written */

	/* the event at hand */
	uint32_t	*rank;
	uint64_t	*worth;
	uint32_t	*place;
	uint32_t	*top;
};

#endif /* CURVE_INT_H */
