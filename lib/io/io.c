/*
 * Worker threads over two queues.  One mutex guards everything that changes;
 * a worker holds it to take a job and to give it back, never while it reads.
 * Success and failure end in the same way: stop, wake all, join.
 *
 * A read is whole or an error: interrupted calls and short counts go on, and
 * an end of file inside an extent is an error that says where.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/io.h"
#include "cl/num.h"

struct queue {
	struct cl_io_job *first;
	struct cl_io_job *last;
};

struct cl_io {
	/* fixed at open */
	const struct cl_io_file *file;
	enum cl_io_os_cache os_cache;
	uint64_t	 page;
	uint32_t	 nthreads;	/* that were started */
	pthread_t	 thread[CL_IO_THREADS_MAX];

	/* under mu */
	pthread_mutex_t	 mu;
	pthread_cond_t	 work;		/* a job was queued, or stop */
	pthread_cond_t	 done;		/* a job is done */
	struct queue	 queue[2];	/* by enum cl_io_queue */
	bool		 stop;
	bool		 failed;	/* a job has; its error is `first` */
	struct cl_err	 first;
};

/* All of one extent, or an error. */
static int
read_part(const struct cl_io_file *f, const struct cl_io_part *p,
    struct cl_err *err)
{
	size_t got = 0;
	ssize_t n;

	while (got < p->nbytes) {
		n = pread(f->fd, p->buf + got, p->nbytes - got,
		    (off_t)(p->off + got));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return (cl_fail_errno(err, "%s: offset %llu: cannot "
			    "read %zu bytes, got %zu", f->name,
			    (unsigned long long)p->off, p->nbytes, got));
		if (n == 0)
			return (cl_fail(err, CL_EIO, "%s: offset %llu: wanted "
			    "%zu bytes, got %zu: the file is shorter than it "
			    "was", f->name, (unsigned long long)p->off,
			    p->nbytes, got));
		got += (size_t)n;
	}
	return (CL_OK);
}

/* Ask the system to forget what was read, in whole pages, rounded out. */
static void
drop_part(const struct cl_io *io, const struct cl_io_part *p)
{
	uint64_t from = p->off & ~(io->page - 1);
	uint64_t to = cl_roundup(p->off + p->nbytes, io->page);

	(void)posix_fadvise(io->file[p->file].fd, (off_t)from,
	    (off_t)(to - from), POSIX_FADV_DONTNEED);
}

static void
run(const struct cl_io *io, struct cl_io_job *job)
{
	uint64_t t0 = cl_clock_ns();
	uint32_t i;

	for (i = 0; i < job->nparts; i++) {
		if (read_part(&io->file[job->part[i].file], &job->part[i],
		    &job->err) != CL_OK)
			break;
		if (io->os_cache == CL_IO_DROP)
			drop_part(io, &job->part[i]);
	}
	job->read_ns = cl_clock_ns() - t0;
}

static void
push(struct queue *q, struct cl_io_job *job)
{

	job->next = NULL;
	if (q->last != NULL)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static struct cl_io_job *
pop(struct queue *q)
{
	struct cl_io_job *job = q->first;

	if (job != NULL && (q->first = job->next) == NULL)
		q->last = NULL;
	return (job);
}

/* Under mu: the next job, demand before prefetch; NULL where both are empty. */
static struct cl_io_job *
take(struct cl_io *io)
{
	struct cl_io_job *job = pop(&io->queue[CL_IO_DEMAND]);

	return (job != NULL ? job : pop(&io->queue[CL_IO_PREFETCH]));
}

/*
 * Under mu: a job is over.  The first failure is everybody's: it fails what
 * still waits in the queues.
 */
static void
finish(struct cl_io *io, struct cl_io_job *job)
{

	job->state = CL_IO_DONE;
	if (job->err.code != CL_OK && !io->failed) {
		io->failed = true;
		io->first = job->err;
		while ((job = take(io)) != NULL) {
			job->err = io->first;
			job->state = CL_IO_DONE;
		}
	}
	(void)pthread_cond_broadcast(&io->done);
}

static void *
worker(void *arg)
{
	struct cl_io *io = arg;
	struct cl_io_job *job;

	(void)pthread_mutex_lock(&io->mu);
	while (!io->stop) {
		if ((job = take(io)) == NULL) {
			(void)pthread_cond_wait(&io->work, &io->mu);
			continue;
		}
		job->state = CL_IO_RUNNING;
		(void)pthread_mutex_unlock(&io->mu);
		run(io, job);
		(void)pthread_mutex_lock(&io->mu);
		finish(io, job);
	}
	(void)pthread_mutex_unlock(&io->mu);
	return (NULL);
}

static int
start_threads(struct cl_io *io, uint32_t n, struct cl_err *err)
{
	int error;

	for (; io->nthreads < n; io->nthreads++) {
		error = pthread_create(&io->thread[io->nthreads], NULL, worker,
		    io);
		if (error != 0) {
			errno = error;
			return (cl_fail_errno(err, "cannot start reader "
			    "thread %u of %u", io->nthreads + 1, n));
		}
	}
	return (CL_OK);
}

struct cl_io *
cl_io_new(const struct cl_io_file *files, uint32_t nfiles, uint32_t nthreads,
    enum cl_io_os_cache os_cache, struct cl_err *err)
{
	struct cl_io *io;
	uint32_t i;
	long page = sysconf(_SC_PAGESIZE);

	if ((io = calloc(1, sizeof(*io))) == NULL) {
		cl_fail_nomem(err, "the reader");
		return (NULL);
	}
	io->file = files;
	io->os_cache = os_cache;
	io->page = page > 0 ? (uint64_t)page : 4096;
	(void)pthread_mutex_init(&io->mu, NULL);
	(void)pthread_cond_init(&io->work, NULL);
	(void)pthread_cond_init(&io->done, NULL);
	for (i = 0; i < nfiles && os_cache == CL_IO_DROP; i++)
		(void)posix_fadvise(files[i].fd, 0, 0, POSIX_FADV_RANDOM);
	if (start_threads(io, nthreads, err) != CL_OK) {
		cl_io_free(io);
		return (NULL);
	}
	return (io);
}

void
cl_io_submit(struct cl_io *io, struct cl_io_job *job, enum cl_io_queue queue)
{

	job->read_ns = 0;
	job->err.code = CL_OK;
	(void)pthread_mutex_lock(&io->mu);
	if (io->failed) {
		job->err = io->first;
		job->state = CL_IO_DONE;
	} else if (io->nthreads == 0) {
		run(io, job);
		finish(io, job);
	} else {
		job->state = CL_IO_QUEUED;
		push(&io->queue[queue], job);
		(void)pthread_cond_signal(&io->work);
	}
	(void)pthread_mutex_unlock(&io->mu);
}

void
cl_io_wait(struct cl_io *io, struct cl_io_job *job)
{

	(void)pthread_mutex_lock(&io->mu);
	while (job->state != CL_IO_DONE)
		(void)pthread_cond_wait(&io->done, &io->mu);
	job->state = CL_IO_IDLE;
	(void)pthread_mutex_unlock(&io->mu);
}

void
cl_io_free(struct cl_io *io)
{
	uint32_t i;

	if (io == NULL)
		return;
	(void)pthread_mutex_lock(&io->mu);
	io->stop = true;
	(void)pthread_cond_broadcast(&io->work);
	(void)pthread_mutex_unlock(&io->mu);
	for (i = 0; i < io->nthreads; i++)
		(void)pthread_join(io->thread[i], NULL);
	(void)pthread_cond_destroy(&io->done);
	(void)pthread_cond_destroy(&io->work);
	(void)pthread_mutex_destroy(&io->mu);
	free(io);
}
