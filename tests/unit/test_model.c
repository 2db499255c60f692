/*
 * model/: what is understood of a GGUF file's tensors and keys, what is
 * refused, and what the fingerprint does and does not depend on.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "unit.h"

static struct cl_err err;

static struct cl_model *
open_out(struct gout *o)
{
	struct cl_model *m;
	char path[64] = "/tmp/cl-test-model.XXXXXX";
	int fd = mkstemp(path);

	assert(fd != -1);
	(void)close(fd);
	(void)gout_write(o, path);
	memset(&err, 0, sizeof(err));
	m = cl_model_open(path, &err);
	(void)unlink(path);
	gout_free(o);
	assert((m == NULL) == (err.code != CL_OK));
	assert(m != NULL || strncmp(err.msg, path, strlen(path)) == 0);
	return (m);
}

static struct cl_model *
accepted(struct gout *o)
{
	struct cl_model *m = open_out(o);

	if (m == NULL)
		fprintf(stderr, "%s\n", err.msg);
	assert(m != NULL);
	return (m);
}

static void
refused(struct gout *o, int code, const char *words)
{

	assert(open_out(o) == NULL);
	if (err.code != code || strstr(err.msg, words) == NULL)
		fprintf(stderr, "code %d: %s\nwanted %d: %s\n", err.code,
		    err.msg, code, words);
	assert(err.code == code && strstr(err.msg, words) != NULL);
}

enum { EMBD = 64, FF = 32 };		/* q8_0: 68 and 34 bytes a row */

#define GATE_BYTES	(FF * (EMBD / 32) * 34)
#define DOWN_BYTES	(EMBD * (FF / 32) * 34)
#define EXPERT_BYTES	(2 * GATE_BYTES + DOWN_BYTES)

/* Keys of a model of nlayers, but for those of experts. */
static void
start(struct gout *o, uint32_t nlayers)
{

	gout_init(o);
	gout_str(o, "general.architecture", "m");
	gout_str(o, "general.name", "a model");
	gout_u32(o, "m.block_count", nlayers);
	(void)gout_tensor(o, "token_embd.weight", GOUT_T_F32, 2, EMBD, 4, 1);
}

static struct gout_tensor *
block(struct gout *o, uint32_t layer, const char *part, uint32_t type,
    uint32_t ndims, uint64_t ne0, uint64_t ne1, uint64_t ne2)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "blk.%u.%s", layer, part);
	return (gout_tensor(o, name, type, ndims, ne0, ne1, ne2));
}

static void
fill_state(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	float f;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		f = (float)(t->state + (off + i) / 4);
		memcpy(p + i, &f, 4);
	}
}

static void
router(struct gout *o, uint32_t layer, uint64_t n)
{
	struct gout_tensor *t = block(o, layer, "ffn_gate_inp.weight",
	    GOUT_T_F32, 2, EMBD, n, 1);

	t->fill = fill_state;
	t->state = layer;
}

static void
moe(struct gout *o, uint32_t layer, uint64_t n, uint32_t type)
{

	router(o, layer, n);
	(void)block(o, layer, "ffn_gate_exps.weight", type, 3, EMBD, FF, n);
	(void)block(o, layer, "ffn_up_exps.weight", type, 3, EMBD, FF, n);
	(void)block(o, layer, "ffn_down_exps.weight", type, 3, FF, EMBD, n);
}

static void
dense(struct gout *o, uint32_t layer)
{

	(void)block(o, layer, "ffn_up.weight", GOUT_T_F32, 2, EMBD, FF, 1);
}

static void
counts(struct gout *o, uint32_t n, uint32_t k)
{

	gout_u32(o, "m.expert_count", n);
	gout_u32(o, "m.expert_used_count", k);
}

/* Two layers of 8 experts, k 2. */
static void
two(struct gout *o)
{

	start(o, 2);
	counts(o, 8, 2);
	moe(o, 0, 8, GOUT_T_Q8_0);
	moe(o, 1, 8, GOUT_T_Q8_0);
}

/* One layer of 8 experts with k as given. */
static void
one(struct gout *o, uint32_t k)
{

	start(o, 1);
	counts(o, 8, k);
	moe(o, 0, 8, GOUT_T_Q8_0);
}

static struct gout_tensor *
find(struct gout *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->nt; i++)
		if (strcmp(o->t[i].name, name) == 0)
			return (&o->t[i]);
	return (NULL);
}

static void
drop(struct gout *o, const char *name)
{

	(void)snprintf(find(o, name)->name, 8, "unused");
	find(o, "unused")->nname = 6;
}

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

static struct cl_model *
by_hand(void)
{
	struct cl_model *m = cl_model_new(2, &err);
	struct cl_layer *l;

	assert(m != NULL);
	m->shards = calloc(1, sizeof(*m->shards));
	m->nshards = 1;
	m->shards[0].nbytes = 1000;
	l = &m->layers[1];
	l->nexperts = 4;
	l->k = 2;
	cl_rule_init(&l->rule, 4, 2);
	l->slabs = calloc(CL_MODEL_SLABS_MAX + 1, sizeof(*l->slabs));
	l->nslabs = 1;
	l->slabs[0] = (struct cl_slab){ .kind = CL_SLAB_UP, .off = 600,
	    .stride = 100, .nbytes = 100 };
	l->expert_bytes = 100;
	return (m);
}

static int
check(struct cl_model *m)
{
	int status;

	memset(&err, 0, sizeof(err));
	status = cl_model_check(m, &err);
	cl_model_free(m);
	return (status);
}

static void
a_check_holds_every_bound_of_slabs(void)
{
	struct cl_model *m;

	assert(check(by_hand()) == CL_OK);
	m = by_hand();
	m->shards[0].nbytes = 999;
	assert(check(m) == CL_EFORMAT);
	assert(strstr(err.msg, "layer 1: up: 4 experts 100 bytes apart at "
	    "byte 600 do not lie inside shard 0 of 1") != NULL);
	m = by_hand();
	m->layers[1].slabs[0].shard = 1;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].slabs[0].stride = UINT64_MAX / 3 + 1;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].slabs[0].stride = 99;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].slabs[0].off = UINT64_MAX;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].slabs[0].nbytes = m->layers[1].expert_bytes = 0;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].slabs[0].kind = 5;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].expert_bytes = 101;
	assert(check(m) == CL_EFORMAT);
}

static void
a_check_holds_every_bound_of_layers_and_sums(void)
{
	struct cl_model *m;

	m = by_hand();
	m->layers[1].k = 3;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[0].k = 1;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->layers[1].extra = true;
	assert(check(m) == CL_ENOTSUP);
	m = by_hand();				/* bytes not known: no slabs */
	m->layers[1].nslabs = 0;
	m->layers[1].expert_bytes = 0;
	assert(check(m) == CL_OK);
	m = by_hand();
	m->layers[1].nslabs = CL_MODEL_SLABS_MAX + 1;
	assert(check(m) == CL_EFORMAT);
	m = by_hand();
	m->nlayers = 0;
	assert(cl_model_check(m, NULL) == CL_EFORMAT);
	m->nlayers = 2;
	m->layers[0].dense = calloc(1, sizeof(*m->layers[0].dense));
	m->layers[0].ndense = 1;
	m->layers[0].dense[0].off = 999;
	m->layers[0].dense[0].nbytes = 1;
	assert(cl_model_check(m, NULL) == CL_OK);
	m->layers[0].dense[0].nbytes = 2;
	assert(check(m) == CL_EFORMAT);
	assert(strstr(err.msg, "layer 0: a tensor of 2 bytes at byte 999") !=
	    NULL);
	m = by_hand();				/* sums */
	m->layers[1].nslabs = 0;
	m->layers[1].expert_bytes = INT64_MAX / 4;
	assert(cl_model_check(m, NULL) == CL_OK);
	m->layers[1].expert_bytes++;
	assert(check(m) == CL_EFORMAT);
}

static struct cl_model *
with_places(struct cl_place last)
{
	struct cl_model *m = by_hand();
	struct cl_slab *s = m->layers[1].slabs;

	s->off = s->stride = 0;
	s->places = calloc(4, sizeof(*s->places));
	assert(s->places != NULL);
	s->places[3] = last;
	return (m);
}

static void
a_check_looks_at_every_place(void)
{
	struct cl_model *m;

	assert(check(with_places((struct cl_place){ 0, 900 })) == CL_OK);
	assert(check(with_places((struct cl_place){ 0, 901 })) == CL_EFORMAT);
	assert(strstr(err.msg, "layer 1: up: expert 3, 100 bytes at byte 901, "
	    "does not lie inside shard 0 of 1") != NULL);
	assert(check(with_places((struct cl_place){ 1, 0 })) == CL_EFORMAT);
	assert(check(with_places((struct cl_place){ 0, UINT64_MAX })) ==
	    CL_EFORMAT);
	m = with_places((struct cl_place){ 0, 900 });
	m->layers[1].slabs[0].stride = 100;
	assert(check(m) == CL_EFORMAT);
}

static void
slab_kinds_have_names(void)
{

	assert(strcmp(cl_model_slab_name(CL_SLAB_GATE_UP), "gate_up") == 0);
	assert(cl_model_slab_name(0) == NULL && cl_model_slab_name(5) == NULL);
	assert(cl_model_slab_by_name("down") == CL_SLAB_DOWN);
	assert(cl_model_slab_by_name("sideways") == 0);
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
	{ "a check holds every bound of slabs",
	    a_check_holds_every_bound_of_slabs },
	{ "a check holds every bound of layers and sums",
	    a_check_holds_every_bound_of_layers_and_sums },
	{ "a check looks at every place of an expert",
	    a_check_looks_at_every_place },
	{ "slab kinds have names", slab_kinds_have_names },
};

UNIT_MAIN(units)
