/*
 * Archives by libarchive's own writers come out as they went in, and so do
 * ours; what is cut off is seen.
 */

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
	{ "a trace that comes slowly is not waited for",
	    a_slow_trace_is_not_waited_for },
};

UNIT_MAIN(units)
