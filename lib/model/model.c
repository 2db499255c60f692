/*
 * Models as values: made empty, checked, summed up, freed.  Whoever fills one
 * in, a GGUF file or the head of a trace, hands it through cl_model_check,
 * and from then on nobody asks again whether offsets and sums hold.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/model.h"
#include "cl/num.h"
#include "cl/vec.h"

static const char *const slab_names[] = { NULL, "gate", "up", "down",
    "gate_up" };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct cl_model *
cl_model_new(uint32_t nlayers, struct cl_err *err)
{
	struct cl_model *m;

	if (nlayers == 0 || nlayers > CL_MODEL_LAYERS_MAX) {
		cl_fail(err, CL_EFORMAT, "%u layers; 1 to %d are understood",
		    nlayers, CL_MODEL_LAYERS_MAX);
		return (NULL);
	}
	if ((m = calloc(1, sizeof(*m))) == NULL ||
	    (m->layers = calloc(nlayers, sizeof(*m->layers))) == NULL ||
	    (m->name = cl_vec_strndup("", 0, err)) == NULL ||
	    (m->arch = cl_vec_strndup("", 0, err)) == NULL) {
		cl_fail_nomem(err, "a model");
		cl_model_free(m);
		return (NULL);
	}
	m->nlayers = nlayers;
	return (m);
}

/* Do nbytes at off lie inside the shard? */
static bool
inside(const struct cl_model *m, uint32_t shard, uint64_t off, uint64_t nbytes)
{

	return (shard < m->nshards && off <= m->shards[shard].nbytes &&
	    nbytes <= m->shards[shard].nbytes - off);
}

static int
outside(const struct cl_model *m, const char *name, uint32_t expert,
    const struct cl_place *p, uint64_t nbytes, struct cl_err *err)
{

	return (cl_fail(err, CL_EFORMAT, "%s: expert %u, %" PRIu64 " bytes at "
	    "byte %" PRIu64 ", does not lie inside shard %u of %u", name,
	    expert, nbytes, p->off, p->shard, m->nshards));
}

/* A slab of experts that have a place each. */
static int
check_places(const struct cl_model *m, const struct cl_layer *l,
    const struct cl_slab *s, const char *name, struct cl_err *err)
{
	const struct cl_place *p = s->places;
	uint32_t i;

	if (s->shard != 0 || s->off != 0 || s->stride != 0)
		return (cl_fail(err, CL_EFORMAT, "%s: a place for each expert, "
		    "and one for all", name));
	for (i = 0; i < l->nexperts; i++)
		if (!inside(m, p[i].shard, p[i].off, s->nbytes))
			return (outside(m, name, i, &p[i], s->nbytes, err));
	return (CL_OK);
}

static int
check_slab(const struct cl_model *m, const struct cl_layer *l,
    const struct cl_slab *s, struct cl_err *err)
{
	const char *name = cl_model_slab_name(s->kind);
	uint64_t all;

	if (name == NULL)
		return (cl_fail(err, CL_EFORMAT, "a slab of unknown kind %u",
		    (unsigned)s->kind));
	if (s->nbytes == 0)
		return (cl_fail(err, CL_EFORMAT, "%s: experts of no bytes",
		    name));
	if (s->places != NULL)
		return (check_places(m, l, s, name, err));
	if (l->nexperts > 1 && s->stride < s->nbytes)
		return (cl_fail(err, CL_EFORMAT, "%s: experts of %" PRIu64
		    " bytes, only %" PRIu64 " apart", name, s->nbytes,
		    s->stride));
	if (!cl_mul(l->nexperts - 1, s->stride, &all) ||
	    !cl_add(all, s->nbytes, &all) ||
	    !inside(m, s->shard, s->off, all))
		return (cl_fail(err, CL_EFORMAT, "%s: %u experts %" PRIu64
		    " bytes apart at byte %" PRIu64 " do not lie inside "
		    "shard %u of %u", name, l->nexperts, s->stride, s->off,
		    s->shard, m->nshards));
	return (CL_OK);
}

static int
check_dense(const struct cl_model *m, const struct cl_dense *d, uint32_t n,
    uint64_t *sum, struct cl_err *err)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!inside(m, d[i].shard, d[i].off, d[i].nbytes))
			return (cl_fail(err, CL_EFORMAT, "a tensor of %" PRIu64
			    " bytes at byte %" PRIu64 " does not lie inside "
			    "shard %u of %u", d[i].nbytes, d[i].off,
			    d[i].shard, m->nshards));
		if (!cl_add(*sum, d[i].nbytes, sum))
			return (cl_fail(err, CL_EFORMAT, "dense tensors of "
			    "more bytes than 64 bits can say"));
	}
	return (CL_OK);
}

static int
check_moe(const struct cl_model *m, const struct cl_layer *l, uint64_t *sum,
    struct cl_err *err)
{
	uint64_t bytes = 0, all;
	uint32_t i;
	int status;

	if (l->rule.nexperts != l->nexperts || l->rule.k != l->k)
		return (cl_fail(err, CL_EFORMAT, "%u experts, k %u, and a "
		    "rule for %u experts, k %u", l->nexperts, l->k,
		    l->rule.nexperts, l->rule.k));
	if ((status = cl_rule_check(&l->rule, err)) != CL_OK)
		return (status);
	if (l->nslabs > CL_MODEL_SLABS_MAX)
		return (cl_fail(err, CL_EFORMAT, "%u slabs, at most %d",
		    l->nslabs, CL_MODEL_SLABS_MAX));
	for (i = 0; i < l->nslabs; i++) {
		status = check_slab(m, l, &l->slabs[i], err);
		if (status != CL_OK)
			return (status);
		if (!cl_add(bytes, l->slabs[i].nbytes, &bytes))
			return (cl_fail(err, CL_EFORMAT, "an expert of more "
			    "bytes than 64 bits can say"));
	}
	if (l->nslabs > 0 && bytes != l->expert_bytes)
		return (cl_fail(err, CL_EFORMAT, "experts of %" PRIu64
		    " bytes whose slabs have %" PRIu64, l->expert_bytes,
		    bytes));
	if (!cl_mul(l->expert_bytes, l->nexperts, &all) ||
	    !cl_add(*sum, all, sum) || *sum > INT64_MAX)
		return (cl_fail(err, CL_EFORMAT, "experts of more bytes than "
		    "files can have"));
	return (CL_OK);
}

static int
check_layer(const struct cl_model *m, const struct cl_layer *l,
    uint64_t *experts, uint64_t *dense, struct cl_err *err)
{
	int status = check_dense(m, l->dense, l->ndense, dense, err);

	if (status != CL_OK || l->nexperts > 0)
		return (status != CL_OK ? status :
		    check_moe(m, l, experts, err));
	if (l->k != 0 || l->nslabs != 0 || l->expert_bytes != 0)
		return (cl_fail(err, CL_EFORMAT, "a dense layer with k %u, %u "
		    "slabs and experts of %" PRIu64 " bytes", l->k, l->nslabs,
		    l->expert_bytes));
	return (CL_OK);
}

int
cl_model_check(const struct cl_model *m, struct cl_err *err)
{
	uint64_t experts = 0, dense = 0;
	char prefix[32];
	uint32_t i, nmoe = 0;
	int status;

	if (m->nlayers == 0 || m->nlayers > CL_MODEL_LAYERS_MAX)
		return (cl_fail(err, CL_EFORMAT, "%u layers; 1 to %d are "
		    "understood", m->nlayers, CL_MODEL_LAYERS_MAX));
	if (m->nshards > CL_MODEL_SHARDS_MAX)
		return (cl_fail(err, CL_EFORMAT, "%u shards; at most %d are "
		    "understood", m->nshards, CL_MODEL_SHARDS_MAX));
	if ((status = check_dense(m, m->dense, m->ndense, &dense, err)) !=
	    CL_OK)
		return (status);
	for (i = 0; i < m->nlayers; i++) {
		status = check_layer(m, &m->layers[i], &experts, &dense, err);
		if (status != CL_OK) {
			(void)snprintf(prefix, sizeof(prefix), "layer %u", i);
			cl_err_prefix(err, prefix);
			return (status);
		}
		nmoe += m->layers[i].nexperts > 0 && !m->layers[i].extra;
	}
	if (nmoe == 0)
		return (cl_fail(err, CL_ENOTSUP, "no MoE layers: none of the "
		    "%u layers has routed experts", m->nlayers));
	return (CL_OK);
}

struct cl_place
cl_model_place(const struct cl_slab *s, uint32_t expert)
{

	if (s->places != NULL)
		return (s->places[expert]);
	return ((struct cl_place){ s->shard, s->off + expert * s->stride });
}

static uint64_t
dense_sum(const struct cl_dense *d, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += d[i].nbytes;
	return (sum);
}

void
cl_model_sums(const struct cl_model *m, struct cl_model_sums *s)
{
	const struct cl_layer *l;

	memset(s, 0, sizeof(*s));
	s->bytes_known = true;
	s->dense_bytes = dense_sum(m->dense, m->ndense);
	for (l = m->layers; l < m->layers + m->nlayers; l++) {
		if (l->extra)
			continue;
		s->dense_bytes += dense_sum(l->dense, l->ndense);
		if (l->nexperts == 0)
			continue;
		s->nmoe++;
		s->experts += l->nexperts;
		s->expert_bytes += l->nexperts * l->expert_bytes;
		if (l->expert_bytes > s->expert_bytes_max)
			s->expert_bytes_max = l->expert_bytes;
		s->demand_experts += l->k;
		s->demand_bytes += l->k * l->expert_bytes;
		s->bytes_known = s->bytes_known && l->expert_bytes > 0;
	}
}

void
cl_model_free(struct cl_model *m)
{
	struct cl_layer *l;
	uint32_t i, j;

	if (m == NULL)
		return;
	for (i = 0; i < m->nlayers; i++) {
		l = &m->layers[i];
		for (j = 0; j < l->nslabs; j++)
			free(l->slabs[j].places);
		free(l->slabs);
		free(l->dense);
		cl_rule_free(&l->rule);
	}
	for (i = 0; i < m->nshards; i++)
		free(m->shards[i].path);
	free(m->layers);
	free(m->shards);
	free(m->dense);
	free(m->name);
	free(m->arch);
	free(m);
}

const char *
cl_model_slab_name(enum cl_slab_kind kind)
{

	return ((size_t)kind < COUNT(slab_names) ? slab_names[kind] : NULL);
}

enum cl_slab_kind
cl_model_slab_by_name(const char *s)
{
	size_t i;

	for (i = 1; i < COUNT(slab_names); i++)
		if (strcmp(slab_names[i], s) == 0)
			return ((enum cl_slab_kind)i);
	return (0);
}
