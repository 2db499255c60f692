/*
 * XXH64, streaming: four lanes over 32-byte stripes, then the tail.
 */

#include <string.h>

#include "cl/hash.h"

#define P1	UINT64_C(0x9e3779b185ebca87)
#define P2	UINT64_C(0xc2b2ae3d27d4eb4f)
#define P3	UINT64_C(0x165667b19e3779f9)
#define P4	UINT64_C(0x85ebca77c2b2ae63)
#define P5	UINT64_C(0x27d4eb2f165667c5)

static inline uint64_t
rotl(uint64_t x, int r)
{

	return (x << r | x >> (64 - r));
}

static inline uint64_t
load(const uint8_t *p, int n)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return (v);
}

static inline uint64_t
lane(uint64_t acc, uint64_t in)
{

	return (rotl(acc + in * P2, 31) * P1);
}

static void
stripe(uint64_t acc[4], const uint8_t *p)
{
	int i;

	for (i = 0; i < 4; i++)
		acc[i] = lane(acc[i], load(p + 8 * i, 8));
}

void
cl_hash_init(struct cl_hash *h)
{

	h->acc[0] = P1 + P2;
	h->acc[1] = P2;
	h->acc[2] = 0;
	h->acc[3] = UINT64_C(0) - P1;
	h->nbytes = 0;
}

void
cl_hash_add(struct cl_hash *h, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have = h->nbytes % sizeof(h->tail), take;

	if (n == 0)
		return;
	h->nbytes += n;
	if (have > 0) {
		take = sizeof(h->tail) - have;
		if (take > n)
			take = n;
		memcpy(h->tail + have, p, take);
		p += take;
		n -= take;
		if (have + take < sizeof(h->tail))
			return;
		stripe(h->acc, h->tail);
	}
	for (; n >= sizeof(h->tail); n -= sizeof(h->tail)) {
		stripe(h->acc, p);
		p += sizeof(h->tail);
	}
	if (n > 0)
		memcpy(h->tail, p, n);
}

void
cl_hash_add_u64(struct cl_hash *h, uint64_t v)
{
	uint8_t b[8];
	int i;

	for (i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	cl_hash_add(h, b, sizeof(b));
}

void
cl_hash_add_str(struct cl_hash *h, const char *s)
{

	cl_hash_add(h, s, strlen(s) + 1);
}

/* The last 0 to 31 bytes, then the avalanche. */
static uint64_t
finish(uint64_t x, const uint8_t *p, size_t n)
{

	for (; n >= 8; n -= 8, p += 8)
		x = rotl(x ^ lane(0, load(p, 8)), 27) * P1 + P4;
	if (n >= 4) {
		x = rotl(x ^ load(p, 4) * P1, 23) * P2 + P3;
		n -= 4;
		p += 4;
	}
	for (; n > 0; n--, p++)
		x = rotl(x ^ *p * P5, 11) * P1;
	x = (x ^ x >> 33) * P2;
	x = (x ^ x >> 29) * P3;
	return (x ^ x >> 32);
}

uint64_t
cl_hash_end(const struct cl_hash *h)
{
	uint64_t x = P5;
	int i;

	if (h->nbytes >= sizeof(h->tail)) {
		x = rotl(h->acc[0], 1) + rotl(h->acc[1], 7) +
		    rotl(h->acc[2], 12) + rotl(h->acc[3], 18);
		for (i = 0; i < 4; i++)
			x = (x ^ lane(0, h->acc[i])) * P1 + P4;
	}
	return (finish(x + h->nbytes, h->tail, h->nbytes % sizeof(h->tail)));
}
