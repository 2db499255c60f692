#ifndef CL_ZIO_H
#define CL_ZIO_H

/*
 * zstd (RFC 8878) as a source on a source and a sink on a sink.  The only
 * place that knows zstd.h.  Any number of frames one after another is one
 * stream; what follows the last frame and is no frame is an error, and so is
 * input that ends inside one.  Memory is bounded by the window limit.
 */

#include <stdbool.h>

struct cl_dst;
struct cl_err;
struct cl_src;

#define CL_ZIO_WINDOW_LOG_MAX	27	/* 128 MiB, zstd's own default limit */

/* Does the input begin as a zstd or skippable frame does?  1, 0 or CL_E*. */
int	cl_zio_probe(struct cl_src *, struct cl_err *);

/* The decoded bytes of src, which is closed with it. */
struct cl_src	*cl_zio_reader(struct cl_src *, struct cl_err *);

/*
 * Do all bytes that such a source has decoded so far belong to frames that
 * ended well?  Looking for the byte after the last one finds out.
 */
bool	cl_zio_settled(const struct cl_src *);

/*
 * Encodes into dst, which it borrows.  One frame with a checksum; a flush makes
 * all bytes so far decodable; finish ends the frame and flushes dst, which may
 * then take another one.
 */
struct cl_dst	*cl_zio_writer(struct cl_dst *, int level, struct cl_err *);

#endif /* CL_ZIO_H */
