#ifndef EVENTS_INT_H
#define EVENTS_INT_H

/*
 * What events.c keeps of the pass at hand, and the cells of events_cells.c.
 */

#include <stddef.h>

#include "cl/events.h"
#include "cl/trace.h"

/* The cells of one column, token after token, by offsets: arrays may move. */
struct cells_column {
	size_t		 nids, ids_cap, weights_cap;
	uint16_t	*ids;
	float		*weights;
	size_t		 nscores, scores_cap;	/* scores and forecasts */
	float		*scores;
};

struct cells_place {
	size_t		 id;		/* its first, in ids and weights */
	uint32_t	 n;
	bool		 weighed;
	size_t		 scores;	/* offset, or NOWHERE */
	size_t		 forecast;
};

/* Copies of the cells of a pass that outlives its block. */
struct cells {
	enum cl_events_cells what;
	uint32_t	 ncolumns;
	uint32_t	 ntokens;
	uint64_t	 nbytes;	/* of all columns */
	size_t		 token_cap, place_cap, cell_cap;
	struct cl_trace_token *token;
	struct cells_place *place;	/* [ntokens][ncolumns] */
	struct cells_column *column;
	struct cl_cell	*cell;		/* [ncolumns][ntokens], when asked */
};

int	cl_events_cells_open(struct cells *, enum cl_events_cells,
	    uint32_t ncolumns, struct cl_err *);

/* Add what token t of a block uses. */
int	cl_events_cells_add(struct cells *, const struct cl_trace_block *,
	    uint32_t t, struct cl_err *);

/* Token t of a block alone, in place: pass->ncells is 1 from now on. */
void	cl_events_cells_view(struct cells *, const struct cl_trace_block *,
	    uint32_t t, struct cl_pass *);

/* All that were added, into the pass; and they are forgotten with the next. */
int	cl_events_cells_take(struct cells *, struct cl_pass *,
	    struct cl_err *);

void	cl_events_cells_close(struct cells *);

#endif /* EVENTS_INT_H */
