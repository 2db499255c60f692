#ifndef COMPUTE_AVX2_INT_H
#define COMPUTE_AVX2_INT_H

/*
 * The kernel in AVX2, for a file that is compiled with it; with or without
 * AVX-VNNI as that file is.
 *
 * As in AVX-512 (compute_avx512_int.h), eight blocks at a time: a register
 * takes the nibbles of two, and the sum of block 2 j + l ends as number j of
 * lane l.
 */

#include "compute_int.h"

#ifdef __AVX2__

#include <immintrin.h>

#define NGROUPS			(CL_COMPUTE_NBLOCKS / 8)

#ifdef __AVXVNNI__
static inline __m256i
dot(__m256i acc, __m256i lo, __m256i a, __m256i hi, __m256i b)
{

	return (_mm256_dpbusd_avx_epi32(_mm256_dpbusd_avx_epi32(acc, lo, a),
	    hi, b));
}
#else
/* Four products of at most 15 x 127 fit 16 bits. */
static inline __m256i
dot(__m256i acc, __m256i lo, __m256i a, __m256i hi, __m256i b)
{
	__m256i pairs;

	pairs = _mm256_add_epi16(_mm256_maddubs_epi16(lo, a),
	    _mm256_maddubs_epi16(hi, b));
	return (_mm256_add_epi32(acc,
	    _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))));
}
#endif

static inline __m256i
load(const void *p)
{

	return (_mm256_loadu_si256(p));
}

/* The partial sums of blocks i and i + 1, which begin at p. */
static inline __m256i
two(const struct cl_compute_act *a, unsigned i, const uint8_t *p)
{
	const __m256i low = _mm256_set1_epi8(15);
	__m256i q = _mm256_castsi128_si256(
	    _mm_loadu_si128((const void *)(p + 2)));

	q = _mm256_inserti128_si256(q,
	    _mm_loadu_si128((const void *)(p + 20)), 1);
	return (dot(load(a->bias[i]), _mm256_and_si256(q, low),
	    load(a->lo[i]), _mm256_and_si256(_mm256_srli_epi16(q, 4), low),
	    load(a->hi[i])));
}

/* The sums of two blocks in each, the lanes apart. */
static inline __m256i
transpose(__m256i a, __m256i b, __m256i c, __m256i d)
{

	return (_mm256_hadd_epi32(_mm256_hadd_epi32(a, b),
	    _mm256_hadd_epi32(c, d)));
}

/* The scales of the eight blocks at p, in the upper halves. */
static inline __m256i
scales(const uint8_t *p, __m256i at)
{
	__m256i a, b, c, d;

	a = _mm256_shuffle_epi8(load(p), at);
	b = _mm256_shuffle_epi8(load(p + 36), at);
	c = _mm256_shuffle_epi8(load(p + 72), at);
	d = _mm256_shuffle_epi8(load(p + 108), at);
	return (_mm256_blend_epi16(
	    _mm256_blend_epi16(_mm256_setzero_si256(), a, 0x02),
	    _mm256_blend_epi16(_mm256_blend_epi16(b, c, 0x20), d, 0x80),
	    0xa8));
}

/* The integers of blocks i to i + 7. */
static inline __m256i
eight(const struct cl_compute_act *a, unsigned i, const uint8_t *p,
    __m256i at)
{

	return (_mm256_add_epi32(scales(p, at), transpose(two(a, i, p),
	    two(a, i + 2, p + 36), two(a, i + 4, p + 72),
	    two(a, i + 6, p + 108))));
}

static inline void
add(uint64_t *sum, __m256i even, __m256i odd)
{
	uint64_t v[2][4];
	unsigned i;

	_mm256_storeu_si256((void *)v[0], even);
	_mm256_storeu_si256((void *)v[1], odd);
	for (i = 0; i < 8; i++)
		sum[i % 4 * 2 + i / 4] += v[i % 2][i / 2];
}

static inline uint32_t
rows(const struct cl_compute_act *a, const uint8_t *p, size_t nrows,
    uint32_t first, uint64_t sum[CL_COMPUTE_NBLOCKS])
{
	const __m256i step = _mm256_set1_epi64x(CL_COMPUTE_STEP);
	const __m256i at = _mm256_set_epi64x(0x0302030203020302,
	    0x0302030203020302, 0x0100010001000100, 0x0100010001000100);
	__m256i x, w = _mm256_set1_epi64x(first), even[NGROUPS], odd[NGROUPS];
	unsigned i;

	for (i = 0; i < NGROUPS; i++)
		even[i] = odd[i] = _mm256_setzero_si256();
	for (; nrows > 0; nrows--) {
		cl_compute_ahead(p, CL_COMPUTE_ROW);
		for (i = 0; i < NGROUPS; i++) {
			x = eight(a, 8 * i, p, at);
			even[i] = _mm256_add_epi64(even[i],
			    _mm256_mul_epu32(x, w));
			odd[i] = _mm256_add_epi64(odd[i],
			    _mm256_mul_epu32(_mm256_srli_epi64(x, 32), w));
			p += 8 * CL_COMPUTE_BLOCK;
		}
		w = _mm256_mul_epu32(w, step);
	}
	for (i = 0; i < NGROUPS; i++)
		add(sum + 8 * i, even[i], odd[i]);
	return ((uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(w)));
}

#endif /* __AVX2__ */

#endif /* COMPUTE_AVX2_INT_H */
