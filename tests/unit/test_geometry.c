/*
 * report/geometry: the description of a model, text and JSON, byte by byte.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/geometry.h"
#include "cl/model.h"
#include "memio.h"
#include "unit.h"

static void
expect(struct cl_model *m,
    void (*describe)(const struct cl_model *, struct cl_dst *),
    const char *want)
{
	struct cl_err err = { 0 };
	struct cl_buf out = { 0 };
	struct cl_dst *d = mem_dst(&out);
	const char *got;

	assert(cl_model_check(m, &err) == CL_OK);
	describe(m, d);
	assert(cl_dst_finish(d, &err) == CL_OK);
	cl_dst_free(d);
	cl_model_free(m);
	got = mem_text(&out);
	if (strcmp(got, want) != 0)
		fprintf(stderr, "got:\n%swanted:\n%s", got, want);
	assert(strcmp(got, want) == 0);
	cl_buf_free(&out);
}

static void
set_string(char **s, const char *value)
{

	free(*s);
	*s = strdup(value);
	assert(*s != NULL);
}

static void
set_moe(struct cl_layer *l, uint32_t nexperts, uint32_t k)
{

	l->nexperts = nexperts;
	l->k = k;
	cl_rule_init(&l->rule, nexperts, k);
}

static void
set_slab(struct cl_layer *l, uint64_t off, uint64_t nbytes, uint32_t type)
{

	l->slabs = calloc(1, sizeof(*l->slabs));
	assert(l->slabs != NULL);
	l->nslabs = 1;
	l->slabs[0].kind = CL_SLAB_UP;
	l->slabs[0].type = type;
	l->slabs[0].off = off;
	l->slabs[0].stride = l->slabs[0].nbytes = nbytes;
	l->expert_bytes = nbytes;
}

/* A tensor for each expert instead, in another shard. */
static void
set_places(struct cl_layer *l)
{
	struct cl_slab *s = l->slabs;
	uint32_t i;

	s->places = calloc(l->nexperts, sizeof(*s->places));
	assert(s->places != NULL);
	for (i = 0; i < l->nexperts; i++)
		s->places[i] = (struct cl_place){ 0, 30300 - i * 100 };
	s->off = s->stride = 0;
}

/* dense, MoE of two sizes that alternate, extra */
static struct cl_model *
sample(void)
{
	struct cl_err err = { 0 };
	struct cl_model *m = cl_model_new(5, &err);
	uint32_t i;

	assert(m != NULL);
	set_string(&m->name, "a\033model");
	set_string(&m->arch, "m");
	m->fingerprint = 0xabc;
	m->shards = calloc(1, sizeof(*m->shards));
	m->nshards = 1;
	set_string(&m->shards[0].path, "x.gguf");
	m->shards[0].nbytes = 1 << 20;
	m->shards[0].head_hash = 0x12;
	m->dense = calloc(1, sizeof(*m->dense));
	m->ndense = 1;
	m->dense[0].nbytes = 5;
	for (i = 1; i < 5; i++) {
		set_moe(&m->layers[i], 4, 2);
		set_slab(&m->layers[i], i * 10000, i % 2 == 1 ? 100 : 1024,
		    i == 2 ? 200 : 8);
		m->layers[i].rule.assumed = i == 2 ? CL_RULE_NORM : 0;
	}
	set_places(&m->layers[3]);
	m->layers[4].extra = true;
	return (m);
}

static void
text_folds_what_is_alike(void)
{

	expect(sample(), cl_geometry_text,
	    "model         a?model\n"
	    "architecture  m\n"
	    "fingerprint   0000000000000abc\n"
	    "shard 0       x.gguf, 1.00 MiB (1,048,576 bytes), head "
	    "0000000000000012\n"
	    "layers        5: 3 MoE, 1 dense, 1 extra\n"
	    "experts       12, 4.78 KiB (4,896 bytes)\n"
	    "expert sizes  8 of 100 B (100 bytes), 4 of 1.00 KiB (1,024 "
	    "bytes)\n"
	    "demand        6 experts a token, 2.39 KiB (2,448 bytes)\n"
	    "dense         5 B (5 bytes) for every token\n"
	    "\n"
	    "layers    kind     experts     k    expert bytes     dense "
	    "bytes\n"
	    "0         dense          0     0               0               "
	    "0\n"
	    "1         MoE            4     2             100               "
	    "0\n"
	    "2         MoE            4     2            1024               "
	    "0\n"
	    "3         MoE            4     2             100               "
	    "0\n"
	    "4         extra          4     2            1024               "
	    "0\n"
	    "\n"
	    "layer     slab      type       shard            offset        "
	    "stride         bytes\n"
	    "1         up        q8_0           0             10000          "
	    " 100           100\n"
	    "2         up        type 200       0             20000          "
	    "1024          1024\n"
	    "3         up        q8_0           0             30300      one "
	    "each           100\n"
	    "4         up        q8_0           0             40000          "
	    "1024          1024\n"
	    "\n"
	    "routers by layer\n"
	    "1,3-4: 2 of 4, gate softmax, select by probs, normalised, "
	    "scale 1; assumed: nothing\n"
	    "2: 2 of 4, gate softmax, select by probs, normalised, scale 1; "
	    "assumed: norm\n");
}

static struct cl_model *
bare(void)
{
	struct cl_err err = { 0 };
	struct cl_model *m = cl_model_new(1, &err);
	struct cl_rule *r;

	assert(m != NULL);
	set_moe(&m->layers[0], 8, 2);
	r = &m->layers[0].rule;
	r->gate = CL_GATE_SOFTMAX_WEIGHT;
	r->softmax_w = true;
	r->norm = false;
	r->scale = 2.5f;
	r->ngroup = 4;
	r->ngroup_used = 3;
	r->gate_bias = calloc(8, sizeof(float));
	r->sel_bias = calloc(8, sizeof(float));
	r->assumed = CL_RULE_GATE | CL_RULE_SCALE;
	return (m);
}

static void
bytes_may_be_unknown(void)
{

	expect(bare(), cl_geometry_text,
	    "model         unknown\n"
	    "architecture  unknown\n"
	    "layers        1: 1 MoE, 0 dense, 0 extra\n"
	    "experts       8, bytes not known\n"
	    "demand        2 experts a token\n"
	    "\n"
	    "layers    kind     experts     k    expert bytes     dense "
	    "bytes\n"
	    "0         MoE            8     2         unknown               "
	    "0\n"
	    "\n"
	    "routers by layer\n"
	    "0: 2 of 8, gate softmax_weight, select by probs, gate bias, "
	    "selection bias, 3 of 4 groups, not normalised, softmax over the "
	    "chosen, scale 2.5; assumed: gate,scale\n");
	expect(bare(), cl_geometry_json,
	    "{\n"
	    "  \"model\": \"\",\n"
	    "  \"architecture\": \"\",\n"
	    "  \"model_fingerprint\": null,\n"
	    "  \"shards\": [],\n"
	    "  \"moe_layers\": 1,\n"
	    "  \"experts\": 8,\n"
	    "  \"expert_bytes\": null,\n"
	    "  \"expert_bytes_max\": null,\n"
	    "  \"token_demand_experts\": 2,\n"
	    "  \"token_demand_bytes\": null,\n"
	    "  \"dense_bytes\": 0,\n"
	    "  \"size_classes\": [],\n"
	    "  \"layers\": [\n"
	    "    {\n"
	    "      \"layer\": 0,\n"
	    "      \"moe\": true,\n"
	    "      \"extra\": false,\n"
	    "      \"experts\": 8,\n"
	    "      \"k\": 2,\n"
	    "      \"expert_bytes\": null,\n"
	    "      \"dense_bytes\": 0,\n"
	    "      \"slabs\": [],\n"
	    "      \"rule\": {\"gate\": \"softmax_weight\", \"select\": "
	    "\"probs\", \"gate_bias\": true, \"sel_bias\": true, \"groups\": "
	    "4, \"groups_used\": 3, \"norm\": false, \"softmax_w\": true, "
	    "\"scale\": 2.5, \"assumed\": [\"gate\", \"scale\"]}\n"
	    "    }\n"
	    "  ]\n"
	    "}\n");
}

static const struct unit units[] = {
	{ "text folds what is alike", text_folds_what_is_alike },
	{ "bytes that are not known are not shown as 0",
	    bytes_may_be_unknown },
};

UNIT_MAIN(units)
