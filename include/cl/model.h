#ifndef CL_MODEL_H
#define CL_MODEL_H

/*
 * What the toolkit needs to know of a Mixture-of-Experts model: which layers
 * have routed experts, where in which file the bytes of each expert lie, what
 * else every token needs, and by which rule experts are chosen.  It is made
 * from a GGUF file (cl_model_open) or from the head of a trace, and is then a
 * plain value: read-only, owned by whoever made it, usable by any thread.
 *
 * Layers are absolute block numbers from 0; experts are numbered from 0 inside
 * their layer.  Bytes and offsets are bytes of a shard's file.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/rule.h"

struct cl_err;
struct cl_gguf;

#define CL_MODEL_LAYERS_MAX	4096	/* the deepest model known has 126 */
#define CL_MODEL_SHARDS_MAX	4096
#define CL_MODEL_SLABS_MAX	16	/* tensors that one expert spans */

enum cl_slab_kind {			/* numbered as in cl-trace(5) */
	CL_SLAB_GATE = 1,
	CL_SLAB_UP = 2,
	CL_SLAB_DOWN = 3,
	CL_SLAB_GATE_UP = 4		/* gate and up fused in one tensor */
};

struct cl_shard {
	char		*path;		/* as it, or its sibling, was given */
	uint64_t	 nbytes;
	uint64_t	 head_hash;	/* XXH64 of all before tensor data */
};

struct cl_place {
	uint32_t	 shard;
	uint64_t	 off;
};

/*
 * One part of every expert of a layer.  In one tensor for all, expert e is at
 * off + e x stride; where each has a tensor of its own, at places[e], and the
 * other three are 0.  cl_model_place() knows both.
 */
struct cl_slab {
	enum cl_slab_kind kind;
	uint32_t	 type;		/* ggml's number, for people */
	uint32_t	 shard;
	uint64_t	 off;		/* of expert 0 */
	uint64_t	 stride;
	uint64_t	 nbytes;	/* of one expert, > 0 */
	struct cl_place	*places;	/* of each expert, or NULL */
};

/* A tensor that every token needs. */
struct cl_dense {
	uint32_t	 shard;
	uint64_t	 off;
	uint64_t	 nbytes;
};

struct cl_layer {
	uint32_t	 nexperts;	/* 0: a dense layer */
	uint32_t	 k;
	bool		 extra;		/* prediction layer: not replayed */
	uint32_t	 nslabs;	/* 0 where the bytes are not known */
	struct cl_slab	*slabs;
	uint64_t	 expert_bytes;	/* sum of slabs' nbytes; 0: unknown */
	uint32_t	 ndense;
	struct cl_dense	*dense;
	struct cl_rule	 rule;		/* of a layer with experts */
};

struct cl_model {
	char		*name;		/* general.name, or "" */
	char		*arch;		/* general.architecture, or "" */
	uint64_t	 fingerprint;	/* 0: unknown */
	uint32_t	 nshards;
	struct cl_shard	*shards;
	uint32_t	 nlayers;
	struct cl_layer	*layers;
	uint32_t	 ndense;	/* of no layer: embedding, output */
	struct cl_dense	*dense;
};

/* What a budget and a report need; sums over layers that are not extra. */
struct cl_model_sums {
	uint32_t	 nmoe;		/* layers with experts */
	uint64_t	 experts;	/* of all of them */
	uint64_t	 expert_bytes;	/* of all experts */
	uint64_t	 expert_bytes_max; /* of the largest one */
	uint64_t	 demand_experts; /* sum of k */
	uint64_t	 demand_bytes;	/* sum of k x expert bytes */
	uint64_t	 dense_bytes;
	bool		 bytes_known;	/* of every MoE layer */
};

/* An empty model of nlayers dense layers, or NULL. */
struct cl_model	*cl_model_new(uint32_t nlayers, struct cl_err *);

/*
 * The model in the GGUF file at path, or of all the shards that the file is
 * one of: they are looked for under its name as given, links unresolved.
 * Reads metadata and router weights (for the fingerprint: see cl-trace(5),
 * MODEL FINGERPRINT); no expert bytes.
 */
struct cl_model	*cl_model_open(const char *path, struct cl_err *);

/*
 * Every bound that the rest of the toolkit relies on: rules whole, slabs
 * inside their shards, sums representable, at least one layer with experts.
 * Models from a file or a trace have passed it.
 */
int	cl_model_check(const struct cl_model *, struct cl_err *);

/* Where the slab's part of an expert lies. */
struct cl_place	cl_model_place(const struct cl_slab *, uint32_t expert);

void	cl_model_sums(const struct cl_model *, struct cl_model_sums *);

void	cl_model_free(struct cl_model *);		/* NULL is legal */

/* "gate", "up", "down", "gate_up"; NULL for a number that is none. */
const char	*cl_model_slab_name(enum cl_slab_kind);
enum cl_slab_kind cl_model_slab_by_name(const char *);	/* 0: none */

#endif /* CL_MODEL_H */
