/*
 * Reading a router's rule from the graph: from how the tensors are connected,
 * not from the name of an architecture (the other side of this is
 * llama.cpp's build_moe_ffn).  It starts at the first weights of a layer,
 * which lead to both the gate's result and the experts chosen; a second use
 * of the same layer's scores (grovemoe) does not count.  What is connected in
 * another way than is known here is an error that names the node.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap_int.h"

#define PLUMBING_MAX	32	/* nodes between a choice and what it ranks */
#define SORT_DESCENDING	1
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* Operations by name: their numbers move between releases. */
bool
cl_tap_int_op_is(const struct cl_tap *tap, const struct tap_tensor *t,
    const char *op)
{

	return (strcmp(tap->lib.op_desc(t), op) == 0);
}

/* A failure that names the node which did not fit. */
int
cl_tap_int_odd(struct cl_tap *tap, const struct tap_slot *s, const char *what,
    const struct tap_tensor *t)
{

	return (cl_fail(&tap->err, CL_ENOTSUP, "layer %u: %s %s (%s), which "
	    "is not understood in %s", s->out.layer, what, t == NULL ?
	    "nothing" : tap->lib.op_desc(t), t == NULL ? "no node" :
	    tap->lib.get_name(t), tap->lib.engine));
}

/* A matrix of 4-byte elements, its rows apart by nb[1], nothing behind. */
bool
cl_tap_int_is_rows(const struct cl_tap *tap, const struct tap_tensor *t)
{

	return (t->ne[0] > 0 && t->ne[1] > 0 && t->ne[2] == 1 &&
	    t->ne[3] == 1 && t->nb[0] == 4 &&
	    t->nb[1] >= 4 * (size_t)t->ne[0] &&
	    tap->lib.nbytes(t) == (size_t)(t->ne[1] - 1) * t->nb[1] +
	    4 * (size_t)t->ne[0]);
}

/* A bias of n floats, copied; NULL if it is none (or memory is out). */
static float *
copy_bias(struct cl_tap *tap, const struct tap_tensor *t, uint32_t n)
{
	float *p;

	if (t == NULL || !cl_tap_int_op_is(tap, t, "NONE") || t->ne[0] != n ||
	    t->ne[1] != 1 || !cl_tap_int_is_rows(tap, t))
		return (NULL);
	if ((p = calloc(n, sizeof(*p))) == NULL) {
		(void)cl_fail_nomem(&tap->err, "a router bias");
		return (NULL);
	}
	tap->lib.tensor_get(t, p, 0, n * sizeof(*p));
	return (p);
}

/* What a constant bias was added to; t itself where none was. */
static const struct tap_tensor *
strip_bias(struct cl_tap *tap, const struct tap_tensor *t, uint32_t n,
    float **bias)
{

	if (!cl_tap_int_op_is(tap, t, "ADD") ||
	    (*bias = copy_bias(tap, t->src[1], n)) == NULL)
		return (t);
	return (t->src[0]);
}

/* The gate is the operation that made p; *x is what it was applied to. */
static int
read_gate(struct cl_tap *tap, struct tap_slot *s, const struct tap_tensor *p,
    const struct tap_tensor **x)
{
	const struct tap_tensor *l;
	float scale;

	*x = p->src[0];
	if (cl_tap_int_op_is(tap, p, "SOFT_MAX")) {
		memcpy(&scale, &p->params[0], sizeof(scale));
		if (scale != 1 || p->src[1] != NULL)
			return (cl_tap_int_odd(tap, s, "its gate is a scaled "
			    "or masked", p));
		s->rule.gate = CL_GATE_SOFTMAX;
	} else if (cl_tap_int_op_is(tap, p, "SIGMOID"))
		s->rule.gate = CL_GATE_SIGMOID;
	else if (cl_tap_int_op_is(tap, p, "SQRT") &&
	    cl_tap_int_op_is(tap, p->src[0], "SOFTPLUS")) {
		s->rule.gate = CL_GATE_SQRT_SOFTPLUS;
		*x = p->src[0]->src[0];
	} else {
		s->rule.gate = CL_GATE_SOFTMAX_WEIGHT;
		*x = p;
	}
	l = *x;
	if (l != s->logits)
		l = strip_bias(tap, l, s->rule.nexperts, &s->rule.gate_bias);
	if (l != s->logits && cl_tap_int_op_is(tap, l, "GET_ROWS") &&
	    l->ne[1] == s->logits->ne[1])
		l = l->src[0];		/* the rows with output: all of them */
	if (l != s->logits)
		return (cl_tap_int_odd(tap, s, "its gate is applied to", l));
	return (CL_OK);
}

/* What the groups were ranked by, below the nodes that only move data. */
static const struct tap_tensor *
below_plumbing(struct cl_tap *tap, const struct tap_tensor *t)
{
	static const char *const moves[] = { "RESHAPE", "VIEW", "CONT",
	    "GET_ROWS", "SUM_ROWS", "ARGSORT", "PERMUTE" };
	size_t i;
	int n;

	for (n = 0; n < PLUMBING_MAX && t != NULL; n++) {
		for (i = 0; i < COUNT(moves); i++)
			if (cl_tap_int_op_is(tap, t, moves[i]))
				break;
		if (i == COUNT(moves))
			break;
		t = t->src[0];
	}
	return (t);
}

static const struct tap_tensor *
sorted_by(struct cl_tap *tap, const struct tap_tensor *view)
{
	const struct tap_tensor *sort = view->src[0];

	if (!cl_tap_int_op_is(tap, view, "VIEW") || sort == NULL ||
	    view->view_src != sort || view->view_off != 0 ||
	    !cl_tap_int_op_is(tap, sort, "ARGSORT") ||
	    sort->params[0] != SORT_DESCENDING)
		return (NULL);
	return (sort);
}

static int
read_groups(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor **ranked)
{
	const struct tap_tensor *sort = sorted_by(tap, s->groups);

	if (sort == NULL)
		return (cl_tap_int_odd(tap, s, "its groups come from",
		    s->groups));
	s->rule.ngroup = (uint32_t)sort->ne[0];
	s->rule.ngroup_used = (uint32_t)s->groups->ne[0];
	*ranked = below_plumbing(tap, sort->src[0]);
	return (CL_OK);
}

/* What the experts were chosen by: p, x, or sigmoid(x), perhaps biased. */
static int
read_select(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor *p, const struct tap_tensor *x)
{
	const struct tap_tensor *sort, *by;

	if (cl_tap_int_op_is(tap, s->topk, "GET_ROWS")) {
		s->rule.select = CL_SELECT_TABLE;
		return (CL_OK);
	}
	if ((sort = sorted_by(tap, s->topk)) == NULL)
		return (cl_tap_int_odd(tap, s, "its experts come from",
		    s->topk));
	by = sort->src[0];
	if (s->groups != NULL && read_groups(tap, s, &by) != CL_OK)
		return (tap->err.code);
	if (by != NULL && by != p && by != x)
		by = strip_bias(tap, by, s->rule.nexperts,
		    &s->rule.sel_bias);
	if (by == p)
		s->rule.select = CL_SELECT_PROBS;
	else if (by == x)
		s->rule.select = CL_SELECT_LOGITS;
	else if (by != NULL && cl_tap_int_op_is(tap, by, "SIGMOID") &&
	    by->src[0] == x)
		s->rule.select = CL_SELECT_SIGMOID;
	else
		return (cl_tap_int_odd(tap, s, "its experts are chosen by",
		    by));
	return (CL_OK);
}

/*
 * The first weights of a layer: rows of the gate's result, picked by the
 * experts chosen.
 */
static void
read_weights(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor *w)
{
	const struct tap_tensor *p = w->src[0], *x;

	if (s->logits == NULL || s->topk == NULL ||
	    !cl_tap_int_op_is(tap, w, "GET_ROWS") || w->src[1] != s->topk) {
		(void)cl_tap_int_odd(tap, s, "its weights come from", w);
		return;
	}
	while (p != NULL && p != s->logits &&
	    cl_tap_int_op_is(tap, p, "RESHAPE"))
		p = p->src[0];
	if (p == NULL) {
		(void)cl_tap_int_odd(tap, s, "its weights come from",
		    w->src[0]);
		return;
	}
	cl_rule_init(&s->rule, s->out.nexperts, s->out.k);
	s->rule.norm = false;
	s->rule.assumed = 0;
	s->state = TAP_READING;
	if (read_gate(tap, s, p, &x) == CL_OK)
		(void)read_select(tap, s, p, x);
}

static void
read_scale(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor *t)
{
	float plus;

	memcpy(&s->rule.scale, &t->params[0], sizeof(s->rule.scale));
	memcpy(&plus, &t->params[1], sizeof(plus));
	if (!cl_tap_int_op_is(tap, t, "SCALE") ||
	    !isfinite(s->rule.scale) || plus != 0)
		(void)cl_tap_int_odd(tap, s, "its weights are scaled by", t);
}

/* A node of a layer whose rule is not read yet. */
void
cl_tap_int_rule(struct cl_tap *tap, struct tap_slot *s, enum tap_node node,
    const struct tap_tensor *t)
{

	switch (node) {
	case TAP_NODE_GROUPS:
		s->groups = t;
		break;
	case TAP_NODE_TOPK:
		if (s->state == TAP_READING)
			s->state = TAP_READ;	/* a second use */
		else
			s->topk = t;
		break;
	case TAP_NODE_WEIGHTS:
		if (s->state == TAP_UNREAD)
			read_weights(tap, s, t);
		break;
	case TAP_NODE_SOFTMAX_W:
		s->rule.softmax_w |= s->state == TAP_READING;
		break;
	case TAP_NODE_NORM:
		s->rule.norm |= s->state == TAP_READING;
		break;
	case TAP_NODE_SCALED:
		if (s->state == TAP_READING)
			read_scale(tap, s, t);
		break;
	default:
		break;
	}
}

