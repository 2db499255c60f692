/*
 * Stat streams as they are read.  The reader knows which record may come next
 * and holds one record of each kind, so its memory follows the largest record
 * and not the length of the stream: indices that ascend within their kind and
 * scope make "seen before" a comparison; names of tables are kept, since they
 * have a limit.  A row, also of a table, is handed out once all of it has been
 * checked; the first failure sticks.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rec.h"
#include "cl/src.h"
#include "cl/text.h"
#include "stats_read_int.h"

enum { REC_RUN = 1, REC_COLUMNS, REC_ROW, REC_MACHINE, REC_TRAILER,
    REC_TABLE = CL_REC_OPTIONAL | 6, REC_EVENTS };

int
cl_stats_bad(struct cl_stats_reader *r, const char *fmt, ...)
{
	char what[256], vis[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return (cl_fail(&r->err, CL_EFORMAT, "%s: byte %llu: %s",
	    cl_src_name(r->src), (unsigned long long)r->off,
	    cl_text_vis(vis, sizeof(vis), what, strlen(what))));
}

int
cl_stats_used_up(struct cl_stats_reader *r, const struct cl_cur *c,
    const char *what)
{

	if (!cl_cur_ok(c))
		return (cl_stats_bad(r, "a %s record of %zu bytes is too short "
		    "for its fields, or a string in it holds a NUL", what,
		    c->len));
	if (cl_cur_left(c) != 0)
		return (cl_stats_bad(r, "a %s record has %zu bytes behind its "
		    "fields", what, cl_cur_left(c)));
	return (CL_OK);
}

static void
begin_run(struct cl_stats_reader *r)
{

	r->runs++;
	r->inside = true;
	r->machine = r->rows = false;
	r->records = 0;
	memset(r->next, 0, sizeof(r->next));
	cl_stats_conds_free(&r->run);
	cl_stats_columns_free(&r->columns[CL_STATS_LOGICAL]);
	cl_stats_columns_free(&r->columns[CL_STATS_MEASURED]);
	cl_stats_forget_tables(r);
	cl_decision_log_begin(&r->log);
}

/* The next event of the log, or where rec is not NULL a part of it. */
static int
take_log(struct cl_stats_reader *r, const struct cl_rec *rec)
{
	struct cl_err err = { 0 };
	int status;

	if (r->columns[CL_STATS_LOGICAL].kind == 0)
		return (cl_stats_bad(r, "events before the columns of the "
		    "run"));
	memset(&r->out, 0, sizeof(r->out));
	r->out.kind = CL_STATS_REC_DECISION;
	r->out.decision = &r->decision;
	status = rec != NULL ?
	    cl_decision_log_part(&r->log, rec->data, rec->len, &err) :
	    cl_decision_log_take(&r->log, &r->decision, &err);
	if (status == CL_ENOMEM)
		return (cl_fail_nomem(&r->err, "an event of the log"));
	return (status == CL_OK ? CL_OK : cl_stats_bad(r, "%s", err.msg));
}

static int
take_trailer(struct cl_stats_reader *r, const struct cl_rec *rec)
{
	struct cl_stats_end *end = &r->end;
	struct cl_cur c;
	uint64_t zero;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	end->end = cl_cur_u8(&c);
	zero = cl_cur_uint(&c, 7);
	end->records = cl_cur_u64(&c);
	end->tokens = cl_cur_u64(&c);
	end->routing = cl_cur_u64(&c);
	if ((status = cl_stats_used_up(r, &c, "TRAILER")) != CL_OK)
		return (status);
	if (end->end < 1 || end->end > 3 || zero != 0)
		return (cl_stats_bad(r, "a trailer with end %u, or what must "
		    "be 0 is not", end->end));
	if (end->records != r->records)
		return (cl_stats_bad(r, "the trailer counts %llu records, and "
		    "there are %llu", (unsigned long long)end->records,
		    (unsigned long long)r->records));
	if (r->next[CL_STATS_LOGICAL][CL_STATS_RUN] == 0)
		return (cl_stats_bad(r, "a run ends without a row for the "
		    "whole run"));
	r->inside = false;
	r->out.kind = CL_STATS_REC_TRAILER;
	r->out.end = end;
	return (CL_OK);
}

/* The record at hand, of a type that is known. */
static int
take(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	memset(&r->out, 0, sizeof(r->out));
	if ((rec->type == REC_RUN) != (r->records == 1))
		return (cl_stats_bad(r, rec->type == REC_RUN ? "a second RUN "
		    "record" : "a record of type %u where RUN is wanted",
		    rec->type));
	switch (rec->type) {
	case REC_RUN:
		r->out.kind = CL_STATS_REC_RUN;
		return (cl_stats_take_conds(r, rec, "RUN", &r->run));
	case REC_COLUMNS:
		return (cl_stats_take_columns(r, rec));
	case REC_ROW:
		return (cl_stats_take_row(r, rec));
	case REC_MACHINE:
		return (cl_stats_take_machine(r, rec));
	default:
		return (take_trailer(r, rec));
	}
}

/* Step into the next run, or see that there is none. */
static int
enter(struct cl_stats_reader *r)
{
	int status = cl_rec_open(r->src, CL_REC_STATS, &r->err);

	if (status == CL_OK)
		begin_run(r);
	else if (status == CL_END && r->runs == 0)
		status = cl_fail(&r->err, CL_ECUT, "%s: empty; a stat stream "
		    "is wanted", cl_src_name(r->src));
	return (status);
}

/* May the record at hand be skipped, whatever it is? */
static int
skip(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	if ((rec->type & CL_REC_OPTIONAL) == 0)
		return (cl_fail(&r->err, CL_ENOTSUP, "%s: byte %llu: unknown "
		    "record type %u", cl_src_name(r->src),
		    (unsigned long long)rec->off, rec->type));
	if (r->records == 1)
		return (cl_stats_bad(r, "a record of type %u where RUN is "
		    "wanted", rec->type));
	return (CL_OK);
}

static int
read_one(struct cl_stats_reader *r)
{
	struct cl_rec rec;
	bool began = false;
	int status;

	if (!r->inside && (status = enter(r)) != CL_OK)
		return (status);
	for (;;) {
		if (r->part_rows > 0)
			return (cl_stats_take_cells(r));
		if (r->log.left > 0) {
			status = take_log(r, NULL);
			if (status != CL_OK || r->wants)
				return (status);
			continue;
		}
		if ((status = cl_rec_next(r->src, &rec, &r->err)) != CL_OK)
			return (status);
		r->off = rec.off;
		r->records++;
		if (r->more && rec.type != REC_TABLE)
			return (cl_stats_bad(r, "a record of type %u where "
			    "table \"%s\" is to go on", rec.type,
			    r->table.name));
		if (rec.type >= REC_RUN && rec.type <= REC_TRAILER)
			return (take(r, &rec));
		if (rec.type == REC_EVENTS && r->records > 1)
			status = take_log(r, &rec);
		else if (rec.type == REC_TABLE && r->records > 1)
			status = cl_stats_take_table(r, &rec, &began);
		else
			status = skip(r, &rec);
		if (status != CL_OK || began)
			return (status);
	}
}

struct cl_stats_reader *
cl_stats_reader_new(struct cl_src *src, struct cl_err *err)
{
	struct cl_stats_reader *r;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		cl_fail_nomem(err, "a reader of stat streams");
		cl_src_close(src);
		return (NULL);
	}
	r->src = src;
	return (r);
}

void
cl_stats_reader_want(struct cl_stats_reader *r, bool decisions)
{

	r->wants = decisions;
}

int
cl_stats_read(struct cl_stats_reader *r, const struct cl_stats_rec **rec,
    struct cl_err *err)
{
	int status = r->err.code != CL_OK ? r->err.code : read_one(r);

	if (status < 0)
		return (cl_fail(err, status, "%s", r->err.msg));
	*rec = status == CL_OK ? &r->out : NULL;
	return (status);
}

void
cl_stats_reader_free(struct cl_stats_reader *r)
{

	if (r == NULL)
		return;
	cl_stats_conds_free(&r->run);
	cl_stats_conds_free(&r->facts);
	cl_stats_columns_free(&r->columns[CL_STATS_LOGICAL]);
	cl_stats_columns_free(&r->columns[CL_STATS_MEASURED]);
	cl_stats_forget_tables(r);
	cl_buf_free(&r->head);
	cl_buf_free(&r->text);
	cl_decision_log_free(&r->log);
	cl_src_close(r->src);
	free(r);
}
