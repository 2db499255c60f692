/*
 * The command line of cl-replay.
 */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cl/calibrate.h"
#include "cl/conditions.h"
#include "cl/err.h"
#include "fe.h"
#include "replay.h"

#define TOKENS_MAX	(UINT64_C(1) << 48)	/* sums of them stay sums */
#define JOBS_MAX	1024

const char *const replay_ios[] = {
	[REPLAY_NONE] = "none",
	[REPLAY_REAL] = "real",
	[REPLAY_MODEL] = "model",
	NULL
};
const char *const replay_curves[] = {
	[CL_CURVE_LRU] = "lru", [CL_CURVE_BELADY] = "belady", NULL
};
const char *const replay_os_caches[] = {
	[CL_IO_KEEP] = "keep", [CL_IO_DROP] = "drop",
	[CL_IO_DIRECT] = "direct", NULL
};
/* What --os-cache takes: the names above, and one that insists. */
static const char *const os_caches[] = {
	"keep", "drop", "direct", "direct=require", NULL
};
/* By enum cl_io_backend. */
static const char *const backends[] = { "auto", "uring", "pread", NULL };

enum {
	OPT_BACKEND = 256,
	OPT_BOUND,
	OPT_CACHE,
	OPT_CALIBRATE,
	OPT_CONTRACT,
	OPT_CURVE,
	OPT_DEVICE,
	OPT_EVENTS,
	OPT_FORCE,
	OPT_HUGEPAGES,
	OPT_IO,
	OPT_JOBS,
	OPT_LIST_POLICIES,
	OPT_MODEL,
	OPT_OS_CACHE,
	OPT_PART,
	OPT_PARTITION,
	OPT_POLICY,
	OPT_PREDICT,
	OPT_PREFILL,
	OPT_QUALITY,
	OPT_RETRY,
	OPT_SAMPLES,
	OPT_STATS,
	OPT_THREADS,
	OPT_TOKENS,
	OPT_WARM,
	OPT_WARMUP,
	OPT_WINDOW,
};

static const struct option long_options[] = {
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "bound", no_argument, NULL, OPT_BOUND },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "calibrate", no_argument, NULL, OPT_CALIBRATE },
	{ "compute", required_argument, NULL, OPT_COMPUTE },
	{ "compute-us", required_argument, NULL, OPT_COMPUTE_US },
	{ "contract", required_argument, NULL, OPT_CONTRACT },
	{ "curve", optional_argument, NULL, OPT_CURVE },
	{ "dense", required_argument, NULL, OPT_DENSE },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "drop", required_argument, NULL, OPT_DROP },
	{ "events", no_argument, NULL, OPT_EVENTS },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "help", no_argument, NULL, 'h' },
	{ "hugepages", no_argument, NULL, OPT_HUGEPAGES },
	{ "io", required_argument, NULL, OPT_IO },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "list-policies", no_argument, NULL, OPT_LIST_POLICIES },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "os-cache", required_argument, NULL, OPT_OS_CACHE },
	{ "part", required_argument, NULL, OPT_PART },
	{ "partition", required_argument, NULL, OPT_PARTITION },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "predict", no_argument, NULL, OPT_PREDICT },
	{ "prefetch", required_argument, NULL, OPT_PREFETCH },
	{ "prefill", required_argument, NULL, OPT_PREFILL },
	{ "quality", no_argument, NULL, OPT_QUALITY },
	{ "retry", required_argument, NULL, OPT_RETRY },
	{ "samples", required_argument, NULL, OPT_SAMPLES },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "smart", required_argument, NULL, OPT_SMART },
	{ "stage", required_argument, NULL, OPT_STAGE },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "tokens", required_argument, NULL, OPT_TOKENS },
	{ "verify-bytes", no_argument, NULL, OPT_VERIFY_BYTES },
	{ "version", no_argument, NULL, 'V' },
	{ "warm", no_argument, NULL, OPT_WARM },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "width", required_argument, NULL, OPT_WIDTH },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ NULL, 0, NULL, 0 }
};

#define NLONG	(sizeof(long_options) / sizeof(long_options[0]))

static void
take_device(struct replay_options *o, const char *text)
{
	struct cl_err err = { 0 };

	if (cl_virtual_parse(text, &o->spec, &err) != CL_OK)
		fe_misuse("--%s", err.msg);
	o->device = text;
}

static void
take_os_cache(struct replay_options *o, const char *arg)
{
	unsigned i = fe_choice("--os-cache", arg, os_caches);

	o->direct_required = i > CL_IO_DIRECT;
	o->os_cache = o->direct_required ? CL_IO_DIRECT :
	    (enum cl_io_os_cache)i;
}

static void
take_option(struct replay_options *o, int c, const char *arg)
{

	switch (c) {
	case OPT_BACKEND:
		o->backend = fe_choice("--backend", arg, backends);
		break;
	case OPT_BOUND:
		o->mode = replay_bound;
		break;
	case OPT_CACHE:
		replay_budgets(&o->lists, arg);
		break;
	case OPT_CALIBRATE:
		o->mode = replay_calibrate;
		break;
	case OPT_CONTRACT:
		o->replay.contract = fe_choice("--contract", arg,
		    cl_conditions_contracts);
		o->contract_said = true;
		break;
	case OPT_CURVE:
		o->mode = replay_curve;
		if (arg != NULL)
			o->curve = fe_choice("--curve", arg, replay_curves);
		break;
	case OPT_DEVICE:
		take_device(o, arg);
		break;
	case OPT_EVENTS:
		o->replay.events = true;
		break;
	case OPT_FORCE:
		o->replace = true;
		break;
	case OPT_HUGEPAGES:
		o->hugepages = true;
		break;
	case OPT_IO:
		o->io = (enum replay_io)fe_choice("--io", arg, replay_ios);
		o->io_said = true;
		break;
	case OPT_JOBS:
		o->lists.njobs = (uint32_t)fe_u64("--jobs", arg, 1, JOBS_MAX);
		break;
	case OPT_LIST_POLICIES:
		o->mode = replay_list;
		break;
	case OPT_MODEL:
		o->model = arg;
		break;
	case OPT_OS_CACHE:
		take_os_cache(o, arg);
		break;
	case OPT_PART:
		replay_part(&o->lists, arg);
		break;
	case OPT_PARTITION:
		o->replay.partition = fe_choice("--partition", arg,
		    cl_conditions_partitions);
		break;
	case OPT_POLICY:
		replay_policies(&o->lists, arg);
		break;
	case OPT_PREDICT:
		o->mode = replay_predict;
		break;
	case OPT_PREFILL:
		o->prefill = fe_choice("--prefill", arg,
		    cl_conditions_prefills);
		break;
	case OPT_QUALITY:
		o->replay.quality = true;
		break;
	case OPT_RETRY:
		o->retries = (uint32_t)fe_u64("--retry", arg, 0, 1000);
		break;
	case OPT_SAMPLES:
		o->nsamples = (uint32_t)fe_u64("--samples", arg,
		    CL_SAMPLE_LEAST, CL_CALIBRATE_SAMPLES_MAX);
		break;
	case OPT_STATS:
		o->mode = replay_stats;
		break;
	case OPT_THREADS:
		o->nthreads = (uint32_t)fe_u64("--threads", arg, 1,
		    CL_IO_THREADS_MAX);
		break;
	case OPT_TOKENS:
		o->replay.tokens = fe_u64("--tokens", arg, 1, TOKENS_MAX);
		break;
	case OPT_WARM:
		o->warm = true;
		break;
	case OPT_WARMUP:
		o->replay.warmup = fe_u64("--warmup", arg, 0, TOKENS_MAX);
		break;
	case OPT_WINDOW:
		o->replay.window = fe_u64("--window", arg, 0, TOKENS_MAX);
		o->window_said = true;
		break;
	default:
		replay_engine_option(o, c, arg);
	}
}

/* --curve may be followed by whose it is, but for a file of that name. */
static bool
is_curve(const char *arg)
{
	unsigned i;

	for (i = 0; arg != NULL && replay_curves[i] != NULL; i++)
		if (strcmp(arg, replay_curves[i]) == 0)
			return (true);
	return (false);
}

void
replay_options(struct replay_options *o, int argc, char **argv, int *first)
{
	bool given[NLONG] = { false };
	int c, at = 0;
	size_t i;

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
	while ((c = getopt_long(argc, argv, "ho:V", long_options, &at)) != -1)
		switch (c) {
		case 'h':
			fe_help();
		case 'o':
			o->output = optarg;
			break;
		case 'V':
			fe_version();
		case '?':
			fe_misuse("see cl-replay --help");
		case OPT_CURVE:
			if (optarg == NULL && is_curve(argv[optind]))
				optarg = argv[optind++];
			/* FALLTHROUGH */
		default:
			given[at] = true;
			take_option(o, c, optarg);
		}
	*first = optind;
	for (i = 0; i < NLONG; i++)
		if (given[i])
			replay_mode_check(o, long_options[i].name);
	replay_lists_end(o);
	if (o->io == REPLAY_MODEL && o->device == NULL)
		fe_misuse("--io model needs a --device: "
		    "read=7G,latency=80us,depth=32");
	if (o->io != REPLAY_MODEL && o->device != NULL)
		fe_misuse("--device is of --io model");
	replay_engine_check(o);
}

void
replay_options_free(struct replay_options *o)
{

	free(o->lists.policy);
	cl_budgets_free(&o->lists.budgets);
}
