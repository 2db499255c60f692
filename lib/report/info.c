/*
 * A trace is gathered while it is read and told when it ends, whole or not;
 * the two ways of telling share the gathering.
 */

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/info.h"
#include "cl/json.h"
#include "cl/model.h"
#include "cl/text.h"
#include "cl/trace_read.h"
#include "cl/vec.h"

#define SEQUENCES_SHOWN	20		/* in text; JSON lists them all */
#define TEXT_CAP	1000
#define RUN_TOLD	16		/* no text says the same so often */

struct sequence {
	char		*name;
	uint64_t	 prefill;
	uint64_t	 decode;
};

struct info {
	const char	*input;
	struct cl_dst	*dst;
	struct cl_json	*json;		/* NULL: text, to dst */
	uint64_t	 member;	/* which trace of the input, from 1 */

	const struct cl_trace_head *head;	/* NULL: between traces */
	struct sequence	*seq;
	size_t		 nseq;
	size_t		 cap;
	uint64_t	 tokens;
	uint64_t	 prefill;
	uint64_t	 decode;
	uint64_t	 padding;
	uint64_t	 run;		/* of one token id, up to here */
	uint64_t	 longest_run;
	uint32_t	 last_seq;
	int32_t		 last_token;
	uint64_t	 nan_cells;	/* with a score that is no number */
};

static void
forget(struct info *in)
{
	size_t i;

	for (i = 0; i < in->nseq; i++)
		free(in->seq[i].name);
	free(in->seq);
	in->seq = NULL;
	in->nseq = in->cap = 0;
	in->tokens = in->prefill = in->decode = in->padding = 0;
	in->run = in->longest_run = in->nan_cells = 0;
	in->head = NULL;
}

static int
take_sequence(struct info *in, const struct cl_trace_rec *rec,
    struct cl_err *err)
{
	int status;

	status = cl_vec_grow(&in->seq, &in->cap, in->nseq + 1,
	    sizeof(*in->seq), err);
	if (status != CL_OK)
		return (status);
	in->seq[in->nseq].name = cl_vec_strndup(rec->name, strlen(rec->name),
	    err);
	if (in->seq[in->nseq].name == NULL)
		return (err->code);
	in->nseq++;
	return (CL_OK);
}

/*
 * How often one token id follows itself, without being flagged as padding:
 * what an engine pads a batch with looks like this.
 */
static void
take_run(struct info *in, const struct cl_trace_token *t)
{

	if (in->run > 0 && t->seq == in->last_seq && t->token == in->last_token)
		in->run++;
	else
		in->run = 1;
	in->last_seq = t->seq;
	in->last_token = t->token;
	if (t->token >= 0 && in->run > in->longest_run)
		in->longest_run = in->run;
}

static bool
has_nan(const float *scores, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (isnan(scores[i]))
			return (true);
	return (false);
}

static void
take_scores(struct info *in, const struct cl_trace_column *c, uint32_t ntokens)
{
	uint32_t t;

	for (t = 0; t < ntokens && c->scores != NULL; t++)
		if (c->first[t + 1] > c->first[t])
			in->nan_cells += has_nan(c->scores +
			    (size_t)c->nexperts * c->row[t], c->nexperts);
}

static void
take_block(struct info *in, const struct cl_trace_block *b)
{
	const struct cl_trace_token *t;
	uint32_t i;

	in->tokens += b->ntokens;
	for (i = 0; i < b->ncolumns; i++)
		take_scores(in, &b->columns[i], b->ntokens);
	for (i = 0; i < b->ntokens; i++) {
		t = &b->tokens[i];
		if (t->padding) {
			in->padding++;
			continue;
		}
		take_run(in, t);
		if (t->decode) {
			in->decode++;
			in->seq[t->seq].decode++;
		} else {
			in->prefill++;
			in->seq[t->seq].prefill++;
		}
	}
}

static void
text_model(const struct info *in)
{
	const struct cl_model *m = in->head->model;
	struct cl_model_sums s;
	char name[256], arch[128], size[CL_TEXT_SIZE_MAX];
	char print[20] = "unknown";

	cl_model_sums(m, &s);
	if (m->fingerprint != 0)
		(void)snprintf(print, sizeof(print), "%016llx",
		    (unsigned long long)m->fingerprint);
	cl_dst_printf(in->dst, "  model        %s (%s), fingerprint %s\n",
	    *m->name == '\0' ? "unnamed" :
	    cl_text_vis(name, sizeof(name), m->name, strlen(m->name)),
	    *m->arch == '\0' ? "architecture unknown" :
	    cl_text_vis(arch, sizeof(arch), m->arch, strlen(m->arch)), print);
	cl_dst_printf(in->dst, "  layers       %u, of them %u with experts\n",
	    m->nlayers, s.nmoe);
	cl_dst_printf(in->dst,
	    "  experts      %llu, %s in all; a token uses %llu\n",
	    (unsigned long long)s.experts, s.bytes_known ?
	    cl_text_bytes(size, s.expert_bytes) : "unknown bytes",
	    (unsigned long long)s.demand_experts);
}

static void
text_sequences(const struct info *in)
{
	char name[256];
	size_t i;

	cl_dst_printf(in->dst, "  sequences    %zu\n", in->nseq);
	for (i = 0; i < in->nseq && i < SEQUENCES_SHOWN; i++)
		cl_dst_printf(in->dst, "    %zu: %llu prefill, %llu decode  "
		    "%s\n", i, (unsigned long long)in->seq[i].prefill,
		    (unsigned long long)in->seq[i].decode,
		    cl_text_vis(name, sizeof(name), in->seq[i].name,
		    strlen(in->seq[i].name)));
	if (i < in->nseq)
		cl_dst_printf(in->dst, "    and %zu more\n", in->nseq - i);
}

static void
text_remarks(const struct info *in)
{

	if (in->longest_run >= RUN_TOLD)
		cl_dst_printf(in->dst, "  remark       %llu tokens in a row "
		    "are the same one: padding that is not flagged?\n",
		    (unsigned long long)in->longest_run);
	if (in->nan_cells > 0)
		cl_dst_printf(in->dst, "  remark       %llu cells have scores "
		    "that are no numbers\n",
		    (unsigned long long)in->nan_cells);
}

static void
text_end(const struct info *in, const struct cl_trace_counts *c)
{

	if (c == NULL) {
		cl_dst_printf(in->dst, "  end          INCOMPLETE: there is no "
		    "trailer\n");
		return;
	}
	cl_dst_printf(in->dst, "  passes       %llu\n",
	    (unsigned long long)c->passes);
	cl_dst_printf(in->dst, "  cells        %llu, %llu experts chosen, %llu "
	    "mismatches\n", (unsigned long long)c->cells,
	    (unsigned long long)c->choices,
	    (unsigned long long)c->mismatches);
	cl_dst_printf(in->dst, "  routing      %016llx\n",
	    (unsigned long long)c->routing);
	cl_dst_printf(in->dst, "  end          %s\n",
	    cl_trace_end_name(c->end));
}

static void
text(const struct info *in, const struct cl_trace_counts *c)
{
	const struct cl_trace_head *h = in->head;
	char notes[TEXT_CAP], vis[TEXT_CAP], name[256];

	(void)cl_trace_head_text(h, notes, sizeof(notes));
	cl_dst_printf(in->dst, "%s: trace %llu\n", cl_text_vis(name,
	    sizeof(name), in->input, strlen(in->input)),
	    (unsigned long long)in->member);
	cl_dst_printf(in->dst, "  origin       %s %s\n",
	    cl_trace_origin_name(h->origin),
	    cl_text_vis(vis, sizeof(vis), notes, strlen(notes)));
	text_model(in);
	cl_dst_printf(in->dst, "  holds        %s%s%s\n",
	    cl_trace_scores_name(h->scores), h->tokens ? ", token ids" : "",
	    h->forecast ? ", forecasts" : "");
	cl_dst_printf(in->dst, "  tokens       %llu: %llu prefill, %llu "
	    "decode, %llu padding\n", (unsigned long long)in->tokens,
	    (unsigned long long)in->prefill, (unsigned long long)in->decode,
	    (unsigned long long)in->padding);
	text_sequences(in);
	text_remarks(in);
	text_end(in, c);
}

static void
json_head(const struct info *in)
{
	const struct cl_trace_head *h = in->head;
	struct cl_model_sums s;
	struct cl_json *j = in->json;
	uint32_t i;

	cl_model_sums(h->model, &s);
	cl_json_str(j, "input", in->input);
	cl_json_u64(j, "member", in->member);
	cl_json_str(j, "origin", cl_trace_origin_name(h->origin));
	cl_json_object(j, "notes");
	for (i = 0; i < h->nnotes; i++)
		cl_json_str(j, h->notes[i].key, h->notes[i].value);
	cl_json_end(j);
	cl_json_str(j, "model", h->model->name);
	cl_json_str(j, "architecture", h->model->arch);
	if (h->model->fingerprint != 0)
		cl_json_hex64(j, "model_fingerprint", h->model->fingerprint);
	else
		cl_json_null(j, "model_fingerprint");
	cl_json_u64(j, "layers", h->model->nlayers);
	cl_json_u64(j, "moe_layers", s.nmoe);
	cl_json_u64(j, "experts", s.experts);
	if (s.bytes_known)
		cl_json_u64(j, "expert_bytes", s.expert_bytes);
	else
		cl_json_null(j, "expert_bytes");
	cl_json_u64(j, "token_demand_experts", s.demand_experts);
	cl_json_str(j, "scores", cl_trace_scores_name(h->scores));
	cl_json_bool(j, "token_ids", h->tokens);
	cl_json_bool(j, "forecasts", h->forecast);
}

static void
json_end(const struct info *in, const struct cl_trace_counts *c)
{
	static const char *const unknown[] = { "passes", "cells", "choices",
	    "mismatches", "routing_fingerprint" };
	struct cl_json *j = in->json;
	size_t i;

	if (c == NULL) {
		for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
			cl_json_null(j, unknown[i]);
		cl_json_str(j, "end", cl_trace_end_name(CL_END_INCOMPLETE));
		return;
	}
	cl_json_u64(j, "passes", c->passes);
	cl_json_u64(j, "cells", c->cells);
	cl_json_u64(j, "choices", c->choices);
	cl_json_u64(j, "mismatches", c->mismatches);
	cl_json_hex64(j, "routing_fingerprint", c->routing);
	cl_json_str(j, "end", cl_trace_end_name(c->end));
}

static void
json(const struct info *in, const struct cl_trace_counts *c)
{
	struct cl_json *j = in->json;
	size_t i;

	cl_json_object(j, NULL);
	json_head(in);
	cl_json_u64(j, "tokens", in->tokens);
	cl_json_u64(j, "prefill", in->prefill);
	cl_json_u64(j, "decode", in->decode);
	cl_json_u64(j, "padding", in->padding);
	if (in->head->tokens)
		cl_json_u64(j, "longest_run", in->longest_run);
	else
		cl_json_null(j, "longest_run");
	cl_json_u64(j, "nan_cells", in->nan_cells);
	cl_json_array(j, "sequences");
	for (i = 0; i < in->nseq; i++) {
		cl_json_object_row(j, NULL);
		cl_json_str(j, "name", in->seq[i].name);
		cl_json_u64(j, "prefill", in->seq[i].prefill);
		cl_json_u64(j, "decode", in->seq[i].decode);
		cl_json_end(j);
	}
	cl_json_end(j);
	json_end(in, c);
	cl_json_end(j);
}

/* The trace at hand is over; c is its trailer, or NULL. */
static void
tell(struct info *in, const struct cl_trace_counts *c)
{

	if (in->head == NULL)
		return;
	if (in->json != NULL)
		json(in, c);
	else
		text(in, c);
	forget(in);
}

static int
take(struct info *in, const struct cl_trace_rec *rec, struct cl_err *err)
{

	switch (rec->kind) {
	case CL_TRACE_HEAD:
		in->member++;
		in->head = rec->head;
		break;
	case CL_TRACE_SEQ:
		return (take_sequence(in, rec, err));
	case CL_TRACE_BLOCK:
		take_block(in, rec->block);
		break;
	case CL_TRACE_TRAILER:
		tell(in, rec->counts);
		break;
	}
	return (CL_OK);
}

static int
gather(struct info *in, struct cl_trace_reader *reader, struct cl_err *err)
{
	const struct cl_trace_rec *rec;
	int status;

	do {
		if ((status = cl_trace_read(reader, &rec, err)) == CL_OK)
			status = take(in, rec, err);
	} while (status == CL_OK);
	tell(in, NULL);
	return (status == CL_END ? CL_OK : status);
}

int
cl_info_text(struct cl_trace_reader *reader, const char *name,
    struct cl_dst *dst, struct cl_err *err)
{
	struct info in = { .input = name, .dst = dst };

	return (gather(&in, reader, err));
}

int
cl_info_json(struct cl_trace_reader *reader, const char *name,
    struct cl_json *j, struct cl_err *err)
{
	struct info in = { .input = name, .json = j };

	return (gather(&in, reader, err));
}
