#ifndef CL_BUDGET_H
#define CL_BUDGET_H

/*
 * replay/: the one loop in which trace, cache and reader meet.
 *
 * From a cache budget as people write it to slots, the same way for every
 * back end.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_budget;
struct cl_err;
struct cl_model_sums;

#define CL_BUDGET_ALIGN	4096		/* slots begin on pages */

struct cl_budget_slots {
	uint32_t	 nslots;	/* 1 to all experts */
	uint64_t	 stride;	/* bytes of a slot; 0: unknown */
	uint64_t	 nbytes;	/* nslots x stride */
	bool		 raised;	/* to one slot: it did not give one */
};

/*
 * bytes / stride, where stride is the largest expert's bytes rounded up to
 * CL_BUDGET_ALIGN; a percentage of all experts, rounded down; or a number of
 * experts.  At least one slot, at most as many as there are experts.  Bytes
 * need a model that knows its experts' bytes.
 */
int	cl_budget_resolve(const struct cl_budget *,
	    const struct cl_model_sums *, struct cl_budget_slots *,
	    struct cl_err *);

/*
 * The share of each of n layers where every layer is a pool of its own: slots
 * are dealt like cards, one a layer and round from the first layer on, and a
 * layer with a slot for each of its experts is passed over.  They are no more
 * than all experts.
 */
void	cl_budget_deal(uint32_t nslots, const uint32_t *nexperts,
	    uint32_t *share, uint32_t n);

#endif /* CL_BUDGET_H */
