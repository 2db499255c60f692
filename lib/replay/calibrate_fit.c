/*
 * The device that fits is found by trying: the model is quick.  For each
 * depth a grid of rates, latencies and wake-ups is laid and drawn in around
 * its best point, several times over.  An error is the logarithm of modelled by
 * measured time, without its sign, so that small and large bursts weigh alike
 * and a single odd one does not rule.
 */

#include <math.h>

#include "cl/model.h"
#include "calibrate_int.h"

#define GRID		16		/* steps a side */
#define ZOOMS		5
#define PREFER_DEEP	0.98		/* a lesser depth must be that good */
#define DENSE_MAX	16		/* times the rate of experts */
#define ROUND_RATE	((uint64_t)1 << 20)

/* Digits that no measurement has do not help a reader. */
static uint64_t
rounded(uint64_t v, uint64_t to)
{

	return (v < 8 * to ? v : (v + to / 2) / to * to);
}

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

/* When each expert of a burst has come; a wake-up does not change that. */
static void
point_ends(const struct cl_model *m, const struct cl_calibrate_point *p,
    const struct cl_virtual_spec *spec, uint64_t *end)
{
	const struct cl_layer *layer = &m->layers[p->layer];
	struct line l = { .nthreads = p->nthreads };
	uint32_t i, k;

	cl_virtual_init(&l.device, spec);
	begin_line(&l, 0);
	for (i = 0; i < p->nexperts; i++) {
		for (k = 0; k < layer->nslabs; k++)
			add_to_line(&l, layer->slabs[k].nbytes, false);
		end[i] = l.last;
	}
}

/* When one who waits for each in turn is through. */
static uint64_t
waited(const uint64_t *end, uint32_t n, uint64_t wake)
{
	uint64_t now = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (end[i] > now)
			now = cl_virtual_later(end[i], wake);
	return (now);
}

/* Of some device, when the experts of each point have come. */
struct ends {
	uint64_t	 end[CL_CALIBRATE_POINTS_MAX][CL_CALIBRATE_BURST_MAX];
};

static void
find_ends(const struct cl_model *m, const struct cl_calibration *c,
    const struct cl_virtual_spec *spec, struct ends *e)
{
	uint32_t i;

	for (i = 0; i < c->npoints; i++)
		point_ends(m, &c->point[i], spec, e->end[i]);
}

static double
error_of(const struct cl_calibration *c, const struct ends *e, uint64_t wake)
{
	const struct cl_calibrate_point *p = c->point;
	double sum = 0;
	uint32_t i;

	for (i = 0; i < c->npoints; i++, p++)
		sum += fabs(log((double)waited(e->end[i], p->nexperts, wake) /
		    p->ns.mean));
	return (sum / c->npoints);
}

/* Where a figure is sought: a rate by its logarithm, or a time. */
struct axis {
	double		 from, step;
};

struct range {
	struct axis	 rate, latency, wake;
};

static double
at(const struct axis *a, int i)
{

	return (a->from + i * a->step);
}

/* Closer, around step i. */
static void
draw_in(struct axis *a, int i, double least)
{

	a->from = fmax(least, a->from + (i - 1.5) * a->step);
	a->step *= 3.0 / GRID;
}

/* The best wake-up, given all else; returns its error. */
static double
try_wakes(const struct cl_calibration *c, const struct ends *e,
    const struct axis *wake, int *best)
{
	double error, least = INFINITY;
	int i;

	for (i = 0; i <= GRID; i++) {
		error = error_of(c, e, (uint64_t)at(wake, i));
		if (error >= least)
			continue;
		least = error;
		*best = i;
	}
	return (least);
}

/* The best of a grid, which becomes the middle of a finer one. */
static double
try_grid(const struct cl_model *m, const struct cl_calibration *c,
    struct range *r, struct cl_virtual_spec *best)
{
	struct cl_virtual_spec s = *best;
	struct ends e;
	double error, least = INFINITY;
	int i, k, w = 0, best_i = 0, best_k = 0, best_w = 0;

	for (i = 0; i <= GRID; i++)
		for (k = 0; k <= GRID; k++) {
			s.read = s.dense = (uint64_t)fmax(CL_VIRTUAL_RATE_MIN,
			    exp(at(&r->rate, i)));
			s.latency_ns = (uint64_t)at(&r->latency, k);
			find_ends(m, c, &s, &e);
			error = try_wakes(c, &e, &r->wake, &w);
			if (error >= least)
				continue;
			least = error;
			s.wake_ns = (uint64_t)at(&r->wake, w);
			*best = s;
			best_i = i;
			best_k = k;
			best_w = w;
		}
	draw_in(&r->rate, best_i, -INFINITY);
	draw_in(&r->latency, best_k, 0);
	draw_in(&r->wake, best_w, 0);
	return (least);
}

/* The range that has all figures that the points may stem from. */
static struct range
whole_range(const struct cl_model *m, const struct cl_calibration *c)
{
	const struct cl_calibrate_point *p = c->point;
	double fastest = 0, slowest = INFINITY, latency = 0, rate;
	double shortest = INFINITY;
	uint32_t i;

	for (i = 0; i < c->npoints; i++, p++) {
		rate = (double)p->nbytes / p->ns.mean * 1e9;
		fastest = fmax(fastest, rate);
		slowest = fmin(slowest, rate);
		shortest = fmin(shortest, p->ns.mean);
		latency = fmax(latency, p->ns.mean / p->nexperts /
		    m->layers[p->layer].nslabs);
	}
	slowest = fmax(slowest, CL_VIRTUAL_RATE_MIN);
	fastest = fmax(fastest * 4, slowest * 2);
	return ((struct range){
		.rate = { log(slowest) + 1e-9, log(fastest / slowest) / GRID },
		.latency = { 0, latency / GRID },
		.wake = { 0, shortest / GRID },
	});
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
			begin_line(&l, cl_virtual_later(l.last,
			    spec->wake_ns));
	return (l.last);
}

/*
 * More rate takes less time: halve what is in question.  Where no rate is
 * fast enough, it is not the rate that the time is made of.
 */
static void
fit_dense(struct cl_calibration *c, uint32_t nthreads, const uint64_t *dense,
    size_t n)
{
	struct cl_virtual_spec spec = c->spec;
	uint64_t low = CL_VIRTUAL_RATE_MIN, most = DENSE_MAX * spec.read;
	uint64_t high = most;

	while (high - low > 1) {
		spec.dense = low + (high - low) / 2;
		if ((double)dense_pass_ns(&spec, nthreads, dense, n) >
		    c->dense_ns.mean)
			low = spec.dense;
		else
			high = spec.dense;
	}
	c->spec.dense = high < most ? rounded(high, ROUND_RATE) :
	    spec.read;
}

void
cl_calibrate_fit(const struct cl_model *m, struct cl_calibration *c,
    uint32_t nthreads, const uint64_t *dense, size_t ndense)
{
	struct ends e;
	uint32_t i;

	fit_reads(m, c, nthreads);
	c->spec.latency_ns = rounded(c->spec.latency_ns, 100);
	c->spec.wake_ns = rounded(c->spec.wake_ns, 100);
	c->spec.read = rounded(c->spec.read, ROUND_RATE);
	c->spec.dense = c->spec.read;
	if (ndense > 0)
		fit_dense(c, nthreads, dense, ndense);
	if (c->kernel_bytes > 0)
		c->spec.kernel = rounded((uint64_t)((double)c->kernel_bytes /
		    c->kernel_ns.mean * 1e9), ROUND_RATE);
	find_ends(m, c, &c->spec, &e);
	c->error = error_of(c, &e, c->spec.wake_ns);
	for (i = 0; i < c->npoints; i++)
		c->point[i].model_ns = waited(e.end[i], c->point[i].nexperts,
		    c->spec.wake_ns);
}
