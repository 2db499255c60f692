/*
 * Stat streams as they are written: each record is built in one buffer and
 * framed at once.  The order of the calls is the order of the records; what
 * would break it is a mistake of ours and asserted.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/stats_write.h"

enum { REC_RUN = 1, REC_COLUMNS, REC_ROW, REC_MACHINE, REC_TRAILER };

struct cl_stats_writer {
	struct cl_dst	*dst;		/* borrowed */
	struct cl_buf	 buf;
	struct cl_err	 err;		/* the first failure */
	uint64_t	 records;
	bool		 machine;	/* has been written */
	bool		 rows;		/* have begun */
	/* By kind; a kind is there once it has columns. */
	struct {
		bool	 there;
		size_t	 n;
		uint8_t	 type[CL_STATS_COLUMNS_MAX];
	}		 columns[CL_STATS_MEASURED + 1];
};

/* Frame what buf holds; the sticky error comes back through err. */
static int
put(struct cl_stats_writer *w, uint16_t type, struct cl_err *err)
{

	if (w->err.code == CL_OK &&
	    cl_rec_put(w->dst, type, &w->buf, &w->err) == CL_OK)
		w->records++;
	if (w->err.code == CL_OK)
		return (CL_OK);
	return (cl_fail(err, w->err.code, "%s", w->err.msg));
}

static int
flush(struct cl_stats_writer *w, struct cl_err *err)
{

	if (w->err.code == CL_OK)
		(void)cl_dst_flush(w->dst, &w->err);
	if (w->err.code == CL_OK)
		return (CL_OK);
	return (cl_fail(err, w->err.code, "%s", w->err.msg));
}

static int
put_conds(struct cl_stats_writer *w, uint16_t type,
    const struct cl_stats_conds *conds, struct cl_err *err)
{
	const struct cl_stats_cond *c;
	size_t i;

	assert(conds->n <= CL_STATS_CONDS_MAX);
	cl_buf_clear(&w->buf);
	cl_buf_u16(&w->buf, (uint16_t)conds->n);
	for (i = 0; i < conds->n; i++) {
		c = &conds->cond[i];
		cl_buf_u8(&w->buf, (uint8_t)c->type);
		cl_buf_str(&w->buf, c->name);
		switch (c->type) {
		case CL_STATS_NONE:
			break;
		case CL_STATS_U64:
		case CL_STATS_HASH:
			cl_buf_u64(&w->buf, c->u);
			break;
		case CL_STATS_F64:
			cl_buf_f64(&w->buf, c->f);
			break;
		case CL_STATS_STR:
			cl_buf_str(&w->buf, c->s);
			break;
		case CL_STATS_BOOL:
			cl_buf_u8(&w->buf, c->u != 0);
			break;
		}
	}
	return (put(w, type, err));
}

struct cl_stats_writer *
cl_stats_writer_new(struct cl_dst *dst, const struct cl_stats_conds *run,
    struct cl_err *err)
{
	struct cl_stats_writer *w;

	if ((w = calloc(1, sizeof(*w))) == NULL) {
		cl_fail_nomem(err, "a writer of stat streams");
		return (NULL);
	}
	w->dst = dst;
	cl_buf_init(&w->buf);
	cl_rec_preamble(dst, CL_REC_STATS);
	if (put_conds(w, REC_RUN, run, err) != CL_OK) {
		cl_stats_writer_free(w);
		return (NULL);
	}
	return (w);
}

int
cl_stats_write_columns(struct cl_stats_writer *w,
    const struct cl_stats_columns *columns, struct cl_err *err)
{
	size_t i;

	assert(!w->rows && !w->columns[columns->kind].there);
	assert(columns->kind == CL_STATS_LOGICAL ||
	    w->columns[CL_STATS_LOGICAL].there);
	assert(columns->n <= CL_STATS_COLUMNS_MAX);
	cl_buf_clear(&w->buf);
	cl_buf_u8(&w->buf, (uint8_t)columns->kind);
	cl_buf_u8(&w->buf, 0);
	cl_buf_u16(&w->buf, (uint16_t)columns->n);
	for (i = 0; i < columns->n; i++) {
		w->columns[columns->kind].type[i] =
		    (uint8_t)columns->column[i].type;
		cl_buf_u8(&w->buf, (uint8_t)columns->column[i].type);
		cl_buf_str(&w->buf, columns->column[i].name);
	}
	w->columns[columns->kind].there = true;
	w->columns[columns->kind].n = columns->n;
	return (put(w, REC_COLUMNS, err));
}

int
cl_stats_write_machine(struct cl_stats_writer *w,
    const struct cl_stats_conds *conds, struct cl_err *err)
{

	assert(w->columns[CL_STATS_LOGICAL].there && !w->machine);
	w->machine = true;
	return (put_conds(w, REC_MACHINE, conds, err));
}

int
cl_stats_write_row(struct cl_stats_writer *w, const struct cl_stats_row *row,
    struct cl_err *err)
{
	const uint8_t *type = w->columns[row->kind].type;
	uint8_t *bits;
	size_t i;
	int status;

	assert(w->columns[row->kind].there);
	assert(row->n == w->columns[row->kind].n);
	w->rows = true;
	cl_buf_clear(&w->buf);
	cl_buf_u8(&w->buf, (uint8_t)row->kind);
	cl_buf_u8(&w->buf, (uint8_t)row->scope);
	cl_buf_u16(&w->buf, 0);
	cl_buf_u32(&w->buf, row->index);
	cl_buf_u64(&w->buf, row->tokens);
	if ((bits = cl_buf_room(&w->buf, (row->n + 7) / 8)) != NULL) {
		memset(bits, 0, (row->n + 7) / 8);
		for (i = 0; i < row->n; i++)
			if (row->value[i].there)
				bits[i / 8] |= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < row->n; i++) {
		if (!row->value[i].there)
			continue;
		if (type[i] == CL_STATS_F64)
			cl_buf_f64(&w->buf, row->value[i].f);
		else
			cl_buf_u64(&w->buf, row->value[i].u);
	}
	status = put(w, REC_ROW, err);
	if (status == CL_OK && row->scope == CL_STATS_WINDOW)
		status = flush(w, err);
	return (status);
}

int
cl_stats_writer_finish(struct cl_stats_writer *w,
    const struct cl_stats_end *end, struct cl_err *err)
{
	unsigned i;
	int status;

	cl_buf_clear(&w->buf);
	cl_buf_u8(&w->buf, (uint8_t)end->end);
	for (i = 0; i < 7; i++)
		cl_buf_u8(&w->buf, 0);
	cl_buf_u64(&w->buf, w->records + 1);
	cl_buf_u64(&w->buf, end->tokens);
	cl_buf_u64(&w->buf, end->routing);
	status = put(w, REC_TRAILER, err);
	return (status == CL_OK ? flush(w, err) : status);
}

void
cl_stats_writer_free(struct cl_stats_writer *w)
{

	if (w == NULL)
		return;
	cl_buf_free(&w->buf);
	free(w);
}
