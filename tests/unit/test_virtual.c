/*
 * The modelled device against closed forms, and against a twin that walks
 * through every nanosecond and carries every byte.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/num.h"
#include "cl/rng.h"
#include "cl/virtual.h"
#include "unit.h"

#define GIGA	UINT64_C(1000000000)
#define NJOBS	40

static struct cl_virtual_spec
spec_of(const char *s)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;

	assert(cl_virtual_parse(s, &spec, &err) == CL_OK);
	return (spec);
}

static struct cl_virtual *
device_of(const char *s, uint32_t nworkers)
{
	struct cl_virtual_spec spec = spec_of(s);
	struct cl_err err = { 0 };
	struct cl_virtual *v = cl_virtual_new(&spec, nworkers, false, &err);

	assert(v != NULL);
	return (v);
}

static void
submit(struct cl_virtual *v, struct cl_virtual_job *job, uint64_t nbytes,
    enum cl_virtual_queue queue)
{

	memset(job, 0, sizeof(*job));
	job->nparts = 1;
	job->nbytes[0] = nbytes;
	cl_virtual_submit(v, job, queue);
}

/* read=3GB/s: 1000 bytes take 333 1/3 ns, and no third is ever lost. */
static void
one_at_a_time_takes_latency_and_bytes(void)
{
	struct cl_virtual *v = device_of("read=3GB,latency=80us,depth=32", 1);
	struct cl_virtual_job job[NJOBS];
	int i;

	for (i = 0; i < NJOBS; i++)
		submit(v, &job[i], 3000001, CL_VIRTUAL_DEMAND);
	for (i = 0; i < NJOBS; i++) {
		cl_virtual_wait(v, &job[i]);
		/* Each begins when the last one has ended, rounded up. */
		assert(cl_virtual_now(v) == (uint64_t)(i + 1) * (80000 +
		    1000001));
		assert(job[i].end_ns - job[i].begin_ns == 80000 + 1000001);
	}
	cl_virtual_free(v);
}

static void
many_at_once_take_bytes_alone(void)
{
	struct cl_virtual *v = device_of("read=3GB,latency=80us,depth=32",
	    16);
	struct cl_virtual_job job[NJOBS];
	int i;

	for (i = 0; i < NJOBS; i++)
		submit(v, &job[i], 1000000, CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[NJOBS - 1]);
	/* The third of a nanosecond is carried from each to the next. */
	assert(cl_virtual_now(v) == 80000 + (NJOBS * 1000000 + 2) / 3);
	for (i = 0; i < NJOBS; i++)
		assert(job[i].end_ns == 80000 +
		    (uint64_t)((i + 1) * 1000000 + 2) / 3);
	cl_virtual_free(v);
}

/* Two of depth 2: pairs that share a latency, as long as it outlasts them. */
static void
depth_bounds_what_overlaps(void)
{
	struct cl_virtual *v = device_of("read=1GB,latency=1us,depth=2", 16);
	struct cl_virtual_job job[4];
	int i;

	for (i = 0; i < 4; i++)
		submit(v, &job[i], 100, CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[3]);
	assert(job[0].end_ns == 1100 && job[1].end_ns == 1200);
	assert(job[2].end_ns == 2200 && job[3].end_ns == 2300);
	cl_virtual_free(v);
}

static void
demand_goes_before_what_waits(void)
{
	struct cl_virtual *v = device_of("read=1GB,latency=0ns,depth=32", 1);
	struct cl_virtual_job job[5];

	submit(v, &job[0], 100, CL_VIRTUAL_PREFETCH);	/* taken at once */
	submit(v, &job[1], 100, CL_VIRTUAL_PREFETCH);
	submit(v, &job[2], 100, CL_VIRTUAL_PREFETCH);
	submit(v, &job[3], 100, CL_VIRTUAL_DEMAND);
	submit(v, &job[4], 100, CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[4]);
	assert(job[0].end_ns == 100 && job[3].end_ns == 200);
	assert(job[4].end_ns == 300);
	cl_virtual_wait(v, &job[1]);
	assert(cl_virtual_now(v) == 400);
	cl_virtual_wait(v, &job[2]);
	assert(cl_virtual_now(v) == 500);
	cl_virtual_free(v);
}

static void
a_promoted_job_is_a_demand(void)
{
	struct cl_virtual *v = device_of("read=1GB,latency=0ns,depth=32", 1);
	struct cl_virtual_job job[5];

	submit(v, &job[0], 100, CL_VIRTUAL_PREFETCH);
	submit(v, &job[1], 100, CL_VIRTUAL_PREFETCH);
	submit(v, &job[2], 100, CL_VIRTUAL_PREFETCH);
	submit(v, &job[3], 100, CL_VIRTUAL_DEMAND);
	cl_virtual_promote(v, &job[2]);
	cl_virtual_promote(v, &job[2]);		/* and stays where it is */
	cl_virtual_promote(v, &job[0]);		/* under way: nothing to do */
	submit(v, &job[4], 100, CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[1]);
	assert(job[0].end_ns == 100 && job[3].end_ns == 200);
	assert(job[2].end_ns == 300 && job[4].end_ns == 400);
	assert(job[1].end_ns == 500);
	cl_virtual_promote(v, &job[1]);		/* done: nothing to do */
	assert(job[1].state == CL_VIRTUAL_DONE);
	cl_virtual_free(v);
}

static void
reads_go_on_while_time_is_spent(void)
{
	struct cl_virtual *v = device_of("read=1GB,latency=1us,depth=32", 1);
	struct cl_virtual_job job[2];

	submit(v, &job[0], 1000, CL_VIRTUAL_PREFETCH);
	submit(v, &job[1], 1000, CL_VIRTUAL_PREFETCH);
	cl_virtual_spend(v, 1999);
	assert(job[0].state == CL_VIRTUAL_BEGUN);
	assert(job[1].state == CL_VIRTUAL_WAITING);
	cl_virtual_spend(v, 1);
	assert(job[0].state == CL_VIRTUAL_DONE);
	assert(job[1].state == CL_VIRTUAL_BEGUN && cl_virtual_now(v) == 2000);
	cl_virtual_spend(v, 5000);
	assert(job[1].end_ns == 4000 && cl_virtual_now(v) == 7000);
	cl_virtual_wait(v, &job[1]);		/* long done: no time passes */
	assert(cl_virtual_now(v) == 7000);
	cl_virtual_free(v);
}

static void
dense_reads_have_a_rate_of_their_own(void)
{
	struct cl_virtual *v = device_of("read=1GB,latency=0ns,depth=32,"
	    "dense=2GB", 4);
	struct cl_virtual_job job[2];

	submit(v, &job[0], 1000, CL_VIRTUAL_DEMAND);
	memset(&job[1], 0, sizeof(job[1]));
	job[1].nparts = 1;
	job[1].nbytes[0] = 1000;
	job[1].dense = true;
	cl_virtual_submit(v, &job[1], CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[1]);
	assert(cl_virtual_now(v) == 1000 + 500);
	cl_virtual_free(v);
}

/* Sizes that no device has end at the end of time, not before. */
static void
time_does_not_wrap(void)
{
	struct cl_virtual *v = device_of("read=1K,latency=80us,depth=32", 2);
	struct cl_virtual_spec spec = spec_of("read=1K,latency=1ns,depth=1,"
	    "compute=18446744073s,kernel=1K");
	struct cl_virtual_job job[2];

	submit(v, &job[0], UINT64_MAX, CL_VIRTUAL_DEMAND);
	submit(v, &job[1], UINT64_MAX, CL_VIRTUAL_DEMAND);
	cl_virtual_wait(v, &job[1]);
	assert(cl_virtual_now(v) == INT64_MAX);
	cl_virtual_spend(v, UINT64_MAX);
	assert(cl_virtual_now(v) == INT64_MAX);
	assert(cl_virtual_compute_ns(&spec, UINT64_MAX) == INT64_MAX);
	cl_virtual_free(v);
}

static void
computing_takes_a_time_and_its_bytes(void)
{
	struct cl_virtual_spec s = spec_of("read=7G,latency=80us,depth=32,"
	    "compute=1.2ms,kernel=12GB");

	assert(cl_virtual_compute_ns(&s, 12000) == 1200000 + 1000);
	assert(cl_virtual_compute_ns(&s, 12001) == 1200000 + 1001);
	/* 2^44 bytes: a product of more than 64 bits. */
	assert(cl_virtual_compute_ns(&s, UINT64_C(1) << 44) == 1200000 +
	    UINT64_C(1466015503702));
	s.kernel = 0;
	assert(cl_virtual_compute_ns(&s, 12000) == 1200000);
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
	enum cl_virtual_queue submitted_to;
	enum cl_virtual_queue queue;
	uint32_t	 nparts, begun, ended;
	uint64_t	 nbytes[CL_VIRTUAL_PARTS_MAX];
	bool		 dense;
	uint64_t	 order;		/* in its queue; 0: not there yet */
	uint64_t	 end;
};

struct twin {
	struct cl_virtual_spec spec;
	uint32_t	 nworkers;
	bool		 spread;
	struct twin_job	 job[NJOBS];
	struct twin_part part[NJOBS * CL_VIRTUAL_PARTS_MAX];
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
		if (a->order == 0 || a->begun == a->nparts ||
		    (!w->spread && a->begun > 0))
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

	while (twin_busy(w) < w->nworkers && (j = twin_next(w)) != NJOBS)
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
		else if (!w->spread)
			twin_begin(w, w->part[i].job);
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

	if (job->queue == CL_VIRTUAL_DEMAND || job->begun == job->nparts ||
	    (!w->spread && job->begun > 0))
		return;
	job->queue = CL_VIRTUAL_DEMAND;
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
	w->nworkers = 1 + (uint32_t)cl_rng_below(rng, 6);
	w->spread = cl_rng_below(rng, 2) == 0;
	for (i = 0; i < NJOBS; i++) {
		job = &w->job[i];
		job->at = at += cl_rng_below(rng, 80);
		job->submitted_to = cl_rng_below(rng, 2) == 0 ?
		    CL_VIRTUAL_DEMAND : CL_VIRTUAL_PREFETCH;
		job->queue = job->submitted_to;
		job->promoted_at = cl_rng_below(rng, 2) == 0 ? UINT64_MAX :
		    at + 1 + cl_rng_below(rng, 100);
		job->nparts = 1 + (uint32_t)cl_rng_below(rng, 3);
		job->dense = cl_rng_below(rng, 4) == 0;
		for (p = 0; p < job->nparts; p++)
			job->nbytes[p] = 1 + cl_rng_below(rng, 120);
	}
}

/* The same schedule on the device: `now` is moved by spending alone. */
static void
replay_schedule(const struct twin *w)
{
	struct cl_err err = { 0 };
	struct cl_virtual *v = cl_virtual_new(&w->spec, w->nworkers,
	    w->spread, &err);
	struct cl_virtual_job job[NJOBS];
	uint64_t t;
	uint32_t i;

	assert(v != NULL);
	memset(job, 0, sizeof(job));
	for (t = 0; t < NJOBS * 100 + 200; t++) {
		for (i = 0; i < NJOBS; i++) {
			if (w->job[i].at == t) {
				memcpy(job[i].nbytes, w->job[i].nbytes,
				    sizeof(job[i].nbytes));
				job[i].nparts = w->job[i].nparts;
				job[i].dense = w->job[i].dense;
				cl_virtual_submit(v, &job[i],
				    w->job[i].submitted_to);
			}
			if (w->job[i].promoted_at == t)
				cl_virtual_promote(v, &job[i]);
		}
		cl_virtual_spend(v, 1);
	}
	for (i = 0; i < NJOBS; i++) {
		cl_virtual_wait(v, &job[i]);
		assert(job[i].end_ns == w->job[i].end);
	}
	cl_virtual_free(v);
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

static bool
text_is(const char *s, const char *want)
{
	struct cl_virtual_spec spec = spec_of(s), again;
	struct cl_err err = { 0 };
	char buf[CL_VIRTUAL_TEXT_MAX];

	(void)cl_virtual_text(buf, &spec);
	assert(cl_virtual_parse(buf, &again, &err) == CL_OK);
	assert(memcmp(&spec, &again, sizeof(spec)) == 0);
	return (strcmp(buf, want) == 0);
}

static void
a_device_is_printed_as_it_is_read(void)
{

	assert(text_is("read=7G,latency=80us,depth=32",
	    "read=7G,latency=80us,depth=32"));
	assert(text_is("depth=1,latency=0.5ms,read=2048M",
	    "read=2G,latency=500us,depth=1"));
	assert(text_is("read=1.5KB,latency=0ns,depth=1024,dense=3GB",
	    "read=1500,latency=0ns,depth=1024,dense=3000000000"));
	assert(text_is("kernel=12GiB,compute=1.2ms,dense=4G,read=4G,"
	    "latency=1s,depth=8",
	    "read=4G,latency=1s,depth=8,compute=1200us,kernel=12G"));
}

static bool
refused(const char *s, const char *why)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;

	return (cl_virtual_parse(s, &spec, &err) == CL_EINVAL &&
	    strstr(err.msg, why) != NULL);
}

static void
a_device_that_is_not_whole_is_refused(void)
{

	assert(refused("", "not key=value"));
	assert(refused("read=7G", "latency is missing"));
	assert(refused("read=7G,latency=80us", "depth is missing"));
	assert(refused("latency=80us,depth=2", "read is missing"));
	assert(refused("read=7G,latency=80us,depth=32,", "not key=value"));
	assert(refused(",read=7G,latency=80us,depth=32", "not key=value"));
	assert(refused("read=7G,read=7G", "read is given twice"));
	assert(refused("write=7G", "the keys are read"));
	assert(refused("rea=7G", "the keys are read"));
	assert(refused("read", "not key=value"));
	assert(refused("read=", "device: read: \"\": not a size"));
	assert(refused("read=1023", "at least 1024B a second"));
	assert(refused("read=7G,latency=80", "device: latency: \"80\": a time "
	    "needs a unit"));
	assert(refused("read=7G,latency=80us,depth=0", "from 1 to 1024"));
	assert(refused("read=7G,latency=80us,depth=1025", "from 1 to 1024"));
	assert(refused("read=7G,latency=80us,depth=x", "from 1 to 1024"));
	assert(refused("read=0000000000000000000000000000001024",
	    "at most 31 characters"));
	assert(refused("read=7G,latency=80us,depth=32,kernel=0", "at least"));
}

static const struct unit units[] = {
	{ "requests one at a time take latency and bytes each",
	    one_at_a_time_takes_latency_and_bytes },
	{ "enough requests at once take what their bytes take",
	    many_at_once_take_bytes_alone },
	{ "no more requests overlap than the device is deep",
	    depth_bounds_what_overlaps },
	{ "demand goes before what waits", demand_goes_before_what_waits },
	{ "a promoted job is a demand", a_promoted_job_is_a_demand },
	{ "reads go on while time is spent",
	    reads_go_on_while_time_is_spent },
	{ "dense reads have a rate of their own",
	    dense_reads_have_a_rate_of_their_own },
	{ "the clock stops at its end and never wraps", time_does_not_wrap },
	{ "computing takes its time and that of its bytes",
	    computing_takes_a_time_and_its_bytes },
	{ "a twin that walks by nanoseconds agrees on random schedules",
	    a_twin_by_nanoseconds_agrees },
	{ "a device is printed as it is read",
	    a_device_is_printed_as_it_is_read },
	{ "a device that is not whole is refused",
	    a_device_that_is_not_whole_is_refused },
};

UNIT_MAIN(units)
