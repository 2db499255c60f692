#ifndef CL_EVENTS_H
#define CL_EVENTS_H

/*
 * What forward passes use of layers: blocks of a trace go in, passes come out,
 * each with one event a layer, the distinct experts that must be there
 * together (cl-replay(1), CONTRACTS).  Whatever replays or studies a trace
 * stands behind this, so that all mean the same by an event.
 *
 * Padding is counted and used for nothing.  Memory is bounded by the number of
 * experts, and with cells by the longest pass.  It borrows the keys and the
 * sink.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;
struct cl_events;
struct cl_keys;
struct cl_trace_block;
struct cl_trace_token;

enum cl_prefill {
	/* A prefill pass asks each layer once for its tokens' experts. */
	CL_PREFILL_UNION,
	/* Its tokens are events each, from the first prompt token on. */
	CL_PREFILL_TOKEN,
	/* It is not replayed. */
	CL_PREFILL_SKIP
};

/* What one token uses of one layer; no ids where that was not evaluated. */
struct cl_cell {
	const uint16_t	*ids;		/* by rank */
	uint32_t	 n;
	const float	*weights;	/* as ids; NULL: unknown or unasked */
	const float	*scores;	/* of all experts; NULL: not held */
	const float	*forecast;	/* the same */
};

struct cl_event {
	const uint32_t	*keys;		/* distinct, by first appearance */
	uint32_t	 n;		/* 0: nobody uses this layer */
};

/*
 * A pass, or a part of one that is served before the next: --prefill token
 * makes a part of each token.  Valid while the sink is called.
 */
struct cl_pass {
	bool		 begins;	/* the first part of its pass */
	bool		 ends;		/* the last one, which may be empty */
	bool		 prefill;	/* the pass has a prompt token so far */
	bool		 skipped;	/* not to be replayed */
	uint64_t	 ntokens;	/* of this part, without padding */
	uint64_t	 npadding;
	const struct cl_event *event;	/* one for each column */
	const struct cl_event *foretold; /* of each; NULL: nothing was */
	/*
	 * Where cells were asked for: the tokens of this part, and what token
	 * i uses of column c at cell[c x ncells + i].
	 */
	uint32_t	 ncells;
	const struct cl_trace_token *token;
	const struct cl_cell *cell;
};

struct cl_events_sink {
	/* What is not CL_OK ends cl_events_block, which returns it. */
	int		(*pass)(void *arg, const struct cl_pass *,
			    struct cl_err *);
	void		*arg;
};

enum cl_events_cells {
	CL_CELLS_NONE,
	CL_CELLS_IDS,			/* ids alone */
	CL_CELLS_ALL			/* and weights, scores, forecast */
};

struct cl_events	*cl_events_new(const struct cl_keys *,
			    enum cl_prefill, enum cl_events_cells,
			    const struct cl_events_sink *, struct cl_err *);

/* The next block of the trace; its columns are those of the keys. */
int	cl_events_block(struct cl_events *, const struct cl_trace_block *,
	    struct cl_err *);

/* The trace is over, whole or not: so is the pass at hand. */
int	cl_events_finish(struct cl_events *, struct cl_err *);

/* Tokens that were handed on so far, but for skipped ones. */
uint64_t	cl_events_tokens(const struct cl_events *);

void	cl_events_free(struct cl_events *);		/* NULL is legal */

#endif /* CL_EVENTS_H */
