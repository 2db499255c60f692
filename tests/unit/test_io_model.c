/*
 * The back ends that model a device: against closed forms, and against a twin
 * that walks through every nanosecond and carries every byte.
 */

#include <string.h>

#include "cl/io.h"
#include "cl/rng.h"
#include "cl/virtual.h"
#include "unit.h"

#define GIGA	UINT64_C(1000000000)
#define NJOBS	40
#define NPARTS	3

static struct cl_virtual_spec
spec_of(const char *s)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;

	assert(cl_virtual_parse(s, &spec, &err) == CL_OK);
	return (spec);
}

static struct cl_io *
reader(const struct cl_virtual_spec *spec, enum cl_io_backend backend,
    uint32_t nthreads)
{
	struct cl_io_options o = { .backend = backend, .nthreads = nthreads,
	    .device = spec };
	struct cl_io *io = cl_io_new(NULL, 0, &o, NULL);

	assert(io != NULL);
	return (io);
}

static struct cl_io *
model_of(const char *s, uint32_t nthreads)
{
	struct cl_virtual_spec spec = spec_of(s);

	return (reader(&spec, CL_IO_MODEL, nthreads));
}

static void
submit(struct cl_io *io, struct cl_io_job *job, uint64_t nbytes,
    enum cl_io_queue queue)
{

	memset(job, 0, sizeof(*job));
	job->nparts = 1;
	job->part[0].nbytes = (size_t)nbytes;
	cl_io_submit(io, job, queue);
}

/* read=3GB/s: 1000 bytes take 333 1/3 ns, and no third is ever lost. */
static void
one_at_a_time_takes_latency_and_bytes(void)
{
	struct cl_io *io = model_of("read=3GB,latency=80us,depth=32", 1);
	struct cl_io_job job[NJOBS];
	int i;

	for (i = 0; i < NJOBS; i++)
		submit(io, &job[i], 3000001, CL_IO_DEMAND);
	for (i = 0; i < NJOBS; i++) {
		cl_io_wait(io, &job[i]);
		/* Each begins when the last one has ended, rounded up. */
		assert(cl_io_now(io) == (uint64_t)(i + 1) * (80000 +
		    1000001));
		assert(job[i].done_ns - job[i].begun_ns == 80000 + 1000001);
	}
	cl_io_free(io);
}

static void
many_at_once_take_bytes_alone(void)
{
	struct cl_io *io = model_of("read=3GB,latency=80us,depth=32",
	    16);
	struct cl_io_job job[NJOBS];
	int i;

	for (i = 0; i < NJOBS; i++)
		submit(io, &job[i], 1000000, CL_IO_DEMAND);
	cl_io_wait(io, &job[NJOBS - 1]);
	/* The third of a nanosecond is carried from each to the next. */
	assert(cl_io_now(io) == 80000 + (NJOBS * 1000000 + 2) / 3);
	for (i = 0; i < NJOBS; i++)
		assert(job[i].done_ns == 80000 +
		    (uint64_t)((i + 1) * 1000000 + 2) / 3);
	cl_io_free(io);
}

/* Two of depth 2: pairs that share a latency, as long as it outlasts them. */
static void
depth_bounds_what_overlaps(void)
{
	struct cl_io *io = model_of("read=1GB,latency=1us,depth=2", 16);
	struct cl_io_job job[4];
	int i;

	for (i = 0; i < 4; i++)
		submit(io, &job[i], 100, CL_IO_DEMAND);
	cl_io_wait(io, &job[3]);
	assert(job[0].done_ns == 1100 && job[1].done_ns == 1200);
	assert(job[2].done_ns == 2200 && job[3].done_ns == 2300);
	cl_io_free(io);
}

/* Reads end at 100, 200, 300 and 2100 ns; a wake-up takes 150. */
static void
who_waits_is_woken_and_others_are_not(void)
{
	struct cl_io *io = model_of("read=1GB,latency=0ns,depth=4,wake=150ns",
	    4);
	struct cl_io_job job[4];
	int i;

	for (i = 0; i < 3; i++)
		submit(io, &job[i], 100, CL_IO_DEMAND);
	submit(io, &job[3], 1800, CL_IO_DEMAND);
	cl_io_wait(io, &job[0]);
	assert(cl_io_now(io) == 250 && job[0].done_ns == 100);
	assert(cl_io_done(io, &job[1]) && !cl_io_done(io, &job[2]));
	cl_io_wait(io, &job[1]);
	assert(cl_io_now(io) == 250);
	cl_io_wait(io, &job[2]);
	assert(cl_io_now(io) == 450 && job[2].done_ns == 300);
	cl_io_spend(io, 1650);
	assert(cl_io_now(io) == 2100 && job[3].done_ns == 2100);
	cl_io_wait(io, &job[3]);
	assert(cl_io_now(io) == 2100);
	cl_io_free(io);
}

static void
demand_goes_before_what_waits(void)
{
	struct cl_io *io = model_of("read=1GB,latency=0ns,depth=32", 1);
	struct cl_io_job job[5];

	submit(io, &job[0], 100, CL_IO_PREFETCH);	/* taken at once */
	submit(io, &job[1], 100, CL_IO_PREFETCH);
	submit(io, &job[2], 100, CL_IO_PREFETCH);
	submit(io, &job[3], 100, CL_IO_DEMAND);
	submit(io, &job[4], 100, CL_IO_DEMAND);
	cl_io_wait(io, &job[4]);
	assert(job[0].done_ns == 100 && job[3].done_ns == 200);
	assert(job[4].done_ns == 300);
	cl_io_wait(io, &job[1]);
	assert(cl_io_now(io) == 400);
	cl_io_wait(io, &job[2]);
	assert(cl_io_now(io) == 500);
	cl_io_free(io);
}

static void
a_promoted_job_is_a_demand(void)
{
	struct cl_io *io = model_of("read=1GB,latency=0ns,depth=32", 1);
	struct cl_io_job job[5];

	submit(io, &job[0], 100, CL_IO_PREFETCH);
	submit(io, &job[1], 100, CL_IO_PREFETCH);
	submit(io, &job[2], 100, CL_IO_PREFETCH);
	submit(io, &job[3], 100, CL_IO_DEMAND);
	cl_io_promote(io, &job[2]);
	cl_io_promote(io, &job[2]);		/* and stays where it is */
	cl_io_promote(io, &job[0]);		/* under way: nothing to do */
	submit(io, &job[4], 100, CL_IO_DEMAND);
	cl_io_wait(io, &job[1]);
	assert(job[0].done_ns == 100 && job[3].done_ns == 200);
	assert(job[2].done_ns == 300 && job[4].done_ns == 400);
	assert(job[1].done_ns == 500);
	cl_io_promote(io, &job[1]);		/* done: nothing to do */
	assert(job[1].state == CL_IO_IDLE);
	cl_io_free(io);
}

static void
reads_go_on_while_time_is_spent(void)
{
	struct cl_io *io = model_of("read=1GB,latency=1us,depth=32", 1);
	struct cl_io_job job[2];

	submit(io, &job[0], 1000, CL_IO_PREFETCH);
	submit(io, &job[1], 1000, CL_IO_PREFETCH);
	cl_io_spend(io, 1999);
	assert(job[0].state == CL_IO_RUNNING);
	assert(job[1].state == CL_IO_QUEUED);
	cl_io_spend(io, 1);
	assert(job[0].state == CL_IO_DONE);
	assert(job[1].state == CL_IO_RUNNING && cl_io_now(io) == 2000);
	cl_io_spend(io, 5000);
	assert(job[1].done_ns == 4000 && cl_io_now(io) == 7000);
	cl_io_wait(io, &job[1]);		/* long done: no time passes */
	assert(cl_io_now(io) == 7000);
	cl_io_free(io);
}

static void
dense_reads_have_a_rate_of_their_own(void)
{
	struct cl_io *io = model_of("read=1GB,latency=0ns,depth=32,"
	    "dense=2GB", 4);
	struct cl_io_job job[2];

	submit(io, &job[0], 1000, CL_IO_DEMAND);
	memset(&job[1], 0, sizeof(job[1]));
	job[1].nparts = 1;
	job[1].part[0].nbytes = 1000;
	job[1].dense = true;
	cl_io_submit(io, &job[1], CL_IO_DEMAND);
	cl_io_wait(io, &job[1]);
	assert(cl_io_now(io) == 1000 + 500);
	cl_io_free(io);
}

/*
 * The twin.  Each nanosecond: parts that are through end, workers take parts,
 * and the link carries rate / 10^9 bytes of the oldest request that has its
 * latency behind it, what is left of the nanosecond going to the next.
 */
struct twin_part {
	uint32_t	 job;
	uint64_t	 ready;		/* UINT64_MAX: not yet in the device */
	uint64_t	 left;		/* billionths of bytes */
	uint64_t	 end;		/* UINT64_MAX: not yet through */
	bool		 dense;
	bool		 held;		/* by a worker */
};

struct twin_job {
	uint64_t	 at;		/* submitted */
	uint64_t	 promoted_at;
	enum cl_io_queue submitted_to;
	enum cl_io_queue queue;
	uint32_t	 nparts, begun, ended;
	uint64_t	 nbytes[NPARTS];
	bool		 dense;
	uint64_t	 order;		/* in its queue; 0: not there yet */
	uint64_t	 end;
};

struct twin {
	struct cl_virtual_spec spec;
	uint32_t	 nthreads;
	struct twin_job	 job[NJOBS];
	struct twin_part part[NJOBS * NPARTS];
	uint32_t	 nparts;
	uint64_t	 order;
};

static uint32_t
twin_busy(const struct twin *w)
{
	uint32_t i, n = 0;

	for (i = 0; i < w->nparts; i++)
		n += w->part[i].held;
	return (n);
}

static void
twin_begin(struct twin *w, uint32_t j)
{
	struct twin_job *job = &w->job[j];

	w->part[w->nparts++] = (struct twin_part){ .job = j,
	    .ready = UINT64_MAX, .end = UINT64_MAX, .held = true,
	    .left = job->nbytes[job->begun++] * GIGA, .dense = job->dense };
}

/* The first in the queue, or NJOBS. */
static uint32_t
twin_next(const struct twin *w)
{
	const struct twin_job *a, *b;
	uint32_t i, best = NJOBS;

	for (i = 0; i < NJOBS; i++) {
		a = &w->job[i];
		if (a->order == 0 || a->begun == a->nparts)
			continue;
		b = best == NJOBS ? NULL : &w->job[best];
		if (b == NULL || a->queue < b->queue ||
		    (a->queue == b->queue && a->order < b->order))
			best = i;
	}
	return (best);
}

static void
twin_dispatch(struct twin *w)
{
	uint32_t j;

	while (twin_busy(w) < w->nthreads && (j = twin_next(w)) != NJOBS)
		twin_begin(w, j);
}

/* Workers' requests enter the device, as many as it holds. */
static void
twin_enter(struct twin *w, uint64_t now)
{
	uint32_t i, inside = 0;

	for (i = 0; i < w->nparts; i++)
		inside += w->part[i].ready != UINT64_MAX &&
		    w->part[i].end == UINT64_MAX;
	for (i = 0; i < w->nparts && inside < w->spec.depth; i++)
		if (w->part[i].ready == UINT64_MAX) {
			w->part[i].ready = now + w->spec.latency_ns;
			inside++;
		}
}

/* Requests that are through at `now`, one at a time. */
static void
twin_end(struct twin *w, uint64_t now)
{
	struct twin_job *job;
	uint32_t i;

	for (i = 0; i < w->nparts; i++) {
		if (!w->part[i].held || w->part[i].end > now)
			continue;
		w->part[i].held = false;
		job = &w->job[w->part[i].job];
		if (++job->ended == job->nparts)
			job->end = now;
		twin_dispatch(w);
	}
}

/* The link, from now to now + 1. */
static void
twin_carry(struct twin *w, uint64_t now)
{
	uint64_t rest = UINT64_MAX, rate, last = 0;
	uint32_t i;

	for (i = 0; i < w->nparts && rest != 0; i++) {
		if (w->part[i].end != UINT64_MAX)
			continue;
		if (w->part[i].ready > now)
			return;
		rate = w->part[i].dense ? w->spec.dense : w->spec.read;
		if (rest == UINT64_MAX)
			rest = rate;
		else if (last != rate)
			return;		/* the rate changes with the tick */
		last = rate;
		if (w->part[i].left > rest) {
			w->part[i].left -= rest;
			return;
		}
		rest -= w->part[i].left;
		w->part[i].left = 0;
		w->part[i].end = now + 1;
	}
}

static bool
twin_done(const struct twin *w)
{
	uint32_t i;

	for (i = 0; i < NJOBS; i++)
		if (w->job[i].ended < w->job[i].nparts)
			return (false);
	return (true);
}

/* What is still queued, if only in part, goes behind all demand. */
static void
twin_promote(struct twin *w, struct twin_job *job)
{

	if (job->queue == CL_IO_DEMAND || job->begun == job->nparts)
		return;
	job->queue = CL_IO_DEMAND;
	job->order = ++w->order;
}

static void
twin_run(struct twin *w)
{
	uint64_t now;
	uint32_t i;

	for (now = 0; !twin_done(w); now++) {
		twin_end(w, now);
		for (i = 0; i < NJOBS; i++) {
			if (w->job[i].at == now) {
				w->job[i].order = ++w->order;
				twin_dispatch(w);
			}
			if (w->job[i].promoted_at == now)
				twin_promote(w, &w->job[i]);
		}
		twin_enter(w, now);
		twin_carry(w, now);
	}
}

/* A schedule of some microseconds, submits and promotions in time order. */
static void
make_schedule(struct twin *w, uint64_t *rng)
{
	struct twin_job *job;
	uint64_t at = 0;
	uint32_t i, p;

	memset(w, 0, sizeof(*w));
	w->spec.read = GIGA / 2 + cl_rng_below(rng, 4 * GIGA);
	w->spec.dense = cl_rng_below(rng, 2) == 0 ? w->spec.read :
	    GIGA / 2 + cl_rng_below(rng, 4 * GIGA);
	w->spec.latency_ns = cl_rng_below(rng, 60);
	w->spec.depth = 1 + (uint32_t)cl_rng_below(rng, 6);
	w->nthreads = 1 + (uint32_t)cl_rng_below(rng, 6);
	for (i = 0; i < NJOBS; i++) {
		job = &w->job[i];
		job->at = at += cl_rng_below(rng, 80);
		job->submitted_to = cl_rng_below(rng, 2) == 0 ?
		    CL_IO_DEMAND : CL_IO_PREFETCH;
		job->queue = job->submitted_to;
		job->promoted_at = cl_rng_below(rng, 2) == 0 ? UINT64_MAX :
		    at + 1 + cl_rng_below(rng, 100);
		job->nparts = 1 + (uint32_t)cl_rng_below(rng, NPARTS);
		job->dense = cl_rng_below(rng, 4) == 0;
		for (p = 0; p < job->nparts; p++)
			job->nbytes[p] = 1 + cl_rng_below(rng, 120);
	}
}

static void
twin_submit(const struct twin_job *t, struct cl_io *io, struct cl_io_job *job)
{
	uint32_t p;

	job->nparts = t->nparts;
	job->dense = t->dense;
	for (p = 0; p < t->nparts; p++)
		job->part[p].nbytes = (size_t)t->nbytes[p];
	cl_io_submit(io, job, t->submitted_to);
}

/* The same schedule on the model, whose clock is moved by spending alone. */
static void
replay_schedule(const struct twin *w)
{
	static struct cl_io_job job[NJOBS];
	struct cl_io *io = reader(&w->spec, CL_IO_MODEL, w->nthreads);
	uint64_t t;
	uint32_t i;

	memset(job, 0, sizeof(job));
	for (t = 0; t < NJOBS * 100 + 200; t++) {
		for (i = 0; i < NJOBS; i++) {
			if (w->job[i].at == t)
				twin_submit(&w->job[i], io, &job[i]);
			if (w->job[i].promoted_at == t)
				cl_io_promote(io, &job[i]);
		}
		cl_io_spend(io, 1);
	}
	for (i = 0; i < NJOBS; i++) {
		cl_io_wait(io, &job[i]);
		assert(job[i].done_ns == w->job[i].end);
	}
	cl_io_free(io);
}

static void
a_twin_by_nanoseconds_agrees(void)
{
	static struct twin w;
	uint64_t rng = 4;
	uint32_t round;

	for (round = 0; round < 300; round++) {
		make_schedule(&w, &rng);
		twin_run(&w);
		replay_schedule(&w);
	}
}

/* Jobs without a thread are done as they are submitted. */
static void
without_threads_submitting_takes_the_time(void)
{
	struct cl_io *io = model_of("read=1GB,latency=1us,depth=32", 0);
	struct cl_io_job job[2];

	submit(io, &job[0], 1000, CL_IO_PREFETCH);
	assert(cl_io_now(io) == 2000 && cl_io_done(io, &job[0]));
	submit(io, &job[1], 1000, CL_IO_DEMAND);
	assert(cl_io_now(io) == 4000 && cl_io_done(io, &job[1]));
	cl_io_free(io);
}

/* What was cancelled takes no time; what is under way is seen to its end. */
static void
cancelled_prefetches_take_no_time(void)
{
	struct cl_io *io = model_of("read=1GB,latency=1us,depth=32", 1);
	struct cl_io_job job[3];

	submit(io, &job[0], 1000, CL_IO_PREFETCH);
	submit(io, &job[1], 1000, CL_IO_PREFETCH);
	submit(io, &job[2], 1000, CL_IO_DEMAND);
	cl_io_cancel(io, &job[0]);
	cl_io_cancel(io, &job[1]);
	cl_io_wait(io, &job[1]);
	assert(cl_io_now(io) == 0 && job[1].err.code != CL_OK);
	cl_io_wait(io, &job[2]);
	assert(cl_io_now(io) == 4000 && job[2].err.code == CL_OK);
	assert(job[2].arrived == 1000 && job[2].read_ns == 2000);
	cl_io_wait(io, &job[0]);
	assert(job[0].err.code == CL_OK);
	submit(io, &job[0], 1000, CL_IO_PREFETCH);
	cl_io_free(io);
	assert(job[0].state == CL_IO_DONE);
}

/*
 * Threads may sleep too long, never too short: each job is at least as late
 * as the model has it, counted from its submission.
 */
static void
sleepers_are_never_early(void)
{
	struct cl_virtual_spec spec = spec_of("read=1GB,latency=100us,"
	    "depth=8");
	struct cl_io *io = reader(&spec, CL_IO_SLEEP, 4);
	struct cl_io *model = reader(&spec, CL_IO_MODEL, 4);
	struct cl_io_job job[8], twin[8];
	struct cl_io_facts facts;
	uint64_t start = cl_io_now(io);
	int i;

	for (i = 0; i < 8; i++) {
		submit(io, &job[i], 100000, CL_IO_DEMAND);
		submit(model, &twin[i], 100000, CL_IO_DEMAND);
	}
	for (i = 7; i >= 0; i--) {
		cl_io_wait(io, &job[i]);
		cl_io_wait(model, &twin[i]);
		assert(job[i].err.code == CL_OK && job[i].arrived == 100000);
		assert(job[i].done_ns - start >= twin[i].done_ns);
	}
	cl_io_facts(io, &facts);
	assert(facts.backend == CL_IO_SLEEP);
	assert(strcmp(facts.backend_name, "sleep") == 0);
	cl_io_free(io);
	cl_io_free(model);
}

static const struct unit units[] = {
	{ "requests one at a time take latency and bytes each",
	    one_at_a_time_takes_latency_and_bytes },
	{ "enough requests at once take what their bytes take",
	    many_at_once_take_bytes_alone },
	{ "no more requests overlap than the device is deep",
	    depth_bounds_what_overlaps },
	{ "who waits is woken, and others are not",
	    who_waits_is_woken_and_others_are_not },
	{ "demand goes before what waits", demand_goes_before_what_waits },
	{ "a promoted job is a demand", a_promoted_job_is_a_demand },
	{ "reads go on while time is spent",
	    reads_go_on_while_time_is_spent },
	{ "dense reads have a rate of their own",
	    dense_reads_have_a_rate_of_their_own },
	{ "a twin that walks by nanoseconds agrees on random schedules",
	    a_twin_by_nanoseconds_agrees },
	{ "without threads, submitting takes the time",
	    without_threads_submitting_takes_the_time },
	{ "cancelled prefetches take no time",
	    cancelled_prefetches_take_no_time },
	{ "sleepers are never early", sleepers_are_never_early },
};

UNIT_MAIN(units)
