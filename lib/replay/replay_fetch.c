/*
 * The bytes of an event.  What was missing is read, what was staged is waited
 * for where it is still under way, and all that was served is handed on in the
 * order of its ranks.
 *
 * What the cache does not keep is read into a bypass buffer.  An event with
 * more of them than there are buffers is served in waves: the reads under way
 * are waited for, their bytes are done with, and the buffers are used again.
 */

#include "cl/device.h"
#include "cl/err.h"
#include "replay_int.h"

static bool
is_miss(uint8_t class)
{

	return ((class & ~CL_CACHE_NOT_KEPT) >= CL_CLASS_COLD);
}

void
cl_replay_spent(struct cl_replay *r, const struct cl_io_job *job)
{

	r->measure[CL_M_READ_NS] += job->read_ns;
	r->measure[CL_M_READ_RETRIES] += job->nretries;
	r->measure[CL_M_SURPLUS_BYTES] += job->fetched - job->arrived;
}

void
cl_replay_account(struct cl_replay *r, const struct cl_io_job *job,
    uint64_t epoch)
{

	if (epoch != r->epoch)
		return;
	cl_replay_spent(r, job);
	if (job->err.code == CL_OK)
		cl_hist_add(&r->latency[job->queue],
		    job->done_ns - job->queued_ns);
}

/* Until the bytes of member i are there. */
static int
wait_member(struct cl_replay *r, const struct column *col, uint32_t key,
    uint32_t i, bool kept, struct cl_err *err)
{
	struct replay_read *read = r->member[i].read;
	int status;

	if (read == NULL) {
		status = cl_device_wait(r->o.device, &r->job[i], col->layer,
		    key - col->base, err);
		cl_replay_account(r, &r->job[i], r->epoch);
		return (status);
	}
	r->member[i].read = NULL;
	status = cl_replay_wait_staged(r, col, key, read, err);
	if (kept)
		cl_replay_give_back(r, read);
	return (status);
}

/* Members from .. to - 1 are read: wait for it, and hand their bytes on. */
static int
wave(struct cl_replay *r, struct column *col, const uint32_t *keys,
    const struct cl_cache_outcome *out, uint32_t from, uint32_t to,
    struct cl_err *err)
{
	uint64_t t0 = cl_replay_now(r);
	uint32_t i;
	int status = CL_OK, failed;

	for (i = from; i < to; i++)
		if ((is_miss(out->class[i]) || r->member[i].read != NULL) &&
		    (failed = wait_member(r, col, keys[i], i,
		    (out->class[i] & CL_CACHE_NOT_KEPT) == 0, err)) != CL_OK)
			status = failed;
	t0 = cl_replay_now(r) - t0;
	r->measure[CL_M_IO_WAIT_NS] += t0;
	col->tally->io_wait_ns += t0;
	if (status != CL_OK)
		return (status);
	return (cl_replay_compute(r, col, keys, out, from, to, err));
}

/* A staged hit: adopt its read, or have it go before those ahead. */
static void
adopt(struct cl_replay *r, struct member *m)
{
	struct cl_io *io = cl_device_io(r->o.device);

	m->bytes = cl_replay_buffer(r, m->read->buffer);
	if (cl_io_done(io, &m->read->job))
		return;
	r->measure[CL_M_PREFETCH_LATE]++;
	cl_io_promote(io, &m->read->job);
}

/* Begin what member i needs; it has a bypass buffer if it needs one. */
static void
begin(struct cl_replay *r, const struct column *col, uint32_t key, uint32_t i,
    const struct cl_cache_outcome *out, uint32_t bypass)
{
	struct member *m = &r->member[i];

	if (m->read != NULL) {
		adopt(r, m);
		return;
	}
	m->bytes = out->slot[i] != CL_CACHE_NO_SLOT ?
	    cl_replay_buffer(r, r->buffer[out->slot[i]]) :
	    cl_device_bypass(r->o.device, bypass);
	if (is_miss(out->class[i]))
		cl_device_read(r->o.device, &r->job[i], col->layer,
		    key - col->base, m->bytes, CL_IO_DEMAND);
}

int
cl_replay_fetch(struct cl_replay *r, struct column *col, const uint32_t *keys,
    uint32_t n, const struct cl_cache_outcome *out, unsigned phase, bool last,
    struct cl_err *err)
{
	uint32_t i, from = 0, nbypass = 0;
	int status = CL_OK, ahead = CL_OK;
	bool bypass;

	for (i = 0; i < n && status == CL_OK && ahead == CL_OK; i++) {
		bypass = out->slot[i] == CL_CACHE_NO_SLOT &&
		    r->member[i].read == NULL;
		if (bypass && nbypass == r->keys->kmax) {
			if (last && from == 0)
				ahead = cl_replay_stage(r, phase, err);
			status = wave(r, col, keys, out, from, i, err);
			from = i;
			nbypass = 0;
		}
		if (status == CL_OK)
			begin(r, col, keys[i], i, out, nbypass);
		nbypass += bypass;
	}
	if (status != CL_OK)
		return (status);
	if (last && from == 0)
		ahead = cl_replay_stage(r, phase, err);
	status = wave(r, col, keys, out, from, i, err);
	return (ahead != CL_OK ? ahead : status);
}
