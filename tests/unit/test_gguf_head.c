/*
 * model/gguf: what a head may claim, and what it may not, up to the tensors.
 * Files are made byte by byte, or by the writer of tests/gen.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/gguf.h"
#include "../gen/gguf_out.h"
#include "gguf_open.h"
#include "unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED	1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	1
#endif
#ifndef SANITIZED
#define SANITIZED	0
#endif

#define LITTLE_MEMORY	(64 << 20)	/* for the whole program */


static void
versions_2_and_3_are_read(void)
{
	static const uint32_t bad[] = { 0, 1, 4, 65535 };
	struct gout o;
	char words[64];
	size_t i;

	put_sample(&o);
	o.version = 2;
	accepted(open_out(&o));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_sample(&o);
		o.version = bad[i];
		(void)snprintf(words, sizeof(words), "GGUF version %u; 2 and "
		    "3 are understood", bad[i]);
		refused(open_out(&o), CL_ENOTSUP, words);
	}
}

static void
big_endian_files_are_called_so(void)
{
	struct gout o;

	gout_init(&o);
	o.big = true;
	gout_str(&o, "general.architecture", "m");
	refused(open_out(&o), CL_ENOTSUP, "a big-endian file");
}

static void
other_files_are_refused(void)
{

	refused(open_bytes("", 0), CL_EFORMAT, "4 bytes are needed");
	refused(open_bytes("GGU", 3), CL_EFORMAT, "4 bytes are needed");
	refused(open_bytes("\177ELF\2\1\1\0", 8), CL_EFORMAT,
	    "not a GGUF file");
	refused(open_bytes("GGUF\3\0\0\0\0\0\0", 11), CL_EFORMAT,
	    "8 bytes are needed and 3 are left");
}

/* So little memory that a claim believed would be felt. */
static void
little_memory(struct rlimit *old)
{
	struct rlimit r;

	assert(getrlimit(RLIMIT_AS, old) == 0);
	r = *old;
	r.rlim_cur = LITTLE_MEMORY;
	if (!SANITIZED)
		assert(setrlimit(RLIMIT_AS, &r) == 0);
}

static void
claims_of_counts_cost_nothing(void)
{
	static const uint64_t many[][2] = { { 0, UINT64_C(1) << 32 },
	    { UINT64_C(1) << 60, 0 },
	    { UINT64_C(1) << 63, UINT64_C(1) << 63 }, { 0, 1 }, { 1, 0 },
	    { UINT64_MAX, 0 }, { 0, UINT64_MAX } };
	struct rlimit old;
	struct cl_buf b;
	size_t i;

	little_memory(&old);
	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		put_start(&b, many[i][0], many[i][1]);
		refused(open_buf(&b), CL_EFORMAT,
		    "are claimed; the 0 bytes left cannot hold more than 0");
	}
	assert(setrlimit(RLIMIT_AS, &old) == 0);
}

static void
claims_of_lengths_cost_nothing(void)
{
	static const uint64_t lengths[] = { UINT64_C(0xffffffffffff),
	    (UINT64_C(1) << 32) + 4, UINT64_MAX, UINT64_MAX - 7, 100 };
	struct rlimit old;
	struct cl_buf b;
	size_t i;

	little_memory(&old);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_start(&b, 0, 1);		/* of a key's name */
		cl_buf_u64(&b, lengths[i]);
		cl_buf_bytes(&b, "keykeykey", 9);
		refused(open_buf(&b), CL_EFORMAT, "bytes are needed and 9 are "
		    "left");
		put_start(&b, 0, 1);		/* of a string */
		cl_buf_u64(&b, 1);
		cl_buf_u8(&b, 'k');
		cl_buf_u32(&b, GOUT_STR);
		cl_buf_u64(&b, lengths[i]);
		refused(open_buf(&b), CL_EFORMAT, "bytes are needed and 0 are "
		    "left");
		put_start(&b, 0, 1);		/* of an array of strings */
		cl_buf_u64(&b, 1);
		cl_buf_u8(&b, 'k');
		cl_buf_u32(&b, GOUT_ARR);
		cl_buf_u32(&b, GOUT_STR);
		cl_buf_u64(&b, lengths[i]);
		refused(open_buf(&b), CL_EFORMAT, "bytes are needed and 0 are "
		    "left");
		put_start(&b, 0, 1);		/* of an array of numbers */
		cl_buf_u64(&b, 1);
		cl_buf_u8(&b, 'k');
		cl_buf_u32(&b, GOUT_ARR);
		cl_buf_u32(&b, GOUT_U64);
		cl_buf_u64(&b, lengths[i]);
		refused(open_buf(&b), CL_EFORMAT, "bytes are needed and 0 are "
		    "left");
	}
	assert(setrlimit(RLIMIT_AS, &old) == 0);
}

static void
large_vocabularies_are_stepped_over(void)
{
	uint32_t per_layer[128], got[128], i;
	struct gout o;
	struct cl_gguf *g;
	char word[16];

	gout_init(&o);
	gout_arr(&o, "tokenizer.ggml.tokens", GOUT_STR, 200000);
	for (i = 0; i < 200000; i++) {
		(void)snprintf(word, sizeof(word), "token%u", i);
		gout_put_str(&o, &o.kv, word, strlen(word));
	}
	gout_arr(&o, "tokenizer.ggml.merges", GOUT_STR, 400000);
	for (i = 0; i < 400000; i++)
		gout_put_str(&o, &o.kv, word, i % sizeof(word));
	for (i = 0; i < 128; i++)
		per_layer[i] = i * 3;
	gout_arr_u32(&o, "m.layers", GOUT_I32, per_layer, 128);
	g = open_out(&o);
	assert(g != NULL);
	assert(cl_gguf_layers(g, "m.layers", 0, got, 128, &err) == CL_OK);
	assert(memcmp(got, per_layer, sizeof(got)) == 0);
	cl_gguf_close(g);
}

static void
alignment_is_a_power_of_two(void)
{
	static const struct {
		uint32_t align;
		bool good;
	} cases[] = { { 0, false }, { 3, false }, { 48, false },
	    { UINT32_MAX, false }, { 1u << 25, false }, { 1u << 31, false },
	    { 1, true }, { 8, true }, { 32, true }, { 4096, true } };
	struct gout o;
	size_t i;
	int tensors;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (tensors = 0; tensors < 2; tensors++) {
			gout_init(&o);
			if (cases[i].good)
				o.align = cases[i].align;
			gout_u32(&o, "general.alignment", cases[i].align);
			if (tensors > 0)
				(void)gout_tensor(&o, "t", GOUT_T_F32, 1, 8,
				    1, 1);
			if (cases[i].good)
				accepted(open_out(&o));
			else
				refused(open_out(&o), CL_EFORMAT,
				    "must be a power of two");
		}
	gout_init(&o);
	gout_str(&o, "general.alignment", "32");
	refused(open_out(&o), CL_EFORMAT, "not an integer");
}

static void
arrays_nest_four_deep(void)
{
	struct cl_buf b;
	int depth, i;

	for (depth = 4; depth <= 5; depth++) {
		put_start(&b, 0, 1);
		cl_buf_u64(&b, 1);
		cl_buf_u8(&b, 'k');
		cl_buf_u32(&b, GOUT_ARR);
		for (i = 1; i < depth; i++) {
			cl_buf_u32(&b, GOUT_ARR);
			cl_buf_u64(&b, 1);
		}
		cl_buf_u32(&b, GOUT_U8);
		cl_buf_u64(&b, 1);
		cl_buf_u8(&b, 7);
		if (depth == 4)
			accepted(open_buf(&b));
		else
			refused(open_buf(&b), CL_ENOTSUP, "4 deep");
	}
}

static void
unknown_value_types_are_refused(void)
{
	struct cl_buf b;

	put_start(&b, 0, 1);
	cl_buf_u64(&b, 1);
	cl_buf_u8(&b, 'k');
	cl_buf_u32(&b, 13);
	refused(open_buf(&b), CL_ENOTSUP, "value of unknown type 13");
	put_start(&b, 0, 1);
	cl_buf_u64(&b, 1);
	cl_buf_u8(&b, 'k');
	cl_buf_u32(&b, GOUT_ARR);
	cl_buf_u32(&b, 99);
	cl_buf_u64(&b, 0);
	refused(open_buf(&b), CL_ENOTSUP, "array of unknown type 99");
}

static struct cl_gguf *
open_with_name(size_t n, bool nul)
{
	struct cl_buf b;
	size_t i;

	put_start(&b, 1, 0);
	cl_buf_u64(&b, n);
	for (i = 0; i < n; i++)
		cl_buf_u8(&b, nul && i == 1 ? 0 : 'n');
	cl_buf_u32(&b, 1);
	cl_buf_u64(&b, 8);
	cl_buf_u32(&b, GOUT_T_F32);
	cl_buf_u64(&b, 0);
	while (b.n % 32 != 0)
		cl_buf_u8(&b, 0);
	for (i = 0; i < 32; i++)
		cl_buf_u8(&b, 0);
	return (open_buf(&b));
}

static void
names_have_lengths(void)
{
	struct cl_buf b;

	refused(open_with_name(0, false), CL_EFORMAT, "a name of 0 bytes");
	accepted(open_with_name(1, false));
	accepted(open_with_name(63, false));
	accepted(open_with_name(64, false));
	accepted(open_with_name(300, false));
	accepted(open_with_name(1024, false));
	refused(open_with_name(1025, false), CL_EFORMAT,
	    "a name of 1025 bytes; 1 to 1024");
	refused(open_with_name(5, true), CL_EFORMAT, "a NUL in its name");
	put_start(&b, 0, 1);
	cl_buf_u64(&b, 0);
	cl_buf_u32(&b, GOUT_U8);
	cl_buf_u8(&b, 1);
	refused(open_buf(&b), CL_EFORMAT, "key 0 at byte 24: a name of 0");
}

static void
doubled_names_are_refused_with_both_places(void)
{
	struct gout o;

	gout_init(&o);
	gout_u32(&o, "m.expert_count", 8);
	gout_u32(&o, "m.other", 8);
	gout_u32(&o, "m.expert_count", 16);
	refused(open_out(&o), CL_EFORMAT,
	    "the key m.expert_count stands at byte 24 and again at byte 77");
	gout_init(&o);
	(void)gout_tensor(&o, "blk.0.x", GOUT_T_F32, 1, 8, 1, 1);
	(void)gout_tensor(&o, "blk.1.x", GOUT_T_F32, 1, 8, 1, 1);
	(void)gout_tensor(&o, "blk.0.x", GOUT_T_F32, 1, 8, 1, 1);
	refused(open_out(&o), CL_EFORMAT,
	    "the tensor blk.0.x stands at byte 24 and again at byte 102");
}

static void
many_tensors_are_no_trouble(void)
{
	struct gout o;
	struct cl_gguf *g;
	char name[32];
	uint32_t i;

	gout_init(&o);
	for (i = 0; i < 100000; i++) {
		(void)snprintf(name, sizeof(name), "blk.%u.t", i);
		(void)gout_tensor(&o, name, GOUT_T_F32, 1, 1, 1, 1);
	}
	g = open_out(&o);
	assert(g != NULL && cl_gguf_ntensors(g) == 100000);
	assert(cl_gguf_find(g, "blk.99999.t")->off ==
	    cl_gguf_data(g) + 99999 * 32);
	cl_gguf_close(g);
}

static void
names_are_harmless_in_messages(void)
{
	struct gout o;

	gout_init(&o);
	(void)gout_tensor(&o, "a\033[2J\n\xff", GOUT_T_F32, 1, 8, 1, 1);
	(void)gout_tensor(&o, "a\033[2J\n\xff", GOUT_T_F32, 1, 8, 1, 1);
	refused(open_out(&o), CL_EFORMAT, "the tensor a?[2J?? stands");
}
static const struct unit units[] = {
	{ "versions 2 and 3 are read, others refused by number",
	    versions_2_and_3_are_read },
	{ "a big-endian file is called so", big_endian_files_are_called_so },
	{ "a file that is no GGUF is refused", other_files_are_refused },
	{ "counts that cannot be are refused before they cost memory",
	    claims_of_counts_cost_nothing },
	{ "lengths that cannot be are refused before they cost memory",
	    claims_of_lengths_cost_nothing },
	{ "what stands behind a large vocabulary arrives whole",
	    large_vocabularies_are_stepped_over },
	{ "an alignment that is no power of two is refused",
	    alignment_is_a_power_of_two },
	{ "arrays nest four deep and no deeper", arrays_nest_four_deep },
	{ "values of unknown type are refused by number",
	    unknown_value_types_are_refused },
	{ "names have 1 to 1024 bytes", names_have_lengths },
	{ "doubled names are refused with both places",
	    doubled_names_are_refused_with_both_places },
	{ "a hundred thousand tensors are found by name",
	    many_tensors_are_no_trouble },
	{ "names are harmless in messages", names_are_harmless_in_messages },
};

UNIT_MAIN(units)
