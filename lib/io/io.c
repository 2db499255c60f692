/*
 * Jobs, queues and the rules of failure; who reads is a back end.  One mutex
 * guards everything that changes; nobody holds it while bytes move.
 *
 * What is scheduled is not a job but a part of one, so that two experts of
 * three slabs keep six threads busy.  A job leaves its queue with its last
 * part, or when it has failed; it is done when it is in no queue and no part
 * of it is under way.
 *
 * A read is whole or an error: interrupted calls and short counts go on, and
 * an end of file inside an extent is an error that says where.
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/num.h"
#include "io_int.h"

#define AGAIN_MAX	1000		/* interrupted for ever is an error */
#define CALL_MAX	((size_t)1 << 30)	/* systems stop below 2 GiB */

static const struct cl_io_back *const backs[] = {
	&cl_io_back_uring,
	&cl_io_back_pread,
	&cl_io_back_model,
	&cl_io_back_sleep,
};

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

void
cl_io_unlock(struct cl_io *io)
{
	pthread_cond_t *more = NULL;
	uint32_t n = 0;
	bool tell = io->tell;

	io->tell = false;
	if (io->back != NULL && io->back->tell != NULL)
		more = io->back->tell(io, &n);
	(void)pthread_mutex_unlock(&io->mu);
	if (tell)
		(void)pthread_cond_signal(&io->done);
	for (; n > 0; n--)
		(void)pthread_cond_signal(more);
}

/* Parts that are not begun. */
static uint32_t
unbegun(const struct cl_io_job *job)
{

	return (job->nparts - job->nissued);
}

/* Take a job out; queues are short.  False: it is in another, or in none. */
static bool
pull(struct queue *q, struct cl_io_job *job)
{
	struct cl_io_job *at, *before = NULL;

	for (at = q->first; at != NULL && at != job; at = at->next)
		before = at;
	if (at == NULL)
		return (false);
	if (before != NULL)
		before->next = job->next;
	else
		q->first = job->next;
	if (q->last == job)
		q->last = before;
	return (true);
}

/* In no queue any more: done, unless parts are under way. */
static void
settle(struct cl_io *io, struct cl_io_job *job)
{

	if (job->nrunning > 0)
		return;
	job->done_ns = cl_io_now(io);
	job->state = CL_IO_DONE;
	if (io->awaited == job)
		io->tell = true;
}

/* Nothing more of a queued job is read; why is its error, if it has none. */
static void
drop(struct cl_io *io, struct cl_io_job *job, int code, const char *why)
{

	if (!pull(&io->queue[job->queue], job))
		return;
	io->nqueued -= unbegun(job);
	(void)cl_fail(&job->err, code, "%s", why);
	settle(io, job);
}

/* The first failure of a demand is everybody's who waits in a queue. */
static void
fail(struct cl_io *io, const struct cl_err *err)
{
	int q;

	if (io->failed)
		return;
	io->failed = true;
	io->first = *err;
	for (q = 0; q < 2; q++)
		while (io->queue[q].first != NULL)
			drop(io, io->queue[q].first, err->code, err->msg);
}

/* Under mu: what is read for a part. */
static void
set_window(const struct cl_io *io, struct cl_io_read *r)
{
	const struct cl_io_part *p = r->part;
	uint64_t align = io->facts.align;

	r->direct = io->facts.os_cache == CL_IO_DIRECT;
	r->head = r->direct ? (size_t)(p->off & (align - 1)) : 0;
	r->off = p->off - r->head;
	r->buf = p->buf == NULL ? NULL : p->buf - r->head;	/* modelled */
	r->window = p->nbytes;
	if (r->direct)
		r->window = (size_t)cl_roundup(r->head + p->nbytes, align);
}

bool
cl_io_coming(const struct cl_io *io)
{

	return (io->nwanted > 0 && io->awaited == NULL && !io->away);
}

bool
cl_io_take(struct cl_io *io, struct cl_io_read *r)
{
	struct queue *q = &io->queue[CL_IO_DEMAND];
	struct cl_io_job *job;

	if (q->first == NULL)
		q = &io->queue[CL_IO_PREFETCH];
	if ((job = q->first) == NULL || (io->nrunning > 0 &&
	    io->nrunning >= io->o.nthreads))
		return (false);
	io->nqueued--;
	io->nrunning++;
	r->job = job;
	r->part = &(job->parts != NULL ? job->parts : job->part)
	    [job->nissued++];
	set_window(io, r);
	r->got = r->most = 0;
	r->nretries = r->nagain = 0;
	r->err.code = CL_OK;
	r->begun_ns = cl_io_now(io);
	if (job->nrunning++ == 0 && job->state == CL_IO_QUEUED)
		job->begun_ns = r->begun_ns;
	job->state = CL_IO_RUNNING;
	if (job->nissued == job->nparts)
		(void)pull(q, job);
	return (true);
}

size_t
cl_io_left(const struct cl_io *io, const struct cl_io_read *r)
{
	size_t n = r->window - r->got;

	return (n < io->call_max ? n : io->call_max);
}

/* Bytes of the part itself that have come. */
static size_t
part_got(const struct cl_io_read *r)
{

	return (r->most > r->head ? r->most - r->head : 0);
}

void
cl_io_refuse(struct cl_io *io, struct cl_io_read *r, int error)
{

	errno = error;
	(void)cl_fail_errno(&r->err, "%s: offset %llu: cannot read %zu bytes, "
	    "got %zu", io->file[r->part->file].name,
	    (unsigned long long)r->part->off, r->part->nbytes, part_got(r));
}

/* A call failed: may it be made again? */
static bool
again(struct cl_io *io, struct cl_io_read *r, int error)
{

	if (error == EINTR || error == EAGAIN)
		return (r->nagain++ < AGAIN_MAX);
	if (error == EIO && r->nretries < io->o.retries) {
		r->nretries++;
		return (true);
	}
	if (error == EINVAL && r->direct && !io->o.direct_required) {
		cl_io_direct_end(io, error);
		r->direct = false;
		return (true);
	}
	return (false);
}

/*
 * n more bytes have come.  Direct reads begin at multiples of the alignment,
 * so that a short one is followed by one that overlaps it; if that brings no
 * more, the file ends there.  False: it does.
 */
static bool
advance(const struct cl_io *io, struct cl_io_read *r, size_t n)
{

	if (r->got + n <= r->most)
		return (false);
	r->nagain = 0;
	r->got += n;
	r->most = r->got;
	if (r->direct)
		r->got &= ~((size_t)io->facts.align - 1);
	return (true);
}

bool
cl_io_step(struct cl_io *io, struct cl_io_read *r, ssize_t n)
{
	const struct cl_io_part *p = r->part;
	const struct cl_io_file *f = &io->file[p->file];

	if (n < 0 && again(io, r, (int)-n))
		return (false);
	if (n < 0)
		cl_io_refuse(io, r, (int)-n);
	else if (!advance(io, r, (size_t)n))
		(void)cl_fail(&r->err, CL_EIO, "%s: offset %llu: wanted %zu "
		    "bytes, got %zu: the file is shorter than it was",
		    f->name, (unsigned long long)p->off, p->nbytes,
		    part_got(r));
	else if (r->most < r->head + p->nbytes)
		return (false);
	if (io->o.os_cache == CL_IO_DROP)
		cl_io_os_forget(f->fd, p->off & ~(io->page - 1),
		    cl_roundup((p->off & (io->page - 1)) + p->nbytes,
		    io->page));
	return (true);
}

void
cl_io_finish(struct cl_io *io, struct cl_io_read *r)
{
	struct cl_io_job *job = r->job;

	io->nrunning--;
	job->nrunning--;
	job->nretries += r->nretries;
	job->read_ns += cl_io_now(io) - r->begun_ns;
	if (r->err.code == CL_OK) {
		job->arrived += r->part->nbytes;
		job->fetched += io->back->modelled ? r->window : r->most;
	} else {
		if (pull(&io->queue[job->queue], job))
			io->nqueued -= unbegun(job);
		job->nissued = job->nparts;
		if (job->failed == NULL || r->part < job->failed) {
			job->err = r->err;
			job->failed = r->part;
		}
	}
	if (job->nissued == job->nparts || job->err.code != CL_OK)
		settle(io, job);
	if (job->err.code != CL_OK && job->queue == CL_IO_DEMAND)
		fail(io, &job->err);
}

/* How the page cache is used; what cannot be is either told or refused. */
static int
open_cache(struct cl_io *io, struct cl_err *err)
{
	uint32_t i;

	io->facts.align = 1;
	io->facts.os_cache = io->o.os_cache;
	if (io->back->modelled)
		return (CL_OK);
	if (io->o.os_cache == CL_IO_DROP) {
		for (i = 0; i < io->nfiles; i++)
			cl_io_os_random(io->file[i].fd);
		cl_io_probe_drop(io);
	}
	if (io->o.os_cache != CL_IO_DIRECT ||
	    cl_io_direct_open(io, &io->why_os_cache) == CL_OK)
		return (CL_OK);
	if (io->o.direct_required)
		return (cl_fail(err, CL_ENOTSUP, "%s", io->why_os_cache.msg));
	io->facts.os_cache = CL_IO_KEEP;
	return (CL_OK);
}

/* Whether the caller computes, whatever it has submitted. */
static void
set_away(struct cl_io *io, bool away)
{

	(void)pthread_mutex_lock(&io->mu);
	io->away = away;
	io->back->kick(io);
	cl_io_unlock(io);
}

/* The back end that was asked for, or the first that can be had. */
static int
open_back(struct cl_io *io, struct cl_err *err)
{
	struct cl_err why;
	size_t i, n = sizeof(backs) / sizeof(backs[0]);

	for (i = 0; i < n; i++) {
		if (io->o.backend == CL_IO_AUTO ? backs[i]->modelled :
		    io->o.backend != backs[i]->id)
			continue;
		io->back = backs[i];
		why.code = CL_OK;
		if (backs[i]->open(io, &why) == CL_OK) {
			io->facts.backend = backs[i]->id;
			io->facts.backend_name = backs[i]->name;
			return (CL_OK);
		}
		io->back = NULL;
		(void)cl_fail(&io->why_backend, why.code, "%s", why.msg);
	}
	return (cl_fail(err, why.code, "%s", why.msg));
}

struct cl_io *
cl_io_new(const struct cl_io_file *files, uint32_t nfiles,
    const struct cl_io_options *o, struct cl_err *err)
{
	struct cl_io *io;
	long page = sysconf(_SC_PAGESIZE);

	if ((io = calloc(1, sizeof(*io))) == NULL) {
		cl_fail_nomem(err, "the reader");
		return (NULL);
	}
	io->o = *o;
	io->file = files;
	io->nfiles = nfiles;
	io->page = page > 0 ? (uint64_t)page : 4096;
	io->call_max = CALL_MAX;
	(void)pthread_mutex_init(&io->mu, NULL);
	(void)pthread_cond_init(&io->done, NULL);
	if (open_back(io, err) != CL_OK || open_cache(io, err) != CL_OK) {
		cl_io_free(io);
		return (NULL);
	}
	return (io);
}

void
cl_io_facts(struct cl_io *io, struct cl_io_facts *f)
{

	(void)pthread_mutex_lock(&io->mu);
	*f = io->facts;
	cl_io_unlock(io);
	f->why_backend = io->why_backend.msg;
	f->why_os_cache = io->why_os_cache.msg;
	f->why_arena = io->why_arena.msg;
}

void
cl_io_arena(struct cl_io *io, uint8_t *arena, uint64_t nbytes, uint64_t unit)
{

	if (io->back->arena == NULL)
		return;
	if ((errno = io->back->arena(io, arena, nbytes, unit)) == 0)
		io->facts.arena_registered = true;
	else
		(void)cl_fail_errno(&io->why_arena, "buffers cannot be "
		    "registered");
}

void
cl_io_submit(struct cl_io *io, struct cl_io_job *job, enum cl_io_queue queue)
{

	job->queue = queue;
	job->nissued = job->nrunning = 0;
	job->arrived = job->fetched = job->nretries = 0;
	job->read_ns = 0;
	job->failed = NULL;
	job->err.code = CL_OK;
	job->state = CL_IO_QUEUED;
	(void)pthread_mutex_lock(&io->mu);
	job->queued_ns = job->begun_ns = cl_io_now(io);
	if ((job->wanted = queue == CL_IO_DEMAND))
		io->nwanted++;
	io->nqueued += job->nparts;
	if (job->nparts > 0)
		push(&io->queue[queue], job);
	else
		settle(io, job);
	if (io->failed)
		drop(io, job, io->first.code, io->first.msg);
	else
		io->back->kick(io);
	cl_io_unlock(io);
}

void
cl_io_promote(struct cl_io *io, struct cl_io_job *job)
{

	(void)pthread_mutex_lock(&io->mu);
	if (pull(&io->queue[CL_IO_PREFETCH], job)) {
		job->queue = CL_IO_DEMAND;
		push(&io->queue[CL_IO_DEMAND], job);
	}
	if (!job->wanted && job->state != CL_IO_IDLE) {
		job->wanted = true;
		io->nwanted++;
	}
	cl_io_unlock(io);
}

void
cl_io_cancel(struct cl_io *io, struct cl_io_job *job)
{

	(void)pthread_mutex_lock(&io->mu);
	if (job->queue == CL_IO_PREFETCH)
		drop(io, job, CL_EINVAL, "cancelled");
	cl_io_unlock(io);
}

bool
cl_io_done(struct cl_io *io, const struct cl_io_job *job)
{
	bool done;

	(void)pthread_mutex_lock(&io->mu);
	done = job->state == CL_IO_DONE || job->state == CL_IO_IDLE;
	cl_io_unlock(io);
	return (done);
}

void
cl_io_wait(struct cl_io *io, struct cl_io_job *job)
{

	(void)pthread_mutex_lock(&io->mu);
	if (job->state != CL_IO_IDLE && job->state != CL_IO_DONE) {
		io->awaited = job;
		io->back->wait(io, job);
		io->awaited = NULL;
	}
	if (job->state != CL_IO_IDLE && job->wanted) {
		job->wanted = false;
		io->nwanted--;
		io->back->kick(io);
	}
	job->state = CL_IO_IDLE;
	cl_io_unlock(io);
}

uint64_t
cl_io_now(struct cl_io *io)
{

	if (io->back != NULL && io->back->now != NULL)
		return (io->back->now(io));
	return (cl_clock_ns());
}

void
cl_io_spend(struct cl_io *io, uint64_t ns)
{
	uint64_t t0 = cl_clock_ns();

	if (io->back->spend != NULL) {
		io->back->spend(io, ns);
		return;
	}
	set_away(io, true);
	while (cl_clock_ns() - t0 < ns)
		;
	set_away(io, false);
}

void
cl_io_free(struct cl_io *io)
{
	static const struct cl_err over = { CL_EINVAL, "the reader is closed" };

	if (io == NULL)
		return;
	if (io->back != NULL) {
		(void)pthread_mutex_lock(&io->mu);
		io->stop = true;
		fail(io, &over);
		cl_io_unlock(io);
		io->back->close(io);
	}
	(void)pthread_cond_destroy(&io->done);
	(void)pthread_mutex_destroy(&io->mu);
	free(io);
}
