/*
 * Since requests leave the link in the order in which they came, each one's
 * end is known as it comes, and nothing is ever revised.  A busy period is
 * the time in which the link has no rest and no other rate; an end is the
 * beginning of the period and the time that all its bytes take, rounded up
 * once.
 */

#include <assert.h>

#include "cl/num.h"
#include "cl/virtual.h"

#define SECOND		UINT64_C(1000000000)
#define TIME_MAX	((uint64_t)INT64_MAX)

uint64_t
cl_virtual_later(uint64_t t, uint64_t ns)
{

	return (ns > TIME_MAX - t ? TIME_MAX : t + ns);
}

/* How long bytes take, rounded up. */
static uint64_t
span(uint64_t nbytes, uint64_t rate)
{
	uint64_t product, whole;

	if (cl_mul(nbytes, SECOND, &product))
		return (product / rate + (product % rate != 0));
	if (nbytes / rate >= TIME_MAX / SECOND)
		return (TIME_MAX);
	/* The product modulo 2^64 does to tell whether it divides. */
	whole = cl_muldiv(nbytes, SECOND, rate);
	return (whole + (whole * rate != product));
}

uint64_t
cl_virtual_kernel_ns(const struct cl_virtual_spec *spec, uint64_t nbytes)
{

	return (spec->kernel == 0 ? 0 : span(nbytes, spec->kernel));
}

void
cl_virtual_init(struct cl_virtual *v, const struct cl_virtual_spec *spec)
{

	*v = (struct cl_virtual) { .spec = *spec };
	assert(spec->read >= CL_VIRTUAL_RATE_MIN);
	assert(spec->dense >= CL_VIRTUAL_RATE_MIN);
	assert(spec->depth > 0 && spec->depth <= CL_VIRTUAL_DEPTH_MAX);
}

uint64_t
cl_virtual_serve(struct cl_virtual *v, uint64_t at, uint64_t nbytes, bool dense)
{
	uint64_t rate = dense ? v->spec.dense : v->spec.read;
	uint64_t *end = &v->end[v->nserved++ % v->spec.depth];
	uint64_t start = at > *end ? at : *end;
	uint64_t ready = cl_virtual_later(start, v->spec.latency_ns);

	if (ready >= v->free || rate != v->rate) {
		v->from = ready > v->free ? ready : v->free;
		v->nbytes = 0;
		v->rate = rate;
	}
	if (!cl_add(v->nbytes, nbytes, &v->nbytes))
		v->nbytes = UINT64_MAX;
	v->free = cl_virtual_later(v->from, span(v->nbytes, rate));
	*end = v->free;
	return (v->free);
}
