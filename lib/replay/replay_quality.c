/*
 * The quality of decisions: what is collected says when each expert is used
 * next, and belady counts beside the policy, over the same slots.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/lookahead.h"
#include "cl/quality.h"
#include "cl/stats_write.h"
#include "replay_int.h"

/*
 * Belady is no bound under retain; told others' places it would break ties as
 * they.
 */
static bool
has_rival(const struct cl_replay *r)
{

	return (r->o.quality && r->o.contract != CL_CONTRACT_RETAIN &&
	    (r->o.contract == CL_CONTRACT_SERIAL ||
	    r->o.policy.info->foresees != CL_FUTURE_PLACES));
}

int
cl_replay_open_rival(struct cl_replay *r, const struct cl_cache_options *like,
    struct cl_err *err)
{
	struct cl_cache_options o = *like;

	if (!has_rival(r))
		return (CL_OK);
	if (r->o.before != NULL) {
		r->rival = r->o.before->rival;
		r->o.before->rival = NULL;
	}
	o.names = r->name;
	if (cl_cache_policy_parse("belady", &o.policy, err) != CL_OK)
		return (err->code);
	if (r->rival == NULL && (r->rival = cl_cache_new(&o, err)) == NULL)
		return (err->code);
	return (CL_OK);
}

int
cl_replay_open_quality(struct cl_replay *r, struct cl_err *err)
{
	struct cl_quality_options o = { .keys = r->keys,
	    .contract = r->o.contract };
	const uint32_t *first;
	uint32_t key, i;
	int status;

	if (!r->o.quality)
		return (CL_OK);
	if ((status = cl_lookahead_tell_times(r->ahead, r->o.contract,
	    err)) != CL_OK)
		return (status);
	first = cl_lookahead_first_time(r->ahead);
	o.end = cl_lookahead_end(r->ahead);
	r->pools = calloc(r->keys->ncolumns, sizeof(*r->pools));
	if (r->pools == NULL)
		return (cl_fail_nomem(err, "the quality of decisions"));
	for (i = 0; i < r->keys->ncolumns; i++)
		r->pools[i] = r->column[i].pool;
	o.pool = r->pools;
	if ((r->quality = cl_quality_new(&o, err)) == NULL)
		return (err->code);
	for (key = 0; key < r->keys->nkeys; key++)
		if (cl_cache_slot(r->cache, key) != CL_CACHE_NO_SLOT)
			cl_quality_holds(r->quality, key, first[key]);
	return (r->rival == NULL ? CL_OK : cl_cache_begin(r->rival,
	    cl_lookahead_places(r->ahead), cl_lookahead_first(r->ahead), err));
}

void
cl_replay_reset_quality(struct cl_replay *r)
{

	memset(&r->rival_counts, 0, sizeof(r->rival_counts));
	if (r->quality != NULL)
		cl_quality_reset(r->quality);
}

void
cl_replay_rival(struct cl_replay *r, const struct column *col,
    const uint32_t *keys, uint32_t n)
{
	uint64_t digest = 0;

	cl_cache_foretell(r->rival, keys, r->next[col - r->column], n);
	cl_cache_count(r->rival, col->pool, keys, n, &r->rival_counts,
	    &digest);
}

int
cl_replay_write_quality(struct cl_replay *r, struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_STR, "bound" }, { CL_STATS_U64, "misses" },
		{ CL_STATS_U64, "bound_misses" } };
	struct cl_stats_table t = { .name = "decision_bound",
	    .kind = CL_STATS_LOGICAL, .nkeys = 1, .ncolumns = 3,
	    .column = columns };
	int status;

	if (r->quality == NULL)
		return (CL_OK);
	status = cl_quality_write(r->quality, r->writer, err);
	if (status != CL_OK || r->rival == NULL)
		return (status);
	cl_stats_table_str(&t, "belady");
	cl_stats_table_u64(&t, r->phase[PREFILL]->n[CL_N_MISSES] +
	    r->phase[DECODE]->n[CL_N_MISSES]);
	cl_stats_table_u64(&t, r->rival_counts.cold +
	    r->rival_counts.capacity);
	status = cl_stats_write_table(r->writer, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

void
cl_replay_close_quality(struct cl_replay *r)
{

	cl_cache_free(r->rival);
	cl_quality_free(r->quality);
	free(r->pools);
}
