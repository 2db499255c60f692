#ifndef CL_ORDER_H
#define CL_ORDER_H

/*
 * The order of a few numbers, which sorting would take longer to guess than
 * this does to compare them all.  Cannot fail.
 */

#include <stdint.h>

#define CL_ORDER_FEW	32u		/* numbers */

/*
 * How many are less than each of n distinct numbers, which are few: the place
 * that it has where they are sorted.
 */
static inline void
cl_order_ranks(const uint32_t *number, uint32_t n, uint32_t *rank)
{
	uint32_t i, j, less;

	for (i = 0; i < n; i++) {
		for (less = 0, j = 0; j < n; j++)
			less += number[j] < number[i];
		rank[i] = less;
	}
}

#endif /* CL_ORDER_H */
