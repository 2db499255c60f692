/*
 * Budgets: every unit ends in a number of slots of one size.
 */

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
	if (n < 1)
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
