#ifndef MODEL_MAKE_H
#define MODEL_MAKE_H

/*
 * Models for tests: GGUF files written, changed, and opened.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/model.h"
#include "../gen/gguf_fill.h"
#include "../gen/gguf_out.h"
#include "unit.h"

static struct cl_err err;

static inline struct cl_model *
open_out(struct gout *o)
{
	struct cl_model *m;
	char path[64] = "/tmp/cl-test-model.XXXXXX";
	int fd = mkstemp(path);

	assert(fd != -1);
	(void)close(fd);
	(void)gout_write(o, path);
	memset(&err, 0, sizeof(err));
	m = cl_model_open(path, &err);
	(void)unlink(path);
	gout_free(o);
	assert((m == NULL) == (err.code != CL_OK));
	assert(m != NULL || strncmp(err.msg, path, strlen(path)) == 0);
	return (m);
}

static inline struct cl_model *
accepted(struct gout *o)
{
	struct cl_model *m = open_out(o);

	if (m == NULL)
		fprintf(stderr, "%s\n", err.msg);
	assert(m != NULL);
	return (m);
}

static inline void
refused(struct gout *o, int code, const char *words)
{

	assert(open_out(o) == NULL);
	if (err.code != code || strstr(err.msg, words) == NULL)
		fprintf(stderr, "code %d: %s\nwanted %d: %s\n", err.code,
		    err.msg, code, words);
	assert(err.code == code && strstr(err.msg, words) != NULL);
}

enum { EMBD = 64, FF = 32 };		/* q8_0: 68 and 34 bytes a row */

#define GATE_BYTES	(FF * (EMBD / 32) * 34)
#define DOWN_BYTES	(EMBD * (FF / 32) * 34)
#define EXPERT_BYTES	(2 * GATE_BYTES + DOWN_BYTES)

/* Keys of a model of nlayers, but for those of experts. */
static inline void
start(struct gout *o, uint32_t nlayers)
{

	gout_init(o);
	gout_str(o, "general.architecture", "m");
	gout_str(o, "general.name", "a model");
	gout_u32(o, "m.block_count", nlayers);
	(void)gout_tensor(o, "token_embd.weight", GOUT_T_F32, 2, EMBD, 4, 1);
}

static inline struct gout_tensor *
block(struct gout *o, uint32_t layer, const char *part, uint32_t type,
    uint32_t ndims, uint64_t ne0, uint64_t ne1, uint64_t ne2)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "blk.%u.%s", layer, part);
	return (gout_tensor(o, name, type, ndims, ne0, ne1, ne2));
}

static inline void
fill_state(struct gout_tensor *t, uint8_t *p, uint64_t off, size_t n)
{
	float f;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		f = (float)(t->state + (off + i) / 4);
		memcpy(p + i, &f, 4);
	}
}

static inline void
router(struct gout *o, uint32_t layer, uint64_t n)
{
	struct gout_tensor *t = block(o, layer, "ffn_gate_inp.weight",
	    GOUT_T_F32, 2, EMBD, n, 1);

	t->fill = fill_state;
	t->state = layer;
}

static inline void
moe(struct gout *o, uint32_t layer, uint64_t n, uint32_t type)
{

	router(o, layer, n);
	(void)block(o, layer, "ffn_gate_exps.weight", type, 3, EMBD, FF, n);
	(void)block(o, layer, "ffn_up_exps.weight", type, 3, EMBD, FF, n);
	(void)block(o, layer, "ffn_down_exps.weight", type, 3, FF, EMBD, n);
}

static inline void
dense(struct gout *o, uint32_t layer)
{

	(void)block(o, layer, "ffn_up.weight", GOUT_T_F32, 2, EMBD, FF, 1);
}

static inline void
counts(struct gout *o, uint32_t n, uint32_t k)
{

	gout_u32(o, "m.expert_count", n);
	gout_u32(o, "m.expert_used_count", k);
}

/* Two layers of 8 experts, k 2. */
static inline void
two(struct gout *o)
{

	start(o, 2);
	counts(o, 8, 2);
	moe(o, 0, 8, GOUT_T_Q8_0);
	moe(o, 1, 8, GOUT_T_Q8_0);
}

/* One layer of 8 experts with k as given. */
static inline void
one(struct gout *o, uint32_t k)
{

	start(o, 1);
	counts(o, 8, k);
	moe(o, 0, 8, GOUT_T_Q8_0);
}

static inline struct gout_tensor *
find(struct gout *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->nt; i++)
		if (strcmp(o->t[i].name, name) == 0)
			return (&o->t[i]);
	return (NULL);
}

static inline void
drop(struct gout *o, const char *name)
{

	(void)snprintf(find(o, name)->name, 8, "unused");
	find(o, "unused")->nname = 6;
}

#endif /* MODEL_MAKE_H */
