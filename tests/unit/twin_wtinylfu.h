#ifndef TWIN_WTINYLFU_H
#define TWIN_WTINYLFU_H

/*
 * wtinylfu a second time, by brute force: written from the words that define
 * the contracts and the policy, before and without a look at lib/cache, so
 * that a mistake would have to be made twice to pass.  Lists are arrays from
 * the least to the most recent, everything is found by scanning, nothing is
 * clever.  One cache of its own for each pool: its slots, its counts, its
 * ageing.
 */

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define TWIN_LAYERS	8
#define TWIN_EXPERTS	64
#define TWIN_KEYS	(TWIN_LAYERS * TWIN_EXPERTS)
#define TWIN_LOG	(1 << 16)

struct twin_list {
	unsigned	 n;
	unsigned	 key[TWIN_KEYS];
};

struct twin_pool {
	unsigned	 slots, window_max, main_max, protected_max;
	struct twin_list window, probation, protected_;
	uint64_t	 count[TWIN_KEYS];
	uint64_t	 since_halving;
};

struct twin {
	int		 serial, by_layer;
	unsigned	 nlayers;
	struct twin_pool pool[TWIN_LAYERS];	/* [0] alone when global */
	int		 pinned[TWIN_KEYS];
	int		 admitted[TWIN_KEYS];	/* by the present event */
	int		 seen[TWIN_KEYS];
	uint64_t	 accesses, hits, cold, capacity;
	uint64_t	 admits, evictions, bypasses, rejects;
	unsigned	 victim[TWIN_LOG];	/* in the order they left */
};

static unsigned
twin_key(unsigned layer, unsigned expert)
{

	assert(layer < TWIN_LAYERS && expert < TWIN_EXPERTS);
	return (layer * TWIN_EXPERTS + expert);
}

/* Where key is in the list, or -1. */
static int
twin_find(const struct twin_list *l, unsigned key)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		if (l->key[i] == key)
			return ((int)i);
	return (-1);
}

static void
twin_append(struct twin_list *l, unsigned key)
{

	assert(l->n < TWIN_KEYS && twin_find(l, key) == -1);
	l->key[l->n++] = key;
}

static void
twin_remove(struct twin_list *l, unsigned key)
{
	int at = twin_find(l, key);
	unsigned i;

	assert(at >= 0);
	for (i = (unsigned)at; i + 1 < l->n; i++)
		l->key[i] = l->key[i + 1];
	l->n--;
}

static void
twin_touch(struct twin_list *l, unsigned key)
{

	twin_remove(l, key);
	twin_append(l, key);
}

/* The least recent member that is not pinned: 1 and *key, or 0. */
static int
twin_oldest(const struct twin *t, const struct twin_list *l, unsigned *key)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		if (!t->pinned[l->key[i]]) {
			*key = l->key[i];
			return (1);
		}
	return (0);
}

static int
twin_resident(const struct twin_pool *p, unsigned key)
{

	return (twin_find(&p->window, key) >= 0 ||
	    twin_find(&p->probation, key) >= 0 ||
	    twin_find(&p->protected_, key) >= 0);
}

static void
twin_pool_init(struct twin_pool *p, unsigned slots, unsigned percent)
{

	memset(p, 0, sizeof(*p));
	p->slots = slots;
	p->window_max = slots * percent / 100;
	if (p->window_max < 1)
		p->window_max = 1;
	if (slots > 0)
		p->main_max = slots - p->window_max;
	p->protected_max = p->main_max * 8 / 10;
}

/*
 * By layer the slots are dealt like cards, one a layer and round, from the
 * first layer on; a layer that has a slot for each of its experts is passed
 * over.  What nobody can take stays undealt.
 */
static void
twin_init(struct twin *t, int serial, int by_layer, unsigned nlayers,
    const unsigned *nexperts, unsigned slots, unsigned percent)
{
	unsigned share[TWIN_LAYERS] = { 0 };
	unsigned l, dealt;

	assert(nlayers >= 1 && nlayers <= TWIN_LAYERS);
	memset(t, 0, sizeof(*t));
	t->serial = serial;
	t->by_layer = by_layer;
	t->nlayers = nlayers;
	if (!by_layer) {
		twin_pool_init(&t->pool[0], slots, percent);
		return;
	}
	do {
		dealt = 0;
		for (l = 0; l < nlayers && slots > 0; l++)
			if (share[l] < nexperts[l]) {
				share[l]++;
				slots--;
				dealt++;
			}
	} while (dealt > 0);
	for (l = 0; l < nlayers; l++)
		twin_pool_init(&t->pool[l], share[l], percent);
}

static void
twin_evict(struct twin *t, struct twin_list *from, unsigned key)
{

	assert(t->evictions < TWIN_LOG);
	twin_remove(from, key);
	t->victim[t->evictions++] = key;
}

/*
 * The candidate, in no list now, goes to main or contests it: 1 if it is
 * kept.
 */
static int
twin_contest(struct twin *t, struct twin_pool *p, unsigned candidate)
{
	struct twin_list *from = NULL;
	unsigned victim;

	if (p->probation.n + p->protected_.n < p->main_max) {
		twin_append(&p->probation, candidate);
		return (1);
	}
	if (twin_oldest(t, &p->probation, &victim))
		from = &p->probation;
	else if (twin_oldest(t, &p->protected_, &victim))
		from = &p->protected_;
	if (from != NULL && p->count[candidate] > p->count[victim]) {
		twin_evict(t, from, victim);
		twin_append(&p->probation, candidate);
		return (1);
	}
	t->rejects++;
	return (0);
}

/* Step 3 for one miss. */
static void
twin_admit(struct twin *t, struct twin_pool *p, unsigned key)
{
	unsigned candidate;
	int kept = 1;

	if (p->slots == 0)
		kept = 0;		/* no cache, hence no policy */
	else if (p->window.n < p->window_max)
		twin_append(&p->window, key);
	else if (twin_oldest(t, &p->window, &candidate)) {
		twin_remove(&p->window, candidate);
		if (!twin_contest(t, p, candidate)) {
			assert(t->evictions < TWIN_LOG);
			t->victim[t->evictions++] = candidate;
		}
		twin_append(&p->window, key);
	} else
		kept = twin_contest(t, p, key);
	if (kept) {
		t->pinned[key] = 1;
		t->admitted[key] = 1;
		t->admits++;
	} else
		t->bypasses++;
}

/* Step 4 for one access. */
static void
twin_use(struct twin *t, struct twin_pool *p, unsigned key)
{
	unsigned i, oldest;

	p->count[key]++;
	p->since_halving++;
	if (p->since_halving == 10 * (uint64_t)p->slots) {
		for (i = 0; i < TWIN_KEYS; i++)
			p->count[i] /= 2;
		p->since_halving = 0;
	}
	if (twin_find(&p->window, key) >= 0)
		twin_touch(&p->window, key);
	else if (twin_find(&p->protected_, key) >= 0)
		twin_touch(&p->protected_, key);
	else if (twin_find(&p->probation, key) >= 0) {
		if (t->admitted[key]) {
			twin_touch(&p->probation, key);
			return;
		}
		twin_remove(&p->probation, key);
		twin_append(&p->protected_, key);
		while (p->protected_.n > p->protected_max) {
			oldest = p->protected_.key[0];
			twin_remove(&p->protected_, oldest);
			twin_append(&p->probation, oldest);
		}
	}
}

static void
twin_together(struct twin *t, struct twin_pool *p, const unsigned *key,
    unsigned n)
{
	unsigned i;
	int hit[TWIN_EXPERTS];

	for (i = 0; i < n; i++) {
		hit[i] = twin_resident(p, key[i]);
		if (hit[i])
			t->pinned[key[i]] = 1;
	}
	for (i = 0; i < n; i++) {
		t->accesses++;
		if (hit[i])
			t->hits++;
		else if (t->seen[key[i]])
			t->capacity++;
		else
			t->cold++;
		t->seen[key[i]] = 1;
		if (!hit[i])
			twin_admit(t, p, key[i]);
	}
	for (i = 0; i < n; i++)
		twin_use(t, p, key[i]);
	memset(t->pinned, 0, sizeof(t->pinned));
	memset(t->admitted, 0, sizeof(t->admitted));
}

/* One event: the distinct experts of a layer, in rank order. */
static void
twin_event(struct twin *t, unsigned layer, const unsigned *expert, unsigned n)
{
	struct twin_pool *p = &t->pool[t->by_layer ? layer : 0];
	unsigned key[TWIN_EXPERTS], i;

	assert(layer < t->nlayers && n <= TWIN_EXPERTS);
	for (i = 0; i < n; i++)
		key[i] = twin_key(layer, expert[i]);
	if (t->serial)
		for (i = 0; i < n; i++)
			twin_together(t, p, &key[i], 1);
	else
		twin_together(t, p, key, n);
}

#endif /* TWIN_WTINYLFU_H */
