/*
 * CRC-32C eight bytes at a time ("slicing by 8", Kounavis and Berry 2008).
 * table[j][i] is the sum of byte i followed by j zero bytes.  It is linear in
 * the bits of i, so each row is spelled by its eight powers of two; a unit
 * test computes all of it from the polynomial 0x1edc6f41.
 */

#include "cl/crc.h"

#define BIT(i, n, v)	(((i) >> (n) & 1) * UINT32_C(v))
#define ONE(i, a, b, c, d, e, f, g, h)					\
	BIT(i, 0, a) ^ BIT(i, 1, b) ^ BIT(i, 2, c) ^ BIT(i, 3, d) ^	\
	BIT(i, 4, e) ^ BIT(i, 5, f) ^ BIT(i, 6, g) ^ BIT(i, 7, h)
#define FOUR(i, ...)							\
	ONE((i), __VA_ARGS__), ONE((i) + 1, __VA_ARGS__),		\
	ONE((i) + 2, __VA_ARGS__), ONE((i) + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)							\
	FOUR((i), __VA_ARGS__), FOUR((i) + 4, __VA_ARGS__),		\
	FOUR((i) + 8, __VA_ARGS__), FOUR((i) + 12, __VA_ARGS__)
#define HALF(i, ...)							\
	SIXTEEN((i), __VA_ARGS__), SIXTEEN((i) + 16, __VA_ARGS__),	\
	SIXTEEN((i) + 32, __VA_ARGS__), SIXTEEN((i) + 48, __VA_ARGS__),	\
	SIXTEEN((i) + 64, __VA_ARGS__), SIXTEEN((i) + 80, __VA_ARGS__),	\
	SIXTEEN((i) + 96, __VA_ARGS__), SIXTEEN((i) + 112, __VA_ARGS__)
#define ROW(...)	{ HALF(0, __VA_ARGS__), HALF(128, __VA_ARGS__) }

static const uint32_t table[8][256] = {
	ROW(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
	    0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
	ROW(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8,
	    0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
	ROW(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5,
	    0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
	ROW(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6,
	    0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
	ROW(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91,
	    0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
	ROW(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f,
	    0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
	ROW(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53,
	    0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
	ROW(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da,
	    0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664)
};

uint32_t
cl_crc_add(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t c = ~crc;

	for (; n >= 8; n -= 8, p += 8) {
		c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		c = table[7][c & 255] ^ table[6][c >> 8 & 255] ^
		    table[5][c >> 16 & 255] ^ table[4][c >> 24] ^
		    table[3][p[4]] ^ table[2][p[5]] ^
		    table[1][p[6]] ^ table[0][p[7]];
	}
	for (; n > 0; n--, p++)
		c = c >> 8 ^ table[0][(c ^ *p) & 255];
	return (~c);
}
