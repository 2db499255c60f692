/*
 * Threads that each do a whole read at a time, for the back ends whose reads
 * block.  With none, reads are done by whoever submits them.
 *
 * The caller reads, too, while it waits: a read that it would only wait for
 * needs no hand-over to another thread and back, which costs two wake-ups.  So
 * one demand is left to the caller that is coming for it, and no more threads
 * are woken than there are other reads that may begin.
 */

#include <errno.h>

#include "io_int.h"

/* Under mu: may one more thread begin one more read? */
static bool
short_handed(const struct cl_io *io)
{
	const struct cl_io_pool *pool = io->state;
	uint32_t hands = pool->nwaking;

	if (cl_io_coming(io) && io->queue[CL_IO_DEMAND].first != NULL)
		hands++;
	return (pool->nasleep > pool->nwaking && io->nqueued > hands &&
	    io->nrunning + hands < io->o.nthreads);
}

static void
wake(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;

	while (short_handed(io)) {
		pool->nwaking++;
		pool->ntell++;
	}
}

pthread_cond_t *
cl_io_pool_tell(struct cl_io *io, uint32_t *n)
{
	struct cl_io_pool *pool = io->state;

	*n = pool->ntell;
	pool->ntell = 0;
	return (&pool->work);
}

/* Under mu: one read, if one may begin. */
static bool
read_one(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;
	struct cl_io_read r;

	if (!cl_io_take(io, &r))
		return (false);
	cl_io_unlock(io);
	pool->read(io, &r);
	(void)pthread_mutex_lock(&io->mu);
	cl_io_finish(io, &r);
	return (true);
}

static void *
worker(void *arg)
{
	struct cl_io *io = arg;
	struct cl_io_pool *pool = io->state;

	(void)pthread_mutex_lock(&io->mu);
	while (!io->stop) {
		if (read_one(io))
			continue;
		if (io->tell) {
			cl_io_unlock(io);
			(void)pthread_mutex_lock(&io->mu);
			continue;
		}
		pool->nasleep++;
		(void)pthread_cond_wait(&pool->work, &io->mu);
		pool->nasleep--;
		if (pool->nwaking > 0)
			pool->nwaking--;
	}
	cl_io_unlock(io);
	return (NULL);
}

void
cl_io_pool_kick(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;

	if (pool->nthreads > 0)
		wake(io);
	else
		while (read_one(io))
			;
}

/*
 * A prefetch is read along only on the way to the job itself: it may be long.
 */
void
cl_io_pool_wait(struct cl_io *io, struct cl_io_job *job)
{
	struct cl_io_pool *pool = io->state;

	while (job->state != CL_IO_DONE) {
		if ((io->queue[CL_IO_DEMAND].first != NULL ||
		    job->nissued < job->nparts) && read_one(io))
			continue;
		wake(io);
		for (; pool->ntell > 0; pool->ntell--)
			(void)pthread_cond_signal(&pool->work);
		(void)pthread_cond_wait(&io->done, &io->mu);
	}
}

void
cl_io_pool_stop(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;
	uint32_t i;

	(void)pthread_mutex_lock(&io->mu);
	io->stop = true;
	(void)pthread_cond_broadcast(&pool->work);
	(void)pthread_mutex_unlock(&io->mu);
	for (i = 0; i < pool->nthreads; i++)
		(void)pthread_join(pool->thread[i], NULL);
	(void)pthread_cond_destroy(&pool->work);
}

int
cl_io_pool_start(struct cl_io *io, struct cl_err *err)
{
	struct cl_io_pool *pool = io->state;
	int error;

	(void)pthread_cond_init(&pool->work, NULL);
	while (pool->nthreads < io->o.nthreads) {
		error = pthread_create(&pool->thread[pool->nthreads], NULL,
		    worker, io);
		if (error != 0) {
			errno = error;
			(void)cl_fail_errno(err, "cannot start reader thread "
			    "%u of %u", pool->nthreads + 1, io->o.nthreads);
			cl_io_pool_stop(io);
			return (err->code);
		}
		pool->nthreads++;
	}
	return (CL_OK);
}
