/*
 * The log of a replay is whole: its digest is that of the run, and its members
 * add up to the counters, whoever decides by which contract.
 */

#include "replay_make.h"
#include "unit.h"

#define NBLOCKS	3

static struct block blocks[NBLOCKS];

static void
check_counts(const struct cl_replay_options *o, const struct result *r)
{
	const uint64_t *n = r->total;

	assert(r->log_digest == n[CL_N_DIGEST]);
	assert(r->log_class[0] == n[CL_N_HITS]);
	assert(r->log_class[1] == n[CL_N_STAGE_HITS]);
	assert(r->log_class[2] == n[CL_N_COLD]);
	assert(r->log_class[3] == n[CL_N_CAPACITY]);
	assert(r->log_victims == n[CL_N_EVICTIONS]);
	assert(o->contract == CL_CONTRACT_RETAIN ?
	    r->log_not_kept >= n[CL_N_BYPASS] :
	    r->log_not_kept == n[CL_N_BYPASS]);
	assert(r->log_phase[0] == r->phase[0][CL_N_ACCESSES]);
	assert(r->log_phase[1] == r->phase[1][CL_N_ACCESSES]);
	if (o->contract != CL_CONTRACT_SERIAL)
		assert(r->log_events == n[CL_N_EVENTS]);
}

/* With the log, and without one: nothing else changes. */
static void
one(const struct cl_model *m, struct cl_replay_options o)
{
	struct result plain, logged;
	uint32_t i;

	o.events = false;
	replay(m, &o, blocks, NBLOCKS, &plain);
	assert(plain.log_events == 0);
	o.events = true;
	replay(m, &o, blocks, NBLOCKS, &logged);
	for (i = 0; i < CL_N_COUNTERS; i++)
		assert(plain.total[i] == logged.total[i]);
	assert(logged.total[CL_N_ACCESSES] > 0);
	check_counts(&o, &logged);
}

static void
every_way(const struct cl_model *m, const struct cl_cache_policy *p)
{
	static const uint32_t nslots[] = { 2, 5, 9 };
	struct cl_replay_options o = { .policy = *p };
	unsigned i;

	for (i = 0; i < 18; i++) {
		o.nslots = nslots[i % 3];
		o.contract = i / 3 % 3 == 0 ? CL_CONTRACT_EVENT :
		    i / 3 % 3 == 1 ? CL_CONTRACT_SERIAL : CL_CONTRACT_RETAIN;
		o.partition = i / 9 == 0 ? CL_PARTITION_GLOBAL :
		    CL_PARTITION_LAYER;
		o.warmup = i % 2 * 40;
		o.tokens = i % 4 == 3 ? 60 : 0;
		o.window = i % 5 * 10;
		prefill = i % 2 == 0 ? CL_PREFILL_UNION : CL_PREFILL_TOKEN;
		if (o.contract == CL_CONTRACT_RETAIN &&
		    !p->info->total_order)
			continue;
		one(m, o);
	}
}

static void
logs_are_whole(void)
{
	struct cl_model *m = bare_model();
	const struct cl_cache_policy_info *info;
	struct cl_cache_policy p;
	unsigned i;

	random_blocks(blocks, NBLOCKS, 0x1e55);
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++) {
		assert(cl_cache_policy_parse(info->name, &p, NULL) == CL_OK);
		every_way(m, &p);
	}
	cl_model_free(m);
}

static void
prefetched_experts_are_staged_hits(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(4);
	struct result r;

	random_blocks(blocks, NBLOCKS, 0x57a9e);
	prefill = CL_PREFILL_UNION;
	o.nstage = 4;
	o.predict.kind = CL_PREDICT_PREVIOUS;
	o.events = true;
	replay(m, &o, blocks, NBLOCKS, &r);
	assert(r.log_class[1] > 0);
	check_counts(&o, &r);
	cl_model_free(m);
}

static const struct unit units[] = {
	{ "the digest of a log is that of its run, and its counts are, too",
	    logs_are_whole },
	{ "staged hits are in the log", prefetched_experts_are_staged_hits },
};

UNIT_MAIN(units)
