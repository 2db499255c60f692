/*
 * Budgets: every unit ends in a number of slots, which layers or sizes of
 * experts may have to share out.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/budget.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/num.h"
#include "cl/stats_write.h"
#include "cl/text.h"

static bool
cached(const struct cl_layer *l)
{

	return (l->nexperts > 0 && !l->extra);
}

static struct cl_budget_class *
find_class(struct cl_budget_classes *c, uint64_t expert_bytes)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (c->class[i].expert_bytes == expert_bytes)
			return (&c->class[i]);
	return (NULL);
}

uint32_t
cl_budget_class(const struct cl_budget_classes *c, uint64_t expert_bytes)
{
	uint32_t i = 0;

	while (c->class[i].expert_bytes != expert_bytes) {
		i++;
		assert(i < c->n);
	}
	return (i);
}

/* The classes, or none where there are too many. */
static void
sort_out(const struct cl_model *m, struct cl_budget_classes *c)
{
	const struct cl_layer *l;
	struct cl_budget_class *class;

	memset(c, 0, sizeof(*c));
	for (l = m->layers; l < m->layers + m->nlayers; l++) {
		if (!cached(l))
			continue;
		class = find_class(c, l->expert_bytes);
		if (class == NULL && c->n == CL_BUDGET_CLASSES_MAX) {
			c->n = 0;
			return;
		}
		if (class == NULL) {
			class = &c->class[c->n++];
			class->expert_bytes = l->expert_bytes;
		}
		class->nlayers++;
		class->nexperts += l->nexperts;
	}
}

/* A budget, whatever its unit, as slots of one stride. */
static int
count_slots(const struct cl_budget *b, const struct cl_model_sums *sums,
    struct cl_budget_slots *s, struct cl_err *err)
{
	uint64_t n = 0;

	switch (b->unit) {
	case CL_BUDGET_BYTES:
		if (s->stride == 0)
			return (cl_fail(err, CL_EINVAL, "a budget in bytes "
			    "needs a trace that knows its experts' bytes; "
			    "give N%% or Ne"));
		n = b->amount / s->stride;
		break;
	case CL_BUDGET_PERCENT:
		n = cl_muldiv(sums->experts, b->amount, 10000);
		break;
	case CL_BUDGET_EXPERTS:
		n = b->amount;
		break;
	}
	s->raised = n < 1;
	if (s->raised)
		n = 1;
	if (n > sums->experts)
		n = sums->experts;
	s->nslots = (uint32_t)n;
	return (CL_OK);
}

/* Shares of all slots; the remainder goes to the first ones. */
static void
split_slots(struct cl_budget_slots *s, uint64_t nexperts)
{
	struct cl_budget_class *c = s->classes.class;
	uint32_t left = s->nslots, i;

	for (i = 0; i < s->classes.n; i++) {
		c[i].nslots = (uint32_t)cl_muldiv(s->nslots, c[i].nexperts,
		    nexperts);
		left -= c[i].nslots;
	}
	for (i = 0; left > 0; i = (i + 1) % s->classes.n)
		if (c[i].nslots < c[i].nexperts) {
			c[i].nslots++;
			left--;
		}
}

static int
too_large(const struct cl_budget_slots *s, struct cl_err *err)
{

	return (cl_fail(err, CL_EINVAL, "%u slots of up to %llu bytes are "
	    "more bytes than 64 bits can say", s->nslots,
	    (unsigned long long)s->stride));
}

/* So many more slots of a class as there are bytes left for. */
static uint64_t
fill_up(struct cl_budget_class *c, uint64_t left)
{
	uint64_t n = left / c->stride, room = c->nexperts - c->nslots;

	if (n > room)
		n = room;
	c->nslots += (uint32_t)n;
	return (left - n * c->stride);
}

/* Shares of all bytes, in slots; what they leave over, to the first ones. */
static void
split_bytes(struct cl_budget_slots *s, uint64_t amount, uint64_t total)
{
	struct cl_budget_class *c = s->classes.class, *least = c;
	uint64_t left = amount, share;
	uint32_t i;

	for (i = 0; i < s->classes.n; i++) {
		share = cl_muldiv(amount, c[i].nexperts * c[i].expert_bytes,
		    total);
		left -= share - fill_up(&c[i], share);
		if (c[i].stride < least->stride)
			least = &c[i];
	}
	s->nslots = 0;
	for (i = 0; i < s->classes.n; i++) {
		left = fill_up(&c[i], left);
		s->nslots += c[i].nslots;
	}
	s->raised = s->nslots == 0;
	if (s->raised)
		s->nslots = least->nslots = 1;
}

/* A pool for each class, whose slots have a stride of its own. */
static int
split(const struct cl_budget *b, const struct cl_model_sums *sums,
    struct cl_budget_slots *s, struct cl_err *err)
{
	struct cl_budget_class *c = s->classes.class;
	uint64_t n;
	uint32_t i;

	if (s->classes.n == 0)
		return (cl_fail(err, CL_ENOTSUP, "the model has experts of "
		    "more sizes than %d, too many for a pool each",
		    CL_BUDGET_CLASSES_MAX));
	if (b->unit == CL_BUDGET_BYTES)
		split_bytes(s, b->amount, sums->expert_bytes);
	else
		split_slots(s, sums->experts);
	s->nbytes = s->waste = 0;
	for (i = 0; i < s->classes.n; i++, c++) {
		if (!cl_mul(c->nslots, c->stride, &n) ||
		    !cl_add(s->nbytes, n, &s->nbytes))
			return (too_large(s, err));
		s->waste += c->nslots * (c->stride - c->expert_bytes);
	}
	return (CL_OK);
}

/* A pool for each layer, all slots of one stride. */
static int
deal_waste(const struct cl_model *m, struct cl_budget_slots *s,
    struct cl_err *err)
{
	uint32_t *nexperts, *share, i, n = m->nlayers;

	if ((nexperts = calloc(n, 2 * sizeof(*nexperts))) == NULL)
		return (cl_fail_nomem(err, "the cache's pools"));
	share = nexperts + n;
	for (i = 0; i < n; i++)
		nexperts[i] = cached(&m->layers[i]) ?
		    m->layers[i].nexperts : 0;
	cl_budget_deal(s->nslots, nexperts, share, n);
	for (i = 0; i < n; i++)
		s->waste += share[i] * (s->stride -
		    m->layers[i].expert_bytes);
	free(nexperts);
	return (CL_OK);
}

uint64_t
cl_budget_stride(const struct cl_model *m)
{
	struct cl_model_sums sums;

	cl_model_sums(m, &sums);
	return (sums.bytes_known ? cl_roundup(sums.expert_bytes_max,
	    CL_BUDGET_ALIGN) : 0);
}

int
cl_budget_resolve(const struct cl_budget *b, enum cl_partition partition,
    const struct cl_model *m, struct cl_budget_slots *s, struct cl_err *err)
{
	struct cl_model_sums sums;
	uint64_t full;
	uint32_t i;
	int status;

	cl_model_sums(m, &sums);
	memset(s, 0, sizeof(*s));
	s->stride = cl_budget_stride(m);
	sort_out(m, &s->classes);
	for (i = 0; i < s->classes.n && sums.bytes_known; i++)
		s->classes.class[i].stride = cl_roundup(
		    s->classes.class[i].expert_bytes, CL_BUDGET_ALIGN);
	if ((status = count_slots(b, &sums, s, err)) != CL_OK)
		return (status);
	if (partition == CL_PARTITION_CLASS)
		return (split(b, &sums, s, err));
	if (!cl_mul(s->nslots, s->stride, &s->nbytes))
		return (too_large(s, err));
	if (!sums.bytes_known)
		return (CL_OK);
	if (partition == CL_PARTITION_LAYER)
		return (deal_waste(m, s, err));
	full = cl_muldiv(s->nslots, sums.expert_bytes, sums.experts);
	s->waste = s->nbytes - full;
	return (CL_OK);
}

/* How many layers could take another slot. */
static uint32_t
count_open(const uint32_t *nexperts, const uint32_t *share, uint32_t n)
{
	uint32_t i, nopen = 0;

	for (i = 0; i < n; i++)
		nopen += share[i] < nexperts[i];
	return (nopen);
}

/*
 * As many whole rounds as there are slots for at once; a layer that fills up
 * leaves slots to another turn, so that there are at most as many turns as
 * layers, and a last one.
 */
void
cl_budget_deal(uint32_t nslots, const uint32_t *nexperts, uint32_t *share,
    uint32_t n)
{
	uint32_t i, nopen, rounds, take;

	for (i = 0; i < n; i++)
		share[i] = 0;
	while (nslots > 0) {
		nopen = count_open(nexperts, share, n);
		assert(nopen > 0);
		rounds = nslots / nopen > 0 ? nslots / nopen : 1;
		for (i = 0; i < n && nslots > 0; i++) {
			take = nexperts[i] - share[i];
			if (take > rounds)
				take = rounds;
			share[i] += take;
			nslots -= take;
		}
	}
}

static void
add_known(struct cl_stats_table *t, uint64_t n, bool known)
{

	if (known)
		cl_stats_table_u64(t, n);
	else
		cl_stats_table_none(t);
}

int
cl_budget_write_classes(const struct cl_budget_classes *c,
    enum cl_partition partition, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "expert_bytes" }, { CL_STATS_U64, "layers" },
		{ CL_STATS_U64, "experts" }, { CL_STATS_U64, "slots" },
		{ CL_STATS_U64, "stride_bytes" }
	};
	struct cl_stats_table t = { .name = "size_classes",
	    .kind = CL_STATS_LOGICAL, .nkeys = 1, .ncolumns = 5,
	    .column = columns };
	const struct cl_budget_class *class;
	bool pools = partition == CL_PARTITION_CLASS;
	uint32_t i;
	int status;

	if (c->n < 2)
		return (CL_OK);
	for (i = 0, class = c->class; i < c->n; i++, class++) {
		add_known(&t, class->expert_bytes, class->expert_bytes != 0);
		add_known(&t, class->nlayers, true);
		add_known(&t, class->nexperts, true);
		add_known(&t, class->nslots, pools);
		add_known(&t, class->stride, pools && class->stride != 0);
	}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}
