#ifndef CL_BUDGET_H
#define CL_BUDGET_H

/*
 * replay/: the one loop in which trace, cache and reader meet.
 *
 * From a cache budget as people write it to slots, the same way for every
 * back end.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_budget;
struct cl_err;
struct cl_model;
struct cl_stats_writer;

#define CL_BUDGET_ALIGN		4096	/* slots begin on pages */
#define CL_BUDGET_CLASSES_MAX	32	/* sizes of experts in a model */

enum cl_partition {
	CL_PARTITION_GLOBAL,		/* one pool of slots for all layers */
	CL_PARTITION_LAYER,		/* one for each: cl_budget_deal */
	CL_PARTITION_CLASS		/* one for each size of experts */
};

/* The layers that have experts of one size, and their pool. */
struct cl_budget_class {
	uint64_t	 expert_bytes;
	uint64_t	 stride;	/* bytes of a slot; 0: unknown */
	uint32_t	 nlayers;
	uint32_t	 nexperts;
	uint32_t	 nslots;	/* of its own, by class; else 0 */
};

/* In the order of the first layer of each. */
struct cl_budget_classes {
	uint32_t	 n;		/* 0: too many to be told */
	struct cl_budget_class class[CL_BUDGET_CLASSES_MAX];
};

struct cl_budget_slots {
	uint32_t	 nslots;	/* 1 to all experts */
	uint64_t	 stride;	/* bytes of a slot, or of the largest */
	uint64_t	 nbytes;	/* of all slots; 0: unknown */
	/*
	 * Of these, what is empty where all slots are full; with one pool for
	 * several sizes, where any expert is as likely to be in it as another.
	 */
	uint64_t	 waste;
	bool		 raised;	/* to one slot: it did not give one */
	struct cl_budget_classes classes;
};

/*
 * Of a slot that any expert fits into: the largest one's bytes, rounded up to
 * CL_BUDGET_ALIGN; 0: unknown.
 */
uint64_t	cl_budget_stride(const struct cl_model *);

/*
 * bytes / stride, where stride is cl_budget_stride; a percentage of all
 * experts, rounded down; or a number of experts.  At least one slot, at most as
 * many as there are experts.  Bytes need a model that knows its experts' bytes.
 *
 * By class, slots of each have their own stride.  Bytes are split in the
 * proportion of all bytes of the classes' experts, slots in that of their
 * experts; what shares that are rounded down leave over goes to the first
 * classes that have room for it.  One slot at the least is of the smallest.
 * More sizes than CL_BUDGET_CLASSES_MAX are CL_ENOTSUP there.
 */
int	cl_budget_resolve(const struct cl_budget *, enum cl_partition,
	    const struct cl_model *, struct cl_budget_slots *,
	    struct cl_err *);

/* The class of experts of that size, which is one of them. */
uint32_t	cl_budget_class(const struct cl_budget_classes *,
		    uint64_t expert_bytes);

/*
 * The share of each of n layers where every layer is a pool of its own: slots
 * are dealt like cards, one a layer and round from the first layer on, and a
 * layer with a slot for each of its experts is passed over.  They are no more
 * than all experts.
 */
void	cl_budget_deal(uint32_t nslots, const uint32_t *nexperts,
	    uint32_t *share, uint32_t n);

/* The table size_classes of cl-stats(5), where there are several classes. */
int	cl_budget_write_classes(const struct cl_budget_classes *,
	    enum cl_partition, struct cl_stats_writer *, struct cl_err *);

#endif /* CL_BUDGET_H */
