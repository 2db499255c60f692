#ifndef TRACE_HEAD_H
#define TRACE_HEAD_H

/*
 * A kind of trace like any other, and what comes of its head, for tests.
 */

#include <stdio.h>

#include "cl/err.h"
#include "trace_make.h"

static const struct make any = { .seed = 7, .scores = CL_SCORES_F32,
    .tokens = true, .weights = true, .forecast = true, .block_tokens = 5,
    .ntokens = 23 };

/* A writer for this head, or the reason why not. */
static inline void
head_gives(struct cl_trace_head *h, int code, const char *why)
{
	struct cl_trace_writer *w;
	struct cl_err err = { 0 };
	struct cl_buf b;
	struct cl_dst *dst;

	cl_buf_init(&b);
	dst = mem_dst(&b);
	w = cl_trace_writer_new(dst, h, &err);
	if (err.code != code || strstr(err.msg, why) == NULL)
		fprintf(stderr, "# %d %s\n", err.code, err.msg);
	assert(err.code == code && (w == NULL) == (code != CL_OK));
	assert(strstr(err.msg, why) != NULL);
	cl_trace_writer_free(w);
	cl_dst_free(dst);
	cl_buf_free(&b);
}

#endif /* TRACE_HEAD_H */
