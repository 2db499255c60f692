#ifndef CL_KEYS_H
#define CL_KEYS_H

/*
 * The experts of a model as one row of numbers: a column for each layer that
 * a trace has one for (cl_trace_layers), and key = base of the column +
 * expert.  Columns are in the order of their layers, and so are their bases; or
 * these are class by class: layers whose experts have one size stand together.
 * All that a replay or an analysis keeps by expert is an array over keys.  Owns
 * its memory; does not keep the model.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/budget.h"

struct cl_err;
struct cl_model;

#define CL_KEYS_MAX	1048576		/* in all layers: tables have them */

struct cl_keys_column {
	uint32_t	 layer;		/* absolute */
	uint32_t	 base;		/* key of its expert 0 */
	uint32_t	 nexperts;
	uint32_t	 k;
	uint64_t	 expert_bytes;	/* 0: unknown */
};

struct cl_keys {
	uint32_t	 ncolumns;	/* at least 1 */
	uint32_t	 nkeys;
	uint32_t	 nlargest;	/* experts of the largest column */
	uint32_t	 kmax;		/* the largest k */
	struct cl_keys_column *column;
	uint32_t	*order;		/* columns by their bases */
};

/* NULL where no layer has experts, or all have more than CL_KEYS_MAX. */
struct cl_keys	*cl_keys_new(const struct cl_model *, struct cl_err *);

/* The same as pools want them: for CL_PARTITION_CLASS class by class. */
struct cl_keys	*cl_keys_for(enum cl_partition, const struct cl_model *,
		    struct cl_err *);

/* Do keys stand for the same experts, of the same sizes?  k is let go. */
bool	cl_keys_same(const struct cl_keys *, const struct cl_keys *);

/* The column that a key belongs to. */
uint32_t	cl_keys_column(const struct cl_keys *, uint32_t key);

void	cl_keys_free(struct cl_keys *);			/* NULL is legal */

#endif /* CL_KEYS_H */
