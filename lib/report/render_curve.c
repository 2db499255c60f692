/*
 * Hits over capacities: what budget is worth its bytes.  A curve has a row for
 * each pool and capacity, ascending; where a capacity has no row, the hits are
 * those of the next smaller one that has.  A bound has rows of the capacities
 * that were asked for.
 */

#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define WIDTH	60			/* of the plot, in characters */
#define HEIGHT	8
#define SHARES	5

static const unsigned shares[SHARES] = { 50, 80, 90, 95, 99 };

/* The rows of one pool. */
struct part {
	const struct view *v;
	const struct cl_run_table *t;
	size_t		 first;
	size_t		 end;
	bool		 layered;	/* it is a layer's, else one for all */
	uint64_t	 layer;
	uint64_t	 accesses;	/* of its last row, as of all */
	uint64_t	 misses;
};

static uint64_t
number(const struct part *p, size_t i, const char *name)
{
	struct cl_cell cell = cl_run_table_named(p->v->run, p->t, i, name);

	return (cell.type == CL_STATS_U64 ? cell.u : 0);
}

/* Of which layer row i is; false: it is of all together. */
static bool
layer_of(const struct part *p, size_t i, uint64_t *layer)
{
	struct cl_cell cell = cl_run_table_named(p->v->run, p->t, i, "layer");

	*layer = cell.type == CL_STATS_U64 ? cell.u : 0;
	return (cell.type == CL_STATS_U64);
}

static const char *
contract_of(const struct view *v)
{

	return (cl_run_cond_text(v->run, "contract", "unknown"));
}

/* Is row i of the same part as the one where p begins? */
static bool
belongs(const struct part *p, size_t i)
{
	uint64_t layer;
	bool layered = layer_of(p, i, &layer);

	return (layered == p->layered && layer == p->layer);
}

/* The part that begins at row first; false behind the last row. */
static bool
find_part(struct part *p, const struct view *v, const struct cl_run_table *t,
    size_t first)
{

	*p = (struct part){ .v = v, .t = t, .first = first };
	if (first >= t->n)
		return (false);
	p->layered = layer_of(p, first, &p->layer);
	for (p->end = first + 1; p->end < t->n && belongs(p, p->end);)
		p->end++;
	p->misses = number(p, p->end - 1, "misses");
	p->accesses = p->misses + number(p, p->end - 1, "hits");
	return (true);
}

/* The least capacity with that share of hits; 0: none has. */
static uint64_t
capacity_for(const struct part *p, unsigned percent)
{
	uint64_t want = p->accesses / 100 * percent +
	    (p->accesses % 100 * percent + 99) / 100;
	size_t i;

	for (i = p->first; i < p->end && p->accesses > 0; i++)
		if (number(p, i, "hits") >= want)
			return (number(p, i, "capacity_experts"));
	return (0);
}

/* "1.20 MiB" of so many experts; "-" where bytes are unknown. */
static const char *
bytes_of(char b[CL_TEXT_SIZE_MAX], const struct view *v, uint64_t n)
{
	struct cl_cell each = cl_run_cond(v->run, "stride_bytes");

	if (each.type != CL_STATS_U64 || each.u == 0 ||
	    n > UINT64_MAX / each.u)
		return ("-");
	return (cl_text_bytes(b, n * each.u));
}

static void
plot(const struct part *p)
{
	uint64_t most = number(p, p->end - 1, "capacity_experts"), upto;
	char line[HEIGHT][WIDTH + 1], b[32];
	double r[WIDTH];
	size_t x, y, i = p->first, n;

	for (x = 0; x < WIDTH; x++) {
		upto = most / WIDTH * (x + 1) + most % WIDTH * (x + 1) / WIDTH;
		while (i < p->end && number(p, i, "capacity_experts") <= upto)
			i++;
		(void)cl_figure_ratio(i == p->first ? 0 : number(p, i - 1,
		    "hits"), p->accesses, &r[x]);
	}
	for (y = 0; y < HEIGHT; y++) {
		for (n = 0, x = 0; x < WIDTH; x++) {
			line[y][x] = r[x] * HEIGHT >= (double)(HEIGHT - y) -
			    0.5 ? '#' : ' ';
			if (line[y][x] == '#')
				n = x + 1;
		}
		line[y][n] = '\0';
		cl_dst_printf(p->v->dst, "  %4s |%s\n", y == 0 ? "100%" :
		    y == HEIGHT / 2 ? "50%" : "", line[y]);
	}
	cl_dst_printf(p->v->dst, "    0%% +%.*s\n       1%*s experts\n",
	    WIDTH, "------------------------------------------------------"
	    "----------", WIDTH - 1, cl_text_count(b, most));
}

static void
facts(const struct part *p)
{
	struct cl_cell demand = cl_run_cond(p->v->run,
	    "token_demand_experts");
	char n[32], of[32], b[CL_TEXT_SIZE_MAX], r[CL_FIGURE_MAX];
	bool cliff = strcmp(cl_run_cond_text(p->v->run, "policy", ""),
	    "lru") == 0;

	if (demand.type == CL_STATS_U64)
		cl_dst_printf(p->v->dst, "  demand      %s experts a token, "
		    "%s%s\n", cl_text_count(n, demand.u),
		    bytes_of(b, p->v, demand.u), cliff ?
		    ": below it a global LRU falls off" : "");
	cl_dst_printf(p->v->dst, "  cold floor  %s misses of %s accesses (%s):"
	    " what starts empty\n              and fetches on demand has no "
	    "fewer\n\n", cl_text_count(n, p->misses),
	    cl_text_count(of, p->accesses), cl_figure_percent(r, p->misses,
	    p->accesses));
}

/* All layers as one: what is needed for which share of hits, and a picture. */
static int
whole(const struct part *p, struct cl_err *err)
{
	struct cl_table t;
	char b[64];
	uint64_t n;
	size_t i;
	int status;

	cl_dst_printf(p->v->dst, "\ncurve, contract %.20s, one pool for all "
	    "layers\n", contract_of(p->v));
	facts(p);
	cl_table_init(&t, 3, 0);
	cl_render_heads(&t, (const char *const[]){ "hits", "experts",
	    "cache" }, 3);
	for (i = 0; i < SHARES; i++) {
		n = capacity_for(p, shares[i]);
		cl_table_add(&t, "%u%%", shares[i]);
		cl_table_add(&t, "%s", n == 0 ? "never" :
		    cl_text_count(b, n));
		cl_table_add(&t, "%s", n == 0 ? "-" : bytes_of(b, p->v, n));
	}
	status = cl_table_print(&t, p->v->dst, 2, false, err);
	cl_dst_printf(p->v->dst, "\n");
	plot(p);
	return (status);
}

static void
add_layer(struct cl_table *t, const struct part *p)
{
	char b[64];
	uint64_t n;
	size_t i;

	cl_table_add(t, "%llu", (unsigned long long)p->layer);
	cl_table_add(t, "%s", cl_text_count(b, p->accesses));
	cl_table_add(t, "%s", cl_figure_percent(b, p->misses, p->accesses));
	for (i = 0; i < SHARES; i++) {
		n = capacity_for(p, shares[i]);
		cl_table_add(t, "%s", n == 0 ? "never" :
		    cl_text_count(b, n));
	}
}

/*
 * A line for each layer, from the row *at on up to the next pool of all:
 * experts of its own for each share of hits.
 */
static int
layers(const struct view *v, const struct cl_run_table *table, size_t *at,
    struct cl_err *err)
{
	struct cl_table t;
	struct part p;
	size_t n = 0, i = 0, end = *at;

	for (; find_part(&p, v, table, end) && p.layered; end = p.end)
		n++;
	cl_dst_printf(v->dst, "\ncurve, contract %.20s, a pool for each layer:"
	    " its experts for so many hits\n", contract_of(v));
	cl_table_init(&t, 3 + SHARES, 0);
	cl_render_heads(&t, (const char *const[]){ "layer", "accesses",
	    "cold", "50%", "80%", "90%", "95%", "99%" }, 3 + SHARES);
	for (; *at < end && find_part(&p, v, table, *at); *at = p.end)
		if (cl_render_shown(&t, v, i++, n))
			add_layer(&t, &p);
	return (cl_table_print(&t, v->dst, 2, v->r->options.bold, err));
}

int
cl_render_curve(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	struct part p;
	size_t at = 0;
	int status = CL_OK;

	while (status == CL_OK && find_part(&p, v, t, at)) {
		if (p.layered)
			status = layers(v, t, &at, err);
		else {
			status = whole(&p, err);
			at = p.end;
		}
	}
	return (status);
}

/* Nothing where the curve is there, of which they are a part. */
int
cl_render_capacities(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{

	return (cl_run_table(v->run, "curve") != NULL ? CL_OK :
	    cl_render_plain(v, t, err));
}

/* Row i: its counts, the most hits of both kinds of cache and their share. */
static void
add_bound(struct cl_table *to, const struct view *v,
    const struct cl_run_table *t, size_t i)
{
	static const char *const hits[] = { "hits_demand", "hits_bypass" };
	struct part p = { .v = v, .t = t };
	uint64_t n = number(&p, i, "capacity_experts");
	uint64_t accesses = number(&p, i, "accesses");
	char b[64];
	unsigned k;

	cl_table_add(to, "%s", cl_text_count(b, n));
	cl_table_add(to, "%s", bytes_of(b, v, n));
	cl_table_add(to, "%s", cl_text_count(b, accesses));
	cl_table_add(to, "%s", cl_text_count(b, number(&p, i, "cold")));
	for (k = 0; k < 2; k++) {
		n = number(&p, i, hits[k]);
		cl_table_add(to, "%s", cl_text_count(b, n));
		cl_table_add(to, "%s", cl_figure_percent(b, n, accesses));
	}
}

int
cl_render_bound(const struct view *v, const struct cl_run_table *t,
    struct cl_err *err)
{
	static const char *const needed[] = { "capacity_experts", "accesses",
	    "cold", "hits_demand", "hits_bypass" };
	struct cl_table to;
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (cl_stats_column(&t->columns, needed[i]) == t->columns.n)
			return (cl_render_plain(v, t, err));
	cl_dst_printf(v->dst, "\nbound: the most hits of a cache that starts "
	    "empty and fetches on demand, and\nkeeps whatever it misses, or "
	    "may refuse it\n");
	cl_table_init(&to, 8, 0);
	cl_render_heads(&to, (const char *const[]){ "experts", "cache",
	    "accesses", "cold", "keeps all", "hits", "may refuse", "hits" },
	    8);
	for (i = 0; i < t->n; i++)
		if (cl_render_shown(&to, v, i, t->n))
			add_bound(&to, v, t, i);
	return (cl_table_print(&to, v->dst, 2, v->r->options.bold, err));
}
