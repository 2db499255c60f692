/*
 * Budgets: every unit becomes slots, never more than it pays for; and where
 * experts differ in size, each size has slots of its own or the waste is told.
 */

#include <string.h>

#include "cl/budget.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/rng.h"
#include "cl/text.h"
#include "unit.h"

struct layer {
	uint32_t	nexperts;
	uint64_t	expert_bytes;
};

static struct cl_model *
make_model(const struct layer *layer, uint32_t n)
{
	struct cl_model *m = cl_model_new(n, NULL);
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < n; i++) {
		m->layers[i].nexperts = layer[i].nexperts;
		m->layers[i].k = layer[i].nexperts > 0;
		m->layers[i].expert_bytes = layer[i].expert_bytes;
	}
	return (m);
}

static struct cl_budget_slots
resolve(enum cl_budget_unit unit, uint64_t amount,
    enum cl_partition partition, const struct cl_model *m)
{
	struct cl_budget b = { unit, amount };
	struct cl_budget_slots s;

	assert(cl_budget_resolve(&b, partition, m, &s, NULL) == CL_OK);
	return (s);
}

static void
budgets_become_slots(void)
{
	static const struct layer layer = { 12, 10000 };
	struct cl_model *m = make_model(&layer, 1);
	struct cl_budget b = { CL_BUDGET_BYTES, 4096 };
	struct cl_budget_slots s;
	struct cl_err err = { 0 };

	s = resolve(CL_BUDGET_BYTES, 12288 * 3 + 12287, CL_PARTITION_GLOBAL,
	    m);
	assert(s.nslots == 3 && s.stride == 12288 && s.nbytes == 36864);
	assert(!s.raised && s.waste == 36864 - 30000);
	s = resolve(CL_BUDGET_BYTES, 12287, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 1 && s.raised);
	s = resolve(CL_BUDGET_BYTES, 0, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 1 && s.raised);
	s = resolve(CL_BUDGET_BYTES, 12288, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 1 && !s.raised);
	s = resolve(CL_BUDGET_BYTES, UINT64_MAX, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 12);
	s = resolve(CL_BUDGET_PERCENT, 2499, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 2);
	s = resolve(CL_BUDGET_PERCENT, 2500, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 3);
	s = resolve(CL_BUDGET_EXPERTS, 7, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 7);
	m->layers[0].expert_bytes = 0;		/* unknown */
	s = resolve(CL_BUDGET_EXPERTS, 7, CL_PARTITION_CLASS, m);
	assert(s.nslots == 7 && s.nbytes == 0 && s.waste == 0);
	assert(cl_budget_resolve(&b, CL_PARTITION_GLOBAL, m, &s, &err) ==
	    CL_EINVAL);
	memset(&err, 0, sizeof(err));
	assert(cl_budget_resolve(&b, CL_PARTITION_CLASS, m, &s, &err) ==
	    CL_EINVAL);
	cl_model_free(m);
}

static void
more_bytes_than_can_be_said_are_refused(void)
{
	static const struct layer layer = { 4, UINT64_C(1) << 62 };
	struct cl_model *m = make_model(&layer, 1);
	struct cl_budget b = { CL_BUDGET_EXPERTS, 3 };
	struct cl_budget_slots s;
	unsigned p;

	for (p = CL_PARTITION_GLOBAL; p <= CL_PARTITION_CLASS; p++) {
		b.amount = 3;
		assert(cl_budget_resolve(&b, (enum cl_partition)p, m, &s,
		    NULL) == CL_OK);
		b.amount = 4;
		assert(cl_budget_resolve(&b, (enum cl_partition)p, m, &s,
		    NULL) == CL_EINVAL);
	}
	cl_model_free(m);
}

/* Two large layers around a small one, and a layer without experts. */
static const struct layer mixed[] = { { 8, 40960 }, { 4, 8192 }, { 0, 0 },
    { 8, 40960 } };

static void
bytes_are_split_by_the_bytes_of_the_classes(void)
{
	struct cl_model *m = make_model(mixed, 4);
	const struct cl_budget_class *c;
	struct cl_budget_slots s;

	/* 655360 and 32768 bytes; half of it all. */
	s = resolve(CL_BUDGET_BYTES, 344064, CL_PARTITION_CLASS, m);
	c = s.classes.class;
	assert(s.classes.n == 2 && c[0].expert_bytes == 40960);
	assert(c[0].nlayers == 2 && c[0].nexperts == 16 && c[0].nslots == 8);
	assert(c[1].nlayers == 1 && c[1].nexperts == 4 && c[1].nslots == 2);
	assert(c[0].stride == 40960 && c[1].stride == 8192);
	assert(s.nslots == 10 && s.nbytes == 344064 && s.waste == 0);
	assert(s.stride == 40960 && !s.raised);

	/* One byte less: what both shares leave over is a large slot. */
	s = resolve(CL_BUDGET_BYTES, 344063, CL_PARTITION_CLASS, m);
	assert(c[0].nslots == 8 && c[1].nslots == 1);

	/* The same budget in slots of the largest: 8, for all layers. */
	s = resolve(CL_BUDGET_BYTES, 344064, CL_PARTITION_GLOBAL, m);
	assert(s.nslots == 8 && s.nbytes == 327680);
	assert(s.waste == 327680 - 8 * (655360 + 32768) / 20);
	s = resolve(CL_BUDGET_BYTES, 344064, CL_PARTITION_LAYER, m);
	assert(s.nslots == 8 && s.waste == 3 * (40960 - 8192));
	cl_model_free(m);
}

static void
slots_are_split_by_the_experts_of_the_classes(void)
{
	struct cl_model *m = make_model(mixed, 4);
	const struct cl_budget_class *c;
	struct cl_budget_slots s;
	uint32_t n;

	s = resolve(CL_BUDGET_PERCENT, 5000, CL_PARTITION_CLASS, m);
	c = s.classes.class;
	assert(s.nslots == 10 && c[0].nslots == 8 && c[1].nslots == 2);
	s = resolve(CL_BUDGET_EXPERTS, 7, CL_PARTITION_CLASS, m);
	assert(c[0].nslots == 6 && c[1].nslots == 1);	/* 5.6 and 1.4 */
	for (n = 1; n <= 20; n++) {
		s = resolve(CL_BUDGET_EXPERTS, n, CL_PARTITION_CLASS, m);
		assert(s.nslots == n && c[0].nslots + c[1].nslots == n);
		assert(s.nbytes == c[0].nslots * 40960 + c[1].nslots * 8192);
	}
	cl_model_free(m);
}

static void
one_slot_at_the_least_is_of_the_smallest_class(void)
{
	struct cl_model *m = make_model(mixed, 4);
	struct cl_budget_slots s;

	s = resolve(CL_BUDGET_BYTES, 1, CL_PARTITION_CLASS, m);
	assert(s.raised && s.nslots == 1 && s.nbytes == 8192);
	assert(s.classes.class[0].nslots == 0);
	s = resolve(CL_BUDGET_BYTES, 8191, CL_PARTITION_CLASS, m);
	assert(s.raised && s.nslots == 1);
	s = resolve(CL_BUDGET_BYTES, 8192, CL_PARTITION_CLASS, m);
	assert(!s.raised && s.nslots == 1);
	cl_model_free(m);
}

/* A model of random sizes, some of them alike. */
static struct cl_model *
random_model(uint64_t *rng)
{
	struct layer layer[12];
	uint64_t unit = 1 + cl_rng_below(rng, 9000);
	uint32_t i, n = 1 + (uint32_t)cl_rng_below(rng, 12);

	for (i = 0; i < n; i++) {
		layer[i].nexperts = 1 + (uint32_t)cl_rng_below(rng, 40);
		layer[i].expert_bytes = unit * (1 + cl_rng_below(rng, 4));
	}
	return (make_model(layer, n));
}

static uint64_t
bytes_of_all(const struct cl_budget_classes *c)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < c->n; i++)
		n += c->class[i].nexperts * c->class[i].stride;
	return (n);
}

/*
 * Whatever the sizes: within the budget, nothing left over that a slot would
 * go into, exactly all at the bytes of all, and one less at a byte less.
 */
static void
a_budget_in_bytes_is_kept_and_used(void)
{
	uint64_t rng = 3, all, budget, used;
	const struct cl_budget_class *c;
	struct cl_budget_slots s;
	struct cl_model *m;
	uint32_t i, j, n;

	for (i = 0; i < 2000; i++) {
		m = random_model(&rng);
		s = resolve(CL_BUDGET_BYTES, UINT64_MAX, CL_PARTITION_CLASS,
		    m);
		n = s.nslots;
		all = bytes_of_all(&s.classes);
		assert(s.nbytes == all);
		s = resolve(CL_BUDGET_BYTES, all, CL_PARTITION_CLASS, m);
		assert(s.nslots == n);
		s = resolve(CL_BUDGET_BYTES, all - 1, CL_PARTITION_CLASS, m);
		assert(s.nslots == n - 1 || (n == 1 && s.raised));
		budget = cl_rng_below(&rng, all + all / 4);
		s = resolve(CL_BUDGET_BYTES, budget, CL_PARTITION_CLASS, m);
		used = 0;
		for (j = 0, c = s.classes.class; j < s.classes.n; j++, c++) {
			assert(c->nslots <= c->nexperts);
			used += c->nslots * c->stride;
			assert(s.raised || c->nslots == c->nexperts ||
			    budget - s.nbytes < c->stride);
		}
		assert(used == s.nbytes && (used <= budget || s.raised));
		cl_model_free(m);
	}
}

/* One size: by class is as global. */
static void
one_class_is_one_pool(void)
{
	static const struct layer layer[] = { { 7, 5000 }, { 9, 5000 } };
	struct cl_model *m = make_model(layer, 2);
	struct cl_budget_slots a, b;
	uint64_t n;

	for (n = 0; n < 17 * 8192; n += 1111) {
		a = resolve(CL_BUDGET_BYTES, n, CL_PARTITION_GLOBAL, m);
		b = resolve(CL_BUDGET_BYTES, n, CL_PARTITION_CLASS, m);
		assert(a.nslots == b.nslots && a.nbytes == b.nbytes);
		assert(a.raised == b.raised && a.waste == b.waste);
	}
	cl_model_free(m);
}

static void
more_sizes_than_classes_are_refused_by_class_alone(void)
{
	struct layer layer[CL_BUDGET_CLASSES_MAX + 1];
	struct cl_budget b = { CL_BUDGET_PERCENT, 5000 };
	struct cl_budget_slots s;
	struct cl_err err = { 0 };
	struct cl_model *m;
	uint32_t i;

	for (i = 0; i <= CL_BUDGET_CLASSES_MAX; i++)
		layer[i] = (struct layer){ 2, 1000 + i };
	m = make_model(layer, CL_BUDGET_CLASSES_MAX);
	s = resolve(CL_BUDGET_PERCENT, 5000, CL_PARTITION_CLASS, m);
	assert(s.classes.n == CL_BUDGET_CLASSES_MAX);
	assert(s.nslots == CL_BUDGET_CLASSES_MAX);
	cl_model_free(m);
	m = make_model(layer, CL_BUDGET_CLASSES_MAX + 1);
	s = resolve(CL_BUDGET_PERCENT, 5000, CL_PARTITION_GLOBAL, m);
	assert(s.classes.n == 0);
	assert(cl_budget_resolve(&b, CL_PARTITION_CLASS, m, &s, &err) ==
	    CL_ENOTSUP);
	assert(strcmp(err.msg, "the model has experts of more sizes than 32, "
	    "too many for a pool each") == 0);
	cl_model_free(m);
}

/* Classes stand together, each key has its column, and no two have one. */
static void
keys_by_class_stand_together(void)
{
	static const uint32_t base[] = { 0, 16, 8 };
	struct cl_model *m = make_model(mixed, 4);
	struct cl_keys *keys;
	uint32_t key, c;

	assert((keys = cl_keys_for(CL_PARTITION_CLASS, m, NULL)) != NULL);
	assert(keys->ncolumns == 3 && keys->nkeys == 20);
	for (c = 0; c < 3; c++)
		assert(keys->column[c].base == base[c]);
	for (key = 0; key < 20; key++) {
		c = cl_keys_column(keys, key);
		assert(key >= base[c] &&
		    key < base[c] + keys->column[c].nexperts);
	}
	cl_keys_free(keys);
	assert((keys = cl_keys_for(CL_PARTITION_LAYER, m, NULL)) != NULL);
	assert(keys->column[1].base == 8 && keys->column[2].base == 12);
	cl_keys_free(keys);
	cl_model_free(m);
}

static const struct unit units[] = {
	{ "budgets become slots", budgets_become_slots },
	{ "slots of more bytes than can be said are refused",
	    more_bytes_than_can_be_said_are_refused },
	{ "a budget in bytes is split by the bytes of the classes",
	    bytes_are_split_by_the_bytes_of_the_classes },
	{ "a budget in experts is split by the experts of the classes",
	    slots_are_split_by_the_experts_of_the_classes },
	{ "one slot at the least is of the smallest class",
	    one_slot_at_the_least_is_of_the_smallest_class },
	{ "a budget in bytes is kept, and used, whatever the sizes",
	    a_budget_in_bytes_is_kept_and_used },
	{ "experts of one size are one pool by class, too",
	    one_class_is_one_pool },
	{ "more sizes than classes are refused, by class alone",
	    more_sizes_than_classes_are_refused_by_class_alone },
	{ "keys by class stand together", keys_by_class_stand_together },
};

UNIT_MAIN(units)
