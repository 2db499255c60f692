/*
 * Passes out of blocks, events out of passes.
 *
 * Most passes have one token, and its cells become events where they stand.
 * Those of several tokens are gathered: each column's list of distinct experts
 * by first appearance, bounded by the number of experts however long a pass
 * is.  A pass may go on in the next block, so that it ends only where the
 * next one begins, or with the trace.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "events_int.h"

struct cl_events {
	/* fixed at open */
	const struct cl_keys *keys;
	enum cl_prefill	 mode;
	struct cl_events_sink sink;

	/* the pass at hand */
	bool		 open;		/* there is one */
	bool		 begun;		/* a part of it has gone out */
	bool		 prefill;	/* it has a prompt token */
	uint64_t	 ntokens;	/* gathered, and padding */
	uint64_t	 npadding;
	uint32_t	 stamp;		/* its number, > 0 */
	uint32_t	*stamped;	/* of each key: pass that listed it */
	uint32_t	*list;		/* of each column, at its base */
	struct cl_event	*event;
	struct cells	 cells;

	uint64_t	 tokens;	/* handed on, but for skipped ones */
};

struct cl_events *
cl_events_new(const struct cl_keys *keys, enum cl_prefill mode,
    enum cl_events_cells cells, const struct cl_events_sink *sink,
    struct cl_err *err)
{
	struct cl_events *e;

	if ((e = calloc(1, sizeof(*e))) == NULL)
		goto nomem;
	e->keys = keys;
	e->mode = mode;
	e->sink = *sink;
	e->stamped = calloc(keys->nkeys, sizeof(*e->stamped));
	e->list = calloc(keys->nkeys, sizeof(*e->list));
	e->event = calloc(keys->ncolumns, sizeof(*e->event));
	if (e->stamped == NULL || e->list == NULL || e->event == NULL)
		goto nomem;
	if (cl_events_cells_open(&e->cells, cells, keys->ncolumns, err) ==
	    CL_OK)
		return (e);
	cl_events_free(e);
	return (NULL);

nomem:
	cl_fail_nomem(err, "the events of a pass");
	cl_events_free(e);
	return (NULL);
}

/* A part of the pass goes out. */
static int
send(struct cl_events *e, struct cl_pass *pass, bool ends, struct cl_err *err)
{

	pass->begins = !e->begun;
	pass->ends = ends;
	pass->prefill = e->prefill;
	pass->skipped = e->prefill && e->mode == CL_PREFILL_SKIP;
	pass->npadding = e->npadding;
	pass->event = e->event;
	if (!pass->skipped)
		e->tokens += pass->ntokens;
	e->begun = true;
	e->npadding = 0;
	return (e->sink.pass(e->sink.arg, pass, err));
}

/* What was gathered goes out. */
static int
send_lists(struct cl_events *e, bool ends, struct cl_err *err)
{
	struct cl_pass pass = { .ntokens = e->ntokens };
	uint32_t c;
	int status;

	if ((status = cl_events_cells_take(&e->cells, &pass, err)) != CL_OK)
		return (status);
	status = send(e, &pass, ends, err);
	e->ntokens = 0;
	for (c = 0; c < e->keys->ncolumns; c++)
		e->event[c].n = 0;
	return (status);
}

/* One token's cells go out as they stand, as a part of their own. */
static int
send_token(struct cl_events *e, const struct cl_trace_block *b, uint32_t t,
    bool ends, struct cl_err *err)
{
	const struct cl_keys_column *col = e->keys->column;
	const struct cl_trace_column *in = b->columns;
	struct cl_pass pass = { .ntokens = 1 };
	uint32_t *to = e->list, c, j, n, base;
	const uint16_t *ids;
	int status;

	for (c = 0; c < e->keys->ncolumns; c++, col++, in++, to += n) {
		ids = in->ids + in->first[t];
		n = in->first[t + 1] - in->first[t];
		base = col->base;
		for (j = 0; j < n; j++)
			to[j] = base + ids[j];
		e->event[c].keys = to;
		e->event[c].n = n;
	}
	cl_events_cells_view(&e->cells, b, t, &pass);
	status = send(e, &pass, ends, err);
	for (c = 0; c < e->keys->ncolumns; c++)
		e->event[c].n = 0;
	return (status);
}

/* Add the cells of one token to the lists of its pass. */
static int
gather(struct cl_events *e, const struct cl_trace_block *b, uint32_t t,
    struct cl_err *err)
{
	const struct cl_keys_column *col = e->keys->column;
	const struct cl_trace_column *in = b->columns;
	struct cl_event *event = e->event;
	uint32_t c, j, key;

	for (c = 0; c < e->keys->ncolumns; c++, col++, in++, event++) {
		event->keys = e->list + col->base;
		for (j = in->first[t]; j < in->first[t + 1]; j++) {
			key = col->base + in->ids[j];
			if (e->stamped[key] != e->stamp) {
				e->stamped[key] = e->stamp;
				e->list[col->base + event->n++] = key;
			}
		}
	}
	e->ntokens++;
	return (cl_events_cells_add(&e->cells, b, t, err));
}

static void
begin_pass(struct cl_events *e)
{

	if (++e->stamp == 0) {			/* 2^32 passes: start anew */
		memset(e->stamped, 0, e->keys->nkeys * sizeof(*e->stamped));
		e->stamp = 1;
	}
	e->open = true;
	e->begun = false;
	e->prefill = false;
}

int
cl_events_finish(struct cl_events *e, struct cl_err *err)
{

	if (!e->open)
		return (CL_OK);
	e->open = false;
	return (send_lists(e, true, err));
}

/* Is token t a pass of its own, as far as this block can tell? */
static bool
alone(const struct cl_trace_block *b, uint32_t t)
{

	return (b->tokens[t].begins && t + 1 < b->ntokens &&
	    b->tokens[t + 1].begins);
}

static int
take_token(struct cl_events *e, const struct cl_trace_block *b, uint32_t t,
    struct cl_err *err)
{
	const struct cl_trace_token *token = &b->tokens[t];
	bool tokenwise = e->mode == CL_PREFILL_TOKEN;
	int status;

	if (token->padding) {
		e->npadding++;
		return (CL_OK);
	}
	if (!token->decode && !e->prefill) {
		e->prefill = true;
		if (tokenwise && e->ntokens > 0 &&
		    (status = send_lists(e, false, err)) != CL_OK)
			return (status);
	}
	if (alone(b, t)) {
		e->open = false;
		return (send_token(e, b, t, true, err));
	}
	if (tokenwise && e->prefill)
		return (send_token(e, b, t, false, err));
	return (gather(e, b, t, err));
}

int
cl_events_block(struct cl_events *e, const struct cl_trace_block *b,
    struct cl_err *err)
{
	uint32_t t;
	int status;

	for (t = 0; t < b->ntokens; t++) {
		if (b->tokens[t].begins) {
			if ((status = cl_events_finish(e, err)) != CL_OK)
				return (status);
			begin_pass(e);
		}
		if ((status = take_token(e, b, t, err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

uint64_t
cl_events_tokens(const struct cl_events *e)
{

	return (e->tokens);
}

void
cl_events_free(struct cl_events *e)
{

	if (e == NULL)
		return;
	cl_events_cells_close(&e->cells);
	free(e->stamped);
	free(e->list);
	free(e->event);
	free(e);
}
