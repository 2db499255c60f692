/*
 * bench_read: how much of the bandwidth that fio finds a replay's reads reach.
 *
 *	bench_read NAME MODEL BACKEND DEPTH [NSAMPLES]
 *
 * Reads experts at random, slab by slab, past the page cache, with DEPTH reads
 * under way and some more queued, into one after another of few slots, which
 * lie in huge pages where those can be had.  All slabs are of one size, which
 * is fio's block size on the same file; fio reads with psync in DEPTH threads,
 * and with io_uring.  A sample is one short run of each, one after the other,
 * since the machine's speed changes with what else runs on it.  Prints rows
 * over NSAMPLES (default 15): our bandwidth as a ratio to that of either.
 * Ends with 1 where the lower one is less than LIMIT.
 */

#include <stdint.h>
#include <string.h>

#include "cl/clock.h"
#include "cl/device.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/text.h"
#include "bench.h"

#define NSAMPLES	15
#define NSAMPLES_MAX	101
#define RUN_MS		500
#define QUEUED		4		/* reads for one under way */
#define EXPERTS_MAX	(QUEUED * CL_IO_THREADS_MAX)
#define CACHE_BYTES	(4 << 20)	/* so that there are huge pages */
#define LIMIT		0.95
#define SEED		1

struct lab {
	const char	*path;
	struct cl_model	*model;
	struct cl_device *device;
	uint32_t	 depth;
	uint32_t	 nexperts;	/* queued or under way */
	uint32_t	 nslots;
	uint32_t	 slot;		/* the next one to read into */
	uint64_t	 slab_bytes;
	uint64_t	 rng;
	struct cl_io_job job[EXPERTS_MAX];
};

static const char *const engines[] = { "psync", "io_uring" };

#define NENGINES	(sizeof(engines) / sizeof(engines[0]))

static void fail(const char *, const char *) __attribute__((noreturn));

static void
fail(const char *what, const char *object)
{
	struct cl_err err = { 0 };

	(void)cl_fail(&err, CL_EIO, "%s: %s", object, what);
	bench_die("bench_read", &err);
}

/* The model, if all its slabs are of one size, and buffers for its experts. */
static void
open_lab(struct lab *lab, enum cl_io_backend backend)
{
	struct cl_device_options o = { .io = { .backend = backend,
	    .os_cache = CL_IO_DIRECT, .direct_required = true,
	    .nthreads = lab->depth }, .hugepages = true };
	struct cl_err err = { 0 };
	const struct cl_layer *l;
	uint32_t i, j;

	if ((lab->model = cl_model_open(lab->path, &err)) == NULL)
		bench_die("bench_read", &err);
	l = lab->model->layers;
	lab->slab_bytes = l->slabs[0].nbytes;
	for (i = 0; i < lab->model->nlayers; i++)
		for (j = 0; j < l[i].nslabs; j++)
			if (l[i].slabs[j].nbytes != lab->slab_bytes)
				fail("slabs of several sizes", lab->path);
	lab->nexperts = (QUEUED * lab->depth + l->nslabs - 1) / l->nslabs;
	lab->nslots = lab->nexperts + (uint32_t)(CACHE_BYTES /
	    l->expert_bytes);
	o.nslots = lab->nslots;
	o.stride = l->expert_bytes;
	if ((lab->device = cl_device_new(lab->model, &o, &err)) == NULL)
		bench_die("bench_read", &err);
}

static void
read_any(struct lab *lab, uint32_t i)
{
	const struct cl_model *m = lab->model;
	uint32_t layer = (uint32_t)cl_rng_below(&lab->rng, m->nlayers);
	uint32_t e = (uint32_t)cl_rng_below(&lab->rng,
	    m->layers[layer].nexperts);

	cl_device_read(lab->device, &lab->job[i], layer, e,
	    cl_device_slot(lab->device, lab->slot), CL_IO_DEMAND);
	lab->slot = (lab->slot + 1) % lab->nslots;
}

/* Bytes a second of one run. */
static double
ours(struct lab *lab)
{
	struct cl_err err = { 0 };
	uint64_t t0 = cl_clock_ns(), ns = 0, sum = 0;
	uint32_t i, pending = lab->nexperts;

	for (i = 0; i < lab->nexperts; i++)
		read_any(lab, i);
	for (i = 0; pending > 0; i = (i + 1) % lab->nexperts) {
		if (cl_device_wait(lab->device, &lab->job[i], 0, 0, &err) !=
		    CL_OK)
			bench_die("bench_read", &err);
		sum += lab->job[i].arrived;
		ns = cl_clock_ns() - t0;
		if (ns < RUN_MS * UINT64_C(1000000))
			read_any(lab, i);
		else
			pending--;
	}
	return ((double)sum * 1e9 / (double)ns);
}

/* The same of fio, which tells KiB a second in the 7th field. */
static double
theirs(const struct lab *lab, const char *engine)
{
	char command[1024], line[4096], *p = line;
	struct cl_err err = { 0 };
	uint64_t kib;
	FILE *f;
	int i;

	(void)snprintf(command, sizeof(command), "fio --name=fio "
	    "--filename='%s' --readonly --rw=randread --direct=1 --thread "
	    "--bs=%llu --ioengine=%s --%s=%u --group_reporting --time_based "
	    "--runtime=%ums --norandommap --output-format=terse "
	    "--terse-version=3",
	    lab->path, (unsigned long long)lab->slab_bytes, engine,
	    strcmp(engine, "psync") == 0 ? "numjobs" : "iodepth", lab->depth,
	    RUN_MS);
	if ((f = popen(command, "r")) == NULL)
		fail("cannot run", "fio");
	if (fgets(line, sizeof(line), f) == NULL || pclose(f) != 0)
		fail("failed", command);
	for (i = 0; i < 6 && p != NULL; i++)
		if ((p = strchr(p, ';')) != NULL)
			p++;
	if (p == NULL)
		fail("fields are missing", "fio");
	p[strcspn(p, ";")] = '\0';
	if (cl_text_u64(p, 1, UINT64_MAX / 1024, &kib, &err) != CL_OK)
		bench_die("fio", &err);
	return ((double)kib * 1024);
}

/* Rows over n samples; returns the lowest median. */
static double
measure(struct lab *lab, const char *name, uint64_t n)
{
	static double v[NENGINES][NSAMPLES_MAX];
	double bandwidth, median, lowest = 0;
	struct cl_io_facts facts;
	char row[128];
	size_t i, s;

	cl_io_facts(cl_device_io(lab->device), &facts);
	(void)ours(lab);
	for (s = 0; s < n; s++) {
		bandwidth = ours(lab);
		for (i = 0; i < NENGINES; i++)
			v[i][s] = bandwidth / theirs(lab, engines[i]);
	}
	for (i = 0; i < NENGINES; i++) {
		(void)snprintf(row, sizeof(row), "%s.%s.depth_%u.to_%s", name,
		    facts.backend_name, lab->depth, engines[i]);
		median = bench_row(row, v[i], n);
		if (i == 0 || median < lowest)
			lowest = median;
	}
	return (lowest);
}

int
main(int argc, char **argv)
{
	static struct lab lab = { .rng = SEED };
	enum cl_io_backend backend = CL_IO_AUTO;
	struct cl_err err = { 0 };
	uint64_t depth, n = NSAMPLES;
	double lowest;

	if (argc < 5 || argc > 6) {
		fprintf(stderr, "usage: bench_read NAME MODEL BACKEND DEPTH "
		    "[NSAMPLES]\n");
		return (2);
	}
	if (cl_text_u64(argv[4], 1, CL_IO_THREADS_MAX, &depth, &err) !=
	    CL_OK || (argc == 6 && cl_text_u64(argv[5], CL_SAMPLE_LEAST,
	    NSAMPLES_MAX, &n, &err) != CL_OK))
		bench_die("bench_read", &err);
	if (strcmp(argv[3], "auto") != 0)
		backend = strcmp(argv[3], "uring") == 0 ? CL_IO_URING :
		    CL_IO_PREAD;
	lab.path = argv[2];
	lab.depth = (uint32_t)depth;
	open_lab(&lab, backend);
	lowest = measure(&lab, argv[1], n);
	cl_device_free(lab.device);
	cl_model_free(lab.model);
	return (lowest < LIMIT);
}
