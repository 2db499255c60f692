#ifndef CL_SAMPLE_H
#define CL_SAMPLE_H

/*
 * What several measurements of one thing say: their middle and their spread.
 * Fewer than CL_SAMPLE_LEAST say nothing, and no figure is made of them.
 */

#include <stddef.h>

struct cl_err;

#define CL_SAMPLE_LEAST	5

struct cl_sample {
	size_t		 n;
	double		 median;	/* the middle one, or next above it */
	double		 lower;		/* quartiles, */
	double		 upper;		/* as many values below as above */
	double		 mean;
};

/* Of n values, which are sorted.  CL_EINVAL where they are too few. */
int	cl_sample_sum(struct cl_sample *, double *v, size_t n,
	    struct cl_err *);

#endif /* CL_SAMPLE_H */
