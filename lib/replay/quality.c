/*
 * Who is resident stands in a heap of its pool, the furthest next use at the
 * root.  Once the victims of an event have left it, the root is the best that
 * was not thrown out, which each victim is held against: in which order
 * victims leave for one event makes no difference to what is missed.
 *
 * Under event, members are pinned.  Those that hit have the event itself as
 * their next use until they are used, and so are nearer than all others: where
 * one of them is at the root, nobody else could have left.  Under retain there
 * are no pins: members are used, and in the heap, before anybody is judged.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hist.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "cl/quality.h"
#include "cl/stats_write.h"

#define NPHASES		2u
#define BUCKETS		66u		/* 0, then each power of two */
#define NOWHERE		UINT32_MAX

/* What is counted of a sum, and how much was given up. */
struct part {
	struct cl_quality_sum sum;
	struct cl_hist	 regret;
};

struct heap {
	uint32_t	*key;
	uint32_t	 n;
};

struct cl_quality {
	struct cl_quality_options o;
	struct heap	*heap;		/* of each pool */
	uint32_t	*entry;		/* of all heaps */
	/* of each key */
	uint32_t	*next;		/* use, as last told */
	uint32_t	*place;		/* in its heap, or NOWHERE */
	uint32_t	*column;
	uint32_t	*event;		/* that it was last a member of */
	uint64_t	*left_at;	/* tokens */
	uint8_t		*gone;		/* 0, or 1 + the phase it left in */

	uint32_t	 now;		/* number of this event, from 1 */
	uint64_t	 tokens;
	struct part	*part;		/* all, phases, columns */
	uint64_t	 regret[BUCKETS];
	uint64_t	 returns[BUCKETS];
};

static int
allocate(struct cl_quality *q, struct cl_err *err)
{
	const struct cl_keys *keys = q->o.keys;
	uint32_t n = keys->nkeys;

	q->heap = calloc(keys->ncolumns, sizeof(*q->heap));
	q->entry = calloc(n, sizeof(*q->entry));
	q->next = calloc(n, sizeof(*q->next));
	q->place = calloc(n, sizeof(*q->place));
	q->column = calloc(n, sizeof(*q->column));
	q->event = calloc(n, sizeof(*q->event));
	q->left_at = calloc(n, sizeof(*q->left_at));
	q->gone = calloc(n, sizeof(*q->gone));
	q->part = calloc((size_t)keys->ncolumns + 1 + NPHASES,
	    sizeof(*q->part));
	if (q->heap == NULL || q->entry == NULL || q->next == NULL ||
	    q->place == NULL || q->column == NULL || q->event == NULL ||
	    q->left_at == NULL || q->gone == NULL || q->part == NULL)
		return (cl_fail_nomem(err, "the quality of decisions"));
	return (CL_OK);
}

static uint32_t
pool_of(const struct cl_quality *q, uint32_t column)
{

	return (q->o.pool == NULL ? 0 : q->o.pool[column]);
}

struct cl_quality *
cl_quality_new(const struct cl_quality_options *o, struct cl_err *err)
{
	struct cl_quality *q;
	uint32_t i, k, at = 0;

	if ((q = calloc(1, sizeof(*q))) == NULL) {
		cl_fail_nomem(err, "the quality of decisions");
		return (NULL);
	}
	q->o = *o;
	if (allocate(q, err) != CL_OK) {
		cl_quality_free(q);
		return (NULL);
	}
	for (i = 0; i < o->keys->ncolumns; i++) {
		for (k = 0; k < o->keys->column[i].nexperts; k++)
			q->column[o->keys->column[i].base + k] = i;
	}
	for (i = 0; i < o->keys->ncolumns; i++) {	/* as pool i */
		q->heap[i].key = q->entry + at;
		for (k = 0; k < o->keys->ncolumns; k++)
			if (pool_of(q, k) == i)
				at += o->keys->column[k].nexperts;
	}
	for (k = 0; k < o->keys->nkeys; k++)
		q->place[k] = NOWHERE;
	return (q);
}

static struct heap *
heap_of(struct cl_quality *q, uint32_t key)
{

	return (&q->heap[pool_of(q, q->column[key])]);
}

static void
put(struct cl_quality *q, struct heap *h, uint32_t i, uint32_t key)
{

	h->key[i] = key;
	q->place[key] = i;
}

/* A key stands at i, and goes where its next use belongs. */
static void
settle(struct cl_quality *q, struct heap *h, uint32_t i, uint32_t key)
{
	uint32_t next = q->next[key], child;

	for (; i > 0 && q->next[h->key[(i - 1) / 2]] < next; i = (i - 1) / 2)
		put(q, h, i, h->key[(i - 1) / 2]);
	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && q->next[h->key[child + 1]] >
		    q->next[h->key[child]])
			child++;
		if (q->next[h->key[child]] <= next)
			break;
		put(q, h, i, h->key[child]);
		i = child;
	}
	put(q, h, i, key);
}

static void
enter(struct cl_quality *q, uint32_t key)
{
	struct heap *h = heap_of(q, key);

	h->n++;
	settle(q, h, h->n - 1, key);
}

static void
leave(struct cl_quality *q, uint32_t key)
{
	struct heap *h = heap_of(q, key);
	uint32_t i = q->place[key], last;

	assert(i != NOWHERE);
	last = h->key[--h->n];
	q->place[key] = NOWHERE;
	if (last != key)
		settle(q, h, i, last);
}

void
cl_quality_holds(struct cl_quality *q, uint32_t key, uint32_t first)
{

	q->next[key] = first;
	enter(q, key);
}

void
cl_quality_reset(struct cl_quality *q)
{

	memset(q->gone, 0, q->o.keys->nkeys * sizeof(*q->gone));
	memset(q->part, 0, ((size_t)q->o.keys->ncolumns + 1 + NPHASES) *
	    sizeof(*q->part));
	memset(q->regret, 0, sizeof(q->regret));
	memset(q->returns, 0, sizeof(q->returns));
}

void
cl_quality_tokens(struct cl_quality *q, uint64_t n)
{

	q->tokens += n;
}

/* 0 is bucket 0, 1 is 1, 2 and 3 are 2. */
static unsigned
bucket_of(uint64_t v)
{
	unsigned i = 0;

	for (; v > 0; v >>= 1)
		i++;
	return (i);
}

/* The three sums that a key in that phase belongs to. */
static void
parts_of(const struct cl_quality *q, uint32_t key, unsigned phase,
    struct part *part[3])
{

	part[0] = q->part;
	part[1] = q->part + 1 + phase;
	part[2] = q->part + 1 + NPHASES + q->column[key];
}

static uint32_t
at_most(uint32_t v, uint32_t end)
{

	return (v < end ? v : end);
}

/* A victim, and the best that stayed; NULL: nobody else could have left. */
static void
judge_victim(struct cl_quality *q, uint32_t key, uint32_t newcomer_next,
    const uint32_t *far, unsigned phase)
{
	bool retain = q->o.contract == CL_CONTRACT_RETAIN;
	uint32_t next = q->next[key], regret = 0;
	struct part *part[3];
	unsigned i;

	if (far != NULL && *far > next)
		regret = at_most(*far, q->o.end) - at_most(next, q->o.end);
	parts_of(q, key, phase, part);
	for (i = 0; i < 3; i++) {
		part[i]->sum.evictions++;
		part[i]->sum.optimal += far == NULL || *far <= next;
		part[i]->sum.regret += regret;
		part[i]->sum.never_stayed += far != NULL &&
		    *far == CL_LOOKAHEAD_NEVER && next != CL_LOOKAHEAD_NEVER;
		part[i]->sum.newcomer_later += !retain && newcomer_next > next;
		cl_hist_add(&part[i]->regret, regret);
	}
	q->regret[bucket_of(regret)]++;
	q->gone[key] = (uint8_t)(1 + phase);
	q->left_at[key] = q->tokens;
}

static void
judge_refusal(struct cl_quality *q, uint32_t key, uint32_t next,
    const uint32_t *far, unsigned phase)
{
	struct part *part[3];
	unsigned i;

	if (far == NULL)
		return;
	parts_of(q, key, phase, part);
	for (i = 0; i < 3; i++) {
		part[i]->sum.refusals++;
		part[i]->sum.refusals_optimal += next >= *far;
	}
}

static void
come_back(struct cl_quality *q, uint32_t key)
{
	struct part *part[3];
	unsigned i;

	if (q->gone[key] == 0)
		return;
	parts_of(q, key, q->gone[key] - 1u, part);
	for (i = 0; i < 3; i++)
		part[i]->sum.returned++;
	q->returns[bucket_of(q->tokens - q->left_at[key])]++;
	q->gone[key] = 0;
}

static bool
missed(uint8_t class)
{

	return ((class & ~CL_CACHE_NOT_KEPT) != CL_CLASS_HIT);
}

/* Hits have another next use now. */
static void
use_hits(struct cl_quality *q, const uint32_t *keys, const uint32_t *next,
    uint32_t n, const uint8_t *class)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		q->event[keys[i]] = q->now;
		if (missed(class[i]))
			continue;
		q->next[keys[i]] = next[i];
		settle(q, heap_of(q, keys[i]), q->place[keys[i]], keys[i]);
	}
}

static void
let_in(struct cl_quality *q, const uint32_t *keys, const uint32_t *next,
    uint32_t n, const uint8_t *class)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (missed(class[i]) && (class[i] & CL_CACHE_NOT_KEPT) == 0) {
			q->next[keys[i]] = next[i];
			enter(q, keys[i]);
		}
}

/* The next use of the best that stayed and could have left, or NULL. */
static const uint32_t *
furthest(struct cl_quality *q, uint32_t key)
{
	struct heap *h = heap_of(q, key);

	if (h->n == 0 || (q->o.contract != CL_CONTRACT_RETAIN &&
	    q->event[h->key[0]] == q->now))
		return (NULL);
	return (&q->next[h->key[0]]);
}

void
cl_quality_event(struct cl_quality *q, unsigned phase, const uint32_t *keys,
    const uint32_t *next, uint32_t n, const struct cl_cache_outcome *out)
{
	bool retain = q->o.contract == CL_CONTRACT_RETAIN;
	const uint8_t *class = out->class;
	const uint32_t *far;
	uint32_t i, held;

	q->now++;
	for (i = 0; i < n; i++) {
		q->event[keys[i]] = q->now;
		if (missed(class[i]))
			come_back(q, keys[i]);
	}
	if (retain)
		use_hits(q, keys, next, n, class);
	for (i = 0; i < n; i++)
		if (out->victim[i] != CL_CACHE_NO_KEY)
			leave(q, out->victim[i]);
	if (retain)
		let_in(q, keys, next, n, class);
	if ((far = furthest(q, keys[0])) != NULL) {
		held = *far;
		far = &held;
	}
	for (i = 0; i < n; i++)
		if (out->victim[i] != CL_CACHE_NO_KEY)
			judge_victim(q, out->victim[i], next[i], far, phase);
		else if (missed(class[i]) &&
		    (class[i] & CL_CACHE_NOT_KEPT) != 0)
			judge_refusal(q, keys[i], next[i], far, phase);
	if (!retain) {
		use_hits(q, keys, next, n, class);
		let_in(q, keys, next, n, class);
	}
}

const struct cl_quality_sum *
cl_quality_sum(const struct cl_quality *q, int phase, int64_t column)
{

	if (column >= 0)
		return (&q->part[1 + NPHASES + (size_t)column].sum);
	return (&q->part[phase + 1].sum);
}

uint64_t
cl_quality_returns(const struct cl_quality *q, unsigned i)
{

	return (i < BUCKETS ? q->returns[i] : 0);
}

static void
add_row(struct cl_stats_table *t, const char *phase, const uint32_t *layer,
    const struct part *part)
{
	const struct cl_quality_sum *s = &part->sum;

	if (phase != NULL)
		cl_stats_table_str(t, phase);
	else
		cl_stats_table_none(t);
	if (layer != NULL)
		cl_stats_table_u64(t, *layer);
	else
		cl_stats_table_none(t);
	cl_stats_table_u64(t, s->evictions);
	cl_stats_table_u64(t, s->optimal);
	cl_stats_table_u64(t, s->regret);
	cl_stats_table_u64(t, cl_hist_quantile(&part->regret, 1, 2));
	cl_stats_table_u64(t, s->never_stayed);
	cl_stats_table_u64(t, s->newcomer_later);
	cl_stats_table_u64(t, s->returned);
	cl_stats_table_u64(t, s->refusals);
	cl_stats_table_u64(t, s->refusals_optimal);
}

static int
write_sums(const struct cl_quality *q, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_STR, "phase" }, { CL_STATS_U64, "layer" },
		{ CL_STATS_U64, "evictions" }, { CL_STATS_U64, "optimal" },
		{ CL_STATS_U64, "regret" }, { CL_STATS_U64, "regret_median" },
		{ CL_STATS_U64, "never_stayed" },
		{ CL_STATS_U64, "newcomer_later" },
		{ CL_STATS_U64, "returned" }, { CL_STATS_U64, "refusals" },
		{ CL_STATS_U64, "refusals_optimal" }
	};
	struct cl_stats_table t = { .name = "decision_quality",
	    .kind = CL_STATS_LOGICAL, .nkeys = 2,
	    .ncolumns = sizeof(columns) / sizeof(columns[0]),
	    .column = columns };
	uint32_t i;
	int status;

	add_row(&t, NULL, NULL, q->part);
	add_row(&t, "prefill", NULL, q->part + 1);
	add_row(&t, "decode", NULL, q->part + 2);
	for (i = 0; i < q->o.keys->ncolumns; i++)
		add_row(&t, NULL, &q->o.keys->column[i].layer,
		    q->part + 1 + NPHASES + i);
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

/* Evictions by a number of which the power of two is told. */
static int
write_buckets(struct cl_stats_writer *w, const char *name, const char *from,
    const uint64_t *bucket, const uint64_t *none, struct cl_err *err)
{
	const struct cl_stats_column columns[] = { { CL_STATS_U64, from },
	    { CL_STATS_U64, "evictions" } };
	struct cl_stats_table t = { .name = name, .kind = CL_STATS_LOGICAL,
	    .nkeys = 1, .ncolumns = 2, .column = columns };
	unsigned i;
	int status;

	for (i = 0; i < BUCKETS; i++) {
		if (bucket[i] == 0)
			continue;
		cl_stats_table_u64(&t, i == 0 ? 0 : UINT64_C(1) << (i - 1));
		cl_stats_table_u64(&t, bucket[i]);
	}
	if (none != NULL) {
		cl_stats_table_none(&t);
		cl_stats_table_u64(&t, *none);
	}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

int
cl_quality_write(const struct cl_quality *q, struct cl_stats_writer *w,
    struct cl_err *err)
{
	const struct cl_quality_sum *all = &q->part->sum;
	uint64_t never = all->evictions - all->returned;
	int status;

	if ((status = write_sums(q, w, err)) != CL_OK ||
	    (status = write_buckets(w, "eviction_regret", "given_up_from",
	    q->regret, NULL, err)) != CL_OK)
		return (status);
	return (write_buckets(w, "eviction_return", "tokens_from", q->returns,
	    &never, err));
}

void
cl_quality_free(struct cl_quality *q)
{

	if (q == NULL)
		return;
	free(q->heap);
	free(q->entry);
	free(q->next);
	free(q->place);
	free(q->column);
	free(q->event);
	free(q->left_at);
	free(q->gone);
	free(q->part);
	free(q);
}
