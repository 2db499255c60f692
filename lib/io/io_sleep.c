/*
 * The back end that reads nothing and takes its time over it: threads sleep,
 * on the machine's clock, until a modelled device would have ended what they
 * read.  What is between the threads and the device, queues, wake-ups and
 * waits, is real; so the one can be held against the model of the other.
 */

#include <stdlib.h>
#include <time.h>

#include "cl/clock.h"
#include "cl/virtual.h"
#include "io_int.h"

#define SECOND	UINT64_C(1000000000)	/* in nanoseconds */

struct sleeper {
	struct cl_io_pool pool;		/* comes first: it is the io's state */
	struct cl_virtual device;	/* under mu */
};

/* The mutex puts the device's requests in the order of their times. */
static void
sleep_read(struct cl_io *io, struct cl_io_read *r)
{
	struct sleeper *s = io->state;
	struct timespec left;
	uint64_t now, end;

	(void)pthread_mutex_lock(&io->mu);
	end = cl_virtual_serve(&s->device, cl_clock_ns(), r->part->nbytes,
	    r->job->dense);
	(void)pthread_mutex_unlock(&io->mu);
	while ((now = cl_clock_ns()) < end) {	/* a signal may cut it short */
		left.tv_sec = (time_t)((end - now) / SECOND);
		left.tv_nsec = (long)((end - now) % SECOND);
		(void)nanosleep(&left, NULL);
	}
}

static void
sleep_close(struct cl_io *io)
{

	cl_io_pool_stop(io);
	free(io->state);
}

static int
sleep_open(struct cl_io *io, struct cl_err *err)
{
	struct sleeper *s;

	if ((io->state = s = calloc(1, sizeof(*s))) == NULL)
		return (cl_fail_nomem(err, "the modelled device"));
	cl_virtual_init(&s->device, io->o.device);
	s->pool.read = sleep_read;
	if (cl_io_pool_start(io, err) == CL_OK)
		return (CL_OK);
	free(s);
	return (err->code);
}

const struct cl_io_back cl_io_back_sleep = {
	.id = CL_IO_SLEEP,
	.name = "sleep",
	.modelled = true,
	.open = sleep_open,
	.kick = cl_io_pool_kick,
	.wait = cl_io_pool_wait,
	.tell = cl_io_pool_tell,
	.close = sleep_close,
};
