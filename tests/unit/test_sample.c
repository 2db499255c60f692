/*
 * Figures out of samples.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/sample.h"
#include "unit.h"

static void
four_samples_are_refused(void)
{
	double v[] = { 1, 2, 3, 4, 5 };
	struct cl_err err = { 0 };
	struct cl_sample s;

	assert(cl_sample_sum(&s, v, 4, &err) == CL_EINVAL);
	assert(strcmp(err.msg, "4 samples, at least 5 are wanted for a "
	    "figure") == 0);
	err.code = CL_OK;
	assert(cl_sample_sum(&s, v, 0, &err) == CL_EINVAL);
	err.code = CL_OK;
	assert(cl_sample_sum(&s, v, 5, &err) == CL_OK && s.n == 5);
}

static void
middle_and_quartiles(void)
{
	double five[] = { 3, 1, 100, 2, -7 };
	double eight[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	struct cl_err err = { 0 };
	struct cl_sample s;

	assert(cl_sample_sum(&s, five, 5, &err) == CL_OK);
	assert(s.median == 2 && s.lower == 1 && s.upper == 3);
	assert(s.mean == 19.8);
	assert(cl_sample_sum(&s, eight, 8, &err) == CL_OK);
	assert(s.median == 5 && s.lower == 3 && s.upper == 6);
	assert(s.mean == 4.5);
}

static const struct unit units[] = {
	{ "no figure is made of four samples", four_samples_are_refused },
	{ "a figure is middle, quartiles and mean", middle_and_quartiles },
};

UNIT_MAIN(units)
