/*
 * bench_replay: how many accesses a second a replay decides that only counts.
 *
 *	bench_replay [-n ACCESSES] [-p POLICY] [CACHESIM SCRATCH]
 *
 * A trace is made in memory: 48 layers of 128 experts, 8 used, each layer with
 * Zipf 0.8 popularity whose ranks drift; and one of 160 layers of 384.  Its
 * decoded blocks are replayed with every policy that needs no file, at 10, 25
 * and 50 % capacity, under both contracts, in turn; rows are "name median
 * spread" over SAMPLES, in millions of accesses a
 * second of processor time.  Rows of ratios
 * follow: event to serial time, and the large trace's speed to the small one's.
 *
 * With CACHESIM, a libCacheSim built elsewhere, its cachesim does the same
 * accesses from the file SCRATCH, in turn with serial, and how many times its
 * speed ours is stands in a row.
 */

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cl/cache.h"
#include "cl/dst.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/replay.h"
#include "cl/rng.h"
#include "cl/stats.h"
#include "cl/stats_write.h"
#include "cl/trace.h"
#include "bench.h"

#define K		8u
#define SAMPLES		5u
#define BLOCK		256u		/* tokens */
#define DRIFT		32u		/* tokens, then two ranks change places */
#define ZIPF		0.8
#define EXPERTS_MAX	384u

static struct cl_err err;

struct made {
	struct cl_model	*model;
	struct cl_keys	*keys;
	uint32_t	 nlayers;
	uint32_t	 nexperts;
	uint64_t	 ntokens;
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
	m->ntokens = naccesses / (nlayers * K) / BLOCK * BLOCK;
	m->model = need(cl_model_new(nlayers, &err));
	for (i = 0; i < nlayers; i++) {
		m->model->layers[i].nexperts = nexperts;
		m->model->layers[i].k = K;
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

	for (block = 0; block < m->ntokens / BLOCK; block++) {
		for (i = 0; i < m->nlayers; i++)
			m->columns[i].ids = m->ids +
			    (block * m->nlayers + i) * BLOCK * K;
		if (cl_events_block(events, &b, &err) != CL_OK)
			die();
	}
}

/* Replay it all once: millions of accesses a second. */
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
	events = need(cl_events_new(m->keys, CL_PREFILL_UNION, CL_CELLS_NONE,
	    &sink, &err));
	cpu = cpu_seconds(RUSAGE_SELF);
	feed(m, events);
	if (cl_events_finish(events, &err) != CL_OK ||
	    cl_replay_finish(r, &end, &err) != CL_OK)
		die();
	cpu = cpu_seconds(RUSAGE_SELF) - cpu;
	cl_events_free(events);
	cl_replay_free(r);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
	(void)close(fd);
	return ((double)(m->ntokens * m->nlayers * K) / 1e6 / cpu);
}

/* Policies of libCacheSim by our names. */
static const char *
theirs(const char *name)
{
	static const char *const names[][2] = {
		{ "lru", "lru" }, { "fifo", "fifo" }, { "clock", "clock" },
		{ "sieve", "sieve" }, { "s3fifo", "s3fifo" },
		{ "lfu", "lfu" }, { "2q", "twoq" }, { "arc", "arc" },
		{ "lirs", "lirs" }, { "wtinylfu", "wtinylfu" },
		{ "belady", "belady" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], name) == 0)
			return (names[i][1]);
	return (NULL);
}

/* The same of cachesim on the same accesses. */
static double
their_speed(const struct made *m, const char *cachesim, const char *trace,
    const char *algo, uint32_t nslots)
{
	double cpu = cpu_seconds(RUSAGE_CHILDREN);
	char command[4096];

	(void)snprintf(command, sizeof(command), "'%s' '%s' oracleGeneral %s "
	    "%u --ignore-obj-size=1 -o /dev/null >/dev/null 2>&1", cachesim,
	    trace, algo, nslots);
	if (system(command) != 0) {
		(void)cl_fail(&err, CL_EINVAL, "failed: %s", command);
		die();
	}
	cpu = cpu_seconds(RUSAGE_CHILDREN) - cpu;
	return ((double)(m->ntokens * m->nlayers * K) / 1e6 / cpu);
}

static void
bench(struct made *small, struct made *large,
    const struct cl_cache_policy *policy, uint32_t percent,
    const char *cachesim, const char *trace)
{
	double event[SAMPLES], serial[SAMPLES], big[SAMPLES], other[SAMPLES];
	const char *name = policy->info->name, *algo = theirs(name);
	char row[80];
	double e, s;
	unsigned i;

	if (cachesim == NULL)
		algo = NULL;
	for (i = 0; i < SAMPLES; i++) {
		serial[i] = speed(small, policy, CL_CONTRACT_SERIAL, percent);
		if (algo != NULL)
			other[i] = serial[i] / their_speed(small, cachesim,
			    trace, algo, small->keys->nkeys * percent / 100);
		event[i] = speed(small, policy, CL_CONTRACT_EVENT, percent);
		big[i] = speed(large, policy, CL_CONTRACT_SERIAL, percent);
	}
#define ROW(what, v) ((void)snprintf(row, sizeof(row), "%s %u%% " what, \
	name, percent), bench_row(row, v, SAMPLES))
	s = ROW("serial", serial);
	e = ROW("event", event);
	printf("%s %u%% event/serial time\t%.2f\n", name, percent, s / e);
	printf("%s %u%% large/small\t%.2f\n", name, percent,
	    ROW("serial, 61440 keys", big) / s);
	if (algo != NULL)
		(void)ROW("times cachesim", other);
#undef ROW
}

int
main(int argc, char **argv)
{
	static const uint32_t percents[] = { 10, 25, 50 };
	const struct cl_cache_policy_info *info;
	uint64_t naccesses = 20000000;
	struct made small, large;
	struct cl_cache_policy policy;
	const char *only = NULL, *cachesim, *trace;
	unsigned i, j;
	int c;

	while ((c = getopt(argc, argv, "n:p:")) != -1)
		if (c == 'n')
			naccesses = strtoull(optarg, NULL, 10);
		else
			only = optarg;
	cachesim = argc - optind == 2 ? argv[optind] : NULL;
	trace = cachesim == NULL ? NULL : argv[optind + 1];
	make(&small, 48, 128, naccesses);
	make(&large, 160, 384, naccesses);
	if (trace != NULL)
		write_oracle(&small, trace);
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		for (j = 0; j < 3; j++)
			if ((only == NULL || strcmp(only, info->name) == 0) &&
			    cl_cache_policy_parse(info->name, &policy, NULL) ==
			    CL_OK)
				bench(&small, &large, &policy, percents[j],
				    cachesim, trace);
	return (0);
}
