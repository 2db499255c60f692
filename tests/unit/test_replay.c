/*
 * replay/: passes become events as the manual says, the bytes that are handed
 * on are the expert's own, and what is counted does not depend on how it was
 * read.
 */

#include "cl/device.h"
#include "replay_make.h"
#include "unit.h"

static void
a_prefill_pass_is_one_event_a_layer(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x[2];
	struct result r;

	begin_block(&x[0]);
	add_token(&x[0], true, false, "01", "23");
	add_token(&x[0], false, false, "12", "32");
	begin_block(&x[1]);			/* the pass goes on */
	add_token(&x[1], false, false, "03", "");
	add_token(&x[1], true, true, "04", "20");
	replay(m, &o, x, 2, &r);
	assert(r.phase[0][CL_N_TOKENS] == 3 && r.phase[0][CL_N_EVENTS] == 2);
	assert(r.phase[0][CL_N_ACCESSES] == 4 + 2);
	assert(r.phase[0][CL_N_COLD] == 6 && r.phase[0][CL_N_HITS] == 0);
	assert(r.phase[1][CL_N_TOKENS] == 1 && r.phase[1][CL_N_EVENTS] == 2);
	assert(r.phase[1][CL_N_HITS] == 2 && r.phase[1][CL_N_COLD] == 2);
	assert(r.total[CL_N_ACCESSES] == 10);
	cl_model_free(m);
}

static void
token_prefill_makes_each_token_an_event(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	prefill = CL_PREFILL_TOKEN;
	begin_block(&x);
	add_token(&x, true, false, "01", "23");
	add_token(&x, false, false, "12", "32");
	replay(m, &o, &x, 1, &r);
	assert(r.phase[0][CL_N_EVENTS] == 4 && r.phase[0][CL_N_ACCESSES] == 8);
	assert(r.phase[0][CL_N_HITS] == 3 && r.phase[0][CL_N_COLD] == 5);

	/* Decode tokens before the first prompt token are one event a layer. */
	begin_block(&x);
	add_token(&x, true, true, "01", "0");
	add_token(&x, false, true, "12", "1");
	add_token(&x, false, false, "23", "2");
	replay(m, &o, &x, 1, &r);
	assert(r.phase[0][CL_N_TOKENS] == 3 && r.phase[1][CL_N_TOKENS] == 0);
	assert(r.phase[0][CL_N_EVENTS] == 4 && r.phase[1][CL_N_EVENTS] == 0);
	assert(r.phase[0][CL_N_ACCESSES] == 3 + 2 + 2 + 1);
	prefill = CL_PREFILL_UNION;
	cl_model_free(m);
}

static void
padding_is_counted_apart_and_used_for_nothing(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	begin_block(&x);
	add_token(&x, true, true, "01", "23");
	add_token(&x, true, true, "67", "01");
	x.token[1].padding = true;
	add_token(&x, true, true, "01", "23");
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 2 && r.total[CL_N_PADDING] == 1);
	assert(r.total[CL_N_COLD] == 4 && r.total[CL_N_HITS] == 4);
	cl_model_free(m);
}

static void
decode_tokens(struct block *x, uint32_t n)
{
	static const char *const cells[] = { "01", "23", "45", "67" };
	uint32_t t;

	begin_block(x);
	for (t = 0; t < n; t++)
		add_token(x, true, true, cells[t % 4], t % 2 ? "01" : "23");
}

static void
warm_up_keeps_the_cache_and_counts_nothing(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	decode_tokens(&x, 8);
	o.warmup = 4;
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 4 && r.total[CL_N_HITS] == 16);
	assert(r.total[CL_N_MISSES] == 0);
	o.warmup = 8;			/* takes all of it: no data */
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 0 && r.total[CL_N_ACCESSES] == 0);
	o.warmup = 100;			/* and more: none either */
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 0 && r.total[CL_N_ACCESSES] == 0);
	assert(r.total[CL_N_DIGEST] == 0);
	cl_model_free(m);
}

/* A run of a block onto dst; before may be NULL. */
static struct fed
go_on(const struct cl_model *m, struct cl_replay_options o,
    struct cl_replay *before, struct block *x, struct cl_dst *dst,
    struct cl_err *err)
{
	struct cl_stats_end end = { .end = CL_END_COMPLETE };
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_writer *w = cl_stats_writer_new(dst, &conds, NULL);
	struct fed run;

	assert(w != NULL);
	o.before = before;
	run = fed_new(m, &o, prefill, w, err);
	if (run.replay != NULL) {
		assert(cl_events_block(run.events, &x->b, NULL) == CL_OK);
		assert(fed_finish(&run, &end, 0, NULL) == CL_OK);
	}
	cl_stats_writer_free(w);
	return (run);
}

static void
a_cache_goes_on_where_all_is_the_same(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12), other;
	struct fed first, second, no;
	struct cl_err err = { 0 };
	struct cl_buf one = { 0 }, two = { 0 }, none = { 0 };
	struct cl_dst *d1 = mem_dst(&one), *d2 = mem_dst(&two);
	struct cl_dst *d0 = mem_dst(&none);
	struct block x;
	struct result r;

	decode_tokens(&x, 4);
	first = go_on(m, o, NULL, &x, d1, NULL);
	other = o;
	other.nslots = 11;
	no = go_on(m, other, first.replay, &x, d0, &err);
	assert(no.replay == NULL);
	fed_free(&no);
	assert(err.code == CL_EINVAL);
	memset(&err, 0, sizeof(err));
	other = o;
	other.contract = CL_CONTRACT_SERIAL;
	no = go_on(m, other, first.replay, &x, d0, &err);
	assert(no.replay == NULL);
	fed_free(&no);
	assert(err.code == CL_EINVAL);
	second = go_on(m, o, first.replay, &x, d2, NULL);
	assert(second.replay != NULL);
	no = go_on(m, o, first.replay, &x, d0, NULL);
	assert(no.replay == NULL);
	fed_free(&no);
	assert(cl_dst_flush(d1, NULL) == CL_OK);
	assert(cl_dst_flush(d2, NULL) == CL_OK);
	read_back(&one, &r);
	assert(r.total[CL_N_COLD] > 0);
	read_back(&two, &r);
	assert(r.total[CL_N_ACCESSES] > 0 && r.total[CL_N_MISSES] == 0);
	fed_free(&first);
	fed_free(&second);
	cl_dst_free(d0);
	cl_dst_free(d1);
	cl_dst_free(d2);
	cl_buf_free(&none);
	cl_buf_free(&one);
	cl_buf_free(&two);
	cl_model_free(m);
}

static void
a_warm_up_that_takes_all_is_not_measured(void)
{
	char path[] = "/tmp/cl-test-replay.XXXXXX";
	struct cl_model *m = make_model(path);
	struct cl_device_options d = { .nslots = 12,
	    .nbypass = 2, .stride = 12288 };
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	decode_tokens(&x, 8);
	assert((o.device = cl_device_new(m, &d, NULL)) != NULL);
	replay(m, &o, &x, 1, &r);
	assert(r.measured && r.input_wait_ns == WAIT_NS);
	o.warmup = 100;
	replay(m, &o, &x, 1, &r);
	assert(r.measured && r.input_wait_ns == 0);
	cl_device_free(o.device);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static void
the_digest_starts_anew_behind_the_warm_up(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result a, b;

	decode_tokens(&x, 4);
	o.warmup = 3;
	replay(m, &o, &x, 1, &a);
	decode_tokens(&x, 8);
	o.warmup = 7;
	replay(m, &o, &x, 1, &b);
	assert(a.total[CL_N_DIGEST] != 0);
	assert(a.total[CL_N_DIGEST] != b.total[CL_N_DIGEST]);
	decode_tokens(&x, 12);
	o.warmup = 11;
	replay(m, &o, &x, 1, &a);
	assert(a.total[CL_N_DIGEST] == b.total[CL_N_DIGEST]);
	cl_model_free(m);
}

static void
windows_and_the_end_act_where_a_pass_ends(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	begin_block(&x);
	add_token(&x, true, false, "01", "23");	/* a pass of three */
	add_token(&x, false, false, "01", "23");
	add_token(&x, false, false, "01", "23");
	add_token(&x, true, true, "01", "23");
	add_token(&x, true, true, "01", "23");
	add_token(&x, true, true, "45", "23");
	o.window = 2;
	replay(m, &o, &x, 1, &r);
	assert(r.nwindows == 3);	/* at 3, at 4, and 6 */
	assert(r.window[0] == 0 && r.window[1] == 4 && r.window[2] == 6);
	o.tokens = 2;
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 3 && r.nwindows == 1);
	o.tokens = 4;
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_TOKENS] == 4 && r.nwindows == 2);
	cl_model_free(m);
}

static void
demand_bytes_are_those_of_the_misses(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct block x;
	struct result r;

	decode_tokens(&x, 8);
	replay(m, &o, &x, 1, &r);
	assert(r.layer_bytes[0] == 8 * 2 * SLAB_BYTES);
	assert(r.layer_bytes[2] == 4 * SLAB_BYTES);
	assert(r.total[CL_N_DEMAND_BYTES] == r.layer_bytes[0] +
	    r.layer_bytes[2]);
	cl_model_free(m);
}

/* The status of a replay of x that may be refused at any of its steps. */
static int
try_replay(const struct cl_model *m, struct block *x, struct cl_err *err)
{
	static const struct cl_stats_end end = { .end = CL_END_COMPLETE };
	struct cl_replay_options o = options(1);
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_writer *w;
	struct fed r;
	struct cl_buf bytes;
	struct cl_dst *dst;
	int status;

	cl_buf_init(&bytes);
	dst = mem_dst(&bytes);
	assert((w = cl_stats_writer_new(dst, &conds, NULL)) != NULL);
	memset(err, 0, sizeof(*err));
	r = fed_new(m, &o, prefill, w, err);
	status = r.replay == NULL ? err->code :
	    cl_events_block(r.events, &x->b, err);
	if (status == CL_OK)
		status = cl_events_finish(r.events, err);
	if (status == CL_OK)
		status = cl_replay_finish(r.replay, &end, err);
	fed_free(&r);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
	cl_buf_free(&bytes);
	return (status);
}

static void
a_counter_of_bytes_never_wraps(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o = options(12);
	struct cl_err err;
	struct block x;
	struct result r;

	decode_tokens(&x, 8);			/* 8 experts, and 4 */
	m->layers[0].expert_bytes = (UINT64_C(1) << 60) - 4096;
	replay(m, &o, &x, 1, &r);
	assert(r.total[CL_N_DEMAND_BYTES] == (UINT64_C(1) << 63) -
	    8 * 4096 + 4 * SLAB_BYTES);
	m->layers[0].expert_bytes = (UINT64_C(1) << 60);
	assert(try_replay(m, &x, &err) == CL_ENOTSUP);
	assert(strcmp(err.msg, "layer 0: more bytes read than can be "
	    "counted") == 0);
	m->layers[0].expert_bytes = INT64_MAX;
	assert(try_replay(m, &x, &err) == CL_ENOTSUP);
	cl_model_free(m);
}

static void
experts_of_all_layers_are_bounded(void)
{
	struct cl_model *m = cl_model_new(65, NULL);
	struct cl_err err;
	struct block x;
	uint32_t i;

	assert(m != NULL);
	begin_block(&x);
	x.b.ntokens = 0;
	for (i = 0; i < 64; i++) {
		m->layers[i].nexperts = CL_RULE_EXPERTS_MAX;
		m->layers[i].k = 1;
	}
	assert(try_replay(m, &x, &err) == CL_OK);
	m->layers[64].nexperts = m->layers[64].k = 1;
	assert(try_replay(m, &x, &err) == CL_ENOTSUP);
	assert(strcmp(err.msg, "layers 0 to 64 have 1048577 experts; a replay "
	    "holds at most 1048576") == 0);
	cl_model_free(m);
}

#define NBLOCKS	4

static void
one_way_of_reading(const struct cl_model *m, struct cl_replay_options o,
    struct block *x, uint32_t nthreads, const struct result *counted)
{
	struct cl_device_options d = { .io = { .nthreads = nthreads,
	    .os_cache = nthreads % 2 ? CL_IO_DROP : CL_IO_KEEP },
	    .nslots = o.nslots, .nbypass = 2,
	    .stride = 12288 };
	struct served s = { 0 };
	struct cl_device *device = cl_device_new(m, &d, NULL);
	struct result r;

	assert(device != NULL);
	o.device = device;
	o.served = check_served;
	o.arg = &s;
	replay(m, &o, x, NBLOCKS, &r);
	assert(memcmp(r.total, counted->total, sizeof(r.total)) == 0);
	assert(memcmp(r.phase, counted->phase, sizeof(r.phase)) == 0);
	assert(r.measured && !counted->measured);
	assert(s.n == r.total[CL_N_ACCESSES]);
	cl_device_free(device);
}

/*
 * Caches from one slot on: events larger than the cache are served in waves
 * through two bypass buffers.
 */
static void
every_byte_handed_on_is_the_experts_own(void)
{
	static const uint32_t threads[] = { 0, 1, 8 };
	static const char *const policies[] = { "lru", "wtinylfu:window=40" };
	char path[] = "/tmp/cl-test-replay.XXXXXX";
	struct cl_model *m = make_model(path);
	struct block *x = calloc(NBLOCKS, sizeof(*x));
	struct cl_replay_options o;
	struct result counted;
	uint32_t nslots, mode, t;

	assert(x != NULL);
	random_blocks(x, NBLOCKS, 11);
	for (nslots = 1; nslots <= 12; nslots += nslots < 4 ? 1 : 4)
		for (mode = 0; mode < 16; mode++) {
			o = options(nslots);
			assert(cl_cache_policy_parse(policies[mode / 8],
			    &o.policy, NULL) == CL_OK);
			o.partition = mode / 4 % 2 ? CL_PARTITION_LAYER :
			    CL_PARTITION_GLOBAL;
			o.contract = mode % 2 ? CL_CONTRACT_SERIAL :
			    CL_CONTRACT_EVENT;
			prefill = mode / 2 % 2 ? CL_PREFILL_TOKEN :
			    CL_PREFILL_UNION;
			replay(m, &o, x, NBLOCKS, &counted);
			assert(counted.total[CL_N_ACCESSES] > 500);
			for (t = 0; t < 3; t++)
				one_way_of_reading(m, o, x, threads[t],
				    &counted);
		}
	prefill = CL_PREFILL_UNION;
	free(x);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static void
a_model_cut_short_is_found_before_and_while_reading(void)
{
	char path[] = "/tmp/cl-test-replay.XXXXXX";
	struct cl_model *m = make_model(path);
	struct cl_device_options d = { .io.nthreads = 1, .nslots = 4,
	    .nbypass = 2, .stride = 12288 };
	struct cl_io_job job;
	struct cl_device *device = cl_device_new(m, &d, NULL);
	struct cl_err err = { 0 };

	assert(device != NULL && truncate(path, 2 * SLAB_BYTES + 10) == 0);
	memset(&job, 0, sizeof(job));
	cl_device_read(device, &job, 0, 2, cl_device_slot(device, 0),
	    CL_IO_DEMAND);
	assert(cl_device_wait(device, &job, 0, 2, &err) == CL_EIO);
	assert(strncmp(err.msg, "layer 0 expert 2: /tmp/cl-test-", 31) == 0);
	assert(strstr(err.msg, "offset 10000: wanted 5000 bytes, got 10") !=
	    NULL);
	cl_device_free(device);
	memset(&err, 0, sizeof(err));
	assert(cl_device_new(m, &d, &err) == NULL);
	assert(strstr(err.msg, "100000 bytes are needed, and it has 10010") !=
	    NULL);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static void
buffers_that_cannot_be_or_are_too_small_are_refused(void)
{
	struct cl_model *m;
	struct cl_device_options d = { .nslots = 4, .nbypass = 2,
	    .stride = UINT64_C(1) << 44 };
	char path[] = "/tmp/cl-test-replay.XXXXXX";
	struct cl_err err = { 0 };

	m = make_model(path);
	assert(cl_device_new(m, &d, &err) == NULL && err.code == CL_ENOMEM);
	assert(strstr(err.msg, "6 buffers of 17592186044416 bytes, and this "
	    "process may use ") != NULL);
	d.stride = UINT64_C(1) << 62;
	assert(cl_device_new(m, &d, NULL) == NULL);
	d.stride = 2 * SLAB_BYTES - 1;		/* layer 0 has larger ones */
	memset(&err, 0, sizeof(err));
	assert(cl_device_new(m, &d, &err) == NULL && err.code == CL_EINVAL);
	assert(strcmp(err.msg, "buffers of 9999 bytes for experts of 10000") ==
	    0);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static const struct unit units[] = {
	{ "a prefill pass is one event a layer, over blocks too",
	    a_prefill_pass_is_one_event_a_layer },
	{ "token prefill makes each token an event",
	    token_prefill_makes_each_token_an_event },
	{ "padding is counted apart and used for nothing",
	    padding_is_counted_apart_and_used_for_nothing },
	{ "a warm-up keeps the cache and counts nothing",
	    warm_up_keeps_the_cache_and_counts_nothing },
	{ "a cache goes on in the next run, with the same slots and contract",
	    a_cache_goes_on_where_all_is_the_same },
	{ "a warm-up that takes all of a trace is not measured",
	    a_warm_up_that_takes_all_is_not_measured },
	{ "the digest starts anew behind the warm-up",
	    the_digest_starts_anew_behind_the_warm_up },
	{ "windows and the number of tokens act where a pass ends",
	    windows_and_the_end_act_where_a_pass_ends },
	{ "demand bytes are those of the misses, by layer and in total",
	    demand_bytes_are_those_of_the_misses },
	{ "a counter of bytes never wraps", a_counter_of_bytes_never_wraps },
	{ "the experts of all layers are bounded, for they take memory",
	    experts_of_all_layers_are_bounded },
	{ "every byte handed on is the expert's own, with any cache and threads",
	    every_byte_handed_on_is_the_experts_own },
	{ "a model cut short is found before and while reading",
	    a_model_cut_short_is_found_before_and_while_reading },
	{ "buffers that cannot be had, or are too small, are refused",
	    buffers_that_cannot_be_or_are_too_small_are_refused },
};

UNIT_MAIN(units)
