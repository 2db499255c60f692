/*
 * Logical tables of two runs, matched by name; their columns by name; their
 * rows by what stands in the key columns, those with the same keys in their
 * order, and without keys by their number.  Matching is by sorted hashes of
 * the keys, and made once, when runs are paired.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/vec.h"
#include "compare_int.h"

struct key {
	uint64_t	 hash;
	size_t		 at;
};

static int
by_hash(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->hash != b->hash)
		return (a->hash < b->hash ? -1 : 1);
	return (a->at < b->at ? -1 : a->at > b->at);
}

static uint64_t
hash_keys(const struct cl_run *run, const struct cl_run_table *t, size_t i)
{
	struct cl_hash h;
	struct cl_cell cell;
	size_t k;

	cl_hash_init(&h);
	if (t->nkeys == 0)
		cl_hash_add_u64(&h, i);
	for (k = 0; k < t->nkeys; k++) {
		cell = cl_run_table_cell(run, t, i, k);
		cl_hash_add_u64(&h, cell.type);
		if (cell.type == CL_STATS_STR)
			cl_hash_add_str(&h, cell.s);
		else if (cell.type == CL_STATS_F64)
			cl_hash_add(&h, &cell.f, sizeof(cell.f));
		else
			cl_hash_add_u64(&h, cell.u);
	}
	return (cl_hash_end(&h));
}

/* Do rows i of a and k of b have the same keys?  Hashes could be made to. */
static bool
same_keys(const struct cl_compare_pair *p, const struct cl_compare_table *t,
    size_t i, size_t k)
{
	struct cl_cell a, b;
	size_t n;

	if (t->a->nkeys != t->b->nkeys)
		return (false);
	for (n = 0; n < t->a->nkeys; n++) {
		a = cl_run_table_cell(p->a, t->a, i, n);
		b = cl_run_table_cell(p->b, t->b, k, n);
		if (!cl_cell_equal(&a, &b))
			return (false);
	}
	return (true);
}

/* The rows of a table, sorted by their keys, each still without a partner. */
static int
sort_rows(const struct cl_run *run, const struct cl_run_table *t,
    struct key **keys, size_t **partner, struct cl_err *err)
{
	size_t i;

	*keys = calloc(t->n + 1, sizeof(**keys));
	*partner = calloc(t->n + 1, sizeof(**partner));
	if (*keys == NULL || *partner == NULL)
		return (cl_fail_nomem(err, "rows of a table"));
	for (i = 0; i < t->n; i++) {
		(*keys)[i] = (struct key){ hash_keys(run, t, i), i };
		(*partner)[i] = CL_COMPARE_ALONE;
	}
	qsort(*keys, t->n, sizeof(**keys), by_hash);
	return (CL_OK);
}

static int
join_rows(const struct cl_compare_pair *p, struct cl_compare_table *t,
    struct cl_err *err)
{
	struct key *a = NULL, *b = NULL;
	size_t i = 0, k = 0;
	int status;

	if ((status = sort_rows(p->a, t->a, &a, &t->partner_a, err)) !=
	    CL_OK ||
	    (status = sort_rows(p->b, t->b, &b, &t->partner_b, err)) != CL_OK)
		goto free_keys;
	while (i < t->a->n && k < t->b->n) {
		if (a[i].hash < b[k].hash)
			i++;
		else if (b[k].hash < a[i].hash)
			k++;
		else {
			if (same_keys(p, t, a[i].at, b[k].at)) {
				t->partner_a[a[i].at] = b[k].at;
				t->partner_b[b[k].at] = a[i].at;
			}
			i++;
			k++;
		}
	}
free_keys:
	free(a);
	free(b);
	return (status);
}

/* A table of either side, and the one of that name of the other. */
static int
add_table(struct cl_compare_pair *p, const struct cl_run_table *a,
    const struct cl_run_table *b, struct cl_err *err)
{
	struct cl_compare_table *t;

	if (cl_vec_grow(&p->table, &p->tables_cap, p->ntables + 1,
	    sizeof(*p->table), err) != CL_OK)
		return (CL_ENOMEM);
	t = &p->table[p->ntables++];
	*t = (struct cl_compare_table){ .name = a != NULL ? a->name :
	    b->name, .a = a, .b = b };
	if (a == NULL || b == NULL)
		return (CL_OK);
	cl_compare_match_columns(&t->columns, &a->columns, &b->columns);
	return (join_rows(p, t, err));
}

static const struct cl_run_table *
logical(const struct cl_run *run, const char *name)
{
	const struct cl_run_table *t = cl_run_table(run, name);

	return (t != NULL && t->columns.kind == CL_STATS_LOGICAL ? t : NULL);
}

int
cl_compare_match_tables(struct cl_compare_pair *p, struct cl_err *err)
{
	const struct cl_run_table *t;
	size_t i;
	int status = CL_OK;

	for (i = 0; i < p->a->ntables && status == CL_OK; i++) {
		t = &p->a->table[i];
		if (t->columns.kind == CL_STATS_LOGICAL)
			status = add_table(p, t, logical(p->b, t->name), err);
	}
	for (i = 0; i < p->b->ntables && status == CL_OK; i++) {
		t = &p->b->table[i];
		if (t->columns.kind == CL_STATS_LOGICAL &&
		    logical(p->a, t->name) == NULL)
			status = add_table(p, NULL, t, err);
	}
	return (status);
}

void
cl_compare_free_tables(struct cl_compare_pair *p)
{

	while (p->ntables > 0) {
		p->ntables--;
		free(p->table[p->ntables].partner_a);
		free(p->table[p->ntables].partner_b);
	}
	free(p->table);
	p->table = NULL;
}

size_t
cl_compare_table_rows(const struct cl_compare_table *t)
{
	size_t n = t->a == NULL ? 0 : t->a->n, i;

	if (t->a == NULL)
		return (t->b->n);
	for (i = 0; t->b != NULL && i < t->b->n; i++)
		n += t->partner_b[i] == CL_COMPARE_ALONE;
	return (n);
}

bool
cl_compare_table_next(const struct cl_compare_table *t, size_t *next,
    struct table_row *row)
{
	size_t na = t->a == NULL ? 0 : t->a->n;
	size_t nb = t->b == NULL ? 0 : t->b->n;

	row->a = row->b = CL_COMPARE_ALONE;
	if (*next < na) {
		row->a = (*next)++;
		if (t->b != NULL)
			row->b = t->partner_a[row->a];
		return (true);
	}
	while (*next - na < nb) {
		row->b = (*next)++ - na;
		if (t->a == NULL || t->partner_b[row->b] == CL_COMPARE_ALONE)
			return (true);
	}
	return (false);
}

bool
cl_compare_table_field(const struct cl_compare_pair *p,
    const struct cl_compare_table *t, const struct table_row *row, size_t i,
    struct field *f)
{
	static const struct cl_cell none = { .type = CL_STATS_NONE };
	const struct cl_run_table *one = t->a != NULL ? t->a : t->b;
	size_t a = i, b = i;

	if (t->a != NULL && t->b != NULL) {
		if (i >= t->columns.n)
			return (false);
		a = t->columns.a[i];
		b = t->columns.b[i];
		if (a >= t->a->columns.n)
			one = t->b;
	}
	if (one == t->b ? b >= one->columns.n : a >= one->columns.n)
		return (false);
	f->name = one->columns.column[one == t->b ? b : a].name;
	f->a = row->a == CL_COMPARE_ALONE ? none :
	    cl_run_table_cell(p->a, t->a, row->a, a);
	f->b = row->b == CL_COMPARE_ALONE ? none :
	    cl_run_table_cell(p->b, t->b, row->b, b);
	return (true);
}

bool
cl_compare_table_differ(const struct cl_compare_pair *p,
    const struct cl_compare_table *t, const struct table_row *row)
{
	struct field f;
	size_t i;

	if (row->a == CL_COMPARE_ALONE || row->b == CL_COMPARE_ALONE)
		return (true);
	for (i = 0; cl_compare_table_field(p, t, row, i, &f); i++)
		if (!cl_cell_equal(&f.a, &f.b))
			return (true);
	return (false);
}

bool
cl_compare_table_same(const struct cl_compare_pair *p,
    const struct cl_compare_table *t)
{

	return (t->a != NULL && t->b != NULL &&
	    cl_compare_table_ndiffer(p, t) == 0);
}

size_t
cl_compare_table_ndiffer(const struct cl_compare_pair *p,
    const struct cl_compare_table *t)
{
	struct table_row row;
	size_t next = 0, n = 0;

	while (cl_compare_table_next(t, &next, &row))
		n += cl_compare_table_differ(p, t, &row);
	return (n);
}
