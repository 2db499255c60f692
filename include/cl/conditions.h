#ifndef CL_CONDITIONS_H
#define CL_CONDITIONS_H

/*
 * The conditions of a replay as records: what every result must say of
 * itself.  The names are those of cl-stats(5), RUN record.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_budget_slots;
struct cl_err;
struct cl_model;
struct cl_replay_options;
struct cl_stats_conds;
struct cl_trace_head;

/* What the options and the trace do not say. */
struct cl_conditions {
	const char	*trace;		/* name of the input */
	uint64_t	 member;	/* which of its traces, from 1 */
	const char	*member_name;	/* in an archive, or NULL */
	bool		 warm;		/* the cache goes from trace to trace */
	const char	*budget;	/* as it was asked for */
	unsigned	 prefill;	/* an enum cl_prefill */
	/* Of a policy that loads: the routing of the trace it is chosen by. */
	uint64_t	 fitted;
	unsigned	 fitted_end;	/* and its enum cl_trace_end */
	const char	*io;		/* "real", "model", "none" */
	const char	*os_cache;	/* "keep", "drop"; NULL: nothing read */
	unsigned	 compute;	/* enum cl_compute_kind; 0: no bytes */
	uint64_t	 seed;
	uint32_t	 threads;	/* 0: nothing read or modelled */
};

/* Add them all to an empty list; the model is the one that is replayed. */
int	cl_conditions_set(struct cl_stats_conds *,
	    const struct cl_conditions *, const struct cl_trace_head *,
	    const struct cl_model *, const struct cl_budget_slots *,
	    const struct cl_replay_options *, struct cl_err *);

/* A run without a cache, and what of the options means something to it. */
struct cl_conditions_study {
	const char	*what;		/* "curve" */
	const char	*policy;	/* that its figures are of, or NULL */
	bool		 contract;	/* events are served by one */
	bool		 windows;
	bool		 slots;		/* it is of caches of any size */
};

/* The same for such a run. */
int	cl_conditions_study(struct cl_stats_conds *,
	    const struct cl_conditions_study *, const struct cl_conditions *,
	    const struct cl_trace_head *, const struct cl_replay_options *,
	    struct cl_err *);

/* "event" or "serial"; "union", "token" ..; "global" or "layer". */
extern const char *const cl_conditions_contracts[];
extern const char *const cl_conditions_prefills[];
extern const char *const cl_conditions_partitions[];

#endif /* CL_CONDITIONS_H */
