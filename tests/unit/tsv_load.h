#ifndef TSV_LOAD_H
#define TSV_LOAD_H

/*
 * Text from traces and traces from text, for tests.
 */

#include <stdio.h>

#include "cl/export_tsv.h"
#include "cl/import_tsv.h"
#include "trace_make.h"

static inline int
dump(const void *p, size_t n, struct cl_buf *text, struct cl_err *err)
{
	struct cl_trace_reader *r;
	struct cl_dst *dst = mem_dst(text);
	int status;

	r = cl_trace_reader_new(mem_src(p, n, 4096), 0, err);
	assert(r != NULL);
	status = cl_export_tsv(r, dst, err);
	cl_trace_reader_free(r);
	assert(cl_dst_finish(dst, NULL) == CL_OK);
	cl_dst_free(dst);
	assert(!text->bad);
	return (status);
}

static inline int
load(const void *p, size_t n, size_t step, const struct cl_import_tsv *opts,
    struct cl_buf *out, struct cl_err *err)
{
	static const struct cl_import_tsv none;
	struct cl_src *src = mem_src(p, n, step);
	struct cl_dst *dst = mem_dst(out);
	int status;

	status = cl_import_tsv(src, opts == NULL ? &none : opts, dst, err);
	cl_src_close(src);
	(void)cl_dst_flush(dst, NULL);
	cl_dst_free(dst);
	return (status);
}

/* The first record of a stream, a head, for the tests to look at. */
static inline struct cl_trace_reader *
open_head(const struct cl_buf *b, const struct cl_trace_head **h)
{
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;

	r = cl_trace_reader_new(mem_src(b->p, b->n, 999), 0, NULL);
	assert(r != NULL);
	assert(cl_trace_read(r, &rec, NULL) == CL_OK);
	*h = rec->head;
	return (r);
}

/* Loading text fails as told, and leaves nothing that reads as whole. */
static inline void
refused(const char *text, size_t n, const struct cl_import_tsv *opts,
    int code, const char *why)
{
	struct cl_err err = { 0 }, ignored = { 0 };
	struct cl_buf out;
	uint64_t tokens, traces;

	cl_buf_init(&out);
	if (load(text, n, 50, opts, &out, &err) != code ||
	    strstr(err.msg, why) == NULL) {
		fprintf(stderr, "# got %d \"%s\" for \"%s\"\n", err.code,
		    err.msg, why);
		assert(false);
	}
	if (out.n > 0)
		assert(read_all(out.p, out.n, 999, 0, &tokens, &traces,
		    &ignored) < 0);
	cl_buf_free(&out);
}

#endif /* TSV_LOAD_H */
