#ifndef MODEL_INT_H
#define MODEL_INT_H

/*
 * How the tensors and keys of GGUF files read as a model, shared by the reader
 * (model_gguf.c), its part for experts (model_experts.c), the finding of
 * shards (model_set.c), the table of names (model_name.c) and the fingerprint
 * (model_fingerprint.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/model.h"

struct cl_err;
struct cl_gguf;
struct cl_gguf_tensor;

enum model_role {
	MODEL_DENSE,			/* every token needs it */
	MODEL_EXPERTS,			/* routed experts: kind and suffix */
	MODEL_ONE_EXPERT,		/* the same of one: expert, too */
	MODEL_ROUTER,			/* these four are dense as well */
	MODEL_GATE_BIAS,
	MODEL_SEL_BIAS,
	MODEL_TABLE,			/* experts by token id */
	MODEL_ADJUGATE			/* a second set of experts */
};

enum model_suffix {
	MODEL_WEIGHT,
	MODEL_BIAS,
	MODEL_SCALE,
	MODEL_INPUT_SCALE,
	MODEL_NSUFFIX
};

struct model_name {
	enum model_role	 role;
	bool		 block;		/* of a layer */
	uint32_t	 layer;
	enum cl_slab_kind kind;		/* of experts, all or one */
	enum model_suffix suffix;
	uint32_t	 expert;	/* of MODEL_ONE_EXPERT */
};

void	cl_model_name(const char *, struct model_name *);

/* "weight", "bias" ...; not of MODEL_NSUFFIX. */
const char	*cl_model_suffix_name(enum model_suffix);

/* A tensor, and which file it is in. */
struct model_tensor {
	const struct cl_gguf_tensor *t;
	uint32_t	 shard;
};

/* The files of one model, and their tensors in ascending order of names. */
struct model_set {
	struct cl_gguf	**g;		/* by shard; keys are in the first */
	uint32_t	 n;
	struct model_tensor *tensors;
	size_t		 ntensors;
};

/* Messages name the file that they are about. */
int	cl_model_set_open(struct model_set *, const char *path,
	    struct cl_err *);
void	cl_model_set_close(struct model_set *);

/* n bytes of a tensor at off from its start; within it. */
int	cl_model_set_read(const struct model_set *,
	    const struct model_tensor *, uint64_t off, void *, size_t n,
	    struct cl_err *);

/* A tensor that holds a part of one expert alone. */
struct model_one {
	const struct model_tensor *tensor;
	struct model_name name;
};

/* A part of a layer's experts: in one tensor, or in one of each. */
struct model_part {
	const struct model_tensor *all;	/* or NULL */
	const struct model_one *each;	/* ascending by expert, or NULL */
	size_t		 neach;
};

#define MODEL_NKINDS	(CL_SLAB_GATE_UP + 1)

/* The tensors of one layer that routing and experts are made of, or NULL. */
struct model_parts {
	struct model_part experts[MODEL_NKINDS][MODEL_NSUFFIX];
	const struct model_tensor *router;
	const struct model_tensor *gate_bias;
	const struct model_tensor *sel_bias;
	bool		 table;
};

/* Routing keys as they stand in the file. */
struct model_keys {
	uint32_t	 gating;	/* expert_gating_func; 0: absent */
	bool		 has_norm;
	bool		 norm;
	bool		 has_scale;
	float		 scale;
	uint32_t	 ngroup;	/* 0: absent */
	uint32_t	 ngroup_used;
};

#define MODEL_ARCH_MAX	64		/* bytes of a name such as qwen3moe */
#define MODEL_KEY_BUF	(MODEL_ARCH_MAX + 64)

/* A model being read.  Messages do not name the file. */
struct model_reader {
	struct model_set set;
	const struct cl_gguf *g;	/* the one with the keys */
	struct cl_model	*m;
	struct cl_err	*err;
	struct model_parts *parts;	/* of every layer */
	struct model_one *ones;		/* by layer, kind, suffix, expert */
	size_t		 nones;
	size_t		 ones_cap;
	struct model_keys keys;
	uint32_t	*experts;	/* expert_count of every layer */
	uint32_t	*used;		/* expert_used_count */
};

/* "ARCH.suffix" */
const char	*cl_model_key(const struct model_reader *,
		    char buf[MODEL_KEY_BUF], const char *suffix);

/* Into a list whose capacity is the power of two above its length. */
int	cl_model_add_dense(struct cl_dense **, uint32_t *n,
	    const struct model_tensor *, struct cl_err *);

/* Note a tensor of role MODEL_EXPERTS or MODEL_ONE_EXPERT. */
int	cl_model_note_experts(struct model_reader *,
	    const struct model_tensor *, const struct model_name *);

/* Once all are noted: experts and slabs of all layers that have some. */
int	cl_model_add_experts(struct model_reader *);


/* The tensor that says how a part is made, or NULL where there is none. */
const struct cl_gguf_tensor *cl_model_part_tensor(const struct model_part *);

/* Fills in m->fingerprint; all else of the model is there. */
int	cl_model_fingerprint(struct model_reader *);

#endif /* MODEL_INT_H */
