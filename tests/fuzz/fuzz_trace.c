/*
 * Any bytes as a trace: as they are, and as what a zstd stream would hold,
 * with the checksums of their records made right, so that what lies behind
 * them is reached.
 */

#include "cl/crc.h"
#include "cl/cur.h"
#include "cl/zio.h"
#include "trace_try.h"

#define PREAMBLE	8
#define RECORD		12		/* bytes before a payload */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Checksums of all records that are whole. */
static void
seal(uint8_t *p, size_t n)
{
	struct cl_cur c;
	uint32_t len, sum;
	size_t at;
	unsigned i;

	for (at = PREAMBLE; at + RECORD <= n; at += RECORD + len) {
		cl_cur_init(&c, p + at + 4, 4);
		len = cl_cur_u32(&c);
		if (len > n - at - RECORD)
			return;
		sum = cl_crc_add(0, p + at, 8);
		sum = cl_crc_add(sum, p + at + RECORD, len);
		for (i = 0; i < 4; i++)
			p[at + 8 + i] = (uint8_t)(sum >> 8 * i);
	}
}

static void
zip(const uint8_t *p, size_t n, struct cl_buf *out)
{
	struct cl_dst *dst = mem_dst(out), *zio;

	zio = cl_zio_writer(dst, 1, NULL);
	assert(zio != NULL);
	cl_dst_write(zio, p, n);
	assert(cl_dst_finish(zio, NULL) == CL_OK);
	cl_dst_free(zio);
	cl_dst_free(dst);
}

static void
skim(const uint8_t *p, size_t n)
{
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_err err = { 0 };
	int status;

	r = cl_trace_reader_new(mem_src(p, n, SIZE_MAX), CL_TRACE_SKIM, &err);
	assert(r != NULL);
	do
		status = cl_trace_read(r, &rec, &err);
	while (status == CL_OK);
	(void)try_status(status, &err);
	cl_trace_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t *sealed = malloc(n + 1);
	struct cl_buf traces, text;

	assert(sealed != NULL);
	cl_buf_init(&traces);
	cl_buf_init(&text);
	skim(p, n);
	memcpy(sealed, p, n);
	seal(sealed, n);
	zip(sealed, n, &traces);
	skim(traces.p, traces.n);
	if (try_dump(traces.p, traces.n, &text) == CL_OK)
		try_text(text.p, text.n);
	free(sealed);
	cl_buf_free(&traces);
	cl_buf_free(&text);
	return (0);
}
