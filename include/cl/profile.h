#ifndef CL_PROFILE_H
#define CL_PROFILE_H

/*
 * What a trace says of locality, without a cache: how often tokens choose what
 * the one before did, how long experts rest, how unevenly they are used, what
 * layers share, and what sequences repeat.  Counts choices of tokens, not
 * events.  Borrows keys and model.  Memory is proportional to the number of
 * experts, plus 48 MiB for prefixes.  One thread.
 */

#include <stdint.h>

struct cl_err;
struct cl_keys;
struct cl_model;
struct cl_pass;
struct cl_profile;
struct cl_stats_writer;

struct cl_profile	*cl_profile_new(const struct cl_keys *,
			    const struct cl_model *, struct cl_err *);

/* A pass with CL_CELLS_IDS; one that is skipped is learned from alone. */
void	cl_profile_pass(struct cl_profile *, const struct cl_pass *);

/* Counts start anew; what was chosen last is remembered. */
void	cl_profile_reset(struct cl_profile *);

/*
 * The tables reuse, reuse_distance, skew, expert_use, layer_overlap and
 * prefixes of cl-stats(5).
 */
int	cl_profile_write(struct cl_profile *, struct cl_stats_writer *,
	    struct cl_err *);

void	cl_profile_free(struct cl_profile *);		/* NULL is legal */

#endif /* CL_PROFILE_H */
