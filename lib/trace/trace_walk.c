/*
 * A walk over one column of a BLOCK record: where its parts lie, how many
 * cells, experts and rows it has, and that bits and lengths are what
 * cl-trace(5) says.  Nothing is decoded and no memory is taken.
 */

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/model.h"
#include "trace_int.h"

/* How many of n bits are set; more than n where bits behind them are. */
static uint32_t
count_bits(const uint8_t *bits, uint32_t n)
{
	uint32_t i, sum = 0, b;

	for (i = 0; i < (n + 7) / 8; i++) {
		b = bits[i];
		b -= b >> 1 & 0x55;
		b = (b & 0x33) + (b >> 2 & 0x33);
		sum += (b + (b >> 4)) & 0x0f;
	}
	if (n % 8 != 0 && bits[n / 8] >> n % 8 != 0)
		return (n + 1);
	return (sum);
}

static bool
is_subset(const uint8_t *bits, const uint8_t *of, uint32_t n)
{
	uint32_t i, stray = 0;

	for (i = 0; i < (n + 7) / 8; i++)
		stray |= bits[i] & ~(uint32_t)of[i];
	return (stray == 0);
}

static inline uint32_t
get_u16(const uint8_t *p)
{

	return ((uint32_t)p[0] | (uint32_t)p[1] << 8);
}

/* Bits of n tokens, a subset of others unless NULL; *set gets how many. */
static int
walk_bits(struct cl_cur *c, const uint8_t *of, uint32_t n,
    const uint8_t **bits, uint32_t *set, struct cl_err *err)
{

	*set = 0;
	if ((*bits = cl_cur_bytes(c, (n + 7) / 8)) == NULL)
		return (CL_OK);		/* the cursor is bad, for good */
	if ((*set = count_bits(*bits, n)) > n)
		return (cl_fail(err, CL_EFORMAT, "bits are set behind the "
		    "last token"));
	if (of != NULL && !is_subset(*bits, of, n))
		return (cl_fail(err, CL_EFORMAT, "a cell that is not present "
		    "has experts or a forecast"));
	return (CL_OK);
}

/* The numbers of experts of the explicit cells, and their sum. */
static int
walk_counts(struct cl_cur *c, struct trace_part *p,
    const struct cl_trace_column *col, struct cl_err *err)
{
	uint32_t i, n;

	p->nstored = 0;
	p->counts = cl_cur_bytes(c, 2 * (uint64_t)p->ngiven);
	for (i = 0; p->counts != NULL && i < p->ngiven; i++) {
		n = get_u16(p->counts + 2 * i);
		if (n == 0 || n > col->nexperts)
			return (cl_fail(err, CL_EFORMAT, "%u experts chosen, "
			    "of %u", n, col->nexperts));
		p->nstored += n;	/* at most 4096 x 16384 */
	}
	p->nids = p->nstored + (p->npresent - p->ngiven) * col->k;
	return (CL_OK);
}

/* In the order of the manual. */
int
cl_trace_walk(const struct cl_trace_head *h,
    const struct cl_trace_column *col, uint32_t n, struct cl_cur *c,
    struct trace_part *p, struct cl_err *err)
{
	uint64_t row = (uint64_t)col->nexperts *
	    cl_trace_score_bytes(h->scores);
	int status;

	p->foreseen = p->forecast = p->weights = NULL;
	p->nforeseen = 0;
	if ((status = walk_bits(c, NULL, n, &p->present, &p->npresent,
	    err)) != CL_OK || (status = walk_bits(c, p->present, n,
	    &p->given, &p->ngiven, err)) != CL_OK)
		return (status);
	if (p->ngiven < p->npresent && (h->scores == CL_SCORES_NONE ||
	    h->model->layers[col->layer].rule.select == CL_SELECT_TABLE))
		return (cl_fail(err, CL_EFORMAT, "a cell without the experts "
		    "that no scores can give"));
	p->scores = cl_cur_bytes(c, p->npresent * row);
	if (h->forecast) {
		if ((status = walk_bits(c, p->present, n, &p->foreseen,
		    &p->nforeseen, err)) != CL_OK)
			return (status);
		p->forecast = cl_cur_bytes(c, p->nforeseen * row);
	}
	if ((status = walk_counts(c, p, col, err)) != CL_OK)
		return (status);
	p->ids = cl_cur_bytes(c, (uint64_t)p->nstored *
	    (col->nexperts <= TRACE_ID8_MAX ? 1 : 2));
	if (h->weights)
		p->weights = cl_cur_bytes(c, 4 * (uint64_t)p->nstored);
	return (cl_cur_ok(c) ? CL_OK : cl_fail(err, CL_EFORMAT,
	    "the record ends inside this column"));
}
