/*
 * Which runs belong together.  Within a side some conditions vary: the runs of
 * both sides that agree in these are partners.  For each run they are hashed,
 * runs are sorted by hash and then by number, and equal ones meet in their
 * order: n log n, however many members an archive has.
 *
 * Traces and budgets go by two names each, and are looked for twice: first by
 * what they are, the routing and the experts that fit, then by what they were
 * called.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/stats.h"
#include "cl/vec.h"
#include "compare_int.h"

#define ALONE	SIZE_MAX

enum turn { AS_IT_IS, AS_CALLED };

struct key {
	uint64_t	 hash;
	size_t		 at;		/* the run's number */
};

struct matcher {
	const struct cl_compare_side *side[2];
	/* What varies within a side. */
	const char	**name;
	size_t		 nnames;
	size_t		 cap;
	bool		 trace;		/* and these, by their two names */
	bool		 budget;

	size_t		*partner[2];	/* of each run, or ALONE */
	struct key	*key[2];
};

/* What follows from the trace or the budget, or is looked at as such. */
static bool
follows(const char *name)
{
	static const char *const names[] = { "trace", "member", "origin",
	    "origin_text", "model", "architecture", "model_fingerprint",
	    "moe_layers", "experts", "expert_bytes", "token_demand_experts",
	    "token_demand_bytes", "model_dense_bytes", "budget",
	    "cache_experts", "cache_bytes", "stride_bytes",
	    "slot_waste_bytes" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (true);
	return (false);
}

static bool
differ(const struct cl_run *a, const struct cl_run *b, const char *name)
{
	struct cl_cell ca = cl_run_cond(a, name), cb = cl_run_cond(b, name);

	return (!cl_cell_equal(&ca, &cb));
}

static int
add_name(struct matcher *m, const char *name, struct cl_err *err)
{
	size_t i;

	for (i = 0; i < m->nnames; i++)
		if (strcmp(m->name[i], name) == 0)
			return (CL_OK);
	if (cl_vec_grow(&m->name, &m->cap, m->nnames + 1, sizeof(*m->name),
	    err) != CL_OK)
		return (CL_ENOMEM);
	m->name[m->nnames++] = name;
	return (CL_OK);
}

/* The conditions of a in which b differs. */
static int
note_names(struct matcher *m, const struct cl_run *a, const struct cl_run *b,
    struct cl_err *err)
{
	const char *name;
	size_t i;

	for (i = 0; i < a->conds.n; i++) {
		name = a->conds.cond[i].name;
		if (!follows(name) && differ(a, b, name) &&
		    add_name(m, name, err) != CL_OK)
			return (CL_ENOMEM);
	}
	return (CL_OK);
}

static int
find_varying(struct matcher *m, const struct cl_compare_side *side,
    struct cl_err *err)
{
	const struct cl_run *first = side->run, *run;

	for (run = first + 1; run < first + side->n; run++) {
		m->trace = m->trace || differ(first, run, "trace") ||
		    differ(first, run, "member") ||
		    first->end.routing != run->end.routing;
		m->budget = m->budget || differ(first, run, "budget");
		if (note_names(m, first, run, err) != CL_OK ||
		    note_names(m, run, first, err) != CL_OK)
			return (CL_ENOMEM);
	}
	return (CL_OK);
}

static void
hash_cond(struct cl_hash *h, const struct cl_run *run, const char *name)
{
	struct cl_cell cell = cl_run_cond(run, name);

	cl_hash_add_u64(h, cell.type);
	if (cell.type == CL_STATS_STR)
		cl_hash_add_str(h, cell.s);
	else if (cell.type == CL_STATS_F64)
		cl_hash_add(h, &cell.f, sizeof(cell.f));
	else
		cl_hash_add_u64(h, cell.u);
}

static uint64_t
hash_run(const struct matcher *m, const struct cl_run *run, enum turn turn)
{
	struct cl_hash h;
	size_t i;

	cl_hash_init(&h);
	if (m->trace && turn == AS_IT_IS)
		cl_hash_add_u64(&h, run->end.routing);
	else if (m->trace) {
		hash_cond(&h, run, "trace");
		hash_cond(&h, run, "member");
	}
	if (m->budget)
		hash_cond(&h, run, turn == AS_IT_IS ? "cache_experts" :
		    "budget");
	for (i = 0; i < m->nnames; i++)
		hash_cond(&h, run, m->name[i]);
	return (cl_hash_end(&h));
}

/* Do they agree in all that varies?  Hashes alone could be made to. */
static bool
alike(const struct matcher *m, const struct cl_run *a, const struct cl_run *b,
    enum turn turn)
{
	size_t i;

	if (m->trace && (turn == AS_IT_IS ?
	    a->end.routing != b->end.routing :
	    differ(a, b, "trace") || differ(a, b, "member")))
		return (false);
	if (m->budget && differ(a, b, turn == AS_IT_IS ? "cache_experts" :
	    "budget"))
		return (false);
	for (i = 0; i < m->nnames; i++)
		if (differ(a, b, m->name[i]))
			return (false);
	return (true);
}

static int
by_hash(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->hash != b->hash)
		return (a->hash < b->hash ? -1 : 1);
	return (a->at < b->at ? -1 : a->at > b->at);
}

/* Sorted keys of the runs of a side that are still alone. */
static size_t
make_keys(struct matcher *m, int side, enum turn turn)
{
	const struct cl_compare_side *s = m->side[side];
	struct key *key = m->key[side];
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (m->partner[side][i] != ALONE || (m->trace &&
		    turn == AS_IT_IS && s->run[i].end.routing == 0))
			continue;
		key[n].hash = hash_run(m, &s->run[i], turn);
		key[n++].at = i;
	}
	qsort(key, n, sizeof(*key), by_hash);
	return (n);
}

static void
join(struct matcher *m, enum turn turn)
{
	const struct key *a = m->key[0], *b = m->key[1];
	const struct key *a_end = a + make_keys(m, 0, turn);
	const struct key *b_end = b + make_keys(m, 1, turn);

	while (a < a_end && b < b_end) {
		if (a->hash < b->hash)
			a++;
		else if (b->hash < a->hash)
			b++;
		else {
			if (alike(m, &m->side[0]->run[a->at],
			    &m->side[1]->run[b->at], turn)) {
				m->partner[0][a->at] = b->at;
				m->partner[1][b->at] = a->at;
			}
			a++;
			b++;
		}
	}
}

/* The numbers of the runs of a side that are alone; NULL for want of memory. */
static size_t *
list_alone(const struct matcher *m, int side, size_t *n)
{
	size_t *list = calloc(m->side[side]->n + 1, sizeof(*list)), i;

	for (*n = 0, i = 0; list != NULL && i < m->side[side]->n; i++)
		if (m->partner[side][i] == ALONE)
			list[(*n)++] = i;
	return (list);
}

/* What was joined, as pairs in the order of a, and what was not. */
static int
collect(const struct matcher *m, struct cl_compare_pairs *pairs,
    struct cl_err *err)
{
	const struct cl_compare_side *a = m->side[0], *b = m->side[1];
	struct cl_compare_pair *p;
	size_t i;

	pairs->only_a = list_alone(m, 0, &pairs->nonly_a);
	pairs->only_b = list_alone(m, 1, &pairs->nonly_b);
	p = calloc(a->n - pairs->nonly_a + 1, sizeof(*p));
	pairs->pair = p;
	if (pairs->only_a == NULL || pairs->only_b == NULL || p == NULL)
		return (cl_fail_nomem(err, "pairs of runs"));
	for (i = 0; i < a->n; i++) {
		if (m->partner[0][i] == ALONE)
			continue;
		p->a = &a->run[i];
		p->b = &b->run[m->partner[0][i]];
		pairs->n++;
		if (cl_compare_match(p++, err) != CL_OK)
			return (CL_ENOMEM);
	}
	if (pairs->n > 0)
		return (CL_OK);
	return (cl_fail(err, CL_EINVAL, "no run of %s has a partner in %s: "
	    "none are alike in what varies within a side", a->name, b->name));
}

static int
make_tables(struct matcher *m, struct cl_err *err)
{
	size_t i, n;
	int side;

	for (side = 0; side < 2; side++) {
		n = m->side[side]->n;
		m->partner[side] = calloc(n + 1, sizeof(**m->partner));
		m->key[side] = calloc(n + 1, sizeof(**m->key));
		if (m->partner[side] == NULL || m->key[side] == NULL)
			return (cl_fail_nomem(err, "pairs of runs"));
		for (i = 0; i < n; i++)
			m->partner[side][i] = ALONE;
	}
	return (CL_OK);
}

int
cl_compare_pair_up(const struct cl_compare_side *a,
    const struct cl_compare_side *b, struct cl_compare_pairs *pairs,
    struct cl_err *err)
{
	struct matcher m = { .side = { a, b } };
	int status, i;

	memset(pairs, 0, sizeof(*pairs));
	if ((status = make_tables(&m, err)) != CL_OK ||
	    (status = find_varying(&m, a, err)) != CL_OK ||
	    (status = find_varying(&m, b, err)) != CL_OK)
		goto done;
	join(&m, AS_IT_IS);
	join(&m, AS_CALLED);
	status = collect(&m, pairs, err);
done:
	for (i = 0; i < 2; i++) {
		free(m.partner[i]);
		free(m.key[i]);
	}
	free(m.name);
	return (status);
}

void
cl_compare_pairs_free(struct cl_compare_pairs *pairs)
{

	while (pairs->n > 0)
		cl_compare_free_tables(&pairs->pair[--pairs->n]);
	free(pairs->pair);
	free(pairs->only_a);
	free(pairs->only_b);
	memset(pairs, 0, sizeof(*pairs));
}
