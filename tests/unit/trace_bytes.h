#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H

/*
 * The bytes of traces of all kinds, for tests.
 */

#include "trace_make.h"

#define PREAMBLE	8
#define RECORD		12		/* bytes before a payload */

static const struct make kinds[] = {
	{ .seed = 11, .scores = CL_SCORES_F32, .tokens = true,
	    .weights = true, .forecast = true, .block_tokens = 9,
	    .ntokens = 40, .strange = true },
	{ .seed = 12, .scores = CL_SCORES_F16, .forecast = true,
	    .block_tokens = 16, .ntokens = 33 },
	{ .seed = 13, .scores = CL_SCORES_NONE, .weights = true,
	    .tokens = true, .block_tokens = 7, .ntokens = 50 },
	{ .seed = 14, .scores = CL_SCORES_NONE, .block_tokens = 4096,
	    .ntokens = 20 },
};

#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

static inline uint64_t
le(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return (v);
}

/* Where records begin in decoded bytes; the end, too. */
static inline size_t
find_records(const struct cl_buf *plain, size_t *at, size_t max)
{
	size_t n = 0, pos = PREAMBLE;

	for (; pos < plain->n; pos += RECORD + (size_t)le(plain->p + pos + 4,
	    4)) {
		assert(n + 1 < max);
		at[n++] = pos;
	}
	at[n] = pos;
	assert(pos == plain->n);
	return (n);
}

#endif /* TRACE_BYTES_H */
