/*
 * The log of events: what the cache decided of each member, as the digest has
 * it, goes into the stat stream once all of the event has been served.  Under
 * serial an event comes member by member.  Choices that routing changed come
 * before.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/stats_write.h"
#include "cl/vec.h"
#include "replay_int.h"

int
cl_replay_open_log(struct cl_replay *r, struct cl_err *err)
{
	struct replay_log *log = &r->log;
	uint32_t n = r->keys->nlargest;

	if (!r->o.events)
		return (CL_OK);
	log->expert = calloc(n, sizeof(*log->expert));
	log->class = calloc(n, sizeof(*log->class));
	log->victim = calloc(n, sizeof(*log->victim));
	if (log->expert == NULL || log->class == NULL || log->victim == NULL)
		return (cl_fail_nomem(err, "the log of events"));
	return (CL_OK);
}

int
cl_replay_note_choice(struct cl_replay *r, uint32_t t, const uint16_t *plain,
    const uint16_t *ids, uint32_t n, uint32_t nused, struct cl_err *err)
{
	struct replay_log *log = &r->log;
	uint16_t *to;
	int status;

	if ((status = cl_vec_grow(&log->change, &log->change_cap,
	    (size_t)log->nchanges + 1, sizeof(*log->change), err)) != CL_OK ||
	    (status = cl_vec_grow(&log->choice, &log->choice_cap,
	    log->nchoices + 2 * (size_t)n, sizeof(*log->choice), err)) !=
	    CL_OK)
		return (status);
	log->change[log->nchanges++] = (struct cl_decision_change){ t, n,
	    nused };
	to = log->choice + log->nchoices;
	memcpy(to, plain, n * sizeof(*to));
	memcpy(to + n, ids, n * sizeof(*to));
	log->nchoices += 2 * (size_t)n;
	return (CL_OK);
}

void
cl_replay_note(struct cl_replay *r, const struct column *col,
    const uint32_t *keys, uint32_t n, const struct cl_cache_outcome *out)
{
	struct replay_log *log = &r->log;
	uint64_t name;
	uint32_t i;

	for (i = 0; i < n; i++, log->n++) {
		log->expert[log->n] = keys[i] - col->base;
		log->class[log->n] = out->class[i];
		if (out->victim[i] == CL_CACHE_NO_KEY)
			continue;
		log->class[log->n] |= CL_DECISION_THREW;
		name = r->name[out->victim[i]];
		log->victim[log->nvictims++] = (struct cl_decision_victim){
		    (uint32_t)(name >> 32) & CL_DECISION_LAYER_MAX,
		    (uint32_t)name };
	}
}

int
cl_replay_log(struct cl_replay *r, const struct column *col, unsigned phase,
    struct cl_err *err)
{
	struct replay_log *log = &r->log;
	const struct cl_decision d = {
		.pass = r->passes,
		.token = r->counted + r->pass_tokens,
		.prefill = phase == PREFILL,
		.layer = col->layer,
		.n = log->n,
		.expert = log->expert,
		.class = log->class,
		.victim = log->victim,
		.nvictims = log->nvictims,
		.change = log->change,
		.nchanges = log->nchanges,
		.choice = log->choice,
	};

	log->n = log->nvictims = log->nchanges = 0;
	log->nchoices = 0;
	if (r->warming)
		return (CL_OK);
	return (cl_stats_write_decision(r->writer, &d, err));
}

void
cl_replay_close_log(struct cl_replay *r)
{

	free(r->log.expert);
	free(r->log.class);
	free(r->log.victim);
	free(r->log.change);
	free(r->log.choice);
}
