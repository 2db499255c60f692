#ifndef GGUF_FILL_H
#define GGUF_FILL_H

/*
 * Ways to fill the tensors of a struct gout: random weights of a given size,
 * ones, the pattern of pattern.h.
 */

#include <stdint.h>
#include <string.h>

#include "cl/rng.h"
#include "gguf_out.h"
#include "pattern.h"

static inline uint16_t
half(double v)				/* of a small positive normal number */
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return ((uint16_t)(((u >> 23) - 112) << 10 | (u >> 13 & 0x3ff)));
}

static inline void
put_floats(struct gout_tensor *t, uint8_t *p, size_t n)
{
	float f;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		f = (float)((cl_rng_unit(&t->state) * 2 - 1) * t->scale *
		    1.7320508);
		memcpy(p + i, &f, 4);
	}
}

/* Blocks of a half scale and random quants; spread is that of the quants. */
static inline void
put_blocks(struct gout_tensor *t, uint8_t *p, size_t n, double spread)
{
	uint16_t d = half(t->scale / spread);
	uint64_t w = 0;
	size_t i, j;

	for (i = 0; i + t->unit <= n; i += t->unit) {
		p[i] = (uint8_t)d;
		p[i + 1] = (uint8_t)(d >> 8);
		for (j = 2; j < t->unit; j++, w >>= 8) {
			if (j % 8 == 2)
				w = cl_rng_next(&t->state);
			p[i + j] = (uint8_t)w;
		}
	}
}

static inline void
fill_random(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{

	(void)off;			/* called in order */
	if (t->type == GOUT_T_F32)
		put_floats(t, p, n);
	else if (t->type == GOUT_T_Q8_0)
		put_blocks(t, p, n, 73.9);
	else
		put_blocks(t, p, n, 4.61);
}

static inline void
fill_ones(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	static const float one = 1;
	size_t i;

	(void)t;
	(void)off;
	for (i = 0; i + 4 <= n; i += 4)
		memcpy(p + i, &one, 4);
}

static inline void
fill_pattern(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	uint64_t size = t->kind == 4 ? t->slab / 2 : t->slab, i;
	unsigned kind;
	size_t part;

	for (; n > 0; p += part, off += part, n -= part) {
		i = off % size;		/* 4: the gate, and the up behind it */
		part = size - i < n ? (size_t)(size - i) : n;
		kind = t->kind == 4 ? 1 + (unsigned)(off / size % 2) : t->kind;
		pattern_fill(p, part, t->layer, t->expert +
		    (uint32_t)(off / t->slab), kind, i);
	}
}

#endif /* GGUF_FILL_H */
