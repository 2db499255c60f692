#ifndef CL_FORESIGHT_H
#define CL_FORESIGHT_H

/*
 * How well predictors foretell which experts a layer chooses, by layer and by
 * rank, without a cache: those of cl/predict.h but for the oracle, and
 *
 *	transition	what followed, so far, on the experts that the token
 *			chose in the layer before: of each expert the sum of
 *			how often it did, the largest first, ties to the lower;
 *			nothing in the first layer.
 *
 * All learn token by token, and foretell as many experts as the layer's k, or
 * as asked.  Borrows keys and model.  Memory follows what the trace has,
 * not what its head claims: cl/transition.h.  One thread.
 */

#include <stdint.h>

struct cl_err;
struct cl_foresight;
struct cl_keys;
struct cl_model;
struct cl_pass;
struct cl_stats_writer;

/* width 0: each layer's k. */
struct cl_foresight	*cl_foresight_new(const struct cl_keys *,
			    const struct cl_model *, uint32_t width,
			    struct cl_err *);

/* A pass with CL_CELLS_ALL; one that is skipped is learned from alone. */
int	cl_foresight_pass(struct cl_foresight *, const struct cl_pass *,
	    struct cl_err *);

/* Scores start anew; what was learned stays. */
void	cl_foresight_reset(struct cl_foresight *);

/* The tables foresight and foresight_rank of cl-stats(5). */
int	cl_foresight_write(struct cl_foresight *, struct cl_stats_writer *,
	    struct cl_err *);

void	cl_foresight_free(struct cl_foresight *);	/* NULL is legal */

#endif /* CL_FORESIGHT_H */
