/*
 * Least frequently and recently used: the victim is the expert with the lowest
 * score, all its uses ever / (now - last use + 1), that is not pinned.  Now
 * and the last use are the numbers of their events; equal scores are told
 * apart by the last use, which members of an event have in order.
 *
 * A score's inverse, idleness, grows by 1 / count an event, for each expert at
 * its own pace, so that no order of them would last.  But it is known when an
 * expert comes to a given idleness.  Each pool has a border: who has come to it
 * is ripe, and the victim is the most idle of the ripe ones, as long as that is
 * not below the border.  All others are below it; they wait in a calendar, for
 * the day on which they may become ripe, or the last there is.  A use puts that
 * off, so it touches nothing: who comes up too early, or is found among the
 * ripe ones without being so, is entered again.
 *
 * The border is where few are ripe.  When they become many, it is raised to
 * their mean, and those below are entered again; when the most idle is below
 * it, all of the pool are, with a border that begins at zero.
 *
 * Numbers that are rounded decide only where to look: scores are compared
 * exactly.  Pinned experts that are looked at are taken out, and newcomers are
 * not put in: both are members of the event at hand, whose use puts them in.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/num.h"
#include "cache_serve_int.h"

#define BLOCK		4u		/* ripe ones looked at at once */
#define FEW		8u		/* ripe, and the root of what fits */
#define SLACK		1e-12		/* more than doubles err by */

struct stamp {
	uint64_t	count;
	uint64_t	when;		/* event and place in it, last used */
	uint32_t	next;		/* of its day, or NO_KEY */
	bool		inside;		/* it is ripe, or has a day */
};

struct calendar {
	uint32_t	*day;		/* the first of its keys, or NO_KEY */
	uint64_t	 today;
	uint32_t	 ndays;		/* that there are: a power of two */
	uint32_t	 day_bits;	/* of an event's number */
	double		 border;
	uint32_t	 few;
	uint32_t	 many;
	uint32_t	 nripe;
	uint32_t	*ripe;
	double		*since;		/* of each of them: the last use */
	double		*rate;		/* the same: 1 / count */
};

struct lfru {
	uint32_t	 event;		/* of the cache, as last seen */
	uint32_t	 place_bits;
	uint64_t	 now;		/* how many events there were */
	uint64_t	 when;		/* of the next use */
	struct stamp	*stamp;		/* of each key */
	struct calendar	*calendar;	/* of each pool */
	uint32_t	*day;		/* of all pools, as what follows */
	uint32_t	*ripe;
	double		*since;
	double		*rate;
	double		*idle;		/* of a pool's ripe ones, looked at */
	uint32_t	*all;		/* that are inside, while begun anew */
	uint64_t	 spent;		/* the event that pins all; 0: none */
};

static void
lfru_free(void *state)
{
	struct lfru *l = state;

	if (l == NULL)
		return;
	free(l->stamp);
	free(l->calendar);
	free(l->day);
	free(l->ripe);
	free(l->since);
	free(l->rate);
	free(l->idle);
	free(l->all);
	free(l);
}

/*
 * How many days there are, and how many ripe ones are few and many, where so
 * many keys fit inside at once.  Each victim has all ripe ones looked at, and
 * after as many victims as are ripe, all that fit may have to be entered again:
 * few + nfit / few is least at the root.
 */
static void
size_calendar(struct calendar *d, uint32_t nfit)
{
	uint32_t root = 0;

	for (d->ndays = 1; d->ndays < nfit / 2; d->ndays *= 2)
		;
	while ((uint64_t)root * root < nfit)
		root++;
	d->few = FEW + root;
	d->many = 2 * d->few;
}

static void *
lfru_open(const struct cl_cache *c)
{
	size_t i, ndays = 0, nripe = 0, most = 0, n;
	struct lfru *l;

	if ((l = calloc(1, sizeof(*l))) == NULL ||
	    (l->calendar = calloc(c->npools, sizeof(*l->calendar))) == NULL) {
		lfru_free(l);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++) {
		n = (size_t)c->pool[i].nslots + c->nevent;
		size_calendar(&l->calendar[i], (uint32_t)n);
		ndays += l->calendar[i].ndays;
		nripe += n + BLOCK;
		most = most > n ? most : n;
	}
	l->stamp = calloc(c->nkeys, sizeof(*l->stamp));
	l->day = calloc(ndays, sizeof(*l->day));
	l->ripe = calloc(nripe, sizeof(*l->ripe));
	l->since = calloc(nripe, sizeof(*l->since));
	l->rate = calloc(nripe, sizeof(*l->rate));
	l->idle = calloc(most + BLOCK, sizeof(*l->idle));
	l->all = calloc(most, sizeof(*l->all));
	if (l->stamp == NULL || l->day == NULL || l->ripe == NULL ||
	    l->since == NULL || l->rate == NULL || l->idle == NULL ||
	    l->all == NULL) {
		lfru_free(l);
		return (NULL);
	}
	while (c->nevent >> l->place_bits != 0)
		l->place_bits++;
	for (i = ndays; i > 0; i--)
		l->day[i - 1] = NO_KEY;
	for (i = ndays = nripe = 0; i < c->npools; i++) {
		l->calendar[i].day = l->day + ndays;
		l->calendar[i].ripe = l->ripe + nripe;
		l->calendar[i].since = l->since + nripe;
		l->calendar[i].rate = l->rate + nripe;
		ndays += l->calendar[i].ndays;
		nripe += (size_t)c->pool[i].nslots + c->nevent + BLOCK;
	}
	return (l);
}

/*
 * A number of uses or events as a double; of a signed number that is one
 * instruction, of an unsigned one it is several and a branch.  They agree below
 * 2^63, where what grows by ones never comes: a calendar's last day is before
 * nine times now, or ndays from now.
 */
INLINE double
real(uint64_t n)
{

	return ((double)(int64_t)n);
}

/* Which event is it? */
INLINE void
tick(const struct cl_cache *c, struct lfru *l)
{

	if (l->event != c->event) {
		l->event = c->event;
		l->when = ++l->now << l->place_bits;
	}
}

/* The event of a key's last use. */
INLINE uint64_t
event_of(const struct lfru *l, uint32_t key)
{

	return (l->stamp[key].when >> l->place_bits);
}

/* Has a the lower score? */
INLINE bool
lower(const struct lfru *l, uint32_t a, uint32_t b)
{
	int order = cl_mulcmp(l->stamp[a].count, l->now - event_of(l, b) + 1,
	    l->stamp[b].count, l->now - event_of(l, a) + 1);

	return (order < 0 ||
	    (order == 0 && l->stamp[a].when < l->stamp[b].when));
}

/* A key that is inside becomes ripe, or is entered for the day it may. */
INLINE void
enter(struct lfru *l, struct calendar *d, uint32_t key)
{
	double since = real(event_of(l, key));
	double count = real(l->stamp[key].count);
	double at = (since - 1 + d->border * count) * (1 - SLACK);
	double last = real((d->today + d->ndays - 1) << d->day_bits);
	uint64_t day = (uint64_t)(int64_t)(at < last ? at : last) >>
	    d->day_bits;
	uint32_t *first = &d->day[day & (d->ndays - 1)];

	if (day > d->today) {
		l->stamp[key].next = *first;
		*first = key;
		return;
	}
	d->ripe[d->nripe] = key;
	d->since[d->nripe] = since;
	d->rate[d->nripe++] = 1 / count;
}

/* There are many ripe ones: the border becomes their mean. */
static void
raise_border(struct lfru *l, struct calendar *d)
{
	double now = real(l->now + 1), sum = 0;
	uint32_t i, n = d->nripe;

	for (i = 0; i < n; i++)
		sum += (now - d->since[i]) * d->rate[i];
	sum *= (1 - 4 * SLACK) / n;
	d->border = sum > d->border ? sum : d->border;
	d->nripe = 0;
	for (i = 0; i < n; i++)
		enter(l, d, d->ripe[i]);
	d->many = 2 * d->few;
	if (d->nripe > d->few && d->nripe > n - n / 8)
		d->many = 2 * d->nripe;		/* they are all alike */
}

/* All that are inside, into l->all; those that are pinned are taken out. */
static uint32_t
gather(const struct cl_cache *c, struct lfru *l, const struct calendar *d)
{
	uint32_t i, n = d->nripe, nleft = 0, key;

	memcpy(l->all, d->ripe, n * sizeof(*l->all));
	for (i = 0; i < d->ndays; i++)
		for (key = d->day[i]; key != NO_KEY; key = l->stamp[key].next)
			l->all[n++] = key;
	for (i = 0; i < n; i++) {
		key = l->all[i];
		l->stamp[key].inside = !cache_pinned(c, key);
		if (l->stamp[key].inside)
			l->all[nleft++] = key;
	}
	return (nleft);
}

/* Enter all again; the days are for four times the mean age. */
static void
begin_anew(const struct cl_cache *c, struct lfru *l, struct calendar *d)
{
	uint32_t i, n = gather(c, l, d);
	uint64_t age = 0;

	for (i = 0; i < n; i++)
		age += l->now - event_of(l, l->all[i]);
	for (d->day_bits = 0; 4 * (age / (n + 1)) >> d->day_bits >= d->ndays;
	    d->day_bits++)
		;
	for (i = 0; i < d->ndays; i++)
		d->day[i] = NO_KEY;
	d->today = l->now >> d->day_bits;
	d->border = 0;
	d->nripe = 0;
	d->many = 2 * d->few;
	for (i = 0; i < n; i++) {
		enter(l, d, l->all[i]);
		/* If once is not enough, the next key or day does it again. */
		if (d->nripe >= d->many)
			raise_border(l, d);
	}
}

/* The days up to now have come, each at most once. */
static void
advance(struct lfru *l, struct calendar *d)
{
	uint64_t day = d->today;
	uint32_t *first, key, next, n;

	d->today = l->now >> d->day_bits;
	for (n = 0; day < d->today && n < d->ndays; n++) {
		first = &d->day[++day & (d->ndays - 1)];
		key = *first;
		*first = NO_KEY;
		for (; key != NO_KEY; key = next) {
			next = l->stamp[key].next;
			enter(l, d, key);
		}
	}
	/*
	 * Days bring any number at once, so once may not be enough; but each
	 * time an eighth of them leave, or many is twice their number.
	 */
	while (d->nripe >= d->many)
		raise_border(l, d);
}

/* How idle are the ripe ones?  The most. */
INLINE double
look(struct lfru *l, struct calendar *d)
{
	double now = real(l->now + 1), most[BLOCK] = { 0 }, idle;
	uint32_t i, j;

	for (j = 0; j < BLOCK; j++)
		d->rate[d->nripe + j] = 0;
	for (i = 0; i < d->nripe; i += BLOCK)
		for (j = 0; j < BLOCK; j++) {
			idle = (now - d->since[i + j]) * d->rate[i + j];
			l->idle[i + j] = idle;
			most[j] = idle > most[j] ? idle : most[j];
		}
	for (j = 1; j < BLOCK; j++)
		most[0] = most[j] > most[0] ? most[j] : most[0];
	return (most[0]);
}

/* The next from i on that is at least so idle, or the number of ripe ones. */
INLINE uint32_t
find(const struct lfru *l, const struct calendar *d, double least, uint32_t i)
{
	uint32_t j, n = 0;

	for (; i < d->nripe && n == 0; i += BLOCK)
		for (j = 0; j < BLOCK; j++)
			n += l->idle[i + j] >= least;
	for (i -= n == 0 ? 0 : BLOCK; i < d->nripe; i++)
		if (l->idle[i] >= least)
			return (i);
	return (d->nripe);
}

static void
strike(struct calendar *d, uint32_t i)
{

	d->nripe--;
	d->ripe[i] = d->ripe[d->nripe];
	d->since[i] = d->since[d->nripe];
	d->rate[i] = d->rate[d->nripe];
}

/*
 * Strike a ripe one that is not what it seems: a pinned one is taken out, one
 * that was used since is entered again.  True if it was struck.
 */
INLINE bool
strike_false(const struct cl_cache *c, struct lfru *l, struct calendar *d,
    uint32_t i)
{
	uint32_t key = d->ripe[i];

	if (cache_pinned(c, key)) {
		strike(d, i);
		l->stamp[key].inside = false;
		return (true);
	}
	if (d->since[i] != real(event_of(l, key))) {
		strike(d, i);
		enter(l, d, key);
		return (true);
	}
	return (false);
}

/*
 * Of those at least so idle, the one with the lowest score; or NO_KEY where one
 * was struck, after which all have to be looked at again.
 */
INLINE uint32_t
lowest(const struct cl_cache *c, struct lfru *l, struct calendar *d,
    double least)
{
	uint32_t best = find(l, d, least, 0), i;

	for (i = best; i < d->nripe; i = find(l, d, least, i + 1)) {
		if (strike_false(c, l, d, i))
			return (NO_KEY);
		if (lower(l, d->ripe[i], d->ripe[best]))
			best = i;
	}
	return (best);
}

/* The ripe one with the lowest score, or NO_KEY where none is at the border. */
static uint32_t
ripest(const struct cl_cache *c, struct lfru *l, struct calendar *d)
{
	uint32_t key, best;
	double most;

	do {
		most = look(l, d) * (1 - SLACK);
		if (d->nripe == 0 || most < d->border)
			return (NO_KEY);
	} while ((best = lowest(c, l, d, most)) == NO_KEY);
	key = d->ripe[best];
	strike(d, best);
	l->stamp[key].inside = false;
	return (key);
}

/*
 * The lowest that is not pinned leaves; or NO_KEY, which all that the event
 * still misses get without another look.
 */
static uint32_t
take_lowest(const struct cl_cache *c, struct lfru *l, const struct pool *p)
{
	struct calendar *d = &l->calendar[p->number];
	uint32_t key;

	if (l->spent == l->now)
		return (NO_KEY);
	advance(l, d);
	if ((key = ripest(c, l, d)) == NO_KEY) {
		begin_anew(c, l, d);
		key = ripest(c, l, d);
	}
	if (key == NO_KEY)
		l->spent = l->now;
	return (key);
}

INLINE bool
lfru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lfru *l = c->state;

	(void)key;
	tick(c, l);
	if (!pool_full(p))
		return (true);
	*victim = take_lowest(c, l, p);
	return (*victim != NO_KEY);
}

INLINE void
lfru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lfru *l = c->state;
	struct stamp *s = &l->stamp[key];

	(void)fresh;
	tick(c, l);
	s->count++;
	s->when = l->when++;
	if (!s->inside && cache_resident(c, key)) {
		s->inside = true;
		enter(l, &l->calendar[p->number], key);
	}
}

/* Its use will put it in. */
INLINE void
lfru_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	(void)c;
	(void)p;
	(void)key;
}

INLINE uint32_t
lfru_evict(struct cl_cache *c, struct pool *p)
{

	return (take_lowest(c, c->state, p));
}

POLICY_SERVE(lfru)
POLICY_RETAIN(lfru)

const struct policy cl_cache_lfru = {
	.info = { .name = "lfru",
	    .summary = "fewest uses ever for the time since the last one",
	    .total_order = true },
	.open = lfru_open,
	.free = lfru_free,
	.serve = lfru_serve,
	.retain = lfru_retain,
};
