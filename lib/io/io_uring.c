/*
 * The back end of Linux: one io_uring.  The caller that waits takes completions
 * and submits what is queued, which spares it being woken; while it computes,
 * a thread, the reaper, does so in its place.  Submission is under mu; one of
 * the two at a time is in the kernel for completions.  What is queued by a
 * caller that is coming to wait is submitted then, in one call.
 *
 * Nobody waits in the kernel unless the kernel has reads of ours: a ring that
 * refuses service fails what it has not accepted, and hangs nobody.
 *
 * A read passes, without mu, from who submits it through the kernel to who
 * takes its completion.  The kernel orders the two, but C knows nothing of
 * it: nsubmits, raised before each submission and looked at after each look
 * for completions, says the same in C.
 *
 * Reads through the page cache are always the kernel's workers': else a hit
 * would be copied by the thread that submits, which has better to do.
 */

#define _DEFAULT_SOURCE			/* what liburing.h needs */

#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "io_int.h"

#define CHUNK_MAX	((uint64_t)1 << 30)	/* io_uring_register(2) */
#define CHUNKS_MAX	((uint64_t)1 << 14)
#define TRIES_MAX	100

struct request {
	struct cl_io_read r;
	bool		 over;		/* of who takes completions */
	struct request	*next;		/* free, or not accepted yet */
};

struct ring {
	/* fixed at open */
	struct io_uring	 uring;
	pthread_t	 reaper;
	bool		 files_registered;

	atomic_uint	 nsubmits;	/* raised under mu */

	/* under mu */
	pthread_cond_t	 work;		/* for the reaper, or stop */
	bool		 reaping;	/* somebody takes completions */
	struct request	 request[CL_IO_THREADS_MAX];
	struct request	*idle;
	struct request	*first;		/* in the ring, not accepted */
	struct request	*last;
	uint32_t	 naccepted;	/* by the kernel, not over */
	int		 dead;		/* why nothing is accepted any more */
	uint8_t		*arena;		/* registered: chunks of it */
	uint64_t	 nbytes;
	uint64_t	 chunk;
};

/* Under mu: the registered buffer that a read falls into, or -1. */
static int
chunk_of(const struct ring *ring, const struct cl_io_read *r)
{
	uint64_t from, to;

	if (ring->arena == NULL || r->buf < ring->arena ||
	    r->buf >= ring->arena + ring->nbytes)
		return (-1);
	from = (uint64_t)(r->buf - ring->arena);
	to = from + r->window - 1;
	if (to >= ring->nbytes || from / ring->chunk != to / ring->chunk)
		return (-1);
	return ((int)(from / ring->chunk));
}

/* Under mu: put what is left of a read into the ring. */
static void
prepare(struct cl_io *io, struct ring *ring, struct request *q)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
	struct cl_io_read *r = &q->r;
	unsigned n = (unsigned)cl_io_left(io, r);
	int chunk = chunk_of(ring, r), file = (int)r->part->file;
	uint8_t *buf = r->buf + r->got;

	if (!ring->files_registered)
		file = io->file[file].fd;
	if (chunk >= 0)
		io_uring_prep_read_fixed(sqe, file, buf, n, r->off + r->got,
		    chunk);
	else
		io_uring_prep_read(sqe, file, buf, n, r->off + r->got);
	io_uring_sqe_set_flags(sqe,
	    (ring->files_registered ? (unsigned)IOSQE_FIXED_FILE : 0) |
	    (r->direct && r->nagain == 0 ? 0 : (unsigned)IOSQE_ASYNC));
	io_uring_sqe_set_data(sqe, q);
	q->next = NULL;
	if (ring->first != NULL)
		ring->last->next = q;
	else
		ring->first = q;
	ring->last = q;
}

static void
release(struct cl_io *io, struct ring *ring, struct request *q)
{

	cl_io_finish(io, &q->r);
	q->next = ring->idle;
	ring->idle = q;
}

/* Under mu: the ring is of no more use; what it has not accepted fails. */
static void
die(struct cl_io *io, struct ring *ring, int error)
{
	struct request *q;

	ring->dead = error;
	while ((q = ring->first) != NULL) {
		ring->first = q->next;
		cl_io_refuse(io, &q->r, error);
		release(io, ring, q);
	}
}

/* Under mu: the kernel took n of what is in the ring. */
static void
accepted(struct ring *ring, int n)
{

	ring->naccepted += (uint32_t)n;
	for (; n > 0; n--)
		ring->first = ring->first->next;
}

static void
pause_1ms(void)
{
	static const struct timespec ms = { 0, 1000000 };

	(void)nanosleep(&ms, NULL);
}

/*
 * Under mu: hand over what is in the ring.  What the kernel has no room for
 * is tried again when a read is over, or, if it has none, a little later.
 */
static void
hand_over(struct cl_io *io, struct ring *ring)
{
	int n, tries = 0;

	while (ring->first != NULL) {
		(void)atomic_fetch_add_explicit(&ring->nsubmits, 1,
		    memory_order_release);
		if ((n = io_uring_submit(&ring->uring)) > 0) {
			accepted(ring, n);
			continue;
		}
		if (n != 0 && n != -EINTR && n != -EAGAIN && n != -EBUSY) {
			die(io, ring, -n);
			return;
		}
		if (n != -EINTR && ring->naccepted > 0)
			return;
		if (++tries == TRIES_MAX) {
			die(io, ring, n == 0 ? EBUSY : -n);
			return;
		}
		pause_1ms();
	}
}

/* Under mu: put a read into the ring, unless that is dead. */
static void
begin(struct cl_io *io, struct ring *ring, struct request *q)
{

	if (ring->dead == 0)
		prepare(io, ring, q);
	else {
		cl_io_refuse(io, &q->r, ring->dead);
		release(io, ring, q);
	}
}

/* Under mu: begin what may begin. */
static void
fill(struct cl_io *io, struct ring *ring)
{
	struct request *q;

	while ((q = ring->idle) != NULL && cl_io_take(io, &q->r)) {
		ring->idle = q->next;
		begin(io, ring, q);
	}
	hand_over(io, ring);
}

/* Is the reaper to see to what is under way? */
static bool
unattended(const struct cl_io *io, const struct ring *ring)
{

	return (ring->naccepted > 0 && !ring->reaping && io->awaited == NULL &&
	    (io->stop || !cl_io_coming(io)));
}

static void
uring_kick(struct cl_io *io)
{
	struct ring *ring = io->state;

	if (cl_io_coming(io))
		return;
	fill(io, ring);
	if (unattended(io, ring))
		(void)pthread_cond_signal(&ring->work);
}

/* Without mu: what is over, at least one; steps it on. */
static unsigned
reap(struct cl_io *io, struct ring *ring, struct request **done)
{
	struct io_uring_cqe *cqe[CL_IO_THREADS_MAX];
	unsigned i, n;

	while ((n = io_uring_peek_batch_cqe(&ring->uring, cqe,
	    CL_IO_THREADS_MAX)) == 0) {
		int status = io_uring_wait_cqe(&ring->uring, &cqe[0]);

		if (status < 0 && status != -EINTR)
			pause_1ms();
	}
	(void)atomic_load_explicit(&ring->nsubmits, memory_order_acquire);
	for (i = 0; i < n; i++) {
		done[i] = io_uring_cqe_get_data(cqe[i]);
		done[i]->over = cl_io_step(io, &done[i]->r, cqe[i]->res);
	}
	io_uring_cq_advance(&ring->uring, n);
	return (n);
}

/* Under mu, which it lets go: at least one read steps on or is over. */
static void
advance(struct cl_io *io, struct ring *ring)
{
	struct request *done[CL_IO_THREADS_MAX];
	unsigned i, n;

	ring->reaping = true;
	(void)pthread_mutex_unlock(&io->mu);
	n = reap(io, ring, done);
	(void)pthread_mutex_lock(&io->mu);
	ring->reaping = false;
	ring->naccepted -= n;
	for (i = 0; i < n; i++)
		if (done[i]->over)
			release(io, ring, done[i]);
		else
			begin(io, ring, done[i]);
	fill(io, ring);
}

/* A caller that came meanwhile takes over. */
static void *
reaper(void *arg)
{
	struct cl_io *io = arg;
	struct ring *ring = io->state;

	(void)pthread_mutex_lock(&io->mu);
	for (;;) {
		if (unattended(io, ring)) {
			advance(io, ring);
			if (io->awaited != NULL)
				(void)pthread_cond_signal(&io->done);
		} else if (io->stop)
			break;
		else
			(void)pthread_cond_wait(&ring->work, &io->mu);
	}
	(void)pthread_mutex_unlock(&io->mu);
	return (NULL);
}

static void
uring_wait(struct cl_io *io, struct cl_io_job *job)
{
	struct ring *ring = io->state;

	fill(io, ring);
	while (job->state != CL_IO_DONE)
		if (ring->reaping)
			(void)pthread_cond_wait(&io->done, &io->mu);
		else
			advance(io, ring);
}

static void
uring_close(struct cl_io *io)
{
	struct ring *ring = io->state;

	(void)pthread_mutex_lock(&io->mu);
	(void)pthread_cond_signal(&ring->work);
	(void)pthread_mutex_unlock(&io->mu);
	(void)pthread_join(ring->reaper, NULL);
	(void)pthread_cond_destroy(&ring->work);
	io_uring_queue_exit(&ring->uring);
	free(ring);
}

/*
 * Chunks of whole units, as large as the kernel takes them.  Pages that may
 * not be locked are no failure: they are pinned read by read.
 */
static int
uring_arena(struct cl_io *io, uint8_t *arena, uint64_t nbytes, uint64_t unit)
{
	struct ring *ring = io->state;
	struct iovec *iov;
	uint64_t chunk, n, i;
	int status;

	if (unit == 0 || unit > CHUNK_MAX)
		return (EINVAL);
	chunk = CHUNK_MAX / unit * unit;
	if ((n = (nbytes + chunk - 1) / chunk) > CHUNKS_MAX)
		return (EINVAL);
	if ((iov = calloc((size_t)n, sizeof(*iov))) == NULL)
		return (ENOMEM);
	for (i = 0; i < n; i++) {
		iov[i].iov_base = arena + i * chunk;
		iov[i].iov_len = (size_t)(i + 1 < n ? chunk :
		    nbytes - i * chunk);
	}
	status = io_uring_register_buffers(&ring->uring, iov, (unsigned)n);
	free(iov);
	if (status < 0)
		return (-status);
	(void)pthread_mutex_lock(&io->mu);
	ring->arena = arena;
	ring->nbytes = nbytes;
	ring->chunk = chunk;
	(void)pthread_mutex_unlock(&io->mu);
	return (0);
}

static void
register_files(struct cl_io *io, struct ring *ring)
{
	int *fd = calloc(io->nfiles + 1, sizeof(*fd));
	uint32_t i;

	if (fd == NULL)
		return;
	for (i = 0; i < io->nfiles; i++)
		fd[i] = io->file[i].fd;
	ring->files_registered = io_uring_register_files(&ring->uring, fd,
	    io->nfiles) == 0;
	io->facts.files_registered = ring->files_registered;
	free(fd);
}

/* A system may grant the ring and nothing else: does it read? */
static int
try_ring(struct ring *ring)
{
	struct io_uring_probe *probe;
	struct io_uring_cqe *cqe;
	int n, tries = 0;

	if ((probe = io_uring_get_probe_ring(&ring->uring)) == NULL)
		return (ENOSYS);
	n = io_uring_opcode_supported(probe, IORING_OP_READ);
	io_uring_free_probe(probe);
	if (!n)
		return (ENOSYS);
	io_uring_prep_nop(io_uring_get_sqe(&ring->uring));
	while ((n = io_uring_submit_and_wait(&ring->uring, 1)) == -EINTR &&
	    tries++ < TRIES_MAX)
		;
	if (n < 0)
		return (-n);
	while ((n = io_uring_wait_cqe(&ring->uring, &cqe)) == -EINTR &&
	    tries++ < TRIES_MAX)
		;
	if (n < 0)
		return (-n);
	io_uring_cqe_seen(&ring->uring, cqe);
	return (0);
}

static int
uring_open(struct cl_io *io, struct cl_err *err)
{
	struct ring *ring;
	unsigned workers[2] = { io->o.nthreads, 0 };
	uint32_t i;
	int error;

	if (io->o.nthreads == 0)
		return (cl_fail(err, CL_EINVAL, "io_uring needs a thread"));
	if ((io->state = ring = calloc(1, sizeof(*ring))) == NULL)
		return (cl_fail_nomem(err, "the reader's ring"));
	error = -io_uring_queue_init(2 * CL_IO_THREADS_MAX, &ring->uring, 0);
	if (error != 0)
		goto no_ring;
	if ((error = try_ring(ring)) != 0)
		goto no_use;
	(void)io_uring_register_iowq_max_workers(&ring->uring, workers);
	register_files(io, ring);
	for (i = 0; i < io->o.nthreads; i++) {
		ring->request[i].next = ring->idle;
		ring->idle = &ring->request[i];
	}
	(void)pthread_cond_init(&ring->work, NULL);
	error = pthread_create(&ring->reaper, NULL, reaper, io);
	if (error == 0)
		return (CL_OK);
	(void)pthread_cond_destroy(&ring->work);
no_use:
	io_uring_queue_exit(&ring->uring);
no_ring:
	free(ring);
	io->state = NULL;
	errno = error;
	return (cl_fail_errno(err, "io_uring cannot be had"));
}

const struct cl_io_back cl_io_back_uring = {
	.id = CL_IO_URING,
	.name = "uring",
	.open = uring_open,
	.arena = uring_arena,
	.kick = uring_kick,
	.wait = uring_wait,
	.close = uring_close,
};
