/*
 * Every policy over real bytes, with hardly room to move: caches from one slot
 * to all, in one pool, a pool for each layer and for each size, under every
 * contract that the policy knows, with and without staging.  Whatever is
 * handed on is the expert's own, and counted as it is without any reads.  And
 * what bounds say of all policies holds over whole replays.
 */

#include "cl/device.h"
#include "cl/text.h"
#include "replay_make.h"
#include "unit.h"

#define NBLOCKS		1
#define NKEYS		12
#define KMAX		2

/* Everything there is to try; false: this policy cannot be had so. */
struct way {
	struct cl_cache_policy policy;
	enum cl_contract contract;
	enum cl_partition partition;
	uint32_t	nslots;
	uint32_t	nstage;
	uint32_t	nthreads;
};

static const uint64_t uses[NKEYS] = { 5, 1, 7, 0, 2, 9, 3, 4, 6, 8, 1, 2 };

static bool
find_policy(unsigned i, struct cl_cache_policy *policy)
{
	const struct cl_cache_policy_info *info = cl_cache_policy(i);
	char text[64];

	if (info == NULL)
		return (false);
	(void)snprintf(text, sizeof(text), "%s%s", info->name,
	    info->loads ? ":some.clt" : "");
	assert(cl_cache_policy_parse(text, policy, NULL) == CL_OK);
	return (true);
}

static struct cl_replay_options
options_of(const struct way *w, const struct cl_model *m)
{
	struct cl_budget b = { CL_BUDGET_EXPERTS, w->policy.info->holds_all ?
	    NKEYS : w->nslots };
	struct cl_replay_options o = options(1);
	struct cl_budget_slots s;

	o.contract = w->contract;
	o.partition = w->partition;
	o.policy = w->policy;
	o.uses = uses;
	o.nstage = w->nstage;
	assert(cl_budget_resolve(&b, w->partition, m, &s, NULL) == CL_OK);
	o.nslots = s.nslots;
	o.classes = s.classes;
	if (w->nstage > 0)
		assert(cl_predict_parse("previous", &o.predict, NULL) ==
		    CL_OK);
	return (o);
}

/* The arena of a cache by class has no room for slots of the largest. */
static struct cl_device *
open_device(const struct way *w, const struct cl_model *m,
    const struct cl_replay_options *o)
{
	struct cl_device_class class[CL_BUDGET_CLASSES_MAX];
	struct cl_device_options d = { .io.nthreads = w->nthreads,
	    .nslots = o->nslots, .nstage = w->nstage, .nbypass = KMAX,
	    .stride = 12288 };
	const struct cl_budget_class *c = o->classes.class;
	struct cl_device *device;
	uint64_t nbytes = 0;
	uint32_t i;

	for (i = 0; i < o->classes.n; i++) {
		class[i].expert_bytes = c[i].expert_bytes;
		class[i].nslots = c[i].nslots;
		nbytes += (c[i].nslots + w->nstage) * c[i].stride;
	}
	if (w->partition == CL_PARTITION_CLASS) {
		d.classes = class;
		d.nclasses = o->classes.n;
	} else
		nbytes = (o->nslots + w->nstage) * d.stride;
	assert((device = cl_device_new(m, &d, NULL)) != NULL);
	assert(cl_device_arena(device) == nbytes + KMAX * d.stride);
	return (device);
}

/* Counted by a model without a file, then read. */
static void
try(const struct way *w, const struct cl_model *bare,
    const struct cl_model *m, struct block *x)
{
	struct cl_replay_options o = options_of(w, m);
	struct result counted, r;
	struct served s = { 0 };

	replay(bare, &o, x, NBLOCKS, &counted);
	o.device = open_device(w, m, &o);
	o.served = check_served;
	o.arg = &s;
	replay(m, &o, x, NBLOCKS, &r);
	assert(memcmp(r.total, counted.total, sizeof(r.total)) == 0);
	assert(memcmp(r.phase, counted.phase, sizeof(r.phase)) == 0);
	assert(s.n == r.total[CL_N_ACCESSES]);
	assert(r.total[CL_N_ACCESSES] == r.total[CL_N_HITS] +
	    r.total[CL_N_STAGE_HITS] + r.total[CL_N_COLD] +
	    r.total[CL_N_CAPACITY]);
	cl_device_free(o.device);
}

static void
every_policy_hands_on_what_was_asked_for(void)
{
	static const uint32_t threads[] = { 0, 2, 8 };
	char path[] = "/tmp/cl-test-pressure.XXXXXX";
	struct cl_model *m = make_model(path), *bare = bare_model();
	struct block *x = calloc(NBLOCKS, sizeof(*x));
	struct way w = { 0 };
	unsigned i, contract, partition, turn = 0;

	assert(x != NULL);
	random_blocks(x, NBLOCKS, 21);
	for (i = 0; find_policy(i, &w.policy); i++)
		for (contract = 0; contract <= CL_CONTRACT_RETAIN; contract++)
			for (partition = 0; partition <= CL_PARTITION_CLASS;
			    partition++)
				for (w.nslots = 1; w.nslots <= NKEYS;
				    w.nslots += w.nslots < 4 ? 1 : 4) {
					if (contract == CL_CONTRACT_RETAIN &&
					    !w.policy.info->total_order)
						continue;
					w.contract = (enum cl_contract)
					    contract;
					w.partition = (enum cl_partition)
					    partition;
					w.nstage = turn % 3;
					w.nthreads = threads[turn++ / 3 % 3];
					try(&w, bare, m, x);
				}
	assert(i > 20);
	free(x);
	assert(unlink(path) == 0);
	cl_model_free(bare);
	cl_model_free(m);
}

/* What a policy loads, beforehand or by missing; hits too, where wanted. */
static uint64_t
loads(const char *policy, struct way *w, const struct cl_model *bare,
    struct block *x, uint64_t *hits)
{
	struct cl_replay_options o;
	struct result r;

	assert(cl_cache_policy_parse(policy, &w->policy, NULL) == CL_OK);
	o = options_of(w, bare);
	replay(bare, &o, x, NBLOCKS, &r);
	if (hits != NULL)
		*hits = r.total[CL_N_HITS];
	if (w->nslots == NKEYS && strcmp(policy, "none") != 0 &&
	    !w->policy.info->loads)		/* what was used elsewhere */
		assert(r.total[CL_N_CAPACITY] == 0);
	if (w->policy.info->holds_all)
		assert(r.total[CL_N_MISSES] == NKEYS);
	return (r.total[CL_N_MISSES] + r.total[CL_N_PRELOAD]);
}

/* One cache size; what lru and belady hit there, at least as in less. */
static void
compare_all(struct way *w, const struct cl_model *bare, struct block *x,
    uint64_t before[2])
{
	static const char *const inclusive[] = { "lru", "belady" };
	const struct cl_cache_policy_info *info;
	uint64_t least = loads("belady-bypass", w, bare, x, NULL), hits;
	char text[64];
	unsigned i;

	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++) {
		(void)snprintf(text, sizeof(text), "%s%s", info->name,
		    info->loads ? ":some.clt" : "");
		assert(info->holds_all ||
		    loads(text, w, bare, x, NULL) >= least);
	}
	for (i = 0; i < 2; i++) {
		(void)loads(inclusive[i], w, bare, x, &hits);
		assert(hits >= before[i]);
		before[i] = hits;
	}
	(void)loads("infinite", w, bare, x, NULL);
}

static void
no_policy_beats_the_optimum_and_more_slots_never_harm(void)
{
	struct cl_model *bare = bare_model();
	struct block x;
	struct way w = { 0 };
	uint64_t seed, before[2];

	for (seed = 1; seed <= 12; seed++) {
		random_blocks(&x, 1, seed);
		w.contract = seed % 2 ? CL_CONTRACT_EVENT :
		    CL_CONTRACT_SERIAL;
		before[0] = before[1] = 0;
		for (w.nslots = 1; w.nslots <= NKEYS; w.nslots++)
			compare_all(&w, bare, &x, before);
	}
	cl_model_free(bare);
}

/*
 * Under retain both of a cache of two are hit, and the third comes in for one
 * of them: what that one held is handed on before it is overwritten.
 */
struct order {
	struct served	s;
	uint32_t	expert[64];
};

static int
note_order(void *arg, uint32_t layer, uint32_t expert,
    const struct cl_device_slab *slab, uint32_t nslabs, struct cl_err *err)
{
	struct order *o = arg;

	assert(o->s.n < 64);
	o->expert[o->s.n] = expert;
	return (check_served(&o->s, layer, expert, slab, nslabs, err));
}

static void
a_hit_that_leaves_is_handed_on_before_its_slot_is_read_into(void)
{
	static const uint32_t wanted[] = { 0, 1, 0, 1, 2, 1, 2, 0, 7 };
	char path[] = "/tmp/cl-test-pressure.XXXXXX";
	struct cl_model *m = make_model(path);
	struct way w = { .contract = CL_CONTRACT_RETAIN, .nslots = 2,
	    .nthreads = 2 };
	struct cl_replay_options o;
	struct order order = { 0 };
	struct result r;
	struct block x;

	assert(cl_cache_policy_parse("lru", &w.policy, NULL) == CL_OK);
	begin_block(&x);
	add_token(&x, true, true, "01", "");
	add_token(&x, true, true, "012", "");	/* 0 leaves for 2 */
	add_token(&x, true, true, "1207", "");	/* 1 and 2, for 0 and 7 */
	o = options_of(&w, m);
	o.device = open_device(&w, m, &o);
	o.served = note_order;
	o.arg = &order;
	replay(m, &o, &x, 1, &r);
	assert(order.s.n == 9);
	assert(memcmp(order.expert, wanted, sizeof(wanted)) == 0);
	assert(r.total[CL_N_HITS] == 4 && r.total[CL_N_EVICTIONS] == 3);
	assert(r.total[CL_N_BYPASS] == 0);
	cl_device_free(o.device);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static const struct unit units[] = {
	{ "every policy hands on the expert's own bytes, under pressure too",
	    every_policy_hands_on_what_was_asked_for },
	{ "no policy beats belady-bypass, and more slots never harm lru, belady",
	    no_policy_beats_the_optimum_and_more_slots_never_harm },
	{ "a hit that leaves is handed on before its slot is read into",
	    a_hit_that_leaves_is_handed_on_before_its_slot_is_read_into },
};

UNIT_MAIN(units)
