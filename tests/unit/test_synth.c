/*
 * synth: against cl/synth.h written down again the slow way, against what a
 * statistician expects, and pinned to the byte.
 */

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "cl/synth.h"
#include "cl/trace_write.h"
#include "unit.h"

#define E_MAX		256

/* Seven layers: dense, 64, 1, 7, dense, 256 experts, an extra one. */
#define NLAYERS		7
static const uint32_t experts[NLAYERS] = { 0, 64, 1, 7, 0, E_MAX, 64 };

static struct cl_model *
make_model(void)
{
	struct cl_model *m = cl_model_new(NLAYERS, NULL);
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < NLAYERS; i++) {
		m->layers[i].nexperts = experts[i];
		m->layers[i].extra = i == NLAYERS - 1;
		if (experts[i] == 0)
			continue;
		m->layers[i].k = experts[i] < 8 ? 1 : 8;
		cl_rule_init(&m->layers[i].rule, experts[i],
		    m->layers[i].k);
	}
	return (m);
}

static struct cl_synth *
make(const struct cl_synth_options *o)
{
	struct cl_model *m = make_model();
	struct cl_synth *s = cl_synth_new(m, o, NULL);

	assert(s != NULL);
	cl_model_free(m);
	return (s);
}

/* The definition again. */
static uint64_t
next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31));
}

static uint64_t
fold(uint64_t h, uint64_t v)
{

	h ^= v;
	return (next(&h));
}

static uint64_t
below(uint64_t *state, uint64_t n)
{
	uint64_t x;

	do
		x = next(state);
	while (x >= UINT64_MAX / n * n);
	return (x % n);
}

static double
slow_popularity(uint64_t h0, uint32_t layer, uint32_t n, uint32_t e,
    double locality)
{
	uint32_t rank[E_MAX], i, j, t;
	uint64_t state = fold(fold(h0, 3), layer);

	for (i = 0; i < n; i++)
		rank[i] = i;
	for (i = n - 1; i > 0; i--) {
		j = (uint32_t)below(&state, i + 1);
		t = rank[i];
		rank[i] = rank[j];
		rank[j] = t;
	}
	if (n == 1)
		return (0);
	return (floor(-3 * locality * log(rank[e] + 1) / log(n) * 4096 +
	    0.5) / 4096);
}

static double
slow_bonus(uint64_t h0, uint32_t layer, uint32_t n, uint32_t e,
    uint32_t topic)
{
	uint64_t state = fold(fold(fold(h0, 4), layer), topic);
	double bonus = 0;
	uint32_t i;

	for (i = 0; i < (n < 12 ? n : 12); i++)
		if (below(&state, n) == e)
			bonus += 1.5;
	return (bonus);
}

static double
slow_noise(uint64_t h0, uint32_t stream, uint32_t layer, uint64_t token,
    uint32_t e)
{
	uint64_t state = fold(fold(fold(fold(h0, stream), layer), token), e);
	int64_t sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		sum += (int64_t)(next(&state) >> 11);
	return (ldexp((double)(sum - (INT64_C(1) << 54)) * 1.7320508, -53));
}

static uint32_t
slow_topic(uint64_t h0, uint64_t segment)
{
	uint64_t h = fold(fold(h0, 5), segment);
	uint32_t a, b, free[8], i, n = 0;

	if (segment % 2 == 0)
		return ((uint32_t)(h % 8));
	a = slow_topic(h0, segment - 1);
	b = slow_topic(h0, segment + 1);
	for (i = 0; i < 8; i++)
		if (i != a && i != b)
			free[n++] = i;
	return (free[h % n]);
}

static void
check_cell(const struct cl_synth_options *o, uint64_t token, uint32_t layer,
    uint32_t e, float score, float forecast)
{
	uint64_t h0 = fold(o->seed, 0);
	double rho = o->predict_corr, base, x, y;
	bool quiet = o->mode == CL_SYNTH_NOISE;

	base = quiet ? 0 : slow_popularity(h0, layer, experts[layer], e,
	    o->locality) + slow_bonus(h0, layer, experts[layer], e,
	    o->mode == CL_SYNTH_DRIFT ? slow_topic(h0, token / 16) : 0);
	x = slow_noise(h0, 1, layer, token, e);
	y = slow_noise(h0, 2, layer, token, e);
	assert(score == (float)(base + x));
	if (quiet)
		assert(forecast == (float)y);
	else
		assert(forecast ==
		    (float)(base + rho * x + sqrt(1 - rho * rho) * y));
}

static void
agrees_with_definition(void)
{
	static const uint64_t tokens[] = { 0, 1, 15, 16, 17, 40, 100, 1023 };
	struct cl_synth_options o;
	struct cl_synth *s;
	float scores[E_MAX], alone[E_MAX], forecast[E_MAX];
	uint32_t e, i, mode, layer;

	cl_synth_defaults(&o);
	for (mode = CL_SYNTH_DRIFT; mode <= CL_SYNTH_NOISE; mode++) {
		o.mode = (enum cl_synth_mode)mode;
		o.seed = 77 * mode - 77;
		o.locality = 0.5 * mode;
		s = make(&o);
		for (i = 0; i < 8 * NLAYERS; i++) {
			layer = i % NLAYERS;
			if (experts[layer] == 0 || layer == NLAYERS - 1)
				continue;
			cl_synth_row(s, tokens[i / NLAYERS], layer, scores,
			    forecast);
			cl_synth_row(s, tokens[i / NLAYERS], layer, alone,
			    NULL);
			assert(memcmp(scores, alone, experts[layer] *
			    sizeof(*scores)) == 0);
			for (e = 0; e < experts[layer]; e++)
				check_cell(&o, tokens[i / NLAYERS], layer, e,
				    scores[e], forecast[e]);
		}
		cl_synth_free(s);
	}
}

/* XXH64 of n tokens' rows, scores and forecast, as little-endian floats. */
static uint64_t
hash_rows(const struct cl_synth_options *o, uint32_t n)
{
	struct cl_synth *s = make(o);
	float row[2][E_MAX];
	struct cl_hash h;
	uint32_t bits, e, layer, side, t;
	uint8_t b[4];

	cl_hash_init(&h);
	for (t = 0; t < n; t++)
		for (layer = 0; layer < NLAYERS - 1; layer++) {
			if (experts[layer] == 0)
				continue;
			cl_synth_row(s, t, layer, row[0], row[1]);
			for (e = 0; e < 2 * experts[layer]; e++) {
				side = e >= experts[layer];
				memcpy(&bits, &row[side][e % experts[layer]],
				    sizeof(bits));
				b[0] = (uint8_t)bits;
				b[1] = (uint8_t)(bits >> 8);
				b[2] = (uint8_t)(bits >> 16);
				b[3] = (uint8_t)(bits >> 24);
				cl_hash_add(&h, b, sizeof(b));
			}
		}
	cl_synth_free(s);
	return (cl_hash_end(&h));
}

static void
bytes_are_pinned(void)
{
	struct cl_synth_options o;

	cl_synth_defaults(&o);
	assert(hash_rows(&o, 64) == UINT64_C(0x676efd77f073173d));
	o.mode = CL_SYNTH_FIXED;
	o.shift_at = 20;
	o.shift_len = 20;
	assert(hash_rows(&o, 64) == UINT64_C(0x6cca4436a78c04c0));
	o.shift_len = o.shift_at = 0;
	o.mode = CL_SYNTH_NOISE;
	assert(hash_rows(&o, 64) == UINT64_C(0x02c73bb637ab89fd));
}

static void
seeds_differ(void)
{
	struct cl_synth_options o;
	uint64_t first;

	cl_synth_defaults(&o);
	first = hash_rows(&o, 4);
	o.seed = 0;
	assert(hash_rows(&o, 4) != first);
	o.seed = UINT64_C(1) << 63 | 1;
	assert(hash_rows(&o, 4) != first);
}

static void
topics_are_new(void)
{
	uint64_t h0 = fold(1, 0), segment;
	uint32_t used = 0;

	for (segment = 0; segment < 1000; segment++) {
		assert(slow_topic(h0, segment) !=
		    slow_topic(h0, segment + 1));
		used |= UINT32_C(1) << slow_topic(h0, segment);
	}
	assert(used == 0xff);
}

static void
noise_is_standard(void)
{
	struct cl_synth_options o;
	struct cl_synth *s;
	float row[E_MAX], other[E_MAX];
	double cross = 0, sum = 0, squares = 0, n = 400.0 * E_MAX;
	uint32_t e, t;

	cl_synth_defaults(&o);
	o.mode = CL_SYNTH_NOISE;
	s = make(&o);
	for (t = 0; t < 400; t++) {
		cl_synth_row(s, t, 5, row, other);
		for (e = 0; e < E_MAX; e++) {
			assert(fabsf(row[e]) < 3.4641017f);
			sum += row[e];
			squares += row[e] * row[e];
			cross += row[e] * other[e];
		}
	}
	assert(fabs(sum / n) < 0.01 && fabs(squares / n - 1) < 0.01);
	assert(fabs(cross / n) < 0.01);		/* an independent draw */
	cl_synth_free(s);
}

/* Correlation of forecast and score, each less its expert's mean. */
static double
correlation(double rho)
{
	static float row[2][400][E_MAX];
	struct cl_synth_options o;
	struct cl_synth *s;
	double mean[2], a, b, ab = 0, aa = 0, bb = 0;
	uint32_t e, t;

	cl_synth_defaults(&o);
	o.mode = CL_SYNTH_FIXED;
	o.predict_corr = rho;
	s = make(&o);
	for (t = 0; t < 400; t++)
		cl_synth_row(s, t, 5, row[0][t], row[1][t]);
	for (e = 0; e < E_MAX; e++) {
		mean[0] = mean[1] = 0;
		for (t = 0; t < 400; t++) {
			mean[0] += row[0][t][e] / 400;
			mean[1] += row[1][t][e] / 400;
		}
		for (t = 0; t < 400; t++) {
			a = row[0][t][e] - mean[0];
			b = row[1][t][e] - mean[1];
			ab += a * b;
			aa += a * a;
			bb += b * b;
		}
	}
	assert(fabs(bb / aa - 1) < 0.02);
	cl_synth_free(s);
	return (ab / sqrt(aa * bb));
}

static void
forecast_correlates(void)
{

	assert(fabs(correlation(0.8) - 0.8) < 0.01);
	assert(fabs(correlation(0)) < 0.01);
	assert(fabs(correlation(-0.5) + 0.5) < 0.01);
	assert(correlation(1) == 1);
}

static void
shift_is_a_window(void)
{
	struct cl_synth_options o;
	struct cl_synth *fixed, *noise, *shift;
	float want[2][E_MAX], got[2][E_MAX];
	uint32_t t;

	cl_synth_defaults(&o);
	o.mode = CL_SYNTH_NOISE;
	noise = make(&o);
	o.mode = CL_SYNTH_FIXED;
	fixed = make(&o);
	o.shift_at = 30;
	o.shift_len = 20;
	shift = make(&o);
	for (t = 0; t < 100; t++) {
		cl_synth_row(t >= 30 && t < 50 ? noise : fixed, t, 1,
		    want[0], want[1]);
		cl_synth_row(shift, t, 1, got[0], got[1]);
		assert(memcmp(want[0], got[0], 64 * sizeof(float)) == 0);
		assert(memcmp(want[1], got[1], 64 * sizeof(float)) == 0);
	}
	cl_synth_free(shift);
	cl_synth_free(fixed);
	cl_synth_free(noise);
}

/* How often the greatest score of layer 5 is the commonest of 500 tokens'. */
static uint32_t
commonest(double locality)
{
	struct cl_synth_options o;
	struct cl_synth *s;
	uint32_t count[E_MAX] = { 0 }, best, e, most = 0, t;
	float row[E_MAX];

	cl_synth_defaults(&o);
	o.locality = locality;
	s = make(&o);
	for (t = 0; t < 500; t++) {
		cl_synth_row(s, t, 5, row, NULL);
		for (best = 0, e = 1; e < E_MAX; e++)
			if (row[e] > row[best])
				best = e;
		if (++count[best] > most)
			most = count[best];
	}
	cl_synth_free(s);
	return (most);
}

static void
locality_concentrates(void)
{
	uint32_t none = commonest(0), some = commonest(2),
	    much = commonest(20);

	assert(none < some && some < much && much > 400);
}

static void
lone_expert(void)
{
	struct cl_synth_options o;
	struct cl_synth *s;
	float score, quiet;

	cl_synth_defaults(&o);
	s = make(&o);
	cl_synth_row(s, 3, 2, &score, NULL);
	cl_synth_free(s);
	o.mode = CL_SYNTH_NOISE;
	s = make(&o);
	cl_synth_row(s, 3, 2, &quiet, NULL);
	cl_synth_free(s);
	assert(fabsf(score - quiet - 1.5f) < 1e-6f);
}

static int
check(const struct cl_synth_options *o)
{
	struct cl_err err = { 0 };
	int status = cl_synth_check(o, &err);

	assert(status == err.code);
	assert(status == CL_OK || status == CL_EINVAL);
	return (status);
}

#define BOUND(field, good, bad)	do {					\
	struct cl_synth_options o_ = fine;				\
									\
	o_.field = (good);						\
	assert(check(&o_) == CL_OK);					\
	o_.field = (bad);						\
	assert(check(&o_) == CL_EINVAL);				\
} while (0)

static void
options_are_bounded(void)
{
	struct cl_synth_options fine;

	cl_synth_defaults(&fine);
	assert(check(&fine) == CL_OK);
	BOUND(ntokens, 1, 0);
	BOUND(ntokens, UINT32_MAX, (uint64_t)UINT32_MAX + 1);
	BOUND(locality, 0, nextafter(0, -1));
	BOUND(locality, 100, nextafter(100, 101));
	BOUND(locality, 1, NAN);
	BOUND(predict_corr, 1, nextafter(1, 2));
	BOUND(predict_corr, -1, nextafter(-1, -2));
	BOUND(mode, CL_SYNTH_NOISE, (enum cl_synth_mode)4);
	BOUND(mode, CL_SYNTH_DRIFT, (enum cl_synth_mode)0);
	fine.mode = CL_SYNTH_FIXED;
	fine.shift_len = 10;
	fine.shift_at = 5;
	BOUND(shift_at, fine.ntokens - 1, fine.ntokens);
	BOUND(shift_len, UINT64_MAX, 0);
	BOUND(mode, CL_SYNTH_FIXED, CL_SYNTH_DRIFT);
	BOUND(mode, CL_SYNTH_FIXED, CL_SYNTH_NOISE);
}

static void
modes_have_names(void)
{
	int i;

	for (i = CL_SYNTH_DRIFT; i <= CL_SYNTH_NOISE; i++)
		assert((int)cl_synth_mode_by_name(cl_synth_mode_name(
		    (enum cl_synth_mode)i)) == i);
	assert(cl_synth_mode_by_name("noisy") == 0);
	assert(cl_synth_mode_name((enum cl_synth_mode)0) == NULL);
	assert(cl_synth_mode_name((enum cl_synth_mode)4) == NULL);
}

static void
dense_model(void)
{
	struct cl_synth_options o;
	struct cl_model *m = cl_model_new(2, NULL);
	struct cl_err err = { 0 };

	assert(m != NULL);
	cl_synth_defaults(&o);
	assert(cl_synth_new(m, &o, &err) == NULL && err.code == CL_EINVAL);
	cl_model_free(m);
	cl_synth_free(NULL);
}

static void
head_is_plain(void)
{
	struct cl_synth_options o;
	struct cl_model *m = make_model();
	struct cl_rule *r = &m->layers[1].rule;
	struct cl_trace_head *h;

	r->gate = CL_GATE_SIGMOID;
	r->select = CL_SELECT_TABLE;
	r->sel_bias = calloc(64, sizeof(*r->sel_bias));
	r->gate_bias = calloc(64, sizeof(*r->gate_bias));
	r->ngroup = 8;
	r->ngroup_used = 4;
	r->scale = 2.5f;
	cl_synth_defaults(&o);
	o.mode = CL_SYNTH_FIXED;
	o.shift_at = 5;
	o.shift_len = 6;
	o.locality = 0.3;
	assert((h = cl_synth_head(m, &o, CL_SCORES_F32, NULL)) != NULL);
	assert(h->model == m && h->origin == CL_ORIGIN_SYNTHETIC);
	assert(h->scores == CL_SCORES_F32 && h->forecast && !h->tokens);
	assert(r->sel_bias == NULL && r->gate_bias == NULL);
	assert(r->ngroup == 1 && r->ngroup_used == 1);
	assert(r->select == CL_SELECT_PROBS && r->gate == CL_GATE_SIGMOID);
	assert(r->k == 8 && r->norm && r->scale == 2.5f);
	assert(strcmp(cl_trace_head_find(h, "mode"), "fixed") == 0);
	assert(strcmp(cl_trace_head_find(h, "tokens"), "1024") == 0);
	assert(strcmp(cl_trace_head_find(h, "seed"), "1") == 0);
	assert(strcmp(cl_trace_head_find(h, "locality"), "0.3") == 0);
	assert(strcmp(cl_trace_head_find(h, "predict-corr"), "0.8") == 0);
	assert(strcmp(cl_trace_head_find(h, "shift"), "5:6") == 0);
	cl_trace_head_free(h);
	o.ntokens = 0;
	assert(cl_synth_head(make_model(), &o, CL_SCORES_F32, NULL) == NULL);
}

/* Writes a whole trace, and gives its routing fingerprint. */
static uint64_t
write_trace(enum cl_trace_scores scores)
{
	struct cl_synth_options o;
	struct cl_trace_head *h;
	struct cl_trace_writer *w;
	const struct cl_trace_counts *c;
	struct cl_synth *s;
	struct cl_dst *dst;
	uint64_t routing;
	int fd, n = 0, status;

	assert((fd = open("/dev/null", O_WRONLY)) != -1);
	cl_synth_defaults(&o);
	o.ntokens = 300;			/* more than one block */
	assert((h = cl_synth_head(make_model(), &o, scores, NULL)) != NULL);
	assert((s = cl_synth_new(h->model, &o, NULL)) != NULL);
	assert((dst = cl_dst_fd(fd, "null", NULL)) != NULL);
	assert((w = cl_trace_writer_new(dst, h, NULL)) != NULL);
	while ((status = cl_synth_write(s, w, NULL)) == CL_OK)
		n++;
	assert(status == CL_END && n == 300);
	assert(cl_synth_write(s, w, NULL) == CL_END);
	assert(cl_trace_writer_finish(w, CL_END_COMPLETE, NULL) == CL_OK);
	c = cl_trace_writer_counts(w);
	assert(c->sequences == 1 && c->tokens == 300 && c->passes == 300);
	assert(c->cells == 300 * 4 && c->mismatches == 0);
	assert(c->choices == 300 * (8 + 1 + 1 + 8));
	routing = c->routing;
	cl_trace_writer_free(w);
	cl_dst_free(dst);
	cl_synth_free(s);
	cl_trace_head_free(h);
	close(fd);
	return (routing);
}

static void
trace_is_written(void)
{

	assert(write_trace(CL_SCORES_F32) == write_trace(CL_SCORES_NONE));
	assert(write_trace(CL_SCORES_F32) == write_trace(CL_SCORES_F16));
}

static const struct unit units[] = {
	{ "every cell is what the definition makes of it",
	    agrees_with_definition },
	{ "64 tokens have the same bytes on every machine", bytes_are_pinned },
	{ "another seed gives another trace", seeds_differ },
	{ "no two neighbouring segments have the same topic", topics_are_new },
	{ "noise has mean 0, variance 1 and a forecast apart",
	    noise_is_standard },
	{ "a forecast correlates with its scores as asked",
	    forecast_correlates },
	{ "a shift is noise inside its window and fixed outside",
	    shift_is_a_window },
	{ "the more locality, the fewer experts", locality_concentrates },
	{ "a lone expert has its bonus and no popularity", lone_expert },
	{ "options are bounded", options_are_bounded },
	{ "modes have names", modes_have_names },
	{ "a model without experts is refused", dense_model },
	{ "the head says SYNTHETIC, every parameter, and a plain rule",
	    head_is_plain },
	{ "the whole trace is one sequence of decoded tokens",
	    trace_is_written },
};

UNIT_MAIN(units)
