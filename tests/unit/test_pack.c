/*
 * Archives: good ones by libarchive's own writers come out as they went in;
 * hostile ones, by its writers or made by hand, are refused for what they are.
 */

#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/zio.h"
#include "memio.h"
#include "unit.h"

#define BLOCK	512

/* An archive being written to memory. */
struct make {
	struct archive	*a;
	struct cl_buf	 bytes;
};

static la_ssize_t
keep(struct archive *a, void *arg, const void *p, size_t n)
{

	(void)a;
	cl_buf_bytes(arg, p, n);
	return ((la_ssize_t)n);
}

static void
make_begin(struct make *m, int format, int filter)
{

	cl_buf_init(&m->bytes);
	m->a = archive_write_new();
	assert(m->a != NULL);
	assert(archive_write_set_format(m->a, format) == ARCHIVE_OK);
	assert(archive_write_add_filter(m->a, filter) == ARCHIVE_OK);
	(void)archive_write_set_bytes_per_block(m->a, 0);
	(void)archive_write_set_bytes_in_last_block(m->a, 1);
}

static void
make_open(struct make *m)
{

	assert(archive_write_open(m->a, &m->bytes, NULL, keep, NULL) ==
	    ARCHIVE_OK);
}

static struct archive_entry *
entry(const char *name, size_t n)
{
	struct archive_entry *e = archive_entry_new();

	assert(e != NULL);
	archive_entry_copy_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)n);
	return (e);
}

static void
make_put(struct make *m, struct archive_entry *e, const void *p, size_t n)
{

	assert(archive_write_header(m->a, e) >= ARCHIVE_WARN);
	archive_entry_free(e);
	if (n > 0)
		assert(archive_write_data(m->a, p, n) == (la_ssize_t)n);
}

static void
make_member(struct make *m, const char *name, const char *text)
{

	make_put(m, entry(name, strlen(text)), text, strlen(text));
}

static void
make_end(struct make *m)
{

	assert(archive_write_close(m->a) == ARCHIVE_OK);
	assert(archive_write_free(m->a) == ARCHIVE_OK);
}

/* The three members that good archives have here. */
static const char *const names[] = { "a.clt", "b/c.json",
    "gr\xc3\xb6\xc3\x9f" };
static char texts[3][3000];

static void
fill_texts(void)
{
	size_t i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k + 1 < sizeof(texts[i]) / (i + 1); k++)
			texts[i][k] = (char)('a' + (k * k + i) % 26);
}

static void
make_three(struct make *m, int format, int filter)
{
	size_t i;

	fill_texts();
	make_begin(m, format, filter);
	make_open(m);
	for (i = 0; i < 3; i++)
		make_member(m, names[i], texts[i]);
	make_end(m);
}

/* What became of reading an archive. */
struct seen {
	size_t		 n;
	char		 name[8][64];
	const char	*other[8];
	struct cl_buf	 data[8];
	int		 status;
	struct cl_err	 err;
};

static void
look_at(struct cl_pack *p, const struct cl_pack_member *m, struct seen *s)
{
	struct cl_src *src;
	const uint8_t *b;
	size_t n;

	assert(s->n < 8);
	(void)snprintf(s->name[s->n], 64, "%s", m->name);
	s->other[s->n] = m->other;
	cl_buf_init(&s->data[s->n]);
	if (m->other != NULL)
		assert(cl_pack_read(p, NULL) == NULL);
	else if ((src = cl_pack_read(p, &s->err)) != NULL) {
		while (cl_src_peek(src, 1, &b, &n, &s->err) == CL_OK &&
		    n > 0) {
			cl_buf_bytes(&s->data[s->n], b, n);
			cl_src_consume(src, n);
		}
		cl_src_close(src);
	}
	s->n++;
}

/* All of it; with skip, without looking into members. */
static void
read_src(struct cl_src *src, struct seen *s, bool skip)
{
	const struct cl_pack_member *m;
	struct cl_err again = { 0 };
	struct cl_pack *p;

	memset(s, 0, sizeof(*s));
	if ((p = cl_pack_open(src, &s->err)) == NULL) {
		s->status = s->err.code;
		return;
	}
	while ((s->status = cl_pack_next(p, &m, &s->err)) == CL_OK)
		if (!skip)
			look_at(p, m, s);
	assert(s->status == CL_END || s->err.code == s->status);
	if (s->status != CL_END) {
		assert(cl_pack_next(p, &m, &again) == s->status);
		assert(strcmp(again.msg, s->err.msg) == 0 ||
		    s->err.msg[0] == '\0');
	}
	cl_pack_close(p);
}

static void
forget(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		cl_buf_free(&s->data[i]);
}

static void
read_pipe(const struct cl_buf *b, size_t n, struct seen *s)
{

	read_src(mem_src(b->p, n, 700), s, false);
}

static void
read_file(const struct cl_buf *b, struct seen *s)
{
	FILE *f = tmpfile();

	assert(f != NULL);
	assert(fwrite(b->p, 1, b->n, f) == b->n && fflush(f) == 0);
	assert(lseek(fileno(f), 0, SEEK_SET) == 0);
	read_src(cl_src_fd(fileno(f), "file", NULL, NULL), s, false);
	(void)fclose(f);
}

static void
check_three(struct seen *s)
{
	size_t i;

	assert(s->status == CL_END && s->n == 3);
	for (i = 0; i < 3; i++) {
		assert(strcmp(s->name[i], names[i]) == 0);
		assert(s->other[i] == NULL);
		assert(s->data[i].n == strlen(texts[i]));
		assert(memcmp(s->data[i].p, texts[i], s->data[i].n) == 0);
	}
	forget(s);
}

static void
tars_are_read(void)
{
	static const int formats[] = { ARCHIVE_FORMAT_TAR_USTAR,
	    ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED };
	static const int filters[] = { ARCHIVE_FILTER_NONE,
	    ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ,
	    ARCHIVE_FILTER_ZSTD };
	struct make m;
	struct seen s;
	size_t i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 5; k++) {
			make_three(&m, formats[i], filters[k]);
			read_pipe(&m.bytes, m.bytes.n, &s);
			check_three(&s);
			read_file(&m.bytes, &s);
			check_three(&s);
			cl_buf_free(&m.bytes);
		}
}

static void
zip_and_7z_are_read_from_files(void)
{
	static const int formats[] = { ARCHIVE_FORMAT_ZIP,
	    ARCHIVE_FORMAT_7ZIP };
	static const char *const what[] = { "zip", "7z" };
	struct make m;
	struct seen s;
	size_t i;

	for (i = 0; i < 2; i++) {
		make_begin(&m, formats[i], ARCHIVE_FILTER_NONE);
		make_open(&m);
		make_member(&m, "a.clt", "one");
		make_member(&m, "b", "three");
		make_end(&m);
		read_file(&m.bytes, &s);
		assert(s.status == CL_END && s.n == 2);
		assert(s.data[1].n == 5 && memcmp(s.data[1].p, "three", 5) ==
		    0);
		forget(&s);
		read_pipe(&m.bytes, m.bytes.n, &s);
		assert(s.status == CL_ENOTSUP);
		assert(strstr(s.err.msg, what[i]) != NULL);
		assert(strstr(s.err.msg, "needs a file, not a pipe") != NULL);
		cl_buf_free(&m.bytes);
	}
}

/* An archive by our own writer. */
static void
write_three(struct cl_buf *b)
{
	struct cl_pack_writer *w;
	struct cl_dst *dst = mem_dst(b);
	struct cl_src *src;
	size_t i;

	fill_texts();
	w = cl_pack_writer_new(dst, NULL);
	assert(w != NULL);
	for (i = 0; i < 3; i++) {
		src = mem_src(texts[i], strlen(texts[i]), 999);
		assert(cl_pack_put(w, names[i], strlen(texts[i]), src,
		    NULL) == CL_OK);
		cl_src_close(src);
	}
	assert(cl_pack_writer_finish(w, NULL) == CL_OK);
	cl_pack_writer_free(w);
	cl_dst_free(dst);
}

static void
ours_are_read_back(void)
{
	struct cl_buf b = { 0 }, again = { 0 };
	struct seen s;

	write_three(&b);
	read_pipe(&b, b.n, &s);
	check_three(&s);
	write_three(&again);
	assert(again.n == b.n && memcmp(again.p, b.p, b.n) == 0);
	cl_buf_free(&b);
	cl_buf_free(&again);
}

static void
wrong_sizes_are_not_written(void)
{
	struct cl_buf b = { 0 };
	struct cl_dst *dst = mem_dst(&b);
	struct cl_err err = { 0 };
	struct cl_pack_writer *w;
	struct cl_src *src;
	size_t n;

	for (n = 4; n <= 6; n += 2) {
		w = cl_pack_writer_new(dst, NULL);
		src = mem_src("12345", 5, 5);
		assert(cl_pack_put(w, "x", n, src, &err) == CL_EIO);
		assert(strstr(err.msg, "not the") != NULL);
		cl_src_close(src);
		cl_pack_writer_free(w);
	}
	cl_dst_free(dst);
	cl_buf_free(&b);
}

/* Whatever is missing, it is no end; what came before it is all there. */
static void
cuts_are_seen(void)
{
	static const int filters[] = { ARCHIVE_FILTER_NONE,
	    ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD };
	struct make m;
	struct seen s;
	size_t i, n;

	for (i = 0; i < 3; i++) {
		make_three(&m, ARCHIVE_FORMAT_TAR_USTAR, filters[i]);
		/* the second block of zeros may be lacking */
		n = i == 0 ? m.bytes.n - BLOCK - 1 : m.bytes.n - 1;
		for (; n > 0; n -= n > 37 ? 37 : n) {
			read_pipe(&m.bytes, n, &s);
			assert(s.status < 0 && s.err.msg[0] != '\0');
			forget(&s);
		}
		cl_buf_free(&m.bytes);
	}
}

static void
cuts_between_members_are_seen(void)
{
	struct make m;
	struct seen s;

	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	make_member(&m, "a", "one");
	make_member(&m, "b", "two");
	make_end(&m);
	assert(m.bytes.n == 6 * BLOCK);
	read_pipe(&m.bytes, 2 * BLOCK, &s);
	assert(s.status == CL_ECUT && s.n == 1);
	assert(strstr(s.err.msg, "without its end mark") != NULL);
	forget(&s);
	read_pipe(&m.bytes, 5 * BLOCK, &s);
	assert(s.status == CL_END && s.n == 2);
	forget(&s);
	cl_buf_free(&m.bytes);
}

/* Ours, cut: each member that was written whole is there. */
static void
what_was_flushed_is_there(void)
{
	struct cl_buf b = { 0 };
	struct seen s;
	size_t n, most = 0;

	write_three(&b);
	for (n = 1; n < b.n; n++) {
		read_pipe(&b, n, &s);
		assert(s.status < 0);
		assert(s.n >= most);
		if (s.n > most)
			most = s.n;
		forget(&s);
	}
	assert(most == 3);
	cl_buf_free(&b);
}

static void
other_members_are_named(void)
{
	static const struct {
		unsigned type;
		const char *what;
	} kinds[] = { { AE_IFDIR, "a directory" },
	    { AE_IFLNK, "a symbolic link" }, { AE_IFIFO, "a FIFO" },
	    { AE_IFCHR, "a device" }, { AE_IFBLK, "a device" } };
	struct archive_entry *e;
	struct make m;
	struct seen s;
	size_t i;

	make_begin(&m, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE);
	make_open(&m);
	for (i = 0; i < 5; i++) {
		e = entry("x.clt", 0);
		archive_entry_set_filetype(e, kinds[i].type);
		if (kinds[i].type == AE_IFLNK)
			archive_entry_set_symlink(e, "/etc/passwd");
		make_put(&m, e, NULL, 0);
	}
	e = entry("y.clt", 0);
	archive_entry_set_hardlink(e, "/etc/passwd");
	make_put(&m, e, NULL, 0);
	make_end(&m);
	read_pipe(&m.bytes, m.bytes.n, &s);
	assert(s.status == CL_END && s.n == 6);
	for (i = 0; i < 5; i++)
		assert(strcmp(s.other[i], kinds[i].what) == 0);
	assert(strcmp(s.other[5], "a hard link") == 0);
	forget(&s);
	cl_buf_free(&m.bytes);
}

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

/* A recorder's first flush, after which nothing comes for a long time. */
struct slow {
	struct mem_src	 first;
	bool		 asked;		/* for more than that */
};

static int
slow_read(void *ctx, void *to, size_t cap, size_t *got, struct cl_err *err)
{
	struct slow *s = ctx;

	if (s->first.left == 0)
		s->asked = true;
	return (mem_read(&s->first, to, cap, got, err));
}

static void
a_slow_trace_is_not_waited_for(void)
{
	static const struct cl_src_ops ops = { slow_read, mem_keep };
	struct cl_buf b = { 0 };
	struct cl_dst *dst = mem_dst(&b), *zio = cl_zio_writer(dst, 3, NULL);
	uint8_t head[300];
	struct slow s = { 0 };
	struct cl_src *src;
	size_t i;

	for (i = 0; i < sizeof(head); i++)
		head[i] = (uint8_t)(i * 7);
	cl_dst_write(zio, head, sizeof(head));
	assert(cl_dst_flush(zio, NULL) == CL_OK);
	s.first = (struct mem_src){ b.p, b.n, b.n };
	src = cl_src_new(&ops, &s, "slow", NULL);
	assert(cl_pack_probe(src, NULL) == 0);
	assert(!s.asked);
	cl_src_close(src);
	cl_dst_free(zio);
	cl_dst_free(dst);
	cl_buf_free(&b);
}

static const struct unit units[] = {
	{ "a tar in any filter is read, from a pipe or a file",
	    tars_are_read },
	{ "zip and 7z are read from files, and refused from pipes",
	    zip_and_7z_are_read_from_files },
	{ "what is written is read back, and always the same bytes",
	    ours_are_read_back },
	{ "a member of another size than was said is not written",
	    wrong_sizes_are_not_written },
	{ "an archive that was cut anywhere is not at its end",
	    cuts_are_seen },
	{ "nor is one that was cut between two members",
	    cuts_between_members_are_seen },
	{ "a member that was written whole is there whatever follows",
	    what_was_flushed_is_there },
	{ "links, devices and directories are named and not read",
	    other_members_are_named },
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
	{ "a trace that comes slowly is not waited for",
	    a_slow_trace_is_not_waited_for },
};

UNIT_MAIN(units)
