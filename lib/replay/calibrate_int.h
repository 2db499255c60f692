#ifndef CALIBRATE_INT_H
#define CALIBRATE_INT_H

/*
 * Between measuring (calibrate.c) and finding the device that fits
 * (calibrate_fit.c).
 */

#include <stddef.h>

#include "cl/calibrate.h"

#define CL_CALIBRATE_BURST_MAX	16	/* experts read at once */

/*
 * Fill in the device and what it makes of each point.  dense: the sizes of a
 * pass over dense weights in the order of their requests, 0 where it waits for
 * all before.
 */
void	cl_calibrate_fit(const struct cl_model *, struct cl_calibration *,
	    uint32_t nthreads, const uint64_t *dense, size_t ndense);

#endif /* CALIBRATE_INT_H */
