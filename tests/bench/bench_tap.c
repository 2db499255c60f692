/*
 * bench_tap: what capturing and recording cost, on this machine.
 *
 *	bench_tap LIBLLAMA MODEL [NTOKENS [NSAMPLES]]
 *
 * Decodes NTOKENS (default 192), any ones, one at a time on one thread: pairs
 * of one with capturing off and one with capturing on, in either order, so
 * that whatever disturbs the machine meets both alike.  What was captured is
 * written as a trace (to /dev/null), which is timed for itself.  A sample is
 * such a run: the median time of a token of each sort, and the mean of writing
 * one, since blocks are packed now and then.  Prints rows over NSAMPLES
 * (default 9): tokens/s relative to those with capturing off, microseconds for
 * each captured tensor, and those of a token with capturing off.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/rule.h"
#include "cl/tap.h"
#include "cl/text.h"
#include "cl/trace.h"
#include "cl/trace_write.h"
#include "bench.h"

#define NTOKENS		192
#define NTOKENS_LEAST	16
#define NTOKENS_MAX	4096
#define NSAMPLES	9
#define NSAMPLES_MAX	101
#define SEED		1

struct sample {
	double		 off;		/* microseconds of a token */
	double		 on;
	double		 write;		/* of writing one */
	double		 tensors;	/* captured for each */
};

static void
check(int status, const struct cl_err *err)
{

	if (status != CL_OK)
		bench_die("bench_tap", err);
}

static double
median(double *v, uint32_t n, struct cl_err *err)
{
	struct cl_sample s;

	check(cl_sample_sum(&s, v, n, err), err);
	return (s.median);
}

/* The head of a trace of this model, with the rules that the tap has read. */
static struct cl_trace_head *
make_head(const struct cl_tap *tap, const char *path, struct cl_err *err)
{
	struct cl_model *model = cl_model_open(path, err);
	struct cl_trace_head *head;
	struct cl_rule *rule;
	uint32_t i;

	if (model == NULL || (head = cl_trace_head_new(model, err)) == NULL)
		bench_die("bench_tap", err);
	for (i = 0; i < cl_tap_nlayers(tap); i++) {
		rule = &model->layers[cl_tap_layer(tap, i)->layer].rule;
		cl_rule_free(rule);
		check(cl_rule_copy(rule, cl_tap_rule(tap, i), err), err);
	}
	head->origin = CL_ORIGIN_RECORDED;
	head->scores = CL_SCORES_F32;
	head->tokens = true;
	head->block_tokens = CL_TRACE_BLOCK_LIVE;
	return (head);
}

static void
write_token(struct cl_trace_writer *w, const struct cl_tap *tap,
    const struct cl_tap_token *t, struct cl_err *err)
{
	const struct cl_trace_token token = { .token = t->token,
	    .pos = t->pos, .decode = true, .begins = true };
	const struct cl_tap_layer *l;
	struct cl_trace_cell cell = { 0 };
	uint32_t i;

	check(cl_trace_write_token(w, &token, err), err);
	for (i = 0; i < cl_tap_nlayers(tap); i++) {
		l = cl_tap_layer(tap, i);
		cell.scores = l->scores;
		cell.ids = l->ids;
		cell.n = l->k;
		check(cl_trace_write_cell(w, i, &cell, err), err);
	}
}

/* Decode the next token, any one; returns the microseconds it took. */
static double
step(struct cl_tap *tap, struct cl_tap_token *t, bool capture, uint64_t *rng,
    struct cl_err *err)
{
	uint64_t start;

	cl_tap_capture(tap, capture);
	t->token = (int32_t)cl_rng_below(rng, cl_tap_nvocab(tap));
	t->pos++;
	start = cl_clock_ns();
	check(cl_tap_decode(tap, t, 1, err), err);
	return ((double)(cl_clock_ns() - start) / 1e3);
}

static struct sample
run(struct cl_tap *tap, const char *model, uint32_t npairs,
    struct cl_dst *dst, struct cl_err *err)
{
	static double off[NTOKENS_MAX / 2], on[NTOKENS_MAX / 2];
	struct cl_tap_token t = { .pos = UINT32_MAX };	/* 0 comes next */
	struct cl_trace_head *head;
	struct cl_trace_writer *w;
	struct sample s = { 0 };
	uint64_t before, start, rng = SEED;
	uint32_t i, seq;
	bool first;

	(void)step(tap, &t, true, &rng, err);
	head = make_head(tap, model, err);
	if ((w = cl_trace_writer_new(dst, head, err)) == NULL)
		bench_die("bench_tap", err);
	check(cl_trace_write_seq(w, "bench", &seq, err), err);
	before = cl_tap_captured(tap);
	for (i = 0; i < npairs; i++) {
		first = (cl_rng_next(&rng) & 1) != 0;
		if (first)
			off[i] = step(tap, &t, false, &rng, err);
		on[i] = step(tap, &t, true, &rng, err);
		start = cl_clock_ns();
		write_token(w, tap, &t, err);
		s.write += (double)(cl_clock_ns() - start) / 1e3 / npairs;
		if (!first)
			off[i] = step(tap, &t, false, &rng, err);
	}
	check(cl_trace_writer_finish(w, CL_END_COMPLETE, err), err);
	cl_trace_writer_free(w);
	cl_trace_head_free(head);
	cl_tap_forget(tap, 0);
	s.off = median(off, i, err);
	s.on = median(on, i, err);
	s.tensors = (double)(cl_tap_captured(tap) - before) / i;
	return (s);
}

static void
report(const struct sample *s, uint32_t n)
{
	double v[5][NSAMPLES_MAX], record;
	uint32_t i;

	for (i = 0; i < n; i++) {
		record = s[i].on + s[i].write;
		v[0][i] = s[i].off / s[i].on;
		v[1][i] = (s[i].on - s[i].off) / s[i].tensors;
		v[2][i] = s[i].off / record;
		v[3][i] = (record - s[i].off) / s[i].tensors;
		v[4][i] = s[i].off;
	}
	(void)bench_row("capture.tokens_per_second", v[0], n);
	(void)bench_row("capture.us_per_tensor", v[1], n);
	(void)bench_row("record.tokens_per_second", v[2], n);
	(void)bench_row("record.us_per_tensor", v[3], n);
	(void)bench_row("off.us_per_token", v[4], n);
}

int
main(int argc, char **argv)
{
	static struct sample samples[NSAMPLES_MAX];
	const char *places[] = { argc > 1 ? argv[1] : NULL, NULL };
	struct cl_tap_options o = { .places = places, .must = places[0],
	    .nbatch = 1, .nubatch = 1, .nseq = 1, .nthreads = 1 };
	struct cl_err err = { 0 };
	uint64_t i, n = NSAMPLES, ntokens = NTOKENS;
	struct cl_dst *dst;
	struct cl_tap *tap;

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: bench_tap LIBLLAMA MODEL [NTOKENS "
		    "[NSAMPLES]]\n");
		return (2);
	}
	if (argc > 3)
		check(cl_text_u64(argv[3], NTOKENS_LEAST, NTOKENS_MAX,
		    &ntokens, &err), &err);
	if (argc > 4)
		check(cl_text_u64(argv[4], CL_SAMPLE_LEAST, NSAMPLES_MAX, &n,
		    &err), &err);
	o.nctx = (uint32_t)ntokens + 1;
	if ((tap = cl_tap_open(&o, argv[2], &err)) == NULL || (dst =
	    cl_dst_fd(open("/dev/null", O_WRONLY), "/dev/null", &err)) == NULL)
		bench_die("bench_tap", &err);
	for (i = 0; i < n; i++)
		samples[i] = run(tap, argv[2], (uint32_t)ntokens / 2, dst,
		    &err);
	report(samples, (uint32_t)n);
	cl_dst_free(dst);
	cl_tap_close(tap);
	return (0);
}
