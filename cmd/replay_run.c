/*
 * Every trace as a run: the model found, files and buffers opened, conditions
 * written, passes replayed, totals written.
 */

#include <stdlib.h>

#include "cl/budget.h"
#include "cl/compute.h"
#include "cl/conditions.h"
#include "cl/device.h"
#include "cl/err.h"
#include "cl/host.h"
#include "cl/keys.h"
#include "cl/locate.h"
#include "cl/model.h"
#include "cl/stats_write.h"
#include "cl/verify.h"
#include "fe.h"
#include "feed.h"
#include "frame.h"
#include "replay.h"

#define CODE_BYTES	(7 << 18)	/* and libraries, as measured */
#define AHEAD_BYTES	(3 << 17)	/* of predictors and what they know */
#define STACK_BYTES	(16 << 10)	/* that a thread uses */
#define WINDOW		64		/* tokens */
#define WINDOW_SHIFT	10

/* A run of one trace, from its head to its trailer. */
struct run {
	const struct replay_options *o;
	struct frame	 frame;
	bool		 told_raised;	/* the budget was less than a slot */

	struct cl_replay *before;	/* --warm: the last run */
	struct cl_keys	*before_keys;
	uint64_t	 fingerprint;	/* and of its model */
	struct cl_model	*model;		/* as found; NULL: the trace's does */
	struct cl_device *device;
	struct cl_verify *verify;	/* --verify-bytes */
	uint64_t	 dense_bytes;	/* that were read before the clock */
	struct cl_compute *compute;	/* NULL: --compute none, or no bytes */
	struct cl_stats_writer *writer;
	struct cl_keys	*keys;
	struct replay_fit fit;		/* of a policy that loads */
	struct cl_replay *replay;
	bool		 told_reader;	/* what it does not do */
};

/* A fact that is only told where there is something to tell. */
static void
set_why(struct cl_stats_conds *c, const char *name, const char *why,
    struct cl_err *err)
{

	if (why[0] != '\0')
		(void)cl_stats_set_str(c, name, why, err);
}

/* How the reader reads, and why not as it was asked to. */
static void
set_reader(const struct run *r, struct cl_stats_conds *c,
    const struct cl_io_facts *f, struct cl_err *err)
{

	if (r->o->backend == CL_IO_AUTO)
		set_why(c, "backend_why", f->why_backend, err);
	(void)cl_stats_set_str(c, "os_cache_used",
	    replay_os_caches[f->os_cache], err);
	set_why(c, "os_cache_why", f->why_os_cache, err);
	(void)cl_stats_set_u64(c, "read_align", f->align, err);
	(void)cl_stats_set_bool(c, "files_registered", f->files_registered,
	    err);
	(void)cl_stats_set_bool(c, "buffers_registered", f->arena_registered,
	    err);
	set_why(c, "buffers_why", f->why_arena, err);
	if (f->os_cache == CL_IO_DROP) {
		(void)cl_stats_set_u64(c, "pages_probed", f->pages_probed,
		    err);
		(void)cl_stats_set_u64(c, "pages_not_dropped", f->pages_kept,
		    err);
	}
	if (r->o->hugepages)
		(void)cl_stats_set_u64(c, "huge_bytes",
		    cl_device_huge(r->device), err);
}

/* Warn, once, of what is not as it was asked for. */
static void
tell_reader(struct run *r)
{
	struct cl_io_facts f;

	cl_io_facts(cl_device_io(r->device), &f);
	if (r->told_reader || r->o->io != REPLAY_REAL)
		return;
	r->told_reader = true;
	if (f.os_cache != r->o->os_cache)
		fe_warn("--os-cache %s is not to be had (%s); reads go "
		    "through the page cache", replay_os_caches[r->o->os_cache],
		    f.why_os_cache);
	if (f.pages_kept > 0)
		fe_warn("the system could not drop %llu of %llu pages that "
		    "were looked at: reads may come from the page cache",
		    (unsigned long long)f.pages_kept,
		    (unsigned long long)f.pages_probed);
	if (r->o->hugepages && cl_device_huge(r->device) == 0)
		fe_warn("--hugepages: the system gives none; pages are as "
		    "they are");
}

/* What the run meets, rather than asked for. */
static int
write_machine(struct run *r, const struct feed_trace *t, struct cl_err *err)
{
	struct cl_stats_conds c = { 0 };
	struct cl_io_facts facts;
	char device[CL_VIRTUAL_TEXT_MAX];
	int status;

	cl_io_facts(cl_device_io(r->device), &facts);
	(void)cl_stats_set_str(&c, "backend", facts.backend_name, err);
	if (r->o->io == REPLAY_MODEL)
		(void)cl_stats_set_str(&c, "device",
		    cl_virtual_text(device, &r->o->spec), err);
	else {
		(void)cl_stats_set_str(&c, "model_path",
		    r->model->shards[0].path, err);
		(void)cl_stats_set_u64(&c, "memory_bytes",
		    cl_host_memory(""), err);
		(void)cl_stats_set_u64(&c, "arena_bytes",
		    cl_device_arena(r->device), err);
		(void)cl_stats_set_u64(&c, "dense_loaded_bytes",
		    r->dense_bytes, err);
		set_reader(r, &c, &facts, err);
		if (r->compute != NULL && cl_compute_form(r->compute) != NULL)
			(void)cl_stats_set_str(&c, "kernel_form",
			    cl_compute_form(r->compute), err);
	}
	(void)cl_stats_set_bool(&c, "trace_from_pipe", t->pipe, err);
	status = err->code != CL_OK ? err->code :
	    cl_stats_write_machine(r->writer, &c, err);
	cl_stats_conds_free(&c);
	return (status);
}

/*
 * The model's files and buffers for its experts, ready to be read into; or
 * what stands in for them.
 */
static int
open_device(struct run *r, const struct cl_model *m,
    const struct cl_budget_slots *slots, struct cl_replay_options *o,
    struct cl_err *err)
{
	struct cl_device_options d = {
		.io = {
			.backend = r->o->io == REPLAY_MODEL ? CL_IO_MODEL :
			    r->o->backend,
			.nthreads = r->o->nthreads,
			.os_cache = r->o->os_cache,
			.direct_required = r->o->direct_required,
			.retries = r->o->retries,
			.device = &r->o->spec,
		},
		.nslots = slots->nslots,
		.nstage = o->nstage,
		.dense_ring = o->dense == CL_DENSE_RING,
		.dense_resident = o->dense == CL_DENSE_RESIDENT,
		.nbypass = r->keys->kmax,
		.stride = slots->stride,
		.hugepages = r->o->hugepages,
	};
	struct cl_device_class class[CL_BUDGET_CLASSES_MAX];
	const struct cl_budget_classes *c = &slots->classes;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		class[i].expert_bytes = c->class[i].expert_bytes;
		class[i].nslots = c->class[i].nslots;
	}
	if (r->o->replay.partition == CL_PARTITION_CLASS) {
		d.classes = class;
		d.nclasses = c->n;
	}
	r->device = cl_device_new(m, &d, err);
	if (r->device == NULL)
		return (err->code);
	return (r->o->io == REPLAY_REAL && d.dense_resident ?
	    cl_device_load_dense(r->device, &r->dense_bytes, &o->retries,
	    err) : CL_OK);
}

/* Resident, if they fit in a quarter of what the process may use. */
enum cl_replay_dense
replay_dense(const struct replay_options *o, uint64_t nbytes)
{

	if (nbytes == 0)
		return (CL_DENSE_SKIP);
	if (o->dense <= CL_DENSE_RING)
		return ((enum cl_replay_dense)o->dense);
	return (nbytes <= cl_host_memory("") / 4 ? CL_DENSE_RESIDENT :
	    CL_DENSE_RING);
}

void
replay_conditions(struct cl_conditions *what, const struct replay_options *o,
    const struct feed_trace *t, const char *budget,
    const struct replay_fit *fit)
{

	*what = (struct cl_conditions){
		.trace = t->input,
		.member = t->number,
		.member_name = t->member,
		.warm = o->warm,
		.budget = budget,
		.prefill = o->prefill,
		.fitted = fit->routing,
		.fitted_end = fit->end,
		.io = replay_ios[o->io],
		.os_cache = o->io == REPLAY_REAL ?
		    replay_os_caches[o->os_cache] : NULL,
		.compute = o->io == REPLAY_REAL ? o->compute : 0,
		.seed = o->seed,
		.threads = o->io != REPLAY_NONE ? o->nthreads : 0,
	};
}

static int
write_conditions(struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, const struct cl_model *m,
    const struct cl_budget_slots *slots, const struct cl_replay_options *o,
    struct cl_err *err)
{
	struct cl_stats_conds c = { 0 };
	struct cl_conditions what;

	replay_conditions(&what, r->o, t, r->o->budget_text, &r->fit);
	if (cl_conditions_set(&c, &what, head, m, slots, o, err) == CL_OK)
		r->writer = cl_stats_writer_new(r->frame.out, &c, err);
	cl_stats_conds_free(&c);
	r->frame.begun = r->writer != NULL;
	return (r->frame.begun ? CL_OK : err->code);
}

/* Where the model is unknown, it must at least stay so. */
int
replay_same_model(const struct feed_trace *t, const struct cl_model *m,
    bool before, uint64_t *fingerprint, struct cl_err *err)
{

	if (before && m->fingerprint != *fingerprint)
		return (cl_fail(err, CL_EINVAL, "%s: --warm carries the cache "
		    "from trace to trace, and this one is of another model",
		    t->name));
	*fingerprint = m->fingerprint;
	return (CL_OK);
}

int
replay_same_experts(const struct feed_trace *t, const struct cl_keys *keys,
    const struct cl_keys *before, struct cl_err *err)
{

	if (before != NULL && !cl_keys_same(keys, before))
		return (cl_fail(err, CL_EINVAL, "%s: --warm carries the cache "
		    "from trace to trace, and this one is of other layers and "
		    "experts", t->name));
	return (CL_OK);
}

/* The model, or with --warm the one that is open, if this is the same. */
static int
find_model(struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_model *m = cl_locate_model(head, t->path, r->o->model, err);

	if (m == NULL)
		return (err->code);
	if (r->model == NULL)
		r->model = m;
	else
		cl_model_free(m);
	return (CL_OK);
}

/* Where experts lie matters to reads alone, their sizes to a model of them. */
static bool
needs_model(const struct run *r, const struct cl_model_sums *sums)
{

	return (r->o->io == REPLAY_REAL ||
	    (r->o->io == REPLAY_MODEL && !sums->bytes_known));
}

static int
take_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{

	return (cl_replay_pass(arg, pass, err));
}

/* What is looked at of a pass. */
static enum cl_events_cells
cells_for(const struct cl_replay_options *o)
{

	if (o->predict.kind == CL_PREDICT_AHEAD ||
	    cl_smart_on(&o->smart))
		return (CL_CELLS_ALL);
	return (o->predict.kind == CL_PREDICT_OFF ? CL_CELLS_NONE :
	    CL_CELLS_IDS);
}

/* The replay, and the passes that will reach it. */
static int
make_replay(struct run *r, const struct cl_model *m,
    const struct cl_replay_options *o, uint64_t wait_ns, struct cl_err *err)
{
	struct cl_events_sink sink = { .pass = take_pass };

	r->replay = cl_replay_new(m, r->keys, o, r->writer, wait_ns, err);
	if (r->replay == NULL)
		return (err->code);
	sink.arg = r->replay;
	r->frame.events = cl_events_new(r->keys, r->o->prefill, cells_for(o),
	    &sink, err);
	return (r->frame.events == NULL ? err->code : CL_OK);
}

void
replay_raised(const struct cl_budget_slots *slots, const char *budget,
    bool *told)
{

	if (slots->raised && !*told) {
		fe_warn("--cache %s is less than one expert takes; one slot "
		    "is used (64e is 64 experts, 64M 64 MiB)", budget);
		*told = true;
	}
}

/* A dent, and the recovery from it, are made to be seen. */
uint64_t
replay_window(const struct replay_options *o, const struct cl_trace_head *head)
{

	if (o->window_said)
		return (o->replay.window);
	return (cl_trace_head_find(head, "shift") != NULL ? WINDOW_SHIFT :
	    WINDOW);
}

static int
verify_expert(void *arg, uint32_t layer, uint32_t expert,
    const struct cl_device_slab *slab, uint32_t nslabs, struct cl_err *err)
{

	return (cl_verify_expert(arg, layer, expert, slab, nslabs, err));
}

/* What is done with the bytes that are read. */
static int
open_uses(struct run *r, struct cl_err *err)
{

	if (r->o->io != REPLAY_REAL)
		return (CL_OK);
	if (r->o->compute != CL_COMPUTE_NONE && r->compute == NULL &&
	    (r->compute = cl_compute_new(r->o->compute, r->o->seed, err)) ==
	    NULL)
		return (err->code);
	if (r->o->verify && r->verify == NULL &&
	    (r->verify = cl_verify_new(r->model, err)) == NULL)
		return (err->code);
	return (CL_OK);
}

/* How many staging slots there are, and has the trace what is asked of it? */
static int
plan_stage(const struct run *r, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_replay_options *o,
    struct cl_err *err)
{

	if (cl_smart_on(&o->smart) && head->scores == CL_SCORES_NONE)
		return (cl_fail(err, CL_EINVAL, "%s: --smart and --drop need a "
		    "trace with scores, and this one has choices alone",
		    t->name));
	if (o->predict.kind == CL_PREDICT_OFF)
		return (CL_OK);
	if (o->predict.kind == CL_PREDICT_AHEAD && !head->forecast)
		return (cl_fail(err, CL_EINVAL, "%s: --prefetch ahead needs a "
		    "trace with a second row of scores, and this one has "
		    "none", t->name));
	o->nstage = r->o->nstage != 0 ? (uint32_t)r->o->nstage :
	    2 * r->keys->kmax;
	return (CL_OK);
}

/*
 * Memory that a run touches besides its cache: blocks of the trace as they are
 * compressed, as bytes and as numbers, and code that was not needed before.
 */
static uint64_t
touches(const struct replay_options *o, const struct cl_trace_head *head,
    const struct cl_keys *keys)
{
	uint64_t row = (uint64_t)keys->nkeys * sizeof(float) *
	    (head->scores != CL_SCORES_NONE) * (head->forecast ? 2 : 1);

	return (3 * head->block_tokens * row + CODE_BYTES +
	    (o->replay.predict.kind != CL_PREDICT_OFF ? AHEAD_BYTES : 0) +
	    (uint64_t)o->nthreads * STACK_BYTES);
}

/* What the replay is told of what was found and opened for it. */
static void
fill_options(const struct run *r, const struct cl_trace_head *head,
    const struct cl_budget_slots *slots, struct cl_replay_options *o)
{

	o->nslots = slots->nslots;
	o->classes = slots->classes;
	o->window = replay_window(r->o, head);
	o->device = r->device;
	o->before = r->before;
	o->touches = touches(r->o, head, r->keys);
	o->compute = r->compute;
	if (r->verify != NULL) {
		o->served = verify_expert;
		o->arg = r->verify;
	}
	o->stop = fe_stop();
}

/* A trace begins: all that a replay of it needs. */
static int
open_run(void *arg, const struct feed_trace *t,
    const struct cl_trace_head *head, struct cl_err *err)
{
	static const struct cl_budget everything = { CL_BUDGET_PERCENT,
	    10000 };
	struct run *r = arg;
	struct cl_replay_options o = r->o->replay;
	struct cl_budget_slots slots;
	struct cl_model_sums sums;
	const struct cl_model *m = head->model;
	int status;

	cl_host_usage(&o.at_start);
	status = replay_same_model(t, m, r->before != NULL, &r->fingerprint,
	    err);
	if (status != CL_OK)
		return (status);
	cl_model_sums(m, &sums);
	if (needs_model(r, &sums) &&
	    (status = find_model(r, t, head, err)) != CL_OK)
		return (status);
	if (r->model != NULL && m->fingerprint == 0) {
		m = r->model;		/* it knows what the trace does not */
		cl_model_sums(m, &sums);
	}
	if ((r->keys = cl_keys_for(o.partition, m, err)) == NULL)
		return (err->code);
	status = replay_same_experts(t, r->keys, r->before_keys, err);
	if (status == CL_OK)
		status = cl_budget_resolve(o.policy.info->holds_all ?
		    &everything : &r->o->budget, o.partition, m, &slots, err);
	o.dense = replay_dense(r->o, sums.dense_bytes);
	if (status == CL_OK)
		status = open_uses(r, err);
	if (status == CL_OK)
		status = plan_stage(r, t, head, &o, err);
	if (status == CL_OK && r->o->io != REPLAY_NONE && r->device == NULL)
		status = open_device(r, r->model != NULL ? r->model : m,
		    &slots, &o, err);
	if (status != CL_OK)
		return (status);
	replay_raised(&slots, r->o->budget_text, &r->told_raised);
	if (r->device != NULL)
		tell_reader(r);
	fill_options(r, head, &slots, &o);
	if (o.policy.file[0] != '\0' && (status = replay_fit(&r->fit,
	    o.policy.file, m, r->keys, r->o->prefill, err)) != CL_OK)
		return (status);
	r->frame.trouble = r->frame.trouble || r->fit.told;
	o.uses = r->fit.uses;
	status = write_conditions(r, t, head, m, &slots, &o, err);
	if (status == CL_OK)
		status = make_replay(r, m, &o, feed_wait_ns(t), err);
	if (status == CL_OK && r->o->io != REPLAY_NONE)
		status = write_machine(r, t, err);
	return (status);
}

static void
waited(void *arg, uint64_t ns)
{
	struct run *r = arg;

	cl_replay_waited(r->replay, ns);
}

static bool
is_done(const void *arg)
{
	const struct run *r = arg;

	return (cl_replay_done(r->replay));
}

static int
again(void *arg, bool *yes, struct cl_err *err)
{
	struct run *r = arg;

	(void)yes, (void)err;
	cl_replay_again(r->replay);
	return (CL_OK);
}

static int
finish_run(void *arg, const struct cl_stats_end *end, struct cl_err *err)
{
	struct run *r = arg;

	if (r->before == NULL) {
		r->fit.routing = end->routing;
		r->fit.end = (enum cl_trace_end)end->end;
	}
	return (cl_replay_finish(r->replay, end, err));
}

static void
cool(struct run *r)
{

	cl_replay_free(r->before);
	cl_keys_free(r->before_keys);
	cl_device_free(r->device);
	cl_verify_free(r->verify);
	cl_compute_free(r->compute);
	cl_model_free(r->model);
	r->verify = NULL;
	r->compute = NULL;
	r->before = NULL;
	r->before_keys = NULL;
	r->device = NULL;
	r->model = NULL;
}

/* With --warm the cache stays, and so does what its slots stand for. */
static void
drop_run(void *arg)
{
	struct run *r = arg;

	cl_stats_writer_free(r->writer);
	r->writer = NULL;
	free(r->fit.uses);
	r->fit.uses = NULL;
	if (r->o->warm && r->replay != NULL && !r->frame.broken) {
		cl_replay_free(r->before);
		cl_keys_free(r->before_keys);
		r->before = r->replay;
		r->before_keys = r->keys;
	} else {
		cl_replay_free(r->replay);
		cl_keys_free(r->keys);
	}
	r->replay = NULL;
	r->keys = NULL;
	if (!r->o->warm)
		cool(r);
	else if (r->o->io == REPLAY_MODEL) {	/* it borrows from the trace */
		cl_device_free(r->device);
		r->device = NULL;
	}
}

int
replay_traces(const struct replay_options *o, char *const *operands, int n)
{
	static const struct frame_verbs verbs = {
		.open = open_run,
		.waited = waited,
		.done = is_done,
		.again = again,
		.finish = finish_run,
		.drop = drop_run,
		.unit = "tokens replayed",
	};
	struct run r = { .o = o, .frame = { .verbs = &verbs, .arg = &r,
	    .rounds = o->replay.tokens != 0 } };
	int status = frame_run(&r.frame, o, operands, n);

	cool(&r);
	return (status);
}
