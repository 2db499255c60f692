/*
 * Passes come in, and their events are served layer by layer.  Warm-up, the
 * number of tokens asked for and windows all act where a pass ends.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/clock.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "cl/model.h"
#include "cl/quality.h"
#include "cl/stats.h"
#include "cl/stats_write.h"
#include "replay_int.h"

#define KEY_BYTES	32	/* of an expert, in the tables of a cache */

uint64_t
cl_replay_now(const struct cl_replay *r)
{

	if (r->o.device == NULL)
		return (cl_clock_ns());
	return (cl_io_now(cl_device_io(r->o.device)));
}

static void
start_clock(struct cl_replay *r)
{

	cl_host_usage(&r->usage);
	r->start_wait_ns = r->wait_ns;
	r->stop_ns = 0;
	r->start_ns = cl_replay_now(r);
}

/*
 * The peak of resident memory, as far as it can be told beforehand: the arena
 * and the tables over experts and members come on top of what was there.
 */
static uint64_t
predict_rss(const struct cl_replay *r)
{
	const struct cl_host_usage *u = &r->o.at_start;
	uint64_t n = u->rss + r->o.touches + cl_device_arena(r->o.device) +
	    (uint64_t)r->keys->nkeys * (sizeof(*r->name) + KEY_BYTES) +
	    (uint64_t)r->keys->nlargest * (sizeof(*r->job) +
	    sizeof(*r->member)) +
	    (uint64_t)r->stage.nreads * sizeof(*r->stage.read);

	if (u->rss == 0)
		return (0);
	return (n > u->rss_peak ? n : u->rss_peak);
}

/* The machine has no part in what is modelled. */
void
cl_replay_measure(struct cl_replay *r)
{
	struct cl_host_usage now;
	uint64_t *m = r->measure, at = cl_replay_now(r);

	m[CL_M_WALL_NS] = (r->stop_ns != 0 ? r->stop_ns : at) - r->start_ns;
	if (cl_device_spec(r->o.device) != NULL)
		return;
	cl_host_usage(&now);
	m[CL_M_INPUT_WAIT_NS] = r->wait_ns - r->start_wait_ns;
	m[CL_M_WALL_NS] -= m[CL_M_INPUT_WAIT_NS];
	m[CL_M_DEVICE_BYTES] = now.device_bytes - r->usage.device_bytes;
	m[CL_M_MAJOR_FAULTS] = now.major_faults - r->usage.major_faults;
	m[CL_M_RSS_START] = r->usage.rss;
	m[CL_M_RSS_PEAK] = now.rss_peak;
	m[CL_M_RSS_START_PEAK] = r->o.at_start.rss_peak;
	m[CL_M_RSS_PREDICTED] = predict_rss(r);
	m[CL_M_CHECKSUM] = r->checksum;
}

/* What was measured since the last call was spent in the phase at hand. */
static void
spend(struct cl_replay *r)
{

	if (r->o.device == NULL || r->spending == NPHASES)
		return;
	cl_replay_measure(r);
	cl_tally_spend(r->tally, r->spending);
}

static void
stop_clock(struct cl_replay *r)
{

	if (r->stop_ns == 0)
		r->stop_ns = cl_replay_now(r);
}

/* Arrays over all keys, and over the members of the largest event. */
static int
make_arrays(struct cl_replay *r, struct cl_err *err)
{
	uint32_t nevent = r->keys->nlargest;

	r->name = calloc(r->keys->nkeys, sizeof(*r->name));
	r->column = calloc(r->keys->ncolumns, sizeof(*r->column));
	if (r->name == NULL || r->column == NULL)
		return (cl_fail_nomem(err, "the replay's tables"));
	if (r->o.device == NULL)
		return (CL_OK);
	r->job = calloc(nevent, sizeof(*r->job));
	r->member = calloc(nevent, sizeof(*r->member));
	if (r->job == NULL || r->member == NULL)
		return (cl_fail_nomem(err, "the replay's tables"));
	return (CL_OK);
}

/* A column for each layer with experts, and a name for each of these. */
static void
fill_columns(struct cl_replay *r)
{
	const struct cl_keys_column *from = r->keys->column;
	struct column *col = r->column;
	uint32_t i, e;

	for (i = 0; i < r->keys->ncolumns; i++, col++, from++) {
		col->layer = from->layer;
		col->base = from->base;
		col->expert_bytes = from->expert_bytes;
		col->tally = cl_tally_layer(r->tally, i);
		for (e = 0; e < from->nexperts; e++)
			r->name[from->base + e] = UINT64_C(1) << 63 |
			    (uint64_t)from->layer << 32 | e;
	}
}

static int
make_tally(struct cl_replay *r, const struct cl_model *m, struct cl_err *err)
{
	const struct cl_keys *keys = r->keys;
	struct cl_model_sums sums;
	uint32_t *layers, i;

	if ((layers = calloc(keys->ncolumns, sizeof(*layers))) == NULL)
		return (cl_fail_nomem(err, "the replay's tables"));
	for (i = 0; i < keys->ncolumns; i++)
		layers[i] = keys->column[i].layer;
	cl_model_sums(m, &sums);
	r->tally = cl_tally_new(layers, keys->ncolumns, sums.bytes_known,
	    r->o.device != NULL, err);
	free(layers);
	if (r->tally == NULL)
		return (err->code);
	r->phase[PREFILL] = cl_tally_phase(r->tally, PREFILL);
	r->phase[DECODE] = cl_tally_phase(r->tally, DECODE);
	r->measure = cl_tally_measures(r->tally);
	return (CL_OK);
}

static int
set_up(struct cl_replay *r, const struct cl_model *m, struct cl_err *err)
{
	int status;

	if ((status = make_tally(r, m, err)) != CL_OK ||
	    (status = make_arrays(r, err)) != CL_OK)
		return (status);
	fill_columns(r);
	if ((status = cl_replay_make_cache(r, err)) != CL_OK ||
	    (status = cl_replay_open_route(r, m, err)) != CL_OK ||
	    (status = cl_replay_open_predict(r, m, err)) != CL_OK ||
	    (status = cl_replay_open_dense(r, err)) != CL_OK ||
	    (status = cl_replay_open_stage(r, err)) != CL_OK ||
	    (status = cl_replay_open_log(r, err)) != CL_OK)
		return (status);
	if (r->o.policy.info->loads && r->o.before == NULL &&
	    r->o.uses != NULL &&
	    (status = cl_replay_pin(r, r->o.uses, err)) != CL_OK)
		return (status);
	if (cl_replay_collects(&r->o) && r->o.ahead == NULL &&
	    (r->ahead = cl_lookahead_new(r->keys, err)) == NULL)
		return (err->code);
	if ((status = cl_tally_write_columns(r->tally, r->writer, err)) !=
	    CL_OK)
		return (status);
	return (cl_budget_write_classes(&r->o.classes, r->o.partition,
	    r->writer, err));
}

/* Nothing is counted yet, but what was loaded. */
void
cl_replay_begin(struct cl_replay *r)
{

	r->checksum = 0;
	r->spending = NPHASES;
	r->epoch++;
	memset(r->latency, 0, sizeof(r->latency));
	cl_tally_reset(r->tally);
	cl_replay_reset_quality(r);
	r->phase[PREFILL]->n[CL_N_PRELOAD] = r->preload;
	r->phase[PREFILL]->n[CL_N_PRELOAD_BYTES] = r->preload_bytes;
	if (r->retries > 0) {
		r->measure[CL_M_READ_RETRIES] = r->retries;
		cl_tally_spend(r->tally, PREFILL);
	}
	start_clock(r);
}

bool
cl_replay_hindsight(const struct cl_replay_options *o)
{

	return (o->policy.info->loads && o->uses == NULL && o->before == NULL);
}

bool
cl_replay_collects(const struct cl_replay_options *o)
{

	return (o->policy.info->foresees != CL_FUTURE_NONE || o->quality ||
	    cl_replay_hindsight(o));
}

/* Nobody asks where an expert is, but whether it is there. */
static bool
only_counts(const struct cl_replay_options *o, bool reads)
{

	return (!reads && (o->nstage == 0 ||
	    o->predict.kind == CL_PREDICT_OFF) && !cl_smart_on(&o->smart) &&
	    !o->events && !o->quality);
}

int
cl_replay_check(const struct cl_replay_options *o, bool reads,
    struct cl_err *err)
{
	const char *policy = o->policy.info->name;
	bool reroutes = cl_smart_on(&o->smart);

	if (reroutes && (o->policy.info->foresees != CL_FUTURE_NONE ||
	    (*o->policy.file == '\0' && cl_replay_hindsight(o))))
		return (cl_fail(err, CL_EINVAL, "policy %s knows the future, "
		    "which routing by what is resident would change",
		    policy));
	if (reroutes && o->quality)
		return (cl_fail(err, CL_EINVAL, "routing by what is resident "
		    "cannot go with the quality of decisions: what will be "
		    "used is not known"));
	if (cl_cache_policy_compat(&o->policy) && !only_counts(o, reads))
		return (cl_fail(err, CL_EINVAL, "policy %s:compat only "
		    "counts: it cannot go with reads, prefetch, a log of "
		    "events or their quality", policy));
	return (cl_cache_check(&o->policy, o->contract, err));
}

struct cl_replay *
cl_replay_new(const struct cl_model *m, const struct cl_keys *keys,
    const struct cl_replay_options *o, struct cl_stats_writer *writer,
    uint64_t input_wait_ns, struct cl_err *err)
{
	struct cl_replay *r;

	if (cl_replay_check(o, o->device != NULL, err) != CL_OK)
		return (NULL);
	if ((r = calloc(1, sizeof(*r))) == NULL) {
		cl_fail_nomem(err, "the replay");
		return (NULL);
	}
	r->o = *o;
	r->model = m;
	r->hindsight = cl_replay_hindsight(o);
	r->retries = o->retries;
	r->counts = only_counts(o, o->device != NULL);
	r->keys = keys;
	r->writer = writer;
	r->warming = o->warmup > 0;
	r->next_window = o->window;
	if (set_up(r, m, err) != CL_OK) {
		cl_replay_free(r);
		return (NULL);
	}
	r->wait_ns = input_wait_ns;
	cl_replay_begin(r);
	return (r);
}

static int
end_window(struct cl_replay *r, struct cl_err *err)
{
	int status;

	if ((status = cl_replay_settle(r, err)) != CL_OK)
		return (status);
	spend(r);
	r->window_from = r->counted;
	r->next_window = (r->counted / r->o.window + 1) * r->o.window;
	return (cl_tally_write_window(r->tally, r->digest, r->writer, err));
}

/* A pass is over: see whether something is due. */
static int
end_pass(struct cl_replay *r, struct cl_err *err)
{
	uint64_t n = r->pass_tokens;
	int status;

	r->pass_tokens = 0;
	if (r->warming) {
		r->warmed += n;
		if (r->warmed >= r->o.warmup) {
			if ((status = cl_replay_settle(r, err)) != CL_OK)
				return (status);
			r->warming = false;
			r->digest = 0;
			cl_replay_begin(r);
		}
		return (CL_OK);
	}
	r->counted += n;
	r->passes++;
	r->done = r->o.tokens != 0 && r->counted >= r->o.tokens;
	if (r->done)
		stop_clock(r);
	if (r->o.window != 0 && r->counted >= r->next_window)
		return (end_window(r, err));
	return (CL_OK);
}

/* What is foretold of the column that the pass uses next, behind column c. */
static void
look_ahead(struct cl_replay *r, const struct cl_pass *pass, uint32_t c)
{
	struct foretold *f = &r->foretold;

	f->coming = NULL;
	if (pass->foretold == NULL)
		return;
	while (++c < r->keys->ncolumns)
		if (pass->event[c].n > 0) {
			f->coming = &pass->foretold[c];
			f->column = &r->column[c];
			return;
		}
}

static int
serve(struct cl_replay *r, const struct cl_pass *pass, struct cl_err *err)
{
	unsigned phase = pass->prefill ? PREFILL : DECODE;
	const struct cl_event *event;
	uint32_t i, layer = 0;
	int status;

	if (phase != r->spending) {
		spend(r);
		r->spending = phase;
	}
	for (i = 0; i < r->keys->ncolumns; i++) {
		event = &pass->event[i];
		if (event->n > 0 && r->routing.smart != NULL &&
		    (event = cl_replay_route(r, pass, i, phase, err)) == NULL)
			return (err->code);
		if (event->n == 0) {		/* routing left out all */
			cl_replay_unstage(r, &r->column[i], phase);
			continue;
		}
		if (r->o.policy.info->foresees != CL_FUTURE_NONE)
			cl_cache_foretell(r->cache, event->keys, r->next[i],
			    event->n);
		if (r->rival != NULL)
			cl_replay_rival(r, &r->column[i], event->keys,
			    event->n);
		if ((status = cl_replay_dense(r, layer, r->column[i].layer,
		    phase, err)) != CL_OK)
			return (status);
		layer = r->column[i].layer + 1;
		look_ahead(r, pass, i);
		if (r->counts)
			cl_replay_count(r, &r->column[i], event->keys,
			    event->n, phase);
		else if ((status = cl_replay_event(r, &r->column[i],
		    event->keys, event->n, phase, err)) != CL_OK)
			return (status);
	}
	if (pass->ntokens > 0 && (status = cl_replay_dense(r, layer,
	    r->model->nlayers, phase, err)) != CL_OK)
		return (status);
	r->phase[phase]->n[CL_N_TOKENS] += pass->ntokens;
	r->pass_tokens += pass->ntokens;
	if (r->quality != NULL)
		cl_quality_tokens(r->quality, pass->ntokens);
	return (CL_OK);
}

int
cl_replay_serve(struct cl_replay *r, const struct cl_pass *pass,
    struct cl_err *err)
{
	struct cl_tally_phase *phase =
	    r->phase[pass->prefill ? PREFILL : DECODE];
	int status;

	if (pass->skipped)
		phase->n[CL_N_SKIPPED] += pass->ntokens;
	else if ((status = serve(r, pass, err)) != CL_OK)
		return (status);
	phase->n[CL_N_PADDING] += pass->npadding;
	return (pass->ends ? end_pass(r, err) : CL_OK);
}

int
cl_replay_pass(struct cl_replay *r, const struct cl_pass *given,
    struct cl_err *err)
{
	struct cl_pass pass = *given;

	if (r->o.ahead != NULL || cl_replay_done(r))
		return (CL_OK);
	if (!pass.skipped)
		pass.foretold = cl_replay_foretell(r, &pass);
	return (r->ahead != NULL ? cl_replay_collect(r, &pass, err) :
	    cl_replay_serve(r, &pass, err));
}

void
cl_replay_waited(struct cl_replay *r, uint64_t input_wait_ns)
{

	if (!r->done)
		r->wait_ns = input_wait_ns;
}

void
cl_replay_again(struct cl_replay *r)
{

	if (r->foretold.predict != NULL)
		cl_predict_forget(r->foretold.predict);
}

bool
cl_replay_done(const struct cl_replay *r)
{

	if (r->o.ahead != NULL)
		return (cl_replay_done(r->o.ahead));
	return (r->done || r->collected);
}

int
cl_replay_finish(struct cl_replay *r, const struct cl_stats_end *given,
    struct cl_err *err)
{
	struct cl_stats_end end = *given;
	int status;

	if ((r->ahead != NULL || r->o.ahead != NULL) &&
	    (status = cl_replay_collected(r, &end, err)) != CL_OK)
		return (status);
	if ((status = cl_replay_settle(r, err)) != CL_OK)
		return (status);
	if (r->warming)				/* nothing was counted */
		cl_replay_begin(r);
	stop_clock(r);
	cl_replay_end_stage(r, DECODE);
	cl_replay_end_dense(r);
	spend(r);
	if (r->o.device != NULL)
		cl_replay_measure(r);
	if (r->o.window != 0 && r->counted > r->window_from &&
	    (status = end_window(r, err)) != CL_OK)
		return (status);
	if ((status = cl_replay_write_quality(r, err)) != CL_OK)
		return (status);
	status = cl_tally_write_totals(r->tally, r->warming ? 0 : r->digest,
	    r->writer, err);
	if (status == CL_OK && r->o.device != NULL)
		status = cl_hist_write(r->writer, &r->latency[CL_IO_DEMAND],
		    &r->latency[CL_IO_PREFETCH], err);
	if (status != CL_OK)
		return (status);
	return (cl_stats_writer_finish(r->writer, &end, err));
}

void
cl_replay_free(struct cl_replay *r)
{

	if (r == NULL)
		return;
	free(r->column);
	free(r->name);
	cl_replay_end_dense(r);
	cl_replay_close_stage(r);
	cl_replay_close_predict(r);
	cl_replay_close_route(r);
	cl_replay_close_log(r);
	cl_replay_close_quality(r);
	free(r->buffer);
	free(r->job);
	free(r->member);
	cl_cache_free(r->cache);
	cl_lookahead_free(r->ahead);
	cl_tally_free(r->tally);
	free(r);
}
