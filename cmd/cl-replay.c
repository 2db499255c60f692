/*
 * cl-replay: drive an expert cache with router traces, and really read what
 * it misses.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/budget.h"
#include "cl/conditions.h"
#include "cl/device.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/host.h"
#include "cl/locate.h"
#include "cl/model.h"
#include "cl/replay.h"
#include "cl/src.h"
#include "cl/stats_write.h"
#include "cl/text.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "input.h"

#define TOKENS_MAX	(UINT64_C(1) << 48)	/* sums of them stay sums */

static const struct fe_command command = {
	.name = "cl-replay",
	.synopsis = "[options] [trace ...] > stats",
	.help =
"Replay traces (files, archives, archive:glob) through an expert cache.\n"
"\n"
"  --cache SIZE        4G (4 x 1024^3 bytes), 4GB, 25% of all, or 64e (25%)\n"
"  --contract NAME     event: a layer's experts together; serial: one by one\n"
"                      (event)\n"
"  -h, --help          show this\n"
"  --io real|none      read the experts, or only count (real)\n"
"  --list-policies     show the cache policies with their parameters\n"
"  --model FILE        the model, if not at its recorded path or by the trace\n"
"  -o FILE             write to FILE, which --force lets it replace (stdout)\n"
"  --os-cache NAME     keep: leave the page cache; drop: what was read (keep)\n"
"  --partition NAME    global: one cache for all layers; layer: one each (global)\n"
"  --policy NAME[:N=V,...]\n"
"                      cache policy, with parameters (lru)\n"
"  --prefill NAME      union: a prefill pass at once; token: by token (union)\n"
"  --threads N         reader threads, 1 to 16 (4)\n"
"  --tokens N          count N tokens, to the end of a pass (all)\n"
"  -V, --version       show the version\n"
"  --warm              start each trace with the cache that the last one left\n"
"  --warmup N          replay N tokens first that are not counted (0)\n"
"  --window N          a row of counters every N tokens, 0 for none (64)\n"
"\n"
"Exit status: 0 done, 2 trouble (an incomplete trace is trouble).\n"
};

struct options {
	struct cl_replay_options replay;
	struct cl_budget budget;
	const char	*budget_text;
	const char	*model;
	const char	*output;
	bool		 replace;
	bool		 list_policies;
	bool		 real;
	bool		 warm;
	enum cl_io_os_cache os_cache;
	uint32_t	 nthreads;
};

/* One trace of an input, from its head to its trailer. */
struct run {
	const struct options *o;
	struct cl_dst	*out;
	const char	*input;		/* its name */
	const char	*path;		/* of the input; NULL: a pipe */
	bool		 pipe;
	const char	*member;	/* of an archive, or NULL */
	const char	*name;		/* of the input, or input:member */
	uint64_t	 ntraces;	/* of the input, so far */
	bool		 told_raised;	/* that the budget was less than a slot */

	struct cl_replay *before;	/* --warm: the last run */
	uint64_t	 fingerprint;	/* and of its model */
	struct cl_model	*model;		/* as found; NULL: nothing is read */
	struct cl_device *device;
	struct cl_stats_writer *writer;
	struct cl_replay *replay;
	bool		 broken;	/* the output lacks a trailer, for good */
};

static const char *const ios[] = { "none", "real", NULL };
static const char *const os_caches[] = {
	[CL_IO_KEEP] = "keep", [CL_IO_DROP] = "drop", NULL
};

enum { OPT_CACHE = 256, OPT_CONTRACT, OPT_FORCE, OPT_IO, OPT_LIST_POLICIES,
    OPT_MODEL, OPT_OS_CACHE, OPT_PARTITION, OPT_POLICY, OPT_PREFILL,
    OPT_THREADS, OPT_TOKENS, OPT_WARM, OPT_WARMUP, OPT_WINDOW };

static const struct option long_options[] = {
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "contract", required_argument, NULL, OPT_CONTRACT },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "help", no_argument, NULL, 'h' },
	{ "io", required_argument, NULL, OPT_IO },
	{ "list-policies", no_argument, NULL, OPT_LIST_POLICIES },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "os-cache", required_argument, NULL, OPT_OS_CACHE },
	{ "partition", required_argument, NULL, OPT_PARTITION },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "prefill", required_argument, NULL, OPT_PREFILL },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "tokens", required_argument, NULL, OPT_TOKENS },
	{ "version", no_argument, NULL, 'V' },
	{ "warm", no_argument, NULL, OPT_WARM },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ NULL, 0, NULL, 0 }
};

static void
take_policy(const char *text, struct cl_cache_policy *p)
{
	struct cl_err err = { 0 };

	if (cl_cache_policy_parse(text, p, &err) != CL_OK)
		fe_misuse("--policy: %s", err.msg);
}

/* --list-policies: the table, with what each policy takes. */
static int
list_policies(void)
{
	const struct cl_cache_policy_info *info;
	struct cl_dst *out = fe_output(NULL, false, false);
	char takes[CL_CACHE_TAKES_TEXT];
	unsigned i;

	cl_dst_printf(out, "policy\tparameters\tsummary\tpaper\n");
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		cl_dst_printf(out, "%s\t%s\t%s\t%s\n", info->name,
		    cl_cache_policy_takes(info, takes), info->summary,
		    info->paper == NULL ? "" : info->paper);
	return (fe_finish(out, FE_DONE));
}

static void
take_option(struct options *o, int c, const char *arg)
{

	switch (c) {
	case OPT_CACHE:
		fe_budget("--cache", arg, &o->budget);
		o->budget_text = arg;
		break;
	case OPT_CONTRACT:
		o->replay.contract = fe_choice("--contract", arg,
		    cl_conditions_contracts);
		break;
	case OPT_FORCE:
		o->replace = true;
		break;
	case OPT_IO:
		o->real = fe_choice("--io", arg, ios) == 1;
		break;
	case OPT_LIST_POLICIES:
		o->list_policies = true;
		break;
	case OPT_MODEL:
		o->model = arg;
		break;
	case OPT_OS_CACHE:
		o->os_cache = fe_choice("--os-cache", arg, os_caches);
		break;
	case OPT_PARTITION:
		o->replay.partition = fe_choice("--partition", arg,
		    cl_conditions_partitions);
		break;
	case OPT_POLICY:
		take_policy(arg, &o->replay.policy);
		break;
	case OPT_PREFILL:
		o->replay.prefill = fe_choice("--prefill", arg,
		    cl_conditions_prefills);
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
		break;
	}
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){
		.replay = { .window = 64 },
		.budget = { CL_BUDGET_PERCENT, 2500 },
		.budget_text = "25%",
		.real = true,
		.nthreads = 4,
	};
	take_policy("lru", &o->replay.policy);
	while ((c = getopt_long(argc, argv, "ho:V", long_options, NULL)) != -1)
		switch (c) {
		case 'h':
			fe_help();
		case 'o':
			o->output = optarg;
			break;
		case 'V':
			fe_version();
		case '?':
			fe_misuse("see %s --help", command.name);
		default:
			take_option(o, c, optarg);
		}
}

/* What the run meets, rather than asked for. */
static int
write_machine(struct run *r, struct cl_err *err)
{
	struct cl_stats_conds c = { 0 };
	struct cl_host_usage u;
	int status;

	cl_host_usage(&u);
	(void)cl_stats_set_str(&c, "backend", "pread", err);
	(void)cl_stats_set_str(&c, "model_path", r->model->shards[0].path,
	    err);
	(void)cl_stats_set_u64(&c, "memory_bytes", cl_host_memory(""), err);
	(void)cl_stats_set_u64(&c, "arena_bytes", cl_device_arena(r->device),
	    err);
	(void)cl_stats_set_bool(&c, "trace_from_pipe", r->pipe, err);
	status = err->code != CL_OK ? err->code :
	    cl_stats_write_machine(r->writer, &c, err);
	cl_stats_conds_free(&c);
	return (status);
}

/* The model's files and buffers for its experts, ready to be read into. */
static int
open_device(struct run *r, const struct cl_model *m,
    const struct cl_budget_slots *slots, struct cl_err *err)
{
	struct cl_device_options d = {
		.io = {
			.nthreads = r->o->nthreads,
			.os_cache = r->o->os_cache,
		},
		.nslots = slots->nslots,
		.nbypass = cl_replay_nbypass(m),
		.stride = slots->stride,
	};

	r->device = cl_device_new(r->model, &d, err);
	return (r->device == NULL ? err->code : CL_OK);
}

static int
write_conditions(struct run *r, const struct cl_trace_head *head,
    const struct cl_model *m, const struct cl_budget_slots *slots,
    const struct cl_replay_options *o, struct cl_err *err)
{
	struct cl_stats_conds c = { 0 };
	struct cl_conditions what = {
		.trace = r->input,
		.member = r->ntraces,
		.member_name = r->member,
		.warm = r->o->warm,
		.budget = r->o->budget_text,
		.io = ios[r->o->real],
		.os_cache = r->o->real ? os_caches[r->o->os_cache] : NULL,
		.threads = r->o->nthreads,
	};

	if (cl_conditions_set(&c, &what, head, m, slots, o, err) == CL_OK)
		r->writer = cl_stats_writer_new(r->out, &c, err);
	cl_stats_conds_free(&c);
	return (r->writer == NULL ? err->code : CL_OK);
}

/*
 * --warm: the experts in the cache are those of one model.  Where it is
 * unknown, it must at least stay so.
 */
static int
check_warm(struct run *r, const struct cl_model *m, struct cl_err *err)
{

	if (r->before != NULL && m->fingerprint != r->fingerprint)
		return (cl_fail(err, CL_EINVAL, "%s: --warm carries the cache "
		    "from trace to trace, and this one is of another model",
		    r->name));
	r->fingerprint = m->fingerprint;
	return (CL_OK);
}

/* The model, or with --warm the one that is open, if this is the same. */
static int
find_model(struct run *r, const struct cl_trace_head *head,
    struct cl_err *err)
{
	struct cl_model *m = cl_locate_model(head, r->path, r->o->model, err);

	if (m == NULL)
		return (err->code);
	if (r->model == NULL)
		r->model = m;
	else
		cl_model_free(m);
	return (CL_OK);
}

/* A trace begins: all that a replay of it needs. */
static int
begin_run(struct run *r, struct cl_trace_reader *reader,
    const struct cl_trace_head *head, struct cl_err *err)
{
	struct cl_replay_options o = r->o->replay;
	struct cl_budget_slots slots;
	struct cl_model_sums sums;
	const struct cl_model *m = head->model;
	int status;

	r->ntraces++;
	if ((status = check_warm(r, m, err)) != CL_OK)
		return (status);
	if (r->o->real && (status = find_model(r, head, err)) != CL_OK)
		return (status);
	if (r->o->real && m->fingerprint == 0)
		m = r->model;		/* it knows what the trace does not */
	cl_model_sums(m, &sums);
	status = cl_budget_resolve(&r->o->budget, &sums, &slots, err);
	if (status == CL_OK && r->o->real && r->device == NULL)
		status = open_device(r, m, &slots, err);
	if (status != CL_OK)
		return (status);
	if (slots.raised && !r->told_raised) {
		fe_warn("--cache %s is less than one expert takes; one slot "
		    "is used (64e is 64 experts, 64M 64 MiB)",
		    r->o->budget_text);
		r->told_raised = true;
	}
	o.nslots = slots.nslots;
	o.device = r->device;
	o.before = r->before;
	status = write_conditions(r, head, m, &slots, &o, err);
	if (status == CL_OK)
		r->replay = cl_replay_new(m, &o, r->writer,
		    cl_trace_reader_wait_ns(reader), err);
	if (r->replay == NULL)
		return (err->code);
	return (r->o->real ? write_machine(r, err) : CL_OK);
}

static void
cool(struct run *r)
{

	cl_replay_free(r->before);
	cl_device_free(r->device);
	cl_model_free(r->model);
	r->before = NULL;
	r->device = NULL;
	r->model = NULL;
}

/*
 * Nothing of a trace is left; the input may hold another.  With --warm the
 * cache stays, and so does what its slots stand for.
 */
static void
drop_run(struct run *r)
{

	cl_stats_writer_free(r->writer);
	r->writer = NULL;
	if (r->o->warm && r->replay != NULL) {
		cl_replay_free(r->before);
		r->before = r->replay;
	} else if (!r->o->warm)
		cl_replay_free(r->replay);
	r->replay = NULL;
	if (!r->o->warm)
		cool(r);
}

/* The trace is over: whole, with counts, or cut off after so many tokens. */
static int
end_run(struct run *r, struct cl_trace_reader *reader,
    const struct cl_trace_counts *counts, enum cl_trace_end end,
    struct cl_err *err)
{
	struct cl_stats_end e = { 0 };

	e.end = end;
	e.tokens = cl_trace_reader_tokens(reader);
	e.routing = counts == NULL ? 0 : counts->routing;
	return (cl_replay_finish(r->replay, &e,
	    cl_trace_reader_wait_ns(reader), err));
}

/* What a trailer makes of the exit status. */
static int
judge(const struct run *r, const struct cl_trace_counts *counts)
{

	if (counts->end == CL_END_COMPLETE)
		return (FE_DONE);
	fe_warn("%s: the trace is %s: its writer stopped after token %llu",
	    r->name, cl_trace_end_name(counts->end),
	    (unsigned long long)counts->tokens);
	return (FE_TROUBLE);
}

static int
take_record(struct run *r, struct cl_trace_reader *reader,
    const struct cl_trace_rec *rec, int *exit_status, struct cl_err *err)
{
	int status = CL_OK;

	switch (rec->kind) {
	case CL_TRACE_HEAD:
		return (begin_run(r, reader, rec->head, err));
	case CL_TRACE_SEQ:
		break;
	case CL_TRACE_BLOCK:
		if (cl_replay_done(r->replay))
			break;
		status = cl_replay_block(r->replay, rec->block,
		    cl_trace_reader_wait_ns(reader), err);
		if (cl_replay_done(r->replay))
			cl_trace_reader_want(reader, CL_TRACE_SKIM);
		break;
	case CL_TRACE_TRAILER:
		if (judge(r, rec->counts) != FE_DONE)
			*exit_status = FE_TROUBLE;
		status = end_run(r, reader, rec->counts,
		    rec->counts->end == CL_END_COMPLETE ?
		    CL_END_COMPLETE : CL_END_INCOMPLETE, err);
		if (status != CL_OK)
			break;
		drop_run(r);
		cl_trace_reader_want(reader, CL_TRACE_CHECK);
		break;
	}
	fe_progress(cl_trace_reader_tokens(reader), 0, "tokens replayed");
	return (status);
}

/*
 * The input failed, or a signal came: the run at hand is brought to an end
 * with what it has, and says so.
 */
static void
break_off(struct run *r, struct cl_trace_reader *reader, bool stopped)
{
	struct cl_err err = { 0 };

	if (r->replay == NULL || end_run(r, reader, NULL, stopped ?
	    CL_END_INTERRUPTED : CL_END_INCOMPLETE, &err) == CL_OK)
		return;
	fe_warn("%s", err.msg);
	r->broken = true;
}

/* Every trace of an input. */
static int
replay_reader(struct run *r, struct cl_trace_reader *reader)
{
	const atomic_bool *stop = fe_stop();
	const struct cl_trace_rec *rec;
	struct cl_err err = { 0 };
	int status, exit_status = FE_DONE;

	while (!atomic_load(stop)) {
		if ((status = cl_trace_read(reader, &rec, &err)) == CL_END)
			return (exit_status);
		if (status == CL_ECUT && atomic_load(stop))
			break;
		if (status != CL_OK) {
			fe_warn("%s", err.msg);
			break_off(r, reader, false);
			return (FE_TROUBLE);
		}
		if (take_record(r, reader, rec, &exit_status, &err) != CL_OK) {
			fe_warn("%s", err.msg);
			r->broken = r->writer != NULL;
			return (FE_TROUBLE);
		}
	}
	fe_warn("%s: interrupted", r->name);
	break_off(r, reader, true);
	return (FE_TROUBLE);
}

/* A source of traces: an input, or a member of one. */
static int
replay_source(struct run *r, struct cl_src *src)
{
	struct cl_trace_reader *reader;
	struct cl_err err = { 0 };
	int status;

	r->name = cl_src_name(src);
	if ((reader = cl_trace_reader_new(src, CL_TRACE_CHECK, &err)) == NULL)
		fe_die(&err);
	status = replay_reader(r, reader);
	drop_run(r);
	cl_trace_reader_free(reader);
	return (status);
}

/* What one member lacks is no reason to leave out the others. */
static int
replay_input(struct run *r, const char *operand)
{
	struct input *in = input_open(operand);
	const atomic_bool *stop = fe_stop();
	struct cl_err err = { 0 };
	struct cl_src *src;
	int status, exit_status = FE_DONE;

	r->input = input_name(in);
	r->path = input_path(in);
	r->pipe = input_pipe(in);
	r->ntraces = 0;
	while ((status = input_next(in, &src, &err)) == CL_OK) {
		r->member = input_member(in);
		if (replay_source(r, src) != FE_DONE)
			exit_status = FE_TROUBLE;
		if (r->broken || atomic_load(stop))
			break;
	}
	if (status < 0) {
		fe_warn("%s", err.msg);
		exit_status = FE_TROUBLE;
	}
	input_close(in);
	return (exit_status);
}

int
main(int argc, char **argv)
{
	static const char *const only_stdin[] = { "-", NULL };
	const atomic_bool *stop;
	const char *const *inputs;
	struct options o;
	struct run r = { .o = &o };
	int status = FE_DONE;

	fe_init(&command);
	parse_options(&o, argc, argv);
	if (o.list_policies)
		return (list_policies());
	input_check(argv + optind, argc - optind);
	inputs = optind < argc ? (const char *const *)argv + optind :
	    only_stdin;
	r.out = fe_output(o.output, o.replace, true);
	stop = fe_stop();
	for (; *inputs != NULL && !r.broken && !atomic_load(stop); inputs++)
		if (replay_input(&r, *inputs) != FE_DONE)
			status = FE_TROUBLE;
	cool(&r);
	return (r.broken ? fe_abandon(r.out) : fe_finish(r.out, status));
}
