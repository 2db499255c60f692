/*
 * device/: whoever reads, and whether past the page cache or through it, the
 * slabs of every expert and the dense tensors are the file's bytes.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/device.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "unit.h"

#define NLAYERS		3
#define NEXPERTS	7
#define SLAB0		10007u		/* no multiple of anything */
#define SLAB1		4096u
#define DENSE		(9u << 20)
#define BEGIN		96u		/* as GGUF aligns: 32 */
#define LAYER		(NEXPERTS * (SLAB0 + SLAB1))
#define FILE_BYTES	(BEGIN + NLAYERS * LAYER + DENSE + 1001)

static uint8_t *bytes;			/* of the file */

static void
make_file(char *path)
{
	uint64_t i;
	int fd = mkstemp(path);

	assert(fd != -1 && (bytes = malloc(FILE_BYTES)) != NULL);
	for (i = 0; i < FILE_BYTES; i++)
		bytes[i] = (uint8_t)(cl_rng_mix(i / 8) >> 8 * (i % 8));
	assert(write(fd, bytes, FILE_BYTES) == (ssize_t)FILE_BYTES);
	assert(fsync(fd) == 0 && close(fd) == 0);
}

/* The last tensor of no layer ends where the file ends. */
static void
fill_layer(struct cl_layer *l, uint32_t i)
{

	l->nexperts = NEXPERTS;
	l->k = 2;
	l->nslabs = 2;
	assert((l->slabs = calloc(2, sizeof(*l->slabs))) != NULL);
	l->slabs[0] = (struct cl_slab){ .kind = CL_SLAB_GATE, .off = BEGIN +
	    i * LAYER, .stride = SLAB0, .nbytes = SLAB0 };
	l->slabs[1] = (struct cl_slab){ .kind = CL_SLAB_DOWN, .off = BEGIN +
	    i * LAYER + NEXPERTS * SLAB0, .stride = SLAB1, .nbytes = SLAB1 };
	l->expert_bytes = SLAB0 + SLAB1;
	if (i == 1)
		return;
	l->ndense = 2;
	assert((l->dense = calloc(2, sizeof(*l->dense))) != NULL);
	l->dense[0] = (struct cl_dense){ 0, BEGIN + NLAYERS * LAYER + 32 * i,
	    DENSE };
	l->dense[1] = (struct cl_dense){ 0, BEGIN + i, 5 };
}

static struct cl_model *
make_model(const char *path)
{
	struct cl_model *m = cl_model_new(NLAYERS, NULL);
	uint32_t i;

	assert(m != NULL && (m->shards = calloc(1, sizeof(*m->shards))) !=
	    NULL);
	m->nshards = 1;
	assert((m->shards[0].path = strdup(path)) != NULL);
	m->shards[0].nbytes = FILE_BYTES;
	for (i = 0; i < NLAYERS; i++)
		fill_layer(&m->layers[i], i);
	m->ndense = 1;
	assert((m->dense = calloc(1, sizeof(*m->dense))) != NULL);
	m->dense[0] = (struct cl_dense){ 0, FILE_BYTES - 777, 777 };
	return (m);
}

static bool
same(const struct cl_device_slab *s, uint64_t off, uint64_t nbytes)
{

	return (s->nbytes == nbytes && memcmp(s->p, bytes + off, s->nbytes) ==
	    0);
}

/* All experts of a layer at once, in slots, staging and bypass buffers. */
static void
check_experts(struct cl_device *d, const struct cl_model *m, uint32_t layer)
{
	static struct cl_io_job job[NEXPERTS];
	struct cl_device_slab slab[CL_IO_PARTS_MAX];
	uint8_t *buf[NEXPERTS];
	uint32_t e, i;

	for (e = 0; e < NEXPERTS; e++) {
		buf[e] = e < 3 ? cl_device_slot(d, e) : e < 5 ?
		    cl_device_stage(d, e - 3) : cl_device_bypass(d, e - 5);
		cl_device_read(d, &job[e], layer, e, buf[e], e % 2 ?
		    CL_IO_PREFETCH : CL_IO_DEMAND);
	}
	for (e = 0; e < NEXPERTS; e++) {
		assert(cl_device_wait(d, &job[e], layer, e, NULL) == CL_OK);
		assert(job[e].arrived == SLAB0 + SLAB1 && job[e].fetched >=
		    job[e].arrived);
	}
	for (e = 0; e < NEXPERTS; e++) {
		assert(cl_device_slabs(d, layer, e, buf[e], slab) == 2);
		for (i = 0; i < 2; i++)
			assert(same(&slab[i], cl_model_place(
			    &m->layers[layer].slabs[i], e).off,
			    m->layers[layer].slabs[i].nbytes));
	}
}

static void
check_dense(struct cl_device *d, const struct cl_model *m)
{
	static struct cl_io_job job[2];
	const struct cl_dense *t;
	struct cl_device_slab slab;
	uint64_t nbytes, nretries, sum = 777;
	uint32_t i, j;

	for (i = 0; i < NLAYERS; i += 2)
		cl_device_read_dense(d, &job[i / 2], i, i / 2,
		    CL_IO_PREFETCH);
	assert(cl_device_load_dense(d, &nbytes, &nretries, NULL) == CL_OK);
	assert(nretries == 0);
	for (i = 0; i < NLAYERS; i++) {
		t = m->layers[i].dense;
		if (i != 1)
			assert(cl_device_wait_dense(d, &job[i / 2], i, NULL) ==
			    CL_OK);
		for (j = 0; j < m->layers[i].ndense; j++) {
			slab = cl_device_dense(d, i, j, i / 2);
			assert(same(&slab, t[j].off, t[j].nbytes));
			slab = cl_device_dense(d, i, j, CL_DEVICE_RESIDENT);
			assert(same(&slab, t[j].off, t[j].nbytes));
			sum += t[j].nbytes;
		}
	}
	slab = cl_device_dense(d, NLAYERS, 0, CL_DEVICE_RESIDENT);
	assert(same(&slab, m->dense[0].off, 777) && nbytes == sum);
}

static void
check_device(const struct cl_model *m, enum cl_io_backend backend,
    enum cl_io_os_cache os_cache, uint32_t nthreads)
{
	struct cl_device_options o = { .io = { .backend = backend,
	    .os_cache = os_cache, .nthreads = nthreads }, .nslots = 3,
	    .nstage = 2, .nbypass = 2, .stride = 16384, .dense_ring = true,
	    .dense_resident = true, .hugepages = nthreads % 2 };
	struct cl_err err = { 0 };
	struct cl_device *d = cl_device_new(m, &o, &err);
	struct cl_io_facts f;
	uint32_t layer;

	if (d == NULL) {			/* no io_uring here */
		assert(backend == CL_IO_URING && strncmp(err.msg,
		    "io_uring cannot be had", 22) == 0);
		return;
	}
	cl_io_facts(cl_device_io(d), &f);
	assert(backend == CL_IO_AUTO || f.backend == backend);
	assert(f.os_cache == os_cache || f.why_os_cache[0] != '\0');
	assert((f.align > 1) == (f.os_cache == CL_IO_DIRECT));
	for (layer = 0; layer < NLAYERS; layer++)
		check_experts(d, m, layer);
	check_dense(d, m);
	cl_device_free(d);
}

static void
every_way_of_reading_gives_the_files_bytes(void)
{
	static const enum cl_io_backend backends[] = { CL_IO_AUTO,
	    CL_IO_PREAD, CL_IO_URING };
	static const enum cl_io_os_cache os_caches[] = { CL_IO_KEEP,
	    CL_IO_DROP, CL_IO_DIRECT };
	static const uint32_t threads[] = { 1, 2, 16 };
	char path[] = "/var/tmp/cl-test-device.XXXXXX";
	struct cl_model *m;
	uint32_t i;

	make_file(path);
	m = make_model(path);
	for (i = 0; i < 27; i++)
		check_device(m, backends[i / 9], os_caches[i / 3 % 3],
		    threads[i % 3]);
	check_device(m, CL_IO_PREAD, CL_IO_DIRECT, 0);
	cl_model_free(m);
	free(bytes);
	assert(unlink(path) == 0);
}

static const struct unit units[] = {
	{ "every back end and use of the page cache gives the file's bytes",
	    every_way_of_reading_gives_the_files_bytes },
};

UNIT_MAIN(units)
