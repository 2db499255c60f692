/*
 * What a step does with bytes that are there: they are handed on, computed
 * over, or on a modelled device merely take their time.
 */

#include "cl/compute.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/num.h"
#include "cl/virtual.h"
#include "replay_int.h"

/* Computing, where there are no bytes to compute with. */
static void
spend(struct cl_replay *r, uint64_t ns)
{
	uint64_t t0 = cl_replay_now(r);

	cl_io_spend(cl_device_io(r->o.device), ns);
	r->measure[CL_M_COMPUTE_NS] += cl_replay_now(r) - t0;
}

/* What the modelled kernel takes over n experts. */
static uint64_t
kernel_ns(const struct cl_virtual_spec *spec, const struct column *col,
    uint32_t n)
{
	uint64_t nbytes;

	if (!cl_mul(n, col->expert_bytes, &nbytes))
		nbytes = UINT64_MAX;
	return (cl_virtual_kernel_ns(spec, nbytes));
}

static void
compute(struct cl_replay *r, const struct column *col, uint32_t expert,
    const struct cl_device_slab *from, uint32_t n)
{
	struct cl_compute_slab slab[CL_IO_PARTS_MAX];
	uint64_t t0 = cl_replay_now(r);
	uint32_t i;

	for (i = 0; i < n; i++) {
		slab[i].bytes = from[i].p;
		slab[i].nbytes = from[i].nbytes;
	}
	r->checksum = cl_compute_chain(r->checksum, cl_compute_expert(
	    r->o.compute, col->layer, expert, slab, n));
	r->measure[CL_M_COMPUTE_NS] += cl_replay_now(r) - t0;
}

static bool
leaves(uint8_t class)
{

	return (class == (CL_CLASS_HIT | CL_CACHE_NOT_KEPT));
}

/* Those of members from .. to - 1 that leave, or those that do not. */
static int
use(struct cl_replay *r, const struct column *col, const uint32_t *keys,
    const struct cl_cache_outcome *out, uint32_t from, uint32_t to,
    bool leaving, struct cl_err *err)
{
	struct cl_device_slab slab[CL_IO_PARTS_MAX];
	uint32_t i, n, expert;
	int status = CL_OK;

	for (i = from; i < to && status == CL_OK; i++) {
		if (leaves(out->class[i]) != leaving)
			continue;
		expert = keys[i] - col->base;
		n = cl_device_slabs(r->o.device, col->layer, expert,
		    r->member[i].bytes, slab);
		if (r->o.served != NULL)
			status = r->o.served(r->o.arg, col->layer, expert,
			    slab, n, err);
		if (r->o.compute != NULL)
			compute(r, col, expert, slab, n);
	}
	return (status);
}

int
cl_replay_compute(struct cl_replay *r, const struct column *col,
    const uint32_t *keys, const struct cl_cache_outcome *out, uint32_t from,
    uint32_t to, struct cl_err *err)
{
	const struct cl_virtual_spec *spec = cl_device_spec(r->o.device);

	if (spec == NULL)
		return (use(r, col, keys, out, from, to, false, err));
	spend(r, kernel_ns(spec, col, to - from));
	return (CL_OK);
}

/*
 * Under retain a hit may have been thrown out for a newcomer, which is read
 * into its slot: what there is to do with its bytes is done before.
 */
int
cl_replay_compute_leaving(struct cl_replay *r, const struct column *col,
    const uint32_t *keys, uint32_t n, const struct cl_cache_outcome *out,
    struct cl_err *err)
{
	uint32_t i;

	if (r->o.contract != CL_CONTRACT_RETAIN ||
	    cl_device_spec(r->o.device) != NULL)
		return (CL_OK);
	for (i = 0; i < n; i++)
		if (leaves(out->class[i]))
			r->member[i].bytes = cl_replay_buffer(r,
			    r->buffer[out->slot[i]]);
	return (use(r, col, keys, out, 0, n, true, err));
}

void
cl_replay_end_step(struct cl_replay *r)
{
	const struct cl_virtual_spec *spec = cl_device_spec(r->o.device);
	uint64_t ns = spec != NULL ? spec->compute_ns : r->o.compute_ns;

	if (ns > 0)
		spend(r, ns);
}
