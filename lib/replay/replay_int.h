#ifndef REPLAY_INT_H
#define REPLAY_INT_H

/*
 * A replay's state.
 */

#include "cl/host.h"
#include "cl/io.h"
#include "cl/keys.h"
#include "cl/replay.h"
#include "cl/tally.h"

enum { PREFILL, DECODE, NPHASES };

struct column {
	uint32_t	 layer;		/* absolute */
	uint32_t	 base;		/* key of its expert 0 */
	uint32_t	 pool;		/* of the cache */
	uint64_t	 expert_bytes;
	struct cl_tally_layer *tally;
	/* Where nothing is read: counted, and not in the tally yet. */
	struct cl_cache_counts counts[NPHASES];
	uint64_t	 nevents[NPHASES];
};

struct cl_replay {
	/* fixed at open */
	struct cl_replay_options o;
	struct cl_stats_writer *writer;
	struct cl_cache	*cache;
	const struct cl_keys *keys;
	struct column	*column;
	uint64_t	*name;		/* of each key: 2^63 + layer x 2^32 + e */

	/* a policy that knows the future, and what is collected for it */
	struct cl_lookahead *ahead;	/* or NULL */
	bool		 collected;	/* all that will be replayed */
	uint64_t	 ahead_warmed;
	uint64_t	 ahead_counted;
	const uint32_t	*const *next;	/* uses, of each column's event */

	/* what was there before the first event */
	uint64_t	 preload;
	uint64_t	 preload_bytes;

	/* the run */
	bool		 warming;
	bool		 done;
	uint64_t	 pass_tokens;	/* of the pass at hand, so far */
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

/* Once all columns are there. */
int	cl_replay_make_cache(struct cl_replay *, struct cl_err *);

/*
 * Serve n keys that one pass uses of one layer: cache, counters, digest,
 * reads.
 */
int	cl_replay_event(struct cl_replay *, struct column *,
	    const uint32_t *keys, uint32_t n, unsigned phase, struct cl_err *);

/* By the clock of what is read from. */
uint64_t	cl_replay_now(const struct cl_replay *);

/* Load what was used most: o.uses. */
int	cl_replay_pin(struct cl_replay *, struct cl_err *);

/* Replay a pass, or the next part of one. */
int	cl_replay_serve(struct cl_replay *, const struct cl_pass *,
	    struct cl_err *);

/* Collect it, to be replayed when all is known. */
int	cl_replay_collect(struct cl_replay *, const struct cl_pass *,
	    struct cl_err *);

/* Nothing more is collected: replay it all; *end is changed if stopped. */
int	cl_replay_collected(struct cl_replay *, struct cl_stats_end *,
	    struct cl_err *);

/* The same where nothing is read; cl_replay_settle then tells the tally. */
void	cl_replay_count(struct cl_replay *, struct column *,
	    const uint32_t *keys, uint32_t n, unsigned phase);
int	cl_replay_settle(struct cl_replay *, struct cl_err *);

/* Start the clock and the measures anew. */
void	cl_replay_clock(struct cl_replay *);

/* Bring the measures up to date. */
void	cl_replay_measure(struct cl_replay *);

#endif /* REPLAY_INT_H */
