/*
 * model/: the routing rule, which keys and tensors say, and what the
 * fingerprint does and does not depend on.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "model_make.h"
#include "unit.h"

static struct cl_model *
gated(uint32_t gating)
{
	struct gout o;

	one(&o, 2);
	gout_u32(&o, "m.expert_gating_func", gating);
	return (open_out(&o));
}

static void
gating_is_read_or_assumed(void)
{
	static const enum cl_gate want[] = { CL_GATE_SOFTMAX, CL_GATE_SOFTMAX,
	    CL_GATE_SIGMOID, CL_GATE_SOFTMAX_WEIGHT, CL_GATE_SQRT_SOFTPLUS };
	struct cl_model *m;
	const struct cl_rule *r;
	struct gout o;
	uint32_t i;

	for (i = 0; i < 5; i++) {
		m = gated(i);
		assert(m != NULL);
		r = &m->layers[0].rule;
		assert(r->gate == want[i] && r->softmax_w == (i == 3));
		assert(r->norm == (i != 3));
		assert(((r->assumed & CL_RULE_GATE) != 0) == (i == 0));
		cl_model_free(m);
	}
	assert(gated(5) == NULL && err.code == CL_ENOTSUP);
	assert(gated(9) == NULL && err.code == CL_ENOTSUP);
	assert(strstr(err.msg, "m.expert_gating_func is 9") != NULL);
	one(&o, 2);
	m = accepted(&o);
	r = &m->layers[0].rule;
	assert(r->gate == CL_GATE_SOFTMAX && r->select == CL_SELECT_PROBS);
	assert(r->norm && r->scale == 1 && r->ngroup == 1);
	assert(r->assumed == (CL_RULE_GATE | CL_RULE_SELECT | CL_RULE_GROUPS |
	    CL_RULE_NORM | CL_RULE_SCALE));
	cl_model_free(m);
}

static void
the_rule_is_what_keys_and_tensors_say(void)
{
	struct gout o;
	struct cl_model *m;
	struct gout_tensor *t;
	const struct cl_rule *r;

	one(&o, 2);
	gout_u32(&o, "m.expert_gating_func", 2);
	gout_bool(&o, "m.expert_weights_norm", false);
	gout_f32(&o, "m.expert_weights_scale", 2.5f);
	gout_u32(&o, "m.expert_group_count", 4);
	gout_u32(&o, "m.expert_group_used_count", 2);
	t = block(&o, 0, "exp_probs_b.bias", GOUT_T_F32, 1, 8, 1, 1);
	t->fill = fill_state;
	t->state = 10;
	t = block(&o, 0, "ffn_gate_inp.bias", GOUT_T_F32, 1, 8, 1, 1);
	t->fill = fill_state;
	t->state = 20;
	m = accepted(&o);
	r = &m->layers[0].rule;
	assert(!r->norm && r->scale == 2.5f && r->ngroup == 4 &&
	    r->ngroup_used == 2 && r->assumed == CL_RULE_SELECT);
	assert(r->sel_bias != NULL && r->sel_bias[0] == 10 &&
	    r->sel_bias[7] == 17);
	assert(r->gate_bias != NULL && r->gate_bias[7] == 27);
	cl_model_free(m);
	one(&o, 2);
	(void)block(&o, 0, "ffn_gate_tid2eid.weight", 26, 2, 2, 4, 1);
	m = accepted(&o);
	assert(m->layers[0].rule.select == CL_SELECT_TABLE);
	cl_model_free(m);
}

static void
fill_nan(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{

	(void)t;
	(void)off;
	memset(p, 0xff, n);
}

static void
rules_that_cannot_be_are_refused(void)
{
	struct gout o;

	one(&o, 2);
	gout_u32(&o, "m.expert_group_count", 3);
	gout_u32(&o, "m.expert_group_used_count", 1);
	refused(&o, CL_EFORMAT, "layer 0: 1 of 3 groups of 8 experts");
	one(&o, 2);
	gout_u32(&o, "m.expert_group_count", 4);
	gout_u32(&o, "m.expert_group_used_count", 0);
	refused(&o, CL_EFORMAT, "layer 0: 0 of 4 groups");
	one(&o, 2);
	(void)block(&o, 0, "exp_probs_b.bias", GOUT_T_F32, 1, 7, 1, 1);
	refused(&o, CL_EFORMAT, "blk.0.exp_probs_b.bias has 7 weights, and 8 "
	    "are wanted");
	one(&o, 2);
	block(&o, 0, "exp_probs_b.bias", GOUT_T_F32, 1, 8, 1, 1)->fill =
	    fill_nan;
	refused(&o, CL_EFORMAT, "the bias of expert 0 is no number");
	one(&o, 2);
	gout_f32(&o, "m.expert_weights_scale", 1e30f * 1e30f);
	refused(&o, CL_EFORMAT, "layer 0: a scale that is no number");
	one(&o, 2);
	gout_u32(&o, "m.expert_weights_norm", 2);
	refused(&o, CL_EFORMAT, "is not true or false");
}

static uint64_t
fingerprint(struct gout *o)
{
	struct cl_model *m = accepted(o);
	uint64_t f = m->fingerprint;

	assert(f != 0);
	cl_model_free(m);
	return (f);
}

static void
add_tensor(struct cl_hash *h, const char *name, uint64_t type, uint64_t ne0,
    uint64_t ne1)
{

	cl_hash_add_str(h, name);
	cl_hash_add_u64(h, type);
	cl_hash_add_u64(h, ne0);
	cl_hash_add_u64(h, ne1);
	cl_hash_add_u64(h, 1);
	cl_hash_add_u64(h, 1);
}

static void
add_numbers(struct cl_hash *h, const uint64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		cl_hash_add_u64(h, v[i]);
}

/* The model of two(), from the definition in cl-trace(5). */
static void
the_fingerprint_is_as_defined(void)
{
	static const uint64_t layers[] = { 2, 8, 2, 0, 8, 2, 0 };
	static const uint64_t keys[] = { 0, 0, 0, 0, 0 };
	static const uint64_t parts[] = { 0, 8, 3, 1, 8, EMBD, FF, 2, 8, EMBD,
	    FF, 3, 8, FF, EMBD };
	struct gout o;
	struct cl_hash h;
	uint64_t layer, i;
	float f;

	cl_hash_init(&h);
	cl_hash_add_str(&h, "cl-model-1");
	cl_hash_add_str(&h, "m");
	add_numbers(&h, layers, 7);
	add_numbers(&h, keys, 5);
	add_tensor(&h, "blk.0.ffn_gate_inp.weight", 0, EMBD, 8);
	add_tensor(&h, "blk.1.ffn_gate_inp.weight", 0, EMBD, 8);
	add_tensor(&h, "token_embd.weight", 0, EMBD, 4);
	for (layer = 0; layer < 2; layer++) {
		cl_hash_add_u64(&h, layer);
		add_numbers(&h, parts, 15);
	}
	for (layer = 0; layer < 2; layer++) {
		cl_hash_add_u64(&h, EMBD * 8 * 4);
		for (i = 0; i < EMBD * 8; i++) {
			f = (float)(layer + i);		/* as router() does */
			cl_hash_add(&h, &f, 4);
		}
		cl_hash_add_u64(&h, 0);
		cl_hash_add_u64(&h, 0);
	}
	two(&o);
	assert(fingerprint(&o) == cl_hash_end(&h));
}

static void
the_layout_is_no_part_of_the_fingerprint(void)
{
	struct gout o;
	uint64_t want;

	two(&o);
	want = fingerprint(&o);
	two(&o);				/* other keys, version */
	gout_str(&o, "general.license", "cc0");
	o.version = 2;
	assert(fingerprint(&o) == want);
	start(&o, 2);				/* another order */
	moe(&o, 1, 8, GOUT_T_Q8_0);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	counts(&o, 8, 2);
	assert(fingerprint(&o) == want);
	gout_init(&o);				/* another alignment */
	o.align = 4096;
	gout_u32(&o, "general.alignment", 4096);
	gout_str(&o, "general.architecture", "m");
	gout_u32(&o, "m.block_count", 2);
	counts(&o, 8, 2);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	(void)gout_tensor(&o, "token_embd.weight", GOUT_T_F32, 2, EMBD, 4, 1);
	router(&o, 1, 8);			/* one layer fused */
	(void)block(&o, 1, "ffn_gate_up_exps.weight", GOUT_T_Q8_0, 3, EMBD,
	    2 * FF, 8);
	(void)block(&o, 1, "ffn_down_exps.weight", GOUT_T_Q8_0, 3, FF, EMBD,
	    8);
	assert(fingerprint(&o) == want);
}

static void
routing_is_part_of_the_fingerprint(void)
{
	uint64_t f[12];
	struct gout o;
	size_t n = 0, i;

	two(&o);
	f[n++] = fingerprint(&o);
	two(&o);				/* one weight of one router */
	find(&o, "blk.1.ffn_gate_inp.weight")->state = 0;
	f[n++] = fingerprint(&o);
	two(&o);
	gout_u32(&o, "m.expert_gating_func", 1);
	f[n++] = fingerprint(&o);
	two(&o);
	gout_bool(&o, "m.expert_weights_norm", true);
	f[n++] = fingerprint(&o);
	two(&o);
	gout_f32(&o, "m.expert_weights_scale", 1);
	f[n++] = fingerprint(&o);
	two(&o);
	gout_u32(&o, "m.expert_group_count", 1);
	f[n++] = fingerprint(&o);
	two(&o);				/* a bias of zeros is a bias */
	(void)block(&o, 1, "exp_probs_b.bias", GOUT_T_F32, 1, 8, 1, 1);
	f[n++] = fingerprint(&o);
	two(&o);				/* and another one another */
	block(&o, 1, "exp_probs_b.bias", GOUT_T_F32, 1, 8, 1, 1)->fill =
	    fill_state;
	f[n++] = fingerprint(&o);
	two(&o);
	(void)block(&o, 1, "attn_q.weight", GOUT_T_F32, 2, EMBD, 8, 1);
	f[n++] = fingerprint(&o);
	start(&o, 2);				/* another quantisation */
	counts(&o, 8, 2);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	moe(&o, 1, 8, GOUT_T_F16);
	f[n++] = fingerprint(&o);
	start(&o, 2);				/* another k */
	counts(&o, 8, 3);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	moe(&o, 1, 8, GOUT_T_Q8_0);
	f[n++] = fingerprint(&o);
	for (; n > 0; n--)
		for (i = 0; i + 1 < n; i++)
			assert(f[i] != f[n - 1]);
}

static const struct unit units[] = {
	{ "the gating function is read, or assumed and said so",
	    gating_is_read_or_assumed },
	{ "the rule is what keys and tensors say",
	    the_rule_is_what_keys_and_tensors_say },
	{ "rules that cannot be are refused",
	    rules_that_cannot_be_are_refused },
	{ "the fingerprint is as defined", the_fingerprint_is_as_defined },
	{ "the layout is no part of the fingerprint",
	    the_layout_is_no_part_of_the_fingerprint },
	{ "routing is part of the fingerprint",
	    routing_is_part_of_the_fingerprint },
};

UNIT_MAIN(units)
