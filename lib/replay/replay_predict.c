/*
 * What is foretold of a pass, or of a part of one that is served before the
 * next: for each column the experts that its tokens are said to choose there,
 * token by token and by rank, each once.  A token that will not be in a layer
 * is not asked for there, since an engine knows as much; and the tokens of a
 * pass know nothing of each other, for they run through the layers together.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/model.h"
#include "cl/trace.h"
#include "replay_int.h"

/* A predictor for the layers of all columns. */
static int
make_predictor(struct cl_replay *r, const struct cl_model *m,
    struct cl_err *err)
{
	struct cl_predict_layer *layers;
	uint32_t i, n = r->keys->ncolumns;

	if ((layers = calloc(n, sizeof(*layers))) == NULL)
		return (cl_fail_nomem(err, "the predictor"));
	for (i = 0; i < n; i++) {
		layers[i].number = r->keys->column[i].layer;
		layers[i].rule = &m->layers[layers[i].number].rule;
	}
	r->foretold.predict = cl_predict_new(&r->o.predict, layers, n, err);
	free(layers);
	return (r->foretold.predict == NULL ? err->code : CL_OK);
}

int
cl_replay_open_predict(struct cl_replay *r, const struct cl_model *m,
    struct cl_err *err)
{
	struct foretold *f = &r->foretold;

	if (r->o.predict.kind == CL_PREDICT_OFF)
		return (CL_OK);
	f->stamped = calloc(r->keys->nkeys, sizeof(*f->stamped));
	f->list = calloc(r->keys->nkeys, sizeof(*f->list));
	f->event = calloc(r->keys->ncolumns, sizeof(*f->event));
	f->ids = calloc(r->keys->nlargest, sizeof(*f->ids));
	if (f->stamped == NULL || f->list == NULL || f->event == NULL ||
	    f->ids == NULL)
		return (cl_fail_nomem(err, "the predictor"));
	return (make_predictor(r, m, err));
}

static struct cl_predict_cell
cell_of(const struct foretold *f, const struct cl_pass *pass, uint32_t c,
    uint32_t t)
{
	const struct cl_cell *from = &pass->cell[(size_t)c * pass->ncells + t];

	return ((struct cl_predict_cell){ .seq = pass->token[t].seq,
	    .token = f->ntokens + t, .ids = from->ids, .n = from->n,
	    .forecast = from->forecast });
}

/* What the tokens are said to choose of one column. */
static void
foretell_column(struct foretold *f, const struct cl_keys_column *col,
    const struct cl_pass *pass, uint32_t c)
{
	struct cl_event *event = &f->event[c];
	struct cl_predict_cell cell;
	uint32_t t, j, n, key;

	event->keys = f->list + col->base;
	event->n = 0;
	for (t = 0; t < pass->ncells; t++) {
		cell = cell_of(f, pass, c, t);
		if (cell.n == 0)
			continue;
		n = cl_predict_choose(f->predict, c, &cell, f->ids);
		for (j = 0; j < n; j++) {
			key = col->base + f->ids[j];
			if (f->stamped[key] != f->stamp) {
				f->stamped[key] = f->stamp;
				f->list[col->base + event->n++] = key;
			}
		}
	}
}

const struct cl_event *
cl_replay_foretell(struct cl_replay *r, const struct cl_pass *pass)
{
	struct foretold *f = &r->foretold;
	struct cl_predict_cell cell;
	uint32_t c, t;

	if (f->predict == NULL)
		return (NULL);
	if (++f->stamp == 0) {			/* 2^32 parts: start anew */
		memset(f->stamped, 0, r->keys->nkeys * sizeof(*f->stamped));
		f->stamp = 1;
	}
	for (c = 0; c < r->keys->ncolumns; c++)
		foretell_column(f, &r->keys->column[c], pass, c);
	for (c = 0; c < r->keys->ncolumns; c++)
		for (t = 0; t < pass->ncells; t++) {
			cell = cell_of(f, pass, c, t);
			cl_predict_tell(f->predict, c, &cell);
		}
	f->ntokens += pass->ncells;
	return (f->event);
}

void
cl_replay_close_predict(struct cl_replay *r)
{

	cl_predict_free(r->foretold.predict);
	free(r->foretold.stamped);
	free(r->foretold.list);
	free(r->foretold.event);
	free(r->foretold.ids);
}
