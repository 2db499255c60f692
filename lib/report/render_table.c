/*
 * Tables of the stream as they are: among the rest of a report for people, and
 * each alone in every form, for those who plot or sort its rows.  What a table
 * means is not known here, but for the names of those that have a file of their
 * own.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define CELL		40		/* bytes shown of one */

/* A cell for people: six digits of what is no integer. */
static void
add_cell(struct cl_table *to, const struct cl_cell *cell)
{
	char b[300];
	double n;

	if (cell->type == CL_STATS_F64 && cl_cell_number(cell, &n))
		cl_table_add(to, "%.6g", n);
	else
		cl_table_add(to, "%.*s", CELL, cl_cell_text(cell, b,
		    sizeof(b)));
}

/* Columns from first to end behind the keys, since a page is not wide. */
static int
print_columns(const struct view *v, const struct cl_run_table *t,
    size_t first, size_t end, struct cl_err *err)
{
	struct cl_table to;
	struct cl_cell cell;
	size_t nkeys = first == 0 ? 0 : t->nkeys, n, i, k, at;
	unsigned left = 0;

	n = nkeys + end - first;
	for (k = 0; k < n; k++) {
		at = k < nkeys ? k : first + k - nkeys;
		if (t->columns.column[at].type == CL_STATS_STR)
			left |= 1u << k;
	}
	cl_table_init(&to, (unsigned)n, left);
	for (i = 0; i <= t->n; i++) {
		if (i > 0 && !cl_render_shown(&to, v, i - 1, t->n))
			continue;
		for (k = 0; k < n; k++) {
			at = k < nkeys ? k : first + k - nkeys;
			cell = (struct cl_cell){ .type = CL_STATS_STR,
			    .s = t->columns.column[at].name };
			if (i > 0)
				cell = cl_run_table_cell(v->run, t, i - 1,
				    at);
			add_cell(&to, &cell);
		}
	}
	return (cl_table_print(&to, v->dst, 2, v->r->options.bold, err));
}

int
cl_render_plain(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	size_t first, end, room, max = 8;
	char name[300];
	int status = CL_OK;

	(void)cl_text_vis(name, sizeof(name), t->name, strlen(t->name));
	cl_dst_printf(v->dst, "\n%s%s%s\n", name,
	    t->columns.kind != CL_STATS_MEASURED ? "" :
	    cl_run_modelled(v->run) ? ", MODELLED" : ", measured",
	    t->n == 0 ? ": no rows" : "");
	if (t->n == 0)
		return (CL_OK);
	for (first = 0; first < t->columns.n && status == CL_OK;
	    first = end) {
		room = first == 0 || t->nkeys >= max ? max : max - t->nkeys;
		end = t->columns.n - first > room ? first + room :
		    t->columns.n;
		if (first > 0)
			cl_dst_printf(v->dst, "\n");
		status = print_columns(v, t, first, end, err);
	}
	return (status);
}

/* Tables that mean something to people, by name. */
static const struct known {
	const char	*name;
	int		(*render)(const struct view *,
			    const struct cl_run_table *, struct cl_err *);
} knowns[] = {
	{ "bound", cl_render_bound },
	{ "capacities", cl_render_capacities },
	{ "curve", cl_render_curve },
	{ "expert_use", cl_render_elsewhere },
	{ "foresight", cl_render_study },
	{ "foresight_rank", cl_render_study },
	{ "layer_overlap", cl_render_study },
	{ "read_latency", cl_render_latency },
	{ "reuse", cl_render_study },
	{ "reuse_distance", cl_render_study },
};

int
cl_render_tables(const struct view *v, struct cl_err *err)
{
	const struct cl_run_table *t;
	size_t i, n = sizeof(knowns) / sizeof(knowns[0]);
	int status = CL_OK;

	for (t = v->run->table; t < v->run->table + v->run->ntables &&
	    status == CL_OK; t++) {
		for (i = 0; i < n; i++)
			if (strcmp(knowns[i].name, t->name) == 0)
				break;
		status = i < n ? knowns[i].render(v, t, err) :
		    cl_render_plain(v, t, err);
	}
	return (status);
}

/*
 * One table alone.
 */
static int
begin(struct cl_render *r, struct cl_err *err)
{

	(void)r;
	(void)err;
	return (CL_OK);
}

/* Note which tables there are, in case none is the one that is wanted. */
static void
note_names(struct cl_render *r, const struct cl_run *run)
{
	const struct cl_run_table *t;
	size_t n, len;
	char *at;

	for (t = run->table; t < run->table + run->ntables; t++) {
		len = strlen(t->name);
		at = r->tables;
		while ((at = strstr(at, t->name)) != NULL &&
		    ((at != r->tables && at[-1] != ' ') ||
		    (at[len] != ',' && at[len] != '\0')))
			at++;
		n = strlen(r->tables);
		if (at == NULL && sizeof(r->tables) - n > len + 8)
			(void)snprintf(r->tables + n, sizeof(r->tables) - n,
			    "%s%s", n == 0 ? "" : ", ", t->name);
	}
}

/* The table that is wanted of a run, or NULL. */
static const struct cl_run_table *
wanted(struct cl_render *r, const struct cl_run *run)
{
	const struct cl_run_table *t = cl_run_table(run, r->options.table);

	r->found = r->found || t != NULL;
	if (!r->found)
		note_names(r, run);
	return (t);
}

static int
end(struct cl_render *r, struct cl_err *err)
{
	char vis[100];

	if (r->found || r->nruns == 0)
		return (CL_OK);
	return (cl_fail(err, CL_EINVAL, "--table \"%s\": no run has it; %s%s",
	    cl_text_vis(vis, sizeof(vis), r->options.table,
	    strlen(r->options.table)), *r->tables == '\0' ?
	    "there are no tables" : "there are ", r->tables));
}

static int
text(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{
	struct view v = { r, r->dst, run, NULL, NULL,
	    strcmp(cl_run_what(run), "replay") == 0 };
	bool first = !r->found;
	const struct cl_run_table *t = wanted(r, run);

	if (t == NULL)
		return (CL_OK);
	if (!first)
		cl_dst_printf(r->dst, "\n");
	cl_render_headline(&v);
	return (cl_render_plain(&v, t, err));
}

/* The head line, where this run's table has other columns than the last. */
static void
tsv_head(struct cl_render *r, const struct cl_run_table *t)
{
	struct cl_hash h;
	uint64_t heads;
	size_t k;

	cl_hash_init(&h);
	for (k = 0; k < t->columns.n; k++)
		cl_hash_add_str(&h, t->columns.column[k].name);
	heads = cl_hash_end(&h);
	if (heads == r->heads)
		return;
	r->heads = heads;
	cl_dst_printf(r->dst, "run");
	for (k = 0; k < t->columns.n; k++) {
		cl_dst_printf(r->dst, "\t");
		cl_cell_tsv_text(r->dst, t->columns.column[k].name);
	}
	cl_dst_printf(r->dst, "\n");
}

static int
tsv(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{
	const struct cl_run_table *t = wanted(r, run);
	struct cl_cell cell;
	size_t i, k;

	(void)err;
	if (t == NULL)
		return (CL_OK);
	tsv_head(r, t);
	for (i = 0; i < t->n; i++) {
		cl_dst_printf(r->dst, "%zu", r->nruns);
		for (k = 0; k < t->columns.n; k++) {
			cl_dst_printf(r->dst, "\t");
			cell = cl_run_table_cell(run, t, i, k);
			cl_cell_tsv(&cell, r->dst);
		}
		cl_dst_printf(r->dst, "\n");
	}
	return (CL_OK);
}

void
cl_render_rows_json(struct cl_json *j, const char *key,
    const struct cl_run *run, const struct cl_run_table *t)
{
	struct cl_cell cell;
	size_t i, k;

	cl_json_array(j, key);
	for (i = 0; t != NULL && i < t->n; i++) {
		cl_json_object_row(j, NULL);
		for (k = 0; k < t->columns.n; k++) {
			cell = cl_run_table_cell(run, t, i, k);
			cl_cell_json(&cell, j, t->columns.column[k].name);
		}
		cl_json_end(j);
	}
	cl_json_end(j);
}

static int
json_begin(struct cl_render *r, struct cl_err *err)
{

	(void)err;
	cl_json_init(&r->json, r->dst);
	cl_json_array(&r->json, NULL);
	return (CL_OK);
}

static int
json(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{

	(void)err;
	cl_render_rows_json(&r->json, NULL, run, wanted(r, run));
	return (CL_OK);
}

static int
json_end(struct cl_render *r, struct cl_err *err)
{

	cl_json_end(&r->json);
	cl_json_finish(&r->json);
	return (end(r, err));
}

const struct render_form cl_render_one_text = { begin, text, end };
const struct render_form cl_render_one_tsv = { begin, tsv, end };
const struct render_form cl_render_one_json = { json_begin, json, json_end };
