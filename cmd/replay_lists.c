/*
 * Lists of the command line: contracts, and those of a sweep, policies and
 * budgets, and a part of what they make.
 */

#include <stdio.h>
#include <string.h>

#include "cl/conditions.h"
#include "cl/err.h"
#include "cl/host.h"
#include "cl/vec.h"
#include "fe.h"
#include "replay.h"

#define POLICIES_MAX	1024u
#define RUNS_MAX	16384u		/* each has a cache of its own */

static void
add_contract(struct replay_options *o, const char *name)
{
	enum cl_contract c = (enum cl_contract)fe_choice("--contract", name,
	    cl_conditions_contracts);
	unsigned i;

	for (i = 0; i < o->ncontracts; i++)
		if (o->contract[i] == c)
			fe_misuse("--contract: %s twice", name);
	o->contract[o->ncontracts++] = c;
}

void
replay_contracts(struct replay_options *o, const char *text)
{
	char name[64];
	size_t n;

	o->ncontracts = 0;
	do {
		n = strcspn(text, ",");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, text);
		add_contract(o, name);
		text += n;
	} while (*text++ == ',');
}

void
replay_policies(struct replay_lists *l, const char *text)
{
	struct cl_err err = { 0 };
	int status = CL_OK;

	while (text != NULL && status == CL_OK) {
		if (l->npolicies == POLICIES_MAX)
			fe_misuse("--policy: more than %u policies",
			    POLICIES_MAX);
		status = cl_vec_grow(&l->policy, &l->policy_cap,
		    l->npolicies + 1, sizeof(*l->policy), &err);
		if (status == CL_OK)
			status = cl_cache_policy_next(&text,
			    &l->policy[l->npolicies++], &err);
	}
	if (status != CL_OK)
		fe_misuse("--policy: %s", err.msg);
}

void
replay_budgets(struct replay_lists *l, const char *text)
{
	struct cl_err err = { 0 };

	if (cl_budgets_add(&l->budgets, text, &err) != CL_OK)
		fe_misuse("--cache %s", err.msg);
}

void
replay_part(struct replay_lists *l, const char *text)
{
	const char *slash = strchr(text, '/');
	char part[16];
	size_t n = slash == NULL ? sizeof(part) : (size_t)(slash - text);

	if (n >= sizeof(part))
		fe_misuse("--part %s: not a part of so many (2/8)", text);
	memcpy(part, text, n);
	part[n] = '\0';
	l->nparts = (uint32_t)fe_u64("--part", slash + 1, 1, RUNS_MAX);
	l->part = (uint32_t)fe_u64("--part", part, 1, l->nparts);
}

/* What a sweep cannot do. */
static void
check(const struct replay_options *o)
{
	const struct replay_lists *l = &o->lists;

	if (o->mode != replay_traces)
		fe_misuse("lists of policies or budgets, and parts of them, "
		    "are replayed, not studied");
	if (l->npolicies * l->budgets.n > RUNS_MAX)
		fe_misuse("%zu policies with %zu budgets are more than %u "
		    "runs", l->npolicies, l->budgets.n, RUNS_MAX);
	if (o->io_said && o->io != REPLAY_NONE)
		fe_misuse("a sweep only counts: give --io none, or replay "
		    "one policy with one budget at a time");
	if (o->replay.predict.kind != CL_PREDICT_OFF)
		fe_misuse("a sweep does not prefetch: replay one policy with "
		    "one budget at a time");
	if (cl_smart_on(&o->replay.smart))
		fe_misuse("a sweep routes as the trace does: replay one "
		    "policy with one budget at a time");
	if (o->replay.events || o->replay.quality)
		fe_misuse("a sweep keeps no log and judges nothing: replay "
		    "one policy with one budget at a time with --events or "
		    "--quality");
}

void
replay_lists_end(struct replay_options *o)
{
	struct replay_lists *l = &o->lists;

	if (o->ncontracts == 0)
		o->contract[o->ncontracts++] = o->mode == replay_bound ?
		    CL_CONTRACT_SERIAL : CL_CONTRACT_EVENT;
	o->replay.contract = o->contract[0];
	if (l->npolicies == 0)
		replay_policies(l, "lru");
	if (l->budgets.n == 0)
		replay_budgets(l, "25%");
	o->replay.policy = l->policy[0];
	o->budget = l->budgets.item[0].budget;
	o->budget_text = l->budgets.item[0].text;
	if (o->mode == replay_bound || (l->npolicies == 1 &&
	    l->budgets.n == 1 && l->nparts == 0))
		return;
	check(o);
	o->mode = replay_sweep;
	o->io = REPLAY_NONE;
	o->window_said = true;		/* else there are none */
	if (l->njobs == 0)
		l->njobs = cl_host_processors();
}
