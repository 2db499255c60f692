#ifndef CL_DST_H
#define CL_DST_H

/*
 * A sink of bytes: a file descriptor, a file that appears whole or not at all,
 * or an encoder stacked on one.  Writers reserve and commit, or print; nothing
 * is ever written back into.  A sink is used by one thread.  The first failure
 * sticks: later calls do nothing, and finish reports it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_dst;

struct cl_dst_ops {
	int	(*write)(void *ctx, const void *, size_t, struct cl_err *);
	int	(*flush)(void *ctx, struct cl_err *);	/* hand on downwards */
	int	(*finish)(void *ctx, struct cl_err *);	/* the end, whole */
	void	(*free)(void *ctx);	/* also undoes what was not finished */
};

/* A sink over ctx, which it owns from now on, also where this fails. */
struct cl_dst	*cl_dst_new(const struct cl_dst_ops *, void *ctx,
		    struct cl_err *);

/* A sink over an open descriptor, which stays the caller's to close. */
struct cl_dst	*cl_dst_fd(int fd, const char *name, struct cl_err *);

/*
 * A sink to a file written beside path and renamed to it by finish; freed
 * without finish, it leaves nothing.  An existing file is refused but with
 * replace.  What is no regular file, such as a FIFO or a device, cannot be
 * replaced and is written to as it is.
 */
struct cl_dst	*cl_dst_file(const char *path, bool replace, struct cl_err *);

/* The name that such a file has until finish, borrowed; NULL for others. */
const char	*cl_dst_temp(const struct cl_dst *);

/* Room for n bytes, to be filled and committed at once; NULL on failure. */
uint8_t	*cl_dst_reserve(struct cl_dst *, size_t n);
void	 cl_dst_commit(struct cl_dst *, size_t n);

void	cl_dst_write(struct cl_dst *, const void *, size_t);
void	cl_dst_printf(struct cl_dst *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

/* Pass on all that was written, so that a reader gets it now. */
int	cl_dst_flush(struct cl_dst *, struct cl_err *);

/* CL_OK once everything is where it belongs; call it once, then free. */
int	cl_dst_finish(struct cl_dst *, struct cl_err *);

void	cl_dst_free(struct cl_dst *);		/* NULL is legal */

#endif /* CL_DST_H */
