/*
 * Staging: the slots that experts are read into before their event comes.
 *
 * All that is staged is of the next event of the pass, or of the one that is
 * being served.  Used, an expert that is kept changes places with the cache:
 * its bytes stay where they are, the cache's slot takes over the buffer, and
 * staging gets the one that the slot had.  What else was staged for an event
 * is freed when it has passed.
 *
 * Decisions are made here without a look at what was read.  A read that is
 * wanted no more may still be under way: it is stale, and has its buffer until
 * it is over.  So of as many buffers as there are slots each is idle, or has a
 * read that is staged or stale; the jobs of those that have moved into the
 * cache are waited for before the event is over.
 *
 * Where the cache's slots differ in size, by class, buffers can only be traded
 * within a class: there are as many as slots for each, and whoever may be
 * staged finds one of its own size.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/device.h"
#include "cl/err.h"
#include "cl/events.h"
#include "replay_int.h"

/* Which class of experts a buffer is for: of a slot, or behind them. */
static uint32_t
class_of(const struct cl_replay *r, uint32_t buffer)
{
	const struct cl_budget_class *class = r->o.classes.class;
	uint32_t c = 0;

	if (r->stage.nclasses == 1)
		return (0);
	if (buffer >= r->o.nslots)
		return ((buffer - r->o.nslots) / r->stage.nslots);
	while (buffer >= class[c].nslots)
		buffer -= class[c++].nslots;
	return (c);
}

static void
idle(struct stage *s, uint32_t class, uint32_t buffer)
{

	s->idle[(size_t)class * s->nslots + s->nidle[class]++] = buffer;
}

/* Those buffers that are no slot's of the cache, which may be a warm one. */
static int
find_idle(struct cl_replay *r, struct cl_err *err)
{
	uint32_t i, n = r->o.nslots + r->stage.nslots * r->stage.nclasses;
	bool *taken = calloc(n, sizeof(*taken));

	if (taken == NULL)
		return (cl_fail_nomem(err, "staging"));
	for (i = 0; i < r->o.nslots; i++)
		taken[r->buffer[i]] = true;
	for (i = 0; i < n; i++)
		if (!taken[i])
			idle(&r->stage, class_of(r, i), i);
	free(taken);
	return (CL_OK);
}

uint8_t *
cl_replay_buffer(const struct cl_replay *r, uint32_t i)
{

	return (i < r->o.nslots ? cl_device_slot(r->o.device, i) :
	    cl_device_stage(r->o.device, i - r->o.nslots));
}

static int
make_reads(struct cl_replay *r, struct cl_err *err)
{
	struct stage *s = &r->stage;
	size_t n = (size_t)s->nslots * s->nclasses;
	uint32_t i;

	s->nreads = (uint32_t)n + s->nslots;
	s->read = calloc(s->nreads, sizeof(*s->read));
	s->idle = calloc(n, sizeof(*s->idle));
	s->nidle = calloc(s->nclasses, sizeof(*s->nidle));
	if (s->read == NULL || s->idle == NULL || s->nidle == NULL)
		return (cl_fail_nomem(err, "staging"));
	for (i = 0; i < s->nreads; i++) {
		s->read[i].next = s->free;
		s->free = &s->read[i];
	}
	return (find_idle(r, err));
}

int
cl_replay_open_stage(struct cl_replay *r, struct cl_err *err)
{
	struct stage *s = &r->stage;

	if (r->o.predict.kind == CL_PREDICT_OFF || r->o.nstage == 0)
		return (CL_OK);
	s->nslots = r->o.nstage;
	s->nclasses = r->o.partition == CL_PARTITION_CLASS ?
	    r->o.classes.n : 1;
	s->slot = calloc(s->nslots, sizeof(*s->slot));
	s->at = calloc(r->keys->nkeys, sizeof(*s->at));
	if (s->slot == NULL || s->at == NULL)
		return (cl_fail_nomem(err, "staging"));
	return (r->o.device == NULL ? CL_OK : make_reads(r, err));
}

/* A read is over: its buffer is idle. */
static void
recycle(struct stage *s, struct replay_read *read)
{

	idle(s, read->class, read->buffer);
	read->next = s->free;
	s->free = read;
}

/* A speculative read was waited for: take note of how it went. */
static void
note(struct cl_replay *r, const struct replay_read *read)
{

	cl_replay_account(r, &read->job, read->epoch);
	if (read->epoch == r->epoch && read->job.err.code != CL_OK &&
	    !read->cancelled)
		r->measure[CL_M_PREFETCH_FAILED]++;
}

/* A stale read is over, or will soon be. */
static void
end_read(struct cl_replay *r, struct replay_read **at)
{
	struct replay_read *read = *at;

	cl_io_wait(cl_device_io(r->o.device), &read->job);
	note(r, read);
	*at = read->next;
	recycle(&r->stage, read);
}

/* Stale reads that are over, or all. */
static void
end_stale(struct cl_replay *r, bool all)
{
	struct cl_io *io = cl_device_io(r->o.device);
	struct replay_read **at = &r->stage.stale;

	while (*at != NULL)
		if (all || cl_io_done(io, &(*at)->job))
			end_read(r, at);
		else
			at = &(*at)->next;
}

/* An idle buffer of that class: what is stale has it, if nobody else. */
static uint32_t
take_buffer(struct cl_replay *r, uint32_t class)
{
	struct stage *s = &r->stage;
	struct replay_read **at, **first = NULL;

	if (s->nidle[class] == 0)
		end_stale(r, false);
	if (s->nidle[class] == 0) {
		for (at = &s->stale; *at != NULL; at = &(*at)->next)
			if ((*at)->class == class)
				first = at;
		assert(first != NULL);
		end_read(r, first);
	}
	return (s->idle[(size_t)class * s->nslots + --s->nidle[class]]);
}

static void
begin_read(struct cl_replay *r, const struct column *col, uint32_t key,
    struct staged *to)
{
	struct stage *s = &r->stage;
	struct replay_read *read;
	uint32_t class = s->nclasses > 1 ? col->pool : 0;
	uint32_t buffer = take_buffer(r, class);

	read = s->free;
	assert(read != NULL);
	s->free = read->next;
	read->class = class;
	read->buffer = buffer;
	read->epoch = r->epoch;
	read->cancelled = false;
	to->read = read;
	cl_device_read(r->o.device, &read->job, col->layer, key - col->base,
	    cl_replay_buffer(r, read->buffer), CL_IO_PREFETCH);
}

/* Give an expert a slot, and begin to read it. */
static int
stage(struct cl_replay *r, const struct column *col, uint32_t key,
    uint64_t *n, struct cl_err *err)
{
	struct stage *s = &r->stage;
	struct staged *to = &s->slot[s->n];

	if (col->expert_bytes > INT64_MAX - n[CL_N_PREFETCH_BYTES])
		return (cl_fail(err, CL_ENOTSUP, "layer %u: more bytes "
		    "prefetched than can be counted", col->layer));
	cl_cache_stage(r->cache, key);
	s->at[key] = s->n++;
	to->key = key;
	to->col = col;
	to->used = false;
	n[CL_N_PREFETCH_ISSUED]++;
	n[CL_N_PREFETCH_BYTES] += col->expert_bytes;
	col->tally->prefetch_issued++;
	col->tally->prefetch_bytes += col->expert_bytes;
	if (r->o.device != NULL)
		begin_read(r, col, key, to);
	return (CL_OK);
}

int
cl_replay_stage(struct cl_replay *r, unsigned phase, struct cl_err *err)
{
	const struct cl_event *coming = r->foretold.coming;
	struct stage *s = &r->stage;
	uint64_t *n = r->phase[phase]->n;
	uint32_t i, key;
	int status;

	if (coming == NULL)
		return (CL_OK);
	for (i = 0; i < coming->n; i++) {
		key = coming->keys[i];
		if (cl_cache_slot(r->cache, key) != CL_CACHE_NO_SLOT)
			continue;
		if (s->n == s->nslots)
			n[CL_N_PREFETCH_REFUSED]++;
		else if ((status = stage(r, r->foretold.column, key, n,
		    err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

/* The slot is free; the last one takes its place in the table. */
static void
vacate(struct stage *s, uint32_t i)
{

	s->slot[i] = s->slot[--s->n];
	s->at[s->slot[i].key] = i;
}

/* A staged expert is kept: its buffer and that of its new slot trade places. */
static void
move_in(struct cl_replay *r, struct replay_read *read, uint32_t slot)
{
	uint32_t buffer = r->buffer[slot];

	r->buffer[slot] = read->buffer;
	idle(&r->stage, read->class, buffer);
}

void
cl_replay_take_staged(struct cl_replay *r, const uint32_t *keys, uint32_t n,
    const struct cl_cache_outcome *out, unsigned phase)
{
	struct stage *s = &r->stage;
	struct staged *from;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if ((out->class[i] & ~CL_CACHE_NOT_KEPT) != CL_CLASS_STAGED)
			continue;
		from = &s->slot[s->at[keys[i]]];
		from->used = true;
		r->phase[phase]->n[CL_N_PREFETCH_USEFUL]++;
		from->col->tally->prefetch_useful++;
		if (r->o.device != NULL)
			r->member[i].read = from->read;
		if ((out->class[i] & CL_CACHE_NOT_KEPT) != 0)
			continue;
		if (r->o.device != NULL)
			move_in(r, from->read, out->slot[i]);
		vacate(s, s->at[keys[i]]);
	}
}

int
cl_replay_wait_staged(struct cl_replay *r, const struct column *col,
    uint32_t key, struct replay_read *read, struct cl_err *err)
{
	struct cl_io *io = cl_device_io(r->o.device);
	int status = CL_OK;

	if (read->job.queue == CL_IO_PREFETCH) {
		cl_io_wait(io, &read->job);
		note(r, read);
		if (read->job.err.code == CL_OK)
			return (CL_OK);
		cl_device_read(r->o.device, &read->job, col->layer,
		    key - col->base, cl_replay_buffer(r, read->buffer),
		    CL_IO_DEMAND);
	}
	status = cl_device_wait(r->o.device, &read->job, col->layer,
	    key - col->base, err);
	cl_replay_account(r, &read->job, read->epoch);
	return (status);
}

void
cl_replay_give_back(struct cl_replay *r, struct replay_read *read)
{

	read->next = r->stage.free;
	r->stage.free = read;
}

/* A slot that nobody used is freed, and what is not yet read never will be. */
static void
discard(struct cl_replay *r, struct staged *from)
{
	struct replay_read *read = from->read;

	cl_cache_unstage(r->cache, from->key);
	if (r->o.device == NULL)
		return;
	cl_io_cancel(cl_device_io(r->o.device), &read->job);
	read->cancelled = true;
	read->next = r->stage.stale;
	r->stage.stale = read;
}

void
cl_replay_unstage(struct cl_replay *r, const struct column *col,
    unsigned phase)
{
	struct stage *s = &r->stage;
	struct staged *from;
	uint32_t i = 0;

	while (i < s->n) {
		from = &s->slot[i];
		if (from->col != col) {
			i++;
			continue;
		}
		if (!from->used) {
			r->phase[phase]->n[CL_N_PREFETCH_WASTED]++;
			from->col->tally->prefetch_wasted++;
			discard(r, from);
		} else if (r->o.device != NULL)
			recycle(s, from->read);
		vacate(s, i);
	}
}

void
cl_replay_end_stage(struct cl_replay *r, unsigned phase)
{
	struct stage *s = &r->stage;

	for (; s->n > 0; s->n--) {
		r->phase[phase]->n[CL_N_PREFETCH_LEFT]++;
		if (!s->slot[s->n - 1].used)
			discard(r, &s->slot[s->n - 1]);
	}
	if (r->o.device != NULL)
		end_stale(r, true);
	s->over = true;
}

/* After a failure anything may be under way. */
static void
drain(struct cl_replay *r)
{
	struct cl_io *io = cl_device_io(r->o.device);
	uint32_t i;

	for (i = 0; i < r->stage.nreads; i++)
		cl_io_cancel(io, &r->stage.read[i].job);
	for (i = 0; i < r->stage.nreads; i++)
		cl_io_wait(io, &r->stage.read[i].job);
}

void
cl_replay_close_stage(struct cl_replay *r)
{
	struct stage *s = &r->stage;

	if (!s->over && s->read != NULL)
		drain(r);
	free(s->slot);
	free(s->at);
	free(s->read);
	free(s->idle);
	free(s->nidle);
}
