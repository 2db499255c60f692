#ifndef GGUF_OPEN_H
#define GGUF_OPEN_H

/*
 * GGUF files for tests, opened from a temporary file that is gone at once, and
 * the error that came of it.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/gguf.h"
#include "../gen/gguf_out.h"
#include "unit.h"

static struct cl_err err;

static inline const char *
temp_path(char path[64])
{
	int fd;

	(void)snprintf(path, 64, "/tmp/cl-test-gguf.XXXXXX");
	fd = mkstemp(path);
	assert(fd != -1);
	(void)close(fd);
	return (path);
}

static inline struct cl_gguf *
open_bytes(const void *p, size_t n)
{
	struct cl_gguf *g;
	char path[64];
	int fd;

	fd = open(temp_path(path), O_WRONLY);
	assert(fd != -1 && write(fd, p, n) == (ssize_t)n);
	(void)close(fd);
	memset(&err, 0, sizeof(err));
	g = cl_gguf_open(path, &err);
	(void)unlink(path);
	assert((g == NULL) == (err.code != CL_OK));
	assert(g != NULL || strncmp(err.msg, path, strlen(path)) == 0);
	assert(strchr(err.msg, '\n') == NULL);
	return (g);
}

static inline struct cl_gguf *
open_out(struct gout *o)
{
	struct cl_gguf *g;
	char path[64];

	(void)gout_write(o, temp_path(path));
	memset(&err, 0, sizeof(err));
	g = cl_gguf_open(path, &err);
	(void)unlink(path);
	gout_free(o);
	return (g);
}

static inline void
refused(const struct cl_gguf *g, int code, const char *words)
{

	assert(g == NULL);
	if (err.code != code || strstr(err.msg, words) == NULL)
		fprintf(stderr, "code %d: %s\nwanted %d: %s\n", err.code,
		    err.msg, code, words);
	assert(err.code == code && strstr(err.msg, words) != NULL);
}

static inline void
accepted(struct cl_gguf *g)
{

	if (g == NULL)
		fprintf(stderr, "%s\n", err.msg);
	assert(g != NULL);
	cl_gguf_close(g);
}

/* The fixed part of a head, as version 3. */
static inline void
put_start(struct cl_buf *b, uint64_t ntensors, uint64_t nkeys)
{

	cl_buf_init(b);
	cl_buf_bytes(b, "GGUF", 4);
	cl_buf_u32(b, 3);
	cl_buf_u64(b, ntensors);
	cl_buf_u64(b, nkeys);
}

static inline struct cl_gguf *
open_buf(struct cl_buf *b)
{
	struct cl_gguf *g = open_bytes(b->p, b->n);

	cl_buf_free(b);
	return (g);
}

static inline void
put_sample(struct gout *o)
{
	static const uint32_t per_layer[] = { 3, 5, 7 };

	gout_init(o);
	gout_str(o, "general.architecture", "m");
	gout_u32(o, "m.four", 4);
	gout_key(o, "m.wide", GOUT_U64);
	gout_put(o, &o->kv, UINT64_C(1) << 32, 8);
	gout_key(o, "m.minus", GOUT_I32);
	gout_put(o, &o->kv, UINT32_MAX, 4);
	gout_key(o, "m.short", GOUT_U16);
	gout_put(o, &o->kv, 65535, 2);
	gout_f32(o, "m.half", 0.5f);
	gout_key(o, "m.double", 12);
	gout_put(o, &o->kv, UINT64_C(0x3fe8000000000000), 8);
	gout_key(o, "m.nul", GOUT_STR);
	gout_put_str(o, &o->kv, "a\0b", 3);
	gout_bool(o, "m.yes", true);
	gout_arr_u32(o, "m.layers", GOUT_U32, per_layer, 3);
	gout_arr_u32(o, "m.signed", GOUT_I32, per_layer, 3);
	gout_arr(o, "m.minuses", GOUT_I32, 1);
	gout_put(o, &o->kv, UINT32_MAX, 4);
	gout_arr(o, "m.words", GOUT_STR, 1);
	gout_put_str(o, &o->kv, "w", 1);
	(void)gout_tensor(o, "b", GOUT_T_Q8_0, 2, 64, 3, 1);
	(void)gout_tensor(o, "a", GOUT_T_F32, 1, 7, 1, 1);
}

#endif /* GGUF_OPEN_H */
