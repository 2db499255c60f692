/*
 * The cells of a pass.  A token that is a pass of its own is seen in its
 * block; the cells of others are copied, column by column, since a pass may
 * outlive its block.  Places are offsets while arrays still grow, and become
 * pointers when the pass is whole.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/vec.h"
#include "events_int.h"

#define NOWHERE		SIZE_MAX
#define BYTES_MAX	(UINT64_C(1) << 30)	/* of one pass */

int
cl_events_cells_open(struct cells *x, enum cl_events_cells what,
    uint32_t ncolumns, struct cl_err *err)
{

	x->what = what;
	x->ncolumns = ncolumns;
	if (what == CL_CELLS_NONE)
		return (CL_OK);
	if ((x->column = calloc(ncolumns, sizeof(*x->column))) == NULL)
		return (cl_fail_nomem(err, "the cells of a pass"));
	return (cl_vec_grow(&x->cell, &x->cell_cap, ncolumns,
	    sizeof(*x->cell), err));
}

/* The row of scores of token t, or NULL. */
static const float *
row_of(const struct cl_trace_column *in, uint32_t t)
{

	return (in->scores == NULL ? NULL :
	    in->scores + (size_t)in->nexperts * in->row[t]);
}

static const float *
forecast_of(const struct cl_trace_column *in, uint32_t t)
{

	return (in->forecast == NULL || in->forecast_row[t] == UINT32_MAX ?
	    NULL : in->forecast + (size_t)in->nexperts * in->forecast_row[t]);
}

/* A row of n scores behind the others; NULL is nowhere. */
static int
add_scores(struct cells *x, struct cells_column *to, const float *row,
    uint32_t n, size_t *at, struct cl_err *err)
{

	*at = NOWHERE;
	if (row == NULL)
		return (CL_OK);
	if (cl_vec_grow(&to->scores, &to->scores_cap, to->nscores + n,
	    sizeof(*row), err) != CL_OK)
		return (CL_ENOMEM);
	memcpy(to->scores + to->nscores, row, n * sizeof(*row));
	*at = to->nscores;
	to->nscores += n;
	x->nbytes += n * sizeof(*row);
	return (CL_OK);
}

static int
add_ids(struct cells *x, struct cells_column *to,
    const struct cl_trace_column *in, uint32_t t, struct cells_place *place,
    struct cl_err *err)
{
	uint32_t first = in->first[t], n = in->first[t + 1] - first;

	place->id = to->nids;
	place->n = n;
	place->weighed = x->what == CL_CELLS_ALL && in->weights != NULL;
	if (n == 0)
		return (CL_OK);
	if (cl_vec_grow(&to->ids, &to->ids_cap, to->nids + n,
	    sizeof(*to->ids), err) != CL_OK ||
	    (place->weighed && cl_vec_grow(&to->weights, &to->weights_cap,
	    to->nids + n, sizeof(*to->weights), err) != CL_OK))
		return (CL_ENOMEM);
	memcpy(to->ids + to->nids, in->ids + first, n * sizeof(*to->ids));
	if (place->weighed)
		memcpy(to->weights + to->nids, in->weights + first,
		    n * sizeof(*to->weights));
	to->nids += n;
	x->nbytes += n * (sizeof(*to->ids) + sizeof(*to->weights));
	return (CL_OK);
}

static int
add_cell(struct cells *x, uint32_t c, const struct cl_trace_column *in,
    uint32_t t, struct cells_place *place, struct cl_err *err)
{
	struct cells_column *to = &x->column[c];
	int status;

	place->scores = place->forecast = NOWHERE;
	status = add_ids(x, to, in, t, place, err);
	if (status != CL_OK || x->what != CL_CELLS_ALL)
		return (status);
	status = add_scores(x, to, place->n == 0 ? NULL : row_of(in, t),
	    in->nexperts, &place->scores, err);
	if (status != CL_OK)
		return (status);
	return (add_scores(x, to, forecast_of(in, t), in->nexperts,
	    &place->forecast, err));
}

int
cl_events_cells_add(struct cells *x, const struct cl_trace_block *b,
    uint32_t t, struct cl_err *err)
{
	size_t at = (size_t)x->ntokens * x->ncolumns;
	uint32_t c;
	int status;

	if (x->what == CL_CELLS_NONE)
		return (CL_OK);
	if (x->nbytes > BYTES_MAX)
		return (cl_fail(err, CL_ENOTSUP, "a pass of more than %u "
		    "tokens, whose cells take more than %llu bytes",
		    x->ntokens, (unsigned long long)BYTES_MAX));
	if ((status = cl_vec_grow(&x->token, &x->token_cap,
	    (size_t)x->ntokens + 1, sizeof(*x->token), err)) != CL_OK ||
	    (status = cl_vec_grow(&x->place, &x->place_cap, at + x->ncolumns,
	    sizeof(*x->place), err)) != CL_OK)
		return (status);
	for (c = 0; c < x->ncolumns; c++)
		if ((status = add_cell(x, c, &b->columns[c], t,
		    &x->place[at + c], err)) != CL_OK)
			return (status);
	x->nbytes += sizeof(*x->token) + x->ncolumns * sizeof(*x->place);
	x->token[x->ntokens++] = b->tokens[t];
	return (CL_OK);
}

void
cl_events_cells_view(struct cells *x, const struct cl_trace_block *b,
    uint32_t t, struct cl_pass *pass)
{
	const struct cl_trace_column *in = b->columns;
	struct cl_cell *cell = x->cell;
	bool all = x->what == CL_CELLS_ALL;
	uint32_t c, first;

	if (x->what == CL_CELLS_NONE)
		return;
	for (c = 0; c < x->ncolumns; c++, in++, cell++) {
		first = in->first[t];
		cell->ids = in->ids + first;
		cell->n = in->first[t + 1] - first;
		cell->weights = all && in->weights != NULL ?
		    in->weights + first : NULL;
		cell->scores = all && cell->n > 0 ? row_of(in, t) : NULL;
		cell->forecast = all ? forecast_of(in, t) : NULL;
	}
	pass->ncells = 1;
	pass->token = &b->tokens[t];
	pass->cell = x->cell;
}

static void
point(struct cl_cell *cell, const struct cells_column *from,
    const struct cells_place *place)
{

	cell->n = place->n;
	cell->ids = place->n == 0 ? NULL : from->ids + place->id;
	cell->weights = place->weighed ? from->weights + place->id : NULL;
	cell->scores = place->scores == NOWHERE ? NULL :
	    from->scores + place->scores;
	cell->forecast = place->forecast == NOWHERE ? NULL :
	    from->scores + place->forecast;
}

int
cl_events_cells_take(struct cells *x, struct cl_pass *pass,
    struct cl_err *err)
{
	uint32_t c, t, n = x->ntokens;

	if (x->what == CL_CELLS_NONE || n == 0)
		return (CL_OK);
	if (cl_vec_grow(&x->cell, &x->cell_cap, (size_t)n * x->ncolumns,
	    sizeof(*x->cell), err) != CL_OK)
		return (CL_ENOMEM);
	for (c = 0; c < x->ncolumns; c++) {
		for (t = 0; t < n; t++)
			point(&x->cell[(size_t)c * n + t], &x->column[c],
			    &x->place[(size_t)t * x->ncolumns + c]);
		x->column[c].nids = x->column[c].nscores = 0;
	}
	pass->ncells = n;
	pass->token = x->token;
	pass->cell = x->cell;
	x->ntokens = 0;
	x->nbytes = 0;
	return (CL_OK);
}

void
cl_events_cells_close(struct cells *x)
{
	uint32_t c;

	for (c = 0; x->column != NULL && c < x->ncolumns; c++) {
		free(x->column[c].ids);
		free(x->column[c].weights);
		free(x->column[c].scores);
	}
	free(x->column);
	free(x->token);
	free(x->place);
	free(x->cell);
}
