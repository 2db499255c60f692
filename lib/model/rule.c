/*
 * Router rules as values: made, checked, copied, compared, named.  What a
 * rule does with scores is route's business.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rule.h"

static const char *const gate_names[] = { NULL, "softmax", "sigmoid",
    "sqrt_softplus", "softmax_weight" };
static const char *const select_names[] = { NULL, "probs", "logits",
    "sigmoid", "table" };
static const char *const part_names[] = { "gate", "select", "gate_bias",
    "sel_bias", "groups", "norm", "scale" };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

void
cl_rule_init(struct cl_rule *r, uint32_t nexperts, uint32_t k)
{

	memset(r, 0, sizeof(*r));
	r->nexperts = nexperts;
	r->k = k;
	r->gate = CL_GATE_SOFTMAX;
	r->select = CL_SELECT_PROBS;
	r->ngroup = r->ngroup_used = 1;
	r->norm = true;
	r->scale = 1;
	r->assumed = CL_RULE_ALL;
}

uint32_t
cl_rule_reach(const struct cl_rule *r)
{

	return (r->nexperts / r->ngroup * r->ngroup_used);
}

int
cl_rule_check(const struct cl_rule *r, struct cl_err *err)
{

	if (r->nexperts == 0 || r->nexperts > CL_RULE_EXPERTS_MAX)
		return (cl_fail(err, CL_EFORMAT, "%u experts; 1 to %d are "
		    "understood", r->nexperts, CL_RULE_EXPERTS_MAX));
	if (r->k == 0 || r->k > r->nexperts)
		return (cl_fail(err, CL_EFORMAT, "k is %u with %u experts",
		    r->k, r->nexperts));
	if (cl_rule_gate_name(r->gate) == NULL)
		return (cl_fail(err, CL_EFORMAT, "unknown gating function %u",
		    (unsigned)r->gate));
	if (cl_rule_select_name(r->select) == NULL)
		return (cl_fail(err, CL_EFORMAT, "unknown selection source %u",
		    (unsigned)r->select));
	if (r->ngroup == 0 || r->nexperts % r->ngroup != 0 ||
	    r->ngroup_used == 0 || r->ngroup_used > r->ngroup)
		return (cl_fail(err, CL_EFORMAT, "%u of %u groups of %u "
		    "experts", r->ngroup_used, r->ngroup, r->nexperts));
	if (r->k > cl_rule_reach(r))
		return (cl_fail(err, CL_EFORMAT, "k is %u, and %u of %u "
		    "groups hold fewer experts", r->k, r->ngroup_used,
		    r->ngroup));
	if (!isfinite(r->scale))
		return (cl_fail(err, CL_EFORMAT, "a scale that is no number"));
	if ((r->assumed & ~(uint32_t)CL_RULE_ALL) != 0)
		return (cl_fail(err, CL_EFORMAT, "unknown parts are assumed"));
	return (CL_OK);
}

static int
copy_bias(float **to, const float *from, uint32_t n, struct cl_err *err)
{

	*to = NULL;
	if (from == NULL)
		return (CL_OK);
	if ((*to = calloc(n, sizeof(**to))) == NULL)
		return (cl_fail_nomem(err, "a router bias"));
	memcpy(*to, from, n * sizeof(**to));
	return (CL_OK);
}

int
cl_rule_copy(struct cl_rule *to, const struct cl_rule *from,
    struct cl_err *err)
{
	int status;

	*to = *from;
	to->sel_bias = NULL;
	status = copy_bias(&to->gate_bias, from->gate_bias, from->nexperts,
	    err);
	if (status == CL_OK)
		status = copy_bias(&to->sel_bias, from->sel_bias,
		    from->nexperts, err);
	if (status != CL_OK)
		cl_rule_free(to);
	return (status);
}

static bool
bias_equal(const float *a, const float *b, uint32_t n)
{

	if (a == NULL || b == NULL)
		return (a == b);
	return (memcmp(a, b, n * sizeof(*a)) == 0);
}

bool
cl_rule_equal(const struct cl_rule *a, const struct cl_rule *b)
{

	return (a->nexperts == b->nexperts && a->k == b->k &&
	    a->gate == b->gate && a->select == b->select &&
	    a->ngroup == b->ngroup && a->ngroup_used == b->ngroup_used &&
	    a->norm == b->norm && a->softmax_w == b->softmax_w &&
	    a->scale == b->scale &&
	    bias_equal(a->gate_bias, b->gate_bias, a->nexperts) &&
	    bias_equal(a->sel_bias, b->sel_bias, a->nexperts));
}

void
cl_rule_free(struct cl_rule *r)
{

	free(r->gate_bias);
	free(r->sel_bias);
	r->gate_bias = r->sel_bias = NULL;
}

const char *
cl_rule_gate_name(enum cl_gate gate)
{

	return ((size_t)gate < COUNT(gate_names) ? gate_names[gate] : NULL);
}

const char *
cl_rule_select_name(enum cl_select select)
{

	return ((size_t)select < COUNT(select_names) ?
	    select_names[select] : NULL);
}

static size_t
by_name(const char *const *names, size_t n, const char *s)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (strcmp(names[i], s) == 0)
			return (i);
	return (0);
}

enum cl_gate
cl_rule_gate_by_name(const char *s)
{

	return ((enum cl_gate)by_name(gate_names, COUNT(gate_names), s));
}

enum cl_select
cl_rule_select_by_name(const char *s)
{

	return ((enum cl_select)by_name(select_names, COUNT(select_names), s));
}

const char *
cl_rule_assumed_text(char buf[80], uint32_t assumed)
{
	size_t i, n = 0;

	buf[0] = '\0';
	for (i = 0; i < COUNT(part_names); i++)
		if ((assumed >> i & 1) != 0)
			n += (size_t)snprintf(buf + n, 80 - n, "%s%s",
			    n == 0 ? "" : ",", part_names[i]);
	return (buf);
}
