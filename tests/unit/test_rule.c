/*
 * rule: every bound at its last good value and one beyond, copies that own
 * their arrays, what counts as equal, and the names.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rule.h"
#include "unit.h"

static int
check(const struct cl_rule *r)
{
	struct cl_err err = { 0 };
	int status = cl_rule_check(r, &err);

	assert(status == err.code);
	assert((status == CL_OK) == (err.msg[0] == '\0'));
	return (status);
}

#define BOUND(field, good, bad)	do {					\
	struct cl_rule r_ = fine;					\
									\
	r_.field = (good);						\
	assert(check(&r_) == CL_OK);					\
	r_.field = (bad);						\
	assert(check(&r_) == CL_EFORMAT);				\
} while (0)

static void
plain_rule(void)
{
	struct cl_rule r;

	cl_rule_init(&r, 64, 8);
	assert(check(&r) == CL_OK);
	assert(r.nexperts == 64 && r.k == 8);
	assert(r.gate == CL_GATE_SOFTMAX && r.select == CL_SELECT_PROBS);
	assert(r.gate_bias == NULL && r.sel_bias == NULL);
	assert(r.ngroup == 1 && r.ngroup_used == 1);
	assert(r.norm && !r.softmax_w && r.scale == 1);
	assert(r.assumed == CL_RULE_ALL);
}

static void
experts_are_bounded(void)
{
	struct cl_rule fine;

	cl_rule_init(&fine, 64, 1);
	BOUND(nexperts, 1, 0);
	BOUND(nexperts, CL_RULE_EXPERTS_MAX, CL_RULE_EXPERTS_MAX + 1);
	BOUND(nexperts, 16384, UINT32_MAX);
}

static void
k_is_bounded(void)
{
	struct cl_rule fine;

	cl_rule_init(&fine, 64, 8);
	BOUND(k, 1, 0);
	BOUND(k, 64, 65);
	BOUND(k, 64, UINT32_MAX);
	fine.ngroup = 8;
	fine.ngroup_used = 4;
	BOUND(k, 32, 33);		/* what four groups of eight hold */
}

static void
numbers_are_known(void)
{
	struct cl_rule fine;

	cl_rule_init(&fine, 64, 8);
	BOUND(gate, (enum cl_gate)1, (enum cl_gate)0);
	BOUND(gate, (enum cl_gate)4, (enum cl_gate)5);
	BOUND(select, (enum cl_select)1, (enum cl_select)0);
	BOUND(select, (enum cl_select)4, (enum cl_select)5);
	BOUND(assumed, 127, 128);
	BOUND(assumed, 0, UINT32_C(0x80000000));
}

static void
groups_are_bounded(void)
{
	struct cl_rule fine;

	cl_rule_init(&fine, 64, 1);
	BOUND(ngroup, 1, 0);
	BOUND(ngroup, 64, 65);
	BOUND(ngroup, 32, 33);			/* a divisor of 64 */
	fine.ngroup = 8;
	BOUND(ngroup_used, 1, 0);
	BOUND(ngroup_used, 8, 9);
}

static void
scale_is_finite(void)
{
	struct cl_rule fine;

	cl_rule_init(&fine, 64, 8);
	BOUND(scale, 16, INFINITY);
	BOUND(scale, -3.4028235e38f, -INFINITY);
	BOUND(scale, 0, NAN);
}

static void
fill(struct cl_rule *r)
{
	uint32_t i;

	cl_rule_init(r, 16, 2);
	assert((r->gate_bias = calloc(16, sizeof(float))) != NULL);
	assert((r->sel_bias = calloc(16, sizeof(float))) != NULL);
	for (i = 0; i < 16; i++) {
		r->gate_bias[i] = (float)i;
		r->sel_bias[i] = -(float)i;
	}
}

static void
copies_are_their_own(void)
{
	struct cl_rule a, b, c;

	fill(&a);
	assert(cl_rule_copy(&b, &a, NULL) == CL_OK);
	assert(b.gate_bias != a.gate_bias && b.sel_bias != a.sel_bias);
	assert(cl_rule_equal(&a, &b));
	a.sel_bias[15] = 1;
	assert(b.sel_bias[15] == -15 && !cl_rule_equal(&a, &b));
	cl_rule_free(&a);
	assert(a.gate_bias == NULL && a.sel_bias == NULL);
	cl_rule_free(&a);			/* again is nothing */
	assert(b.gate_bias[15] == 15);
	cl_rule_free(&b);
	cl_rule_init(&a, 16, 2);
	assert(cl_rule_copy(&c, &a, NULL) == CL_OK);
	assert(c.gate_bias == NULL && c.sel_bias == NULL);
	assert(cl_rule_equal(&a, &c));
}

#define DIFFERS(field, value)	do {					\
	struct cl_rule r_ = a;						\
									\
	r_.field = (value);						\
	assert(!cl_rule_equal(&a, &r_) && !cl_rule_equal(&r_, &a));	\
} while (0)

static void
equal_is_alike(void)
{
	struct cl_rule a, b;
	float bias[16] = { 0 };

	fill(&a);
	DIFFERS(nexperts, 15);
	DIFFERS(k, 3);
	DIFFERS(gate, CL_GATE_SIGMOID);
	DIFFERS(select, CL_SELECT_LOGITS);
	DIFFERS(ngroup, 2);
	DIFFERS(ngroup_used, 2);
	DIFFERS(norm, false);
	DIFFERS(softmax_w, true);
	DIFFERS(scale, 2);
	DIFFERS(gate_bias, NULL);
	DIFFERS(gate_bias, bias);
	DIFFERS(sel_bias, NULL);
	DIFFERS(sel_bias, bias);
	b = a;
	b.assumed = 0;
	assert(cl_rule_equal(&a, &b));
	cl_rule_free(&a);
}

static void
names_go_both_ways(void)
{
	int i;

	for (i = 1; i <= 4; i++) {
		assert((int)cl_rule_gate_by_name(cl_rule_gate_name(
		    (enum cl_gate)i)) == i);
		assert((int)cl_rule_select_by_name(cl_rule_select_name(
		    (enum cl_select)i)) == i);
	}
	assert(strcmp(cl_rule_gate_name(CL_GATE_SQRT_SOFTPLUS),
	    "sqrt_softplus") == 0);
	assert(strcmp(cl_rule_select_name(CL_SELECT_TABLE), "table") == 0);
	assert(cl_rule_gate_name((enum cl_gate)0) == NULL);
	assert(cl_rule_gate_name((enum cl_gate)5) == NULL);
	assert(cl_rule_select_name((enum cl_select)0) == NULL);
	assert(cl_rule_select_name((enum cl_select)5) == NULL);
	assert(cl_rule_gate_by_name("Softmax") == 0);
	assert(cl_rule_gate_by_name("") == 0);
	assert(cl_rule_select_by_name("softmax") == 0);
}

static void
assumed_parts_are_listed(void)
{
	char buf[80];

	assert(strcmp(cl_rule_assumed_text(buf, 0), "") == 0);
	assert(strcmp(cl_rule_assumed_text(buf, CL_RULE_NORM), "norm") == 0);
	assert(strcmp(cl_rule_assumed_text(buf, CL_RULE_ALL),
	    "gate,select,gate_bias,sel_bias,groups,norm,scale") == 0);
}

static const struct unit units[] = {
	{ "the plain rule is whole, and all of it assumed", plain_rule },
	{ "a rule has 1 to 16384 experts", experts_are_bounded },
	{ "k is at least 1 and at most what may be chosen", k_is_bounded },
	{ "numbers that name nothing are refused", numbers_are_known },
	{ "groups divide the experts, and some are used",
	    groups_are_bounded },
	{ "a scale is a finite number", scale_is_finite },
	{ "a copy owns its arrays", copies_are_their_own },
	{ "rules are equal where they choose and weigh alike",
	    equal_is_alike },
	{ "names and numbers go both ways", names_go_both_ways },
	{ "what was assumed is listed", assumed_parts_are_listed },
};

UNIT_MAIN(units)
