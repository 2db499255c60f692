/*
 * bench_tap: what capturing and recording cost, on this machine.
 *
 *	bench_tap LIBLLAMA MODEL [NTOKENS [NSAMPLES]]
 *
 * Generates the same NTOKENS (default 96), the likeliest each, one at a time
 * on one thread: with capturing off, with capturing on, and recorded as a
 * trace; NSAMPLES (default 9) times each, interleaved.  A sample is the time
 * that a tenth of a run's tokens stay below: what a token takes while nothing
 * else disturbs it.  Prints rows "name ratio spread": tokens/s relative to
 * those with capturing off, microseconds for each captured tensor, and those
 * of a token with capturing off; each the median over the samples, with the
 * distance of their quartiles.  Fewer than 5 samples say nothing and are
 * refused.
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
#include "cl/record.h"
#include "cl/tap.h"
#include "cl/text.h"
#include "cl/trace.h"

#define NTOKENS		96
#define NTOKENS_MAX	4096
#define NPROMPT_MAX	64
#define NSAMPLES	9
#define NSAMPLES_LEAST	5
#define NSAMPLES_MAX	101
#define PROMPT		"The"

enum kind { OFF, CAPTURE, RECORD, NKINDS };

struct clock {				/* one run's tokens */
	double		 us[NTOKENS_MAX];
	uint32_t	 n;
	uint64_t	 last;
};

static void die(const struct cl_err *) __attribute__((noreturn));

static void
die(const struct cl_err *err)
{

	fprintf(stderr, "bench_tap: %s\n", err->msg);
	exit(2);
}

static void
check(int status, const struct cl_err *err)
{

	if (status != CL_OK)
		die(err);
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return ((*x > *y) - (*x < *y));
}

/* The value below which the q-th part of v lies; v is sorted on the way. */
static double
quantile(double *v, uint32_t n, double q)
{

	qsort(v, n, sizeof(*v), compare);
	return (v[(uint32_t)(q * (n - 1) + 0.5)]);
}

/* A pass is over; the first one was the prompt. */
static void
tick(void *arg, uint64_t done, uint64_t total)
{
	struct clock *c = arg;
	uint64_t now = cl_clock_ns();

	(void)total;
	(void)done;
	if (c->last != 0 && c->n < NTOKENS_MAX)
		c->us[c->n++] = (double)(now - c->last) / 1e3;
	c->last = now;
}

static int32_t
likeliest(struct cl_tap *tap, uint32_t row, struct cl_err *err)
{
	const float *out = cl_tap_output(tap, row, err);
	uint32_t i, best = 0;

	if (out == NULL)
		die(err);
	for (i = 1; i < cl_tap_nvocab(tap); i++)
		if (out[i] > out[best])
			best = i;
	return ((int32_t)best);
}

static void
generate(struct cl_tap *tap, uint32_t ntokens, struct clock *c,
    struct cl_err *err)
{
	struct cl_tap_token t[NPROMPT_MAX] = { 0 };
	int32_t *tokens;
	uint32_t i, row;
	size_t n;

	check(cl_tap_tokenize(tap, PROMPT, sizeof(PROMPT) - 1, &tokens, &n,
	    err), err);
	for (i = 0; i < n && i < NPROMPT_MAX; i++) {
		t[i].token = tokens[i];
		t[i].pos = i;
	}
	free(tokens);
	row = i - 1;
	check(cl_tap_decode(tap, t, i, err), err);
	tick(c, i, ntokens);
	for (t[0].pos = i; ntokens > 0; ntokens--, t[0].pos++, row = 0) {
		t[0].token = likeliest(tap, row, err);
		check(cl_tap_decode(tap, t, 1, err), err);
		tick(c, t[0].pos, ntokens);
	}
}

static void
record(struct cl_tap *tap, const char *path, uint32_t ntokens,
    struct clock *c, struct cl_err *err)
{
	const struct cl_record_prompt prompt = { "bench", PROMPT,
	    sizeof(PROMPT) - 1 };
	struct cl_record_options o = { .prompts = &prompt, .nprompts = 1,
	    .ngenerate = ntokens, .ignore_eos = true, .progress = tick,
	    .progress_arg = c };
	struct cl_trace_counts counts;
	int fd = open("/dev/null", O_WRONLY);
	struct cl_dst *dst = cl_dst_fd(fd, "/dev/null", err);
	struct cl_model *model = cl_model_open(path, err);
	struct cl_trace_head *head;

	if (dst == NULL || model == NULL ||
	    (head = cl_trace_head_new(model, err)) == NULL)
		die(err);
	head->origin = CL_ORIGIN_RECORDED;
	head->scores = CL_SCORES_F32;
	head->tokens = true;
	head->block_tokens = CL_TRACE_BLOCK_LIVE;
	check(cl_record_run(tap, head, dst, &o, &counts, err), err);
	check(cl_dst_finish(dst, err), err);
	cl_dst_free(dst);
	cl_trace_head_free(head);
	(void)close(fd);
}

/* Microseconds a token of one run; *tensors, those captured for each. */
static double
run(enum kind kind, const char *library, const char *model, uint32_t ntokens,
    double *tensors)
{
	static struct clock c;
	const char *const places[] = { library, NULL };
	struct cl_tap_options o = { .places = places, .must = library,
	    .nctx = ntokens + NPROMPT_MAX, .nbatch = NPROMPT_MAX,
	    .nubatch = NPROMPT_MAX, .nseq = 1, .nthreads = 1,
	    .capture = kind != OFF };
	struct cl_err err = { 0 };
	struct cl_tap *tap;

	c.n = 0;
	c.last = 0;
	if ((tap = cl_tap_open(&o, model, &err)) == NULL)
		die(&err);
	if (kind == RECORD)
		record(tap, model, ntokens, &c, &err);
	else
		generate(tap, ntokens, &c, &err);
	*tensors = (double)cl_tap_captured(tap) / (c.n + 1);
	cl_tap_close(tap);
	return (quantile(c.us, c.n, 0.1));
}

static void
print(const char *name, double *v, uint32_t n)
{

	printf("%s\t%.4f\t%.4f\n", name, quantile(v, n, 0.5),
	    quantile(v, n, 0.75) - quantile(v, n, 0.25));
}

/* Rows of one kind against OFF; us[] keeps its order. */
static void
print_kind(const char *names[2], double us[NKINDS][NSAMPLES_MAX],
    enum kind kind, uint32_t n, double tensors)
{
	double ratio[NSAMPLES_MAX], cost[NSAMPLES_MAX];
	uint32_t i;

	for (i = 0; i < n; i++) {
		ratio[i] = us[OFF][i] / us[kind][i];
		cost[i] = (us[kind][i] - us[OFF][i]) / tensors;
	}
	print(names[0], ratio, n);
	print(names[1], cost, n);
}

int
main(int argc, char **argv)
{
	static double us[NKINDS][NSAMPLES_MAX];
	struct cl_err err = { 0 };
	uint64_t i, j, kind, n = NSAMPLES, ntokens = NTOKENS;
	double tensors[NKINDS];

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: bench_tap LIBLLAMA MODEL [NTOKENS "
		    "[NSAMPLES]]\n");
		return (2);
	}
	if (argc > 3)
		check(cl_text_u64(argv[3], 2, NTOKENS_MAX, &ntokens, &err),
		    &err);
	if (argc > 4)
		check(cl_text_u64(argv[4], NSAMPLES_LEAST, NSAMPLES_MAX, &n,
		    &err), &err);
	for (i = 0; i < n; i++)
		for (j = 0; j < NKINDS; j++) {
			/* In turn: a drift of the machine favours none. */
			kind = (i + j) % NKINDS;
			us[kind][i] = run((enum kind)kind, argv[1], argv[2],
			    (uint32_t)ntokens, &tensors[kind]);
		}
	print_kind((const char *[]) { "capture.tokens_per_second",
	    "capture.us_per_tensor" }, us, CAPTURE, (uint32_t)n,
	    tensors[CAPTURE]);
	print_kind((const char *[]) { "record.tokens_per_second",
	    "record.us_per_tensor" }, us, RECORD, (uint32_t)n,
	    tensors[RECORD]);
	print("off.us_per_token", us[OFF], (uint32_t)n);
	return (0);
}
