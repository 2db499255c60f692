/*
 * What Linux alone has: O_DIRECT, what statx(2) knows of it, mincore(2), and
 * transparent huge pages: no reserve that may be empty, and no SIGBUS.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io_int.h"

#define WINDOW_PAGES	16

int
cl_io_os_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, on ? flags | O_DIRECT :
	    flags & ~O_DIRECT) == -1)
		return (errno);
	return (0);
}

/* The C library's statx(2) is older than the fields that are asked for. */
uint32_t
cl_io_os_align(int fd)
{
	struct statx st;
	uint32_t align;

	memset(&st, 0, sizeof(st));
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) ==
	    -1 || (st.stx_mask & STATX_DIOALIGN) == 0)
		return (CL_IO_ALIGN);
	align = st.stx_dio_offset_align;
	if (align != 0 && st.stx_dio_mem_align > align)
		align = st.stx_dio_mem_align;
	return (align);
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

/*
 * Who may not write a file is told that all of its pages are there: see
 * mincore(2).  Nothing is claimed of such a file.
 */
static bool
may_ask(int fd)
{
	struct statx st;

	memset(&st, 0, sizeof(st));
	return (geteuid() == 0 || (syscall(SYS_statx, fd, "", AT_EMPTY_PATH,
	    STATX_UID, &st) == 0 && st.stx_uid == geteuid()));
}

void
cl_io_os_drop(int fd, uint64_t off, uint32_t npages, uint64_t page,
    uint64_t *probed, uint64_t *kept)
{
	unsigned char there[WINDOW_PAGES];
	size_t n = (size_t)(npages * page);
	uint32_t i;
	void *p;

	if (npages > WINDOW_PAGES || !may_ask(fd))
		return;
	cl_io_os_forget(fd, off, n);
	p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, (off_t)off);
	if (p == MAP_FAILED)
		return;
	if (mincore(p, n, there) == 0) {
		*probed += npages;
		for (i = 0; i < npages; i++)
			*kept += there[i] & 1;
	}
	(void)munmap(p, n);
}

void
cl_io_huge_ask(void *p, size_t nbytes)
{

	(void)madvise(p, nbytes, MADV_HUGEPAGE);
}

/* See proc_pid_smaps(5): a line of addresses, then lines of figures. */
uint64_t
cl_io_huge_bytes(const void *p)
{
	uintptr_t from, to, at = (uintptr_t)p;
	uint64_t kib;
	char line[512];
	bool here = false;
	FILE *f;

	if ((f = fopen("/proc/self/smaps", "re")) == NULL)
		return (0);
	kib = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) ==
		    2)
			here = at >= from && at < to;
		else if (here && sscanf(line, "AnonHugePages: %" SCNu64,
		    &kib) == 1)
			break;
	}
	(void)fclose(f);
	return (kib * 1024);
}
