#ifndef REPLAY_INT_H
#define REPLAY_INT_H

/*
 * A replay's state.
 */

#include "cl/decision.h"
#include "cl/events.h"
#include "cl/hist.h"
#include "cl/host.h"
#include "cl/io.h"
#include "cl/keys.h"
#include "cl/replay.h"
#include "cl/tally.h"

struct cl_quality;

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

/* Routing that heeds the cache. */
struct routing {
	struct cl_smart	*smart;		/* NULL: the plain choice is served */
	const struct cl_rule **rules;	/* of each column */
	uint8_t		*resident;	/* of each expert of a column */
	uint16_t	*ids;		/* room for one token */
	uint32_t	 stamp;		/* of the event, > 0 */
	uint32_t	*stamped;	/* of each key: event that listed it */
	uint32_t	*list;
	struct cl_event	 event;		/* as it is served */
};

/* What a predictor says of the part of a pass at hand. */
struct foretold {
	struct cl_predict *predict;	/* NULL: nothing */
	uint64_t	 ntokens;	/* told of so far */
	uint32_t	 stamp;		/* of the part, > 0 */
	uint32_t	*stamped;	/* of each key: part that listed it */
	uint32_t	*list;		/* of each column, at its base */
	struct cl_event	*event;		/* of each column: keys by rank */
	uint16_t	*ids;		/* room for one token */

	/* of the next event of the part; NULL: there is none */
	const struct cl_event *coming;
	const struct column *column;
};

/* A read ahead of its event. */
struct replay_read {
	struct cl_io_job job;
	uint32_t	 buffer;	/* of the arena */
	uint64_t	 epoch;		/* that issued it */
	bool		 cancelled;
	uint32_t	 class;		/* of the buffer */
	struct replay_read *next;
};

struct staged {
	uint32_t	 key;
	const struct column *col;
	bool		 used;		/* and not kept */
	struct replay_read *read;
};

struct stage {
	uint32_t	 nslots;	/* 0: nothing is staged */
	uint32_t	 n;		/* slots in use, the first ones */
	struct staged	*slot;
	uint32_t	*at;		/* of each staged key: its slot */
	bool		 over;		/* and nothing is under way */

	/* reading; each class of experts has as many buffers as slots */
	uint32_t	 nclasses;	/* 1: all buffers are of one size */
	uint32_t	 nreads;	/* a slot's for each buffer, and slot */
	struct replay_read *read;
	struct replay_read *free;
	struct replay_read *stale;	/* not wanted, and maybe under way */
	uint32_t	*idle;		/* buffers of each class */
	uint32_t	*nidle;
};

/* One of the two buffers of dense weights. */
struct dense_read {
	struct cl_io_job job;
	uint32_t	 layer;		/* UINT32_MAX: none is asked for */
	uint64_t	 epoch;
};

struct dense {
	uint64_t	*nbytes;	/* of each layer; NULL: no ring */
	struct dense_read in[2];
	uint32_t	 at;		/* where the next layer's will be */
};

/* Where the bytes of a member of the event at hand are. */
struct member {
	uint8_t		*bytes;
	struct replay_read *read;	/* of one that was staged, or NULL */
};

/* The event at hand, for the log. */
struct replay_log {
	uint32_t	*expert;	/* of each member */
	uint8_t		*class;
	struct cl_decision_victim *victim;
	uint32_t	 n;
	uint32_t	 nvictims;
	struct cl_decision_change *change;
	uint32_t	 nchanges;
	size_t		 change_cap;
	uint16_t	*choice;	/* of changed tokens */
	size_t		 nchoices;
	size_t		 choice_cap;
};

struct cl_replay {
	/* fixed at open */
	struct cl_replay_options o;
	struct cl_stats_writer *writer;
	struct cl_cache	*cache;
	const struct cl_model *model;
	const struct cl_keys *keys;
	struct column	*column;
	uint64_t	*name;		/* of keys: 2^63 + layer x 2^32 + e */

	/* one that collects, and what is collected */
	bool		 hindsight;	/* the policy is chosen by it */
	struct cl_lookahead *ahead;	/* or NULL */
	bool		 foreseen;	/* all that is wanted of it is known */
	bool		 collected;	/* all that will be replayed */
	uint64_t	 ahead_warmed;
	uint64_t	 ahead_counted;
	const uint32_t	*const *next;	/* uses, of each column's event */

	/* what was there before the first event */
	uint64_t	 preload;
	uint64_t	 preload_bytes;
	uint64_t	 retries;	/* of what was read then */

	bool		 counts;	/* it does nothing else: no outcomes */

	/* the run */
	bool		 warming;
	bool		 done;
	uint64_t	 pass_tokens;	/* of the pass at hand, so far */
	uint64_t	 warmed;	/* tokens of the warm-up so far */
	uint64_t	 counted;	/* tokens since */
	uint64_t	 next_window;
	uint64_t	 window_from;	/* counted when the last window ended */
	uint64_t	 passes;	/* the same */
	uint64_t	 digest;
	struct cl_tally	*tally;
	struct cl_tally_phase *phase[NPHASES];
	uint64_t	*measure;
	unsigned	 spending;	/* the phase at hand; NPHASES: none */

	struct replay_log log;
	struct cl_quality *quality;	/* once all is collected, or NULL */
	uint32_t	*pools;		/* of columns, for it */
	struct cl_cache	*rival;		/* belady, beside it; or NULL */
	struct cl_cache_counts rival_counts;

	/* reading */
	struct routing	 routing;
	struct foretold	 foretold;
	struct stage	 stage;
	struct dense	 dense;
	uint32_t	*buffer;	/* of each of the cache's slots */
	struct cl_io_job *job;		/* one for each member of an event */
	struct member	*member;
	uint64_t	 checksum;	/* of all that was computed over */
	uint64_t	 epoch;		/* grows when the warm-up ends */
	struct cl_hist	 latency[2];	/* of reads, by enum cl_io_queue */
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

/* Serve bytes: read what was missing of n members, and hand all on. */
int	cl_replay_fetch(struct cl_replay *, struct column *,
	    const uint32_t *keys, uint32_t n, const struct cl_cache_outcome *,
	    unsigned phase, bool last, struct cl_err *);

/* The bytes of members from .. to - 1 are there. */
int	cl_replay_compute(struct cl_replay *, const struct column *,
	    const uint32_t *keys, const struct cl_cache_outcome *,
	    uint32_t from, uint32_t to, struct cl_err *);

/* Those of n members will not be there when what is missing has been read. */
int	cl_replay_compute_leaving(struct cl_replay *, const struct column *,
	    const uint32_t *keys, uint32_t n,
	    const struct cl_cache_outcome *, struct cl_err *);

/* All that an event computes whatever it served. */
void	cl_replay_end_step(struct cl_replay *);

/* A read was waited for: count what it took. */
void	cl_replay_spent(struct cl_replay *, const struct cl_io_job *);

/* The same of an expert, in the read's own epoch. */
void	cl_replay_account(struct cl_replay *, const struct cl_io_job *,
	    uint64_t epoch);

/*
 * Ask the predictor about a part of a pass, then tell it what came: what is
 * foretold of each column, until the next one; or NULL.
 */
int	cl_replay_open_predict(struct cl_replay *, const struct cl_model *,
	    struct cl_err *);
const struct cl_event	*cl_replay_foretell(struct cl_replay *,
			    const struct cl_pass *);
void	cl_replay_close_predict(struct cl_replay *);

/* The buffer of that number: of a slot, or behind them of staging. */
uint8_t	*cl_replay_buffer(const struct cl_replay *, uint32_t i);

/* What is served of column c instead of the plain choice of its cells. */
int	cl_replay_open_route(struct cl_replay *, const struct cl_model *,
	    struct cl_err *);
const struct cl_event	*cl_replay_route(struct cl_replay *,
			    const struct cl_pass *, uint32_t c,
			    unsigned phase, struct cl_err *);
void	cl_replay_close_route(struct cl_replay *);

/*
 * The dense weights of layers from .. to - 1 that have no experts, and of layer
 * `to`, are needed; the number of layers: of no other.
 */
int	cl_replay_open_dense(struct cl_replay *, struct cl_err *);
int	cl_replay_dense(struct cl_replay *, uint32_t from, uint32_t to,
	    unsigned phase, struct cl_err *);
void	cl_replay_end_dense(struct cl_replay *);

/* Staging; the phase is whose counters it is. */
int	cl_replay_open_stage(struct cl_replay *, struct cl_err *);

/* What is foretold of the next event, and not there, is to be read. */
int	cl_replay_stage(struct cl_replay *, unsigned phase, struct cl_err *);

/* Staged hits among n members were used, and are kept or not. */
void	cl_replay_take_staged(struct cl_replay *, const uint32_t *keys,
	    uint32_t n, const struct cl_cache_outcome *, unsigned phase);

/* Until the bytes of one are there, read again if they could not be. */
int	cl_replay_wait_staged(struct cl_replay *, const struct column *,
	    uint32_t key, struct replay_read *, struct cl_err *);

/* Its bytes are the cache's now: the read can be used for another. */
void	cl_replay_give_back(struct cl_replay *, struct replay_read *);

/* The event has passed: free what else was staged for it. */
void	cl_replay_unstage(struct cl_replay *, const struct column *,
	    unsigned phase);

/* Nothing more is served. */
void	cl_replay_end_stage(struct cl_replay *, unsigned phase);
void	cl_replay_close_stage(struct cl_replay *);

/*
 * The quality of decisions, if it is asked for: belady in a cache like that of
 * the run, and what is judged once all is collected.
 */
int	cl_replay_open_rival(struct cl_replay *,
	    const struct cl_cache_options *, struct cl_err *);
int	cl_replay_open_quality(struct cl_replay *, struct cl_err *);
void	cl_replay_reset_quality(struct cl_replay *);
void	cl_replay_rival(struct cl_replay *, const struct column *,
	    const uint32_t *keys, uint32_t n);
int	cl_replay_write_quality(struct cl_replay *, struct cl_err *);
void	cl_replay_close_quality(struct cl_replay *);

/*
 * The log of events, if there is to be one: note that token t of the pass uses
 * the first of n ids, and not the plain ones; note the outcome of n members;
 * and write down the event that they have ended.
 */
int	cl_replay_open_log(struct cl_replay *, struct cl_err *);
int	cl_replay_note_choice(struct cl_replay *, uint32_t t,
	    const uint16_t *plain, const uint16_t *ids, uint32_t n,
	    uint32_t nused, struct cl_err *);
void	cl_replay_note(struct cl_replay *, const struct column *,
	    const uint32_t *keys, uint32_t n,
	    const struct cl_cache_outcome *);
int	cl_replay_log(struct cl_replay *, const struct column *,
	    unsigned phase, struct cl_err *);
void	cl_replay_close_log(struct cl_replay *);

/* By the clock of what is read from. */
uint64_t	cl_replay_now(const struct cl_replay *);

/* Load what was used most, so often each key. */
int	cl_replay_pin(struct cl_replay *, const uint64_t *uses,
	    struct cl_err *);

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

/* All counters, the clock and the measures begin. */
void	cl_replay_begin(struct cl_replay *);

/* Bring the measures up to date. */
void	cl_replay_measure(struct cl_replay *);

#endif /* REPLAY_INT_H */
