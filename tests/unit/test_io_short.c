/*
 * io/: reads that the system cuts short go on from the right place, with every
 * back end, past the page cache and through it.  What is asked for at once is
 * made small, so that nearly every read is cut.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/io/io_int.h"
#include "cl/rng.h"
#include "unit.h"

#define FILE_BYTES	((1u << 20) + 1001)	/* ends amid a sector */
#define NJOBS		24
#define LONGEST		70000
#define ROOM		(LONGEST + 2 * CL_IO_ALIGN + 4096)

static uint8_t
byte_at(uint64_t off)
{

	return ((uint8_t)(cl_rng_mix(off / 8) >> 8 * (off % 8)));
}

static int
pattern_file(void)
{
	char path[] = "/var/tmp/cl-test-short.XXXXXX";
	uint8_t *p = malloc(FILE_BYTES);
	uint32_t i;
	int fd = mkstemp(path);

	assert(fd != -1 && p != NULL && unlink(path) == 0);
	for (i = 0; i < FILE_BYTES; i++)
		p[i] = byte_at(i);
	assert(write(fd, p, FILE_BYTES) == (ssize_t)FILE_BYTES);
	assert(fsync(fd) == 0);
	free(p);
	return (fd);
}

/* A stretch at a random place; the first one is the file's end. */
static void
make_job(struct cl_io_job *job, uint32_t i, uint64_t *rng, uint8_t *buf)
{
	struct cl_io_part *p = &job->part[0];

	memset(job, 0, sizeof(*job));
	job->nparts = 1;
	p->nbytes = 1 + (size_t)cl_rng_below(rng, LONGEST);
	p->off = FILE_BYTES - p->nbytes;
	if (i > 0)
		p->off = cl_rng_below(rng, p->off + 1);
	p->buf = buf + p->off % CL_IO_ALIGN;
}

static void
read_short(enum cl_io_backend backend, enum cl_io_os_cache os_cache,
    uint32_t nthreads, size_t call_max)
{
	struct cl_io_options o = { .backend = backend, .os_cache = os_cache,
	    .nthreads = nthreads };
	struct cl_io_file file = { pattern_file(), "pattern" };
	struct cl_io_job *job = calloc(NJOBS, sizeof(*job));
	struct cl_io *io = cl_io_new(&file, 1, &o, NULL);
	uint64_t rng = call_max;
	uint8_t *buf[NJOBS];
	uint32_t i;
	size_t j;

	assert(job != NULL && (io != NULL || backend == CL_IO_URING));
	if (io != NULL && io->facts.align <= CL_IO_ALIGN) {
		io->call_max = call_max;
		for (i = 0; i < NJOBS; i++) {
			assert(posix_memalign((void **)&buf[i], CL_IO_ALIGN,
			    ROOM) == 0);
			make_job(&job[i], i, &rng, buf[i]);
			cl_io_submit(io, &job[i], i % 3 == 2 ?
			    CL_IO_PREFETCH : CL_IO_DEMAND);
		}
		for (i = 0; i < NJOBS; i++) {
			cl_io_wait(io, &job[i]);
			assert(job[i].err.code == CL_OK);
			assert(job[i].arrived == job[i].part[0].nbytes);
			for (j = 0; j < job[i].part[0].nbytes; j++)
				assert(job[i].part[0].buf[j] ==
				    byte_at(job[i].part[0].off + j));
			free(buf[i]);
		}
	}
	cl_io_free(io);
	free(job);
	assert(close(file.fd) == 0);
}

static void
each(enum cl_io_os_cache os_cache, size_t call_max)
{
	static const uint32_t nthreads[] = { 1, 4 };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		read_short(CL_IO_PREAD, os_cache, nthreads[i], call_max);
		read_short(CL_IO_URING, os_cache, nthreads[i], call_max);
	}
}

static void
short_reads_through_the_page_cache_go_on(void)
{

	each(CL_IO_KEEP, 1000);
	each(CL_IO_KEEP, 65537);
}

static void
short_direct_reads_go_on(void)
{

	each(CL_IO_DIRECT, CL_IO_ALIGN);
	each(CL_IO_DIRECT, (size_t)3 * CL_IO_ALIGN);
}

static const struct unit units[] = {
	{ "short reads through the page cache go on where they stopped",
	    short_reads_through_the_page_cache_go_on },
	{ "short direct reads go on where they stopped",
	    short_direct_reads_go_on },
};

UNIT_MAIN(units)
