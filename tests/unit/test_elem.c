/*
 * elem: near libm's functions, in order, and the same bits everywhere.
 */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cl/elem.h"
#include "cl/hash.h"
#include "unit.h"

static double
exp_of(double x)
{

	cl_elem_exp(&x, 1);
	return (x);
}

static void
exp_is_near(void)
{
	double x, y;

	for (x = -110; x <= 110; x += 0x1p-9 / 3) {
		y = exp(x);
		assert(fabs(exp_of(x) - y) <= y * 0x1p-48);
	}
	assert(exp_of(0) == 1);
}

static void
exp_is_confined(void)
{

	assert(exp_of(110) == exp_of(1e300) && exp_of(110) > FLT_MAX);
	assert(exp_of(INFINITY) == exp_of(110));
	assert(exp_of(-INFINITY) == exp_of(-110));
	assert((float)exp_of(-110) == 0 && exp_of(-110) > 0);
	assert(isnan(exp_of(NAN)));
}

/* n neighbouring floats up from x: exp() never falls. */
static void
climb(float x, int n)
{
	double last = exp_of(x), y;
	int i;

	for (i = 0; i < n; i++, last = y) {
		x = nextafterf(x, INFINITY);
		y = exp_of(x);
		assert(y >= last);
	}
}

static void
exp_grows(void)
{
	int i, step;

	climb(-0x1p-140f, 3000);
	for (i = -1; i > -149; i--) {
		climb(-ldexpf(1, i), 1000);
		climb(ldexpf(1, i), 1000);
	}
	for (step = -110 * 256; step < 110 * 256; step++)	/* its seams */
		climb(nextafterf((float)(step * 0x1.62e42fefa39efp-9),
		    -INFINITY), 3);
}

static void
ln_is_near(void)
{
	double x;
	int i;

	assert(cl_elem_ln(1) == 0);
	for (x = 0x1p-4; x < 0x1p29; x *= 1.00013)
		assert(fabs(cl_elem_ln(x) - log(x)) <=
		    fabs(log(x)) * 0x1p-48);
	for (i = 1; i <= 16384; i++)
		assert(fabs(cl_elem_ln(i) - log(i)) <= log(i) * 0x1p-50);
}

static void
add_double(struct cl_hash *h, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	cl_hash_add_u64(h, bits);
}

static void
bits_are_pinned(void)
{
	struct cl_hash h;
	int i;

	cl_hash_init(&h);
	for (i = -11000; i <= 11000; i++)
		add_double(&h, exp_of((float)i / 100));
	for (i = 1; i <= 16384; i++)
		add_double(&h, cl_elem_ln(i));
	assert(cl_hash_end(&h) == UINT64_C(0xd05bb36101aa81c4));
}

static const struct unit units[] = {
	{ "exp() is within 2^-48 of the C library's", exp_is_near },
	{ "exp() brings its argument into range", exp_is_confined },
	{ "exp() never falls from one float to the next", exp_grows },
	{ "ln() is within 2^-48 of the C library's", ln_is_near },
	{ "the bits are the same for every compiler and machine",
	    bits_are_pinned },
};

UNIT_MAIN(units)
