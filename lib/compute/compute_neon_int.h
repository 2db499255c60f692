#ifndef COMPUTE_NEON_INT_H
#define COMPUTE_NEON_INT_H

/*
 * The kernel in NEON, for a little-endian ARM; with or without the dot product
 * as the file that includes it is compiled.  Four blocks at a time: a register
 * takes the nibbles of one, and pairwise sums bring four together.
 */

#include "compute_int.h"

#ifdef __ARM_NEON

#include <arm_neon.h>
#include <string.h>

#define NGROUPS		(CL_COMPUTE_NBLOCKS / 4)

#ifdef __ARM_FEATURE_DOTPROD
static inline int32x4_t
dot(int32x4_t acc, int8x16_t lo, int8x16_t a, int8x16_t hi, int8x16_t b)
{

	return (vdotq_s32(vdotq_s32(acc, lo, a), hi, b));
}
#else
/* Four products of at most 15 x 127 fit 16 bits; order does not matter. */
static inline int32x4_t
dot(int32x4_t acc, int8x16_t lo, int8x16_t a, int8x16_t hi, int8x16_t b)
{
	int16x8_t s;

	s = vmull_s8(vget_low_s8(lo), vget_low_s8(a));
	s = vmlal_s8(s, vget_high_s8(lo), vget_high_s8(a));
	s = vmlal_s8(s, vget_low_s8(hi), vget_low_s8(b));
	s = vmlal_s8(s, vget_high_s8(hi), vget_high_s8(b));
	return (vpadalq_s16(acc, s));
}
#endif

/* The partial sums of block i, which begins at p. */
static inline int32x4_t
one(const struct cl_compute_act *a, unsigned i, const uint8_t *p)
{
	uint8x16_t q = vld1q_u8(p + 2);

	return (dot(vld1q_s32(a->bias[i]),
	    vreinterpretq_s8_u8(vandq_u8(q, vdupq_n_u8(15))),
	    vld1q_s8(a->lo[i]), vreinterpretq_s8_u8(vshrq_n_u8(q, 4)),
	    vld1q_s8(a->hi[i])));
}

static inline uint16_t
scale(const uint8_t *p)
{
	uint16_t d;

	memcpy(&d, p, sizeof(d));
	return (d);
}

/* The integers of blocks i to i + 3. */
static inline uint32x4_t
four(const struct cl_compute_act *a, unsigned i, const uint8_t *p)
{
	uint16x4_t d = vdup_n_u16(scale(p));
	int32x4_t b;

	d = vset_lane_u16(scale(p + 18), d, 1);
	d = vset_lane_u16(scale(p + 36), d, 2);
	d = vset_lane_u16(scale(p + 54), d, 3);
	b = vpaddq_s32(vpaddq_s32(one(a, i, p), one(a, i + 1, p + 18)),
	    vpaddq_s32(one(a, i + 2, p + 36), one(a, i + 3, p + 54)));
	return (vaddq_u32(vshll_n_u16(d, 16), vreinterpretq_u32_s32(b)));
}

static inline uint32_t
rows(const struct cl_compute_act *a, const uint8_t *p, size_t nrows,
    uint32_t w, uint64_t sum[CL_COMPUTE_NBLOCKS])
{
	uint64x2_t acc[NGROUPS][2];
	uint32x4_t x;
	unsigned i;

	for (i = 0; i < NGROUPS; i++) {
		acc[i][0] = vld1q_u64(sum + 4 * i);
		acc[i][1] = vld1q_u64(sum + 4 * i + 2);
	}
	for (; nrows > 0; nrows--) {
		cl_compute_ahead(p, CL_COMPUTE_ROW);
		for (i = 0; i < NGROUPS; i++) {
			x = four(a, 4 * i, p);
			acc[i][0] = vmlal_n_u32(acc[i][0],
			    vget_low_u32(x), w);
			acc[i][1] = vmlal_n_u32(acc[i][1],
			    vget_high_u32(x), w);
			p += 4 * CL_COMPUTE_BLOCK;
		}
		w *= CL_COMPUTE_STEP;
	}
	for (i = 0; i < NGROUPS; i++) {
		vst1q_u64(sum + 4 * i, acc[i][0]);
		vst1q_u64(sum + 4 * i + 2, acc[i][1]);
	}
	return (w);
}

#endif /* __ARM_NEON */

#endif /* COMPUTE_NEON_INT_H */
