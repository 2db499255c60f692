/*
 * The fingerprint of a model: what tells two models apart, and only that.  It
 * does not depend on file names, on how a model is split, on the order and
 * places of tensors, on keys that have no part in routing, or on whether the
 * experts of a layer are one tensor, with gate and up fused or apart, or a
 * tensor each.  Two fine-tunes differ, since router weights go in whole.
 *
 * It is XXH64 with seed 0 over the bytes below; integers are u64
 * little-endian, a string ends in a NUL.  A value of 0 becomes 1.
 *
 *   1. "cl-model-1", and general.architecture, as strings.
 *   2. The number of layers (block_count).  For each layer: experts, k (0 and
 *      0 where it is dense), 1 if it is an extra prediction layer, else 0.
 *   3. Routing keys: expert_gating_func, 0 if absent; expert_weights_norm, 0
 *      if absent, 1 false, 2 true; expert_weights_scale as the bits of an
 *      f32, 0 if absent; expert_group_count, 0 if absent;
 *      expert_group_used_count, if absent as the one before.
 *   4. Each tensor that is not a part of routed experts, in ascending byte
 *      order of names: its name as a string; its type; four dimensions,
 *      fastest first, 1 where it has fewer.
 *   5. For each layer with experts: for each run of consecutive experts, as
 *      long as possible, whose parts are alike: layer, first expert, number
 *      of experts, number of parts; for each part, ascending: part, type, and
 *      two dimensions of one expert.  Part is 1 gate, 2 up, 3 down, plus 4
 *      for a bias, 8 for a scale, 12 for an input scale.  The dimensions of a
 *      matrix are its two, those of a bias its length and 1, those of a scale
 *      1 and 1.  A fused gate and up counts as a gate and an up, each with
 *      half of its second dimension (of a bias: of its length).
 *   6. For each layer with experts: ffn_gate_inp.weight, ffn_gate_inp.bias,
 *      exp_probs_b, each as the number of its bytes and these bytes; 0 if
 *      absent.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/hash.h"
#include "cl/model.h"

#include "model_int.h"

#define PARTS_MAX	16
#define PIECE		65536		/* of weights, read at a time */

struct part {
	uint64_t	 part;
	uint64_t	 type;
	uint64_t	 ne[2];
};

static void
add_keys(struct cl_hash *h, const struct cl_model *m,
    const struct model_keys *k)
{
	const struct cl_layer *l;
	uint32_t bits;

	cl_hash_add_str(h, "cl-model-1");
	cl_hash_add_str(h, m->arch);
	cl_hash_add_u64(h, m->nlayers);
	for (l = m->layers; l < m->layers + m->nlayers; l++) {
		cl_hash_add_u64(h, l->nexperts);
		cl_hash_add_u64(h, l->k);
		cl_hash_add_u64(h, l->extra);
	}
	memcpy(&bits, &k->scale, sizeof(bits));
	cl_hash_add_u64(h, k->gating);
	cl_hash_add_u64(h, k->has_norm ? 1 + (uint64_t)k->norm : 0);
	cl_hash_add_u64(h, k->has_scale ? bits : 0);
	cl_hash_add_u64(h, k->ngroup);
	cl_hash_add_u64(h, k->ngroup_used);
}

static void
add_tensors(struct cl_hash *h, const struct model_set *set)
{
	const struct cl_gguf_tensor *t;
	struct model_name n;
	size_t i, d;

	for (i = 0; i < set->ntensors; i++) {
		t = set->tensors[i].t;
		cl_model_name(t->name, &n);
		if (n.role == MODEL_EXPERTS || n.role == MODEL_ONE_EXPERT)
			continue;
		cl_hash_add_str(h, t->name);
		cl_hash_add_u64(h, t->type);
		for (d = 0; d < 4; d++)
			cl_hash_add_u64(h, t->ne[d]);
	}
}

static void
push(struct part *parts, size_t *n, uint64_t kind, size_t suffix,
    const struct cl_gguf_tensor *t, uint64_t share)
{
	struct part *p = &parts[(*n)++];

	p->part = kind + 4 * suffix;
	p->type = t->type;
	p->ne[0] = p->ne[1] = 1;
	if (suffix == MODEL_WEIGHT) {
		p->ne[0] = t->ne[0];
		p->ne[1] = t->ne[1] / share;
	} else if (suffix == MODEL_BIAS) {
		p->ne[0] = t->ne[0] / share;
	}
}

/* The parts of each expert of a layer, ascending. */
static size_t
list_parts(const struct model_parts *m, struct part *parts)
{
	const struct cl_gguf_tensor *t, *fused;
	size_t suffix, kind, n = 0;

	for (suffix = 0; suffix < MODEL_NSUFFIX; suffix++) {
		fused = cl_model_part_tensor(
		    &m->experts[CL_SLAB_GATE_UP][suffix]);
		for (kind = CL_SLAB_GATE; kind <= CL_SLAB_DOWN; kind++) {
			t = cl_model_part_tensor(&m->experts[kind][suffix]);
			if (t != NULL)
				push(parts, &n, kind, suffix, t, 1);
			else if (fused != NULL && kind != CL_SLAB_DOWN)
				push(parts, &n, kind, suffix, fused, 2);
		}
	}
	return (n);
}

/* Experts of a layer that are not alike were refused: one run. */
static void
add_experts(struct cl_hash *h, uint32_t layer, uint32_t nexperts,
    const struct model_parts *m)
{
	struct part parts[PARTS_MAX];
	size_t i, n = list_parts(m, parts);

	cl_hash_add_u64(h, layer);
	cl_hash_add_u64(h, 0);
	cl_hash_add_u64(h, nexperts);
	cl_hash_add_u64(h, n);
	for (i = 0; i < n; i++) {
		cl_hash_add_u64(h, parts[i].part);
		cl_hash_add_u64(h, parts[i].type);
		cl_hash_add_u64(h, parts[i].ne[0]);
		cl_hash_add_u64(h, parts[i].ne[1]);
	}
}

static int
add_bytes(struct cl_hash *h, const struct model_reader *r,
    const struct model_tensor *t, uint8_t *buf)
{
	uint64_t at, nbytes = t == NULL ? 0 : t->t->nbytes;
	size_t n;
	int status;

	cl_hash_add_u64(h, nbytes);
	if (t != NULL && !t->t->known)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s is of "
		    "unknown type %u, and the router is what this is about",
		    t->t->name, t->t->type));
	for (at = 0; at < nbytes; at += n) {
		n = nbytes - at < PIECE ? (size_t)(nbytes - at) : PIECE;
		status = cl_model_set_read(&r->set, t, at, buf, n, r->err);
		if (status != CL_OK)
			return (status);
		cl_hash_add(h, buf, n);
	}
	return (CL_OK);
}

static int
add_router(struct cl_hash *h, const struct model_reader *r,
    const struct model_parts *p, uint8_t *buf)
{
	int status;

	if ((status = add_bytes(h, r, p->router, buf)) != CL_OK ||
	    (status = add_bytes(h, r, p->gate_bias, buf)) != CL_OK)
		return (status);
	return (add_bytes(h, r, p->sel_bias, buf));
}

int
cl_model_fingerprint(struct model_reader *r)
{
	struct cl_model *m = r->m;
	struct cl_hash h;
	uint8_t *buf;
	uint32_t i;
	int status = CL_OK;

	if ((buf = malloc(PIECE)) == NULL)
		return (cl_fail_nomem(r->err, "a fingerprint"));
	cl_hash_init(&h);
	add_keys(&h, m, &r->keys);
	add_tensors(&h, &r->set);
	for (i = 0; i < m->nlayers; i++)
		if (m->layers[i].nexperts > 0)
			add_experts(&h, i, m->layers[i].nexperts,
			    &r->parts[i]);
	for (i = 0; i < m->nlayers && status == CL_OK; i++)
		if (m->layers[i].nexperts > 0)
			status = add_router(&h, r, &r->parts[i], buf);
	free(buf);
	m->fingerprint = cl_hash_end(&h);
	if (m->fingerprint == 0)
		m->fingerprint = 1;
	return (status);
}
