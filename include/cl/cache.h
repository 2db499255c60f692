#ifndef CL_CACHE_H
#define CL_CACHE_H

/*
 * cache/: which experts are resident, by a policy and a replay contract;
 * knows keys, pools, slots, pins and a policy, and no trace, file or thread.
 *
 * Keys are dense numbers from 0, one per expert that can be cached, and so are
 * slots.  Both are dealt to pools, the first ones to the first pool and so on:
 * each pool is a cache of its own, and an event belongs to one of them.
 * Serving an event classifies its members, admits what was missing, says what
 * was thrown out and which slot each member now has, all by the trace and the
 * options alone.  Nothing is allocated once it is open, but for what a policy
 * foresees.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_cache;
struct cl_err;

enum cl_contract {
	CL_CONTRACT_EVENT,
	CL_CONTRACT_SERIAL,
	CL_CONTRACT_RETAIN		/* for policies with total_order */
};

enum cl_class {				/* as in the digest of cl-stats(5) */
	CL_CLASS_HIT = 0,
	CL_CLASS_STAGED = 1,
	CL_CLASS_COLD = 2,
	CL_CLASS_CAPACITY = 3
};

#define CL_CACHE_NOT_KEPT	4u	/* added to a class: a bypass; to a hit,
					 * under retain: thrown out */
#define CL_CACHE_NO_SLOT	UINT32_MAX
#define CL_CACHE_NO_KEY		UINT32_MAX

#define CL_CACHE_PARAMS_MAX	6u	/* of a policy */
#define CL_CACHE_FILE_MAX	1024u	/* bytes of a path, with its NUL */
#define CL_CACHE_POLICY_TEXT	1280u	/* bytes of any policy's text */
#define CL_CACHE_TAKES_TEXT	384u	/* of what any policy takes */

enum cl_cache_param_kind {
	CL_CACHE_NUMBER,		/* name=12; a whole number */
	CL_CACHE_FLAG,			/* name; 1 where it is given, else 0 */
	CL_CACHE_FILE			/* a path without a name or a comma */
};

/*
 * What a policy must be told of the future: the order in which keys are used
 * next, as places in time.  Each access of a pool has one, counted from 0, and
 * behind the last of them each key of the pool has one more, in their order,
 * where it is used next if it never is.  Under event the members of an event
 * share places out among them, and how is what policies differ in.
 */
enum cl_cache_future {
	CL_FUTURE_NONE,
	CL_FUTURE_EVENTS,		/* the lower key stands first */
	/*
	 * Members stand in the order of what follows the event: who is used
	 * again sooner stands first.
	 */
	CL_FUTURE_PLACES
};

/* The places of a pool, of a trace. */
struct cl_cache_places {
	const uint32_t	*key;		/* in each, those behind included */
	uint32_t	 naccesses;
};

/* What a policy takes.  Of a flag or file, name and unit alone are used. */
struct cl_cache_param {
	const char	*name;
	const char	*unit;		/* or what a flag does, a file is */
	uint64_t	 lo;
	uint64_t	 hi;
	uint64_t	 value;		/* where it is not given */
	enum cl_cache_param_kind kind;
	bool		 implied;	/* its default is left out of texts */
};

/* A row of the table of policies. */
struct cl_cache_policy_info {
	const char	*name;
	const char	*summary;
	const char	*paper;		/* or NULL */
	bool		 total_order;	/* over experts: knows retain */
	bool		 holds_all;	/* has a slot for each key, always */
	struct cl_cache_param param[CL_CACHE_PARAMS_MAX]; /* name NULL: none */
	enum cl_cache_future foresees;
	bool		 loads;		/* keeps what cl_cache_load puts in */
};

/* A policy with a value for each of its parameters. */
struct cl_cache_policy {
	const struct cl_cache_policy_info *info;
	uint64_t	 value[CL_CACHE_PARAMS_MAX];
	char		 file[CL_CACHE_FILE_MAX];	/* "": none */
};

struct cl_cache_pool {
	uint32_t	 nkeys;
	uint32_t	 nslots;	/* 0: it keeps nothing; at most nkeys */
};

struct cl_cache_options {
	const struct cl_cache_pool *pools;	/* only while it is opened */
	uint32_t	 npools;
	uint32_t	 nevent;	/* most members of an event */
	enum cl_contract contract;
	struct cl_cache_policy policy;
	/*
	 * NULL; or a name for each key, borrowed: then cl_cache_count is what
	 * serves, and keys have no slots.
	 */
	const uint64_t	*names;
};

/* What became of an event; the arrays are the cache's. */
struct cl_cache_outcome {
	uint32_t	 nhits;
	uint32_t	 nstaged;	/* staged hits */
	uint32_t	 ncold;
	uint32_t	 ncapacity;
	uint32_t	 nbypass;
	uint32_t	 nrejects;	/* refused by admission */
	uint32_t	 nvictims;
	const uint8_t	*class;		/* of each member, with NOT_KEPT */
	const uint32_t	*slot;		/* of each member, or NO_SLOT */
	const uint32_t	*victim;	/* key thrown out for each, or NO_KEY */
};

/* What became of events, added up. */
struct cl_cache_counts {
	uint64_t	 accesses;
	uint64_t	 staged;
	uint64_t	 cold;
	uint64_t	 capacity;
	uint64_t	 bypass;
	uint64_t	 rejects;
	uint64_t	 evictions;
};

/* The i-th policy, or NULL behind the last. */
const struct cl_cache_policy_info	*cl_cache_policy(unsigned i);

/*
 * A policy as it is asked for: its name, then a colon and what shall differ
 * from the default, parted by commas: cl-policies(7), PARAMETERS.
 */
int	cl_cache_policy_parse(const char *, struct cl_cache_policy *,
	    struct cl_err *);

/*
 * The first policy of a list, cl-policies(7), PARAMETERS, which is moved on to
 * the next one; CL_END where nothing is left.
 */
int	cl_cache_policy_next(const char **list, struct cl_cache_policy *,
	    struct cl_err *);

/* A policy with every parameter at its effective value: "wtinylfu:window=1". */
const char	*cl_cache_policy_text(const struct cl_cache_policy *,
		    char buf[CL_CACHE_POLICY_TEXT]);

/* What a policy takes: "window=1 (percent of the slots, 0 to 100), ...". */
const char	*cl_cache_policy_takes(const struct cl_cache_policy_info *,
		    char buf[CL_CACHE_TAKES_TEXT]);

/*
 * Does it copy another simulator, faults and all, to be compared with it count
 * for count?  Then it takes the contract serial, and what it calls a hit may
 * have no slot: it only counts, and no bytes can be read by it.
 */
bool		 cl_cache_policy_compat(const struct cl_cache_policy *);

/* Are they the same, with the same values for all parameters? */
bool		 cl_cache_policy_equal(const struct cl_cache_policy *,
		    const struct cl_cache_policy *);

/* Does the policy know the contract?  CL_EINVAL, as of a new cache, if not. */
int		 cl_cache_check(const struct cl_cache_policy *,
		    enum cl_contract, struct cl_err *);

struct cl_cache	*cl_cache_new(const struct cl_cache_options *,
		    struct cl_err *);

/*
 * For a policy that foresees, before the first event of a trace: the places of
 * each pool, whose keys are borrowed until the next trace; and that of the
 * first use of each key, which a cache that is not empty goes on with.
 * Allocates a bit and a little for each place.
 */
int	cl_cache_begin(struct cl_cache *, const struct cl_cache_places *,
	    const uint32_t *first, struct cl_err *);

/* Of each event before it is served: the place of each member's next use. */
void	cl_cache_foretell(struct cl_cache *, const uint32_t *keys,
	    const uint32_t *next, uint32_t n);

/* How many slots of a pool are free. */
uint32_t	cl_cache_room(const struct cl_cache *, uint32_t pool);

/* For a policy that loads: a key of the pool has a free slot from now on. */
void	cl_cache_load(struct cl_cache *, uint32_t pool, uint32_t key);

/*
 * Serve the n distinct keys of an event, all of that pool, in their order
 * (cl-replay(1), CONTRACTS).  Under serial each key is an event of its own,
 * and a slot in the outcome may have been given on to a later member.  So it
 * may under retain, that of a hit which is not kept: its bytes are to be used
 * before a newcomer is read into its slot.
 */
const struct cl_cache_outcome	*cl_cache_serve(struct cl_cache *,
				    uint32_t pool, const uint32_t *keys,
				    uint32_t n);

/*
 * The same, but only counted: added to *counts, and to the digest of
 * cl-stats(5) behind the word that begins the event.
 */
void		cl_cache_count(struct cl_cache *, uint32_t pool,
		    const uint32_t *keys, uint32_t n,
		    struct cl_cache_counts *counts, uint64_t *digest);

/*
 * A key that is not resident is in staging from now on, until it is served,
 * which makes it a staged hit and admits it like a miss, or taken out again.
 * It is no longer cold.
 */
void	cl_cache_stage(struct cl_cache *, uint32_t key);
void	cl_cache_unstage(struct cl_cache *, uint32_t key);
bool	cl_cache_staged(const struct cl_cache *, uint32_t key);

uint32_t	cl_cache_resident(const struct cl_cache *); /* how many are */

/* The slot of a key, or CL_CACHE_NO_SLOT; always that where names are given. */
uint32_t	cl_cache_slot(const struct cl_cache *, uint32_t key);

void	cl_cache_free(struct cl_cache *);		/* NULL is legal */

#endif /* CL_CACHE_H */
