/*
 * bench_tap: what capturing costs, on this machine.
 *
 *	bench_tap LIBLLAMA MODEL [NTOKENS [NSAMPLES]]
 *
 * Decodes the same NTOKENS (default 48) one at a time with capturing off and
 * on, NSAMPLES (default 9) times each, interleaved, on one thread.  A sample
 * is the time that a tenth of a run's tokens stay below: what a token takes
 * while nothing else disturbs it.  Prints rows "name ratio spread": the
 * tokens/s with capturing relative to those without, the microseconds that
 * each captured tensor costs, and those of a token without capturing; each the
 * median over the samples, with the distance of their quartiles.  Fewer than 5
 * samples say nothing and are refused.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cl/clock.h"
#include "cl/err.h"
#include "cl/tap.h"
#include "cl/text.h"

#define NTOKENS		48
#define NTOKENS_MAX	4096
#define NSAMPLES	9
#define NSAMPLES_LEAST	5
#define NSAMPLES_MAX	101

struct run {
	double		 us;		/* of a token, undisturbed */
	double		 tensors;	/* captured for a token */
};

static void
die(const struct cl_err *err)
{

	fprintf(stderr, "bench_tap: %s\n", err->msg);
	exit(2);
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

static struct run
run(const char *const *places, const char *model, uint32_t ntokens,
    bool capture)
{
	static double us[NTOKENS_MAX];
	struct cl_tap_options o = { .places = places, .must = places[0],
	    .nctx = ntokens, .nbatch = 1, .nubatch = 1, .nseq = 1,
	    .nthreads = 1, .capture = capture };
	struct cl_err err = { 0 };
	struct cl_tap_token t = { 0 };
	struct cl_tap *tap;
	struct run r;
	uint64_t start;

	if ((tap = cl_tap_open(&o, model, &err)) == NULL)
		die(&err);
	for (t.pos = 0; t.pos < ntokens; t.pos++) {
		t.token = (int32_t)((1 + 7 * t.pos) % cl_tap_nvocab(tap));
		start = cl_clock_ns();
		if (cl_tap_decode(tap, &t, 1, &err) != CL_OK)
			die(&err);
		us[t.pos] = (double)(cl_clock_ns() - start) / 1e3;
	}
	r.us = quantile(us, ntokens, 0.1);
	r.tensors = (double)cl_tap_captured(tap) / ntokens;
	cl_tap_close(tap);
	return (r);
}

static void
print(const char *name, double *v, uint32_t n)
{

	printf("%s\t%.4f\t%.4f\n", name, quantile(v, n, 0.5),
	    quantile(v, n, 0.75) - quantile(v, n, 0.25));
}

int
main(int argc, char **argv)
{
	static double ratio[NSAMPLES_MAX], cost[NSAMPLES_MAX];
	static double plain[NSAMPLES_MAX];
	const char *places[] = { argc > 1 ? argv[1] : NULL, NULL };
	struct cl_err err = { 0 };
	struct run r[2];
	uint64_t i, n = NSAMPLES, ntokens = NTOKENS;

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: bench_tap LIBLLAMA MODEL [NTOKENS "
		    "[NSAMPLES]]\n");
		return (2);
	}
	if (argc > 3 && cl_text_u64(argv[3], 1, NTOKENS_MAX, &ntokens,
	    &err) != CL_OK)
		die(&err);
	if (argc > 4 && cl_text_u64(argv[4], NSAMPLES_LEAST, NSAMPLES_MAX, &n,
	    &err) != CL_OK)
		die(&err);
	for (i = 0; i < n; i++) {
		/* In turn, so that a drift of the machine favours neither. */
		r[i % 2] = run(places, argv[2], (uint32_t)ntokens, i % 2);
		r[1 - i % 2] = run(places, argv[2], (uint32_t)ntokens,
		    1 - i % 2);
		plain[i] = r[0].us;
		ratio[i] = r[0].us / r[1].us;
		cost[i] = (r[1].us - r[0].us) / r[1].tensors;
	}
	print("tap.tokens_per_second", ratio, (uint32_t)n);
	print("tap.us_per_tensor", cost, (uint32_t)n);
	print("tap.us_per_token", plain, (uint32_t)n);
	return (0);
}
