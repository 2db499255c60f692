/*
 * SHA-256 as FIPS 180-4 writes it.  The constants are the first 32 bits of the
 * fractional parts of the cube roots of the first 64 primes.
 */

#include <stdio.h>
#include <string.h>

#include "cl/sha256.h"

#define BLOCK	64

static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t
rotate(uint32_t x, unsigned n)
{

	return (x >> n | x << (32 - n));
}

static uint32_t
load(const uint8_t *p)
{

	return ((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3]);
}

static void
mix(uint32_t h[8], const uint8_t *p)
{
	uint32_t w[64], v[8], t1, t2;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = load(p + 4 * i);
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		    (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
		    w[i - 15] >> 3) +
		    (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^
		    w[i - 2] >> 10);
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^
		    rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
		    K[i] + w[i];
		t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^
		    rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^
		    (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

void
cl_sha256_init(struct cl_sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};

	memcpy(s->h, start, sizeof(s->h));
	s->nbytes = 0;
}

void
cl_sha256_add(struct cl_sha256 *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t used = (size_t)(s->nbytes % BLOCK), take;

	s->nbytes += n;
	if (used > 0) {
		take = n < BLOCK - used ? n : BLOCK - used;
		memcpy(s->tail + used, p, take);
		p += take;
		n -= take;
		if (used + take < BLOCK)
			return;
		mix(s->h, s->tail);
	}
	for (; n >= BLOCK; p += BLOCK, n -= BLOCK)
		mix(s->h, p);
	if (n > 0)
		memcpy(s->tail, p, n);
}

const char *
cl_sha256_end(const struct cl_sha256 *s, char buf[CL_SHA256_TEXT])
{
	struct cl_sha256 t = *s;
	uint8_t end[BLOCK + 8] = { 0x80 };
	/* up to eight bytes before the end of a block */
	size_t n = (size_t)(2 * BLOCK - 9 - t.nbytes % BLOCK) % BLOCK + 1;
	uint64_t nbits = t.nbytes * 8;
	unsigned i;

	for (i = 0; i < 8; i++)
		end[n + i] = (uint8_t)(nbits >> (56 - 8 * i));
	cl_sha256_add(&t, end, n + 8);
	for (i = 0; i < 8; i++)
		(void)snprintf(buf + 8 * i, 9, "%08lx",
		    (unsigned long)t.h[i]);
	return (buf);
}
