/*
 * One row of scores for each predictor, column and rank, but for a predictor
 * that never foretold anything of that column: it was not wrong.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/foresight.h"
#include "cl/host.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/predict.h"
#include "cl/stats_write.h"
#include "cl/trace.h"
#include "cl/transition.h"

enum { PREVIOUS, POPULAR, AHEAD, TRANSITION, NPREDICTORS };

static const struct {
	const char	*name;
	enum cl_predict_kind kind;	/* OFF: it is not of cl/predict.h */
} predictors[NPREDICTORS] = {
	[PREVIOUS] = { "previous", CL_PREDICT_PREVIOUS },
	[POPULAR] = { "popular", CL_PREDICT_POPULAR },
	[AHEAD] = { "ahead", CL_PREDICT_AHEAD },
	[TRANSITION] = { "transition", CL_PREDICT_OFF },
};

struct score {
	uint64_t	 cells;		/* for which anything was foretold */
	uint64_t	 foretold;
	uint64_t	 right;
	uint64_t	*rank;		/* of each up to k: right */
};

struct cl_foresight {
	const struct cl_keys *keys;
	uint32_t	 width;		/* asked for; 0: k */
	struct cl_predict *predict[NPREDICTORS];
	struct cl_transition *transition;
	struct score	*score;		/* [NPREDICTORS][ncolumns] */
	uint64_t	*choices;	/* [ncolumns][kmax] of each rank */
	uint64_t	*beyond;	/* [ncolumns] of ranks above those */
	uint64_t	*ranks;		/* what the scores' point into */
	uint64_t	 token;
	uint32_t	*marked;	/* by number of an expert */
	uint32_t	 mark;
	uint16_t	*ids;
};

static int
open_predictors(struct cl_foresight *f, const struct cl_model *m,
    struct cl_err *err)
{
	struct cl_predict_options o = { .width = f->width };
	const struct cl_keys *keys = f->keys;
	struct cl_predict_layer *layers;
	uint32_t c, i;
	int status = CL_OK;

	if ((layers = calloc(keys->ncolumns, sizeof(*layers))) == NULL)
		return (cl_fail_nomem(err, "predictors"));
	for (c = 0; c < keys->ncolumns; c++) {
		layers[c].number = keys->column[c].layer;
		layers[c].rule = &m->layers[keys->column[c].layer].rule;
	}
	for (i = 0; i < NPREDICTORS && status == CL_OK; i++) {
		o.kind = predictors[i].kind;
		if (o.kind != CL_PREDICT_OFF && (f->predict[i] =
		    cl_predict_new(&o, layers, keys->ncolumns, err)) == NULL)
			status = err->code;
	}
	free(layers);
	if (status == CL_OK &&
	    (f->transition = cl_transition_new(keys, cl_host_memory(""),
	    err)) == NULL)
		status = err->code;
	return (status);
}

struct cl_foresight *
cl_foresight_new(const struct cl_keys *keys, const struct cl_model *m,
    uint32_t width, struct cl_err *err)
{
	size_t nscores = (size_t)NPREDICTORS * keys->ncolumns, i;
	struct cl_foresight *f;

	if ((f = calloc(1, sizeof(*f))) == NULL)
		goto nomem;
	f->keys = keys;
	f->width = width < keys->nlargest ? width : keys->nlargest;
	f->score = calloc(nscores, sizeof(*f->score));
	f->ranks = calloc(nscores, keys->kmax * sizeof(*f->ranks));
	f->choices = calloc(keys->ncolumns, keys->kmax * sizeof(*f->choices));
	f->beyond = calloc(keys->ncolumns, sizeof(*f->beyond));
	f->marked = calloc(keys->nlargest, sizeof(*f->marked));
	f->ids = calloc(keys->nlargest, sizeof(*f->ids));
	if (f->score == NULL || f->ranks == NULL || f->choices == NULL ||
	    f->beyond == NULL || f->marked == NULL || f->ids == NULL)
		goto nomem;
	for (i = 0; i < nscores; i++)
		f->score[i].rank = f->ranks + i * keys->kmax;
	if (open_predictors(f, m, err) == CL_OK)
		return (f);
	cl_foresight_free(f);
	return (NULL);

nomem:
	cl_fail_nomem(err, "predictors");
	cl_foresight_free(f);
	return (NULL);
}

/* How right was it to foretell n experts, which are in f->ids? */
static void
judge(struct cl_foresight *f, struct score *s, uint32_t n,
    const struct cl_cell *cell)
{
	uint32_t i;

	if (n == 0)
		return;
	if (++f->mark == 0) {			/* 2^32 sets: start anew */
		memset(f->marked, 0, f->keys->nlargest * sizeof(*f->marked));
		f->mark = 1;
	}
	for (i = 0; i < n; i++)
		f->marked[f->ids[i]] = f->mark;
	s->cells++;
	s->foretold += n;
	for (i = 0; i < cell->n; i++) {
		if (f->marked[cell->ids[i]] != f->mark)
			continue;
		s->right++;
		if (i < f->keys->kmax)
			s->rank[i]++;
	}
}

static void
count_choices(struct cl_foresight *f, uint32_t c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && i < f->keys->kmax; i++)
		f->choices[c * f->keys->kmax + i]++;
	f->beyond[c] += n - i;
}

/* Column c of a token: foretell, judge, learn. */
static int
take_cell(struct cl_foresight *f, uint32_t c, struct cl_predict_cell *told,
    const struct cl_cell *cell, const struct cl_cell *before, bool skipped,
    struct cl_err *err)
{
	uint32_t i, n, width = f->width > 0 ? f->width :
	    f->keys->column[c].k;

	told->ids = cell->ids;
	told->n = cell->n;
	told->forecast = cell->forecast;
	for (i = 0; i < NPREDICTORS && !skipped; i++) {
		if (f->predict[i] != NULL)
			n = cl_predict_choose(f->predict[i], c, told, f->ids);
		else
			n = before == NULL ? 0 : cl_transition_choose(
			    f->transition, c, before, f->ids, width);
		judge(f, &f->score[i * f->keys->ncolumns + c], n, cell);
	}
	if (!skipped)
		count_choices(f, c, cell->n);
	for (i = 0; i < NPREDICTORS; i++)
		if (f->predict[i] != NULL)
			cl_predict_tell(f->predict[i], c, told);
	return (before == NULL ? CL_OK :
	    cl_transition_tell(f->transition, c, before, cell, err));
}

int
cl_foresight_pass(struct cl_foresight *f, const struct cl_pass *pass,
    struct cl_err *err)
{
	struct cl_predict_cell told = { 0 };
	const struct cl_cell *cell;
	uint32_t i, c;
	int status;

	for (i = 0; i < pass->ncells; i++) {
		told.seq = pass->token[i].seq;
		told.token = f->token++;
		cell = pass->cell + i;
		for (c = 0; c < f->keys->ncolumns; c++, cell += pass->ncells)
			if (cell->n > 0 && (status = take_cell(f, c, &told,
			    cell, c > 0 ? cell - pass->ncells : NULL,
			    pass->skipped, err)) != CL_OK)
				return (status);
	}
	return (CL_OK);
}

void
cl_foresight_reset(struct cl_foresight *f)
{
	size_t n = (size_t)NPREDICTORS * f->keys->ncolumns, i;
	uint64_t *rank;

	for (i = 0; i < n; i++) {
		rank = f->score[i].rank;
		f->score[i] = (struct score){ .rank = rank };
	}
	memset(f->ranks, 0, n * f->keys->kmax * sizeof(*f->ranks));
	memset(f->beyond, 0, f->keys->ncolumns * sizeof(*f->beyond));
	memset(f->choices, 0, (size_t)f->keys->ncolumns * f->keys->kmax *
	    sizeof(*f->choices));
}

static uint64_t
choices_of(const struct cl_foresight *f, uint32_t c)
{
	uint64_t n = f->beyond[c];
	uint32_t i;

	for (i = 0; i < f->keys->kmax; i++)
		n += f->choices[c * f->keys->kmax + i];
	return (n);
}

static int
write_scores(struct cl_foresight *f, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_STR, "predictor" }, { CL_STATS_U64, "layer" },
		{ CL_STATS_U64, "choices" }, { CL_STATS_U64, "cells" },
		{ CL_STATS_U64, "foretold" }, { CL_STATS_U64, "right" }
	};
	struct cl_stats_table t = { .name = "foresight",
	    .kind = CL_STATS_LOGICAL, .nkeys = 2, .ncolumns = 6,
	    .column = columns };
	const struct score *s = f->score;
	uint32_t i, c;
	int status;

	for (i = 0; i < NPREDICTORS; i++)
		for (c = 0; c < f->keys->ncolumns; c++, s++) {
			if (s->foretold == 0)
				continue;
			cl_stats_table_str(&t, predictors[i].name);
			cl_stats_table_u64(&t, f->keys->column[c].layer);
			cl_stats_table_u64(&t, choices_of(f, c));
			cl_stats_table_u64(&t, s->cells);
			cl_stats_table_u64(&t, s->foretold);
			cl_stats_table_u64(&t, s->right);
		}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

static int
write_ranks(struct cl_foresight *f, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_STR, "predictor" }, { CL_STATS_U64, "layer" },
		{ CL_STATS_U64, "rank" }, { CL_STATS_U64, "choices" },
		{ CL_STATS_U64, "right" }
	};
	struct cl_stats_table t = { .name = "foresight_rank",
	    .kind = CL_STATS_LOGICAL, .nkeys = 3, .ncolumns = 5,
	    .column = columns };
	const struct score *s = f->score;
	uint32_t i, c, r;
	int status;

	for (i = 0; i < NPREDICTORS; i++)
		for (c = 0; c < f->keys->ncolumns; c++, s++)
			for (r = 0; s->foretold > 0 &&
			    r < f->keys->column[c].k; r++) {
				cl_stats_table_str(&t, predictors[i].name);
				cl_stats_table_u64(&t,
				    f->keys->column[c].layer);
				cl_stats_table_u64(&t, r);
				cl_stats_table_u64(&t,
				    f->choices[c * f->keys->kmax + r]);
				cl_stats_table_u64(&t, s->rank[r]);
			}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

int
cl_foresight_write(struct cl_foresight *f, struct cl_stats_writer *w,
    struct cl_err *err)
{
	int status = write_scores(f, w, err);

	return (status == CL_OK ? write_ranks(f, w, err) : status);
}

void
cl_foresight_free(struct cl_foresight *f)
{
	uint32_t i;

	if (f == NULL)
		return;
	for (i = 0; i < NPREDICTORS; i++)
		cl_predict_free(f->predict[i]);
	cl_transition_free(f->transition);
	free(f->score);
	free(f->ranks);
	free(f->choices);
	free(f->beyond);
	free(f->marked);
	free(f->ids);
	free(f);
}
