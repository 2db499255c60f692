/*
 * Logarithmic buckets, found by the highest bit of a value and CL_HIST_BITS
 * bits behind it.  Up to 2^(CL_HIST_BITS + 1) a bucket is one value wide, so
 * that the first two powers need no case of their own but the shift of 0.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "cl/err.h"
#include "cl/hist.h"
#include "cl/stats_write.h"

#define SUB	(1u << CL_HIST_BITS)

/* The number of the highest bit of v, which is not 0. */
static unsigned
highest_bit(uint64_t v)
{
	unsigned n = 0, step;

	for (step = 32; step > 0; step /= 2)
		if (v >> step != 0) {
			v >>= step;
			n += step;
		}
	return (n);
}

static unsigned
bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < SUB)
		return ((unsigned)v);
	shift = highest_bit(v) - CL_HIST_BITS;
	return (shift * SUB + (unsigned)(v >> shift));
}

void
cl_hist_bounds(unsigned i, uint64_t *low, uint64_t *high)
{
	unsigned shift = i < 2 * SUB ? 0 : i / SUB - 1;

	assert(i < CL_HIST_BUCKETS);
	*low = (uint64_t)(i - shift * SUB) << shift;
	*high = *low + ((UINT64_C(1) << shift) - 1);
}

void
cl_hist_add(struct cl_hist *h, uint64_t v)
{

	if (h->n++ == 0 || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count[bucket_of(v)]++;
}

void
cl_hist_merge(struct cl_hist *to, const struct cl_hist *from)
{
	size_t i;

	if (from->n == 0)
		return;
	if (to->n == 0 || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->n += from->n;
	for (i = 0; i < CL_HIST_BUCKETS; i++)
		to->count[i] += from->count[i];
}

/* The least rank, from 1, that part / whole of n values do not exceed. */
static uint64_t
rank_of(uint64_t n, unsigned part, unsigned whole)
{
	uint64_t rest = n % whole * part;

	return (n / whole * part + rest / whole + (rest % whole != 0));
}

uint64_t
cl_hist_quantile(const struct cl_hist *h, unsigned part, unsigned whole)
{
	uint64_t rank, low, high;
	unsigned i;

	assert(part > 0 && part <= whole);
	if (h->n == 0)
		return (0);
	rank = rank_of(h->n, part, whole);
	for (i = 0; h->count[i] < rank; i++)
		rank -= h->count[i];
	cl_hist_bounds(i, &low, &high);
	return (high < h->max ? high : h->max);
}

static void
add_rows(struct cl_stats_table *t, uint64_t queue, const struct cl_hist *h)
{
	uint64_t low, high;
	unsigned i;

	for (i = 0; i < CL_HIST_BUCKETS; i++) {
		if (h->count[i] == 0)
			continue;
		cl_hist_bounds(i, &low, &high);
		cl_stats_table_u64(t, queue);
		cl_stats_table_u64(t, low < h->min ? h->min : low);
		cl_stats_table_u64(t, high > h->max ? h->max : high);
		cl_stats_table_u64(t, h->count[i]);
	}
}

int
cl_hist_write(struct cl_stats_writer *w, const struct cl_hist *demand,
    const struct cl_hist *prefetch, struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "queue" }, { CL_STATS_U64, "low_ns" },
		{ CL_STATS_U64, "high_ns" }, { CL_STATS_U64, "count" }
	};
	struct cl_stats_table t = { .name = "read_latency",
	    .kind = CL_STATS_MEASURED, .nkeys = 2, .ncolumns = 4,
	    .column = columns };
	int status;

	add_rows(&t, 0, demand);
	add_rows(&t, 1, prefetch);
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}
