/*
 * A model out of a GGUF file.  Tensors are sorted by what their names say
 * into the parts that experts and routers are made of, and the rest, which is
 * dense; then each layer that has experts is put together: slabs from shapes,
 * k and the router rule from keys, biases from their tensors.  Keys and
 * tensors that say the same thing must agree.
 *
 * A file does not hold the whole rule: where the graph of its architecture
 * decides (softmax or sigmoid without a key, normalisation), the usual is
 * taken and marked as assumed; a recording then has what the graph really
 * did.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/model.h"
#include "cl/text.h"
#include "cl/vec.h"

#include "model_int.h"

#define ARCH_MAX	64		/* bytes of a name such as qwen3moe */
#define KEY_BUF		(ARCH_MAX + 64)
#define VIS_MAX		80		/* of a name, in messages */

struct reader {
	const struct cl_gguf *g;
	struct cl_model	*m;
	struct cl_err	*err;
	struct model_parts *parts;	/* of every layer */
	struct model_keys keys;
	uint32_t	*experts;	/* expert_count of every layer */
	uint32_t	*used;		/* expert_used_count */
};

/* "ARCH.suffix" */
static const char *
key(const struct reader *r, char buf[KEY_BUF], const char *suffix)
{

	(void)snprintf(buf, KEY_BUF, "%.*s.%s", ARCH_MAX, r->m->arch, suffix);
	return (buf);
}

/* A tensor's name in a message, where it is not one that we know. */
static const char *
vis(char buf[VIS_MAX], const struct cl_gguf_tensor *t)
{

	return (cl_text_vis(buf, VIS_MAX, t->name, strlen(t->name)));
}

/* Capacity is the power of two above: full when n is one. */
static int
push_dense(struct cl_dense **d, uint32_t *n, const struct cl_gguf_tensor *t,
    struct cl_err *err)
{
	struct cl_dense *p;

	if (t->nbytes == 0)
		return (CL_OK);
	if ((*n & (*n - 1)) == 0) {
		p = realloc(*d, (*n == 0 ? 1 : 2 * (size_t)*n) * sizeof(*p));
		if (p == NULL)
			return (cl_fail_nomem(err, "the list of tensors"));
		*d = p;
	}
	p = *d + (*n)++;
	p->shard = 0;
	p->off = t->off;
	p->nbytes = t->nbytes;
	return (CL_OK);
}

static int
add_dense(struct reader *r, const struct cl_gguf_tensor *t,
    const struct model_name *n)
{
	struct cl_layer *l;

	if (!n->block || n->layer >= r->m->nlayers)
		return (push_dense(&r->m->dense, &r->m->ndense, t, r->err));
	l = &r->m->layers[n->layer];
	return (push_dense(&l->dense, &l->ndense, t, r->err));
}

static int
add_experts(struct reader *r, const struct cl_gguf_tensor *t,
    const struct model_name *n)
{
	char buf[VIS_MAX];

	if (n->suffix == MODEL_NSUFFIX)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: this part "
		    "of experts is not understood", vis(buf, t)));
	if (n->layer >= r->m->nlayers)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s: the model "
		    "has %u layers", t->name, r->m->nlayers));
	if (!t->known)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s is of "
		    "unknown type %u, so the bytes of an expert are not known",
		    t->name, t->type));
	r->parts[n->layer].experts[n->kind][n->suffix] = t;
	return (CL_OK);
}

static int
add_tensor(struct reader *r, const struct cl_gguf_tensor *t)
{
	struct model_parts spare = { 0 }, *p;
	struct model_name n;
	char buf[VIS_MAX];

	cl_model_name(t->name, &n);
	p = n.layer < r->m->nlayers ? &r->parts[n.layer] : &spare;
	switch (n.role) {
	case MODEL_EXPERTS:
		return (add_experts(r, t, &n));
	case MODEL_ONE_EXPERT:
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: files "
		    "with one tensor per expert are not understood yet",
		    vis(buf, t)));
	case MODEL_ADJUGATE:
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: layers "
		    "with a second set of experts are not understood yet",
		    vis(buf, t)));
	case MODEL_ROUTER:
		p->router = t;
		break;
	case MODEL_GATE_BIAS:
		p->gate_bias = t;
		break;
	case MODEL_SEL_BIAS:
		p->sel_bias = t;
		break;
	case MODEL_TABLE:
		p->table = true;
		break;
	case MODEL_DENSE:
		break;
	}
	return (add_dense(r, t, &n));
}

static int
add_tensors(struct reader *r)
{
	size_t i;
	int status;

	for (i = 0; i < cl_gguf_ntensors(r->g); i++)
		if ((status = add_tensor(r, cl_gguf_tensor(r->g, i))) != CL_OK)
			return (status);
	return (CL_OK);
}

static int
has_experts(const struct model_parts *p)
{
	size_t kind, suffix;

	for (kind = 1; kind < MODEL_NKINDS; kind++)
		for (suffix = 0; suffix < MODEL_NSUFFIX; suffix++)
			if (p->experts[kind][suffix] != NULL)
				return (true);
	return (false);
}

/* Every expert has a way in and a way out; a gate is not everybody's. */
static int
check_parts(struct reader *r, uint32_t layer)
{
	const struct model_parts *p = &r->parts[layer];
	bool gate = p->experts[CL_SLAB_GATE][MODEL_WEIGHT] != NULL;
	bool up = p->experts[CL_SLAB_UP][MODEL_WEIGHT] != NULL;
	bool down = p->experts[CL_SLAB_DOWN][MODEL_WEIGHT] != NULL;
	bool fused = p->experts[CL_SLAB_GATE_UP][MODEL_WEIGHT] != NULL;

	if (fused && (gate || up))
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has "
		    "blk.%u.ffn_gate_up_exps.weight and its halves as well",
		    layer, layer));
	if (!up && !fused)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no blk.%u.ffn_up_exps.weight", layer, layer));
	if (!down)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no blk.%u.ffn_down_exps.weight", layer, layer));
	if (p->router == NULL)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no router blk.%u.ffn_gate_inp.weight", layer, layer));
	return (CL_OK);
}

/* The number of experts by the shape of a tensor of theirs. */
static uint64_t
experts_of(const struct cl_gguf_tensor *t, size_t suffix)
{

	if (suffix == MODEL_WEIGHT)
		return (t->ne[2]);
	return (suffix == MODEL_BIAS ? t->ne[1] : t->ne[0]);
}

/* Are the experts the outermost of its dimensions, each of whole blocks? */
static bool
is_by_expert(const struct cl_gguf_tensor *t, size_t suffix)
{

	if (suffix == MODEL_WEIGHT)
		return (t->ne[3] == 1 && t->ndims >= 2);
	if (t->ne[2] != 1 || t->ne[3] != 1)
		return (false);
	if (suffix == MODEL_BIAS)
		return (true);
	return (t->ne[1] == 1 && cl_gguf_type(t->type)->elems == 1);
}

/* One tensor's part of the layer's experts. */
static int
add_slab(struct reader *r, uint32_t layer, size_t kind, size_t suffix)
{
	const struct cl_gguf_tensor *t = r->parts[layer].experts[kind][suffix];
	struct cl_layer *l = &r->m->layers[layer];
	struct cl_slab *s = &l->slabs[l->nslabs];
	uint64_t n = experts_of(t, suffix);

	if (!is_by_expert(t, suffix))
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: %u "
		    "dimensions, not split by expert", t->name, t->ndims));
	if (n == 0 || n > CL_RULE_EXPERTS_MAX || t->nbytes == 0)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s holds %"
		    PRIu64 " experts in %" PRIu64 " bytes; 1 to %d experts "
		    "are understood", t->name, n, t->nbytes,
		    CL_RULE_EXPERTS_MAX));
	if (suffix == MODEL_WEIGHT && l->nexperts == 0)
		l->nexperts = (uint32_t)n;
	if (suffix > MODEL_BIAS && n == 1 && l->nexperts > 1)
		return (push_dense(&l->dense, &l->ndense, t, r->err));
	if (n != l->nexperts)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s holds %"
		    PRIu64 " experts, others of layer %u hold %u", t->name, n,
		    layer, l->nexperts));
	s->kind = (enum cl_slab_kind)kind;
	s->type = t->type;
	s->off = t->off;
	s->nbytes = s->stride = t->nbytes / n;
	l->expert_bytes += s->nbytes;
	l->nslabs++;
	return (CL_OK);
}

/* Weights first: they say how many experts there are. */
static int
add_slabs(struct reader *r, uint32_t layer)
{
	struct cl_layer *l = &r->m->layers[layer];
	size_t kind, suffix;
	int status;

	l->slabs = calloc(CL_MODEL_SLABS_MAX, sizeof(*l->slabs));
	if (l->slabs == NULL)
		return (cl_fail_nomem(r->err, "the list of slabs"));
	for (suffix = 0; suffix < MODEL_NSUFFIX; suffix++)
		for (kind = 1; kind < MODEL_NKINDS; kind++) {
			if (r->parts[layer].experts[kind][suffix] == NULL)
				continue;
			status = add_slab(r, layer, kind, suffix);
			if (status != CL_OK)
				return (status);
		}
	return (CL_OK);
}

static int
check_counts(struct reader *r, uint32_t layer)
{
	const struct cl_gguf_tensor *router = r->parts[layer].router;
	uint32_t n = r->m->layers[layer].nexperts;
	char buf[KEY_BUF];

	if (router->ne[1] != n || router->ne[2] != 1 || router->ne[3] != 1)
		return (cl_fail(r->err, CL_EFORMAT, "the router %s scores %"
		    PRIu64 " experts, and layer %u has %u", router->name,
		    router->ne[1], layer, n));
	if (cl_gguf_has(r->g, key(r, buf, "expert_count")) &&
	    r->experts[layer] != n)
		return (cl_fail(r->err, CL_EFORMAT, "the key %s says %u, and "
		    "the tensors of layer %u hold %u experts", buf,
		    r->experts[layer], layer, n));
	if (!cl_gguf_has(r->g, key(r, buf, "expert_used_count")))
		return (cl_fail(r->err, CL_EFORMAT, "no key %s", buf));
	return (CL_OK);
}

static int
read_bias(struct reader *r, const struct cl_gguf_tensor *t, uint32_t n,
    float **bias)
{
	uint32_t i;
	int status;

	if (t == NULL)
		return (CL_OK);
	if ((*bias = calloc(n, sizeof(**bias))) == NULL)
		return (cl_fail_nomem(r->err, "a router bias"));
	status = cl_gguf_read_f32(r->g, t, *bias, n, r->err);
	if (status != CL_OK)
		return (status);
	for (i = 0; i < n; i++)
		if (isnan((*bias)[i]))
			return (cl_fail(r->err, CL_EFORMAT, "the tensor %s: "
			    "the bias of expert %u is no number", t->name, i));
	return (CL_OK);
}

/* llama.cpp's enum llama_expert_gating_func_type. */
static void
set_gate(struct cl_rule *rule, uint32_t gating)
{
	static const enum cl_gate gates[] = { 0, CL_GATE_SOFTMAX,
	    CL_GATE_SIGMOID, CL_GATE_SOFTMAX_WEIGHT, CL_GATE_SQRT_SOFTPLUS };

	if (gating == 0)
		return;
	rule->gate = gates[gating];
	rule->softmax_w = rule->gate == CL_GATE_SOFTMAX_WEIGHT;
	rule->norm = !rule->softmax_w;
	rule->assumed &= ~(uint32_t)CL_RULE_GATE;
}

static int
set_rule(struct reader *r, uint32_t layer)
{
	const struct model_parts *p = &r->parts[layer];
	const struct model_keys *k = &r->keys;
	struct cl_layer *l = &r->m->layers[layer];
	struct cl_rule *rule = &l->rule;
	int status;

	l->k = r->used[layer];
	cl_rule_init(rule, l->nexperts, l->k);
	rule->assumed &= ~(uint32_t)(CL_RULE_GATE_BIAS | CL_RULE_SEL_BIAS);
	set_gate(rule, k->gating);
	if (k->has_norm) {
		rule->norm = k->norm;
		rule->assumed &= ~(uint32_t)CL_RULE_NORM;
	}
	if (k->has_scale) {		/* 0 is how llama.cpp writes "none" */
		rule->scale = k->scale == 0 ? 1 : k->scale;
		rule->assumed &= ~(uint32_t)CL_RULE_SCALE;
	}
	if (k->ngroup > 0) {
		rule->ngroup = k->ngroup;
		rule->ngroup_used = k->ngroup == 1 ? 1 : k->ngroup_used;
		rule->assumed &= ~(uint32_t)CL_RULE_GROUPS;
	}
	if (p->table) {
		rule->select = CL_SELECT_TABLE;
		rule->assumed &= ~(uint32_t)CL_RULE_SELECT;
	}
	status = read_bias(r, p->gate_bias, l->nexperts, &rule->gate_bias);
	if (status != CL_OK)
		return (status);
	return (read_bias(r, p->sel_bias, l->nexperts, &rule->sel_bias));
}

static int
read_routing(struct reader *r)
{
	struct model_keys *k = &r->keys;
	char buf[KEY_BUF];
	int status;

	status = cl_gguf_u32(r->g, key(r, buf, "expert_gating_func"), 0,
	    &k->gating, r->err);
	if (status == CL_OK && k->gating > 4)
		return (cl_fail(r->err, CL_ENOTSUP, "the key %s is %u, a "
		    "gating function that is not known", buf, k->gating));
	k->has_norm = cl_gguf_has(r->g, key(r, buf, "expert_weights_norm"));
	if (status == CL_OK)
		status = cl_gguf_bool(r->g, buf, false, &k->norm, r->err);
	k->has_scale = cl_gguf_has(r->g, key(r, buf, "expert_weights_scale"));
	if (status == CL_OK)
		status = cl_gguf_f32(r->g, buf, 0, &k->scale, r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g, key(r, buf, "expert_group_count"),
		    0, &k->ngroup, r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g,
		    key(r, buf, "expert_group_used_count"), k->ngroup,
		    &k->ngroup_used, r->err);
	return (status);
}

static int
read_layer_keys(struct reader *r)
{
	uint32_t n = r->m->nlayers, nextra, i;
	char buf[KEY_BUF];
	int status;

	r->parts = calloc(n, sizeof(*r->parts));
	r->experts = calloc(n, sizeof(*r->experts));
	r->used = calloc(n, sizeof(*r->used));
	if (r->parts == NULL || r->experts == NULL || r->used == NULL)
		return (cl_fail_nomem(r->err, "the layers of a model"));
	status = cl_gguf_layers(r->g, key(r, buf, "expert_count"), 0,
	    r->experts, n, r->err);
	if (status == CL_OK)
		status = cl_gguf_layers(r->g,
		    key(r, buf, "expert_used_count"), 0, r->used, n, r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g,
		    key(r, buf, "nextn_predict_layers"), 0, &nextra, r->err);
	if (status != CL_OK)
		return (status);
	if (nextra >= n)
		return (cl_fail(r->err, CL_EFORMAT, "the key %s is %u, of %u "
		    "layers", buf, nextra, n));
	for (i = n - nextra; i < n; i++)
		r->m->layers[i].extra = true;
	return (CL_OK);
}

/* The head of a split file describes the tensors of its own shard alone. */
static int
refuse_shard(struct reader *r)
{
	uint32_t count;
	int status = cl_gguf_u32(r->g, "split.count", 1, &count, r->err);

	if (status == CL_OK && count > 1)
		return (cl_fail(r->err, CL_ENOTSUP, "one of %u shards; split "
		    "files are not understood yet", count));
	return (status);
}

/* The architecture is a part of keys, and so of messages. */
static bool
is_plain(const char *s)
{

	while (*s > ' ' && *s < 0x7f)
		s++;
	return (*s == '\0');
}

static int
read_names(struct reader *r, char **arch, char **name, uint32_t *nlayers)
{
	char buf[KEY_BUF];
	size_t n;

	if (!cl_gguf_has(r->g, "general.architecture"))
		return (cl_fail(r->err, CL_EFORMAT, "no key "
		    "general.architecture"));
	*arch = cl_gguf_strdup(r->g, "general.architecture", "", r->err);
	if (*arch == NULL)
		return (r->err->code);
	if ((n = strlen(*arch)) == 0 || n > ARCH_MAX)
		return (cl_fail(r->err, CL_EFORMAT, "general.architecture has "
		    "%zu bytes; 1 to %d are understood", n, ARCH_MAX));
	if (!is_plain(*arch))
		return (cl_fail(r->err, CL_EFORMAT, "general.architecture has "
		    "a byte that is no visible ASCII character"));
	*name = cl_gguf_strdup(r->g, "general.name", "", r->err);
	if (*name == NULL)
		return (r->err->code);
	(void)snprintf(buf, sizeof(buf), "%s.block_count", *arch);
	if (!cl_gguf_has(r->g, buf))
		return (cl_fail(r->err, CL_EFORMAT, "no key %s", buf));
	return (cl_gguf_u32(r->g, buf, 0, nlayers, r->err));
}

static int
add_shard(struct reader *r)
{
	struct cl_model *m = r->m;
	const char *path = cl_gguf_path(r->g);

	if ((m->shards = calloc(1, sizeof(*m->shards))) == NULL)
		return (cl_fail_nomem(r->err, "a shard"));
	m->nshards = 1;
	m->shards[0].path = cl_vec_strndup(path, strlen(path), r->err);
	if (m->shards[0].path == NULL)
		return (CL_ENOMEM);
	m->shards[0].nbytes = cl_gguf_size(r->g);
	m->shards[0].head_hash = cl_gguf_head_hash(r->g);
	return (CL_OK);
}

static int
add_layers(struct reader *r)
{
	uint32_t i;
	int status;

	for (i = 0; i < r->m->nlayers; i++) {
		if (!has_experts(&r->parts[i]))
			continue;
		if ((status = check_parts(r, i)) != CL_OK ||
		    (status = add_slabs(r, i)) != CL_OK ||
		    (status = check_counts(r, i)) != CL_OK ||
		    (status = set_rule(r, i)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

static int
fill_model(struct reader *r)
{
	int status;

	if ((status = add_shard(r)) != CL_OK ||
	    (status = read_layer_keys(r)) != CL_OK ||
	    (status = read_routing(r)) != CL_OK ||
	    (status = add_tensors(r)) != CL_OK ||
	    (status = add_layers(r)) != CL_OK ||
	    (status = cl_model_check(r->m, r->err)) != CL_OK)
		return (status);
	return (cl_model_fingerprint(r->m, r->g, r->parts, &r->keys, r->err));
}

static int
make_model(struct reader *r)
{
	char *arch = NULL, *name = NULL;
	uint32_t nlayers;
	int status = refuse_shard(r);

	if (status == CL_OK)
		status = read_names(r, &arch, &name, &nlayers);
	if (status == CL_OK && (r->m = cl_model_new(nlayers, r->err)) == NULL)
		status = r->err->code;
	if (status != CL_OK) {
		free(arch);
		free(name);
		return (status);
	}
	free(r->m->arch);
	free(r->m->name);
	r->m->arch = arch;
	r->m->name = name;
	status = fill_model(r);
	free(r->parts);
	free(r->experts);
	free(r->used);
	return (status);
}

struct cl_model *
cl_model_open(const char *path, struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct reader r = { .err = &own };
	struct cl_gguf *g;

	if ((g = cl_gguf_open(path, err)) == NULL)
		return (NULL);
	r.g = g;
	if (make_model(&r) != CL_OK) {
		cl_err_prefix(&own, path);
		(void)cl_fail(err, own.code, "%s", own.msg);
		cl_model_free(r.m);
		r.m = NULL;
	}
	cl_gguf_close(g);
	return (r.m);
}
