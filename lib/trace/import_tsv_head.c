/*
 * The # lines of a dumped trace, word by word: a table says which word takes
 * how many fields, and each word has a function of its own.  Lines of a layer
 * stand behind its # layer line, so that nothing has to be looked up.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/model.h"
#include "cl/text.h"
#include "import_tsv_int.h"

#define FIELDS	10			/* of the longest # line */
#define SHOWN	40			/* of a field repeated in a message */

typedef int handler(const struct tsv_lines *, struct tsv_head *,
    const struct tsv_field *, struct cl_err *);

static int
bad_field(const struct tsv_lines *l, const struct tsv_field *f,
    const char *wanted, struct cl_err *err)
{
	char vis[SHOWN];

	return (cl_import_fail(l, err, "\"%s\" is not %s",
	    cl_text_vis(vis, sizeof(vis), f->p, f->n), wanted));
}

static int
get_u32(const struct tsv_lines *l, const struct tsv_field *f, uint32_t *v,
    struct cl_err *err)
{
	uint64_t wide;

	*v = 0;
	if (!cl_import_u64(f, UINT32_MAX, &wide))
		return (bad_field(l, f, "a whole number below 2^32", err));
	*v = (uint32_t)wide;
	return (CL_OK);
}

static int
get_u64(const struct tsv_lines *l, const struct tsv_field *f, uint64_t *v,
    struct cl_err *err)
{

	return (cl_import_u64(f, UINT64_MAX, v) ? CL_OK :
	    bad_field(l, f, "a whole number below 2^64", err));
}

static int
get_hex(const struct tsv_lines *l, const struct tsv_field *f, uint64_t *v,
    struct cl_err *err)
{

	return (cl_import_hex(f, v) ? CL_OK :
	    bad_field(l, f, "a number of 16 hexadecimal digits", err));
}

/* The byte that an escape at p stands for, *used characters; -1: none. */
static int
unescape(const char *p, size_t n, size_t *used)
{
	static const char letters[] = "tnr\\", bytes[] = "\t\n\r\\";
	static const char digits[] = "0123456789abcdef";
	const char *hi, *lo;

	*used = 2;
	if (n >= 2 && (hi = memchr(letters, p[1], 4)) != NULL)
		return (bytes[hi - letters]);
	*used = 4;
	if (n < 4 || p[1] != 'x' || (hi = memchr(digits, p[2], 16)) == NULL ||
	    (lo = memchr(digits, p[3], 16)) == NULL)
		return (-1);
	return ((int)(hi - digits) << 4 | (int)(lo - digits));
}

static int
get_string(const struct tsv_lines *l, const struct tsv_field *f, char **to,
    struct cl_err *err)
{
	size_t i, n = 0, used;
	int byte;
	char *s;

	if ((s = malloc(f->n + 1)) == NULL)
		return (cl_fail_nomem(err, "a string"));
	for (i = 0; i < f->n; i += used) {
		byte = (unsigned char)f->p[i];
		used = 1;
		if (byte == '\\')
			byte = unescape(f->p + i, f->n - i, &used);
		if (byte <= 0) {
			free(s);
			return (bad_field(l, f, "a string: it holds a NUL, or "
			    "a backslash without t, n, r, \\ or xHH", err));
		}
		s[n++] = (char)byte;
	}
	s[n] = '\0';
	free(*to);
	*to = s;
	return (CL_OK);
}

static int
get_version(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{

	(void)h;
	return (cl_import_is(&f[1], "1") ? CL_OK :
	    bad_field(l, &f[1], "a version that is known; 1 is", err));
}

static int
get_origin(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	enum cl_trace_origin o;

	for (o = CL_ORIGIN_RECORDED; o <= CL_ORIGIN_EDITED; o++)
		if (cl_import_is(&f[1], cl_trace_origin_name(o))) {
			h->head->origin = o;
			return (CL_OK);
		}
	return (bad_field(l, &f[1], "an origin", err));
}

static int
get_scores(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	enum cl_trace_scores s;

	for (s = CL_SCORES_NONE; s <= CL_SCORES_F32; s++)
		if (cl_import_is(&f[1], cl_trace_scores_name(s))) {
			h->head->scores = s;
			return (CL_OK);
		}
	return (bad_field(l, &f[1], "ids, f16 or f32", err));
}

static int
get_holds(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	static const char *const words[] = { "rows", "tokens", "weights",
	    "forecast" };
	struct tsv_field rest = f[1], item;
	const char *comma;
	unsigned found = 0, i;

	do {
		comma = memchr(rest.p, ',', rest.n);
		item.p = rest.p;
		item.n = comma == NULL ? rest.n : (size_t)(comma - rest.p);
		for (i = 0; i < 4 && !cl_import_is(&item, words[i]); i++)
			;
		if (i == 4)
			return (bad_field(l, &item, "rows, tokens, weights "
			    "or forecast", err));
		found |= 1u << i;
		rest.p += comma == NULL ? 0 : item.n + 1;
		rest.n -= comma == NULL ? 0 : item.n + 1;
	} while (comma != NULL);
	h->head->tokens = (found & 2) != 0;
	h->head->weights = (found & 4) != 0;
	h->head->forecast = (found & 8) != 0;
	return (CL_OK);
}

static int
get_block(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{

	return (get_u32(l, &f[1], &h->head->block_tokens, err));
}

static int
get_note(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	char *key = NULL, *value = NULL;
	int status;

	if ((status = get_string(l, &f[1], &key, err)) == CL_OK &&
	    (status = get_string(l, &f[2], &value, err)) == CL_OK) {
		if (cl_trace_head_find(h->head, key) != NULL)
			status = bad_field(l, &f[1], "a new key", err);
		else
			status = cl_trace_head_note(h->head, key, value, err);
	}
	free(key);
	free(value);
	return (status);
}

static int
get_model(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_model *m;
	uint32_t n;
	int status;

	if ((status = get_u32(l, &f[1], &n, err)) != CL_OK)
		return (status);
	if (n == 0 || n > CL_MODEL_LAYERS_MAX)
		return (cl_import_fail(l, err, "%u layers, 1 to %d are "
		    "understood", n, CL_MODEL_LAYERS_MAX));
	if ((m = cl_model_new(n, err)) == NULL)
		return (CL_ENOMEM);
	h->head->model = m;
	if ((status = get_hex(l, &f[2], &m->fingerprint, err)) != CL_OK ||
	    (status = get_string(l, &f[3], &m->name, err)) != CL_OK)
		return (status);
	return (get_string(l, &f[4], &m->arch, err));
}

static int
need_model(const struct tsv_lines *l, const struct tsv_head *h,
    struct cl_err *err)
{

	return (h->head->model != NULL ? CL_OK :
	    cl_import_fail(l, err, "# model must stand before this line"));
}

static int
get_shard(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_model *m = h->head->model;
	struct cl_shard *s;
	int status;

	if ((status = need_model(l, h, err)) != CL_OK)
		return (status);
	if (m->nshards == CL_MODEL_SHARDS_MAX)
		return (cl_import_fail(l, err, "more than %d shards",
		    CL_MODEL_SHARDS_MAX));
	s = realloc(m->shards, (m->nshards + 1) * sizeof(*s));
	if (s == NULL)
		return (cl_fail_nomem(err, "a model's shards"));
	m->shards = s;
	s += m->nshards++;
	memset(s, 0, sizeof(*s));
	if ((status = get_u64(l, &f[1], &s->nbytes, err)) != CL_OK ||
	    (status = get_hex(l, &f[2], &s->head_hash, err)) != CL_OK)
		return (status);
	return (get_string(l, &f[3], &s->path, err));
}

/* The layer that a line is about: the last one that # layer began. */
static int
get_owner(const struct tsv_lines *l, const struct tsv_head *h,
    const struct tsv_field *f, struct cl_layer **layer, struct cl_err *err)
{
	uint32_t n;
	int status;

	*layer = NULL;
	if ((status = need_model(l, h, err)) != CL_OK ||
	    (status = get_u32(l, f, &n, err)) != CL_OK)
		return (status);
	if (h->nlayers == 0 || n != h->nlayers - 1)
		return (bad_field(l, f, "the layer of the last # layer line",
		    err));
	*layer = &h->head->model->layers[n];
	return (CL_OK);
}

static int
get_dense(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_layer *layer = NULL;
	struct cl_dense **list, *d;
	uint32_t *n;
	int status;

	status = cl_import_is(&f[1], "-") ? need_model(l, h, err) :
	    get_owner(l, h, &f[1], &layer, err);
	if (status != CL_OK)
		return (status);
	list = layer != NULL ? &layer->dense : &h->head->model->dense;
	n = layer != NULL ? &layer->ndense : &h->head->model->ndense;
	if ((d = realloc(*list, (*n + (size_t)1) * sizeof(*d))) == NULL)
		return (cl_fail_nomem(err, "a model's tensors"));
	*list = d;
	d += (*n)++;
	if ((status = get_u32(l, &f[2], &d->shard, err)) != CL_OK ||
	    (status = get_u64(l, &f[3], &d->off, err)) != CL_OK)
		return (status);
	return (get_u64(l, &f[4], &d->nbytes, err));
}

static int
get_layer(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_layer *layer;
	uint32_t n;
	int status;

	if ((status = need_model(l, h, err)) != CL_OK ||
	    (status = get_u32(l, &f[1], &n, err)) != CL_OK)
		return (status);
	if (n != h->nlayers || n >= h->head->model->nlayers)
		return (bad_field(l, &f[1], "the next layer of this model",
		    err));
	layer = &h->head->model->layers[h->nlayers++];
	if ((status = get_u32(l, &f[2], &layer->nexperts, err)) != CL_OK ||
	    (status = get_u32(l, &f[3], &layer->k, err)) != CL_OK ||
	    (status = get_u64(l, &f[4], &layer->expert_bytes, err)) != CL_OK)
		return (status);
	layer->extra = cl_import_is(&f[5], "extra");
	if (!layer->extra && !cl_import_is(&f[5], "-"))
		return (bad_field(l, &f[5], "extra or -", err));
	if (layer->nexperts > CL_RULE_EXPERTS_MAX)
		return (cl_import_fail(l, err, "%u experts, at most %d",
		    layer->nexperts, CL_RULE_EXPERTS_MAX));
	return (CL_OK);
}

/* Shards and offsets of all experts, where there is no stride. */
static int
get_places(const struct tsv_lines *l, const struct tsv_field *f,
    struct cl_slab *s, uint32_t n, struct cl_err *err)
{
	struct tsv_field shards = f[4], offs = f[5], item;
	uint32_t i;
	int status;

	if (n == 0 || cl_import_count(&shards) != n ||
	    cl_import_count(&offs) != n)
		return (cl_import_fail(l, err, "a slab without a stride has a "
		    "shard and an offset of each of the %u experts", n));
	if ((s->places = calloc(n, sizeof(*s->places))) == NULL)
		return (cl_fail_nomem(err, "the places of experts"));
	for (i = 0; i < n; i++) {
		(void)cl_import_item(&shards, &item);
		status = get_u32(l, &item, &s->places[i].shard, err);
		if (status != CL_OK)
			return (status);
		(void)cl_import_item(&offs, &item);
		status = get_u64(l, &item, &s->places[i].off, err);
		if (status != CL_OK)
			return (status);
	}
	return (CL_OK);
}

static int
get_slab(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_layer *layer;
	struct cl_slab *s;
	char kind[16] = "";
	int status;

	if ((status = get_owner(l, h, &f[1], &layer, err)) != CL_OK)
		return (status);
	if (layer->nslabs == CL_MODEL_SLABS_MAX)
		return (cl_import_fail(l, err, "more than %d slabs",
		    CL_MODEL_SLABS_MAX));
	s = realloc(layer->slabs, (layer->nslabs + 1) * sizeof(*s));
	if (s == NULL)
		return (cl_fail_nomem(err, "a model's slabs"));
	layer->slabs = s;
	s += layer->nslabs++;
	memset(s, 0, sizeof(*s));
	memcpy(kind, f[2].p, f[2].n < sizeof(kind) ? f[2].n : 0);
	if ((s->kind = cl_model_slab_by_name(kind)) == 0)
		return (bad_field(l, &f[2], "a kind of slab", err));
	if ((status = get_u32(l, &f[3], &s->type, err)) != CL_OK ||
	    (status = get_u64(l, &f[7], &s->nbytes, err)) != CL_OK)
		return (status);
	if (cl_import_is(&f[6], "-"))
		return (get_places(l, f, s, layer->nexperts, err));
	if ((status = get_u32(l, &f[4], &s->shard, err)) != CL_OK ||
	    (status = get_u64(l, &f[5], &s->off, err)) != CL_OK)
		return (status);
	return (get_u64(l, &f[6], &s->stride, err));
}

/* "gate,norm" as bits; the names are those that cl_rule_assumed_text has. */
static int
get_assumed(const struct tsv_lines *l, const struct tsv_field *f,
    uint32_t *assumed, struct cl_err *err)
{
	char text[80];
	uint32_t v;

	*assumed = 0;
	if (cl_import_is(f, "-"))
		return (CL_OK);
	for (v = 1; v <= CL_RULE_ALL; v++)
		if (cl_import_is(f, cl_rule_assumed_text(text, v))) {
			*assumed = v;
			return (CL_OK);
		}
	return (bad_field(l, f, "a list of parts of a rule", err));
}

static int
get_rule(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	char gate[24] = "", select[24] = "";
	struct cl_layer *layer;
	struct cl_rule *r;
	uint32_t n;
	int status;

	if ((status = get_owner(l, h, &f[1], &layer, err)) != CL_OK)
		return (status);
	r = &layer->rule;
	if (layer->nexperts == 0 || r->nexperts != 0)
		return (bad_field(l, &f[1], "a layer with experts that has no "
		    "rule yet", err));
	cl_rule_init(r, layer->nexperts, layer->k);
	memcpy(gate, f[2].p, f[2].n < sizeof(gate) ? f[2].n : 0);
	memcpy(select, f[3].p, f[3].n < sizeof(select) ? f[3].n : 0);
	r->gate = cl_rule_gate_by_name(gate);
	r->select = cl_rule_select_by_name(select);
	if (r->gate == 0 || r->select == 0)
		return (bad_field(l, &f[r->gate == 0 ? 2 : 3], "a gate or "
		    "selection", err));
	r->norm = cl_import_is(&f[4], "norm") ||
	    cl_import_is(&f[4], "norm,softmax");
	r->softmax_w = cl_import_is(&f[4], "softmax") ||
	    cl_import_is(&f[4], "norm,softmax");
	if (!r->norm && !r->softmax_w && !cl_import_is(&f[4], "-"))
		return (bad_field(l, &f[4], "norm, softmax, both or -", err));
	if ((status = get_u32(l, &f[5], &r->ngroup, err)) != CL_OK ||
	    (status = get_u32(l, &f[6], &r->ngroup_used, err)) != CL_OK)
		return (status);
	if (!cl_import_floats(&f[7], &r->scale, 1, &n))
		return (bad_field(l, &f[7], "a number", err));
	return (get_assumed(l, &f[8], &r->assumed, err));
}

static int
get_bias(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	struct cl_layer *layer;
	float **bias;
	uint32_t n;
	int status;

	if ((status = get_owner(l, h, &f[1], &layer, err)) != CL_OK)
		return (status);
	bias = cl_import_is(&f[0], "# gate_bias") ? &layer->rule.gate_bias :
	    &layer->rule.sel_bias;
	if (layer->rule.nexperts == 0 || *bias != NULL)
		return (bad_field(l, &f[1], "a layer with a rule that has no "
		    "such bias yet", err));
	if ((*bias = calloc(layer->nexperts, sizeof(**bias))) == NULL)
		return (cl_fail_nomem(err, "a router bias"));
	if (!cl_import_floats(&f[2], *bias, layer->nexperts, &n) ||
	    n != layer->nexperts)
		return (cl_import_fail(l, err, "%u numbers between commas are "
		    "wanted", layer->nexperts));
	return (CL_OK);
}

static int
get_sequence(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	uint32_t n;
	int status;

	if ((status = get_u32(l, &f[1], &n, err)) != CL_OK)
		return (status);
	if (n != h->nsequences || n == UINT32_MAX)
		return (bad_field(l, &f[1], "the next sequence", err));
	h->nsequences++;
	return (get_string(l, &f[2], &h->name, err));
}

static int
get_end(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	enum cl_trace_end e;

	for (e = CL_END_COMPLETE; e <= CL_END_INTERRUPTED; e++)
		if (cl_import_is(&f[1], cl_trace_end_name(e))) {
			h->end = e;
			return (get_u64(l, &f[2], &h->mismatches, err));
		}
	return (bad_field(l, &f[1], "an end", err));
}

static int
get_rows(const struct tsv_lines *l, struct tsv_head *h,
    const struct tsv_field *f, struct cl_err *err)
{
	int status;

	if ((status = get_u64(l, &f[1], &h->nrows, err)) != CL_OK)
		return (status);
	return (get_hex(l, &f[2], &h->sum, err));
}

/* The words that must be there once come first, in the order of their bits. */
static const struct word {
	const char	*text;
	size_t		 nfields;
	handler		*get;
	enum tsv_line	 line;
} words[] = {
	{ "# cl-trace", 2, get_version, TSV_OF_HEAD },
	{ "# origin", 2, get_origin, TSV_OF_HEAD },
	{ "# scores", 2, get_scores, TSV_OF_HEAD },
	{ "# holds", 2, get_holds, TSV_OF_HEAD },
	{ "# block", 2, get_block, TSV_OF_HEAD },
	{ "# model", 5, get_model, TSV_OF_HEAD },
	{ "# end", 3, get_end, TSV_END },
	{ "# rows", 3, get_rows, TSV_ROWS },
	{ "# note", 3, get_note, TSV_OF_HEAD },
	{ "# shard", 4, get_shard, TSV_OF_HEAD },
	{ "# dense", 5, get_dense, TSV_OF_HEAD },
	{ "# layer", 6, get_layer, TSV_OF_HEAD },
	{ "# slab", 8, get_slab, TSV_OF_HEAD },
	{ "# rule", 9, get_rule, TSV_OF_HEAD },
	{ "# gate_bias", 3, get_bias, TSV_OF_HEAD },
	{ "# sel_bias", 3, get_bias, TSV_OF_HEAD },
	{ "# sequence", 3, get_sequence, TSV_SEQUENCE },
};

#define NWORDS	(sizeof(words) / sizeof(words[0]))
#define NONCE	8			/* of them may be there once */
#define NHEAD	6			/* of those belong to the head */

int
cl_import_head(const struct tsv_lines *l, struct tsv_head *h,
    enum tsv_line *line, struct cl_err *err)
{
	struct tsv_field f[FIELDS];
	size_t n, i;
	int status;

	status = cl_import_split(l, l->p, l->n, f, FIELDS, &n, err);
	if (status != CL_OK)
		return (status);
	for (i = 0; i < NWORDS && !cl_import_is(&f[0], words[i].text); i++)
		;
	if (i == NWORDS)
		return (bad_field(l, &f[0], "a # line of a trace", err));
	if (n != words[i].nfields)
		return (cl_import_fail(l, err, "%s has %zu fields, and this "
		    "line %zu", words[i].text, words[i].nfields, n));
	if (i < NONCE && (h->seen >> i & 1) != 0)
		return (cl_import_fail(l, err, "a second line of %s",
		    words[i].text));
	h->seen |= i < NONCE ? 1u << i : 0;
	*line = words[i].line;
	return (words[i].get(l, h, f, err));
}

int
cl_import_head_check(const struct tsv_lines *l, const struct tsv_head *h,
    struct cl_err *err)
{
	size_t i;

	for (i = 0; i < NHEAD; i++)
		if ((h->seen >> i & 1) == 0)
			return (cl_import_fail(l, err, "rows begin, and there "
			    "was no %s", words[i].text));
	if (h->nlayers != h->head->model->nlayers)
		return (cl_import_fail(l, err, "rows begin, and there were %u "
		    "of %u # layer lines", h->nlayers,
		    h->head->model->nlayers));
	return (CL_OK);
}

void
cl_import_head_free(struct tsv_head *h)
{

	cl_trace_head_free(h->head);
	free(h->name);
	memset(h, 0, sizeof(*h));
}
