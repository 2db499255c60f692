/*
 * Stat streams as they are written: each record is built in one buffer and
 * framed at once.  The order of the calls is the order of the records; what
 * would break it is a mistake of ours and asserted.  A table leaves in parts
 * of about a mebibyte, however long it is, and so does the log of events, whose
 * part at hand leaves before anything else is written.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/decision.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/stats_write.h"

enum { REC_RUN = 1, REC_COLUMNS, REC_ROW, REC_MACHINE, REC_TRAILER,
    REC_TABLE = CL_REC_OPTIONAL | 6, REC_EVENTS };

#define PART		(1u << 20)	/* bytes at which a part is framed */

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
	/* The table being written; NULL: none. */
	const struct cl_stats_table *table;
	uint64_t	 before;	/* its rows in parts that are out */
	uint32_t	 nrows;		/* in the part at hand */
	struct cl_buf	 part;		/* their bytes */
	/* The log of events. */
	struct cl_decision_place last;	/* of the last one */
	uint64_t	 logged;	/* events in parts that are out */
	uint32_t	 nevents;	/* in the part at hand */
	struct cl_buf	 log;		/* their bytes */
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
	cl_buf_init(&w->part);
	cl_buf_init(&w->log);
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

/* Frame the events at hand, if there are any. */
static int
put_log(struct cl_stats_writer *w, struct cl_err *err)
{

	if (w->nevents == 0)
		return (CL_OK);
	cl_buf_clear(&w->buf);
	cl_buf_u64(&w->buf, w->logged);
	cl_buf_u32(&w->buf, w->nevents);
	cl_buf_bytes(&w->buf, w->log.p, w->log.n);
	w->buf.bad = w->buf.bad || w->log.bad;
	w->logged += w->nevents;
	w->nevents = 0;
	cl_buf_clear(&w->log);
	return (put(w, REC_EVENTS, err));
}

int
cl_stats_write_decision(struct cl_stats_writer *w,
    const struct cl_decision *d, struct cl_err *err)
{

	assert(w->columns[CL_STATS_LOGICAL].there && w->table == NULL);
	cl_decision_put(&w->log, &w->last, d);
	w->nevents++;
	return (w->log.n < PART ? CL_OK : put_log(w, err));
}

/* One bit for each of n values: is it there? */
static void
put_bits(struct cl_buf *buf, const struct cl_stats_value *value, size_t n)
{
	uint8_t *bits = cl_buf_room(buf, (n + 7) / 8);
	size_t i;

	if (bits == NULL)
		return;
	memset(bits, 0, (n + 7) / 8);
	for (i = 0; i < n; i++)
		if (value[i].there)
			bits[i / 8] |= (uint8_t)(1 << i % 8);
}

int
cl_stats_write_row(struct cl_stats_writer *w, const struct cl_stats_row *row,
    struct cl_err *err)
{
	const uint8_t *type = w->columns[row->kind].type;
	size_t i;
	int status;

	assert(w->columns[row->kind].there && w->table == NULL);
	assert(row->n == w->columns[row->kind].n);
	if ((status = put_log(w, err)) != CL_OK)
		return (status);
	w->rows = true;
	cl_buf_clear(&w->buf);
	cl_buf_u8(&w->buf, (uint8_t)row->kind);
	cl_buf_u8(&w->buf, (uint8_t)row->scope);
	cl_buf_u16(&w->buf, 0);
	cl_buf_u32(&w->buf, row->index);
	cl_buf_u64(&w->buf, row->tokens);
	put_bits(&w->buf, row->value, row->n);
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

/* Frame the rows at hand; more: others follow. */
static int
put_part(struct cl_stats_writer *w, bool more, struct cl_err *err)
{
	const struct cl_stats_table *t = w->table;
	size_t i;
	int status;

	cl_buf_clear(&w->buf);
	cl_buf_u8(&w->buf, (uint8_t)t->kind);
	cl_buf_u8(&w->buf, more);
	cl_buf_u16(&w->buf, (uint16_t)t->ncolumns);
	cl_buf_u16(&w->buf, (uint16_t)t->nkeys);
	cl_buf_u16(&w->buf, 0);
	cl_buf_u64(&w->buf, w->before);
	cl_buf_u32(&w->buf, w->nrows);
	cl_buf_str(&w->buf, t->name);
	for (i = 0; i < t->ncolumns; i++) {
		cl_buf_u8(&w->buf, (uint8_t)t->column[i].type);
		cl_buf_str(&w->buf, t->column[i].name);
	}
	cl_buf_bytes(&w->buf, w->part.p, w->part.n);
	w->buf.bad = w->buf.bad || w->part.bad;
	status = put(w, REC_TABLE, err);
	w->before += w->nrows;
	w->nrows = 0;
	cl_buf_clear(&w->part);
	return (status);
}

int
cl_stats_write_table_head(struct cl_stats_writer *w,
    const struct cl_stats_table *t, struct cl_err *err)
{

	assert(w->columns[CL_STATS_LOGICAL].there && w->table == NULL);
	assert(t->ncolumns > 0 && t->ncolumns <= CL_STATS_COLUMNS_MAX);
	assert(t->nkeys <= t->ncolumns && *t->name != '\0');
	w->table = t;
	w->before = 0;
	if (put_log(w, err) != CL_OK)
		return (w->err.code);
	if (w->err.code == CL_OK)
		return (CL_OK);
	return (cl_fail(err, w->err.code, "%s", w->err.msg));
}

int
cl_stats_write_table_row(struct cl_stats_writer *w,
    const struct cl_stats_value *value, struct cl_err *err)
{
	const struct cl_stats_table *t = w->table;
	size_t i;

	if (w->part.n >= PART && put_part(w, true, err) != CL_OK)
		return (w->err.code);
	put_bits(&w->part, value, t->ncolumns);
	for (i = 0; i < t->ncolumns; i++) {
		if (!value[i].there)
			continue;
		if (t->column[i].type == CL_STATS_F64)
			cl_buf_f64(&w->part, value[i].f);
		else if (t->column[i].type == CL_STATS_STR)
			cl_buf_str(&w->part, value[i].s);
		else
			cl_buf_u64(&w->part, value[i].u);
	}
	w->nrows++;
	return (CL_OK);
}

int
cl_stats_write_table_end(struct cl_stats_writer *w, struct cl_err *err)
{
	int status = put_part(w, false, err);

	w->table = NULL;
	return (status);
}

int
cl_stats_write_table(struct cl_stats_writer *w,
    const struct cl_stats_table *t, struct cl_err *err)
{
	size_t i;
	int status;

	assert(t->bad || t->ncells % t->ncolumns == 0);
	if (t->bad)
		return (cl_fail_nomem(err, "a table of statistics"));
	status = cl_stats_write_table_head(w, t, err);
	for (i = 0; status == CL_OK && i < t->ncells; i += t->ncolumns)
		status = cl_stats_write_table_row(w, t->cell + i, err);
	if (status == CL_OK)
		status = cl_stats_write_table_end(w, err);
	w->table = NULL;
	return (status);
}

int
cl_stats_writer_finish(struct cl_stats_writer *w,
    const struct cl_stats_end *end, struct cl_err *err)
{
	unsigned i;
	int status;

	if ((status = put_log(w, err)) != CL_OK)
		return (status);
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
	cl_buf_free(&w->part);
	cl_buf_free(&w->log);
	free(w);
}
