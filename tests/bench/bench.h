#ifndef BENCH_H
#define BENCH_H

/*
 * What benchmarks have in common: they print rows "name median spread", the
 * spread being the distance of the quartiles, and no row that fewer than
 * CL_SAMPLE_LEAST samples stand behind.  A benchmark that misses a figure says
 * so in a row, and ends with 1 when it is through.
 */

#include <stdbool.h>
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

/* The median of what name is measured by, and the spread; v gets sorted. */
static inline double
bench_median(const char *name, double *v, size_t n, double *spread)
{
	struct cl_err err = { 0 };
	struct cl_sample s;

	if (cl_sample_sum(&s, v, n, &err) != CL_OK)
		bench_die(name, &err);
	if (spread != NULL)
		*spread = s.upper - s.lower;
	return (s.median);
}

/* Print a row, sorting v; returns the median. */
static inline double
bench_row(const char *name, double *v, size_t n)
{
	double spread, median = bench_median(name, v, n, &spread);

	printf("%s\t%.4f\t%.4f\n", name, median, spread);
	fflush(stdout);
	return (median);
}

/* Print whether a median is as it must be, and return it. */
static inline bool
bench_within(const char *name, double median, double least, double most)
{
	bool within = median >= least && median <= most;

	if (within)
		printf("%s\twithin %.4g .. %.4g\n", name, least, most);
	else
		printf("%s\tmissed: %.4f is not within %.4g .. %.4g\n", name,
		    median, least, most);
	fflush(stdout);
	return (within);
}

#endif /* BENCH_H */
