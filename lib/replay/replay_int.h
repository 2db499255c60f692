#ifndef REPLAY_INT_H
#define REPLAY_INT_H

/*
 * A replay's state.  Keys number the experts of the layers with a column: key
 * = base of the column + expert.
 */

#include "cl/host.h"
#include "cl/io.h"
#include "cl/replay.h"
#include "cl/tally.h"

enum { PREFILL, DECODE, NPHASES };

struct column {
	uint32_t	 layer;		/* absolute */
	uint32_t	 base;		/* key of its expert 0 */
	uint32_t	 nexperts;
	uint32_t	 pool;		/* of the cache */
	uint64_t	 expert_bytes;
	struct cl_tally_layer *tally;
	/* What the pass at hand uses of the layer, by first appearance. */
	uint32_t	*keys;
	uint32_t	 nkeys;
};

struct cl_replay {
	/* fixed at open */
	struct cl_replay_options o;
	struct cl_stats_writer *writer;
	struct cl_cache	*cache;
	struct column	*column;
	uint32_t	 ncolumns;
	uint32_t	 nbypass;
	uint32_t	 nkeys;
	uint64_t	*name;		/* of each key: 2^63 + layer x 2^32 + e */

	/* the pass at hand */
	bool		 open;		/* there is one */
	bool		 prefill;	/* it has a prompt token */
	uint64_t	 pass_tokens;
	uint64_t	 pass_padding;
	uint32_t	 stamp;		/* its number, > 0 */
	uint32_t	*stamped;	/* of each key: the pass that listed it */
	uint32_t	*keys;		/* of one cell */

	/* the run */
	bool		 warming;
	bool		 done;
	uint64_t	 warmed;	/* tokens of the warm-up so far */
	uint64_t	 counted;	/* tokens since */
	uint64_t	 next_window;
	uint64_t	 window_from;	/* counted when the last window ended */
	uint64_t	 digest;
	struct cl_tally	*tally;
	struct cl_tally_phase *phase[NPHASES];
	uint64_t	*measure;

	/* reading */
	struct cl_io_job *job;		/* one for each member of an event */
	uint8_t		**buf;		/* where each member's bytes are */
	uint64_t	 wait_ns;	/* input_wait_ns as last told */
	uint64_t	 start_wait_ns;
	uint64_t	 start_ns;
	uint64_t	 stop_ns;	/* 0 while the clock runs */
	struct cl_host_usage usage;	/* when the clock started */
};

/* Once all columns are there; nevent: members of the largest event. */
int	cl_replay_make_cache(struct cl_replay *, uint32_t nevent,
	    struct cl_err *);

/*
 * Serve n keys that one pass uses of one layer: cache, counters, digest,
 * reads.
 */
int	cl_replay_event(struct cl_replay *, struct column *,
	    const uint32_t *keys, uint32_t n, unsigned phase, struct cl_err *);

/* Start the clock and the measures anew. */
void	cl_replay_clock(struct cl_replay *);

/* Bring the measures up to date. */
void	cl_replay_measure(struct cl_replay *);

#endif /* REPLAY_INT_H */
