/*
 * Fuzz target: any bytes as a GGUF file, up to the description of the model
 * that they make.  What is accepted must keep the promises of its headers.
 * With clang: -fsanitize=fuzzer,address,undefined, without replay.c.
 */

#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/geometry.h"
#include "cl/gguf.h"
#include "cl/model.h"
#include "../unit/memio.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
look_at_file(const char *path, size_t size)
{
	struct cl_err err = { 0 };
	struct cl_gguf *g = cl_gguf_open(path, &err);
	const struct cl_gguf_tensor *t;
	size_t i;

	assert((g == NULL) == (err.code != CL_OK));
	assert(strchr(err.msg, '\n') == NULL);
	if (g == NULL)
		return;
	assert(cl_gguf_size(g) == size && cl_gguf_data(g) <= size);
	for (i = 0; i < cl_gguf_ntensors(g); i++) {
		t = cl_gguf_tensor(g, i);
		assert(t->off <= size && t->nbytes <= size - t->off);
		assert(cl_gguf_find(g, t->name) == t);
	}
	cl_gguf_close(g);
}

static void
look_at_model(const char *path)
{
	struct cl_err err = { 0 };
	struct cl_model *m = cl_model_open(path, &err);
	struct cl_buf text = { 0 };
	struct cl_dst *d;

	assert((m == NULL) == (err.code != CL_OK));
	assert(strchr(err.msg, '\n') == NULL);
	if (m == NULL)
		return;
	assert(m->fingerprint != 0 && cl_model_check(m, &err) == CL_OK);
	d = mem_dst(&text);
	cl_geometry_text(m, d);
	cl_geometry_json(m, d);
	assert(cl_dst_finish(d, &err) == CL_OK && !text.bad);
	cl_dst_free(d);
	cl_buf_free(&text);
	cl_model_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char path[] = "/tmp/cl-fuzz-gguf.XXXXXX";
	int fd = mkstemp(path);

	assert(fd != -1);
	assert(write(fd, p, n) == (ssize_t)n);
	(void)close(fd);
	look_at_file(path, n);
	look_at_model(path);
	(void)unlink(path);
	return (0);
}
