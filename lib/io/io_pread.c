/*
 * The back end that is everywhere: threads that call pread(2).
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io_int.h"

static void
pread_read(struct cl_io *io, struct cl_io_read *r)
{
	ssize_t n;

	do {
		n = pread(io->file[r->part->file].fd, r->buf + r->got,
		    cl_io_left(io, r), (off_t)(r->off + r->got));
	} while (!cl_io_step(io, r, n == -1 ? -errno : n));
}

static void
pread_close(struct cl_io *io)
{

	cl_io_pool_stop(io);
	free(io->state);
}

static int
pread_open(struct cl_io *io, struct cl_err *err)
{
	struct cl_io_pool *pool;

	if ((io->state = pool = calloc(1, sizeof(*pool))) == NULL)
		return (cl_fail_nomem(err, "the reader's threads"));
	pool->read = pread_read;
	if (cl_io_pool_start(io, err) == CL_OK)
		return (CL_OK);
	free(pool);
	return (err->code);
}

const struct cl_io_back cl_io_back_pread = {
	.id = CL_IO_PREAD,
	.name = "pread",
	.open = pread_open,
	.kick = cl_io_pool_kick,
	.wait = cl_io_pool_wait,
	.tell = cl_io_pool_tell,
	.close = pread_close,
};
