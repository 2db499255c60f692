#ifndef MEMIO_H
#define MEMIO_H

/*
 * A sink that keeps what it is given, and a source over bytes at hand, called
 * "mem", that gives them out in small pieces, so that short reads are the rule.
 * For unit tests and fuzz targets.
 */

#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/src.h"

struct mem_src {
	const uint8_t	*p;
	size_t		 left;
	size_t		 piece;
};

static inline int
mem_read(void *ctx, void *to, size_t cap, size_t *got, struct cl_err *err)
{
	struct mem_src *m = ctx;
	size_t n = m->left < m->piece ? m->left : m->piece;

	(void)err;
	if (n > cap)
		n = cap;
	if (n > 0)
		memcpy(to, m->p, n);
	m->p += n;
	m->left -= n;
	*got = n;
	return (CL_OK);
}

static const struct cl_src_ops mem_src_ops = { mem_read, free };

/* The n bytes at p, which must outlive the source; piece > 0. */
static inline struct cl_src *
mem_src(const void *p, size_t n, size_t piece)
{
	struct mem_src *m = malloc(sizeof(*m));
	struct cl_src *src;

	assert(m != NULL);
	*m = (struct mem_src){ p, n, piece };
	src = cl_src_new(&mem_src_ops, m, "mem", NULL);
	assert(src != NULL);
	return (src);
}

static inline int
mem_write(void *ctx, const void *p, size_t n, struct cl_err *err)
{

	(void)err;
	cl_buf_bytes(ctx, p, n);
	return (CL_OK);
}

static inline int
mem_done(void *ctx, struct cl_err *err)
{

	(void)ctx;
	(void)err;
	return (CL_OK);
}

static inline void
mem_keep(void *ctx)
{

	(void)ctx;
}

static const struct cl_dst_ops mem_dst_ops = { mem_write, mem_done, mem_done,
    mem_keep };

/* Appends to buf, which stays the caller's. */
static inline struct cl_dst *
mem_dst(struct cl_buf *buf)
{
	struct cl_dst *dst = cl_dst_new(&mem_dst_ops, buf, NULL);

	assert(dst != NULL);
	return (dst);
}

/* What buf holds as a string, which is buf's. */
static inline const char *
mem_text(struct cl_buf *buf)
{
	uint8_t *end = cl_buf_room(buf, 1);

	assert(end != NULL);
	*end = '\0';
	buf->n--;
	return ((const char *)buf->p);
}

#endif /* MEMIO_H */
