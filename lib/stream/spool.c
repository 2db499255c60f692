/*
 * A stream is a list of pieces of the file and, behind them, a buffer.  The
 * file has no name from the moment it is made, so that nothing is left of it
 * however we end.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/spool.h"
#include "cl/vec.h"

struct cl_spool {
	char		*dir;
	int		 fd;		/* -1: there is no file */
	off_t		 end;		/* of what the file holds */
};

struct piece {
	off_t		 off;
	size_t		 nbytes;
};

struct cl_spool_stream {
	struct cl_spool	*spool;
	struct cl_dst	*dst;
	struct piece	*piece;
	size_t		 npieces;
	size_t		 piece_cap;
	struct cl_buf	 bytes;
};

struct cl_spool *
cl_spool_new(const char *dir, struct cl_err *err)
{
	struct cl_spool *s;

	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->dir = cl_vec_strndup(dir, strlen(dir), err)) == NULL) {
		cl_fail_nomem(err, "streams that wait");
		free(s);
		return (NULL);
	}
	s->fd = -1;
	return (s);
}

static int
stream_write(void *ctx, const void *p, size_t n, struct cl_err *err)
{
	struct cl_spool_stream *t = ctx;

	cl_buf_bytes(&t->bytes, p, n);
	return (!t->bytes.bad ? CL_OK : cl_fail_nomem(err,
	    "a stream that waits"));
}

static int
stream_flush(void *ctx, struct cl_err *err)
{

	(void)ctx;
	(void)err;
	return (CL_OK);
}

static void
stream_stays(void *ctx)
{

	(void)ctx;
}

struct cl_spool_stream *
cl_spool_stream_new(struct cl_spool *s, struct cl_err *err)
{
	static const struct cl_dst_ops ops = { stream_write, stream_flush,
	    stream_flush, stream_stays };
	struct cl_spool_stream *t;

	if ((t = calloc(1, sizeof(*t))) == NULL) {
		cl_fail_nomem(err, "a stream that waits");
		return (NULL);
	}
	t->spool = s;
	cl_buf_init(&t->bytes);
	if ((t->dst = cl_dst_new(&ops, t, err)) == NULL) {
		cl_spool_stream_free(t);
		return (NULL);
	}
	return (t);
}

struct cl_dst *
cl_spool_stream_dst(struct cl_spool_stream *t)
{

	return (t->dst);
}

static int
make_file(struct cl_spool *s, struct cl_err *err)
{
	static const char name[] = "/cl-spool-XXXXXX";
	size_t cap = strlen(s->dir) + sizeof(name);
	char *path;
	int status = CL_OK;

	if ((path = malloc(cap)) == NULL)
		return (cl_fail_nomem(err, "a file name"));
	(void)snprintf(path, cap, "%s%s", s->dir, name);
	if ((s->fd = mkstemp(path)) == -1)
		status = cl_fail_errno(err, "%s: cannot make a temporary file",
		    s->dir);
	else
		(void)unlink(path);
	free(path);
	return (status);
}

static int
append(struct cl_spool *s, const uint8_t *p, size_t n, struct cl_err *err)
{
	ssize_t put;

	while (n > 0) {
		put = pwrite(s->fd, p, n, s->end);
		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1)
			return (cl_fail_errno(err, "%s: cannot write a "
			    "temporary file", s->dir));
		p += put;
		n -= (size_t)put;
		s->end += put;
	}
	return (CL_OK);
}

int
cl_spool_stream_settle(struct cl_spool_stream *t, struct cl_err *err)
{
	struct cl_spool *s = t->spool;
	struct piece piece = { s->end, t->bytes.n };
	int status;

	if (t->bytes.n < CL_SPOOL_PIECE)
		return (CL_OK);
	if (s->fd == -1 && (status = make_file(s, err)) != CL_OK)
		return (status);
	if ((status = cl_vec_grow(&t->piece, &t->piece_cap, t->npieces + 1,
	    sizeof(*t->piece), err)) != CL_OK ||
	    (status = append(s, t->bytes.p, t->bytes.n, err)) != CL_OK)
		return (status);
	t->piece[t->npieces++] = piece;
	cl_buf_clear(&t->bytes);
	return (CL_OK);
}

static int
copy_piece(const struct cl_spool *s, const struct piece *p,
    struct cl_dst *dst, struct cl_err *err)
{
	off_t off = p->off;
	size_t left = p->nbytes, want;
	uint8_t *to;
	ssize_t got;

	while (left > 0) {
		want = left < CL_SPOOL_PIECE ? left : CL_SPOOL_PIECE;
		if ((to = cl_dst_reserve(dst, want)) == NULL)
			return (CL_OK);		/* told by its finish */
		got = pread(s->fd, to, want, off);
		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return (cl_fail_errno(err, "%s: cannot read a "
			    "temporary file", s->dir));
		if (got == 0)
			return (cl_fail(err, CL_EIO, "%s: a temporary file "
			    "was cut short", s->dir));
		cl_dst_commit(dst, (size_t)got);
		left -= (size_t)got;
		off += got;
	}
	return (CL_OK);
}

int
cl_spool_stream_copy(struct cl_spool_stream *t, struct cl_dst *dst,
    struct cl_err *err)
{
	size_t i;
	int status;

	for (i = 0; i < t->npieces; i++)
		if ((status = copy_piece(t->spool, &t->piece[i], dst, err)) !=
		    CL_OK)
			return (status);
	cl_dst_write(dst, t->bytes.p, t->bytes.n);
	return (CL_OK);
}

void
cl_spool_stream_free(struct cl_spool_stream *t)
{

	if (t == NULL)
		return;
	cl_dst_free(t->dst);
	free(t->piece);
	cl_buf_free(&t->bytes);
	free(t);
}

void
cl_spool_free(struct cl_spool *s)
{

	if (s == NULL)
		return;
	if (s->fd != -1)
		(void)close(s->fd);
	free(s->dir);
	free(s);
}
