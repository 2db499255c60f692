#ifndef GGUF_OUT_H
#define GGUF_OUT_H

/*
 * A GGUF writer for tests: collects keys and tensors, then writes a file,
 * right by default and wrong on demand (version, byte order, sizes, offsets
 * are fields that may be overwritten before writing).  It has its own type
 * table, typed from llama.cpp's structures and not from ours.  Ends the
 * program on any failure: there is nobody to report to.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/buf.h"

enum {
	GOUT_U8 = 0, GOUT_U16 = 2, GOUT_U32 = 4, GOUT_I32 = 5, GOUT_F32 = 6,
	GOUT_BOOL = 7, GOUT_STR = 8, GOUT_ARR = 9, GOUT_U64 = 10
};

enum {
	GOUT_T_F32 = 0, GOUT_T_F16 = 1, GOUT_T_Q4_0 = 2, GOUT_T_Q8_0 = 8,
	GOUT_T_Q4_K = 12, GOUT_T_Q6_K = 14, GOUT_T_BF16 = 30,
	GOUT_T_MXFP4 = 39, GOUT_T_NVFP4 = 40
};

static const struct gout_type {
	const char	*name;
	uint32_t	 id;
	uint32_t	 elems;
	uint32_t	 bytes;
} gout_types[] = {
	{ "f32", GOUT_T_F32, 1, 4 },
	{ "f16", GOUT_T_F16, 1, 2 },
	{ "bf16", GOUT_T_BF16, 1, 2 },
	{ "q4_0", GOUT_T_Q4_0, 32, 18 },
	{ "q8_0", GOUT_T_Q8_0, 32, 34 },
	{ "q4_K", GOUT_T_Q4_K, 256, 144 },
	{ "q6_K", GOUT_T_Q6_K, 256, 210 },
	{ "mxfp4", GOUT_T_MXFP4, 32, 17 },
	{ "nvfp4", GOUT_T_NVFP4, 64, 36 },
};

struct gout_tensor {
	char		 name[512];
	size_t		 nname;		/* its length, also if it holds a NUL */
	uint32_t	 type;
	uint32_t	 ndims;
	uint64_t	 ne[8];
	uint64_t	 off;		/* from the start of the data */
	uint64_t	 nbytes;	/* that the file holds */
	size_t		 unit;		/* fill works on multiples of it */
	/* Bytes off .. off + n - 1 of the data; NULL: zeros, left sparse. */
	void		(*fill)(struct gout_tensor *, uint8_t *, uint64_t off,
			    size_t n);
	uint64_t	 state;		/* the rest is fill's */
	double		 scale;
	uint32_t	 layer;
	uint32_t	 expert;	/* the first one in it */
	unsigned	 kind;
	uint64_t	 slab;
};

struct gout {
	uint32_t	 version;
	bool		 big;		/* write big-endian */
	uint64_t	 align;
	uint64_t	 claim_kv;	/* added to the true counts */
	uint64_t	 claim_tensors;
	struct cl_buf	 kv;
	uint64_t	 nkv;
	struct gout_tensor *t;
	size_t		 nt;
	size_t		 cap;
	uint64_t	 data;		/* bytes of data so far */
};

static inline void
gout_die(const char *what)
{

	perror(what);
	exit(2);
}

static inline void
gout_init(struct gout *g)
{

	memset(g, 0, sizeof(*g));
	g->version = 3;
	g->align = 32;
	cl_buf_init(&g->kv);
}

static inline void
gout_free(struct gout *g)
{

	cl_buf_free(&g->kv);
	free(g->t);
}

static inline const struct gout_type *
gout_type_by_id(uint32_t id)
{
	size_t i;

	for (i = 0; i < sizeof(gout_types) / sizeof(gout_types[0]); i++)
		if (gout_types[i].id == id)
			return (&gout_types[i]);
	return (NULL);
}

static inline void
gout_put(const struct gout *g, struct cl_buf *b, uint64_t v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		cl_buf_u8(b, (uint8_t)(v >> 8 * (g->big ? n - 1 - i : i)));
}

static inline void
gout_put_str(const struct gout *g, struct cl_buf *b, const char *s, size_t n)
{

	gout_put(g, b, n, 8);
	cl_buf_bytes(b, s, n);
}

static inline void
gout_key(struct gout *g, const char *key, uint32_t type)
{

	g->nkv++;
	gout_put_str(g, &g->kv, key, strlen(key));
	gout_put(g, &g->kv, type, 4);
}

static inline void
gout_u32(struct gout *g, const char *key, uint32_t v)
{

	gout_key(g, key, GOUT_U32);
	gout_put(g, &g->kv, v, 4);
}

static inline void
gout_u16(struct gout *g, const char *key, uint16_t v)
{

	gout_key(g, key, GOUT_U16);
	gout_put(g, &g->kv, v, 2);
}

static inline void
gout_bool(struct gout *g, const char *key, bool v)
{

	gout_key(g, key, GOUT_BOOL);
	gout_put(g, &g->kv, v, 1);
}

static inline void
gout_f32(struct gout *g, const char *key, float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	gout_key(g, key, GOUT_F32);
	gout_put(g, &g->kv, u, 4);
}

static inline void
gout_str(struct gout *g, const char *key, const char *s)
{

	gout_key(g, key, GOUT_STR);
	gout_put_str(g, &g->kv, s, strlen(s));
}

/* The head of an array; its n elements are put by the caller. */
static inline void
gout_arr(struct gout *g, const char *key, uint32_t type, uint64_t n)
{

	gout_key(g, key, GOUT_ARR);
	gout_put(g, &g->kv, type, 4);
	gout_put(g, &g->kv, n, 8);
}

static inline void
gout_arr_u32(struct gout *g, const char *key, uint32_t type,
    const uint32_t *v, size_t n)
{
	size_t i;

	gout_arr(g, key, type, n);
	for (i = 0; i < n; i++)
		gout_put(g, &g->kv, v[i], 4);
}

/* A tensor behind the others.  A type not in the table gets a byte a weight. */
static inline struct gout_tensor *
gout_tensor(struct gout *g, const char *name, uint32_t type, uint32_t ndims,
    uint64_t ne0, uint64_t ne1, uint64_t ne2)
{
	const struct gout_type *ty = gout_type_by_id(type);
	struct gout_tensor *t;

	if (g->nt == g->cap) {
		g->cap = g->cap == 0 ? 64 : 2 * g->cap;
		if ((g->t = realloc(g->t, g->cap * sizeof(*g->t))) == NULL)
			gout_die("memory");
	}
	t = &g->t[g->nt++];
	memset(t, 0, sizeof(*t));
	t->nname = (size_t)snprintf(t->name, sizeof(t->name), "%s", name);
	t->type = type;
	t->ndims = ndims;
	t->ne[0] = ne0;
	t->ne[1] = ndims > 1 ? ne1 : 1;
	t->ne[2] = ndims > 2 ? ne2 : 1;
	t->unit = ty == NULL ? 1 : ty->bytes;
	t->nbytes = ne0 / (ty == NULL ? 1 : ty->elems) * t->unit * t->ne[1] *
	    t->ne[2];
	t->off = g->data;
	g->data += (t->nbytes + g->align - 1) / g->align * g->align;
	return (t);
}

static inline void
gout_head(const struct gout *g, struct cl_buf *b)
{
	const struct gout_tensor *t;
	size_t i;
	uint32_t d;

	cl_buf_bytes(b, "GGUF", 4);
	gout_put(g, b, g->version, 4);
	gout_put(g, b, g->nt + g->claim_tensors, 8);
	gout_put(g, b, g->nkv + g->claim_kv, 8);
	cl_buf_bytes(b, g->kv.p, g->kv.n);
	for (i = 0; i < g->nt; i++) {
		t = &g->t[i];
		gout_put_str(g, b, t->name, t->nname);
		gout_put(g, b, t->ndims, 4);
		for (d = 0; d < t->ndims; d++)
			gout_put(g, b, t->ne[d], 8);
		gout_put(g, b, t->type, 4);
		gout_put(g, b, t->off, 8);
	}
	while (b->n % g->align != 0)
		cl_buf_u8(b, 0);
	if (b->bad)
		gout_die("memory");
}

static inline void
gout_pwrite(int fd, const uint8_t *p, size_t n, uint64_t off)
{
	ssize_t put;

	for (; n > 0; n -= (size_t)put, p += put, off += (uint64_t)put)
		if ((put = pwrite(fd, p, n, (off_t)off)) <= 0)
			gout_die("write");
}

static inline void
gout_fill(int fd, struct gout_tensor *t, uint64_t base)
{
	size_t chunk = t->unit * 32768, n;
	uint64_t at;
	uint8_t *p;

	if ((p = malloc(chunk)) == NULL)
		gout_die("memory");
	for (at = 0; at < t->nbytes; at += n) {
		n = t->nbytes - at < chunk ? (size_t)(t->nbytes - at) : chunk;
		t->fill(t, p, at, n);
		gout_pwrite(fd, p, n, base + t->off + at);
	}
	free(p);
}

/* Writes the file; returns its size. */
static inline uint64_t
gout_write(struct gout *g, const char *path)
{
	struct cl_buf head;
	uint64_t nbytes;
	size_t i;
	int fd;

	cl_buf_init(&head);
	gout_head(g, &head);
	nbytes = head.n + g->data;
	if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)) == -1)
		gout_die(path);
	gout_pwrite(fd, head.p, head.n, 0);
	if (ftruncate(fd, (off_t)nbytes) == -1)
		gout_die(path);
	for (i = 0; i < g->nt; i++)
		if (g->t[i].fill != NULL)
			gout_fill(fd, &g->t[i], head.n);
	if (close(fd) == -1)
		gout_die(path);
	cl_buf_free(&head);
	return (nbytes);
}

/* Where a copy of t, behind the tensors of g, is put. */
static inline void
gout_copy(struct gout *g, const struct gout_tensor *t)
{
	struct gout_tensor *to = gout_tensor(g, t->name, t->type, 1, 1, 1, 1);
	uint64_t off = to->off;

	*to = *t;
	to->off = off;
	g->data = off + (t->nbytes + g->align - 1) / g->align * g->align;
}

/* The keys by which a shard says which of how many it is. */
static inline void
gout_split_keys(struct gout *g, uint32_t no, uint32_t count, size_t tensors)
{

	gout_u16(g, "split.no", (uint16_t)no);
	gout_u16(g, "split.count", (uint16_t)count);
	gout_key(g, "split.tensors.count", GOUT_I32);
	gout_put(g, &g->kv, tensors, 4);
}

/* STEM-00001-of-0000n.gguf and so on, tensors in ranges, keys in the first. */
static inline void
gout_write_split(const struct gout *g, const char *stem, uint32_t n)
{
	struct gout part;
	char path[4200];
	uint32_t no;
	size_t i;

	for (no = 0; no < n; no++) {
		gout_init(&part);
		part.version = g->version;
		part.big = g->big;
		if (no == 0) {
			cl_buf_bytes(&part.kv, g->kv.p, g->kv.n);
			part.nkv = g->nkv;
		}
		gout_split_keys(&part, no, n, g->nt);
		for (i = g->nt * no / n; i < g->nt * (no + 1) / n; i++)
			gout_copy(&part, &g->t[i]);
		(void)snprintf(path, sizeof(path), "%s-%05u-of-%05u.gguf",
		    stem, no + 1, n);
		(void)gout_write(&part, path);
		gout_free(&part);
	}
}

#endif /* GGUF_OUT_H */
