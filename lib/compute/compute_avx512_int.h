#ifndef COMPUTE_AVX512_INT_H
#define COMPUTE_AVX512_INT_H

/*
 * The kernel in AVX-512, for a file that is compiled with it; with or without
 * VNNI as that file is.
 *
 * Sixteen blocks at a time.  A register takes the nibbles of four, one block
 * a 128-bit lane, and becomes four partial sums for each; four such registers
 * are transposed while they are added, which leaves the sum of block 4 j + l
 * as number j of lane l.  The scales go to the same places, above the sums.
 */

#include "compute_int.h"

#ifdef __AVX512BW__

#include <immintrin.h>

#ifdef __AVX512VNNI__
static inline __m512i
dot(__m512i acc, __m512i lo, __m512i a, __m512i hi, __m512i b)
{

	return (_mm512_dpbusd_epi32(_mm512_dpbusd_epi32(acc, lo, a), hi, b));
}
#else
/* Four products of at most 15 x 127 fit 16 bits. */
static inline __m512i
dot(__m512i acc, __m512i lo, __m512i a, __m512i hi, __m512i b)
{
	__m512i pairs;

	pairs = _mm512_add_epi16(_mm512_maddubs_epi16(lo, a),
	    _mm512_maddubs_epi16(hi, b));
	return (_mm512_add_epi32(acc,
	    _mm512_madd_epi16(pairs, _mm512_set1_epi16(1))));
}
#endif

static inline __m128i
load(const uint8_t *p)
{

	return (_mm_loadu_si128((const void *)p));
}

/* The partial sums of blocks i to i + 3, which begin at p. */
static inline __m512i
four(const struct cl_compute_act *a, unsigned i, const uint8_t *p)
{
	const __m512i low = _mm512_set1_epi8(15);
	__m512i q = _mm512_castsi128_si512(load(p + 2));

	q = _mm512_inserti32x4(q, load(p + 20), 1);
	q = _mm512_inserti32x4(q, load(p + 38), 2);
	q = _mm512_inserti32x4(q, load(p + 56), 3);
	return (dot(_mm512_load_si512(a->bias[i]),
	    _mm512_and_si512(q, low), _mm512_load_si512(a->lo[i]),
	    _mm512_and_si512(_mm512_srli_epi16(q, 4), low),
	    _mm512_load_si512(a->hi[i])));
}

/* The sums of four blocks in each, the lanes apart. */
static inline __m512i
transpose(__m512i a, __m512i b, __m512i c, __m512i d)
{
	__m512i u, v;

	u = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b),
	    _mm512_unpackhi_epi32(a, b));
	v = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d),
	    _mm512_unpackhi_epi32(c, d));
	return (_mm512_add_epi32(_mm512_unpacklo_epi64(u, v),
	    _mm512_unpackhi_epi64(u, v)));
}

/* The scales of the sixteen blocks at p, in the upper halves. */
static inline __m512i
scales(const uint8_t *p, __m512i at)
{
	__m512i d;

	d = _mm512_maskz_permutexvar_epi16(0x02020202, at,
	    _mm512_loadu_si512(p));
	d = _mm512_mask_permutexvar_epi16(d, 0x08080808, at,
	    _mm512_loadu_si512(p + 72));
	d = _mm512_mask_permutexvar_epi16(d, 0x20202020, at,
	    _mm512_loadu_si512(p + 144));
	return (_mm512_mask_permutexvar_epi16(d, 0x80808080, at,
	    _mm512_loadu_si512(p + 216)));
}

/* The integers of blocks i to i + 15. */
static inline __m512i
sixteen(const struct cl_compute_act *a, unsigned i, const uint8_t *p,
    __m512i at)
{

	return (_mm512_add_epi32(scales(p, at), transpose(four(a, i, p),
	    four(a, i + 4, p + 72), four(a, i + 8, p + 144),
	    four(a, i + 12, p + 216))));
}

static inline void
add(uint64_t *sum, __m512i even, __m512i odd)
{
	uint64_t v[2][8];
	unsigned i;

	_mm512_storeu_si512(v[0], even);
	_mm512_storeu_si512(v[1], odd);
	for (i = 0; i < 16; i++)
		sum[i % 4 * 4 + i / 4] += v[i % 2][i / 2];
}

static inline uint32_t
rows(const struct cl_compute_act *a, const uint8_t *p, size_t nrows,
    uint32_t first, uint64_t sum[CL_COMPUTE_NBLOCKS])
{
	const __m512i step = _mm512_set1_epi64(CL_COMPUTE_STEP);
	const __m512i at = _mm512_set_epi64(
	    0x1b001b001b001b, 0x1b001b001b001b, 0x12001200120012,
	    0x12001200120012, 0x9000900090009, 0x9000900090009, 0, 0);
	__m512i x, y, w = _mm512_set1_epi64(first);
	__m512i even[2] = { _mm512_setzero_si512(), _mm512_setzero_si512() };
	__m512i odd[2] = { _mm512_setzero_si512(), _mm512_setzero_si512() };

	for (; nrows > 0; nrows--) {
		cl_compute_ahead(p, CL_COMPUTE_ROW);
		x = sixteen(a, 0, p, at);
		y = sixteen(a, 16, p + 16 * CL_COMPUTE_BLOCK, at);
		even[0] = _mm512_add_epi64(even[0], _mm512_mul_epu32(x, w));
		odd[0] = _mm512_add_epi64(odd[0],
		    _mm512_mul_epu32(_mm512_srli_epi64(x, 32), w));
		even[1] = _mm512_add_epi64(even[1], _mm512_mul_epu32(y, w));
		odd[1] = _mm512_add_epi64(odd[1],
		    _mm512_mul_epu32(_mm512_srli_epi64(y, 32), w));
		w = _mm512_mul_epu32(w, step);
		p += CL_COMPUTE_ROW;
	}
	add(sum, even[0], odd[0]);
	add(sum + 16, even[1], odd[1]);
	return ((uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(w)));
}

#endif /* __AVX512BW__ */

#endif /* COMPUTE_AVX512_INT_H */
