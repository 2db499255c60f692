/*
 * The options of the synthetic router as values, and as what the head of its
 * trace says of them.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cl/err.h"
#include "cl/model.h"
#include "cl/synth.h"
#include "cl/text.h"

static const char *const mode_names[] = { NULL, "drift", "fixed", "noise" };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

void
cl_synth_defaults(struct cl_synth_options *o)
{

	memset(o, 0, sizeof(*o));
	o->mode = CL_SYNTH_DRIFT;
	o->ntokens = 1024;
	o->seed = 1;
	o->locality = 1;
	o->predict_corr = 0.8;
	o->forecast = true;
}

int
cl_synth_check(const struct cl_synth_options *o, struct cl_err *err)
{

	if (cl_synth_mode_name(o->mode) == NULL)
		return (cl_fail(err, CL_EINVAL, "unknown mode %u of the "
		    "synthetic router", (unsigned)o->mode));
	if (o->ntokens == 0 || o->ntokens > CL_SYNTH_TOKENS_MAX)
		return (cl_fail(err, CL_EINVAL, "%" PRIu64 " synthetic "
		    "tokens; 1 to %u can be made", o->ntokens,
		    CL_SYNTH_TOKENS_MAX));
	if (!(o->locality >= 0 && o->locality <= CL_SYNTH_LOCALITY_MAX))
		return (cl_fail(err, CL_EINVAL, "a locality of %g; 0 to %g "
		    "can be made", o->locality, CL_SYNTH_LOCALITY_MAX));
	if (!(o->predict_corr >= -1 && o->predict_corr <= 1))
		return (cl_fail(err, CL_EINVAL, "a correlation of %g; it is "
		    "-1 to 1", o->predict_corr));
	if (o->shift_len == 0 && o->shift_at != 0)
		return (cl_fail(err, CL_EINVAL, "a shift of no tokens"));
	if (o->shift_len > 0 && o->mode != CL_SYNTH_FIXED)
		return (cl_fail(err, CL_EINVAL, "a shift in mode %s; it needs "
		    "mode fixed", cl_synth_mode_name(o->mode)));
	if (o->shift_len > 0 && o->shift_at >= o->ntokens)
		return (cl_fail(err, CL_EINVAL, "a shift at token %" PRIu64
		    " of %" PRIu64, o->shift_at, o->ntokens));
	return (CL_OK);
}

/* Top k of the gates, with the weights that the model would give. */
static void
make_plain(struct cl_model *m)
{
	struct cl_rule *r;
	uint32_t i;

	for (i = 0; i < m->nlayers; i++) {
		if (m->layers[i].nexperts == 0)
			continue;
		r = &m->layers[i].rule;
		cl_rule_free(r);		/* of its biases */
		r->select = CL_SELECT_PROBS;
		r->ngroup = r->ngroup_used = 1;
		r->assumed &= ~(uint32_t)(CL_RULE_SELECT | CL_RULE_GATE_BIAS |
		    CL_RULE_SEL_BIAS | CL_RULE_GROUPS);
	}
}

static int
put_notes(struct cl_trace_head *h, const struct cl_synth_options *o,
    struct cl_err *err)
{
	char buf[64];
	int status;

	status = cl_trace_head_note(h, "router", "synthetic 1", err);
	if (status == CL_OK)
		status = cl_trace_head_note(h, "mode",
		    cl_synth_mode_name(o->mode), err);
	snprintf(buf, sizeof(buf), "%" PRIu64, o->ntokens);
	if (status == CL_OK)
		status = cl_trace_head_note(h, "tokens", buf, err);
	snprintf(buf, sizeof(buf), "%" PRIu64, o->seed);
	if (status == CL_OK)
		status = cl_trace_head_note(h, "seed", buf, err);
	if (status == CL_OK)
		status = cl_trace_head_note(h, "locality",
		    cl_text_double(buf, o->locality), err);
	if (status == CL_OK)
		status = cl_trace_head_note(h, "predict-corr",
		    cl_text_double(buf, o->predict_corr), err);
	snprintf(buf, sizeof(buf), "%" PRIu64 ":%" PRIu64, o->shift_at,
	    o->shift_len);
	if (status == CL_OK && o->shift_len > 0)
		status = cl_trace_head_note(h, "shift", buf, err);
	return (status);
}

struct cl_trace_head *
cl_synth_head(struct cl_model *m, const struct cl_synth_options *o,
    enum cl_trace_scores scores, struct cl_err *err)
{
	struct cl_trace_head *h;

	if (cl_synth_check(o, err) != CL_OK) {
		cl_model_free(m);
		return (NULL);
	}
	make_plain(m);
	if ((h = cl_trace_head_new(m, err)) == NULL)
		return (NULL);
	h->origin = CL_ORIGIN_SYNTHETIC;
	h->scores = scores;
	h->forecast = o->forecast && scores != CL_SCORES_NONE;
	h->weights = scores == CL_SCORES_NONE;
	if (put_notes(h, o, err) == CL_OK)
		return (h);
	cl_trace_head_free(h);
	return (NULL);
}

const char *
cl_synth_mode_name(enum cl_synth_mode mode)
{

	return ((size_t)mode < COUNT(mode_names) ? mode_names[mode] : NULL);
}

enum cl_synth_mode
cl_synth_mode_by_name(const char *s)
{
	size_t i;

	for (i = 1; i < COUNT(mode_names); i++)
		if (strcmp(mode_names[i], s) == 0)
			return ((enum cl_synth_mode)i);
	return ((enum cl_synth_mode)0);
}
