#ifndef CL_CLOCK_H
#define CL_CLOCK_H

/*
 * Time for measuring.  Nothing logical may depend on it.
 */

#include <stdint.h>

/* Nanoseconds of the monotonic clock. */
uint64_t	cl_clock_ns(void);

#endif /* CL_CLOCK_H */
