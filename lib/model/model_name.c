/*
 * What a tensor is, by its name.  Names are llama.cpp's (src/llama-arch.cpp):
 * blk.N.PART.SUFFIX for what belongs to layer N; conversions of 2023 made a
 * tensor of each expert, blk.N.PART.E.SUFFIX.  What is not listed here is
 * dense: attention, norms, shared experts (ffn_*_shexp), embeddings, and
 * whatever comes next year.
 */

#include <string.h>

#include "model_int.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define DIGITS_MAX	9		/* layers, experts: they fit 32 bits */

static const struct {
	const char	*part;
	enum model_role	 role;
	enum cl_slab_kind kind;
} parts[] = {
	{ "ffn_gate_exps", MODEL_EXPERTS, CL_SLAB_GATE },
	{ "ffn_up_exps", MODEL_EXPERTS, CL_SLAB_UP },
	{ "ffn_down_exps", MODEL_EXPERTS, CL_SLAB_DOWN },
	{ "ffn_gate_up_exps", MODEL_EXPERTS, CL_SLAB_GATE_UP },
	{ "ffn_gate_chexps", MODEL_ADJUGATE, 0 },
	{ "ffn_up_chexps", MODEL_ADJUGATE, 0 },
	{ "ffn_down_chexps", MODEL_ADJUGATE, 0 },
	{ "ffn_gate_tid2eid", MODEL_TABLE, 0 },
};

static const struct {
	const char	*head;
	enum cl_slab_kind kind;
} ones[] = {
	{ "ffn_gate.", CL_SLAB_GATE },
	{ "ffn_up.", CL_SLAB_UP },
	{ "ffn_down.", CL_SLAB_DOWN },
};

static const char *const suffixes[] = { "weight", "bias", "scale",
    "input_scale" };

static const struct {
	const char	*rest;
	enum model_role	 role;
} wholes[] = {
	{ "ffn_gate_inp.weight", MODEL_ROUTER },
	{ "ffn_gate_inp.bias", MODEL_GATE_BIAS },
	{ "exp_probs_b.bias", MODEL_SEL_BIAS },
	{ "exp_probs_b", MODEL_SEL_BIAS },
};

/* A number without needless zeros, up to the dot behind it; NULL: none. */
static const char *
number(const char *s, uint32_t *v)
{
	const char *p = s;

	*v = 0;
	for (; *p >= '0' && *p <= '9' && p - s < DIGITS_MAX; p++)
		*v = *v * 10 + (uint32_t)(*p - '0');
	if (p == s || *p != '.' || (*s == '0' && p - s > 1))
		return (NULL);
	return (p + 1);
}

/* An unknown suffix of a known part is MODEL_NSUFFIX, to be refused. */
static enum model_suffix
suffix_of(const char *s)
{
	size_t i = 0;

	while (i < COUNT(suffixes) && strcmp(s, suffixes[i]) != 0)
		i++;
	return ((enum model_suffix)i);
}

static void
by_part(const char *rest, struct model_name *n)
{
	const char *dot = strchr(rest, '.');
	size_t len = dot == NULL ? strlen(rest) : (size_t)(dot - rest), i;

	for (i = 0; i < COUNT(parts); i++)
		if (strlen(parts[i].part) == len &&
		    strncmp(rest, parts[i].part, len) == 0) {
			n->role = parts[i].role;
			n->kind = parts[i].kind;
			break;
		}
	n->suffix = dot == NULL ? MODEL_NSUFFIX : suffix_of(dot + 1);
}

/* "ffn_gate.3.weight" */
static void
by_expert(const char *rest, struct model_name *n)
{
	const char *suffix;
	size_t i;

	for (i = 0; i < COUNT(ones); i++) {
		if (strncmp(rest, ones[i].head, strlen(ones[i].head)) != 0)
			continue;
		suffix = number(rest + strlen(ones[i].head), &n->expert);
		if (suffix == NULL)
			return;
		n->role = MODEL_ONE_EXPERT;
		n->kind = ones[i].kind;
		n->suffix = suffix_of(suffix);
		return;
	}
}

void
cl_model_name(const char *name, struct model_name *n)
{
	const char *rest;
	size_t i;

	memset(n, 0, sizeof(*n));
	n->role = MODEL_DENSE;
	if (strncmp(name, "blk.", 4) != 0 ||
	    (rest = number(name + 4, &n->layer)) == NULL)
		return;
	n->block = true;
	by_part(rest, n);
	for (i = 0; i < COUNT(wholes); i++)
		if (strcmp(rest, wholes[i].rest) == 0)
			n->role = wholes[i].role;
	by_expert(rest, n);
}

const char *
cl_model_suffix_name(enum model_suffix suffix)
{

	return (suffixes[suffix]);
}
