/*
 * None: nothing is ever kept, so that each access is a miss and a bypass.
 * Static: neither, but what was loaded before the first event is there.
 */

#include "cache_serve_int.h"

/* Nothing is remembered; what is returned only says that all went well. */
static void *
none_open(const struct cl_cache *c)
{

	return (c->pool);
}

static void
none_free(void *state)
{

	(void)state;
}

INLINE bool
none_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{

	(void)c;
	(void)p;
	(void)key;
	(void)victim;
	return (false);
}

INLINE void
none_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)c;
	(void)p;
	(void)key;
	(void)fresh;
}

POLICY_SERVE(none)

const struct policy cl_cache_none = {
	.info = { .name = "none", .summary = "keeps nothing" },
	.open = none_open,
	.free = none_free,
	.serve = none_serve,
};

const struct policy cl_cache_static = {
	.info = { .name = "static", .loads = true,
	    .summary = "keeps the experts that a trace uses most",
	    .param = { { .name = "FILE", .kind = CL_CACHE_FILE,
	    .unit = "a trace to choose them by; without, what is replayed: "
	    "hindsight" } } },
	.open = none_open,
	.free = none_free,
	.serve = none_serve,
};
