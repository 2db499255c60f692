/*
 * The logs of two runs, event by event, in their order.  Where an event stands
 * is not compared: passes may have been cut in another way.  What is, is what
 * the digests of the runs are made of, and the members themselves.
 */

#include <string.h>

#include "cl/err.h"
#include "compare_int.h"

bool
cl_compare_has_logs(const struct cl_compare_pair *p)
{

	return (p->a->nlogged > 0 && p->b->nlogged > 0);
}

static void
begin_log(struct cl_decision_log *log, const struct cl_run *run)
{

	*log = (struct cl_decision_log){ .n = 0 };
	cl_decision_log_begin(log);
	cl_decision_log_bytes(log, run->log.p, run->log.n, run->nlogged);
}

void
cl_compare_log_begin(struct log_walk *w, const struct cl_compare_pair *p)
{

	begin_log(&w->log_a, p->a);
	begin_log(&w->log_b, p->b);
	w->n = 0;
}

bool
cl_compare_log_members(const struct cl_decision *a,
    const struct cl_decision *b)
{

	return (a->layer == b->layer && a->n == b->n && (a->n == 0 ||
	    memcmp(a->expert, b->expert, a->n * sizeof(*a->expert)) == 0));
}

/* What changed tokens use; what the rule chose is the trace's. */
static bool
same_changes(const struct cl_decision *a, const struct cl_decision *b)
{
	const struct cl_decision_change *x = a->change, *y = b->change;
	const uint16_t *p = a->choice, *q = b->choice;
	uint32_t i;

	if (a->nchanges != b->nchanges)
		return (false);
	for (i = 0; i < a->nchanges; i++, x++, y++) {
		if (x->nused != y->nused || memcmp(p + x->n, q + y->n,
		    x->nused * sizeof(*p)) != 0)
			return (false);
		p += 2 * (size_t)x->n;
		q += 2 * (size_t)y->n;
	}
	return (true);
}

static bool
same(const struct cl_decision *a, const struct cl_decision *b)
{
	uint32_t i;

	if (!cl_compare_log_members(a, b) || !same_changes(a, b) ||
	    (a->n > 0 && memcmp(a->class, b->class, a->n) != 0))
		return (false);
	for (i = 0; i < a->nvictims; i++)
		if (a->victim[i].layer != b->victim[i].layer ||
		    a->victim[i].expert != b->victim[i].expert)
			return (false);
	return (true);
}

int
cl_compare_log_next(struct log_walk *w, struct event_pair *e,
    struct cl_err *err)
{
	int status;

	do {
		e->a = e->b = NULL;
		if (w->log_a.left == 0 && w->log_b.left == 0)
			return (CL_END);
		if (w->log_a.left > 0) {
			if ((status = cl_decision_log_take(&w->log_a, &w->a,
			    err)) != CL_OK)
				return (status);
			e->a = &w->a;
		}
		if (w->log_b.left > 0) {
			if ((status = cl_decision_log_take(&w->log_b, &w->b,
			    err)) != CL_OK)
				return (status);
			e->b = &w->b;
		}
		e->number = w->n++;
	} while (e->a != NULL && e->b != NULL && same(e->a, e->b));
	return (CL_OK);
}

void
cl_compare_log_end(struct log_walk *w)
{

	cl_decision_log_free(&w->log_a);
	cl_decision_log_free(&w->log_b);
}

/* Members that hit on one side alone. */
static void
count_hits(struct log_counts *n, const struct event_pair *e)
{
	uint32_t i;
	bool a, b;

	for (i = 0; i < e->a->n; i++) {
		a = (e->a->class[i] & CL_DECISION_CLASS) == 0;
		b = (e->b->class[i] & CL_DECISION_CLASS) == 0;
		n->hits_a += a && !b;
		n->hits_b += b && !a;
	}
}

int
cl_compare_log_count(const struct cl_compare_pair *p, struct log_counts *n,
    struct cl_err *err)
{
	struct event_pair e;
	struct log_walk w;
	int status;

	memset(n, 0, sizeof(*n));
	cl_compare_log_begin(&w, p);
	while ((status = cl_compare_log_next(&w, &e, err)) == CL_OK) {
		n->differ++;
		if (e.a == NULL || e.b == NULL)
			n->alone++;
		else if (!cl_compare_log_members(e.a, e.b))
			n->others++;
		else
			count_hits(n, &e);
	}
	cl_compare_log_end(&w);
	return (status == CL_END ? CL_OK : status);
}
