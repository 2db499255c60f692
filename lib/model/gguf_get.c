/*
 * Asking an open GGUF file: values of keys by bisection, arrays and weights
 * by reading them where they stand.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/num.h"
#include "cl/text.h"
#include "cl/vec.h"

#include "gguf_int.h"

#define PART	4096			/* bytes converted at a time */

const char *
cl_gguf_path(const struct cl_gguf *g)
{

	return (g->path);
}

uint64_t
cl_gguf_size(const struct cl_gguf *g)
{

	return (g->nbytes);
}

uint64_t
cl_gguf_data(const struct cl_gguf *g)
{

	return (g->data);
}

uint64_t
cl_gguf_head_hash(const struct cl_gguf *g)
{

	return (g->head_hash);
}

static int
key_match(const void *name, const void *key)
{

	return (strcmp(name, ((const struct gguf_key *)key)->name));
}

const struct gguf_key *
cl_gguf_key(const struct cl_gguf *g, const char *name)
{

	if (g->nkeys == 0)
		return (NULL);
	return (bsearch(name, g->keys, g->nkeys, sizeof(*g->keys), key_match));
}

bool
cl_gguf_has(const struct cl_gguf *g, const char *key)
{

	return (cl_gguf_key(g, key) != NULL);
}

static int
unfit(const struct gguf_key *k, const char *wanted, struct cl_err *err)
{

	return (cl_fail(err, CL_EFORMAT, "the key %s at byte %" PRIu64
	    " is not %s", k->name, k->at, wanted));
}

/* An integer of any width that fits 32 bits unsigned. */
static bool
to_u32(uint32_t type, const uint8_t *raw, uint32_t *v)
{
	unsigned size = cl_gguf_value_size(type);
	struct cl_cur c;
	uint64_t u;

	if (size == 0 || type == GGUF_F32 || type == GGUF_F64 ||
	    type == GGUF_BOOL)
		return (false);
	cl_cur_init(&c, raw, size);
	u = cl_cur_uint(&c, size);
	if ((type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 ||
	    type == GGUF_I64) && (u >> (8 * size - 1)) != 0)
		return (false);
	*v = (uint32_t)u;
	return (u <= UINT32_MAX);
}

int
cl_gguf_u32(const struct cl_gguf *g, const char *key, uint32_t dflt,
    uint32_t *v, struct cl_err *err)
{
	const struct gguf_key *k = cl_gguf_key(g, key);

	*v = dflt;
	if (k == NULL || to_u32(k->type, k->raw, v))
		return (CL_OK);
	return (unfit(k, "an integer of 32 bits", err));
}

int
cl_gguf_f32(const struct cl_gguf *g, const char *key, float dflt, float *v,
    struct cl_err *err)
{
	const struct gguf_key *k = cl_gguf_key(g, key);
	struct cl_cur c;

	*v = dflt;
	if (k == NULL)
		return (CL_OK);
	cl_cur_init(&c, k->raw, sizeof(k->raw));
	if (k->type == GGUF_F32)
		*v = cl_cur_f32(&c);
	else if (k->type == GGUF_F64)
		*v = (float)cl_cur_f64(&c);
	else
		return (unfit(k, "a fraction", err));
	return (CL_OK);
}

int
cl_gguf_bool(const struct cl_gguf *g, const char *key, bool dflt, bool *v,
    struct cl_err *err)
{
	const struct gguf_key *k = cl_gguf_key(g, key);
	uint32_t u;

	*v = dflt;
	if (k == NULL)
		return (CL_OK);
	if (k->type == GGUF_BOOL)
		u = k->raw[0];
	else if (!to_u32(k->type, k->raw, &u))
		u = 2;
	if (u > 1)
		return (unfit(k, "true or false", err));
	*v = u == 1;
	return (CL_OK);
}

static int
read_layers(const struct cl_gguf *g, const struct gguf_key *k, uint32_t *v,
    uint32_t n, struct cl_err *err)
{
	unsigned size = cl_gguf_value_size(k->elem);
	uint8_t raw[8] = { 0 };
	uint32_t i;
	int status;

	if (k->n != n)
		return (cl_fail(err, CL_EFORMAT, "the key %s at byte %" PRIu64
		    " has %" PRIu64 " entries, and the model %u layers",
		    k->name, k->at, k->n, n));
	for (i = 0; i < n; i++) {
		if (size == 0)
			return (unfit(k, "an array of integers", err));
		status = cl_gguf_read(g, k->off + (uint64_t)i * size, raw,
		    size, err);
		if (status != CL_OK)
			return (status);
		if (!to_u32(k->elem, raw, &v[i]))
			return (unfit(k, "an array of integers of 32 bits",
			    err));
	}
	return (CL_OK);
}

int
cl_gguf_layers(const struct cl_gguf *g, const char *key, uint32_t dflt,
    uint32_t *v, uint32_t n, struct cl_err *err)
{
	const struct gguf_key *k = cl_gguf_key(g, key);
	uint32_t i, scalar = dflt;

	if (k != NULL && k->type == GGUF_ARRAY)
		return (read_layers(g, k, v, n, err));
	if (k != NULL && !to_u32(k->type, k->raw, &scalar))
		return (unfit(k, "an integer, or an array of one a layer",
		    err));
	for (i = 0; i < n; i++)
		v[i] = scalar;
	return (CL_OK);
}

char *
cl_gguf_strdup(const struct cl_gguf *g, const char *key, const char *dflt,
    struct cl_err *err)
{
	const struct gguf_key *k = cl_gguf_key(g, key);
	char *s, *nul;

	if (k == NULL)
		return (cl_vec_strndup(dflt, strlen(dflt), err));
	if (k->type != GGUF_STR || k->n > CL_GGUF_STR_MAX) {
		unfit(k, "a string of at most 64 KiB", err);
		return (NULL);
	}
	if ((s = malloc((size_t)k->n + 1)) == NULL) {
		cl_fail_nomem(err, "a string");
		return (NULL);
	}
	if (cl_gguf_read(g, k->off, s, (size_t)k->n, err) != CL_OK) {
		free(s);
		return (NULL);
	}
	s[k->n] = '\0';
	while ((nul = memchr(s, '\0', (size_t)k->n)) != NULL)
		*nul = '?';
	return (s);
}

size_t
cl_gguf_ntensors(const struct cl_gguf *g)
{

	return (g->ntensors);
}

const struct cl_gguf_tensor *
cl_gguf_tensor(const struct cl_gguf *g, size_t i)
{

	return (&g->tensors[i]);
}

static int
tensor_match(const void *name, const void *t)
{

	return (strcmp(name, ((const struct cl_gguf_tensor *)t)->name));
}

const struct cl_gguf_tensor *
cl_gguf_find(const struct cl_gguf *g, const char *name)
{

	if (g->ntensors == 0)
		return (NULL);
	return (bsearch(name, g->tensors, g->ntensors, sizeof(*g->tensors),
	    tensor_match));
}

int
cl_gguf_read(const struct cl_gguf *g, uint64_t off, void *buf, size_t n,
    struct cl_err *err)
{
	uint8_t *p = buf;
	ssize_t got;

	while (n > 0) {
		got = pread(g->fd, p, n, (off_t)off);
		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return (cl_fail_errno(err, "cannot read %zu bytes at "
			    "byte %" PRIu64, n, off));
		if (got == 0)
			return (cl_fail(err, CL_ECUT, "ends at byte %" PRIu64
			    ", though it had %" PRIu64 " bytes when it was "
			    "opened", off, g->nbytes));
		p += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return (CL_OK);
}

static float
from_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return (f);
}

/* IEEE half precision; the small ones are multiples of 2^-24. */
static float
from_half(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, exp = h >> 10 & 31, man = h & 1023;
	float small;

	if (exp == 31)
		return (from_bits(sign | 0x7f800000 | man << 13));
	if (exp > 0)
		return (from_bits(sign | (exp + 112) << 23 | man << 13));
	small = (float)man * 0x1p-24f;
	return (sign != 0 ? -small : small);
}

static float
weight(uint32_t type, struct cl_cur *c)
{

	if (type == 0)
		return (cl_cur_f32(c));
	if (type == 1)
		return (from_half(cl_cur_u16(c)));
	return (from_bits((uint32_t)cl_cur_u16(c) << 16));
}

int
cl_gguf_read_f32(const struct cl_gguf *g, const struct cl_gguf_tensor *t,
    float *out, size_t n, struct cl_err *err)
{
	uint8_t raw[PART];
	struct cl_cur c;
	size_t size = t->type == 0 ? 4 : 2, i, j, part;
	int status;

	if (t->type != 0 && t->type != 1 && t->type != 30)
		return (cl_fail(err, CL_ENOTSUP, "the tensor %s is of type %u, "
		    "not f32, f16 or bf16", t->name, t->type));
	if (t->nbytes / size != n)
		return (cl_fail(err, CL_EFORMAT, "the tensor %s has %" PRIu64
		    " weights, and %zu are wanted", t->name,
		    t->nbytes / size, n));
	for (i = 0; i < n; i += part) {
		part = n - i < PART / size ? n - i : PART / size;
		status = cl_gguf_read(g, t->off + i * size, raw, part * size,
		    err);
		if (status != CL_OK)
			return (status);
		cl_cur_init(&c, raw, part * size);
		for (j = 0; j < part; j++)
			out[i + j] = weight(t->type, &c);
	}
	return (CL_OK);
}
