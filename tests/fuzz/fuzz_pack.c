/*
 * Fuzz target: any bytes as an archive, from a pipe and from a file, each
 * member read to its end.
 * With clang: -fsanitize=fuzzer,address,undefined, without replay.c.
 */

#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "../unit/memio.h"

#define MEMBER_MAX	(64u << 20)	/* enough to see that it goes on */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
read_member(struct cl_pack *p, uint64_t nbytes)
{
	struct cl_err err = { 0 };
	struct cl_src *src = cl_pack_read(p, &err);
	const uint8_t *b;
	size_t n = 0;
	int status = CL_OK;

	assert(src != NULL && strchr(cl_src_name(src), '\n') == NULL);
	while (cl_src_off(src) < MEMBER_MAX && (status = cl_src_peek(src, 1,
	    &b, &n, &err)) == CL_OK && n > 0)
		cl_src_consume(src, n);
	if (status == CL_OK && n == 0 && nbytes != CL_PACK_UNSIZED)
		assert(cl_src_off(src) == nbytes);
	cl_src_close(src);
}

static void
read_all(struct cl_src *src)
{
	const struct cl_pack_member *m;
	struct cl_err err = { 0 };
	struct cl_pack *p = cl_pack_open(src, &err);
	int status;

	if (p == NULL) {
		assert(err.code < 0 && strchr(err.msg, '\n') == NULL);
		return;
	}
	while ((status = cl_pack_next(p, &m, &err)) == CL_OK) {
		assert(m->name[0] != '\0');
		if (m->other == NULL)
			read_member(p, m->nbytes);
	}
	assert((status == CL_END) == (err.code == CL_OK));
	assert(strchr(err.msg, '\n') == NULL);
	cl_pack_close(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static FILE *f;

	read_all(mem_src(p, n, SIZE_MAX));
	read_all(mem_src(p, n, 100));
	if (f == NULL)
		f = tmpfile();
	assert(f != NULL && ftruncate(fileno(f), 0) == 0);
	assert(pwrite(fileno(f), p, n, 0) == (ssize_t)n);
	assert(lseek(fileno(f), 0, SEEK_SET) == 0);
	read_all(cl_src_fd(fileno(f), "file", NULL, NULL));
	return (0);
}
