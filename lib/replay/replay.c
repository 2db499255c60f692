/*
 * Passes out of blocks, events out of passes.
 *
 * Most passes have one token, and their cells are served where they stand.
 * Those of several tokens are gathered: each layer's list of distinct experts
 * by first appearance, bounded by the number of experts however long a pass
 * is.  A pass may go on in the next block, so that it ends only where the
 * next one begins, or with the trace.  Warm-up, the number of tokens asked
 * for and windows all act where a pass ends.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/clock.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/stats.h"
#include "cl/stats_write.h"
#include "replay_int.h"

uint32_t
cl_replay_nbypass(const struct cl_model *m)
{
	uint32_t i, k = 0;

	for (i = 0; i < m->nlayers; i++)
		if (m->layers[i].nexperts > 0 && !m->layers[i].extra &&
		    m->layers[i].k > k)
			k = m->layers[i].k;
	return (k);
}

void
cl_replay_clock(struct cl_replay *r)
{

	cl_host_usage(&r->usage);
	r->start_wait_ns = r->wait_ns;
	r->stop_ns = 0;
	r->start_ns = cl_clock_ns();
}

void
cl_replay_measure(struct cl_replay *r)
{
	struct cl_host_usage now;
	uint64_t *m = r->measure, at = cl_clock_ns();

	cl_host_usage(&now);
	m[CL_M_INPUT_WAIT_NS] = r->wait_ns - r->start_wait_ns;
	m[CL_M_WALL_NS] = (r->stop_ns != 0 ? r->stop_ns : at) - r->start_ns -
	    m[CL_M_INPUT_WAIT_NS];
	m[CL_M_DEVICE_BYTES] = now.device_bytes - r->usage.device_bytes;
	m[CL_M_MAJOR_FAULTS] = now.major_faults - r->usage.major_faults;
	m[CL_M_RSS_START] = r->usage.rss;
	m[CL_M_RSS_PEAK] = now.rss_peak;
}

static void
stop_clock(struct cl_replay *r)
{

	if (r->stop_ns == 0)
		r->stop_ns = cl_clock_ns();
}

/* Arrays over all keys, and over the members of the largest event. */
static int
make_arrays(struct cl_replay *r, uint32_t nevent, struct cl_err *err)
{

	r->name = calloc(r->nkeys, sizeof(*r->name));
	r->stamped = calloc(r->nkeys, sizeof(*r->stamped));
	r->keys = calloc(nevent, sizeof(*r->keys));
	if (r->o.device != NULL) {
		r->job = calloc(nevent, sizeof(*r->job));
		r->buf = calloc(nevent, sizeof(*r->buf));
	}
	if (r->name == NULL || r->stamped == NULL || r->keys == NULL ||
	    (r->o.device != NULL && (r->job == NULL || r->buf == NULL)))
		return (cl_fail_nomem(err, "the replay's tables"));
	return (CL_OK);
}

/* A column for each layer with experts; *nevent is what the largest has. */
static int
make_columns(struct cl_replay *r, const struct cl_model *m,
    const uint32_t *layers, uint32_t *nevent, struct cl_err *err)
{
	const struct cl_layer *l;
	struct column *col;
	uint32_t i;

	if ((r->column = calloc(r->ncolumns, sizeof(*r->column))) == NULL)
		return (cl_fail_nomem(err, "the replay's tables"));
	*nevent = 0;
	for (i = 0; i < r->ncolumns; i++) {
		l = &m->layers[layers[i]];
		col = &r->column[i];
		col->layer = layers[i];
		col->base = r->nkeys;
		col->nexperts = l->nexperts;
		col->expert_bytes = l->expert_bytes;
		col->tally = cl_tally_layer(r->tally, i);
		if ((col->keys = calloc(l->nexperts, sizeof(*col->keys))) ==
		    NULL)
			return (cl_fail_nomem(err, "the replay's tables"));
		r->nkeys += l->nexperts;
		if (r->nkeys > CL_REPLAY_EXPERTS_MAX)
			return (cl_fail(err, CL_ENOTSUP, "layers 0 to %u have "
			    "%u experts; a replay holds at most %u",
			    layers[i], r->nkeys, CL_REPLAY_EXPERTS_MAX));
		if (l->nexperts > *nevent)
			*nevent = l->nexperts;
	}
	return (CL_OK);
}

static void
name_keys(struct cl_replay *r)
{
	struct column *col = r->column;
	uint32_t i, e;

	for (i = 0; i < r->ncolumns; i++, col++)
		for (e = 0; e < col->nexperts; e++)
			r->name[col->base + e] = UINT64_C(1) << 63 |
			    (uint64_t)col->layer << 32 | e;
}

static int
set_up(struct cl_replay *r, const struct cl_model *m, const uint32_t *layers,
    struct cl_err *err)
{
	struct cl_model_sums sums;
	uint32_t nevent = 0;
	int status;

	cl_model_sums(m, &sums);
	r->tally = cl_tally_new(layers, r->ncolumns, sums.bytes_known,
	    r->o.device != NULL, err);
	if (r->tally == NULL)
		return (err->code);
	r->phase[PREFILL] = cl_tally_phase(r->tally, PREFILL);
	r->phase[DECODE] = cl_tally_phase(r->tally, DECODE);
	r->measure = cl_tally_measures(r->tally);
	status = make_columns(r, m, layers, &nevent, err);
	if (status == CL_OK)
		status = make_arrays(r, nevent, err);
	if (status != CL_OK)
		return (status);
	name_keys(r);
	if ((status = cl_replay_make_cache(r, nevent, err)) != CL_OK)
		return (status);
	return (cl_tally_write_columns(r->tally, r->writer, err));
}

struct cl_replay *
cl_replay_new(const struct cl_model *m, const struct cl_replay_options *o,
    struct cl_stats_writer *writer, uint64_t input_wait_ns,
    struct cl_err *err)
{
	struct cl_replay *r;
	uint32_t *layers = NULL;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		cl_fail_nomem(err, "the replay");
		return (NULL);
	}
	r->o = *o;
	r->writer = writer;
	r->nbypass = cl_replay_nbypass(m);
	r->warming = o->warmup > 0;
	r->next_window = o->window;
	if (cl_trace_layers(m, &layers, &r->ncolumns, err) != CL_OK ||
	    set_up(r, m, layers, err) != CL_OK) {
		free(layers);
		cl_replay_free(r);
		return (NULL);
	}
	free(layers);
	r->wait_ns = input_wait_ns;
	cl_replay_clock(r);
	return (r);
}

/* Events of what the pass at hand has gathered so far. */
static int
serve_lists(struct cl_replay *r, unsigned phase, struct cl_err *err)
{
	struct column *col;
	uint32_t i, n;
	int status;

	for (i = 0; i < r->ncolumns; i++) {
		col = &r->column[i];
		if ((n = col->nkeys) == 0)
			continue;
		col->nkeys = 0;
		if ((status = cl_replay_event(r, col, col->keys, n, phase,
		    err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

static int
end_window(struct cl_replay *r, struct cl_err *err)
{

	if (r->o.device != NULL)
		cl_replay_measure(r);
	r->window_from = r->counted;
	r->next_window = (r->counted / r->o.window + 1) * r->o.window;
	return (cl_tally_write_window(r->tally, r->digest, r->writer, err));
}

/* The pass at hand is over: serve it, then see whether something is due. */
static int
end_pass(struct cl_replay *r, struct cl_err *err)
{
	unsigned phase = r->prefill ? PREFILL : DECODE;
	int status;

	if (!r->open)
		return (CL_OK);
	r->open = false;
	if ((status = serve_lists(r, phase, err)) != CL_OK)
		return (status);
	r->phase[phase]->n[CL_N_TOKENS] += r->pass_tokens;
	r->phase[phase]->n[CL_N_PADDING] += r->pass_padding;
	if (r->warming) {
		r->warmed += r->pass_tokens;
		if (r->warmed >= r->o.warmup) {
			r->warming = false;
			r->digest = 0;
			cl_tally_reset(r->tally);
			cl_replay_clock(r);
		}
		return (CL_OK);
	}
	r->counted += r->pass_tokens;
	r->done = r->o.tokens != 0 && r->counted >= r->o.tokens;
	if (r->done)
		stop_clock(r);
	if (r->o.window != 0 && r->counted >= r->next_window)
		return (end_window(r, err));
	return (CL_OK);
}

static void
begin_pass(struct cl_replay *r)
{

	if (++r->stamp == 0) {			/* 2^32 passes: start anew */
		memset(r->stamped, 0, r->nkeys * sizeof(*r->stamped));
		r->stamp = 1;
	}
	r->open = true;
	r->prefill = false;
	r->pass_tokens = r->pass_padding = 0;
}

/* Serve the cells of one token as they stand. */
static int
serve_token(struct cl_replay *r, const struct cl_trace_block *b, uint32_t t,
    struct cl_err *err)
{
	const struct cl_trace_column *in;
	struct column *col = r->column;
	uint32_t i, j, n;
	int status;

	for (i = 0; i < r->ncolumns; i++, col++) {
		in = &b->columns[i];
		if ((n = in->first[t + 1] - in->first[t]) == 0)
			continue;
		for (j = 0; j < n; j++)
			r->keys[j] = col->base + in->ids[in->first[t] + j];
		if ((status = cl_replay_event(r, col, r->keys, n,
		    r->prefill ? PREFILL : DECODE, err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

/* Add the cells of one token to the lists of its pass. */
static void
gather_token(struct cl_replay *r, const struct cl_trace_block *b, uint32_t t)
{
	const struct cl_trace_column *in;
	struct column *col = r->column;
	uint32_t i, j, key;

	for (i = 0; i < r->ncolumns; i++, col++) {
		in = &b->columns[i];
		for (j = in->first[t]; j < in->first[t + 1]; j++) {
			key = col->base + in->ids[j];
			if (r->stamped[key] != r->stamp) {
				r->stamped[key] = r->stamp;
				col->keys[col->nkeys++] = key;
			}
		}
	}
}

/* Is token t a pass of its own, as far as this block can tell? */
static bool
alone(const struct cl_trace_block *b, uint32_t t)
{

	return (b->tokens[t].begins && t + 1 < b->ntokens &&
	    b->tokens[t + 1].begins);
}

static int
replay_token(struct cl_replay *r, const struct cl_trace_block *b, uint32_t t,
    struct cl_err *err)
{
	const struct cl_trace_token *token = &b->tokens[t];
	bool tokenwise = r->o.prefill == CL_PREFILL_TOKEN;
	int status;

	if (token->padding) {
		r->pass_padding++;
		return (CL_OK);
	}
	r->pass_tokens++;
	if (!token->decode && !r->prefill) {
		r->prefill = true;
		if (tokenwise && (status = serve_lists(r, PREFILL, err)) !=
		    CL_OK)
			return (status);
	}
	if (alone(b, t) || (tokenwise && r->prefill))
		return (serve_token(r, b, t, err));
	gather_token(r, b, t);
	return (CL_OK);
}

int
cl_replay_block(struct cl_replay *r, const struct cl_trace_block *b,
    uint64_t input_wait_ns, struct cl_err *err)
{
	uint32_t t;
	int status;

	r->wait_ns = input_wait_ns;
	for (t = 0; t < b->ntokens; t++) {
		if (b->tokens[t].begins) {
			if ((status = end_pass(r, err)) != CL_OK)
				return (status);
			if (r->done)
				return (CL_OK);
			begin_pass(r);
		}
		if ((status = replay_token(r, b, t, err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

bool
cl_replay_done(const struct cl_replay *r)
{

	return (r->done);
}

int
cl_replay_finish(struct cl_replay *r, const struct cl_stats_end *end,
    uint64_t input_wait_ns, struct cl_err *err)
{
	int status;

	if (!r->done)
		r->wait_ns = input_wait_ns;
	if ((status = end_pass(r, err)) != CL_OK)
		return (status);
	if (r->warming) {			/* nothing was counted */
		cl_tally_reset(r->tally);
		cl_replay_clock(r);
	}
	stop_clock(r);
	if (r->o.device != NULL)
		cl_replay_measure(r);
	if (r->o.window != 0 && r->counted > r->window_from &&
	    (status = end_window(r, err)) != CL_OK)
		return (status);
	status = cl_tally_write_totals(r->tally, r->warming ? 0 : r->digest,
	    r->writer, err);
	if (status != CL_OK)
		return (status);
	return (cl_stats_writer_finish(r->writer, end, err));
}

void
cl_replay_free(struct cl_replay *r)
{
	uint32_t i;

	if (r == NULL)
		return;
	for (i = 0; r->column != NULL && i < r->ncolumns; i++)
		free(r->column[i].keys);
	free(r->column);
	free(r->name);
	free(r->stamped);
	free(r->keys);
	free(r->job);
	free(r->buf);
	cl_cache_free(r->cache);
	cl_tally_free(r->tally);
	free(r);
}
