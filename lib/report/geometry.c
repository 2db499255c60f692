/*
 * A model described.  In text, what is alike shares a line: neighbouring
 * layers of the same shape, and all layers whose routers read the same.
 * Offsets differ from layer to layer, so slabs have a line each.  JSON folds
 * nothing.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/geometry.h"
#include "cl/gguf.h"
#include "cl/json.h"
#include "cl/model.h"
#include "cl/text.h"

#define VIS_MAX		512		/* of a name or path, as shown */
#define RULE_MAX	320		/* of a rule in words */

static uint64_t
layer_dense(const struct cl_layer *l)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < l->ndense; i++)
		sum += l->dense[i].nbytes;
	return (sum);
}

/*
 * The next larger size of experts that is in use, and how many have it; size
 * 0 begins.  Without a next one *size stays and the count is 0.
 */
static uint64_t
next_class(const struct cl_model *m, uint64_t *size)
{
	const struct cl_layer *l;
	uint64_t next = UINT64_MAX, n = 0;

	for (l = m->layers; l < m->layers + m->nlayers; l++)
		if (l->nexperts > 0 && !l->extra && l->expert_bytes > *size &&
		    l->expert_bytes <= next) {
			n = l->expert_bytes < next ? 0 : n;
			next = l->expert_bytes;
			n += l->nexperts;
		}
	if (n > 0)
		*size = next;
	return (n);
}

static const char *
type_name(char buf[32], uint32_t type)
{
	const struct cl_gguf_type *t = cl_gguf_type(type);

	if (t != NULL)
		return (t->name);
	(void)snprintf(buf, 32, "type %u", type);
	return (buf);
}

static void
put_name(struct cl_dst *d, const char *label, const char *name)
{
	char buf[VIS_MAX];

	if (name[0] == '\0')
		name = "unknown";
	cl_dst_printf(d, "%-14s%s\n", label,
	    cl_text_vis(buf, sizeof(buf), name, strlen(name)));
}

/* "3.93 MiB (4,122,880 bytes)" */
static void
put_bytes(struct cl_dst *d, uint64_t nbytes)
{
	char people[CL_TEXT_SIZE_MAX], exact[32];

	cl_dst_printf(d, "%s (%s bytes)", cl_text_bytes(people, nbytes),
	    cl_text_count(exact, nbytes));
}

static void
put_shards(struct cl_dst *d, const struct cl_model *m)
{
	const struct cl_shard *s;
	char buf[VIS_MAX];
	uint32_t i;

	for (i = 0; i < m->nshards; i++) {
		s = &m->shards[i];
		cl_dst_printf(d, "shard %-8u%s, ", i, cl_text_vis(buf,
		    sizeof(buf), s->path, strlen(s->path)));
		put_bytes(d, s->nbytes);
		cl_dst_printf(d, ", head %016" PRIx64 "\n", s->head_hash);
	}
}

static void
put_classes(struct cl_dst *d, const struct cl_model *m)
{
	char buf[32];
	uint64_t size = 0, n;

	cl_dst_printf(d, "%-14s", "expert sizes");
	for (n = next_class(m, &size); n > 0;) {
		cl_dst_printf(d, "%s of ", cl_text_count(buf, n));
		put_bytes(d, size);
		if ((n = next_class(m, &size)) > 0)
			cl_dst_printf(d, ", ");
	}
	cl_dst_printf(d, "\n");
}

static void
put_sums(struct cl_dst *d, const struct cl_model *m)
{
	struct cl_model_sums s;
	char buf[32];
	uint32_t i, extra = 0;

	cl_model_sums(m, &s);
	for (i = 0; i < m->nlayers; i++)
		extra += m->layers[i].extra;
	cl_dst_printf(d, "%-14s%u: %u MoE, %u dense, %u extra\n", "layers",
	    m->nlayers, s.nmoe, m->nlayers - s.nmoe - extra, extra);
	cl_dst_printf(d, "%-14s%s", "experts", cl_text_count(buf, s.experts));
	if (!s.bytes_known) {
		cl_dst_printf(d, ", bytes not known\n%-14s%s experts a "
		    "token\n", "demand", cl_text_count(buf,
		    s.demand_experts));
		return;
	}
	cl_dst_printf(d, ", ");
	put_bytes(d, s.expert_bytes);
	cl_dst_printf(d, "\n");
	put_classes(d, m);
	cl_dst_printf(d, "%-14s%s experts a token, ", "demand",
	    cl_text_count(buf, s.demand_experts));
	put_bytes(d, s.demand_bytes);
	cl_dst_printf(d, "\n%-14s", "dense");
	put_bytes(d, s.dense_bytes);
	cl_dst_printf(d, " for every token\n");
}

static bool
same_shape(const struct cl_layer *a, const struct cl_layer *b)
{

	return (a->nexperts == b->nexperts && a->k == b->k &&
	    a->extra == b->extra && a->expert_bytes == b->expert_bytes &&
	    layer_dense(a) == layer_dense(b));
}

/* "3" or "3-7" */
static const char *
range(char buf[32], uint32_t from, uint32_t to)
{

	if (from == to)
		(void)snprintf(buf, 32, "%u", from);
	else
		(void)snprintf(buf, 32, "%u-%u", from, to);
	return (buf);
}

/* Of one expert: a dense layer has none, and a trace may not know. */
static const char *
size_text(char buf[32], const struct cl_layer *l)
{

	if (l->nexperts > 0 && l->expert_bytes == 0)
		return ("unknown");
	(void)snprintf(buf, 32, "%" PRIu64, l->expert_bytes);
	return (buf);
}

static void
put_layers(struct cl_dst *d, const struct cl_model *m)
{
	const struct cl_layer *l;
	char buf[32], size[32];
	uint32_t i, from;

	cl_dst_printf(d, "\n%-10s%-8s%8s%6s%16s%16s\n", "layers", "kind",
	    "experts", "k", "expert bytes", "dense bytes");
	for (i = 0; i < m->nlayers; i++) {
		l = &m->layers[i];
		from = i;
		while (i + 1 < m->nlayers && same_shape(l, &m->layers[i + 1]))
			i++;
		cl_dst_printf(d, "%-10s%-8s%8u%6u%16s%16" PRIu64 "\n",
		    range(buf, from, i), l->extra ? "extra" :
		    (l->nexperts > 0 ? "MoE" : "dense"), l->nexperts, l->k,
		    size_text(size, l), layer_dense(l));
	}
}

static void
put_slab(struct cl_dst *d, uint32_t layer, const struct cl_slab *s)
{
	struct cl_place first = cl_model_place(s, 0);
	char type[32], stride[24] = "one each";

	if (s->places == NULL)
		(void)snprintf(stride, sizeof(stride), "%" PRIu64, s->stride);
	cl_dst_printf(d, "%-10u%-8s  %-8s%8u%18" PRIu64 "%14s%14" PRIu64 "\n",
	    layer, cl_model_slab_name(s->kind), type_name(type, s->type),
	    first.shard, first.off, stride, s->nbytes);
}

static void
put_slabs(struct cl_dst *d, const struct cl_model *m)
{
	uint32_t i, j;

	if (m->nshards == 0)
		return;
	cl_dst_printf(d, "\n%-10s%-8s  %-8s%8s%18s%14s%14s\n", "layer", "slab",
	    "type", "shard", "offset", "stride", "bytes");
	for (i = 0; i < m->nlayers; i++)
		for (j = 0; j < m->layers[i].nslabs; j++)
			put_slab(d, i, &m->layers[i].slabs[j]);
}

/* A rule in words; rules that read alike share a line. */
static const char *
rule_text(char buf[RULE_MAX], const struct cl_rule *r)
{
	char groups[64] = "", scale[32], assumed[80];

	if (r->ngroup > 1)
		(void)snprintf(groups, sizeof(groups), ", %u of %u groups",
		    r->ngroup_used, r->ngroup);
	(void)snprintf(buf, RULE_MAX, "%u of %u, gate %s, select by %s%s%s%s%s"
	    "%s, scale %s; assumed: %s", r->k, r->nexperts,
	    cl_rule_gate_name(r->gate), cl_rule_select_name(r->select),
	    r->gate_bias != NULL ? ", gate bias" : "",
	    r->sel_bias != NULL ? ", selection bias" : "", groups,
	    r->norm ? ", normalised" : ", not normalised",
	    r->softmax_w ? ", softmax over the chosen" : "",
	    cl_text_f32(scale, r->scale), r->assumed == 0 ? "nothing" :
	    cl_rule_assumed_text(assumed, r->assumed));
	return (buf);
}

/* Would both read the same? */
static bool
read_alike(const struct cl_rule *a, const struct cl_rule *b)
{

	return (a->nexperts == b->nexperts && a->k == b->k &&
	    a->gate == b->gate && a->select == b->select &&
	    (a->gate_bias == NULL) == (b->gate_bias == NULL) &&
	    (a->sel_bias == NULL) == (b->sel_bias == NULL) &&
	    a->ngroup == b->ngroup && a->ngroup_used == b->ngroup_used &&
	    a->norm == b->norm && a->softmax_w == b->softmax_w &&
	    a->scale == b->scale && a->assumed == b->assumed);
}

/* Does layer i have experts, and a rule that reads as that of layer j? */
static bool
alike(const struct cl_model *m, uint32_t i, uint32_t j)
{

	return (m->layers[i].nexperts > 0 &&
	    read_alike(&m->layers[i].rule, &m->layers[j].rule));
}

/* The rule of layer first, behind the numbers of all that read as it does. */
static void
put_rule(struct cl_dst *d, const struct cl_model *m, uint32_t first)
{
	char text[RULE_MAX], buf[32];
	uint32_t i, from;

	for (i = first; i < m->nlayers; i++) {
		if (!alike(m, i, first))
			continue;
		from = i;
		while (i + 1 < m->nlayers && alike(m, i + 1, first))
			i++;
		cl_dst_printf(d, "%s%s", from == first ? "" : ",",
		    range(buf, from, i));
	}
	cl_dst_printf(d, ": %s\n", rule_text(text, &m->layers[first].rule));
}

static void
put_rules(struct cl_dst *d, const struct cl_model *m)
{
	uint32_t i, j;

	cl_dst_printf(d, "\nrouters by layer\n");
	for (i = 0; i < m->nlayers; i++) {
		for (j = 0; j < i && !alike(m, j, i); j++)
			continue;
		if (j == i && m->layers[i].nexperts > 0)
			put_rule(d, m, i);
	}
}

void
cl_geometry_text(const struct cl_model *m, struct cl_dst *d)
{

	put_name(d, "model", m->name);
	put_name(d, "architecture", m->arch);
	if (m->fingerprint != 0)
		cl_dst_printf(d, "%-14s%016" PRIx64 "\n", "fingerprint",
		    m->fingerprint);
	put_shards(d, m);
	put_sums(d, m);
	put_layers(d, m);
	put_slabs(d, m);
	put_rules(d, m);
}

static void
json_rule(struct cl_json *j, const struct cl_rule *r)
{
	char buf[80];
	uint32_t bit;

	cl_json_object_row(j, "rule");
	cl_json_str(j, "gate", cl_rule_gate_name(r->gate));
	cl_json_str(j, "select", cl_rule_select_name(r->select));
	cl_json_bool(j, "gate_bias", r->gate_bias != NULL);
	cl_json_bool(j, "sel_bias", r->sel_bias != NULL);
	cl_json_u64(j, "groups", r->ngroup);
	cl_json_u64(j, "groups_used", r->ngroup_used);
	cl_json_bool(j, "norm", r->norm);
	cl_json_bool(j, "softmax_w", r->softmax_w);
	cl_json_f32(j, "scale", r->scale);
	cl_json_array(j, "assumed");
	for (bit = 1; bit <= CL_RULE_ALL; bit <<= 1)
		if ((r->assumed & bit) != 0)
			cl_json_str(j, NULL, cl_rule_assumed_text(buf, bit));
	cl_json_end(j);
	cl_json_end(j);
}

static void
json_places(struct cl_json *j, const struct cl_place *p, uint32_t n)
{
	uint32_t i;

	cl_json_array(j, "places");
	for (i = 0; i < n; i++) {
		cl_json_object_row(j, NULL);
		cl_json_u64(j, "shard", p[i].shard);
		cl_json_u64(j, "offset", p[i].off);
		cl_json_end(j);
	}
	cl_json_end(j);
}

/* Of experts with a place each, there are places in place of a stride. */
static void
json_slab(struct cl_json *j, const struct cl_slab *s, uint32_t nexperts)
{
	char buf[32];

	if (s->places != NULL)
		cl_json_object(j, NULL);
	else
		cl_json_object_row(j, NULL);
	cl_json_str(j, "kind", cl_model_slab_name(s->kind));
	cl_json_str(j, "type", type_name(buf, s->type));
	if (s->places != NULL) {
		json_places(j, s->places, nexperts);
	} else {
		cl_json_u64(j, "shard", s->shard);
		cl_json_u64(j, "offset", s->off);
		cl_json_u64(j, "stride", s->stride);
	}
	cl_json_u64(j, "bytes", s->nbytes);
	cl_json_end(j);
}

static void
json_layer(struct cl_json *j, const struct cl_model *m, uint32_t i)
{
	const struct cl_layer *l = &m->layers[i];
	uint32_t s;

	cl_json_object(j, NULL);
	cl_json_u64(j, "layer", i);
	cl_json_bool(j, "moe", l->nexperts > 0);
	cl_json_bool(j, "extra", l->extra);
	cl_json_u64(j, "experts", l->nexperts);
	cl_json_u64(j, "k", l->k);
	if (l->nexperts > 0 && l->expert_bytes == 0)
		cl_json_null(j, "expert_bytes");
	else
		cl_json_u64(j, "expert_bytes", l->expert_bytes);
	cl_json_u64(j, "dense_bytes", layer_dense(l));
	cl_json_array(j, "slabs");
	for (s = 0; s < l->nslabs; s++)
		json_slab(j, &l->slabs[s], l->nexperts);
	cl_json_end(j);
	if (l->nexperts > 0)
		json_rule(j, &l->rule);
	else
		cl_json_null(j, "rule");
	cl_json_end(j);
}

static void
json_known(struct cl_json *j, const char *key, uint64_t v, bool known)
{

	if (known)
		cl_json_u64(j, key, v);
	else
		cl_json_null(j, key);
}

static void
json_sums(struct cl_json *j, const struct cl_model *m)
{
	struct cl_model_sums s;
	uint64_t size = 0, n;

	cl_model_sums(m, &s);
	cl_json_u64(j, "moe_layers", s.nmoe);
	cl_json_u64(j, "experts", s.experts);
	json_known(j, "expert_bytes", s.expert_bytes, s.bytes_known);
	json_known(j, "expert_bytes_max", s.expert_bytes_max, s.bytes_known);
	cl_json_u64(j, "token_demand_experts", s.demand_experts);
	json_known(j, "token_demand_bytes", s.demand_bytes, s.bytes_known);
	cl_json_u64(j, "dense_bytes", s.dense_bytes);
	cl_json_array(j, "size_classes");
	while ((n = next_class(m, &size)) > 0) {
		cl_json_object_row(j, NULL);
		cl_json_u64(j, "bytes", size);
		cl_json_u64(j, "experts", n);
		cl_json_end(j);
	}
	cl_json_end(j);
}

static void
json_shards(struct cl_json *j, const struct cl_model *m)
{
	uint32_t i;

	cl_json_array(j, "shards");
	for (i = 0; i < m->nshards; i++) {
		cl_json_object(j, NULL);
		cl_json_str(j, "path", m->shards[i].path);
		cl_json_u64(j, "bytes", m->shards[i].nbytes);
		cl_json_hex64(j, "head_hash", m->shards[i].head_hash);
		cl_json_end(j);
	}
	cl_json_end(j);
}

void
cl_geometry_json(const struct cl_model *m, struct cl_dst *d)
{
	struct cl_json j;
	uint32_t i;

	cl_json_init(&j, d);
	cl_json_object(&j, NULL);
	cl_json_str(&j, "model", m->name);
	cl_json_str(&j, "architecture", m->arch);
	if (m->fingerprint != 0)
		cl_json_hex64(&j, "model_fingerprint", m->fingerprint);
	else
		cl_json_null(&j, "model_fingerprint");
	json_shards(&j, m);
	json_sums(&j, m);
	cl_json_array(&j, "layers");
	for (i = 0; i < m->nlayers; i++)
		json_layer(&j, m, i);
	cl_json_end(&j);
	cl_json_end(&j);
	cl_json_finish(&j);
}
