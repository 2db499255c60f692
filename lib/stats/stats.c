/*
 * Conditions, columns and tables as values.  A list of conditions is searched
 * from its front: it has some thirty entries, and is read once a run.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/stats.h"
#include "cl/vec.h"

const struct cl_stats_cond *
cl_stats_find(const struct cl_stats_conds *conds, const char *name)
{
	size_t i;

	for (i = 0; i < conds->n; i++)
		if (strcmp(conds->cond[i].name, name) == 0)
			return (&conds->cond[i]);
	return (NULL);
}

/* The condition of that name, appended as none where it is new; or NULL. */
static struct cl_stats_cond *
obtain(struct cl_stats_conds *conds, const char *name, struct cl_err *err)
{
	struct cl_stats_cond *c;
	size_t i;

	for (i = 0; i < conds->n; i++)
		if (strcmp(conds->cond[i].name, name) == 0)
			return (&conds->cond[i]);
	if (conds->n == CL_STATS_CONDS_MAX) {
		cl_fail(err, CL_EINVAL, "condition \"%s\": more than %d of "
		    "them", name, CL_STATS_CONDS_MAX);
		return (NULL);
	}
	if (cl_vec_grow(&conds->cond, &conds->cap, conds->n + 1,
	    sizeof(*conds->cond), err) != CL_OK)
		return (NULL);
	c = &conds->cond[conds->n];
	memset(c, 0, sizeof(*c));
	if ((c->name = cl_vec_strndup(name, strlen(name), err)) == NULL)
		return (NULL);
	conds->n++;
	return (c);
}

/* Give a condition the type and value of v, whose text becomes its own. */
static int
set(struct cl_stats_conds *conds, const char *name,
    const struct cl_stats_cond *v, struct cl_err *err)
{
	struct cl_stats_cond *c = obtain(conds, name, err);

	if (c == NULL) {
		free(v->s);
		return (cl_fail(err, CL_ENOMEM, "out of memory"));
	}
	free(c->s);
	c->type = v->type;
	c->u = v->u;
	c->f = v->f;
	c->s = v->s;
	return (CL_OK);
}

int
cl_stats_set_none(struct cl_stats_conds *conds, const char *name,
    struct cl_err *err)
{

	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_NONE }, err));
}

int
cl_stats_set_u64(struct cl_stats_conds *conds, const char *name, uint64_t v,
    struct cl_err *err)
{

	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_U64, .u = v }, err));
}

int
cl_stats_set_f64(struct cl_stats_conds *conds, const char *name, double v,
    struct cl_err *err)
{

	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_F64, .f = v }, err));
}

int
cl_stats_set_str(struct cl_stats_conds *conds, const char *name,
    const char *v, struct cl_err *err)
{
	char *s = cl_vec_strndup(v, strlen(v), err);

	if (s == NULL)
		return (CL_ENOMEM);
	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_STR, .s = s }, err));
}

int
cl_stats_set_hash(struct cl_stats_conds *conds, const char *name, uint64_t v,
    struct cl_err *err)
{

	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_HASH, .u = v }, err));
}

int
cl_stats_set_bool(struct cl_stats_conds *conds, const char *name, bool v,
    struct cl_err *err)
{

	return (set(conds, name,
	    &(struct cl_stats_cond){ .type = CL_STATS_BOOL, .u = v }, err));
}

int
cl_stats_add_column(struct cl_stats_columns *columns, enum cl_stats_type type,
    const char *name, size_t n, struct cl_err *err)
{
	struct cl_stats_column *c;
	char *copy;
	int status;

	status = cl_vec_grow(&columns->column, &columns->cap, columns->n + 1,
	    sizeof(*columns->column), err);
	if (status != CL_OK)
		return (status);
	if ((copy = cl_vec_strndup(name, n, err)) == NULL)
		return (CL_ENOMEM);
	c = &columns->column[columns->n++];
	c->type = type;
	c->name = copy;
	return (CL_OK);
}

size_t
cl_stats_column(const struct cl_stats_columns *columns, const char *name)
{
	size_t i;

	for (i = 0; i < columns->n; i++)
		if (strcmp(columns->column[i].name, name) == 0)
			break;
	return (i);
}

static void
add_cell(struct cl_stats_table *t, enum cl_stats_type type,
    struct cl_stats_value v)
{
	enum cl_stats_type want = t->column[t->ncells % t->ncolumns].type;

	assert(!v.there || type == want ||
	    (type == CL_STATS_U64 && want == CL_STATS_HASH));
	t->bad = t->bad || cl_vec_grow(&t->cell, &t->cap, t->ncells + 1,
	    sizeof(*t->cell), NULL) != CL_OK;
	if (!t->bad)
		t->cell[t->ncells++] = v;
}

void
cl_stats_table_u64(struct cl_stats_table *t, uint64_t v)
{

	add_cell(t, CL_STATS_U64, (struct cl_stats_value){ .there = true,
	    .u = v });
}

void
cl_stats_table_f64(struct cl_stats_table *t, double v)
{

	add_cell(t, CL_STATS_F64, (struct cl_stats_value){ .there = true,
	    .f = v });
}

void
cl_stats_table_str(struct cl_stats_table *t, const char *v)
{

	add_cell(t, CL_STATS_STR, (struct cl_stats_value){ .there = true,
	    .s = v });
}

void
cl_stats_table_none(struct cl_stats_table *t)
{

	add_cell(t, CL_STATS_NONE, (struct cl_stats_value){ .there = false });
}

void
cl_stats_table_clear(struct cl_stats_table *t)
{

	free(t->cell);
	t->cell = NULL;
	t->ncells = t->cap = 0;
	t->bad = false;
}

void
cl_stats_conds_free(struct cl_stats_conds *conds)
{
	size_t i;

	for (i = 0; i < conds->n; i++) {
		free(conds->cond[i].name);
		free(conds->cond[i].s);
	}
	free(conds->cond);
	memset(conds, 0, sizeof(*conds));
}

void
cl_stats_columns_free(struct cl_stats_columns *columns)
{
	size_t i;

	for (i = 0; i < columns->n; i++)
		free((void *)columns->column[i].name);
	free(columns->column);
	memset(columns, 0, sizeof(*columns));
}
