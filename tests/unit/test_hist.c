/*
 * stats/: histograms against a sorted list of the same values.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hist.h"
#include "cl/rng.h"
#include "cl/stats_write.h"
#include "memio.h"
#include "stats_say.h"
#include "unit.h"

static struct cl_hist h, other;		/* too large for a stack */

static void
buckets_meet_and_are_narrow(void)
{
	uint64_t low, high, next = 0;
	unsigned i;

	for (i = 0; i < CL_HIST_BUCKETS; i++) {
		cl_hist_bounds(i, &low, &high);
		assert(low == next && high >= low);
		assert(high - low <= low / 32);
		memset(&h, 0, sizeof(h));
		cl_hist_add(&h, low);
		cl_hist_add(&h, high);
		assert(h.count[i] == 2);
		next = high + 1;
	}
	assert(next == 0);			/* all values have one */
}

static int
by_value(const void *a, const void *b)
{
	uint64_t va = *(const uint64_t *)a, vb = *(const uint64_t *)b;

	return (va < vb ? -1 : va > vb);
}

/* Values of all sizes, as times of reads are not. */
static uint64_t
draw(uint64_t i)
{
	uint64_t r = cl_rng_mix(i);

	return (cl_rng_mix(~r) >> r % 64);
}

static void
quantiles_are_within_their_bound(void)
{
	enum { N = 1001 };
	static const unsigned part[] = { 1, 250, 500, 900, 990, 999, 1000 };
	static uint64_t v[N];
	uint64_t got, want;
	size_t i;

	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	for (i = 0; i < N; i++) {
		v[i] = draw(i);
		cl_hist_add(i % 3 == 0 ? &other : &h, v[i]);
	}
	cl_hist_merge(&h, &other);
	qsort(v, N, sizeof(*v), by_value);
	assert(h.n == N && h.min == v[0] && h.max == v[N - 1]);
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		want = v[(N * part[i] + 999) / 1000 - 1];
		got = cl_hist_quantile(&h, part[i], 1000);
		assert(got >= want && got - want <= want / 32);
	}
	assert(cl_hist_quantile(&h, 1, 1) == v[N - 1]);
}

static void
nothing_has_no_quantiles(void)
{

	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	assert(cl_hist_quantile(&h, 1, 2) == 0);
	cl_hist_add(&h, 7);
	cl_hist_merge(&h, &other);
	assert(h.n == 1 && h.min == 7 && h.max == 7);
	cl_hist_merge(&other, &h);
	assert(other.n == 1 && other.min == 7 && other.max == 7);
	assert(cl_hist_quantile(&other, 1, 1000) == 7);
	cl_hist_add(&h, UINT64_MAX);
	assert(cl_hist_quantile(&h, 1, 1) == UINT64_MAX);
}

static void
both_queues_are_written(void)
{
	struct cl_stats_conds conds = { 0 };
	struct cl_stats_end end = { 1, 0, 0, 0 };
	struct cl_stats_writer *w;
	struct cl_err err = { 0 };
	struct text t = { 0 };
	struct cl_buf buf;
	struct cl_dst *dst;

	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	cl_hist_add(&h, 1001);
	cl_hist_add(&h, 1000);
	cl_hist_add(&h, 5);
	cl_hist_add(&other, 2005);
	cl_buf_init(&buf);
	dst = mem_dst(&buf);
	w = cl_stats_writer_new(dst, &conds, &err);
	assert(write_nothing(w, &err) == CL_OK);
	assert(cl_hist_write(w, &h, &other, &err) == CL_OK);
	assert(cl_stats_writer_finish(w, &end, &err) == CL_OK);
	cl_stats_writer_free(w);
	assert(cl_dst_finish(dst, &err) == CL_OK);
	cl_dst_free(dst);
	assert(ours(buf.p, buf.n, 4096, &t, &err) == CL_END);
	assert(strstr(t.s, "5:read_latency 2 2 queue=1 low_ns=1 high_ns=1 "
	    "count=1\n6: 0 5 5 1\n6: 0 992 1001 2\n6: 1 2005 2005 1\n4:") !=
	    NULL);
	free(t.s);
	cl_buf_free(&buf);
}

static const struct unit units[] = {
	{ "buckets meet, cover all values, and are 1/32 wide at most",
	    buckets_meet_and_are_narrow },
	{ "quantiles, merged ones too, are within 1/32 of a sorted list's",
	    quantiles_are_within_their_bound },
	{ "no values have no quantiles, one has its own",
	    nothing_has_no_quantiles },
	{ "both queues are written as one table", both_queues_are_written },
};

UNIT_MAIN(units)
