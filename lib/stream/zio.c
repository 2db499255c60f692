/*
 * Streaming zstd.  The decoder asks for input only when it has none left and
 * remembers whether a frame is open: input may end only between frames.  It
 * is given what it asks for, a block at a time, since a call that finds damage
 * loses all that it decoded: so what stood before the damage is delivered.
 */

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/src.h"
#include "cl/zio.h"

#define SKIPPABLE	0x184d2a50u	/* and the 15 numbers after it */
#define MAGIC_BYTES	4
#define FRAME_START	5		/* what a decoder asks for first */

struct reader {
	struct cl_src	*lower;
	ZSTD_DCtx	*ctx;
	bool		 open;		/* inside a frame */
	bool		 seen;		/* at least one frame begun */
	bool		 owing;		/* bytes given of an open frame */
	size_t		 want;		/* bytes that the decoder asks for */
};

struct writer {
	struct cl_dst	*lower;		/* borrowed */
	ZSTD_CCtx	*ctx;
};

static bool
is_magic(const uint8_t *p)
{
	uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
	    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return (v == ZSTD_MAGICNUMBER || (v & ~15u) == SKIPPABLE);
}

int
cl_zio_probe(struct cl_src *src, struct cl_err *err)
{
	const uint8_t *p;
	size_t n;
	int status;

	if ((status = cl_src_peek(src, MAGIC_BYTES, &p, &n, err)) != CL_OK)
		return (status);
	return (n >= MAGIC_BYTES && is_magic(p));
}

/* Between frames: is this the end, or does another frame begin? */
static int
between(struct reader *r, const uint8_t *p, size_t n, struct cl_err *err)
{

	if (n >= MAGIC_BYTES && is_magic(p)) {
		r->open = r->seen = true;
		return (CL_OK);
	}
	if (n == 0 && r->seen)
		return (CL_END);
	if (n == 0)
		return (cl_fail(err, CL_ECUT, "%s: empty input",
		    cl_src_name(r->lower)));
	if (!r->seen)
		return (cl_fail(err, CL_EFORMAT, "%s: not zstd data",
		    cl_src_name(r->lower)));
	return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: what follows the "
	    "zstd data is no zstd frame", cl_src_name(r->lower),
	    (unsigned long long)cl_src_off(r->lower)));
}

static int
decode_error(struct reader *r, size_t code, struct cl_err *err)
{
	const char *name = ZSTD_getErrorName(code);

	if (strstr(name, "memory") != NULL)
		return (cl_fail(err, CL_ENOTSUP, "%s: the zstd frame needs a "
		    "window above 2^%d bytes; compress it again without "
		    "--long above %d", cl_src_name(r->lower),
		    CL_ZIO_WINDOW_LOG_MAX, CL_ZIO_WINDOW_LOG_MAX));
	return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: damaged zstd data: "
	    "%s", cl_src_name(r->lower),
	    (unsigned long long)cl_src_off(r->lower), name));
}

static int
reader_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct reader *r = ctx;
	ZSTD_outBuffer out = { buf, cap, 0 };
	ZSTD_inBuffer in;
	const uint8_t *p;
	size_t n, left;
	int status;

	while (out.pos == 0) {
		status = cl_src_peek(r->lower, r->open ? 1 : MAGIC_BYTES, &p,
		    &n, err);
		if (status != CL_OK)
			return (status);
		if (!r->open && (status = between(r, p, n, err)) != CL_OK)
			break;
		in = (ZSTD_inBuffer){ p, n < r->want ? n : r->want, 0 };
		left = ZSTD_decompressStream(r->ctx, &out, &in);
		if (ZSTD_isError(left))
			return (decode_error(r, left, err));
		cl_src_consume(r->lower, in.pos);
		r->open = left != 0;
		r->want = r->open ? left : FRAME_START;
		r->owing = r->open && (r->owing || out.pos > 0);
		if (n == 0 && out.pos == 0 && r->open)
			return (cl_fail(err, CL_ECUT, "%s: the zstd data ends "
			    "inside a frame", cl_src_name(r->lower)));
	}
	*got = out.pos;
	return (out.pos > 0 || status == CL_END ? CL_OK : status);
}

static void
reader_close(void *ctx)
{
	struct reader *r = ctx;

	cl_src_close(r->lower);
	(void)ZSTD_freeDCtx(r->ctx);
	free(r);
}

static const struct cl_src_ops reader_ops = { reader_read, reader_close };

struct cl_src *
cl_zio_reader(struct cl_src *lower, struct cl_err *err)
{
	struct cl_src *s;
	struct reader *r;

	if ((r = calloc(1, sizeof(*r))) == NULL ||
	    (r->ctx = ZSTD_createDCtx()) == NULL) {
		cl_fail_nomem(err, "the zstd decoder");
		free(r);
		cl_src_close(lower);
		return (NULL);
	}
	(void)ZSTD_DCtx_setParameter(r->ctx, ZSTD_d_windowLogMax,
	    CL_ZIO_WINDOW_LOG_MAX);
	r->lower = lower;
	r->want = FRAME_START;
	if ((s = cl_src_new(&reader_ops, r, cl_src_name(lower), err)) != NULL)
		cl_src_stack(s, lower);
	return (s);
}

bool
cl_zio_settled(const struct cl_src *s)
{
	const struct reader *r = cl_src_ctx(s);

	return (!r->owing);
}

static int
encode(struct writer *w, const void *data, size_t n, ZSTD_EndDirective mode,
    struct cl_err *err)
{
	ZSTD_inBuffer in = { data, n, 0 };
	ZSTD_outBuffer out;
	size_t left;

	do {
		out.size = ZSTD_CStreamOutSize();
		out.pos = 0;
		if ((out.dst = cl_dst_reserve(w->lower, out.size)) == NULL)
			return (cl_dst_flush(w->lower, err));
		left = ZSTD_compressStream2(w->ctx, &out, &in, mode);
		if (ZSTD_isError(left))
			return (cl_fail(err, CL_EIO, "zstd: %s",
			    ZSTD_getErrorName(left)));
		cl_dst_commit(w->lower, out.pos);
	} while (in.pos < in.size || (mode != ZSTD_e_continue && left > 0));
	return (CL_OK);
}

static int
writer_write(void *ctx, const void *data, size_t n, struct cl_err *err)
{

	return (encode(ctx, data, n, ZSTD_e_continue, err));
}

static int
writer_flush(void *ctx, struct cl_err *err)
{
	struct writer *w = ctx;
	int status;

	if ((status = encode(w, NULL, 0, ZSTD_e_flush, err)) != CL_OK)
		return (status);
	return (cl_dst_flush(w->lower, err));
}

static int
writer_finish(void *ctx, struct cl_err *err)
{
	struct writer *w = ctx;
	int status;

	if ((status = encode(w, NULL, 0, ZSTD_e_end, err)) != CL_OK)
		return (status);
	return (cl_dst_flush(w->lower, err));
}

static void
writer_free(void *ctx)
{
	struct writer *w = ctx;

	(void)ZSTD_freeCCtx(w->ctx);
	free(w);
}

static const struct cl_dst_ops writer_ops = { writer_write, writer_flush,
    writer_finish, writer_free };

struct cl_dst *
cl_zio_writer(struct cl_dst *lower, int level, struct cl_err *err)
{
	struct writer *w;

	if ((w = calloc(1, sizeof(*w))) == NULL ||
	    (w->ctx = ZSTD_createCCtx()) == NULL) {
		cl_fail_nomem(err, "the zstd encoder");
		free(w);
		return (NULL);
	}
	(void)ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_compressionLevel, level);
	(void)ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_checksumFlag, 1);
	w->lower = lower;
	return (cl_dst_new(&writer_ops, w, err));
}
