#ifndef TRACE_TRY_H
#define TRACE_TRY_H

/*
 * What the fuzz targets of traces and of their text share: what must hold of
 * any text that loads.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/export_tsv.h"
#include "cl/import_tsv.h"
#include "cl/src.h"
#include "cl/trace_read.h"
#include "../unit/memio.h"

/* A failure is one line and has a code; success has none. */
static inline int
try_status(int status, const struct cl_err *err)
{

	assert((status < 0) == (err->code < 0));
	assert(strchr(err->msg, '\n') == NULL);
	return (status);
}

/* Traces to text. */
static inline int
try_dump(const uint8_t *p, size_t n, struct cl_buf *text)
{
	struct cl_err err = { 0 };
	struct cl_trace_reader *r;
	struct cl_dst *dst = mem_dst(text);
	int status;

	r = cl_trace_reader_new(mem_src(p, n, SIZE_MAX), 0, &err);
	assert(r != NULL);
	status = try_status(cl_export_tsv(r, dst, &err), &err);
	cl_trace_reader_free(r);
	cl_dst_free(dst);
	return (status);
}

/* Text to traces. */
static inline int
try_load(const uint8_t *p, size_t n, struct cl_buf *traces)
{
	static const struct cl_import_tsv opts;
	struct cl_err err = { 0 };
	struct cl_src *src = mem_src(p, n, SIZE_MAX);
	struct cl_dst *dst = mem_dst(traces);
	int status;

	status = try_status(cl_import_tsv(src, &opts, dst, &err), &err);
	cl_src_close(src);
	if (status == CL_OK)
		assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
	return (status);
}

/* What loads can be dumped, and its dump is loaded and dumped as it was. */
static inline void
try_text(const uint8_t *p, size_t n)
{
	struct cl_buf traces, text, again, twice;

	cl_buf_init(&traces);
	cl_buf_init(&text);
	cl_buf_init(&again);
	cl_buf_init(&twice);
	if (try_load(p, n, &traces) == CL_OK) {
		assert(try_dump(traces.p, traces.n, &text) == CL_OK);
		assert(try_load(text.p, text.n, &again) == CL_OK);
		assert(try_dump(again.p, again.n, &twice) == CL_OK);
		assert(text.n == twice.n &&
		    memcmp(text.p, twice.p, text.n) == 0);
	}
	cl_buf_free(&traces);
	cl_buf_free(&text);
	cl_buf_free(&again);
	cl_buf_free(&twice);
}

#endif /* TRACE_TRY_H */
