/*
 * One event: the cache classifies and admits, the counters and the digest
 * take note, and what was missing is read and waited for.  Under serial every
 * access is an event to the cache; where bytes are read, each is then served
 * to its end before the next, since its slot may be given on at once.
 */

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/lookahead.h"
#include "cl/num.h"
#include "cl/quality.h"
#include "replay_int.h"

#define WORD_MEMBERS	16		/* of 4 bits: the digest's words */

/*
 * Add what was counted to the phase and the layer.  Bytes alone can outgrow
 * their counter, and half of it is left for the other phase: all others count
 * what a trace spells out.
 */
static int
add(struct cl_replay *r, struct column *col, const struct cl_cache_counts *c,
    unsigned phase, struct cl_err *err)
{
	struct cl_tally_layer *l = col->tally;
	uint64_t *t = r->phase[phase]->n;
	uint64_t misses = c->cold + c->capacity, bytes;
	uint64_t hits = c->accesses - c->staged - misses;

	if (!cl_mul(misses, col->expert_bytes, &bytes) ||
	    bytes > INT64_MAX - t[CL_N_DEMAND_BYTES])
		return (cl_fail(err, CL_ENOTSUP, "layer %u: more bytes read "
		    "than can be counted", col->layer));
	t[CL_N_ACCESSES] += c->accesses;
	t[CL_N_HITS] += hits;
	t[CL_N_STAGE_HITS] += c->staged;
	t[CL_N_MISSES] += misses;
	t[CL_N_COLD] += c->cold;
	t[CL_N_CAPACITY] += c->capacity;
	t[CL_N_BYPASS] += c->bypass;
	t[CL_N_ADMIT_REJECTS] += c->rejects;
	t[CL_N_EVICTIONS] += c->evictions;
	t[CL_N_DEMAND_BYTES] += bytes;
	l->accesses += c->accesses;
	l->hits += hits;
	l->stage_hits += c->staged;
	l->misses += misses;
	l->cold += c->cold;
	l->capacity += c->capacity;
	l->bypass += c->bypass;
	l->evictions += c->evictions;
	l->demand_bytes += bytes;
	return (CL_OK);
}

/* One outcome, of n members. */
static int
count(struct cl_replay *r, struct column *col,
    const struct cl_cache_outcome *out, uint32_t n, unsigned phase,
    struct cl_err *err)
{
	struct cl_cache_counts c = { n, out->nstaged, out->ncold,
	    out->ncapacity, out->nbypass, out->nrejects, out->nvictims };

	return (add(r, col, &c, phase, err));
}

/* The digest of members at .. at + n - 1 of an event: cl-stats(5), Digest. */
static uint64_t
digest_members(const struct cl_replay *r, uint64_t d,
    const struct cl_cache_outcome *out, uint32_t n, uint32_t at, uint64_t *word)
{
	uint32_t i, place;

	for (i = 0; i < n; i++) {
		place = (at + i) % WORD_MEMBERS;
		if (out->victim[i] != CL_CACHE_NO_KEY)
			d = cl_hash_mix(d, r->name[out->victim[i]]);
		*word |= (uint64_t)out->class[i] << 4 * place;
		if (place == WORD_MEMBERS - 1) {
			d = cl_hash_mix(d, *word);
			*word = 0;
		}
	}
	return (d);
}

static uint64_t
digest_begin(uint64_t d, const struct column *col, uint32_t n)
{

	return (cl_hash_mix(d, (uint64_t)n << 32 | col->layer));
}

void
cl_replay_count(struct cl_replay *r, struct column *col, const uint32_t *keys,
    uint32_t n, unsigned phase)
{

	r->digest = digest_begin(r->digest, col, n);
	col->nevents[phase] += r->o.contract == CL_CONTRACT_SERIAL ? n : 1;
	cl_cache_count(r->cache, col->pool, keys, n, &col->counts[phase],
	    &r->digest);
}

int
cl_replay_settle(struct cl_replay *r, struct cl_err *err)
{
	struct column *col = r->column;
	uint32_t i, phase;
	int status;

	for (i = 0; i < r->keys->ncolumns; i++, col++)
		for (phase = 0; phase < NPHASES; phase++) {
			if ((status = add(r, col, &col->counts[phase], phase,
			    err)) != CL_OK)
				return (status);
			r->phase[phase]->n[CL_N_EVENTS] += col->nevents[phase];
			col->counts[phase] = (struct cl_cache_counts){ 0 };
			col->nevents[phase] = 0;
		}
	return (CL_OK);
}

static uint64_t
digest_end(uint64_t d, uint32_t n, uint64_t word)
{

	return (n % WORD_MEMBERS != 0 ? cl_hash_mix(d, word) : d);
}

/* What the cache has decided of n members, and what follows from it. */
static int
carry_out(struct cl_replay *r, struct column *col, const uint32_t *keys,
    uint32_t n, const struct cl_cache_outcome *out, unsigned phase, bool last,
    struct cl_err *err)
{
	int status;

	if (r->o.device != NULL && (status = cl_replay_compute_leaving(r, col,
	    keys, n, out, err)) != CL_OK)
		return (status);
	if (out->nstaged > 0)
		cl_replay_take_staged(r, keys, n, out, phase);
	if (r->o.device != NULL)
		return (cl_replay_fetch(r, col, keys, n, out, phase, last,
		    err));
	return (last ? cl_replay_stage(r, phase, err) : CL_OK);
}

int
cl_replay_event(struct cl_replay *r, struct column *col, const uint32_t *keys,
    uint32_t n, unsigned phase, struct cl_err *err)
{
	const struct cl_cache_outcome *out;
	uint32_t i, step = n;
	uint64_t d, word = 0;
	int status;

	if (r->o.contract == CL_CONTRACT_SERIAL)
		step = 1;
	d = digest_begin(r->digest, col, n);
	for (i = 0; i < n; i += step) {
		out = cl_cache_serve(r->cache, col->pool, keys + i, step);
		if ((status = count(r, col, out, step, phase, err)) != CL_OK)
			return (status);
		d = digest_members(r, d, out, step, i, &word);
		if (r->o.events)
			cl_replay_note(r, col, keys + i, step, out);
		if (r->quality != NULL)
			cl_quality_event(r->quality, phase, keys + i,
			    cl_lookahead_times(r->ahead)[col - r->column] + i,
			    step, out);
		if ((status = carry_out(r, col, keys + i, step, out, phase,
		    i + step == n, err)) != CL_OK)
			return (status);
	}
	cl_replay_unstage(r, col, phase);
	if (r->o.device != NULL)
		cl_replay_end_step(r);
	r->digest = digest_end(d, n, word);
	r->phase[phase]->n[CL_N_EVENTS] +=
	    r->o.contract == CL_CONTRACT_SERIAL ? n : 1;
	return (r->o.events ? cl_replay_log(r, col, phase, err) : CL_OK);
}
