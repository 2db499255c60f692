/*
 * Threads that each do a whole read at a time, for the back ends whose reads
 * block.  With none, reads are done by whoever submits them.
 */

#include <errno.h>

#include "io_int.h"

/* Under mu: one read, if there is any; another thread may do the next. */
static bool
read_one(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;
	struct cl_io_read r;

	if (!cl_io_take(io, &r))
		return (false);
	if (cl_io_queued(io))
		(void)pthread_cond_signal(&pool->work);
	(void)pthread_mutex_unlock(&io->mu);
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
	while (!io->stop)
		if (!read_one(io))
			(void)pthread_cond_wait(&pool->work, &io->mu);
	(void)pthread_mutex_unlock(&io->mu);
	return (NULL);
}

void
cl_io_pool_kick(struct cl_io *io)
{
	struct cl_io_pool *pool = io->state;

	if (pool->nthreads > 0)
		(void)pthread_cond_signal(&pool->work);
	else
		while (read_one(io))
			;
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
