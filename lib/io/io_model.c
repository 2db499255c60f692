/*
 * The back end that reads nothing: reads end when a modelled device would end
 * them, on a clock that moves only while somebody waits or computes.  Queues
 * and their rules are those of every other back end.
 *
 * Ends come in the order of the beginnings, so that what is under way is a
 * ring, and a step of the clock looks at its oldest read alone.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/virtual.h"
#include "io_int.h"

struct under_way {
	struct cl_io_read read;
	uint64_t	 end_ns;
};

struct model {
	struct cl_virtual device;
	uint64_t	 now_ns;
	struct under_way ring[CL_IO_THREADS_MAX];
	uint32_t	 first;
	uint32_t	 n;
};

/* As many reads as may be under way; without threads that is one. */
static void
begin(struct cl_io *io)
{
	struct model *m = io->state;
	uint32_t most = io->o.nthreads > 0 ? io->o.nthreads : 1;
	struct under_way *u;

	while (m->n < most) {
		u = &m->ring[(m->first + m->n) % CL_IO_THREADS_MAX];
		if (!cl_io_take(io, &u->read))
			return;
		u->end_ns = cl_virtual_serve(&m->device, m->now_ns,
		    u->read.part->nbytes, u->read.job->dense);
		m->n++;
	}
}

/* On to the end of the oldest read, and to what can begin then. */
static void
step(struct cl_io *io)
{
	struct model *m = io->state;
	struct under_way *u = &m->ring[m->first];

	assert(m->n > 0);
	m->now_ns = u->end_ns;
	m->first = (m->first + 1) % CL_IO_THREADS_MAX;
	m->n--;
	cl_io_finish(io, &u->read);
	begin(io);
}

static void
model_kick(struct cl_io *io)
{
	struct model *m = io->state;

	begin(io);
	while (io->o.nthreads == 0 && m->n > 0)
		step(io);
}

/* On by so much, by way of all that ends until then. */
static void
pass(struct cl_io *io, uint64_t ns)
{
	struct model *m = io->state;
	uint64_t until = cl_virtual_later(m->now_ns, ns);

	while (m->n > 0 && m->ring[m->first].end_ns <= until)
		step(io);
	m->now_ns = until;
}

static void
model_wait(struct cl_io *io, struct cl_io_job *job)
{
	struct model *m = io->state;

	if (job->state == CL_IO_DONE)
		return;
	while (job->state != CL_IO_DONE)
		step(io);
	pass(io, m->device.spec.wake_ns);
}

static uint64_t
model_now(struct cl_io *io)
{
	struct model *m = io->state;

	return (m->now_ns);
}

static void
model_spend(struct cl_io *io, uint64_t ns)
{

	(void)pthread_mutex_lock(&io->mu);
	pass(io, ns);
	(void)pthread_mutex_unlock(&io->mu);
}

static void
model_close(struct cl_io *io)
{
	struct model *m = io->state;

	(void)pthread_mutex_lock(&io->mu);
	while (m->n > 0)
		step(io);
	(void)pthread_mutex_unlock(&io->mu);
	free(m);
}

static int
model_open(struct cl_io *io, struct cl_err *err)
{
	struct model *m;

	assert(io->o.nthreads <= CL_IO_THREADS_MAX);
	if ((io->state = m = calloc(1, sizeof(*m))) == NULL)
		return (cl_fail_nomem(err, "the modelled device"));
	cl_virtual_init(&m->device, io->o.device);
	return (CL_OK);
}

const struct cl_io_back cl_io_back_model = {
	.id = CL_IO_MODEL,
	.name = "model",
	.modelled = true,
	.open = model_open,
	.kick = model_kick,
	.wait = model_wait,
	.now = model_now,
	.spend = model_spend,
	.close = model_close,
};
