#ifndef CL_HIST_H
#define CL_HIST_H

/*
 * How often which value was met: buckets of 2^5 to each power of two, from 0
 * to 2^64 - 1, each add counted.  Values below 64 are told apart exactly, and
 * no bucket is wider than 1/32 of the least value in it, so that a quantile
 * is at most 1/32 above the true one, and never below it.  Plain memory of
 * the caller's, empty when filled with zero bytes; one thread at a time.
 */

#include <stdint.h>

struct cl_err;
struct cl_stats_writer;

#define CL_HIST_BITS	5
#define CL_HIST_BUCKETS	((64 - CL_HIST_BITS + 1) << CL_HIST_BITS)

struct cl_hist {
	uint64_t	 n;		/* values in all */
	uint64_t	 min;		/* exact, as is max; 0 where n is 0 */
	uint64_t	 max;
	uint64_t	 count[CL_HIST_BUCKETS];
};

void	cl_hist_add(struct cl_hist *, uint64_t);

/* All of from goes into to, too. */
void	cl_hist_merge(struct cl_hist *to, const struct cl_hist *from);

/*
 * The value that part / whole of all are not above, for 0 < part <= whole:
 * the upper end of its bucket, or the maximum where that is less.  0 where
 * there are no values.
 */
uint64_t	cl_hist_quantile(const struct cl_hist *, unsigned part,
		    unsigned whole);

/* The values that bucket i < CL_HIST_BUCKETS is of: from low to high. */
void	cl_hist_bounds(unsigned i, uint64_t *low, uint64_t *high);

/*
 * Write them as the table read_latency of cl-stats(5): the demand queue, then
 * the prefetch queue.  The buckets at both ends are cut to min and max.
 */
int	cl_hist_write(struct cl_stats_writer *, const struct cl_hist *demand,
	    const struct cl_hist *prefetch, struct cl_err *);

#endif /* CL_HIST_H */
