/*
 * One loop over passes between a tap and a trace writer.  Each sequence of the
 * tap is a line.  Prompts queue for the lines; those that have got one are
 * prefilled together, then all lines go on by a token a pass, until one ends
 * and is free for the next prompt.  So a pass is of prefill or of decode, and
 * with one line it is one prompt after another.  The engine may run what it
 * is given as several graphs; each is a pass of the trace.
 *
 * The writer is made when the first pass has shown the rules, so that a
 * trace's head never states a rule that was only assumed.  Choosing the next
 * token uses no libm and breaks ties by the lower id: it is the same on every
 * machine, given the same outputs.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/elem.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/record.h"
#include "cl/rng.h"
#include "cl/tap.h"
#include "cl/trace.h"
#include "cl/trace_write.h"

struct prompt {
	int32_t		*tokens;
	size_t		 n;
};

/* A sequence of the tap, and the prompt that has it. */
struct line {
	bool		 live;
	uint32_t	 prompt;
	uint32_t	 pos;		/* tokens evaluated */
	uint32_t	 ngenerated;	/* of them */
	int32_t		 next;		/* behind the prompt: what is to come */
	uint64_t	 rng;
	uint32_t	 seq;		/* of the trace */
	uint32_t	 row;		/* its last of the pass, or NO_ROW */
};

#define NO_ROW	UINT32_MAX

struct recording {
	const struct cl_record_options *o;
	struct cl_tap	*tap;
	struct cl_trace_head *head;
	struct cl_dst	*dst;
	struct cl_trace_writer *writer;	/* NULL before the first pass */
	struct prompt	*prompts;
	uint32_t	 queued;	/* prompts without a line: the first */
	struct line	*lines;
	uint32_t	 nlines;
	uint64_t	 done;
	uint64_t	 total;
	struct cl_tap_token *batch;	/* a pass */
	double		*chances;	/* of each token, to draw from */
};

static bool
stopped(const struct recording *r)
{

	return (r->o->stop != NULL &&
	    atomic_load_explicit(r->o->stop, memory_order_relaxed));
}

/* A tap that has no context yet gets one of as many positions as needed. */
static int
fit_context(struct recording *r, uint64_t need, struct cl_err *err)
{

	need *= cl_tap_nseq(r->tap);
	if (cl_tap_nctx(r->tap) != 0)
		return (CL_OK);
	return (cl_tap_context(r->tap, need > UINT32_MAX ? UINT32_MAX :
	    (uint32_t)need, err));
}

static int
tokenize_one(struct recording *r, uint32_t i, struct cl_err *err)
{
	const struct cl_record_prompt *p = &r->o->prompts[i];
	const char *text = p->text;
	size_t nbytes = p->nbytes;
	char *chat = NULL;
	int status;

	if (r->o->chat) {
		if ((status = cl_tap_chat(r->tap, p->text, p->nbytes, &chat,
		    &nbytes, err)) != CL_OK)
			return (status);
		text = chat;
	}
	status = cl_tap_tokenize(r->tap, text, nbytes, r->o->chat,
	    &r->prompts[i].tokens, &r->prompts[i].n, err);
	free(chat);
	return (status);
}

/* The tokens of all prompts; each must fit the context with what follows. */
static int
tokenize(struct recording *r, struct cl_err *err)
{
	const struct cl_record_prompt *p;
	uint32_t i, room = cl_tap_nctx(r->tap) / cl_tap_nseq(r->tap);
	uint64_t need, most = 0;
	int status;

	for (i = 0; i < r->o->nprompts; i++) {
		p = &r->o->prompts[i];
		if ((status = tokenize_one(r, i, err)) != CL_OK)
			return (status);
		if (r->prompts[i].n == 0)
			return (cl_fail(err, CL_EINVAL, "prompt %s has no "
			    "tokens", p->name));
		need = (uint64_t)r->prompts[i].n + r->o->ngenerate;
		if (need > room && room != 0)
			return (cl_fail(err, CL_EINVAL, "prompt %s: %zu "
			    "tokens and %u to generate need a context of "
			    "%llu, which has %u%s", p->name, r->prompts[i].n,
			    r->o->ngenerate, (unsigned long long)need, room,
			    cl_tap_nseq(r->tap) == 1 ? "" :
			    " for each sequence"));
		r->total += need;
		if (need > most)
			most = need;
	}
	return (fit_context(r, most, err));
}

static int
make_room(struct recording *r, struct cl_err *err)
{

	if (r->nlines > cl_tap_nubatch(r->tap))
		return (cl_fail(err, CL_EINVAL, "%u sequences have no room "
		    "in a pass of %u tokens", r->nlines,
		    cl_tap_nubatch(r->tap)));
	r->prompts = calloc(r->o->nprompts, sizeof(*r->prompts));
	r->lines = calloc(r->nlines, sizeof(*r->lines));
	r->batch = calloc(cl_tap_nubatch(r->tap), sizeof(*r->batch));
	r->chances = calloc(cl_tap_nvocab(r->tap), sizeof(*r->chances));
	if (r->prompts == NULL || r->lines == NULL || r->batch == NULL ||
	    r->chances == NULL)
		return (cl_fail_nomem(err, "a recording"));
	return (CL_OK);
}

/* A layer of the file becomes what the graph made of it. */
static int
take_rule(struct cl_layer *l, const struct cl_tap_layer *seen,
    const struct cl_rule *rule, struct cl_err *err)
{
	struct cl_rule copy;
	int status;

	if (l->nexperts != seen->nexperts)
		return (cl_fail(err, CL_ENOTSUP, "layer %u has %u experts in "
		    "the file, and %u where it runs", seen->layer,
		    l->nexperts, seen->nexperts));
	if ((status = cl_rule_copy(&copy, rule, err)) != CL_OK)
		return (status);
	cl_rule_free(&l->rule);
	l->rule = copy;
	l->k = rule->k;
	l->extra = false;
	return (CL_OK);
}

/* Complete the head from the first pass, and begin the trace. */
static int
begin_trace(struct recording *r, struct cl_err *err)
{
	struct cl_model *m = r->head->model;
	const struct cl_tap_layer *seen;
	uint32_t i;
	int status;

	for (i = 0; i < m->nlayers; i++)
		m->layers[i].extra |= m->layers[i].nexperts > 0;
	for (i = 0; i < cl_tap_nlayers(r->tap); i++) {
		seen = cl_tap_layer(r->tap, i);
		if (seen->layer >= m->nlayers)
			return (cl_fail(err, CL_ENOTSUP, "layer %u runs, and "
			    "the file has %u layers", seen->layer,
			    m->nlayers));
		if ((status = take_rule(&m->layers[seen->layer], seen,
		    cl_tap_rule(r->tap, i), err)) != CL_OK)
			return (status);
	}
	if ((status = cl_model_check(m, err)) != CL_OK ||
	    (status = cl_trace_head_note(r->head, "engine",
	    cl_tap_engine(r->tap), err)) != CL_OK)
		return (status);
	r->writer = cl_trace_writer_new(r->dst, r->head, err);
	return (r->writer == NULL ? err->code : CL_OK);
}

/* Row `row` of the last pass, as the next token of the trace. */
static int
write_row(struct recording *r, uint32_t row, bool begins, bool decode,
    struct cl_err *err)
{
	const struct cl_tap_layer *l;
	struct cl_trace_cell cell = { 0 };
	struct cl_trace_token t = {
		.token = r->batch[row].token,
		.pos = r->batch[row].pos,
		.seq = r->lines[r->batch[row].seq].seq,
		.begins = begins,
		.decode = decode,
	};
	uint32_t i;
	int status;

	status = cl_trace_write_token(r->writer, &t, err);
	for (i = 0; i < cl_tap_nlayers(r->tap) && status == CL_OK; i++) {
		l = cl_tap_layer(r->tap, i);
		cell.scores = l->scores + (size_t)row * l->nexperts;
		cell.ids = l->ids + (size_t)row * l->k;
		cell.n = l->k;
		status = cl_trace_write_cell(r->writer, i, &cell, err);
	}
	return (status);
}

/* What the tap captured of the n tokens in r->batch, a pass for each graph. */
static int
write_passes(struct recording *r, uint32_t n, bool decode,
    struct cl_err *err)
{
	uint32_t graph, row, written = 0;
	bool begins;
	int status;

	for (graph = 0; written < n; graph++) {
		begins = true;
		for (row = 0; row < n; row++) {
			if (cl_tap_graph(r->tap, row) != graph)
				continue;
			if ((status = write_row(r, row, begins, decode,
			    err)) != CL_OK)
				return (status);
			begins = false;
			written++;
		}
	}
	return (CL_OK);
}

/* Announce the sequences that begin in r->batch. */
static int
write_names(struct recording *r, uint32_t n, struct cl_err *err)
{
	struct line *line;
	uint32_t i;
	int status;

	for (i = 0; i < n; i++) {
		if (r->batch[i].pos != 0)
			continue;
		line = &r->lines[r->batch[i].seq];
		if ((status = cl_trace_write_seq(r->writer,
		    r->o->prompts[line->prompt].name, &line->seq, err)) !=
		    CL_OK)
			return (status);
	}
	return (CL_OK);
}

/* Evaluate the n tokens in r->batch, and write them; CL_END when stopped. */
static int
pass(struct recording *r, uint32_t n, bool decode, struct cl_err *err)
{
	struct line *line;
	uint32_t i;
	int status;

	if (stopped(r))
		return (CL_END);
	if ((status = cl_tap_decode(r->tap, r->batch, n, err)) != CL_OK)
		return (status);
	if (r->writer == NULL && (status = begin_trace(r, err)) != CL_OK)
		return (status);
	if ((status = write_names(r, n, err)) != CL_OK ||
	    (status = write_passes(r, n, decode, err)) != CL_OK)
		return (status);
	for (i = 0; i < r->nlines; i++)
		r->lines[i].row = NO_ROW;
	for (i = 0; i < n; i++) {
		line = &r->lines[r->batch[i].seq];
		line->pos++;
		line->ngenerated += decode;
		line->row = i;
	}
	r->done += n;
	if (r->o->progress != NULL)
		r->o->progress(r->o->progress_arg, r->done, r->total);
	return (CL_OK);
}

/* The likeliest token, the lowest of equals; n where there is none. */
static uint32_t
likeliest(const float *out, uint32_t n)
{
	uint32_t i, best = n;

	for (i = 0; i < n; i++)
		if (!isnan(out[i]) && (best == n || out[i] > out[best]))
			best = i;
	return (best);
}

/* A token by its chance at the temperature; best is the likeliest. */
static uint32_t
draw(struct recording *r, uint64_t *rng, const float *out, uint32_t n,
    uint32_t best)
{
	double sum = 0, x;
	uint32_t i;

	for (i = 0; i < n; i++)
		r->chances[i] = isnan(out[i]) ? -CL_ELEM_EXP_MAX :
		    ((double)out[i] - (double)out[best]) / r->o->temp;
	cl_elem_exp(r->chances, n);
	for (i = 0; i < n; i++)
		sum += r->chances[i];
	x = cl_rng_unit(rng) * sum;
	for (i = 0; i < n; i++)
		if ((x -= r->chances[i]) < 0)
			return (i);
	return (best);			/* the sum was rounded up */
}

/* The token that follows the last of a line. */
static int
next_token(struct recording *r, struct line *line, struct cl_err *err)
{
	uint32_t n = cl_tap_nvocab(r->tap), best;
	const float *out;

	if ((out = cl_tap_output(r->tap, line->row, err)) == NULL)
		return (err->code);
	best = likeliest(out, n);
	if (best == n || !isfinite(out[best]))
		return (cl_fail(err, CL_EIO, "%s gives no likeliest token",
		    cl_tap_engine(r->tap)));
	if (r->o->temp > 0)
		best = draw(r, &line->rng, out, n, best);
	line->next = (int32_t)best;
	return (CL_OK);
}

/* Give free lines to the prompts that wait, each with draws of its own. */
static void
admit(struct recording *r)
{
	uint32_t i;

	for (i = 0; i < r->nlines && r->queued < r->o->nprompts; i++) {
		if (r->lines[i].live)
			continue;
		r->lines[i] = (struct line){ .live = true,
		    .prompt = r->queued,
		    .rng = cl_rng_mix(cl_rng_mix(r->o->seed) + r->queued) };
		r->queued++;
	}
}

static void
put(struct recording *r, uint32_t *n, uint32_t i, int32_t token, uint32_t pos)
{

	r->batch[*n].token = token;
	r->batch[*n].pos = pos;
	r->batch[*n].seq = i;
	++*n;
}

/* As much of the prompts as a pass takes; 0 when none has anything left. */
static uint32_t
fill_prefill(struct recording *r)
{
	const struct prompt *p;
	uint32_t i, n = 0, pos;

	for (i = 0; i < r->nlines; i++) {
		if (!r->lines[i].live)
			continue;
		p = &r->prompts[r->lines[i].prompt];
		for (pos = r->lines[i].pos; pos < p->n &&
		    n < cl_tap_nubatch(r->tap); pos++)
			put(r, &n, i, p->tokens[pos], pos);
	}
	return (n);
}

/* A token of each line; 0 when all prompts are through. */
static uint32_t
fill_decode(struct recording *r)
{
	const struct line *line;
	uint32_t i, n = 0;

	for (i = 0; i < r->nlines; i++) {
		line = &r->lines[i];
		if (line->live)
			put(r, &n, i, line->next, line->pos);
	}
	return (n);
}

/* Behind a pass: a line whose prompt is through goes on, or ends. */
static int
go_on(struct recording *r, struct line *line, struct cl_err *err)
{
	int status;

	if (line->row == NO_ROW || line->pos < r->prompts[line->prompt].n)
		return (CL_OK);
	if (line->ngenerated < r->o->ngenerate) {
		if ((status = next_token(r, line, err)) != CL_OK)
			return (status);
		if (r->o->ignore_eos || !cl_tap_is_end(r->tap, line->next))
			return (CL_OK);
	}
	line->live = false;
	cl_tap_forget(r->tap, (uint32_t)(line - r->lines));
	return (CL_OK);
}

/* End the trace as status tells: done, stopped, or failed. */
static int
end_trace(struct recording *r, int status, struct cl_err *err)
{
	struct cl_err second = { 0 };

	if (r->writer == NULL)
		return (status != CL_END ? status : cl_fail(err, CL_EIO,
		    "interrupted before anything was recorded"));
	if (status < 0) {
		(void)cl_trace_writer_finish(r->writer, CL_END_INCOMPLETE,
		    &second);
		return (status);
	}
	return (cl_trace_writer_finish(r->writer, status == CL_END ?
	    CL_END_INTERRUPTED : CL_END_COMPLETE, err));
}

static int
record_all(struct recording *r, struct cl_err *err)
{
	uint32_t i, n;
	bool decode;
	int status;

	for (;;) {
		admit(r);
		n = fill_prefill(r);
		decode = n == 0;
		if (decode && (n = fill_decode(r)) == 0)
			return (CL_OK);
		if ((status = pass(r, n, decode, err)) != CL_OK)
			return (status);
		for (i = 0; i < r->nlines; i++)
			if ((status = go_on(r, &r->lines[i], err)) != CL_OK)
				return (status);
	}
}

int
cl_record_run(struct cl_tap *tap, struct cl_trace_head *head,
    struct cl_dst *dst, const struct cl_record_options *o,
    struct cl_trace_counts *counts, struct cl_err *err)
{
	struct recording r = { .o = o, .tap = tap, .head = head, .dst = dst,
	    .nlines = cl_tap_nseq(tap) };
	struct cl_err local = { 0 };
	uint32_t i;
	int status;

	memset(counts, 0, sizeof(*counts));
	if (err == NULL)
		err = &local;
	if ((status = make_room(&r, err)) != CL_OK ||
	    (status = tokenize(&r, err)) != CL_OK)
		goto out;
	status = record_all(&r, err);
	status = end_trace(&r, status, err);
	if (r.writer != NULL)
		*counts = *cl_trace_writer_counts(r.writer);
out:
	for (i = 0; r.prompts != NULL && i < o->nprompts; i++)
		free(r.prompts[i].tokens);
	free(r.prompts);
	free(r.lines);
	free(r.batch);
	free(r.chances);
	cl_trace_writer_free(r.writer);
	return (status);
}
