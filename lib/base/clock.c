/*
 * The monotonic clock, in the one unit used everywhere.
 */

#include <time.h>

#include "cl/clock.h"

uint64_t
cl_clock_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}
