/*
 * In place of io_linux.c on macOS: F_NOCACHE, which has no rule of alignment
 * that a window of pages would break.
 */

#define _DARWIN_C_SOURCE

#include <errno.h>
#include <fcntl.h>

#include "io_int.h"

int
cl_io_os_direct(int fd, bool on)
{

	return (fcntl(fd, F_NOCACHE, on ? 1 : 0) == -1 ? errno : 0);
}

uint32_t
cl_io_os_align(int fd)
{

	(void)fd;
	return (CL_IO_ALIGN);
}

void
cl_io_os_drop(int fd, uint64_t off, uint32_t npages, uint64_t page,
    uint64_t *probed, uint64_t *kept)
{

	(void)fd, (void)off, (void)npages, (void)page;
	(void)probed, (void)kept;
}

void
cl_io_os_forget(int fd, uint64_t off, uint64_t nbytes)
{

	(void)fd, (void)off, (void)nbytes;
}

void
cl_io_os_random(int fd)
{

	(void)fcntl(fd, F_RDAHEAD, 0);
}

void
cl_io_huge_ask(void *p, size_t nbytes)
{

	(void)p, (void)nbytes;
}

uint64_t
cl_io_huge_bytes(const void *p)
{

	(void)p;
	return (0);
}
