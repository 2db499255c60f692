#ifndef STATS_SAY_H
#define STATS_SAY_H

/*
 * What the reader of stat streams delivers, as text, for tests; and the least
 * of a run that it accepts.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cl/decision.h"
#include "cl/err.h"
#include "cl/stats_read.h"
#include "cl/stats_write.h"
#include "memio.h"
#include "unit.h"

/* A stream as text, a line a record: what two readers are compared by. */
struct text {
	char	*s;
	size_t	 n;
	size_t	 cap;
};

static inline void	say(struct text *, const char *, ...)
			    __attribute__((format(printf, 2, 3)));

static inline void
say(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->cap - t->n < 1024) {
		t->cap = 2 * t->cap + 4096;
		t->s = realloc(t->s, t->cap);
		assert(t->s != NULL);
	}
	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < t->cap - t->n);
	t->n += (size_t)n;
}

static inline void
say_conds(struct text *t, const struct cl_stats_conds *conds)
{
	const struct cl_stats_cond *c;
	size_t i;

	for (i = 0; i < conds->n; i++) {
		c = &conds->cond[i];
		say(t, " %s=%u", c->name, c->type);
		if (c->type == CL_STATS_STR)
			say(t, ":%s", c->s);
		else if (c->type == CL_STATS_F64)
			say(t, ":%a", c->f);
		else if (c->type != CL_STATS_NONE)
			say(t, ":%llu", (unsigned long long)c->u);
	}
}

static inline void
say_row(struct text *t, const struct cl_stats_rec *rec)
{
	const struct cl_stats_row *row = rec->row;
	size_t i;

	assert(row->n == rec->columns->n && row->kind == rec->columns->kind);
	say(t, "%u %u %u %llu", row->kind, row->scope, row->index,
	    (unsigned long long)row->tokens);
	for (i = 0; i < row->n; i++) {
		if (!row->value[i].there)
			say(t, " -");
		else if (rec->columns->column[i].type == CL_STATS_F64)
			say(t, " %a", row->value[i].f);
		else
			say(t, " %llu", (unsigned long long)row->value[i].u);
	}
}

static inline void
say_table(struct text *t, const struct cl_stats_table *table)
{
	size_t i;

	say(t, "%s %u %zu", table->name, table->kind, table->nkeys);
	for (i = 0; i < table->ncolumns; i++)
		say(t, " %s=%u", table->column[i].name,
		    table->column[i].type);
}

static inline void
say_cells(struct text *t, const struct cl_stats_rec *rec)
{
	const struct cl_stats_value *v = rec->cells;
	size_t i;

	for (i = 0; i < rec->table->ncolumns; i++, v++) {
		if (!v->there)
			say(t, " -");
		else if (rec->table->column[i].type == CL_STATS_F64)
			say(t, " %a", v->f);
		else if (rec->table->column[i].type == CL_STATS_STR)
			say(t, " \"%s\"", v->s);
		else
			say(t, " %llu", (unsigned long long)v->u);
	}
}

static inline void
say_decision(struct text *t, const struct cl_decision *d)
{
	const struct cl_decision_change *c;
	const struct cl_decision_victim *v;
	const uint16_t *id = d->choice;
	uint32_t i, next = 0;

	say(t, "%llu %llu %d %u:", (unsigned long long)d->pass,
	    (unsigned long long)d->token, d->prefill, d->layer);
	for (i = 0; i < d->n; i++) {
		say(t, " %u %s%s", d->expert[i],
		    cl_decision_class(d->class[i]),
		    (d->class[i] & CL_DECISION_NOT_KEPT) != 0 ? "!" : "");
		if ((v = cl_decision_victim(d, i, &next)) != NULL)
			say(t, " for %u.%u", v->layer, v->expert);
	}
	for (c = d->change; c < d->change + d->nchanges; c++) {
		say(t, " token %u", c->token);
		for (i = 0; i < 2 * c->n; i++)
			say(t, "%s%u", i == c->n ? " uses " : i == c->n +
			    c->nused ? " leaves out " : " ", *id++);
	}
}

/* Everything our reader delivers, and how it ends. */
static inline int
ours(const void *p, size_t n, size_t piece, struct text *t,
    struct cl_err *err)
{
	const struct cl_stats_rec *rec;
	struct cl_stats_reader *r;
	size_t i;
	int status;

	r = cl_stats_reader_new(mem_src(p, n, piece), err);
	assert(r != NULL);
	cl_stats_reader_want(r, true);
	while ((status = cl_stats_read(r, &rec, err)) == CL_OK) {
		say(t, "%u:", rec->kind);
		switch (rec->kind) {
		case CL_STATS_REC_RUN:
		case CL_STATS_REC_MACHINE:
			say_conds(t, rec->conds);
			break;
		case CL_STATS_REC_COLUMNS:
			say(t, "%u", rec->columns->kind);
			for (i = 0; i < rec->columns->n; i++)
				say(t, " %s=%u", rec->columns->column[i].name,
				    rec->columns->column[i].type);
			break;
		case CL_STATS_REC_ROW:
			say_row(t, rec);
			break;
		case CL_STATS_REC_TRAILER:
			say(t, "%u %llu %llu %llx", rec->end->end,
			    (unsigned long long)rec->end->records,
			    (unsigned long long)rec->end->tokens,
			    (unsigned long long)rec->end->routing);
			break;
		case CL_STATS_REC_TABLE:
			say_table(t, rec->table);
			break;
		case CL_STATS_REC_CELLS:
			say_cells(t, rec);
			break;
		case CL_STATS_REC_DECISION:
			say_decision(t, rec->decision);
			break;
		}
		say(t, "\n");
	}
	if (status != CL_END) {		/* a failure sticks */
		assert(cl_stats_read(r, &rec, NULL) == status);
		assert(strncmp(err->msg, "mem: ", 5) == 0);
	}
	cl_stats_reader_free(r);
	return (status);
}

/* No columns, and a row for the whole run. */
static inline int
write_nothing(struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_stats_columns columns = { .kind = CL_STATS_LOGICAL };
	struct cl_stats_row row = { .kind = CL_STATS_LOGICAL,
	    .scope = CL_STATS_RUN };
	int status = cl_stats_write_columns(w, &columns, err);

	return (status == CL_OK ? cl_stats_write_row(w, &row, err) : status);
}

#endif /* STATS_SAY_H */
