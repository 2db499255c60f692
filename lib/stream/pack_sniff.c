/*
 * Is this an archive, and of which kind?  Magic numbers tell, but for zstd,
 * which traces are in as well: a copy of the first bytes is decoded until they
 * can or cannot be the header of a tar.  A recorder on a pipe gives its bytes
 * when it has them, so that no more are asked for than decide it.
 */

#include <stdbool.h>
#include <string.h>

#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/zio.h"
#include "pack_int.h"

#define MAGIC		6		/* bytes: the longest of those below */
#define SNIFF_MAX	(256u << 10)	/* more than a whole block of zstd */

/* The header of a tar: numbers in octal, and the sum of its bytes. */
#define HEADER		512
#define NUMBERS		100		/* mode, uid, gid, size, time, sum */
#define NUMBERS_END	156
#define SUM		148
#define SUM_BYTES	8

enum { NO, YES, MORE };

struct memory {
	const uint8_t	*p;
	size_t		 n;
};

static int
memory_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct memory *m = ctx;

	(void)err;
	*got = cap < m->n ? cap : m->n;
	memcpy(buf, m->p, *got);
	m->p += *got;
	m->n -= *got;
	return (CL_OK);
}

static void
memory_close(void *ctx)
{

	(void)ctx;
}

/* Where the number fields of a header begin; the first byte may say binary. */
static bool
begins_number(size_t i)
{

	return (i == 108 || i == 116 || i == 124 || i == 136);
}

/* Can these first n bytes be those of a tar header? */
static int
tar_header(const uint8_t *p, size_t n)
{
	uint64_t sum = 0, told = 0;
	size_t i;

	for (i = NUMBERS; i < n && i < NUMBERS_END; i++) {
		if (begins_number(i) && (p[i] & 0x80) != 0)
			i += i < 124 ? 7 : 11;
		else if (p[i] != '\0' && p[i] != ' ' &&
		    (p[i] < '0' || p[i] > '7'))
			return (NO);
	}
	if (n < HEADER)
		return (MORE);
	for (i = 0; i < HEADER; i++)
		sum += i >= SUM && i < SUM + SUM_BYTES ? ' ' : p[i];
	for (i = SUM; i < SUM + SUM_BYTES && p[i] == ' '; i++)
		continue;
	for (; i < SUM + SUM_BYTES && p[i] >= '0' && p[i] <= '7'; i++)
		told = told * 8 + (uint64_t)(p[i] - '0');
	return (p[0] != '\0' && sum == told ? YES : NO);
}

/* The same of what n bytes of zstd data decode to. */
static int
zstd_header(const uint8_t *p, size_t n)
{
	static const struct cl_src_ops ops = { memory_read, memory_close };
	struct memory m = { p, n };
	struct cl_err none = { 0 };
	struct cl_src *src;
	const uint8_t *bytes;
	size_t nbytes = 0;
	int found = MORE;

	if ((src = cl_src_new(&ops, &m, "", &none)) == NULL ||
	    (src = cl_zio_reader(src, &none)) == NULL)
		return (NO);
	/* it fails where the copy ends; what it gave until then counts */
	if (cl_src_peek(src, HEADER, &bytes, &nbytes, &none) == CL_OK ||
	    cl_src_peek(src, 1, &bytes, &nbytes, NULL) == CL_OK)
		found = tar_header(bytes, nbytes);
	cl_src_close(src);
	return (found == MORE && none.code != CL_ECUT ? NO : found);
}

static int
sniff_zstd(struct cl_src *src, size_t *n, struct cl_err *err)
{
	const uint8_t *p;
	size_t want = *n;
	int status, found;

	do {
		if ((status = cl_src_peek(src, want, &p, n, err)) != CL_OK)
			return (status);
		found = zstd_header(p, *n);
		if (*n < want)			/* the input ends */
			break;
		want = *n + 1;
	} while (found == MORE && want < SNIFF_MAX);
	return (found == YES ? PACK_ZSTD : PACK_NONE);
}

int
cl_pack_sniff(struct cl_src *src, size_t *n, struct cl_err *err)
{
	static const struct {
		enum pack_kind kind;
		size_t n;
		const char *bytes;
	} magic[] = {
		{ PACK_ZIP, 4, "PK\x03\x04" },
		{ PACK_ZIP, 4, "PK\x05\x06" },	/* one without a member */
		{ PACK_7Z, 6, "7z\xbc\xaf\x27\x1c" },
		{ PACK_TAR, 3, "\x1f\x8b\x08" },	/* in gzip */
		{ PACK_TAR, 3, "BZh" },			/* in bzip2 */
		{ PACK_TAR, 6, "\xfd" "7zXZ" },		/* in xz */
	};
	const uint8_t *p;
	size_t i;
	int status;

	if ((status = cl_src_peek(src, MAGIC, &p, n, err)) != CL_OK)
		return (status);
	for (i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
		if (*n >= magic[i].n &&
		    memcmp(p, magic[i].bytes, magic[i].n) == 0)
			return ((int)magic[i].kind);
	if ((status = cl_zio_probe(src, err)) < 0)
		return (status);
	if (status == 1)
		return (sniff_zstd(src, n, err));
	if ((status = cl_src_peek(src, HEADER, &p, n, err)) != CL_OK)
		return (status);
	return (tar_header(p, *n) == YES ? PACK_TAR : PACK_NONE);
}

int
cl_pack_probe(struct cl_src *src, struct cl_err *err)
{
	size_t n;
	int kind = cl_pack_sniff(src, &n, err);

	return (kind < 0 ? kind : kind != PACK_NONE);
}
