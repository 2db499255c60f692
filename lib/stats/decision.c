/*
 * Events as bytes: numbers take 7 bits a byte, since most of them are small,
 * and classes half a byte.  Only what changes from event to event is said of
 * where an event stands.  There is one spelling of each event, and nothing
 * else is taken for one.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/buf.h"
#include "cl/cur.h"
#include "cl/decision.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/num.h"
#include "cl/vec.h"

#define MOVES		1u		/* the flags of an event */
#define PREFILL		2u
#define CHANGES		4u

#define MORE		0x80u		/* of a byte of a number */
#define EVENT_MIN	5u		/* bytes: flags, layer, n, a member */
#define CHANGE_MIN	5u		/* token, n, used, two experts */
#define WORD_MEMBERS	16u		/* of the digest */
#define CHANGED		(UINT64_C(1) << 62)

static void
put_number(struct cl_buf *buf, uint64_t v)
{

	for (; v >= MORE; v >>= 7)
		cl_buf_u8(buf, (uint8_t)(v | MORE));
	cl_buf_u8(buf, (uint8_t)v);
}

static void
put_classes(struct cl_buf *buf, const struct cl_decision *d)
{
	uint32_t i;
	uint8_t high;

	for (i = 0; i < d->n; i += 2) {
		high = i + 1 < d->n ? d->class[i + 1] : 0;
		cl_buf_u8(buf, (uint8_t)(d->class[i] | high << 4));
	}
}

/* Tokens by how many lie between each and the one before. */
static void
put_changes(struct cl_buf *buf, const struct cl_decision *d)
{
	const struct cl_decision_change *c;
	const uint16_t *id = d->choice, *end;
	uint64_t next = 0;

	put_number(buf, d->nchanges);
	for (c = d->change; c < d->change + d->nchanges; c++) {
		assert(c->token >= next && c->n > 0 && c->nused <= c->n);
		put_number(buf, c->token - next);
		next = (uint64_t)c->token + 1;
		put_number(buf, c->n);
		put_number(buf, c->nused);
		for (end = id + 2 * (size_t)c->n; id < end;)
			put_number(buf, *id++);
	}
}

void
cl_decision_put(struct cl_buf *buf, struct cl_decision_place *last,
    const struct cl_decision *d)
{
	bool moves = d->pass != last->pass || d->token != last->token;
	uint32_t i;

	assert(d->n + d->nchanges > 0 && d->layer <= CL_DECISION_LAYER_MAX);
	assert(d->pass >= last->pass && d->token >= last->token);
	cl_buf_u8(buf, (uint8_t)((moves ? MOVES : 0) |
	    (d->prefill ? PREFILL : 0) | (d->nchanges > 0 ? CHANGES : 0)));
	if (moves) {
		put_number(buf, d->pass - last->pass);
		put_number(buf, d->token - last->token);
		last->pass = d->pass;
		last->token = d->token;
	}
	put_number(buf, d->layer);
	put_number(buf, d->n);
	for (i = 0; i < d->n; i++)
		put_number(buf, d->expert[i]);
	put_classes(buf, d);
	for (i = 0; i < d->nvictims; i++) {
		put_number(buf, d->victim[i].layer);
		put_number(buf, d->victim[i].expert);
	}
	if (d->nchanges > 0)
		put_changes(buf, d);
}

/* A number in its shortest form, at most max; else the cursor is bad. */
static uint64_t
take_number(struct cl_cur *c, uint64_t max)
{
	uint64_t v = 0, low;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cl_cur_u8(c);
		low = byte & (MORE - 1);
		if (shift > 63 || low << shift >> shift != low ||
		    (byte == 0 && shift > 0)) {
			c->bad = true;
			return (0);
		}
		v |= low << shift;
		shift += 7;
	} while ((byte & MORE) != 0 && cl_cur_ok(c));
	c->bad = c->bad || v > max;
	return (c->bad ? 0 : v);
}

static int
broken(const char *what, struct cl_err *err)
{

	return (cl_fail(err, CL_EFORMAT, "an event of the log %s", what));
}

/* Where it stands. */
static int
take_place(struct cl_decision_log *t, struct cl_cur *c, unsigned flags,
    struct cl_decision *d, struct cl_err *err)
{
	uint64_t passes, tokens;

	if (flags > (MOVES | PREFILL | CHANGES))
		return (broken("has flags that are unknown", err));
	if ((flags & MOVES) != 0) {
		passes = take_number(c, UINT64_MAX);
		tokens = take_number(c, UINT64_MAX);
		if (cl_cur_ok(c) && passes == 0 && tokens == 0)
			return (broken("moves nowhere", err));
		if (!cl_add(t->last.pass, passes, &t->last.pass) ||
		    !cl_add(t->last.token, tokens, &t->last.token))
			return (broken("moves beyond what can be counted",
			    err));
	}
	d->pass = t->last.pass;
	d->token = t->last.token;
	d->prefill = (flags & PREFILL) != 0;
	return (CL_OK);
}

/* The class of a member; what no event can have is refused. */
static int
take_class(struct cl_decision_log *t, uint32_t i, unsigned class,
    uint32_t *nvictims, struct cl_err *err)
{

	t->class[i] = (uint8_t)class;
	if ((class & CL_DECISION_THREW) == 0)
		return (CL_OK);
	++*nvictims;
	if ((class & CL_DECISION_NOT_KEPT) != 0 ||
	    (class & CL_DECISION_CLASS) == 0)
		return (broken("throws somebody out for who does not come in",
		    err));
	return (CL_OK);
}

static int
take_members(struct cl_decision_log *t, struct cl_cur *c, unsigned flags,
    struct cl_decision *d, struct cl_err *err)
{
	const uint8_t *bytes;
	uint32_t i;
	int status;

	if (d->n == 0 && (flags & CHANGES) != 0)
		return (CL_OK);			/* all were left out */
	/* Each takes a byte and a half, if not more. */
	if (d->n == 0 || d->n > cl_cur_left(c))
		return (broken("has no members, or more than it has bytes",
		    err));
	if ((status = cl_vec_grow(&t->expert, &t->expert_cap, d->n,
	    sizeof(*t->expert), err)) != CL_OK ||
	    (status = cl_vec_grow(&t->class, &t->class_cap, d->n,
	    sizeof(*t->class), err)) != CL_OK)
		return (status);
	for (i = 0; i < d->n; i++)
		t->expert[i] = (uint32_t)take_number(c, UINT32_MAX);
	if ((bytes = cl_cur_bytes(c, ((uint64_t)d->n + 1) / 2)) == NULL)
		return (CL_OK);			/* who calls says so */
	if (d->n % 2 != 0 && bytes[d->n / 2] >> 4 != 0)
		return (broken("has a class behind its last member", err));
	for (i = 0; i < d->n; i++)
		if ((status = take_class(t, i, bytes[i / 2] >> i % 2 * 4 & 15,
		    &d->nvictims, err)) != CL_OK)
			return (status);
	return (CL_OK);
}

static int
take_victims(struct cl_decision_log *t, struct cl_cur *c,
    const struct cl_decision *d, struct cl_err *err)
{
	uint32_t i;
	int status;

	if (d->nvictims > cl_cur_left(c) / 2)
		return (broken("has more victims than it has bytes", err));
	if ((status = cl_vec_grow(&t->victim, &t->victim_cap, d->nvictims,
	    sizeof(*t->victim), err)) != CL_OK)
		return (status);
	for (i = 0; i < d->nvictims; i++) {
		t->victim[i].layer = (uint32_t)take_number(c,
		    CL_DECISION_LAYER_MAX);
		t->victim[i].expert = (uint32_t)take_number(c, UINT32_MAX);
	}
	return (CL_OK);
}

/* One change, but for its experts; behind the token before next. */
static int
take_change(struct cl_cur *c, uint64_t next, struct cl_decision_change *to,
    struct cl_err *err)
{
	uint64_t token = next + take_number(c, UINT32_MAX);

	to->n = (uint32_t)take_number(c, UINT32_MAX);
	to->nused = (uint32_t)take_number(c, to->n);
	if (token > UINT32_MAX)
		c->bad = true;
	to->token = (uint32_t)token;
	return (cl_cur_ok(c) && (to->n == 0 || to->n > cl_cur_left(c) / 2) ?
	    broken("changes no choice, or more than it has bytes", err) :
	    CL_OK);
}

/* Its experts: those that the rule chooses, then the others. */
static int
take_choices(struct cl_decision_log *t, struct cl_cur *c,
    const struct cl_decision_change *to, struct cl_err *err)
{
	uint16_t *id;
	size_t i;
	int status;

	if ((status = cl_vec_grow(&t->choice, &t->choice_cap,
	    t->nchoices + 2 * (size_t)to->n, sizeof(*t->choice), err)) !=
	    CL_OK)
		return (status);
	id = t->choice + t->nchoices;
	for (i = 0; i < 2 * (size_t)to->n; i++)
		id[i] = (uint16_t)take_number(c, UINT16_MAX);
	t->nchoices += i;
	return (cl_cur_ok(c) && to->nused == to->n &&
	    memcmp(id, id + to->n, to->n * sizeof(*id)) == 0 ?
	    broken("changes a choice into itself", err) : CL_OK);
}

static int
take_changes(struct cl_decision_log *t, struct cl_cur *c,
    struct cl_decision *d, struct cl_err *err)
{
	uint64_t next = 0;
	uint32_t i;
	int status;

	d->nchanges = (uint32_t)take_number(c, UINT32_MAX);
	if (cl_cur_ok(c) && (d->nchanges == 0 ||
	    d->nchanges > cl_cur_left(c) / CHANGE_MIN))
		return (broken("has no changes, or more than it has bytes",
		    err));
	if ((status = cl_vec_grow(&t->change, &t->change_cap, d->nchanges,
	    sizeof(*t->change), err)) != CL_OK)
		return (status);
	for (i = 0; i < d->nchanges && cl_cur_ok(c); i++) {
		if ((status = take_change(c, next, &t->change[i], err)) !=
		    CL_OK)
			return (status);
		if (cl_cur_ok(c) && (status = take_choices(t, c,
		    &t->change[i], err)) != CL_OK)
			return (status);
		next = (uint64_t)t->change[i].token + 1;
	}
	return (CL_OK);
}

void
cl_decision_log_begin(struct cl_decision_log *t)
{

	t->last = (struct cl_decision_place){ 0, 0 };
	t->n = 0;
	t->left = 0;
}

void
cl_decision_log_bytes(struct cl_decision_log *t, const void *p, size_t n,
    uint64_t nevents)
{

	cl_cur_init(&t->cur, p, n);
	t->left = nevents;
}

int
cl_decision_log_part(struct cl_decision_log *t, const void *p, size_t n,
    struct cl_err *err)
{
	uint64_t before;

	assert(t->left == 0);
	cl_cur_init(&t->cur, p, n);
	before = cl_cur_u64(&t->cur);
	t->left = cl_cur_u32(&t->cur);
	if (before != t->n || t->left == 0 ||
	    t->left > cl_cur_left(&t->cur) / EVENT_MIN)
		return (cl_fail(err, CL_EFORMAT, "%llu events behind event "
		    "%llu of the log: %llu have come, and %zu bytes are left",
		    (unsigned long long)t->left, (unsigned long long)before,
		    (unsigned long long)t->n, cl_cur_left(&t->cur)));
	return (CL_OK);
}

int
cl_decision_log_take(struct cl_decision_log *t, struct cl_decision *d,
    struct cl_err *err)
{
	struct cl_cur *c = &t->cur;
	unsigned flags = cl_cur_u8(c);
	int status;

	*d = (struct cl_decision){ .nvictims = 0 };
	t->nchoices = 0;
	if ((status = take_place(t, c, flags, d, err)) != CL_OK)
		return (status);
	d->layer = (uint32_t)take_number(c, CL_DECISION_LAYER_MAX);
	d->n = (uint32_t)take_number(c, UINT32_MAX);
	if (cl_cur_ok(c) && ((status = take_members(t, c, flags, d, err)) !=
	    CL_OK || (status = take_victims(t, c, d, err)) != CL_OK ||
	    ((flags & CHANGES) != 0 &&
	    (status = take_changes(t, c, d, err)) != CL_OK)))
		return (status);
	if (!cl_cur_ok(c))
		return (broken("is cut, or has a number that is too large or "
		    "not in its shortest form", err));
	t->n++;
	if (--t->left == 0 && cl_cur_left(c) != 0)
		return (broken("has bytes behind it, and is the last of its "
		    "record", err));
	d->expert = t->expert;
	d->class = t->class;
	d->victim = t->victim;
	d->change = t->change;
	d->choice = t->choice;
	return (CL_OK);
}

void
cl_decision_log_free(struct cl_decision_log *t)
{

	free(t->expert);
	free(t->class);
	free(t->victim);
	free(t->change);
	free(t->choice);
	*t = (struct cl_decision_log){ .expert = NULL };
}

const struct cl_decision_victim *
cl_decision_victim(const struct cl_decision *d, uint32_t i, uint32_t *next)
{

	return ((d->class[i] & CL_DECISION_THREW) == 0 ? NULL :
	    &d->victim[(*next)++]);
}

const char *
cl_decision_class(uint8_t class)
{
	static const char *const names[] = { "hit", "staged", "cold",
	    "capacity" };

	return (names[class & CL_DECISION_CLASS]);
}

static uint64_t
name_of(const struct cl_decision_victim *v)
{

	return (UINT64_C(1) << 63 | (uint64_t)v->layer << 32 | v->expert);
}

uint64_t
cl_decision_digest_change(uint64_t digest, uint32_t layer,
    const uint16_t *used, uint32_t n)
{
	uint32_t i;

	digest = cl_hash_mix(digest, CHANGED | (uint64_t)n << 32 | layer);
	for (i = 0; i < n; i++)
		digest = cl_hash_mix(digest, CHANGED |
		    (uint64_t)layer << 32 | used[i]);
	return (digest);
}

/* What each changed token uses. */
static uint64_t
digest_changes(uint64_t digest, const struct cl_decision *d)
{
	const struct cl_decision_change *c;
	const uint16_t *id = d->choice;

	for (c = d->change; c < d->change + d->nchanges; c++) {
		digest = cl_decision_digest_change(digest, d->layer,
		    id + c->n, c->nused);
		id += 2 * (size_t)c->n;
	}
	return (digest);
}

uint64_t
cl_decision_digest(uint64_t digest, const struct cl_decision *d)
{
	const struct cl_decision_victim *v;
	uint64_t word = 0;
	uint32_t i, next = 0;

	digest = digest_changes(digest, d);
	if (d->n == 0)
		return (digest);
	digest = cl_hash_mix(digest, (uint64_t)d->n << 32 | d->layer);
	for (i = 0; i < d->n; i++) {
		if ((v = cl_decision_victim(d, i, &next)) != NULL)
			digest = cl_hash_mix(digest, name_of(v));
		word |= (uint64_t)(d->class[i] & ~CL_DECISION_THREW) <<
		    4 * (i % WORD_MEMBERS);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == d->n - 1) {
			digest = cl_hash_mix(digest, word);
			word = 0;
		}
	}
	return (digest);
}
