/*
 * A comparison for people: conditions that differ come first, since they are
 * what the differences below are due to.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/table.h"
#include "cl/text.h"
#include "compare_int.h"

#define LABEL	20			/* columns before a condition */
#define HEAD	14			/* rows kept of a long table */
#define TAIL	6

static int
begin(struct cl_compare *c, struct cl_err *err)
{

	(void)c;
	(void)err;
	return (CL_OK);
}

/* Input and number of a run, and what it is. */
static void
name_side(struct cl_compare *c, const char *letter,
    const struct cl_compare_side *side, const struct cl_run *run)
{
	char text[1500], count[40], which[40] = "", what[140];
	struct cl_cell slots = cl_run_cond(run, "cache_experts");

	if (side->n > 1)
		(void)snprintf(which, sizeof(which), " run %zu:",
		    (size_t)(run - side->run) + 1);
	if (slots.type == CL_STATS_NONE)
		(void)snprintf(what, sizeof(what), "%.60s", cl_run_what(run));
	else
		(void)snprintf(what, sizeof(what), "%.60s, %s experts cached",
		    cl_run_cond_text(run, "policy", "policy unknown"),
		    cl_cell_text(&slots, count, sizeof(count)));
	(void)snprintf(text, sizeof(text), "%.400s:%s %s%.400s, %s%s%s",
	    side->name, which, cl_run_synthetic(run) ? "SYNTHETIC " : "",
	    cl_run_cond_text(run, "trace", "a trace"), what,
	    run->end.end == 1 ? "" : "; the run is ",
	    run->end.end == 1 ? "" : cl_run_end(run));
	cl_table_wrap(c->dst, letter, 3, text);
}

static void
heading(struct cl_compare *c, const struct cl_compare_pair *p,
    const char *note)
{

	if (c->npairs > 1)
		cl_dst_printf(c->dst, "\n");
	if (c->pairs->n > 1)
		cl_dst_printf(c->dst, "%spair %zu of %zu%s\n",
		    c->options.bold ? "\033[1m" : "", c->npairs, c->pairs->n,
		    c->options.bold ? "\033[0m" : "");
	name_side(c, "a", c->a, p->a);
	name_side(c, "b", c->b, p->b);
	if (note != NULL) {
		cl_dst_printf(c->dst, "\n");
		cl_table_wrap(c->dst, "FORCED:", 8, note);
		cl_table_wrap(c->dst, "", 8, "What follows compares figures "
		    "that were not counted on the same grounds: their "
		    "differences are no effect of the conditions alone.");
	} else if (p->a->end.routing == 0 || p->b->end.routing == 0) {
		cl_dst_printf(c->dst, "\nnot known to be of the same trace: "
		    "it was not read to its end\n");
	}
}

/* Values may be long: one below the other, so that nothing is cut. */
static void
conditions(struct cl_compare *c, const struct cl_compare_pair *p)
{
	char name[64], label[80], text[4096];
	struct field f;
	size_t i, n = 0;

	cl_dst_printf(c->dst, "\n");
	for (i = 0; cl_compare_cond(p, i, &f); i++) {
		if (cl_cell_equal(&f.a, &f.b))
			continue;
		if (n++ == 0)
			cl_dst_printf(c->dst, "conditions that differ\n");
		(void)cl_text_vis(name, sizeof(name), f.name,
		    strlen(f.name));
		(void)snprintf(label, sizeof(label), "%-*s a", LABEL - 4,
		    name);
		cl_table_wrap(c->dst, label, LABEL,
		    cl_cell_text(&f.a, text, sizeof(text)));
		(void)snprintf(label, sizeof(label), "%*s b", LABEL - 4, "");
		cl_table_wrap(c->dst, label, LABEL,
		    cl_cell_text(&f.b, text, sizeof(text)));
	}
	if (n == 0)
		cl_dst_printf(c->dst, "all conditions are the same\n");
}

/* The values of a field, and how they change. */
static void
add_field(struct cl_table *t, const struct field *f)
{
	char buf[64], figure[CL_FIGURE_MAX];
	double a, b;

	cl_table_add(t, "%s", cl_cell_text(&f->a, buf, sizeof(buf)));
	cl_table_add(t, "%s", cl_cell_text(&f->b, buf, sizeof(buf)));
	if (cl_cell_equal(&f->a, &f->b)) {
		cl_table_add(t, "%s", "");
		cl_table_add(t, "%s", "");
	} else if (f->a.type == CL_STATS_NONE || f->b.type == CL_STATS_NONE) {
		cl_table_add(t, f->a.type == CL_STATS_NONE ? "only b" :
		    "only a");
		cl_table_add(t, "%s", "");
	} else if (!cl_cell_number(&f->a, &a) || !cl_cell_number(&f->b, &b)) {
		cl_table_add(t, "differ");
		cl_table_add(t, "%s", "");
	} else {
		if (f->a.type == CL_STATS_U64 && f->b.type == CL_STATS_U64)
			cl_table_add(t, "%s", cl_figure_change(figure, f->a.u,
			    f->b.u));
		else
			cl_table_add(t, "%+.6g", b - a);
		cl_table_add(t, "%s", cl_figure_relative(figure, a, b));
	}
}

/* Rates are compared in points, which add up, and not in per cent of them. */
static void
add_hit_rate(struct cl_table *t, const struct cl_compare_pair *p,
    const struct row_pair *rows)
{
	char buf[CL_FIGURE_MAX];
	uint64_t ha, hb, na, nb;
	double a, b;
	bool known;

	(void)cl_run_count(p->a, CL_STATS_LOGICAL, rows->a, "hits", &ha);
	(void)cl_run_count(p->b, CL_STATS_LOGICAL, rows->b, "hits", &hb);
	(void)cl_run_count(p->a, CL_STATS_LOGICAL, rows->a, "accesses", &na);
	(void)cl_run_count(p->b, CL_STATS_LOGICAL, rows->b, "accesses", &nb);
	known = cl_figure_ratio(ha, na, &a);
	known = cl_figure_ratio(hb, nb, &b) && known;
	cl_table_add(t, "  hits / accesses");
	cl_table_add(t, "%s", cl_figure_percent(buf, ha, na));
	cl_table_add(t, "%s", cl_figure_percent(buf, hb, nb));
	if (known && (a < b || a > b))
		cl_table_add(t, "%+.2f points", 100 * (b - a));
	cl_table_fill(t);
}

/* A table of one pair of rows; only: fields that differ. */
static int
fields(struct cl_compare *c, const struct cl_compare_pair *p,
    const char *title, enum cl_stats_kind kind, enum cl_stats_scope scope,
    uint32_t index, struct cl_err *err)
{
	struct row_pair rows = { index,
	    cl_run_find(p->a, kind, scope, index),
	    cl_run_find(p->b, kind, scope, index) };
	struct cl_table t;
	struct field f;
	size_t i;

	if (rows.a == NULL && rows.b == NULL)
		return (CL_OK);
	cl_table_init(&t, 5, 1);
	cl_table_add(&t, "%s", title);
	cl_table_add(&t, "a");
	cl_table_add(&t, "b");
	cl_table_add(&t, "b - a");
	cl_table_add(&t, "change");
	for (i = 0; cl_compare_field(p, kind, &rows, i, &f); i++) {
		if (scope == CL_STATS_PHASE && cl_cell_equal(&f.a, &f.b))
			continue;
		cl_table_add(&t, "%s", f.name);
		add_field(&t, &f);
		if (kind == CL_STATS_LOGICAL && strcmp(f.name, "hits") == 0)
			add_hit_rate(&t, p, &rows);
	}
	cl_dst_printf(c->dst, "\n");
	return (cl_table_print(&t, c->dst, 0, c->options.bold, err));
}

static int
phases(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	struct row_pair rows;
	uint64_t next = 0;
	int status = CL_OK;

	while (status == CL_OK && cl_compare_rows(p, CL_STATS_LOGICAL,
	    CL_STATS_PHASE, &next, &rows))
		if (cl_compare_differ(p, CL_STATS_LOGICAL, &rows))
			status = fields(c, p, rows.index == 0 ?
			    "prefill, where it differs" :
			    "decode, where it differs", CL_STATS_LOGICAL,
			    CL_STATS_PHASE, rows.index, err);
	return (status);
}

/* One counter of a layer: both values and the change. */
static void
add_layer_field(struct cl_table *t, const struct cl_compare_pair *p,
    const struct row_pair *rows, const char *name)
{
	struct cl_cell a = cl_run_named(p->a, CL_STATS_LOGICAL, rows->a,
	    name);
	struct cl_cell b = cl_run_named(p->b, CL_STATS_LOGICAL, rows->b,
	    name);
	char buf[64];

	cl_table_add(t, "%s", cl_cell_text(&a, buf, sizeof(buf)));
	cl_table_add(t, "%s", cl_cell_text(&b, buf, sizeof(buf)));
	if (a.type == CL_STATS_U64 && b.type == CL_STATS_U64)
		cl_table_add(t, "%s", cl_figure_change(buf, a.u, b.u));
	else
		cl_table_add(t, "-");
}

static int
layers(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_verdict *v, struct cl_err *err)
{
	static const char *const heads[] = { "layer", "hits a", "hits b",
	    "b - a", "misses a", "misses b", "b - a" };
	struct row_pair rows;
	struct cl_table t;
	uint64_t next = 0;
	size_t i, n = 0;

	if (v->layers_differ == 0)
		return (CL_OK);
	cl_table_init(&t, 7, 0);
	for (i = 0; i < 7; i++)
		cl_table_add(&t, "%s", heads[i]);
	while (cl_compare_rows(p, CL_STATS_LOGICAL, CL_STATS_LAYER, &next,
	    &rows)) {
		if (!cl_compare_differ(p, CL_STATS_LOGICAL, &rows))
			continue;
		i = n++;
		if (i == HEAD && !c->options.all &&
		    v->layers_differ > HEAD + TAIL) {
			cl_table_add(&t, "...");
			cl_table_fill(&t);
		}
		if (i >= HEAD && i + TAIL < v->layers_differ &&
		    !c->options.all && v->layers_differ > HEAD + TAIL)
			continue;
		cl_table_add(&t, "%u", rows.index);
		add_layer_field(&t, p, &rows, "hits");
		add_layer_field(&t, p, &rows, "misses");
	}
	cl_dst_printf(c->dst, "\n%zu of %zu layers differ\n",
	    v->layers_differ, v->layers);
	return (cl_table_print(&t, c->dst, 0, c->options.bold, err));
}

/* What a row is of: its keys, or its number. */
static void
add_keys(struct cl_table *to, const struct cl_compare_pair *p,
    const struct cl_compare_table *t, const struct table_row *row)
{
	bool in_a = row->a != CL_COMPARE_ALONE;
	const struct cl_run_table *one = in_a ? t->a : t->b;
	size_t at = in_a ? row->a : row->b, k;
	struct cl_cell cell;
	char text[200] = "", b[64];
	size_t n = 0;

	for (k = 0; k < one->nkeys && n < 40; k++) {
		cell = cl_run_table_cell(in_a ? p->a : p->b, one, at, k);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.60s",
		    k == 0 ? "" : " ", cl_cell_text(&cell, b, sizeof(b)));
	}
	if (one->nkeys == 0)
		(void)snprintf(text, sizeof(text), "row %zu", at);
	cl_table_add(to, "%.40s", text);
}

/* The fields of a row that differ, a line each. */
static void
add_row(struct cl_table *to, const struct cl_compare_pair *p,
    const struct cl_compare_table *t, const struct table_row *row)
{
	size_t nkeys = t->a->nkeys, i;
	struct field f;

	for (i = 0; cl_compare_table_field(p, t, row, i, &f); i++) {
		if (cl_cell_equal(&f.a, &f.b) || (i < nkeys &&
		    t->a->nkeys == t->b->nkeys))
			continue;
		add_keys(to, p, t, row);
		cl_table_add(to, "%.24s", f.name);
		add_field(to, &f);
	}
}

static int
one_table(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_table *t, struct cl_err *err)
{
	static const char *const heads[] = { "row", "column", "a", "b",
	    "b - a", "change" };
	size_t ndiffer = cl_compare_table_ndiffer(p, t), next = 0, n = 0, i;
	struct table_row row;
	struct cl_table to;
	char name[64];

	if (cl_compare_table_same(p, t))
		return (CL_OK);
	cl_dst_printf(c->dst, "\ntable %s%s: %zu of %zu rows differ\n",
	    cl_text_vis(name, sizeof(name), t->name, strlen(t->name)),
	    t->a == NULL ? ", only b" : t->b == NULL ? ", only a" : "",
	    ndiffer, cl_compare_table_rows(t));
	if (t->a == NULL || t->b == NULL)
		return (CL_OK);
	cl_table_init(&to, 6, 3);
	for (i = 0; i < 6; i++)
		cl_table_add(&to, "%s", heads[i]);
	while (cl_compare_table_next(t, &next, &row)) {
		if (!cl_compare_table_differ(p, t, &row))
			continue;
		if (!c->options.all && n++ == HEAD + TAIL) {
			cl_table_add(&to, "...");
			cl_table_fill(&to);
			break;
		}
		add_row(&to, p, t, &row);
	}
	return (cl_table_print(&to, c->dst, 0, c->options.bold, err));
}

static int
tables(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	size_t i;
	int status = CL_OK;

	for (i = 0; i < p->ntables && status == CL_OK; i++)
		status = one_table(c, p, &p->table[i], err);
	return (status);
}

/* What became of a member, and who was thrown out for it. */
static void
add_outcome(struct cl_table *t, const struct cl_decision *d, uint32_t i,
    uint32_t *next)
{
	const struct cl_decision_victim *v = cl_decision_victim(d, i, next);

	cl_table_add(t, "%s%s", cl_decision_class(d->class[i]),
	    (d->class[i] & CL_DECISION_NOT_KEPT) != 0 ? ", not kept" : "");
	if (v != NULL)
		cl_table_add(t, "%u:%u", v->layer, v->expert);
	else
		cl_table_add(t, "%s", "");
}

static void
add_place(struct cl_table *t, const struct event_pair *e)
{
	const struct cl_decision *d = e->a != NULL ? e->a : e->b;

	cl_table_add(t, "%llu", (unsigned long long)d->pass);
	cl_table_add(t, "%llu", (unsigned long long)d->token);
	cl_table_add(t, "%u", d->layer);
}

/* An event as one line. */
static void
add_whole(struct cl_table *t, const struct event_pair *e, const char *what)
{

	add_place(t, e);
	cl_table_add(t, "-");
	cl_table_add(t, "%s", what);
	cl_table_fill(t);
}

/* The members of an event that differ, a line each. */
static void
add_event(struct cl_table *t, const struct event_pair *e)
{
	uint32_t i, next_a = 0, next_b = 0, at_a, at_b;
	const struct cl_decision_victim *va, *vb;
	size_t ncells = t->ncells;

	if (e->a == NULL || e->b == NULL ||
	    !cl_compare_log_members(e->a, e->b)) {
		add_whole(t, e, e->a == NULL ? "only b" :
		    e->b == NULL ? "only a" : "other members");
		return;
	}
	for (i = 0; i < e->a->n; i++) {
		at_a = next_a;
		at_b = next_b;
		va = cl_decision_victim(e->a, i, &next_a);
		vb = cl_decision_victim(e->b, i, &next_b);
		if (e->a->class[i] == e->b->class[i] && (va == NULL ||
		    (va->layer == vb->layer && va->expert == vb->expert)))
			continue;
		add_place(t, e);
		cl_table_add(t, "%u", e->a->expert[i]);
		add_outcome(t, e->a, i, &at_a);
		add_outcome(t, e->b, i, &at_b);
	}
	if (t->ncells == ncells)
		add_whole(t, e, "other choices");
}

static int
first_events(struct cl_compare *c, const struct cl_compare_pair *p,
    uint64_t ndiffer, struct cl_err *err)
{
	static const char *const heads[] = { "pass", "token", "layer",
	    "expert", "a", "throws out", "b", "throws out" };
	struct event_pair e;
	struct log_walk w;
	struct cl_table t;
	uint64_t n, most = c->options.all ? ndiffer : COMPARE_EVENTS;
	unsigned i;
	int status = CL_OK;

	cl_table_init(&t, 8, 0xf0);
	for (i = 0; i < 8; i++)
		cl_table_add(&t, "%s", heads[i]);
	cl_compare_log_begin(&w, p);
	for (n = 0; n < most && (c->options.all ||
	    t.ncells <= 8 * (HEAD + TAIL)) &&
	    (status = cl_compare_log_next(&w, &e, err)) == CL_OK; n++)
		add_event(&t, &e);
	cl_compare_log_end(&w);
	if (status != CL_OK && status != CL_END) {
		cl_table_free(&t);
		return (status);
	}
	if (n < ndiffer) {
		cl_table_add(&t, "...");
		cl_table_fill(&t);
	}
	return (cl_table_print(&t, c->dst, 0, c->options.bold, err));
}

/* Logs of events, where both sides have one. */
static int
events(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	uint64_t longer = p->a->nlogged > p->b->nlogged ? p->a->nlogged :
	    p->b->nlogged;
	struct log_counts n;
	char text[2][32];
	int status;

	if (!cl_compare_has_logs(p))
		return (CL_OK);
	if ((status = cl_compare_log_count(p, &n, err)) != CL_OK)
		return (status);
	cl_dst_printf(c->dst, "\nlog: %s of %s events differ",
	    cl_text_count(text[0], n.differ), cl_text_count(text[1], longer));
	if (n.others > 0)
		cl_dst_printf(c->dst, ", %s in their members",
		    cl_text_count(text[0], n.others));
	if (n.alone > 0)
		cl_dst_printf(c->dst, ", %s only %s has",
		    cl_text_count(text[0], n.alone),
		    p->a->nlogged == longer ? "a" : "b");
	cl_dst_printf(c->dst, "; %s accesses hit in a alone, %s in b\n",
	    cl_text_count(text[0], n.hits_a),
	    cl_text_count(text[1], n.hits_b));
	return (n.differ == 0 ? CL_OK : first_events(c, p, n.differ, err));
}

static void
verdict(struct cl_compare *c, const struct cl_compare_verdict *v)
{
	char from[32], to[32];

	cl_dst_printf(c->dst, "\n");
	if (v->parted)
		cl_dst_printf(c->dst, "decisions part between tokens %s and "
		    "%s\n", cl_text_count(from, v->parted_from + 1),
		    cl_text_count(to, v->parted_to));
	if (v->same)
		cl_dst_printf(c->dst, "the same: all %zu counters, %zu "
		    "layers", v->counters, v->layers);
	else
		cl_dst_printf(c->dst, "different: %zu of %zu counters, %zu "
		    "of %zu layers", v->counters_differ, v->counters,
		    v->layers_differ, v->layers);
	if (v->same && v->tables > 0)
		cl_dst_printf(c->dst, ", %zu tables", v->tables);
	else if (v->tables > 0)
		cl_dst_printf(c->dst, ", %zu of %zu tables",
		    v->tables_differ, v->tables);
	cl_dst_printf(c->dst, "\n");
}

static int
pair(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_verdict *v, const char *note, struct cl_err *err)
{
	int status;

	heading(c, p, note);
	conditions(c, p);
	if ((status = fields(c, p, "counted", CL_STATS_LOGICAL, CL_STATS_RUN,
	    0, err)) != CL_OK ||
	    (status = phases(c, p, err)) != CL_OK ||
	    (status = fields(c, p, "measured, no verdict", CL_STATS_MEASURED,
	    CL_STATS_RUN, 0, err)) != CL_OK ||
	    (status = layers(c, p, v, err)) != CL_OK ||
	    (status = tables(c, p, err)) != CL_OK ||
	    (status = events(c, p, err)) != CL_OK)
		return (status);
	verdict(c, v);
	return (CL_OK);
}

/* "hits 1,234 to 1,300 (+66)" */
static void
add_sum(struct cl_compare *c, const struct field *f)
{
	char a[40], b[40], change[CL_FIGURE_MAX];

	cl_dst_printf(c->dst, "%s %s to %s", f->name,
	    cl_cell_text(&f->a, a, sizeof(a)),
	    cl_cell_text(&f->b, b, sizeof(b)));
	if (f->a.type == CL_STATS_U64 && f->b.type == CL_STATS_U64 &&
	    f->a.u != f->b.u)
		cl_dst_printf(c->dst, " (%s)", cl_figure_change(change,
		    f->a.u, f->b.u));
}

static void
total(struct cl_compare *c, size_t nalone)
{

	cl_dst_printf(c->dst, "\ntotal: %zu pair%s, %zu the same, %zu "
	    "different, %zu run%s without a partner\n       ", c->npairs,
	    c->npairs == 1 ? "" : "s", c->nsame, c->npairs - c->nsame,
	    nalone, nalone == 1 ? "" : "s");
	add_sum(c, &c->hits);
	cl_dst_printf(c->dst, ", ");
	add_sum(c, &c->misses);
	cl_dst_printf(c->dst, "\n");
}

/* One pair and nothing else needs no summary. */
static int
end(struct cl_compare *c, struct cl_err *err)
{
	const struct cl_compare_pairs *p = c->pairs;
	size_t i, nalone = p->nonly_a + p->nonly_b;

	(void)err;
	if (nalone > 0)
		cl_dst_printf(c->dst, "\nwithout a partner\n");
	for (i = 0; i < p->nonly_a; i++)
		name_side(c, "a", c->a, &c->a->run[p->only_a[i]]);
	for (i = 0; i < p->nonly_b; i++)
		name_side(c, "b", c->b, &c->b->run[p->only_b[i]]);
	if (nalone > 0 || p->n > 1)
		total(c, nalone);
	return (CL_OK);
}

const struct compare_form cl_compare_text = { begin, pair, end };
