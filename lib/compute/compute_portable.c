/*
 * The kernel in plain C: what the other forms are measured against, and what
 * runs where there is none of them.
 */

#include "compute_int.h"

/* The integers of a block: its scale above its biased sum. */
static uint32_t
block(const struct cl_compute_act *a, unsigned i, const uint8_t *p)
{
	const uint8_t *q = p + 2;
	int32_t sum;
	unsigned j;

	sum = a->bias[i][0] + a->bias[i][1] + a->bias[i][2] + a->bias[i][3];
	for (j = 0; j < 16; j++)
		sum += (q[j] & 15) * a->lo[i][j] + (q[j] >> 4) * a->hi[i][j];
	return ((uint32_t)p[1] << 24 | (uint32_t)p[0] << 16 | (uint32_t)sum);
}

uint32_t
cl_compute_rows_portable(const struct cl_compute_act *a, const uint8_t *p,
    size_t nrows, uint32_t w, uint64_t sum[CL_COMPUTE_NBLOCKS])
{
	unsigned i;

	for (; nrows > 0; nrows--) {
		cl_compute_ahead(p, CL_COMPUTE_ROW);
		for (i = 0; i < CL_COMPUTE_NBLOCKS; i++) {
			sum[i] += (uint64_t)block(a, i, p) * w;
			p += CL_COMPUTE_BLOCK;
		}
		w *= CL_COMPUTE_STEP;
	}
	return (w);
}
