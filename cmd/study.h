#ifndef STUDY_H
#define STUDY_H

/*
 * What cl-replay finds out of a trace without a cache: each study is a row of
 * verbs, fed with passes, that leaves tables in a run of its own.
 */

#include "cl/conditions.h"
#include "cl/events.h"
#include "replay.h"

struct cl_stats_writer;

struct study {
	struct cl_conditions_study conditions;
	enum cl_events_cells cells;	/* that it looks at */
	bool		 cyclic;	/* a replay's figures, and the trace */
	/* Its state for a trace of this model, whose keys these are. */
	void		*(*open)(const struct replay_options *,
			    const struct cl_keys *, const struct cl_model *,
			    struct cl_err *);
	int		(*pass)(void *, const struct cl_pass *,
			    struct cl_err *);
	/* The warm-up is over: what was counted so far is not. */
	void		(*reset)(void *);
	/* A window ends behind so many tokens; NULL: it has no interest. */
	int		(*window)(void *, struct cl_stats_writer *,
			    uint64_t tokens, struct cl_err *);
	/* The trace is over. */
	int		(*write)(void *, struct cl_stats_writer *,
			    struct cl_err *);
	void		(*free)(void *);
};

/*
 * Study every trace in one pass, each in a run of its own by each of these
 * options, which are alike but for the contract: up to REPLAY_CONTRACTS.
 */
int	study_traces(const struct study *, const struct replay_options *,
	    unsigned nruns, char *const *operands, int n);

#endif /* STUDY_H */
