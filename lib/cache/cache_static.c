/*
 * Static: what was loaded before the first event stays, and nothing else is
 * ever kept.
 */

#include "cache_int.h"

static void *
static_open(const struct cl_cache *c)
{

	return (c->slot);		/* it has no state; this is no NULL */
}

static void
static_free(void *state)
{

	(void)state;
}

static inline bool
static_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{

	(void)c;
	(void)p;
	(void)key;
	(void)victim;
	return (false);
}

static inline void
static_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)c;
	(void)p;
	(void)key;
	(void)fresh;
}

POLICY_SERVE(static)

const struct policy cl_cache_static = {
	.info = { .name = "static", .loads = true,
	    .summary = "the experts that a trace uses most, pinned",
	    .param = { { .name = "FILE", .kind = CL_CACHE_FILE,
	    .unit = "a trace to choose them by" } } },
	.open = static_open,
	.free = static_free,
	.serve = static_serve,
};
