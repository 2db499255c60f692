#ifndef CL_REPLAY_H
#define CL_REPLAY_H

/*
 * The replay: passes go in, an expert cache decides, bytes are read, counters
 * come out.  One loop for every back end and policy: decisions depend on the
 * trace and these options alone.  It borrows the model, the keys, the options'
 * pointers and the writer for its life.  Memory does not grow with the trace,
 * but for a policy that knows the future or is chosen by it, and to judge
 * decisions: passes are collected until the trace is over, in the memory that
 * cl/lookahead.h says.  One thread.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cl/budget.h"
#include "cl/cache.h"
#include "cl/host.h"
#include "cl/predict.h"
#include "cl/smart.h"

struct cl_compute;
struct cl_device;
struct cl_device_slab;
struct cl_err;
struct cl_keys;
struct cl_model;
struct cl_pass;
struct cl_replay;
struct cl_stats_end;
struct cl_stats_writer;

/* What becomes of the weights that every token needs. */
enum cl_replay_dense {
	CL_DENSE_SKIP,			/* they are left out */
	CL_DENSE_RESIDENT,		/* there before the clock starts */
	CL_DENSE_RING			/* read again in every pass */
};

struct cl_replay_options {
	enum cl_contract contract;
	enum cl_partition partition;
	struct cl_cache_policy policy;
	uint32_t	 nslots;
	/* As the budget gave them; nslots are those of all. */
	struct cl_budget_classes classes;
	/* In tokens; each acts at the first end of a pass at or behind it. */
	uint64_t	 warmup;	/* not counted, before the others */
	uint64_t	 tokens;	/* to be counted; 0: all */
	uint64_t	 window;	/* 0: no windows */
	bool		 events;	/* each is logged, once they count */
	bool		 quality;	/* decisions are judged */
	/*
	 * A finished replay whose cache this one goes on with, or NULL for an
	 * empty one.  Keys, slots, contract, policy and partition must be the
	 * same: else CL_EINVAL.  The other is left without a cache, and can
	 * only be freed.
	 */
	struct cl_replay *before;
	/*
	 * For a policy that loads: how often each key was used in the trace
	 * that it is chosen by, or NULL: by what is replayed.  Only while it
	 * is opened.
	 */
	const uint64_t	*uses;
	/*
	 * Routing by what is resident: passes come with all cells.  Not with a
	 * policy that knows the future, with hindsight, or with quality.
	 */
	struct cl_smart_options smart;
	/*
	 * Where experts are foretold, passes come with cells: ids for all
	 * predictors, and all of them for `ahead`.
	 */
	struct cl_predict_options predict;
	enum cl_replay_dense dense;
	uint32_t	 nstage;	/* staging slots; 0: no reads ahead */
	/*
	 * NULL: count, and read nothing.  Else it has buffers for the slots
	 * of the cache and of staging.
	 */
	struct cl_device *device;
	/* Before anything was taken for the run; what it will be follows. */
	struct cl_host_usage at_start;
	uint64_t	 retries;	/* of reads from the device before */
	uint64_t	 touches;	/* bytes others take while it runs */
	const struct cl_compute *compute; /* NULL: bytes are not looked at */
	uint64_t	 compute_ns;	/* for each event, on top */
	/*
	 * Where given: once it is true, no more of what was collected is
	 * replayed, and the run has been interrupted.
	 */
	const atomic_bool *stop;
	/*
	 * For one that collects: a replay of the same passes with the same
	 * contract, partition, warm-up and tokens, which collects and, where
	 * this policy knows the future, foresees in the same order; or NULL.
	 * What that one collects serves this one, too, which is given no
	 * passes then; cl_replay_foresee comes before this is finished, and
	 * cl_replay_free of the other after it.
	 */
	struct cl_replay *ahead;
	/*
	 * Where given: called for each expert that was served, once its bytes
	 * are there, and before they may be overwritten.  Its failure is that
	 * of the replay.
	 */
	int		(*served)(void *arg, uint32_t layer, uint32_t expert,
			    const struct cl_device_slab *, uint32_t nslabs,
			    struct cl_err *);
	void		*arg;
};

/*
 * Is its policy chosen by the very passes that are replayed?  And are they
 * collected, for that or to know the future, until the trace is over?
 */
bool	cl_replay_hindsight(const struct cl_replay_options *);
bool	cl_replay_collects(const struct cl_replay_options *);

/*
 * Do the options go together, as far as they alone tell; and with a device, if
 * it reads?  CL_EINVAL, as of a new replay, if not.
 */
int	cl_replay_check(const struct cl_replay_options *, bool reads,
	    struct cl_err *);

/*
 * Writes the columns of the run whose conditions the writer has written, and
 * starts the clock.  input_wait_ns, here and below, is the time spent so far
 * waiting for the trace: none of it is part of the wall time.  Keys are those
 * of the model, and keys->kmax the buffers for bypasses that the device has.
 */
struct cl_replay	*cl_replay_new(const struct cl_model *,
			    const struct cl_keys *,
			    const struct cl_replay_options *,
			    struct cl_stats_writer *, uint64_t input_wait_ns,
			    struct cl_err *);

/* The time spent waiting for the trace so far, before more is replayed. */
void	cl_replay_waited(struct cl_replay *, uint64_t input_wait_ns);

/*
 * Replay a pass, or the next part of one; a sink of cl_events.  Once done,
 * nothing is.  Absurd sizes of experts may add up to more bytes than are
 * counted, 2^63 - 1 a phase: CL_ENOTSUP, by the next end of a window or run.
 */
int	cl_replay_pass(struct cl_replay *, const struct cl_pass *,
	    struct cl_err *);

/*
 * All passes have come: find what a policy that knows the future wants to
 * know.  cl_replay_finish does so, too, but others may be waiting for it.
 */
int	cl_replay_foresee(struct cl_replay *, struct cl_err *);

/*
 * The trace begins once more: its sequences are new ones, and all else goes
 * on as if it were longer.
 */
void	cl_replay_again(struct cl_replay *);

/* Has it all the tokens that were asked for?  What comes then is ignored. */
bool	cl_replay_done(const struct cl_replay *);

/* The trace is over, whole or not: the last window, all totals, the trailer. */
int	cl_replay_finish(struct cl_replay *, const struct cl_stats_end *,
	    struct cl_err *);

void	cl_replay_free(struct cl_replay *);		/* NULL is legal */

#endif /* CL_REPLAY_H */
