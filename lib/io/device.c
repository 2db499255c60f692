/*
 * Files, extents and buffers.  Slots come first in the arena, bypass buffers
 * behind them; buffer i is at i x stride.
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

struct cl_device {
	const struct cl_model *model;
	struct cl_io_file *file;	/* one for each shard */
	struct cl_io	*io;
	bool		 modelled;
	struct cl_virtual_spec spec;	/* of a modelled one */
	uint8_t		*arena;
	uint64_t	 arena_bytes;
	uint64_t	 stride;
	uint32_t	 nslots;
};

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
		if (!l->extra && l->expert_bytes > d->stride)
			return (cl_fail(err, CL_EINVAL, "buffers of %llu "
			    "bytes for experts of %llu",
			    (unsigned long long)d->stride,
			    (unsigned long long)l->expert_bytes));
	return (CL_OK);
}

/*
 * Taken as a whole and written to once, so that no page of it is missing when
 * the clock runs.  The system would promise more than it has: ask first.
 */
static int
make_arena(struct cl_device *d, uint64_t nbuffers, struct cl_err *err)
{
	uint64_t limit = cl_host_memory("");
	size_t n;
	void *p;

	if (d->modelled)
		return (CL_OK);
	if (!cl_mul(nbuffers, d->stride, &d->arena_bytes) ||
	    !cl_size(d->arena_bytes, &n) ||
	    (limit != 0 && d->arena_bytes > limit))
		return (cl_fail(err, CL_ENOMEM, "the cache needs %llu buffers "
		    "of %llu bytes, and this process may use %llu bytes of "
		    "memory", (unsigned long long)nbuffers,
		    (unsigned long long)d->stride, (unsigned long long)limit));
	if (posix_memalign(&p, ARENA_ALIGN, n) != 0)
		return (cl_fail(err, CL_ENOMEM, "the cache's %llu bytes "
		    "cannot be had", (unsigned long long)d->arena_bytes));
	memset(p, 0, n);
	d->arena = p;
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
	d->stride = o->stride;
	d->nslots = o->nslots;
	d->modelled = o->io.backend == CL_IO_MODEL ||
	    o->io.backend == CL_IO_SLEEP;
	if (d->modelled)
		d->spec = *o->io.device;
	if (check_stride(d, err) != CL_OK || open_shards(d, err) != CL_OK ||
	    make_arena(d, (uint64_t)o->nslots + o->nbypass, err) != CL_OK ||
	    (d->io = cl_io_new(d->file, d->modelled ? 0 : model->nshards,
	    &o->io, err)) == NULL) {
		cl_device_free(d);
		return (NULL);
	}
	return (d);
}

uint8_t *
cl_device_slot(struct cl_device *d, uint32_t slot)
{

	return (d->modelled ? NULL : d->arena + slot * d->stride);
}

uint8_t *
cl_device_bypass(struct cl_device *d, uint32_t i)
{

	return (d->modelled ? NULL :
	    d->arena + ((uint64_t)d->nslots + i) * d->stride);
}

void
cl_device_read(struct cl_device *d, struct cl_io_job *job, uint32_t layer,
    uint32_t expert, uint8_t *buf, enum cl_io_queue queue)
{
	const struct cl_layer *l = &d->model->layers[layer];
	const struct cl_slab *slab;
	struct cl_place at;
	uint32_t i;

	job->parts = NULL;
	job->nparts = l->nslabs;
	for (i = 0; i < l->nslabs; i++) {
		slab = &l->slabs[i];
		at = cl_model_place(slab, expert);
		job->part[i].file = at.shard;
		job->part[i].off = at.off;
		job->part[i].nbytes = (size_t)slab->nbytes;
		job->part[i].buf = buf;
		if (buf != NULL)
			buf += slab->nbytes;
	}
	cl_io_submit(d->io, job, queue);
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
	free(d->arena);
	free(d);
}
