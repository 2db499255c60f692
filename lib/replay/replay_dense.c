/*
 * Dense weights that do not stay: a ring of two buffers, in one of which are
 * those of the layer at hand while those of the next layer that has some are
 * read ahead into the other.  Behind the last layer comes the first one, of
 * the next pass.  Whoever finds another layer than its own there reads it now.
 *
 * What is asked for is counted where it is needed, so that it does not depend
 * on what was read ahead.
 */

#include <stdlib.h>

#include "cl/device.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/num.h"
#include "replay_int.h"

#define NOWHERE	UINT32_MAX

int
cl_replay_open_dense(struct cl_replay *r, struct cl_err *err)
{
	const struct cl_model *m = r->model;
	struct dense *d = &r->dense;
	uint32_t i, j;

	if (r->o.dense != CL_DENSE_RING)
		return (CL_OK);
	d->nbytes = calloc(m->nlayers, sizeof(*d->nbytes));
	if (d->nbytes == NULL)
		return (cl_fail_nomem(err, "the layers' dense weights"));
	for (i = 0; i < m->nlayers; i++)
		for (j = 0; !m->layers[i].extra && j < m->layers[i].ndense;
		    j++)
			if (!cl_add(d->nbytes[i], m->layers[i].dense[j].nbytes,
			    &d->nbytes[i]))
				return (cl_fail(err, CL_ENOTSUP, "layer %u: "
				    "more dense bytes than can be counted",
				    i));
	d->in[0].layer = d->in[1].layer = NOWHERE;
	return (CL_OK);
}

static void
begin(struct cl_replay *r, uint32_t ring, uint32_t layer,
    enum cl_io_queue queue)
{
	struct dense_read *in = &r->dense.in[ring];

	in->layer = layer;
	in->epoch = r->epoch;
	cl_device_read_dense(r->o.device, &in->job, layer, ring, queue);
}

/* It was waited for; a failure is no more than its time. */
static void
note(struct cl_replay *r, const struct dense_read *in)
{

	if (in->epoch == r->epoch)
		cl_replay_spent(r, &in->job);
}

static void
give_up(struct cl_replay *r, struct dense_read *in)
{
	struct cl_io *io = cl_device_io(r->o.device);

	cl_io_cancel(io, &in->job);
	cl_io_wait(io, &in->job);
	note(r, in);
	in->layer = NOWHERE;
}

/* The next layer with dense weights, in the order of passes. */
static uint32_t
next_of(const struct cl_replay *r, uint32_t layer)
{
	uint32_t n = r->model->nlayers;

	do
		layer = (layer + 1) % n;
	while (r->dense.nbytes[layer] == 0);
	return (layer);
}

/* Until the weights of a layer are there. */
static int
fetch(struct cl_replay *r, uint32_t layer, struct cl_err *err)
{
	struct cl_io *io = cl_device_io(r->o.device);
	struct dense *d = &r->dense;
	struct dense_read *in = &d->in[d->at];

	if (in->layer != NOWHERE && in->layer != layer)
		give_up(r, in);
	if (in->layer == layer) {
		cl_io_promote(io, &in->job);
		if (in->job.queue == CL_IO_DEMAND)
			return (cl_device_wait_dense(r->o.device, &in->job,
			    layer, err));
		cl_io_wait(io, &in->job);
		if (in->job.err.code == CL_OK)
			return (CL_OK);
		note(r, in);
		r->measure[CL_M_PREFETCH_FAILED]++;
	}
	begin(r, d->at, layer, CL_IO_DEMAND);
	return (cl_device_wait_dense(r->o.device, &in->job, layer, err));
}

/* A layer's weights are needed: its event waits for them. */
static int
use(struct cl_replay *r, uint32_t layer, unsigned phase, struct cl_err *err)
{
	uint64_t *n = &r->phase[phase]->n[CL_N_DENSE_BYTES], t0;
	struct dense *d = &r->dense;
	int status;

	if (d->nbytes[layer] == 0)
		return (CL_OK);
	if (d->nbytes[layer] > INT64_MAX - *n)
		return (cl_fail(err, CL_ENOTSUP, "layer %u: more dense bytes "
		    "read than can be counted", layer));
	*n += d->nbytes[layer];
	if (r->o.device == NULL)
		return (CL_OK);
	t0 = cl_replay_now(r);
	status = fetch(r, layer, err);
	t0 = cl_replay_now(r) - t0;
	r->measure[CL_M_IO_WAIT_NS] += t0;
	r->measure[CL_M_DENSE_WAIT_NS] += t0;
	note(r, &d->in[d->at]);
	d->in[d->at].layer = NOWHERE;
	d->at = 1 - d->at;
	if (status == CL_OK)
		begin(r, d->at, next_of(r, layer), CL_IO_PREFETCH);
	return (status);
}

/* Has the layer experts that this pass does not use? */
static bool
passed_over(const struct cl_replay *r, uint32_t layer)
{

	return (r->model->layers[layer].nexperts > 0);
}

int
cl_replay_dense(struct cl_replay *r, uint32_t from, uint32_t to,
    unsigned phase, struct cl_err *err)
{
	uint32_t layer;
	int status;

	if (r->dense.nbytes == NULL)
		return (CL_OK);
	for (layer = from; layer < to; layer++)
		if (!passed_over(r, layer) && (status = use(r, layer, phase,
		    err)) != CL_OK)
			return (status);
	return (to < r->model->nlayers ? use(r, to, phase, err) : CL_OK);
}

void
cl_replay_end_dense(struct cl_replay *r)
{
	uint32_t i;

	for (i = 0; r->o.device != NULL && i < 2; i++)
		if (r->dense.in[i].layer != NOWHERE &&
		    r->dense.nbytes != NULL)
			give_up(r, &r->dense.in[i]);
	free(r->dense.nbytes);
	r->dense.nbytes = NULL;
}
