#ifndef ROUTE_CHECK_H
#define ROUTE_CHECK_H

/*
 * How near weights have to be, for tests of routing.
 */

#include <math.h>

#include "unit.h"

#define E_MAX		512

/* Within 1e-6 of w, or of a float's grid where w is denormal. */
static inline void
check_weight(float got, float w)
{

	assert(fabs((double)got - w) <= 1e-6 * fabs(w) + 0x1p-149);
}

#endif /* ROUTE_CHECK_H */
