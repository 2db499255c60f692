/*
 * Files, extents and buffers.  In the arena come slots, staging and bypass
 * buffers, class by class, buffers of one size back to back; then two buffers
 * for a layer's dense weights and one for those of the model, where they are
 * wanted.
 *
 * What is read side by side lies in the arena side by side, each piece in a
 * window of its own that is as long as the reader's: so that direct reads,
 * which fill whole windows, never write over each other.  Dense tensors are
 * read in chunks, since a prefetch of one must not be long in the way of a
 * demand; they are cut at multiples of the alignment of the file.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cl/device.h"
#include "cl/host.h"
#include "cl/model.h"
#include "cl/num.h"
#include "cl/virtual.h"

#define ARENA_ALIGN	4096
#define DENSE_CHUNK	((uint64_t)4 << 20)
#define NPLACES		3		/* of dense weights: ring, resident */

/* Buffers of one size, back to back. */
struct region {
	uint32_t	 n;
	uint64_t	 unit;		/* from one to the next */
	uint64_t	 at;		/* of the arena */
};

struct cl_device {
	const struct cl_model *model;
	struct cl_io_file *file;	/* one for each shard */
	struct cl_io	*io;
	bool		 modelled;
	struct cl_virtual_spec spec;	/* of a modelled one */
	uint8_t		*arena;
	uint64_t	 arena_bytes;
	struct cl_device_options o;
	uint64_t	 align;		/* of windows */
	uint64_t	 unit;		/* of the largest buffers */
	struct region	*region;	/* of slots, staging, and bypasses */
	uint32_t	 nregions;
	uint8_t		*ring[NPLACES];	/* buffers of dense weights, or NULL */
	uint64_t	 ring_bytes[NPLACES];
	struct cl_io_part *part;	/* of each buffer: what is read */
	uint32_t	 part_max;
};

/* A place in a buffer; a modelled device has none. */
static uint8_t *
place(uint8_t *buf, uint64_t at)
{

	return (buf == NULL ? NULL : buf + at);
}

/* Where a window that holds nbytes from off ends, if it begins at `at`. */
static uint64_t
window_end(const struct cl_device *d, uint64_t at, uint64_t off,
    uint64_t nbytes)
{

	return (at + cl_roundup((off & (d->align - 1)) + nbytes, d->align));
}

static int
open_shard(struct cl_io_file *f, const struct cl_shard *shard,
    struct cl_err *err)
{
	struct stat st;

	f->name = shard->path;
	if ((f->fd = open(shard->path, O_RDONLY | O_CLOEXEC)) == -1)
		return (cl_fail_errno(err, "%s: cannot open", shard->path));
	if (fstat(f->fd, &st) == -1)
		return (cl_fail_errno(err, "%s: cannot stat", shard->path));
	if ((uint64_t)st.st_size != shard->nbytes)
		return (cl_fail(err, CL_EFORMAT, "%s: %llu bytes are needed, "
		    "and it has %llu", shard->path,
		    (unsigned long long)shard->nbytes,
		    (unsigned long long)st.st_size));
	return (CL_OK);
}

static int
open_shards(struct cl_device *d, struct cl_err *err)
{
	uint32_t i, n = d->model->nshards;
	int status;

	if (d->modelled)
		return (CL_OK);
	if ((d->file = calloc(n, sizeof(*d->file))) == NULL)
		return (cl_fail_nomem(err, "the model's files"));
	for (i = 0; i < n; i++)
		d->file[i].fd = -1;
	for (i = 0; i < n; i++)
		if ((status = open_shard(&d->file[i], &d->model->shards[i],
		    err)) != CL_OK)
			return (status);
	return (CL_OK);
}

/* A buffer holds any expert of the model, whoever reckoned its size. */
static int
check_stride(const struct cl_device *d, struct cl_err *err)
{
	const struct cl_layer *l = d->model->layers;
	uint32_t i;

	for (i = 0; i < d->model->nlayers; i++, l++)
		if (!l->extra && l->expert_bytes > d->o.stride)
			return (cl_fail(err, CL_EINVAL, "buffers of %llu "
			    "bytes for experts of %llu",
			    (unsigned long long)d->o.stride,
			    (unsigned long long)l->expert_bytes));
	return (CL_OK);
}

static uint64_t
expert_windows(const struct cl_device *d, const struct cl_layer *l,
    uint32_t expert)
{
	uint64_t end = 0;
	uint32_t i;

	for (i = 0; i < l->nslabs; i++)
		end = window_end(d, end, cl_model_place(&l->slabs[i],
		    expert).off, l->slabs[i].nbytes);
	return (end);
}

/* What buffers begin at multiples of. */
static uint64_t
quantum(const struct cl_device *d)
{

	return (d->align > ARENA_ALIGN ? d->align : ARENA_ALIGN);
}

/* The windows of the expert that needs most, of all or of one size. */
static uint64_t
unit_for(const struct cl_device *d, uint64_t least, uint64_t expert_bytes)
{
	const struct cl_layer *l = d->model->layers;
	uint64_t n, unit = least;
	uint32_t i, e;

	if (d->align == 1)
		return (unit);
	for (i = 0; i < d->model->nlayers; i++, l++) {
		if (expert_bytes != 0 && l->expert_bytes != expert_bytes)
			continue;
		for (e = 0; e < l->nexperts; e++)
			if ((n = expert_windows(d, l, e)) > unit)
				unit = n;
	}
	return (cl_roundup(unit, quantum(d)));
}

static void
add_region(struct cl_device *d, uint32_t n, uint64_t unit)
{

	d->region[d->nregions++] = (struct region){ .n = n, .unit = unit };
}

/* Of which size are how many buffers? */
static int
set_regions(struct cl_device *d, struct cl_err *err)
{
	const struct cl_device_class *class = d->o.classes;
	uint32_t i, n = d->o.nclasses;
	uint64_t unit;

	d->region = calloc(2 * (size_t)n + 3, sizeof(*d->region));
	if (d->region == NULL)
		return (cl_fail_nomem(err, "the cache's buffers"));
	d->unit = unit_for(d, d->o.stride, 0);
	for (i = 0; i < n; i++) {
		unit = cl_roundup(class[i].expert_bytes, ARENA_ALIGN);
		unit = unit_for(d, unit, class[i].expert_bytes);
		add_region(d, class[i].nslots, unit);
	}
	if (n == 0)
		add_region(d, d->o.nslots, d->unit);
	for (i = 0; i < n; i++)
		add_region(d, d->o.nstage, d->region[i].unit);
	if (n == 0)
		add_region(d, d->o.nstage, d->unit);
	add_region(d, d->o.nbypass, d->unit);
	return (CL_OK);
}

static const struct cl_dense *
dense_of(const struct cl_model *m, uint32_t layer, uint32_t *n)
{

	*n = layer < m->nlayers ? m->layers[layer].ndense : m->ndense;
	return (layer < m->nlayers ? m->layers[layer].dense : m->dense);
}

/* Bytes of a layer's dense windows. */
static uint64_t
dense_windows(const struct cl_device *d, uint32_t layer)
{
	const struct cl_dense *t;
	uint64_t end = 0;
	uint32_t i, n;

	t = dense_of(d->model, layer, &n);
	for (i = 0; i < n; i++)
		end = window_end(d, end, t[i].off, t[i].nbytes);
	return (end);
}

/* Chunks that a layer's weights are read in, at most. */
static uint64_t
dense_chunks(const struct cl_device *d, uint32_t layer)
{
	const struct cl_dense *t;
	uint64_t chunks = 0;
	uint32_t i, n;

	t = dense_of(d->model, layer, &n);
	for (i = 0; i < n; i++)
		chunks += t[i].nbytes / DENSE_CHUNK + 2;
	return (chunks);
}

/* How much each buffer of dense weights takes, and into how many parts. */
static int
set_rings(struct cl_device *d, struct cl_err *err)
{
	uint64_t n, most = 0;
	uint32_t i;

	for (i = 0; i <= d->model->nlayers; i++) {
		n = cl_roundup(dense_windows(d, i), quantum(d));
		if (d->o.dense_ring && i < d->model->nlayers &&
		    n > d->ring_bytes[0])
			d->ring_bytes[0] = d->ring_bytes[1] = n;
		if (d->o.dense_resident)
			d->ring_bytes[CL_DEVICE_RESIDENT] += n;
		if ((n = dense_chunks(d, i)) > most)
			most = n;
	}
	if (!d->o.dense_ring && !d->o.dense_resident)
		return (CL_OK);
	if (most > UINT32_MAX || (d->part = calloc(NPLACES * (size_t)most,
	    sizeof(*d->part))) == NULL)
		return (cl_fail_nomem(err, "the dense weights' places"));
	d->part_max = (uint32_t)most;
	return (CL_OK);
}

/* Where the regions are, and bytes of all; or false where they cannot be. */
static bool
arena_bytes(struct cl_device *d)
{
	uint64_t *n = &d->arena_bytes, size;
	struct region *r = d->region;
	uint32_t i;
	bool fits = true;

	for (i = 0; i < d->nregions && fits; i++, r++) {
		r->at = *n;
		fits = cl_mul(r->n, r->unit, &size) && cl_add(*n, size, n) &&
		    *n <= INT64_MAX;
	}
	if (fits)
		*n = cl_roundup(*n, quantum(d));
	for (i = 0; i < NPLACES && fits; i++)
		fits = cl_add(*n, d->ring_bytes[i], n);
	return (fits);
}

static uint64_t
count_buffers(const struct cl_device *d)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < d->nregions; i++)
		n += d->region[i].n;
	return (n);
}

/*
 * Taken as a whole and written to once, so that no page of it is missing when
 * the clock runs.  The system would promise more than it has: ask first.
 */
static int
make_arena(struct cl_device *d, struct cl_err *err)
{
	uint64_t limit = cl_host_memory("");
	const struct region *last = &d->region[d->nregions - 1];
	size_t align = (size_t)quantum(d), n;
	void *p;

	if (d->modelled)
		return (CL_OK);
	if (!arena_bytes(d) || !cl_size(d->arena_bytes, &n) ||
	    (limit != 0 && d->arena_bytes > limit))
		return (cl_fail(err, CL_ENOMEM, "the cache needs %llu buffers "
		    "of %s%llu bytes, and this process may use %llu bytes of "
		    "memory", (unsigned long long)count_buffers(d),
		    d->o.nclasses > 1 ? "up to " : "",
		    (unsigned long long)d->unit, (unsigned long long)limit));
	if (posix_memalign(&p, d->o.hugepages ? CL_IO_HUGE_PAGE : align,
	    n) != 0)
		return (cl_fail(err, CL_ENOMEM, "the cache's %llu bytes "
		    "cannot be had", (unsigned long long)d->arena_bytes));
	if (d->o.hugepages)
		cl_io_huge_ask(p, n);
	memset(p, 0, n);
	d->arena = p;
	d->ring[0] = d->arena + cl_roundup(last->at + last->n * last->unit,
	    align);
	d->ring[1] = d->ring[0] + d->ring_bytes[0];
	d->ring[2] = d->ring[1] + d->ring_bytes[1];
	cl_io_arena(d->io, d->arena, d->arena_bytes, d->unit);
	return (CL_OK);
}

/* The reader, and what it asks of buffers. */
static int
open_io(struct cl_device *d, struct cl_err *err)
{
	struct cl_io_facts f;

	d->io = cl_io_new(d->file, d->modelled ? 0 : d->model->nshards,
	    &d->o.io, err);
	if (d->io == NULL)
		return (err == NULL ? CL_EIO : err->code);
	cl_io_facts(d->io, &f);
	d->align = f.align;
	return (CL_OK);
}

struct cl_device *
cl_device_new(const struct cl_model *model, const struct cl_device_options *o,
    struct cl_err *err)
{
	struct cl_device *d;

	if ((d = calloc(1, sizeof(*d))) == NULL) {
		cl_fail_nomem(err, "the model's files");
		return (NULL);
	}
	d->model = model;
	d->o = *o;
	d->modelled = o->io.backend == CL_IO_MODEL ||
	    o->io.backend == CL_IO_SLEEP;
	if (d->modelled)
		d->spec = *o->io.device;
	if (check_stride(d, err) != CL_OK || open_shards(d, err) != CL_OK ||
	    open_io(d, err) != CL_OK)
		goto fail;
	if (set_regions(d, err) == CL_OK && set_rings(d, err) == CL_OK &&
	    make_arena(d, err) == CL_OK)
		return (d);
fail:
	cl_device_free(d);
	return (NULL);
}

/* Buffer i of those from a region on. */
static uint8_t *
buffer(const struct cl_device *d, const struct region *r, uint32_t i)
{

	while (i >= r->n)
		i -= r++->n;
	return (place(d->arena, r->at + i * r->unit));
}

uint8_t *
cl_device_slot(struct cl_device *d, uint32_t slot)
{

	return (buffer(d, d->region, slot));
}

uint8_t *
cl_device_stage(struct cl_device *d, uint32_t i)
{

	return (buffer(d, d->region + d->nregions / 2, i));
}

uint8_t *
cl_device_bypass(struct cl_device *d, uint32_t i)
{

	return (buffer(d, d->region + d->nregions - 1, i));
}

/* One slab after another: where in its buffer is this, where is the next? */
static uint64_t
slab_place(const struct cl_device *d, uint64_t *at, uint64_t off,
    uint64_t nbytes)
{
	uint64_t here = *at + (off & (d->align - 1));

	*at = window_end(d, *at, off, nbytes);
	return (here);
}

uint32_t
cl_device_slabs(const struct cl_device *d, uint32_t layer, uint32_t expert,
    const uint8_t *buf, struct cl_device_slab out[CL_IO_PARTS_MAX])
{
	const struct cl_layer *l = &d->model->layers[layer];
	uint64_t at = 0, off;
	uint32_t i;

	for (i = 0; i < l->nslabs; i++) {
		off = cl_model_place(&l->slabs[i], expert).off;
		out[i].nbytes = (size_t)l->slabs[i].nbytes;
		out[i].p = buf + slab_place(d, &at, off, out[i].nbytes);
	}
	return (l->nslabs);
}

void
cl_device_read(struct cl_device *d, struct cl_io_job *job, uint32_t layer,
    uint32_t expert, uint8_t *buf, enum cl_io_queue queue)
{
	const struct cl_layer *l = &d->model->layers[layer];
	struct cl_place from;
	uint64_t at = 0;
	uint32_t i;

	job->parts = NULL;
	job->dense = false;
	job->nparts = l->nslabs;
	for (i = 0; i < l->nslabs; i++) {
		from = cl_model_place(&l->slabs[i], expert);
		job->part[i].file = from.shard;
		job->part[i].off = from.off;
		job->part[i].nbytes = (size_t)l->slabs[i].nbytes;
		job->part[i].buf = place(buf, slab_place(d, &at, from.off,
		    l->slabs[i].nbytes));
	}
	cl_io_submit(d->io, job, queue);
}

/* A tensor in chunks; returns how many parts there are now. */
static uint32_t
cut(struct cl_io_part *p, uint32_t n, const struct cl_dense *t, uint8_t *buf)
{
	uint64_t off = t->off, end = t->off + t->nbytes, to;

	while (off < end) {
		to = (off & ~(DENSE_CHUNK - 1)) + DENSE_CHUNK;
		if (to > end)
			to = end;
		p[n++] = (struct cl_io_part){ t->shard, off,
		    (size_t)(to - off), place(buf, off - t->off) };
		off = to;
	}
	return (n);
}

/* A layer's tensors, from `at` of the buffer on; returns where they end. */
static uint64_t
read_dense(struct cl_device *d, struct cl_io_job *job, uint32_t layer,
    uint32_t ring, uint64_t at, enum cl_io_queue queue)
{
	struct cl_io_part *part = d->part + (size_t)ring * d->part_max;
	const struct cl_dense *t;
	uint32_t i, n;

	t = dense_of(d->model, layer, &n);
	job->nparts = 0;
	for (i = 0; i < n; i++)
		job->nparts = cut(part, job->nparts, &t[i],
		    place(d->ring[ring], slab_place(d, &at, t[i].off,
		    t[i].nbytes)));
	job->parts = part;
	job->dense = true;
	cl_io_submit(d->io, job, queue);
	return (at);
}

void
cl_device_read_dense(struct cl_device *d, struct cl_io_job *job,
    uint32_t layer, uint32_t ring, enum cl_io_queue queue)
{

	(void)read_dense(d, job, layer, ring, 0, queue);
}

struct cl_device_slab
cl_device_dense(const struct cl_device *d, uint32_t layer, uint32_t i,
    uint32_t ring)
{
	const struct cl_dense *t;
	struct cl_device_slab slab;
	uint64_t at = 0, here = 0;
	uint32_t n, j;

	for (j = 0; ring == CL_DEVICE_RESIDENT && j < layer; j++)
		at += dense_windows(d, j);
	t = dense_of(d->model, layer, &n);
	for (j = 0; j <= i; j++)
		here = slab_place(d, &at, t[j].off, t[j].nbytes);
	slab.p = d->ring[ring] + here;
	slab.nbytes = (size_t)t[i].nbytes;
	return (slab);
}

int
cl_device_load_dense(struct cl_device *d, uint64_t *nbytes,
    uint64_t *nretries, struct cl_err *err)
{
	struct cl_io_job job;
	uint64_t at = 0;
	uint32_t i;
	int status;

	memset(&job, 0, sizeof(job));
	*nbytes = *nretries = 0;
	for (i = 0; i <= d->model->nlayers; i++) {
		at = read_dense(d, &job, i, CL_DEVICE_RESIDENT, at,
		    CL_IO_DEMAND);
		if ((status = cl_device_wait_dense(d, &job, i, err)) != CL_OK)
			return (status);
		*nbytes += job.arrived;
		*nretries += job.nretries;
	}
	return (CL_OK);
}

int
cl_device_wait(struct cl_device *d, struct cl_io_job *job, uint32_t layer,
    uint32_t expert, struct cl_err *err)
{

	cl_io_wait(d->io, job);
	if (job->err.code == CL_OK)
		return (CL_OK);
	return (cl_fail(err, job->err.code, "layer %u expert %u: %s", layer,
	    expert, job->err.msg));
}

const struct cl_virtual_spec *
cl_device_spec(const struct cl_device *d)
{

	return (d->modelled ? &d->spec : NULL);
}

int
cl_device_wait_dense(struct cl_device *d, struct cl_io_job *job,
    uint32_t layer, struct cl_err *err)
{

	cl_io_wait(d->io, job);
	if (job->err.code == CL_OK)
		return (CL_OK);
	if (layer == d->model->nlayers)
		return (cl_fail(err, job->err.code, "dense weights: %s",
		    job->err.msg));
	return (cl_fail(err, job->err.code, "layer %u dense weights: %s",
	    layer, job->err.msg));
}

struct cl_io *
cl_device_io(struct cl_device *d)
{

	return (d->io);
}

uint64_t
cl_device_arena(const struct cl_device *d)
{

	return (d->arena_bytes);
}

uint64_t
cl_device_huge(const struct cl_device *d)
{

	return (cl_io_huge_bytes(d->arena));
}

void
cl_device_free(struct cl_device *d)
{
	uint32_t i;

	if (d == NULL)
		return;
	cl_io_free(d->io);
	for (i = 0; d->file != NULL && i < d->model->nshards; i++)
		if (d->file[i].fd != -1)
			(void)close(d->file[i].fd);
	free(d->file);
	free(d->part);
	free(d->region);
	free(d->arena);
	free(d);
}
