/*
 * Rows of scores that were routed elsewhere, by libllama and by hand: what was
 * chosen, in its order, and with which weights.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/route.h"
#include "route_check.h"
#include "unit.h"

#define DIR		"tests/routing/"

/* A file of rows, and the block its reader is in. */
struct vectors {
	FILE		*f;
	char		*line;
	size_t		 cap;
	struct cl_rule	 rule;
	bool		 inblock;	/* a "# layer=" has been seen */
	unsigned long	 layer;
	unsigned long	 promised, nrows, nties;
	float		 gate_bias[E_MAX], sel_bias[E_MAX];
	struct cl_route	*route;
};

static float
parse_float(const char **s)
{
	char *end;
	float v;

	v = strtof(*s, &end);
	assert(end != *s);
	*s = end;
	return (v);
}

/* n floats, comma separated, and then the character `end`. */
static void
parse_floats(const char **s, float *v, uint32_t n, char end)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		v[i] = parse_float(s);
		assert(**s == (i + 1 < n ? ',' : end));
		if (**s != '\0')
			++*s;
	}
}

static unsigned long
parse_number(const char **s, char end)
{
	unsigned long v;
	char *after;

	assert(**s >= '0' && **s <= '9');
	v = strtoul(*s, &after, 10);
	assert(*after == end);
	*s = after + (end != '\0');
	return (v);
}

static void
parse_key(struct vectors *v, const char *key, const char *s)
{
	struct cl_rule *r = &v->rule;

	if (strcmp(key, "layer") == 0) {
		cl_rule_init(r, 1, 1);
		r->norm = false;
		v->inblock = true;
		v->layer = parse_number(&s, '\0');
	} else if (!v->inblock) {
		if (strcmp(key, "rows") == 0)
			v->promised = parse_number(&s, '\0');
	} else if (strcmp(key, "n_expert") == 0)
		r->nexperts = (uint32_t)parse_number(&s, '\0');
	else if (strcmp(key, "k") == 0)
		r->k = (uint32_t)parse_number(&s, '\0');
	else if (strcmp(key, "gate") == 0)
		assert((r->gate = cl_rule_gate_by_name(s)) != 0);
	else if (strcmp(key, "select_from") == 0)
		assert((r->select = cl_rule_select_by_name(s)) != 0);
	else if (strcmp(key, "gate_bias") == 0) {
		r->gate_bias = v->gate_bias;
		parse_floats(&s, r->gate_bias, r->nexperts, '\0');
	} else if (strcmp(key, "sel_bias") == 0) {
		r->sel_bias = v->sel_bias;
		parse_floats(&s, r->sel_bias, r->nexperts, '\0');
	} else if (strcmp(key, "n_group") == 0)
		r->ngroup = (uint32_t)parse_number(&s, '\0');
	else if (strcmp(key, "n_group_used") == 0)
		r->ngroup_used = (uint32_t)parse_number(&s, '\0');
	else if (strcmp(key, "norm") == 0)
		r->norm = parse_number(&s, '\0') == 1;
	else if (strcmp(key, "softmax_w") == 0)
		r->softmax_w = parse_number(&s, '\0') == 1;
	else if (strcmp(key, "scale") == 0)
		parse_floats(&s, &r->scale, 1, '\0');
	else
		assert(strcmp(key, "case") == 0 ||
		    strcmp(key, "depends") == 0);
}

static void
check_row(struct vectors *v, const char *s)
{
	float scores[E_MAX], want_w[E_MAX], w[E_MAX];
	uint16_t want[E_MAX], ids[E_MAX];
	const struct cl_rule *r = &v->rule;
	bool tie, weights;
	uint32_t j;

	assert(r->nexperts <= E_MAX && cl_rule_check(r, NULL) == CL_OK);
	assert(parse_number(&s, '\t') == v->layer);
	assert(parse_number(&s, '\t') == r->k);
	for (j = 0; j < r->k; j++)
		want[j] = (uint16_t)parse_number(&s,
		    j + 1 < r->k ? ',' : '\t');
	weights = strncmp(s, "-\t", 2) != 0;
	if (weights)
		parse_floats(&s, want_w, r->k, '\t');
	else
		s += 2;
	parse_floats(&s, scores, r->nexperts, '\t');
	tie = parse_number(&s, '\0') == 1;

	cl_route_choose(v->route, r, scores, ids, NULL);
	if (!tie)
		assert(memcmp(ids, want, r->k * sizeof(*ids)) == 0);
	cl_route_choose(v->route, r, scores, ids, w);
	if (!tie)
		assert(memcmp(ids, want, r->k * sizeof(*ids)) == 0);
	for (j = 0; weights && !tie && j < r->k; j++)
		check_weight(w[j], want_w[j]);
	cl_route_weigh(v->route, r, scores, want, r->k, w);
	for (j = 0; weights && j < r->k; j++)
		check_weight(w[j], want_w[j]);
	v->nrows++;
	v->nties += tie;
}

static void
check_file(const char *name, unsigned long nrows, unsigned long nties)
{
	struct vectors v = { 0 };
	char path[64], *eq;
	ssize_t len;

	snprintf(path, sizeof(path), DIR "%s.tsv", name);
	assert((v.f = fopen(path, "r")) != NULL);
	assert((v.route = cl_route_new(E_MAX, NULL)) != NULL);
	while ((len = getline(&v.line, &v.cap, v.f)) > 0) {
		assert(v.line[len - 1] == '\n');
		v.line[len - 1] = '\0';
		if (strncmp(v.line, "# ", 2) != 0) {
			assert(v.inblock);
			check_row(&v, v.line);
			continue;
		}
		assert((eq = strchr(v.line, '=')) != NULL);
		*eq = '\0';
		parse_key(&v, v.line + 2, eq + 1);
	}
	assert(feof(v.f) && v.nrows == v.promised);
	assert(v.nrows == nrows && v.nties == nties);
	free(v.line);
	cl_route_free(v.route);
	fclose(v.f);
}

static void
llama_rows(void)
{
	static const struct {
		const char	*name;
		unsigned long	 nrows, nties;
	} files[] = {
		{ "mixtral", 48, 0 }, { "qwen3moe", 48, 0 },
		{ "qwen2moe", 48, 0 }, { "qwen3next", 40, 0 },
		{ "granitemoe", 48, 4 }, { "phimoe", 48, 0 },
		{ "jamba", 48, 0 }, { "gpt-oss", 48, 0 },
		{ "llama4", 48, 0 }, { "deepseek-v2", 48, 0 },
		{ "deepseek-v3", 40, 0 }, { "kimi-linear", 40, 1 },
		{ "glm4moe", 48, 0 }, { "deepseek4", 40, 0 },
		{ "ernie4_5-moe", 48, 0 }, { "smallthinker", 48, 4 },
		{ "grovemoe", 48, 4 }, { "nemotron_h_moe", 48, 0 },
		{ "afmoe", 48, 0 }, { "lfm2moe", 48, 0 },
	};
	size_t i;

	assert(sizeof(files) / sizeof(files[0]) == 20);
	for (i = 0; i < 20; i++)
		check_file(files[i].name, files[i].nrows, files[i].nties);
}

static void
edge_rows(void)
{

	check_file("edges", 165, 0);
}

static const struct unit units[] = {
	{ "all rows that llama.cpp computed are chosen and weighed alike",
	    llama_rows },
	{ "every edge case holds as the convention states it", edge_rows },
};

UNIT_MAIN(units)
