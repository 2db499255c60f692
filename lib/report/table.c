/*
 * Cells live in one buffer in the order they were added, so that printing
 * walks it once; only the widths are known beforehand.  A width counts
 * characters, one column each.  No line ends in blanks.  Columns that may be
 * cut lose their widest characters until a line fits a page, or until they are
 * as narrow as a name may be.
 */

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/table.h"
#include "cl/text.h"

#define CELL_MAX	256
#define GAP		2
#define NAME_MIN	12		/* to which a column is narrowed */

/* The characters among n bytes; a byte of no character counts as one. */
static size_t
characters(const char *s, size_t n)
{
	size_t i = 0, len, count = 0;

	for (; i < n; count++) {
		len = cl_text_utf8(s + i, n - i);
		i += len == 0 ? 1 : len;
	}
	return (count);
}

void
cl_table_init(struct cl_table *t, unsigned ncolumns, unsigned left)
{

	assert(ncolumns > 0 && ncolumns <= CL_TABLE_COLUMNS_MAX);
	memset(t, 0, sizeof(*t));
	t->ncolumns = ncolumns;
	t->left = left;
	cl_buf_init(&t->text);
}

void
cl_table_add(struct cl_table *t, const char *fmt, ...)
{
	char raw[CELL_MAX], vis[CELL_MAX];
	size_t column = t->ncells++ % t->ncolumns, n, width;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	n = strlen(cl_text_vis(vis, sizeof(vis), raw, strlen(raw)));
	if ((width = characters(vis, n)) > t->width[column])
		t->width[column] = width;
	cl_buf_bytes(&t->text, vis, n + 1);
}

void
cl_table_fill(struct cl_table *t)
{

	while (t->ncells % t->ncolumns != 0)
		cl_table_add(t, "%s", "");
}

/* The bytes of the first k characters among n bytes. */
static size_t
span(const char *s, size_t n, size_t k)
{
	size_t i = 0, len;

	for (; k > 0 && i < n; k--) {
		len = cl_text_utf8(s + i, n - i);
		i += len == 0 ? 1 : len;
	}
	return (i);
}

const char *
cl_table_cut(char *buf, size_t cap, const char *s, size_t width)
{
	size_t n = strlen(s), all = characters(s, n), head, at;

	if (all <= width)
		return (cl_text_vis(buf, cap, s, n));
	head = width < 3 ? 0 : (width - 3) / 2;
	at = span(s, n, head);
	(void)cl_text_vis(buf, cap, s, at);
	head = strlen(buf);
	(void)snprintf(buf + head, cap - head, "...");
	head = strlen(buf);
	at = span(s, n, all - (width < 3 ? 0 : width - 3 - (width - 3) / 2));
	(void)cl_text_vis(buf + head, cap - head, s + at, n - at);
	return (buf);
}

static void
blanks(struct cl_dst *dst, size_t n)
{

	if (n > 0)
		cl_dst_printf(dst, "%*s", (int)n, "");
}

/* One row from s on; returns what follows it. */
static const char *
print_row(const struct cl_table *t, struct cl_dst *dst, size_t indent,
    const char *s)
{
	char cut[CELL_MAX];
	size_t due = indent, n, pad;
	unsigned i;

	for (i = 0; i < t->ncolumns; i++, s += strlen(s) + 1) {
		if (t->drop >> i & 1)
			continue;
		n = strlen(cl_table_cut(cut, sizeof(cut), s, t->width[i]));
		pad = t->width[i] - characters(cut, n);
		if (n > 0) {
			blanks(dst, due + ((t->left >> i & 1) ? 0 : pad));
			cl_dst_write(dst, cut, n);
			due = (t->left >> i & 1) ? pad : 0;
		} else
			due += t->width[i];
		due += GAP;
	}
	return (s);
}

static void
fit(struct cl_table *t, size_t indent)
{
	size_t total = indent;
	unsigned i, widest;

	for (i = 0; i < t->ncolumns; i++)
		if (!(t->drop >> i & 1) && t->width[i] > 0)
			total += (i == 0 ? 0 : GAP) + t->width[i];
	for (; total > CL_TABLE_WIDTH; total--) {
		for (i = 0, widest = t->ncolumns; i < t->ncolumns; i++)
			if ((t->fit >> i & 1) && (widest == t->ncolumns ||
			    t->width[i] > t->width[widest]))
				widest = i;
		if (widest == t->ncolumns || t->width[widest] <= NAME_MIN)
			break;
		t->width[widest]--;
	}
}

int
cl_table_print(struct cl_table *t, struct cl_dst *dst, unsigned indent,
    bool bold, struct cl_err *err)
{
	const char *s = (const char *)t->text.p;
	size_t i;
	int status = CL_OK;

	assert(t->ncells % t->ncolumns == 0);
	if (t->text.bad)
		status = cl_fail_nomem(err, "a table");
	fit(t, indent);
	for (i = 0; i < t->ncells && status == CL_OK; i += t->ncolumns) {
		if (bold && i == 0)
			cl_dst_printf(dst, "\033[1m");
		s = print_row(t, dst, indent, s);
		cl_dst_printf(dst, bold && i == 0 ? "\033[0m\n" : "\n");
	}
	cl_table_free(t);
	return (status);
}

void
cl_table_free(struct cl_table *t)
{

	cl_buf_free(&t->text);
	t->ncells = 0;
}

/* n bytes without harm, a character at a time, since n has no limit. */
static void
print_vis(struct cl_dst *dst, const char *s, size_t n)
{
	char vis[8];
	size_t i = 0, len;

	while (i < n) {
		if ((len = cl_text_utf8(s + i, n - i)) == 0)
			len = 1;
		(void)cl_text_vis(vis, sizeof(vis), s + i, len);
		cl_dst_write(dst, vis, strlen(vis));
		i += len;
	}
}

void
cl_table_wrap(struct cl_dst *dst, const char *label, unsigned indent,
    const char *s)
{
	size_t column = strlen(label), n, width;

	cl_dst_printf(dst, "%s", label);
	for (s += strspn(s, " "); *s != '\0'; s += strspn(s, " ")) {
		n = strcspn(s, " ");
		width = characters(s, n);
		if (column > indent && column + 1 + width > CL_TABLE_WIDTH) {
			cl_dst_printf(dst, "\n");
			column = 0;
		}
		blanks(dst, column < indent ? indent - column : 1);
		column = column < indent ? indent : column + 1;
		print_vis(dst, s, n);
		column += width;
		s += n;
	}
	cl_dst_printf(dst, "\n");
}
