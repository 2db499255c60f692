/*
 * One buffer in front of whoever takes the bytes.  The sticky error record
 * lets renderers print without looking at each call; finish looks for them.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/vec.h"

#define DST_BUF	(64 * 1024)		/* handed down once this much waits */
#define TEMP_TRIES	100		/* names tried for a temporary file */
#define TEMP_SUFFIX_MAX	48		/* ".", a process, "-", a try, ".tmp" */

struct cl_dst {
	const struct cl_dst_ops *ops;
	void		*ctx;
	uint8_t		*buf;
	size_t		 cap;
	size_t		 n;
	struct cl_err	 err;
};

/* A descriptor, and for a file the two names it has in its life. */
struct fd {
	int	 fd;
	char	*name;
	char	*temp;			/* NULL: the descriptor is borrowed */
	bool	 replace;
};

static int
fd_write(void *ctx, const void *data, size_t n, struct cl_err *err)
{
	struct fd *f = ctx;
	const char *p = data;
	ssize_t put;

	while (n > 0) {
		put = write(f->fd, p, n);
		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1)
			return (cl_fail_errno(err, "%s: cannot write",
			    f->name));
		p += put;
		n -= (size_t)put;
	}
	return (CL_OK);
}

static int
fd_flush(void *ctx, struct cl_err *err)
{

	(void)ctx;
	(void)err;
	return (CL_OK);
}

/*
 * A new name is made with link(), which never replaces a file that somebody
 * else made meanwhile; rename() replaces it where that was asked for.
 */
static int
file_finish(void *ctx, struct cl_err *err)
{
	struct fd *f = ctx;
	int fd = f->fd;

	f->fd = -1;
	if (close(fd) == -1)
		return (cl_fail_errno(err, "%s: cannot write", f->name));
	if (!f->replace && link(f->temp, f->name) == 0) {
		(void)unlink(f->temp);
	} else if (!f->replace && errno == EEXIST) {
		return (cl_fail_errno(err, "%s: will not be replaced",
		    f->name));
	} else if (rename(f->temp, f->name) == -1) {
		return (cl_fail_errno(err, "%s: cannot rename %s to it",
		    f->name, f->temp));
	}
	free(f->temp);
	f->temp = NULL;
	return (CL_OK);
}

static void
fd_free(void *ctx)
{
	struct fd *f = ctx;

	free(f->name);
	free(f);
}

static void
file_free(void *ctx)
{
	struct fd *f = ctx;

	if (f->fd != -1)
		(void)close(f->fd);
	if (f->temp != NULL)
		(void)unlink(f->temp);
	free(f->temp);
	fd_free(f);
}

/* A device may tell only now that it did not take what it was given. */
static int
special_finish(void *ctx, struct cl_err *err)
{
	struct fd *f = ctx;
	int fd = f->fd;

	f->fd = -1;
	return (close(fd) == -1 ? cl_fail_errno(err, "%s: cannot write",
	    f->name) : CL_OK);
}

static const struct cl_dst_ops fd_ops = { fd_write, fd_flush, fd_flush,
    fd_free };
static const struct cl_dst_ops file_ops = { fd_write, fd_flush, file_finish,
    file_free };
static const struct cl_dst_ops special_ops = { fd_write, fd_flush,
    special_finish, file_free };

struct cl_dst *
cl_dst_new(const struct cl_dst_ops *ops, void *ctx, struct cl_err *err)
{
	struct cl_dst *d;

	if ((d = calloc(1, sizeof(*d))) == NULL ||
	    cl_vec_grow(&d->buf, &d->cap, DST_BUF, 1, err) != 0) {
		cl_fail_nomem(err, "an output stream");
		free(d);
		ops->free(ctx);
		return (NULL);
	}
	d->ops = ops;
	d->ctx = ctx;
	return (d);
}

static struct fd *
fd_new(int fd, const char *name, struct cl_err *err)
{
	struct fd *f;

	if ((f = calloc(1, sizeof(*f))) == NULL ||
	    (f->name = cl_vec_strndup(name, strlen(name), err)) == NULL) {
		cl_fail_nomem(err, "an output stream");
		free(f);
		return (NULL);
	}
	f->fd = fd;
	return (f);
}

struct cl_dst *
cl_dst_fd(int fd, const char *name, struct cl_err *err)
{
	struct fd *f = fd_new(fd, name, err);

	return (f == NULL ? NULL : cl_dst_new(&fd_ops, f, err));
}

/*
 * A new file beside the one it will become.  Not mkstemp(): that makes files
 * nobody else may read, and what umask allows cannot be asked without setting
 * it for the whole process.
 */
static int
open_temp(struct fd *f, struct cl_err *err)
{
	size_t cap = strlen(f->name) + TEMP_SUFFIX_MAX;
	unsigned i;

	if ((f->temp = malloc(cap)) == NULL)
		return (cl_fail_nomem(err, "a file name"));
	for (i = 0; i < TEMP_TRIES; i++) {
		(void)snprintf(f->temp, cap, "%s.%ld-%u.tmp", f->name,
		    (long)getpid(), i);
		f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0666);
		if (f->fd != -1)
			return (CL_OK);
		if (errno != EEXIST)
			break;
	}
	(void)cl_fail_errno(err, "%s: cannot make a file beside it", f->name);
	free(f->temp);
	f->temp = NULL;
	return (CL_EIO);
}

/* What is there and is no regular file, opened to be written to. */
static struct cl_dst *
open_special(const char *path, struct cl_err *err)
{
	struct fd *f = fd_new(-1, path, err);

	if (f == NULL)
		return (NULL);
	if ((f->fd = open(path, O_WRONLY | O_CLOEXEC)) == -1) {
		cl_fail_errno(err, "%s: cannot open", path);
		fd_free(f);
		return (NULL);
	}
	return (cl_dst_new(&special_ops, f, err));
}

struct cl_dst *
cl_dst_file(const char *path, bool replace, struct cl_err *err)
{
	struct stat st;
	struct fd *f;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return (open_special(path, err));
	if (!replace && access(path, F_OK) == 0) {
		cl_fail(err, CL_EINVAL, "%s: exists and will not be replaced",
		    path);
		return (NULL);
	}
	if ((f = fd_new(-1, path, err)) == NULL)
		return (NULL);
	f->replace = replace;
	if (open_temp(f, err) != CL_OK) {
		file_free(f);
		return (NULL);
	}
	return (cl_dst_new(&file_ops, f, err));
}

const char *
cl_dst_temp(const struct cl_dst *d)
{
	const struct fd *f = d->ctx;

	return (d->ops == &file_ops ? f->temp : NULL);
}

static void
hand_down(struct cl_dst *d)
{

	if (d->n > 0 && d->err.code == CL_OK)
		(void)d->ops->write(d->ctx, d->buf, d->n, &d->err);
	d->n = 0;
}

uint8_t *
cl_dst_reserve(struct cl_dst *d, size_t n)
{

	if (n > d->cap - d->n)
		hand_down(d);
	if (d->err.code != CL_OK ||
	    cl_vec_grow(&d->buf, &d->cap, n, 1, &d->err) != CL_OK)
		return (NULL);
	return (d->buf + d->n);
}

void
cl_dst_commit(struct cl_dst *d, size_t n)
{

	d->n += n;
}

void
cl_dst_write(struct cl_dst *d, const void *data, size_t n)
{
	uint8_t *p;

	if (n >= DST_BUF) {
		hand_down(d);
		if (d->err.code == CL_OK)
			(void)d->ops->write(d->ctx, data, n, &d->err);
	} else if ((p = cl_dst_reserve(d, n)) != NULL) {
		if (n > 0)
			memcpy(p, data, n);
		cl_dst_commit(d, n);
	}
}

void
cl_dst_printf(struct cl_dst *d, const char *fmt, ...)
{
	uint8_t *p;
	size_t room = 256;
	int n, i;
	va_list ap;

	for (i = 0; i < 2; i++) {
		if ((p = cl_dst_reserve(d, room)) == NULL)
			return;
		va_start(ap, fmt);
		n = vsnprintf((char *)p, room, fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < room) {
			cl_dst_commit(d, (size_t)n);
			return;
		}
		room = n < 0 ? room : (size_t)n + 1;
	}
	(void)cl_fail(&d->err, CL_EINVAL, "text that cannot be formatted");
}

static int
give(struct cl_dst *d, int (*op)(void *, struct cl_err *), struct cl_err *err)
{

	hand_down(d);
	if (d->err.code == CL_OK)
		(void)op(d->ctx, &d->err);
	if (d->err.code == CL_OK)
		return (CL_OK);
	return (cl_fail(err, d->err.code, "%s", d->err.msg));
}

int
cl_dst_flush(struct cl_dst *d, struct cl_err *err)
{

	return (give(d, d->ops->flush, err));
}

int
cl_dst_finish(struct cl_dst *d, struct cl_err *err)
{

	return (give(d, d->ops->finish, err));
}

void
cl_dst_free(struct cl_dst *d)
{

	if (d == NULL)
		return;
	d->ops->free(d->ctx);
	free(d->buf);
	free(d);
}
