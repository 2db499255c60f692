#ifndef PACK_MAKE_H
#define PACK_MAKE_H

/*
 * Archives for tests, by libarchive's own writers, and what is seen of them.
 */

#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "memio.h"
#include "unit.h"

#define BLOCK	512

/* An archive being written to memory. */
struct make {
	struct archive	*a;
	struct cl_buf	 bytes;
};

static inline la_ssize_t
keep(struct archive *a, void *arg, const void *p, size_t n)
{

	(void)a;
	cl_buf_bytes(arg, p, n);
	return ((la_ssize_t)n);
}

static inline void
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

static inline void
make_open(struct make *m)
{

	assert(archive_write_open(m->a, &m->bytes, NULL, keep, NULL) ==
	    ARCHIVE_OK);
}

static inline struct archive_entry *
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

static inline void
make_put(struct make *m, struct archive_entry *e, const void *p, size_t n)
{

	assert(archive_write_header(m->a, e) >= ARCHIVE_WARN);
	archive_entry_free(e);
	if (n > 0)
		assert(archive_write_data(m->a, p, n) == (la_ssize_t)n);
}

static inline void
make_member(struct make *m, const char *name, const char *text)
{

	make_put(m, entry(name, strlen(text)), text, strlen(text));
}

static inline void
make_end(struct make *m)
{

	assert(archive_write_close(m->a) == ARCHIVE_OK);
	assert(archive_write_free(m->a) == ARCHIVE_OK);
}

/* The three members that good archives have here. */
static const char *const names[] = { "a.clt", "b/c.json",
    "gr\xc3\xb6\xc3\x9f" };
static char texts[3][3000];

static inline void
fill_texts(void)
{
	size_t i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k + 1 < sizeof(texts[i]) / (i + 1); k++)
			texts[i][k] = (char)('a' + (k * k + i) % 26);
}

static inline void
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

static inline void
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
static inline void
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

static inline void
forget(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		cl_buf_free(&s->data[i]);
}

static inline void
read_pipe(const struct cl_buf *b, size_t n, struct seen *s)
{

	read_src(mem_src(b->p, n, 700), s, false);
}

static inline void
read_file(const struct cl_buf *b, struct seen *s)
{
	FILE *f = tmpfile();

	assert(f != NULL);
	assert(fwrite(b->p, 1, b->n, f) == b->n && fflush(f) == 0);
	assert(lseek(fileno(f), 0, SEEK_SET) == 0);
	read_src(cl_src_fd(fileno(f), "file", NULL, NULL), s, false);
	(void)fclose(f);
}

static inline void
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

#endif /* PACK_MAKE_H */
