#ifndef CL_SRC_H
#define CL_SRC_H

/*
 * stream/: bytes in and out, compressed or framed; knows no trace.
 *
 * A source of bytes: a file descriptor or a decoder stacked on one.  Readers
 * peek and consume, so nobody copies and nobody seeks.  A source is used by
 * one thread.  What peek returns borrows from the source and dies at the next
 * call on it.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_src;

/* What makes a source: read gives up to cap bytes, *got = 0 only at the end. */
struct cl_src_ops {
	int	(*read)(void *ctx, void *buf, size_t cap, size_t *got,
		    struct cl_err *);
	void	(*close)(void *ctx);
};

/* A source over ctx, which it owns from now on, also where this fails. */
struct cl_src	*cl_src_new(const struct cl_src_ops *, void *ctx,
		    const char *name, struct cl_err *);

/*
 * A source over an open descriptor, which stays the caller's to close.  A read
 * that a signal interrupts goes on, unless *stop is true by then: CL_ECUT.
 * stop may be NULL.
 */
struct cl_src	*cl_src_fd(int fd, const char *name, const atomic_bool *stop,
		    struct cl_err *);

/*
 * The same from off on, whatever else reads the descriptor, which is of a
 * regular file; its place is left alone, and cl_src_descriptor() is -1.
 */
struct cl_src	*cl_src_fd_from(int fd, uint64_t off, const char *name,
		    const atomic_bool *stop, struct cl_err *);

/* The same over a file, which is opened here and closed with the source. */
struct cl_src	*cl_src_file(const char *path, const atomic_bool *stop,
		    struct cl_err *);

/*
 * At least want bytes at *p, *n of them; fewer than want only where the input
 * ends.  want is the caller's own limit, never a number from the input: the
 * buffer grows to it.
 */
int	cl_src_peek(struct cl_src *, size_t want, const uint8_t **p, size_t *n,
	    struct cl_err *);

/* Step over n bytes, at most as many as the last peek returned. */
void	cl_src_consume(struct cl_src *, size_t n);

/* Bytes consumed so far, for messages. */
uint64_t	cl_src_off(const struct cl_src *);

const char	*cl_src_name(const struct cl_src *);

/*
 * The descriptor that it reads, for whoever must seek in a file: bytes that
 * were peeked at are behind its position already.  -1: it reads none.
 */
int	cl_src_descriptor(const struct cl_src *);

/* Nanoseconds spent so far waiting for the descriptor at the bottom. */
uint64_t	cl_src_wait_ns(const struct cl_src *);

/* Closes what it is stacked on as well.  NULL is legal. */
void	cl_src_close(struct cl_src *);

/* For decoders: make the waiting time of upper that of lower. */
void	cl_src_stack(struct cl_src *upper, struct cl_src *lower);

/* For whoever made it: the ctx that it is over. */
const void	*cl_src_ctx(const struct cl_src *);

#endif /* CL_SRC_H */
