#ifndef CL_BUDGETS_H
#define CL_BUDGETS_H

/*
 * Lists of cache budgets as they are written on a command line.
 */

#include <stddef.h>

#include "cl/text.h"

struct cl_err;

#define CL_BUDGETS_MAX	16384u

/* Zeroed, it is empty; it owns the texts. */
struct cl_budgets {
	struct cl_budgets_item {
		struct cl_budget budget;
		char	*text;		/* as a budget of its own is written */
	}		*item;
	size_t		 n;
	size_t		 cap;
};

/*
 * Add a list parted by commas: budgets of cl_text_budget, and ranges of them,
 * FIRST..LAST/STEP, all of one unit.  Of a range, LAST is the upper bound.
 */
int	cl_budgets_add(struct cl_budgets *, const char *, struct cl_err *);

void	cl_budgets_free(struct cl_budgets *);

#endif /* CL_BUDGETS_H */
