/*
 * model/: what is understood of a GGUF file's tensors and keys, and what is
 * refused.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/model.h"
#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "model_make.h"
#include "unit.h"

static void
slabs_lie_where_the_tensors_do(void)
{
	struct gout o;
	struct cl_model *m;
	const struct cl_layer *l;
	uint64_t base, first;

	two(&o);
	(void)block(&o, 0, "attn_q.weight", GOUT_T_F32, 2, EMBD, 8, 1);
	first = find(&o, "blk.1.ffn_gate_exps.weight")->off;
	base = (uint64_t)o.data;
	m = accepted(&o);
	base = m->shards[0].nbytes - base;
	assert(strcmp(m->name, "a model") == 0 && strcmp(m->arch, "m") == 0);
	assert(m->nshards == 1 && m->nlayers == 2);
	l = &m->layers[1];
	assert(l->nexperts == 8 && l->k == 2 && l->nslabs == 3 && !l->extra);
	assert(l->slabs[0].kind == CL_SLAB_GATE &&
	    l->slabs[0].off == base + first &&
	    l->slabs[0].nbytes == GATE_BYTES &&
	    l->slabs[0].stride == GATE_BYTES && l->slabs[0].type == 8);
	assert(l->slabs[1].kind == CL_SLAB_UP &&
	    l->slabs[1].off == base + first + 8 * GATE_BYTES);
	assert(l->slabs[2].kind == CL_SLAB_DOWN &&
	    l->slabs[2].nbytes == DOWN_BYTES);
	assert(l->expert_bytes == EXPERT_BYTES);
	assert(l->ndense == 1 && l->dense[0].nbytes == EMBD * 8 * 4);
	assert(m->layers[0].ndense == 2);
	assert(m->ndense == 1 && m->dense[0].nbytes == EMBD * 4 * 4);
	cl_model_free(m);
}

/* Read at off + e x stride, the bytes of every expert are its own. */
static void
slabs_hold_the_bytes_of_their_expert(void)
{
	static const char *const names[] = { "blk.0.ffn_gate_exps.weight",
	    "blk.0.ffn_up_exps.weight", "blk.0.ffn_down_exps.weight" };
	char path[64] = "/tmp/cl-test-model.XXXXXX";
	uint8_t buf[GATE_BYTES];
	struct gout o;
	struct gout_tensor *t;
	struct cl_model *m;
	const struct cl_slab *s;
	unsigned kind;
	uint32_t e;
	int fd = mkstemp(path);

	one(&o, 2);
	for (kind = 1; kind <= 3; kind++) {
		t = find(&o, names[kind - 1]);
		t->fill = fill_pattern;
		t->kind = kind;
		t->slab = t->nbytes / 8;
	}
	(void)gout_write(&o, path);
	gout_free(&o);
	m = cl_model_open(path, &err);
	assert(m != NULL && m->layers[0].nslabs == 3);
	for (kind = 1; kind <= 3; kind++)
		for (e = 0; e < 8; e++) {
			s = &m->layers[0].slabs[kind - 1];
			assert(s->nbytes <= sizeof(buf));
			assert(pread(fd, buf, s->nbytes,
			    (off_t)(s->off + e * s->stride)) ==
			    (ssize_t)s->nbytes);
			assert(pattern_holds(buf, s->nbytes, 0, e, kind, 0));
			assert(!pattern_holds(buf, s->nbytes, 0, e + 1, kind,
			    0));
		}
	cl_model_free(m);
	(void)close(fd);
	(void)unlink(path);
}

static void
sums_leave_extra_layers_out(void)
{
	struct gout o;
	struct cl_model *m;
	struct cl_model_sums s;

	start(&o, 3);
	counts(&o, 8, 2);
	gout_u32(&o, "m.nextn_predict_layers", 1);
	dense(&o, 0);
	moe(&o, 1, 8, GOUT_T_Q8_0);
	moe(&o, 2, 8, GOUT_T_Q8_0);
	m = accepted(&o);
	assert(!m->layers[1].extra && m->layers[2].extra);
	cl_model_sums(m, &s);
	assert(s.nmoe == 1 && s.experts == 8 && s.bytes_known);
	assert(s.expert_bytes == 8 * EXPERT_BYTES);
	assert(s.expert_bytes_max == EXPERT_BYTES);
	assert(s.demand_experts == 2 && s.demand_bytes == 2 * EXPERT_BYTES);
	assert(s.dense_bytes == EMBD * 4 * 4 + EMBD * FF * 4 + EMBD * 8 * 4);
	cl_model_free(m);
	start(&o, 2);
	gout_u32(&o, "m.nextn_predict_layers", 2);
	refused(&o, CL_EFORMAT, "m.nextn_predict_layers is 2, of 2 layers");
}

/* Which layers have experts, as "dMMd". */
static void
expect_layers(const char *kinds)
{
	struct gout o;
	struct cl_model *m;
	uint32_t i, n = (uint32_t)strlen(kinds);

	start(&o, n);
	counts(&o, 8, 2);
	for (i = 0; i < n; i++)
		if (kinds[i] == 'M')
			moe(&o, i, 8, GOUT_T_Q8_0);
		else
			dense(&o, i);
	m = accepted(&o);
	assert(m->nlayers == n);
	for (i = 0; i < n; i++) {
		assert((m->layers[i].nexperts == 8) == (kinds[i] == 'M'));
		assert((m->layers[i].k == 2) == (kinds[i] == 'M'));
	}
	cl_model_free(m);
}

static void
dense_layers_keep_their_numbers(void)
{
	struct gout o;

	expect_layers("dddM");
	expect_layers("dMdM");
	expect_layers("MdMd");
	expect_layers("MMMd");
	expect_layers("dMMMMMMMMMMd");		/* blk.10 is not blk.1 */
	start(&o, 2);
	dense(&o, 0);
	dense(&o, 1);
	refused(&o, CL_ENOTSUP, "no MoE layers: none of the 2 layers");
	start(&o, 2);				/* the only experts are extra */
	counts(&o, 8, 2);
	gout_u32(&o, "m.nextn_predict_layers", 1);
	moe(&o, 1, 8, GOUT_T_Q8_0);
	refused(&o, CL_ENOTSUP, "no MoE layers");
}

static void
shared_experts_are_dense(void)
{
	struct gout o;
	struct cl_model *m;

	one(&o, 2);
	(void)block(&o, 0, "ffn_up_shexp.weight", GOUT_T_F32, 2, EMBD, FF, 1);
	(void)block(&o, 0, "ffn_gate_inp_shexp.weight", GOUT_T_F32, 1, EMBD,
	    1, 1);
	m = accepted(&o);
	assert(m->layers[0].nslabs == 3);
	assert(m->layers[0].expert_bytes == EXPERT_BYTES);
	assert(m->layers[0].ndense == 3);
	cl_model_free(m);
}

static void
layers_differ_in_experts_k_and_bytes(void)
{
	static const uint32_t n[] = { 8, 16, 8, 1 }, k[] = { 2, 3, 8, 1 };
	struct gout o;
	struct cl_model *m;
	struct cl_model_sums s;
	uint32_t i;

	start(&o, 4);
	gout_arr_u32(&o, "m.expert_count", GOUT_U32, n, 4);
	gout_arr_u32(&o, "m.expert_used_count", GOUT_I32, k, 4);
	for (i = 0; i < 4; i++)
		moe(&o, i, n[i], i == 1 ? GOUT_T_F16 : GOUT_T_Q8_0);
	m = accepted(&o);
	for (i = 0; i < 4; i++) {
		assert(m->layers[i].nexperts == n[i]);
		assert(m->layers[i].k == k[i] && m->layers[i].rule.k == k[i]);
	}
	assert(m->layers[1].expert_bytes == 3 * EMBD * FF * 2);
	cl_model_sums(m, &s);
	assert(s.experts == 33 && s.demand_experts == 14);
	assert(s.expert_bytes == 17 * EXPERT_BYTES + 16 * 3 * EMBD * FF * 2);
	assert(s.demand_bytes == 11 * EXPERT_BYTES + 3 * 3 * EMBD * FF * 2);
	assert(s.expert_bytes_max == 3 * EMBD * FF * 2);
	cl_model_free(m);
}

/* llama.cpp writes no trailing dimensions of 1. */
static void
a_layer_of_one_expert_may_be_flat(void)
{
	struct gout o;
	struct cl_model *m;

	start(&o, 1);
	counts(&o, 1, 1);
	(void)block(&o, 0, "ffn_gate_inp.weight", GOUT_T_F32, 1, EMBD, 1, 1);
	(void)block(&o, 0, "ffn_up_exps.weight", GOUT_T_Q8_0, 2, EMBD, FF, 1);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_Q8_0, 2, FF, EMBD,
	    1);
	m = accepted(&o);
	assert(m->layers[0].nexperts == 1 && m->layers[0].nslabs == 2);
	assert(m->layers[0].expert_bytes == GATE_BYTES + DOWN_BYTES);
	cl_model_free(m);
}

static void
new_types_have_their_bytes(void)
{
	struct gout o;
	struct cl_model *m;

	start(&o, 2);
	counts(&o, 4, 1);
	router(&o, 0, 4);
	(void)block(&o, 0, "ffn_up_exps.weight", GOUT_T_MXFP4, 3, 64, 2, 4);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_NVFP4, 3, 64, 3, 4);
	moe(&o, 1, 4, GOUT_T_Q8_0);
	m = accepted(&o);
	assert(m->layers[0].slabs[0].nbytes == 2 * 2 * 17);
	assert(m->layers[0].slabs[1].nbytes == 3 * 36);
	cl_model_free(m);
}

static void
unknown_types_matter_in_experts_only(void)
{
	struct gout o;
	struct cl_model *m;

	one(&o, 2);
	(void)block(&o, 0, "attn_q.weight", 200, 2, EMBD, 8, 1);
	m = accepted(&o);
	assert(m->layers[0].ndense == 2);
	assert(m->layers[0].dense[0].nbytes == EMBD * 8);
	cl_model_free(m);
	start(&o, 1);
	counts(&o, 8, 2);
	moe(&o, 0, 8, 200);
	refused(&o, CL_ENOTSUP, "blk.0.ffn_down_exps.weight is of unknown "
	    "type 200");
	one(&o, 2);
	find(&o, "blk.0.ffn_gate_inp.weight")->type = 200;
	refused(&o, CL_ENOTSUP, "blk.0.ffn_gate_inp.weight is of unknown type "
	    "200");
}

static void
fused_gate_and_up_are_one_slab(void)
{
	struct gout o;
	struct cl_model *m;

	start(&o, 2);
	counts(&o, 8, 2);
	router(&o, 0, 8);
	(void)block(&o, 0, "ffn_gate_up_exps.weight", GOUT_T_Q8_0, 3, EMBD,
	    2 * FF, 8);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_Q8_0, 3, FF, EMBD,
	    8);
	moe(&o, 1, 8, GOUT_T_Q8_0);
	m = accepted(&o);
	assert(m->layers[0].nslabs == 2 && m->layers[1].nslabs == 3);
	assert(m->layers[0].slabs[0].kind == CL_SLAB_DOWN);
	assert(m->layers[0].slabs[1].kind == CL_SLAB_GATE_UP &&
	    m->layers[0].slabs[1].nbytes == 2 * GATE_BYTES);
	assert(m->layers[0].expert_bytes == m->layers[1].expert_bytes);
	cl_model_free(m);
	two(&o);
	(void)block(&o, 0, "ffn_gate_up_exps.weight", GOUT_T_Q8_0, 3, EMBD,
	    2 * FF, 8);
	refused(&o, CL_EFORMAT, "ffn_gate_up_exps.weight and its halves");
}

static void
biases_and_scales_go_with_their_expert(void)
{
	struct gout o;
	struct cl_model *m;

	one(&o, 2);
	(void)block(&o, 0, "ffn_gate_exps.bias", GOUT_T_F32, 2, FF, 8, 1);
	(void)block(&o, 0, "ffn_down_exps.bias", GOUT_T_F32, 2, EMBD, 8, 1);
	(void)block(&o, 0, "ffn_up_exps.scale", GOUT_T_F32, 1, 8, 1, 1);
	(void)block(&o, 0, "ffn_up_exps.input_scale", GOUT_T_F32, 1, 1, 1, 1);
	m = accepted(&o);
	assert(m->layers[0].nslabs == 6);
	assert(m->layers[0].slabs[3].kind == CL_SLAB_GATE &&
	    m->layers[0].slabs[3].nbytes == FF * 4 &&
	    m->layers[0].slabs[3].type == 0);
	assert(m->layers[0].slabs[5].kind == CL_SLAB_UP &&
	    m->layers[0].slabs[5].nbytes == 4);
	assert(m->layers[0].expert_bytes == EXPERT_BYTES + FF * 4 + EMBD * 4 +
	    4);
	assert(m->layers[0].ndense == 2);	/* router, input scale */
	cl_model_free(m);
	one(&o, 2);
	(void)block(&o, 0, "ffn_gate_exps.bias", GOUT_T_F32, 2, FF, 7, 1);
	refused(&o, CL_EFORMAT, "ffn_gate_exps.bias holds 7 experts, others "
	    "of layer 0 hold 8");
	one(&o, 2);
	(void)block(&o, 0, "ffn_gate_exps.lora_a", GOUT_T_F32, 2, FF, 8, 1);
	refused(&o, CL_ENOTSUP, "ffn_gate_exps.lora_a: this part of experts");
	one(&o, 2);
	(void)block(&o, 0, "ffn_gate_exps.a\nb", GOUT_T_F32, 2, FF, 8, 1);
	refused(&o, CL_ENOTSUP, "ffn_gate_exps.a?b: this part of experts");
}

static void
second_sets_of_experts_are_refused(void)
{
	struct gout o;

	one(&o, 2);
	(void)block(&o, 0, "ffn_up_chexps.weight", GOUT_T_F32, 3, 8, 8, 4);
	refused(&o, CL_ENOTSUP, "blk.0.ffn_up_chexps.weight: layers with a "
	    "second set of experts");
}

static void
missing_parts_are_named(void)
{
	struct gout o;

	one(&o, 2);
	drop(&o, "blk.0.ffn_down_exps.weight");
	refused(&o, CL_EFORMAT, "no blk.0.ffn_down_exps.weight");
	one(&o, 2);
	drop(&o, "blk.0.ffn_up_exps.weight");
	refused(&o, CL_EFORMAT, "no blk.0.ffn_up_exps.weight");
	one(&o, 2);
	drop(&o, "blk.0.ffn_gate_inp.weight");
	refused(&o, CL_EFORMAT, "no router blk.0.ffn_gate_inp.weight");
	start(&o, 1);
	gout_u32(&o, "m.expert_count", 8);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	refused(&o, CL_EFORMAT, "no key m.expert_used_count");
	gout_init(&o);
	refused(&o, CL_EFORMAT, "no key general.architecture");
	gout_init(&o);
	gout_str(&o, "general.architecture", "m");
	refused(&o, CL_EFORMAT, "no key m.block_count");
	gout_init(&o);
	gout_str(&o, "general.architecture", "");
	refused(&o, CL_EFORMAT, "general.architecture has 0 bytes");
	gout_init(&o);
	gout_str(&o, "general.architecture", "a\nb");
	refused(&o, CL_EFORMAT, "no visible ASCII character");
}

static void
layers_are_1_to_4096(void)
{
	struct gout o;
	struct cl_model *m;

	start(&o, 0);
	refused(&o, CL_EFORMAT, "0 layers; 1 to 4096");
	start(&o, 4097);
	refused(&o, CL_EFORMAT, "4097 layers; 1 to 4096");
	start(&o, 4096);
	counts(&o, 8, 2);
	moe(&o, 4095, 8, GOUT_T_Q8_0);
	m = accepted(&o);
	assert(m->layers[4095].nexperts == 8);
	cl_model_free(m);
	start(&o, 4096);
	counts(&o, 8, 2);
	moe(&o, 4096, 8, GOUT_T_Q8_0);
	refused(&o, CL_EFORMAT, "blk.4096.ffn_down_exps.weight: the model has "
	    "4096 layers");
}

static void
experts_are_counted_alike_everywhere(void)
{
	static const uint32_t three[] = { 8, 8, 8 };
	struct gout o;

	one(&o, 2);
	find(&o, "blk.0.ffn_up_exps.weight")->ne[2] = 7;
	refused(&o, CL_EFORMAT, "hold");
	one(&o, 2);
	find(&o, "blk.0.ffn_gate_inp.weight")->ne[1] = 7;
	refused(&o, CL_EFORMAT, "the router blk.0.ffn_gate_inp.weight scores "
	    "7 experts, and layer 0 has 8");
	start(&o, 1);
	counts(&o, 16, 2);
	moe(&o, 0, 8, GOUT_T_Q8_0);
	refused(&o, CL_EFORMAT, "m.expert_count says 16, and the tensors of "
	    "layer 0 hold 8 experts");
	start(&o, 2);
	gout_arr_u32(&o, "m.expert_count", GOUT_U32, three, 3);
	refused(&o, CL_EFORMAT, "3 entries, and the model 2 layers");
	one(&o, 2);
	find(&o, "blk.0.ffn_up_exps.weight")->ndims = 4;
	find(&o, "blk.0.ffn_up_exps.weight")->ne[2] = 4;
	find(&o, "blk.0.ffn_up_exps.weight")->ne[3] = 2;
	refused(&o, CL_ENOTSUP, "4 dimensions, not split by expert");
}

static void
layers_of_no_experts_are_refused(void)
{
	struct gout o;

	start(&o, 1);
	counts(&o, 0, 0);
	moe(&o, 0, 0, GOUT_T_Q8_0);
	refused(&o, CL_EFORMAT, "holds 0 experts");
	start(&o, 1);				/* experts of no bytes */
	counts(&o, 8, 2);
	router(&o, 0, 8);
	(void)block(&o, 0, "ffn_up_exps.weight", GOUT_T_F32, 3, EMBD, 0, 8);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_F32, 3, EMBD, 1, 8);
	refused(&o, CL_EFORMAT, "8 experts in 0 bytes");
	start(&o, 1);				/* more than ids can say */
	gout_u32(&o, "m.expert_used_count", 2);
	(void)block(&o, 0, "ffn_gate_inp.weight", GOUT_T_F32, 2, 1, 16385, 1);
	(void)block(&o, 0, "ffn_up_exps.weight", GOUT_T_F32, 3, 1, 1, 16385);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_F32, 3, 1, 1,
	    16385);
	refused(&o, CL_EFORMAT, "16385 experts");
	start(&o, 1);
	gout_u32(&o, "m.expert_used_count", 2);
	(void)block(&o, 0, "ffn_gate_inp.weight", GOUT_T_F32, 2, 1, 16384, 1);
	(void)block(&o, 0, "ffn_up_exps.weight", GOUT_T_F32, 3, 1, 1, 16384);
	(void)block(&o, 0, "ffn_down_exps.weight", GOUT_T_F32, 3, 1, 1,
	    16384);
	cl_model_free(accepted(&o));
}

static void
k_is_between_1_and_the_experts(void)
{
	static const uint32_t good[] = { 1, 2, 7, 8 };
	struct gout o;
	struct cl_model *m;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		one(&o, good[i]);
		m = accepted(&o);
		assert(m->layers[0].k == good[i]);
		cl_model_free(m);
	}
	one(&o, 0);
	refused(&o, CL_EFORMAT, "layer 0: k is 0 with 8 experts");
	one(&o, 9);
	refused(&o, CL_EFORMAT, "layer 0: k is 9 with 8 experts");
}

/* Keys that are not used never stop us, whatever they hold. */
static void
other_keys_may_hold_anything(void)
{
	static const uint32_t v[] = { 0, 1, 2 };
	struct gout o;

	one(&o, 2);
	gout_arr_u32(&o, "m.attention.head_count_kv", GOUT_I32, v, 3);
	gout_arr_u32(&o, "m.feed_forward_length", GOUT_U32, v, 2);
	gout_str(&o, "m.context_length", "long");
	gout_arr(&o, "m.rope", GOUT_ARR, 0);
	cl_model_free(accepted(&o));
}

static const struct unit units[] = {
	{ "slabs lie where the tensors do", slabs_lie_where_the_tensors_do },
	{ "slabs hold the bytes of their expert",
	    slabs_hold_the_bytes_of_their_expert },
	{ "sums leave extra prediction layers out",
	    sums_leave_extra_layers_out },
	{ "dense layers keep their numbers, and cannot be all",
	    dense_layers_keep_their_numbers },
	{ "shared experts are dense", shared_experts_are_dense },
	{ "layers differ in experts, k and bytes",
	    layers_differ_in_experts_k_and_bytes },
	{ "a layer of one expert may be flat",
	    a_layer_of_one_expert_may_be_flat },
	{ "mxfp4 and nvfp4 have their bytes", new_types_have_their_bytes },
	{ "unknown types matter in experts and routers only",
	    unknown_types_matter_in_experts_only },
	{ "gate and up fused are one slab", fused_gate_and_up_are_one_slab },
	{ "biases and scales go with their expert",
	    biases_and_scales_go_with_their_expert },
	{ "second sets of experts are refused by name",
	    second_sets_of_experts_are_refused },
	{ "missing parts are named", missing_parts_are_named },
	{ "layers are 1 to 4096", layers_are_1_to_4096 },
	{ "experts are counted alike everywhere, or refused",
	    experts_are_counted_alike_everywhere },
	{ "layers of no experts, or too many, are refused",
	    layers_of_no_experts_are_refused },
	{ "k is between 1 and the number of experts",
	    k_is_between_1_and_the_experts },
	{ "keys that are not used may hold anything",
	    other_keys_may_hold_anything },
};

UNIT_MAIN(units)
