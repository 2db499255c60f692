/*
 * Calibrating on a device that is known, a modelled one: it must be found
 * again, from nothing but the times that reads took.
 */

#include <math.h>
#include <stdlib.h>

#include "cl/calibrate.h"
#include "cl/err.h"
#include "cl/model.h"
#include "unit.h"

#define NLAYERS		4
#define NEXPERTS	8

/* Layers with experts of two sizes, and some dense weights in each. */
static struct cl_model *
make_model(void)
{
	struct cl_model *m = cl_model_new(NLAYERS, NULL);
	struct cl_layer *l;
	uint32_t i, k;

	assert(m != NULL);
	for (i = 0; i < NLAYERS; i++) {
		l = &m->layers[i];
		l->nexperts = NEXPERTS;
		l->k = 2;
		l->nslabs = 3;
		l->slabs = calloc(l->nslabs, sizeof(*l->slabs));
		l->dense = calloc(1, sizeof(*l->dense));
		assert(l->slabs != NULL && l->dense != NULL);
		for (k = 0; k < l->nslabs; k++) {
			l->slabs[k].nbytes = (i % 2 + 1) * 300000 + k * 5000;
			l->slabs[k].stride = l->slabs[k].nbytes;
			l->expert_bytes += l->slabs[k].nbytes;
		}
		l->ndense = 1;
		l->dense[0].nbytes = 900000;
	}
	return (m);
}

static void
calibrate(const char *device, uint32_t nthreads, struct cl_calibration *c)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;
	struct cl_calibrate_options o = { .device = { .io = {
	    .backend = CL_IO_MODEL, .nthreads = nthreads, .device = &spec },
	    .nslots = 20 }, .nsamples = 5, .compute_ns = 7, .seed = 1 };
	struct cl_model *m = make_model();

	assert(cl_virtual_parse(device, &spec, &err) == CL_OK);
	assert(cl_calibrate(m, &o, c, &err) == CL_OK);
	cl_model_free(m);
}

static bool
close_to(uint64_t v, uint64_t want, double share)
{

	return (fabs((double)v - (double)want) <= share * (double)want);
}

static void
a_known_device_is_found_again(void)
{
	static struct cl_calibration c;
	uint32_t i;

	calibrate("read=2G,latency=150us,depth=32,dense=1G", 4, &c);
	assert(close_to(c.spec.read, UINT64_C(2) << 30, 0.02));
	assert(close_to(c.spec.latency_ns, 150000, 0.05));
	assert(close_to(c.spec.dense, UINT64_C(1) << 30, 0.02));
	assert(c.spec.depth == 4);		/* no more was tried */
	assert(c.spec.kernel == 0 && c.spec.compute_ns == 7);
	assert(c.error < 0.02 && c.dense_bytes == NLAYERS * 900000);
	assert(c.npoints == 2 * 2 * 5);
	for (i = 0; i < c.npoints; i++) {
		assert(c.point[i].ns.n == 5);
		assert(close_to(c.point[i].model_ns,
		    (uint64_t)c.point[i].ns.median, 0.06));
	}
}

/* The burst of one takes it once, and so do bursts of many, at their end. */
static void
a_wake_up_is_told_from_latency(void)
{
	static struct cl_calibration c;

	calibrate("read=2G,latency=100us,depth=4,wake=80us,dense=1G", 4, &c);
	assert(close_to(c.spec.read, UINT64_C(2) << 30, 0.02));
	assert(close_to(c.spec.latency_ns, 100000, 0.1));
	assert(close_to(c.spec.wake_ns, 80000, 0.2));
	assert(close_to(c.spec.dense, UINT64_C(1) << 30, 0.05));
	assert(c.error < 0.02);
}

/* The latency of four requests a pass is longer than the whole pass. */
static void
a_dense_rate_beyond_all_bounds_is_that_of_experts(void)
{
	static struct cl_calibration c;

	calibrate("read=1G,latency=100us,depth=4,dense=100G", 4, &c);
	assert(close_to(c.spec.read, UINT64_C(1) << 30, 0.02));
	assert(c.spec.dense == c.spec.read);
}

static void
so_is_one_of_little_depth(void)
{
	static struct cl_calibration c;

	calibrate("read=8G,latency=500us,depth=2", 8, &c);
	assert(close_to(c.spec.latency_ns, 500000, 0.05));
	assert(c.spec.depth == 2 && c.error < 0.02);
}

static void
one_reader_is_enough_to_calibrate(void)
{
	static struct cl_calibration c;

	calibrate("read=1G,latency=1ms,depth=32", 1, &c);
	assert(c.npoints == 2 * 5 && c.spec.depth == 1);
	assert(close_to(c.spec.latency_ns, 1000000, 0.02));
	assert(close_to(c.spec.read, UINT64_C(1) << 30, 0.04));
	assert(close_to(c.spec.dense, UINT64_C(1) << 30, 0.04));
}

static void
the_slowest_device_there_may_be_is_found_too(void)
{
	static struct cl_calibration c;

	calibrate("read=1K,latency=1us,depth=1", 1, &c);
	assert(c.spec.read >= CL_VIRTUAL_RATE_MIN);
	assert(close_to(c.spec.read, CL_VIRTUAL_RATE_MIN, 0.05));
	assert(c.error < 0.05);
}

static void
few_samples_are_no_figure(void)
{
	static struct cl_calibration c;
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;
	struct cl_calibrate_options o = { .device = { .io = {
	    .backend = CL_IO_MODEL, .nthreads = 2, .device = &spec },
	    .nslots = 20 }, .nsamples = 4, .seed = 1 };
	struct cl_model *m = make_model();

	assert(cl_virtual_parse("read=1G,latency=1ms,depth=1", &spec, &err) ==
	    CL_OK);
	assert(cl_calibrate(m, &o, &c, &err) == CL_EINVAL);
	cl_model_free(m);
}

static const struct unit units[] = {
	{ "a known device is found again", a_known_device_is_found_again },
	{ "so is one of little depth", so_is_one_of_little_depth },
	{ "a wake-up is told from latency", a_wake_up_is_told_from_latency },
	{ "a dense rate beyond all bounds is that of experts",
	    a_dense_rate_beyond_all_bounds_is_that_of_experts },
	{ "one reader is enough to calibrate",
	    one_reader_is_enough_to_calibrate },
	{ "the slowest device there may be is found, too",
	    the_slowest_device_there_may_be_is_found_too },
	{ "four samples make no figure", few_samples_are_no_figure },
};

UNIT_MAIN(units)
