/*
 * The link first: since requests leave it in the order in which they came,
 * each one's end is known as it comes, and nothing is ever revised.  A busy
 * period is the time in which the link has no rest; an end is the beginning
 * of the period and the time that all its bytes take, rounded up once.
 *
 * Then the workers: what they hold is a ring in the order of the ends, so
 * that a step of the clock looks at the oldest alone.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/num.h"
#include "cl/virtual.h"

#define SECOND		UINT64_C(1000000000)
#define TIME_MAX	((uint64_t)INT64_MAX)

struct service {
	struct cl_virtual_job *job;
	uint64_t	 end;
};

struct queue {
	struct cl_virtual_job *first;
	struct cl_virtual_job *last;
};

struct cl_virtual {
	struct cl_virtual_link link;
	bool		 spread;
	uint64_t	 now;
	struct queue	 queue[2];	/* by enum cl_virtual_queue */
	/* nworkers places, of which nserved from first on are in use */
	struct service	*service;
	uint32_t	 nworkers;
	uint32_t	 nserved;
	uint32_t	 first;
};

/* The sum, or the end of time. */
static uint64_t
later(uint64_t t, uint64_t ns)
{

	return (ns > TIME_MAX - t ? TIME_MAX : t + ns);
}

/* How long bytes take, rounded up. */
static uint64_t
span(uint64_t nbytes, uint64_t rate)
{
	uint64_t product;

	if (cl_mul(nbytes, SECOND, &product))
		return (product / rate + (product % rate != 0));
	if (nbytes / rate >= TIME_MAX / SECOND)
		return (TIME_MAX);
	/* The product modulo 2^64 does to tell whether it divides. */
	product -= cl_muldiv(nbytes, SECOND, rate) * rate;
	return (cl_muldiv(nbytes, SECOND, rate) + (product != 0));
}

uint64_t
cl_virtual_compute_ns(const struct cl_virtual_spec *spec, uint64_t nbytes)
{

	return (later(spec->kernel == 0 ? 0 : span(nbytes, spec->kernel),
	    spec->compute_ns));
}

void
cl_virtual_link_init(struct cl_virtual_link *l,
    const struct cl_virtual_spec *spec)
{

	*l = (struct cl_virtual_link) { .spec = *spec };
	assert(spec->read >= CL_VIRTUAL_RATE_MIN);
	assert(spec->dense >= CL_VIRTUAL_RATE_MIN);
	assert(spec->depth > 0 && spec->depth <= CL_VIRTUAL_DEPTH_MAX);
}

uint64_t
cl_virtual_link_serve(struct cl_virtual_link *l, uint64_t at, uint64_t nbytes,
    bool dense)
{
	uint64_t rate = dense ? l->spec.dense : l->spec.read;
	uint64_t *end = &l->end[l->nserved++ % l->spec.depth];
	uint64_t ready = later(at > *end ? at : *end, l->spec.latency_ns);

	if (ready >= l->free || rate != l->rate) {
		l->from = ready > l->free ? ready : l->free;
		l->nbytes = 0;
		l->rate = rate;
	}
	if (!cl_add(l->nbytes, nbytes, &l->nbytes))
		l->nbytes = UINT64_MAX;
	l->free = later(l->from, span(l->nbytes, rate));
	*end = l->free;
	return (l->free);
}

struct cl_virtual *
cl_virtual_new(const struct cl_virtual_spec *spec, uint32_t nworkers,
    bool spread, struct cl_err *err)
{
	struct cl_virtual *v;

	assert(nworkers > 0);
	if ((v = calloc(1, sizeof(*v))) == NULL ||
	    (v->service = calloc(nworkers, sizeof(*v->service))) == NULL) {
		free(v);
		cl_fail_nomem(err, "the modelled device");
		return (NULL);
	}
	cl_virtual_link_init(&v->link, spec);
	v->nworkers = nworkers;
	v->spread = spread;
	return (v);
}

uint64_t
cl_virtual_now(const struct cl_virtual *v)
{

	return (v->now);
}

static void
append(struct queue *q, struct cl_virtual_job *job)
{

	job->next = NULL;
	job->prev = q->last;
	if (q->last != NULL)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static void
take_out(struct queue *q, struct cl_virtual_job *job)
{

	if (job->prev != NULL)
		job->prev->next = job->next;
	else
		q->first = job->next;
	if (job->next != NULL)
		job->next->prev = job->prev;
	else
		q->last = job->prev;
}

/* A free worker makes a request of the next part. */
static void
begin(struct cl_virtual *v, struct cl_virtual_job *job)
{
	uint32_t place = (v->first + v->nserved++) % v->nworkers;

	if (job->begun == 0) {
		job->state = CL_VIRTUAL_BEGUN;
		job->begin_ns = v->now;
	}
	v->service[place].job = job;
	v->service[place].end = cl_virtual_link_serve(&v->link, v->now,
	    job->nbytes[job->begun++], job->dense);
}

/* Free workers take what waits. */
static void
dispatch(struct cl_virtual *v)
{
	struct cl_virtual_job *job;

	while (v->nserved < v->nworkers) {
		if ((job = v->queue[CL_VIRTUAL_DEMAND].first) == NULL &&
		    (job = v->queue[CL_VIRTUAL_PREFETCH].first) == NULL)
			return;
		if (!v->spread || job->begun + 1 == job->nparts)
			take_out(&v->queue[job->queue], job);
		begin(v, job);
	}
}

/* On to the next end of a request; there is one. */
static void
step(struct cl_virtual *v)
{
	struct cl_virtual_job *job;

	assert(v->nserved > 0);
	job = v->service[v->first].job;
	v->now = v->service[v->first].end;
	v->first = (v->first + 1) % v->nworkers;
	v->nserved--;
	if (++job->ended == job->nparts) {
		job->state = CL_VIRTUAL_DONE;
		job->end_ns = v->now;
	} else if (!v->spread)
		begin(v, job);
	dispatch(v);
}

void
cl_virtual_submit(struct cl_virtual *v, struct cl_virtual_job *job,
    enum cl_virtual_queue queue)
{

	assert(job->nparts > 0 && job->nparts <= CL_VIRTUAL_PARTS_MAX);
	job->state = CL_VIRTUAL_WAITING;
	job->queue = queue;
	job->begun = job->ended = 0;
	append(&v->queue[queue], job);
	dispatch(v);
}

void
cl_virtual_promote(struct cl_virtual *v, struct cl_virtual_job *job)
{
	bool queued = job->state == CL_VIRTUAL_WAITING || (v->spread &&
	    job->state == CL_VIRTUAL_BEGUN && job->begun < job->nparts);

	if (!queued || job->queue == CL_VIRTUAL_DEMAND)
		return;
	take_out(&v->queue[CL_VIRTUAL_PREFETCH], job);
	job->queue = CL_VIRTUAL_DEMAND;
	append(&v->queue[CL_VIRTUAL_DEMAND], job);
}

void
cl_virtual_wait(struct cl_virtual *v, struct cl_virtual_job *job)
{

	while (job->state != CL_VIRTUAL_DONE)
		step(v);
}

void
cl_virtual_spend(struct cl_virtual *v, uint64_t ns)
{
	uint64_t until = later(v->now, ns);

	while (v->nserved > 0 && v->service[v->first].end <= until)
		step(v);
	v->now = until;
}

void
cl_virtual_free(struct cl_virtual *v)
{

	if (v == NULL)
		return;
	free(v->service);
	free(v);
}
