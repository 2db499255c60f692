#ifndef CL_RECENCY_H
#define CL_RECENCY_H

/*
 * study/: what a trace says of itself, without a cache.
 *
 * How recently was each key used, as a rank: 1 is the most recent.  The rank
 * of a key before its use is its stack distance (Mattson et al. 1970,
 * doi:10.1147/sj.92.0078): the least capacity at which an LRU cache has it.
 * Keys are dense numbers from 0.  Memory is up to 5 bytes a key, nothing is
 * allocated once it is open.  One thread.
 */

#include <stdint.h>

struct cl_err;
struct cl_recency;

/* Of 1 to 2^28 - 1 keys; NULL: CL_ENOMEM. */
struct cl_recency	*cl_recency_new(uint32_t nkeys, struct cl_err *);

/* The rank of a key, or 0 where it was not used yet. */
uint32_t	cl_recency_rank(const struct cl_recency *, uint32_t key);

/*
 * n distinct keys less base are used, one after the other: rank[i] is what each
 * had when it was its turn.
 */
void	cl_recency_use(struct cl_recency *, const uint32_t *keys, uint32_t n,
	    uint32_t base, uint32_t *rank);

/*
 * n distinct keys less base are used together: rank[i] is what each had before
 * any of them was; then they become the most recent, the last one first.
 */
void	cl_recency_event(struct cl_recency *, const uint32_t *keys, uint32_t n,
	    uint32_t base, uint32_t *rank);

/* The n most recent keys, in this order, or as many as were used; how many. */
uint32_t	cl_recency_top(const struct cl_recency *, uint32_t *keys,
		    uint32_t n);

void	cl_recency_free(struct cl_recency *);		/* NULL is legal */

#endif /* CL_RECENCY_H */
