#ifndef CL_SWEEP_H
#define CL_SWEEP_H

/*
 * Many replays of one trace, which is read once: passes go in, and every run
 * replays all of them, side by side on several threads.  A run's stream is, to
 * the byte, what that run alone would write, for any number of threads.
 *
 * Passes are gathered in batches, of which one is replayed while the next one
 * is filled: two of about a mebibyte.  A run has the memory of its replay and
 * of a stream that waits, twice CL_SPOOL_PIECE and what one batch adds.  What
 * runs collect is there once for all of them, or twice where policies that know
 * the future tell members of an event apart in both orders; and once more where
 * a policy chosen by hindsight stands before these.  All runs are
 * to have the same contract, partition, warm-up and tokens.  It borrows the
 * keys, and the model while runs are added.  The sweep is called by one
 * thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_keys;
struct cl_model;
struct cl_pass;
struct cl_replay;
struct cl_replay_options;
struct cl_stats_conds;
struct cl_stats_end;
struct cl_sweep;

/*
 * njobs threads, the caller among them; streams that become long wait in a
 * file in dir.
 */
struct cl_sweep	*cl_sweep_new(const struct cl_keys *, unsigned njobs,
		    const char *dir, struct cl_err *);

/* One more run, without a device; name is for messages. */
int	cl_sweep_add(struct cl_sweep *, const char *name,
	    const struct cl_model *, const struct cl_replay_options *,
	    const struct cl_stats_conds *, struct cl_err *);

/*
 * Take a pass, or the next part of one; a sink of cl_events.  A run that
 * fails ends all of them: of several in a batch, the first in order is told.
 */
int	cl_sweep_pass(struct cl_sweep *, const struct cl_pass *,
	    struct cl_err *);

/* Has every run the tokens that were asked for?  Known some passes late. */
bool	cl_sweep_done(const struct cl_sweep *);

/* Replay all that was taken: what is done is known then. */
int	cl_sweep_settle(struct cl_sweep *, struct cl_err *);

/* The trace is over, whole or not: all that was taken is replayed. */
int	cl_sweep_finish(struct cl_sweep *, const struct cl_stats_end *,
	    struct cl_err *);

/* The streams of all runs, in the order in which they were added. */
int	cl_sweep_write(struct cl_sweep *, struct cl_dst *, struct cl_err *);

/* The replay of the i-th run, the sweep's, for another one to go on with. */
struct cl_replay	*cl_sweep_replay(struct cl_sweep *, uint32_t i);

void	cl_sweep_free(struct cl_sweep *);		/* NULL is legal */

#endif /* CL_SWEEP_H */
