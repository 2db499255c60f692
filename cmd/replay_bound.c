/*
 * --bound: the most hits that caches of the given capacities can have.
 */

#include <stdlib.h>

#include "cl/budget.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/opt.h"
#include "cl/stats_write.h"
#include "study.h"

struct state {
	uint32_t	 ncolumns;
	size_t		 n;
	struct bound {
		uint32_t	 capacity;
		struct cl_opt	*opt;
	}		*bound;		/* by capacity, each once */
};

static void
bound_free(void *arg)
{
	struct state *s = arg;
	size_t i;

	for (i = 0; i < s->n && s->bound != NULL; i++)
		cl_opt_free(s->bound[i].opt);
	free(s->bound);
	free(s);
}

static int
compare(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	return ((x->capacity > y->capacity) - (x->capacity < y->capacity));
}

/* Budgets to capacities, of which several may be the same. */
static int
resolve(struct state *s, const struct replay_options *o,
    const struct cl_model *m, struct cl_err *err)
{
	const struct cl_budgets *budgets = &o->lists.budgets;
	struct cl_budget_slots slots;
	bool told = false;
	size_t i, n = 0;
	int status;

	for (i = 0; i < budgets->n; i++) {
		if ((status = cl_budget_resolve(&budgets->item[i].budget,
		    CL_PARTITION_GLOBAL, m, &slots, err)) != CL_OK)
			return (status);
		replay_raised(&slots, budgets->item[i].text, &told);
		s->bound[i].capacity = slots.nslots;
	}
	qsort(s->bound, budgets->n, sizeof(*s->bound), compare);
	for (i = 0; i < budgets->n; i++)
		if (n == 0 || s->bound[i].capacity != s->bound[n - 1].capacity)
			s->bound[n++].capacity = s->bound[i].capacity;
	s->n = n;
	return (CL_OK);
}

static void *
bound_open(const struct replay_options *o, const struct cl_keys *keys,
    const struct cl_model *m, struct cl_err *err)
{
	struct state *s;
	size_t i;

	if ((s = calloc(1, sizeof(*s))) == NULL || (s->bound = calloc(
	    o->lists.budgets.n, sizeof(*s->bound))) == NULL) {
		free(s);
		cl_fail_nomem(err, "bounds of hits");
		return (NULL);
	}
	s->ncolumns = keys->ncolumns;
	if (resolve(s, o, m, err) != CL_OK) {
		bound_free(s);
		return (NULL);
	}
	for (i = 0; i < s->n; i++)
		if ((s->bound[i].opt = cl_opt_new(keys->nkeys,
		    s->bound[i].capacity, err)) == NULL) {
			bound_free(s);
			return (NULL);
		}
	return (s);
}

static int
bound_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	const struct cl_event *event = pass->event;
	struct state *s = arg;
	uint32_t c;
	size_t i;

	(void)err;
	for (i = 0; i < s->n && !pass->skipped; i++)
		for (c = 0; c < s->ncolumns; c++)
			cl_opt_use(s->bound[i].opt, event[c].keys, event[c].n);
	return (CL_OK);
}

static void
bound_reset(void *arg)
{
	struct state *s = arg;
	size_t i;

	for (i = 0; i < s->n; i++)
		cl_opt_reset(s->bound[i].opt);
}

static int
bound_write(void *arg, struct cl_stats_writer *w, struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "capacity_experts" },
		{ CL_STATS_U64, "accesses" }, { CL_STATS_U64, "cold" },
		{ CL_STATS_U64, "hits_demand" }, { CL_STATS_U64, "hits_bypass" }
	};
	struct cl_stats_table t = { .name = "bound", .kind = CL_STATS_LOGICAL,
	    .nkeys = 1, .ncolumns = 5, .column = columns };
	struct state *s = arg;
	struct cl_opt_counts n;
	size_t i;
	int status;

	for (i = 0; i < s->n; i++) {
		cl_opt_counts(s->bound[i].opt, &n);
		cl_stats_table_u64(&t, s->bound[i].capacity);
		cl_stats_table_u64(&t, n.accesses);
		cl_stats_table_u64(&t, n.cold);
		cl_stats_table_u64(&t, n.hits_demand);
		cl_stats_table_u64(&t, n.hits_bypass);
	}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

int
replay_bound(const struct replay_options *o, char *const *operands, int n)
{
	static const struct study study = {
		.conditions = { .what = "bound", .contract = true,
		    .slots = true },
		.cells = CL_CELLS_NONE,
		.cyclic = true,
		.open = bound_open,
		.pass = bound_pass,
		.reset = bound_reset,
		.write = bound_write,
		.free = bound_free,
	};

	return (study_traces(&study, o, 1, operands, n));
}
