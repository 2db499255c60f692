#ifndef TRACE_INT_H
#define TRACE_INT_H

/*
 * What the files of trace share: the numbers of cl-trace(5), the conversions
 * between rows of scores and byte planes, and the two parts of the reader.
 */

#include <stddef.h>
#include <stdint.h>

#include "cl/trace.h"

struct cl_buf;
struct cl_cur;
struct cl_hash;
struct cl_rec;

enum {					/* record types */
	TRACE_HEAD = 1,
	TRACE_LAYER = 2,
	TRACE_SEQUENCE = 3,
	TRACE_BLOCK = 4,
	TRACE_TRAILER = 5
};

enum {					/* flags of HEAD */
	TRACE_HEAD_TOKENS = 1,
	TRACE_HEAD_WEIGHTS = 2,
	TRACE_HEAD_FORECAST = 4,
	TRACE_HEAD_FLAGS = 7
};

enum {					/* flags of LAYER and of its rule */
	TRACE_LAYER_EXTRA = 1,
	TRACE_RULE_NORM = 1,
	TRACE_RULE_SOFTMAX_W = 2,
	TRACE_RULE_GATE_BIAS = 4,
	TRACE_RULE_SEL_BIAS = 8,
	TRACE_RULE_FLAGS = 15
};

enum {					/* layouts of a slab */
	TRACE_SLAB_STRIDED = 0,
	TRACE_SLAB_PLACES = 1
};

enum {					/* flags of a token */
	TRACE_TOKEN_DECODE = 1,
	TRACE_TOKEN_PADDING = 2,
	TRACE_TOKEN_BEGINS = 4,
	TRACE_TOKEN_FLAGS = 7
};

#define TRACE_SLAB_BYTES	36	/* of a slab in a LAYER record */
#define TRACE_PLACE_BYTES	12	/* of an expert's place behind it */
#define TRACE_DENSE_BYTES	20	/* of one dense tensor */
#define TRACE_ID8_MAX		256	/* experts whose ids are stored as u8 */

/* The flags of a token as one byte. */
uint8_t	cl_trace_token_flags(const struct cl_trace_token *);

/* Bytes of one score. */
unsigned	cl_trace_score_bytes(enum cl_trace_scores);

/* Add a block's choices to the routing fingerprint. */
void	cl_trace_routing_add(struct cl_hash *, const struct cl_trace_block *);

/* trace_plane.c: IEEE 754 binary16, rounded to nearest even. */
uint16_t	cl_trace_half(float);
float		cl_trace_unhalf(uint16_t);

/* n scores to and from byte planes of the width that scores says. */
void	cl_trace_split(uint8_t *planes, const float *values, size_t n,
	    enum cl_trace_scores);
void	cl_trace_join(float *values, const uint8_t *planes, size_t n,
	    enum cl_trace_scores);

/* trace_write_head.c: may this head be written? */
int	cl_trace_head_check(const struct cl_trace_head *, struct cl_err *);

/* Payloads; block_tokens stands in for the head's own. */
void	cl_trace_put_head(struct cl_buf *, const struct cl_trace_head *,
	    uint32_t block_tokens);
void	cl_trace_put_layer(struct cl_buf *, const struct cl_model *,
	    uint32_t layer);
void	cl_trace_put_trailer(struct cl_buf *, const struct cl_trace_counts *);

/* trace_read_head.c: a HEAD record's payload as a head with empty layers. */
struct cl_trace_head	*cl_trace_get_head(const struct cl_rec *,
			    struct cl_err *);

/* A LAYER record's payload into layer number want of the model. */
int	cl_trace_get_layer(const struct cl_rec *, uint32_t want,
	    struct cl_model *, struct cl_err *);

/* Where a column's parts lie in its record, and how much they hold. */
struct trace_part {
	const uint8_t	*present;	/* bits */
	const uint8_t	*given;		/* bits */
	const uint8_t	*scores;	/* planes */
	const uint8_t	*foreseen;	/* bits, NULL without forecast */
	const uint8_t	*forecast;	/* planes */
	const uint8_t	*counts;	/* u16 each */
	const uint8_t	*ids;
	const uint8_t	*weights;	/* NULL where none are held */
	uint32_t	 npresent;
	uint32_t	 ngiven;
	uint32_t	 nforeseen;
	uint32_t	 nstored;	/* ids in the record */
	uint32_t	 nids;		/* those and the ones by the rule */
};

/* trace_walk.c: the parts of the next column of a block of n tokens. */
int	cl_trace_walk(const struct cl_trace_head *,
	    const struct cl_trace_column *, uint32_t n, struct cl_cur *,
	    struct trace_part *, struct cl_err *);

/*
 * trace_read_block.c: decodes BLOCK records into memory that it reuses.  A
 * decoder borrows its head.
 */
struct cl_trace_decoder;

struct cl_trace_decoder	*cl_trace_decoder_new(const struct cl_trace_head *,
			    struct cl_err *);

/*
 * Check all of a BLOCK's framing and add it to the counts; *block gets its
 * number of tokens, and the rest unless wants says SKIM.
 */
int	cl_trace_decode(struct cl_trace_decoder *, const struct cl_rec *,
	    unsigned wants, struct cl_trace_counts *,
	    const struct cl_trace_block **block, struct cl_err *);

void	cl_trace_decoder_free(struct cl_trace_decoder *); /* NULL is legal */

#endif /* TRACE_INT_H */
