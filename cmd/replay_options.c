/*
 * The command line of cl-replay.  What is not heeded would look as if it were:
 * each option says what it means something to, a replay or what is done in
 * its place, and anywhere else it is misuse.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/calibrate.h"
#include "cl/conditions.h"
#include "cl/err.h"
#include "cl/rule.h"
#include "fe.h"
#include "options.h"
#include "replay.h"

#define TOKENS_MAX	(UINT64_C(1) << 48)	/* sums of them stay sums */
#define DROP_MAX	16384	/* all but what has every gate */
#define MICROSECONDS_MAX	1000000000	/* a thousand seconds */
#define STAGE_MAX	65536
#define JOBS_MAX	1024
#define RETRY_MAX	1000

const char *const replay_ios[] = {
	[REPLAY_NONE] = "none",
	[REPLAY_REAL] = "real",
	[REPLAY_MODEL] = "model",
	NULL
};
const char *const replay_curves[] = {
	[CL_CURVE_LRU] = "lru", [CL_CURVE_BELADY] = "belady", NULL
};
const char *const replay_denses[] = {
	[CL_DENSE_SKIP] = "skip",
	[CL_DENSE_RESIDENT] = "resident",
	[CL_DENSE_RING] = "ring",
	"auto", NULL
};
const char *const replay_os_caches[] = {
	[CL_IO_KEEP] = "keep", [CL_IO_DROP] = "drop",
	[CL_IO_DIRECT] = "direct", NULL
};
/* What --os-cache takes: the names above, and one that insists. */
static const char *const os_caches[] = {
	[CL_IO_KEEP] = "keep", [CL_IO_DROP] = "drop",
	[CL_IO_DIRECT] = "direct", "direct=require", NULL
};
/* By enum cl_io_backend. */
static const char *const backends[] = { "auto", "uring", "pread", NULL };

/* What can be done, as bits of what an option means something to. */
enum { REPLAY = 1, BOUND = 2, CALIBRATE = 4, CURVE = 8, LIST = 16,
    PREDICT = 32, STATS = 64, STUDIES = BOUND | CURVE | PREDICT | STATS };

static const struct mode {
	const char	*name;		/* "--" and the option for it */
	int		(*run)(const struct replay_options *,
			    char *const *operands, int n);
	unsigned	 bit;
} modes[] = {
	{ "--bound", replay_bound, BOUND },
	{ "--calibrate", replay_calibrate, CALIBRATE },
	{ "--curve", replay_curve, CURVE },
	{ "--list-policies", replay_list, LIST },
	{ "--predict", replay_predict, PREDICT },
	{ "--stats", replay_stats, STATS },
	{ "a replay", replay_traces, REPLAY },	/* the last: no option */
};

#define NMODES	(sizeof(modes) / sizeof(modes[0]))

static void
take_mode(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;
	const struct mode *m = modes;

	(void)arg;
	while (m < modes + NMODES - 1 && strcmp(m->name + 2, row->name) != 0)
		m++;
	o->mode = m->run;
}

static void
take_curve(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	take_mode(row, options, arg);
	if (arg != NULL)
		o->curve = fe_choice("--curve", arg, row->names);
}

static void
take_cache(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	replay_budgets(&o->lists, arg);
}

static void
take_contract(const struct options_row *row, void *options, const char *arg)
{

	(void)row;
	replay_contracts(options, arg);
}

static void
take_policy(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	replay_policies(&o->lists, arg);
}

static void
take_part(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	replay_part(&o->lists, arg);
}

static void
take_compute(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	if ((o->compute = cl_compute_kind_by_name(arg)) == 0)
		fe_misuse("--compute \"%.40s\": kernel, checksum or none is "
		    "wanted", arg);
}

static void
take_compute_us(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	o->replay.compute_ns = 1000 * fe_u64("--compute-us", arg, 0,
	    MICROSECONDS_MAX);
}

static void
take_device(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;
	struct cl_err err = { 0 };

	(void)row;
	if (cl_virtual_parse(arg, &o->spec, &err) != CL_OK)
		fe_misuse("--%s", err.msg);
	o->device = arg;
}

static void
take_drop(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	o->replay.smart.drop = fe_f64("--drop", arg, 0, DROP_MAX);
}

static void
take_os_cache(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;
	unsigned i = fe_choice("--os-cache", arg, row->names);

	o->direct_required = i > CL_IO_DIRECT;
	o->os_cache = o->direct_required ? CL_IO_DIRECT :
	    (enum cl_io_os_cache)i;
}

static void
take_prefetch(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;
	struct cl_err err = { 0 };

	(void)row;
	if (cl_predict_parse(arg, &o->replay.predict, &err) != CL_OK)
		fe_misuse("--prefetch: %s", err.msg);
}

static void
take_seed(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;

	(void)row;
	o->seed = fe_u64("--seed", arg, 0, UINT64_MAX);
	o->replay.predict.seed = o->seed;
}

static void
take_smart(const struct options_row *row, void *options, const char *arg)
{
	struct replay_options *o = options;
	struct cl_err err = { 0 };

	(void)row;
	if (cl_smart_parse(arg, &o->replay.smart, &err) != CL_OK)
		fe_misuse("--smart: %s", err.msg);
}

#define O	struct replay_options
#define SAID(member)	.said = OPTIONS_AT(O, member, bool)

static const struct options_row rows[] = {
	{ "backend", 0, REPLAY | CALIBRATE,
	    OPTIONS_CHOICE(O, backend, backends) },
	{ "bound", 0, BOUND, .take = take_mode },
	{ "cache", 0, REPLAY | BOUND | CALIBRATE, OPTIONS_CALL(take_cache) },
	{ "calibrate", 0, CALIBRATE, .take = take_mode },
	{ "compute", 0, REPLAY | CALIBRATE, OPTIONS_CALL(take_compute) },
	{ "compute-us", 0, REPLAY | CALIBRATE, OPTIONS_CALL(take_compute_us) },
	{ "contract", 0, REPLAY | BOUND | CURVE, OPTIONS_CALL(take_contract) },
	{ "curve", 0, CURVE, .argument = OPTIONS_BEHIND, .take = take_curve,
	    .names = replay_curves },
	{ "dense", 0, REPLAY, OPTIONS_CHOICE(O, dense, replay_denses) },
	{ "device", 0, REPLAY, OPTIONS_CALL(take_device) },
	{ "drop", 0, REPLAY, OPTIONS_CALL(take_drop) },
	{ "events", 0, REPLAY, OPTIONS_FLAG(O, replay.events) },
	{ "force", 0, 0, OPTIONS_FLAG(O, replace) },
	OPTIONS_HELP,
	{ "hugepages", 0, REPLAY | CALIBRATE, OPTIONS_FLAG(O, hugepages) },
	{ "io", 0, REPLAY, OPTIONS_CHOICE(O, io, replay_ios), SAID(io_said) },
	{ "jobs", 0, REPLAY, OPTIONS_U32(O, lists.njobs, 1, JOBS_MAX) },
	{ "list-policies", 0, LIST, .take = take_mode },
	{ "model", 0, REPLAY, OPTIONS_TEXT(O, model) },
	{ NULL, 'o', 0, OPTIONS_TEXT(O, output) },
	{ "os-cache", 0, REPLAY | CALIBRATE, OPTIONS_CALL(take_os_cache),
	    .names = os_caches },
	{ "part", 0, REPLAY, OPTIONS_CALL(take_part) },
	{ "partition", 0, REPLAY,
	    OPTIONS_CHOICE(O, replay.partition, cl_conditions_partitions) },
	{ "policy", 0, REPLAY, OPTIONS_CALL(take_policy) },
	{ "predict", 0, PREDICT, .take = take_mode },
	{ "prefetch", 0, REPLAY, OPTIONS_CALL(take_prefetch) },
	{ "prefill", 0, REPLAY | STUDIES,
	    OPTIONS_CHOICE(O, prefill, cl_conditions_prefills) },
	{ "quality", 0, REPLAY, OPTIONS_FLAG(O, replay.quality) },
	{ "retry", 0, REPLAY | CALIBRATE,
	    OPTIONS_U32(O, retries, 0, RETRY_MAX) },
	{ "samples", 0, CALIBRATE, OPTIONS_U32(O, nsamples, CL_SAMPLE_LEAST,
	    CL_CALIBRATE_SAMPLES_MAX) },
	{ "seed", 0, REPLAY | CALIBRATE, OPTIONS_CALL(take_seed) },
	{ "smart", 0, REPLAY, OPTIONS_CALL(take_smart) },
	{ "stage", 0, REPLAY, OPTIONS_U64(O, nstage, 1, STAGE_MAX) },
	{ "stats", 0, STATS, .take = take_mode },
	{ "threads", 0, REPLAY | CALIBRATE,
	    OPTIONS_U32(O, nthreads, 1, CL_IO_THREADS_MAX) },
	{ "tokens", 0, REPLAY | STUDIES,
	    OPTIONS_U64(O, replay.tokens, 1, TOKENS_MAX) },
	{ "verify-bytes", 0, REPLAY, OPTIONS_FLAG(O, verify) },
	OPTIONS_VERSION,
	{ "warm", 0, REPLAY, OPTIONS_FLAG(O, warm) },
	{ "warmup", 0, REPLAY | STUDIES,
	    OPTIONS_U64(O, replay.warmup, 0, TOKENS_MAX) },
	{ "width", 0, REPLAY | PREDICT,
	    OPTIONS_U32(O, replay.predict.width, 1, CL_RULE_EXPERTS_MAX) },
	{ "window", 0, REPLAY | CURVE,
	    OPTIONS_U64(O, replay.window, 0, TOKENS_MAX), SAID(window_said) },
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

void
replay_options(struct replay_options *o, int argc, char **argv, int *first)
{
	const struct mode *m = modes;
	bool given[NROWS] = { false };

	*o = (struct replay_options){
		.replay = { .predict.seed = 1 },
		.dense = CL_DENSE_RING + 1,	/* auto */
		.compute = CL_COMPUTE_KERNEL,
		.seed = 1,
		.io = REPLAY_REAL,
		.nthreads = 4,
		.nsamples = 9,
		.mode = replay_traces,
	};
	*first = options_take(rows, NROWS, given, o, argc, argv);
	while (m->run != o->mode)
		m++;
	options_check(rows, NROWS, given, m->bit, m->name);
	replay_lists_end(o);
	replay_check(o);
}

void
replay_options_free(struct replay_options *o)
{

	free(o->lists.policy);
	cl_budgets_free(&o->lists.budgets);
}
