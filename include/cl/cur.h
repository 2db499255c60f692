#ifndef CL_CUR_H
#define CL_CUR_H

/*
 * A bounded cursor over bytes that are not trusted.  Values are little-endian
 * and read by shifts.  A read past the end gives 0 and marks the cursor bad,
 * for good: read a whole record, then look at cl_cur_ok() once.  The bytes
 * stay the caller's.  Cannot fail but by that mark.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cl_cur {
	const uint8_t	*p;
	size_t		 pos;		/* <= len, always */
	size_t		 len;
	bool		 bad;
};

static inline void
cl_cur_init(struct cl_cur *c, const void *p, size_t len)
{

	c->p = p;
	c->pos = 0;
	c->len = len;
	c->bad = false;
}

static inline bool
cl_cur_ok(const struct cl_cur *c)
{

	return (!c->bad);
}

static inline size_t
cl_cur_left(const struct cl_cur *c)
{

	return (c->len - c->pos);
}

/* The next n bytes where they stand, or NULL. */
static inline const uint8_t *
cl_cur_bytes(struct cl_cur *c, uint64_t n)
{
	const uint8_t *p = c->p + c->pos;

	if (c->bad || n > c->len - c->pos) {
		c->bad = true;
		return (NULL);
	}
	c->pos += (size_t)n;
	return (p);
}

/* An unsigned value of n bytes, n from 1 to 8. */
static inline uint64_t
cl_cur_uint(struct cl_cur *c, unsigned n)
{
	const uint8_t *p = cl_cur_bytes(c, n);
	uint64_t v = 0;
	unsigned i;

	if (p == NULL)
		return (0);
	for (i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return (v);
}

static inline uint8_t
cl_cur_u8(struct cl_cur *c)
{

	return ((uint8_t)cl_cur_uint(c, 1));
}

static inline uint16_t
cl_cur_u16(struct cl_cur *c)
{

	return ((uint16_t)cl_cur_uint(c, 2));
}

static inline uint32_t
cl_cur_u32(struct cl_cur *c)
{

	return ((uint32_t)cl_cur_uint(c, 4));
}

static inline uint64_t
cl_cur_u64(struct cl_cur *c)
{

	return (cl_cur_uint(c, 8));
}

static inline float
cl_cur_f32(struct cl_cur *c)
{
	uint32_t u = cl_cur_u32(c);
	float f;

	memcpy(&f, &u, sizeof(f));
	return (f);
}

static inline double
cl_cur_f64(struct cl_cur *c)
{
	uint64_t u = cl_cur_u64(c);
	double f;

	memcpy(&f, &u, sizeof(f));
	return (f);
}

/*
 * A string as our own formats hold it: u16 length, then bytes without a NUL
 * among them.  *s borrows; returns its length, and marks bad what holds a NUL.
 */
static inline size_t
cl_cur_str(struct cl_cur *c, const char **s)
{
	size_t n = cl_cur_u16(c);

	*s = (const char *)cl_cur_bytes(c, n);
	if (*s == NULL || (n > 0 && memchr(*s, '\0', n) != NULL)) {
		c->bad = true;
		*s = "";
		return (0);
	}
	return (n);
}

#endif /* CL_CUR_H */
