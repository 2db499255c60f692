/*
 * Passes and events: the same for one token as for many, however a trace is
 * cut into blocks, and with the cells that they were made of.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/trace.h"
#include "unit.h"

#define NCOLUMNS	2
#define NTOKENS		200
#define CELL_MAX	3

static const uint32_t experts[NCOLUMNS] = { 8, 5 };

static struct cl_model *
make_model(void)
{
	struct cl_model *m = cl_model_new(3, NULL);
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < NCOLUMNS; i++) {
		m->layers[2 * i].nexperts = experts[i];
		m->layers[2 * i].k = CELL_MAX - i;
	}
	return (m);
}

/* A trace in one piece; blocks are views of it. */
struct trace {
	struct cl_trace_token token[NTOKENS];
	uint32_t	first[NCOLUMNS][NTOKENS + 1];
	uint16_t	ids[NCOLUMNS][NTOKENS * CELL_MAX];
	float		weights[NCOLUMNS][NTOKENS * CELL_MAX];
	float		scores[NCOLUMNS][NTOKENS * 8];
	uint32_t	row[NCOLUMNS][NTOKENS];
	uint32_t	forecast_row[NCOLUMNS][NTOKENS];
};

static void
make_cell(struct trace *x, uint32_t c, uint32_t t, uint64_t *seed)
{
	uint32_t n = (uint32_t)cl_rng_below(seed, CELL_MAX + 1), i, j, at;
	uint16_t id;

	at = x->first[c][t];
	for (i = 0; i < n; i++) {
		id = (uint16_t)cl_rng_below(seed, experts[c]);
		for (j = x->first[c][t]; j < at && x->ids[c][j] != id; j++)
			continue;
		if (j < at)
			continue;
		x->weights[c][at] = (float)cl_rng_below(seed, 1000);
		x->ids[c][at++] = id;
	}
	x->first[c][t + 1] = at;
	for (i = 0; i < experts[c]; i++)
		x->scores[c][t * experts[c] + i] =
		    (float)cl_rng_below(seed, 1000);
	x->row[c][t] = t;
	x->forecast_row[c][t] = t % 3 == 0 ? UINT32_MAX : NTOKENS - 1 - t;
}

static struct trace *
make_trace(uint64_t seed)
{
	struct trace *x = calloc(1, sizeof(*x));
	uint32_t t, c;

	assert(x != NULL);
	for (t = 0; t < NTOKENS; t++) {
		x->token[t].begins = t == 0 || cl_rng_below(&seed, 3) > 0;
		x->token[t].decode = cl_rng_below(&seed, 4) > 0;
		x->token[t].padding = cl_rng_below(&seed, 9) == 0;
		x->token[t].pos = t;
		for (c = 0; c < NCOLUMNS; c++)
			make_cell(x, c, t, &seed);
	}
	return (x);
}

/* Tokens from .. to - 1 as a block. */
static void
view(const struct trace *x, uint32_t from, uint32_t to,
    struct cl_trace_block *b, struct cl_trace_column *col)
{
	uint32_t c;

	memset(col, 0, NCOLUMNS * sizeof(*col));
	for (c = 0; c < NCOLUMNS; c++) {
		col[c].layer = 2 * c;
		col[c].nexperts = experts[c];
		col[c].first = x->first[c] + from;
		col[c].ids = x->ids[c];
		col[c].weights = x->weights[c];
		col[c].scores = x->scores[c];
		col[c].row = x->row[c] + from;
		col[c].forecast = x->scores[c];
		col[c].forecast_row = x->forecast_row[c] + from;
	}
	*b = (struct cl_trace_block){ to - from, x->token + from, NCOLUMNS,
	    col };
}

/* What came out, as numbers one after another. */
struct log {
	const struct trace *x;
	uint32_t	n;
	uint64_t	v[NTOKENS * 40];
	uint32_t	ncells;
};

static void
put(struct log *log, uint64_t v)
{

	assert(log->n < sizeof(log->v) / sizeof(log->v[0]));
	log->v[log->n++] = v;
}

/* The cells are those of the tokens that they say they are of. */
static void
check_cell(const struct log *log, const struct cl_cell *cell, uint32_t c,
    uint32_t t)
{
	const struct trace *x = log->x;
	uint32_t first = x->first[c][t], n = x->first[c][t + 1] - first;
	uint32_t row = x->forecast_row[c][t];
	size_t size = experts[c] * sizeof(float);

	assert(cell->n == n);
	if (n > 0) {
		assert(memcmp(cell->ids, &x->ids[c][first],
		    n * sizeof(uint16_t)) == 0);
		assert(memcmp(cell->weights, &x->weights[c][first],
		    n * sizeof(float)) == 0);
		assert(memcmp(cell->scores, &x->scores[c][t * experts[c]],
		    size) == 0);
	} else
		assert(cell->scores == NULL);
	assert((cell->forecast == NULL) == (row == UINT32_MAX));
	if (cell->forecast != NULL)
		assert(memcmp(cell->forecast,
		    &x->scores[c][row * experts[c]], size) == 0);
}

static int
take(void *arg, const struct cl_pass *p, struct cl_err *err)
{
	struct log *log = arg;
	uint32_t c, i;

	(void)err;
	put(log, (uint64_t)p->begins << 3 | (uint64_t)p->ends << 2 |
	    (uint64_t)p->prefill << 1 | p->skipped);
	put(log, p->ntokens);
	put(log, p->npadding);
	for (c = 0; c < NCOLUMNS; c++) {
		put(log, p->event[c].n);
		for (i = 0; i < p->event[c].n; i++)
			put(log, p->event[c].keys[i]);
		for (i = 0; i < p->ncells; i++)
			check_cell(log, &p->cell[c * p->ncells + i], c,
			    p->token[i].pos);
	}
	assert(p->ncells == 0 || p->ncells == p->ntokens);
	log->ncells += p->ncells;
	return (CL_OK);
}

static void
run(const struct trace *x, enum cl_prefill mode, enum cl_events_cells cells,
    uint32_t step, struct log *log)
{
	struct cl_events_sink sink = { take, log };
	struct cl_model *m = make_model();
	struct cl_keys *keys = cl_keys_new(m, NULL);
	struct cl_events *e = cl_events_new(keys, mode, cells, &sink, NULL);
	struct cl_trace_column col[NCOLUMNS];
	struct cl_trace_block b;
	uint32_t at, to;

	memset(log, 0, sizeof(*log));
	log->x = x;
	assert(e != NULL);
	for (at = 0; at < NTOKENS; at = to) {
		to = at + step < NTOKENS ? at + step : NTOKENS;
		view(x, at, to, &b, col);
		assert(cl_events_block(e, &b, NULL) == CL_OK);
	}
	assert(cl_events_finish(e, NULL) == CL_OK);
	cl_events_free(e);
	cl_keys_free(keys);
	cl_model_free(m);
}

static void
blocks_leave_no_mark_on_passes(void)
{
	static const uint32_t step[] = { 1, 2, 7, 64 };
	struct log *whole = malloc(sizeof(*whole));
	struct log *parts = malloc(sizeof(*parts));
	struct trace *x;
	uint32_t seed, mode, i;

	assert(whole != NULL && parts != NULL);
	for (seed = 1; seed <= 10; seed++) {
		x = make_trace(seed);
		for (mode = 0; mode < 3; mode++) {
			/* Tokens of prefill passes may go out in more parts. */
			run(x, mode, CL_CELLS_NONE, NTOKENS, whole);
			assert(whole->n > NTOKENS / 2);
			for (i = 0; i < 4; i++) {
				run(x, mode, i % 2 ? CL_CELLS_ALL :
				    CL_CELLS_NONE, step[i], parts);
				if (mode == CL_PREFILL_TOKEN)
					continue;
				assert(parts->n == whole->n);
				assert(memcmp(parts->v, whole->v, whole->n *
				    sizeof(whole->v[0])) == 0);
			}
		}
		free(x);
	}
	free(whole);
	free(parts);
}

static void
every_token_has_its_cells_once(void)
{
	struct log *log = malloc(sizeof(*log));
	struct trace *x = make_trace(5);
	uint32_t mode, t, used = 0;

	assert(log != NULL);
	for (t = 0; t < NTOKENS; t++)
		used += !x->token[t].padding;
	for (mode = 0; mode < 3; mode++) {
		run(x, mode, CL_CELLS_ALL, 16, log);
		assert(log->ncells == used);
	}
	run(x, CL_PREFILL_UNION, CL_CELLS_NONE, 16, log);
	assert(log->ncells == 0);
	free(log);
	free(x);
}

static void
keys_number_the_experts_of_all_columns(void)
{
	struct cl_model *m = make_model();
	struct cl_keys *keys = cl_keys_new(m, NULL);
	struct cl_err err = { 0 };
	uint32_t key;

	assert(keys != NULL && keys->ncolumns == 2 && keys->nkeys == 13);
	assert(keys->column[1].layer == 2 && keys->column[1].base == 8);
	assert(keys->nlargest == 8 && keys->kmax == 3);
	for (key = 0; key < 13; key++)
		assert(cl_keys_column(keys, key) == (key >= 8));
	cl_keys_free(keys);
	m->layers[2].nexperts = CL_KEYS_MAX - 7;
	assert(cl_keys_new(m, &err) == NULL && err.code == CL_ENOTSUP);
	cl_model_free(m);
	m = cl_model_new(2, NULL);
	memset(&err, 0, sizeof(err));
	assert(cl_keys_new(m, &err) == NULL && err.code == CL_EINVAL);
	cl_model_free(m);
}

static void
keys_are_the_same_for_the_same_experts(void)
{
	struct cl_model *m = make_model();
	struct cl_keys *keys = cl_keys_new(m, NULL), *other;
	struct cl_layer *l = &m->layers[2];
	struct {
		uint32_t	 nexperts;
		uint32_t	 k;
		uint64_t	 bytes;
		bool		 same;
	} t[] = {
		{ l->nexperts, l->k, 0, true },
		{ l->nexperts, l->k - 1, 0, true },
		{ l->nexperts, l->k, 64, false },
		{ l->nexperts + 1, l->k, 0, false },
		{ 0, 0, 0, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		l->nexperts = t[i].nexperts;
		l->k = t[i].k;
		l->expert_bytes = t[i].bytes;
		assert((other = cl_keys_new(m, NULL)) != NULL);
		assert(cl_keys_same(keys, other) == t[i].same);
		assert(cl_keys_same(other, keys) == t[i].same);
		cl_keys_free(other);
	}
	m->layers[1].nexperts = experts[1];	/* but of another layer */
	m->layers[1].k = CELL_MAX - 1;
	assert((other = cl_keys_new(m, NULL)) != NULL);
	assert(!cl_keys_same(keys, other));
	cl_keys_free(other);
	cl_keys_free(keys);
	cl_model_free(m);
}

static const struct unit table[] = {
	{ "blocks leave no mark on passes", blocks_leave_no_mark_on_passes },
	{ "every token has its cells once", every_token_has_its_cells_once },
	{ "keys number the experts of all columns",
	    keys_number_the_experts_of_all_columns },
	{ "keys are the same for the same experts",
	    keys_are_the_same_for_the_same_experts },
};

UNIT_MAIN(table)
