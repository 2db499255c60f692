/*
 * mkrouter: writes small models with random weights whose routers differ, as
 * GGUF that libllama loads and runs.
 *
 *	mkrouter KIND OUT [gain=percent] [seed=n]
 *
 * A kind is an architecture: its keys, and the tensors of its layers, given as
 * text ("name:ne0,ne1,ne2", separated by blanks).  gain sharpens the router: at
 * 10000 its gate is saturated, and what it makes of many scores ties.  The same
 * arguments give the same bytes.
 */

#include <inttypes.h>

#include "gguf_fill.h"
#include "gguf_out.h"
#include "gguf_vocab.h"

#define LAYERS	4
#define SEED	7

/*
 * Embedding 64, 4 heads of 16, 32 experts of width 32, of which 4 are used,
 * unless a kind says otherwise.
 */
#define KEYS								\
	"context_length=4096 embedding_length=64 feed_forward_length=64 " \
	"attention.head_count=4 attention.layer_norm_rms_epsilon=0.000001 " \
	"rope.freq_base=10000.0 expert_count=32 "			\
	"expert_feed_forward_length=32 "
#define USED	"expert_used_count=4 "
#define HEADS	"attention.key_length=16 attention.value_length=16 "	\
	"rope.dimension_count=16 attention.head_count_kv="
#define ATTN	"attn_norm.weight:64 attn_q.weight:64,64 "		\
	"attn_output.weight:64,64 "
#define KV4	"attn_k.weight:64,64 attn_v.weight:64,64 "
#define KV2	"attn_k.weight:64,32 attn_v.weight:64,32 "
#define QKV_BIAS "attn_q.bias:64 attn_k.bias:32 attn_v.bias:32 "
#define NORM	"ffn_norm.weight:64 "
#define POST	"post_attention_norm.weight:64 "
#define DENSE	"ffn_gate.weight:64,64 ffn_up.weight:64,64 "		\
	"ffn_down.weight:64,64 "
#define MOE	"ffn_gate_inp.weight:64,32 ffn_gate_exps.weight:64,32,32 " \
	"ffn_up_exps.weight:64,32,32 ffn_down_exps.weight:32,64,32 "
#define SHARED	"ffn_gate_shexp.weight:64,32 ffn_up_shexp.weight:64,32 " \
	"ffn_down_shexp.weight:32,64 "
#define SELECT	"exp_probs_b.bias:32 "
#define MLA	"attn_norm.weight:64 attn_q_a.weight:64,32 "		\
	"attn_q_a_norm.weight:32 attn_q_b.weight:32,96 "		\
	"attn_kv_a_mqa.weight:64,40 attn_kv_a_norm.weight:32 "		\
	"attn_k_b.weight:16,32,4 attn_v_b.weight:32,16,4 "		\
	"attn_output.weight:64,64 "
#define LEADING	"leading_dense_block_count=1 expert_shared_count=1 "	\
	"expert_weights_norm=true expert_gating_func=2 "

static const struct kind {
	const char	*name;
	const char	*arch;
	const char	*keys;
	const char	*tensors;	/* of every layer */
	const char	*plan;		/* a letter for each layer, and ... */
	const char	*of[3];		/* ... what those of a, b, c have */
} kinds[] = {
	/* sigmoid, selection bias, groups; the first layer dense */
	{ "deepseek2", "deepseek2", KEYS USED LEADING
	    "expert_weights_scale=2.5 expert_group_count=4 "
	    "expert_group_used_count=2 attention.head_count_kv=1 "
	    "attention.q_lora_rank=32 attention.kv_lora_rank=32 "
	    "attention.key_length=40 attention.value_length=32 "
	    "attention.key_length_mla=24 attention.value_length_mla=16 "
	    "rope.dimension_count=8", MLA NORM, "abbb", { DENSE,
	    MOE SELECT SHARED } },
	/* softmax, selection bias, normalised; the first layer dense */
	{ "ernie", "ernie4_5-moe", KEYS USED HEADS "2 "
	    "interleave_moe_layer_step=1 leading_dense_block_count=1 "
	    "expert_shared_count=0", ATTN KV2 NORM, "abbb", { DENSE,
	    MOE SELECT } },
	/* sigmoid, selection bias; the first layer dense, a shared expert */
	{ "glm4moe", "glm4moe", KEYS USED LEADING HEADS "2 "
	    "expert_weights_scale=1.8", ATTN KV2 QKV_BIAS POST, "abbb", { DENSE,
	    MOE SELECT SHARED } },
	/* softmax over the chosen, gate bias */
	{ "gpt-oss", "gpt-oss", KEYS USED HEADS "2 "
	    "attention.sliding_window=64", ATTN KV2 QKV_BIAS POST
	    "attn_output.bias:64 attn_sinks.weight:4 ffn_gate_inp.bias:32 "
	    "ffn_gate_exps.bias:32,32 ffn_up_exps.bias:32,32 "
	    "ffn_down_exps.bias:64,32 " MOE, "aaaa", { "" } },
	/* raw scores choose, sigmoids weigh, before the experts */
	{ "llama4", "llama4", KEYS USED HEADS "2 interleave_moe_layer_step=1 "
	    "vocab_size=260", ATTN KV2 NORM MOE SHARED, "aaaa", { "" } },
	/* softmax, normalised, and nothing else */
	{ "mixtral", "llama", "context_length=4096 embedding_length=64 "
	    "feed_forward_length=32 attention.head_count=4 "
	    "attention.layer_norm_rms_epsilon=0.000001 rope.freq_base=10000.0 "
	    "expert_count=32 " USED HEADS "2", ATTN KV2 NORM MOE, "aaaa",
	    { "" } },
	/* k differs; layers of memory, attention or experts alone */
	{ "nemotron", "nemotron_h_moe", "context_length=4096 "
	    "embedding_length=64 feed_forward_length=0,32,0,32 "
	    "attention.head_count=4 attention.head_count_kv=0,0,2,0 "
	    "attention.key_length=16 attention.value_length=16 "
	    "attention.layer_norm_rms_epsilon=0.000001 "
	    "attention.layer_norm_epsilon=0.000001 "
	    "ssm.conv_kernel=4 ssm.inner_size=128 ssm.state_size=16 "
	    "ssm.time_step_rank=4 ssm.group_count=1 "
	    "expert_count=32 expert_used_count=0,5,0,3 "
	    "expert_feed_forward_length=32 expert_shared_count=1 "
	    "expert_shared_feed_forward_length=32 expert_weights_norm=true "
	    "expert_weights_scale=2.5", "attn_norm.weight:64 ", "abcb",
	    { "ssm_in.weight:64,292 ssm_conv1d.weight:4,160 "
	    "ssm_conv1d.bias:160 ssm_dt.bias:4 ssm_a:1,4 ssm_d:1,4 "
	    "ssm_norm.weight:128,1 ssm_out.weight:128,64",
	    "ffn_gate_inp.weight:64,32 ffn_up_exps.weight:64,32,32 "
	    "ffn_down_exps.weight:32,64,32 ffn_up_shexp.weight:64,32 "
	    "ffn_down_shexp.weight:32,64 " SELECT,
	    "attn_q.weight:64,64 attn_output.weight:64,64 " KV2 } },
	/* softmax, not normalised */
	{ "olmoe", "olmoe", "context_length=4096 embedding_length=64 "
	    "feed_forward_length=32 attention.head_count=4 "
	    "attention.layer_norm_rms_epsilon=0.000001 rope.freq_base=10000.0 "
	    "expert_count=32 " USED HEADS "4", ATTN KV4
	    "attn_q_norm.weight:64 attn_k_norm.weight:64 " NORM MOE, "aaaa",
	    { "" } },
	/* softmax, not normalised, and a gated shared expert */
	{ "qwen2moe", "qwen2moe", KEYS USED HEADS "2 "
	    "expert_shared_feed_forward_length=32", ATTN KV2 QKV_BIAS
	    NORM MOE SHARED "ffn_gate_inp_shexp.weight:64 ", "aaaa", { "" } },
};

#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

static uint64_t gain = 100, seed = SEED;

static void
usage(void)
{
	size_t i;

	fprintf(stderr, "usage: mkrouter KIND OUT [gain=percent] [seed=n]\n"
	    "kinds:");
	for (i = 0; i < NKINDS; i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

/* The next word of a list, cut at c; NULL at the end. */
static const char *
next_word(const char **list, char c, char word[64], char rest[64])
{
	size_t n = strcspn(*list, " "), key = 0;

	if (n == 0)
		return (NULL);
	if (n >= 64)
		gout_die(*list);
	while (key < n && (*list)[key] != c)
		key++;
	(void)snprintf(word, 64, "%.*s", (int)key, *list);
	(void)snprintf(rest, 64, "%.*s", (int)(n - key), *list + key);
	*list += n + strspn(*list + n, " ");
	return (word);
}

/* Numbers of which there are several, with commas between. */
static void
put_array(struct gout *g, const char *key, const char *value)
{
	uint32_t v[LAYERS];
	size_t n;
	char *end;

	for (n = 0; n < LAYERS && *value != '\0'; n++, value = end)
		v[n] = (uint32_t)strtoul(value + 1, &end, 10);
	gout_arr_u32(g, key, GOUT_U32, v, n);
}

/* A number with a point is a float; other words than numbers, "true". */
static void
put_keys(struct gout *g, const struct kind *kind)
{
	const char *list = kind->keys;
	char name[64], value[64], key[128];

	gout_str(g, "general.architecture", kind->arch);
	gout_str(g, "general.name", kind->name);
	(void)snprintf(key, sizeof(key), "%s.block_count", kind->arch);
	gout_u32(g, key, LAYERS);
	while (next_word(&list, '=', name, value) != NULL) {
		(void)snprintf(key, sizeof(key), "%s.%s", kind->arch, name);
		if (strcmp(value, "=true") == 0)
			gout_bool(g, key, true);
		else if (strchr(value, ',') != NULL)
			put_array(g, key, value);
		else if (strchr(value, '.') != NULL)
			gout_f32(g, key, strtof(value + 1, NULL));
		else
			gout_u32(g, key, (uint32_t)strtoul(value + 1, NULL,
			    10));
	}
	put_vocabulary(g, NULL);
}

/* A memory of the past must fade. */
static void
fill_minus_ones(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	static const float minus_one = -1;
	size_t i;

	(void)t;
	(void)off;
	for (i = 0; i + 4 <= n; i += 4)
		memcpy(p + i, &minus_one, 4);
}

/* Norms are ones; matrices keep a unit input at about unit size. */
static void
fill(struct gout_tensor *t)
{
	double root = 1;

	if (strstr(t->name, "_norm") != NULL) {
		t->fill = fill_ones;
		return;
	}
	if (strstr(t->name, "ssm_a") != NULL) {
		t->fill = fill_minus_ones;
		return;
	}
	while (root * root < (double)t->ne[0])
		root += 1;
	t->fill = fill_random;
	t->scale = 1 / root;
	if (strcmp(t->name, "token_embd.weight") == 0)
		t->scale = 1;
	if (strstr(t->name, "ffn_gate_inp.weight") != NULL)
		t->scale *= 2 * (double)gain / 100;
	t->state = cl_rng_mix(seed * 1000003 + t->off + 1);
}

static void
add(struct gout *g, const char *name, const char *shape)
{
	uint64_t ne[3] = { 1, 1, 1 };
	uint32_t n = 0;

	while (*shape != '\0' && n < 3) {
		ne[n++] = strtoull(shape + 1, NULL, 10);
		shape += 1 + strcspn(shape + 1, ",");
	}
	fill(gout_tensor(g, name, GOUT_T_F32, n, ne[0], ne[1], ne[2]));
}

static void
add_layer(struct gout *g, const char *list, unsigned layer)
{
	char name[64], shape[64], full[128];

	while (next_word(&list, ':', name, shape) != NULL) {
		(void)snprintf(full, sizeof(full), "blk.%u.%s", layer, name);
		add(g, full, shape);
	}
}

static void
set_knob(const char *arg)
{

	if (strncmp(arg, "gain=", 5) == 0)
		gain = strtoull(arg + 5, NULL, 10);
	else if (strncmp(arg, "seed=", 5) == 0)
		seed = strtoull(arg + 5, NULL, 10);
	else
		usage();
}

int
main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	struct gout g;
	unsigned i;
	int a;

	for (i = 0; argc >= 3 && i < NKINDS; i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		usage();
	for (a = 3; a < argc; a++)
		set_knob(argv[a]);
	gout_init(&g);
	put_keys(&g, kind);
	add(&g, "token_embd.weight", ":64,260");
	add(&g, "output_norm.weight", ":64");
	add(&g, "output.weight", ":64,260");
	for (i = 0; i < LAYERS; i++) {
		add_layer(&g, kind->tensors, i);
		add_layer(&g, kind->of[kind->plan[i] - 'a'], i);
	}
	(void)gout_write(&g, argv[2]);
	gout_free(&g);
	return (0);
}
