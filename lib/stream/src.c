/*
 * One buffer between whoever produces bytes and whoever parses them.  Bytes
 * [pos, end) are unread; a peek that wants more moves them to the front, grows
 * the buffer if it must, and reads until there is enough or the input ends.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/err.h"
#include "cl/src.h"
#include "cl/vec.h"

#define SRC_BUF	(256 * 1024)		/* the least worth a system call */

struct cl_src {
	const struct cl_src_ops *ops;
	void		*ctx;
	char		*name;
	uint8_t		*buf;
	size_t		 cap;
	size_t		 pos;
	size_t		 end;
	bool		 ended;		/* read said so; not asked again */
	uint64_t	 off;
	uint64_t	 wait_ns;
	const struct cl_src *lower;
};

/* The bottom of every stack: a descriptor, its waiting counted. */
struct fd {
	int		 fd;
	const char	*name;		/* the source's */
	uint64_t	*wait_ns;	/* the source's */
	const atomic_bool *stop;	/* or NULL */
	bool		 owned;		/* to be closed */
	bool		 placed;	/* read from off on, not where it is */
	uint64_t	 off;
};

static bool
stopped(const struct fd *f)
{

	return (f->stop != NULL && atomic_load(f->stop));
}

static int
fd_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct fd *f = ctx;
	uint64_t t0 = cl_clock_ns();
	ssize_t n;

	do
		n = f->placed ? pread(f->fd, buf, cap, (off_t)f->off) :
		    read(f->fd, buf, cap);
	while (n == -1 && errno == EINTR && !stopped(f));
	*f->wait_ns += cl_clock_ns() - t0;
	if (n == -1 && errno == EINTR)
		return (cl_fail(err, CL_ECUT, "%s: interrupted", f->name));
	if (n == -1)
		return (cl_fail_errno(err, "%s: cannot read", f->name));
	*got = (size_t)n;
	f->off += *got;
	return (CL_OK);
}

static void
fd_close(void *ctx)
{
	struct fd *f = ctx;

	if (f->owned)
		(void)close(f->fd);
	free(f);
}

static const struct cl_src_ops fd_ops = { fd_read, fd_close };

/*
 * Room for want bytes, and some more, so that small steps do not copy often.
 * Records may be large: no byte is touched before input comes for it.
 */
static int
grow(struct cl_src *s, size_t want, struct cl_err *err)
{
	size_t n = want > SIZE_MAX - want / 8 ? want : want + want / 8;
	uint8_t *p;

	if (want <= s->cap)
		return (CL_OK);
	if ((p = realloc(s->buf, n)) == NULL)
		return (cl_fail(err, CL_ENOMEM, "%s: out of memory for %zu "
		    "bytes of input", s->name, n));
	s->buf = p;
	s->cap = n;
	return (CL_OK);
}

struct cl_src *
cl_src_new(const struct cl_src_ops *ops, void *ctx, const char *name,
    struct cl_err *err)
{
	struct cl_src *s;

	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "an input stream");
		goto fail;
	}
	if ((s->name = cl_vec_strndup(name, strlen(name), err)) == NULL ||
	    grow(s, SRC_BUF, err) != CL_OK)
		goto free_src;
	s->ops = ops;
	s->ctx = ctx;
	return (s);

free_src:
	free(s->name);
	free(s);
fail:
	ops->close(ctx);
	return (NULL);
}

static struct cl_src *
open_fd(int fd, bool owned, const char *name, const atomic_bool *stop,
    struct cl_err *err)
{
	struct cl_src *s;
	struct fd *f;

	if ((f = calloc(1, sizeof(*f))) == NULL) {
		cl_fail_nomem(err, "an input stream");
		if (owned)
			(void)close(fd);
		return (NULL);
	}
	f->fd = fd;
	f->owned = owned;
	f->stop = stop;
	if ((s = cl_src_new(&fd_ops, f, name, err)) == NULL)
		return (NULL);
	f->name = s->name;
	f->wait_ns = &s->wait_ns;
	return (s);
}

struct cl_src *
cl_src_fd(int fd, const char *name, const atomic_bool *stop,
    struct cl_err *err)
{

	return (open_fd(fd, false, name, stop, err));
}

struct cl_src *
cl_src_fd_from(int fd, uint64_t off, const char *name,
    const atomic_bool *stop, struct cl_err *err)
{
	struct cl_src *s = open_fd(fd, false, name, stop, err);
	struct fd *f;

	if (s == NULL)
		return (NULL);
	f = s->ctx;
	f->placed = true;
	f->off = off;
	return (s);
}

struct cl_src *
cl_src_file(const char *path, const atomic_bool *stop, struct cl_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1) {
		cl_fail_errno(err, "%s: cannot open", path);
		return (NULL);
	}
	return (open_fd(fd, true, path, stop, err));
}

int
cl_src_peek(struct cl_src *s, size_t want, const uint8_t **p, size_t *n,
    struct cl_err *err)
{
	size_t got;
	int status;

	if (s->end - s->pos < want && s->pos > 0) {
		memmove(s->buf, s->buf + s->pos, s->end - s->pos);
		s->end -= s->pos;
		s->pos = 0;
	}
	if ((status = grow(s, want, err)) != CL_OK)
		return (status);
	while (s->end - s->pos < want && !s->ended) {
		status = s->ops->read(s->ctx, s->buf + s->end,
		    s->cap - s->end, &got, err);
		if (status != CL_OK)
			return (status);
		s->end += got;
		s->ended = got == 0;
	}
	*p = s->buf + s->pos;
	*n = s->end - s->pos;
	return (CL_OK);
}

void
cl_src_consume(struct cl_src *s, size_t n)
{

	s->pos += n;
	s->off += n;
}

uint64_t
cl_src_off(const struct cl_src *s)
{

	return (s->off);
}

const char *
cl_src_name(const struct cl_src *s)
{

	return (s->name);
}

int
cl_src_descriptor(const struct cl_src *s)
{
	const struct fd *f = s->ctx;

	return (s->ops == &fd_ops && !f->placed ? f->fd : -1);
}

uint64_t
cl_src_wait_ns(const struct cl_src *s)
{

	while (s->lower != NULL)
		s = s->lower;
	return (s->wait_ns);
}

void
cl_src_stack(struct cl_src *upper, struct cl_src *lower)
{

	upper->lower = lower;
}

const void *
cl_src_ctx(const struct cl_src *s)
{

	return (s->ctx);
}

void
cl_src_close(struct cl_src *s)
{

	if (s == NULL)
		return;
	s->ops->close(s->ctx);
	free(s->buf);
	free(s->name);
	free(s);
}
