/*
 * Order statistics: a machine that is busy for a moment moves a mean, and
 * does not move these.  What takes part in a sum is foretold by its mean all
 * the same.
 */

#include <stdlib.h>

#include "cl/err.h"
#include "cl/sample.h"

static int
order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return ((x > y) - (x < y));
}

int
cl_sample_sum(struct cl_sample *s, double *v, size_t n, struct cl_err *err)
{
	double sum = 0;
	size_t i;

	if (n < CL_SAMPLE_LEAST)
		return (cl_fail(err, CL_EINVAL, "%zu samples, at least %d are "
		    "wanted for a figure", n, CL_SAMPLE_LEAST));
	qsort(v, n, sizeof(*v), order);
	s->n = n;
	s->median = v[n / 2];
	s->lower = v[n / 4];
	s->upper = v[n - 1 - n / 4];
	for (i = 0; i < n; i++)
		sum += v[i];
	s->mean = sum / (double)n;
	return (CL_OK);
}
