/*
 * Hostile archives, by libarchive's writers or made by hand, are refused for
 * what they are, and so is what is none.
 */

#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/zio.h"
#include "memio.h"
#include "pack_make.h"
#include "unit.h"

static void
names_are_only_names(void)
{
	static const char *const wild[] = { "../../x.clt", "/etc/x.clt",
	    "a\nb", "\x1b[2J" };
	struct make m;
	struct seen s;
	size_t i;

	make_begin(&m, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	for (i = 0; i < 4; i++)
		make_member(&m, wild[i], "x");
	make_end(&m);
	read_pipe(&m.bytes, m.bytes.n, &s);
	assert(s.status == CL_END && s.n == 4);
	for (i = 0; i < 4; i++)
		assert(strcmp(s.name[i], wild[i]) == 0);
	forget(&s);
	cl_buf_free(&m.bytes);
}

/* Made, read, and refused for the reason that text tells. */
static void
refused_as(struct make *m, bool file, const char *text)
{
	struct seen s;

	make_end(m);
	if (file)
		read_file(&m->bytes, &s);
	else
		read_pipe(&m->bytes, m->bytes.n, &s);
	assert(s.status < 0);
	if (strstr(s.err.msg, text) == NULL) {
		fprintf(stderr, "not \"%s\": %s\n", text, s.err.msg);
		abort();
	}
	forget(&s);
	cl_buf_free(&m->bytes);
}

static void
twins_are_refused(void)
{
	struct make m;
	struct seen s;
	char name[16];
	unsigned i;

	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	make_member(&m, "a.clt", "one");
	make_member(&m, "b.clt", "two");
	make_member(&m, "a.clt", "two");
	refused_as(&m, false, "mem:a.clt: a second member of that name");
	/* also where the table of names has grown */
	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	for (i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "%u", i % 2999);
		make_put(&m, entry(name, 0), NULL, 0);
	}
	make_end(&m);
	read_src(mem_src(m.bytes.p, m.bytes.n, SIZE_MAX), &s, true);
	assert(s.status == CL_EFORMAT);
	assert(strstr(s.err.msg, "mem:0: a second") != NULL);
	cl_buf_free(&m.bytes);
}

static void
sparse_members_are_refused(void)
{
	static const char zeros[1 << 20];
	struct archive_entry *e;
	struct make m;

	make_begin(&m, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE,
	    ARCHIVE_FILTER_NONE);
	make_open(&m);
	e = entry("x.clt", sizeof(zeros));
	archive_entry_sparse_add_entry(e, 1 << 19, 4);
	make_put(&m, e, zeros, sizeof(zeros));
	refused_as(&m, false, "mem:x.clt: a sparse member");
}

static void
encrypted_members_are_refused(void)
{
	struct make m;

	make_begin(&m, ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE);
	assert(archive_write_set_options(m.a, "zip:encryption=traditional")
	    == ARCHIVE_OK);
	assert(archive_write_set_passphrase(m.a, "secret") == ARCHIVE_OK);
	make_open(&m);
	make_member(&m, "x.clt", "data");
	refused_as(&m, true, "file:x.clt: the member is encrypted");
}

static void
damage_is_refused(void)
{
	struct make m;
	struct seen s;
	size_t i;

	make_begin(&m, ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE);
	assert(archive_write_set_options(m.a, "zip:compression=store") ==
	    ARCHIVE_OK);
	make_open(&m);
	make_member(&m, "x.clt", "0123456789");
	make_end(&m);
	for (i = 0; i + 4 < m.bytes.n; i++)
		if (memcmp(m.bytes.p + i, "0123", 4) == 0)
			break;
	m.bytes.p[i]++;				/* now its CRC is wrong */
	read_file(&m.bytes, &s);
	assert(s.status < 0 && strstr(s.err.msg, "CRC") != NULL);
	forget(&s);
	cl_buf_free(&m.bytes);
	make_three(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	m.bytes.p[BLOCK + 6 * BLOCK]++;		/* the next header's name */
	read_pipe(&m.bytes, m.bytes.n, &s);
	assert(s.status < 0 && s.n == 1);
	forget(&s);
	cl_buf_free(&m.bytes);
}

static void
what_follows_the_end_is_read(void)
{
	struct cl_buf b = { 0 };
	struct make m, o;
	struct seen s;

	make_three(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	cl_buf_bytes(&b, m.bytes.p, m.bytes.n);
	cl_buf_bytes(&b, "garbage", 7);
	read_pipe(&b, b.n, &s);
	assert(s.status < 0);
	forget(&s);
	cl_buf_clear(&b);
	make_begin(&o, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	make_open(&o);
	make_member(&o, "d.clt", "x");
	make_end(&o);
	cl_buf_bytes(&b, m.bytes.p, m.bytes.n);
	cl_buf_bytes(&b, o.bytes.p, o.bytes.n);
	read_pipe(&b, b.n, &s);
	assert(s.status == CL_END && s.n == 4);
	forget(&s);
	cl_buf_free(&b);
	cl_buf_free(&m.bytes);
	cl_buf_free(&o.bytes);
}

static void
nested_filters_are_refused(void)
{
	struct make m;

	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2);
	assert(archive_write_add_filter_gzip(m.a) == ARCHIVE_OK);
	make_open(&m);
	make_member(&m, "a", "one");
	refused_as(&m, false, "compressed more than once");
	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP);
	assert(archive_write_add_filter_zstd(m.a) == ARCHIVE_OK);
	make_open(&m);
	make_member(&m, "a", "one");
	refused_as(&m, false, "not an archive");
}

/* A member of n bytes, all zero. */
static void
make_zeros(struct make *m, uint64_t n)
{
	static char zeros[1 << 20];
	struct archive_entry *e = entry("zeros", 0);

	make_begin(m, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_ZSTD);
	make_open(m);
	archive_entry_set_size(e, (la_int64_t)n);
	assert(archive_write_header(m->a, e) == ARCHIVE_OK);
	archive_entry_free(e);
	for (; n > 0; n -= n < sizeof(zeros) ? n : sizeof(zeros))
		assert(archive_write_data(m->a, zeros, n < sizeof(zeros) ?
		    (size_t)n : sizeof(zeros)) > 0);
}

static void
bombs_are_refused(void)
{
	struct make m;
	struct seen s;

	make_zeros(&m, CL_PACK_EXPAND_FREE - 4 * BLOCK);
	make_end(&m);
	read_src(mem_src(m.bytes.p, m.bytes.n, SIZE_MAX), &s, true);
	assert(s.status == CL_END);
	cl_buf_free(&m.bytes);
	make_zeros(&m, CL_PACK_EXPAND_FREE + 4 * BLOCK);
	make_end(&m);
	read_src(mem_src(m.bytes.p, m.bytes.n, SIZE_MAX), &s, true);
	assert(s.status == CL_ENOTSUP);
	assert(strstr(s.err.msg, "expand") != NULL);
	cl_buf_free(&m.bytes);
}

static void
long_names_are_refused(void)
{
	char name[CL_PACK_NAME_MAX + 2];
	struct make m;
	struct seen s;

	memset(name, 'n', sizeof(name));
	name[CL_PACK_NAME_MAX] = '\0';
	make_begin(&m, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	make_member(&m, name, "x");
	make_end(&m);
	read_pipe(&m.bytes, m.bytes.n, &s);
	assert(s.status == CL_END && s.n == 1);
	forget(&s);
	cl_buf_free(&m.bytes);
	name[CL_PACK_NAME_MAX] = 'n';
	name[CL_PACK_NAME_MAX + 1] = '\0';
	make_begin(&m, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	make_member(&m, name, "x");
	refused_as(&m, false, "4097 bytes");
}

static int
probe(const void *p, size_t n)
{
	struct cl_src *src = mem_src(p, n, n == 0 ? 1 : n);
	struct cl_err err = { 0 };
	int is = cl_pack_probe(src, &err);

	assert(err.code == CL_OK);
	cl_src_close(src);
	return (is);
}

static void
other_things_are_no_archives(void)
{
	static const char csv[] = "layer,experts\n0,1\n0,2\n";
	static uint8_t zeros[1 << 20];
	struct cl_buf b = { 0 };
	struct cl_dst *dst = mem_dst(&b), *zio;

	assert(probe("", 0) == 0);
	assert(probe("P", 1) == 0);
	assert(probe(csv, strlen(csv)) == 0);
	assert(probe(zeros, sizeof(zeros)) == 0);
	assert(probe("GGUF\3\0\0\0", 8) == 0);
	zio = cl_zio_writer(dst, 3, NULL);
	cl_dst_write(zio, zeros, sizeof(zeros));
	assert(cl_dst_finish(zio, NULL) == CL_OK);
	assert(probe(b.p, b.n) == 0);
	cl_dst_free(zio);
	cl_dst_free(dst);
	cl_buf_free(&b);
}

static const struct unit units[] = {
	{ "names of any bytes are only names", names_are_only_names },
	{ "two members of one name are refused", twins_are_refused },
	{ "a sparse member is refused", sparse_members_are_refused },
	{ "an encrypted member is refused", encrypted_members_are_refused },
	{ "a wrong checksum is refused", damage_is_refused },
	{ "what follows the end mark is read or refused",
	    what_follows_the_end_is_read },
	{ "data compressed twice are refused", nested_filters_are_refused },
	{ "data that expand without measure are refused, and no others",
	    bombs_are_refused },
	{ "a name of 4097 bytes is refused, one of 4096 is not",
	    long_names_are_refused },
	{ "text, zeros and nothing are no archives",
	    other_things_are_no_archives },
};

UNIT_MAIN(units)
