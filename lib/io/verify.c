/*
 * Descriptors of its own, since direct reads change how theirs read, and one
 * buffer of a few pages.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/device.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/verify.h"

#define CHUNK	65536

struct cl_verify {
	const struct cl_model *model;
	int		*fd;		/* of each shard */
	uint8_t		 chunk[CHUNK];
};

struct cl_verify *
cl_verify_new(const struct cl_model *model, struct cl_err *err)
{
	struct cl_verify *v;
	uint32_t i;

	if ((v = calloc(1, sizeof(*v))) == NULL ||
	    (v->fd = calloc(model->nshards, sizeof(*v->fd))) == NULL) {
		cl_fail_nomem(err, "what verifies bytes");
		free(v);
		return (NULL);
	}
	v->model = model;
	for (i = 0; i < model->nshards; i++)
		v->fd[i] = -1;
	for (i = 0; i < model->nshards; i++)
		if ((v->fd[i] = open(model->shards[i].path,
		    O_RDONLY | O_CLOEXEC)) == -1) {
			cl_fail_errno(err, "%s: cannot open",
			    model->shards[i].path);
			cl_verify_free(v);
			return (NULL);
		}
	return (v);
}

/* n bytes, at most CHUNK, of a file into the buffer. */
static int
fill(struct cl_verify *v, struct cl_place at, size_t n, struct cl_err *err)
{
	size_t got = 0;
	ssize_t more;

	while (got < n) {
		more = pread(v->fd[at.shard], v->chunk + got, n - got,
		    (off_t)(at.off + got));
		if (more == -1 && errno == EINTR)
			continue;
		if (more == -1)
			return (cl_fail_errno(err, "%s: offset %llu: cannot "
			    "read", v->model->shards[at.shard].path,
			    (unsigned long long)(at.off + got)));
		if (more == 0)
			return (cl_fail(err, CL_EIO, "%s: offset %llu: the "
			    "file is shorter than it was",
			    v->model->shards[at.shard].path,
			    (unsigned long long)(at.off + got)));
		got += (size_t)more;
	}
	return (CL_OK);
}

static int
compare(struct cl_verify *v, struct cl_place at,
    const struct cl_device_slab *slab, struct cl_err *err)
{
	size_t from, n, i;
	int status;

	for (from = 0; from < slab->nbytes; from += n, at.off += n) {
		n = slab->nbytes - from < CHUNK ? slab->nbytes - from : CHUNK;
		if ((status = fill(v, at, n, err)) != CL_OK)
			return (status);
		if (memcmp(v->chunk, slab->p + from, n) == 0)
			continue;
		for (i = 0; v->chunk[i] == slab->p[from + i]; i++)
			;
		return (cl_fail(err, CL_EFORMAT, "%s: offset %llu: the file "
		    "has %02x there, and %02x was served",
		    v->model->shards[at.shard].path,
		    (unsigned long long)(at.off + i), v->chunk[i],
		    slab->p[from + i]));
	}
	return (CL_OK);
}

int
cl_verify_expert(struct cl_verify *v, uint32_t layer, uint32_t expert,
    const struct cl_device_slab *slab, uint32_t nslabs, struct cl_err *err)
{
	const struct cl_slab *slabs = v->model->layers[layer].slabs;
	char where[64];
	uint32_t i;
	int status;

	for (i = 0; i < nslabs; i++) {
		status = compare(v, cl_model_place(&slabs[i], expert),
		    &slab[i], err);
		if (status == CL_OK)
			continue;
		(void)snprintf(where, sizeof(where), "layer %u expert %u, %s",
		    layer, expert, cl_model_slab_name(slabs[i].kind));
		cl_err_prefix(err, where);
		return (status);
	}
	return (CL_OK);
}

void
cl_verify_free(struct cl_verify *v)
{
	uint32_t i;

	if (v == NULL)
		return;
	for (i = 0; i < v->model->nshards; i++)
		if (v->fd[i] != -1)
			(void)close(v->fd[i]);
	free(v->fd);
	free(v);
}
