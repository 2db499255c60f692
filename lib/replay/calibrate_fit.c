/*
 * The device that fits is found by trying: the model is quick.  For each
 * depth a grid of rates and latencies is laid and drawn in around its best
 * point, several times over.  An error is the logarithm of modelled by
 * measured time, without its sign, so that small and large bursts weigh alike
 * and a single odd one does not rule.
 */

#include <math.h>

#include "cl/model.h"
#include "calibrate_int.h"

#define GRID		16		/* steps a side */
#define ZOOMS		5
#define PREFER_DEEP	0.98		/* a lesser depth must be that good */
#define RATE_MAX	((uint64_t)1 << 50)
#define ROUND_RATE	((uint64_t)1 << 20)

/* Requests that are issued at once, by so many workers. */
struct line {
	struct cl_virtual device;
	uint64_t	 end[CL_IO_THREADS_MAX];
	uint32_t	 nthreads;
	uint32_t	 n;
	uint64_t	 start;
	uint64_t	 last;
};

static void
begin_line(struct line *l, uint64_t at)
{
	uint32_t i;

	for (i = 0; i < l->nthreads; i++)
		l->end[i] = at;
	l->n = 0;
	l->last = at;
}

/* The worker that is free first takes the next. */
static void
add_to_line(struct line *l, uint64_t nbytes, bool dense)
{
	uint64_t *end = &l->end[l->n++ % l->nthreads];

	l->last = *end = cl_virtual_serve(&l->device, *end, nbytes, dense);
}

static uint64_t
point_ns(const struct cl_model *m, const struct cl_calibrate_point *p,
    const struct cl_virtual_spec *spec)
{
	const struct cl_layer *layer = &m->layers[p->layer];
	struct line l = { .nthreads = p->nthreads };
	uint32_t i, k;

	cl_virtual_init(&l.device, spec);
	begin_line(&l, 0);
	for (i = 0; i < p->nexperts; i++)
		for (k = 0; k < layer->nslabs; k++)
			add_to_line(&l, layer->slabs[k].nbytes, false);
	return (l.last);
}

static double
error_of(const struct cl_model *m, const struct cl_calibration *c,
    const struct cl_virtual_spec *spec)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < c->npoints; i++)
		sum += fabs(log((double)point_ns(m, &c->point[i], spec) /
		    c->point[i].ns.median));
	return (sum / c->npoints);
}

/* Where a rate is sought, by its logarithm, and a latency. */
struct range {
	double		 rate_from, rate_step;
	double		 latency_from, latency_step;
};

/* The best of a grid, which becomes the middle of a finer one. */
static double
try_grid(const struct cl_model *m, const struct cl_calibration *c,
    struct range *r, struct cl_virtual_spec *best)
{
	struct cl_virtual_spec s = *best;
	double error, least = INFINITY;
	int i, k, best_i = 0, best_k = 0;

	for (i = 0; i <= GRID; i++)
		for (k = 0; k <= GRID; k++) {
			s.read = s.dense = (uint64_t)fmax(CL_VIRTUAL_RATE_MIN,
			    exp(r->rate_from + i * r->rate_step));
			s.latency_ns = (uint64_t)(r->latency_from +
			    k * r->latency_step);
			error = error_of(m, c, &s);
			if (error >= least)
				continue;
			least = error;
			*best = s;
			best_i = i;
			best_k = k;
		}
	r->rate_from += (best_i - 1.5) * r->rate_step;
	r->rate_step *= 3.0 / GRID;
	r->latency_from = fmax(0, r->latency_from +
	    (best_k - 1.5) * r->latency_step);
	r->latency_step *= 3.0 / GRID;
	return (least);
}

/* The range that has all rates and latencies that the points may stem from. */
static struct range
whole_range(const struct cl_model *m, const struct cl_calibration *c)
{
	const struct cl_calibrate_point *p = c->point;
	double fastest = 0, slowest = INFINITY, latency = 0, rate;
	uint32_t i;

	for (i = 0; i < c->npoints; i++, p++) {
		rate = (double)p->nbytes / p->ns.median * 1e9;
		fastest = fmax(fastest, rate);
		slowest = fmin(slowest, rate);
		latency = fmax(latency, p->ns.median / p->nexperts /
		    m->layers[p->layer].nslabs);
	}
	slowest = fmax(slowest, CL_VIRTUAL_RATE_MIN);
	fastest = fmax(fastest * 4, slowest * 2);
	return ((struct range){ .rate_from = log(slowest) + 1e-9,
	    .rate_step = log(fastest / slowest) / GRID,
	    .latency_step = latency / GRID });
}

static void
fit_reads(const struct cl_model *m, struct cl_calibration *c,
    uint32_t nthreads)
{
	struct cl_virtual_spec spec = c->spec;
	struct range r;
	double error = 0, least = INFINITY;
	uint32_t depth;
	int i;

	for (depth = nthreads; depth > 0; depth /= 2) {
		r = whole_range(m, c);
		spec.depth = depth;
		for (i = 0; i < ZOOMS; i++)
			error = try_grid(m, c, &r, &spec);
		if (error < least * PREFER_DEEP) {
			least = error;
			c->spec = spec;
		}
	}
}

/* What a pass over the dense weights takes, each layer waited for. */
static uint64_t
dense_pass_ns(const struct cl_virtual_spec *spec, uint32_t nthreads,
    const uint64_t *dense, size_t n)
{
	struct line l = { .nthreads = nthreads };
	size_t i;

	cl_virtual_init(&l.device, spec);
	begin_line(&l, 0);
	for (i = 0; i < n; i++)
		if (dense[i] != 0)
			add_to_line(&l, dense[i], true);
		else
			begin_line(&l, l.last);
	return (l.last);
}

/* More rate takes less time: halve what is in question. */
static void
fit_dense(struct cl_calibration *c, uint32_t nthreads, const uint64_t *dense,
    size_t n)
{
	struct cl_virtual_spec spec = c->spec;
	uint64_t low = CL_VIRTUAL_RATE_MIN, high = RATE_MAX;

	while (high - low > 1) {
		spec.dense = low + (high - low) / 2;
		if ((double)dense_pass_ns(&spec, nthreads, dense, n) >
		    c->dense_ns.median)
			low = spec.dense;
		else
			high = spec.dense;
	}
	c->spec.dense = high;
}

/* Digits that no measurement has do not help a reader. */
static uint64_t
rounded(uint64_t v, uint64_t to)
{

	return (v < 8 * to ? v : (v + to / 2) / to * to);
}

void
cl_calibrate_fit(const struct cl_model *m, struct cl_calibration *c,
    uint32_t nthreads, const uint64_t *dense, size_t ndense)
{
	uint32_t i;

	fit_reads(m, c, nthreads);
	c->spec.latency_ns = rounded(c->spec.latency_ns, 100);
	c->spec.read = rounded(c->spec.read, ROUND_RATE);
	c->spec.dense = c->spec.read;
	if (ndense > 0) {
		fit_dense(c, nthreads, dense, ndense);
		c->spec.dense = rounded(c->spec.dense, ROUND_RATE);
	}
	c->spec.kernel = rounded((uint64_t)c->kernel.median, ROUND_RATE);
	c->error = error_of(m, c, &c->spec);
	for (i = 0; i < c->npoints; i++)
		c->point[i].model_ns = point_ns(m, &c->point[i], &c->spec);
}
