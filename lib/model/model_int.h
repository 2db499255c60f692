#ifndef MODEL_INT_H
#define MODEL_INT_H

/*
 * How a GGUF file's tensors and keys read as a model, shared by the reader
 * (model_gguf.c), the table of names (model_name.c) and the fingerprint
 * (model_fingerprint.c).
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/model.h"

struct cl_err;
struct cl_gguf;
struct cl_gguf_tensor;

enum model_role {
	MODEL_DENSE,			/* every token needs it */
	MODEL_EXPERTS,			/* routed experts: kind and suffix */
	MODEL_ROUTER,			/* these four are dense as well */
	MODEL_GATE_BIAS,
	MODEL_SEL_BIAS,
	MODEL_TABLE,			/* experts by token id */
	MODEL_ONE_EXPERT,		/* a tensor per expert */
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
	enum cl_slab_kind kind;		/* of MODEL_EXPERTS */
	enum model_suffix suffix;
};

void	cl_model_name(const char *, struct model_name *);

#define MODEL_NKINDS	(CL_SLAB_GATE_UP + 1)

/* The tensors of one layer that routing and experts are made of, or NULL. */
struct model_parts {
	const struct cl_gguf_tensor *experts[MODEL_NKINDS][MODEL_NSUFFIX];
	const struct cl_gguf_tensor *router;
	const struct cl_gguf_tensor *gate_bias;
	const struct cl_gguf_tensor *sel_bias;
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

/* Fills in m->fingerprint; all else of the model is there. */
int	cl_model_fingerprint(struct cl_model *m, const struct cl_gguf *,
	    const struct model_parts *, const struct model_keys *,
	    struct cl_err *);

#endif /* MODEL_INT_H */
