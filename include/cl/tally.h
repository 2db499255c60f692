#ifndef CL_TALLY_H
#define CL_TALLY_H

/*
 * The counters of one run while it goes on: by phase and by layer, with
 * windows as differences.  Plain additions on dense arrays; the replay adds
 * to the rows, and the tally writes them.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/counters.h"

struct cl_err;
struct cl_stats_writer;
struct cl_tally;

/* Logical counters of one phase. */
struct cl_tally_phase {
	uint64_t	n[CL_N_COUNTERS]; /* but DIGEST, which is the run's */
	double		f[CL_F_COUNTERS];
};

/* Logical counters of one layer, and the one measured there. */
struct cl_tally_layer {
	uint32_t	layer;		/* absolute */
	uint64_t	accesses;
	uint64_t	hits;
	uint64_t	stage_hits;
	uint64_t	misses;
	uint64_t	cold;
	uint64_t	capacity;
	uint64_t	bypass;
	uint64_t	evictions;
	uint64_t	prefetch_issued; /* for it, as are the next two */
	uint64_t	prefetch_useful;
	uint64_t	prefetch_wasted;
	uint64_t	substituted;
	uint64_t	dropped;
	uint64_t	demand_bytes;
	uint64_t	prefetch_bytes;
	uint64_t	io_wait_ns;
};

/* Counters of nlayers layers, all 0; bytes: false where they are unknown. */
struct cl_tally	*cl_tally_new(const uint32_t *layers, uint32_t nlayers,
		    bool bytes, bool measured, struct cl_err *);

/* The rows to add to; phase 0 is prefill, 1 decode. */
struct cl_tally_phase	*cl_tally_phase(struct cl_tally *, unsigned phase);
struct cl_tally_layer	*cl_tally_layer(struct cl_tally *, uint32_t i);

/* The measured counters of the run, to be set or added to. */
uint64_t	*cl_tally_measures(struct cl_tally *);

/*
 * What the measured counters have grown by since the last call, or since they
 * were set back, was spent in that phase.  Without any call phases have no
 * measured rows; the replay calls it behind every pass.
 */
void	cl_tally_spend(struct cl_tally *, unsigned phase);

/* Set everything back to 0: the warm-up is over. */
void	cl_tally_reset(struct cl_tally *);

/* Write both COLUMNS records (measured only where they are kept). */
int	cl_tally_write_columns(const struct cl_tally *,
	    struct cl_stats_writer *, struct cl_err *);

/*
 * A window ends here: write what was counted since the last one, with the
 * digest as it stands.  Measured: the differences of what grows; the peak RSS
 * as it stands.
 */
int	cl_tally_write_window(struct cl_tally *, uint64_t digest,
	    struct cl_stats_writer *, struct cl_err *);

/* The rows of phases, layers and the whole run. */
int	cl_tally_write_totals(struct cl_tally *, uint64_t digest,
	    struct cl_stats_writer *, struct cl_err *);

void	cl_tally_free(struct cl_tally *);		/* NULL is legal */

#endif /* CL_TALLY_H */
