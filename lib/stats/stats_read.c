/*
 * Stat streams as they are read.  The reader knows which record may come next
 * and holds one record of each kind, so its memory follows the largest record
 * and not the length of the stream: indices that ascend within their kind and
 * scope make "seen before" a comparison.  A row is handed out once all of it
 * has been checked; the first failure sticks.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "cl/text.h"
#include "cl/vec.h"

enum { REC_RUN = 1, REC_COLUMNS, REC_ROW, REC_MACHINE, REC_TRAILER };

#define COND_MIN	4		/* bytes: type, length, a letter */
#define KINDS		(CL_STATS_MEASURED + 1)
#define SCOPES		(CL_STATS_WINDOW + 1)

struct cl_stats_reader {
	struct cl_src	*src;
	struct cl_err	 err;		/* the first failure */
	uint64_t	 runs;		/* begun so far */
	/* Of the run at hand. */
	bool		 inside;	/* its preamble is read */
	bool		 machine;	/* its MACHINE is read */
	bool		 rows;		/* its rows have begun */
	uint64_t	 records;
	uint64_t	 off;		/* of the record at hand */
	uint64_t	 next[KINDS][SCOPES];	/* least index allowed */
	struct cl_stats_conds run;
	struct cl_stats_conds facts;
	struct cl_stats_columns columns[KINDS];	/* kind 0: not there yet */
	struct cl_stats_value value[CL_STATS_COLUMNS_MAX];
	struct cl_stats_row row;
	struct cl_stats_end end;
	struct cl_stats_rec out;
};

/* A rule is broken in the record at hand; names from it are made harmless. */
static int	bad(struct cl_stats_reader *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static int
bad(struct cl_stats_reader *r, const char *fmt, ...)
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

/* All fields were there, and nothing behind them. */
static int
used_up(struct cl_stats_reader *r, const struct cl_cur *c, const char *what)
{

	if (!cl_cur_ok(c))
		return (bad(r, "a %s record of %zu bytes is too short for "
		    "its fields, or a string in it holds a NUL", what,
		    c->len));
	if (cl_cur_left(c) != 0)
		return (bad(r, "a %s record has %zu bytes behind its fields",
		    what, cl_cur_left(c)));
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
}

/* One condition, its name checked against those before it. */
static int
take_cond(struct cl_stats_reader *r, struct cl_cur *c,
    struct cl_stats_conds *conds)
{
	struct cl_stats_cond *to = &conds->cond[conds->n];
	const char *name, *s;
	unsigned type = cl_cur_u8(c);
	size_t n = cl_cur_str(c, &name), len;

	if (!cl_cur_ok(c))
		return (CL_OK);		/* used_up says so */
	if (n == 0)
		return (bad(r, "condition %zu has no name", conds->n));
	if ((to->name = cl_vec_strndup(name, n, &r->err)) == NULL)
		return (r->err.code);
	if (cl_stats_find(conds, to->name) != NULL) {
		conds->n++;
		return (bad(r, "condition \"%.*s\" stands twice",
		    n < 64 ? (int)n : 64, name));
	}
	conds->n++;
	to->type = (enum cl_stats_type)type;
	switch (type) {
	case CL_STATS_NONE:
		break;
	case CL_STATS_U64:
	case CL_STATS_HASH:
		to->u = cl_cur_u64(c);
		break;
	case CL_STATS_F64:
		to->f = cl_cur_f64(c);
		break;
	case CL_STATS_STR:
		len = cl_cur_str(c, &s);
		if ((to->s = cl_vec_strndup(s, len, &r->err)) == NULL)
			return (r->err.code);
		break;
	case CL_STATS_BOOL:
		if ((to->u = cl_cur_u8(c)) > 1)
			return (bad(r, "a truth value is %u", (unsigned)to->u));
		break;
	default:
		return (bad(r, "condition %zu is of unknown type %u",
		    conds->n - 1, type));
	}
	return (CL_OK);
}

static int
take_conds(struct cl_stats_reader *r, const struct cl_rec *rec,
    const char *what, struct cl_stats_conds *conds)
{
	struct cl_cur c;
	size_t n, i;
	int status;

	cl_stats_conds_free(conds);
	cl_cur_init(&c, rec->data, rec->len);
	n = cl_cur_u16(&c);
	if (n > CL_STATS_CONDS_MAX || n > cl_cur_left(&c) / COND_MIN)
		return (bad(r, "a %s record of %zu bytes claims %zu "
		    "conditions, at most %d", what, rec->len, n,
		    CL_STATS_CONDS_MAX));
	if (n > 0 && cl_vec_grow(&conds->cond, &conds->cap, n,
	    sizeof(*conds->cond), &r->err) != CL_OK)
		return (r->err.code);
	for (i = 0; i < n && cl_cur_ok(&c); i++)
		if ((status = take_cond(r, &c, conds)) != CL_OK)
			return (status);
	r->out.conds = conds;
	return (used_up(r, &c, what));
}

static int
take_run(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	r->out.kind = CL_STATS_REC_RUN;
	return (take_conds(r, rec, "RUN", &r->run));
}

static int
take_machine(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	if (r->columns[CL_STATS_LOGICAL].kind == 0 || r->machine)
		return (bad(r, "a MACHINE record %s", r->machine ?
		    "for the second time" : "before its columns"));
	r->machine = true;
	r->out.kind = CL_STATS_REC_MACHINE;
	return (take_conds(r, rec, "MACHINE", &r->facts));
}

static int
take_column(struct cl_stats_reader *r, struct cl_cur *c,
    struct cl_stats_columns *columns)
{
	const char *name;
	unsigned type = cl_cur_u8(c);
	size_t n = cl_cur_str(c, &name);
	int status;

	if (!cl_cur_ok(c))
		return (CL_OK);		/* used_up says so */
	if (n == 0)
		return (bad(r, "column %zu has no name", columns->n));
	if (type != CL_STATS_U64 && type != CL_STATS_F64 &&
	    type != CL_STATS_HASH)
		return (bad(r, "column %zu is of unknown type %u", columns->n,
		    type));
	status = cl_stats_add_column(columns, (enum cl_stats_type)type, name,
	    n, &r->err);
	if (status != CL_OK)
		return (status);
	if (cl_stats_column(columns, columns->column[columns->n - 1].name) !=
	    columns->n - 1)
		return (bad(r, "column \"%.*s\" stands twice",
		    n < 64 ? (int)n : 64, name));
	return (CL_OK);
}

static int
take_columns(struct cl_stats_reader *r, const struct cl_rec *rec)
{
	struct cl_stats_columns *columns;
	struct cl_cur c;
	unsigned kind, zero;
	size_t n, i;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	kind = cl_cur_u8(&c);
	zero = cl_cur_u8(&c);
	n = cl_cur_u16(&c);
	if (kind < CL_STATS_LOGICAL || kind > CL_STATS_MEASURED || zero != 0)
		return (bad(r, "columns of kind %u, or what must be 0 is not",
		    kind));
	if (n > CL_STATS_COLUMNS_MAX || n > cl_cur_left(&c) / COND_MIN)
		return (bad(r, "a COLUMNS record of %zu bytes claims %zu "
		    "columns, at most %d", rec->len, n,
		    CL_STATS_COLUMNS_MAX));
	columns = &r->columns[kind];
	if (columns->kind != 0 || r->rows || (kind == CL_STATS_MEASURED &&
	    r->columns[CL_STATS_LOGICAL].kind == 0))
		return (bad(r, "COLUMNS of kind %u out of place", kind));
	columns->kind = (enum cl_stats_kind)kind;
	for (i = 0; i < n && cl_cur_ok(&c); i++)
		if ((status = take_column(r, &c, columns)) != CL_OK)
			return (status);
	r->out.kind = CL_STATS_REC_COLUMNS;
	r->out.columns = columns;
	return (used_up(r, &c, "COLUMNS"));
}

/* Kind, scope and index of a row: known, and in their order. */
static int
place_row(struct cl_stats_reader *r, unsigned kind, unsigned scope,
    uint32_t index)
{
	static const uint64_t limit[SCOPES] = { 0, 1, 2,
	    UINT64_C(1) << 32, UINT64_C(1) << 32 };

	if (kind < CL_STATS_LOGICAL || kind > CL_STATS_MEASURED ||
	    scope < CL_STATS_RUN || scope > CL_STATS_WINDOW)
		return (bad(r, "a row of kind %u and scope %u", kind, scope));
	if (r->columns[kind].kind == 0)
		return (bad(r, "a row of kind %u before its columns", kind));
	if (index >= limit[scope])
		return (bad(r, "a row of scope %u has index %u", scope,
		    index));
	if (index < r->next[kind][scope])
		return (bad(r, "a row of kind %u and scope %u has index %u "
		    "behind index %llu", kind, scope, index,
		    (unsigned long long)r->next[kind][scope] - 1));
	r->next[kind][scope] = (uint64_t)index + 1;
	return (CL_OK);
}

static int
take_values(struct cl_stats_reader *r, struct cl_cur *c,
    const struct cl_stats_columns *columns)
{
	const uint8_t *bits = cl_cur_bytes(c, (columns->n + 7) / 8);
	struct cl_stats_value *v;
	size_t i;

	for (i = 0; bits != NULL && i < columns->n; i++) {
		v = &r->value[i];
		memset(v, 0, sizeof(*v));
		v->there = (bits[i / 8] >> i % 8 & 1) != 0;
		if (v->there && columns->column[i].type == CL_STATS_F64)
			v->f = cl_cur_f64(c);
		else if (v->there)
			v->u = cl_cur_u64(c);
	}
	if (bits != NULL && columns->n % 8 != 0 &&
	    bits[columns->n / 8] >> columns->n % 8 != 0)
		return (bad(r, "bits set behind the last of %zu columns",
		    columns->n));
	return (CL_OK);
}

static int
take_row(struct cl_stats_reader *r, const struct cl_rec *rec)
{
	struct cl_stats_row *row = &r->row;
	struct cl_cur c;
	unsigned kind, scope, zero;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	kind = cl_cur_u8(&c);
	scope = cl_cur_u8(&c);
	zero = cl_cur_u16(&c);
	row->index = cl_cur_u32(&c);
	row->tokens = cl_cur_u64(&c);
	if (!cl_cur_ok(&c))
		return (used_up(r, &c, "ROW"));
	if (zero != 0)
		return (bad(r, "what must be 0 in a row is %u", zero));
	if ((status = place_row(r, kind, scope, row->index)) != CL_OK)
		return (status);
	r->rows = true;
	row->kind = (enum cl_stats_kind)kind;
	row->scope = (enum cl_stats_scope)scope;
	row->n = r->columns[kind].n;
	row->value = r->value;
	if ((status = take_values(r, &c, &r->columns[kind])) != CL_OK)
		return (status);
	r->out.kind = CL_STATS_REC_ROW;
	r->out.row = row;
	r->out.columns = &r->columns[kind];
	return (used_up(r, &c, "ROW"));
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
	if ((status = used_up(r, &c, "TRAILER")) != CL_OK)
		return (status);
	if (end->end < 1 || end->end > 3 || zero != 0)
		return (bad(r, "a trailer with end %u, or what must be 0 is "
		    "not", end->end));
	if (end->records != r->records)
		return (bad(r, "the trailer counts %llu records, and there "
		    "are %llu", (unsigned long long)end->records,
		    (unsigned long long)r->records));
	if (r->next[CL_STATS_LOGICAL][CL_STATS_RUN] == 0)
		return (bad(r, "a run ends without a row for the whole run"));
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
		return (bad(r, rec->type == REC_RUN ? "a second RUN record" :
		    "a record of type %u where RUN is wanted", rec->type));
	switch (rec->type) {
	case REC_RUN:
		return (take_run(r, rec));
	case REC_COLUMNS:
		return (take_columns(r, rec));
	case REC_ROW:
		return (take_row(r, rec));
	case REC_MACHINE:
		return (take_machine(r, rec));
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

static int
read_one(struct cl_stats_reader *r)
{
	struct cl_rec rec;
	int status;

	if (!r->inside && (status = enter(r)) != CL_OK)
		return (status);
	for (;;) {
		if ((status = cl_rec_next(r->src, &rec, &r->err)) != CL_OK)
			return (status);
		r->off = rec.off;
		r->records++;
		if (rec.type >= REC_RUN && rec.type <= REC_TRAILER)
			return (take(r, &rec));
		if ((rec.type & CL_REC_OPTIONAL) == 0)
			return (cl_fail(&r->err, CL_ENOTSUP, "%s: byte %llu: "
			    "unknown record type %u", cl_src_name(r->src),
			    (unsigned long long)rec.off, rec.type));
		if (r->records == 1)
			return (bad(r, "a record of type %u where RUN is "
			    "wanted", rec.type));
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
	cl_src_close(r->src);
	free(r);
}
