/*
 * The queues of a policy, made and freed: one array of links and one of places
 * serve all pools, the sentinels behind the links of the keys.
 */

#include <stdlib.h>
#include <string.h>

#include "cache_int.h"
#include "cache_list_int.h"

void
cl_cache_queues_free(struct queues *q)
{

	if (q == NULL)
		return;
	free(q->link);
	free(q->place);
	free(q);
}

struct queues *
cl_cache_queues_open(const struct cl_cache *c, unsigned nqueues)
{
	struct queues *q;
	uint32_t i, ring;

	assert(nqueues <= QUEUES_MAX);
	if ((q = calloc(c->npools, sizeof(*q))) == NULL)
		return (NULL);
	q->link = calloc((size_t)c->nkeys + (size_t)nqueues * c->npools,
	    sizeof(*q->link));
	q->place = malloc(c->nkeys > 0 ? c->nkeys : 1);
	if (q->link == NULL || q->place == NULL) {
		cl_cache_queues_free(q);
		return (NULL);
	}
	memset(q->place, NOWHERE, c->nkeys);
	for (i = 0; i < c->npools; i++) {
		q[i].link = q->link;
		q[i].place = q->place;
		q[i].ring = c->nkeys + nqueues * i;
		for (ring = 0; ring < nqueues; ring++)
			ring_init(q->link, q[i].ring + ring);
	}
	return (q);
}
