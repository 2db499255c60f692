/*
 * The kernel in NEON with its dot product: Makefile says which instructions
 * this file may use, compute_arm.c whether the processor has them.
 */

#include "compute_neon_int.h"

uint32_t
cl_compute_rows_neon_dot(const struct cl_compute_act *a, const uint8_t *p,
    size_t nrows, uint32_t w, uint64_t sum[CL_COMPUTE_NBLOCKS])
{

	return (rows(a, p, nrows, w, sum));
}
