/*
 * Gathers the records of one run.  Rows are kept as packed as they come: a
 * bit per column and the values that are there, as words of one pool, so that
 * a stream of empty rows cannot grow into much more than itself.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/decision.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/stats_read.h"
#include "cl/vec.h"

#define WORD	64			/* bits of a pool word */

static int
copy_conds(struct cl_stats_conds *to, const struct cl_stats_conds *from,
    struct cl_err *err)
{
	const struct cl_stats_cond *c;
	size_t i;
	int status = CL_OK;

	for (i = 0; i < from->n && status == CL_OK; i++) {
		c = &from->cond[i];
		switch (c->type) {
		case CL_STATS_NONE:
			status = cl_stats_set_none(to, c->name, err);
			break;
		case CL_STATS_U64:
			status = cl_stats_set_u64(to, c->name, c->u, err);
			break;
		case CL_STATS_F64:
			status = cl_stats_set_f64(to, c->name, c->f, err);
			break;
		case CL_STATS_STR:
			status = cl_stats_set_str(to, c->name, c->s, err);
			break;
		case CL_STATS_HASH:
			status = cl_stats_set_hash(to, c->name, c->u, err);
			break;
		case CL_STATS_BOOL:
			status = cl_stats_set_bool(to, c->name, c->u != 0,
			    err);
			break;
		}
	}
	return (status);
}

static int
copy_columns(struct cl_stats_columns *to, const struct cl_stats_columns *from,
    struct cl_err *err)
{
	size_t i;
	int status = CL_OK;

	to->kind = from->kind;
	for (i = 0; i < from->n && status == CL_OK; i++)
		status = cl_stats_add_column(to, from->column[i].type,
		    from->column[i].name, strlen(from->column[i].name), err);
	return (status);
}

static size_t
nwords(size_t ncolumns)
{

	return ((ncolumns + WORD - 1) / WORD);
}

/* Text of a cell, as its place. */
static uint64_t
keep_text(struct cl_run *run, const char *s)
{
	uint64_t at = run->text.n;

	cl_buf_bytes(&run->text, s, strlen(s) + 1);
	return (at);
}

/* Pack a row at the end of the pool; used: columns that have a value. */
static int
pack(struct cl_run *run, const struct cl_stats_column *column, size_t n,
    const struct cl_stats_value *value, uint64_t *used, struct cl_err *err)
{
	uint64_t *words, *v;
	size_t i;

	if (cl_vec_grow(&run->pool, &run->pool_cap, run->npool + nwords(n) +
	    n + 1, sizeof(*run->pool), err) != CL_OK)
		return (CL_ENOMEM);
	words = run->pool + run->npool;
	v = words + nwords(n);
	for (i = 0; i < n; i++) {
		if (!value[i].there)
			continue;
		words[i / WORD] |= UINT64_C(1) << i % WORD;
		if (used != NULL)
			used[i / WORD] |= UINT64_C(1) << i % WORD;
		if (column[i].type == CL_STATS_F64)
			memcpy(v++, &value[i].f, sizeof(*v));
		else if (column[i].type == CL_STATS_STR)
			*v++ = keep_text(run, value[i].s);
		else
			*v++ = value[i].u;
	}
	run->npool = (size_t)(v - run->pool);
	return (run->text.bad ? cl_fail_nomem(err, "text of a table") :
	    CL_OK);
}

static int
add_row(struct cl_run *run, const struct cl_stats_row *row,
    struct cl_err *err)
{
	struct cl_run_rows *rows = &run->rows[row->kind][row->scope];
	size_t at = run->npool;
	int status;

	if (cl_vec_grow(&rows->row, &rows->cap, rows->n + 1,
	    sizeof(*rows->row), err) != CL_OK)
		return (CL_ENOMEM);
	status = pack(run, run->columns[row->kind].column, row->n,
	    row->value, rows->used, err);
	if (status == CL_OK)
		rows->row[rows->n++] = (struct cl_run_row){ row->index,
		    row->tokens, at };
	return (status);
}

static int
add_table(struct cl_run *run, const struct cl_stats_table *table,
    struct cl_err *err)
{
	const struct cl_stats_columns columns = { .kind = table->kind,
	    .n = table->ncolumns,
	    .column = (struct cl_stats_column *)table->column };
	struct cl_run_table *t;

	if (cl_vec_grow(&run->table, &run->tables_cap, run->ntables + 1,
	    sizeof(*run->table), err) != CL_OK)
		return (CL_ENOMEM);
	t = &run->table[run->ntables];
	memset(t, 0, sizeof(*t));
	if ((t->name = cl_vec_strndup(table->name, strlen(table->name),
	    err)) == NULL)
		return (CL_ENOMEM);
	run->ntables++;
	t->nkeys = table->nkeys;
	return (copy_columns(&t->columns, &columns, err));
}

/* A row of the table that came last. */
static int
add_cells(struct cl_run *run, const struct cl_stats_value *cells,
    struct cl_err *err)
{
	struct cl_run_table *t = &run->table[run->ntables - 1];
	size_t at = run->npool;
	int status;

	if (cl_vec_grow(&t->at, &t->cap, t->n + 1, sizeof(*t->at), err) !=
	    CL_OK)
		return (CL_ENOMEM);
	status = pack(run, t->columns.column, t->columns.n, cells, NULL, err);
	if (status == CL_OK)
		t->at[t->n++] = at;
	return (status);
}

/* It is packed again: a run may be long. */
static int
add_decision(struct cl_run *run, const struct cl_decision *d,
    struct cl_err *err)
{

	cl_decision_put(&run->log, &run->last, d);
	run->nlogged++;
	return (run->log.bad ? cl_fail_nomem(err, "a log of events") : CL_OK);
}

int
cl_run_next(struct cl_stats_reader *r, struct cl_run *run, struct cl_err *err)
{
	const struct cl_stats_rec *rec;
	int status;

	memset(run, 0, sizeof(*run));
	while (!run->whole) {
		if ((status = cl_stats_read(r, &rec, err)) != CL_OK)
			return (status);
		switch (rec->kind) {
		case CL_STATS_REC_RUN:
			run->begun = true;
			status = copy_conds(&run->conds, rec->conds, err);
			break;
		case CL_STATS_REC_COLUMNS:
			status = copy_columns(
			    &run->columns[rec->columns->kind], rec->columns,
			    err);
			break;
		case CL_STATS_REC_MACHINE:
			status = copy_conds(&run->machine, rec->conds, err);
			break;
		case CL_STATS_REC_ROW:
			status = add_row(run, rec->row, err);
			break;
		case CL_STATS_REC_TABLE:
			status = add_table(run, rec->table, err);
			break;
		case CL_STATS_REC_CELLS:
			status = add_cells(run, rec->cells, err);
			break;
		case CL_STATS_REC_DECISION:
			status = add_decision(run, rec->decision, err);
			break;
		case CL_STATS_REC_TRAILER:
			run->end = *rec->end;
			run->whole = true;
			break;
		}
		if (status != CL_OK)
			return (status);
	}
	return (CL_OK);
}

const char *
cl_run_end(const struct cl_run *run)
{
	static const char *const names[] = { NULL, "complete", "incomplete",
	    "interrupted" };

	return (run->whole ? names[run->end.end] : "cut");
}

static int
by_index(const void *key, const void *row)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct cl_run_row *)row)->index;

	return (a < b ? -1 : a > b);
}

const struct cl_run_row *
cl_run_find(const struct cl_run *run, enum cl_stats_kind kind,
    enum cl_stats_scope scope, uint32_t index)
{
	const struct cl_run_rows *rows = &run->rows[kind][scope];

	if (rows->n == 0)
		return (NULL);
	return (bsearch(&index, rows->row, rows->n, sizeof(*rows->row),
	    by_index));
}

static bool
is_set(const uint64_t *words, size_t i)
{

	return ((words[i / WORD] >> i % WORD & 1) != 0);
}

/* Column of a row whose words begin there. */
static struct cl_cell
unpack(const struct cl_run *run, const struct cl_stats_columns *columns,
    size_t at, size_t column)
{
	struct cl_cell cell = { CL_STATS_NONE, 0, 0, NULL };
	const uint64_t *words = run->pool + at, *v;
	size_t i;

	if (column >= columns->n || !is_set(words, column))
		return (cell);
	v = words + nwords(columns->n);
	for (i = 0; i < column; i++)
		v += is_set(words, i);
	cell.type = columns->column[column].type;
	if (cell.type == CL_STATS_F64)
		memcpy(&cell.f, v, sizeof(cell.f));
	else if (cell.type == CL_STATS_STR)
		cell.s = (const char *)run->text.p + *v;
	else
		cell.u = *v;
	return (cell);
}

struct cl_cell
cl_run_cell(const struct cl_run *run, enum cl_stats_kind kind,
    const struct cl_run_row *row, size_t column)
{

	if (row == NULL)
		return ((struct cl_cell){ CL_STATS_NONE, 0, 0, NULL });
	return (unpack(run, &run->columns[kind], row->at, column));
}

const struct cl_run_table *
cl_run_table(const struct cl_run *run, const char *name)
{
	size_t i;

	for (i = 0; i < run->ntables; i++)
		if (strcmp(run->table[i].name, name) == 0)
			return (&run->table[i]);
	return (NULL);
}

struct cl_cell
cl_run_table_cell(const struct cl_run *run, const struct cl_run_table *t,
    size_t i, size_t column)
{

	return (unpack(run, &t->columns, t->at[i], column));
}

struct cl_cell
cl_run_table_named(const struct cl_run *run, const struct cl_run_table *t,
    size_t i, const char *column)
{

	return (unpack(run, &t->columns, t->at[i],
	    cl_stats_column(&t->columns, column)));
}

struct cl_cell
cl_run_named(const struct cl_run *run, enum cl_stats_kind kind,
    const struct cl_run_row *row, const char *column)
{

	return (cl_run_cell(run, kind, row,
	    cl_stats_column(&run->columns[kind], column)));
}

bool
cl_run_count(const struct cl_run *run, enum cl_stats_kind kind,
    const struct cl_run_row *row, const char *column, uint64_t *v)
{
	struct cl_cell cell = cl_run_named(run, kind, row, column);

	*v = cell.type == CL_STATS_U64 ? cell.u : 0;
	return (cell.type == CL_STATS_U64);
}

bool
cl_run_holds(const struct cl_run *run, enum cl_stats_kind kind,
    enum cl_stats_scope scope, size_t column)
{

	return (is_set(run->rows[kind][scope].used, column));
}

struct cl_cell
cl_run_cond(const struct cl_run *run, const char *name)
{

	return (cl_cell_cond(cl_stats_find(&run->conds, name)));
}

const char *
cl_run_cond_text(const struct cl_run *run, const char *name,
    const char *instead)
{
	const struct cl_stats_cond *c = cl_stats_find(&run->conds, name);

	if (c == NULL || c->type != CL_STATS_STR || *c->s == '\0')
		return (instead);
	return (c->s);
}

/* A counter of the whole run divided by another; none without a base. */
static struct cl_cell
ratio(uint64_t part, uint64_t whole, double factor)
{
	struct cl_cell cell = { CL_STATS_NONE, 0, 0, NULL };

	if (cl_figure_ratio(part, whole, &cell.f)) {
		cell.type = CL_STATS_F64;
		cell.f *= factor;
	}
	return (cell);
}

struct cl_cell
cl_run_hit_rate(const struct cl_run *run)
{
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	uint64_t accesses, hits;

	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "accesses", &accesses);
	if (!cl_run_count(run, CL_STATS_LOGICAL, all, "hits", &hits))
		accesses = 0;
	return (ratio(hits, accesses, 1));
}

struct cl_cell
cl_run_tokens_per_s(const struct cl_run *run)
{
	const struct cl_run_row *all = cl_run_find(run, CL_STATS_LOGICAL,
	    CL_STATS_RUN, 0);
	const struct cl_run_row *met = cl_run_find(run, CL_STATS_MEASURED,
	    CL_STATS_RUN, 0);
	uint64_t tokens, wall;

	(void)cl_run_count(run, CL_STATS_LOGICAL, all, "tokens", &tokens);
	(void)cl_run_count(run, CL_STATS_MEASURED, met, "wall_ns", &wall);
	return (ratio(tokens, tokens == 0 ? 0 : wall, 1e9));
}

const char *
cl_run_place(char buf[32], enum cl_stats_scope scope, uint32_t index)
{

	switch (scope) {
	case CL_STATS_RUN:
		return ("run\t");
	case CL_STATS_PHASE:
		return (index == 0 ? "phase\tprefill" : "phase\tdecode");
	case CL_STATS_LAYER:
	case CL_STATS_WINDOW:
		break;
	}
	(void)snprintf(buf, 32, "%s\t%u",
	    scope == CL_STATS_LAYER ? "layer" : "window", index);
	return (buf);
}

bool
cl_run_synthetic(const struct cl_run *run)
{

	return (strcmp(cl_run_cond_text(run, "origin", ""),
	    "SYNTHETIC") == 0);
}

const char *
cl_run_what(const struct cl_run *run)
{

	return (cl_run_cond_text(run, "what", "replay"));
}

bool
cl_run_modelled(const struct cl_run *run)
{
	const struct cl_stats_cond *c = cl_stats_find(&run->machine,
	    "backend");

	return (strcmp(cl_run_cond_text(run, "io", ""), "model") == 0 ||
	    (c != NULL && c->type == CL_STATS_STR &&
	    strcmp(c->s, "model") == 0));
}

bool
cl_run_hindsight(const struct cl_run *run)
{
	struct cl_cell said = cl_run_cond(run, "hindsight");
	struct cl_cell fitted = cl_run_cond(run, "fitted_routing");

	return ((said.type == CL_STATS_BOOL && said.u != 0) ||
	    (fitted.type == CL_STATS_HASH && run->whole &&
	    fitted.u == run->end.routing));
}

void
cl_run_free(struct cl_run *run)
{
	size_t kind, scope;

	while (run->ntables > 0) {
		run->ntables--;
		free(run->table[run->ntables].name);
		cl_stats_columns_free(&run->table[run->ntables].columns);
		free(run->table[run->ntables].at);
	}
	free(run->table);
	cl_buf_free(&run->text);
	cl_buf_free(&run->log);

	cl_stats_conds_free(&run->conds);
	cl_stats_conds_free(&run->machine);
	for (kind = 0; kind <= CL_STATS_MEASURED; kind++) {
		cl_stats_columns_free(&run->columns[kind]);
		for (scope = 0; scope <= CL_STATS_WINDOW; scope++)
			free(run->rows[kind][scope].row);
	}
	free(run->pool);
	memset(run, 0, sizeof(*run));
}
