/*
 * The kernel and the hash against twins written from cl/compute.h, element by
 * element; every form that this processor has.  Bytes end where their
 * allocation ends, so that a sanitizer sees a read past them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/compute.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/rng.h"
#include "unit.h"

#define ROW	576
#define SEED	UINT64_C(20240229)

struct vector {
	int		 a[1024];
	uint64_t	 e[32];
};

static void
make_vector(struct vector *v, uint64_t seed)
{
	uint64_t z;
	int i;

	for (i = 0; i < 1024; i++) {
		z = cl_rng_next(&seed);
		v->a[i] = 1 + (int)((z >> 32) % 127);
		if (z % 2 == 1)
			v->a[i] = -v->a[i];
	}
	for (i = 0; i < 32; i++)
		v->e[i] = cl_rng_next(&seed) | 1;
}

/* Byte i of what zeros follow without end. */
static unsigned
at(const uint8_t *p, size_t n, size_t i)
{

	return (i < n ? p[i] : 0);
}

static uint64_t
twin_kernel(const struct vector *v, const uint8_t *p, size_t n)
{
	uint64_t s = 0, w = 1;
	size_t begin, r;
	unsigned d;
	int i, j, q, b;

	for (r = 0; r * ROW < n; r++) {
		for (i = 0; i < 32; i++) {
			begin = r * ROW + (size_t)i * 18;
			d = at(p, n, begin) + 256 * at(p, n, begin + 1);
			b = 32768;
			for (j = 0; j < 32; j++) {
				q = (int)at(p, n, begin + 2 + (size_t)j % 16);
				q = j < 16 ? q % 16 : q / 16;
				b += (q - 8) * v->a[32 * i + j];
			}
			s += w * v->e[i] * (UINT64_C(65536) * d + (uint64_t)b);
		}
		w = w * 747796405 % (UINT64_C(1) << 32);
	}
	return (s);
}

static uint64_t
twin_hash(uint64_t seed, const uint8_t *p, size_t n)
{
	uint64_t lane[8], word, s = 0;
	size_t i, k;

	for (i = 0; i < 8; i++)
		lane[i] = cl_rng_next(&seed);
	for (i = 0; i < (n + 63) / 64 * 8; i++) {
		word = 0;
		for (k = 8; k-- > 0;)
			word = word * 256 + at(p, n, 8 * i + k);
		lane[i % 8] = cl_hash_mix(lane[i % 8], word);
	}
	for (i = 0; i < 8; i++)
		s = cl_hash_mix(s, lane[i]);
	return (s);
}

/* The checksum of expert 5 of layer 3, whose one slab comes to s. */
static uint64_t
twin_expert(size_t n, uint64_t s)
{

	return (cl_hash_mix(cl_hash_mix(cl_hash_mix(cl_hash_mix(0, 3), 5), n),
	    s));
}

static struct cl_compute *
open_kind(enum cl_compute_kind kind, uint64_t seed)
{
	struct cl_err err = { 0 };
	struct cl_compute *c = cl_compute_new(kind, seed, &err);

	assert(c != NULL);
	return (c);
}

static uint64_t
expert(const struct cl_compute *c, const uint8_t *p, size_t n)
{
	const struct cl_compute_slab slab = { p, n };

	return (cl_compute_expert(c, 3, 5, &slab, 1));
}

static uint8_t *
random_bytes(size_t n, uint64_t seed)
{
	uint8_t *p = malloc(n > 0 ? n : 1);
	size_t i;

	assert(p != NULL);
	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(cl_rng_next(&seed) >> 24);
	return (p);
}

/* The same bytes at an offset of off within an allocation of their own. */
static void
check_place(const struct cl_compute *c, const uint8_t *p, size_t n,
    size_t off, uint64_t want)
{
	uint8_t *q = malloc(off + n + 1);

	assert(q != NULL);
	q = realloc(q, off + n > 0 ? off + n : 1);
	assert(q != NULL);
	memcpy(q + off, p, n);
	assert(expert(c, q + off, n) == want);
	free(q);
}

static void
check_lengths(const struct cl_compute *c, const struct vector *v)
{
	static const size_t large[] = { 3 * ROW + 1, 7 * ROW, 64 * ROW + 300,
	    100001 };
	uint8_t *p = random_bytes(100001, 9);
	size_t i, n, off;
	uint64_t want;

	for (n = 0; n <= 2 * ROW; n++) {
		want = v != NULL ? twin_kernel(v, p, n) :
		    twin_hash(SEED, p, n);
		check_place(c, p, n, n % 67, twin_expert(n, want));
	}
	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		n = large[i];
		want = v != NULL ? twin_kernel(v, p, n) :
		    twin_hash(SEED, p, n);
		for (off = 0; off < 64; off++)
			check_place(c, p, n, off, twin_expert(n, want));
	}
	free(p);
}

static void
forms(void)
{
	struct cl_compute *c = open_kind(CL_COMPUTE_KERNEL, SEED);
	struct cl_err err = { 0 };
	struct vector v;
	const char *name;
	size_t i;

	make_vector(&v, SEED);
	for (i = 0; (name = cl_compute_forms(i)) != NULL; i++) {
		printf("# %s\n", name);
		assert(cl_compute_set_form(c, name, &err) == CL_OK);
		check_lengths(c, &v);
	}
	cl_compute_free(c);
}

static void
hash(void)
{
	struct cl_compute *c = open_kind(CL_COMPUTE_CHECKSUM, SEED);

	check_lengths(c, NULL);
	cl_compute_free(c);
}

/* The block whose sum is largest (or least) for these factors. */
static void
extreme_block(const int *a, bool largest, uint8_t *p)
{
	int j;

	p[0] = p[1] = 255;
	for (j = 0; j < 16; j++)
		p[2 + j] = (uint8_t)(((a[j] > 0) == largest ? 15 : 0) +
		    16 * ((a[j + 16] > 0) == largest ? 15 : 0));
}

static void
extremes(void)
{
	struct cl_err err = { 0 };
	struct cl_compute *c;
	struct vector v;
	const char *name;
	uint8_t p[2 * ROW];
	uint64_t seed;
	size_t i, k;

	for (seed = 0; seed < 200; seed++) {
		make_vector(&v, seed);
		for (k = 0; k < 32; k++) {
			extreme_block(v.a + 32 * k, true, p + 18 * k);
			extreme_block(v.a + 32 * k, false, p + ROW + 18 * k);
		}
		c = open_kind(CL_COMPUTE_KERNEL, seed);
		for (i = 0; (name = cl_compute_forms(i)) != NULL; i++) {
			assert(cl_compute_set_form(c, name, &err) == CL_OK);
			assert(expert(c, p, sizeof(p)) == twin_expert(sizeof(p),
			    twin_kernel(&v, p, sizeof(p))));
		}
		cl_compute_free(c);
	}
}

static void
check_flips(enum cl_compute_kind kind)
{
	struct cl_compute *c = open_kind(kind, SEED);
	size_t i, n = 2 * ROW + 100;
	uint8_t *p = random_bytes(n, 2);
	uint64_t whole = expert(c, p, n);

	for (i = 0; i < 8 * n; i++) {
		p[i / 8] ^= (uint8_t)(1 << i % 8);
		assert(expert(c, p, n) != whole);
		p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	assert(expert(c, p, n) == whole);
	free(p);
	cl_compute_free(c);
}

static void
flips(void)
{

	check_flips(CL_COMPUTE_KERNEL);
	check_flips(CL_COMPUTE_CHECKSUM);
}

static void
swap(uint8_t *p, uint8_t *q, size_t n)
{
	uint8_t x;

	for (; n > 0; n--, p++, q++) {
		x = *p;
		*p = *q;
		*q = x;
	}
}

static void
check_swaps(enum cl_compute_kind kind)
{
	struct cl_compute *c = open_kind(kind, SEED);
	size_t i, j, n = 4 * ROW, nbytes;
	uint8_t *p = random_bytes(n, 3);
	uint64_t rng = 4, whole = expert(c, p, n);
	unsigned k;

	for (k = 0; k < 20000; k++) {
		nbytes = 18 + (size_t)cl_rng_below(&rng, ROW);
		i = (size_t)cl_rng_below(&rng, n - 2 * nbytes + 1);
		j = i + nbytes +
		    (size_t)cl_rng_below(&rng, n - 2 * nbytes - i + 1);
		swap(p + i, p + j, nbytes);
		assert(expert(c, p, n) != whole);
		swap(p + i, p + j, nbytes);
	}
	for (i = 0; i < n; i += 18)
		for (j = 0; j < i; j += 18) {
			swap(p + i, p + j, 18);
			assert(expert(c, p, n) != whole);
			swap(p + i, p + j, 18);
		}
	free(p);
	cl_compute_free(c);
}

static void
swaps(void)
{

	check_swaps(CL_COMPUTE_KERNEL);
	check_swaps(CL_COMPUTE_CHECKSUM);
}

static void
check_places(enum cl_compute_kind kind)
{
	struct cl_compute *c = open_kind(kind, SEED);
	struct cl_compute *other = open_kind(kind, SEED + 1);
	uint8_t *p = random_bytes(2 * ROW, 5), zeros[ROW + 1] = { 0 };
	const struct cl_compute_slab two[] = { { p, ROW }, { p + ROW, ROW } };
	const struct cl_compute_slab back[] = { { p + ROW, ROW }, { p, ROW } };
	const struct cl_compute_slab cut[] = { { p, 18 },
	    { p + 18, 2 * ROW - 18 } };
	const struct cl_compute_slab one = { p, 2 * ROW };
	uint64_t h = cl_compute_expert(c, 1, 2, two, 2);

	assert(cl_compute_expert(c, 1, 2, two, 2) == h);
	assert(cl_compute_expert(c, 2, 1, two, 2) != h);
	assert(cl_compute_expert(c, 1, 3, two, 2) != h);
	assert(cl_compute_expert(c, 0, 2, two, 2) != h);
	assert(cl_compute_expert(c, 1, 2, back, 2) != h);
	assert(cl_compute_expert(c, 1, 2, cut, 2) != h);
	assert(cl_compute_expert(c, 1, 2, two, 1) != h);
	assert(cl_compute_expert(c, 1, 2, &one, 1) != h);
	assert(cl_compute_expert(other, 1, 2, two, 2) != h);
	assert(expert(c, zeros, ROW) != expert(c, zeros, ROW - 1));
	assert(expert(c, zeros, ROW) != expert(c, zeros, ROW + 1));
	assert(expert(c, zeros, 1) != expert(c, zeros, 0));
	free(p);
	cl_compute_free(other);
	cl_compute_free(c);
}

static void
places(void)
{

	check_places(CL_COMPUTE_KERNEL);
	check_places(CL_COMPUTE_CHECKSUM);
}

/* Seed 1 and 1,000 bytes i * i / 7, worked out apart from this code. */
static void
examples(void)
{
	static const struct {
		enum cl_compute_kind kind;
		uint64_t	 want;
	} example[] = {
		{ CL_COMPUTE_KERNEL, UINT64_C(0xa56f2983c734ec5f) },
		{ CL_COMPUTE_CHECKSUM, UINT64_C(0xde0f885fbae00cbd) }
	};
	struct cl_compute *c;
	uint8_t p[1000];
	size_t i;

	for (i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)(i * i / 7);
	for (i = 0; i < sizeof(example) / sizeof(example[0]); i++) {
		c = open_kind(example[i].kind, 1);
		assert(expert(c, p, sizeof(p)) == example[i].want);
		cl_compute_free(c);
	}
}

static void
chained(void)
{
	uint64_t a = cl_compute_chain(cl_compute_chain(0, 11), 12);

	assert(a == cl_hash_mix(cl_hash_mix(0, 11), 12));
	assert(a != cl_compute_chain(cl_compute_chain(0, 12), 11));
}

static void
nothing(void)
{
	struct cl_compute *c = open_kind(CL_COMPUTE_NONE, SEED);
	const struct cl_compute_slab absent = { NULL, 1000 };

	assert(cl_compute_expert(c, 1, 2, &absent, 1) == 0);
	assert(cl_compute_form(c) == NULL);
	cl_compute_free(c);
	cl_compute_free(NULL);
}

static void
names(void)
{
	static const char *const kinds[] = { "kernel", "checksum", "none" };
	struct cl_compute *c = open_kind(CL_COMPUTE_KERNEL, SEED);
	struct cl_err err = { 0 };
	const char *name, *last = NULL;
	size_t i;

	for (i = 0; i < 3; i++)
		assert(strcmp(cl_compute_kind_name(
		    cl_compute_kind_by_name(kinds[i])), kinds[i]) == 0);
	assert(cl_compute_kind_by_name("kernels") == 0);
	assert(strcmp(cl_compute_form(c), cl_compute_forms(0)) == 0);
	for (i = 0; (name = cl_compute_forms(i)) != NULL; i++) {
		assert(cl_compute_set_form(c, name, &err) == CL_OK);
		assert(strcmp(cl_compute_form(c), name) == 0);
		last = name;
	}
	assert(strcmp(last, "portable") == 0);
	assert(cl_compute_forms(i + 1) == NULL);
	assert(cl_compute_set_form(c, "abacus", &err) == CL_EINVAL);
	assert(strcmp(err.msg, "the kernel has no form \"abacus\" on this "
	    "processor") == 0);
	assert(strcmp(cl_compute_form(c), "portable") == 0);
	cl_compute_free(c);
}

static void
busy(void)
{

	assert(cl_compute_busy(0) == 0);
	assert(cl_compute_busy(50000) >= 50000);
}

static const struct unit units[] = {
	{ "every form of the kernel computes what is defined", forms },
	{ "the largest and least sums of a block fit every form", extremes },
	{ "the hash computes what is defined", hash },
	{ "a flipped bit changes the checksum, whichever it is", flips },
	{ "pieces that trade places change the checksum", swaps },
	{ "layer, expert, slab and seed change the checksum", places },
	{ "the checksums of the examples stay what they are", examples },
	{ "a run's checksum depends on the order of its experts", chained },
	{ "without computing, no byte is looked at", nothing },
	{ "kinds and forms go by their names", names },
	{ "a busy wait is as long as it was asked to be", busy }
};

UNIT_MAIN(units)
