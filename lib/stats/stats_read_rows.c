/*
 * Rows of counters, and those of tables.  Indices ascend within their kind and
 * scope, so that "seen before" is a comparison.  A part of a table stays where
 * it was read, and its rows are taken one by one.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rec.h"
#include "cl/vec.h"
#include "stats_read_int.h"

#define TABLE_KIND	0		/* offsets in a table */
#define TABLE_SHAPE	2		/* columns and keys */
#define TABLE_ROWS	8		/* before this record, and in it */
#define TABLE_HEAD	20		/* the name */
#define TABLE_NAME_MAX	255

/* Kind, scope and index of a row: known, and in their order. */
static int
place_row(struct cl_stats_reader *r, unsigned kind, unsigned scope,
    uint32_t index)
{
	static const uint64_t limit[SCOPES] = { 0, 1, 2,
	    UINT64_C(1) << 32, UINT64_C(1) << 32 };

	if (kind < CL_STATS_LOGICAL || kind > CL_STATS_MEASURED ||
	    scope < CL_STATS_RUN || scope > CL_STATS_WINDOW)
		return (cl_stats_bad(r, "a row of kind %u and scope %u", kind,
		    scope));
	if (r->columns[kind].kind == 0)
		return (cl_stats_bad(r, "a row of kind %u before its columns",
		    kind));
	if (index >= limit[scope])
		return (cl_stats_bad(r, "a row of scope %u has index %u", scope,
		    index));
	if (index < r->next[kind][scope])
		return (cl_stats_bad(r, "a row of kind %u and scope %u has "
		    "index %u behind index %llu", kind, scope, index,
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
		return (cl_stats_bad(r, "bits set behind the last of %zu "
		    "columns", columns->n));
	return (CL_OK);
}

int
cl_stats_take_row(struct cl_stats_reader *r, const struct cl_rec *rec)
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
		return (cl_stats_used_up(r, &c, "ROW"));
	if (zero != 0)
		return (cl_stats_bad(r, "what must be 0 in a row is %u", zero));
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
	return (cl_stats_used_up(r, &c, "ROW"));
}

void
cl_stats_forget_tables(struct cl_stats_reader *r)
{

	while (r->ntables > 0)
		free(r->tables[--r->ntables]);
	cl_stats_columns_free(&r->table_columns);
	r->more = false;
	r->part_rows = 0;
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
		return (cl_stats_bad(r, "table %zu of at most %d has a name of "
		    "%zu bytes, of 1 to %d", r->ntables, CL_STATS_TABLES_MAX, n,
		    TABLE_NAME_MAX));
	if ((r->tables[r->ntables] = cl_vec_strndup(name, n, &r->err)) == NULL)
		return (r->err.code);
	r->table.name = r->tables[r->ntables++];
	for (i = 0; i + 1 < r->ntables; i++)
		if (strcmp(r->tables[i], r->table.name) == 0)
			return (cl_stats_bad(r, "table \"%s\" stands twice",
			    r->table.name));
	cl_stats_columns_free(&r->table_columns);
	r->table_columns.kind = r->table.kind;
	for (i = 0; i < ncolumns && cl_cur_ok(c); i++)
		if ((status = cl_stats_take_column(r, c, &r->table_columns,
		    true)) != CL_OK)
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
		return (cl_stats_bad(r, "table \"%s\" does not go on as it "
		    "began", r->table.name));
	(void)cl_cur_bytes(c, n - c->pos);
	return (CL_OK);
}

int
cl_stats_take_table(struct cl_stats_reader *r, const struct cl_rec *rec,
    bool *began)
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
		return (cl_stats_used_up(r, c, "TABLE"));
	if (kind < CL_STATS_LOGICAL || kind > CL_STATS_MEASURED || more > 1 ||
	    zero != 0 || ncolumns == 0 || ncolumns > CL_STATS_COLUMNS_MAX ||
	    nkeys > ncolumns)
		return (cl_stats_bad(r, "a table of kind %u, with %zu columns "
		    "of which %zu are keys, or what must be 0 is not", kind,
		    ncolumns, nkeys));
	if (r->columns[CL_STATS_LOGICAL].kind == 0)
		return (cl_stats_bad(r, "a table before the columns of the "
		    "run"));
	*began = !r->more;
	r->table_rows = r->more ? r->table_rows : 0;
	if (*began) {
		r->table.kind = (enum cl_stats_kind)kind;
		r->table.nkeys = nkeys;
		status = begin_table(r, c, ncolumns);
	} else
		status = continue_table(r, c);
	if (status != CL_OK || !cl_cur_ok(c))
		return (status != CL_OK ? status : cl_stats_used_up(r, c,
		    "TABLE"));
	if (before != r->table_rows ||
	    r->part_rows > cl_cur_left(c) / ((ncolumns + 7) / 8))
		return (cl_stats_bad(r, "%u rows behind row %llu of table "
		    "\"%s\": %llu have come, and %zu bytes are left",
		    r->part_rows, (unsigned long long)before, r->table.name,
		    (unsigned long long)r->table_rows, cl_cur_left(c)));
	r->table_rows += r->part_rows;
	r->more = more != 0;
	return (r->part_rows == 0 ? cl_stats_used_up(r, c, "TABLE") : CL_OK);
}

int
cl_stats_take_cells(struct cl_stats_reader *r)
{
	size_t i;
	int status;

	memset(&r->out, 0, sizeof(r->out));
	cl_buf_clear(&r->text);
	status = take_values(r, &r->part, &r->table_columns);
	if (status != CL_OK)
		return (status);
	if ((!cl_cur_ok(&r->part) || --r->part_rows == 0) &&
	    (status = cl_stats_used_up(r, &r->part, "TABLE")) != CL_OK)
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
