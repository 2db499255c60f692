#ifndef REPLAY_H
#define REPLAY_H

/*
 * cl-replay: what it is asked for, and the ways it works.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/budget.h"
#include "cl/budgets.h"
#include "cl/cache.h"
#include "cl/compute.h"
#include "cl/curve.h"
#include "cl/events.h"
#include "cl/io.h"
#include "cl/replay.h"
#include "cl/text.h"
#include "cl/trace.h"
#include "cl/virtual.h"

struct cl_conditions;
struct cl_err;
struct cl_keys;
struct cl_model;
struct cl_trace_head;
struct feed_trace;
struct replay_fit;

/* The lists of a sweep; of each, a run alone has the first. */
struct replay_lists {
	struct cl_cache_policy *policy;
	size_t		 npolicies;
	size_t		 policy_cap;
	struct cl_budgets budgets;
	uint32_t	 njobs;		/* threads; 0: one for each processor */
	uint32_t	 part;		/* of nparts, from 1 */
	uint32_t	 nparts;	/* 0: all of it, unsplit */
};

#define REPLAY_CONTRACTS	3u

struct replay_options {
	struct cl_replay_options replay;
	enum cl_contract contract[REPLAY_CONTRACTS];	/* replay: [0] */
	unsigned	 ncontracts;
	enum cl_prefill	 prefill;
	struct cl_budget budget;
	const char	*budget_text;
	const char	*model;
	const char	*output;
	bool		 replace;
	enum replay_io {
		REPLAY_NONE,		/* what is missed is counted */
		REPLAY_REAL,		/* bytes are read */
		REPLAY_MODEL		/* and timed as if they were */
	}		 io;
	const char	*device;	/* of the model, as asked, or NULL */
	struct cl_virtual_spec spec;
	enum cl_curve_policy curve;
	bool		 warm;
	unsigned	 dense;		/* which of replay_denses */
	enum cl_compute_kind compute;
	bool		 verify;	/* compare it with the file */
	uint64_t	 seed;
	uint64_t	 nstage;	/* staging; 0: twice the largest k */
	enum cl_io_backend backend;
	enum cl_io_os_cache os_cache;
	bool		 direct_required;
	bool		 hugepages;
	uint32_t	 retries;
	uint32_t	 nthreads;
	uint32_t	 nsamples;	/* of each figure of --calibrate */
	bool		 io_said;
	bool		 window_said;
	struct replay_lists lists;
	/* What is done: replay_traces, or what an option has in its place. */
	int		(*mode)(const struct replay_options *,
			    char *const *operands, int n);
};

/* Names of choices, as the conditions of a run have them. */
extern const char *const replay_ios[];		/* by enum replay_io */
extern const char *const replay_curves[];	/* by enum cl_curve_policy */
extern const char *const replay_os_caches[];	/* by enum cl_io_os_cache */

/*
 * The command line; operands are what is left from *first on.  Dies of misuse.
 */
void	replay_options(struct replay_options *, int argc, char **argv,
	    int *first);
void	replay_options_free(struct replay_options *);

/* Die of options that do not go together. */
void	replay_check(const struct replay_options *);

/* Die of a first operand that was meant to be what --curve is of. */
void	replay_check_operand(const struct replay_options *, const char *);

/* "skip", "resident", "ring" by enum cl_replay_dense, then "auto". */
extern const char *const replay_denses[];

/* What of these is in force for a model with so many dense bytes. */
enum cl_replay_dense	replay_dense(const struct replay_options *,
			    uint64_t nbytes);

/*
 * What a run with that budget is asked for, whether it is alone or of a sweep.
 */
void	replay_conditions(struct cl_conditions *,
	    const struct replay_options *, const struct feed_trace *,
	    const char *budget, const struct replay_fit *);

/*
 * With --warm the experts in the cache are those of one model: that of the
 * trace before, if there was one, whose fingerprint is given and replaced.
 */
int	replay_same_model(const struct feed_trace *, const struct cl_model *,
	    bool before, uint64_t *fingerprint, struct cl_err *);

/*
 * Models that have no fingerprint are one if their experts are: those of the
 * trace before, or NULL if there was none.
 */
int	replay_same_experts(const struct feed_trace *, const struct cl_keys *,
	    const struct cl_keys *before, struct cl_err *);

/* --window or, where it is not given, what suits the trace. */
uint64_t	replay_window(const struct replay_options *,
		    const struct cl_trace_head *);

/* Say, once, that a budget was less than a slot. */
void	replay_raised(const struct cl_budget_slots *, const char *budget,
	    bool *told);

/* What --contract, --policy, --cache and --part take; die of misuse. */
void	replay_contracts(struct replay_options *, const char *text);
void	replay_policies(struct replay_lists *, const char *text);
void	replay_budgets(struct replay_lists *, const char *text);
void	replay_part(struct replay_lists *, const char *text);

/* The options are there: defaults of the lists, and whether it is a sweep. */
void	replay_lists_end(struct replay_options *);

/* What a policy that loads is chosen by: a file, or the first trace. */
struct replay_fit {
	uint64_t	*uses;		/* of each key; the caller's to free */
	uint64_t	 routing;	/* the trace's fingerprint */
	enum cl_trace_end end;
	bool		 told;		/* that it was not whole: trouble */
};

/*
 * Count the uses of the trace in a file; its model must be the same.  Says,
 * once, that it is not of a whole one.
 */
int	replay_fit(struct replay_fit *, const char *path,
	    const struct cl_model *, const struct cl_keys *, enum cl_prefill,
	    struct cl_err *);

/* Replay every trace, each as a run of its own. */
int	replay_traces(const struct replay_options *, char *const *operands,
	    int n);

/* --calibrate: measure the machine with the experts of a model. */
int	replay_calibrate(const struct replay_options *, char *const *operands,
	    int n);

/* --curve: the hits of a cache of every capacity, without one. */
int	replay_curve(const struct replay_options *, char *const *operands,
	    int n);

/* --bound: the most hits that caches of the given capacities can have. */
int	replay_bound(const struct replay_options *, char *const *operands,
	    int n);

/* --stats: what the trace says of locality. */
int	replay_stats(const struct replay_options *, char *const *operands,
	    int n);

/* --predict: how well predictors foretell what a layer chooses. */
int	replay_predict(const struct replay_options *, char *const *operands,
	    int n);

/* Every policy with every budget, over each trace at once. */
int	replay_sweep(const struct replay_options *, char *const *operands,
	    int n);

/* --list-policies: the table, with what each policy takes. */
int	replay_list(const struct replay_options *, char *const *operands,
	    int n);

#endif /* REPLAY_H */
