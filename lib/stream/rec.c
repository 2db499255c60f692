/*
 * Framing.  The checksum covers the first eight bytes of the record and its
 * payload, so a damaged length is found out, too; it is compared only after
 * the length was held against its limit.
 */

#include <string.h>

#include "cl/buf.h"
#include "cl/crc.h"
#include "cl/cur.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/src.h"

#define MAGIC_BYTES	4
#define PREAMBLE	8
#define SUMMED		8		/* bytes of the header under the sum */
#define FIRST_PEEK	(1u << 20)	/* larger ones are peeked by doubling */

static const struct kind {
	char		 magic[MAGIC_BYTES + 1];
	uint16_t	 version;
	const char	*name;
} kinds[] = {
	[CL_REC_TRACE] = { "CLT\x1a", 1, "a router trace" },
	[CL_REC_STATS] = { "CLS\x1a", 1, "a stat stream" },
};

#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* What else the input might be; NULL where nothing comes to mind. */
static const char *
recognise(const uint8_t *p)
{
	static const struct {
		const char *magic, *name;
	} other[] = {
		{ "\x28\xb5\x2f\xfd", "zstd data, as traces are" },
		{ "GGUF", "a GGUF model" },
		{ "PK\x03\x04", "a zip archive" },
		{ "7z\xbc\xaf", "a 7z archive" },
	};
	size_t i;

	for (i = 0; i < NKINDS; i++)
		if (memcmp(p, kinds[i].magic, MAGIC_BYTES) == 0)
			return (kinds[i].name);
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (memcmp(p, other[i].magic, MAGIC_BYTES) == 0)
			return (other[i].name);
	return (NULL);
}

static int
wrong_kind(struct cl_src *src, const struct kind *k, const uint8_t *p,
    size_t n, struct cl_err *err)
{
	const char *found = n < MAGIC_BYTES ? NULL : recognise(p);

	if (n < MAGIC_BYTES && memcmp(p, k->magic, n) == 0)
		return (cl_fail(err, CL_ECUT, "%s: ends at byte %llu, inside "
		    "its preamble", cl_src_name(src),
		    (unsigned long long)cl_src_off(src) + n));
	if (found != NULL)
		return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: %s is wanted "
		    "here, and this is %s", cl_src_name(src),
		    (unsigned long long)cl_src_off(src), k->name, found));
	return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: not %s",
	    cl_src_name(src), (unsigned long long)cl_src_off(src), k->name));
}

int
cl_rec_open(struct cl_src *src, enum cl_rec_kind kind, struct cl_err *err)
{
	const struct kind *k = &kinds[kind];
	const uint8_t *p;
	struct cl_cur c;
	uint16_t version;
	size_t n;
	int status;

	if ((status = cl_src_peek(src, PREAMBLE, &p, &n, err)) != CL_OK)
		return (status);
	if (n == 0)
		return (CL_END);
	if (n < MAGIC_BYTES || memcmp(p, k->magic, MAGIC_BYTES) != 0)
		return (wrong_kind(src, k, p, n, err));
	if (n < PREAMBLE)
		return (wrong_kind(src, k, p, MAGIC_BYTES - 1, err));
	cl_cur_init(&c, p + MAGIC_BYTES, PREAMBLE - MAGIC_BYTES);
	version = cl_cur_u16(&c);
	if (version != k->version)
		return (cl_fail(err, CL_ENOTSUP, "%s: %s of version %u; this "
		    "program reads version %u", cl_src_name(src), k->name,
		    version, k->version));
	if (cl_cur_u16(&c) != 0)
		return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: reserved "
		    "bytes of the preamble are not 0", cl_src_name(src),
		    (unsigned long long)cl_src_off(src) + 6));
	cl_src_consume(src, PREAMBLE);
	return (CL_OK);
}

static int
cut(struct cl_src *src, size_t n, struct cl_err *err)
{

	return (cl_fail(err, CL_ECUT, "%s: ends at byte %llu, before its "
	    "trailer", cl_src_name(src),
	    (unsigned long long)cl_src_off(src) + n));
}

/*
 * All of a record of total bytes at *p.  The length is not believed before
 * its bytes are there: what is asked for at most doubles what has arrived.
 */
static int
peek_whole(struct cl_src *src, size_t total, const uint8_t **p,
    struct cl_err *err)
{
	size_t n, want = total < FIRST_PEEK ? total : FIRST_PEEK;
	int status;

	for (;;) {
		if ((status = cl_src_peek(src, want, p, &n, err)) != CL_OK)
			return (status);
		if (n >= total)
			return (CL_OK);
		if (n < want)
			return (cut(src, n, err));
		want = total / 2 < want ? total : 2 * want;
	}
}

int
cl_rec_next(struct cl_src *src, struct cl_rec *rec, struct cl_err *err)
{
	const uint8_t *p;
	struct cl_cur c;
	uint32_t len, sum, reserved;
	size_t n;
	int status;

	rec->off = cl_src_off(src);
	if ((status = cl_src_peek(src, CL_REC_HEAD, &p, &n, err)) != CL_OK)
		return (status);
	if (n < CL_REC_HEAD)
		return (cut(src, n, err));
	cl_cur_init(&c, p, CL_REC_HEAD);
	rec->type = cl_cur_u16(&c);
	reserved = cl_cur_u16(&c);
	len = cl_cur_u32(&c);
	sum = cl_cur_u32(&c);
	if (reserved != 0 || len > CL_REC_LEN_MAX)
		return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: no record "
		    "header (length %u, at most %u)", cl_src_name(src),
		    (unsigned long long)rec->off, len, CL_REC_LEN_MAX));
	if ((status = peek_whole(src, CL_REC_HEAD + (size_t)len, &p,
	    err)) != CL_OK)
		return (status);
	rec->data = p + CL_REC_HEAD;
	rec->len = len;
	if (cl_crc_add(cl_crc_add(0, p, SUMMED), rec->data, len) != sum)
		return (cl_fail(err, CL_EFORMAT, "%s: byte %llu: the checksum "
		    "of a record of type %u does not match its bytes",
		    cl_src_name(src), (unsigned long long)rec->off,
		    rec->type));
	cl_src_consume(src, CL_REC_HEAD + (size_t)len);
	return (CL_OK);
}

void
cl_rec_preamble(struct cl_dst *dst, enum cl_rec_kind kind)
{
	uint8_t p[PREAMBLE] = { 0 };

	memcpy(p, kinds[kind].magic, MAGIC_BYTES);
	p[4] = (uint8_t)kinds[kind].version;
	p[5] = (uint8_t)(kinds[kind].version >> 8);
	cl_dst_write(dst, p, sizeof(p));
}

int
cl_rec_put(struct cl_dst *dst, uint16_t type, const struct cl_buf *payload,
    struct cl_err *err)
{
	struct cl_buf head;
	uint8_t *p;

	if (payload->bad)
		return (cl_fail(err, CL_ENOMEM, "a record of type %u cannot "
		    "be built: out of memory, or a string above 65535 bytes",
		    type));
	if (payload->n > CL_REC_LEN_MAX)
		return (cl_fail(err, CL_EINVAL, "a record of type %u is of "
		    "%zu bytes, at most %u", type, payload->n,
		    CL_REC_LEN_MAX));
	if ((p = cl_dst_reserve(dst, CL_REC_HEAD)) == NULL)
		return (cl_dst_flush(dst, err));
	head = (struct cl_buf){ .p = p, .cap = CL_REC_HEAD };
	cl_buf_u16(&head, type);
	cl_buf_u16(&head, 0);
	cl_buf_u32(&head, (uint32_t)payload->n);
	cl_buf_u32(&head, cl_crc_add(cl_crc_add(0, p, SUMMED), payload->p,
	    payload->n));
	cl_dst_commit(dst, CL_REC_HEAD);
	cl_dst_write(dst, payload->p, payload->n);
	return (CL_OK);
}
