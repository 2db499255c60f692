/*
 * A tar in zstd: libarchive makes the headers and the padding, our own encoder
 * compresses, so that a member and its frame can end together.  GNU tar's
 * form, since it takes a name of any bytes and length and a size of any
 * number.  No clock and no user goes in: same members, same bytes.
 */

#include <stdlib.h>

#include <archive.h>
#include <archive_entry.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/zio.h"

#define LEVEL	3			/* members are compressed already */
#define MODE	0644

struct cl_pack_writer {
	struct cl_dst	*lower;		/* borrowed */
	struct cl_dst	*frame;		/* open, or NULL */
	struct archive	*a;
};

static la_ssize_t
take(struct archive *a, void *arg, const void *data, size_t n)
{
	struct cl_pack_writer *w = arg;

	(void)a;
	if (w->frame != NULL)
		cl_dst_write(w->frame, data, n);
	return ((la_ssize_t)n);
}

static int
refused(struct cl_pack_writer *w, const char *name, struct cl_err *err)
{
	const char *why = archive_error_string(w->a);

	return (cl_fail(err, CL_EIO, "member %s: %s", name,
	    why == NULL ? "it cannot be written" : why));
}

static int
begin_frame(struct cl_pack_writer *w, struct cl_err *err)
{

	w->frame = cl_zio_writer(w->lower, LEVEL, err);
	return (w->frame == NULL ? CL_ENOMEM : CL_OK);
}

/* Also where the member failed: what was written tells the first failure. */
static int
end_frame(struct cl_pack_writer *w, struct cl_err *err)
{
	int status = cl_dst_finish(w->frame, err);

	cl_dst_free(w->frame);
	w->frame = NULL;
	return (status);
}

struct cl_pack_writer *
cl_pack_writer_new(struct cl_dst *dst, struct cl_err *err)
{
	struct cl_pack_writer *w;

	if ((w = calloc(1, sizeof(*w))) == NULL ||
	    (w->a = archive_write_new()) == NULL) {
		cl_fail_nomem(err, "an archive");
		free(w);
		return (NULL);
	}
	w->lower = dst;
	/* what is written arrives at once, not in tape blocks */
	if (archive_write_set_format_gnutar(w->a) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(w->a, 0) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(w->a, 1) != ARCHIVE_OK ||
	    archive_write_open(w->a, w, NULL, take, NULL) != ARCHIVE_OK) {
		cl_fail(err, CL_ENOTSUP, "libarchive cannot write a tar");
		cl_pack_writer_free(w);
		return (NULL);
	}
	return (w);
}

static int
put_header(struct cl_pack_writer *w, const char *name, uint64_t nbytes,
    struct cl_err *err)
{
	struct archive_entry *e = archive_entry_new();
	int r;

	if (e == NULL)
		return (cl_fail_nomem(err, "an archive"));
	archive_entry_copy_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, MODE);
	archive_entry_set_mtime(e, 0, 0);
	archive_entry_set_size(e, (la_int64_t)nbytes);
	r = archive_write_header(w->a, e);
	archive_entry_free(e);
	return (r == ARCHIVE_OK ? CL_OK : refused(w, name, err));
}

static int
put_data(struct cl_pack_writer *w, const char *name, uint64_t nbytes,
    struct cl_src *src, struct cl_err *err)
{
	const uint8_t *p;
	uint64_t left = nbytes;
	size_t n;
	int status;

	for (;;) {
		if ((status = cl_src_peek(src, 1, &p, &n, err)) != CL_OK)
			return (status);
		if (n == 0 || n > left)
			break;
		if (archive_write_data(w->a, p, n) != (la_ssize_t)n)
			return (refused(w, name, err));
		cl_src_consume(src, n);
		left -= n;
	}
	if (n > 0 || left > 0)
		return (cl_fail(err, CL_EIO, "member %s: not the %llu bytes "
		    "that it was to have", name, (unsigned long long)nbytes));
	return (archive_write_finish_entry(w->a) == ARCHIVE_OK ? CL_OK :
	    refused(w, name, err));
}

int
cl_pack_put(struct cl_pack_writer *w, const char *name, uint64_t nbytes,
    struct cl_src *src, struct cl_err *err)
{
	int status;

	if ((status = begin_frame(w, err)) != CL_OK)
		return (status);
	if ((status = put_header(w, name, nbytes, err)) == CL_OK)
		status = put_data(w, name, nbytes, src, err);
	if (status == CL_OK)
		return (end_frame(w, err));
	(void)end_frame(w, NULL);
	return (status);
}

int
cl_pack_writer_finish(struct cl_pack_writer *w, struct cl_err *err)
{
	int status, ended;

	if ((status = begin_frame(w, err)) != CL_OK)
		return (status);
	if (archive_write_close(w->a) != ARCHIVE_OK)
		status = refused(w, "at the end", err);
	ended = end_frame(w, err);
	return (status != CL_OK ? status : ended);
}

void
cl_pack_writer_free(struct cl_pack_writer *w)
{

	if (w == NULL)
		return;
	/* the end mark of one that was not finished goes nowhere */
	(void)archive_write_free(w->a);
	free(w);
}
