/*
 * model/gguf: keys are typed, and tensors are where their records say or are
 * refused.  Files are made byte by byte, or by the writer of tests/gen.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cl/buf.h"
#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/hash.h"
#include "../gen/gguf_out.h"
#include "gguf_open.h"
#include "unit.h"

static void
types_are_those_of_ggml(void)
{
	/* From the structures in llama.cpp's ggml-common.h, 2026-07. */
	static const struct {
		uint32_t id, elems, nbytes;
		const char *name;
	} want[] = {
		{ 0, 1, 4, "f32" }, { 1, 1, 2, "f16" }, { 2, 32, 18, "q4_0" },
		{ 3, 32, 20, "q4_1" }, { 6, 32, 22, "q5_0" },
		{ 7, 32, 24, "q5_1" }, { 8, 32, 34, "q8_0" },
		{ 9, 32, 36, "q8_1" }, { 10, 256, 84, "q2_K" },
		{ 11, 256, 110, "q3_K" }, { 12, 256, 144, "q4_K" },
		{ 13, 256, 176, "q5_K" }, { 14, 256, 210, "q6_K" },
		{ 15, 256, 292, "q8_K" }, { 16, 256, 66, "iq2_xxs" },
		{ 17, 256, 74, "iq2_xs" }, { 18, 256, 98, "iq3_xxs" },
		{ 19, 256, 50, "iq1_s" }, { 20, 32, 18, "iq4_nl" },
		{ 21, 256, 110, "iq3_s" }, { 22, 256, 82, "iq2_s" },
		{ 23, 256, 136, "iq4_xs" }, { 24, 1, 1, "i8" },
		{ 25, 1, 2, "i16" }, { 26, 1, 4, "i32" }, { 27, 1, 8, "i64" },
		{ 28, 1, 8, "f64" }, { 29, 256, 56, "iq1_m" },
		{ 30, 1, 2, "bf16" }, { 34, 256, 54, "tq1_0" },
		{ 35, 256, 66, "tq2_0" }, { 39, 32, 17, "mxfp4" },
		{ 40, 64, 36, "nvfp4" }, { 41, 128, 18, "q1_0" },
		{ 42, 64, 18, "q2_0" },
	};
	const struct cl_gguf_type *t;
	size_t i, known = 0;
	uint32_t id;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		t = cl_gguf_type(want[i].id);
		assert(t != NULL && t->elems == want[i].elems &&
		    t->nbytes == want[i].nbytes &&
		    strcmp(t->name, want[i].name) == 0);
		assert(!cl_gguf_type_retired(want[i].id));
	}
	for (id = 0; id < 1000; id++)
		known += cl_gguf_type(id) != NULL;
	assert(known == i && cl_gguf_type(UINT32_MAX) == NULL);
}

static void
retired_types_are_refused_by_number(void)
{
	static const uint32_t ids[] = { 4, 5, 31, 32, 33, 36, 37, 38 };
	struct gout o;
	char words[32];
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		gout_init(&o);
		(void)gout_tensor(&o, "t", ids[i], 1, 32, 1, 1);
		(void)snprintf(words, sizeof(words), "type %u", ids[i]);
		refused(open_out(&o), CL_ENOTSUP, words);
	}
}

static void
keys_are_typed(void)
{
	struct gout o;
	struct cl_gguf *g;
	uint32_t u, v[3];
	float f;
	bool b;
	char *s;

	put_sample(&o);
	g = open_out(&o);
	assert(g != NULL);
	assert(cl_gguf_u32(g, "m.four", 9, &u, &err) == 0 && u == 4);
	assert(cl_gguf_u32(g, "m.none", 9, &u, &err) == 0 && u == 9);
	assert(cl_gguf_u32(g, "m.short", 9, &u, &err) == 0 && u == 65535);
	assert(cl_gguf_f32(g, "m.half", 1, &f, &err) == 0 && f == 0.5f);
	assert(cl_gguf_f32(g, "m.double", 1, &f, &err) == 0 && f == 0.75f);
	assert(cl_gguf_f32(g, "m.none", 1, &f, &err) == 0 && f == 1);
	assert(cl_gguf_bool(g, "m.yes", false, &b, &err) == 0 && b);
	assert(cl_gguf_bool(g, "m.none", true, &b, &err) == 0 && b);
	assert(cl_gguf_has(g, "m.four") && !cl_gguf_has(g, "m.none"));
	s = cl_gguf_strdup(g, "general.architecture", "", &err);
	assert(s != NULL && strcmp(s, "m") == 0);
	free(s);
	s = cl_gguf_strdup(g, "m.nul", "", &err);
	assert(s != NULL && strcmp(s, "a?b") == 0);
	free(s);
	s = cl_gguf_strdup(g, "general.name", "none", &err);
	assert(s != NULL && strcmp(s, "none") == 0);
	free(s);
	assert(cl_gguf_u32(g, "m.wide", 9, &u, NULL) == CL_EFORMAT);
	assert(cl_gguf_u32(g, "m.minus", 9, &u, NULL) == CL_EFORMAT);
	assert(cl_gguf_u32(g, "m.half", 9, &u, NULL) == CL_EFORMAT);
	assert(cl_gguf_u32(g, "m.yes", 9, &u, NULL) == CL_EFORMAT);
	assert(cl_gguf_u32(g, "m.layers", 9, &u, NULL) == CL_EFORMAT);
	assert(cl_gguf_f32(g, "m.four", 9, &f, NULL) == CL_EFORMAT);
	assert(cl_gguf_bool(g, "m.four", true, &b, NULL) == CL_EFORMAT);
	assert(cl_gguf_bool(g, "m.half", true, &b, NULL) == CL_EFORMAT);
	assert(cl_gguf_layers(g, "m.half", 9, v, 3, NULL) == CL_EFORMAT);
	assert(cl_gguf_layers(g, "m.minuses", 9, v, 1, NULL) == CL_EFORMAT);
	assert(cl_gguf_strdup(g, "m.four", "", NULL) == NULL);
	assert(cl_gguf_layers(g, "m.words", 9, v, 1, NULL) == CL_EFORMAT);
	cl_gguf_close(g);
}

static void
layers_take_scalars_and_arrays(void)
{
	struct gout o;
	struct cl_gguf *g;
	uint32_t v[4];

	put_sample(&o);
	g = open_out(&o);
	assert(g != NULL);
	assert(cl_gguf_layers(g, "m.layers", 9, v, 3, &err) == 0);
	assert(v[0] == 3 && v[1] == 5 && v[2] == 7);
	assert(cl_gguf_layers(g, "m.signed", 9, v, 3, &err) == 0 && v[2] == 7);
	assert(cl_gguf_layers(g, "m.four", 9, v, 3, &err) == 0);
	assert(v[0] == 4 && v[2] == 4);
	assert(cl_gguf_layers(g, "m.none", 9, v, 3, &err) == 0 && v[1] == 9);
	assert(cl_gguf_layers(g, "m.layers", 9, v, 4, &err) == CL_EFORMAT);
	assert(strstr(err.msg, "3 entries, and the model 4 layers") != NULL);
	assert(cl_gguf_layers(g, "m.layers", 9, v, 2, NULL) == CL_EFORMAT);
	cl_gguf_close(g);
}

static void
tensors_are_placed(void)
{
	const struct cl_gguf_tensor *t;
	struct gout o;
	struct cl_gguf *g;

	put_sample(&o);
	g = open_out(&o);
	assert(g != NULL && cl_gguf_ntensors(g) == 2);
	t = cl_gguf_tensor(g, 0);
	assert(strcmp(t->name, "a") == 0 && t->nbytes == 28 && t->known);
	assert(t->off == cl_gguf_data(g) + 224);	/* 204, padded */
	assert(t->ne[0] == 7 && t->ne[1] == 1 && t->ndims == 1);
	t = cl_gguf_find(g, "b");
	assert(t != NULL && t == cl_gguf_tensor(g, 1));
	assert(t->off == cl_gguf_data(g) && t->nbytes == 3 * 2 * 34);
	assert(t->ne[0] == 64 && t->ne[1] == 3 && t->ne[2] == 1);
	assert(cl_gguf_find(g, "c") == NULL);
	assert(cl_gguf_size(g) == cl_gguf_data(g) + 224 + 32);
	cl_gguf_close(g);
}

static void
the_head_is_hashed_up_to_the_data(void)
{
	struct gout o;
	struct cl_gguf *g;
	struct cl_buf head;
	struct cl_hash h;

	put_sample(&o);
	cl_buf_init(&head);
	gout_head(&o, &head);
	cl_hash_init(&h);
	cl_hash_add(&h, head.p, head.n);
	g = open_out(&o);
	assert(g != NULL && cl_gguf_data(g) == head.n);
	assert(cl_gguf_head_hash(g) == cl_hash_end(&h));
	cl_gguf_close(g);
	cl_buf_free(&head);
}

static void
fill_count(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	size_t i;

	(void)t;
	(void)off;
	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(i % 2 == 0 ? 0 : 0x3c + i / 2);
}

/* The least half, its like below 0, infinity, the greatest half. */
static void
fill_extremes(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	static const uint8_t halves[] = { 1, 0, 1, 0x80, 0, 0x7c, 0xff, 0x7b };

	(void)t;
	(void)off;
	assert(n == sizeof(halves));
	memcpy(p, halves, n);
}

static void
weights_of_three_types_are_floats(void)
{
	struct gout o;
	struct cl_gguf *g;
	float v[4], f32[2];

	gout_init(&o);
	gout_tensor(&o, "bf16", GOUT_T_BF16, 1, 4, 1, 1)->fill = fill_count;
	gout_tensor(&o, "f16", GOUT_T_F16, 1, 4, 1, 1)->fill = fill_count;
	gout_tensor(&o, "f32", GOUT_T_F32, 1, 2, 1, 1)->fill = fill_count;
	gout_tensor(&o, "edges", GOUT_T_F16, 1, 4, 1, 1)->fill =
	    fill_extremes;
	(void)gout_tensor(&o, "q8", GOUT_T_Q8_0, 1, 32, 1, 1);
	g = open_out(&o);
	assert(g != NULL);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "f16"), v, 4, &err) == 0);
	assert(v[0] == 1 && v[1] == 1.25f && v[2] == 1.5f && v[3] == 1.75f);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "edges"), v, 4, &err) ==
	    0);
	assert(v[0] == 0x1p-24f && v[1] == -0x1p-24f && v[2] > 1e38f &&
	    v[3] == 65504);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "bf16"), v, 4, &err) == 0);
	assert(v[0] == 0x1p-7f && v[1] == 0x1p-5f && v[2] == 0x1p-3f);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "f32"), f32, 2, &err) ==
	    0);
	assert(f32[0] > 0.03f && f32[0] < 0.04f);	/* 0x3d003c00 */
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "f32"), v, 3, NULL) ==
	    CL_EFORMAT);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "q8"), v, 4, NULL) ==
	    CL_ENOTSUP);
	cl_gguf_close(g);
}

static void
products_do_not_wrap(void)
{
	struct gout_tensor *t;
	struct gout o;

	gout_init(&o);
	t = gout_tensor(&o, "blk.0.ffn_gate_exps.weight", GOUT_T_F32, 3, 8, 8,
	    1);
	t->ne[0] = UINT64_C(1) << 42;
	t->ne[1] = UINT64_C(1) << 22;
	refused(open_out(&o), CL_EFORMAT, "blk.0.ffn_gate_exps.weight "
	    "[4398046511104 x 4194304 x 1] is larger than 64 bits can say");
	gout_init(&o);				/* elements fit, bytes do not */
	gout_tensor(&o, "t", GOUT_T_F32, 1, 8, 1, 1)->ne[0] =
	    UINT64_C(1) << 62;
	refused(open_out(&o), CL_EFORMAT, "is larger than 64 bits can say");
	gout_init(&o);				/* of a type not known */
	t = gout_tensor(&o, "t", 200, 2, 8, 8, 1);
	t->ne[0] = t->ne[1] = UINT64_C(1) << 33;
	refused(open_out(&o), CL_EFORMAT, "is larger than 64 bits can say");
}

static void
sums_do_not_wrap(void)
{
	struct gout o;
	int i;
	char name[8];

	gout_init(&o);
	for (i = 0; i < 5; i++) {
		(void)snprintf(name, sizeof(name), "t%d", i);
		gout_tensor(&o, name, GOUT_T_F32, 1, 8, 1, 1)->ne[0] =
		    UINT64_C(1) << 60;
		o.t[i].off = (uint64_t)i << 62;
	}
	refused(open_out(&o), CL_EFORMAT, "the tensor t0 [1152921504606846976]"
	    " needs a file of");
	gout_init(&o);
	gout_tensor(&o, "t", GOUT_T_F32, 1, 8, 1, 1)->off = UINT64_MAX - 31;
	refused(open_out(&o), CL_EFORMAT, "beyond what 64 bits can say");
	gout_init(&o);
	gout_tensor(&o, "t", GOUT_T_F32, 1, 8, 1, 1)->off =
	    UINT64_C(1) << 63;
	refused(open_out(&o), CL_EFORMAT, "needs a file of");
}

static void
dimensions_are_at_most_four(void)
{
	struct gout_tensor *t;
	struct gout o;
	uint32_t d;

	for (d = 0; d <= 5; d++) {
		gout_init(&o);
		t = gout_tensor(&o, "t", GOUT_T_F32, d, 1, 1, 1);
		t->ne[3] = t->ne[4] = 1;
		if (d <= 4)
			accepted(open_out(&o));
		else
			refused(open_out(&o), CL_EFORMAT,
			    "5 dimensions, at most 4");
	}
	gout_init(&o);
	gout_tensor(&o, "t", GOUT_T_F32, 1, 1, 1, 1)->ndims = 7;
	refused(open_out(&o), CL_EFORMAT, "7 dimensions, at most 4");
}

static void
tensors_without_weights_pass(void)
{
	struct gout o;
	struct cl_gguf *g;

	gout_init(&o);
	(void)gout_tensor(&o, "a", GOUT_T_F32, 2, 8, 0, 1);
	(void)gout_tensor(&o, "b", GOUT_T_Q8_0, 2, 0, 8, 1);
	(void)gout_tensor(&o, "c", GOUT_T_F32, 1, 8, 1, 1);
	g = open_out(&o);
	assert(g != NULL && cl_gguf_find(g, "a")->nbytes == 0);
	assert(cl_gguf_find(g, "b")->nbytes == 0);
	assert(cl_gguf_find(g, "c")->nbytes == 32);
	cl_gguf_close(g);
}

static void
rows_are_whole_blocks(void)
{
	struct gout o;

	gout_init(&o);
	gout_tensor(&o, "t", GOUT_T_Q8_0, 1, 32, 1, 1)->ne[0] = 33;
	refused(open_out(&o), CL_EFORMAT, "not whole q8_0 blocks of 32");
}

static void
tensors_do_not_overlap(void)
{
	struct gout o;

	gout_init(&o);
	(void)gout_tensor(&o, "a", GOUT_T_F32, 1, 16, 1, 1);
	gout_tensor(&o, "b", GOUT_T_F32, 1, 16, 1, 1)->off = 32;
	refused(open_out(&o), CL_EFORMAT, "overlap");
	gout_init(&o);
	(void)gout_tensor(&o, "a", GOUT_T_F32, 1, 16, 1, 1);
	gout_tensor(&o, "b", GOUT_T_F32, 1, 16, 1, 1)->off = 65;
	refused(open_out(&o), CL_EFORMAT, "not a multiple of the alignment");
}

static void
unknown_types_end_at_the_next_tensor(void)
{
	struct gout o;
	struct cl_gguf *g;
	const struct cl_gguf_tensor *t;

	gout_init(&o);
	(void)gout_tensor(&o, "a", 200, 1, 96, 1, 1);
	(void)gout_tensor(&o, "b", GOUT_T_F32, 1, 8, 1, 1);
	(void)gout_tensor(&o, "c", 200, 1, 64, 1, 1);
	g = open_out(&o);
	assert(g != NULL);
	t = cl_gguf_find(g, "a");
	assert(!t->known && t->type == 200 && t->nbytes == 96);
	assert(cl_gguf_find(g, "b")->known);
	assert(cl_gguf_find(g, "c")->nbytes == 64);
	cl_gguf_close(g);
}

static void
a_cut_file_is_refused_at_every_byte(void)
{
	struct gout o;
	struct cl_buf file;
	size_t n, head;

	put_sample(&o);
	cl_buf_init(&file);
	gout_head(&o, &file);
	head = file.n;
	for (n = 0; n < o.data; n++)
		cl_buf_u8(&file, 0);
	gout_free(&o);
	for (n = 0; n < head; n++)
		refused(open_bytes(file.p, n), CL_EFORMAT, "byte");
	for (; n < head + 224 + 28; n++)	/* the end of the last tensor */
		refused(open_bytes(file.p, n), CL_EFORMAT, "needs a file of");
	accepted(open_bytes(file.p, n));	/* its padding may be missing */
	accepted(open_bytes(file.p, file.n));
	cl_buf_free(&file);
}

static void
a_file_that_shrinks_is_noticed(void)
{
	struct gout o;
	struct cl_gguf *g;
	char path[64];
	float v[7];

	put_sample(&o);
	(void)gout_write(&o, temp_path(path));
	gout_free(&o);
	memset(&err, 0, sizeof(err));
	g = cl_gguf_open(path, &err);
	assert(g != NULL);
	assert(truncate(path, (off_t)cl_gguf_data(g) + 228) == 0);
	assert(cl_gguf_read_f32(g, cl_gguf_find(g, "a"), v, 7, &err) ==
	    CL_ECUT);
	assert(strstr(err.msg, "when it was opened") != NULL);
	cl_gguf_close(g);
	(void)unlink(path);
}

static struct cl_gguf *
open_path(const char *path)
{

	memset(&err, 0, sizeof(err));
	return (cl_gguf_open(path, &err));
}

static void
links_are_followed_and_what_is_no_file_refused(void)
{
	char path[64], dir[64], blob[96], link_path[96];
	struct gout o;

	(void)snprintf(dir, sizeof(dir), "%s", temp_path(path));
	(void)unlink(dir);
	assert(mkdir(dir, 0700) == 0);
	(void)snprintf(blob, sizeof(blob), "%s/blob", dir);
	(void)snprintf(link_path, sizeof(link_path), "%s/m.gguf", dir);
	put_sample(&o);
	(void)gout_write(&o, blob);
	gout_free(&o);
	assert(symlink("blob", link_path) == 0);
	accepted(open_path(link_path));
	assert(unlink(blob) == 0);
	refused(open_path(link_path), CL_EIO, "m.gguf: cannot open: ");
	assert(symlink("m.gguf", blob) == 0);	/* a loop */
	refused(open_path(link_path), CL_EIO, "m.gguf: cannot open: ");
	assert(unlink(blob) == 0 && unlink(link_path) == 0);
	assert(mkfifo(link_path, 0600) == 0);
	refused(open_path(link_path), CL_EINVAL, "not a regular file");
	assert(unlink(link_path) == 0);
	refused(open_path(dir), CL_EINVAL, "not a regular file");
	assert(rmdir(dir) == 0);
}

/* The end of each tensor, padded, is where another begins: sizes are right. */
static void
the_shipped_model_has_no_gaps(void)
{
	struct cl_gguf *g = open_path("tests/models/cl-moe-8x64.gguf");
	const struct cl_gguf_tensor *t, *u;
	size_t i, j, n, last = 0;
	uint64_t end;

	assert(g != NULL && (n = cl_gguf_ntensors(g)) == 99);
	for (i = 0; i < n; i++) {
		t = cl_gguf_tensor(g, i);
		end = (t->off + t->nbytes + 31) / 32 * 32;
		for (j = 0; j < n; j++) {
			u = cl_gguf_tensor(g, j);
			if (u->off == end)
				break;
		}
		last += j == n && end == cl_gguf_size(g);
		assert(j < n || end == cl_gguf_size(g));
	}
	assert(last == 1);
	cl_gguf_close(g);
}

static const struct unit units[] = {
	{ "types have the block sizes of ggml", types_are_those_of_ggml },
	{ "retired types are refused by number",
	    retired_types_are_refused_by_number },
	{ "keys have the type they are asked for, or are refused",
	    keys_are_typed },
	{ "a key for layers is a scalar or an array of their number",
	    layers_take_scalars_and_arrays },
	{ "tensors are found where they lie", tensors_are_placed },
	{ "the head is hashed up to the data",
	    the_head_is_hashed_up_to_the_data },
	{ "f32, f16 and bf16 are read as floats, others refused",
	    weights_of_three_types_are_floats },
	{ "a shape whose product wraps is refused", products_do_not_wrap },
	{ "a place whose sum wraps is refused", sums_do_not_wrap },
	{ "dimensions are at most four", dimensions_are_at_most_four },
	{ "a tensor without weights passes", tensors_without_weights_pass },
	{ "rows that are not whole blocks are refused",
	    rows_are_whole_blocks },
	{ "tensors that overlap or are out of step are refused",
	    tensors_do_not_overlap },
	{ "a tensor of unknown type ends where the next begins",
	    unknown_types_end_at_the_next_tensor },
	{ "a file cut at any byte is refused",
	    a_cut_file_is_refused_at_every_byte },
	{ "a file that shrinks while open is noticed",
	    a_file_that_shrinks_is_noticed },
	{ "links are followed, what is no file is refused",
	    links_are_followed_and_what_is_no_file_refused },
	{ "the tensors of the shipped model lie back to back",
	    the_shipped_model_has_no_gaps },
};

UNIT_MAIN(units)
