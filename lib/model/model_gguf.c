/*
 * A model out of GGUF files.  Tensors are sorted by what their names say into
 * the parts that experts and routers are made of, and the rest, which is
 * dense; then each layer that has experts is put together: slabs from shapes
 * (model_experts.c), k and the router rule from keys, biases from their
 * tensors.  Keys, which the first shard alone has, and tensors that say the
 * same thing must agree.
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

#define VIS_MAX		80		/* of a name, in messages */

const char *
cl_model_key(const struct model_reader *r, char buf[MODEL_KEY_BUF],
    const char *suffix)
{

	(void)snprintf(buf, MODEL_KEY_BUF, "%.*s.%s", MODEL_ARCH_MAX,
	    r->m->arch, suffix);
	return (buf);
}

int
cl_model_add_dense(struct cl_dense **d, uint32_t *n,
    const struct model_tensor *t, struct cl_err *err)
{
	struct cl_dense *p;

	if (t->t->nbytes == 0)
		return (CL_OK);
	if ((*n & (*n - 1)) == 0) {	/* full */
		p = realloc(*d, (*n == 0 ? 1 : 2 * (size_t)*n) * sizeof(*p));
		if (p == NULL)
			return (cl_fail_nomem(err, "the list of tensors"));
		*d = p;
	}
	p = *d + (*n)++;
	p->shard = t->shard;
	p->off = t->t->off;
	p->nbytes = t->t->nbytes;
	return (CL_OK);
}

static int
add_dense(struct model_reader *r, const struct model_tensor *t,
    const struct model_name *n)
{
	struct cl_layer *l;

	if (!n->block || n->layer >= r->m->nlayers)
		return (cl_model_add_dense(&r->m->dense, &r->m->ndense, t,
		    r->err));
	l = &r->m->layers[n->layer];
	return (cl_model_add_dense(&l->dense, &l->ndense, t, r->err));
}

static int
add_tensor(struct model_reader *r, const struct model_tensor *t)
{
	struct model_parts spare = { 0 }, *p;
	struct model_name n;
	char buf[VIS_MAX];

	cl_model_name(t->t->name, &n);
	p = n.layer < r->m->nlayers ? &r->parts[n.layer] : &spare;
	switch (n.role) {
	case MODEL_EXPERTS:
	case MODEL_ONE_EXPERT:
		return (cl_model_note_experts(r, t, &n));
	case MODEL_ADJUGATE:
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: layers "
		    "with a second set of experts are not understood yet",
		    cl_text_vis(buf, sizeof(buf), t->t->name,
		    strlen(t->t->name))));
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
add_tensors(struct model_reader *r)
{
	size_t i;
	int status;

	for (i = 0; i < r->set.ntensors; i++)
		if ((status = add_tensor(r, &r->set.tensors[i])) != CL_OK)
			return (status);
	return (CL_OK);
}

static int
read_bias(struct model_reader *r, const struct model_tensor *t, uint32_t n,
    float **bias)
{
	uint32_t i;
	int status;

	if (t == NULL)
		return (CL_OK);
	if ((*bias = calloc(n, sizeof(**bias))) == NULL)
		return (cl_fail_nomem(r->err, "a router bias"));
	status = cl_gguf_read_f32(r->set.g[t->shard], t->t, *bias, n, r->err);
	if (status != CL_OK)
		return (status);
	for (i = 0; i < n; i++)
		if (isnan((*bias)[i]))
			return (cl_fail(r->err, CL_EFORMAT, "the tensor %s: "
			    "the bias of expert %u is no number", t->t->name,
			    i));
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
set_rule(struct model_reader *r, uint32_t layer)
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
read_routing(struct model_reader *r)
{
	struct model_keys *k = &r->keys;
	char buf[MODEL_KEY_BUF];
	int status;

	status = cl_gguf_u32(r->g, cl_model_key(r, buf, "expert_gating_func"),
	    0, &k->gating, r->err);
	if (status == CL_OK && k->gating > 4)
		return (cl_fail(r->err, CL_ENOTSUP, "the key %s is %u, a "
		    "gating function that is not known", buf, k->gating));
	k->has_norm = cl_gguf_has(r->g, cl_model_key(r, buf,
	    "expert_weights_norm"));
	if (status == CL_OK)
		status = cl_gguf_bool(r->g, buf, false, &k->norm, r->err);
	k->has_scale = cl_gguf_has(r->g, cl_model_key(r, buf,
	    "expert_weights_scale"));
	if (status == CL_OK)
		status = cl_gguf_f32(r->g, buf, 0, &k->scale, r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g,
		    cl_model_key(r, buf, "expert_group_count"), 0, &k->ngroup,
		    r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g,
		    cl_model_key(r, buf, "expert_group_used_count"), k->ngroup,
		    &k->ngroup_used, r->err);
	return (status);
}

static int
read_layer_keys(struct model_reader *r)
{
	uint32_t n = r->m->nlayers, nextra, i;
	char buf[MODEL_KEY_BUF];
	int status;

	r->parts = calloc(n, sizeof(*r->parts));
	r->experts = calloc(n, sizeof(*r->experts));
	r->used = calloc(n, sizeof(*r->used));
	if (r->parts == NULL || r->experts == NULL || r->used == NULL)
		return (cl_fail_nomem(r->err, "the layers of a model"));
	status = cl_gguf_layers(r->g, cl_model_key(r, buf, "expert_count"), 0,
	    r->experts, n, r->err);
	if (status == CL_OK)
		status = cl_gguf_layers(r->g,
		    cl_model_key(r, buf, "expert_used_count"), 0, r->used, n,
		    r->err);
	if (status == CL_OK)
		status = cl_gguf_u32(r->g,
		    cl_model_key(r, buf, "nextn_predict_layers"), 0, &nextra,
		    r->err);
	if (status != CL_OK)
		return (status);
	if (nextra >= n)
		return (cl_fail(r->err, CL_EFORMAT, "the key %s is %u, of %u "
		    "layers", buf, nextra, n));
	for (i = n - nextra; i < n; i++)
		r->m->layers[i].extra = true;
	return (CL_OK);
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
read_names(struct model_reader *r, char **arch, char **name, uint32_t *nlayers)
{
	char buf[MODEL_KEY_BUF];
	size_t n;

	if (!cl_gguf_has(r->g, "general.architecture"))
		return (cl_fail(r->err, CL_EFORMAT, "no key "
		    "general.architecture"));
	*arch = cl_gguf_strdup(r->g, "general.architecture", "", r->err);
	if (*arch == NULL)
		return (r->err->code);
	if ((n = strlen(*arch)) == 0 || n > MODEL_ARCH_MAX)
		return (cl_fail(r->err, CL_EFORMAT, "general.architecture has "
		    "%zu bytes; 1 to %d are understood", n, MODEL_ARCH_MAX));
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
add_shards(struct model_reader *r)
{
	struct cl_shard *s;
	const char *path;
	uint32_t i;

	r->m->shards = calloc(r->set.n, sizeof(*r->m->shards));
	if (r->m->shards == NULL)
		return (cl_fail_nomem(r->err, "the shards of a model"));
	for (i = 0; i < r->set.n; i++) {
		s = &r->m->shards[r->m->nshards++];
		path = cl_gguf_path(r->set.g[i]);
		s->path = cl_vec_strndup(path, strlen(path), r->err);
		if (s->path == NULL)
			return (CL_ENOMEM);
		s->nbytes = cl_gguf_size(r->set.g[i]);
		s->head_hash = cl_gguf_head_hash(r->set.g[i]);
	}
	return (CL_OK);
}

static int
set_rules(struct model_reader *r)
{
	uint32_t i;
	int status;

	for (i = 0; i < r->m->nlayers; i++)
		if (r->m->layers[i].nexperts > 0 &&
		    (status = set_rule(r, i)) != CL_OK)
			return (status);
	return (CL_OK);
}

static int
fill_model(struct model_reader *r)
{
	int status;

	if ((status = add_shards(r)) != CL_OK ||
	    (status = read_layer_keys(r)) != CL_OK ||
	    (status = read_routing(r)) != CL_OK ||
	    (status = add_tensors(r)) != CL_OK ||
	    (status = cl_model_add_experts(r)) != CL_OK ||
	    (status = set_rules(r)) != CL_OK ||
	    (status = cl_model_check(r->m, r->err)) != CL_OK)
		return (status);
	return (cl_model_fingerprint(r));
}

static int
make_model(struct model_reader *r)
{
	char *arch = NULL, *name = NULL;
	uint32_t nlayers;
	int status = read_names(r, &arch, &name, &nlayers);

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
	free(r->ones);
	free(r->experts);
	free(r->used);
	return (status);
}

struct cl_model *
cl_model_open(const char *path, struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct model_reader r = { .err = &own };

	if (cl_model_set_open(&r.set, path, &own) != CL_OK) {
		(void)cl_fail(err, own.code, "%s", own.msg);
		return (NULL);
	}
	r.g = r.set.g[0];
	if (make_model(&r) != CL_OK) {
		cl_err_prefix(&own, path);
		(void)cl_fail(err, own.code, "%s", own.msg);
		cl_model_free(r.m);
		r.m = NULL;
	}
	cl_model_set_close(&r.set);
	return (r.m);
}
