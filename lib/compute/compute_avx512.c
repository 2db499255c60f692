/*
 * The kernel in AVX-512 without VNNI: Makefile says which instructions this
 * file may use, compute_x86.c whether the processor has them.
 */

#include "compute_avx512_int.h"

uint32_t
cl_compute_rows_avx512(const struct cl_compute_act *a, const uint8_t *p,
    size_t nrows, uint32_t w, uint64_t sum[CL_COMPUTE_NBLOCKS])
{

	return (rows(a, p, nrows, w, sum));
}
