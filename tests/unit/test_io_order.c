/*
 * io/ on a file of our own making: this program defines the pread() that the
 * reader calls, so that it can hold a worker back, be interrupted and give
 * less than it was asked for.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "io_open.h"
#include "unit.h"

#define NREADS	64

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held, begun;		/* under mu */
static off_t order[NREADS];		/* offsets as they were asked for */
static size_t nreads;
static int rudeness;			/* calls that fail or fall short */
static int failures;			/* calls that fail for good */

/* Byte i of the file is i % 251. */
ssize_t
pread(int fd, void *buf, size_t n, off_t off)
{
	size_t i;

	(void)fd;
	(void)pthread_mutex_lock(&mu);
	if (rudeness > 0 && rudeness-- % 2 == 0) {
		(void)pthread_mutex_unlock(&mu);
		errno = EINTR;
		return (-1);
	}
	if (failures > 0) {
		failures--;
		(void)pthread_mutex_unlock(&mu);
		errno = EIO;
		return (-1);
	}
	if (rudeness > 0)
		n = (n + 2) / 3;
	assert(nreads < NREADS);
	order[nreads++] = off;
	begun = true;
	(void)pthread_cond_broadcast(&changed);
	while (held)
		(void)pthread_cond_wait(&changed, &mu);
	(void)pthread_mutex_unlock(&mu);
	for (i = 0; i < n; i++)
		((uint8_t *)buf)[i] = (uint8_t)((off + (off_t)i) % 251);
	return ((ssize_t)n);
}

static void
submit(struct cl_io *io, struct cl_io_job *job, uint64_t off, uint8_t *buf,
    enum cl_io_queue queue)
{

	memset(job, 0, sizeof(*job));
	job->nparts = 1;
	job->part[0] = (struct cl_io_part){ 0, off, 50, buf };
	cl_io_submit(io, job, queue);
}

static void
hold(bool on)
{

	(void)pthread_mutex_lock(&mu);
	held = on;
	nreads = 0;
	begun = false;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&mu);
}

static void
hold_the_first(struct cl_io *io, struct cl_io_job *job, uint8_t *buf)
{

	hold(true);
	submit(io, job, 1, buf, CL_IO_PREFETCH);
	(void)pthread_mutex_lock(&mu);
	while (!begun)
		(void)pthread_cond_wait(&changed, &mu);
	(void)pthread_mutex_unlock(&mu);
}

static void
let_go(void)
{

	(void)pthread_mutex_lock(&mu);
	held = false;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&mu);
}

static void
demand_goes_before_prefetch(void)
{
	static const off_t want[] = { 1, 4, 5, 2, 3 };
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job[5];
	uint8_t buf[5][50];
	struct cl_io *io = io_open(&file, 1, 1, CL_IO_KEEP);
	int i;

	hold_the_first(io, &job[0], buf[0]);
	submit(io, &job[1], 2, buf[1], CL_IO_PREFETCH);
	submit(io, &job[2], 3, buf[2], CL_IO_PREFETCH);
	submit(io, &job[3], 4, buf[3], CL_IO_DEMAND);
	submit(io, &job[4], 5, buf[4], CL_IO_DEMAND);
	let_go();
	for (i = 0; i < 5; i++) {
		cl_io_wait(io, &job[i]);
		assert(job[i].err.code == CL_OK);
	}
	assert(nreads == 5 && memcmp(order, want, sizeof(want)) == 0);
	cl_io_free(io);
}

static void
a_promoted_prefetch_goes_to_the_end_of_the_demand_queue(void)
{
	static const off_t want[] = { 1, 4, 3, 5, 2 };
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job[5];
	uint8_t buf[5][50];
	struct cl_io *io = io_open(&file, 1, 1, CL_IO_KEEP);
	int i;

	hold_the_first(io, &job[0], buf[0]);
	submit(io, &job[1], 2, buf[1], CL_IO_PREFETCH);
	submit(io, &job[2], 3, buf[2], CL_IO_PREFETCH);
	submit(io, &job[3], 4, buf[3], CL_IO_DEMAND);
	cl_io_promote(io, &job[2]);
	cl_io_promote(io, &job[2]);
	cl_io_promote(io, &job[0]);		/* it runs: adopted */
	assert(job[2].queue == CL_IO_DEMAND && job[0].queue ==
	    CL_IO_PREFETCH && !cl_io_done(io, &job[2]));
	submit(io, &job[4], 5, buf[4], CL_IO_DEMAND);
	let_go();
	for (i = 0; i < 5; i++) {
		cl_io_wait(io, &job[i]);
		assert(job[i].err.code == CL_OK && job[i].arrived == 50);
		assert(job[i].begun_ns >= job[i].queued_ns &&
		    job[i].done_ns >= job[i].begun_ns);
		assert(cl_io_done(io, &job[i]));
	}
	assert(nreads == 5 && memcmp(order, want, sizeof(want)) == 0);
	cl_io_free(io);
}

static void
a_cancelled_prefetch_is_never_begun(void)
{
	static const off_t want[] = { 1, 3 };
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job[3];
	uint8_t buf[3][50];
	struct cl_io *io = io_open(&file, 1, 1, CL_IO_KEEP);

	hold_the_first(io, &job[0], buf[0]);
	submit(io, &job[1], 2, buf[1], CL_IO_PREFETCH);
	submit(io, &job[2], 3, buf[2], CL_IO_DEMAND);
	cl_io_cancel(io, &job[0]);		/* too late */
	cl_io_cancel(io, &job[1]);
	cl_io_cancel(io, &job[2]);		/* no prefetch */
	assert(cl_io_done(io, &job[1]));
	cl_io_wait(io, &job[1]);
	assert(job[1].err.code == CL_EINVAL && job[1].arrived == 0);
	let_go();
	cl_io_wait(io, &job[0]);
	cl_io_wait(io, &job[2]);
	assert(job[0].err.code == CL_OK && job[2].err.code == CL_OK);
	assert(nreads == 2 && memcmp(order, want, sizeof(want)) == 0);
	cl_io_free(io);
}

static void
a_prefetch_that_fails_can_be_read_on_demand(void)
{
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job, other;
	uint8_t buf[2][50];
	struct cl_io *io;
	uint32_t nthreads;

	for (nthreads = 0; nthreads < 2; nthreads++) {
		io = io_open(&file, 1, nthreads, CL_IO_KEEP);
		hold(false);
		failures = 1;
		submit(io, &job, 7, buf[0], CL_IO_PREFETCH);
		cl_io_wait(io, &job);
		assert(job.err.code == CL_EIO && job.arrived == 0);
		submit(io, &other, 8, buf[1], CL_IO_DEMAND);
		cl_io_submit(io, &job, CL_IO_DEMAND);
		cl_io_wait(io, &job);
		cl_io_wait(io, &other);
		assert(job.err.code == CL_OK && other.err.code == CL_OK);
		assert(buf[0][0] == 7 && buf[1][0] == 8);
		failures = 1;
		submit(io, &job, 7, buf[0], CL_IO_DEMAND);
		cl_io_wait(io, &job);
		submit(io, &other, 8, buf[1], CL_IO_PREFETCH);
		cl_io_wait(io, &other);
		assert(job.err.code == CL_EIO && strcmp(other.err.msg,
		    job.err.msg) == 0);
		cl_io_free(io);
	}
}

static void
eio_is_tried_again_as_often_as_was_asked(void)
{
	struct cl_io_options o = { .backend = CL_IO_PREAD, .retries = 2 };
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job;
	struct cl_io *io = cl_io_new(&file, 1, &o, NULL);
	uint8_t buf[50];

	assert(io != NULL);
	hold(false);
	failures = 2;
	submit(io, &job, 7, buf, CL_IO_DEMAND);
	cl_io_wait(io, &job);
	assert(job.err.code == CL_OK && job.nretries == 2);
	failures = 3;
	submit(io, &job, 7, buf, CL_IO_DEMAND);
	cl_io_wait(io, &job);
	assert(job.err.code == CL_EIO && job.nretries == 2);
	cl_io_free(io);
}

static void
freeing_cancels_what_has_not_begun(void)
{
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job[2];
	uint8_t buf[2][50];
	struct cl_io *io = io_open(&file, 1, 1, CL_IO_KEEP);

	hold_the_first(io, &job[0], buf[0]);
	submit(io, &job[1], 2, buf[1], CL_IO_DEMAND);
	let_go();
	cl_io_free(io);
	assert(nreads >= 1 && order[0] == 1);
}

static void
interrupted_and_short_reads_go_on(void)
{
	struct cl_io_file file = { -1, "made" };
	struct cl_io_job job;
	struct cl_io *io;
	uint8_t buf[50];
	uint32_t nthreads, i;

	for (nthreads = 0; nthreads < 2; nthreads++) {
		io = io_open(&file, 1, nthreads, CL_IO_KEEP);
		hold(false);
		memset(buf, 0xff, sizeof(buf));
		rudeness = 7;
		submit(io, &job, 1000, buf, CL_IO_DEMAND);
		cl_io_wait(io, &job);
		assert(job.err.code == CL_OK && nreads > 2);
		for (i = 0; i < 50; i++)
			assert(buf[i] == (1000 + i) % 251);
		cl_io_free(io);
	}
}

static const struct unit units[] = {
	{ "demand goes before prefetch, each in its own order",
	    demand_goes_before_prefetch },
	{ "a promoted prefetch goes to the end of the demand queue, once",
	    a_promoted_prefetch_goes_to_the_end_of_the_demand_queue },
	{ "a cancelled prefetch is never begun",
	    a_cancelled_prefetch_is_never_begun },
	{ "a prefetch that fails harms nobody; a demand that fails ends all",
	    a_prefetch_that_fails_can_be_read_on_demand },
	{ "EIO is tried again as often as was asked",
	    eio_is_tried_again_as_often_as_was_asked },
	{ "freeing cancels what no worker has begun and waits for the rest",
	    freeing_cancels_what_has_not_begun },
	{ "interrupted and short reads go on where they stopped",
	    interrupted_and_short_reads_go_on },
};

UNIT_MAIN(units)
