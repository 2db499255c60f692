#ifndef CL_TABLE_H
#define CL_TABLE_H

/*
 * Text laid out for a terminal or a page: tables that find their widths, and
 * paragraphs behind a label.  Whatever is put in is made harmless to a
 * terminal.  Cells are added row by row, left to right; running out of memory
 * shows when the table is printed.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cl/buf.h"

struct cl_dst;
struct cl_err;

#define CL_TABLE_COLUMNS_MAX	16
#define CL_TABLE_WIDTH		79	/* what paragraphs are broken to */

struct cl_table {
	unsigned	 ncolumns;
	unsigned	 left;		/* bit i: column i is flush left */
	unsigned	 fit;		/* bit i: it may be cut to fit a page */
	unsigned	 drop;		/* bit i: it is not printed */
	size_t		 ncells;
	size_t		 width[CL_TABLE_COLUMNS_MAX];
	struct cl_buf	 text;		/* the cells, each with its NUL */
};

void	cl_table_init(struct cl_table *, unsigned ncolumns, unsigned left);

/* The next cell, cut at 255 bytes. */
void	cl_table_add(struct cl_table *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

/*
 * At most width characters of a text, which is made harmless: what is too much
 * goes from its middle, since names differ at their ends, and has "..." for
 * it.  Cut at cap; returns buf.
 */
const char	*cl_table_cut(char *buf, size_t cap, const char *,
		    size_t width);

/* Empty cells up to the end of the row. */
void	cl_table_fill(struct cl_table *);

/* Print behind an indent, the first row in bold on demand; then free it. */
int	cl_table_print(struct cl_table *, struct cl_dst *, unsigned indent,
	    bool bold, struct cl_err *);

void	cl_table_free(struct cl_table *);

/* Label, then s broken at its blanks behind an indent of that width. */
void	cl_table_wrap(struct cl_dst *, const char *label, unsigned indent,
	    const char *s);

#endif /* CL_TABLE_H */
