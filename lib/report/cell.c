/*
 * A value in three spellings.  Nothing that is no number is ever spelled as
 * one: null, empty, "-".
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cl/cell.h"
#include "cl/dst.h"
#include "cl/json.h"
#include "cl/text.h"

struct cl_cell
cl_cell_cond(const struct cl_stats_cond *c)
{
	struct cl_cell cell = { CL_STATS_NONE, 0, 0, NULL };

	if (c != NULL)
		cell = (struct cl_cell){ c->type, c->u, c->f, c->s };
	return (cell);
}

bool
cl_cell_equal(const struct cl_cell *a, const struct cl_cell *b)
{

	if (a->type != b->type)
		return (false);
	switch (a->type) {
	case CL_STATS_NONE:
		return (true);
	case CL_STATS_STR:
		return (strcmp(a->s, b->s) == 0);
	case CL_STATS_F64:
		return (memcmp(&a->f, &b->f, sizeof(a->f)) == 0);
	default:
		return (a->u == b->u);
	}
}

bool
cl_cell_number(const struct cl_cell *cell, double *v)
{

	*v = cell->type == CL_STATS_F64 ? cell->f : (double)cell->u;
	return (cell->type == CL_STATS_U64 ||
	    (cell->type == CL_STATS_F64 && isfinite(cell->f)));
}

bool
cl_cell_zero(const struct cl_cell *cell)
{
	double n;

	return (!cl_cell_number(cell, &n) || !(n < 0 || n > 0));
}

void
cl_cell_json(const struct cl_cell *cell, struct cl_json *j, const char *key)
{

	switch (cell->type) {
	case CL_STATS_NONE:
		cl_json_null(j, key);
		break;
	case CL_STATS_U64:
		cl_json_u64(j, key, cell->u);
		break;
	case CL_STATS_F64:
		cl_json_double(j, key, cell->f);
		break;
	case CL_STATS_STR:
		cl_json_str(j, key, cell->s);
		break;
	case CL_STATS_HASH:
		cl_json_hex64(j, key, cell->u);
		break;
	case CL_STATS_BOOL:
		cl_json_bool(j, key, cell->u != 0);
		break;
	}
}

void
cl_cell_tsv_text(struct cl_dst *dst, const char *s)
{
	size_t n = strlen(s), len;
	char buf[8];

	for (; n > 0; s += len, n -= len) {
		len = cl_text_escape(buf, s, n);
		cl_dst_write(dst, buf, strlen(buf));
	}
}

void
cl_cell_tsv(const struct cl_cell *cell, struct cl_dst *dst)
{
	char buf[32];

	switch (cell->type) {
	case CL_STATS_NONE:
		break;
	case CL_STATS_U64:
	case CL_STATS_BOOL:
		cl_dst_printf(dst, "%" PRIu64, cell->u);
		break;
	case CL_STATS_F64:
		if (isfinite(cell->f))
			cl_dst_printf(dst, "%s", cl_text_double(buf,
			    cell->f));
		break;
	case CL_STATS_STR:
		cl_cell_tsv_text(dst, cell->s);
		break;
	case CL_STATS_HASH:
		cl_dst_printf(dst, "%016" PRIx64, cell->u);
		break;
	}
}

const char *
cl_cell_text(const struct cl_cell *cell, char *buf, size_t cap)
{
	char number[32];

	switch (cell->type) {
	case CL_STATS_U64:
		(void)snprintf(buf, cap, "%s", cl_text_count(number,
		    cell->u));
		return (buf);
	case CL_STATS_F64:
		if (!isfinite(cell->f))
			break;
		(void)snprintf(buf, cap, "%s", cl_text_double(number,
		    cell->f));
		return (buf);
	case CL_STATS_STR:
		(void)snprintf(buf, cap, "%s", cell->s);
		return (buf);
	case CL_STATS_HASH:
		(void)snprintf(buf, cap, "%016" PRIx64, cell->u);
		return (buf);
	case CL_STATS_BOOL:
		(void)snprintf(buf, cap, "%s", cell->u != 0 ? "yes" : "no");
		return (buf);
	case CL_STATS_NONE:
		break;
	}
	(void)snprintf(buf, cap, "-");
	return (buf);
}
