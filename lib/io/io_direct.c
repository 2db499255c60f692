/*
 * Reading past the page cache.  It is asked for file by file, tried with one
 * read each, and in force for all of them or none: figures of a run that is
 * half direct would say nothing.
 *
 * Windows are rounded out to whole pages, though many a system takes sectors of
 * 512 bytes: below, most devices read pages, and make the rest of it slower.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cl/num.h"
#include "io_int.h"

#define PROBES		64		/* windows of a file */
#define PROBE_PAGES	16

static int
refused(struct cl_err *err, const struct cl_io_file *f, int error)
{

	errno = error;
	return (cl_fail_errno(err, "%s: no direct reads", f->name));
}

/* Its first bytes, as they would be read; other troubles wait for theirs. */
static int
try_file(const struct cl_io_file *f, uint32_t align, struct cl_err *err)
{
	void *buf;
	int error;

	if ((error = cl_io_os_direct(f->fd, true)) != 0)
		return (refused(err, f, error));
	if (posix_memalign(&buf, align, align) != 0)
		return (cl_fail_nomem(err, "a direct read"));
	error = pread(f->fd, buf, align, 0) == -1 ? errno : 0;
	free(buf);
	return (error == EINVAL ? refused(err, f, error) : CL_OK);
}

static void
all_off(struct cl_io *io)
{
	uint32_t i;

	for (i = 0; i < io->nfiles; i++)
		(void)cl_io_os_direct(io->file[i].fd, false);
}

int
cl_io_direct_open(struct cl_io *io, struct cl_err *err)
{
	uint32_t i, align, most = CL_IO_ALIGN;
	int status = CL_OK;

	for (i = 0; i < io->nfiles && status == CL_OK; i++) {
		align = cl_io_os_align(io->file[i].fd);
		if (!cl_ispow2(align) || align > CL_IO_ALIGN_MAX)
			status = refused(err, &io->file[i], ENOTSUP);
		else if (align > most)
			most = align;
	}
	for (i = 0; i < io->nfiles && status == CL_OK; i++)
		status = try_file(&io->file[i], most, err);
	if (status != CL_OK) {
		all_off(io);
		return (status);
	}
	io->facts.os_cache = CL_IO_DIRECT;
	io->facts.align = most;
	return (CL_OK);
}

void
cl_io_direct_end(struct cl_io *io, int error)
{

	(void)pthread_mutex_lock(&io->mu);
	if (io->facts.os_cache == CL_IO_DIRECT) {
		all_off(io);
		io->facts.os_cache = CL_IO_KEEP;
		errno = error;
		(void)cl_fail_errno(&io->why_os_cache, "a direct read");
	}
	(void)pthread_mutex_unlock(&io->mu);
}

/*
 * Dirty pages stay, and so do pages that somebody has mapped.  Looked for in
 * windows all over each file, before the clock.
 */
void
cl_io_probe_drop(struct cl_io *io)
{
	uint64_t window = PROBE_PAGES * io->page, n, off;
	struct stat st;
	uint32_t i, j;

	for (i = 0; i < io->nfiles; i++) {
		if (fstat(io->file[i].fd, &st) == -1)
			continue;
		n = (uint64_t)st.st_size / window;
		for (j = 0; j < PROBES && j < n; j++) {
			off = n <= PROBES ? j : cl_muldiv(j, n, PROBES);
			cl_io_os_drop(io->file[i].fd, off * window,
			    PROBE_PAGES, io->page, &io->facts.pages_probed,
			    &io->facts.pages_kept);
		}
	}
}
