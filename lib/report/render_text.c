/*
 * Runs for people, in 80 columns: first what was replayed and under which
 * conditions, then what was counted, prefill and decode apart, then what was
 * measured, then layers and windows, and a line for each run at the end.  No
 * condition and no counter is left out because this file does not know it.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/figure.h"
#include "cl/run.h"
#include "cl/text.h"
#include "render_int.h"

#define LABEL	10			/* columns before the text of a line */
#define LIST_NAME 34			/* characters of a name in a list */
#define LIST_NAMES (2 | 4)		/* its columns of names */
#define LIST_SPEED 128			/* its column of tokens/s */

/*
 * Conditions that have a line of their own, and so are no options; the first
 * ones have it in runs of every kind.
 */
#define IDENTITY	9
static const char *const told[] = { "what", "origin", "origin_text",
    "trace", "member", "member_name", "model", "architecture",
    "model_fingerprint", "contract", "policy", "partition", "cache_bytes",
    "cache_experts", "budget", "stride_bytes", "slot_waste_bytes",
    "experts", "expert_bytes",
    "token_demand_experts", "token_demand_bytes", "prefill", "warmup",
    "tokens", "window", "moe_layers", "model_dense_bytes", "foresight" };

#define NTOLD	(sizeof(told) / sizeof(told[0]))

static void	say(const struct view *, const char *label, const char *, ...)
		    __attribute__((format(printf, 3, 4)));

static void
say(const struct view *v, const char *label, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cl_table_wrap(v->dst, label, LABEL, text);
}

static const char *
bold(const struct view *v)
{

	return (v->r->options.bold ? "\033[1m" : "");
}

static const char *
plain(const struct view *v)
{

	return (v->r->options.bold ? "\033[0m" : "");
}

/* A condition that is a number; 0, and false, where it is none. */
static bool
number(const struct view *v, const char *name, uint64_t *n)
{
	struct cl_cell cell = cl_run_cond(v->run, name);

	*n = cell.type == CL_STATS_U64 ? cell.u : 0;
	return (cell.type == CL_STATS_U64);
}

/* Is a condition that text? */
static bool
is(const struct view *v, const char *name, const char *s)
{
	struct cl_cell cell = cl_run_cond(v->run, name);

	return (cell.type == CL_STATS_STR && strcmp(cell.s, s) == 0);
}

/* "18.0 MiB", or "unknown bytes". */
static const char *
bytes(char buf[CL_TEXT_SIZE_MAX], bool known, uint64_t n)
{

	return (known ? cl_text_bytes(buf, n) : "unknown bytes");
}

/*
 * What must be seen before anything else is believed, above and below.
 */
static void
mark(const struct view *v)
{
	const char *what = "";

	if (v->run->whole && v->run->end.end == 1)
		return;
	if (!v->run->whole)
		what = "INCOMPLETE: the stat stream stops inside this run";
	else if (v->run->end.end == 2)
		what = "INCOMPLETE: the trace stopped early; what came of it "
		    "is counted";
	else
		what = "INTERRUPTED: a signal stopped the replay; what was "
		    "done is counted";
	cl_dst_printf(v->dst, "%s*** %s%s\n", bold(v), what, plain(v));
}

static void
heading(const struct view *v)
{

	if (v->r->nruns > 1)
		cl_dst_printf(v->dst, "\n");
	cl_render_headline(v);
	mark(v);
	cl_dst_printf(v->dst, "\n");
}

static void
origin(const struct view *v)
{
	const char *text = cl_run_cond_text(v->run, "origin_text", "");
	struct cl_cell print = cl_run_cond(v->run, "model_fingerprint");
	char hash[24], name[RENDER_NAME_MAX];

	say(v, "trace", "%.900s, %.20s%s%.1000s",
	    cl_render_trace(name, v->run),
	    cl_run_cond_text(v->run, "origin", "origin unknown"),
	    *text == '\0' ? "" : ": ", text);
	say(v, "model", "%.900s, architecture %.100s, fingerprint %s",
	    cl_run_cond_text(v->run, "model", "unnamed"),
	    cl_run_cond_text(v->run, "architecture", "unknown"),
	    print.type == CL_STATS_NONE ? "unknown" :
	    cl_cell_text(&print, hash, sizeof(hash)));
}

/* What a figure is worth that no policy can have which sees only the past. */
static void
foresight(const struct view *v)
{

	if (is(v, "foresight", "exact"))
		say(v, "", "FORESIGHT: this policy knows the future; it is a "
		    "bound for caches that start empty and fetch on "
		    "demand%s.", is(v, "policy", "belady") ? ", and keep "
		    "whatever they miss" : "");
	if (is(v, "foresight", "heuristic"))
		say(v, "", "FORESIGHT: this policy knows the future, but "
		    "counts experts, which differ in size: its bytes are not "
		    "the fewest there can be.");
}

static void
rules(const struct view *v)
{
	char warm[32], n[32], limit[80] = "all of the trace";
	uint64_t warmup, tokens;

	if (number(v, "tokens", &tokens))
		(void)snprintf(limit, sizeof(limit), "%s tokens, to the end "
		    "of a pass", cl_text_count(n, tokens));
	say(v, "replay", "contract %.40s, policy %.40s, partition %.40s, "
	    "prefill by %.40s",
	    cl_run_cond_text(v->run, "contract", "unknown"),
	    cl_run_cond_text(v->run, "policy", "unknown"),
	    cl_run_cond_text(v->run, "partition", "unknown"),
	    cl_run_cond_text(v->run, "prefill", "unknown"));
	if (cl_run_hindsight(v->run))
		say(v, "", "HINDSIGHT: fitted on the trace that it is replayed "
		    "on, which no policy can know beforehand");
	if (is(v, "fitted_end", "incomplete") ||
	    is(v, "fitted_end", "interrupted"))
		say(v, "", "fitted on a trace that is %.20s",
		    cl_run_cond_text(v->run, "fitted_end", ""));
	if (number(v, "warmup", &warmup) && warmup > 0)
		say(v, "", "warm-up of %s tokens not counted; then %s",
		    cl_text_count(warm, warmup), limit);
	else
		say(v, "", "no warm-up; %s", limit);
	foresight(v);
}

/* What slots leave empty, since experts are not of their size. */
static void
stride(const struct view *v)
{
	char b[CL_TEXT_SIZE_MAX], w[CL_TEXT_SIZE_MAX], p[CL_FIGURE_MAX];
	uint64_t each, waste, size;

	if (!number(v, "stride_bytes", &each) ||
	    !number(v, "slot_waste_bytes", &waste) || waste == 0 ||
	    !number(v, "cache_bytes", &size) || size == 0)
		return;
	say(v, "", "slots of %s%s; of a full cache %s are empty, %s",
	    is(v, "partition", "class") ? "up to " : "",
	    cl_text_bytes(b, each), cl_text_bytes(w, waste),
	    cl_figure_percent(p, waste, size));
}

static void
budget(const struct view *v)
{
	char b[CL_TEXT_SIZE_MAX], exact[32], n[32], of[32], share[64];
	uint64_t slots, all, size;
	bool known = number(v, "cache_bytes", &size);

	(void)number(v, "cache_experts", &slots);
	(void)number(v, "experts", &all);
	say(v, "cache", "%.60s: %s of %s experts (%s), %s%s%s%s",
	    cl_run_cond_text(v->run, "budget", "unknown budget"),
	    cl_text_count(n, slots), cl_text_count(of, all),
	    cl_figure_percent(share, slots, all), bytes(b, known, size),
	    known ? " = " : "", known ? cl_text_count(exact, size) : "",
	    known ? " bytes" : "");
	stride(v);
}

/*
 * What a budget below the demand of one token means.  Where the next token
 * comes round to a layer, a cache of one order over all experts that evicts
 * the least recent has let go of what that layer had, but for as many as the
 * budget exceeds the demand of the other layers: none, below that.  A policy
 * that throws nobody out has no such cliff.
 */
static void
below_demand(const struct view *v, uint64_t k, const char *least)
{
	const char *policy = cl_run_cond_text(v->run, "policy", "");
	const char *up_to = is(v, "partition", "class") ? "at most " : "";

	if (strcmp(policy, "none") == 0 || strcmp(policy, "infinite") == 0)
		return;
	if (strncmp(policy, "static", 6) == 0)
		say(v, "", "BELOW DEMAND: the cache holds less than one token "
		    "uses.");
	else if (is(v, "policy", "lru") && is(v, "partition", "global"))
		say(v, "", "BELOW DEMAND: the cache holds less than one token "
		    "uses.  A global LRU has thrown out most of what a layer "
		    "used before it comes round again; where the budget is "
		    "below the demand of the other layers, all of it, and "
		    "hits nothing.  The smallest budget that is not below "
		    "demand is %llue, %s%s.", (unsigned long long)k,
		    up_to, least);
	else
		say(v, "", "BELOW DEMAND: the cache holds less than one token "
		    "uses, so that each token throws out some of what the "
		    "next one wants.  The smallest budget that is not below "
		    "demand is %llue, %s%s.", (unsigned long long)k,
		    up_to, least);
}

static void
demand(const struct view *v)
{
	char b[CL_TEXT_SIZE_MAX], least[CL_TEXT_SIZE_MAX], n[32], exact[32];
	uint64_t k, size, slots, each;
	bool known = number(v, "token_demand_bytes", &size);
	bool sized = number(v, "stride_bytes", &each);

	if (!number(v, "token_demand_experts", &k))
		return;
	say(v, "demand", "%s experts a token, %s%s%s%s", cl_text_count(n, k),
	    bytes(b, known, size), known ? " = " : "",
	    known ? cl_text_count(exact, size) : "", known ? " bytes" : "");
	if (!number(v, "cache_experts", &slots) || slots >= k)
		return;
	sized = sized && (k == 0 || each <= UINT64_MAX / k);
	below_demand(v, k, bytes(least, sized, sized ? k * each : 0));
}

static void
no_data(const struct view *v)
{
	uint64_t warmup;

	cl_dst_printf(v->dst, "\nno data: no token was measured%s\n",
	    number(v, "warmup", &warmup) && warmup > 0 ?
	    "; the warm-up took all there were" : "");
}

/* name=value of all conditions but those that are told. */
static void
others(const struct view *v, const char *label,
    const struct cl_stats_conds *conds, size_t ntold)
{
	char text[1900], one[160];
	struct cl_cell cell;
	size_t i, k, n = 0;

	for (i = 0; i < conds->n; i++) {
		for (k = 0; k < ntold; k++)
			if (strcmp(conds->cond[i].name, told[k]) == 0)
				break;
		if (k < ntold)
			continue;
		cell = cl_cell_cond(&conds->cond[i]);
		if (n > sizeof(text) - 300) {	/* a new line's worth */
			cl_table_wrap(v->dst, label, LABEL, text);
			label = "";
			n = 0;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%s%.100s=%s", n == 0 ? "" : " ", conds->cond[i].name,
		    cl_cell_text(&cell, one, sizeof(one)));
	}
	if (n > 0)
		cl_table_wrap(v->dst, label, LABEL, text);
}

/*
 * What it was, in a list: the policy and how its cache is parted, or what a run
 * without a cache is called, with the policy and contract that it may have.
 */
static void
add_policy(struct cl_table *t, const struct view *v)
{
	const char *policy = cl_run_cond_text(v->run, "policy", "");
	const char *rule = cl_run_cond_text(v->run, "contract", "");
	const char *what = cl_run_what(v->run);
	char cut[200];

	(void)cl_table_cut(cut, sizeof(cut), policy, LIST_NAME);
	if (v->replay)
		cl_table_add(t, "%s%s", *policy == '\0' ? "-" : cut,
		    is(v, "partition", "layer") ? " by layer" :
		    is(v, "partition", "class") ? " by class" : "");
	else
		cl_table_add(t, "%.40s%s%s%s%.20s", what,
		    *policy == '\0' ? "" : " ", cut,
		    *rule == '\0' ? "" : " ", rule);
}

/* The run in the table that closes a report of several. */
static void
summarise(struct cl_render *r, const struct view *v)
{
	struct cl_table *t = &r->summary;
	struct cl_cell slots = cl_run_cond(v->run, "cache_experts");
	char b[200], name[RENDER_NAME_MAX];
	uint64_t wall, n;

	if (cl_render_measure(v, "wall_ns", &wall) && wall > 0)
		r->timed = true;
	cl_table_add(t, "%zu", r->nruns);
	cl_table_add(t, "%s", cl_table_cut(b, sizeof(b),
	    cl_render_marked(name, v->run), LIST_NAME));
	add_policy(t, v);
	cl_table_add(t, "%s", cl_cell_text(&slots, b, sizeof(b)));
	cl_table_add(t, "%s", cl_render_cell(b, v, v->all, "tokens"));
	cl_table_add(t, "%s", !cl_run_count(v->run, CL_STATS_LOGICAL, v->all,
	    "hits", &n) ? "-" : cl_figure_percent(b, n,
	    cl_render_count(v, v->all, "accesses")));
	cl_table_add(t, "%s", cl_render_bytes(b, v, CL_STATS_LOGICAL, v->all,
	    "demand_bytes"));
	cl_table_add(t, "%s%s", cl_run_modelled(v->run) ? "MODELLED " : "",
	    cl_figure_rate(b, cl_render_count(v, v->all, "tokens"), wall));
	cl_table_add(t, "%s", v->run->whole && v->run->end.end == 1 ? "" :
	    cl_run_end(v->run));
}

/* What all of them come to, where that means something. */
static void
sum_up(struct cl_render *r)
{
	struct cl_table *t = &r->summary;
	const struct render_total *sum = &r->total;
	char b[64];
	uint64_t tokens, hits, accesses, n;
	bool hit;

	if (!cl_render_total_is(sum))
		return;
	(void)cl_render_total_get(sum, "tokens", &tokens);
	hit = cl_render_total_get(sum, "hits", &hits);
	(void)cl_render_total_get(sum, "accesses", &accesses);
	cl_table_add(t, "all");
	cl_table_add(t, "%zu traces", r->nruns);
	cl_table_add(t, "%s", "");
	cl_table_add(t, "%s", "");
	cl_table_add(t, "%s", cl_text_count(b, tokens));
	cl_table_add(t, "%s", hit ? cl_figure_percent(b, hits, accesses) : "-");
	cl_table_add(t, "%s", cl_render_total_get(sum, "demand_bytes", &n) ?
	    cl_text_bytes(b, n) : "-");
	(void)cl_render_total_get(sum, "wall_ns", &n);
	cl_table_add(t, "%s", cl_figure_rate(b, tokens, n));
	cl_table_add(t, "%s", sum->cut ? "incomplete" : "");
}

static int
begin(struct cl_render *r, struct cl_err *err)
{
	static const char *const heads[] = { "run", "trace", "policy",
	    "experts", "tokens", "hits", "demand", "tokens/s", "" };

	(void)err;
	cl_table_init(&r->summary, 9, LIST_NAMES | 256);
	r->summary.fit = LIST_NAMES;
	cl_render_heads(&r->summary, heads, 9);
	return (CL_OK);
}

static int
figures(const struct view *v, struct cl_err *err)
{
	int status;

	if (v->all == NULL) {
		cl_dst_printf(v->dst, "\nno totals: they were to come at the "
		    "end of the run\n");
		return (cl_render_windows(v, err));
	}
	if (v->all->tokens == 0) {
		no_data(v);
		return (CL_OK);
	}
	if ((status = cl_render_counters(v, err)) == CL_OK &&
	    (status = cl_render_measured(v, err)) == CL_OK &&
	    (status = cl_render_tables(v, err)) == CL_OK &&
	    (status = cl_render_layers(v, err)) == CL_OK)
		status = cl_render_windows(v, err);
	return (status);
}

/* Were more tokens asked for, and counted or passed over, than it has? */
static bool
again(const struct view *v)
{
	uint64_t read = v->run->end.tokens, warmup, asked, skipped;

	(void)number(v, "warmup", &warmup);
	if (!number(v, "tokens", &asked) || v->all == NULL ||
	    v->all->tokens == 0)
		return (false);
	skipped = cl_render_count(v, v->all, "skipped");
	return (warmup > read || v->all->tokens > read - warmup ||
	    skipped > read - warmup - v->all->tokens);
}

static int
one_run(struct cl_render *r, const struct cl_run *run, struct cl_err *err)
{
	struct view v = { r, r->dst, run,
	    cl_run_find(run, CL_STATS_LOGICAL, CL_STATS_RUN, 0),
	    cl_run_find(run, CL_STATS_MEASURED, CL_STATS_RUN, 0),
	    strcmp(cl_run_what(run), "replay") == 0 };
	char count[32];
	int status;

	heading(&v);
	origin(&v);
	if (v.replay) {
		rules(&v);
		budget(&v);
		demand(&v);
		others(&v, "options", &run->conds, NTOLD);
	} else
		others(&v, cl_run_what(run), &run->conds, IDENTITY);
	others(&v, "machine", &run->machine, 0);
	if ((status = figures(&v, err)) != CL_OK)
		return (status);
	cl_dst_printf(v.dst, "\n");
	if (run->whole && run->end.end == 1)
		cl_dst_printf(v.dst, "complete: %s tokens of the trace were "
		    "read%s\n", cl_text_count(count, run->end.tokens),
		    again(&v) ? ", and replayed again in rounds" : "");
	mark(&v);
	summarise(r, &v);
	return (CL_OK);
}

static int
end(struct cl_render *r, struct cl_err *err)
{
	int status;

	if (r->nruns < 2)
		return (CL_OK);
	sum_up(r);
	cl_dst_printf(r->dst, "\n");
	r->summary.drop = r->timed ? 0 : LIST_SPEED;
	status = cl_table_print(&r->summary, r->dst, 0, r->options.bold, err);
	if (status == CL_OK)
		cl_render_groups_print(&r->sweep.groups, r->dst);
	if (status == CL_OK && cl_render_sweep_is(&r->sweep))
		status = cl_render_sweep(r, err);
	return (status);
}

const struct render_form cl_render_text = { begin, one_run, end };
