/*
 * bench_replay: how many accesses a second a replay decides that only counts.
 *
 *	bench_replay [-n ACCESSES] [-p POLICY] CL_REPLAY SCRATCH [CACHESIM]
 *
 * A trace is made in memory: 48 layers of 128 experts, 8 used, each layer with
 * Zipf 0.8 popularity whose ranks drift; and one of 160 layers of 384.  Its
 * decoded blocks are replayed with every policy, at 10, 25 and 50 % capacity, in
 * turn under both contracts; policies without a target take a fifth of the
 * accesses.  A policy is a line of
 *
 *	serial M/s of processor time, in millions of accesses, at 10, 25, 50 %;
 *		their least target; the widest spread of their samples in %
 *	ev/ser	the most that event takes of serial's time (target: 1.5)
 *	large	the least speed on the large trace, of that on the small
 *		(target: 0.6)
 *	whole	the least speed of CL_REPLAY on the small trace as a file of
 *		ids in the directory SCRATCH, of the loop's alone, at 25 %
 *		(target: 0.5)
 *	times	how often as fast as CACHESIM, a libCacheSim built elsewhere, on
 *		the same accesses, at 10, 25, 50 %; their least target
 *
 * A figure is the median of SAMPLES; those that are divided are interleaved.
 * The line "bound" is of both of cl-replay's --bound at each capacity, the hits
 * of belady and of belady-bypass without victims: they have no event.
 *
 * At the end, how many times what one lru replay takes a curve of all
 * capacities takes, of all layers and of each (targets: 5 and 12).
 */

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cl/cache.h"
#include "cl/curve.h"
#include "cl/dst.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/opt.h"
#include "cl/replay.h"
#include "cl/rng.h"
#include "cl/stats.h"
#include "cl/stats_write.h"
#include "cl/text.h"
#include "cl/trace.h"
#include "cl/trace_write.h"
#include "bench.h"

#define K		8u
#define SAMPLES		5u
#define BLOCK		256u		/* tokens */
#define DRIFT		32u		/* tokens, then two ranks change places */
#define ZIPF		0.8
#define EXPERTS_MAX	384u
#define NPERCENTS	3u
#define LESS		5u		/* of the trace, without a target */
#define LEAST		400000		/* accesses: a block of the large one */
#define MOST		1000000000

static const uint32_t percents[NPERCENTS] = { 10, 25, 50 };

/* What a policy must do: accesses a second, or times a cachesim's. */
static const struct target {
	const char	*name;
	const char	*theirs;	/* in libCacheSim; NULL: has none */
	unsigned	 speed;		/* millions; 0: no target */
	unsigned	 times;
} targets[] = {
	{ "lru", "lru", 150, 15 }, { "fifo", "fifo", 150, 15 },
	{ "sieve", "sieve", 150, 15 }, { "clock", "clock", 120, 15 },
	{ "arc", "arc", 90, 12 }, { "s3fifo", "s3fifo", 60, 20 },
	{ "lirs", "lirs", 55, 20 }, { "wtinylfu", "wtinylfu", 40, 15 },
	{ "belady", "belady", 80, 18 }, { "bound", "belady", 80, 18 },
	{ "lfu", "lfu", 0, 0 }, { "2q", "twoq", 0, 0 },
};

static struct cl_err err;

struct made {
	struct cl_model	*model;
	struct cl_keys	*keys;
	uint32_t	 nlayers;
	uint32_t	 nexperts;
	uint64_t	 ntokens;
	uint64_t	 nblocks;	/* that are replayed */
	uint16_t	*ids;		/* block by block, by layer, by token */
	uint32_t	*first;		/* the same for every column */
	struct cl_trace_token *tokens;
	struct cl_trace_column *columns;
};

static void
die(void)
{

	bench_die("bench_replay", &err);
}

static void *
need(void *p)
{

	if (p == NULL) {
		cl_fail_nomem(&err, "the trace");
		die();
	}
	return (p);
}

/* K distinct experts of a layer whose ranks are in perm. */
static void
choose(uint64_t *rng, const double *sum, const uint16_t *perm, uint32_t n,
    uint16_t *ids)
{
	uint32_t i, j, lo, hi, mid;
	double u;

	for (i = 0; i < K; i += j == i) {
		u = cl_rng_unit(rng) * sum[n - 1];
		for (lo = 0, hi = n - 1; lo < hi;) {
			mid = (lo + hi) / 2;
			if (sum[mid] > u)
				hi = mid;
			else
				lo = mid + 1;
		}
		ids[i] = perm[lo];
		for (j = 0; j < i && ids[j] != ids[i]; j++)
			;
	}
}

static void
fill_layer(struct made *m, uint32_t layer)
{
	uint64_t rng = layer + 1, t, block;
	uint16_t perm[EXPERTS_MAX], swap;
	double sum[EXPERTS_MAX], total = 0;
	uint32_t i, j, n = m->nexperts;

	for (i = 0; i < n; i++) {
		sum[i] = total += pow(i + 1, -ZIPF);
		j = (uint32_t)cl_rng_below(&rng, i + 1);
		perm[i] = perm[j];
		perm[j] = (uint16_t)i;
	}
	for (t = 0; t < m->ntokens; t++) {
		if (t % DRIFT == 0) {
			i = (uint32_t)cl_rng_below(&rng, n);
			j = (uint32_t)cl_rng_below(&rng, n);
			swap = perm[i];
			perm[i] = perm[j];
			perm[j] = swap;
		}
		block = t / BLOCK;
		choose(&rng, sum, perm, n, m->ids + ((block * m->nlayers +
		    layer) * BLOCK + t % BLOCK) * K);
	}
}

static void
make(struct made *m, uint32_t nlayers, uint32_t nexperts, uint64_t naccesses)
{
	uint32_t i;

	m->nlayers = nlayers;
	m->nexperts = nexperts;
	m->nblocks = naccesses / (nlayers * K) / BLOCK;
	m->ntokens = m->nblocks * BLOCK;
	m->model = need(cl_model_new(nlayers, &err));
	for (i = 0; i < nlayers; i++) {
		m->model->layers[i].nexperts = nexperts;
		m->model->layers[i].k = K;
		cl_rule_init(&m->model->layers[i].rule, nexperts, K);
	}
	m->keys = need(cl_keys_new(m->model, &err));
	m->ids = need(calloc(m->ntokens * nlayers * K, sizeof(*m->ids)));
	m->first = need(calloc(BLOCK + 1, sizeof(*m->first)));
	m->tokens = need(calloc(BLOCK, sizeof(*m->tokens)));
	m->columns = need(calloc(nlayers, sizeof(*m->columns)));
	for (i = 0; i <= BLOCK; i++)
		m->first[i] = i * K;
	for (i = 0; i < BLOCK; i++)
		m->tokens[i].decode = m->tokens[i].begins = true;
	for (i = 0; i < nlayers; i++) {
		m->columns[i] = (struct cl_trace_column){ .layer = i,
		    .nexperts = nexperts, .k = K, .first = m->first };
		fill_layer(m, i);
	}
}

/* The accesses as cachesim reads them: time, key, size, next access. */
static void
write_oracle(const struct made *m, const char *path)
{
	uint64_t block, n = m->ntokens * m->nlayers * K, i = n, at;
	uint64_t *next = need(calloc(m->keys->nkeys, sizeof(*next)));
	uint8_t *out = need(calloc(n, 24)), *rec;
	uint32_t layer, t, e, key;
	struct cl_dst *dst;

	for (block = m->ntokens / BLOCK; block-- > 0;)
		for (t = BLOCK; t-- > 0;)
			for (layer = m->nlayers; layer-- > 0;)
				for (e = K; e-- > 0;) {
					key = layer * m->nexperts +
					    m->ids[((block * m->nlayers +
					    layer) * BLOCK + t) * K + e];
					rec = out + --i * 24;
					at = key;
					memcpy(rec + 4, &at, 8);
					rec[12] = 1;
					at = next[key] == 0 ? UINT64_MAX :
					    next[key];
					memcpy(rec + 16, &at, 8);
					next[key] = i + 1;
				}
	if ((dst = cl_dst_file(path, true, &err)) == NULL)
		die();
	cl_dst_write(dst, out, n * 24);
	if (cl_dst_finish(dst, &err) != CL_OK)
		die();
	cl_dst_free(dst);
	free(out);
	free(next);
}

/* All of it as a file of ids. */
static void
write_trace(const struct made *m, const char *path)
{
	struct cl_trace_head head = { .origin = CL_ORIGIN_SYNTHETIC,
	    .block_tokens = BLOCK, .model = m->model };
	struct cl_trace_cell cell = { .n = K };
	struct cl_trace_writer *w;
	struct cl_dst *dst;
	uint32_t seq, layer;
	uint64_t t;

	if ((dst = cl_dst_file(path, true, &err)) == NULL ||
	    (w = cl_trace_writer_new(dst, &head, &err)) == NULL ||
	    cl_trace_write_seq(w, "bench", &seq, &err) != CL_OK)
		die();
	for (t = 0; t < m->ntokens; t++) {
		struct cl_trace_token token = { .seq = seq, .token = -1,
		    .pos = (uint32_t)t, .decode = true, .begins = true };

		(void)cl_trace_write_token(w, &token, &err);
		for (layer = 0; layer < m->nlayers; layer++) {
			cell.ids = m->ids + ((t / BLOCK * m->nlayers + layer) *
			    BLOCK + t % BLOCK) * K;
			(void)cl_trace_write_cell(w, layer, &cell, &err);
		}
	}
	if (cl_trace_writer_finish(w, CL_END_COMPLETE, &err) != CL_OK ||
	    cl_dst_finish(dst, &err) != CL_OK)
		die();
	cl_trace_writer_free(w);
	cl_dst_free(dst);
}

/* Of the processor, so that others on the machine count for less. */
static double
cpu_seconds(int who)
{
	struct rusage u;

	(void)getrusage(who, &u);
	return ((double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

static int
pass(void *arg, const struct cl_pass *p, struct cl_err *e)
{

	return (cl_replay_pass(arg, p, e));
}

static void
feed(struct made *m, struct cl_events *events)
{
	struct cl_trace_block b = { .ntokens = BLOCK, .tokens = m->tokens,
	    .ncolumns = m->nlayers, .columns = m->columns };
	uint64_t block;
	uint32_t i;

	for (block = 0; block < m->nblocks; block++) {
		for (i = 0; i < m->nlayers; i++)
			m->columns[i].ids = m->ids +
			    (block * m->nlayers + i) * BLOCK * K;
		if (cl_events_block(events, &b, &err) != CL_OK)
			die();
	}
}

/* Millions of accesses a second, of so many seconds for what is replayed. */
static double
rate(const struct made *m, double seconds)
{

	return ((double)(m->nblocks * BLOCK * m->nlayers * K) / 1e6 / seconds);
}

/* Events of it all to a sink once, whose end is the caller's. */
static struct cl_events *
feed_all(struct made *m, const struct cl_events_sink *sink)
{
	struct cl_events *events;

	events = need(cl_events_new(m->keys, CL_PREFILL_UNION, CL_CELLS_NONE,
	    sink, &err));
	feed(m, events);
	if (cl_events_finish(events, &err) != CL_OK)
		die();
	return (events);
}

/* Replay it all once. */
static double
speed(struct made *m, const struct cl_cache_policy *policy,
    enum cl_contract contract, uint32_t percent)
{
	static const struct cl_stats_end end = { .end = CL_END_COMPLETE };
	struct cl_replay_options o = { .contract = contract,
	    .policy = *policy, .nslots = m->keys->nkeys * percent / 100 };
	struct cl_events_sink sink = { .pass = pass };
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_writer *w;
	struct cl_events *events;
	struct cl_replay *r;
	struct cl_dst *dst;
	int fd = open("/dev/null", O_WRONLY);
	double cpu;

	dst = need(cl_dst_fd(fd, "/dev/null", &err));
	w = need(cl_stats_writer_new(dst, &conds, &err));
	r = need(cl_replay_new(m->model, m->keys, &o, w, 0, &err));
	sink.arg = r;
	cpu = cpu_seconds(RUSAGE_SELF);
	events = feed_all(m, &sink);
	if (cl_replay_finish(r, &end, &err) != CL_OK)
		die();
	cpu = cpu_seconds(RUSAGE_SELF) - cpu;
	cl_events_free(events);
	cl_replay_free(r);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
	(void)close(fd);
	return (rate(m, cpu));
}

struct curve {
	struct cl_curve	*curve;
	uint32_t	 ncolumns;
};

static int
curve_pass(void *arg, const struct cl_pass *p, struct cl_err *e)
{
	struct curve *c = arg;
	uint32_t i;

	(void)e;
	for (i = 0; i < c->ncolumns; i++) {
		cl_curve_use(c->curve, p->event[i].keys, p->event[i].n);
		cl_curve_event(c->curve, i, p->event[i].keys, NULL,
		    p->event[i].n);
	}
	return (CL_OK);
}

/* The same of the curve. */
static double
curve_speed(struct made *m, enum cl_contract contract)
{
	struct cl_curve_options o = { .contract = contract, .layers = true };
	struct curve c = { .ncolumns = m->nlayers };
	struct cl_events_sink sink = { .pass = curve_pass, .arg = &c };
	struct cl_events *events;
	double cpu;

	c.curve = need(cl_curve_new(m->keys, &o, &err));
	cpu = cpu_seconds(RUSAGE_SELF);
	events = feed_all(m, &sink);
	cpu = cpu_seconds(RUSAGE_SELF) - cpu;
	cl_events_free(events);
	cl_curve_free(c.curve);
	return (rate(m, cpu));
}

struct bound {
	struct cl_opt	*opt;
	uint32_t	 ncolumns;
};

static int
bound_pass(void *arg, const struct cl_pass *p, struct cl_err *e)
{
	struct bound *b = arg;
	uint32_t i;

	(void)e;
	for (i = 0; i < b->ncolumns; i++)
		cl_opt_use(b->opt, p->event[i].keys, p->event[i].n);
	return (CL_OK);
}

/* The same of the bound. */
static double
bound_speed(struct made *m, uint32_t percent)
{
	struct bound b = { .ncolumns = m->nlayers };
	struct cl_events_sink sink = { .pass = bound_pass, .arg = &b };
	struct cl_events *events;
	double cpu;

	b.opt = need(cl_opt_new(m->keys->nkeys, m->keys->nkeys * percent / 100,
	    &err));
	cpu = cpu_seconds(RUSAGE_SELF);
	events = feed_all(m, &sink);
	cpu = cpu_seconds(RUSAGE_SELF) - cpu;
	cl_events_free(events);
	cl_opt_free(b.opt);
	return (rate(m, cpu));
}

/* The same of a command that handles the small trace. */
static double
command_speed(const struct made *m, const char *command)
{
	double cpu = cpu_seconds(RUSAGE_CHILDREN);

	if (system(command) != 0) {
		(void)cl_fail(&err, CL_EINVAL, "failed: %s", command);
		die();
	}
	return (rate(m, cpu_seconds(RUSAGE_CHILDREN) - cpu));
}

/* The programs to be held against the loop, and their traces. */
struct others {
	const char	*replay;
	const char	*scratch;
	const char	*cachesim;	/* NULL: none */
};

/* Of a policy, or of the bound where it is NULL. */
static double
whole_speed(const struct made *m, const struct others *x,
    const struct cl_cache_policy *policy, uint32_t percent)
{
	char what[256] = "--bound", command[4096];

	if (policy != NULL)
		(void)snprintf(what, sizeof(what), "--io none --window 0 "
		    "--contract serial --policy '%s'", policy->info->name);
	(void)snprintf(command, sizeof(command), "'%s' %s --cache %u%% "
	    "'%s/bench.clt' >/dev/null", x->replay, what, percent, x->scratch);
	return (command_speed(m, command));
}

static double
their_speed(const struct made *m, const struct others *x, const char *algo,
    uint32_t percent)
{
	char command[4096];

	(void)snprintf(command, sizeof(command), "'%s' '%s/oracleGeneral' "
	    "oracleGeneral %s %u --ignore-obj-size=1 -o /dev/null >/dev/null "
	    "2>&1", x->cachesim, x->scratch, algo,
	    m->keys->nkeys * percent / 100);
	return (command_speed(m, command));
}

/* What there is to say of a policy at a capacity. */
struct figures {
	double	 serial;
	double	 spread;	/* of serial, relative */
	double	 event;		/* time, of serial's; 0: there is none */
	double	 large;		/* speed, of the small trace's */
	double	 whole;		/* the same; 0: not measured */
	double	 times;		/* the same, of cachesim's; 0 likewise */
};

/* Of a policy under serial, or of the bound where it is NULL. */
static double
serial_speed(struct made *m, const struct cl_cache_policy *policy,
    uint32_t percent)
{

	return (policy == NULL ? bound_speed(m, percent) :
	    speed(m, policy, CL_CONTRACT_SERIAL, percent));
}

static void
measure(struct made *small, struct made *large, const struct others *x,
    const struct cl_cache_policy *policy, const struct target *target,
    uint32_t percent, struct figures *f)
{
	double serial[SAMPLES], event[SAMPLES], big[SAMPLES];
	double whole[SAMPLES], times[SAMPLES];
	const char *name = target->name;
	bool wants_whole = target->speed > 0 && percent == 25;
	bool wants_times = target->theirs != NULL && x->cachesim != NULL;
	unsigned i;

	for (i = 0; i < SAMPLES; i++) {
		serial[i] = serial_speed(small, policy, percent);
		event[i] = policy == NULL ? 0 : serial[i] / speed(small,
		    policy, CL_CONTRACT_EVENT, percent);
		big[i] = serial_speed(large, policy, percent) / serial[i];
		if (wants_whole)
			whole[i] = whole_speed(small, x, policy, percent) /
			    serial[i];
		if (wants_times)
			times[i] = serial[i] / their_speed(small, x,
			    target->theirs, percent);
	}
	f->serial = bench_median(name, serial, SAMPLES, &f->spread);
	f->spread /= f->serial;
	f->event = bench_median(name, event, SAMPLES, NULL);
	f->large = bench_median(name, big, SAMPLES, NULL);
	f->whole = !wants_whole ? 0 :
	    bench_median(name, whole, SAMPLES, NULL);
	f->times = !wants_times ? 0 :
	    bench_median(name, times, SAMPLES, NULL);
}

static void
print_policy(const struct target *t, const struct figures *f)
{
	double event = 0, large = 1e9, spread = 0;
	unsigned i;

	for (i = 0; i < NPERCENTS; i++) {
		event = f[i].event > event ? f[i].event : event;
		large = f[i].large < large ? f[i].large : large;
		spread = f[i].spread > spread ? f[i].spread : spread;
	}
	printf("%-12s%6.1f%7.1f%7.1f", t->name, f[0].serial, f[1].serial,
	    f[2].serial);
	if (t->speed > 0)
		printf("%6u", t->speed);
	else
		printf("     -");
	printf("%5.0f", 100 * spread);
	if (event > 0)
		printf("%8.2f", event);
	else
		printf("       -");
	printf("%8.2f", large);
	if (t->speed > 0)
		printf("%8.2f", f[1].whole);
	if (f[0].times > 0) {
		printf("%8.1f%7.1f%7.1f", f[0].times, f[1].times, f[2].times);
		if (t->times > 0)
			printf("%5u", t->times);
	}
	printf("\n");
	fflush(stdout);
}

static void
bench(struct made *small, struct made *large, const struct others *x,
    const struct cl_cache_policy *policy)
{
	struct target target = {
	    .name = policy == NULL ? "bound" : policy->info->name };
	uint64_t nsmall = small->nblocks, nlarge = large->nblocks;
	struct figures f[NPERCENTS];
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(targets[i].name, target.name) == 0)
			target = targets[i];
	if (target.speed == 0) {
		target.theirs = NULL;	/* it does all of them */
		small->nblocks = nsmall / LESS + 1;
		large->nblocks = nlarge / LESS + 1;
	}
	for (i = 0; i < NPERCENTS; i++)
		measure(small, large, x, policy, &target, percents[i], &f[i]);
	print_policy(&target, f);
	small->nblocks = nsmall;
	large->nblocks = nlarge;
}

/* How many times what an lru replay takes the curve does, at 25 %. */
static void
bench_curve(struct made *m, const struct cl_cache_policy *lru,
    enum cl_contract contract, const char *what)
{
	uint64_t nblocks = m->nblocks;
	double times[SAMPLES];
	unsigned i;

	m->nblocks = nblocks / LESS + 1;
	for (i = 0; i < SAMPLES; i++)
		times[i] = speed(m, lru, contract, 25) /
		    curve_speed(m, contract);
	m->nblocks = nblocks;
	printf("curve, %u keys, %s\t%.2f lru replays\n", m->keys->nkeys, what,
	    bench_median("curve", times, SAMPLES, NULL));
}

static void
bench_all(struct made *small, struct made *large, const struct others *x,
    const char *only)
{
	const struct cl_cache_policy_info *info;
	struct cl_cache_policy policy;
	struct made *m;
	unsigned i;

	printf("%-12s%20s%6s%5s%8s%8s%8s%22s\n", "policy",
	    "serial M/s 10 25 50%", "goal", "+-%", "ev/ser", "large", "whole",
	    x->cachesim == NULL ? "" : "times cachesim, goal");
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		if ((only == NULL || strcmp(only, info->name) == 0) &&
		    cl_cache_policy_parse(info->name, &policy, NULL) == CL_OK)
			bench(small, large, x, &policy);
	if (only == NULL || strcmp(only, "bound") == 0)
		bench(small, large, x, NULL);
	if (only != NULL && strcmp(only, "lru") != 0)
		return;
	if (cl_cache_policy_parse("lru", &policy, &err) != CL_OK)
		die();
	for (m = small; m != NULL; m = m == small ? large : NULL) {
		bench_curve(m, &policy, CL_CONTRACT_SERIAL, "serial");
		bench_curve(m, &policy, CL_CONTRACT_EVENT, "event");
	}
}

int
main(int argc, char **argv)
{
	uint64_t naccesses = 20000000;
	struct made small = { 0 }, large = { 0 };
	struct others x = { 0 };
	const char *only = NULL;
	char path[4096];
	int c;

	while ((c = getopt(argc, argv, "n:p:")) != -1)
		if (c == 'n' && cl_text_u64(optarg, LEAST, MOST, &naccesses,
		    &err) != CL_OK)
			bench_die("bench_replay -n", &err);
		else if (c == 'p')
			only = optarg;
		else if (c == '?')
			argc = 0;
	if (argc - optind < 2 || argc - optind > 3) {
		fprintf(stderr, "usage: bench_replay [-n ACCESSES] "
		    "[-p POLICY] CL_REPLAY SCRATCH [CACHESIM]\n");
		return (2);
	}
	x.replay = argv[optind];
	x.scratch = argv[optind + 1];
	x.cachesim = argv[optind + 2];		/* or NULL behind the last */
	make(&small, 48, 128, naccesses);
	make(&large, 160, 384, naccesses);
	(void)snprintf(path, sizeof(path), "%s/bench.clt", x.scratch);
	write_trace(&small, path);
	(void)snprintf(path, sizeof(path), "%s/oracleGeneral", x.scratch);
	if (x.cachesim != NULL)
		write_oracle(&small, path);
	bench_all(&small, &large, &x, only);
	return (0);
}
