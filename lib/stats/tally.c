/*
 * Counters while they grow.  The rows that the replay adds to are totals; a
 * window is the difference to a copy taken when the last one ended, so that
 * counting costs an addition and windows cost nothing between their ends.
 * max_delta is no sum: it collects since the last window and is folded into
 * the largest so far when one ends.
 *
 * What must add up is asserted before it is written.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/stats_write.h"
#include "cl/tally.h"

#define NPHASES		2
#define NLOGICAL	(CL_N_COUNTERS + CL_F_COUNTERS)

struct cl_tally {
	/* Fixed when made. */
	bool		 bytes;
	bool		 measured;
	uint32_t	 nlayers;
	struct cl_stats_columns logical;
	struct cl_stats_columns measures;	/* none where not measured */
	/* Totals. */
	struct cl_tally_phase phase[NPHASES];
	double		 max_delta[NPHASES];	/* up to the last window */
	struct cl_tally_layer *layer;
	uint64_t	 measure[CL_M_MEASURES];
	/* What of it was spent in a phase, and up to where that is known. */
	bool		 spends;
	uint64_t	 spent[NPHASES][CL_M_MEASURES];
	uint64_t	 spent_to[CL_M_MEASURES];
	/* As they stood when the last window ended. */
	uint32_t	 nwindows;
	struct cl_tally_phase before[NPHASES];
	uint64_t	 measure_before[CL_M_MEASURES];
	/* The row being written. */
	struct cl_stats_value value[NLOGICAL];
};

/* Which measured counters grow, so that a window has a share of them. */
static const bool grows[CL_M_MEASURES] = {
	[CL_M_DEVICE_BYTES] = true,
	[CL_M_READ_NS] = true,
	[CL_M_IO_WAIT_NS] = true,
	[CL_M_DENSE_WAIT_NS] = true,
	[CL_M_COMPUTE_NS] = true,
	[CL_M_INPUT_WAIT_NS] = true,
	[CL_M_WALL_NS] = true,
	[CL_M_PREFETCH_LATE] = true,
	[CL_M_MAJOR_FAULTS] = true,
	[CL_M_READ_RETRIES] = true,
	[CL_M_PREFETCH_FAILED] = true,
	[CL_M_SURPLUS_BYTES] = true
};

static bool
counts_bytes(size_t i)
{

	return (i == CL_N_DEMAND_BYTES || i == CL_N_PREFETCH_BYTES ||
	    i == CL_N_DENSE_BYTES);
}

static int
add_column(struct cl_stats_columns *to, enum cl_stats_type type,
    const char *name, struct cl_err *err)
{

	return (cl_stats_add_column(to, type, name, strlen(name), err));
}

static int
name_columns(struct cl_tally *t, struct cl_err *err)
{
	size_t i;
	int status = CL_OK;

	t->logical.kind = CL_STATS_LOGICAL;
	t->measures.kind = CL_STATS_MEASURED;
	for (i = 0; i < CL_N_COUNTERS && status == CL_OK; i++)
		status = add_column(&t->logical,
		    i == CL_N_DIGEST ? CL_STATS_HASH : CL_STATS_U64,
		    cl_counters_name((enum cl_counter)i), err);
	for (i = 0; i < CL_F_COUNTERS && status == CL_OK; i++)
		status = add_column(&t->logical, CL_STATS_F64,
		    cl_counters_f64_name((enum cl_counter_f64)i), err);
	for (i = 0; i < CL_M_MEASURES && status == CL_OK && t->measured; i++)
		status = add_column(&t->measures,
		    i == CL_M_CHECKSUM ? CL_STATS_HASH : CL_STATS_U64,
		    cl_counters_measure_name((enum cl_measure)i), err);
	return (status);
}

struct cl_tally *
cl_tally_new(const uint32_t *layers, uint32_t nlayers, bool bytes,
    bool measured, struct cl_err *err)
{
	struct cl_tally *t;
	uint32_t i;

	if ((t = calloc(1, sizeof(*t))) == NULL) {
		cl_fail_nomem(err, "counters");
		return (NULL);
	}
	t->bytes = bytes;
	t->measured = measured;
	t->nlayers = nlayers;
	t->layer = calloc((size_t)nlayers + 1, sizeof(*t->layer));
	if (t->layer == NULL) {
		cl_fail_nomem(err, "counters");
		goto free_tally;
	}
	if (name_columns(t, err) != CL_OK)
		goto free_tally;
	for (i = 0; i < nlayers; i++) {
		assert(i == 0 || layers[i] > layers[i - 1]);
		t->layer[i].layer = layers[i];
	}
	return (t);

free_tally:
	cl_tally_free(t);
	return (NULL);
}

struct cl_tally_phase *
cl_tally_phase(struct cl_tally *t, unsigned phase)
{

	assert(phase < NPHASES);
	return (&t->phase[phase]);
}

struct cl_tally_layer *
cl_tally_layer(struct cl_tally *t, uint32_t i)
{

	assert(i < t->nlayers);
	return (&t->layer[i]);
}

uint64_t *
cl_tally_measures(struct cl_tally *t)
{

	return (t->measure);
}

void
cl_tally_spend(struct cl_tally *t, unsigned phase)
{
	size_t i;

	assert(phase < NPHASES);
	t->spends = true;
	for (i = 0; i < CL_M_MEASURES; i++) {
		if (grows[i])
			t->spent[phase][i] += t->measure[i] - t->spent_to[i];
		t->spent_to[i] = t->measure[i];
	}
}

void
cl_tally_reset(struct cl_tally *t)
{
	uint32_t i;

	memset(t->phase, 0, sizeof(t->phase));
	memset(t->before, 0, sizeof(t->before));
	memset(t->max_delta, 0, sizeof(t->max_delta));
	memset(t->measure, 0, sizeof(t->measure));
	memset(t->measure_before, 0, sizeof(t->measure_before));
	memset(t->spent, 0, sizeof(t->spent));
	memset(t->spent_to, 0, sizeof(t->spent_to));
	t->nwindows = 0;
	for (i = 0; i < t->nlayers; i++)
		t->layer[i] = (struct cl_tally_layer){
		    .layer = t->layer[i].layer };
}

int
cl_tally_write_columns(const struct cl_tally *t, struct cl_stats_writer *w,
    struct cl_err *err)
{
	int status = cl_stats_write_columns(w, &t->logical, err);

	if (status != CL_OK || !t->measured)
		return (status);
	return (cl_stats_write_columns(w, &t->measures, err));
}

/* The sum of both phases; the largest of what is a maximum. */
static void
add_phases(struct cl_tally_phase *sum, const struct cl_tally_phase p[NPHASES])
{
	size_t i;

	*sum = p[0];
	for (i = 0; i < CL_N_COUNTERS; i++)
		sum->n[i] += p[1].n[i];
	for (i = 0; i < CL_F_COUNTERS; i++)
		sum->f[i] += p[1].f[i];
	sum->f[CL_F_MAX_DELTA] = p[0].f[CL_F_MAX_DELTA];
	if (p[1].f[CL_F_MAX_DELTA] > p[0].f[CL_F_MAX_DELTA])
		sum->f[CL_F_MAX_DELTA] = p[1].f[CL_F_MAX_DELTA];
}

static void
check(const struct cl_tally_phase *p)
{
	const uint64_t *n = p->n;

	assert(n[CL_N_ACCESSES] == n[CL_N_HITS] + n[CL_N_STAGE_HITS] +
	    n[CL_N_MISSES]);
	assert(n[CL_N_MISSES] == n[CL_N_COLD] + n[CL_N_CAPACITY]);
	assert(n[CL_N_BYPASS] <= n[CL_N_MISSES]);
}

/* Layers are another view of the same accesses. */
static void
check_layers(const struct cl_tally *t, const struct cl_tally_phase *all)
{
	struct cl_tally_layer sum = { 0 };
	const struct cl_tally_layer *l;
	uint32_t i;

	for (i = 0; i < t->nlayers; i++) {
		l = &t->layer[i];
		assert(l->accesses == l->hits + l->stage_hits + l->misses);
		assert(l->misses == l->cold + l->capacity);
		sum.accesses += l->accesses;
		sum.hits += l->hits;
		sum.misses += l->misses;
		sum.demand_bytes += l->demand_bytes;
	}
	assert(sum.accesses == all->n[CL_N_ACCESSES]);
	assert(sum.hits == all->n[CL_N_HITS]);
	assert(sum.misses == all->n[CL_N_MISSES]);
	assert(sum.demand_bytes == all->n[CL_N_DEMAND_BYTES]);
}

/* A logical row from counters; digest NULL: it has none at that scope. */
static int
write_logical(struct cl_tally *t, enum cl_stats_scope scope, uint32_t index,
    uint64_t tokens, const struct cl_tally_phase *p, const uint64_t *digest,
    struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_stats_row row = { CL_STATS_LOGICAL, scope, index, tokens,
	    NLOGICAL, t->value };
	size_t i;

	check(p);
	memset(t->value, 0, sizeof(t->value));
	for (i = 0; i < CL_N_COUNTERS; i++) {
		t->value[i].there = t->bytes || !counts_bytes(i);
		t->value[i].u = p->n[i];
	}
	t->value[CL_N_DIGEST].there = digest != NULL;
	t->value[CL_N_DIGEST].u = digest == NULL ? 0 : *digest;
	for (i = 0; i < CL_F_COUNTERS; i++) {
		t->value[CL_N_COUNTERS + i].there = true;
		t->value[CL_N_COUNTERS + i].f = p->f[i];
	}
	return (cl_stats_write_row(w, &row, err));
}

/* A measured row of t->value, as it was filled. */
static int
write_measured(struct cl_tally *t, enum cl_stats_scope scope, uint32_t index,
    uint64_t tokens, struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_stats_row row = { CL_STATS_MEASURED, scope, index, tokens,
	    CL_M_MEASURES, t->value };

	return (cl_stats_write_row(w, &row, err));
}

static void
subtract(struct cl_tally_phase *p, const struct cl_tally_phase *before)
{
	size_t i;

	for (i = 0; i < CL_N_COUNTERS; i++)
		p->n[i] -= before->n[i];
	for (i = 0; i < CL_F_COUNTERS; i++)
		if (i != CL_F_MAX_DELTA)
			p->f[i] -= before->f[i];
}

/* Remember where this window ended; its largest gap joins those before. */
static void
next_window(struct cl_tally *t)
{
	unsigned p;

	for (p = 0; p < NPHASES; p++) {
		if (t->phase[p].f[CL_F_MAX_DELTA] > t->max_delta[p])
			t->max_delta[p] = t->phase[p].f[CL_F_MAX_DELTA];
		t->phase[p].f[CL_F_MAX_DELTA] = 0;
	}
	memcpy(t->before, t->phase, sizeof(t->before));
	memcpy(t->measure_before, t->measure, sizeof(t->measure_before));
	t->nwindows++;
}

int
cl_tally_write_window(struct cl_tally *t, uint64_t digest,
    struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_tally_phase share[NPHASES], sum;
	uint64_t tokens = t->phase[0].n[CL_N_TOKENS] +
	    t->phase[1].n[CL_N_TOKENS];
	size_t i;
	int status;

	memcpy(share, t->phase, sizeof(share));
	subtract(&share[0], &t->before[0]);
	subtract(&share[1], &t->before[1]);
	add_phases(&sum, share);
	status = write_logical(t, CL_STATS_WINDOW, t->nwindows, tokens, &sum,
	    &digest, w, err);
	if (status == CL_OK && t->measured) {
		memset(t->value, 0, sizeof(t->value));
		for (i = 0; i < CL_M_MEASURES; i++) {
			t->value[i].there = grows[i] || i == CL_M_RSS_PEAK;
			t->value[i].u = t->measure[i] -
			    (grows[i] ? t->measure_before[i] : 0);
		}
		status = write_measured(t, CL_STATS_WINDOW, t->nwindows,
		    tokens, w, err);
	}
	next_window(t);
	return (status);
}

static int
write_layer(struct cl_tally *t, const struct cl_tally_layer *l,
    struct cl_stats_writer *w, struct cl_err *err)
{
	const struct {
		enum cl_counter	 i;
		uint64_t	 v;
	} cell[] = {
		{ CL_N_ACCESSES, l->accesses },
		{ CL_N_HITS, l->hits },
		{ CL_N_STAGE_HITS, l->stage_hits },
		{ CL_N_MISSES, l->misses },
		{ CL_N_COLD, l->cold },
		{ CL_N_CAPACITY, l->capacity },
		{ CL_N_BYPASS, l->bypass },
		{ CL_N_EVICTIONS, l->evictions },
		{ CL_N_PREFETCH_ISSUED, l->prefetch_issued },
		{ CL_N_PREFETCH_USEFUL, l->prefetch_useful },
		{ CL_N_PREFETCH_WASTED, l->prefetch_wasted },
		{ CL_N_SUBSTITUTED, l->substituted },
		{ CL_N_DROPPED, l->dropped },
		{ CL_N_DEMAND_BYTES, l->demand_bytes },
		{ CL_N_PREFETCH_BYTES, l->prefetch_bytes }
	};
	struct cl_stats_row row = { CL_STATS_LOGICAL, CL_STATS_LAYER,
	    l->layer, 0, NLOGICAL, t->value };
	size_t i;
	int status;

	memset(t->value, 0, sizeof(t->value));
	for (i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		t->value[cell[i].i].there = t->bytes ||
		    !counts_bytes(cell[i].i);
		t->value[cell[i].i].u = cell[i].v;
	}
	status = cl_stats_write_row(w, &row, err);
	if (status != CL_OK || !t->measured)
		return (status);
	memset(t->value, 0, sizeof(t->value));
	t->value[CL_M_IO_WAIT_NS].there = true;
	t->value[CL_M_IO_WAIT_NS].u = l->io_wait_ns;
	return (write_measured(t, CL_STATS_LAYER, l->layer, 0, w, err));
}

/* The totals of a phase: what collects for the open window counts, too. */
static void
total(const struct cl_tally *t, unsigned phase, struct cl_tally_phase *p)
{

	*p = t->phase[phase];
	if (t->max_delta[phase] > p->f[CL_F_MAX_DELTA])
		p->f[CL_F_MAX_DELTA] = t->max_delta[phase];
}

/* What a phase took, behind what it did; what does not grow is the run's. */
static int
write_spent(struct cl_tally *t, unsigned phase, uint64_t tokens,
    struct cl_stats_writer *w, struct cl_err *err)
{
	size_t i;

	if (!t->measured || !t->spends)
		return (CL_OK);
	memset(t->value, 0, sizeof(t->value));
	for (i = 0; i < CL_M_MEASURES; i++) {
		t->value[i].there = grows[i];
		t->value[i].u = t->spent[phase][i];
	}
	return (write_measured(t, CL_STATS_PHASE, phase, tokens, w, err));
}

int
cl_tally_write_totals(struct cl_tally *t, uint64_t digest,
    struct cl_stats_writer *w, struct cl_err *err)
{
	struct cl_tally_phase p[NPHASES], all;
	uint64_t tokens;
	uint32_t i;
	int status = CL_OK;

	for (i = 0; i < NPHASES && status == CL_OK; i++) {
		total(t, i, &p[i]);
		status = write_logical(t, CL_STATS_PHASE, i,
		    p[i].n[CL_N_TOKENS], &p[i], NULL, w, err);
		if (status == CL_OK)
			status = write_spent(t, i, p[i].n[CL_N_TOKENS], w,
			    err);
	}
	for (i = 0; i < t->nlayers && status == CL_OK; i++)
		status = write_layer(t, &t->layer[i], w, err);
	if (status != CL_OK)
		return (status);
	add_phases(&all, p);
	check_layers(t, &all);
	tokens = all.n[CL_N_TOKENS];
	status = write_logical(t, CL_STATS_RUN, 0, tokens, &all, &digest, w,
	    err);
	if (status != CL_OK || !t->measured)
		return (status);
	for (i = 0; i < CL_M_MEASURES; i++) {
		t->value[i].there = i != CL_M_CHECKSUM || t->measure[i] != 0;
		t->value[i].u = t->measure[i];
	}
	return (write_measured(t, CL_STATS_RUN, 0, tokens, w, err));
}

void
cl_tally_free(struct cl_tally *t)
{

	if (t == NULL)
		return;
	cl_stats_columns_free(&t->logical);
	cl_stats_columns_free(&t->measures);
	free(t->layer);
	free(t);
}
