#ifndef PATTERN_H
#define PATTERN_H

/*
 * The bytes that `mkgguf pattern` puts into expert slabs: each depends on
 * layer, expert, kind (as in cl/model.h) and its place in the slab, so that a
 * reader can prove of any stretch that it is the right one.  Gate and up fused
 * are a gate and an up.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/rng.h"

/* Bytes 8 w to 8 w + 7 of a slab, the first in the low bits. */
static inline uint64_t
pattern_word(uint32_t layer, uint32_t expert, unsigned kind, uint64_t w)
{
	uint64_t slab = ((uint64_t)layer << 32 | expert) * 8 + kind;

	return (cl_rng_mix(cl_rng_mix(slab) + w));
}

static inline uint8_t
pattern_byte(uint32_t layer, uint32_t expert, unsigned kind, uint64_t i)
{

	return ((uint8_t)(pattern_word(layer, expert, kind, i / 8) >>
	    8 * (i % 8)));
}

/* Bytes i to i + n - 1 of a slab into p. */
static inline void
pattern_fill(uint8_t *p, size_t n, uint32_t layer, uint32_t expert,
    unsigned kind, uint64_t i)
{
	uint64_t w = 0;
	size_t j;

	for (j = 0; j < n; j++, i++) {
		if (j == 0 || i % 8 == 0)
			w = pattern_word(layer, expert, kind, i / 8);
		p[j] = (uint8_t)(w >> 8 * (i % 8));
	}
}

/* Are they these? */
static inline bool
pattern_holds(const uint8_t *p, size_t n, uint32_t layer, uint32_t expert,
    unsigned kind, uint64_t i)
{
	size_t j;

	for (j = 0; j < n; j++)
		if (p[j] != pattern_byte(layer, expert, kind, i + j))
			return (false);
	return (true);
}

#endif /* PATTERN_H */
