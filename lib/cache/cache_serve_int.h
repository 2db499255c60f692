#ifndef CACHE_SERVE_INT_H
#define CACHE_SERVE_INT_H

/*
 * The one way an event is served, for each contract.  It is written once, here,
 * and compiled into each policy with the policy's own verbs inline
 * (POLICY_SERVE, POLICY_RETAIN): one indirect call an event, not one a key; and
 * twice, with an outcome for each member, or only counted.
 */

#include "cache_int.h"

/* A key is kept, in the slot of its victim or in a free one. */
INLINE void
cache_place(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint32_t victim, uint64_t *digest, const bool counted)
{

	if (!counted)
		c->victim[i] = victim;
	if (c->slot != NULL) {
		c->slot[key] = victim != NO_KEY ? c->slot[victim] :
		    p->first_slot + p->nused;
		if (victim != NO_KEY)
			c->slot[victim] = CL_CACHE_NO_SLOT;
	}
	if (victim == NO_KEY) {
		p->nused++;
		return;
	}
	c->out.nvictims++;
	if (counted)
		*digest = cl_hash_mix(*digest, c->names[victim]);
}

/* Step 3 for member i, which missed; what is added to its class. */
INLINE uint64_t
cache_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint16_t pin, uint64_t *digest, policy_admit *admit, const bool counted)
{
	uint32_t victim = NO_KEY;

	if (p->nslots == 0 || !admit(c, p, key, &victim)) {
		c->out.nbypass += c->known[key] != CL_CLASS_STAGED;
		c->known[key] = CL_CLASS_CAPACITY;
		return (CL_CACHE_NOT_KEPT);
	}
	cache_place(c, p, key, i, victim, digest, counted);
	if (victim != NO_KEY)
		c->known[victim] = CL_CLASS_CAPACITY;
	c->known[key] = pin;
	return (0);
}

/* Step 2 for up to a word of members; residents are pinned, if so asked. */
INLINE uint64_t
cache_classify(struct cl_cache *c, const uint32_t *keys, uint32_t n,
    const bool pin)
{
	uint64_t word = 0;
	uint32_t i;
	uint16_t known;

	for (i = 0; i < n; i++) {
		known = c->known[keys[i]];
		word |= (uint64_t)known << 4 * i;
		if (pin)
			c->known[keys[i]] = known == CL_CLASS_HIT ? PINNED :
			    known;
	}
	return (word);
}

/* Add up the classes of a word; how many are misses. */
INLINE uint32_t
cache_count_word(struct cl_cache *c, uint64_t word)
{
	uint64_t misses = word >> 1 & WORD_ONES;
	uint32_t ncapacity = word_sum(misses & word);
	uint32_t ncold = word_sum(misses & ~word);

	c->out.nstaged += word_sum(word & ~misses & WORD_ONES);
	c->out.ncapacity += ncapacity;
	c->out.ncold += ncold;
	return (ncapacity + ncold);
}

/* Member i is the last one of a word. */
INLINE void
cache_end_word(struct cl_cache *c, uint32_t i, uint64_t word)
{

	(void)cache_count_word(c, word);
	c->word[i / WORD_MEMBERS] = word;
	c->digest = cl_hash_mix(c->digest, word);
}

/* Step 4: all members are used, and the pins dropped. */
INLINE void
cache_use_all(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_use *use)
{
	uint32_t from, i, m;
	uint64_t word;

	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		m = word_members(n, from);
		for (i = 0; i < m; i++, word >>= 4) {
			use(c, p, keys[from + i], (word & CLASS_MASK) != 0);
			c->known[keys[from + i]] &= CLASS_MASK;
		}
	}
}

/* The first three of the contract's four steps for all members of an event. */
INLINE void
cache_event_admit(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, const bool counted)
{
	uint64_t digest = c->digest, word, misses;
	uint32_t from, i;

	c->event++;
	for (from = 0; from < n; from += WORD_MEMBERS)
		c->word[from / WORD_MEMBERS] = cache_classify(c, keys + from,
		    word_members(n, from), true);
	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		(void)cache_count_word(c, word);
		misses = word_admissions(word);
		for (; misses != 0; misses &= misses - 1) {
			i = (uint32_t)__builtin_ctzll(misses) / 4;
			word |= cache_admit(c, p, keys[from + i], from + i,
			    PINNED, &digest, admit, counted) << 4 * i;
		}
		c->word[from / WORD_MEMBERS] = word;
		digest = cl_hash_mix(digest, word);
	}
	c->digest = digest;
}

/* Serve all members as one event. */
INLINE void
cache_event(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, const bool counted)
{

	cache_event_admit(c, p, keys, n, admit, counted);
	cache_use_all(c, p, keys, n, use);
}

/*
 * Members at .. to of a word, each as an event of its own: nothing needs a pin.
 * The word with them.
 */
INLINE uint64_t
cache_serial_members(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t at, uint32_t to, uint64_t word, uint64_t *digest,
    policy_admit *admit, policy_use *use, const bool counted)
{
	uint64_t class;
	uint32_t i;

	for (i = at; i < to; i++) {
		class = c->known[keys[i]];
		c->event++;
		word |= class << 4 * (i % WORD_MEMBERS);
		if (class != CL_CLASS_HIT)
			word |= cache_admit(c, p, keys[i], i, CL_CLASS_HIT,
			    digest, admit, counted) << 4 * (i % WORD_MEMBERS);
		if (!counted)
			c->out_slot[i] = c->slot[keys[i]];
		use(c, p, keys[i], class != CL_CLASS_HIT);
	}
	return (word);
}

INLINE void
cache_serial(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, const bool counted)
{
	uint64_t digest = c->digest, word;
	uint32_t from;

	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = cache_serial_members(c, p, keys, from,
		    from + word_members(n, from), 0, &digest, admit, use,
		    counted);
		(void)cache_count_word(c, word);
		c->word[from / WORD_MEMBERS] = word;
		digest = cl_hash_mix(digest, word);
	}
	c->digest = digest;
}

/*
 * Up to a word of members under serial, counted, in a full pool, with all
 * misses first, in order, and uses last.  That makes no difference as long as
 * early, which admits like admit, comes upon none of them: it knows them by
 * their pins.  It says false where it would, and from there on they go one by
 * one.
 */
INLINE void
cache_early_word(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_admit *early)
{
	uint64_t digest = c->digest, word, misses;
	uint32_t i, to = n, victim;

	word = cache_classify(c, keys, n, true);
	for (misses = word & WORD_MISSES; misses != 0; misses &= misses - 1) {
		i = (uint32_t)__builtin_ctzll(misses) / 4;
		if (!early(c, p, keys[i], &victim)) {
			to = i;
			break;
		}
		digest = cl_hash_mix(digest, c->names[victim]);
		c->known[victim] = CL_CLASS_CAPACITY;
		c->known[keys[i]] = PINNED;
		c->out.nvictims++;
	}
	c->event += to;
	for (i = 0; i < to; i++)
		use(c, p, keys[i], (word >> 4 * i & CLASS_MASK) != 0);
	for (i = 0; i < n; i++)
		c->known[keys[i]] &= CLASS_MASK;
	if (to < n)
		word = cache_serial_members(c, p, keys, to, n,
		    word & ((UINT64_C(1) << 4 * to) - 1), &digest, admit, use,
		    true);
	(void)cache_count_word(c, word);
	c->digest = cl_hash_mix(digest, word);
}

/* The same for all members, whatever the pool. */
INLINE void
cache_serial_early(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_admit *early)
{
	uint32_t from;

	if (!pool_full(p) || p->nslots == 0) {
		cache_serial(c, p, keys, n, admit, use, true);
		return;
	}
	for (from = 0; from < n; from += WORD_MEMBERS)
		cache_early_word(c, p, keys + from, word_members(n, from),
		    admit, use, early);
}

/* An event, counted, at once if it is a word. */
INLINE void
cache_event_at_once(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_word *word)
{

	if (pool_full(p) && n <= WORD_MEMBERS && word(c, p, keys, n))
		c->event++;
	else
		cache_event(c, p, keys, n, admit, use, true);
}

INLINE void
cache_serial_at_once(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_word *word)
{
	uint32_t from, m;

	for (from = 0; from < n; from += m) {
		m = word_members(n, from);
		if (pool_full(p) && word(c, p, keys + from, m))
			c->event += m;
		else
			cache_serial(c, p, keys + from, m, admit, use, true);
	}
}

/* Where miss is 1, the victim leaves; where it is 0, nothing happens. */
INLINE uint64_t
cache_turned(struct cl_cache *c, uint32_t victim, uint64_t miss,
    uint64_t digest)
{
	uint64_t mixed = cl_hash_mix(digest, c->names[victim]);

	c->known[victim] |= (uint16_t)(CL_CLASS_CAPACITY * miss);
	c->out.nvictims += (uint32_t)miss;
	return (digest ^ ((digest ^ mixed) & (0 - miss)));
}

/*
 * An event, counted, without a branch that depends on what hits.  With more
 * slots than members, somebody is never pinned.
 */
INLINE void
cache_event_turning(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_turn *turn)
{
	uint64_t digest = c->digest, word, miss;
	uint32_t from, i, m, victim;

	if (!pool_full(p) || p->nslots <= n) {
		cache_event(c, p, keys, n, admit, use, true);
		return;
	}
	c->event++;
	for (from = 0; from < n; from += WORD_MEMBERS)
		c->word[from / WORD_MEMBERS] = cache_classify(c, keys + from,
		    word_members(n, from), true);
	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		m = word_members(n, from);
		for (i = 0; i < m; i++) {
			miss = word >> (4 * i + 1) & 1;
			victim = turn(c, p, keys[from + i], miss != 0);
			digest = cache_turned(c, victim, miss, digest);
			c->known[keys[from + i]] = PINNED;
		}
		(void)cache_count_word(c, word);
		digest = cl_hash_mix(digest, word);
	}
	cache_use_all(c, p, keys, n, use);
	c->digest = digest;
}

/*
 * The same, counted, without a branch that depends on what hits.  A full pool
 * stays full.
 */
INLINE void
cache_serial_turning(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_turn *turn)
{
	uint64_t digest = c->digest, word = 0, class, miss;
	uint32_t i, key, victim;

	if (!pool_full(p) || p->nslots == 0) {
		cache_serial(c, p, keys, n, admit, use, true);
		return;
	}
	for (i = 0; i < n; i++) {
		key = keys[i];
		class = c->known[key];
		miss = class >> 1;
		victim = turn(c, p, key, miss != 0);
		digest = cache_turned(c, victim, miss, digest);
		c->known[key] = CL_CLASS_HIT;
		word |= class << 4 * (i % WORD_MEMBERS);
		use(c, p, key, miss != 0);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == n - 1) {
			(void)cache_count_word(c, word);
			digest = cl_hash_mix(digest, word);
			word = 0;
		}
	}
	c->event += n;
	c->digest = digest;
}

/*
 * Whoever has to leave for the members that came in is thrown out: residents
 * by their order into c->thrown, newcomers to stay where they are.
 */
INLINE void
cache_cut(struct cl_cache *c, struct pool *p, uint32_t nnew,
    policy_evict *evict)
{
	uint32_t nin, nthrown = 0, key;

	for (nin = p->nused + nnew; nin > p->nslots; nin--) {
		key = evict(c, p);
		if (c->known[key] != NEWCOMER)
			c->thrown[nthrown++] = key;
		c->known[key] = CL_CLASS_CAPACITY;
	}
}

/* Newcomer i stays: a free slot, or that of the next one thrown out. */
INLINE void
cache_keep(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint32_t *nthrown)
{
	uint32_t victim = p->nused < p->nslots ? NO_KEY :
	    c->thrown[(*nthrown)++];

	if (c->names != NULL)
		cache_place(c, p, key, i, victim, &c->digest, true);
	else {
		cache_place(c, p, key, i, victim, &c->digest, false);
		c->out_slot[i] = c->slot[key];
	}
}

/*
 * Contract retain: members come in, all are used, and the worst leave until
 * the rest fits.
 */
INLINE void
cache_retain(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_enter *enter, policy_use *use, policy_evict *evict)
{
	uint32_t i, nnew = 0, nthrown = 0, key;
	uint64_t class, word = 0;

	c->event++;
	for (i = 0; i < n; i++) {
		c->class[i] = (uint8_t)c->known[keys[i]];
		if (c->class[i] != CL_CLASS_HIT) {
			c->known[keys[i]] = NEWCOMER;
			enter(c, p, keys[i]);
			nnew++;
		}
	}
	for (i = 0; i < n; i++)
		use(c, p, keys[i], c->class[i] != CL_CLASS_HIT);
	if (c->names == NULL)
		for (i = 0; i < n; i++)
			c->out_slot[i] = c->slot[keys[i]];
	cache_cut(c, p, nnew, evict);
	for (i = 0; i < n; i++) {
		key = keys[i];
		class = c->class[i];
		if (c->known[key] == CL_CLASS_CAPACITY) {
			c->out.nbypass += class >= CL_CLASS_COLD;
			class |= CL_CACHE_NOT_KEPT;
		} else if (class != CL_CLASS_HIT) {
			cache_keep(c, p, key, i, &nthrown);
			c->known[key] = CL_CLASS_HIT;
		}
		word |= class << 4 * (i % WORD_MEMBERS);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == n - 1) {
			cache_end_word(c, i, word);
			word = 0;
		}
	}
}

/* The serve verb of a policy that has NAME_admit and NAME_use. */
#define POLICY_SERVE(name)						\
POLICY_SERVE_COUNTING(name,						\
    cache_event(c, p, keys, n, name##_admit, name##_use, true),		\
    cache_serial(c, p, keys, n, name##_admit, name##_use, true))

/* The same, if it has NAME_turn as well. */
#define POLICY_SERVE_TURNING(name)					\
POLICY_SERVE_COUNTING(name,						\
    cache_event_turning(c, p, keys, n, name##_admit, name##_use,	\
    name##_turn),							\
    cache_serial_turning(c, p, keys, n, name##_admit, name##_use,	\
    name##_turn))

/* The same, if it has NAME_word as well. */
#define POLICY_SERVE_AT_ONCE(name)					\
POLICY_SERVE_COUNTING(name,						\
    cache_event_at_once(c, p, keys, n, name##_admit, name##_use,	\
    name##_word),							\
    cache_serial_at_once(c, p, keys, n, name##_admit, name##_use,	\
    name##_word))

/* The same, counted by verbs of its own. */
#define POLICY_SERVE_COUNTING(name, count_event, count_serial)		\
static void								\
name##_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
	bool event = c->contract == CL_CONTRACT_EVENT;			\
									\
	if (c->names != NULL && event)					\
		count_event;						\
	else if (c->names != NULL)					\
		count_serial;						\
	else if (event)							\
		cache_event(c, p, keys, n, name##_admit, name##_use,	\
		    false);						\
	else								\
		cache_serial(c, p, keys, n, name##_admit, name##_use,	\
		    false);						\
}

/* Its retain verb, if it has NAME_enter and NAME_evict as well. */
#define POLICY_RETAIN(name)						\
static void								\
name##_retain(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
									\
	cache_retain(c, p, keys, n, name##_enter, name##_use,		\
	    name##_evict);						\
}

#endif /* CACHE_SERVE_INT_H */
