/*
 * mkgguf: writes the GGUF files that tests need.
 *
 *	mkgguf PRESET OUT [knob=value ...]
 *
 * With shards=N, N > 1, STEM.gguf is written as STEM-00001-of-0000N.gguf ...
 * A preset is a set of knobs and a way to fill tensors; every knob may be set
 * on top.  "loadable" is a model that libllama loads and runs, with random
 * weights; "pattern" has large expert slabs filled as pattern.h says; the
 * others are small geometries, right and wrong, whose tensors are zeros left
 * sparse.  The same arguments give the same bytes.
 */

#include <errno.h>
#include <inttypes.h>

#include "gguf_fill.h"
#include "gguf_out.h"
#include "gguf_vocab.h"

#define LAYERS_MAX	1024

struct knobs {
	uint64_t	 layers;
	uint64_t	 experts;
	uint64_t	 used;
	uint64_t	 embd;
	uint64_t	 ff;		/* width of one expert */
	uint64_t	 heads;
	uint64_t	 kv;
	uint64_t	 hd;		/* width of one head */
	uint64_t	 type;		/* of expert tensors */
	uint64_t	 down;		/* of the down ones; ~0: as type */
	uint64_t	 attn;		/* type of attention tensors */
	uint64_t	 seed;
	uint64_t	 gain;		/* router sharpness, percent */
	uint64_t	 version;
	uint64_t	 big;
	uint64_t	 mtp;		/* extra prediction layers */
	uint64_t	 shards;	/* files; 0: one that is not split */
	uint64_t	 shared;	/* width of a shared expert, 0: none */
	uint64_t	 gating;	/* expert_gating_func; 0: no such key */
	uint64_t	 bias;		/* with a selection bias */
	uint64_t	 fused;		/* gate and up in one tensor */
	uint64_t	 each;		/* a tensor for each expert */
	uint64_t	 dense_first;	/* so many leading dense layers */
	uint64_t	 dense_every;	/* n: layers 0, n, 2n ... are dense */
	uint64_t	 dense_last;
	uint64_t	 alt_experts;	/* of odd layers; 0: as experts */
	uint64_t	 alt_used;
	uint64_t	 alt_type;	/* ~0: as type */
	uint64_t	 alt_down;	/* ~0: as down */
	uint64_t	 f16;		/* the layer whose experts are; ~0: none */
	uint64_t	 vocab;		/* tokens; a tokenizer if 260 */
	uint64_t	 words;		/* more tokens, half the merges */
	uint64_t	 chat;		/* with a chat template */
};

#define SAME	UINT64_MAX
#define KNOB(f)	{ #f, offsetof(struct knobs, f) }

static const struct knob {
	const char	*name;
	size_t		 off;
} knob_table[] = {
	KNOB(layers), KNOB(experts), KNOB(used), KNOB(embd), KNOB(ff),
	KNOB(heads), KNOB(kv), KNOB(hd), KNOB(type), KNOB(down), KNOB(attn),
	KNOB(seed), KNOB(gain), KNOB(version), KNOB(big), KNOB(mtp),
	KNOB(shards), KNOB(shared), KNOB(gating), KNOB(bias), KNOB(fused),
	KNOB(each),
	KNOB(dense_first), KNOB(dense_every), KNOB(dense_last),
	KNOB(alt_experts), KNOB(alt_used), KNOB(alt_type), KNOB(alt_down),
	KNOB(f16), KNOB(vocab),
	KNOB(words), KNOB(chat),
};

/* The defaults of every preset: a small right model. */
static const struct knobs small = {
	.layers = 4, .experts = 8, .used = 2, .embd = 64, .ff = 64,
	.heads = 2, .kv = 1, .hd = 32, .type = GOUT_T_Q8_0, .down = SAME,
	.attn = GOUT_T_Q8_0, .seed = 1, .gain = 100, .version = 3,
	.alt_type = SAME, .alt_down = SAME, .f16 = SAME, .vocab = VOCAB
};

static void
key(struct gout *g, const char *name, uint64_t v)
{
	char buf[128];

	(void)snprintf(buf, sizeof(buf), "qwen3moe.%s", name);
	gout_u32(g, buf, (uint32_t)v);
}

/* A scalar where all layers agree, else an array over all layers. */
static void
layer_key(struct gout *g, const struct knobs *k, const char *name,
    uint64_t even, uint64_t odd)
{
	uint32_t v[LAYERS_MAX];
	char buf[128];
	size_t i;

	if (odd == 0 || odd == even) {
		key(g, name, even);
		return;
	}
	for (i = 0; i < k->layers; i++)
		v[i] = (uint32_t)(i % 2 == 0 ? even : odd);
	(void)snprintf(buf, sizeof(buf), "qwen3moe.%s", name);
	gout_arr_u32(g, buf, GOUT_U32, v, k->layers);
}

static void
put_words(struct gout *g, const char *key_name, const char *prefix, uint64_t n)
{
	char word[32];
	uint64_t i;

	gout_arr(g, key_name, GOUT_STR, n);
	for (i = 0; i < n; i++) {
		(void)snprintf(word, sizeof(word), "%s%" PRIu64, prefix, i);
		gout_put_str(g, &g->kv, word, strlen(word));
	}
}

static void
put_keys(struct gout *g, const struct knobs *k, const char *name)
{

	gout_str(g, "general.architecture", "qwen3moe");
	gout_str(g, "general.name", name);
	if (k->words > 0) {		/* before what matters to routing */
		put_words(g, "words.tokens", "token", k->words);
		put_words(g, "words.merges", "mer ge", 2 * k->words);
	}
	key(g, "block_count", k->layers);
	key(g, "context_length", 4096);
	key(g, "embedding_length", k->embd);
	key(g, "feed_forward_length", k->ff * k->used);
	key(g, "attention.head_count", k->heads);
	key(g, "attention.head_count_kv", k->kv);
	key(g, "attention.key_length", k->hd);
	key(g, "attention.value_length", k->hd);
	layer_key(g, k, "expert_count", k->experts, k->alt_experts);
	layer_key(g, k, "expert_used_count", k->used, k->alt_used);
	key(g, "expert_feed_forward_length", k->ff);
	gout_f32(g, "qwen3moe.attention.layer_norm_rms_epsilon", 1e-6f);
	gout_f32(g, "qwen3moe.rope.freq_base", 10000);
	if (k->mtp > 0)
		key(g, "nextn_predict_layers", k->mtp);
	if (k->gating > 0)
		key(g, "expert_gating_func", k->gating);
	if (k->vocab == VOCAB)
		put_vocabulary(g, k->chat ? CHATML : NULL);
}

/* What a preset does to every tensor once it is there. */
typedef void finish_fn(struct gout_tensor *, const struct knobs *);

static void
leave_sparse(struct gout_tensor *t, const struct knobs *k)
{

	(void)t;
	(void)k;
}

/* Norms are ones; matrices keep a unit input at about unit size. */
static void
make_random(struct gout_tensor *t, const struct knobs *k)
{
	double root = 1;

	if (strstr(t->name, "_norm") != NULL) {
		t->fill = fill_ones;
		return;
	}
	while (root * root < (double)t->ne[0])
		root += 1;
	t->fill = fill_random;
	t->scale = strcmp(t->name, "token_embd.weight") == 0 ? 1 : 1 / root;
	if (strstr(t->name, "ffn_gate_inp") != NULL)
		t->scale *= (double)k->gain / 100;
	t->state = cl_rng_mix(k->seed * 1000003 + t->off + 1);
}

/* Whatever lies before it: the same weights in any layout of experts. */
static uint64_t
name_seed(const struct gout_tensor *t, const struct knobs *k)
{
	uint64_t seed = k->seed;
	size_t i;

	for (i = 0; i < t->nname; i++)
		seed = cl_rng_mix(seed + (unsigned char)t->name[i]);
	return (seed);
}

static void
make_pattern(struct gout_tensor *t, const struct knobs *k)
{

	if (t->kind == 0) {
		make_random(t, k);
		t->state = name_seed(t, k);
		return;
	}
	t->fill = fill_pattern;
	t->slab = t->nbytes / t->ne[2];
}

static void
add(struct gout *g, const struct knobs *k, finish_fn *finish, const char *name,
    uint32_t type, uint64_t ne0, uint64_t ne1)
{

	finish(gout_tensor(g, name, type, ne1 == 0 ? 1 : 2, ne0, ne1, 1), k);
}

static void
add_block(struct gout *g, const struct knobs *k, finish_fn *finish,
    size_t layer, const char *name, uint64_t type, uint64_t ne0, uint64_t ne1)
{
	char buf[128];

	(void)snprintf(buf, sizeof(buf), "blk.%zu.%s", layer, name);
	add(g, k, finish, buf, (uint32_t)type, ne0, ne1);
}

static void
add_experts(struct gout *g, const struct knobs *k, finish_fn *finish,
    size_t layer, unsigned kind, uint64_t type, uint64_t n)
{
	static const char *const names[] = { NULL, "gate", "up", "down",
	    "gate_up" };
	struct gout_tensor *t;
	char buf[128];

	(void)snprintf(buf, sizeof(buf), "blk.%zu.ffn_%s_exps.weight", layer,
	    names[kind]);
	t = gout_tensor(g, buf, (uint32_t)type, 3,
	    kind == 3 ? k->ff : k->embd,
	    kind == 3 ? k->embd : (kind == 4 ? 2 : 1) * k->ff, n);
	t->layer = (uint32_t)layer;
	t->kind = kind;
	finish(t, k);
}

static void
add_each(struct gout *g, const struct knobs *k, finish_fn *finish,
    size_t layer, uint32_t expert, uint64_t type, uint64_t down)
{
	static const char *const names[] = { NULL, "gate", "up", "down" };
	struct gout_tensor *t;
	char buf[128];
	unsigned kind;

	for (kind = 1; kind <= 3; kind++) {
		(void)snprintf(buf, sizeof(buf), "blk.%zu.ffn_%s.%u.weight",
		    layer, names[kind], expert);
		t = gout_tensor(g, buf, (uint32_t)(kind == 3 ? down : type), 2,
		    kind == 3 ? k->ff : k->embd, kind == 3 ? k->embd : k->ff,
		    1);
		t->layer = (uint32_t)layer;
		t->expert = expert;
		t->kind = kind;
		finish(t, k);
	}
}

static bool
is_dense(const struct knobs *k, size_t layer)
{

	return (layer < k->dense_first ||
	    (k->dense_every > 0 && layer % k->dense_every == 0) ||
	    layer + k->dense_last >= k->layers);
}

static void
add_moe(struct gout *g, const struct knobs *k, finish_fn *finish, size_t i)
{
	bool odd = i % 2 == 1;
	uint64_t n = odd && k->alt_experts > 0 ? k->alt_experts : k->experts;
	uint64_t type = odd && k->alt_type != SAME ? k->alt_type : k->type;
	uint64_t down = k->down != SAME ? k->down : type;
	uint32_t e;

	if (odd && k->alt_down != SAME)
		down = k->alt_down;
	if (i == k->f16)
		type = down = GOUT_T_F16;
	add_block(g, k, finish, i, "ffn_gate_inp.weight", GOUT_T_F32, k->embd,
	    n);
	if (k->bias != 0)
		add_block(g, k, finish, i, "exp_probs_b.bias", GOUT_T_F32, n,
		    0);
	if (k->each != 0) {
		for (e = 0; e < n; e++)
			add_each(g, k, finish, i, e, type, down);
	} else if (k->fused != 0) {
		add_experts(g, k, finish, i, 4, type, n);
	} else {
		add_experts(g, k, finish, i, 1, type, n);
		add_experts(g, k, finish, i, 2, type, n);
	}
	if (k->each == 0)
		add_experts(g, k, finish, i, 3, down, n);
	if (k->shared > 0) {
		add_block(g, k, finish, i, "ffn_gate_shexp.weight", k->attn,
		    k->embd, k->shared);
		add_block(g, k, finish, i, "ffn_up_shexp.weight", k->attn,
		    k->embd, k->shared);
		add_block(g, k, finish, i, "ffn_down_shexp.weight", k->attn,
		    k->shared, k->embd);
	}
}

static void
add_layer(struct gout *g, const struct knobs *k, finish_fn *finish, size_t i)
{
	uint64_t q = k->heads * k->hd, kv = k->kv * k->hd;

	add_block(g, k, finish, i, "attn_norm.weight", GOUT_T_F32, k->embd, 0);
	add_block(g, k, finish, i, "ffn_norm.weight", GOUT_T_F32, k->embd, 0);
	add_block(g, k, finish, i, "attn_q_norm.weight", GOUT_T_F32, k->hd, 0);
	add_block(g, k, finish, i, "attn_k_norm.weight", GOUT_T_F32, k->hd, 0);
	add_block(g, k, finish, i, "attn_q.weight", k->attn, k->embd, q);
	add_block(g, k, finish, i, "attn_k.weight", k->attn, k->embd, kv);
	add_block(g, k, finish, i, "attn_v.weight", k->attn, k->embd, kv);
	add_block(g, k, finish, i, "attn_output.weight", k->attn, q, k->embd);
	if (!is_dense(k, i)) {
		add_moe(g, k, finish, i);
		return;
	}
	add_block(g, k, finish, i, "ffn_gate.weight", k->attn, k->embd, k->ff);
	add_block(g, k, finish, i, "ffn_up.weight", k->attn, k->embd, k->ff);
	add_block(g, k, finish, i, "ffn_down.weight", k->attn, k->ff, k->embd);
}

static void
add_all(struct gout *g, const struct knobs *k, finish_fn *finish)
{
	size_t i;

	add(g, k, finish, "token_embd.weight", (uint32_t)k->attn, k->embd,
	    k->vocab);
	add(g, k, finish, "output_norm.weight", GOUT_T_F32, k->embd, 0);
	add(g, k, finish, "output.weight", (uint32_t)k->attn, k->embd,
	    k->vocab);
	for (i = 0; i < k->layers; i++)
		add_layer(g, k, finish, i);
}

static void
set_loadable(struct knobs *k)
{

	k->experts = 16;
	k->used = 4;
	k->ff = 32;
}

static void
set_pattern(struct knobs *k)
{

	k->layers = 2;
	k->experts = 4;
	k->embd = 2048;
	k->ff = 2048;			/* 4.25 MiB a slab */
	k->down = GOUT_T_Q4_0;		/* 2.25 MiB */
}

static void
set_nothing(struct knobs *k)
{

	(void)k;
}

static void
set_dense_first(struct knobs *k)
{

	k->dense_first = 2;
}

static void
set_interleaved(struct knobs *k)
{

	k->dense_every = 2;
}

static void
set_dense_last(struct knobs *k)
{

	k->dense_last = 1;
}

static void
set_all_dense(struct knobs *k)
{

	k->dense_first = k->layers;
}

static void
set_per_layer_k(struct knobs *k)
{

	k->alt_used = 3;
}

static void
set_per_layer_experts(struct knobs *k)
{

	k->alt_experts = 16;
}

static void
set_mixed(struct knobs *k)
{

	k->embd = k->ff = 256;
	k->type = GOUT_T_Q4_K;
	k->alt_type = GOUT_T_Q6_K;
}

/* Half of the layers give more bits to what matters most, and one all. */
static void
set_sizes(struct knobs *k)
{

	k->layers = 8;
	k->embd = k->ff = 256;
	k->type = GOUT_T_Q4_K;
	k->alt_down = GOUT_T_Q6_K;
	k->f16 = 4;
}

static void
set_shared(struct knobs *k)
{

	k->shared = 64;
}

static void
set_large_vocabulary(struct knobs *k)
{

	k->words = 200000;
	k->layers = 128;
	k->alt_used = 3;
}

static void
set_mtp(struct knobs *k)
{

	k->mtp = 1;
}

static void
set_many(struct knobs *k)
{

	k->experts = 16384;
	k->embd = k->ff = 32;
	k->layers = 2;
}

static void
set_mxfp4(struct knobs *k)
{

	k->type = GOUT_T_MXFP4;
}

static void
set_nvfp4(struct knobs *k)
{

	k->type = GOUT_T_NVFP4;
}

static void
set_unknown_attn(struct knobs *k)
{

	k->attn = 200;
}

static void
set_unknown_experts(struct knobs *k)
{

	k->type = 200;
}

static void
set_fused(struct knobs *k)
{

	k->fused = 1;
}

static void
set_each(struct knobs *k)
{

	k->each = 1;
}

static void
set_v1(struct knobs *k)
{

	k->version = 1;
}

static void
set_v2(struct knobs *k)
{

	k->version = 2;
}

static void
set_big(struct knobs *k)
{

	k->big = 1;
}

static const struct preset {
	const char	*name;
	void		(*set)(struct knobs *);
	finish_fn	*finish;
} presets[] = {
	{ "all-dense", set_all_dense, leave_sparse },
	{ "big-endian", set_big, leave_sparse },
	{ "dense-first", set_dense_first, leave_sparse },
	{ "dense-last", set_dense_last, leave_sparse },
	{ "each", set_each, leave_sparse },
	{ "fused", set_fused, leave_sparse },
	{ "interleaved", set_interleaved, leave_sparse },
	{ "large-vocabulary", set_large_vocabulary, leave_sparse },
	{ "loadable", set_loadable, make_random },
	{ "many-experts", set_many, leave_sparse },
	{ "mixed-types", set_mixed, leave_sparse },
	{ "mtp", set_mtp, leave_sparse },
	{ "mxfp4", set_mxfp4, leave_sparse },
	{ "nvfp4", set_nvfp4, leave_sparse },
	{ "pattern", set_pattern, make_pattern },
	{ "per-layer-experts", set_per_layer_experts, leave_sparse },
	{ "per-layer-k", set_per_layer_k, leave_sparse },
	{ "shared", set_shared, leave_sparse },
	{ "sizes", set_sizes, make_pattern },
	{ "small", set_nothing, leave_sparse },
	{ "unknown-attention", set_unknown_attn, leave_sparse },
	{ "unknown-experts", set_unknown_experts, leave_sparse },
	{ "v1", set_v1, leave_sparse },
	{ "v2", set_v2, leave_sparse },
};

static void
usage(void)
{
	size_t i;

	fprintf(stderr, "usage: mkgguf PRESET OUT [knob=value ...]\npresets:");
	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		fprintf(stderr, " %s", presets[i].name);
	fprintf(stderr, "\nknobs:");
	for (i = 0; i < sizeof(knob_table) / sizeof(knob_table[0]); i++)
		fprintf(stderr, " %s", knob_table[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

/* A number, or the name of a type. */
static uint64_t
value_of(const char *s)
{
	size_t i;
	char *end;
	unsigned long long v;

	for (i = 0; i < sizeof(gout_types) / sizeof(gout_types[0]); i++)
		if (strcmp(gout_types[i].name, s) == 0)
			return (gout_types[i].id);
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0')
		usage();
	return (v);
}

static void
set_knob(struct knobs *k, const char *arg)
{
	const struct knob *n;
	size_t i, len;
	uint64_t v;

	for (i = 0; i < sizeof(knob_table) / sizeof(knob_table[0]); i++) {
		n = &knob_table[i];
		len = strlen(n->name);
		if (strncmp(arg, n->name, len) != 0 || arg[len] != '=')
			continue;
		v = value_of(arg + len + 1);
		memcpy((char *)k + n->off, &v, sizeof(v));
		return;
	}
	usage();
}

static void
write_all(struct gout *g, const struct knobs *k, const char *path)
{
	char stem[4096];
	size_t n = strlen(path);

	if (k->shards <= 1) {
		(void)gout_write(g, path);
		return;
	}
	if (n > 5 && strcmp(path + n - 5, ".gguf") == 0)
		n -= 5;
	if (k->shards > 1000 || n >= sizeof(stem))
		usage();
	memcpy(stem, path, n);
	stem[n] = '\0';
	gout_write_split(g, stem, (uint32_t)k->shards);
}

int
main(int argc, char **argv)
{
	const struct preset *p = NULL;
	struct knobs k = small;
	struct gout g;
	size_t i;
	int a;

	for (i = 0; argc >= 3 && i < sizeof(presets) / sizeof(presets[0]); i++)
		if (strcmp(presets[i].name, argv[1]) == 0)
			p = &presets[i];
	if (p == NULL)
		usage();
	p->set(&k);
	for (a = 3; a < argc; a++)
		set_knob(&k, argv[a]);
	if (k.layers > LAYERS_MAX)
		usage();
	gout_init(&g);
	g.version = (uint32_t)k.version;
	g.big = k.big != 0;
	put_keys(&g, &k, argv[1]);
	add_all(&g, &k, p->finish);
	write_all(&g, &k, argv[2]);
	gout_free(&g);
	return (0);
}
