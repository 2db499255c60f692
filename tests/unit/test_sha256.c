/*
 * SHA-256 against the examples of FIPS 180-2, and against itself in pieces.
 */

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "cl/sha256.h"
#include "unit.h"

static const char *
digest(const void *p, size_t n, char buf[CL_SHA256_TEXT])
{
	struct cl_sha256 s;

	cl_sha256_init(&s);
	cl_sha256_add(&s, p, n);
	return (cl_sha256_end(&s, buf));
}

static void
examples_agree(void)
{
	static const char two[] =
	    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char buf[CL_SHA256_TEXT];

	assert(strcmp(digest("", 0, buf), "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855") == 0);
	assert(strcmp(digest("abc", 3, buf), "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad") == 0);
	assert(strcmp(digest(two, strlen(two), buf),
	    "248d6a61d20638b8e5c026930c3e6039"
	    "a33ce45964ff2167f6ecedd419db06c1") == 0);
}

static void
a_million_agrees(void)
{
	static char a[1000];
	struct cl_sha256 s;
	char buf[CL_SHA256_TEXT];
	unsigned i;

	memset(a, 'a', sizeof(a));
	cl_sha256_init(&s);
	for (i = 0; i < 1000; i++)
		cl_sha256_add(&s, a, sizeof(a));
	assert(strcmp(cl_sha256_end(&s, buf), "cdc76e5c9914fb9281a1c7e284d73e67"
	    "f1809a48a497200e046d39ccc7112cd0") == 0);
}

static void
pieces_agree(void)
{
	uint8_t data[300];
	char whole[CL_SHA256_TEXT], buf[CL_SHA256_TEXT];
	struct cl_sha256 s;
	size_t n, cut;

	for (n = 0; n < sizeof(data); n++)
		data[n] = (uint8_t)(n * 7);
	for (n = 0; n <= sizeof(data); n++) {
		(void)digest(data, n, whole);
		for (cut = 0; cut <= n; cut += 13) {
			cl_sha256_init(&s);
			cl_sha256_add(&s, data, cut);
			cl_sha256_add(&s, data + cut, n - cut);
			assert(strcmp(cl_sha256_end(&s, buf), whole) == 0);
		}
	}
}

static const struct unit units[] = {
	{ "the examples of the standard come out", examples_agree },
	{ "a million letters come out", a_million_agrees },
	{ "it does not matter how the bytes are cut", pieces_agree },
};

UNIT_MAIN(units)
