#ifndef CL_TRANSITION_H
#define CL_TRANSITION_H

/*
 * Which experts of a layer followed on which of the layer before, counted; and
 * what that foretells.  Memory: 24 bytes for each expert; and for what
 * followed on it 6 to 12 bytes an expert while these are few, then 4 for each
 * expert of the layer.  One thread.
 */

#include <stdint.h>

struct cl_cell;
struct cl_err;
struct cl_keys;
struct cl_transition;

/* What followed may take limit bytes; 0: any number. */
struct cl_transition	*cl_transition_new(const struct cl_keys *,
			    uint64_t limit, struct cl_err *);

/*
 * What column c, which is not the first, will choose by what the one before
 * chose: at most width experts, the likeliest first; how many.
 */
uint32_t	cl_transition_choose(struct cl_transition *, uint32_t c,
		    const struct cl_cell *before, uint16_t *ids,
		    uint32_t width);

/* It chose this.  CL_ENOMEM where that is too much to remember. */
int	cl_transition_tell(struct cl_transition *, uint32_t c,
	    const struct cl_cell *before, const struct cl_cell *,
	    struct cl_err *);

void	cl_transition_free(struct cl_transition *);	/* NULL is legal */

#endif /* CL_TRANSITION_H */
