/*
 * --calibrate: measure this machine with a model's own experts.  The device
 * goes to standard output, ready for --device; what it was found from, to
 * standard error.
 */

#include "cl/calibrate.h"
#include "cl/compute.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "fe.h"
#include "replay.h"

#define FEW_BYTES	0.9		/* of those asked for */

/* Half the distance of the quartiles, in per cent of the mean. */
static double
spread(const struct cl_sample *s)
{

	return ((s->upper - s->lower) / 2 / s->mean * 100);
}

static void
tell(const struct cl_calibration *c, const char *compute)
{
	const struct cl_calibrate_point *p = c->point;
	uint32_t i;

	for (i = 0; i < c->npoints; i++, p++)
		fe_warn("%u experts at once, %llu bytes, threads %u: %.1f us "
		    "+- %.1f%%, modelled %.1f us (%zu samples)", p->nexperts,
		    (unsigned long long)p->nbytes, p->nthreads,
		    p->ns.mean / 1e3, spread(&p->ns),
		    (double)p->model_ns / 1e3, p->ns.n);
	if (c->dense_bytes != 0)
		fe_warn("dense weights, %llu bytes: %.1f us +- %.1f%% (%zu "
		    "samples)", (unsigned long long)c->dense_bytes,
		    c->dense_ns.mean / 1e3, spread(&c->dense_ns),
		    c->dense_ns.n);
	if (c->kernel_bytes != 0)
		fe_warn("%s, %llu bytes: %.1f us +- %.1f%% (%zu samples)",
		    compute, (unsigned long long)c->kernel_bytes,
		    c->kernel_ns.mean / 1e3, spread(&c->kernel_ns),
		    c->kernel_ns.n);
	fe_warn("the model is off by %.1f%% on average", c->error * 100);
	if ((double)c->device_bytes < FEW_BYTES * (double)c->asked_bytes)
		fe_warn("%llu of the %llu bytes that were read came from the "
		    "device, and the rest from the page cache: this is not "
		    "the device's speed (--os-cache direct reads past it)",
		    (unsigned long long)c->device_bytes,
		    (unsigned long long)c->asked_bytes);
}

static int
measure(const struct replay_options *o, const char *path,
    struct cl_calibration *c, struct cl_err *err)
{
	struct cl_calibrate_options co = {
		.device = {
			.io = {
				.backend = o->backend,
				.os_cache = o->os_cache,
				.direct_required = o->direct_required,
				.nthreads = o->nthreads,
				.retries = o->retries,
			},
			.hugepages = o->hugepages,
		},
		.nsamples = o->nsamples,
		.compute_ns = o->replay.compute_ns,
		.seed = o->seed,
	};
	struct cl_model *model;
	struct cl_budget_slots slots;
	struct cl_compute *compute = NULL;
	int status;

	if ((model = cl_model_open(path, err)) == NULL)
		return (err->code);
	if (o->compute != CL_COMPUTE_NONE)
		compute = cl_compute_new(o->compute, o->seed, err);
	co.compute = compute;
	status = err->code != CL_OK ? err->code :
	    cl_budget_resolve(&o->budget, CL_PARTITION_GLOBAL, model, &slots,
	    err);
	if (status == CL_OK) {
		co.device.nslots = slots.nslots;
		status = cl_calibrate(model, &co, c, err);
	}
	cl_compute_free(compute);
	cl_model_free(model);
	return (status);
}

int
replay_calibrate(const struct replay_options *o, char *const *operands, int n)
{
	static struct cl_calibration c;
	struct cl_err err = { 0 };
	struct cl_dst *out;
	char text[CL_VIRTUAL_TEXT_MAX];

	if (n != 1)
		fe_misuse("--calibrate takes one model");
	if (measure(o, operands[0], &c, &err) != CL_OK)
		fe_die(&err);
	tell(&c, cl_compute_kind_name(o->compute));
	out = fe_output(o->output, o->replace, false);
	cl_dst_printf(out, "%s\n", cl_virtual_text(text, &c.spec));
	return (fe_finish(out, FE_DONE));
}
