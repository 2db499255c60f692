#ifndef CL_TRACE_READ_H
#define CL_TRACE_READ_H

/*
 * Reads a stream of traces record by record, in memory bounded by its largest
 * block.  A reader is used by one thread; what a record points to borrows
 * from the reader and dies at the next call, but for the head, which lives
 * until the next trace begins.
 */

#include <stdint.h>

#include "cl/trace.h"

struct cl_err;
struct cl_src;
struct cl_trace_reader;

enum {					/* what else a reader is to work out */
	CL_TRACE_WEIGHTS = 1,		/* weights of cells that hold scores */
	CL_TRACE_CHECK = 2,		/* is the routing fingerprint right? */
	CL_TRACE_SKIM = 4		/* verify blocks, but decode none */
};

struct cl_trace_rec {
	enum cl_trace_kind {
		CL_TRACE_HEAD,		/* a trace begins: head */
		CL_TRACE_SEQ,		/* seq, name */
		CL_TRACE_BLOCK,		/* block; with SKIM its ntokens alone */
		CL_TRACE_TRAILER	/* a trace ends, whole: counts */
	}		 kind;
	const struct cl_trace_head *head;	/* of the trace at hand */
	uint32_t	 seq;
	const char	*name;
	const struct cl_trace_block *block;
	const struct cl_trace_counts *counts;
};

/*
 * A reader of compressed traces from src, which it owns from now on, also
 * where this fails.  wants is a sum of the flags above.
 */
struct cl_trace_reader	*cl_trace_reader_new(struct cl_src *, unsigned wants,
			    struct cl_err *);

/*
 * The next record, or CL_END behind the last trailer.  Input that merely stops
 * is CL_ECUT, never CL_END; the message says after which token.  A trailer is
 * delivered once the compressed data that it ends are known to be sound.
 */
int	cl_trace_read(struct cl_trace_reader *, const struct cl_trace_rec **,
	    struct cl_err *);

/* From the next record on, work out something else (such as SKIM). */
void	cl_trace_reader_want(struct cl_trace_reader *, unsigned wants);

/* Tokens of the trace at hand that were read so far. */
uint64_t	cl_trace_reader_tokens(const struct cl_trace_reader *);

/* Nanoseconds spent so far waiting for the input. */
uint64_t	cl_trace_reader_wait_ns(const struct cl_trace_reader *);

void	cl_trace_reader_free(struct cl_trace_reader *);	/* NULL is legal */

#endif /* CL_TRACE_READ_H */
