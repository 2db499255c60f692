#ifndef PROFILE_INT_H
#define PROFILE_INT_H

#include <stdint.h>

#include "cl/profile.h"

#define DISTANCES	64		/* powers of two */

/* How often a rank is what it was. */
struct rank {
	uint64_t	 choices;	/* of tokens behind another */
	uint64_t	 repeated;	/* the other chose it, too */
	uint64_t	 same;		/* with the same rank */
	uint64_t	 pairs;		/* with any choice of the other */
};

struct profile_column {
	struct rank	*rank;		/* of each, up to k */
	uint64_t	 cells;
	uint64_t	 choices;
	uint64_t	 rest[DISTANCES]; /* by tokens since the last: 2^i on */
	uint64_t	 first;		/* uses without a last one */
	/* Of tokens that went through the next column, too. */
	uint64_t	 beside;	/* choices here */
	uint64_t	 shared;	/* with an expert of the same number */
	uint64_t	 beside_next;	/* choices there */
	uint64_t	 pairs;		/* choices here x choices there */
};

struct cl_profile {
	const struct cl_keys *keys;
	struct cl_predict *previous;
	struct cl_prefix *prefix;
	struct profile_column *column;
	uint64_t	*uses;		/* of each key */
	uint64_t	*last;		/* of each key: the token, from 1 */
	uint64_t	 token;		/* number of the one at hand, from 1 */
	/* What a set of experts has, by number. */
	uint32_t	*marked;
	uint32_t	 mark;		/* > 0 */
	uint16_t	*before;	/* what the last token chose */
};

#endif /* PROFILE_INT_H */
