/*
 * The header line and rows: which column is which, and the plain values of a
 * row.  Lists stay text until it is known how long they may be.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/text.h"
#include "import_tsv_int.h"

#define SHOWN	40			/* of a field repeated in a message */

static const char *const names[TSV_COLUMNS] = { "seq", "pos", "token",
    "phase", "pass", "layer", "experts", "weights", "scores", "forecast" };

static int
find_column(const struct tsv_field *f)
{
	int i;

	for (i = 0; i < TSV_COLUMNS; i++)
		if (cl_import_is(f, names[i]))
			return (i);
	return (-1);
}

/* Columns that begin with an underscore are somebody's own, and skipped. */
int
cl_import_columns(const struct tsv_lines *l, struct tsv_columns *c,
    struct cl_err *err)
{
	struct tsv_field f[TSV_FIELDS_MAX];
	char vis[SHOWN];
	size_t i;
	int at, status;

	status = cl_import_split(l, l->p, l->n, f, TSV_FIELDS_MAX,
	    &c->nfields, err);
	if (status != CL_OK)
		return (status);
	for (i = 0; i < TSV_COLUMNS; i++)
		c->at[i] = -1;
	for (i = 0; i < c->nfields; i++) {
		if (f[i].n > 0 && f[i].p[0] == '_')
			continue;
		(void)cl_text_vis(vis, sizeof(vis), f[i].p, f[i].n);
		if ((at = find_column(&f[i])) == -1)
			return (cl_import_fail(l, err, "\"%s\" is no column "
			    "of a trace; a header line of names between tabs "
			    "comes first, and columns of your own begin with "
			    "_", vis));
		if (c->at[at] != -1)
			return (cl_import_fail(l, err, "two columns are "
			    "called %s", vis));
		c->at[at] = (int)i;
	}
	for (at = TSV_LAYER; at <= TSV_EXPERTS; at++)
		if (c->at[at] == -1)
			return (cl_import_fail(l, err, "no column is called "
			    "%s; layer and experts must be there",
			    names[at]));
	return (CL_OK);
}

static int
bad_value(const struct tsv_lines *l, enum tsv_column column,
    const struct tsv_field *f, const char *wanted, struct cl_err *err)
{
	char vis[SHOWN];

	return (cl_import_fail(l, err, "column %s: \"%s\" is not %s",
	    names[column], cl_text_vis(vis, sizeof(vis), f->p, f->n),
	    wanted));
}

/* A whole number, or the value that stands in for a missing column. */
static int
get_number(const struct tsv_lines *l, const struct tsv_columns *c,
    const struct tsv_field *f, enum tsv_column column, uint64_t hi,
    uint64_t *v, struct cl_err *err)
{
	int at = c->at[column];

	*v = 0;
	if (at == -1 || cl_import_u64(&f[at], hi, v))
		return (CL_OK);
	return (bad_value(l, column, &f[at], "a whole number in range", err));
}

static int
get_phase(const struct tsv_lines *l, const struct tsv_columns *c,
    const struct tsv_field *f, struct tsv_row *r, struct cl_err *err)
{
	static const char *const phases[] = { "prefill", "decode",
	    "prefill+pad", "decode+pad" };
	int at = c->at[TSV_PHASE];
	size_t i;

	r->decode = true;
	r->padding = false;
	if (at == -1)
		return (CL_OK);
	for (i = 0; i < 4; i++)
		if (cl_import_is(&f[at], phases[i])) {
			r->decode = i % 2 == 1;
			r->padding = i >= 2;
			return (CL_OK);
		}
	return (bad_value(l, TSV_PHASE, &f[at], "prefill or decode, with or "
	    "without +pad", err));
}

static int
get_token(const struct tsv_lines *l, const struct tsv_columns *c,
    const struct tsv_field *f, struct tsv_row *r, struct cl_err *err)
{
	int at = c->at[TSV_TOKEN];
	uint64_t v;

	r->token = -1;
	if (at == -1 || cl_import_is(&f[at], "-") ||
	    cl_import_is(&f[at], "-1"))
		return (CL_OK);
	if (!cl_import_u64(&f[at], INT32_MAX, &v))
		return (bad_value(l, TSV_TOKEN, &f[at], "a token id, or - for "
		    "unknown", err));
	r->token = (int32_t)v;
	return (CL_OK);
}

/* A list, or p NULL for "-" and for a column that is not there. */
static struct tsv_field
get_list(const struct tsv_columns *c, const struct tsv_field *f,
    enum tsv_column column)
{
	static const struct tsv_field none;
	int at = c->at[column];

	return (at == -1 || cl_import_is(&f[at], "-") ? none : f[at]);
}

int
cl_import_row(const struct tsv_lines *l, const struct tsv_columns *c,
    struct tsv_row *r, struct cl_err *err)
{
	struct tsv_field f[TSV_FIELDS_MAX];
	uint64_t seq, pos, layer = 0;
	size_t n;
	int status;

	status = cl_import_split(l, l->p, l->n, f, TSV_FIELDS_MAX, &n, err);
	if (status != CL_OK)
		return (status);
	if (n != c->nfields)
		return (cl_import_fail(l, err, "%zu fields, and the header "
		    "line has %zu", n, c->nfields));
	r->has_layer = !cl_import_is(&f[c->at[TSV_LAYER]], "-");
	if ((status = get_number(l, c, f, TSV_SEQ, UINT32_MAX - 1, &seq,
	    err)) != CL_OK ||
	    (status = get_number(l, c, f, TSV_POS, UINT32_MAX, &pos,
	    err)) != CL_OK ||
	    (status = get_number(l, c, f, TSV_PASS, UINT64_MAX, &r->pass,
	    err)) != CL_OK ||
	    (r->has_layer && (status = get_number(l, c, f, TSV_LAYER,
	    UINT32_MAX, &layer, err)) != CL_OK) ||
	    (status = get_token(l, c, f, r, err)) != CL_OK ||
	    (status = get_phase(l, c, f, r, err)) != CL_OK)
		return (status);
	r->seq = (uint32_t)seq;
	r->pos = (uint32_t)pos;
	r->layer = (uint32_t)layer;
	r->experts = get_list(c, f, TSV_EXPERTS);
	r->weights = get_list(c, f, TSV_WEIGHTS);
	r->scores = get_list(c, f, TSV_SCORES);
	r->forecast = get_list(c, f, TSV_FORECAST);
	if (!r->has_layer && (r->experts.p != NULL || r->weights.p != NULL ||
	    r->scores.p != NULL || r->forecast.p != NULL))
		return (cl_import_fail(l, err, "column layer: \"-\" states a "
		    "token alone, and this row has more"));
	if (r->has_layer && r->experts.p == NULL && r->scores.p == NULL)
		return (cl_import_fail(l, err, "column experts: \"-\" needs "
		    "scores from which the rule can choose"));
	return (CL_OK);
}
