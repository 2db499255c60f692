/*
 * What stands ahead of the rows of a run: conditions, as of RUN and MACHINE,
 * and columns.  A name stands once in each list.
 */

#include "cl/err.h"
#include "cl/rec.h"
#include "cl/vec.h"
#include "stats_read_int.h"

#define LEAST	4	/* bytes of either: type, length, a letter */

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
		return (cl_stats_bad(r, "condition %zu has no name", conds->n));
	if ((to->name = cl_vec_strndup(name, n, &r->err)) == NULL)
		return (r->err.code);
	if (cl_stats_find(conds, to->name) != NULL) {
		conds->n++;
		return (cl_stats_bad(r, "condition \"%.*s\" stands twice",
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
			return (cl_stats_bad(r, "a truth value is %u",
			    (unsigned)to->u));
		break;
	default:
		return (cl_stats_bad(r, "condition %zu is of unknown type %u",
		    conds->n - 1, type));
	}
	return (CL_OK);
}

int
cl_stats_take_conds(struct cl_stats_reader *r, const struct cl_rec *rec,
    const char *what, struct cl_stats_conds *conds)
{
	struct cl_cur c;
	size_t n, i;
	int status;

	cl_stats_conds_free(conds);
	cl_cur_init(&c, rec->data, rec->len);
	n = cl_cur_u16(&c);
	if (n > CL_STATS_CONDS_MAX || n > cl_cur_left(&c) / LEAST)
		return (cl_stats_bad(r, "a %s record of %zu bytes claims %zu "
		    "conditions, at most %d", what, rec->len, n,
		    CL_STATS_CONDS_MAX));
	if (n > 0 && cl_vec_grow(&conds->cond, &conds->cap, n,
	    sizeof(*conds->cond), &r->err) != CL_OK)
		return (r->err.code);
	for (i = 0; i < n && cl_cur_ok(&c); i++)
		if ((status = take_cond(r, &c, conds)) != CL_OK)
			return (status);
	r->out.conds = conds;
	return (cl_stats_used_up(r, &c, what));
}

int
cl_stats_take_machine(struct cl_stats_reader *r, const struct cl_rec *rec)
{

	if (r->columns[CL_STATS_LOGICAL].kind == 0 || r->machine)
		return (cl_stats_bad(r, "a MACHINE record %s", r->machine ?
		    "for the second time" : "before its columns"));
	r->machine = true;
	r->out.kind = CL_STATS_REC_MACHINE;
	return (cl_stats_take_conds(r, rec, "MACHINE", &r->facts));
}

int
cl_stats_take_column(struct cl_stats_reader *r, struct cl_cur *c,
    struct cl_stats_columns *columns, bool text)
{
	const char *name;
	unsigned type = cl_cur_u8(c);
	size_t n = cl_cur_str(c, &name);
	int status;

	if (!cl_cur_ok(c))
		return (CL_OK);		/* used_up says so */
	if (n == 0)
		return (cl_stats_bad(r, "column %zu has no name", columns->n));
	if (type != CL_STATS_U64 && type != CL_STATS_F64 &&
	    type != CL_STATS_HASH && !(text && type == CL_STATS_STR))
		return (cl_stats_bad(r, "column %zu is of unknown type %u",
		    columns->n, type));
	status = cl_stats_add_column(columns, (enum cl_stats_type)type, name,
	    n, &r->err);
	if (status != CL_OK)
		return (status);
	if (cl_stats_column(columns, columns->column[columns->n - 1].name) !=
	    columns->n - 1)
		return (cl_stats_bad(r, "column \"%.*s\" stands twice",
		    n < 64 ? (int)n : 64, name));
	return (CL_OK);
}

int
cl_stats_take_columns(struct cl_stats_reader *r, const struct cl_rec *rec)
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
		return (cl_stats_bad(r, "columns of kind %u, or what must be 0 "
		    "is not", kind));
	if (n > CL_STATS_COLUMNS_MAX || n > cl_cur_left(&c) / LEAST)
		return (cl_stats_bad(r, "a COLUMNS record of %zu bytes claims "
		    "%zu columns, at most %d", rec->len, n,
		    CL_STATS_COLUMNS_MAX));
	columns = &r->columns[kind];
	if (columns->kind != 0 || r->rows || (kind == CL_STATS_MEASURED &&
	    r->columns[CL_STATS_LOGICAL].kind == 0))
		return (cl_stats_bad(r, "COLUMNS of kind %u out of place",
		    kind));
	columns->kind = (enum cl_stats_kind)kind;
	for (i = 0; i < n && cl_cur_ok(&c); i++)
		if ((status = cl_stats_take_column(r, &c, columns, false)) !=
		    CL_OK)
			return (status);
	r->out.kind = CL_STATS_REC_COLUMNS;
	r->out.columns = columns;
	return (cl_stats_used_up(r, &c, "COLUMNS"));
}
