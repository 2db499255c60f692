/*
 * model/: the same weights in any layout are the same model: experts in one
 * tensor or in one each, gate and up fused or apart, in one file or in
 * shards.  What is missing, doubled or of another model is named.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/model.h"
#include "unit.h"

#define EMBD	64
#define FF	32
#define NLAYERS	3			/* 0 is dense */
#define BIAS	5			/* kind of the down bias, in patterns */
#define NSHARDS	3

static const uint64_t nexperts[NLAYERS] = { 0, 12, 5 };

enum layout { STACKED, FUSED, EACH };

static char dir[64];
static char path[128];
static struct cl_err err;

static const char	*in_dir(const char *, ...)
			    __attribute__((format(printf, 1, 2)));

/* dir and a name in it */
static const char *
in_dir(const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(path, sizeof(path), "%s/", dir);

	va_start(ap, fmt);
	(void)vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	return (path);
}

static const char *
shard(uint32_t no)
{

	return (in_dir("m-%05u-of-%05u.gguf", no, NSHARDS));
}

static void
make_dir(void)
{

	strcpy(dir, "/tmp/cl-test-layout.XXXXXX");
	assert(mkdtemp(dir) != NULL);
	memset(&err, 0, sizeof(err));
}

static void
drop_dir(void)
{
	uint32_t i;

	for (i = 1; i <= NSHARDS; i++)
		(void)unlink(shard(i));
	(void)unlink(in_dir("m.gguf"));
	assert(rmdir(dir) == 0);
}

/* A tensor of layer's experts from first on, n of them, patterned. */
static void
part(struct gout *o, uint32_t layer, const char *name, unsigned kind,
    uint32_t first, uint64_t n, uint32_t ndims, uint64_t ne0, uint64_t ne1)
{
	struct gout_tensor *t;
	char full[128];

	(void)snprintf(full, sizeof(full), "blk.%u.%s", layer, name);
	t = gout_tensor(o, full, kind == BIAS ? GOUT_T_F32 : GOUT_T_Q8_0,
	    ndims, ne0, ne1, ndims == 3 ? n : 1);
	t->fill = fill_pattern;
	t->layer = layer;
	t->kind = kind;
	t->expert = first;
	t->slab = t->nbytes / n;
}

static void
one_each(struct gout *o, uint32_t layer, uint32_t expert)
{
	static const struct {
		const char	*name, *suffix;
		uint64_t	 ne0, ne1;
		uint32_t	 ndims;
	} parts[] = {
		{ "gate", "weight", EMBD, FF, 2 },
		{ "up", "weight", EMBD, FF, 2 },
		{ "down", "weight", FF, EMBD, 2 },
		{ NULL, NULL, 0, 0, 0 },
		{ "down", "bias", EMBD, 1, 1 },
	};
	char name[64];
	unsigned kind;

	for (kind = 1; kind <= BIAS; kind++) {
		if (parts[kind - 1].name == NULL)
			continue;
		(void)snprintf(name, sizeof(name), "ffn_%s.%u.%s",
		    parts[kind - 1].name, expert, parts[kind - 1].suffix);
		part(o, layer, name, kind, expert, 1, parts[kind - 1].ndims,
		    parts[kind - 1].ne0, parts[kind - 1].ne1);
	}
}

static void
router(struct gout *o, uint32_t layer, uint64_t n)
{
	struct gout_tensor *t;
	char name[64];

	(void)snprintf(name, sizeof(name), "blk.%u.ffn_gate_inp.weight",
	    layer);
	t = gout_tensor(o, name, GOUT_T_F32, 2, EMBD, n, 1);
	t->fill = fill_random;
	t->scale = 1;
	t->state = layer;
}

static void
moe(struct gout *o, uint32_t layer, enum layout layout)
{
	uint64_t n = nexperts[layer];
	uint32_t e;

	router(o, layer, n);
	if (layout == EACH) {		/* in no order */
		for (e = 0; e < n; e++)
			one_each(o, layer, (e * 7 + 3) % (uint32_t)n);
		return;
	}
	if (layout == FUSED && layer == 1) {
		part(o, layer, "ffn_gate_up_exps.weight", 4, 0, n, 3, EMBD,
		    2 * FF);
	} else {
		part(o, layer, "ffn_gate_exps.weight", 1, 0, n, 3, EMBD, FF);
		part(o, layer, "ffn_up_exps.weight", 2, 0, n, 3, EMBD, FF);
	}
	part(o, layer, "ffn_down_exps.weight", 3, 0, n, 3, FF, EMBD);
	part(o, layer, "ffn_down_exps.bias", BIAS, 0, n, 2, EMBD, n);
}

static void
build(struct gout *o, enum layout layout)
{
	static const uint32_t used[NLAYERS] = { 0, 3, 2 };
	uint32_t count[NLAYERS], i;

	for (i = 0; i < NLAYERS; i++)
		count[i] = (uint32_t)nexperts[i];
	gout_init(o);
	gout_str(o, "general.architecture", "m");
	gout_str(o, "general.name", "a model");
	gout_u32(o, "m.block_count", NLAYERS);
	gout_arr_u32(o, "m.expert_count", GOUT_U32, count, NLAYERS);
	gout_arr_u32(o, "m.expert_used_count", GOUT_U32, used, NLAYERS);
	(void)gout_tensor(o, "token_embd.weight", GOUT_T_F32, 2, EMBD, 4, 1);
	(void)gout_tensor(o, "blk.0.ffn_up.weight", GOUT_T_F32, 2, EMBD, FF,
	    1);
	for (i = 1; i < NLAYERS; i++)
		moe(o, i, layout);
}

static struct gout_tensor *
find(struct gout *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->nt && strcmp(o->t[i].name, name) != 0; i++)
		;
	assert(i < o->nt);
	return (&o->t[i]);
}

static void
rename_tensor(struct gout *o, const char *name, const char *to)
{
	struct gout_tensor *t = find(o, name);

	t->nname = (size_t)snprintf(t->name, sizeof(t->name), "%s", to);
}

/* In one file, or in shards of which a later one is given. */
static struct cl_model *
open_as(enum layout layout, bool split)
{
	struct cl_model *m;
	struct gout o;

	build(&o, layout);
	if (split) {
		gout_write_split(&o, in_dir("m"), NSHARDS);
		m = cl_model_open(shard(2), &err);
	} else {
		(void)gout_write(&o, in_dir("m.gguf"));
		m = cl_model_open(path, &err);
	}
	gout_free(&o);
	if (m == NULL)
		fprintf(stderr, "%s\n", err.msg);
	assert(m != NULL && m->nshards == (split ? NSHARDS : 1));
	return (m);
}

/* Slabs are in the order of their kinds, weights before biases. */
static void
check_expert(const struct cl_layer *l, uint32_t layer, uint32_t expert,
    const uint8_t *p)
{
	size_t half = FF * (EMBD / 32) * 34;
	const struct cl_slab *s;

	for (s = l->slabs; s < l->slabs + l->nslabs; p += s++->nbytes) {
		if (s->kind == CL_SLAB_GATE_UP) {
			assert(s->nbytes == 2 * half);
			assert(pattern_holds(p, half, layer, expert, 1, 0));
			assert(pattern_holds(p + half, half, layer, expert, 2,
			    0));
			continue;
		}
		assert(pattern_holds(p, s->nbytes, layer, expert,
		    s->type == GOUT_T_F32 ? BIAS : s->kind, 0));
	}
}

/* Every expert, read as a replay does, has its own bytes. */
static void
check_bytes(const struct cl_model *m)
{
	struct cl_device_options o = { .nslots = 1, .stride = 8192 };
	struct cl_io_job job = { 0 };
	struct cl_device *d = cl_device_new(m, &o, &err);
	uint32_t layer, e;

	assert(d != NULL);
	for (layer = 0; layer < m->nlayers; layer++)
		for (e = 0; e < m->layers[layer].nexperts; e++) {
			cl_device_read(d, &job, layer, e, cl_device_slot(d, 0),
			    CL_IO_DEMAND);
			assert(cl_device_wait(d, &job, layer, e, &err) ==
			    CL_OK);
			check_expert(&m->layers[layer], layer, e,
			    cl_device_slot(d, 0));
		}
	cl_device_free(d);
}

static void
same_model(const struct cl_model *a, const struct cl_model *b)
{
	struct cl_model_sums x, y;
	uint32_t i;

	assert(a->fingerprint == b->fingerprint && a->nlayers == b->nlayers);
	cl_model_sums(a, &x);
	cl_model_sums(b, &y);
	assert(x.experts == y.experts && x.expert_bytes == y.expert_bytes &&
	    x.demand_bytes == y.demand_bytes &&
	    x.dense_bytes == y.dense_bytes);
	for (i = 0; i < a->nlayers; i++) {
		assert(a->layers[i].nexperts == b->layers[i].nexperts);
		assert(a->layers[i].k == b->layers[i].k);
		assert(a->layers[i].expert_bytes == b->layers[i].expert_bytes);
		assert(a->layers[i].ndense == b->layers[i].ndense);
	}
}

static void
any_layout_is_the_same_model(void)
{
	struct cl_model *first, *m;
	int layout, split;

	make_dir();
	first = open_as(STACKED, false);
	assert(first->layers[1].nexperts == 12 && first->layers[1].k == 3);
	assert(first->layers[2].nexperts == 5 && first->layers[2].k == 2);
	for (layout = STACKED; layout <= EACH; layout++)
		for (split = 0; split < 2; split++) {
			m = open_as((enum layout)layout, split != 0);
			same_model(first, m);
			check_bytes(m);
			cl_model_free(m);
		}
	cl_model_free(first);
	drop_dir();
}

static void
experts_may_lie_in_any_shard(void)
{
	struct cl_model *m;
	const struct cl_slab *s;
	uint32_t e, seen = 0;

	make_dir();
	m = open_as(EACH, true);
	s = &m->layers[1].slabs[0];
	assert(m->layers[1].nslabs == 4 && s->places != NULL);
	for (e = 0; e < 12; e++)
		seen |= 1u << cl_model_place(s, e).shard;
	assert((seen & (seen - 1)) != 0);	/* not one shard alone */
	cl_model_free(m);
	drop_dir();
}

static void
refused(const char *given, int code, const char *words)
{

	memset(&err, 0, sizeof(err));
	assert(cl_model_open(given, &err) == NULL);
	if (err.code != code || strstr(err.msg, words) == NULL)
		fprintf(stderr, "code %d: %s\nwanted %d: %s\n", err.code,
		    err.msg, code, words);
	assert(err.code == code && strstr(err.msg, words) != NULL);
}

/* The model in one file, with experts in a tensor each, after a change. */
static void
refused_each(const char *name, const char *to, const char *words)
{
	struct gout o;

	make_dir();
	build(&o, EACH);
	rename_tensor(&o, name, to);
	(void)gout_write(&o, in_dir("m.gguf"));
	gout_free(&o);
	refused(in_dir("m.gguf"), CL_EFORMAT, words);
	drop_dir();
}

static void
a_missing_expert_is_named(void)
{

	refused_each("blk.1.ffn_up.3.weight", "other",
	    "no blk.1.ffn_up.3.weight, and there is blk.1.ffn_up.4.weight");
	refused_each("blk.1.ffn_gate.0.weight", "other",
	    "no blk.1.ffn_gate.0.weight, and there is");
	refused_each("blk.1.ffn_down.11.weight", "other",
	    "no blk.1.ffn_down.11.weight, and there is "
	    "blk.1.ffn_down.10.weight");
	refused_each("blk.2.ffn_down.2.bias", "other",
	    "no blk.2.ffn_down.2.bias, and there is");
	refused_each("blk.1.ffn_up.3.weight", "blk.1.ffn_up.03.weight",
	    "no blk.1.ffn_up.3.weight, and there is");
	refused_each("token_embd.weight", "blk.1.ffn_up.12.weight",
	    "the tensor blk.1.ffn_up.12.weight: the router scores 12");
	refused_each("token_embd.weight", "blk.1.ffn_up.999999999.weight",
	    "the router scores 12 experts");
	refused_each("token_embd.weight", "blk.0.ffn_up.0.weight",
	    "layer 0 has experts, but no blk.0.ffn_down_exps.weight");
	refused_each("token_embd.weight", "blk.1.ffn_up_exps.weight",
	    "blk.1.ffn_up_exps.weight has all experts, and "
	    "blk.1.ffn_up.0.weight one of them again");
}

/* The tensor becomes one of another type and shape, as large or smaller. */
static void
refused_shape(const char *name, uint32_t type, uint32_t ndims, uint64_t ne0,
    uint64_t ne1, uint64_t ne2, const char *words)
{
	struct gout_tensor *t;
	struct gout o;

	make_dir();
	build(&o, EACH);
	t = find(&o, name);
	t->type = type;
	t->ndims = ndims;
	t->ne[0] = ne0;
	t->ne[1] = ne1;
	t->ne[2] = ne2;
	(void)gout_write(&o, in_dir("m.gguf"));
	gout_free(&o);
	refused(in_dir("m.gguf"), CL_ENOTSUP, words);
	drop_dir();
}

static void
experts_of_a_layer_are_alike(void)
{

	refused_shape("blk.1.ffn_up.3.weight", GOUT_T_Q4_0, 2, EMBD, FF, 1,
	    "the tensors blk.1.ffn_up.0.weight and blk.1.ffn_up.3.weight "
	    "differ in type or shape");
	refused_shape("blk.1.ffn_up.3.weight", GOUT_T_Q8_0, 2, EMBD, FF / 2, 1,
	    "blk.1.ffn_up.3.weight differ in type or shape");
	refused_shape("blk.1.ffn_up.0.weight", GOUT_T_Q8_0, 3, EMBD, FF / 2, 2,
	    "blk.1.ffn_up.0.weight: 3 dimensions and 2176 bytes, not those of "
	    "one expert");
	refused_shape("blk.1.ffn_down.0.bias", GOUT_T_F32, 2, EMBD / 2, 2, 1,
	    "blk.1.ffn_down.0.bias: 2 dimensions");
	refused_shape("blk.1.ffn_down.0.weight", 200, 2, FF, EMBD, 1,
	    "blk.1.ffn_down.0.weight is of unknown type 200");
}

static void
unknown_parts_of_one_expert_are_refused(void)
{
	struct gout o;

	make_dir();
	build(&o, EACH);
	rename_tensor(&o, "token_embd.weight", "blk.1.ffn_up.0.lora_a");
	(void)gout_write(&o, in_dir("m.gguf"));
	gout_free(&o);
	refused(in_dir("m.gguf"), CL_ENOTSUP,
	    "blk.1.ffn_up.0.lora_a: this part of experts");
	drop_dir();
}

static void
write_shards(const char *stem)
{
	struct gout o;

	build(&o, STACKED);
	gout_write_split(&o, in_dir("%s", stem), NSHARDS);
	gout_free(&o);
}

static void
any_shard_finds_the_others(void)
{
	struct cl_model *m;
	uint32_t i, j;

	make_dir();
	write_shards("m");
	for (i = 1; i <= NSHARDS; i++) {
		m = cl_model_open(shard(i), &err);
		assert(m != NULL && m->nshards == NSHARDS);
		for (j = 1; j <= NSHARDS; j++)
			assert(strcmp(m->shards[j - 1].path, shard(j)) == 0);
		cl_model_free(m);
	}
	drop_dir();
}

static void
a_missing_shard_is_named(void)
{
	char words[400], first[128];

	make_dir();
	write_shards("m");
	strcpy(first, shard(1));
	assert(unlink(shard(3)) == 0);
	(void)snprintf(words, sizeof(words), "%s: shard 3 of 3: %s: cannot "
	    "open: No such file or directory", first, shard(3));
	refused(first, CL_EIO, words);
	drop_dir();
}

static void
a_name_that_is_no_shards_is_refused(void)
{
	char to[128];

	make_dir();
	write_shards("m");
	strcpy(to, in_dir("m.gguf"));
	assert(rename(shard(2), to) == 0);
	refused(to, CL_EINVAL, "m.gguf: shard 2 of 3 by its keys: its name "
	    "must end in -00002-of-00003.gguf, so that the others are found");
	drop_dir();
}

static void
a_split_of_one_file_may_have_any_name(void)
{
	struct cl_model *m;
	struct gout o;

	make_dir();
	build(&o, STACKED);
	gout_split_keys(&o, 0, 1, o.nt);
	(void)gout_write(&o, in_dir("m.gguf"));
	gout_free(&o);
	m = cl_model_open(in_dir("m.gguf"), &err);
	assert(m != NULL && m->nshards == 1);
	cl_model_free(m);
	drop_dir();
}

static void
refused_keys(const char *key, uint32_t v, const char *key2, uint32_t v2,
    const char *words)
{
	struct gout o;

	make_dir();
	build(&o, STACKED);
	gout_u32(&o, key, v);
	if (key2 != NULL)
		gout_u32(&o, key2, v2);
	(void)gout_write(&o, in_dir("m.gguf"));
	gout_free(&o);
	refused(in_dir("m.gguf"), CL_EFORMAT, words);
	drop_dir();
}

static void
impossible_splits_are_refused(void)
{

	refused_keys("split.count", 3, NULL, 0,
	    "one of 3 shards, but no key split.no");
	refused_keys("split.count", 4097, "split.no", 0,
	    "one of 4097 shards; at most 4096");
	refused_keys("split.count", 3, "split.no", 3,
	    "the key split.no is 3, of 3 shards that count from 0");
	refused_keys("split.no", 1, NULL, 0, "split.no is 1, of 0 shards");
}

/* Shard no (from 1) written anew, with its keys and tensors changed. */
struct change {
	uint32_t	 no;		/* file */
	uint32_t	 says_no;	/* split.no */
	uint32_t	 says_count;
	uint32_t	 says_tensors;	/* 0: no key */
	const char	*arch;		/* NULL: no key */
	const char	*tensor;
};

static void
write_change(const struct change *c)
{
	struct gout o;

	gout_init(&o);
	gout_u16(&o, "split.no", (uint16_t)c->says_no);
	gout_u16(&o, "split.count", (uint16_t)c->says_count);
	if (c->says_tensors != 0)
		gout_u32(&o, "split.tensors.count", c->says_tensors);
	if (c->arch != NULL)
		gout_str(&o, "general.architecture", c->arch);
	(void)gout_tensor(&o, c->tensor, GOUT_T_F32, 1, 8, 1, 1);
	(void)gout_write(&o, shard(c->no));
	gout_free(&o);
}

/* Of shards with 12 tensors the third, which has 4, is replaced. */
static void
shards_of_another_model_are_refused(void)
{
	static const struct {
		struct change	 c;
		const char	*words;
	} bad[] = {
		{ { 3, 2, 4, 12, NULL, "x" }, "m-00003-of-00003.gguf: shard 3 "
		    "of 4 by its keys, and 3 of 3 by its name" },
		{ { 3, 1, 3, 12, NULL, "x" }, "m-00003-of-00003.gguf: shard 2 "
		    "of 3 by its keys, and 3 of 3 by its name" },
		{ { 3, 3, 3, 12, NULL, "x" }, "m-00003-of-00003.gguf: the key "
		    "split.no is 3, of 3 shards" },
		{ { 3, 2, 3, 13, NULL, "x" }, "m-00003-of-00003.gguf: a shard "
		    "of another model: split.tensors.count is 13, and in the "
		    "first shard 12" },
		{ { 3, 2, 3, 0, NULL, "x" }, "split.tensors.count is 0" },
		{ { 3, 2, 3, 12, "other", "x" }, "a shard of another model: "
		    "general.architecture is other, and in the first shard m" },
		{ { 3, 2, 3, 12, "m", "x" }, "m-00001-of-00003.gguf: "
		    "split.tensors.count is 12, and the 3 shards hold 9" },
	};
	size_t i;

	make_dir();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_shards("m");
		write_change(&bad[i].c);
		refused(shard(1), CL_EFORMAT, bad[i].words);
	}
	drop_dir();
}

static void
a_tensor_in_two_shards_is_refused(void)
{
	struct gout o;

	make_dir();
	build(&o, STACKED);
	rename_tensor(&o, "blk.2.ffn_up_exps.weight",
	    "blk.1.ffn_gate_exps.weight");
	gout_write_split(&o, in_dir("m"), NSHARDS);
	gout_free(&o);
	refused(shard(1), CL_EFORMAT, "the tensor blk.1.ffn_gate_exps.weight "
	    "stands in /tmp/");
	assert(strstr(err.msg, "m-00001-of-00003.gguf at byte") != NULL);
	assert(strstr(err.msg, " and again in /tmp/") != NULL);
	assert(strstr(err.msg, "m-00003-of-00003.gguf at byte") != NULL);
	drop_dir();
}

static const struct unit units[] = {
	{ "the same weights in any layout are the same model, byte for byte",
	    any_layout_is_the_same_model },
	{ "experts of a layer may lie in any shard",
	    experts_may_lie_in_any_shard },
	{ "a missing expert is named, and one too many",
	    a_missing_expert_is_named },
	{ "experts of a layer that differ are refused",
	    experts_of_a_layer_are_alike },
	{ "unknown parts of one expert are refused",
	    unknown_parts_of_one_expert_are_refused },
	{ "any shard finds the others", any_shard_finds_the_others },
	{ "a missing shard is named", a_missing_shard_is_named },
	{ "a name that is no shard's is refused with the one wanted",
	    a_name_that_is_no_shards_is_refused },
	{ "a split of one file may have any name",
	    a_split_of_one_file_may_have_any_name },
	{ "impossible splits are refused", impossible_splits_are_refused },
	{ "shards of another model are refused",
	    shards_of_another_model_are_refused },
	{ "a tensor in two shards is refused",
	    a_tensor_in_two_shards_is_refused },
};

UNIT_MAIN(units)
