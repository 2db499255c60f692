/*
 * The experts of each layer, out of the tensors that hold parts of them.  A
 * part (the gate's weights, the bias of the up) is one tensor whose outermost
 * dimension counts experts, or, in files of 2023, a tensor of each expert; it
 * becomes one slab either way.  Tensors of single experts are collected as
 * they come and sorted, by number and not by name, so that what a part has is
 * a range of them, and a gap in it the expert that is missing.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/text.h"
#include "cl/vec.h"

#include "model_int.h"

#define VIS_MAX		80		/* of a name, in messages */

int
cl_model_note_experts(struct model_reader *r, const struct model_tensor *t,
    const struct model_name *n)
{
	char buf[VIS_MAX];
	int status;

	if (n->suffix == MODEL_NSUFFIX)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: this part "
		    "of experts is not understood", cl_text_vis(buf,
		    sizeof(buf), t->t->name, strlen(t->t->name))));
	if (n->layer >= r->m->nlayers)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s: the model "
		    "has %u layers", t->t->name, r->m->nlayers));
	if (!t->t->known)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s is of "
		    "unknown type %u, so the bytes of an expert are not known",
		    t->t->name, t->t->type));
	if (n->role == MODEL_EXPERTS) {
		r->parts[n->layer].experts[n->kind][n->suffix].all = t;
		return (CL_OK);
	}
	status = cl_vec_grow(&r->ones, &r->ones_cap, r->nones + 1,
	    sizeof(*r->ones), r->err);
	if (status == CL_OK)
		r->ones[r->nones++] = (struct model_one){ t, *n };
	return (status);
}

static bool
same_part(const struct model_name *a, const struct model_name *b)
{

	return (a->layer == b->layer && a->kind == b->kind &&
	    a->suffix == b->suffix);
}

static int
one_order(const void *x, const void *y)
{
	const struct model_name *a = &((const struct model_one *)x)->name;
	const struct model_name *b = &((const struct model_one *)y)->name;

	if (a->layer != b->layer)
		return (a->layer < b->layer ? -1 : 1);
	if (a->kind != b->kind)
		return (a->kind < b->kind ? -1 : 1);
	if (a->suffix != b->suffix)
		return (a->suffix < b->suffix ? -1 : 1);
	return ((a->expert > b->expert) - (a->expert < b->expert));
}

/* Hand each part its range of the tensors of single experts. */
static int
share_ones(struct model_reader *r)
{
	const struct model_one *o, *end;
	struct model_part *p;

	if (r->nones == 0)
		return (CL_OK);
	qsort(r->ones, r->nones, sizeof(*r->ones), one_order);
	end = r->ones + r->nones;
	for (o = r->ones; o < end; o += p->neach) {
		p = &r->parts[o->name.layer].experts[o->name.kind]
		    [o->name.suffix];
		p->each = o;
		while (o + p->neach < end &&
		    same_part(&o->name, &o[p->neach].name))
			p->neach++;
		if (p->all != NULL)
			return (cl_fail(r->err, CL_EFORMAT, "the tensor %s "
			    "has all experts, and %s one of them again",
			    p->all->t->name, o->tensor->t->name));
	}
	return (CL_OK);
}

const struct cl_gguf_tensor *
cl_model_part_tensor(const struct model_part *p)
{

	if (p->all != NULL)
		return (p->all->t);
	return (p->each != NULL ? p->each->tensor->t : NULL);
}

static bool
has_experts(const struct model_parts *p)
{
	size_t kind, suffix;

	for (kind = 1; kind < MODEL_NKINDS; kind++)
		for (suffix = 0; suffix < MODEL_NSUFFIX; suffix++)
			if (cl_model_part_tensor(&p->experts[kind][suffix]) !=
			    NULL)
				return (true);
	return (false);
}

static bool
has_weight(const struct model_parts *p, enum cl_slab_kind kind)
{

	return (cl_model_part_tensor(&p->experts[kind][MODEL_WEIGHT]) != NULL);
}

/* Every expert has a way in and a way out; a gate is not everybody's. */
static int
check_parts(struct model_reader *r, uint32_t layer)
{
	const struct model_parts *p = &r->parts[layer];
	bool fused = has_weight(p, CL_SLAB_GATE_UP);

	if (fused && (has_weight(p, CL_SLAB_GATE) ||
	    has_weight(p, CL_SLAB_UP)))
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has "
		    "blk.%u.ffn_gate_up_exps.weight and its halves as well",
		    layer, layer));
	if (!has_weight(p, CL_SLAB_UP) && !fused)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no blk.%u.ffn_up_exps.weight", layer, layer));
	if (!has_weight(p, CL_SLAB_DOWN))
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no blk.%u.ffn_down_exps.weight", layer, layer));
	if (p->router == NULL)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has experts, "
		    "but no router blk.%u.ffn_gate_inp.weight", layer, layer));
	return (CL_OK);
}

/* The number of experts by the shape of a tensor of all of them. */
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

/* Is it of one expert: a matrix, a row of biases, a scale? */
static bool
is_of_one(const struct cl_gguf_tensor *t, size_t suffix)
{

	return (t->ne[2] == 1 && t->ne[3] == 1 &&
	    (suffix == MODEL_WEIGHT || t->ne[1] == 1) &&
	    (suffix <= MODEL_BIAS || t->ne[0] == 1));
}

static bool
same_kind(const struct cl_gguf_tensor *a, const struct cl_gguf_tensor *b)
{

	return (a->type == b->type && a->ne[0] == b->ne[0] &&
	    a->ne[1] == b->ne[1] && a->nbytes == b->nbytes);
}

/* The next slab of the layer, of experts of nbytes, made as t is. */
static struct cl_slab *
new_slab(struct cl_layer *l, size_t kind, const struct cl_gguf_tensor *t,
    uint64_t nbytes)
{
	struct cl_slab *s = &l->slabs[l->nslabs++];

	s->kind = (enum cl_slab_kind)kind;
	s->type = t->type;
	s->nbytes = nbytes;
	l->expert_bytes += nbytes;
	return (s);
}

/* One tensor's part of the layer's experts. */
static int
add_slab(struct model_reader *r, uint32_t layer, size_t kind, size_t suffix,
    const struct model_tensor *mt)
{
	const struct cl_gguf_tensor *t = mt->t;
	struct cl_layer *l = &r->m->layers[layer];
	struct cl_slab *s;
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
		return (cl_model_add_dense(&l->dense, &l->ndense, mt, r->err));
	if (n != l->nexperts)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s holds %"
		    PRIu64 " experts, others of layer %u hold %u", t->name, n,
		    layer, l->nexperts));
	s = new_slab(l, kind, t, t->nbytes / n);
	s->shard = mt->shard;
	s->off = t->off;
	s->stride = s->nbytes;
	return (CL_OK);
}

/* There is a tensor of each expert that the router scores, and no more. */
static int
check_each(struct model_reader *r, uint32_t layer, size_t kind, size_t suffix)
{
	const struct model_part *p = &r->parts[layer].experts[kind][suffix];
	uint64_t i, n = r->parts[layer].router->t->ne[1];

	for (i = 0; i < n && i < p->neach && p->each[i].name.expert == i; i++)
		;
	if (i == n && i < p->neach)
		return (cl_fail(r->err, CL_EFORMAT, "the tensor %s: the "
		    "router scores %" PRIu64 " experts",
		    p->each[i].tensor->t->name, n));
	if (i < n)
		return (cl_fail(r->err, CL_EFORMAT, "no blk.%u.ffn_%s.%" PRIu64
		    ".%s, and there is %s", layer,
		    cl_model_slab_name((enum cl_slab_kind)kind), i,
		    cl_model_suffix_name((enum model_suffix)suffix),
		    p->each[i < p->neach ? i : i - 1].tensor->t->name));
	if (n > CL_RULE_EXPERTS_MAX)
		return (cl_fail(r->err, CL_EFORMAT, "layer %u has %" PRIu64
		    " experts; 1 to %d are understood", layer, n,
		    CL_RULE_EXPERTS_MAX));
	return (CL_OK);
}

/* A part of the layer's experts that has a tensor of each. */
static int
add_places(struct model_reader *r, uint32_t layer, size_t kind, size_t suffix,
    const struct model_part *p)
{
	const struct cl_gguf_tensor *first = p->each[0].tensor->t, *t;
	struct cl_layer *l = &r->m->layers[layer];
	struct cl_slab *s;
	size_t i;
	int status;

	if ((status = check_each(r, layer, kind, suffix)) != CL_OK)
		return (status);
	if (!is_of_one(first, suffix) || first->nbytes == 0)
		return (cl_fail(r->err, CL_ENOTSUP, "the tensor %s: %u "
		    "dimensions and %" PRIu64 " bytes, not those of one "
		    "expert", first->name, first->ndims, first->nbytes));
	if (l->nexperts == 0)
		l->nexperts = (uint32_t)p->neach;
	if (p->neach != l->nexperts)
		return (cl_fail(r->err, CL_EFORMAT, "the tensors %s and so on "
		    "hold %zu experts, others of layer %u hold %u",
		    first->name, p->neach, layer, l->nexperts));
	s = new_slab(l, kind, first, first->nbytes);
	if ((s->places = calloc(p->neach, sizeof(*s->places))) == NULL)
		return (cl_fail_nomem(r->err, "the places of experts"));
	for (i = 0; i < p->neach; i++) {
		t = p->each[i].tensor->t;
		if (!same_kind(first, t) || !is_of_one(t, suffix))
			return (cl_fail(r->err, CL_ENOTSUP, "the tensors %s "
			    "and %s differ in type or shape; experts of a "
			    "layer must be alike", first->name, t->name));
		s->places[i].shard = p->each[i].tensor->shard;
		s->places[i].off = t->off;
	}
	return (CL_OK);
}

/* Weights first: they say how many experts there are. */
static int
add_slabs(struct model_reader *r, uint32_t layer)
{
	struct cl_layer *l = &r->m->layers[layer];
	const struct model_part *p;
	size_t kind, suffix;
	int status = CL_OK;

	l->slabs = calloc(CL_MODEL_SLABS_MAX, sizeof(*l->slabs));
	if (l->slabs == NULL)
		return (cl_fail_nomem(r->err, "the list of slabs"));
	for (suffix = 0; suffix < MODEL_NSUFFIX; suffix++)
		for (kind = 1; kind < MODEL_NKINDS; kind++) {
			p = &r->parts[layer].experts[kind][suffix];
			if (p->all != NULL)
				status = add_slab(r, layer, kind, suffix,
				    p->all);
			else if (p->each != NULL)
				status = add_places(r, layer, kind, suffix, p);
			if (status != CL_OK)
				return (status);
		}
	return (CL_OK);
}

static int
check_counts(struct model_reader *r, uint32_t layer)
{
	const struct cl_gguf_tensor *router = r->parts[layer].router->t;
	uint32_t n = r->m->layers[layer].nexperts;
	char buf[MODEL_KEY_BUF];

	if (router->ne[1] != n || router->ne[2] != 1 || router->ne[3] != 1)
		return (cl_fail(r->err, CL_EFORMAT, "the router %s scores %"
		    PRIu64 " experts, and layer %u has %u", router->name,
		    router->ne[1], layer, n));
	if (cl_gguf_has(r->g, cl_model_key(r, buf, "expert_count")) &&
	    r->experts[layer] != n)
		return (cl_fail(r->err, CL_EFORMAT, "the key %s says %u, and "
		    "the tensors of layer %u hold %u experts", buf,
		    r->experts[layer], layer, n));
	if (!cl_gguf_has(r->g, cl_model_key(r, buf, "expert_used_count")))
		return (cl_fail(r->err, CL_EFORMAT, "no key %s", buf));
	return (CL_OK);
}

int
cl_model_add_experts(struct model_reader *r)
{
	uint32_t i;
	int status = share_ones(r);

	for (i = 0; i < r->m->nlayers && status == CL_OK; i++) {
		if (!has_experts(&r->parts[i]))
			continue;
		if ((status = check_parts(r, i)) == CL_OK &&
		    (status = add_slabs(r, i)) == CL_OK)
			status = check_counts(r, i);
	}
	return (status);
}
