/*
 * A comparison as strict JSON, laid out as cl-diff(1) says: under each name
 * the values of a and b and their exact difference.
 */

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/listing.h"
#include "compare_int.h"

static int
begin(struct cl_compare *c, struct cl_err *err)
{

	(void)err;
	cl_json_init(&c->json, c->dst);
	cl_json_object(&c->json, NULL);
	cl_json_str(&c->json, "a", c->a->name);
	cl_json_str(&c->json, "b", c->b->name);
	cl_json_array(&c->json, "pairs");
	return (CL_OK);
}

/* b - a: exact, or null where it is no number or beyond an integer. */
static void
change(struct cl_json *j, const struct field *f)
{

	if (f->a.type == CL_STATS_F64 && f->b.type == CL_STATS_F64)
		cl_json_double(j, "change", f->b.f - f->a.f);
	else if (f->a.type != CL_STATS_U64 || f->b.type != CL_STATS_U64)
		cl_json_null(j, "change");
	else if (f->b.u >= f->a.u)
		cl_json_u64(j, "change", f->b.u - f->a.u);
	else if (f->a.u - f->b.u <= INT64_MAX)
		cl_json_i64(j, "change", -(int64_t)(f->a.u - f->b.u));
	else
		cl_json_null(j, "change");
}

static void
member(struct cl_json *j, const struct field *f, bool with_change)
{

	cl_json_object_row(j, f->name);
	cl_cell_json(&f->a, j, "a");
	cl_cell_json(&f->b, j, "b");
	if (with_change)
		change(j, f);
	cl_json_end(j);
}

static void
conditions(struct cl_json *j, const struct cl_compare_pair *p)
{
	struct field f;
	size_t i;

	cl_json_object(j, "conditions");
	for (i = 0; cl_compare_cond(p, i, &f); i++)
		if (!cl_cell_equal(&f.a, &f.b))
			member(j, &f, false);
	cl_json_end(j);
}

/* The fields of a pair of rows for which either side has a value. */
static void
fields(struct cl_json *j, const struct cl_compare_pair *p,
    enum cl_stats_kind kind, const struct row_pair *rows)
{
	struct field f;
	size_t i;

	for (i = 0; cl_compare_field(p, kind, rows, i, &f); i++)
		if (f.a.type != CL_STATS_NONE || f.b.type != CL_STATS_NONE)
			member(j, &f, true);
}

static void
row_object(struct cl_json *j, const char *key,
    const struct cl_compare_pair *p, enum cl_stats_kind kind,
    enum cl_stats_scope scope, uint32_t index)
{
	struct row_pair rows = { index,
	    cl_run_find(p->a, kind, scope, index),
	    cl_run_find(p->b, kind, scope, index) };

	if (rows.a == NULL && rows.b == NULL) {
		cl_json_null(j, key);
		return;
	}
	cl_json_object(j, key);
	fields(j, p, kind, &rows);
	cl_json_end(j);
}

/* Rows that differ, under their index. */
static void
differing(struct cl_json *j, const char *key, const char *index_key,
    const struct cl_compare_pair *p, enum cl_stats_scope scope)
{
	struct row_pair rows;
	uint64_t next = 0;

	cl_json_array(j, key);
	while (cl_compare_rows(p, CL_STATS_LOGICAL, scope, &next, &rows)) {
		if (!cl_compare_differ(p, CL_STATS_LOGICAL, &rows))
			continue;
		cl_json_object_row(j, NULL);
		cl_json_u64(j, index_key, rows.index);
		fields(j, p, CL_STATS_LOGICAL, &rows);
		cl_json_end(j);
	}
	cl_json_end(j);
}

/* Of each table the rows that differ; their keys are fields that do not. */
static void
tables(struct cl_json *j, const struct cl_compare_pair *p)
{
	const struct cl_compare_table *t;
	struct table_row row;
	struct field f;
	size_t next, i;

	cl_json_object(j, "tables");
	for (t = p->table; t < p->table + p->ntables; t++) {
		cl_json_array(j, t->name);
		for (next = 0; cl_compare_table_next(t, &next, &row);) {
			if (!cl_compare_table_differ(p, t, &row))
				continue;
			cl_json_object_row(j, NULL);
			for (i = 0; cl_compare_table_field(p, t, &row, i,
			    &f); i++)
				member(j, &f, true);
			cl_json_end(j);
		}
		cl_json_end(j);
	}
	cl_json_end(j);
}

static void
event(struct cl_json *j, const char *key, const struct cl_decision *d)
{

	if (d == NULL) {
		cl_json_null(j, key);
		return;
	}
	cl_json_object_row(j, key);
	cl_listing_event(j, d);
	cl_json_end(j);
}

static int
first_events(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	struct cl_json *j = &c->json;
	struct event_pair e;
	struct log_walk w;
	unsigned n;
	int status = CL_OK;

	cl_json_array(j, "first");
	cl_compare_log_begin(&w, p);
	for (n = 0; (n < COMPARE_EVENTS || c->options.all) && (status =
	    cl_compare_log_next(&w, &e, err)) == CL_OK; n++) {
		cl_json_object(j, NULL);
		cl_json_u64(j, "event", e.number);
		event(j, "a", e.a);
		event(j, "b", e.b);
		cl_json_end(j);
	}
	cl_compare_log_end(&w);
	cl_json_end(j);
	return (status == CL_END ? CL_OK : status);
}

/* Logs of events, null where a side has none. */
static int
events(struct cl_compare *c, const struct cl_compare_pair *p,
    struct cl_err *err)
{
	struct cl_json *j = &c->json;
	struct log_counts n;
	int status;

	if (!cl_compare_has_logs(p)) {
		cl_json_null(j, "events");
		return (CL_OK);
	}
	if ((status = cl_compare_log_count(p, &n, err)) != CL_OK)
		return (status);
	cl_json_object(j, "events");
	cl_json_u64(j, "a", p->a->nlogged);
	cl_json_u64(j, "b", p->b->nlogged);
	cl_json_u64(j, "differ", n.differ);
	cl_json_u64(j, "other_members", n.others);
	cl_json_u64(j, "hits_of_a_alone", n.hits_a);
	cl_json_u64(j, "hits_of_b_alone", n.hits_b);
	status = first_events(c, p, err);
	cl_json_end(j);
	return (status);
}

static int
pair(struct cl_compare *c, const struct cl_compare_pair *p,
    const struct cl_compare_verdict *v, const char *note, struct cl_err *err)
{
	struct cl_json *j = &c->json;
	int status;

	cl_json_object(j, NULL);
	cl_json_bool(j, "same", v->same);
	if (note == NULL)
		cl_json_null(j, "forced");
	else
		cl_json_str(j, "forced", note);
	conditions(j, p);
	row_object(j, "totals", p, CL_STATS_LOGICAL, CL_STATS_RUN, 0);
	cl_json_object(j, "phases");
	row_object(j, "prefill", p, CL_STATS_LOGICAL, CL_STATS_PHASE, 0);
	row_object(j, "decode", p, CL_STATS_LOGICAL, CL_STATS_PHASE, 1);
	cl_json_end(j);
	row_object(j, "measured", p, CL_STATS_MEASURED, CL_STATS_RUN, 0);
	differing(j, "layers", "layer", p, CL_STATS_LAYER);
	tables(j, p);
	if (v->parted) {
		cl_json_object_row(j, "parted");
		cl_json_u64(j, "after_token", v->parted_from);
		cl_json_u64(j, "up_to_token", v->parted_to);
		cl_json_end(j);
	} else
		cl_json_null(j, "parted");
	if ((status = events(c, p, err)) != CL_OK)
		return (status);
	cl_json_str(j, "end_a", cl_run_end(p->a));
	cl_json_str(j, "end_b", cl_run_end(p->b));
	cl_json_end(j);
	return (CL_OK);
}

/* The runs of a side without a partner: their numbers, and what they are. */
static void
alone(struct cl_json *j, const char *letter,
    const struct cl_compare_side *side, const size_t *list, size_t n)
{
	static const char *const names[] = { "trace", "member", "policy",
	    "cache_experts" };
	struct cl_cell cell;
	size_t i, k;

	cl_json_array(j, letter);
	for (i = 0; i < n; i++) {
		cl_json_object_row(j, NULL);
		cl_json_u64(j, "run", list[i] + 1);
		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			cell = cl_run_cond(&side->run[list[i]], names[k]);
			cl_cell_json(&cell, j, names[k]);
		}
		cl_json_end(j);
	}
	cl_json_end(j);
}

static int
end(struct cl_compare *c, struct cl_err *err)
{
	const struct cl_compare_pairs *p = c->pairs;
	struct cl_json *j = &c->json;

	(void)err;
	cl_json_end(j);
	cl_json_object(j, "unpaired");
	alone(j, "a", c->a, p->only_a, p->nonly_a);
	alone(j, "b", c->b, p->only_b, p->nonly_b);
	cl_json_end(j);
	cl_json_object(j, "total");
	cl_json_u64(j, "pairs", c->npairs);
	cl_json_u64(j, "same", c->nsame);
	member(j, &c->hits, true);
	member(j, &c->misses, true);
	cl_json_end(j);
	cl_json_end(j);
	cl_json_finish(j);
	return (CL_OK);
}

const struct compare_form cl_compare_json = { begin, pair, end };
