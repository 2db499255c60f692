/*
 * bench_wait: how well the queueing model foretells what a reader waits.
 *
 *	bench_wait [NSAMPLES]
 *
 * Runs the same events on threads that sleep as a modelled device would take
 * its time, and on the model's own clock, with 1, 2, 4, 8 and 16 workers.  An
 * event reads some experts of three slabs, of which some were prefetched while
 * the last one was computing.  Prints rows over NSAMPLES (default 7): the time
 * spent waiting for reads as a ratio to the model's.  Ends with 1 where one
 * is off by more than LIMIT.
 */

#include <stdint.h>
#include <string.h>

#include "cl/io.h"
#include "cl/rng.h"
#include "cl/text.h"
#include "cl/virtual.h"
#include "bench.h"

#define DEVICE		"read=1G,latency=500us,depth=32"
#define NSAMPLES	7
#define NSAMPLES_MAX	101
#define NEVENTS		10
#define NEXPERTS	6		/* of an event, at most */
#define NSLABS		3
#define SLAB_BYTES	(2 << 20)
#define COMPUTE_NS	4000000
#define LIMIT		0.2
#define SEED		1

static void
submit(struct cl_io *io, struct cl_io_job *job, enum cl_io_queue queue)
{
	uint32_t i;

	job->nparts = NSLABS;
	for (i = 0; i < NSLABS; i++)
		job->part[i].nbytes = SLAB_BYTES;
	cl_io_submit(io, job, queue);
}

/* One event: n experts are needed, of which npre were read ahead. */
static uint64_t
event(struct cl_io *io, struct cl_io_job *job, uint32_t n, uint32_t npre)
{
	uint64_t start = cl_io_now(io);
	uint32_t i;

	for (i = 0; i < npre; i++)
		cl_io_promote(io, &job[i]);
	for (i = npre; i < n; i++)
		submit(io, &job[i], CL_IO_DEMAND);
	for (i = 0; i < n; i++)
		cl_io_wait(io, &job[i]);
	return (cl_io_now(io) - start);
}

/* Nanoseconds waited in all events. */
static double
run(enum cl_io_backend backend, uint32_t nthreads)
{
	static struct cl_io_job job[NEXPERTS];
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;
	struct cl_io_options o = { .backend = backend, .nthreads = nthreads,
	    .device = &spec };
	struct cl_io *io;
	uint64_t waited = 0, rng = SEED;
	uint32_t e, i, n, npre;

	memset(job, 0, sizeof(job));
	if (cl_virtual_parse(DEVICE, &spec, &err) != CL_OK ||
	    (io = cl_io_new(NULL, 0, &o, &err)) == NULL)
		bench_die("bench_wait", &err);
	for (e = 0; e < NEVENTS; e++) {
		n = 1 + (uint32_t)cl_rng_below(&rng, NEXPERTS);
		npre = (uint32_t)cl_rng_below(&rng, n + 1);
		for (i = 0; i < npre; i++)
			submit(io, &job[i], CL_IO_PREFETCH);
		cl_io_spend(io, COMPUTE_NS);
		waited += event(io, job, n, npre);
	}
	cl_io_free(io);
	return ((double)waited);
}

int
main(int argc, char **argv)
{
	static const uint32_t nthreads[] = { 1, 2, 4, 8, 16 };
	double v[NSAMPLES_MAX], ratio;
	struct cl_err err = { 0 };
	uint64_t n = NSAMPLES;
	char name[32];
	size_t i, s;
	int status = 0;

	if (argc > 2) {
		fprintf(stderr, "usage: bench_wait [NSAMPLES]\n");
		return (2);
	}
	if (argc > 1 && cl_text_u64(argv[1], CL_SAMPLE_LEAST, NSAMPLES_MAX,
	    &n, &err) != CL_OK)
		bench_die("bench_wait", &err);
	for (i = 0; i < sizeof(nthreads) / sizeof(nthreads[0]); i++) {
		for (s = 0; s < n; s++)
			v[s] = run(CL_IO_SLEEP, nthreads[i]) /
			    run(CL_IO_MODEL, nthreads[i]);
		(void)snprintf(name, sizeof(name), "wait.%u_workers",
		    nthreads[i]);
		ratio = bench_row(name, v, n);
		if (!bench_within(name, ratio, 1 - LIMIT, 1 + LIMIT))
			status = 1;
	}
	return (status);
}
