/*
 * A comparison as a table of one name a line: pair, scope, index, kind, name,
 * the values of a and b, and b - a where that is a number.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/text.h"
#include "compare_int.h"

static int
begin(struct cl_compare *c, struct cl_err *err)
{

	(void)err;
	cl_dst_printf(c->dst, "pair\tscope\tindex\tkind\tname\ta\tb\t"
	    "change\n");
	return (CL_OK);
}

static void
change(struct cl_compare *c, const struct field *f)
{
	char buf[32];

	if (f->a.type != f->b.type)
		return;
	if (f->a.type == CL_STATS_U64)
		cl_dst_printf(c->dst, "%s%" PRIu64, f->b.u < f->a.u ? "-" :
		    "", f->b.u < f->a.u ? f->a.u - f->b.u : f->b.u - f->a.u);
	else if (f->a.type == CL_STATS_F64 && isfinite(f->b.f - f->a.f))
		cl_dst_printf(c->dst, "%s", cl_text_double(buf,
		    f->b.f - f->a.f));
}

/* The rest of a line: name, values, change. */
static void
finish_line(struct cl_compare *c, const struct field *f)
{

	cl_cell_tsv_text(c->dst, f->name);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->a, c->dst);
	cl_dst_printf(c->dst, "\t");
	cl_cell_tsv(&f->b, c->dst);
	cl_dst_printf(c->dst, "\t");
	change(c, f);
	cl_dst_printf(c->dst, "\n");
}

/* pair: a number, "total", or empty; place: scope and index. */
static void
line_of(struct cl_compare *c, const char *pair, const char *place,
    const char *kind, const struct field *f)
{

	cl_dst_printf(c->dst, "%s\t%s\t%s\t", pair, place, kind);
	finish_line(c, f);
}

static void
table_line(struct cl_compare *c, const char *name,
    const struct table_row *row, const struct field *f)
{

	cl_dst_printf(c->dst, "%zu\ttable:", c->npairs);
	cl_cell_tsv_text(c->dst, name);
	cl_dst_printf(c->dst, "\t%zu\tlogical\t",
	    row->a == CL_COMPARE_ALONE ? row->b : row->a);
	finish_line(c, f);
}

static void
line(struct cl_compare *c, enum cl_stats_scope scope, uint32_t index,
    const char *kind, const struct field *f)
{
	char number[24], place[32];

	(void)snprintf(number, sizeof(number), "%zu", c->npairs);
	line_of(c, number, cl_run_place(place, scope, index), kind, f);
}

/* All rows of a scope; names that neither side has a value for are not. */
static void
rows(struct cl_compare *c, const struct cl_compare_pair *p,
    enum cl_stats_kind kind, enum cl_stats_scope scope)
{
	struct row_pair at;
	struct field f;
	uint64_t next = 0;
	size_t i;

	while (cl_compare_rows(p, kind, scope, &next, &at))
		for (i = 0; cl_compare_field(p, kind, &at, i, &f); i++)
			if (f.a.type != CL_STATS_NONE ||
			    f.b.type != CL_STATS_NONE)
				line(c, scope, at.index,
				    kind == CL_STATS_LOGICAL ? "logical" :
				    "measured", &f);
}

/* Rows of tables that differ, by their number in a, or in b alone. */
static void
tables(struct cl_compare *c, const struct cl_compare_pair *p)
{
	const struct cl_compare_table *t;
	struct table_row row;
	struct field f;
	size_t next, i;

	for (t = p->table; t < p->table + p->ntables; t++)
		for (next = 0; cl_compare_table_next(t, &next, &row);) {
			if (!cl_compare_table_differ(p, t, &row))
				continue;
			for (i = 0; cl_compare_table_field(p, t, &row, i,
			    &f); i++)
				table_line(c, t->name, &row, &f);
		}
}

/* What each member of an event is, one name a line; and choices. */
enum { EXPERTS, CLASSES, KEPT, VICTIMS, CHANGES, NLISTS };

static void
put_member(struct cl_buf *buf, const struct cl_decision *d, unsigned list,
    uint32_t i, uint32_t *next)
{
	const struct cl_decision_victim *v;
	char text[40] = "-";

	switch (list) {
	case EXPERTS:
		(void)snprintf(text, sizeof(text), "%u", d->expert[i]);
		break;
	case CLASSES:
		(void)snprintf(text, sizeof(text), "%s",
		    cl_decision_class(d->class[i]));
		break;
	case KEPT:
		(void)snprintf(text, sizeof(text), "%d",
		    (d->class[i] & CL_DECISION_NOT_KEPT) == 0);
		break;
	default:
		if ((v = cl_decision_victim(d, i, next)) != NULL)
			(void)snprintf(text, sizeof(text), "%u:%u", v->layer,
			    v->expert);
	}
	if (i > 0)
		cl_buf_u8(buf, ' ');
	cl_buf_bytes(buf, text, strlen(text));
}

/* "4,300". */
static void
put_experts(struct cl_buf *buf, const uint16_t *id, uint32_t n)
{
	char text[8];
	uint32_t i;

	for (i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "%s%u", i == 0 ? "" : ",",
		    id[i]);
		cl_buf_bytes(buf, text, strlen(text));
	}
}

/* Of each token whose choice was changed "17:4,300>4". */
static void
put_changes(struct cl_buf *buf, const struct cl_decision *d)
{
	const struct cl_decision_change *c;
	const uint16_t *id = d->choice;
	char text[24];

	for (c = d->change; c < d->change + d->nchanges; c++) {
		(void)snprintf(text, sizeof(text), "%s%" PRIu64 ":",
		    c == d->change ? "" : " ", d->token + c->token);
		cl_buf_bytes(buf, text, strlen(text));
		put_experts(buf, id, c->n);
		cl_buf_u8(buf, '>');
		put_experts(buf, id + c->n, c->nused);
		id += 2 * (size_t)c->n;
	}
}

/* Members of an event as a cell, which borrows from buf. */
static struct cl_cell
list_of(struct cl_buf *buf, const struct cl_decision *d, unsigned list)
{
	struct cl_cell cell = { .type = CL_STATS_NONE };
	uint32_t i, next = 0;

	cl_buf_clear(buf);
	if (d == NULL)
		return (cell);
	for (i = 0; i < d->n && list != CHANGES; i++)
		put_member(buf, d, list, i, &next);
	if (list == CHANGES)
		put_changes(buf, d);
	cl_buf_u8(buf, 0);
	if (!buf->bad) {
		cell.type = CL_STATS_STR;
		cell.s = (const char *)buf->p;
	}
	return (cell);
}

static struct cl_cell
number(const struct cl_decision *d, uint64_t v)
{
	struct cl_cell cell = { .type = CL_STATS_NONE };

	if (d != NULL) {
		cell.type = CL_STATS_U64;
		cell.u = v;
	}
	return (cell);
}

static void
event(struct cl_compare *c, const struct event_pair *e, struct cl_buf buf[2])
{
	static const char *const lists[NLISTS] = { "experts", "classes",
	    "kept", "victims", "changes" };
	static const struct cl_decision none = { .n = 0 };
	const struct cl_decision *a = e->a != NULL ? e->a : &none;
	const struct cl_decision *b = e->b != NULL ? e->b : &none;
	const struct field places[] = {
		{ "pass", number(e->a, a->pass), number(e->b, b->pass) },
		{ "token", number(e->a, a->token), number(e->b, b->token) },
		{ "layer", number(e->a, a->layer), number(e->b, b->layer) } };
	struct field f;
	char pair[24], place[40];
	unsigned i;

	(void)snprintf(pair, sizeof(pair), "%zu", c->npairs);
	(void)snprintf(place, sizeof(place), "event\t%" PRIu64, e->number);
	for (i = 0; i < 3; i++)
		line_of(c, pair, place, "logical", &places[i]);
	for (i = 0; i < NLISTS; i++) {
		if (i == CHANGES && a->nchanges + b->nchanges == 0)
			continue;
		f = (struct field){ lists[i], list_of(&buf[0], e->a, i),
		    list_of(&buf[1], e->b, i) };
		line_of(c, pair, place, "logical", &f);
	}
}

static int
first_events(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	struct cl_buf buf[2];
	struct event_pair e;
	struct log_walk w;
	unsigned n;
	int status = CL_OK;

	cl_buf_init(&buf[0]);
	cl_buf_init(&buf[1]);
	cl_compare_log_begin(&w, p);
	for (n = 0; (n < COMPARE_EVENTS || c->options.all) && (status =
	    cl_compare_log_next(&w, &e, err)) == CL_OK; n++)
		event(c, &e, buf);
	if (buf[0].bad || buf[1].bad)
		status = cl_fail_nomem(err, "an event");
	cl_compare_log_end(&w);
	cl_buf_free(&buf[0]);
	cl_buf_free(&buf[1]);
	return (status == CL_END ? CL_OK : status);
}

/* Logs of events, where both sides have one. */
static int
events(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	static const struct cl_decision there = { .n = 0 };
	struct log_counts n;
	struct field f[4];
	char pair[24];
	unsigned i;
	int status;

	if (!cl_compare_has_logs(p))
		return (CL_OK);
	if ((status = cl_compare_log_count(p, &n, err)) != CL_OK)
		return (status);
	f[0] = (struct field){ "events", number(&there, p->a->nlogged),
	    number(&there, p->b->nlogged) };
	f[1] = (struct field){ "differ", number(&there, n.differ),
	    number(&there, n.differ) };
	f[2] = (struct field){ "other_members", number(&there, n.others),
	    number(&there, n.others) };
	f[3] = (struct field){ "hits_alone", number(&there, n.hits_a),
	    number(&there, n.hits_b) };
	(void)snprintf(pair, sizeof(pair), "%zu", c->npairs);
	for (i = 0; i < 4; i++)
		line_of(c, pair, "log\t", "logical", &f[i]);
	return (first_events(c, p, err));
}

static int
pair(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_verdict *v, const char *note, struct cl_err *err)
{
	struct field f = { "same", { .type = CL_STATS_BOOL, .u = v->same },
	    { .type = CL_STATS_BOOL, .u = v->same } };
	struct field cond;
	size_t i;
	int status;

	for (i = 0; cl_compare_cond(p, i, &cond); i++)
		if (!cl_cell_equal(&cond.a, &cond.b))
			line(c, CL_STATS_RUN, 0, "condition", &cond);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_RUN);
	rows(c, p, CL_STATS_MEASURED, CL_STATS_RUN);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_PHASE);
	rows(c, p, CL_STATS_LOGICAL, CL_STATS_LAYER);
	if (v->windows)
		rows(c, p, CL_STATS_LOGICAL, CL_STATS_WINDOW);
	tables(c, p);
	if ((status = events(c, p, err)) != CL_OK)
		return (status);
	line(c, CL_STATS_RUN, 0, "verdict", &f);
	if (note != NULL) {
		f = (struct field){ "forced", { .type = CL_STATS_STR,
		    .s = note }, { .type = CL_STATS_STR, .s = note } };
		line(c, CL_STATS_RUN, 0, "verdict", &f);
	}
	return (CL_OK);
}

/* The numbers, from 1, of runs without a partner, under their side. */
static void
alone(struct cl_compare *c, const size_t *list, size_t n, bool of_b)
{
	struct field f = { .name = "run" };
	struct cl_cell *cell = of_b ? &f.b : &f.a;
	size_t i;

	cell->type = CL_STATS_U64;
	for (i = 0; i < n; i++) {
		cell->u = list[i] + 1;
		line_of(c, "", "run\t", "unpaired", &f);
	}
}

static void
total_number(struct cl_compare *c, const char *name, size_t n)
{
	struct cl_cell cell = { .type = CL_STATS_U64, .u = n };
	struct field f = { name, cell, cell };

	line_of(c, "total", "run\t", "verdict", &f);
}

static int
end(struct cl_compare *c, struct cl_err *err)
{

	(void)err;
	alone(c, c->pairs->only_a, c->pairs->nonly_a, false);
	alone(c, c->pairs->only_b, c->pairs->nonly_b, true);
	line_of(c, "total", "run\t", "logical", &c->hits);
	line_of(c, "total", "run\t", "logical", &c->misses);
	total_number(c, "pairs", c->npairs);
	total_number(c, "same", c->nsame);
	return (CL_OK);
}

const struct compare_form cl_compare_tsv = { begin, pair, end };
