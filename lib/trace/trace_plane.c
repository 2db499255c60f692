/*
 * Scores as columns of bytes: the least significant byte of every value, then
 * the next, which is what makes them small.  Values go in strips of a fixed
 * number, so that a compiler makes vector code of the inner loops at -O2.
 */

#include <string.h>

#include "trace_int.h"

#define STRIP	32

static inline uint32_t
bits_of(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return (u);
}

static inline float
float_of(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return (f);
}

/*
 * Finite values round by adding: first the bits that will be cut, to nearest
 * even, then the exponent's bias.  What is too small for a normal half gets
 * its bits cut where a sum with 0.5 puts them: 2^-24, the least half, is the
 * last bit of a float in [0.5, 1).  NaN stays NaN, with its sign.
 */
uint16_t
cl_trace_half(float f)
{
	uint32_t u = bits_of(f), sign = u >> 16 & 0x8000;

	u &= 0x7fffffff;
	if (u > 0x7f800000)
		return ((uint16_t)(sign | 0x7e00 | (u >> 13 & 0x1ff)));
	if (u >= 0x47800000)			/* 65536 and above */
		return ((uint16_t)(sign | 0x7c00));
	if (u < 0x38800000)			/* below 2^-14 */
		return ((uint16_t)(sign |
		    (bits_of(float_of(u) + 0.5f) - 0x3f000000)));
	u += 0xfff + (u >> 13 & 1);
	return ((uint16_t)(sign | ((u - 0x38000000) >> 13)));
}

/* The multiplication moves the exponent and makes subnormal halves normal. */
float
cl_trace_unhalf(uint16_t h)
{
	uint32_t u = bits_of(float_of((uint32_t)(h & 0x7fff) << 13) * 0x1p112f);

	u |= (h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
	return (float_of(u | (uint32_t)(h & 0x8000) << 16));
}

static void
split32(uint8_t *restrict p, const float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t u = bits_of(v[i]);

		p[i] = (uint8_t)u;
		p[n + i] = (uint8_t)(u >> 8);
		p[2 * n + i] = (uint8_t)(u >> 16);
		p[3 * n + i] = (uint8_t)(u >> 24);
	}
}

static void
split16(uint8_t *restrict p, const float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint16_t u = cl_trace_half(v[i]);

		p[i] = (uint8_t)u;
		p[n + i] = (uint8_t)(u >> 8);
	}
}

void
cl_trace_split(uint8_t *planes, const float *values, size_t n,
    enum cl_trace_scores scores)
{

	if (scores == CL_SCORES_F32)
		split32(planes, values, n);
	else
		split16(planes, values, n);
}

/* count values of four planes that are n bytes apart. */
static inline void
join32(float *restrict v, const uint8_t *restrict p, size_t n, size_t count)
{
	const uint8_t *p1 = p + n, *p2 = p1 + n, *p3 = p2 + n;
	size_t i;

	for (i = 0; i < count; i++)
		v[i] = float_of((uint32_t)p[i] | (uint32_t)p1[i] << 8 |
		    (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24);
}

static inline void
join16(float *restrict v, const uint8_t *restrict p, size_t n, size_t count)
{
	const uint8_t *p1 = p + n;
	size_t i;

	for (i = 0; i < count; i++)
		v[i] = cl_trace_unhalf((uint16_t)(p[i] | p1[i] << 8));
}

void
cl_trace_join(float *values, const uint8_t *planes, size_t n,
    enum cl_trace_scores scores)
{
	size_t i;

	if (scores == CL_SCORES_F32) {
		for (i = 0; n - i >= STRIP; i += STRIP)
			join32(values + i, planes + i, n, STRIP);
		join32(values + i, planes + i, n, n - i);
	} else {
		for (i = 0; n - i >= STRIP; i += STRIP)
			join16(values + i, planes + i, n, STRIP);
		join16(values + i, planes + i, n, n - i);
	}
}
