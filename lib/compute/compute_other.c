/*
 * The forms of the kernel where there is none but the portable one.
 */

#include "compute_int.h"

const struct cl_compute_form cl_compute_table[] = {
	{ NULL, NULL, NULL }
};
