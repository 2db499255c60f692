/*
 * bench_kernel: is computing over what was read as cheap as it can be?
 *
 *	bench_kernel LIBLLAMA [NSAMPLES [FORM]]
 *
 * Prints rows "name median spread" over NSAMPLES (default 15) pairs, one
 * thread, each pair in either order, so that whatever disturbs the machine
 * meets both:
 *
 *	sum		GB/s of a 64-bit sum over MEMORY bytes, more than
 *			caches hold, in four chains as fast as plain C has it
 *	checksum/sum	the hash over the same bytes, in bytes/s
 *	kernel/sum	and the kernel, at least LEAST_SUM
 *	ggml		GB/s of ggml's q4_0 x q8_0 dot product over rows that
 *			stay in the cache, by the best library in LIBLLAMA
 *	kernel/ggml	the kernel over the same rows, at least LEAST_GGML
 *
 * A first pair is not counted.  The kernel takes its best form or the one that
 * is named.  Ends with 1 where one falls short.
 */

#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cl/compute.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "cl/text.h"
#include "bench.h"

#define NAME		"bench_kernel"
#define MEMORY		((size_t)1 << 30)
#define BLOCK		18
#define ROW		576
#define NROWS		448			/* 252 KiB */
#define NPASSES		64			/* over them, a sample */
#define NSAMPLES	15
#define NSAMPLES_MAX	101
#define LEAST_SUM	0.9
#define LEAST_GGML	1.0
#define LIBRARIES	"/package/bins/*/libggml-cpu*.so"

/* As ggml-cpu.h has them since ggml keeps the processor's part apart. */
#define TYPE_Q4_0	2
#define TYPE_Q8_0	8
#define Q8_BLOCK	34			/* a scale, 32 integers */
struct type_traits_cpu {
	void		(*from_float)(const float *, void *, int64_t);
	void		(*vec_dot)(int n, float *s, size_t bs, const void *x,
			    size_t bx, const void *y, size_t by, int nrc);
	int		 vec_dot_type;
	int64_t		 nrows;
};

/* A thing to time: over n bytes at p. */
struct work {
	void		(*run)(const void *how, const uint8_t *p, size_t n);
	const void	*how;
};

/* What is computed must be wanted by somebody. */
static uint64_t result;

static void
sum(const void *how, const uint8_t *p, size_t n)
{
	const uint64_t *v = (const void *)p;
	uint64_t a = 0, b = 0, c = 0, d = 0;
	size_t i;

	(void)how;
	for (i = 0; i < n / sizeof(*v); i += 4) {
		a += v[i];
		b += v[i + 1];
		c += v[i + 2];
		d += v[i + 3];
	}
	result += a + b + c + d;
}

static void
compute(const void *how, const uint8_t *p, size_t n)
{
	const struct cl_compute_slab slab = { p, n };

	result += cl_compute_expert(how, 0, 0, &slab, 1);
}

static void
compute_rows(const void *how, const uint8_t *p, size_t n)
{
	unsigned i;

	for (i = 0; i < NPASSES; i++)
		compute(how, p, n);
}

struct ggml {
	const struct type_traits_cpu *type;
	uint8_t		 vector[1024 / 32 * Q8_BLOCK];
};

static void
ggml_rows(const void *how, const uint8_t *p, size_t n)
{
	const struct ggml *g = how;
	float dot, all = 0;
	unsigned i;
	size_t at;

	for (i = 0; i < NPASSES; i++)
		for (at = 0; at < n; at += ROW) {
			g->type->vec_dot(1024, &dot, 0, p + at, 0, g->vector,
			    0, 1);
			all += dot;
		}
	result += all > 0;
}

/* Of this thread alone: others that run on its processor do not count. */
static uint64_t
busy_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

/* Nanoseconds of one after the other; flip: in the other order. */
static void
pair(const struct work *w, const uint8_t *p, size_t n, bool flip, double ns[2])
{
	uint64_t start;
	unsigned i, k;

	for (i = 0; i < 2; i++) {
		k = flip ? 1 - i : i;
		start = busy_ns();
		w[k].run(w[k].how, p, n);
		ns[k] = (double)(busy_ns() - start);
	}
}

/*
 * Rows of pairs over nbytes bytes in all: how fast the first is, unless it has
 * no name, and the ratio of the second to it, which is returned.
 */
static double
compare(const char *first, const char *ratio, const struct work w[2],
    const uint8_t *p, size_t n, double nbytes, size_t nsamples)
{
	double speed[NSAMPLES_MAX], times[NSAMPLES_MAX], ns[2];
	uint64_t rng = nsamples;
	size_t i;

	pair(w, p, n, false, ns);
	for (i = 0; i < nsamples; i++) {
		pair(w, p, n, (cl_rng_next(&rng) & 1) != 0, ns);
		speed[i] = nbytes / ns[0];
		times[i] = ns[0] / ns[1];
	}
	if (first != NULL)
		(void)bench_row(first, speed, nsamples);
	return (bench_row(ratio, times, nsamples));
}

static void *
symbol(void *library, const char *name)
{

	return (library != NULL ? dlsym(library, name) : NULL);
}

/* How well a library suits this processor, by its own account; 0: not. */
static int
score(void *library)
{
	void *p = symbol(library, "ggml_backend_score");
	int (*f)(void);

	if (p == NULL)
		return (symbol(library, "ggml_get_type_traits_cpu") != NULL);
	memcpy(&f, &p, sizeof(f));
	return (f());
}

static void *
best_library(const char *dir)
{
	void *library, *best = NULL;
	char pattern[4096];
	glob_t found;
	size_t i;
	int most = 0;

	snprintf(pattern, sizeof(pattern), "%s" LIBRARIES, dir);
	if (glob(pattern, 0, NULL, &found) != 0)
		return (NULL);
	for (i = 0; i < found.gl_pathc; i++) {
		library = dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL);
		if (score(library) > most) {
			most = score(library);
			best = library;
		}
	}
	globfree(&found);
	return (best);
}

static double
half(const uint8_t *p)
{

	return ((1 + ((p[1] & 3) * 256 + p[0]) / 1024.0) / 128);
}

/* Blocks whose scales are numbers, 2^-7 to 2^-6; Q8_0 has no -128. */
static void
make_rows(uint8_t *p, size_t n, size_t block)
{
	uint64_t rng = n;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(cl_rng_below(&rng, 255) + 129);
	for (i = 0; i < n; i += block)
		p[i + 1] = (uint8_t)(0x20 | (p[i + 1] & 3));
}

/* Does vec_dot compute what it is taken for? */
static bool
right(const struct ggml *g, const uint8_t *row)
{
	double want = 0, size = 0, b;
	const uint8_t *x, *y;
	float dot;
	int i, j;

	for (i = 0; i < 32; i++) {
		x = row + BLOCK * i;
		y = g->vector + Q8_BLOCK * i;
		b = 0;
		for (j = 0; j < 16; j++)
			b += ((x[2 + j] & 15) - 8) * (int8_t)y[2 + j] +
			    ((x[2 + j] >> 4) - 8) * (int8_t)y[18 + j];
		want += half(x) * half(y) * b;
		size += half(x) * half(y) * fabs(b);
	}
	g->type->vec_dot(1024, &dot, 0, row, 0, g->vector, 0, 1);
	return (fabs(dot - want) <= 1e-4 * size);
}

static void
open_ggml(struct ggml *g, const char *dir, const uint8_t *row)
{
	struct cl_err err = { 0 };
	const struct type_traits_cpu *(*traits)(int);
	void *library = best_library(dir), *p;
	void (*init)(void);

	if ((p = symbol(library, "ggml_cpu_init")) != NULL) {
		memcpy(&init, &p, sizeof(init));
		init();
	}
	if ((p = symbol(library, "ggml_get_type_traits_cpu")) == NULL) {
		(void)cl_fail(&err, CL_ENOTSUP, "no %s%s suits: run make deps",
		    dir, LIBRARIES);
		bench_die(NAME, &err);
	}
	memcpy(&traits, &p, sizeof(traits));
	g->type = traits(TYPE_Q4_0);
	make_rows(g->vector, sizeof(g->vector), Q8_BLOCK);
	if (g->type->vec_dot_type == TYPE_Q8_0 && right(g, row))
		return;
	(void)cl_fail(&err, CL_ENOTSUP, "vec_dot is not the q4_0 x q8_0 dot "
	    "product that it is taken for");
	bench_die(NAME, &err);
}

static struct cl_compute *
open_compute(enum cl_compute_kind kind)
{
	struct cl_err err = { 0 };
	struct cl_compute *c = cl_compute_new(kind, 1, &err);

	if (c == NULL)
		bench_die(NAME, &err);
	return (c);
}

static double
bench_memory(const struct cl_compute *kernel, size_t nsamples)
{
	struct cl_compute *hash = open_compute(CL_COMPUTE_CHECKSUM);
	const struct work hashes[] = { { sum, NULL }, { compute, hash } };
	const struct work kernels[] = { { sum, NULL }, { compute, kernel } };
	struct cl_err err = { 0 };
	uint64_t *v = malloc(MEMORY), rng = 1;
	const uint8_t *p = (const void *)v;
	double ratio;
	size_t i;

	if (v == NULL) {
		(void)cl_fail_nomem(&err, "bytes to pass over");
		bench_die(NAME, &err);
	}
	for (i = 0; i < MEMORY / sizeof(*v); i++)
		v[i] = cl_rng_next(&rng);
	(void)compare("sum", "checksum/sum", hashes, p, MEMORY, (double)MEMORY,
	    nsamples);
	ratio = compare(NULL, "kernel/sum", kernels, p, MEMORY, (double)MEMORY,
	    nsamples);
	free(v);
	cl_compute_free(hash);
	return (ratio);
}

static double
bench_cached(const struct cl_compute *kernel, const char *dir, size_t nsamples)
{
	static uint8_t rows[NROWS * ROW];
	struct ggml g;
	const struct work w[] = { { ggml_rows, &g }, { compute_rows, kernel } };

	make_rows(rows, sizeof(rows), BLOCK);
	open_ggml(&g, dir, rows);
	return (compare("ggml", "kernel/ggml", w, rows, sizeof(rows),
	    (double)NPASSES * sizeof(rows), nsamples));
}

int
main(int argc, char **argv)
{
	struct cl_compute *kernel;
	struct cl_err err = { 0 };
	uint64_t n = NSAMPLES;
	double of_sum, of_ggml;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: " NAME
		    " LIBLLAMA [NSAMPLES [FORM]]\n");
		return (2);
	}
	if (argc > 2 && cl_text_u64(argv[2], CL_SAMPLE_LEAST, NSAMPLES_MAX,
	    &n, &err) != CL_OK)
		bench_die(NAME, &err);
	kernel = open_compute(CL_COMPUTE_KERNEL);
	if (argc > 3 && cl_compute_set_form(kernel, argv[3], &err) != CL_OK)
		bench_die(NAME, &err);
	printf("form\t%s\n", cl_compute_form(kernel));
	of_sum = bench_memory(kernel, (size_t)n);
	of_ggml = bench_cached(kernel, argv[1], (size_t)n);
	cl_compute_free(kernel);
	if (of_sum >= LEAST_SUM && of_ggml >= LEAST_GGML)
		return (0);
	fprintf(stderr, NAME ": kernel/sum %.4f, at least %.1f; kernel/ggml "
	    "%.4f, at least %.1f\n", of_sum, LEAST_SUM, of_ggml, LEAST_GGML);
	return (1);
}
