/*
 * replay/: a sweep is its runs, to the byte, however many threads share them;
 * and what it stands on: streams that wait for each other.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/replay.h"
#include "cl/rng.h"
#include "cl/spool.h"
#include "cl/stats_write.h"
#include "cl/sweep.h"
#include "cl/trace.h"
#include "memio.h"
#include "unit.h"

#define NLAYERS		3
#define NEXPERTS	64
#define NMEMBERS	8
#define NPASSES		16000		/* more than a batch */
#define NPOLICIES	7
#define NSIZES		3

static const char *const policies[NPOLICIES] = { "lru", "lfu-aged:every=500",
    "wtinylfu:window=10", "static", "belady", "belady-bypass", "static" };
static const uint32_t sizes[NSIZES] = { 1, 13, 90 };

static struct cl_model *
make_model(void)
{
	struct cl_model *m = cl_model_new(NLAYERS, NULL);
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < NLAYERS; i++) {
		m->layers[i].nexperts = NEXPERTS;
		m->layers[i].k = NMEMBERS;
	}
	return (m);
}

/* Distinct keys of a column, some experts being liked more. */
static uint32_t
make_event(uint32_t *key, uint32_t base, uint64_t *rng)
{
	uint32_t n = (uint32_t)cl_rng_below(rng, NMEMBERS + 1), i, j;

	for (i = 0; i < n; i++)
		do {
			key[i] = base + (uint32_t)cl_rng_below(rng,
			    1 + cl_rng_below(rng, NEXPERTS));
			for (j = 0; key[j] != key[i]; j++)
				continue;
		} while (j < i);
	return (n);
}

/* Hand random passes to a sink; CL_OK, or what it ended with. */
static int
feed(const struct cl_keys *keys, const struct cl_events_sink *sink,
    struct cl_err *err)
{
	uint32_t key[NLAYERS][NMEMBERS], t, c;
	struct cl_event event[NLAYERS];
	struct cl_pass pass;
	uint64_t rng = 5;
	int status;

	for (t = 0; t < NPASSES; t++) {
		for (c = 0; c < NLAYERS; c++) {
			event[c].n = make_event(key[c],
			    keys->column[c].base, &rng);
			event[c].keys = key[c];
		}
		pass = (struct cl_pass){ .begins = true, .ends = true,
		    .prefill = t % 50 == 0, .skipped = t % 100 == 0,
		    .ntokens = 1 + t % 3, .npadding = t % 7 == 0,
		    .event = event };
		if ((status = sink->pass(sink->arg, &pass, err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

static const struct cl_stats_end whole = { .end = CL_END_COMPLETE,
    .tokens = 2 * NPASSES };

static void
set_run(struct cl_replay_options *o, unsigned i, enum cl_contract contract,
    uint64_t window)
{

	memset(o, 0, sizeof(*o));
	assert(cl_cache_policy_parse(policies[i / NSIZES], &o->policy,
	    NULL) == CL_OK);
	o->contract = contract;
	o->nslots = sizes[i % NSIZES];
	o->warmup = 100;
	o->tokens = 30000;
	o->window = window;
}

static int
replay_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_replay_pass(arg, pass, err));
}

/* What one run writes alone, behind what is in buf. */
static void
replay_alone(struct cl_buf *buf, const struct cl_model *m,
    const struct cl_keys *keys, const struct cl_replay_options *o)
{
	struct cl_events_sink sink = { replay_pass, NULL };
	struct cl_stats_conds conds = { 0 };
	struct cl_dst *dst = mem_dst(buf);
	struct cl_stats_writer *w = cl_stats_writer_new(dst, &conds, NULL);

	assert(w != NULL);
	assert((sink.arg = cl_replay_new(m, keys, o, w, 0, NULL)) != NULL);
	assert(feed(keys, &sink, NULL) == CL_OK);
	assert(cl_replay_finish(sink.arg, &whole, NULL) == CL_OK);
	cl_replay_free(sink.arg);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
}

static int
sweep_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_sweep_pass(arg, pass, err));
}

static void
sweep_all(struct cl_buf *buf, const struct cl_model *m,
    const struct cl_keys *keys, unsigned njobs, enum cl_contract contract,
    uint64_t window)
{
	struct cl_sweep *s = cl_sweep_new(keys, njobs, "/tmp", NULL);
	struct cl_events_sink sink = { sweep_pass, s };
	struct cl_stats_conds conds = { 0 };
	struct cl_dst *dst = mem_dst(buf);
	struct cl_replay_options o;
	unsigned i;

	assert(s != NULL);
	for (i = 0; i < NPOLICIES * NSIZES; i++) {
		set_run(&o, i, contract, window);
		assert(cl_sweep_add(s, "a run", m, &o, &conds, NULL) ==
		    CL_OK);
	}
	assert(!cl_sweep_done(s));
	assert(feed(keys, &sink, NULL) == CL_OK);
	assert(cl_sweep_finish(s, &whole, NULL) == CL_OK);
	assert(cl_sweep_done(s));
	assert(cl_sweep_write(s, dst, NULL) == CL_OK);
	cl_sweep_free(s);
	cl_dst_free(dst);
}

static void
a_sweep_is_its_runs(void)
{
	struct cl_model *m = make_model();
	struct cl_keys *keys = cl_keys_new(m, NULL);
	struct cl_replay_options o;
	struct cl_buf alone, together;
	unsigned mode, njobs, i;

	assert(keys != NULL);
	for (mode = 0; mode < 3; mode++) {
		enum cl_contract contract = mode == 1 ? CL_CONTRACT_SERIAL :
		    CL_CONTRACT_EVENT;
		uint64_t window = mode == 2 ? 3 : 0;	/* long streams */

		cl_buf_init(&alone);
		for (i = 0; i < NPOLICIES * NSIZES; i++) {
			set_run(&o, i, contract, window);
			replay_alone(&alone, m, keys, &o);
		}
		for (njobs = 1; njobs <= 3; njobs += 2) {
			cl_buf_init(&together);
			sweep_all(&together, m, keys, njobs, contract,
			    window);
			assert(together.n == alone.n);
			assert(memcmp(together.p, alone.p, alone.n) == 0);
			cl_buf_free(&together);
		}
		assert(mode != 2 || alone.n > (1 << 20));
		cl_buf_free(&alone);
	}
	cl_keys_free(keys);
	cl_model_free(m);
}

/* Experts so large that a hundred misses are more bytes than are counted. */
static void
the_first_run_that_fails_is_told(void)
{
	struct cl_model *m = make_model();
	struct cl_stats_conds conds = { 0 };
	struct cl_replay_options o;
	struct cl_events_sink sink = { sweep_pass, NULL };
	struct cl_err err;
	struct cl_keys *keys;
	struct cl_sweep *s;
	unsigned njobs, i;
	int status;

	for (i = 0; i < NLAYERS; i++)
		m->layers[i].expert_bytes = UINT64_C(1) << 54;
	assert((keys = cl_keys_new(m, NULL)) != NULL);
	for (njobs = 1; njobs <= 3; njobs++) {
		memset(&err, 0, sizeof(err));
		s = cl_sweep_new(keys, njobs, "/tmp", NULL);
		assert(s != NULL);
		set_run(&o, 3, CL_CONTRACT_EVENT, 0);
		o.warmup = 0;		/* what is added up there may fail, too */
		o.nslots = NLAYERS * NEXPERTS;	/* 192 misses in all */
		assert(cl_sweep_add(s, "large", m, &o, &conds, &err) == CL_OK);
		o.nslots = 20;
		assert(cl_sweep_add(s, "small", m, &o, &conds, &err) == CL_OK);
		o.nslots = 1;
		assert(cl_sweep_add(s, "least", m, &o, &conds, &err) == CL_OK);
		sink.arg = s;
		if ((status = feed(keys, &sink, &err)) == CL_OK)
			status = cl_sweep_finish(s, &whole, &err);
		assert(status == CL_ENOTSUP);
		assert(strncmp(err.msg, "small: layer ", 13) == 0);
		cl_sweep_free(s);
	}
	cl_keys_free(keys);
	cl_model_free(m);
}

static void
a_run_that_cannot_be_is_refused_by_name(void)
{
	struct cl_model *m = make_model();
	struct cl_keys *keys = cl_keys_new(m, NULL);
	struct cl_sweep *s = cl_sweep_new(keys, 2, "/tmp", NULL), *other;
	struct cl_stats_conds conds = { 0 };
	struct cl_replay_options o;
	struct cl_err err = { 0 };

	assert(s != NULL);
	set_run(&o, 1, CL_CONTRACT_EVENT, 0);
	assert(cl_sweep_add(s, "one", m, &o, &conds, &err) == CL_OK);
	assert(cl_sweep_finish(s, &whole, &err) == CL_OK);
	assert((other = cl_sweep_new(keys, 1, "/tmp", NULL)) != NULL);
	o.before = cl_sweep_replay(s, 0);
	o.nslots++;
	assert(cl_sweep_add(other, "two", m, &o, &conds, &err) == CL_EINVAL);
	assert(strcmp(err.msg, "two: a cache cannot go on with other slots, "
	    "contract, policy or partition") == 0);
	cl_sweep_free(other);
	cl_sweep_free(s);
	cl_keys_free(keys);
	cl_model_free(m);
}

/* Three streams written in turn, of which one stays in memory. */
static void
write_streams(struct cl_spool_stream **t, struct cl_buf *said)
{
	uint8_t bytes[30000];
	uint64_t rng = 1;
	uint32_t round, i, n;

	for (round = 0; round < 30; round++)
		for (i = 0; i < 3; i++) {
			n = i == 2 ? 10 : (uint32_t)cl_rng_below(&rng,
			    sizeof(bytes));
			memset(bytes, (int)cl_rng_below(&rng, 256), n);
			cl_buf_bytes(&said[i], bytes, n);
			cl_dst_write(cl_spool_stream_dst(t[i]), bytes, n);
			assert(cl_dst_flush(cl_spool_stream_dst(t[i]),
			    NULL) == CL_OK);
			assert(cl_spool_stream_settle(t[i], NULL) == CL_OK);
		}
}

static void
streams_that_waited_come_back_whole(void)
{
	struct cl_spool *s = cl_spool_new("/tmp", NULL);
	struct cl_spool_stream *t[3];
	struct cl_buf said[3], got;
	struct cl_dst *dst;
	uint32_t i;

	assert(s != NULL);
	for (i = 0; i < 3; i++) {
		cl_buf_init(&said[i]);
		assert((t[i] = cl_spool_stream_new(s, NULL)) != NULL);
	}
	write_streams(t, said);
	assert(said[0].n > 2 * CL_SPOOL_PIECE);
	for (i = 0; i < 3; i++) {
		cl_buf_init(&got);
		dst = mem_dst(&got);
		assert(cl_spool_stream_copy(t[i], dst, NULL) == CL_OK);
		assert(cl_dst_finish(dst, NULL) == CL_OK);
		cl_dst_free(dst);
		assert(got.n == said[i].n);
		assert(memcmp(got.p, said[i].p, got.n) == 0);
		cl_buf_free(&got);
		cl_buf_free(&said[i]);
		cl_spool_stream_free(t[i]);
	}
	cl_spool_free(s);
}

/* A stream of n bytes in a folder that is not there. */
static int
spool_nowhere(size_t n, struct cl_err *err)
{
	static const uint8_t zero[CL_SPOOL_PIECE];
	struct cl_spool *s = cl_spool_new("/nonexistent/dir", NULL);
	struct cl_spool_stream *t = cl_spool_stream_new(s, NULL);
	int status;

	assert(t != NULL);
	cl_dst_write(cl_spool_stream_dst(t), zero, n);
	assert(cl_dst_flush(cl_spool_stream_dst(t), NULL) == CL_OK);
	status = cl_spool_stream_settle(t, err);
	cl_spool_stream_free(t);
	cl_spool_free(s);
	return (status);
}

static void
a_file_is_made_only_for_a_whole_piece(void)
{
	struct cl_err err = { 0 };

	assert(spool_nowhere(CL_SPOOL_PIECE - 1, &err) == CL_OK);
	assert(spool_nowhere(CL_SPOOL_PIECE, &err) == CL_EIO);
	assert(strstr(err.msg, "/nonexistent/dir: cannot make a temporary") !=
	    NULL);
}

/* The policies of a list, each in full, parted by blanks; or what is wrong. */
static const char *
policy_list(const char *list, char *buf, size_t cap)
{
	char text[CL_CACHE_POLICY_TEXT];
	struct cl_cache_policy p;
	struct cl_err err = { 0 };
	size_t at = 0;
	int status;

	while ((status = cl_cache_policy_next(&list, &p, &err)) == CL_OK) {
		at += (size_t)snprintf(buf + at, cap - at, "%s%s",
		    at == 0 ? "" : " ", cl_cache_policy_text(&p, text));
		assert(at < cap);
	}
	if (status != CL_END)
		(void)snprintf(buf, cap, "%.40s", err.msg);
	return (buf);
}

static void
policies_and_parameters_are_told_apart(void)
{
	static const struct {
		const char *list;
		const char *says;
	} t[] = {
		{ "lru", "lru" },
		{ "lru,lfu", "lru lfu" },
		{ "lru,wtinylfu:window=2,lfu", "lru wtinylfu:window=2 lfu" },
		{ "wtinylfu,lru,lru", "wtinylfu:window=1 lru lru" },
		{ "wtinylfu:window=2,wtinylfu:window=3",
		    "wtinylfu:window=2 wtinylfu:window=3" },
		{ "lru,window=2", "no cache policy is called \"window=2\"; th" },
		{ "wtinylfu:window=2,every=3",
		    "\"every=3\" is none of its parameters: pol" },
		{ "wtinylfu:window=2,lruu",
		    "\"lruu\" is none of its parameters: policy" },
		{ "wtinylfu:window=2,lruu:x",
		    "no cache policy is called \"lruu\"; there " },
		{ "wtinylfu:window=2,window=a:b",
		    "\"window=a:b\" is there twice: policy wtin" },
		{ "lru,", "no cache policy is called \"\"; there are " },
		{ ",lru", "no cache policy is called \"\"; there are " },
		{ "", "no cache policy is called \"\"; there are " },
	};
	char buf[512];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (strcmp(policy_list(t[i].list, buf, sizeof(buf)),
		    t[i].says) != 0) {
			fprintf(stderr, "# %s: %s\n", t[i].list, buf);
			assert(0);
		}
}

/* Else a list could mean two things. */
static void
no_parameter_is_called_as_a_policy(void)
{
	const struct cl_cache_policy_info *info, *other;
	unsigned i, j, k;

	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		for (j = 0; j < CL_CACHE_PARAMS_MAX &&
		    info->param[j].name != NULL; j++)
			for (k = 0; (other = cl_cache_policy(k)) != NULL; k++)
				assert(strcmp(info->param[j].name,
				    other->name) != 0);
}

static const struct unit units[] = {
	{ "in a list policies and parameters are told apart",
	    policies_and_parameters_are_told_apart },
	{ "no parameter is called as a policy is",
	    no_parameter_is_called_as_a_policy },
	{ "a sweep is its runs to the byte, on any number of threads",
	    a_sweep_is_its_runs },
	{ "of runs that fail the first in order is told, by name",
	    the_first_run_that_fails_is_told },
	{ "a run that cannot be is refused by name",
	    a_run_that_cannot_be_is_refused_by_name },
	{ "streams that waited in memory and a file come back whole",
	    streams_that_waited_come_back_whole },
	{ "a file is made for a whole piece, and not before",
	    a_file_is_made_only_for_a_whole_piece },
};

UNIT_MAIN(units)
