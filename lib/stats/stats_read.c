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

#include "cl/buf.h"
#include "cl/cur.h"
#include "cl/decision.h"
#include "cl/err.h"
#include "cl/rec.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "cl/text.h"
#include "cl/vec.h"

enum { REC_RUN = 1, REC_COLUMNS, REC_ROW, REC_MACHINE, REC_TRAILER,
    REC_TABLE = CL_REC_OPTIONAL | 6, REC_EVENTS };

#define COND_MIN	4		/* bytes: type, length, a letter */
#define TABLE_KIND	0		/* offsets in a table */
#define TABLE_SHAPE	2		/* columns and keys */
#define TABLE_ROWS	8		/* before this record, and in it */
#define TABLE_HEAD	20		/* the name */
#define TABLE_NAME_MAX	255
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
	/* Its tables, and the one at hand. */
	char		*tables[CL_STATS_TABLES_MAX];
	size_t		 ntables;
	struct cl_stats_table table;
	struct cl_stats_columns table_columns;
	struct cl_cur	 part;		/* of the record: rows to come */
	uint32_t	 part_rows;	/* that are left in it */
	bool		 more;		/* another part must follow */
	uint64_t	 table_rows;	/* up to the end of this part */
	struct cl_buf	 head;		/* of its first part, up to rows */
	struct cl_buf	 text;		/* of the row at hand */
	struct cl_decision_log log;	/* handed out if it is wanted */
	bool		 wants;
	struct cl_decision decision;
	struct cl_stats_rec out;
};

/* A rule is broken in the record at hand; names from it are made harmless. */
static int __attribute__((format(printf, 2, 3)))
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
forget_tables(struct cl_stats_reader *r)
{

	while (r->ntables > 0)
		free(r->tables[--r->ntables]);
	cl_stats_columns_free(&r->table_columns);
	r->more = false;
	r->part_rows = 0;
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
	forget_tables(r);
	cl_decision_log_begin(&r->log);
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
    struct cl_stats_columns *columns, bool text)
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
	    type != CL_STATS_HASH && !(text && type == CL_STATS_STR))
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
		if ((status = take_column(r, &c, columns, false)) !=
		    CL_OK)
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

/* Text of a row, as a place in r->text, where it stands with its NUL. */
static void
take_text(struct cl_stats_reader *r, struct cl_cur *c,
    struct cl_stats_value *v)
{
	const char *s;
	size_t n = cl_cur_str(c, &s);

	v->u = r->text.n;
	cl_buf_bytes(&r->text, s, n);
	cl_buf_u8(&r->text, 0);
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
		else if (v->there &&
		    columns->column[i].type == CL_STATS_STR)
			take_text(r, c, v);
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

/* A table begins: its name is new, and its columns are kept. */
static int
begin_table(struct cl_stats_reader *r, struct cl_cur *c, size_t ncolumns)
{
	const char *name;
	size_t n = cl_cur_str(c, &name), i;
	int status;

	if (!cl_cur_ok(c))
		return (CL_OK);		/* used_up says so */
	if (n == 0 || n > TABLE_NAME_MAX || r->ntables == CL_STATS_TABLES_MAX)
		return (bad(r, "table %zu of at most %d has a name of %zu "
		    "bytes, of 1 to %d", r->ntables, CL_STATS_TABLES_MAX, n,
		    TABLE_NAME_MAX));
	if ((r->tables[r->ntables] = cl_vec_strndup(name, n, &r->err)) == NULL)
		return (r->err.code);
	r->table.name = r->tables[r->ntables++];
	for (i = 0; i + 1 < r->ntables; i++)
		if (strcmp(r->tables[i], r->table.name) == 0)
			return (bad(r, "table \"%s\" stands twice",
			    r->table.name));
	cl_stats_columns_free(&r->table_columns);
	r->table_columns.kind = r->table.kind;
	for (i = 0; i < ncolumns && cl_cur_ok(c); i++)
		if ((status = take_column(r, c, &r->table_columns, true)) !=
		    CL_OK)
			return (status);
	r->table.ncolumns = ncolumns;
	r->table.column = r->table_columns.column;
	cl_buf_clear(&r->head);
	cl_buf_bytes(&r->head, c->p, c->pos);
	if (r->head.bad)
		return (cl_fail_nomem(&r->err, "a table of statistics"));
	memset(&r->out, 0, sizeof(r->out));
	r->out.kind = CL_STATS_REC_TABLE;
	r->out.table = &r->table;
	return (CL_OK);
}

/* It goes on: all but the numbers of rows stands there again. */
static int
continue_table(struct cl_stats_reader *r, struct cl_cur *c)
{
	const uint8_t *p = r->head.p;
	size_t n = r->head.n;

	if (c->len < n || c->p[TABLE_KIND] != p[TABLE_KIND] ||
	    memcmp(c->p + TABLE_SHAPE, p + TABLE_SHAPE, TABLE_ROWS -
	    TABLE_SHAPE) != 0 ||
	    memcmp(c->p + TABLE_HEAD, p + TABLE_HEAD, n - TABLE_HEAD) != 0)
		return (bad(r, "table \"%s\" does not go on as it began",
		    r->table.name));
	(void)cl_cur_bytes(c, n - c->pos);
	return (CL_OK);
}

/*
 * A part of a table; *began: the first.  Its rows are left to take_cells, and
 * the record stays where it is until they are taken.
 */
static int
take_table(struct cl_stats_reader *r, const struct cl_rec *rec, bool *began)
{
	struct cl_cur *c = &r->part;
	unsigned kind, more, zero;
	size_t ncolumns, nkeys;
	uint64_t before;
	int status;

	cl_cur_init(c, rec->data, rec->len);
	kind = cl_cur_u8(c);
	more = cl_cur_u8(c);
	ncolumns = cl_cur_u16(c);
	nkeys = cl_cur_u16(c);
	zero = cl_cur_u16(c);
	before = cl_cur_u64(c);
	r->part_rows = cl_cur_u32(c);
	if (!cl_cur_ok(c))
		return (used_up(r, c, "TABLE"));
	if (kind < CL_STATS_LOGICAL || kind > CL_STATS_MEASURED || more > 1 ||
	    zero != 0 || ncolumns == 0 || ncolumns > CL_STATS_COLUMNS_MAX ||
	    nkeys > ncolumns)
		return (bad(r, "a table of kind %u, with %zu columns of which "
		    "%zu are keys, or what must be 0 is not", kind, ncolumns,
		    nkeys));
	if (r->columns[CL_STATS_LOGICAL].kind == 0)
		return (bad(r, "a table before the columns of the run"));
	*began = !r->more;
	r->table_rows = r->more ? r->table_rows : 0;
	if (*began) {
		r->table.kind = (enum cl_stats_kind)kind;
		r->table.nkeys = nkeys;
		status = begin_table(r, c, ncolumns);
	} else
		status = continue_table(r, c);
	if (status != CL_OK || !cl_cur_ok(c))
		return (status != CL_OK ? status : used_up(r, c, "TABLE"));
	if (before != r->table_rows ||
	    r->part_rows > cl_cur_left(c) / ((ncolumns + 7) / 8))
		return (bad(r, "%u rows behind row %llu of table \"%s\": %llu "
		    "have come, and %zu bytes are left", r->part_rows,
		    (unsigned long long)before, r->table.name,
		    (unsigned long long)r->table_rows, cl_cur_left(c)));
	r->table_rows += r->part_rows;
	r->more = more != 0;
	return (r->part_rows == 0 ? used_up(r, c, "TABLE") : CL_OK);
}

/* The next row of the part at hand, and nothing behind the last. */
static int
take_cells(struct cl_stats_reader *r)
{
	size_t i;
	int status;

	memset(&r->out, 0, sizeof(r->out));
	cl_buf_clear(&r->text);
	status = take_values(r, &r->part, &r->table_columns);
	if (status != CL_OK)
		return (status);
	if ((!cl_cur_ok(&r->part) || --r->part_rows == 0) &&
	    (status = used_up(r, &r->part, "TABLE")) != CL_OK)
		return (status);
	if (r->text.bad)
		return (cl_fail_nomem(&r->err, "a row of a table"));
	for (i = 0; i < r->table.ncolumns; i++)
		if (r->value[i].there &&
		    r->table.column[i].type == CL_STATS_STR)
			r->value[i].s = (const char *)r->text.p +
			    r->value[i].u;
	r->out.kind = CL_STATS_REC_CELLS;
	r->out.table = &r->table;
	r->out.cells = r->value;
	return (CL_OK);
}

/* The next event of the log, or where rec is not NULL a part of it. */
static int
take_log(struct cl_stats_reader *r, const struct cl_rec *rec)
{
	struct cl_err err = { 0 };
	int status;

	if (r->columns[CL_STATS_LOGICAL].kind == 0)
		return (bad(r, "events before the columns of the run"));
	memset(&r->out, 0, sizeof(r->out));
	r->out.kind = CL_STATS_REC_DECISION;
	r->out.decision = &r->decision;
	status = rec != NULL ?
	    cl_decision_log_part(&r->log, rec->data, rec->len, &err) :
	    cl_decision_log_take(&r->log, &r->decision, &err);
	if (status == CL_ENOMEM)
		return (cl_fail_nomem(&r->err, "an event of the log"));
	return (status == CL_OK ? CL_OK : bad(r, "%s", err.msg));
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
		r->out.kind = CL_STATS_REC_RUN;
		return (take_conds(r, rec, "RUN", &r->run));
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

/* May the record at hand be skipped, whatever it is? */
static int
skip(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	if ((rec->type & CL_REC_OPTIONAL) == 0)
		return (cl_fail(&r->err, CL_ENOTSUP, "%s: byte %llu: unknown "
		    "record type %u", cl_src_name(r->src),
		    (unsigned long long)rec->off, rec->type));
	if (r->records == 1)
		return (bad(r, "a record of type %u where RUN is wanted",
		    rec->type));
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
			return (take_cells(r));
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
			return (bad(r, "a record of type %u where table "
			    "\"%s\" is to go on", rec.type, r->table.name));
		if (rec.type >= REC_RUN && rec.type <= REC_TRAILER)
			return (take(r, &rec));
		if (rec.type == REC_EVENTS && r->records > 1)
			status = take_log(r, &rec);
		else if (rec.type == REC_TABLE && r->records > 1)
			status = take_table(r, &rec, &began);
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
	forget_tables(r);
	cl_buf_free(&r->head);
	cl_buf_free(&r->text);
	cl_decision_log_free(&r->log);
	cl_src_close(r->src);
	free(r);
}
