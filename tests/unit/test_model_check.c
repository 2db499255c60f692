/*
 * model/: the bounds of a model that came from elsewhere than its file.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/model.h"
#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "model_make.h"
#include "unit.h"

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
	{ "a check holds every bound of slabs",
	    a_check_holds_every_bound_of_slabs },
	{ "a check holds every bound of layers and sums",
	    a_check_holds_every_bound_of_layers_and_sums },
	{ "a check looks at every place of an expert",
	    a_check_looks_at_every_place },
	{ "slab kinds have names", slab_kinds_have_names },
};

UNIT_MAIN(units)
