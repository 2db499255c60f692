/*
 * The life of a model in libllama: load, tokenise, decode, close.
 *
 * This file defines a function of libggml's name.  libllama calls it for
 * every graph that it builds and, since the executable comes first in the
 * lookup scope, arrives here; the real one is then given our own callback.
 * It has no argument of ours to find its tap by, hence the one mutable global
 * of the library: the tap that is alive.
 */

#include <stdlib.h>
#include <string.h>

#include "tap_int.h"

#define NCTX_MAX	(UINT32_C(1) << 30)
#define NTHREADS_MAX	512		/* ggml's own limit */
#define ROUNDING	256		/* what a context is rounded up to */

static struct cl_tap *live;

void	ggml_backend_sched_set_eval_callback(void *sched, tap_observer *,
	    void *);

/* Our callback while capturing, else the one that libllama wants. */
static void
install(struct cl_tap *tap)
{

	if (tap->opt.capture)
		tap->lib.set_observer(tap->sched, cl_tap_int_observe, tap);
	else
		tap->lib.set_observer(tap->sched, tap->theirs,
		    tap->their_arg);
}

__attribute__((visibility("default")))
void
ggml_backend_sched_set_eval_callback(void *sched, tap_observer *theirs,
    void *arg)
{

	if (live == NULL)
		return;
	live->nasked = 0;		/* another graph was built */
	live->sched = sched;
	live->theirs = theirs;
	live->their_arg = arg;
	install(live);
}

/* It is installed when a graph is built, but graphs are built to be reused. */
void
cl_tap_capture(struct cl_tap *tap, bool on)
{

	tap->opt.capture = on;
	if (tap->sched != NULL)
		install(tap);
}

static int
check_options(const struct cl_tap_options *o, struct cl_err *err)
{

	if (o->nbatch == 0 || o->nubatch == 0)
		return (cl_fail(err, CL_EINVAL, "a batch of no tokens"));
	if (o->nthreads == 0 || o->nthreads > NTHREADS_MAX)
		return (cl_fail(err, CL_EINVAL, "%u threads; 1 to %d will "
		    "do", o->nthreads, NTHREADS_MAX));
	if (o->gpu_layers > INT32_MAX)
		return (cl_fail(err, CL_EINVAL, "%u layers for a GPU",
		    o->gpu_layers));
	return (CL_OK);
}

static int
check_context(struct cl_tap_options *o, struct cl_err *err)
{

	if (o->nctx == 0 || o->nctx > NCTX_MAX)
		return (cl_fail(err, CL_EINVAL, "a context of %u positions; "
		    "1 to %u will do", o->nctx, NCTX_MAX));
	if (o->nseq == 0 || o->nseq > o->nctx)
		return (cl_fail(err, CL_EINVAL, "%u sequences in a context "
		    "of %u positions", o->nseq, o->nctx));
	if (o->nbatch > o->nctx)
		o->nbatch = o->nctx;
	if (o->nubatch > o->nbatch)
		o->nubatch = o->nbatch;
	return (CL_OK);
}

static int
load_model(struct cl_tap *tap, const char *path, struct cl_err *err)
{
	struct tap_blob params = tap->lib.model_defaults();
	int status;

	if ((status = cl_tap_int_set_params(tap, &params, err)) != CL_OK)
		return (status);
	tap->log.text[0] = '\0';
	tap->model = tap->lib.model_load(path, params);
	if (tap->model == NULL)
		return (cl_fail(err, CL_ENOTSUP, "%s: %s cannot load it: %s",
		    path, tap->lib.engine, cl_tap_int_reason(&tap->log)));
	tap->vocab = tap->lib.model_vocab(tap->model);
	tap->nslots = (uint32_t)tap->lib.model_nlayers(tap->model);
	return (cl_tap_int_check_params(tap, err));
}

/* Are the first numbers of the defaults what they are taken for? */
static bool
known_defaults(const uint32_t u[4])
{

	return (u[0] <= 1 << 20 && u[1] >= 1 && u[1] <= 1 << 20 &&
	    u[2] >= 1 && u[2] <= u[1] && u[3] >= 1 && u[3] <= 1 << 10);
}

/*
 * Did the context become what was asked for, but for its rounding?  Asked
 * for its sequences, b4753 answers with its positions.
 */
static bool
context_obeys(const struct cl_tap *tap)
{
	const struct cl_tap_options *o = &tap->opt;
	const struct tap_lib *lib = &tap->lib;
	uint32_t nctx = lib->nctx(tap->context);
	uint32_t nbatch = lib->nbatch(tap->context);
	uint32_t nseq = lib->nseq(tap->context);

	return (nctx >= o->nctx && nctx - o->nctx < ROUNDING * o->nseq &&
	    nbatch >= o->nbatch && nbatch - o->nbatch < ROUNDING &&
	    lib->nubatch(tap->context) == o->nubatch &&
	    (nseq == o->nseq || nseq == nctx));
}

static int
make_context(struct cl_tap *tap, struct cl_err *err)
{
	struct tap_blob params = tap->lib.context_defaults();
	uint32_t u[4];
	int status;

	memcpy(u, &params, sizeof(u));
	if (!known_defaults(u))
		return (cl_fail(err, CL_ENOTSUP, "%s has context parameters "
		    "of a layout that is not known", tap->lib.engine));
	u[0] = tap->opt.nctx;
	u[1] = tap->opt.nbatch;
	u[2] = tap->opt.nubatch;
	u[3] = tap->opt.nseq;
	memcpy(&params, u, sizeof(u));
	if ((status = cl_tap_int_set_context(tap, &params, err)) != CL_OK)
		return (status);
	tap->log.text[0] = '\0';
	tap->context = tap->lib.context_new(tap->model, params);
	if (tap->context == NULL)
		return (cl_fail(err, CL_ENOMEM, "%s cannot make a context of "
		    "%u positions and batches of %u: %s", tap->lib.engine,
		    tap->opt.nctx, tap->opt.nbatch,
		    cl_tap_int_reason(&tap->log)));
	if (!context_obeys(tap))
		return (cl_fail(err, CL_ENOTSUP, "%s does not take context "
		    "parameters as expected: its layout is not known",
		    tap->lib.engine));
	if ((status = cl_tap_int_check_context(tap, err)) != CL_OK)
		return (status);
	tap->lib.set_threads(tap->context, (int32_t)tap->opt.nthreads,
	    (int32_t)tap->opt.nthreads);
	cl_tap_int_pool(tap);
	return (CL_OK);
}

/* llama_batch is as expected if its arrays are, and the one unused is not. */
static int
make_batch(struct cl_tap *tap, struct cl_err *err)
{
	struct tap_batch *b = &tap->batch;

	*b = tap->lib.batch_init((int32_t)tap->opt.nbatch, 0, 1);
	if (b->n != 0 || b->embd != NULL || b->token == NULL ||
	    b->pos == NULL || b->nseq == NULL || b->seq == NULL ||
	    b->output == NULL || b->seq[0] == NULL ||
	    b->seq[tap->opt.nbatch] != NULL)
		return (cl_fail(err, CL_ENOTSUP, "%s has batches of a layout "
		    "that is not known", tap->lib.engine));
	return (CL_OK);
}

static int
make_slots(struct cl_tap *tap, struct cl_err *err)
{
	uint32_t i;

	if (tap->nslots == 0 || tap->nslots > UINT16_MAX)
		return (cl_fail(err, CL_ENOTSUP, "%s: a model of %u layers",
		    tap->lib.engine, tap->nslots));
	tap->slots = calloc(tap->nslots, sizeof(*tap->slots));
	tap->seen = calloc(tap->nslots, sizeof(*tap->seen));
	if (tap->slots == NULL || tap->seen == NULL)
		return (cl_fail_nomem(err, "the layers of a model"));
	for (i = 0; i < tap->nslots; i++)
		tap->slots[i].out.layer = i;
	return (cl_tap_int_rows_new(tap, err));
}

int
cl_tap_context(struct cl_tap *tap, uint32_t nctx, struct cl_err *err)
{
	int status;

	if (tap->context != NULL)
		return (cl_fail(err, CL_EINVAL, "a model has one context"));
	tap->opt.nctx = nctx;
	if ((status = check_context(&tap->opt, err)) != CL_OK ||
	    (status = make_slots(tap, err)) != CL_OK ||
	    (status = make_context(tap, err)) != CL_OK)
		return (status);
	return (make_batch(tap, err));
}

struct cl_tap *
cl_tap_open(const struct cl_tap_options *o, const char *path,
    struct cl_err *err)
{
	struct cl_tap *tap;

	if (live != NULL) {
		(void)cl_fail(err, CL_EINVAL, "one model at a time can run");
		return (NULL);
	}
	if ((tap = calloc(1, sizeof(*tap))) == NULL) {
		(void)cl_fail_nomem(err, "a model");
		return (NULL);
	}
	tap->opt = *o;
	tap->opt.places = NULL;
	tap->opt.must = NULL;
	if (check_options(&tap->opt, err) != CL_OK)
		goto fail;
	if (cl_tap_int_load(&tap->lib, &tap->log, o, err) != CL_OK)
		goto fail;
	live = tap;
	if (load_model(tap, path, err) != CL_OK ||
	    (o->nctx != 0 && cl_tap_context(tap, o->nctx, err) != CL_OK))
		goto fail;
	return (tap);

fail:
	cl_tap_close(tap);
	return (NULL);
}

const char *
cl_tap_engine(const struct cl_tap *tap)
{

	return (tap->lib.engine);
}

uint32_t
cl_tap_nctx(const struct cl_tap *tap)
{

	return (tap->opt.nctx);
}

uint32_t
cl_tap_nubatch(const struct cl_tap *tap)
{

	return (tap->opt.nubatch);
}

uint32_t
cl_tap_nseq(const struct cl_tap *tap)
{

	return (tap->opt.nseq);
}

bool
cl_tap_is_end(const struct cl_tap *tap, int32_t token)
{

	return (tap->lib.vocab_is_end(tap->vocab, token));
}

static int
fill_batch(struct cl_tap *tap, const struct cl_tap_token *t, uint32_t n,
    struct cl_err *err)
{
	struct tap_batch *b = &tap->batch;
	uint32_t i;

	if (n == 0 || n > tap->opt.nbatch)
		return (cl_fail(err, CL_EINVAL, "a batch of %u tokens; 1 to "
		    "%u will do", n, tap->opt.nbatch));
	for (i = 0; i < n; i++) {
		if (t[i].seq >= tap->opt.nseq || t[i].pos >= tap->opt.nctx)
			return (cl_fail(err, CL_EINVAL, "sequence %u, "
			    "position %u; %u and %u are the limits", t[i].seq,
			    t[i].pos, tap->opt.nseq, tap->opt.nctx));
		b->token[i] = t[i].token;
		b->pos[i] = (int32_t)t[i].pos;
		b->nseq[i] = 1;
		b->seq[i][0] = (int32_t)t[i].seq;
		b->output[i] = 1;
	}
	b->n = (int32_t)n;
	return (CL_OK);
}

/* What llama_decode() says with a number other than 0. */
static void
decode_failed(struct cl_tap *tap, int32_t rc, uint32_t n)
{

	if (rc == 1)
		(void)cl_fail(&tap->err, CL_EINVAL, "no room for %u more "
		    "tokens in a context of %u positions", n, tap->opt.nctx);
	else
		(void)cl_fail(&tap->err, CL_EIO, "%s cannot decode %u tokens "
		    "(%d): %s", tap->lib.engine, n, (int)rc,
		    cl_tap_int_reason(&tap->log));
}

int
cl_tap_decode(struct cl_tap *tap, const struct cl_tap_token *t, uint32_t n,
    struct cl_err *err)
{
	int32_t rc;
	int status;

	if (tap->err.code == CL_OK) {
		if ((status = fill_batch(tap, t, n, err)) != CL_OK)
			return (status);
		cl_tap_int_begin(tap);
		tap->log.text[0] = '\0';
		tap->armed = tap->opt.capture;
		rc = tap->lib.decode(tap->context, tap->batch);
		tap->armed = false;
		if (rc != 0)
			decode_failed(tap, rc, n);
		else if (tap->opt.capture)
			cl_tap_int_finish(tap);
	}
	if (tap->err.code != CL_OK)
		return (cl_fail(err, tap->err.code, "%s", tap->err.msg));
	return (CL_OK);
}

uint32_t
cl_tap_nlayers(const struct cl_tap *tap)
{

	return (tap->nseen);
}

const struct cl_tap_layer *
cl_tap_layer(const struct cl_tap *tap, uint32_t i)
{

	return (&tap->slots[tap->seen[i]].out);
}

const struct cl_rule *
cl_tap_rule(const struct cl_tap *tap, uint32_t i)
{

	return (&tap->slots[tap->seen[i]].rule);
}

uint32_t
cl_tap_graph(const struct cl_tap *tap, uint32_t i)
{

	return (tap->rows.graph[i]);
}

const float *
cl_tap_output(struct cl_tap *tap, uint32_t i, struct cl_err *err)
{
	const float *p;

	tap->log.text[0] = '\0';
	p = i < (uint32_t)tap->batch.n ?
	    tap->lib.output(tap->context, (int32_t)i) : NULL;
	if (p == NULL)
		(void)cl_fail(err, CL_EINVAL, "%s has no output for token %u "
		    "of a batch", tap->lib.engine, i);
	return (p);
}

uint32_t
cl_tap_nvocab(const struct cl_tap *tap)
{

	return ((uint32_t)tap->lib.vocab_n(tap->vocab));
}

/* The cache of sequences had three names in as many years. */
void
cl_tap_forget(struct cl_tap *tap, uint32_t seq)
{
	const struct tap_lib *lib = &tap->lib;

	if (lib->memory != NULL && lib->memory_forget != NULL)
		(void)lib->memory_forget(lib->memory(tap->context),
		    (int32_t)seq, -1, -1);
	else if (lib->kv_self_forget != NULL)
		(void)lib->kv_self_forget(tap->context, (int32_t)seq, -1, -1);
	else if (lib->kv_forget != NULL)
		(void)lib->kv_forget(tap->context, (int32_t)seq, -1, -1);
}

uint64_t
cl_tap_captured(const struct cl_tap *tap)
{

	return (tap->captured);
}

/* What libllama has to say when no tap is there to hear it. */
static void
drop_log(int level, const char *text, void *arg)
{

	(void)level;
	(void)text;
	(void)arg;
}

void
cl_tap_close(struct cl_tap *tap)
{
	uint32_t i;

	if (tap == NULL)
		return;
	if (tap->batch.token != NULL)
		tap->lib.batch_free(tap->batch);
	if (tap->context != NULL)
		tap->lib.context_free(tap->context);
	if (tap->pool != NULL)
		tap->pool_free(tap->pool);
	if (tap->model != NULL)
		tap->lib.model_free(tap->model);
	if (live == tap) {
		tap->lib.log_set(drop_log, NULL);
		live = NULL;
	}
	for (i = 0; tap->slots != NULL && i < tap->nslots; i++) {
		cl_rule_free(&tap->slots[i].rule);
		free(tap->slots[i].scores);
		free(tap->slots[i].ids);
	}
	free(tap->slots);
	free(tap->seen);
	cl_tap_int_rows_free(tap);
	free(tap->scratch);
	free(tap->asked);
	free(tap);
}
