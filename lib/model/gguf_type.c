/*
 * The types of GGUF tensors by ggml's number, and the sizes of values of keys.
 * A block is the least of a tensor that is stored together; rows are whole
 * blocks.  Pinned by a unit test against llama.cpp's structures.
 */

#include "gguf_int.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct cl_gguf_type types[] = {
	[0] = { "f32", 1, 4 },
	[1] = { "f16", 1, 2 },
	[2] = { "q4_0", 32, 18 },
	[3] = { "q4_1", 32, 20 },
	[6] = { "q5_0", 32, 22 },
	[7] = { "q5_1", 32, 24 },
	[8] = { "q8_0", 32, 34 },
	[9] = { "q8_1", 32, 36 },
	[10] = { "q2_K", 256, 84 },
	[11] = { "q3_K", 256, 110 },
	[12] = { "q4_K", 256, 144 },
	[13] = { "q5_K", 256, 176 },
	[14] = { "q6_K", 256, 210 },
	[15] = { "q8_K", 256, 292 },
	[16] = { "iq2_xxs", 256, 66 },
	[17] = { "iq2_xs", 256, 74 },
	[18] = { "iq3_xxs", 256, 98 },
	[19] = { "iq1_s", 256, 50 },
	[20] = { "iq4_nl", 32, 18 },
	[21] = { "iq3_s", 256, 110 },
	[22] = { "iq2_s", 256, 82 },
	[23] = { "iq4_xs", 256, 136 },
	[24] = { "i8", 1, 1 },
	[25] = { "i16", 1, 2 },
	[26] = { "i32", 1, 4 },
	[27] = { "i64", 1, 8 },
	[28] = { "f64", 1, 8 },
	[29] = { "iq1_m", 256, 56 },
	[30] = { "bf16", 1, 2 },
	[34] = { "tq1_0", 256, 54 },
	[35] = { "tq2_0", 256, 66 },
	[39] = { "mxfp4", 32, 17 },
	[40] = { "nvfp4", 64, 36 },
	[41] = { "q1_0", 128, 18 },
	[42] = { "q2_0", 64, 18 },
};

const struct cl_gguf_type *
cl_gguf_type(uint32_t id)
{

	if (id >= COUNT(types) || types[id].name == NULL)
		return (NULL);
	return (&types[id]);
}

bool
cl_gguf_type_retired(uint32_t id)
{

	return (id == 4 || id == 5 || (id >= 31 && id <= 33) ||
	    (id >= 36 && id <= 38));
}

unsigned
cl_gguf_value_size(uint32_t type)
{
	static const uint8_t sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8,
	    8 };

	return (type < sizeof(sizes) ? sizes[type] : 0);
}
