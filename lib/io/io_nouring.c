/*
 * In place of io_uring.c where liburing is not: a back end that cannot be
 * had, and says why.
 */

#include "io_int.h"

static int
nouring_open(struct cl_io *io, struct cl_err *err)
{

	(void)io;
	return (cl_fail(err, CL_ENOTSUP, "io_uring cannot be had: built "
	    "without liburing"));
}

const struct cl_io_back cl_io_back_uring = {
	.id = CL_IO_URING,
	.name = "uring",
	.open = nouring_open,
};
