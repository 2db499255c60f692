/*
 * Fuzz target: any bytes as a stat stream, as they are and with the checksums
 * of their records made right, through all reports, listings and a comparison.
 * With clang: -fsanitize=fuzzer,address,undefined, without replay.c.
 */

#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/compare.h"
#include "cl/crc.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/listing.h"
#include "cl/rec.h"
#include "cl/render.h"
#include "cl/run.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "../unit/memio.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct cl_stats_reader *
reader(const uint8_t *p, size_t n, struct cl_err *err)
{

	return (cl_stats_reader_new(mem_src(p, n, SIZE_MAX), err));
}

/* Every run in one form; 1 where all of the input was sound. */
static int
report(const uint8_t *p, size_t n, unsigned form)
{
	struct cl_render_options options = { .all = form == 0 };
	struct cl_err err = { 0 };
	struct cl_stats_reader *r = reader(p, n, &err);
	struct cl_buf text = { 0 };
	struct cl_dst *dst = mem_dst(&text);
	struct cl_render *render;
	struct cl_run run;
	int status;

	assert(r != NULL);
	render = cl_render_new(form, dst, &options, &err);
	assert(render != NULL);
	do {
		status = cl_run_next(r, &run, &err);
		assert(status != CL_OK || (run.begun && run.whole));
		assert(status == CL_OK || !run.whole);
		if (run.begun)
			assert(cl_render_run(render, &run, NULL) == CL_OK);
		cl_run_free(&run);
	} while (status == CL_OK);
	assert((status == CL_END) == (err.code == CL_OK));
	assert(strchr(err.msg, '\n') == NULL);
	assert(cl_render_end(render, NULL) == CL_OK);
	cl_render_free(render);
	assert(cl_dst_finish(dst, NULL) == CL_OK && !text.bad);
	cl_dst_free(dst);
	cl_buf_free(&text);
	cl_stats_reader_free(r);
	return (status == CL_END);
}

/* The log of every run; a listing may refuse what a report does not. */
static void
list(const uint8_t *p, size_t n, bool json)
{
	struct cl_err err = { 0 };
	struct cl_stats_reader *r = reader(p, n, &err);
	struct cl_buf text = { 0 };
	struct cl_dst *dst = mem_dst(&text);
	struct cl_listing *l = cl_listing_new(json, dst, &err);
	struct cl_stats_end end;
	int status;

	assert(r != NULL && l != NULL);
	cl_stats_reader_want(r, true);
	do
		status = cl_listing_run(l, r, &end, &err);
	while (status == CL_OK);
	assert((status == CL_END) == (err.code == CL_OK));
	cl_listing_free(l);
	assert(cl_dst_finish(dst, NULL) == CL_OK && !text.bad);
	cl_dst_free(dst);
	cl_buf_free(&text);
	cl_stats_reader_free(r);
}

/* A stream is the same as itself, run by run. */
static void
compare(const uint8_t *p, size_t n, unsigned form)
{
	struct cl_render_options options = { .all = false };
	struct cl_compare_side side[2] = { { .name = "a" }, { .name = "b" } };
	struct cl_compare_verdict v;
	struct cl_compare_pairs pairs;
	struct cl_buf text = { 0 };
	struct cl_dst *dst = mem_dst(&text);
	struct cl_compare *c;
	struct cl_stats_reader *r;
	struct cl_err err = { 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		r = reader(p, n, &err);
		assert(r != NULL);
		cl_stats_reader_want(r, true);
		assert(cl_compare_load(&side[i], r, &err) == CL_OK);
		cl_stats_reader_free(r);
	}
	assert(cl_compare_pair_up(&side[0], &side[1], &pairs, &err) == CL_OK);
	assert(pairs.n == side[0].n);
	assert(pairs.nonly_a == 0 && pairs.nonly_b == 0);
	c = cl_compare_new(form, dst, &options, &side[0], &side[1], &pairs,
	    &err);
	assert(c != NULL);
	for (i = 0; i < pairs.n; i++) {
		assert(pairs.pair[i].a == &side[0].run[i]);
		assert(pairs.pair[i].b == &side[1].run[i]);
		assert(cl_compare_check(&pairs.pair[i], &err) == CL_OK);
		cl_compare_judge(&pairs.pair[i], &v);
		assert(v.same && !v.parted && v.windows);
		assert(cl_compare_pair(c, &pairs.pair[i], NULL, &err) ==
		    CL_OK);
	}
	assert(cl_compare_end(c, &err) == CL_OK);
	cl_compare_free(c);
	cl_compare_pairs_free(&pairs);
	cl_compare_side_free(&side[0]);
	cl_compare_side_free(&side[1]);
	assert(cl_dst_finish(dst, NULL) == CL_OK && !text.bad);
	cl_dst_free(dst);
	cl_buf_free(&text);
}

static void
look_at(const uint8_t *p, size_t n)
{
	unsigned form;

	list(p, n, false);
	list(p, n, true);
	for (form = 0; cl_render_forms[form] != NULL; form++)
		if (report(p, n, form))
			compare(p, n, form);
}

/* Make the checksum of every record that is there right. */
static void
mend(uint8_t *p, size_t n)
{
	uint32_t len, sum;
	size_t i = 8, k;

	while (i <= n && n - i >= CL_REC_HEAD) {
		if (memcmp(p + i, "CLS\x1a", 4) == 0) {
			i += 8;
			continue;
		}
		for (len = 0, k = 0; k < 4; k++)
			len |= (uint32_t)p[i + 4 + k] << (8 * k);
		if (len > n - i - CL_REC_HEAD)
			return;
		sum = cl_crc_add(cl_crc_add(0, p + i, 8), p + i + CL_REC_HEAD,
		    len);
		for (k = 0; k < 4; k++)
			p[i + 8 + k] = (uint8_t)(sum >> (8 * k));
		i += CL_REC_HEAD + (size_t)len;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t *copy = calloc(1, n + 1);

	assert(copy != NULL);
	if (n > 0)
		memcpy(copy, p, n);
	look_at(copy, n);
	mend(copy, n);
	look_at(copy, n);
	free(copy);
	return (0);
}
