/*
 * Fuzz target: any bytes as a GGUF file, up to the description of the model
 * that they make.  What is accepted must keep the promises of its headers.
 * Bytes that hold the magic more than once are as many shards of a model,
 * called as such.
 * With clang: -fsanitize=fuzzer,address,undefined, without replay.c.
 */

#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
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

#define SHARDS_MAX	4
#define PATH_BYTES	64

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

/* Bytes before the next file of those that follow one another at p. */
static size_t
file_size(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 4; i + 4 <= n; i++)
		if (memcmp(p + i, "GGUF", 4) == 0)
			return (i);
	return (n);
}

static const char *
shard_path(char buf[PATH_BYTES], const char *dir, unsigned no, unsigned count)
{

	(void)snprintf(buf, PATH_BYTES, "%s/f-%05u-of-%05u.gguf", dir, no,
	    count);
	return (buf);
}

static void
write_file(const char *path, const uint8_t *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert(fd != -1);
	assert(write(fd, p, n) == (ssize_t)n);
	(void)close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char dir[] = "/tmp/cl-fuzz-gguf.XXXXXX", path[PATH_BYTES];
	size_t at[SHARDS_MAX + 1] = { 0 };
	unsigned count, i;

	for (count = 0; count == 0 ||
	    (count < SHARDS_MAX && at[count] < n); count++)
		at[count + 1] = at[count] + file_size(p + at[count],
		    n - at[count]);
	at[count] = n;
	assert(mkdtemp(dir) != NULL);
	for (i = 0; i < count; i++)
		write_file(shard_path(path, dir, i + 1, count), p + at[i],
		    at[i + 1] - at[i]);
	for (i = 0; i < count; i++)
		look_at_file(shard_path(path, dir, i + 1, count),
		    at[i + 1] - at[i]);
	look_at_model(shard_path(path, dir, count, count));
	for (i = 0; i < count; i++)
		(void)unlink(shard_path(path, dir, i + 1, count));
	(void)rmdir(dir);
	return (0);
}
