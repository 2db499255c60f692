/*
 * The byte builder.  Every append goes through cl_buf_room(), the one place
 * that grows and the one place that can fail.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/vec.h"

void
cl_buf_init(struct cl_buf *b)
{

	memset(b, 0, sizeof(*b));
}

void
cl_buf_free(struct cl_buf *b)
{

	free(b->p);
	cl_buf_init(b);
}

void
cl_buf_clear(struct cl_buf *b)
{

	b->n = 0;
	b->bad = false;
}

uint8_t *
cl_buf_room(struct cl_buf *b, size_t n)
{
	uint8_t *p;

	if (b->bad || n > SIZE_MAX - b->n ||
	    cl_vec_grow(&b->p, &b->cap, b->n + n, 1, NULL) != 0) {
		b->bad = true;
		return (NULL);
	}
	p = b->p + b->n;
	b->n += n;
	return (p);
}

void
cl_buf_bytes(struct cl_buf *b, const void *data, size_t n)
{
	uint8_t *p = cl_buf_room(b, n);

	if (p != NULL && n > 0)
		memcpy(p, data, n);
}

static void
put(struct cl_buf *b, uint64_t v, unsigned n)
{
	uint8_t *p = cl_buf_room(b, n);
	unsigned i;

	for (i = 0; p != NULL && i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void
cl_buf_u8(struct cl_buf *b, uint8_t v)
{

	put(b, v, 1);
}

void
cl_buf_u16(struct cl_buf *b, uint16_t v)
{

	put(b, v, 2);
}

void
cl_buf_u32(struct cl_buf *b, uint32_t v)
{

	put(b, v, 4);
}

void
cl_buf_u64(struct cl_buf *b, uint64_t v)
{

	put(b, v, 8);
}

void
cl_buf_f32(struct cl_buf *b, float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	put(b, u, 4);
}

void
cl_buf_f64(struct cl_buf *b, double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	put(b, u, 8);
}

void
cl_buf_str(struct cl_buf *b, const char *s)
{
	size_t n = strlen(s);

	if (n > UINT16_MAX) {
		b->bad = true;
		return;
	}
	cl_buf_u16(b, (uint16_t)n);
	cl_buf_bytes(b, s, n);
}
