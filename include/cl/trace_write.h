#ifndef CL_TRACE_WRITE_H
#define CL_TRACE_WRITE_H

/*
 * Writes a trace token by token.  For each token: cl_trace_write_token, then
 * cl_trace_write_cell for each layer that was evaluated, in any order, before
 * the next token.  Blocks are closed, compressed and flushed as they fill.  A
 * writer is used by one thread and borrows its sink (a plain one: the writer
 * compresses) and its head.  The first failure sticks and comes back from
 * every later call.
 */

#include <stdint.h>

#include "cl/trace.h"

struct cl_dst;
struct cl_err;
struct cl_trace_writer;

/* One (token, layer) as its maker knows it. */
struct cl_trace_cell {
	const float	*scores;	/* E raw scores, or NULL */
	const float	*forecast;	/* E, or NULL */
	const uint16_t	*ids;		/* n, by rank, or NULL: by the rule */
	const float	*weights;	/* n, or NULL: by the rule */
	uint32_t	 n;
};

/*
 * Writes preamble, HEAD and LAYER records at once.  Where blocks of as many
 * tokens as the head wants could outgrow a record, they hold fewer.
 */
struct cl_trace_writer	*cl_trace_writer_new(struct cl_dst *,
			    const struct cl_trace_head *, struct cl_err *);

/* Announce the next sequence; *seq gets its number, counted from 0. */
int	cl_trace_write_seq(struct cl_trace_writer *, const char *name,
	    uint32_t *seq, struct cl_err *);

/*
 * The next token; its pass is counted by the writer from `begins`, and the
 * first token begins one in any case.
 */
int	cl_trace_write_token(struct cl_trace_writer *,
	    const struct cl_trace_token *, struct cl_err *);

/*
 * A cell of the token last written, for the column-th of cl_trace_layers.
 * Where scores are given and the rule makes of them another choice than ids,
 * ids are stored and the cell counts as a mismatch (a difference that only
 * the rounding to f16 makes is stored, and is none).  A head that promises
 * scores or weights is held to it.
 */
int	cl_trace_write_cell(struct cl_trace_writer *, uint32_t column,
	    const struct cl_trace_cell *, struct cl_err *);

/*
 * For copies, which see rounded scores or none: the trailer gets this number
 * of mismatches, whatever the writer finds.
 */
void	cl_trace_writer_mismatches(struct cl_trace_writer *, uint64_t);

/* What was written so far. */
const struct cl_trace_counts	*cl_trace_writer_counts(
				    const struct cl_trace_writer *);

/* The last block and the trailer; the sink is flushed, not finished. */
int	cl_trace_writer_finish(struct cl_trace_writer *, enum cl_trace_end,
	    struct cl_err *);

void	cl_trace_writer_free(struct cl_trace_writer *);	/* NULL is legal */

#endif /* CL_TRACE_WRITE_H */
