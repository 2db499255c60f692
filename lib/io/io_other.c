/*
 * In place of io_linux.c on systems of which nothing is known: there is no
 * reading past the page cache.
 */

#include <errno.h>
#include <fcntl.h>

#include "io_int.h"

int
cl_io_os_direct(int fd, bool on)
{

	(void)fd;
	return (on ? ENOTSUP : 0);
}

uint32_t
cl_io_os_align(int fd)
{

	(void)fd;
	return (0);
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

	(void)posix_fadvise(fd, (off_t)off, (off_t)nbytes,
	    POSIX_FADV_DONTNEED);
}

void
cl_io_os_random(int fd)
{

	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
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
