#ifndef CL_CALIBRATE_H
#define CL_CALIBRATE_H

/*
 * What device a modelled run needs to foretell the real one on this machine:
 * experts of a model are read as a replay reads them, few and many at once,
 * with one reader and with all, and the device is sought whose model would
 * have taken the same times.  What was read is computed over, which is
 * measured, too; then dense weights are read, in order.  Everything is measured
 * in rounds, so that a busy moment of the machine meets a sample of each
 * figure, not all of one.  Means are fitted: a replay's time is a sum, to which
 * busy moments add as they do to a mean.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/device.h"
#include "cl/sample.h"
#include "cl/virtual.h"

struct cl_compute;
struct cl_model;

#define CL_CALIBRATE_POINTS_MAX	32
#define CL_CALIBRATE_SAMPLES_MAX 1000

struct cl_calibrate_options {
	/*
	 * Of the replay to be foretold, with nthreads > 0; the stride is
	 * reckoned.  Buffers take turns as its do, since small and large
	 * arenas are not read into alike fast.
	 */
	struct cl_device_options device;
	const struct cl_compute *compute; /* NULL: takes no time */
	uint64_t	 compute_ns;	/* of each event; taken over */
	uint32_t	 nsamples;	/* CL_SAMPLE_LEAST and more */
	uint64_t	 seed;		/* which experts are read */
};

/* Reading some experts of one size at once, until all are there. */
struct cl_calibrate_point {
	uint32_t	 nthreads;
	uint32_t	 nexperts;
	uint32_t	 layer;		/* one that has experts of the size */
	uint64_t	 nbytes;	/* of all of them */
	struct cl_sample ns;
	uint64_t	 model_ns;	/* on the device that was found */
};

struct cl_calibration {
	struct cl_virtual_spec spec;
	uint32_t	 npoints;
	struct cl_calibrate_point point[CL_CALIBRATE_POINTS_MAX];
	double		 error;		/* of the model, mean over points */
	uint64_t	 dense_bytes;	/* of a pass over all layers; 0: none */
	struct cl_sample dense_ns;
	uint64_t	 kernel_bytes;	/* of a sample; 0: none */
	struct cl_sample kernel_ns;
	uint64_t	 asked_bytes;	/* of all reads */
	uint64_t	 device_bytes;	/* that came from devices for them */
};

int	cl_calibrate(const struct cl_model *,
	    const struct cl_calibrate_options *, struct cl_calibration *,
	    struct cl_err *);

#endif /* CL_CALIBRATE_H */
