/*
 * The tap on libllama, on the shipped model: what it captures is the router's
 * own, in the batch's order, whatever the batch's shape; what cannot work ends
 * in one line.  Skipped where no libllama is found (CL_LLAMA, build/deps).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/route.h"
#include "cl/rule.h"
#include "cl/tap.h"
#include "unit.h"

/*
 * clang's address sanitizer looks for __cxa_throw when the program starts, and
 * dies when a C++ library that was opened later throws, as libllama does over
 * a bad model.  gcc's does not.
 */
#if defined(__clang__) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MUST_NOT_THROW
#endif
#endif

#define MODEL	"tests/models/cl-moe-8x64.gguf"
#define PROMPTS	"tests/models/prompts/"
#define TEXT_MAX 8000
#define NLAYERS	8
#define E	64
#define K	8

static const char *places[] = { NULL, NULL, NULL };

static struct cl_tap_options
options(uint32_t nbatch, uint32_t nubatch, uint32_t nseq)
{
	struct cl_tap_options o = { .places = places, .nctx = 4096,
	    .nbatch = nbatch, .nubatch = nubatch, .nseq = nseq, .nthreads = 1,
	    .capture = true };

	return (o);
}

static struct cl_tap *
open_with(const struct cl_tap_options *o)
{
	struct cl_err err = { 0 };
	struct cl_tap *tap = cl_tap_open(o, MODEL, &err);

	if (tap == NULL)
		fprintf(stderr, "%s\n", err.msg);
	assert(tap != NULL);
	return (tap);
}

static size_t
read_prompt(const char *name, char text[TEXT_MAX])
{
	char path[200];
	FILE *f;
	size_t n;

	(void)snprintf(path, sizeof(path), PROMPTS "%s", name);
	assert((f = fopen(path, "r")) != NULL);
	n = fread(text, 1, TEXT_MAX, f);
	assert(n > 0 && n < TEXT_MAX);
	(void)fclose(f);
	return (n);
}

/* The tokens of a prompt as one sequence; the caller frees. */
static struct cl_tap_token *
prompt_tokens(struct cl_tap *tap, const char *name, uint32_t *n)
{
	struct cl_err err = { 0 };
	struct cl_tap_token *t;
	char text[TEXT_MAX];
	size_t i, ntokens, nbytes = read_prompt(name, text);
	int32_t *tokens;

	assert(cl_tap_tokenize(tap, text, nbytes, false, &tokens, &ntokens,
	    &err) == CL_OK && ntokens > 0);
	assert((t = calloc(ntokens, sizeof(*t))) != NULL);
	for (i = 0; i < ntokens; i++) {
		t[i].token = tokens[i];
		t[i].pos = (uint32_t)i;
	}
	free(tokens);
	*n = (uint32_t)ntokens;
	return (t);
}

static void
decode(struct cl_tap *tap, const struct cl_tap_token *t, uint32_t n)
{
	struct cl_err err = { 0 };

	if (cl_tap_decode(tap, t, n, &err) != CL_OK) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void
check_rule(const struct cl_rule *r)
{

	assert(r->nexperts == E && r->k == K);
	assert(r->gate == CL_GATE_SOFTMAX && r->select == CL_SELECT_PROBS);
	assert(r->gate_bias == NULL && r->sel_bias == NULL);
	assert(r->ngroup == 1 && r->ngroup_used == 1);
	assert(r->norm && !r->softmax_w && r->scale == 1 && r->assumed == 0);
}

static void
rule_is_read(void)
{
	struct cl_tap_options o = options(64, 64, 1);
	struct cl_tap *tap = open_with(&o);
	struct cl_tap_token t = { .token = 67, .pos = 0, .seq = 0 };
	uint32_t i;

	assert(cl_tap_nlayers(tap) == 0);
	assert(strncmp(cl_tap_engine(tap), "libllama ", 9) == 0);
	decode(tap, &t, 1);
	assert(cl_tap_nlayers(tap) == NLAYERS);
	for (i = 0; i < NLAYERS; i++) {
		assert(cl_tap_layer(tap, i)->layer == i);
		assert(cl_tap_layer(tap, i)->nexperts == E);
		assert(cl_tap_layer(tap, i)->k == K);
		check_rule(cl_tap_rule(tap, i));
	}
	assert(cl_tap_captured(tap) == 2 * NLAYERS);
	assert(cl_tap_nvocab(tap) == 1024);
	cl_tap_close(tap);
}

/* Rows whose experts are not what the rule makes of the scores. */
static uint32_t
mismatches(struct cl_tap *tap, struct cl_route *route, uint32_t n)
{
	const struct cl_tap_layer *l;
	uint16_t ids[K];
	uint32_t i, row, bad = 0;

	for (i = 0; i < cl_tap_nlayers(tap); i++) {
		l = cl_tap_layer(tap, i);
		for (row = 0; row < n; row++) {
			cl_route_choose(route, cl_tap_rule(tap, i),
			    l->scores + (size_t)row * E, ids, NULL);
			bad += memcmp(ids, l->ids + (size_t)row * K,
			    sizeof(ids)) != 0;
		}
	}
	return (bad);
}

static void
rule_gives_what_was_chosen(void)
{
	static const char *const names[] = { "code-c.txt", "code-py.txt",
	    "manual.txt", "mixed.txt", "novel.txt", "scripture.txt",
	    "speech.txt" };
	struct cl_err err = { 0 };
	struct cl_tap_options o = options(512, 512, 1);
	struct cl_route *route = cl_route_new(E, &err);
	struct cl_tap *tap = open_with(&o);
	struct cl_tap_token *t;
	uint32_t done, i, n, part;

	assert(route != NULL);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		t = prompt_tokens(tap, names[i], &n);
		for (done = 0; done < n; done += part) {
			part = n - done < 512 ? n - done : 512;
			decode(tap, t + done, part);
			assert(mismatches(tap, route, part) == 0);
		}
		free(t);
		cl_tap_forget(tap, 0);
	}
	cl_tap_close(tap);
	cl_route_free(route);
}

/* A copy of all layers' scores of the last batch; the caller frees. */
static float *
copy_scores(struct cl_tap *tap, uint32_t n)
{
	float *all = calloc((size_t)NLAYERS * n * E, sizeof(*all));
	uint32_t i;

	assert(all != NULL && cl_tap_nlayers(tap) == NLAYERS);
	for (i = 0; i < NLAYERS; i++)
		memcpy(all + (size_t)i * n * E, cl_tap_layer(tap, i)->scores,
		    (size_t)n * E * sizeof(*all));
	return (all);
}

/*
 * Scores of another batch shape are not the same bits (other kernels, a
 * half-precision cache), but far nearer than those of another token.
 */
static bool
near(const float *a, const float *b)
{
	double d = 0, m = 0;
	int i;

	for (i = 0; i < E; i++) {
		d += fabs((double)a[i] - (double)b[i]);
		m += fabs((double)a[i]);
	}
	return (d <= 0.3 * m);
}

static void
graphs_of_a_batch_are_joined(void)
{
	struct cl_tap_options o = options(96, 96, 1);
	struct cl_tap *tap = open_with(&o);
	struct cl_tap_token *t;
	uint32_t i, n;
	float *whole;

	t = prompt_tokens(tap, "speech.txt", &n);
	assert(n > 96);
	decode(tap, t, 96);
	whole = copy_scores(tap, 96);
	cl_tap_close(tap);

	o.nubatch = 32;
	tap = open_with(&o);
	decode(tap, t, 96);
	assert(cl_tap_captured(tap) == 2 * NLAYERS * 3);
	for (i = 0; i < 96; i++)
		assert(cl_tap_graph(tap, i) == i / 32);
	for (i = 0; i < NLAYERS * 96; i++)
		assert(near(whole + (size_t)i * E, cl_tap_layer(tap,
		    i / 96)->scores + (size_t)(i % 96) * E));
	assert(!near(whole, whole + E));
	cl_tap_close(tap);
	free(whole);
	free(t);
}

static void
same_again_is_the_same_bytes(void)
{
	struct cl_tap_options o = options(64, 64, 1);
	struct cl_tap_token *t;
	struct cl_tap *tap;
	float *scores[2];
	uint32_t n;
	int i;

	o.nthreads = 2;
	for (i = 0; i < 2; i++) {
		tap = open_with(&o);
		t = prompt_tokens(tap, "novel.txt", &n);
		decode(tap, t, 64);
		scores[i] = copy_scores(tap, 64);
		cl_tap_close(tap);
		free(t);
	}
	assert(memcmp(scores[0], scores[1], NLAYERS * 64 * E *
	    sizeof(float)) == 0);
	free(scores[0]);
	free(scores[1]);
}

/* Each of the n tokens of a batch ran in a graph, and each has some. */
static void
check_graphs(struct cl_tap *tap, uint32_t n, uint32_t most)
{
	uint32_t tokens[64] = { 0 }, i, last = 0;

	for (i = 0; i < n; i++) {
		assert(cl_tap_graph(tap, i) < 64);
		tokens[cl_tap_graph(tap, i)]++;
		if (cl_tap_graph(tap, i) > last)
			last = cl_tap_graph(tap, i);
	}
	assert(last + 1 >= n / most);
	for (i = 0; i <= last; i++)
		assert(tokens[i] > 0 && tokens[i] <= most);
}

/*
 * Two sequences of different length that share a beginning and positions,
 * interleaved in one batch that runs as several graphs: the engine regroups
 * them, and each row must still be its token's.
 */
static void
sequences_are_told_apart(void)
{
	enum { A = 40, B = 24, N = A + B };
	struct cl_tap_options o = options(N, 16, 2);
	struct cl_tap *tap = open_with(&o);
	struct cl_tap_token *p[2], t[N];
	uint32_t at[2][A], i, m, n, len[2] = { A, B };
	float *alone[2];
	uint32_t q;

	p[0] = prompt_tokens(tap, "novel.txt", &n);
	p[1] = prompt_tokens(tap, "scripture.txt", &n);
	p[1][3] = p[0][3];		/* the same token and position */
	for (q = 0; q < 2; q++) {
		for (i = 0; i < len[q]; i++)
			p[q][i].seq = q;
		decode(tap, p[q], len[q]);
		alone[q] = copy_scores(tap, len[q]);
		cl_tap_forget(tap, q);
	}
	for (i = m = 0; i < A; i++)
		for (q = 0; q < 2; q++)
			if (i < len[q]) {
				at[q][i] = m;
				t[m++] = p[q][i];
			}
	decode(tap, t, N);
	check_graphs(tap, N, 16);
	for (q = 0; q < 2; q++)
		for (i = 0; i < NLAYERS * len[q]; i++)
			assert(near(alone[q] + (size_t)i * E, cl_tap_layer(
			    tap, i / len[q])->scores + (size_t)
			    at[q][i % len[q]] * E));
	cl_tap_close(tap);
	for (q = 0; q < 2; q++) {
		free(alone[q]);
		free(p[q]);
	}
}

/* What looks like a special token is one where the text holds marks. */
static void
marks_are_tokens_on_demand(void)
{
	static const char text[] = "a<|endoftext|>";
	struct cl_err err = { 0 };
	struct cl_tap_options o = options(16, 16, 1);
	struct cl_tap *tap = open_with(&o);
	size_t n, nmarks;
	int32_t *t, *marks;

	assert(cl_tap_tokenize(tap, text, sizeof(text) - 1, false, &t, &n,
	    &err) == CL_OK);
	assert(cl_tap_tokenize(tap, text, sizeof(text) - 1, true, &marks,
	    &nmarks, &err) == CL_OK);
	assert(nmarks == 2 && n > 2 && marks[0] == t[0]);
	assert(cl_tap_is_end(tap, marks[1]) && !cl_tap_is_end(tap, t[1]));
	free(t);
	free(marks);
	cl_tap_close(tap);
}

static void
output_is_of_the_token_asked_for(void)
{
	struct cl_err err = { 0 };
	struct cl_tap_options o = options(64, 64, 1);
	struct cl_tap *tap = open_with(&o);
	const float *out;
	struct cl_tap_token *t;
	uint32_t i, n, best = 0;

	t = prompt_tokens(tap, "novel.txt", &n);
	decode(tap, t, 8);
	assert((out = cl_tap_output(tap, 7, &err)) != NULL);
	for (i = 1; i < cl_tap_nvocab(tap); i++)
		if (out[i] > out[best])
			best = i;
	assert(!cl_tap_is_end(tap, (int32_t)best));
	assert(cl_tap_output(tap, 8, &err) == NULL &&
	    err.code == CL_EINVAL);
	cl_tap_close(tap);
	free(t);
}

static void
nothing_is_captured_when_not_asked(void)
{
	struct cl_tap_options o = options(64, 64, 1);
	struct cl_tap *tap;
	struct cl_tap_token t = { .token = 67, .pos = 0, .seq = 0 };

	o.capture = false;
	tap = open_with(&o);
	decode(tap, &t, 1);
	assert(cl_tap_nlayers(tap) == 0 && cl_tap_captured(tap) == 0);
	cl_tap_capture(tap, true);
	t.pos = 1;
	decode(tap, &t, 1);
	assert(cl_tap_nlayers(tap) == NLAYERS);
	assert(cl_tap_captured(tap) == 2 * NLAYERS);
	cl_tap_capture(tap, false);
	t.pos = 2;
	decode(tap, &t, 1);
	assert(cl_tap_captured(tap) == 2 * NLAYERS);
	cl_tap_close(tap);
}

static void
a_context_can_wait_for_its_size(void)
{
	struct cl_tap_options o = options(64, 64, 1);
	struct cl_err err = { 0 };
	struct cl_tap_token *t;
	struct cl_tap *tap;
	uint32_t n;

	o.nctx = 0;
	tap = open_with(&o);
	assert(cl_tap_nctx(tap) == 0);
	t = prompt_tokens(tap, "manual.txt", &n);
	assert(n >= 50);
	assert(cl_tap_decode(tap, t, 1, &err) == CL_EINVAL);
	memset(&err, 0, sizeof(err));
	assert(cl_tap_context(tap, 50, &err) == CL_OK);
	assert(cl_tap_nctx(tap) == 50 && cl_tap_nubatch(tap) == 50);
	decode(tap, t, 50);
	assert(cl_tap_context(tap, 60, &err) == CL_EINVAL);
	free(t);
	cl_tap_close(tap);
}

static void
limits_are_named(void)
{
	struct cl_err err = { 0 };
	struct cl_tap_options o = options(16, 16, 1);
	struct cl_tap *tap = open_with(&o), *second;
	struct cl_tap_token t[17] = { { 67, 0, 0 } };

	assert(cl_tap_decode(tap, t, 17, &err) == CL_EINVAL);
	assert(strcmp(err.msg, "a batch of 17 tokens; 1 to 16 will do") == 0);
	err.code = CL_OK;
	assert(cl_tap_decode(tap, t, 0, &err) == CL_EINVAL);
	err.code = CL_OK;
	t[0].seq = 1;
	assert(cl_tap_decode(tap, t, 1, &err) == CL_EINVAL);
	err.code = CL_OK;
	second = cl_tap_open(&o, MODEL, &err);
	assert(second == NULL && err.code == CL_EINVAL);
	t[0].seq = 0;
	decode(tap, t, 1);		/* none of this did it harm */
	cl_tap_close(tap);
	cl_tap_close(NULL);
}

/* The message of an open that fails, and that it is one line. */
static const char *
refusal(const struct cl_tap_options *o, const char *model,
    struct cl_err *err)
{

	memset(err, 0, sizeof(*err));
	assert(cl_tap_open(o, model, err) == NULL && err->code < 0);
	assert(err->msg[0] != '\0' && strchr(err->msg, '\n') == NULL);
	return (err->msg);
}

static void
bad_places_are_named(void)
{
	static const char *const none[] = { "tests/unit", NULL };
	static const char *const text[] = { "Makefile", NULL };
	struct cl_err err;
	struct cl_tap_options o = options(16, 16, 1);

	o.places = none;
	o.must = none[0];
	assert(strcmp(refusal(&o, MODEL, &err),
	    "there is no libllama at tests/unit") == 0);
	o.places = text;
	o.must = NULL;
	assert(strncmp(refusal(&o, MODEL, &err),
	    "Makefile cannot be opened as libllama: ", 39) == 0);
}

#ifndef MUST_NOT_THROW
static void
bad_models_give_the_engines_reason(void)
{
	struct cl_err err;
	struct cl_tap_options o = options(16, 16, 1);
	char path[] = "/tmp/cl-test-tap-XXXXXX";
	char *bytes = malloc(1 << 20);
	int fd = mkstemp(path);
	FILE *f = fopen(MODEL, "r");

	assert(bytes != NULL && fd != -1 && f != NULL);
	assert(fread(bytes, 1, 1 << 20, f) == 1 << 20);
	assert(write(fd, bytes, 1 << 20) == 1 << 20);
	(void)fclose(f);
	(void)close(fd);
	free(bytes);
	refusal(&o, path, &err);
	assert(strstr(err.msg, " cannot load it: ") != NULL);
	assert(strstr(err.msg, "no reason") == NULL);
	(void)unlink(path);
	refusal(&o, path, &err);
	assert(strncmp(err.msg, path, strlen(path)) == 0);
}
#endif

static const struct unit units[] = {
	{ "the rule of every layer is read from the graph", rule_is_read },
	{ "the rule gives what was chosen, for every prompt",
	    rule_gives_what_was_chosen },
	{ "a batch that runs as several graphs keeps its order",
	    graphs_of_a_batch_are_joined },
	{ "the same run again gives the same bytes, on two threads too",
	    same_again_is_the_same_bytes },
	{ "sequences that the engine regroups are told apart",
	    sequences_are_told_apart },
	{ "marks in a text are tokens where it is said to hold some",
	    marks_are_tokens_on_demand },
	{ "a token's output is there, and only within the batch",
	    output_is_of_the_token_asked_for },
	{ "nothing is captured while capturing is off",
	    nothing_is_captured_when_not_asked },
	{ "a context can wait until its size is known",
	    a_context_can_wait_for_its_size },
	{ "limits are named, and a refused batch does no harm",
	    limits_are_named },
	{ "a place without libllama is named", bad_places_are_named },
#ifndef MUST_NOT_THROW
	{ "a model that does not load gives libllama's own reason",
	    bad_models_give_the_engines_reason },
#endif
};

int
main(void)
{
	struct cl_err err = { 0 };
	struct cl_tap_options o = options(16, 16, 1);
	struct cl_tap *tap;
	const char *env = getenv("CL_LLAMA");

	places[0] = env != NULL && *env != '\0' ? env : "build/deps";
	o.must = places[0];
	if ((tap = cl_tap_open(&o, MODEL, &err)) == NULL) {
		if (strncmp(err.msg, "there is no libllama", 20) != 0) {
			fprintf(stderr, "%s\n", err.msg);
			return (1);
		}
		printf("1..0 # SKIP %s; run `make deps`\n", err.msg);
		return (0);
	}
	cl_tap_close(tap);
	return (unit_run(units, sizeof(units) / sizeof(units[0])));
}
