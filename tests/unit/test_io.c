/*
 * io/: whatever the number of threads, the bytes asked for arrive or the
 * reason is told; a failure ends all.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/rng.h"
#include "io_open.h"
#include "unit.h"

#define FILE_BYTES	(1u << 20)
#define NJOBS		64

static uint8_t
byte_at(uint64_t off)
{

	return ((uint8_t)(cl_rng_mix(off / 8) >> 8 * (off % 8)));
}

/* A file of a known pattern that has no name any more. */
static int
pattern_file(void)
{
	char path[] = "/tmp/cl-test-io.XXXXXX";
	uint8_t *p = malloc(FILE_BYTES);
	uint32_t i;
	int fd = mkstemp(path);

	assert(fd != -1 && p != NULL);
	assert(unlink(path) == 0);
	for (i = 0; i < FILE_BYTES; i++)
		p[i] = byte_at(i);
	assert(write(fd, p, FILE_BYTES) == FILE_BYTES);
	free(p);
	return (fd);
}

/* Two parts at random places, into one buffer. */
static void
make_job(struct cl_io_job *job, uint64_t *rng, uint8_t *buf)
{
	uint32_t i;

	memset(job, 0, sizeof(*job));
	job->nparts = 2;
	for (i = 0; i < 2; i++) {
		job->part[i].nbytes = 1 + (size_t)cl_rng_below(rng, 20000);
		job->part[i].off = cl_rng_below(rng, FILE_BYTES -
		    job->part[i].nbytes);
		job->part[i].buf = buf;
		buf += job->part[i].nbytes;
	}
}

static void
check_job(const struct cl_io_job *job)
{
	uint32_t i;
	size_t j;

	assert(job->err.code == CL_OK);
	for (i = 0; i < job->nparts; i++)
		for (j = 0; j < job->part[i].nbytes; j++)
			assert(job->part[i].buf[j] ==
			    byte_at(job->part[i].off + j));
}

static void
read_all(uint32_t nthreads, enum cl_io_os_cache os_cache)
{
	struct cl_io_file file = { pattern_file(), "pattern" };
	struct cl_io_job *job = calloc(NJOBS, sizeof(*job));
	uint8_t *buf = malloc(NJOBS * 40000);
	struct cl_io *io;
	uint64_t rng = nthreads + 1;
	int round, i;

	io = io_open(&file, 1, nthreads, os_cache);
	assert(job != NULL && buf != NULL);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < NJOBS; i++) {
			make_job(&job[i], &rng, buf + 40000 * i);
			cl_io_submit(io, &job[i], i % 3 == 0 ?
			    CL_IO_PREFETCH : CL_IO_DEMAND);
		}
		for (i = NJOBS - 1; i >= 0; i--) {
			cl_io_wait(io, &job[i]);
			check_job(&job[i]);
		}
	}
	cl_io_free(io);
	free(job);
	free(buf);
	assert(close(file.fd) == 0);
}

static void
every_byte_arrives_with_any_number_of_threads(void)
{
	static const uint32_t n[] = { 0, 1, 2, 8, CL_IO_THREADS_MAX };
	size_t i;

	for (i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		read_all(n[i], CL_IO_KEEP);
		read_all(n[i], CL_IO_DROP);
	}
}

static void
a_file_that_ends_early_is_told_with_its_numbers(void)
{
	struct cl_io_file file = { pattern_file(), "short.gguf" };
	struct cl_io_job job[3];
	uint8_t buf[3][100];
	struct cl_io *io;
	uint32_t nthreads;
	int i;

	for (nthreads = 0; nthreads < 3; nthreads++) {
		io = io_open(&file, 1, nthreads, CL_IO_KEEP);
		memset(job, 0, sizeof(job));
		for (i = 0; i < 3; i++) {
			job[i].nparts = 1;
			job[i].part[0] = (struct cl_io_part){ 0,
			    FILE_BYTES - 40, 100, buf[i] };
			cl_io_submit(io, &job[i], CL_IO_DEMAND);
		}
		for (i = 0; i < 3; i++) {
			cl_io_wait(io, &job[i]);
			assert(job[i].err.code == CL_EIO);
			assert(strcmp(job[i].err.msg, "short.gguf: offset "
			    "1048536: wanted 100 bytes, got 40: the file is "
			    "shorter than it was") == 0);
		}
		cl_io_free(io);
	}
	assert(close(file.fd) == 0);
}

static void
after_a_failure_nothing_more_is_read(void)
{
	struct cl_io_file files[2] = { { pattern_file(), "good" },
	    { -1, "gone" } };
	struct cl_io_job bad, good;
	uint8_t buf[16] = { 0 };
	struct cl_io *io = io_open(files, 2, 1, CL_IO_KEEP);

	memset(&bad, 0, sizeof(bad));
	bad.nparts = 1;
	bad.part[0] = (struct cl_io_part){ 1, 0, 16, buf };
	good = bad;
	good.part[0].file = 0;
	cl_io_submit(io, &bad, CL_IO_DEMAND);
	cl_io_wait(io, &bad);
	assert(bad.err.code == CL_EIO && strncmp(bad.err.msg, "gone: ", 6) ==
	    0);
	cl_io_submit(io, &good, CL_IO_DEMAND);
	cl_io_wait(io, &good);
	assert(strcmp(good.err.msg, bad.err.msg) == 0 && buf[0] == 0);
	cl_io_free(io);
	assert(close(files[0].fd) == 0);
}

static const struct unit units[] = {
	{ "every byte arrives with 0, 1, 2, 8 and 16 threads",
	    every_byte_arrives_with_any_number_of_threads },
	{ "a file that ends early is told with offset, wanted and got",
	    a_file_that_ends_early_is_told_with_its_numbers },
	{ "after a failure nothing more is read",
	    after_a_failure_nothing_more_is_read },
};

UNIT_MAIN(units)
