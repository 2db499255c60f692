#ifndef GGUF_VOCAB_H
#define GGUF_VOCAB_H

/*
 * A vocabulary that libllama loads: GPT-2's byte-level BPE with a token for
 * each byte, three merges and an end of text.
 */

#include <stdint.h>
#include <string.h>

#include "gguf_out.h"

#define VOCAB	260

/* A template that libllama knows by its marks. */
#define CHATML								\
	"{% for m in messages %}<|im_start|>{{ m.role }}\n"		\
	"{{ m.content }}<|im_end|>\n{% endfor %}"

/* Byte b as GPT-2's byte-level BPE spells it, in UTF-8. */
static inline size_t
byte_token(char out[4], unsigned b)
{
	unsigned c, n = 0, u = b;

	if (b < 33 || (b > 126 && b < 161) || b == 173) {
		for (c = 0; c < b; c++)
			n += c < 33 || (c > 126 && c < 161) || c == 173;
		u = 256 + n;
	}
	if (u < 0x80) {
		out[0] = (char)u;
		return (1);
	}
	out[0] = (char)(0xc0 | u >> 6);
	out[1] = (char)(0x80 | (u & 0x3f));
	return (2);
}

static inline void
put_vocabulary(struct gout *g, const char *chat)
{
	static const char *const merged[] = { "\xc4\xa0t", "he", "in",
	    "<|endoftext|>" };
	static const char *const merges[] = { "\xc4\xa0 t", "h e", "i n" };
	uint32_t types[VOCAB];
	char token[4];
	size_t i;

	gout_str(g, "tokenizer.ggml.model", "gpt2");
	gout_str(g, "tokenizer.ggml.pre", "gpt-2");
	gout_arr(g, "tokenizer.ggml.tokens", GOUT_STR, VOCAB);
	for (i = 0; i < 256; i++)
		gout_put_str(g, &g->kv, token, byte_token(token, (unsigned)i));
	for (i = 0; i < 4; i++)
		gout_put_str(g, &g->kv, merged[i], strlen(merged[i]));
	for (i = 0; i < VOCAB; i++)
		types[i] = i == VOCAB - 1 ? 3 : 1;	/* control, normal */
	gout_arr_u32(g, "tokenizer.ggml.token_type", GOUT_I32, types, VOCAB);
	gout_arr(g, "tokenizer.ggml.merges", GOUT_STR, 3);
	for (i = 0; i < 3; i++)
		gout_put_str(g, &g->kv, merges[i], strlen(merges[i]));
	gout_u32(g, "tokenizer.ggml.bos_token_id", VOCAB - 1);
	gout_u32(g, "tokenizer.ggml.eos_token_id", VOCAB - 1);
	gout_bool(g, "tokenizer.ggml.add_bos_token", false);
	if (chat != NULL)
		gout_str(g, "tokenizer.chat_template", chat);
}

#endif /* GGUF_VOCAB_H */
