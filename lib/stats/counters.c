/*
 * The names of all counters.  They are part of the format: never renamed,
 * never given another meaning; new ones go behind the old.
 */

#include <stddef.h>

#include "cl/counters.h"

static const char *const names[CL_N_COUNTERS] = {
	[CL_N_TOKENS] = "tokens",
	[CL_N_PADDING] = "padding",
	[CL_N_EVENTS] = "events",
	[CL_N_ACCESSES] = "accesses",
	[CL_N_HITS] = "hits",
	[CL_N_STAGE_HITS] = "stage_hits",
	[CL_N_MISSES] = "misses",
	[CL_N_COLD] = "cold",
	[CL_N_CAPACITY] = "capacity",
	[CL_N_BYPASS] = "bypass",
	[CL_N_ADMIT_REJECTS] = "admit_rejects",
	[CL_N_EVICTIONS] = "evictions",
	[CL_N_PREFETCH_ISSUED] = "prefetch_issued",
	[CL_N_PREFETCH_USEFUL] = "prefetch_useful",
	[CL_N_PREFETCH_WASTED] = "prefetch_wasted",
	[CL_N_PREFETCH_REFUSED] = "prefetch_refused",
	[CL_N_PREFETCH_LEFT] = "prefetch_left",
	[CL_N_SUBSTITUTED] = "substituted",
	[CL_N_DROPPED] = "dropped",
	[CL_N_DEMAND_BYTES] = "demand_bytes",
	[CL_N_PREFETCH_BYTES] = "prefetch_bytes",
	[CL_N_DENSE_BYTES] = "dense_bytes",
	[CL_N_SKIPPED] = "skipped",
	[CL_N_DIGEST] = "digest",
	[CL_N_PRELOAD] = "preload",
	[CL_N_PRELOAD_BYTES] = "preload_bytes",
	[CL_N_CHOICES] = "choices"
};

static const char *const f64_names[CL_F_COUNTERS] = {
	[CL_F_DROPPED_MASS] = "dropped_mass",
	[CL_F_MAX_DELTA] = "max_delta",
	[CL_F_GATE_TOTAL] = "gate_total"
};

static const char *const measure_names[CL_M_MEASURES] = {
	[CL_M_DEVICE_BYTES] = "device_bytes",
	[CL_M_READ_NS] = "read_ns",
	[CL_M_IO_WAIT_NS] = "io_wait_ns",
	[CL_M_DENSE_WAIT_NS] = "dense_wait_ns",
	[CL_M_COMPUTE_NS] = "compute_ns",
	[CL_M_INPUT_WAIT_NS] = "input_wait_ns",
	[CL_M_WALL_NS] = "wall_ns",
	[CL_M_PREFETCH_LATE] = "prefetch_late",
	[CL_M_MAJOR_FAULTS] = "major_faults",
	[CL_M_RSS_START] = "rss_start",
	[CL_M_RSS_PEAK] = "rss_peak",
	[CL_M_READ_RETRIES] = "read_retries",
	[CL_M_PREFETCH_FAILED] = "prefetch_failed",
	[CL_M_RSS_START_PEAK] = "rss_start_peak",
	[CL_M_RSS_PREDICTED] = "rss_predicted",
	[CL_M_CHECKSUM] = "checksum",
	[CL_M_SURPLUS_BYTES] = "surplus_bytes"
};

const char *
cl_counters_name(enum cl_counter i)
{

	return (names[i]);
}

const char *
cl_counters_f64_name(enum cl_counter_f64 i)
{

	return (f64_names[i]);
}

const char *
cl_counters_measure_name(enum cl_measure i)
{

	return (measure_names[i]);
}
