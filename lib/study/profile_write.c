/*
 * A profile as tables.  Counts are exact; what is no count (entropy, overlap
 * by chance) is worked out here from them, by functions that are the same on
 * every machine.
 */

#include <stdlib.h>

#include "cl/elem.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/prefix.h"
#include "cl/stats_write.h"
#include "profile_int.h"

#define LN_2		0.69314718055994530942

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* A table of logical rows whose columns are given. */
#define TABLE(NAME, NKEYS, COLUMNS) {					\
	.name = (NAME), .kind = CL_STATS_LOGICAL, .nkeys = (NKEYS),	\
	.ncolumns = COUNT(COLUMNS), .column = (COLUMNS) }

static int
write(struct cl_stats_table *t, struct cl_stats_writer *w, struct cl_err *err)
{
	int status = cl_stats_write_table(w, t, err);

	cl_stats_table_clear(t);
	return (status);
}

static uint32_t
layer(const struct cl_profile *p, uint32_t c)
{

	return (p->keys->column[c].layer);
}

static int
write_reuse(const struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "rank" },
		{ CL_STATS_U64, "choices" }, { CL_STATS_U64, "repeated" },
		{ CL_STATS_U64, "same_rank" }, { CL_STATS_F64, "by_chance" }
	};
	struct cl_stats_table t = TABLE("reuse", 2, columns);
	const struct rank *r;
	uint32_t c, i;

	for (c = 0; c < p->keys->ncolumns; c++)
		for (i = 0; i < p->keys->column[c].k; i++) {
			r = &p->column[c].rank[i];
			cl_stats_table_u64(&t, layer(p, c));
			cl_stats_table_u64(&t, i);
			cl_stats_table_u64(&t, r->choices);
			cl_stats_table_u64(&t, r->repeated);
			cl_stats_table_u64(&t, r->same);
			cl_stats_table_f64(&t, (double)r->pairs /
			    p->keys->column[c].nexperts);
		}
	return (write(&t, w, err));
}

static int
write_distances(const struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "tokens_from" },
		{ CL_STATS_U64, "uses" }
	};
	struct cl_stats_table t = TABLE("reuse_distance", 2, columns);
	uint32_t c, i;

	for (c = 0; c < p->keys->ncolumns; c++) {
		cl_stats_table_u64(&t, layer(p, c));
		cl_stats_table_none(&t);
		cl_stats_table_u64(&t, p->column[c].first);
		for (i = 0; i < DISTANCES; i++) {
			if (p->column[c].rest[i] == 0)
				continue;
			cl_stats_table_u64(&t, layer(p, c));
			cl_stats_table_u64(&t, UINT64_C(1) << i);
			cl_stats_table_u64(&t, p->column[c].rest[i]);
		}
	}
	return (write(&t, w, err));
}

static int
descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? 1 : x > y ? -1 : 0);
}

/* The first of n uses, descending, that make up half, or nine tenths. */
static uint64_t
covering(const uint64_t *uses, uint32_t n, uint64_t sum, unsigned tenths)
{
	uint64_t part = 0, limit;
	uint32_t i;

	limit = sum / 10 * tenths + (sum % 10 * tenths + 9) / 10;
	for (i = 0; i < n && part < limit; i++)
		part += uses[i];
	return (i);
}

/* In bits; the sum goes from the most used down, whatever the numbers are. */
static double
entropy(const uint64_t *uses, uint32_t n, uint64_t sum)
{
	double h = 0, share;
	uint32_t i;

	for (i = 0; i < n && uses[i] > 0; i++) {
		share = (double)uses[i] / (double)sum;
		h -= share * cl_elem_ln(share);
	}
	return (h / LN_2 + 0.0);
}

static void
add_skew(struct cl_stats_table *t, uint64_t *uses, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i, used = 0;

	qsort(uses, n, sizeof(*uses), descending);
	for (i = 0; i < n; i++) {
		sum += uses[i];
		used += uses[i] > 0;
	}
	cl_stats_table_u64(t, n);
	cl_stats_table_u64(t, used);
	cl_stats_table_u64(t, n - used);
	cl_stats_table_u64(t, sum);
	cl_stats_table_u64(t, uses[0]);
	cl_stats_table_u64(t, covering(uses, n, sum, 5));
	cl_stats_table_u64(t, covering(uses, n, sum, 9));
	if (sum > 0)
		cl_stats_table_f64(t, entropy(uses, n, sum));
	else
		cl_stats_table_none(t);
	cl_stats_table_f64(t, cl_elem_ln(n) / LN_2);
}

static int
write_skew(const struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "experts" },
		{ CL_STATS_U64, "used" }, { CL_STATS_U64, "never" },
		{ CL_STATS_U64, "uses" }, { CL_STATS_U64, "most" },
		{ CL_STATS_U64, "cover_50" }, { CL_STATS_U64, "cover_90" },
		{ CL_STATS_F64, "entropy_bits" },
		{ CL_STATS_F64, "uniform_bits" }
	};
	struct cl_stats_table t = TABLE("skew", 1, columns);
	const struct cl_keys *keys = p->keys;
	uint64_t *uses;
	uint32_t c, i;

	if ((uses = calloc(keys->nkeys, sizeof(*uses))) == NULL)
		return (cl_fail_nomem(err, "a profile"));
	for (i = 0; i < keys->nkeys; i++)
		uses[i] = p->uses[i];
	for (c = 0; c < keys->ncolumns; c++) {
		cl_stats_table_u64(&t, layer(p, c));
		add_skew(&t, uses + keys->column[c].base,
		    keys->column[c].nexperts);
	}
	cl_stats_table_none(&t);		/* all layers together */
	add_skew(&t, uses, keys->nkeys);
	free(uses);
	return (write(&t, w, err));
}

static int
write_uses(const struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "expert" },
		{ CL_STATS_U64, "uses" }
	};
	struct cl_stats_table t = TABLE("expert_use", 2, columns);
	const struct cl_keys_column *col = p->keys->column;
	uint32_t c, i;

	for (c = 0; c < p->keys->ncolumns; c++, col++)
		for (i = 0; i < col->nexperts; i++) {
			cl_stats_table_u64(&t, col->layer);
			cl_stats_table_u64(&t, i);
			cl_stats_table_u64(&t, p->uses[col->base + i]);
		}
	return (write(&t, w, err));
}

static int
write_overlap(const struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "layer" }, { CL_STATS_U64, "next" },
		{ CL_STATS_U64, "choices" }, { CL_STATS_U64, "next_choices" },
		{ CL_STATS_U64, "shared" }, { CL_STATS_F64, "by_chance" }
	};
	struct cl_stats_table t = TABLE("layer_overlap", 2, columns);
	const struct cl_keys_column *col = p->keys->column;
	const struct profile_column *x = p->column;
	uint32_t c, most;

	for (c = 0; c + 1 < p->keys->ncolumns; c++, x++) {
		most = col[c].nexperts > col[c + 1].nexperts ?
		    col[c].nexperts : col[c + 1].nexperts;
		cl_stats_table_u64(&t, layer(p, c));
		cl_stats_table_u64(&t, layer(p, c + 1));
		cl_stats_table_u64(&t, x->beside);
		cl_stats_table_u64(&t, x->beside_next);
		cl_stats_table_u64(&t, x->shared);
		cl_stats_table_f64(&t, (double)x->pairs / most);
	}
	return (write(&t, w, err));
}

int
cl_profile_write(struct cl_profile *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	int status;

	if ((status = write_skew(p, w, err)) != CL_OK ||
	    (status = write_reuse(p, w, err)) != CL_OK ||
	    (status = write_distances(p, w, err)) != CL_OK ||
	    (status = write_overlap(p, w, err)) != CL_OK ||
	    (status = cl_prefix_write(p->prefix, w, err)) != CL_OK)
		return (status);
	return (write_uses(p, w, err));
}
