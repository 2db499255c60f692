#ifndef IO_OPEN_H
#define IO_OPEN_H

/*
 * A reader for tests: it can be had, or the test is over.
 */

#include "cl/io.h"
#include "unit.h"

static inline struct cl_io *
io_open(const struct cl_io_file *files, uint32_t nfiles, uint32_t nthreads,
    enum cl_io_os_cache os_cache)
{
	struct cl_io_options o = { .backend = CL_IO_PREAD,
	    .nthreads = nthreads, .os_cache = os_cache };
	struct cl_io *io = cl_io_new(files, nfiles, &o, NULL);

	assert(io != NULL);
	return (io);
}

#endif /* IO_OPEN_H */
