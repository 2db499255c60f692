/*
 * The GGUF parser.  The head is read once, front to back, through a buffer:
 * each count and length is compared with the bytes that are left before it is
 * believed, so that what is allocated is in proportion to what was read.  A
 * failure sticks in the reader, which then gives zeros; loops ask for it.
 *
 * Tables grow as records arrive and are sorted by name at the end, which
 * finds doubled names, makes lookup a bisection, and is the order in which
 * the model's fingerprint wants them.  Arrays (vocabularies) are stepped over;
 * their place is kept.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/num.h"
#include "cl/text.h"
#include "cl/vec.h"

#include "gguf_int.h"

#define HEAD_BUF	(128 * 1024)
#define KEY_MAX		65535		/* by the format */
#define NAME_MAX_BYTES	1024		/* ggml stops at 63; longest seen: 70 */
#define NEST_MAX	4		/* arrays in arrays; none are in use */
#define ALIGN_MAX	(1u << 24)	/* in use: 32; a huge page is 1 << 21 */
#define KEY_LEAST	13		/* bytes of the smallest key record */
#define TENSOR_LEAST	24		/* and of the smallest tensor record */

#define VIS_MAX		80		/* of a name, in messages */

struct head {
	struct cl_gguf	*g;
	struct cl_err	*err;
	int		 status;	/* of the first failure, or CL_OK */
	uint64_t	 at;		/* consumed; <= g->nbytes */
	uint64_t	 total;		/* read from the file */
	uint8_t		*buf;
	size_t		 pos;		/* consumed of the buffer */
	size_t		 n;		/* bytes in it */
	struct cl_hash	 hash;		/* of all that was consumed */
	const char	*what;		/* the record at hand, for messages: */
	uint64_t	 no;		/* its number */
	uint64_t	 start;		/* and its place */
};

static void
head_begin(struct head *h, const char *what, uint64_t no)
{

	h->what = what;
	h->no = no;
	h->start = h->at;
}

static uint64_t
head_left(const struct head *h)
{

	return (h->g->nbytes - h->at);
}

/* Are n bytes left?  If not, this is where reading ends. */
static bool
head_want(struct head *h, uint64_t n)
{

	if (h->status != CL_OK)
		return (false);
	if (n <= head_left(h))
		return (true);
	h->status = cl_fail(h->err, CL_EFORMAT, "%s %" PRIu64 " at byte %"
	    PRIu64 ": %" PRIu64 " bytes are needed and %" PRIu64 " are left",
	    h->what, h->no, h->start, n, head_left(h));
	return (false);
}

/* Put off what was consumed, and read on. */
static void
head_fill(struct head *h)
{
	ssize_t got;

	cl_hash_add(&h->hash, h->buf, h->pos);
	memmove(h->buf, h->buf + h->pos, h->n - h->pos);
	h->n -= h->pos;
	h->pos = 0;
	do
		got = read(h->g->fd, h->buf + h->n, HEAD_BUF - h->n);
	while (got == -1 && errno == EINTR);
	if (got == -1)
		h->status = cl_fail_errno(h->err, "cannot read at byte %"
		    PRIu64, h->total);
	else if (got == 0)
		h->status = cl_fail(h->err, CL_ECUT, "ends at byte %" PRIu64
		    ", though it had %" PRIu64 " bytes when it was opened",
		    h->total, h->g->nbytes);
	else {
		h->n += (size_t)got;
		h->total += (uint64_t)got;
	}
}

static void
head_skip(struct head *h, uint64_t n)
{
	size_t part;

	if (!head_want(h, n))
		return;
	while (n > 0 && h->status == CL_OK) {
		if (h->pos == h->n)
			head_fill(h);
		part = h->n - h->pos < n ? h->n - h->pos : (size_t)n;
		h->pos += part;
		h->at += part;
		n -= part;
	}
}

/* n bytes, at most the buffer's size, where they stand; or NULL. */
static const uint8_t *
head_bytes(struct head *h, size_t n)
{
	const uint8_t *p;

	if (!head_want(h, n))
		return (NULL);
	while (h->n - h->pos < n && h->status == CL_OK)
		head_fill(h);
	if (h->status != CL_OK)
		return (NULL);
	p = h->buf + h->pos;
	h->pos += n;
	h->at += n;
	return (p);
}

static uint64_t
head_uint(struct head *h, unsigned n)
{
	const uint8_t *p = head_bytes(h, n);
	struct cl_cur c;

	if (p == NULL)
		return (0);
	cl_cur_init(&c, p, n);
	return (cl_cur_uint(&c, n));
}

/* A name of 1 to limit bytes without a NUL, as a copy; or NULL. */
static char *
head_name(struct head *h, size_t limit)
{
	uint64_t n = head_uint(h, 8);
	const uint8_t *p;
	char *s;

	if (!head_want(h, n))
		return (NULL);
	if (n == 0 || n > limit) {
		h->status = cl_fail(h->err, CL_EFORMAT, "%s %" PRIu64
		    " at byte %" PRIu64 ": a name of %" PRIu64
		    " bytes; 1 to %zu are understood", h->what, h->no,
		    h->start, n, limit);
		return (NULL);
	}
	if ((p = head_bytes(h, (size_t)n)) == NULL)
		return (NULL);
	if (memchr(p, '\0', (size_t)n) != NULL) {
		h->status = cl_fail(h->err, CL_EFORMAT, "%s %" PRIu64
		    " at byte %" PRIu64 ": a NUL in its name", h->what, h->no,
		    h->start);
		return (NULL);
	}
	if ((s = cl_vec_strndup((const char *)p, (size_t)n, h->err)) == NULL)
		h->status = CL_ENOMEM;
	return (s);
}

static const char *
vis(char buf[VIS_MAX], const char *name)
{

	return (cl_text_vis(buf, VIS_MAX, name, strlen(name)));
}

/*
 * Step over n values.  The smallest element of a string or array takes 8 and
 * 12 bytes, so that a count that cannot be is refused before the first.
 */
static void
skip_values(struct head *h, uint32_t type, uint64_t n, unsigned depth)
{
	unsigned size = cl_gguf_value_size(type);
	uint64_t i, count;
	uint32_t elem;

	if (size == 0)
		size = type == GGUF_ARRAY ? 12 : 8;
	if (n > head_left(h) / size) {
		(void)head_want(h, n > UINT64_MAX / size ? UINT64_MAX :
		    n * size);
		return;
	}
	if (type != GGUF_STR && type != GGUF_ARRAY) {
		head_skip(h, n * size);
		return;
	}
	for (i = 0; i < n && h->status == CL_OK; i++) {
		if (type == GGUF_STR) {
			head_skip(h, head_uint(h, 8));
			continue;
		}
		elem = (uint32_t)head_uint(h, 4);
		count = head_uint(h, 8);
		if (depth == NEST_MAX || elem > GGUF_F64)
			h->status = cl_fail(h->err, CL_ENOTSUP, "key %" PRIu64
			    " at byte %" PRIu64 ": an array of type %u, %u "
			    "deep", h->no, h->start, elem, depth);
		else
			skip_values(h, elem, count, depth + 1);
	}
}

static void
read_array(struct head *h, struct gguf_key *k)
{

	k->elem = (uint32_t)head_uint(h, 4);
	k->n = head_uint(h, 8);
	k->off = h->at;
	if (h->status == CL_OK && k->elem > GGUF_F64)
		h->status = cl_fail(h->err, CL_ENOTSUP, "key %" PRIu64
		    " at byte %" PRIu64 ": an array of unknown type %u",
		    h->no, h->start, k->elem);
	if (h->status == CL_OK)
		skip_values(h, k->elem, k->n, 1);
}

static void
read_value(struct head *h, struct gguf_key *k)
{
	unsigned size = cl_gguf_value_size(k->type);
	const uint8_t *p;

	if (k->type == GGUF_ARRAY) {
		read_array(h, k);
	} else if (k->type == GGUF_STR) {
		k->n = head_uint(h, 8);
		k->off = h->at;
		head_skip(h, k->n);
	} else if (size > 0) {
		if ((p = head_bytes(h, size)) != NULL)
			memcpy(k->raw, p, size);
	} else if (h->status == CL_OK) {
		h->status = cl_fail(h->err, CL_ENOTSUP, "key %" PRIu64
		    " at byte %" PRIu64 ": a value of unknown type %u", h->no,
		    h->start, k->type);
	}
}

static int
key_order(const void *a, const void *b)
{
	const struct gguf_key *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return (c != 0 ? c : (x->at > y->at) - (x->at < y->at));
}

static int
read_keys(struct head *h, uint64_t n)
{
	struct cl_gguf *g = h->g;
	struct gguf_key *k;
	char name[VIS_MAX];
	uint64_t i;

	for (i = 0; i < n && h->status == CL_OK; i++) {
		head_begin(h, "key", i);
		if (cl_vec_grow(&g->keys, &g->keys_cap, g->nkeys + 1,
		    sizeof(*g->keys), h->err) != CL_OK)
			return (CL_ENOMEM);
		k = &g->keys[g->nkeys];
		k->at = h->at;
		if ((k->name = head_name(h, KEY_MAX)) == NULL)
			return (h->status);
		g->nkeys++;
		k->type = (uint32_t)head_uint(h, 4);
		read_value(h, k);
	}
	if (h->status != CL_OK)
		return (h->status);
	if (g->nkeys > 0)
		qsort(g->keys, g->nkeys, sizeof(*g->keys), key_order);
	for (k = g->keys; g->nkeys > 0 && k + 1 < g->keys + g->nkeys; k++)
		if (strcmp(k[0].name, k[1].name) == 0)
			return (cl_fail(h->err, CL_EFORMAT, "the key %s "
			    "stands at byte %" PRIu64 " and again at byte %"
			    PRIu64, vis(name, k->name), k[0].at, k[1].at));
	return (CL_OK);
}

static int
read_alignment(struct cl_gguf *g, struct cl_err *err)
{
	uint32_t align;
	int status = cl_gguf_u32(g, "general.alignment", 32, &align, err);

	if (status != CL_OK)
		return (status);
	if (!cl_ispow2(align) || align > ALIGN_MAX)
		return (cl_fail(err, CL_EFORMAT, "general.alignment is %u; it "
		    "must be a power of two, at most %u", align, ALIGN_MAX));
	g->align = align;
	return (CL_OK);
}

/* "t [4 x 5 x 6]" for messages. */
static const char *
shape(char buf[256], const struct cl_gguf_tensor *t)
{
	char name[VIS_MAX];
	size_t n;
	uint32_t i;

	n = (size_t)snprintf(buf, 256, "%s [", vis(name, t->name));
	for (i = 0; i < t->ndims; i++)
		n += (size_t)snprintf(buf + n, 256 - n, "%s%" PRIu64,
		    i == 0 ? "" : " x ", t->ne[i]);
	(void)snprintf(buf + n, 256 - n, "]");
	return (buf);
}

/* Its bytes from its type and shape; every product is checked. */
static int
size_tensor(struct head *h, struct cl_gguf_tensor *t)
{
	const struct cl_gguf_type *type = cl_gguf_type(t->type);
	uint64_t elems = 1;
	char buf[256];
	uint32_t i;
	bool fits = true;

	for (i = 0; i < t->ndims; i++)
		fits = fits && cl_mul(elems, t->ne[i], &elems);
	if (cl_gguf_type_retired(t->type))
		return (cl_fail(h->err, CL_ENOTSUP, "tensor %" PRIu64
		    " at byte %" PRIu64 ": %s is of type %u, which is retired",
		    h->no, h->start, shape(buf, t), t->type));
	t->known = type != NULL;
	if (fits && type != NULL) {
		if (t->ne[0] % type->elems != 0)
			return (cl_fail(h->err, CL_EFORMAT, "tensor %" PRIu64
			    " at byte %" PRIu64 ": the rows of %s are not "
			    "whole %s blocks of %u", h->no, h->start,
			    shape(buf, t), type->name, type->elems));
		fits = cl_mul(elems / type->elems, type->nbytes, &t->nbytes);
	}
	if (!fits)
		return (cl_fail(h->err, CL_EFORMAT, "tensor %" PRIu64
		    " at byte %" PRIu64 ": %s is larger than 64 bits can say",
		    h->no, h->start, shape(buf, t)));
	return (CL_OK);
}

static int
read_tensor(struct head *h, struct cl_gguf_tensor *t)
{
	uint32_t i;

	t->ndims = (uint32_t)head_uint(h, 4);
	if (h->status == CL_OK && t->ndims > 4)
		return (cl_fail(h->err, CL_EFORMAT, "tensor %" PRIu64
		    " at byte %" PRIu64 ": %u dimensions, at most 4", h->no,
		    h->start, t->ndims));
	for (i = 0; i < 4; i++)
		t->ne[i] = i < t->ndims ? head_uint(h, 8) : 1;
	t->type = (uint32_t)head_uint(h, 4);
	t->off = head_uint(h, 8);
	return (h->status == CL_OK ? size_tensor(h, t) : h->status);
}

static int
read_tensors(struct head *h, uint64_t n)
{
	struct cl_gguf *g = h->g;
	struct cl_gguf_tensor *t;
	uint64_t i;
	int status;

	for (i = 0; i < n; i++) {
		head_begin(h, "tensor", i);
		if (cl_vec_grow(&g->tensors, &g->tensors_cap, g->ntensors + 1,
		    sizeof(*g->tensors), h->err) != CL_OK)
			return (CL_ENOMEM);
		t = &g->tensors[g->ntensors];
		t->at = h->at;
		if ((t->name = head_name(h, NAME_MAX_BYTES)) == NULL)
			return (h->status);
		g->ntensors++;
		if ((status = read_tensor(h, t)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

/* Offsets in the file count from the data; ours from the start of the file. */
static int
place_tensor(struct cl_gguf *g, struct cl_gguf_tensor *t, struct cl_err *err)
{
	uint64_t end;
	char buf[256];

	if (t->off % g->align != 0)
		return (cl_fail(err, CL_EFORMAT, "the tensor %s at byte %"
		    PRIu64 " has offset %" PRIu64 ", not a multiple of the "
		    "alignment %" PRIu64, shape(buf, t), t->at, t->off,
		    g->align));
	if (!cl_add(t->off, g->data, &t->off) ||
	    !cl_add(t->off, t->nbytes, &end))
		return (cl_fail(err, CL_EFORMAT, "the tensor %s at byte %"
		    PRIu64 " ends beyond what 64 bits can say", shape(buf, t),
		    t->at));
	if (end > g->nbytes)
		return (cl_fail(err, CL_EFORMAT, "the tensor %s needs a file "
		    "of %" PRIu64 " bytes, and this one has %" PRIu64,
		    shape(buf, t), end, g->nbytes));
	return (CL_OK);
}

static int
place_order(const void *a, const void *b)
{
	const struct cl_gguf_tensor *x = a, *y = b;

	if (x->off != y->off)
		return (x->off < y->off ? -1 : 1);
	if (x->nbytes != y->nbytes)
		return (x->nbytes < y->nbytes ? -1 : 1);
	return ((x->at > y->at) - (x->at < y->at));
}

/* By their places: none overlaps; those of unknown size end at the next. */
static int
check_places(struct cl_gguf *g, struct cl_err *err)
{
	struct cl_gguf_tensor *t = g->tensors, *end = t + g->ntensors;
	char a[256], b[256];
	uint64_t next;

	qsort(t, g->ntensors, sizeof(*t), place_order);
	for (; t < end; t++) {
		next = t + 1 < end ? t[1].off : g->nbytes;
		if (!t->known)
			t->nbytes = next - t->off;
		if (t->nbytes > next - t->off)
			return (cl_fail(err, CL_EFORMAT, "the tensors %s at "
			    "byte %" PRIu64 " and %s at byte %" PRIu64
			    " overlap", shape(a, t), t->at, shape(b, t + 1),
			    t[1].at));
	}
	return (CL_OK);
}

static int
name_order(const void *a, const void *b)
{
	const struct cl_gguf_tensor *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return (c != 0 ? c : (x->at > y->at) - (x->at < y->at));
}

static int
check_names(struct cl_gguf *g, struct cl_err *err)
{
	struct cl_gguf_tensor *t;
	char name[VIS_MAX];

	qsort(g->tensors, g->ntensors, sizeof(*g->tensors), name_order);
	for (t = g->tensors; t + 1 < g->tensors + g->ntensors; t++)
		if (strcmp(t[0].name, t[1].name) == 0)
			return (cl_fail(err, CL_EFORMAT, "the tensor %s "
			    "stands at byte %" PRIu64 " and again at byte %"
			    PRIu64, vis(name, t->name), t[0].at, t[1].at));
	return (CL_OK);
}

static int
place_tensors(struct cl_gguf *g, struct cl_err *err)
{
	size_t i;
	int status;

	if (g->ntensors == 0)
		return (CL_OK);
	if ((status = check_names(g, err)) != CL_OK)
		return (status);
	for (i = 0; i < g->ntensors; i++)
		if ((status = place_tensor(g, &g->tensors[i], err)) != CL_OK)
			return (status);
	if ((status = check_places(g, err)) != CL_OK)
		return (status);
	qsort(g->tensors, g->ntensors, sizeof(*g->tensors), name_order);
	return (CL_OK);
}

/*
 * Both byte orders begin with the same four letters; the version, a small
 * number, tells which it is.
 */
static int
read_version(struct head *h)
{
	const uint8_t *p = head_bytes(h, 4);
	uint32_t version;

	if (p == NULL)
		return (h->status);
	if (memcmp(p, "GGUF", 4) != 0)
		return (cl_fail(h->err, CL_EFORMAT, "not a GGUF file"));
	version = (uint32_t)head_uint(h, 4);
	if (h->status != CL_OK)
		return (h->status);
	if (version != 0 && (version & 0xffff) == 0)
		return (cl_fail(h->err, CL_ENOTSUP, "a big-endian file; only "
		    "little-endian GGUF is understood"));
	if (version < 2 || version > 3)
		return (cl_fail(h->err, CL_ENOTSUP, "GGUF version %u; 2 and 3 "
		    "are understood", version));
	return (CL_OK);
}

static int
claims(struct head *h, const char *what, uint64_t n, unsigned least)
{

	if (n > head_left(h) / least)
		return (cl_fail(h->err, CL_EFORMAT, "%" PRIu64 " %s are "
		    "claimed; the %" PRIu64 " bytes left cannot hold more "
		    "than %" PRIu64, n, what, head_left(h),
		    head_left(h) / least));
	return (CL_OK);
}

static int
read_records(struct head *h)
{
	struct cl_gguf *g = h->g;
	uint64_t ntensors, nkeys;
	int status;

	head_begin(h, "header", 0);
	if ((status = read_version(h)) != CL_OK)
		return (status);
	ntensors = head_uint(h, 8);
	nkeys = head_uint(h, 8);
	if (h->status != CL_OK)
		return (h->status);
	if ((status = claims(h, "keys", nkeys, KEY_LEAST)) != CL_OK ||
	    (status = claims(h, "tensors", ntensors, TENSOR_LEAST)) != CL_OK ||
	    (status = read_keys(h, nkeys)) != CL_OK ||
	    (status = read_alignment(g, h->err)) != CL_OK ||
	    (status = claims(h, "tensors", ntensors, TENSOR_LEAST)) != CL_OK)
		return (status);
	return (read_tensors(h, ntensors));
}

/* Where there is no tensor there may be no padding either. */
static int
finish_head(struct head *h)
{
	struct cl_gguf *g = h->g;
	uint64_t data = cl_roundup(h->at, g->align);

	if (data > g->nbytes && g->ntensors == 0)
		data = g->nbytes;
	head_begin(h, "padding of the head", 0);
	head_skip(h, data - h->at);
	if (h->status != CL_OK)
		return (h->status);
	cl_hash_add(&h->hash, h->buf, h->pos);
	g->head_hash = cl_hash_end(&h->hash);
	g->data = data;
	return (place_tensors(g, h->err));
}

static int
read_head(struct cl_gguf *g, struct cl_err *err)
{
	struct head h = { .g = g, .err = err };
	int status;

	if ((h.buf = malloc(HEAD_BUF)) == NULL)
		return (cl_fail_nomem(err, "reading"));
	cl_hash_init(&h.hash);
	status = read_records(&h);
	if (status == CL_OK)
		status = finish_head(&h);
	free(h.buf);
	return (status);
}

/* O_NONBLOCK, lest a named pipe keep us waiting before we can refuse it. */
static int
open_file(struct cl_gguf *g, struct cl_err *err)
{
	struct stat st;

	g->fd = open(g->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (g->fd == -1)
		return (cl_fail_errno(err, "cannot open"));
	if (fstat(g->fd, &st) == -1)
		return (cl_fail_errno(err, "cannot look at it"));
	if (!S_ISREG(st.st_mode))
		return (cl_fail(err, CL_EINVAL, "not a regular file"));
	g->nbytes = (uint64_t)st.st_size;
	return (CL_OK);
}

struct cl_gguf *
cl_gguf_open(const char *path, struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct cl_gguf *g;

	if ((g = calloc(1, sizeof(*g))) == NULL) {
		cl_fail_nomem(err, "a GGUF file");
		return (NULL);
	}
	g->fd = -1;
	if ((g->path = cl_vec_strndup(path, strlen(path), err)) == NULL)
		goto close;
	if (open_file(g, &own) != CL_OK || read_head(g, &own) != CL_OK) {
		cl_err_prefix(&own, path);
		(void)cl_fail(err, own.code, "%s", own.msg);
		goto close;
	}
	return (g);

close:
	cl_gguf_close(g);
	return (NULL);
}

void
cl_gguf_close(struct cl_gguf *g)
{
	size_t i;

	if (g == NULL)
		return;
	for (i = 0; i < g->nkeys; i++)
		free(g->keys[i].name);
	for (i = 0; i < g->ntensors; i++)
		free(g->tensors[i].name);
	free(g->keys);
	free(g->tensors);
	if (g->fd != -1)
		(void)close(g->fd);
	free(g->path);
	free(g);
}
