/*
 * Infinite: everything is kept, in a slot of its own, whatever the budget is:
 * cl_cache_new sees to that (holds_all).  Each miss is a cold one.
 */

#include "cache_serve_int.h"

/* Nothing is remembered; what is returned only says that all went well. */
static void *
infinite_open(const struct cl_cache *c)
{

	return (c->pool);
}

static void
infinite_free(void *state)
{

	(void)state;
}

INLINE bool
infinite_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{

	(void)c;
	(void)p;
	(void)key;
	(void)victim;
	return (true);
}

INLINE void
infinite_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)c;
	(void)p;
	(void)key;
	(void)fresh;
}

POLICY_SERVE(infinite)

const struct policy cl_cache_infinite = {
	.info = { .name = "infinite",
	    .summary = "keeps everything: misses are cold ones",
	    .holds_all = true },
	.open = infinite_open,
	.free = infinite_free,
	.serve = infinite_serve,
};
