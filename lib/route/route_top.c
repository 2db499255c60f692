/*
 * Selection compares integers.  A float's bits, with all but the sign turned
 * over in negative numbers, order as a signed integer as the floats do; what
 * the order of floats does not settle (NaN, raw infinities) gets keys at the
 * ends.  No score is ever computed with to break a tie: equal keys go to the
 * lower place, which a scan in order of places gives for nothing.
 */

#include <math.h>
#include <string.h>

#include "route_int.h"

#define BLOCK		8		/* keys that are looked at together */
#define INSERT_MAX	64		/* above this k a heap is quicker */

static int32_t
bits_of(float f)
{
	int32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return (bits);
}

/* Has x a NaN or an infinity? */
static bool
has_odd(const float *x, uint32_t n)
{
	uint32_t i, sum = 0;

	for (i = 0; i < n; i++)		/* a full exponent carries to bit 31 */
		sum |= ((uint32_t)bits_of(x[i]) & 0x7f800000) + 0x00800000;
	return (sum >> 31 != 0);
}

void
cl_route_keys(const float *s, const float *x, uint32_t n, int32_t *key)
{
	int32_t bits;
	uint32_t i;

	for (i = 0; i < n; i++) {
		bits = bits_of(s[i] + 0.0f);	/* -0 becomes 0 */
		key[i] = bits ^ (bits >> 31 & INT32_MAX);
	}
	if (!has_odd(x, n) && (s == x || !has_odd(s, n)))
		return;
	for (i = 0; i < n; i++)
		if (isnan(x[i]) || (isnan(s[i]) && !isinf(x[i])))
			key[i] = CL_ROUTE_NAN;
		else if (isinf(x[i]))
			key[i] = x[i] > 0 ? CL_ROUTE_FIRST : CL_ROUTE_MINUS;
}

/* Key and place in one word: greater is better. */
static inline uint64_t
entry_of(int32_t key, uint32_t place)
{

	return ((uint64_t)((uint32_t)key ^ UINT32_C(0x80000000)) << 32 |
	    (UINT32_MAX - place));
}

static inline int32_t
key_of(uint64_t entry)
{

	return ((int32_t)((int64_t)(entry >> 32) + INT32_MIN));
}

static inline uint16_t
place_of(uint64_t entry)
{

	return ((uint16_t)(UINT32_MAX - (uint32_t)entry));
}

/* Put an entry in its place among the k best, whose last falls out. */
static inline int32_t
insert(uint64_t *best, uint32_t k, uint64_t entry)
{
	uint32_t j;

	for (j = k - 1; j > 0 && best[j - 1] < entry; j--)
		best[j] = best[j - 1];
	best[j] = entry;
	return (key_of(best[k - 1]));
}

/* Is one of a block's keys above the floor? */
static inline bool
any_above(const int32_t *key, int32_t floor)
{
	int32_t any = 0;
	int j;

	for (j = 0; j < BLOCK; j++)
		any |= key[j] > floor ? -1 : 0;
	return (any != 0);
}

static void
top_by_insertion(uint64_t *best, const int32_t *key, uint32_t n, uint32_t k)
{
	int32_t floor = CL_ROUTE_NEVER;
	uint32_t end, i;

	memset(best, 0, k * sizeof(*best));
	for (i = 0; i < n; i = end) {
		end = n - i < BLOCK ? n : i + BLOCK;
		if (end - i == BLOCK && !any_above(key + i, floor))
			continue;
		for (; i < end; i++)
			if (key[i] > floor)
				floor = insert(best, k, entry_of(key[i], i));
	}
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
top_by_heap(uint64_t *heap, const int32_t *key, uint32_t n, uint32_t k,
    uint16_t *places)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < n; i++)
		heap[i] = entry_of(key[i], (uint32_t)i);
	for (i = n / 2; i-- > 0; )
		sink(heap, i, n);
	for (j = 0, i = n; j < k; j++) {
		places[j] = place_of(heap[0]);
		heap[0] = heap[--i];
		sink(heap, 0, i);
	}
}

void
cl_route_top(const int32_t *key, uint32_t n, uint32_t k, uint16_t *places,
    uint64_t *scratch)
{
	uint32_t j;

	if (k > INSERT_MAX) {
		top_by_heap(scratch, key, n, k, places);
		return;
	}
	top_by_insertion(scratch, key, n, k);
	for (j = 0; j < k; j++)
		places[j] = place_of(scratch[j]);
}
