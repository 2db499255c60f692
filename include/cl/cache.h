#ifndef CL_CACHE_H
#define CL_CACHE_H

/*
 * cache/: which experts are resident, by a policy and a replay contract;
 * knows keys, slots, pins and a policy, and no trace, file or thread.
 *
 * Keys are dense numbers 0..nkeys-1, one per expert that can be cached; slots
 * are 0..nslots-1.  Serving an event classifies its members, admits what was
 * missing, says what was thrown out and which slot each member now has, all by
 * the trace and the options alone.  Nothing is allocated once it is open.
 * One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_cache;
struct cl_err;

enum cl_contract {
	CL_CONTRACT_EVENT,
	CL_CONTRACT_SERIAL
};

enum cl_class {				/* as in the digest of cl-stats(5) */
	CL_CLASS_HIT = 0,
	CL_CLASS_STAGED = 1,
	CL_CLASS_COLD = 2,
	CL_CLASS_CAPACITY = 3
};

#define CL_CACHE_NOT_KEPT	4u	/* added to a class: a bypass */
#define CL_CACHE_NO_SLOT	UINT32_MAX
#define CL_CACHE_NO_KEY		UINT32_MAX

struct cl_cache_options {
	uint32_t	 nkeys;
	uint32_t	 nslots;	/* 1 to nkeys */
	uint32_t	 nevent;	/* most members of an event */
	enum cl_contract contract;
	const char	*policy;	/* a name of the table */
};

/* What became of an event; the arrays are the cache's. */
struct cl_cache_outcome {
	uint32_t	 nhits;
	uint32_t	 ncold;
	uint32_t	 ncapacity;
	uint32_t	 nbypass;
	uint32_t	 nrejects;	/* refused by admission */
	uint32_t	 nvictims;
	const uint8_t	*class;		/* of each member, with NOT_KEPT */
	const uint32_t	*slot;		/* of each member, or NO_SLOT */
	const uint32_t	*victim;	/* key thrown out for each, or NO_KEY */
};

/* A row of the table of policies. */
struct cl_cache_policy_info {
	const char	*name;
	const char	*summary;
};

struct cl_cache	*cl_cache_new(const struct cl_cache_options *,
		    struct cl_err *);

/*
 * Serve the n distinct keys of an event in their order (cl-replay(1),
 * CONTRACTS).  Under serial each key is an event of its own, and a slot in the
 * outcome may have been given on to a later member.
 */
const struct cl_cache_outcome	*cl_cache_serve(struct cl_cache *,
				    const uint32_t *keys, uint32_t n);

uint32_t	cl_cache_resident(const struct cl_cache *); /* how many are */

/* The slot of a key, or CL_CACHE_NO_SLOT. */
uint32_t	cl_cache_slot(const struct cl_cache *, uint32_t key);

void	cl_cache_free(struct cl_cache *);		/* NULL is legal */

/* The i-th policy, or NULL behind the last. */
const struct cl_cache_policy_info	*cl_cache_policy(unsigned i);

#endif /* CL_CACHE_H */
