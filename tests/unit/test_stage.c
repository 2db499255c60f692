/*
 * Prefetch and staging: every decision against a slow twin that keeps lists
 * and follows the manual's sentences, and every byte against its pattern, with
 * caches and staging of a slot or two.
 */

#include "cl/device.h"
#include "cl/hash.h"
#include "replay_make.h"
#include "unit.h"

#define NKEYS		12		/* 8 of layer 0, 4 of layer 2 */
#define NSEQS		3
#define NBLOCKS		4
#define K		2
#define NOPTIONS	360		/* of next_options() for each input */

/* Of the runs with threads, how far apart; each is slow where races show. */
#ifdef __SANITIZE_THREAD__
#define STRIDE		5
#else
#define STRIDE		1
#endif

static const uint32_t base_of[NCOLUMNS] = { 0, 8 };
static const char *const predictors[] = { "previous", "popular", "ahead",
    "oracle", "oracle:recall=0" };

/* Blocks with sequences and a forecast. */
struct input {
	struct block	x[NBLOCKS];
	float		forecast[NBLOCKS][NCOLUMNS][BLOCK_MAX * CELL_MAX];
	uint32_t	row[BLOCK_MAX];
};

static struct input *
make_input(uint64_t seed)
{
	struct input *in = calloc(1, sizeof(*in));
	struct cl_trace_column *col;
	uint32_t b, c, i;

	assert(in != NULL);
	random_blocks(in->x, NBLOCKS, seed);
	for (i = 0; i < BLOCK_MAX; i++)
		in->row[i] = i % 5 == 4 ? UINT32_MAX : i;
	for (b = 0; b < NBLOCKS; b++) {
		for (i = 0; i < BLOCK_MAX; i++)
			in->x[b].token[i].seq = (uint32_t)cl_rng_below(&seed,
			    NSEQS);
		for (c = 0; c < NCOLUMNS; c++) {
			col = &in->x[b].column[c];
			col->forecast = in->forecast[b][c];
			col->forecast_row = in->row;
			for (i = 0; i < BLOCK_MAX * CELL_MAX; i++)
				in->forecast[b][c][i] = (float)cl_rng_below(
				    &seed, 6);
		}
	}
	return (in);
}

/* A list of distinct keys. */
struct list {
	uint32_t	n;
	uint32_t	key[NKEYS];
};

static uint32_t
find(const struct list *l, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < l->n && l->key[i] != key; i++)
		;
	return (i);
}

static bool
has(const struct list *l, uint32_t key)
{

	return (find(l, key) < l->n);
}

static void
add(struct list *l, uint32_t key)
{

	if (!has(l, key))
		l->key[l->n++] = key;
}

static void
remove_key(struct list *l, uint32_t key)
{
	uint32_t i = find(l, key);

	if (i == l->n)
		return;
	memmove(&l->key[i], &l->key[i + 1],
	    (l->n - i - 1) * sizeof(l->key[0]));
	l->n--;
}

struct twin {
	const struct cl_replay_options *o;
	struct list	 main;		/* the least recent first */
	struct list	 staged;	/* used ones that were not kept, too */
	struct list	 used;		/* those */
	bool		 seen[NKEYS];
	uint64_t	 uses[NKEYS];
	struct list	 previous[NSEQS][NCOLUMNS];
	uint64_t	 n[CL_N_COUNTERS];
};

/* One token of a block, and its block. */
struct token {
	const struct block *x;
	uint32_t	t;
};

static struct list
chosen(const struct token *tok, uint32_t c)
{
	const struct cl_trace_column *col = &tok->x->column[c];
	struct list l = { 0 };
	uint32_t j;

	for (j = col->first[tok->t]; j < col->first[tok->t + 1]; j++)
		add(&l, base_of[c] + col->ids[j]);
	return (l);
}

/* The K greatest of a column, by the number that each has; ties to the lower. */
static struct list
greatest(const double *score, uint32_t c, bool positive)
{
	struct list l = { 0 };
	uint32_t e, best, key;

	while (l.n < K) {
		best = NKEYS;
		for (e = 0; e < moe_experts[c]; e++) {
			key = base_of[c] + e;
			if (!has(&l, key) && (!positive || score[e] > 0) &&
			    (best == NKEYS || score[e] > score[best -
			    base_of[c]]))
				best = key;
		}
		if (best == NKEYS)
			break;
		add(&l, best);
	}
	return (l);
}

static struct list
foretold(const struct twin *t, const struct token *tok, uint32_t c)
{
	const struct cl_trace_column *col = &tok->x->column[c];
	struct list none = { 0 }, truth = chosen(tok, c), l;
	double score[NKEYS];
	uint32_t e;

	switch (t->o->predict.kind) {
	case CL_PREDICT_PREVIOUS:
		l = t->previous[tok->x->token[tok->t].seq][c];
		break;
	case CL_PREDICT_POPULAR:
		for (e = 0; e < moe_experts[c]; e++)
			score[e] = (double)t->uses[base_of[c] + e];
		l = greatest(score, c, true);
		break;
	case CL_PREDICT_AHEAD:
		if (col->forecast_row[tok->t] == UINT32_MAX)
			return (none);
		for (e = 0; e < moe_experts[c]; e++)
			score[e] = (double)col->forecast[moe_experts[c] *
			    col->forecast_row[tok->t] + e];
		l = greatest(score, c, false);
		break;
	default:
		l = t->o->predict.recall == 0 ? none : truth;
		break;
	}
	if (l.n > K)
		l.n = K;
	return (truth.n == 0 ? none : l);
}

/* What of a key the digest and the counters have, before it is admitted. */
static unsigned
classify(struct twin *t, uint32_t key)
{
	unsigned class = has(&t->main, key) ? CL_CLASS_HIT :
	    has(&t->staged, key) ? CL_CLASS_STAGED :
	    t->seen[key] ? CL_CLASS_CAPACITY : CL_CLASS_COLD;

	t->n[CL_N_HITS] += class == CL_CLASS_HIT;
	t->n[CL_N_STAGE_HITS] += class == CL_CLASS_STAGED;
	t->n[CL_N_PREFETCH_USEFUL] += class == CL_CLASS_STAGED;
	t->n[CL_N_MISSES] += class >= CL_CLASS_COLD;
	t->n[CL_N_COLD] += class == CL_CLASS_COLD;
	t->n[CL_N_CAPACITY] += class == CL_CLASS_CAPACITY;
	t->n[CL_N_ACCESSES]++;
	t->seen[key] = true;
	return (class);
}

static uint64_t
mix_victim(uint64_t d, uint32_t key)
{
	uint32_t c = key >= base_of[1];

	return (cl_hash_mix(d, UINT64_C(1) << 63 | (uint64_t)moe_layer[c] <<
	    32 | (key - base_of[c])));
}

/* A key that was not in the cache wants in; pinned is who may not leave. */
static unsigned
admit(struct twin *t, uint32_t key, struct list *pinned, unsigned class,
    uint64_t *d)
{
	uint32_t i;

	if (t->main.n == t->o->nslots) {
		for (i = 0; i < t->main.n; i++)
			if (!has(pinned, t->main.key[i]))
				break;
		if (i == t->main.n) {
			if (class == CL_CLASS_STAGED)
				add(&t->used, key);
			else
				t->n[CL_N_BYPASS]++;
			return (class | CL_CACHE_NOT_KEPT);
		}
		*d = mix_victim(*d, t->main.key[i]);
		remove_key(&t->main, t->main.key[i]);
		t->n[CL_N_EVICTIONS]++;
	}
	add(&t->main, key);
	add(pinned, key);
	remove_key(&t->staged, key);
	return (class);
}

static void
touch(struct twin *t, uint32_t key)
{

	if (has(&t->main, key)) {
		remove_key(&t->main, key);
		add(&t->main, key);
	}
}

/* All of the event comes in, is used, and the least recent leave. */
static void
serve_retained(struct twin *t, const struct list *s, uint32_t c)
{
	struct list was = t->main;
	unsigned class[NKEYS];
	uint64_t d = t->n[CL_N_DIGEST], word = 0;
	uint32_t i, key;

	d = cl_hash_mix(d, (uint64_t)s->n << 32 | moe_layer[c]);
	for (i = 0; i < s->n; i++)
		class[i] = classify(t, s->key[i]);
	for (i = 0; i < s->n; i++) {
		add(&t->main, s->key[i]);
		touch(t, s->key[i]);
	}
	while (t->main.n > t->o->nslots) {
		key = t->main.key[0];
		remove_key(&t->main, key);
		t->n[CL_N_EVICTIONS] += has(&was, key);
		if (has(&was, key))
			d = mix_victim(d, key);
	}
	for (i = 0; i < s->n; i++) {
		if (has(&t->main, s->key[i]))
			remove_key(&t->staged, s->key[i]);
		else {
			t->n[CL_N_BYPASS] += class[i] >= CL_CLASS_COLD;
			if (class[i] == CL_CLASS_STAGED)
				add(&t->used, s->key[i]);
			class[i] |= CL_CACHE_NOT_KEPT;
		}
		word |= (uint64_t)class[i] << 4 * i;
	}
	t->n[CL_N_DIGEST] = cl_hash_mix(d, word);
	t->n[CL_N_EVENTS]++;
}

/* The event's members as one event, or each as one of its own. */
static void
serve(struct twin *t, const struct list *s, uint32_t c)
{
	bool serial = t->o->contract == CL_CONTRACT_SERIAL;
	unsigned class[NKEYS];
	struct list pinned = { 0 };
	uint64_t d = t->n[CL_N_DIGEST], word = 0;
	uint32_t i;

	d = cl_hash_mix(d, (uint64_t)s->n << 32 | moe_layer[c]);
	for (i = 0; i < s->n && !serial; i++)
		if ((class[i] = classify(t, s->key[i])) == CL_CLASS_HIT)
			add(&pinned, s->key[i]);
	for (i = 0; i < s->n; i++) {
		if (serial) {
			pinned.n = 0;
			class[i] = classify(t, s->key[i]);
		}
		if (class[i] != CL_CLASS_HIT)
			class[i] = admit(t, s->key[i], &pinned, class[i], &d);
		if (serial)
			touch(t, s->key[i]);
		word |= (uint64_t)class[i] << 4 * i;
	}
	for (i = 0; i < s->n && !serial; i++)
		touch(t, s->key[i]);
	t->n[CL_N_DIGEST] = cl_hash_mix(d, word);
	t->n[CL_N_EVENTS] += serial ? s->n : 1;
}

static void
stage(struct twin *t, const struct list *l, uint32_t c)
{
	uint32_t i, key;

	for (i = 0; i < l->n; i++) {
		key = l->key[i];
		if (has(&t->main, key) || has(&t->staged, key))
			continue;
		if (t->staged.n == t->o->nstage) {
			t->n[CL_N_PREFETCH_REFUSED]++;
			continue;
		}
		add(&t->staged, key);
		t->seen[key] = true;
		t->n[CL_N_PREFETCH_ISSUED]++;
		t->n[CL_N_PREFETCH_BYTES] += (2 - c) * SLAB_BYTES;
	}
}

/* The event of column c has passed. */
static void
unstage(struct twin *t, uint32_t c)
{
	struct list was = t->staged;
	uint32_t i;

	for (i = 0; i < was.n; i++)
		if ((was.key[i] >= base_of[1]) == (c == 1)) {
			t->n[CL_N_PREFETCH_WASTED] += !has(&t->used,
			    was.key[i]);
			remove_key(&t->staged, was.key[i]);
		}
	t->used.n = 0;
}

static void
twin_pass(struct twin *t, const struct token *tokens, uint32_t n)
{
	struct list s[NCOLUMNS] = { { 0 } }, said = { 0 }, l;
	uint32_t c, i, j;

	for (i = 0; i < n; i++)
		for (c = 0; c < NCOLUMNS; c++) {
			l = chosen(&tokens[i], c);
			for (j = 0; j < l.n; j++)
				add(&s[c], l.key[j]);
			l = foretold(t, &tokens[i], c);
			for (j = 0; c == 1 && j < l.n; j++)
				add(&said, l.key[j]);
		}
	for (c = 0; c < NCOLUMNS; c++) {
		if (s[c].n == 0)
			continue;
		if (t->o->contract == CL_CONTRACT_RETAIN)
			serve_retained(t, &s[c], c);
		else
			serve(t, &s[c], c);
		if (c == 0 && s[1].n > 0)
			stage(t, &said, 1);
		unstage(t, c);
	}
	for (i = 0; i < n; i++)
		for (c = 0; c < NCOLUMNS; c++) {
			l = chosen(&tokens[i], c);
			t->previous[tokens[i].x->token[tokens[i].t].seq][c] = l;
			for (j = 0; j < l.n; j++)
				t->uses[l.key[j]]++;
		}
	t->n[CL_N_TOKENS] += n;
}

static void
twin_replay(struct twin *t, const struct input *in)
{
	struct token pass[NBLOCKS * BLOCK_MAX];
	uint32_t i, n = 0;

	for (i = 0; i < NBLOCKS * BLOCK_MAX; i++) {
		pass[n].x = &in->x[i / BLOCK_MAX];
		pass[n].t = i % BLOCK_MAX;
		if (n > 0 && pass[n].x->token[pass[n].t].begins) {
			twin_pass(t, pass, n);
			pass[0] = pass[n];
			n = 0;
		}
		n++;
	}
	twin_pass(t, pass, n);
}

/* Runs of every predictor, contract and small size. */
static uint32_t
next_options(struct cl_replay_options *o, uint32_t i)
{
	static const uint32_t slots[] = { 1, 2, 3, 5, 8, 12 };
	static const uint32_t stages[] = { 1, 2, 4, 9 };
	static const enum cl_contract contracts[] = { CL_CONTRACT_EVENT,
	    CL_CONTRACT_SERIAL, CL_CONTRACT_RETAIN };

	*o = options(slots[i % 6]);
	i /= 6;
	o->nstage = stages[i % 4];
	i /= 4;
	o->contract = contracts[i % 3];
	i /= 3;
	assert(cl_predict_parse(predictors[i % 5], &o->predict, NULL) ==
	    CL_OK);
	return (i / 5);
}

/* Of bytes that are missed the twin knows nothing. */
static void
equal(struct twin *t, const struct result *r)
{
	int c;

	t->n[CL_N_DEMAND_BYTES] = r->total[CL_N_DEMAND_BYTES];
	for (c = 0; c < CL_N_COUNTERS; c++)
		assert(t->n[c] == r->total[c]);
}

static void
staging_equals_its_twin(void)
{
	struct cl_model *m = bare_model();
	struct cl_replay_options o;
	struct input *in;
	struct result r;
	struct twin t;
	uint64_t issued = 0, useful = 0, refused = 0;
	uint32_t i;

	for (i = 0; next_options(&o, i) < 2; i++) {
		in = make_input(i / NOPTIONS);
		replay(m, &o, in->x, NBLOCKS, &r);
		memset(&t, 0, sizeof(t));
		t.o = &o;
		twin_replay(&t, in);
		equal(&t, &r);
		assert(r.total[CL_N_PREFETCH_ISSUED] ==
		    r.total[CL_N_PREFETCH_USEFUL] +
		    r.total[CL_N_PREFETCH_WASTED]);
		issued += r.total[CL_N_PREFETCH_ISSUED];
		useful += r.total[CL_N_PREFETCH_USEFUL];
		refused += r.total[CL_N_PREFETCH_REFUSED];
		free(in);
	}
	assert(issued > 25000 && useful > 5000 && refused > 2500);
	cl_model_free(m);
}

/* From now on bytes are read, and looked at. */
static void
read_served(struct cl_replay_options *o, const struct cl_model *m,
    uint32_t nthreads, struct served *s)
{
	struct cl_device_options d = { .io.nthreads = nthreads,
	    .nslots = o->nslots, .nstage = o->nstage, .nbypass = 2,
	    .stride = 12288 };

	o->device = cl_device_new(m, &d, NULL);
	assert(o->device != NULL);
	s->n = 0;
	o->served = check_served;
	o->arg = s;
}

/* Two traces, the second with the cache of the first. */
static void
replay_both(const struct cl_model *m, struct cl_replay_options o,
    struct input *in[2], struct result r[2])
{
	struct fed one, two;

	one = replay_kept(m, &o, in[0]->x, NBLOCKS, &r[0]);
	o.before = one.replay;
	two = replay_kept(m, &o, in[1]->x, NBLOCKS, &r[1]);
	fed_free(&one);
	fed_free(&two);
}

/* What a predictor knows, and what was counted, is of one trace. */
static void
twin_goes_on(struct twin *t)
{

	assert(t->staged.n == 0 && t->used.n == 0);
	memset(t->uses, 0, sizeof(t->uses));
	memset(t->previous, 0, sizeof(t->previous));
	memset(t->n, 0, sizeof(t->n));
}

static void
a_warm_cache_has_staging_as_its_twin_and_the_bytes(void)
{
	char path[] = "/tmp/cl-test-stage.XXXXXX";
	struct cl_model *m = make_model(path);
	struct input *in[2] = { make_input(3), make_input(4) };
	struct cl_replay_options o;
	struct result counted[2], r[2];
	struct served s;
	struct twin t;
	uint32_t i;

	for (i = 0; next_options(&o, i) < 1; i += 7 * STRIDE) {
		replay_both(m, o, in, counted);
		memset(&t, 0, sizeof(t));
		t.o = &o;
		twin_replay(&t, in[0]);
		equal(&t, &counted[0]);
		twin_goes_on(&t);
		twin_replay(&t, in[1]);
		equal(&t, &counted[1]);
		read_served(&o, m, 2, &s);
		replay_both(m, o, in, r);
		assert(memcmp(r[0].total, counted[0].total,
		    sizeof(r[0].total)) == 0);
		assert(memcmp(r[1].total, counted[1].total,
		    sizeof(r[1].total)) == 0);
		assert(s.n == r[0].total[CL_N_ACCESSES] +
		    r[1].total[CL_N_ACCESSES]);
		cl_device_free(o.device);
	}
	free(in[0]);
	free(in[1]);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

static void
every_staged_byte_is_the_experts_own(void)
{
	static const uint32_t threads[] = { 0, 1, 3, 16 };
	static const char *const policies[] = { "lru", "wtinylfu:window=40" };
	char path[] = "/tmp/cl-test-stage.XXXXXX";
	struct cl_model *m = make_model(path);
	struct input *in = make_input(77);
	struct cl_replay_options o;
	struct served s;
	struct result counted, r;
	uint32_t i;

	for (i = 0; next_options(&o, i) < 2; i += STRIDE) {
		assert(cl_cache_policy_parse(o.contract == CL_CONTRACT_RETAIN ?
		    "random" : policies[i / NOPTIONS], &o.policy, NULL) ==
		    CL_OK);
		prefill = i % 7 == 0 ? CL_PREFILL_TOKEN : CL_PREFILL_UNION;
		replay(m, &o, in->x, NBLOCKS, &counted);
		read_served(&o, m, threads[i % 4], &s);
		replay(m, &o, in->x, NBLOCKS, &r);
		assert(memcmp(r.total, counted.total, sizeof(r.total)) == 0);
		assert(memcmp(r.phase, counted.phase, sizeof(r.phase)) == 0);
		assert(s.n == r.total[CL_N_ACCESSES]);
		cl_device_free(o.device);
	}
	prefill = CL_PREFILL_UNION;
	free(in);
	assert(unlink(path) == 0);
	cl_model_free(m);
}

/* Three uses of expert 3 of layer 2, then the file loses it. */
static int
replay_without_expert_3(const char *last, struct cl_err *err)
{
	char path[] = "/tmp/cl-test-stage.XXXXXX";
	struct cl_model *m = make_model(path);
	struct cl_replay_options o = options(1);
	struct cl_device_options d = { .nslots = 1, .nstage = 2, .nbypass = 2,
	    .stride = 12288 };
	struct cl_stats_conds conds = { 0 };
	struct cl_buf bytes = { 0 };
	struct cl_dst *dst = mem_dst(&bytes);
	struct cl_stats_writer *w = cl_stats_writer_new(dst, &conds, NULL);
	struct cl_stats_end end = { .end = CL_END_COMPLETE };
	struct block x[2];
	struct fed run;
	int status;

	o.nstage = 2;
	assert(cl_predict_parse("popular", &o.predict, NULL) == CL_OK);
	o.device = cl_device_new(m, &d, NULL);
	run = fed_new(m, &o, prefill, w, NULL);
	assert(w != NULL && o.device != NULL && run.replay != NULL);
	begin_block(&x[0]);
	add_token(&x[0], true, true, "01", "3");
	add_token(&x[0], true, true, "01", "3");
	add_token(&x[0], true, true, "01", "3");
	add_token(&x[0], true, true, "01", "2");	/* ends in the next */
	begin_block(&x[1]);
	add_token(&x[1], true, true, "01", "2");
	add_token(&x[1], true, true, "01", last);
	assert(cl_events_block(run.events, &x[0].b, NULL) == CL_OK);
	assert(truncate(path, 8 * 2 * SLAB_BYTES + 3 * SLAB_BYTES) == 0);
	if ((status = cl_events_block(run.events, &x[1].b, err)) == CL_OK)
		status = fed_finish(&run, &end, 0, err);
	fed_free(&run);
	cl_stats_writer_free(w);
	cl_dst_free(dst);
	cl_buf_free(&bytes);
	cl_device_free(o.device);
	assert(unlink(path) == 0);
	cl_model_free(m);
	return (status);
}

static void
a_prefetch_that_fails_harms_nobody_until_it_is_wanted(void)
{
	struct cl_err err = { 0 };

	assert(replay_without_expert_3("2", &err) == CL_OK);
	assert(replay_without_expert_3("3", &err) == CL_EIO);
	assert(strncmp(err.msg, "layer 2 expert 3: ", 18) == 0);
}

static const struct unit units[] = {
	{ "staging decides and counts as its twin does, with every predictor",
	    staging_equals_its_twin },
	{ "a warm cache has staging as its twin, and the bytes",
	    a_warm_cache_has_staging_as_its_twin_and_the_bytes },
	{ "every staged byte is the expert's own, with any cache and threads",
	    every_staged_byte_is_the_experts_own },
	{ "a prefetch that fails harms nobody until it is wanted",
	    a_prefetch_that_fails_harms_nobody_until_it_is_wanted },
};

UNIT_MAIN(units)
