/*
 * The back end that is everywhere: threads that call pread(2).  With none,
 * reads are done by whoever submits them.
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io_int.h"

struct pool {
	pthread_cond_t	 work;		/* with io->mu: a job was queued */
	uint32_t	 nthreads;	/* that were started */
	pthread_t	 thread[CL_IO_THREADS_MAX];
};

/* Under mu: one read, if there is any; another thread may do the next. */
static bool
read_one(struct cl_io *io)
{
	struct pool *pool = io->state;
	struct cl_io_read r;
	const struct cl_io_part *p;
	ssize_t n;

	if (!cl_io_take(io, &r))
		return (false);
	if (cl_io_queued(io))
		(void)pthread_cond_signal(&pool->work);
	(void)pthread_mutex_unlock(&io->mu);
	p = r.part;
	do {
		n = pread(io->file[p->file].fd, p->buf + r.got,
		    p->nbytes - r.got, (off_t)(p->off + r.got));
	} while (!cl_io_step(io, &r, n == -1 ? -errno : n));
	(void)pthread_mutex_lock(&io->mu);
	cl_io_finish(io, &r);
	return (true);
}

static void *
worker(void *arg)
{
	struct cl_io *io = arg;
	struct pool *pool = io->state;

	(void)pthread_mutex_lock(&io->mu);
	while (!io->stop)
		if (!read_one(io))
			(void)pthread_cond_wait(&pool->work, &io->mu);
	(void)pthread_mutex_unlock(&io->mu);
	return (NULL);
}

static void
pread_kick(struct cl_io *io)
{
	struct pool *pool = io->state;

	if (pool->nthreads > 0)
		(void)pthread_cond_signal(&pool->work);
	else
		while (read_one(io))
			;
}

static void
pread_close(struct cl_io *io)
{
	struct pool *pool = io->state;
	uint32_t i;

	(void)pthread_mutex_lock(&io->mu);
	io->stop = true;
	(void)pthread_cond_broadcast(&pool->work);
	(void)pthread_mutex_unlock(&io->mu);
	for (i = 0; i < pool->nthreads; i++)
		(void)pthread_join(pool->thread[i], NULL);
	(void)pthread_cond_destroy(&pool->work);
	free(pool);
}

static int
pread_open(struct cl_io *io, struct cl_err *err)
{
	struct pool *pool;
	int error;

	if ((io->state = pool = calloc(1, sizeof(*pool))) == NULL)
		return (cl_fail_nomem(err, "the reader's threads"));
	(void)pthread_cond_init(&pool->work, NULL);
	while (pool->nthreads < io->o.nthreads) {
		error = pthread_create(&pool->thread[pool->nthreads], NULL,
		    worker, io);
		if (error != 0) {
			errno = error;
			(void)cl_fail_errno(err, "cannot start reader thread "
			    "%u of %u", pool->nthreads + 1, io->o.nthreads);
			pread_close(io);
			return (err->code);
		}
		pool->nthreads++;
	}
	return (CL_OK);
}

const struct cl_io_back cl_io_back_pread = {
	.id = CL_IO_PREAD,
	.name = "pread",
	.open = pread_open,
	.kick = pread_kick,
	.close = pread_close,
};
