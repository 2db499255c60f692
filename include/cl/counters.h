#ifndef CL_COUNTERS_H
#define CL_COUNTERS_H

/*
 * stats/: what a replay counted, as records; knows no trace and no cache.
 *
 * The counters of a replay: their names, in one table.  A name here is the
 * column in a stat stream, the key in JSON and the word in the manual.
 */

#include <stdint.h>

enum cl_counter {			/* logical: equal on every machine */
	CL_N_TOKENS, CL_N_PADDING, CL_N_EVENTS,
	CL_N_ACCESSES, CL_N_HITS, CL_N_STAGE_HITS, CL_N_MISSES,
	CL_N_COLD, CL_N_CAPACITY, CL_N_BYPASS,
	CL_N_ADMIT_REJECTS, CL_N_EVICTIONS,
	CL_N_PREFETCH_ISSUED, CL_N_PREFETCH_USEFUL, CL_N_PREFETCH_WASTED,
	CL_N_PREFETCH_REFUSED, CL_N_PREFETCH_LEFT,
	CL_N_SUBSTITUTED, CL_N_DROPPED,
	CL_N_DEMAND_BYTES, CL_N_PREFETCH_BYTES, CL_N_DENSE_BYTES,
	CL_N_SKIPPED,
	CL_N_DIGEST, CL_N_CHOICES, CL_N_PRELOAD, CL_N_PRELOAD_BYTES,
	CL_N_COUNTERS
};

enum cl_counter_f64 {			/* logical, too */
	CL_F_DROPPED_MASS, CL_F_MAX_DELTA, CL_F_GATE_TOTAL,
	CL_F_COUNTERS
};

enum cl_measure {			/* measured */
	CL_M_DEVICE_BYTES, CL_M_READ_NS, CL_M_IO_WAIT_NS, CL_M_DENSE_WAIT_NS,
	CL_M_COMPUTE_NS, CL_M_INPUT_WAIT_NS, CL_M_WALL_NS,
	CL_M_PREFETCH_LATE, CL_M_MAJOR_FAULTS,
	CL_M_RSS_START, CL_M_RSS_PEAK,
	CL_M_READ_RETRIES, CL_M_PREFETCH_FAILED,
	CL_M_RSS_START_PEAK, CL_M_RSS_PREDICTED,
	CL_M_CHECKSUM,			/* a hash; 0: nothing was computed */
	CL_M_SURPLUS_BYTES,
	CL_M_MEASURES
};

/* "accesses", "dropped_mass", "device_bytes" ... */
const char	*cl_counters_name(enum cl_counter);
const char	*cl_counters_f64_name(enum cl_counter_f64);
const char	*cl_counters_measure_name(enum cl_measure);

#endif /* CL_COUNTERS_H */
