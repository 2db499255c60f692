/*
 * capture: a second, independent look at a router, to compare traces with.
 *
 *	capture LIBLLAMA MODEL NCTX NUBATCH PREFILL < TOKENS > SCORES
 *
 * Decodes the token ids read from standard input (decimal, blanks between) as
 * one sequence: the first PREFILL in passes of at most NUBATCH, the others one
 * at a time, on one thread.  Writes the raw scores as float32: token by token,
 * and for each token layer by layer, as many as the layer has experts.
 *
 * It shares nothing with the recorder: one file, no library of ours, and no
 * layout of a tensor: only accessors, and the order in which nodes run.
 */

#define _GNU_SOURCE		/* dladdr */

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX	512

struct params {
	uint32_t	 u[512];
};

struct batch {
	int32_t		 n;
	int32_t		*token;
	float		*embd;
	int32_t		*pos;
	int32_t		*nseq;
	int32_t		**seq;
	int8_t		*output;
	uint64_t	 room[9];
};

struct tensor;
typedef bool observer(struct tensor *, bool, void *);
typedef void logger(int, const char *, void *);

/* The scores of one layer in the pass that runs. */
struct layer {
	float		*scores;
	size_t		 nbytes;
	size_t		 cap;
};

static struct layer layers[LAYERS_MAX];
static void *library;
static void *model;

static const char *(*get_name)(struct tensor *);
static size_t (*get_nbytes)(struct tensor *);
static void (*get_data)(struct tensor *, void *, size_t, size_t);
static void (*set_observer)(void *, observer *, void *);

void	ggml_backend_sched_set_eval_callback(void *, observer *, void *);

static void die(const char *, ...) __attribute__((format(printf, 1, 2),
    noreturn));

static void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "capture: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

/* Store the function of that name in *fn, a pointer to a function. */
static void
find(const char *name, void *fn)
{
	void *p = dlsym(library, name);

	if (p == NULL)
		die("no %s()", name);
	memcpy(fn, &p, sizeof(p));
}

static int
layer_of(struct tensor *t)
{
	int layer = -1, end = 0;
	const char *name = get_name(t);

	if (sscanf(name, "ffn_moe_logits-%d%n", &layer, &end) != 1 ||
	    name[end] != '\0' || layer < 0 || layer >= LAYERS_MAX)
		return (-1);
	return (layer);
}

static bool
observe(struct tensor *t, bool ask, void *arg)
{
	int i = layer_of(t);
	struct layer *l;
	size_t n;

	(void)arg;
	if (ask)
		return (i >= 0);
	l = &layers[i];
	n = get_nbytes(t);
	if (l->cap < l->nbytes + n) {
		l->cap = l->nbytes + n;
		if ((l->scores = realloc(l->scores, l->cap)) == NULL)
			die("out of memory");
	}
	get_data(t, (char *)l->scores + l->nbytes, 0, n);
	l->nbytes += n;
	return (true);
}

/* libllama calls this one, since the executable comes first. */
__attribute__((visibility("default")))
void
ggml_backend_sched_set_eval_callback(void *sched, observer *theirs, void *arg)
{

	(void)theirs;
	(void)arg;
	set_observer(sched, observe, NULL);
}

static void
quiet(int level, const char *text, void *arg)
{

	(void)arg;
	if (level == 4)
		fputs(text, stderr);
}

static void
open_library(const char *path)
{
	void (*log_set)(logger *, void *), (*init)(void);
	void (*load)(const char *);
	char dir[PATH_MAX];
	Dl_info info;
	void *p;

	if ((library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL)
		die("%s", dlerror());
	find("ggml_get_name", &get_name);
	find("ggml_nbytes", &get_nbytes);
	find("ggml_backend_tensor_get", &get_data);
	find("ggml_backend_sched_set_eval_callback", &set_observer);
	find("llama_log_set", &log_set);
	find("llama_backend_init", &init);
	find("ggml_backend_load_all_from_path", &load);
	log_set(quiet, NULL);
	p = dlsym(library, "llama_backend_init");
	if (dladdr(p, &info) == 0 || realpath(info.dli_fname, dir) == NULL)
		die("%s: where is it?", path);
	load(dirname(dir));
	init();
}

static void *
open_context(const char *path, uint32_t nctx, uint32_t nubatch)
{
	struct params (*model_defaults)(void), (*context_defaults)(void), p;
	void *(*load)(const char *, struct params);
	void *(*init)(void *, struct params), *context;
	void (*set_threads)(void *, int32_t, int32_t);

	find("llama_model_default_params", &model_defaults);
	find("llama_context_default_params", &context_defaults);
	find("llama_model_load_from_file", &load);
	find("llama_init_from_model", &init);
	find("llama_set_n_threads", &set_threads);
	if ((model = load(path, model_defaults())) == NULL)
		die("%s does not load", path);
	p = context_defaults();
	p.u[0] = nctx;
	p.u[1] = p.u[2] = nubatch;
	if ((context = init(model, p)) == NULL)
		die("no context of %u positions", nctx);
	set_threads(context, 1, 1);
	return (context);
}

static void
close_all(void *context, struct batch b)
{
	void (*free_batch)(struct batch), (*free_context)(void *);
	void (*free_model)(void *);
	int i;

	find("llama_batch_free", &free_batch);
	find("llama_free", &free_context);
	find("llama_model_free", &free_model);
	free_batch(b);
	free_context(context);
	free_model(model);
	for (i = 0; i < LAYERS_MAX; i++)
		free(layers[i].scores);
}

/* Write the pass by token, and forget it. */
static void
write_pass(uint32_t n)
{
	size_t row;
	uint32_t t;
	int i;

	for (t = 0; t < n; t++)
		for (i = 0; i < LAYERS_MAX; i++) {
			if (layers[i].nbytes % n != 0)
				die("layer %d: rows are missing", i);
			row = layers[i].nbytes / n;
			if (row > 0 && fwrite((char *)layers[i].scores +
			    t * row, 1, row, stdout) != row)
				die("cannot write");
		}
	for (i = 0; i < LAYERS_MAX; i++)
		layers[i].nbytes = 0;
}

static uint32_t
number(const char *s)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	if (end == s || *end != '\0' || v > INT32_MAX)
		die("%s is no number", s);
	return ((uint32_t)v);
}

/* The next pass from standard input, beginning at position pos. */
static void
read_pass(struct batch *b, uint32_t pos, uint32_t prefill, uint32_t nubatch)
{
	uint32_t most = pos >= prefill ? 1 : prefill - pos;
	int32_t i = 0;

	if (most > nubatch)
		most = nubatch;
	while ((uint32_t)i < most && scanf("%d", &b->token[i]) == 1) {
		b->pos[i] = (int32_t)pos + i;
		b->nseq[i] = 1;
		b->seq[i][0] = 0;
		b->output[i] = 1;
		i++;
	}
	b->n = i;
}

int
main(int argc, char **argv)
{
	struct batch (*batch_init)(int32_t, int32_t, int32_t), b;
	int32_t (*decode)(void *, struct batch);
	uint32_t nubatch, prefill, pos;
	void *context;

	if (argc != 6)
		die("usage: capture LIBLLAMA MODEL NCTX NUBATCH PREFILL");
	nubatch = number(argv[4]);
	prefill = number(argv[5]);
	open_library(argv[1]);
	context = open_context(argv[2], number(argv[3]), nubatch);
	find("llama_batch_init", &batch_init);
	find("llama_decode", &decode);
	b = batch_init((int32_t)nubatch, 0, 1);
	for (pos = 0; ; pos += (uint32_t)b.n) {
		read_pass(&b, pos, prefill, nubatch);
		if (b.n == 0)
			break;
		if (decode(context, b) != 0)
			die("decode failed at position %u", pos);
		write_pass((uint32_t)b.n);
	}
	close_all(context, b);
	if (fflush(stdout) != 0)
		die("cannot write");
	return (0);
}
