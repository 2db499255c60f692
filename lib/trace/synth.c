/*
 * The synthetic router as cl/synth.h defines it.  What does not depend on the
 * token (popularity, members of topics) is made once per layer; noise is a
 * hash of its place, so that any row can be made alone.  Popularity and bonus
 * are whole numbers of 2^-12 small enough to be exact in a float.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/elem.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/synth.h"
#include "cl/trace_write.h"

#define TOPICS		8
#define TOPIC_DRAWS	12
#define TOPIC_BONUS	1.5
#define TOPIC_TOKENS	16		/* a segment */
#define NOISE_UNIT	(1.7320508 * 0x1p-53)

enum stream {
	STREAM_NOISE = 1,
	STREAM_FORECAST = 2,
	STREAM_RANK = 3,
	STREAM_TOPIC = 4,
	STREAM_ORDER = 5
};

struct layer {
	uint32_t	 nexperts;	/* 0: no scores are made here */
	float		*popularity;	/* of each expert */
	uint8_t		*draws;		/* of each topic and expert */
};

struct cl_synth {
	/* Fixed by cl_synth_new. */
	struct cl_synth_options options;
	uint64_t	 h0;
	double		 sigma;		/* sqrt(1 - rho^2) */
	uint32_t	 nlayers;
	struct layer	*layers;
	struct layer	 silent;	/* without popularity and draws */
	/* The writer's. */
	uint64_t	 next;		/* token */
	uint32_t	 seq;
	float		*scores;
	float		*forecast;
};

static inline uint64_t
fold(uint64_t h, uint64_t v)
{
	uint64_t state = h ^ v;

	return (cl_rng_next(&state));
}

static int
make_layer(struct layer *l, uint32_t nexperts, struct cl_err *err)
{

	l->nexperts = nexperts;
	l->popularity = calloc(nexperts, sizeof(*l->popularity));
	l->draws = calloc(nexperts, TOPICS);
	if (l->popularity == NULL || l->draws == NULL)
		return (cl_fail_nomem(err, "a synthetic router"));
	return (CL_OK);
}

/* The ranks are gathered in the array that popularity goes to. */
static void
set_popularity(const struct cl_synth *s, struct layer *l, uint32_t layer)
{
	uint64_t state = fold(fold(s->h0, STREAM_RANK), layer);
	float *rank = l->popularity, swap;
	double unit;
	uint32_t e, i, j;

	for (e = 0; e < l->nexperts; e++)
		rank[e] = (float)e;
	for (i = l->nexperts - 1; i > 0; i--) {
		j = (uint32_t)cl_rng_below(&state, (uint64_t)i + 1);
		swap = rank[i];
		rank[i] = rank[j];
		rank[j] = swap;
	}
	unit = l->nexperts == 1 ? 0 :
	    -3 * s->options.locality / cl_elem_ln(l->nexperts);
	for (e = 0; e < l->nexperts; e++)
		l->popularity[e] = (float)(floor(unit *
		    cl_elem_ln((double)rank[e] + 1) * 0x1p12 + 0.5) * 0x1p-12);
}

static void
set_topics(const struct cl_synth *s, struct layer *l, uint32_t layer)
{
	uint32_t n = l->nexperts < TOPIC_DRAWS ? l->nexperts : TOPIC_DRAWS;
	uint64_t state;
	uint32_t i, topic;

	for (topic = 0; topic < TOPICS; topic++) {
		state = fold(fold(fold(s->h0, STREAM_TOPIC), layer), topic);
		for (i = 0; i < n; i++)
			l->draws[topic * l->nexperts +
			    cl_rng_below(&state, l->nexperts)]++;
	}
}

static int
make_layers(struct cl_synth *s, const struct cl_model *m, struct cl_err *err)
{
	const struct cl_layer *from;
	uint32_t i, most = 0;
	int status = CL_OK;

	if ((s->layers = calloc(m->nlayers, sizeof(*s->layers))) == NULL)
		return (cl_fail_nomem(err, "a synthetic router"));
	s->nlayers = m->nlayers;
	for (i = 0; status == CL_OK && i < m->nlayers; i++) {
		from = &m->layers[i];
		if (from->nexperts == 0 || from->extra)
			continue;
		if (from->nexperts > most)
			most = from->nexperts;
		status = make_layer(&s->layers[i], from->nexperts, err);
		if (status != CL_OK)
			break;
		set_popularity(s, &s->layers[i], i);
		set_topics(s, &s->layers[i], i);
	}
	if (status == CL_OK && most == 0)
		status = cl_fail(err, CL_EINVAL, "a synthetic router for a "
		    "model without routed experts");
	return (status == CL_OK ? make_layer(&s->silent, most, err) : status);
}

struct cl_synth *
cl_synth_new(const struct cl_model *m, const struct cl_synth_options *o,
    struct cl_err *err)
{
	struct cl_synth *s;

	if (cl_synth_check(o, err) != CL_OK)
		return (NULL);
	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "a synthetic router");
		return (NULL);
	}
	s->options = *o;
	s->h0 = fold(o->seed, 0);
	s->sigma = sqrt(1 - o->predict_corr * o->predict_corr);
	if (make_layers(s, m, err) != CL_OK)
		goto fail;
	s->scores = calloc(s->silent.nexperts, sizeof(*s->scores));
	s->forecast = calloc(s->silent.nexperts, sizeof(*s->forecast));
	if (s->scores != NULL && s->forecast != NULL)
		return (s);
	cl_fail_nomem(err, "a synthetic router");
fail:
	cl_synth_free(s);
	return (NULL);
}

/* The topic of a segment: see cl/synth.h. */
static uint32_t
topic_of(const struct cl_synth *s, uint64_t segment)
{
	uint64_t h = fold(fold(s->h0, STREAM_ORDER), segment);
	uint32_t before, behind, i, topic;

	if (s->options.mode != CL_SYNTH_DRIFT)
		return (0);
	if (segment % 2 == 0)
		return ((uint32_t)(h % TOPICS));
	before = topic_of(s, segment - 1);
	behind = topic_of(s, segment + 1);
	i = (uint32_t)(h % (before == behind ? TOPICS - 1 : TOPICS - 2));
	for (topic = 0; ; topic++)
		if (topic != before && topic != behind && i-- == 0)
			return (topic);
}

static bool
is_noise(const struct cl_synth *s, uint64_t token)
{
	const struct cl_synth_options *o = &s->options;

	return (o->mode == CL_SYNTH_NOISE ||
	    (token >= o->shift_at && token - o->shift_at < o->shift_len));
}

/* Four uniforms, summed as integers less their mean, scaled at the end. */
static inline double
noise(uint64_t row, uint64_t expert)
{
	uint64_t state = fold(row, expert), sum;

	sum = cl_rng_next(&state) >> 11;
	sum += cl_rng_next(&state) >> 11;
	sum += cl_rng_next(&state) >> 11;
	sum += cl_rng_next(&state) >> 11;
	return ((double)((int64_t)sum - (INT64_C(1) << 54)) * NOISE_UNIT);
}

static uint64_t
row_of(const struct cl_synth *s, enum stream stream, uint32_t layer,
    uint64_t token)
{

	return (fold(fold(fold(s->h0, stream), layer), token));
}

void
cl_synth_row(const struct cl_synth *s, uint64_t token, uint32_t layer,
    float *scores, float *forecast)
{
	bool silent = is_noise(s, token);
	const struct layer *l = silent ? &s->silent : &s->layers[layer];
	uint64_t first = row_of(s, STREAM_NOISE, layer, token);
	uint64_t second = row_of(s, STREAM_FORECAST, layer, token);
	double rho = silent ? 0 : s->options.predict_corr;
	double sigma = silent ? 1 : s->sigma, base, x;
	const uint8_t *draws;
	uint32_t e, n;

	assert(layer < s->nlayers && s->layers[layer].nexperts > 0);
	n = s->layers[layer].nexperts;
	draws = l->draws + topic_of(s, token / TOPIC_TOKENS) * l->nexperts;
	if (forecast == NULL) {
		for (e = 0; e < n; e++)
			scores[e] = (float)((double)l->popularity[e] +
			    draws[e] * TOPIC_BONUS + noise(first, e));
		return;
	}
	for (e = 0; e < n; e++) {
		base = (double)l->popularity[e] + draws[e] * TOPIC_BONUS;
		x = noise(first, e);
		scores[e] = (float)(base + x);
		forecast[e] = (float)(base + rho * x +
		    sigma * noise(second, e));
	}
}

int
cl_synth_write(struct cl_synth *s, struct cl_trace_writer *w,
    struct cl_err *err)
{
	struct cl_trace_token token = { .begins = true, .decode = true,
	    .token = -1, .seq = s->seq, .pos = (uint32_t)s->next };
	struct cl_trace_cell cell = { .scores = s->scores };
	uint32_t column = 0, i;
	int status = CL_OK;

	if (s->next == s->options.ntokens)
		return (CL_END);
	if (s->next == 0) {
		status = cl_trace_write_seq(w, "synthetic", &s->seq, err);
		token.seq = s->seq;
	}
	if (status == CL_OK)
		status = cl_trace_write_token(w, &token, err);
	if (s->options.forecast)
		cell.forecast = s->forecast;
	for (i = 0; status == CL_OK && i < s->nlayers; i++) {
		if (s->layers[i].nexperts == 0)
			continue;
		cl_synth_row(s, s->next, i, s->scores,
		    s->options.forecast ? s->forecast : NULL);
		status = cl_trace_write_cell(w, column++, &cell, err);
	}
	s->next++;
	return (status);
}

void
cl_synth_free(struct cl_synth *s)
{
	uint32_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nlayers; i++) {
		free(s->layers[i].popularity);
		free(s->layers[i].draws);
	}
	free(s->layers);
	free(s->silent.popularity);
	free(s->silent.draws);
	free(s->scores);
	free(s->forecast);
	free(s);
}
