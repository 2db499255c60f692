/*
 * Budgets: every unit ends in a number of slots of one size, which layers may
 * have to share out.
 */

#include <assert.h>

#include "cl/budget.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/num.h"
#include "cl/text.h"

int
cl_budget_resolve(const struct cl_budget *b, const struct cl_model_sums *sums,
    struct cl_budget_slots *s, struct cl_err *err)
{
	uint64_t n = 0;

	s->stride = sums->bytes_known ?
	    cl_roundup(sums->expert_bytes_max, CL_BUDGET_ALIGN) : 0;
	switch (b->unit) {
	case CL_BUDGET_BYTES:
		if (s->stride == 0)
			return (cl_fail(err, CL_EINVAL, "a budget in bytes "
			    "needs a trace that knows its experts' bytes; "
			    "give N%% or Ne"));
		n = b->amount / s->stride;
		break;
	case CL_BUDGET_PERCENT:
		n = cl_muldiv(sums->experts, b->amount, 10000);
		break;
	case CL_BUDGET_EXPERTS:
		n = b->amount;
		break;
	}
	s->raised = n < 1;
	if (s->raised)
		n = 1;
	if (n > sums->experts)
		n = sums->experts;
	s->nslots = (uint32_t)n;
	if (!cl_mul(n, s->stride, &s->nbytes))
		return (cl_fail(err, CL_EINVAL, "%llu slots of %llu bytes are "
		    "more bytes than 64 bits can say", (unsigned long long)n,
		    (unsigned long long)s->stride));
	return (CL_OK);
}

/* How many layers could take another slot. */
static uint32_t
count_open(const uint32_t *nexperts, const uint32_t *share, uint32_t n)
{
	uint32_t i, nopen = 0;

	for (i = 0; i < n; i++)
		nopen += share[i] < nexperts[i];
	return (nopen);
}

/*
 * As many whole rounds as there are slots for at once; a layer that fills up
 * leaves slots to another turn, so that there are at most as many turns as
 * layers, and a last one.
 */
void
cl_budget_deal(uint32_t nslots, const uint32_t *nexperts, uint32_t *share,
    uint32_t n)
{
	uint32_t i, nopen, rounds, take;

	for (i = 0; i < n; i++)
		share[i] = 0;
	while (nslots > 0) {
		nopen = count_open(nexperts, share, n);
		assert(nopen > 0);
		rounds = nslots / nopen > 0 ? nslots / nopen : 1;
		for (i = 0; i < n && nslots > 0; i++) {
			take = nexperts[i] - share[i];
			if (take > rounds)
				take = rounds;
			share[i] += take;
			nslots -= take;
		}
	}
}
