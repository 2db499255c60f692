/*
 * Uses have numbered places on a line, and a bit says that a place is the last
 * use of its key; so the rank of a key is the number of bits from its place
 * on.  Bits are counted by word, by group of 8 words and by block of 16 groups,
 * so that a rank costs a few additions at each scale.  The line is four
 * times as long as there are keys; where it ends, the places in use move to its
 * front, which is a step every third use at most.
 *
 * Place 0 is of nobody: a key that was not used is there.
 *
 * A few keys, such as those of a layer, are faster without a line: each has
 * the time of its last use, and a rank is how many are as late, all compared
 * eight at a time.  Times are 15 bits; where they end, they become ranks.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/recency.h"

#define WORD	64u			/* places */
#define GROUP	8u			/* words; their counts are one u64 */
#define BLOCK	16u			/* groups */
#define PLACES	(WORD * GROUP * BLOCK)	/* of a block */
#define LENGTH	4u			/* of the line, in keys */
#define FEW		512u		/* keys that have times */
#define LANES		8u

typedef uint16_t eight __attribute__((vector_size(16)));
typedef int16_t eight_times __attribute__((vector_size(16)));

struct cl_recency {
	uint32_t	 nkeys;

	/* times */
	int16_t		*time;		/* of each key; NULL: there is a line */
	int16_t		 now;
	int16_t		*rank;		/* scratch, for when times end */

	/* a line */
	uint32_t	 end;		/* places */
	uint32_t	 next;		/* the first free place */
	uint32_t	*place;		/* of each key */
	uint32_t	*key;		/* of each place */
	uint64_t	*bits;
	uint64_t	*in_words;	/* of a group: a byte for each word */
	uint16_t	*in_group;
	uint32_t	*in_block;
};

static inline uint32_t
count_bits(uint64_t v)
{

	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) +
	    (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return ((uint32_t)(v * UINT64_C(0x0101010101010101) >> 56));
}

static int
open_times(struct cl_recency *r)
{
	size_t n = r->nkeys + LANES;		/* padded with the earliest */

	r->time = calloc(n, sizeof(*r->time));
	r->rank = calloc(n, sizeof(*r->rank));
	return (r->time != NULL && r->rank != NULL ? CL_OK : CL_ENOMEM);
}

static int
open_line(struct cl_recency *r)
{
	size_t nblocks = (LENGTH * (size_t)r->nkeys + 1) / PLACES + 1;
	size_t places = nblocks * PLACES;

	r->end = LENGTH * r->nkeys + 1;
	r->next = 1;
	r->place = calloc(r->nkeys, sizeof(*r->place));
	r->key = calloc(r->end, sizeof(*r->key));
	r->bits = calloc(places / WORD, sizeof(*r->bits));
	r->in_words = calloc(places / WORD / GROUP, sizeof(*r->in_words));
	r->in_group = calloc(places / WORD / GROUP, sizeof(*r->in_group));
	r->in_block = calloc(nblocks, sizeof(*r->in_block));
	return (r->place != NULL && r->key != NULL && r->bits != NULL &&
	    r->in_words != NULL && r->in_group != NULL &&
	    r->in_block != NULL ? CL_OK : CL_ENOMEM);
}

struct cl_recency *
cl_recency_new(uint32_t nkeys, struct cl_err *err)
{
	struct cl_recency *r;

	assert(nkeys > 0 && nkeys < 1u << 28);
	if ((r = calloc(1, sizeof(*r))) != NULL) {
		r->nkeys = nkeys;
		if ((nkeys <= FEW ? open_times(r) : open_line(r)) == CL_OK)
			return (r);
	}
	cl_fail_nomem(err, "ranks of experts");
	cl_recency_free(r);
	return (NULL);
}

/* Add one to all counts of a place, or take one away: by is 1 or -1. */
static inline void
count_place(struct cl_recency *r, uint32_t place, int by)
{
	uint32_t word = place / WORD, group = word / GROUP;

	r->bits[word] ^= UINT64_C(1) << place % WORD;
	r->in_words[group] += (uint64_t)by << word % GROUP * 8;
	r->in_group[group] = (uint16_t)(r->in_group[group] + by);
	r->in_block[group / BLOCK] += (uint32_t)by;
}

/* The counts of the words of a group behind word w of it. */
static inline uint32_t
words_behind(const struct cl_recency *r, uint32_t group, uint32_t w)
{
	uint64_t v = r->in_words[group] >> w * 8 >> 8;

	v = (v & UINT64_C(0x00ff00ff00ff00ff)) +
	    (v >> 8 & UINT64_C(0x00ff00ff00ff00ff));
	return ((uint32_t)(v * UINT64_C(0x0001000100010001) >> 48));
}

/*
 * The counts of the groups of a block behind group g of it: all sixteen are
 * added, under a mask, since a loop of a few steps costs more in branches that
 * nobody can predict.
 */
static inline uint32_t
groups_behind(const struct cl_recency *r, uint32_t block, uint32_t g)
{
	static const uint16_t mask[2 * BLOCK] = {
	    [BLOCK] = 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
	    0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
	    0xffff };
	const uint16_t *group = r->in_group + (size_t)block * BLOCK;
	eight lo, hi, mlo, mhi;
	uint64_t v[2];

	memcpy(&lo, group, sizeof(lo));
	memcpy(&hi, group + 8, sizeof(hi));
	memcpy(&mlo, mask + BLOCK - 1 - g, sizeof(mlo));
	memcpy(&mhi, mask + BLOCK - 1 - g + 8, sizeof(mhi));
	lo = (lo & mlo) + (hi & mhi);
	memcpy(v, &lo, sizeof(v));
	/* Four lanes of at most 2 x 512 each, twice; their sum is in the top. */
	return ((uint32_t)((v[0] + v[1]) * UINT64_C(0x0001000100010001) >>
	    48));
}

/* How many places are in use from this one on. */
static inline uint32_t
count_from(const struct cl_recency *r, uint32_t place)
{
	uint32_t word = place / WORD, group = word / GROUP;
	uint32_t b = group / BLOCK, last = (r->next - 1) / PLACES;
	uint32_t sum;

	sum = count_bits(r->bits[word] >> place % WORD) +
	    words_behind(r, group, word % GROUP) +
	    groups_behind(r, b, group % BLOCK);
	while (++b <= last)
		sum += r->in_block[b];
	return (sum);
}

/* How many keys were used at that time or later. */
static inline uint32_t
count_later(const struct cl_recency *r, int16_t time)
{
	const int16_t t = (int16_t)(time - 1);
	const eight_times limit = { t, t, t, t, t, t, t, t };
	eight_times sum = { 0 }, v;
	uint64_t half[2];
	uint32_t i;

	for (i = 0; i < r->nkeys; i += LANES) {
		memcpy(&v, r->time + i, sizeof(v));
		sum -= (eight_times)(v > limit);
	}
	memcpy(half, &sum, sizeof(half));
	/* Eight lanes of at most FEW / 8; their sum is in the top one. */
	return ((uint32_t)((half[0] + half[1]) *
	    UINT64_C(0x0001000100010001) >> 48));
}

static inline uint32_t
rank_of(const struct cl_recency *r, uint32_t key)
{

	if (r->time != NULL)
		return (r->time[key] == 0 ? 0 : count_later(r, r->time[key]));
	return (r->place[key] == 0 ? 0 : count_from(r, r->place[key]));
}

uint32_t
cl_recency_rank(const struct cl_recency *r, uint32_t key)
{

	return (rank_of(r, key));
}

/* Times end: keep their order, from 1 on. */
static void
restart_times(struct cl_recency *r)
{
	uint32_t key;
	int16_t used = 0;

	for (key = 0; key < r->nkeys; key++) {
		r->rank[key] = (int16_t)rank_of(r, key);
		if (r->rank[key] > used)
			used = r->rank[key];
	}
	for (key = 0; key < r->nkeys; key++)
		if (r->rank[key] > 0)
			r->time[key] = (int16_t)(used + 1 - r->rank[key]);
	r->now = used;
}

/* Places 1 to n are in use, and no other. */
static void
count_anew(struct cl_recency *r, uint32_t n)
{
	uint32_t word, words = (r->end / WORD / GROUP + 1) * GROUP, to, k;

	for (word = 0; word < words; word++) {
		to = word * WORD > n ? 0 : n + 1 - word * WORD;
		r->bits[word] = to >= WORD ? UINT64_MAX :
		    (UINT64_C(1) << to) - 1;
		r->bits[word] &= word == 0 ? ~UINT64_C(1) : UINT64_MAX;
		k = count_bits(r->bits[word]);
		if (word % GROUP == 0)
			r->in_words[word / GROUP] = r->in_group[word / GROUP] =
			    0;
		if (word % (GROUP * BLOCK) == 0)
			r->in_block[word / GROUP / BLOCK] = 0;
		r->in_words[word / GROUP] |= (uint64_t)k << word % GROUP * 8;
		r->in_group[word / GROUP] = (uint16_t)(k +
		    r->in_group[word / GROUP]);
		r->in_block[word / GROUP / BLOCK] += k;
	}
}

/* The places in use move to the front of the line, in their order. */
static void
compact(struct cl_recency *r)
{
	uint32_t word, place, to = 1;
	uint64_t bits;

	for (word = 0; word <= r->end / WORD; word++)
		for (bits = r->bits[word]; bits != 0; bits &= bits - 1) {
			place = word * WORD +
			    (uint32_t)__builtin_ctzll(bits);
			r->key[to] = r->key[place];
			r->place[r->key[to]] = to;
			to++;
		}
	count_anew(r, to - 1);
	r->next = to;
}

static inline void
use(struct cl_recency *r, uint32_t key)
{

	if (r->time != NULL) {
		if (r->now == INT16_MAX)
			restart_times(r);
		r->time[key] = ++r->now;
		return;
	}
	if (r->next == r->end)
		compact(r);
	if (r->place[key] != 0)
		count_place(r, r->place[key], -1);
	r->place[key] = r->next;
	r->key[r->next] = key;
	count_place(r, r->next++, 1);
}

void
cl_recency_use(struct cl_recency *r, uint32_t key)
{

	use(r, key);
}

void
cl_recency_event(struct cl_recency *r, const uint32_t *keys, uint32_t n,
    uint32_t base, uint32_t *rank)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		rank[i] = rank_of(r, keys[i] - base);
	for (i = 0; i < n; i++)
		use(r, keys[i] - base);
}

uint32_t
cl_recency_top(const struct cl_recency *r, uint32_t *keys, uint32_t n)
{
	uint32_t place, found = 0, key, rank;

	for (key = 0; r->time != NULL && key < r->nkeys; key++)
		if ((rank = rank_of(r, key)) > 0 && rank <= n) {
			keys[rank - 1] = key;
			found++;
		}
	if (r->time != NULL)
		return (found);
	for (place = r->next; place-- > 1 && found < n;)
		if (r->bits[place / WORD] >> place % WORD & 1)
			keys[found++] = r->key[place];
	return (found);
}

void
cl_recency_free(struct cl_recency *r)
{

	if (r == NULL)
		return;
	free(r->time);
	free(r->rank);
	free(r->place);
	free(r->key);
	free(r->bits);
	free(r->in_words);
	free(r->in_group);
	free(r->in_block);
	free(r);
}
