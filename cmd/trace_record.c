/*
 * cl-trace's main work: run a model, and record its router.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/record.h"
#include "cl/tap.h"
#include "cl/text.h"
#include "cl/trace.h"
#include "fe.h"
#include "trace.h"

/* Not more sequences than there are prompts: each takes memory. */
static uint32_t
nsequences(const struct trace_options *o)
{

	return (o->nprompts < o->nparallel ? (uint32_t)o->nprompts :
	    o->nparallel);
}

/* libllama takes a split model by its first shard, whichever was given. */
struct cl_tap *
trace_record_tap(const struct trace_options *o, const struct cl_model *m,
    struct cl_err *err)
{
	char beside[4200];
	const char *env = getenv("CL_LLAMA"), *places[4];
	struct cl_tap_options t = {
		.places = places,
		.nctx = o->nctx,
		.nbatch = o->nubatch,
		.nubatch = o->nubatch,
		.nseq = nsequences(o),
		.nthreads = o->nthreads,
		.capture = true,
		.has_gpu_layers = o->has_gpu_layers,
		.gpu_layers = o->gpu_layers,
		.no_repack = o->no_repack,
		.no_flash_attn = o->no_flash_attn,
	};
	unsigned n = 0;

	if (env != NULL && *env == '\0')
		env = NULL;
	t.must = o->llama != NULL ? o->llama : env;
	(void)snprintf(beside, sizeof(beside), "%s/deps", fe_home());
	if (t.must != NULL)
		places[n++] = t.must;
	places[n++] = beside;
	places[n] = NULL;
	return (cl_tap_open(&t, m->shards[0].path, err));
}

static void
note(struct cl_trace_head *h, const char *key, uint64_t v, struct cl_err *err)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	(void)cl_trace_head_note(h, key, text, err);
}

/* What the recording will hold, and the options that shape it. */
struct cl_trace_head *
trace_record_head(const struct trace_options *o, struct cl_err *err)
{
	struct cl_trace_head *h;
	struct cl_model *m;
	char temperature[32];

	if ((m = cl_model_open(o->operand[0], err)) == NULL ||
	    (h = cl_trace_head_new(m, err)) == NULL)
		return (NULL);
	h->origin = CL_ORIGIN_RECORDED;
	h->scores = o->scores;
	h->tokens = !o->no_tokens;
	h->weights = o->scores == CL_SCORES_NONE;
	h->block_tokens = CL_TRACE_BLOCK_LIVE;
	if (o->builtin)
		(void)cl_trace_head_note(h, "prompt", "built-in", err);
	else
		note(h, "prompts", o->nprompts, err);
	if (o->chat)
		(void)cl_trace_head_note(h, "chat", "yes", err);
	note(h, "generate", o->ngenerate, err);
	if (o->ignore_eos)
		(void)cl_trace_head_note(h, "ignore_eos", "yes", err);
	if (o->temperature > 0) {
		(void)cl_trace_head_note(h, "temp",
		    cl_text_double(temperature, o->temperature), err);
		note(h, "seed", o->seed, err);
	}
	note(h, "ubatch", o->nubatch, err);
	note(h, "threads", o->nthreads, err);
	if (nsequences(o) > 1)
		note(h, "parallel", nsequences(o), err);
	if (o->has_gpu_layers)
		note(h, "gpu_layers", o->gpu_layers, err);
	if (o->no_repack)
		(void)cl_trace_head_note(h, "repack", "no", err);
	if (o->no_flash_attn)
		(void)cl_trace_head_note(h, "flash_attn", "no", err);
	if (err->code == CL_OK)
		return (h);
	cl_trace_head_free(h);
	return (NULL);
}

int
trace_record_same(const struct cl_trace_head *old,
    const struct cl_trace_head *now, const char *engine, struct cl_err *err)
{
	const char *key, *value, *was;
	uint32_t i;

	if (old->model->fingerprint != now->model->fingerprint)
		return (cl_fail(err, CL_EINVAL, "recorded from another "
		    "model"));
	if (old->scores != now->scores || old->tokens != now->tokens)
		return (cl_fail(err, CL_EINVAL, "recorded with other scores "
		    "or token ids"));
	for (i = 0; i < old->nnotes; i++) {
		key = old->notes[i].key;
		was = old->notes[i].value;
		value = strcmp(key, "engine") == 0 ? engine :
		    cl_trace_head_find(now, key);
		if (value == NULL || strcmp(value, was) != 0)
			return (cl_fail(err, CL_EINVAL, "recorded with %s=%s, "
			    "which is %s now", key, was,
			    value == NULL ? "not given" : value));
	}
	if (old->nnotes != now->nnotes + 1)	/* engine comes last */
		return (cl_fail(err, CL_EINVAL, "recorded without an option "
		    "that is given now"));
	return (CL_OK);
}

static void
progress(void *arg, uint64_t done, uint64_t total)
{

	(void)arg;
	fe_progress(done, total, "tokens");
}

int
trace_record_run(const struct trace_options *o, const char *member,
    struct cl_tap *tap, struct cl_trace_head *head, struct cl_dst *out,
    struct cl_err *err)
{
	struct cl_trace_counts c;
	struct cl_record_prompt *p;
	struct cl_record_options r = {
		.nprompts = (uint32_t)o->nprompts,
		.chat = o->chat,
		.ngenerate = o->ngenerate,
		.ignore_eos = o->ignore_eos,
		.temp = o->temperature,
		.seed = o->seed,
		.progress = progress,
		.stop = fe_stop(),
	};
	size_t i;
	int status;

	if ((p = calloc(o->nprompts, sizeof(*p))) == NULL)
		return (cl_fail_nomem(err, "the prompts"));
	for (i = 0; i < o->nprompts; i++)
		p[i] = (struct cl_record_prompt){ o->prompt[i].name,
		    o->prompt[i].text, o->prompt[i].nbytes };
	r.prompts = p;
	status = cl_record_run(tap, head, out, &r, &c, err);
	free(p);
	if (status != CL_OK)
		return (status);
	fe_warn("%s%s%llu tokens in %llu passes, %llu cells, %llu "
	    "mismatches%s", member, *member == '\0' ? "" : ": ",
	    (unsigned long long)c.tokens, (unsigned long long)c.passes,
	    (unsigned long long)c.cells, (unsigned long long)c.mismatches,
	    c.end == CL_END_INTERRUPTED ? "; interrupted" : "");
	return (c.end == CL_END_COMPLETE ? CL_OK : CL_END);
}

int
trace_record(const struct trace_options *o)
{
	struct cl_err err = { 0 };
	struct cl_trace_head *head;
	struct cl_tap *tap;
	struct cl_dst *out;
	int status;

	if ((head = trace_record_head(o, &err)) == NULL)
		fe_die(&err);
	out = fe_output(o->output, o->replace, true);
	if ((tap = trace_record_tap(o, head->model, &err)) == NULL)
		fe_die(&err);
	status = trace_record_run(o, "", tap, head, out, &err);
	cl_tap_close(tap);
	cl_trace_head_free(head);
	if (status == CL_OK || status == CL_END)
		return (fe_finish(out, status == CL_OK ? FE_DONE :
		    FE_TROUBLE));
	fe_warn("%s", err.msg);
	return (fe_abandon(out));
}
