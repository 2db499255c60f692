/*
 * Keys of all events in one array, where each event begins in a second, and
 * what else a pass was in a third.  What was foretold is kept like events.  One walk back through the events knows of
 * each key when it was last met, which is its next use from there.
 *
 * Where members of an event are told apart by what follows it, each has the
 * place it would have if the event were sorted by next use.  What follows is
 * compared as a whole in that way: a next use is a place among members that
 * were sorted before.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "cl/vec.h"

#define ACCESSES_MAX	(UINT32_MAX - 1)	/* NEVER is no time */

struct pass {
	uint64_t	ntokens;
	uint64_t	npadding;
	uint32_t	nevents;
	bool		begins;
	bool		ends;
	bool		prefill;
	bool		skipped;
};

/* A member of an event, to be sorted. */
struct member {
	uint32_t	next;
	uint32_t	key;
};

struct cl_lookahead {
	const struct cl_keys *keys;
	bool		 view;		/* all but what is handed out is another's */

	/* collected */
	uint32_t	*key;		/* of each access */
	size_t		 naccesses;
	size_t		 access_cap;
	uint32_t	*first;		/* of each event: its first access */
	size_t		 nevents;
	size_t		 event_cap;
	uint32_t	*said;		/* keys that were foretold */
	size_t		 nsaid;
	size_t		 said_cap;
	uint32_t	*said_n;	/* of each event, how many of them */
	size_t		 said_n_cap;
	struct pass	*pass;
	size_t		 npasses;
	size_t		 pass_cap;

	/* seen */
	uint32_t	*next;		/* of each access */
	uint32_t	*met;		/* of each key: when last met */
	struct member	*member;	/* of one event */

	/* handed out */
	size_t		 at_pass;
	size_t		 at_event;
	size_t		 at_said;
	struct cl_pass	 out;
	struct cl_event	*event;		/* of each column */
	struct cl_event	*foretold;	/* the same */
	const uint32_t	**out_next;
};

struct cl_lookahead *
cl_lookahead_new(const struct cl_keys *keys, struct cl_err *err)
{
	struct cl_lookahead *l;

	if ((l = calloc(1, sizeof(*l))) == NULL) {
		cl_fail_nomem(err, "what is to come");
		return (NULL);
	}
	l->keys = keys;
	l->met = calloc(keys->nkeys, sizeof(*l->met));
	l->member = calloc(keys->nlargest, sizeof(*l->member));
	l->event = calloc(keys->ncolumns, sizeof(*l->event));
	l->foretold = calloc(keys->ncolumns, sizeof(*l->foretold));
	l->out_next = calloc(keys->ncolumns, sizeof(*l->out_next));
	if (l->met == NULL || l->member == NULL ||
	    l->event == NULL || l->foretold == NULL ||
	    l->out_next == NULL) {
		cl_fail_nomem(err, "what is to come");
		cl_lookahead_free(l);
		return (NULL);
	}
	return (l);
}

static int
add_event(struct cl_lookahead *l, const struct cl_event *e, struct cl_err *err)
{
	int status;

	if (e->n > ACCESSES_MAX - l->naccesses)
		return (cl_fail(err, CL_ENOTSUP, "a policy that knows the "
		    "future takes traces of at most %u accesses",
		    ACCESSES_MAX));
	if ((status = cl_vec_grow(&l->key, &l->access_cap, l->naccesses + e->n,
	    sizeof(*l->key), err)) != CL_OK ||
	    (status = cl_vec_grow(&l->first, &l->event_cap, l->nevents + 1,
	    sizeof(*l->first), err)) != CL_OK)
		return (status);
	l->first[l->nevents++] = (uint32_t)l->naccesses;
	memcpy(l->key + l->naccesses, e->keys, e->n * sizeof(*l->key));
	l->naccesses += e->n;
	return (CL_OK);
}

/* What was foretold of the event that was just added. */
static int
add_foretold(struct cl_lookahead *l, const struct cl_event *e,
    struct cl_err *err)
{
	int status;

	if ((status = cl_vec_grow(&l->said, &l->said_cap, l->nsaid + e->n,
	    sizeof(*l->said), err)) != CL_OK ||
	    (status = cl_vec_grow(&l->said_n, &l->said_n_cap, l->nevents,
	    sizeof(*l->said_n), err)) != CL_OK)
		return (status);
	l->said_n[l->nevents - 1] = e->n;
	if (e->n > 0)
		memcpy(l->said + l->nsaid, e->keys, e->n * sizeof(*l->said));
	l->nsaid += e->n;
	return (CL_OK);
}

int
cl_lookahead_add(struct cl_lookahead *l, const struct cl_pass *p,
    struct cl_err *err)
{
	struct pass *to;
	uint32_t i;
	int status;

	assert(l->next == NULL);
	if ((status = cl_vec_grow(&l->pass, &l->pass_cap, l->npasses + 1,
	    sizeof(*l->pass), err)) != CL_OK)
		return (status);
	to = &l->pass[l->npasses++];
	*to = (struct pass){ .ntokens = p->ntokens, .npadding = p->npadding,
	    .begins = p->begins, .ends = p->ends, .prefill = p->prefill,
	    .skipped = p->skipped };
	for (i = 0; i < l->keys->ncolumns && !p->skipped; i++) {
		if (p->event[i].n == 0)
			continue;
		if ((status = add_event(l, &p->event[i], err)) != CL_OK ||
		    (p->foretold != NULL && (status = add_foretold(l,
		    &p->foretold[i], err)) != CL_OK))
			return (status);
		to->nevents++;
	}
	return (CL_OK);
}

/* Where event e ends. */
static size_t
end_of(const struct cl_lookahead *l, size_t e)
{

	return (e + 1 < l->nevents ? l->first[e + 1] : l->naccesses);
}

static int
compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->next != y->next)
		return (x->next < y->next ? -1 : 1);
	return ((x->key > y->key) - (x->key < y->key));
}

/* Members of event e are met at their places by what follows it. */
static void
meet_in_places(struct cl_lookahead *l, size_t e)
{
	uint32_t first = l->first[e], n = (uint32_t)(end_of(l, e) - first), i;

	for (i = 0; i < n; i++) {
		l->member[i].next = l->next[first + i];
		l->member[i].key = l->key[first + i];
	}
	qsort(l->member, n, sizeof(*l->member), compare);
	for (i = 0; i < n; i++)
		l->met[l->member[i].key] = first + i;
}

/* Give back what an array of n elements has grown too much. */
static void
shrink(uint32_t **p, size_t n)
{
	uint32_t *less = n == 0 ? NULL : realloc(*p, n * sizeof(**p));

	if (less != NULL)
		*p = less;
}

int
cl_lookahead_look(struct cl_lookahead *l, enum cl_contract contract,
    enum cl_cache_future future, struct cl_err *err)
{
	bool serial = contract == CL_CONTRACT_SERIAL;
	size_t e, i;

	shrink(&l->key, l->naccesses);
	shrink(&l->first, l->nevents);
	l->next = calloc(l->naccesses + 1, sizeof(*l->next));
	if (l->next == NULL)
		return (cl_fail_nomem(err, "what is to come"));
	for (i = 0; i < l->keys->nkeys; i++)
		l->met[i] = CL_CACHE_NEVER;
	for (e = l->nevents; e-- > 0;) {
		for (i = end_of(l, e); i-- > l->first[e];) {
			l->next[i] = l->met[l->key[i]];
			l->met[l->key[i]] = (uint32_t)(serial ? i : e);
		}
		if (!serial && future == CL_FUTURE_PLACES)
			meet_in_places(l, e);
	}
	return (CL_OK);
}

/* What is handed out is not looked at: its owner may be at it. */
struct cl_lookahead *
cl_lookahead_view(const struct cl_lookahead *l, struct cl_err *err)
{
	struct cl_lookahead *v;

	assert(l->next != NULL);
	if ((v = calloc(1, sizeof(*v))) == NULL) {
		cl_fail_nomem(err, "what is to come");
		return (NULL);
	}
	v->view = true;
	v->keys = l->keys;
	v->key = l->key;
	v->naccesses = l->naccesses;
	v->first = l->first;
	v->nevents = l->nevents;
	v->said = l->said;
	v->said_n = l->said_n;
	v->pass = l->pass;
	v->npasses = l->npasses;
	v->next = l->next;
	v->met = l->met;
	v->event = calloc(l->keys->ncolumns, sizeof(*v->event));
	v->foretold = calloc(l->keys->ncolumns, sizeof(*v->foretold));
	v->out_next = calloc(l->keys->ncolumns, sizeof(*v->out_next));
	if (v->event == NULL || v->foretold == NULL || v->out_next == NULL) {
		cl_fail_nomem(err, "what is to come");
		cl_lookahead_free(v);
		return (NULL);
	}
	return (v);
}

const uint32_t *
cl_lookahead_first(const struct cl_lookahead *l)
{

	return (l->met);
}

int
cl_lookahead_next(struct cl_lookahead *l, const struct cl_pass **pass,
    const uint32_t *const **next)
{
	const struct pass *p;
	uint32_t i, column, first;

	if (l->at_pass == l->npasses)
		return (CL_END);
	p = &l->pass[l->at_pass++];
	memset(l->event, 0, l->keys->ncolumns * sizeof(*l->event));
	for (i = 0; i < p->nevents; i++, l->at_event++) {
		first = l->first[l->at_event];
		column = cl_keys_column(l->keys, l->key[first]);
		l->event[column].keys = l->key + first;
		l->event[column].n = (uint32_t)(end_of(l, l->at_event) -
		    first);
		l->out_next[column] = l->next + first;
		if (l->said_n == NULL)
			continue;
		l->foretold[column].keys = l->said + l->at_said;
		l->foretold[column].n = l->said_n[l->at_event];
		l->at_said += l->said_n[l->at_event];
	}
	l->out = (struct cl_pass){ .begins = p->begins, .ends = p->ends,
	    .prefill = p->prefill, .skipped = p->skipped,
	    .ntokens = p->ntokens, .npadding = p->npadding,
	    .event = l->event,
	    .foretold = l->said_n == NULL ? NULL : l->foretold };
	*pass = &l->out;
	*next = l->out_next;
	return (CL_OK);
}

void
cl_lookahead_free(struct cl_lookahead *l)
{

	if (l == NULL)
		return;
	if (!l->view) {
		free(l->key);
		free(l->first);
		free(l->pass);
		free(l->next);
		free(l->met);
		free(l->member);
		free(l->said);
		free(l->said_n);
	}
	free(l->event);
	free(l->foretold);
	free(l->out_next);
	free(l);
}
