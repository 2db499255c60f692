/*
 * Points first: what is measured.  A sample of each point is taken in turn,
 * round after round, and is the mean of some bursts, since a replay waits for
 * the slow ones, too.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/clock.h"
#include "cl/compute.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/host.h"
#include "cl/model.h"
#include "cl/num.h"
#include "cl/rng.h"
#include "cl/vec.h"
#include "calibrate_int.h"

#define ARENA_BYTES	(UINT64_C(1) << 28) /* of one reader's buffers */
#define SAMPLE_BYTES	(UINT64_C(48) << 20) /* a sample reads that, or */
#define SAMPLE_BURSTS	64		/* so many bursts, or one */
#define SIZES_MAX	3		/* of experts that are measured */

enum { ALONE, TOGETHER, NREADERS };

struct lab {
	const struct cl_model *model;
	const struct cl_calibrate_options *o;
	struct cl_calibration *c;
	struct cl_device *device[NREADERS];
	uint32_t	 nthreads[NREADERS];
	uint32_t	 nslots;	/* buffers */
	uint32_t	 slot;		/* the next one to be read into */
	uint32_t	 nburst;	/* experts read at once, at most */
	uint64_t	 rng;
	uint64_t	 kernel_bytes;	/* computed over, of a round */
	uint64_t	 kernel_ns;
	double		*v;		/* samples of each point, then of two */
	uint64_t	*dense;		/* sizes of a pass over dense weights */
	size_t		 ndense;
	size_t		 dense_cap;
	struct member {
		uint32_t	 layer;
		uint32_t	 expert;
		uint8_t		*buf;
		struct cl_io_job job;
	}		 member[CL_CALIBRATE_BURST_MAX];	/* of a burst */
};

static double *
samples(const struct lab *lab, uint32_t i)
{

	return (lab->v + (size_t)i * lab->o->nsamples);
}

static bool
is_measured(const struct cl_layer *l)
{

	return (l->nexperts > 0 && !l->extra);
}

/* Layers with experts of up to SIZES_MAX sizes, the largest among them. */
static uint32_t
pick_layers(const struct cl_model *m, uint32_t layers[SIZES_MAX])
{
	uint32_t i, k, n = 0;

	for (i = 0; i < m->nlayers; i++) {
		if (!is_measured(&m->layers[i]))
			continue;
		for (k = 0; k < n; k++)
			if (m->layers[layers[k]].expert_bytes ==
			    m->layers[i].expert_bytes)
				break;
		if (k < n)
			continue;
		if (n < SIZES_MAX)
			layers[n++] = i;
		else if (m->layers[i].expert_bytes >
		    m->layers[layers[0]].expert_bytes)
			layers[0] = i;
	}
	return (n);
}

static void
add_points(struct lab *lab, uint32_t reader)
{
	struct cl_calibrate_point *p;
	uint32_t layers[SIZES_MAX], n, i, nlayers;

	nlayers = pick_layers(lab->model, layers);
	for (i = 0; i < nlayers; i++)
		for (n = 1; n <= lab->nburst; n *= 2) {
			p = &lab->c->point[lab->c->npoints++];
			p->nthreads = lab->nthreads[reader];
			p->nexperts = n;
			p->layer = layers[i];
			p->nbytes = n * lab->model->layers[layers[i]]
			    .expert_bytes;
		}
}

/* Buffers as many as a replay's, within reason; and a reader, or two. */
static int
open_devices(struct lab *lab, struct cl_err *err)
{
	struct cl_model_sums sums;
	struct cl_device_options d = lab->o->device;
	uint64_t n;
	uint32_t i;

	cl_model_sums(lab->model, &sums);
	if (!sums.bytes_known)
		return (cl_fail(err, CL_ENOTSUP, "the sizes of its experts "
		    "are not known"));
	d.stride = cl_roundup(sums.expert_bytes_max, 4096);
	n = ARENA_BYTES / d.stride;
	n = n < lab->o->device.nslots ? n : lab->o->device.nslots;
	n = n < CL_CALIBRATE_BURST_MAX ? CL_CALIBRATE_BURST_MAX : n;
	while (n > 1 && n * d.stride > ARENA_BYTES)
		n /= 2;
	d.nslots = lab->nslots = (uint32_t)n;
	lab->nburst = n < CL_CALIBRATE_BURST_MAX ? d.nslots :
	    CL_CALIBRATE_BURST_MAX;
	for (i = 0; i < NREADERS; i++) {
		if (i == TOGETHER && lab->o->device.io.nthreads == 1)
			break;
		d.io.nthreads = i == ALONE ? 1 : lab->o->device.io.nthreads;
		d.dense_ring = i != ALONE ||
		    lab->o->device.io.nthreads == 1;
		lab->nthreads[i] = d.io.nthreads;
		lab->device[i] = cl_device_new(lab->model, &d, err);
		if (lab->device[i] == NULL)
			return (err->code);
		add_points(lab, i);
	}
	return (CL_OK);
}

static struct cl_device *
busiest(const struct lab *lab)
{

	return (lab->device[TOGETHER] != NULL ? lab->device[TOGETHER] :
	    lab->device[ALONE]);
}

/* A layer with experts as large as those of the given one, any of them. */
static uint32_t
any_like(struct lab *lab, uint32_t like)
{
	const struct cl_layer *l = lab->model->layers;
	uint32_t at;

	do
		at = (uint32_t)cl_rng_below(&lab->rng, lab->model->nlayers);
	while (!is_measured(&l[at]) ||
	    l[at].expert_bytes != l[like].expert_bytes);
	return (at);
}

/* Read any n experts at once, into members; returns nanoseconds. */
static int
burst(struct lab *lab, struct cl_device *device, uint32_t like, uint32_t n,
    uint64_t *ns, struct cl_err *err)
{
	struct member *m = lab->member;
	uint32_t i, layer = any_like(lab, like);
	uint64_t start;
	int status = CL_OK;

	for (i = 0; i < n; i++) {
		m[i].layer = layer;
		m[i].expert = (uint32_t)cl_rng_below(&lab->rng,
		    lab->model->layers[layer].nexperts);
		m[i].buf = cl_device_slot(device, lab->slot);
		lab->slot = (lab->slot + 1) % lab->nslots;
	}
	start = cl_io_now(cl_device_io(device));
	for (i = 0; i < n; i++)
		cl_device_read(device, &m[i].job, m[i].layer, m[i].expert,
		    m[i].buf, CL_IO_DEMAND);
	for (i = 0; i < n; i++)
		if (cl_device_wait(device, &m[i].job, m[i].layer,
		    m[i].expert, err) != CL_OK)
			status = err->code;
	*ns = cl_io_now(cl_device_io(device)) - start;
	return (status);
}

/*
 * What a replay does with n experts that have come.  A thread that computes is
 * not woken as soon as one that only waits, where others want the processor.
 */
static void
compute(struct lab *lab, struct cl_device *device, uint32_t n)
{
	struct cl_device_slab slab[CL_IO_PARTS_MAX];
	struct cl_compute_slab in[CL_IO_PARTS_MAX];
	const struct member *m = lab->member;
	uint64_t start = cl_clock_ns();
	uint32_t i, k, nslabs;

	for (i = 0; lab->o->compute != NULL && i < n; i++, m++) {
		nslabs = cl_device_slabs(device, m->layer, m->expert, m->buf,
		    slab);
		for (k = 0; k < nslabs; k++) {
			in[k].bytes = slab[k].p;
			in[k].nbytes = slab[k].nbytes;
			lab->kernel_bytes += slab[k].nbytes;
		}
		(void)cl_compute_expert(lab->o->compute, m->layer,
		    m->expert, in, nslabs);
	}
	lab->kernel_ns += cl_clock_ns() - start;
	if (lab->o->compute_ns > 0)
		cl_io_spend(cl_device_io(device), lab->o->compute_ns);
}

/* Does a sample have enough of this, of which n are done? */
static bool
enough(uint32_t n, uint64_t nbytes)
{

	return (n >= SAMPLE_BURSTS || n * nbytes >= SAMPLE_BYTES);
}

static int
measure_point(struct lab *lab, const struct cl_calibrate_point *p, double *v,
    struct cl_err *err)
{
	struct cl_device *device = lab->device[p->nthreads ==
	    lab->nthreads[ALONE] ? ALONE : TOGETHER];
	uint32_t n = 0;
	uint64_t ns, all = 0;
	int status;

	do {
		if ((status = burst(lab, device, p->layer, p->nexperts, &ns,
		    err)) != CL_OK)
			return (status);
		all += ns;
		lab->c->asked_bytes += p->nbytes;
		compute(lab, device, p->nexperts);
	} while (!enough(++n, p->nbytes));
	*v = (double)all / n;
	return (CL_OK);
}

/* What a pass over dense weights asks for: a wait is a size of 0. */
static int
note_dense(struct lab *lab, const struct cl_io_job *job, struct cl_err *err)
{
	const struct cl_io_part *part = job->parts != NULL ? job->parts :
	    job->part;
	uint32_t i;
	int status;

	status = cl_vec_grow(&lab->dense, &lab->dense_cap,
	    lab->ndense + job->nparts + 1, sizeof(*lab->dense), err);
	if (status != CL_OK)
		return (status);
	for (i = 0; i < job->nparts; i++) {
		lab->dense[lab->ndense++] = part[i].nbytes;
		lab->c->dense_bytes += part[i].nbytes;
	}
	lab->dense[lab->ndense++] = 0;
	return (CL_OK);
}

/* Every layer's dense weights, one layer after the other, each waited for. */
static int
dense_pass(struct lab *lab, struct cl_err *err)
{
	struct cl_device *device = busiest(lab);
	struct cl_io_job *job = &lab->member[0].job;
	uint32_t i, ring = 0;
	bool first = lab->ndense == 0;
	int status;

	for (i = 0; i < lab->model->nlayers; i++) {
		if (lab->model->layers[i].ndense == 0)
			continue;
		cl_device_read_dense(device, job, i, ring, CL_IO_DEMAND);
		if ((status = cl_device_wait_dense(device, job, i, err)) !=
		    CL_OK || (first && (status = note_dense(lab, job, err)) !=
		    CL_OK))
			return (status);
		ring = 1 - ring;
	}
	lab->c->asked_bytes += lab->c->dense_bytes;
	return (CL_OK);
}

static int
measure_dense(struct lab *lab, double *v, struct cl_err *err)
{
	struct cl_io *io = cl_device_io(busiest(lab));
	uint64_t start = cl_io_now(io);
	uint32_t n = 0;
	int status;

	do {
		if ((status = dense_pass(lab, err)) != CL_OK)
			return (status);
	} while (!enough(++n, lab->c->dense_bytes));
	*v = (double)(cl_io_now(io) - start) / n;
	return (CL_OK);
}

/* Sample number s of every figure. */
static int
take_round(struct lab *lab, uint32_t s, struct cl_err *err)
{
	uint32_t i, n = lab->c->npoints;
	int status;

	lab->kernel_ns = lab->kernel_bytes = 0;
	for (i = 0; i < n; i++)
		if ((status = measure_point(lab, &lab->c->point[i],
		    &samples(lab, i)[s], err)) != CL_OK)
			return (status);
	if ((status = measure_dense(lab, &samples(lab, n)[s], err)) != CL_OK)
		return (status);
	lab->c->kernel_bytes = lab->kernel_bytes;
	samples(lab, n + 1)[s] = (double)lab->kernel_ns;
	return (CL_OK);
}

/* All rounds; the first one, which finds everything cold, is taken twice. */
static int
measure(struct lab *lab, struct cl_err *err)
{
	struct cl_calibration *c = lab->c;
	uint32_t i, n = lab->o->nsamples;
	int status;

	if ((lab->v = calloc((size_t)c->npoints + 2, n * sizeof(double))) ==
	    NULL)
		return (cl_fail_nomem(err, "samples"));
	if ((status = take_round(lab, 0, err)) != CL_OK)
		return (status);
	for (i = 0; i < n; i++)
		if ((status = take_round(lab, i, err)) != CL_OK)
			return (status);
	for (i = 0; i < c->npoints; i++)
		if ((status = cl_sample_sum(&c->point[i].ns, samples(lab, i),
		    n, err)) != CL_OK)
			return (status);
	status = cl_sample_sum(&c->dense_ns, samples(lab, i), n, err);
	if (status != CL_OK)
		return (status);
	return (cl_sample_sum(&c->kernel_ns, samples(lab, i + 1), n, err));
}

int
cl_calibrate(const struct cl_model *model,
    const struct cl_calibrate_options *o, struct cl_calibration *c,
    struct cl_err *err)
{
	struct lab *lab;
	struct cl_host_usage before, after;
	int status;

	memset(c, 0, sizeof(*c));
	if ((lab = calloc(1, sizeof(*lab))) == NULL)
		return (cl_fail_nomem(err, "calibrating"));
	lab->model = model;
	lab->o = o;
	lab->c = c;
	lab->rng = o->seed;
	cl_host_usage(&before);
	if ((status = open_devices(lab, err)) == CL_OK)
		status = measure(lab, err);
	if (status == CL_OK) {
		cl_host_usage(&after);
		c->device_bytes = after.device_bytes - before.device_bytes;
		c->spec.compute_ns = o->compute_ns;
		cl_calibrate_fit(model, c, o->device.io.nthreads, lab->dense,
		    lab->ndense);
	}
	cl_device_free(lab->device[ALONE]);
	cl_device_free(lab->device[TOGETHER]);
	free(lab->dense);
	free(lab->v);
	free(lab);
	return (status);
}
