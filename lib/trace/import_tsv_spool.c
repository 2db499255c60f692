/*
 * Text that has to wait, since what comes after it decides what is written
 * first.  It waits compressed, so that a dump of gigabytes takes a fraction
 * of them.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/src.h"
#include "cl/zio.h"
#include "import_tsv_int.h"

#define LEVEL	1			/* the fastest */

struct tsv_spool {
	struct cl_buf	 bytes;
	size_t		 pos;		/* read so far */
	struct cl_dst	*memory;
	struct cl_dst	*zio;
};

static int
spool_write(void *ctx, const void *p, size_t n, struct cl_err *err)
{
	struct tsv_spool *s = ctx;

	cl_buf_bytes(&s->bytes, p, n);
	return (!s->bytes.bad ? CL_OK : cl_fail_nomem(err, "text that is "
	    "held back"));
}

static int
spool_flush(void *ctx, struct cl_err *err)
{

	(void)ctx;
	(void)err;
	return (CL_OK);
}

static int
spool_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct tsv_spool *s = ctx;
	size_t left = s->bytes.n - s->pos;

	(void)err;
	*got = cap < left ? cap : left;
	if (*got > 0)
		memcpy(buf, s->bytes.p + s->pos, *got);
	s->pos += *got;
	return (CL_OK);
}

static void
spool_stays(void *ctx)
{

	(void)ctx;
}

struct tsv_spool *
cl_import_spool_new(struct cl_err *err)
{
	static const struct cl_dst_ops ops = { spool_write, spool_flush,
	    spool_flush, spool_stays };
	struct tsv_spool *s;

	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "text that is held back");
		return (NULL);
	}
	cl_buf_init(&s->bytes);
	if ((s->memory = cl_dst_new(&ops, s, err)) == NULL ||
	    (s->zio = cl_zio_writer(s->memory, LEVEL, err)) == NULL) {
		cl_import_spool_free(s);
		return (NULL);
	}
	return (s);
}

void
cl_import_spool_line(struct tsv_spool *s, const char *p, size_t n)
{

	cl_dst_write(s->zio, p, n);
	cl_dst_write(s->zio, "\n", 1);
}

int
cl_import_spool_read(struct tsv_spool *s, const char *name,
    struct cl_src **src, struct cl_err *err)
{
	static const struct cl_src_ops ops = { spool_read, spool_stays };
	struct cl_src *raw;
	int status;

	if ((status = cl_dst_finish(s->zio, err)) != CL_OK)
		return (status);
	if ((raw = cl_src_new(&ops, s, name, err)) == NULL ||
	    (*src = cl_zio_reader(raw, err)) == NULL)
		return (CL_ENOMEM);
	return (CL_OK);
}

void
cl_import_spool_free(struct tsv_spool *s)
{

	if (s == NULL)
		return;
	cl_dst_free(s->zio);
	cl_dst_free(s->memory);
	cl_buf_free(&s->bytes);
	free(s);
}
