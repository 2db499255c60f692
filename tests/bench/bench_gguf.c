/*
 * bench_gguf: what opening a model with a large vocabulary takes.
 *
 *	bench_gguf MODEL [NSAMPLES]
 *
 * Prints rows over NSAMPLES (default 9): milliseconds to read the head of the
 * file, and to open the model in it, which reads the routers as well.  The
 * page cache is warm: the first sample of each is not counted.  Ends with 1 where the
 * head takes longer than LIMIT_MS.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cl/clock.h"
#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/model.h"
#include "cl/text.h"
#include "bench.h"

#define NSAMPLES	9
#define NSAMPLES_MAX	101
#define LIMIT_MS	300

static void
open_head(const char *path)
{
	struct cl_err err = { 0 };
	struct cl_gguf *g = cl_gguf_open(path, &err);

	if (g == NULL)
		bench_die("bench_gguf", &err);
	cl_gguf_close(g);
}

static void
open_model(const char *path)
{
	struct cl_err err = { 0 };
	struct cl_model *m = cl_model_open(path, &err);

	if (m == NULL)
		bench_die("bench_gguf", &err);
	cl_model_free(m);
}

/* The median of n samples in milliseconds, printed under a name. */
static double
sample(const char *name, void (*what)(const char *), const char *path,
    unsigned n)
{
	double ms[NSAMPLES_MAX];
	uint64_t start;
	unsigned i;

	what(path);
	for (i = 0; i < n; i++) {
		start = cl_clock_ns();
		what(path);
		ms[i] = (double)(cl_clock_ns() - start) / 1e6;
	}
	return (bench_row(name, ms, n));
}

int
main(int argc, char **argv)
{
	struct cl_err err = { 0 };
	uint64_t n = NSAMPLES;
	double ms;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bench_gguf MODEL [NSAMPLES]\n");
		return (2);
	}
	if (argc == 3 && cl_text_u64(argv[2], CL_SAMPLE_LEAST, NSAMPLES_MAX,
	    &n, &err) != CL_OK)
		bench_die("bench_gguf", &err);
	ms = sample("head_ms", open_head, argv[1], (unsigned)n);
	(void)sample("model_ms", open_model, argv[1], (unsigned)n);
	if (ms <= LIMIT_MS)
		return (0);
	fprintf(stderr, "bench_gguf: %.2f ms, at most %d\n", ms, LIMIT_MS);
	return (1);
}
