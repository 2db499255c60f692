#ifndef BENCH_H
#define BENCH_H

/*
 * What benchmarks have in common: they print rows "name median spread", the
 * spread being the distance of the quartiles, and no row that fewer than
 * CL_SAMPLE_LEAST samples stand behind.
 */

#include <stdio.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/sample.h"

static inline void bench_die(const char *name, const struct cl_err *)
    __attribute__((noreturn));

static inline void
bench_die(const char *name, const struct cl_err *err)
{

	fprintf(stderr, "%s: %s\n", name, err->msg);
	exit(2);
}

/* Print a row, sorting v; returns the median. */
static inline double
bench_row(const char *name, double *v, size_t n)
{
	struct cl_err err = { 0 };
	struct cl_sample s;

	if (cl_sample_sum(&s, v, n, &err) != CL_OK)
		bench_die(name, &err);
	printf("%s\t%.4f\t%.4f\n", name, s.median, s.upper - s.lower);
	fflush(stdout);
	return (s.median);
}

#endif /* BENCH_H */
