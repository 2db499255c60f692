/*
 * HEAD and LAYER records into a head and its model.  Each count is held
 * against the bytes that are left before memory is taken for it; what the
 * numbers mean together is cl_model_check()'s business, called by the reader
 * once all layers are there.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/rec.h"
#include "cl/trace_read.h"
#include "cl/vec.h"
#include "trace_int.h"

#define NOTE_BYTES	4		/* the least that one can take */
#define SHARD_BYTES	18

static int
cut_record(struct cl_err *err)
{

	return (cl_fail(err, CL_EFORMAT, "its fields do not fit its length"));
}

static int
too_many(const char *what, uint32_t n, uint32_t most, struct cl_err *err)
{

	return (cl_fail(err, CL_EFORMAT, "%u %s, and it can hold %u", n, what,
	    most));
}

/* Are there bytes for n items of at least size bytes each? */
static int
check_count(const struct cl_cur *c, const char *what, uint32_t n, size_t size,
    uint32_t limit, struct cl_err *err)
{
	size_t most = cl_cur_left(c) / size;

	if (most > limit)
		most = limit;
	return (n <= most ? CL_OK : too_many(what, n, (uint32_t)most, err));
}

static int
get_string(struct cl_cur *c, char **s, struct cl_err *err)
{
	const char *p;
	size_t n = cl_cur_str(c, &p);

	if (!cl_cur_ok(c))
		return (cl_fail(err, CL_EFORMAT, "a string does not fit, or "
		    "holds a NUL"));
	free(*s);
	*s = cl_vec_strndup(p, n, err);
	return (*s != NULL ? CL_OK : CL_ENOMEM);
}

static int
get_notes(struct cl_cur *c, struct cl_trace_head *h, uint32_t n,
    struct cl_err *err)
{
	char *key = NULL, *value = NULL;
	uint32_t i;
	int status;

	status = check_count(c, "notes", n, NOTE_BYTES, CL_TRACE_NOTES_MAX,
	    err);
	for (i = 0; status == CL_OK && i < n; i++) {
		status = get_string(c, &key, err);
		if (status == CL_OK)
			status = get_string(c, &value, err);
		if (status == CL_OK && cl_trace_head_find(h, key) != NULL)
			status = cl_fail(err, CL_EFORMAT, "note %u has the "
			    "key of another", i);
		if (status == CL_OK)
			status = cl_trace_head_note(h, key, value, err);
	}
	free(key);
	free(value);
	return (status);
}

static int
get_shards(struct cl_cur *c, struct cl_model *m, uint32_t n,
    struct cl_err *err)
{
	int status;

	status = check_count(c, "shards", n, SHARD_BYTES, CL_MODEL_SHARDS_MAX,
	    err);
	if (status != CL_OK || n == 0)
		return (status);
	if ((m->shards = calloc(n, sizeof(*m->shards))) == NULL)
		return (cl_fail_nomem(err, "a model's shards"));
	for (; status == CL_OK && m->nshards < n; m->nshards++) {
		status = get_string(c, &m->shards[m->nshards].path, err);
		m->shards[m->nshards].nbytes = cl_cur_u64(c);
		m->shards[m->nshards].head_hash = cl_cur_u64(c);
	}
	return (status);
}

static int
get_dense(struct cl_cur *c, struct cl_dense **to, uint32_t *nto, uint32_t n,
    struct cl_err *err)
{
	struct cl_dense *d;
	uint32_t i;
	int status;

	status = check_count(c, "dense tensors", n, TRACE_DENSE_BYTES,
	    UINT32_MAX, err);
	if (status != CL_OK || n == 0)
		return (status);
	if ((d = calloc(n, sizeof(*d))) == NULL)
		return (cl_fail_nomem(err, "a model's tensors"));
	for (i = 0; i < n; i++) {
		d[i].shard = cl_cur_u32(c);
		d[i].off = cl_cur_u64(c);
		d[i].nbytes = cl_cur_u64(c);
	}
	*to = d;
	*nto = n;
	return (CL_OK);
}

/* The fixed fields that belong to the trace rather than to its model. */
static int
get_kind(struct cl_cur *c, struct cl_trace_head *h, struct cl_err *err)
{
	uint8_t origin = cl_cur_u8(c), scores = cl_cur_u8(c);
	uint8_t flags = cl_cur_u8(c), zero = cl_cur_u8(c);

	h->origin = (enum cl_trace_origin)origin;
	h->scores = (enum cl_trace_scores)scores;
	h->tokens = (flags & TRACE_HEAD_TOKENS) != 0;
	h->weights = (flags & TRACE_HEAD_WEIGHTS) != 0;
	h->forecast = (flags & TRACE_HEAD_FORECAST) != 0;
	h->block_tokens = cl_cur_u32(c);
	if (!cl_cur_ok(c))
		return (cut_record(err));
	if (cl_trace_origin_name(h->origin) == NULL)
		return (cl_fail(err, CL_EFORMAT, "origin %u is none", origin));
	if (cl_trace_scores_name(h->scores) == NULL)
		return (cl_fail(err, CL_EFORMAT, "scores of unknown kind %u",
		    scores));
	if ((flags & ~TRACE_HEAD_FLAGS) != 0 || zero != 0)
		return (cl_fail(err, CL_EFORMAT, "reserved bits are set"));
	if (h->forecast && h->scores == CL_SCORES_NONE)
		return (cl_fail(err, CL_EFORMAT, "a forecast without scores"));
	if (h->block_tokens == 0 || h->block_tokens > CL_TRACE_BLOCK_MAX)
		return (cl_fail(err, CL_EFORMAT, "blocks of %u tokens, 1 to "
		    "%d are possible", h->block_tokens, CL_TRACE_BLOCK_MAX));
	return (CL_OK);
}

/* What stands behind the fixed fields, into a head with a model. */
static int
get_lists(struct cl_cur *c, struct cl_trace_head *h, uint32_t nnotes,
    uint32_t nshards, uint32_t ndense, struct cl_err *err)
{
	struct cl_model *m = h->model;
	int status;

	if ((status = get_string(c, &m->name, err)) != CL_OK ||
	    (status = get_string(c, &m->arch, err)) != CL_OK ||
	    (status = get_notes(c, h, nnotes, err)) != CL_OK ||
	    (status = get_shards(c, m, nshards, err)) != CL_OK ||
	    (status = get_dense(c, &m->dense, &m->ndense, ndense,
	    err)) != CL_OK)
		return (status);
	if (!cl_cur_ok(c) || cl_cur_left(c) != 0)
		return (cut_record(err));
	return (CL_OK);
}

struct cl_trace_head *
cl_trace_get_head(const struct cl_rec *rec, struct cl_err *err)
{
	struct cl_trace_head *h, fixed;
	struct cl_model *m;
	struct cl_cur c;
	uint64_t fingerprint;
	uint32_t nlayers, nnotes, nshards, ndense;

	memset(&fixed, 0, sizeof(fixed));
	cl_cur_init(&c, rec->data, rec->len);
	if (get_kind(&c, &fixed, err) != CL_OK)
		return (NULL);
	fingerprint = cl_cur_u64(&c);
	nlayers = cl_cur_u32(&c);
	nnotes = cl_cur_u32(&c);
	nshards = cl_cur_u32(&c);
	ndense = cl_cur_u32(&c);
	if (!cl_cur_ok(&c)) {
		(void)cut_record(err);
		return (NULL);
	}
	if (nlayers == 0 || nlayers > CL_MODEL_LAYERS_MAX) {
		(void)cl_fail(err, CL_EFORMAT, "%u layers, 1 to %d are "
		    "understood", nlayers, CL_MODEL_LAYERS_MAX);
		return (NULL);
	}
	if ((m = cl_model_new(nlayers, err)) == NULL ||
	    (h = cl_trace_head_new(m, err)) == NULL)
		return (NULL);
	fixed.model = m;
	*h = fixed;
	m->fingerprint = fingerprint;
	if (get_lists(&c, h, nnotes, nshards, ndense, err) != CL_OK) {
		cl_trace_head_free(h);
		return (NULL);
	}
	return (h);
}

static int
get_places(struct cl_cur *c, struct cl_slab *s, uint32_t n,
    struct cl_err *err)
{
	uint32_t i;
	int status;

	status = check_count(c, "places of experts", n, TRACE_PLACE_BYTES,
	    CL_RULE_EXPERTS_MAX, err);
	if (status != CL_OK || n == 0)
		return (status);
	if ((s->places = calloc(n, sizeof(*s->places))) == NULL)
		return (cl_fail_nomem(err, "the places of experts"));
	for (i = 0; i < n; i++) {
		s->places[i].shard = cl_cur_u32(c);
		s->places[i].off = cl_cur_u64(c);
	}
	return (CL_OK);
}

static int
get_slab(struct cl_cur *c, struct cl_slab *s, uint32_t nexperts,
    struct cl_err *err)
{
	uint8_t layout;
	uint16_t zero;

	s->kind = (enum cl_slab_kind)cl_cur_u8(c);
	layout = cl_cur_u8(c);
	zero = cl_cur_u16(c);
	s->type = cl_cur_u32(c);
	s->shard = cl_cur_u32(c);
	s->off = cl_cur_u64(c);
	s->stride = cl_cur_u64(c);
	s->nbytes = cl_cur_u64(c);
	if (!cl_cur_ok(c))
		return (cut_record(err));
	if (zero != 0)
		return (cl_fail(err, CL_EFORMAT, "reserved bits are set"));
	if (layout > TRACE_SLAB_PLACES)
		return (cl_fail(err, CL_EFORMAT, "a slab of unknown layout "
		    "%u", layout));
	return (layout == TRACE_SLAB_STRIDED ? CL_OK :
	    get_places(c, s, nexperts, err));
}

static int
get_slabs(struct cl_cur *c, struct cl_layer *l, uint32_t n,
    struct cl_err *err)
{
	int status;

	status = check_count(c, "slabs", n, TRACE_SLAB_BYTES,
	    CL_MODEL_SLABS_MAX, err);
	if (status != CL_OK || n == 0)
		return (status);
	if ((l->slabs = calloc(n, sizeof(*l->slabs))) == NULL)
		return (cl_fail_nomem(err, "a model's slabs"));
	while (status == CL_OK && l->nslabs < n)
		status = get_slab(c, &l->slabs[l->nslabs++], l->nexperts, err);
	return (status);
}

static int
get_bias(struct cl_cur *c, float **bias, uint32_t n, bool is_there,
    struct cl_err *err)
{
	struct cl_cur part;
	const uint8_t *p;
	uint32_t i;

	if (!is_there)
		return (CL_OK);
	if ((p = cl_cur_bytes(c, 4 * (uint64_t)n)) == NULL)
		return (cut_record(err));
	if ((*bias = calloc(n, sizeof(**bias))) == NULL)
		return (cl_fail_nomem(err, "a router bias"));
	cl_cur_init(&part, p, 4 * (size_t)n);
	for (i = 0; i < n; i++)
		(*bias)[i] = cl_cur_f32(&part);
	return (CL_OK);
}

static int
get_rule(struct cl_cur *c, struct cl_layer *l, struct cl_err *err)
{
	struct cl_rule *r = &l->rule;
	uint8_t flags, zero;
	int status;

	cl_rule_init(r, l->nexperts, l->k);
	r->gate = (enum cl_gate)cl_cur_u8(c);
	r->select = (enum cl_select)cl_cur_u8(c);
	flags = cl_cur_u8(c);
	zero = cl_cur_u8(c);
	r->norm = (flags & TRACE_RULE_NORM) != 0;
	r->softmax_w = (flags & TRACE_RULE_SOFTMAX_W) != 0;
	r->ngroup = cl_cur_u32(c);
	r->ngroup_used = cl_cur_u32(c);
	r->scale = cl_cur_f32(c);
	r->assumed = cl_cur_u32(c);
	if ((flags & ~TRACE_RULE_FLAGS) != 0 || zero != 0)
		return (cl_fail(err, CL_EFORMAT, "reserved bits of its rule "
		    "are set"));
	status = get_bias(c, &r->gate_bias, l->nexperts,
	    (flags & TRACE_RULE_GATE_BIAS) != 0, err);
	if (status == CL_OK)
		status = get_bias(c, &r->sel_bias, l->nexperts,
		    (flags & TRACE_RULE_SEL_BIAS) != 0, err);
	return (status);
}

int
cl_trace_get_layer(const struct cl_rec *rec, uint32_t want,
    struct cl_model *m, struct cl_err *err)
{
	struct cl_layer *l = &m->layers[want];
	struct cl_cur c;
	uint32_t layer, nslabs, ndense, zero;
	uint8_t flags;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	layer = cl_cur_u32(&c);
	l->nexperts = cl_cur_u32(&c);
	l->k = cl_cur_u32(&c);
	flags = cl_cur_u8(&c);
	nslabs = cl_cur_u8(&c);
	zero = cl_cur_u16(&c);
	l->expert_bytes = cl_cur_u64(&c);
	ndense = cl_cur_u32(&c);
	l->extra = (flags & TRACE_LAYER_EXTRA) != 0;
	if (!cl_cur_ok(&c))
		return (cut_record(err));
	if (layer != want)
		return (cl_fail(err, CL_EFORMAT, "layer %u where layer %u is "
		    "due", layer, want));
	if ((flags & ~TRACE_LAYER_EXTRA) != 0 || zero != 0)
		return (cl_fail(err, CL_EFORMAT, "reserved bits are set"));
	if (l->nexperts > CL_RULE_EXPERTS_MAX)
		return (cl_fail(err, CL_EFORMAT, "%u experts, at most %d",
		    l->nexperts, CL_RULE_EXPERTS_MAX));
	if ((status = get_slabs(&c, l, nslabs, err)) != CL_OK ||
	    (status = get_dense(&c, &l->dense, &l->ndense, ndense,
	    err)) != CL_OK)
		return (status);
	if (l->nexperts > 0 && (status = get_rule(&c, l, err)) != CL_OK)
		return (status);
	if (!cl_cur_ok(&c) || cl_cur_left(&c) != 0)
		return (cut_record(err));
	return (CL_OK);
}
