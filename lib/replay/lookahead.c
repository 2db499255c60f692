/*
 * Keys of all events in one array, where each event begins in a second, and
 * what else a pass was in a third.  What was foretold is kept like events.  One
 * walk back through the events knows of each key where it was last met, which
 * is its next use from there.
 *
 * Under event each member has the place that it would have if the event were
 * sorted, by key or by next use.  What follows is compared as a whole in that
 * way: a next use is a place among members that were sorted before.
 *
 * Times are told beside places, as those of the members of an event are one.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "cl/order.h"
#include "cl/vec.h"

struct pass {
	uint64_t	ntokens;
	uint64_t	npadding;
	uint32_t	nevents;
	bool		begins;
	bool		ends;
	bool		prefill;
	bool		skipped;
};

/* Where what is met in a pool is put, from the last place down. */
struct room {
	uint32_t	*at;
	uint32_t	 left;
};

struct cl_lookahead {
	const struct cl_keys *keys;
	bool		 view;		/* collected and seen are borrowed */

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
	uint32_t	*at;		/* keys in places, if not as in key */
	struct cl_cache_places *places;	/* of each pool */
	struct room	*room;		/* of each pool, while looking */
	uint32_t	*met;		/* of each key: where last met */
	uint64_t	*member;	/* of one event: number, key */

	/* told, if asked for; a view has its own */
	uint32_t	*time;		/* of each access: of its next use */
	uint32_t	*first_time;	/* of each key */
	uint32_t	 end;

	/* handed out */
	size_t		 at_pass;
	size_t		 at_event;
	size_t		 at_said;
	struct cl_pass	 out;
	struct cl_event	*event;		/* of each column */
	struct cl_event	*foretold;	/* the same */
	const uint32_t	**out_next;
	const uint32_t	**out_time;
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

	if (e->n > CL_LOOKAHEAD_MAX - l->naccesses)
		return (cl_fail(err, CL_ENOTSUP, "a policy that knows the "
		    "future takes traces of at most %u accesses",
		    CL_LOOKAHEAD_MAX));
	if ((status = cl_vec_room(&l->key, &l->access_cap, l->naccesses + e->n,
	    sizeof(*l->key), err)) != CL_OK ||
	    (status = cl_vec_room(&l->first, &l->event_cap, l->nevents + 1,
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

	if ((status = cl_vec_room(&l->said, &l->said_cap, l->nsaid + e->n,
	    sizeof(*l->said), err)) != CL_OK ||
	    (status = cl_vec_room(&l->said_n, &l->said_n_cap, l->nevents,
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
	if ((status = cl_vec_room(&l->pass, &l->pass_cap, l->npasses + 1,
	    sizeof(*l->pass), err)) != CL_OK)
		return (status);
	to = &l->pass[l->npasses++];
	*to = (struct pass){ .ntokens = p->ntokens, .npadding = p->npadding,
	    .begins = p->begins, .ends = p->ends, .prefill = p->prefill,
	    .skipped = p->skipped };
	for (i = 0; i < l->keys->ncolumns && !p->skipped; i++) {
		if (p->event[i].n == 0)
			continue;
		/* Foretold are all events or none. */
		assert(l->nevents == 0 ||
		    (l->said_n != NULL) == (p->foretold != NULL));
		if ((status = add_event(l, &p->event[i], err)) != CL_OK ||
		    (p->foretold != NULL && (status = add_foretold(l,
		    &p->foretold[i], err)) != CL_OK))
			return (status);
		to->nevents++;
	}
	return (CL_OK);
}

void
cl_lookahead_count(const struct cl_lookahead *l, uint64_t *uses)
{
	size_t i;

	for (i = 0; i < l->naccesses; i++)
		uses[l->key[i]]++;
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
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ((x > y) - (x < y));
}

/* Give back what an array of n elements has grown too much. */
static void
shrink(uint32_t **p, size_t n)
{
	uint32_t *less = n == 0 ? NULL : realloc(*p, n * sizeof(**p));

	if (less != NULL)
		*p = less;
}

/* The column of event e, which should be that one. */
static uint32_t
column_of(const struct cl_lookahead *l, size_t e, uint32_t column)
{
	uint32_t key = l->key[l->first[e]];

	if (column < l->keys->ncolumns && key - l->keys->column[column].base <
	    l->keys->column[column].nexperts)
		return (column);
	return (cl_keys_column(l->keys, key));
}

/* How many accesses each pool has. */
static void
count_accesses(struct cl_lookahead *l, const uint32_t *pools)
{
	uint32_t column = 0;
	size_t e;

	if (pools == NULL) {
		l->places[0].naccesses = (uint32_t)l->naccesses;
		return;
	}
	for (e = 0; e < l->nevents; e++) {
		column = column_of(l, e, column);
		l->places[pools[column++]].naccesses +=
		    (uint32_t)(end_of(l, e) - l->first[e]);
	}
}

/* Places of all pools one behind another, and what is behind their last. */
static void
lay_out(struct cl_lookahead *l, uint32_t *at, const uint32_t *pools,
    uint32_t npools)
{
	const struct cl_keys *keys = l->keys;
	uint32_t pool, i = 0, key = 0, place, column;

	for (pool = 0; pool < npools; pool++) {
		l->places[pool].key = l->room[pool].at = at;
		place = l->room[pool].left = l->places[pool].naccesses;
		for (; i < keys->ncolumns; i++) {
			column = keys->order[i];
			if (pools != NULL && pools[column] != pool)
				break;
			for (; key < keys->column[column].base +
			    keys->column[column].nexperts; key++) {
				at[place] = key;
				l->met[key] = place++;
			}
		}
		at += place;
	}
}

static int
make_places(struct cl_lookahead *l, bool as_they_came, const uint32_t *pools,
    uint32_t npools, struct cl_err *err)
{
	size_t n = l->naccesses + l->keys->nkeys;
	uint32_t *key = realloc(l->key, (as_they_came ? n : l->naccesses + 1) *
	    sizeof(*key));

	if (key != NULL)
		l->key = key;
	l->next = calloc(l->naccesses + 1, sizeof(*l->next));
	l->places = calloc(npools, sizeof(*l->places));
	l->room = calloc(npools, sizeof(*l->room));
	if (!as_they_came)
		l->at = calloc(n, sizeof(*l->at));
	if (key == NULL || l->next == NULL || l->places == NULL ||
	    l->room == NULL || (!as_they_came && l->at == NULL))
		return (cl_fail_nomem(err, "what is to come"));
	count_accesses(l, pools);
	lay_out(l, as_they_came ? l->key : l->at, pools, npools);
	return (CL_OK);
}

/* A member is met in a place. */
static inline void
put(struct cl_lookahead *l, uint32_t key, uint32_t *at, uint32_t place)
{

	at[place] = key;
	l->met[key] = place;
}

/* The same of n members, in the places from that one on, by their numbers. */
static void
put_in_order(struct cl_lookahead *l, const uint32_t *key,
    const uint32_t *number, uint32_t n, uint32_t *at, uint32_t place)
{
	uint32_t rank[CL_ORDER_FEW], i;

	if (n <= CL_ORDER_FEW) {
		cl_order_ranks(number, n, rank);
		for (i = 0; i < n; i++)
			put(l, key[i], at, place + rank[i]);
		return;
	}
	for (i = 0; i < n; i++)
		l->member[i] = (uint64_t)number[i] << 32 | key[i];
	qsort(l->member, n, sizeof(*l->member), compare);
	for (i = 0; i < n; i++)
		put(l, (uint32_t)l->member[i], at, place + i);
}

/* Members of event e are met in the places from that one on, in order. */
static void
meet_in_order(struct cl_lookahead *l, size_t e, uint32_t *at, uint32_t place,
    enum cl_cache_future future)
{
	const uint32_t *key = l->key + l->first[e];
	uint32_t n = (uint32_t)(end_of(l, e) - l->first[e]), i;
	uint32_t *next = l->next + l->first[e];

	for (i = 0; i < n; i++)
		next[i] = l->met[key[i]];
	put_in_order(l, key, future == CL_FUTURE_PLACES ? next : key, n, at,
	    place);
}

/* The same, as they came. */
static void
meet(struct cl_lookahead *l, size_t e, uint32_t *at, uint32_t place)
{
	size_t i;

	for (i = l->first[e]; i < end_of(l, e); i++, place++) {
		l->next[i] = l->met[l->key[i]];
		l->met[l->key[i]] = place;
		if (at != NULL)
			at[place] = l->key[i];
	}
}

int
cl_lookahead_look(struct cl_lookahead *l, enum cl_contract contract,
    enum cl_cache_future future, const uint32_t *pools, uint32_t npools,
    struct cl_err *err)
{
	bool as_they_came = contract == CL_CONTRACT_SERIAL && pools == NULL;
	uint32_t column = 0, pool = 0;
	struct room *room;
	size_t e;
	int status;

	shrink(&l->first, l->nevents);
	if ((status = make_places(l, as_they_came, pools, npools, err)) !=
	    CL_OK)
		return (status);
	for (e = l->nevents; e-- > 0;) {
		if (pools != NULL) {
			/* Before the first is none: it wraps. */
			column = column_of(l, e, column - 1);
			pool = pools[column];
		}
		room = &l->room[pool];
		room->left -= (uint32_t)(end_of(l, e) - l->first[e]);
		if (contract == CL_CONTRACT_SERIAL)
			meet(l, e, as_they_came ? NULL : room->at, room->left);
		else
			meet_in_order(l, e, room->at, room->left, future);
	}
	return (CL_OK);
}

/* What is handed out is not looked at: its owner may be at it. */
struct cl_lookahead *
cl_lookahead_view(const struct cl_lookahead *l, struct cl_err *err)
{
	struct cl_lookahead *v;

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
	v->places = l->places;
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

const struct cl_cache_places *
cl_lookahead_places(const struct cl_lookahead *l)
{

	return (l->places);
}

const uint32_t *
cl_lookahead_first(const struct cl_lookahead *l)
{

	return (l->met);
}

int
cl_lookahead_tell_times(struct cl_lookahead *l, enum cl_contract contract,
    struct cl_err *err)
{
	bool serial = contract == CL_CONTRACT_SERIAL;
	uint32_t *met;
	size_t e, i;

	assert(l->next != NULL && l->time == NULL);
	l->time = calloc(l->naccesses + 1, sizeof(*l->time));
	l->first_time = calloc(l->keys->nkeys, sizeof(*l->first_time));
	l->out_time = calloc(l->keys->ncolumns, sizeof(*l->out_time));
	if (l->time == NULL || l->first_time == NULL || l->out_time == NULL)
		return (cl_fail_nomem(err, "what is to come"));
	l->end = (uint32_t)(serial ? l->naccesses : l->nevents);
	met = l->first_time;
	for (i = 0; i < l->keys->nkeys; i++)
		met[i] = CL_LOOKAHEAD_NEVER;
	for (e = l->nevents; e-- > 0;)
		for (i = end_of(l, e); i-- > l->first[e];) {
			l->time[i] = met[l->key[i]];
			met[l->key[i]] = (uint32_t)(serial ? i : e);
		}
	return (CL_OK);
}

const uint32_t *
cl_lookahead_first_time(const struct cl_lookahead *l)
{

	return (l->first_time);
}

uint32_t
cl_lookahead_end(const struct cl_lookahead *l)
{

	return (l->end);
}

const uint32_t *const *
cl_lookahead_times(const struct cl_lookahead *l)
{

	return (l->out_time);
}

int
cl_lookahead_next(struct cl_lookahead *l, const struct cl_pass **pass,
    const uint32_t *const **next)
{
	const struct pass *p;
	uint32_t i, column = 0, first;

	if (l->at_pass == l->npasses)
		return (CL_END);
	p = &l->pass[l->at_pass++];
	memset(l->event, 0, l->keys->ncolumns * sizeof(*l->event));
	for (i = 0; i < p->nevents; i++, l->at_event++) {
		first = l->first[l->at_event];
		column = column_of(l, l->at_event, column);
		l->event[column].keys = l->key + first;
		l->event[column].n = (uint32_t)(end_of(l, l->at_event) -
		    first);
		if (l->next != NULL)
			l->out_next[column] = l->next + first;
		if (l->time != NULL)
			l->out_time[column] = l->time + first;
		if (l->said_n != NULL) {
			l->foretold[column].keys = l->said + l->at_said;
			l->foretold[column].n = l->said_n[l->at_event];
			l->at_said += l->said_n[l->at_event];
		}
		column++;
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
		free(l->at);
		free(l->places);
		free(l->room);
		free(l->met);
		free(l->member);
		free(l->said);
		free(l->said_n);
	}
	free(l->event);
	free(l->foretold);
	free(l->out_next);
	free(l->out_time);
	free(l->time);
	free(l->first_time);
	free(l);
}
