/*
 * Selection compares integers.  A float's magnitude, negated for a negative
 * one, orders as the floats do, and makes -0 equal 0; what the order of floats
 * does not settle (NaN, raw infinities) gets keys at the ends.  No score is
 * ever computed with to break a tie: equal keys go to the lower place.
 *
 * Branches on random keys are what selection costs, so there are none: the keys
 * are dealt into at least k columns, and the k-th of the columns' greatest keys
 * is a bound that at least k keys reach; the few that do are ranked.  Ranking
 * is counting, for each, the greater ones.  Where too many are left, or k is
 * large, a heap takes over.
 */

#include <math.h>
#include <string.h>

#include "route_int.h"

#define ROW		CL_ROUTE_PAD	/* keys that go to as many columns */
#define RANKED_MAX	64		/* above this a heap is quicker */
#define COLUMNS_MAX	(2 * RANKED_MAX + ROW)
#define EMPTY		UINT16_MAX	/* no place: experts are fewer */

static inline quad
load(const void *p)
{
	quad q;

	memcpy(&q, p, sizeof(q));
	return (q);
}

/* Which are infinite or NaN: all bits of the exponent are set. */
static inline quad
odd_bits(quad bits)
{

	return ((bits & 0x7f800000) == 0x7f800000);
}

static inline bool
any_odd(quad odd)
{

	return ((odd[0] | odd[1] | odd[2] | odd[3]) < 0);
}

static inline quad
key_of(quad bits)
{
	quad sign = bits >> 31;

	return (((bits & INT32_MAX) ^ sign) - sign);
}

/* Has x a NaN or an infinity? */
static bool
has_odd(const float *x, uint32_t n)
{
	float tail[4] = { 0 };
	quad odd = { 0 };
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4)
		odd |= odd_bits(load(x + i));
	memcpy(tail, x + i, (n - i) * sizeof(*x));
	return (any_odd(odd | odd_bits(load(tail))));
}

void
cl_route_keys(const float *s, const float *x, uint32_t n, int32_t *key)
{
	float tail[4] = { 0 };
	quad bits, keys, odd = { 0 };
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		bits = load(s + i);
		odd |= odd_bits(bits);
		keys = key_of(bits);
		memcpy(key + i, &keys, sizeof(keys));
	}
	memcpy(tail, s + i, (n - i) * sizeof(*s));
	bits = load(tail);
	odd |= odd_bits(bits);
	keys = key_of(bits);
	memcpy(key + i, &keys, (n - i) * sizeof(*key));
	for (i = n; i % ROW != 0; i++)
		key[i] = CL_ROUTE_NEVER;
	if (!any_odd(odd) && (s == x || !has_odd(x, n)))
		return;
	for (i = 0; i < n; i++)
		if (isinf(x[i]))
			key[i] = x[i] > 0 ? CL_ROUTE_FIRST : CL_ROUTE_MINUS;
		else if (isnan(s[i]))
			key[i] = CL_ROUTE_NAN;
}

static inline quad
greater(quad a, quad b)
{
	quad mask = a > b;

	return ((a & mask) | (b & ~mask));
}

/* For each of m keys, how many of them are greater. */
static void
count_greater(const int32_t *key, uint32_t m, int32_t *above)
{
	quad count, mine;
	uint32_t i, j;

	for (i = 0; i < m; i += 4) {
		mine = load(key + i);
		count = (quad){ 0 };
		for (j = 0; j < m; j++)
			count -= key[j] > mine;
		memcpy(above + i, &count, sizeof(count));
	}
}

/* The greatest key of each of ROW columns, over nrows rows. */
static void
column_greatest(const int32_t *key, uint32_t nrows, int32_t *greatest)
{
	quad low = load(key), high = load(key + 4);
	uint32_t i;

	for (i = ROW; i < nrows * ROW; i += ROW) {
		low = greater(low, load(key + i));
		high = greater(high, load(key + i + 4));
	}
	memcpy(greatest, &low, sizeof(low));
	memcpy(greatest + 4, &high, sizeof(high));
}

/*
 * A key that at least k keys reach, and never the one of what may not be
 * chosen.  Two columns for each of the k leave few keys but those sought.
 */
static int32_t
lower_bound(const int32_t *key, uint32_t n, uint32_t k)
{
	int32_t greatest[COLUMNS_MAX], above[COLUMNS_MAX];
	int32_t bound = INT32_MAX;
	uint32_t nrows = (n + ROW - 1) / ROW;
	uint32_t parts = (2 * k + ROW - 1) / ROW, first, i, last;

	parts = parts < nrows ? parts : nrows;
	i = 0;
	do {
		first = nrows * i / parts;
		last = nrows * (i + 1) / parts;
		column_greatest(key + first * ROW, last - first,
		    greatest + i * ROW);
	} while (++i < parts);
	count_greater(greatest, parts * ROW, above);
	for (i = 0; i < parts * ROW; i++)
		if (above[i] < (int32_t)k && greatest[i] < bound)
			bound = greatest[i];
	return (bound > CL_ROUTE_NEVER ? bound : CL_ROUTE_NEVER + 1);
}

/* Place the m candidates, in order of their places, by rank. */
static void
rank(const int32_t *key, const uint16_t *candidate, uint32_t m, uint32_t k,
    uint16_t *places)
{
	int32_t mine[RANKED_MAX + 4], above[RANKED_MAX + 4];
	uint16_t ranked[RANKED_MAX];
	uint32_t i, r;

	for (i = 0; i < m; i++) {
		mine[i] = key[candidate[i]];
		ranked[i] = EMPTY;
	}
	memset(mine + m, 0, 4 * sizeof(*mine));
	count_greater(mine, m, above);
	for (i = 0; i < m; i++) {
		r = (uint32_t)above[i];
		while (ranked[r] != EMPTY)	/* an equal key, lower place */
			r++;
		ranked[r] = candidate[i];
	}
	memcpy(places, ranked, k * sizeof(*places));
}

/* Key and place in one word: greater is better. */
static inline uint64_t
entry_of(int32_t key, uint32_t place)
{

	return ((uint64_t)((uint32_t)key ^ UINT32_C(0x80000000)) << 32 |
	    (UINT32_MAX - place));
}

/* Let the entry at the root of a heap of n sink to where it belongs. */
static void
sink(uint64_t *heap, size_t root, size_t n)
{
	uint64_t entry = heap[root];
	size_t child;

	for (; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= entry)
			break;
		heap[root] = heap[child];
	}
	heap[root] = entry;
}

static void
top_by_heap(const int32_t *key, uint32_t n, uint32_t k, uint16_t *places,
    uint64_t *heap)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < n; i++)
		heap[i] = entry_of(key[i], (uint32_t)i);
	for (i = n / 2; i-- > 0; )
		sink(heap, i, n);
	for (j = 0, i = n; j < k; j++) {
		places[j] = (uint16_t)(UINT32_MAX - (uint32_t)heap[0]);
		heap[0] = heap[--i];
		sink(heap, 0, i);
	}
}

void
cl_route_top(const int32_t *key, uint32_t n, uint32_t k, uint16_t *places,
    struct cl_route_top *top)
{
	uint16_t *candidate = top->candidate;
	uint32_t i, m = 0;
	int32_t bound;

	if (k <= RANKED_MAX) {
		bound = lower_bound(key, n, k);
		for (i = 0; i < n; i++) {
			candidate[m] = (uint16_t)i;
			m += key[i] >= bound;
		}
		if (m <= RANKED_MAX) {
			rank(key, candidate, m, k, places);
			return;
		}
	}
	top_by_heap(key, n, k, places, top->heap);
}
