/*
 * cl-trace: record, make, show and load router traces.
 */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/src.h"
#include "cl/vec.h"
#include "fe.h"
#include "trace.h"

#define PROMPT_MAX	(64u << 20)	/* no context takes more */
#define TOKENS_MAX	(1u << 30)	/* positions are 32 bits */
#define THREADS_MAX	512
#define PARALLEL_MAX	64		/* libllama's own limit, of old */

static const struct fe_command command = {
	.name = "cl-trace",
	.synopsis = "[options] model.gguf > trace\n"
	    "       cl-trace --geometry model.gguf\n"
	    "       cl-trace --info|--verify|--dump [trace ...]\n"
	    "       cl-trace --load [rows.tsv] > trace",
	.help =
"Record the router of a model through libllama; or make, show, load traces.\n"
"\n"
"recording:  -p TEXT  -f FILE     prompts, each a sequence (a page built in)\n"
"  -n N        tokens to generate (128)     --ignore-eos   go on at the end\n"
"  -c N        context (what is needed)     --temp T       sample (0: greedy)\n"
"  -u N        tokens of a prefill pass (512)  --seed N    of sampling (1)\n"
"  -t N        threads (1)                  --no-tokens    leave out token ids\n"
"  --chat      prompts as the model chats   --parallel N   prompts at once (1)\n"
"  --gpu-layers N  at most on a GPU         --no-repack    --no-flash-attn\n"
"  --llama PATH   libllama, or its folder   --scores f32|f16|ids        (f32)\n"
"  --prompts DIR --archive FILE   a trace of each file  --resume OLD  go on\n"
"archives:   --archive-list    --archive-verify    --add TRACE... --archive FILE\n"
"making:     --synthetic[=drift|fixed|noise]  --tokens N (1024)  --locality L\n"
"  --seed N    --predict-corr R             --shift AT:LEN\n"
"showing:    --geometry (of a model)      --info (of traces)  -f text|json\n"
"  --verify    are traces whole?            --dump   a (token, layer) a row\n"
"loading:    --load (TSV of --dump, or any with columns layer and experts)\n"
"  --layers N  --experts N                  --used N       --model FILE\n"
"always:     -o FILE   --force (replace it)   -h, --help   -V, --version\n"
"Exit status: 0 done, 2 trouble.  See cl-trace(1), and cl-trace(5) for bytes.\n"
};

enum { OPT_ADD = 256, OPT_ARCHIVE, OPT_ARCHIVE_LIST, OPT_ARCHIVE_VERIFY,
    OPT_CHAT, OPT_DUMP, OPT_EXPERTS, OPT_FORCE, OPT_GEOMETRY, OPT_GPU_LAYERS,
    OPT_IGNORE_EOS, OPT_INFO, OPT_LAYERS, OPT_LLAMA, OPT_LOAD, OPT_LOCALITY,
    OPT_MODEL, OPT_NO_FLASH_ATTN, OPT_NO_REPACK, OPT_NO_TOKENS, OPT_PARALLEL, OPT_PREDICT_CORR,
    OPT_PROMPTS, OPT_RESUME, OPT_SCORES, OPT_SEED, OPT_SHIFT, OPT_SYNTHETIC,
    OPT_TEMP, OPT_TOKENS, OPT_USED, OPT_VERIFY };

static const struct option long_options[] = {
	{ "add", no_argument, NULL, OPT_ADD },
	{ "archive", required_argument, NULL, OPT_ARCHIVE },
	{ "archive-list", no_argument, NULL, OPT_ARCHIVE_LIST },
	{ "archive-verify", no_argument, NULL, OPT_ARCHIVE_VERIFY },
	{ "chat", no_argument, NULL, OPT_CHAT },
	{ "dump", no_argument, NULL, OPT_DUMP },
	{ "experts", required_argument, NULL, OPT_EXPERTS },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "geometry", no_argument, NULL, OPT_GEOMETRY },
	{ "gpu-layers", required_argument, NULL, OPT_GPU_LAYERS },
	{ "help", no_argument, NULL, 'h' },
	{ "ignore-eos", no_argument, NULL, OPT_IGNORE_EOS },
	{ "info", no_argument, NULL, OPT_INFO },
	{ "layers", required_argument, NULL, OPT_LAYERS },
	{ "llama", required_argument, NULL, OPT_LLAMA },
	{ "load", no_argument, NULL, OPT_LOAD },
	{ "locality", required_argument, NULL, OPT_LOCALITY },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "no-flash-attn", no_argument, NULL, OPT_NO_FLASH_ATTN },
	{ "no-repack", no_argument, NULL, OPT_NO_REPACK },
	{ "no-tokens", no_argument, NULL, OPT_NO_TOKENS },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "predict-corr", required_argument, NULL, OPT_PREDICT_CORR },
	{ "prompts", required_argument, NULL, OPT_PROMPTS },
	{ "resume", required_argument, NULL, OPT_RESUME },
	{ "scores", required_argument, NULL, OPT_SCORES },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "shift", required_argument, NULL, OPT_SHIFT },
	{ "synthetic", optional_argument, NULL, OPT_SYNTHETIC },
	{ "temp", required_argument, NULL, OPT_TEMP },
	{ "tokens", required_argument, NULL, OPT_TOKENS },
	{ "used", required_argument, NULL, OPT_USED },
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

/* What each mode is called, and which of the others' options it takes. */
static const struct {
	const char	*name;
	bool		 recording;
	bool		 making;
	bool		 loading;
	bool		 format;
	int		 least;		/* operands */
	int		 most;
	int		(*act)(const struct trace_options *);
} modes[] = {
	[MODE_RECORD] = { "recording", .recording = true, .least = 1,
	    .most = 1, .act = trace_record },
	[MODE_SYNTHETIC] = { "--synthetic", .making = true, .least = 1,
	    .most = 1, .act = trace_synthetic },
	[MODE_GEOMETRY] = { "--geometry", .format = true, .least = 1,
	    .most = 1, .act = trace_geometry },
	[MODE_INFO] = { "--info", .format = true, .most = 1 << 20,
	    .act = trace_info },
	[MODE_VERIFY] = { "--verify", .most = 1 << 20, .act = trace_verify },
	[MODE_DUMP] = { "--dump", .most = 1 << 20, .act = trace_dump },
	[MODE_LOAD] = { "--load", .loading = true, .most = 1,
	    .act = trace_load },
	[MODE_ADD] = { "--add", .least = 1, .most = 1 << 20,
	    .act = trace_add },
	[MODE_ARCHIVE_LIST] = { "--archive-list", .most = 1,
	    .act = trace_archive_list },
	[MODE_ARCHIVE_VERIFY] = { "--archive-verify", .most = 1,
	    .act = trace_archive_verify },
};

/* What was given, so that an option that a mode does not take is refused. */
struct given {
	const char	*mode;		/* the option that chose it, or NULL */
	const char	*recording;	/* an option of recording, or NULL ... */
	const char	*making;
	const char	*loading;
	const char	*seed;
	const char	*scores;
	const char	*file;		/* -f: a prompt's, or a format */
	bool		 synth_mode;
};

static void
set_mode(struct trace_options *o, struct given *g, enum trace_mode mode)
{

	if (g->mode != NULL && o->mode != mode)
		fe_misuse("%s and %s cannot be had together", g->mode,
		    modes[mode].name);
	o->mode = mode;
	g->mode = modes[mode].name;
}

/* The next prompt, in the order of -p and -f. */
static struct trace_prompt *
new_prompt(struct trace_options *o)
{
	struct cl_err err = { 0 };

	if (cl_vec_grow(&o->prompt, &o->prompt_cap, o->nprompts + 1,
	    sizeof(*o->prompt), &err) != CL_OK)
		fe_die(&err);
	return (&o->prompt[o->nprompts++]);
}

static void
add_text(struct trace_options *o, const char *name, const char *text)
{
	struct cl_err err = { 0 };
	struct trace_prompt *p = new_prompt(o);

	p->name = name;
	p->nbytes = strlen(text);
	if ((p->text = cl_vec_strndup(text, p->nbytes, &err)) == NULL)
		fe_die(&err);
}

void
trace_read_prompt(struct trace_prompt *p)
{
	struct cl_err err = { 0 };
	struct cl_src *src = fe_input(p->path);
	const char *slash = strrchr(p->path, '/');
	const uint8_t *bytes;

	if (cl_src_peek(src, PROMPT_MAX, &bytes, &p->nbytes, &err) != CL_OK)
		fe_die(&err);
	if (p->nbytes == PROMPT_MAX)
		fe_misuse("%s: a prompt of %u bytes or more", p->path,
		    PROMPT_MAX);
	p->text = cl_vec_strndup((const char *)bytes, p->nbytes, &err);
	if (p->text == NULL)
		fe_die(&err);
	p->name = slash == NULL ? p->path : slash + 1;
	cl_src_close(src);
}

/* -f names a prompt's file, but for what prints text or JSON: its format. */
static void
resolve_files(struct trace_options *o)
{
	static const char *const formats[] = { "text", "json", NULL };
	struct trace_prompt *p;

	for (p = o->prompt; p < o->prompt + o->nprompts; p++)
		if (p->path != NULL && modes[o->mode].format)
			o->json = fe_choice("-f", p->path, formats) == 1;
		else if (p->path != NULL)
			trace_read_prompt(p);
	o->builtin = o->mode == MODE_RECORD && o->nprompts == 0 &&
	    o->prompts == NULL;
	if (o->builtin)
		add_text(o, "built-in prompt", trace_prompt_builtin);
}

static void
take_shift(struct cl_synth_options *s, const char *arg)
{
	const char *colon = strchr(arg, ':');
	char at[24];

	if (colon == NULL || (size_t)(colon - arg) >= sizeof(at))
		fe_misuse("--shift \"%.60s\": AT:LEN is wanted", arg);
	memcpy(at, arg, (size_t)(colon - arg));
	at[colon - arg] = '\0';
	s->shift_at = fe_u64("--shift", at, 0, TOKENS_MAX);
	s->shift_len = fe_u64("--shift", colon + 1, 1, TOKENS_MAX);
}

static void
take_making(struct trace_options *o, struct given *g, int c, const char *arg)
{
	static const char *const names[] = { "drift", "fixed", "noise", NULL };
	struct cl_synth_options *s = &o->synth;

	switch (c) {
	case OPT_LOCALITY:
		s->locality = fe_f64("--locality", arg, 0,
		    CL_SYNTH_LOCALITY_MAX);
		g->making = "--locality";
		break;
	case OPT_PREDICT_CORR:
		s->predict_corr = fe_f64("--predict-corr", arg, -1, 1);
		g->making = "--predict-corr";
		break;
	case OPT_SHIFT:
		take_shift(s, arg);
		g->making = "--shift";
		break;
	case OPT_SYNTHETIC:
		set_mode(o, g, MODE_SYNTHETIC);
		g->synth_mode = arg != NULL;
		if (arg != NULL)
			s->mode = cl_synth_mode_by_name(
			    names[fe_choice("--synthetic", arg, names)]);
		break;
	case OPT_TOKENS:
		s->ntokens = fe_u64("--tokens", arg, 1, CL_SYNTH_TOKENS_MAX);
		g->making = "--tokens";
		break;
	}
}

static void
take_loading(struct trace_options *o, struct given *g, int c, const char *arg)
{

	switch (c) {
	case OPT_EXPERTS:
		o->experts = (uint32_t)fe_u64("--experts", arg, 1,
		    CL_RULE_EXPERTS_MAX);
		g->loading = "--experts";
		break;
	case OPT_LAYERS:
		o->layers = (uint32_t)fe_u64("--layers", arg, 1,
		    CL_MODEL_LAYERS_MAX);
		g->loading = "--layers";
		break;
	case OPT_MODEL:
		o->model = arg;
		g->loading = "--model";
		break;
	case OPT_USED:
		o->used = (uint32_t)fe_u64("--used", arg, 1,
		    CL_RULE_EXPERTS_MAX);
		g->loading = "--used";
		break;
	}
}

/* How libllama is to run the model. */
static void
take_engine(struct trace_options *o, struct given *g, int c, const char *arg)
{

	switch (c) {
	case 't':
		o->nthreads = (uint32_t)fe_u64("-t", arg, 1, THREADS_MAX);
		g->recording = "-t";
		break;
	case OPT_GPU_LAYERS:
		o->gpu_layers = (uint32_t)fe_u64("--gpu-layers", arg, 0,
		    INT32_MAX);
		o->has_gpu_layers = true;
		g->recording = "--gpu-layers";
		break;
	case OPT_LLAMA:
		o->llama = arg;
		g->recording = "--llama";
		break;
	case OPT_NO_FLASH_ATTN:
		o->no_flash_attn = true;
		g->recording = "--no-flash-attn";
		break;
	case OPT_NO_REPACK:
		o->no_repack = true;
		g->recording = "--no-repack";
		break;
	case OPT_PARALLEL:
		o->nparallel = (uint32_t)fe_u64("--parallel", arg, 1,
		    PARALLEL_MAX);
		g->recording = "--parallel";
		break;
	}
}

static void
take_recording(struct trace_options *o, struct given *g, int c,
    const char *arg)
{

	switch (c) {
	case 'c':
		o->nctx = (uint32_t)fe_u64("-c", arg, 1, TOKENS_MAX);
		g->recording = "-c";
		break;
	case 'n':
		o->ngenerate = (uint32_t)fe_u64("-n", arg, 0, TOKENS_MAX);
		g->recording = "-n";
		break;
	case 'p':
		add_text(o, "-p", arg);
		g->recording = "-p";
		break;
	case 'u':
		o->nubatch = (uint32_t)fe_u64("-u", arg, 1, TOKENS_MAX);
		g->recording = "-u";
		break;
	case OPT_CHAT:
		o->chat = true;
		g->recording = "--chat";
		break;
	case OPT_IGNORE_EOS:
		o->ignore_eos = true;
		g->recording = "--ignore-eos";
		break;
	case OPT_NO_TOKENS:
		o->tokens = false;
		g->recording = "--no-tokens";
		break;
	case OPT_TEMP:
		o->temperature = fe_f64("--temp", arg, 0, 100);
		g->recording = "--temp";
		break;
	}
}

static void
take_archive(struct trace_options *o, struct given *g, int c, const char *arg)
{

	switch (c) {
	case OPT_ADD:
		set_mode(o, g, MODE_ADD);
		break;
	case OPT_ARCHIVE:
		o->archive = arg;
		break;
	case OPT_ARCHIVE_LIST:
		set_mode(o, g, MODE_ARCHIVE_LIST);
		break;
	case OPT_ARCHIVE_VERIFY:
		set_mode(o, g, MODE_ARCHIVE_VERIFY);
		break;
	case OPT_PROMPTS:
		o->prompts = arg;
		g->recording = "--prompts";
		break;
	case OPT_RESUME:
		o->resume = arg;
		g->recording = "--resume";
		break;
	}
}

static void
take_option(struct trace_options *o, struct given *g, int c, const char *arg)
{
	static const char *const scores[] = { "ids", "f16", "f32", NULL };

	switch (c) {
	case 'f':
		new_prompt(o)->path = arg;
		g->file = "-f";
		break;
	case 'h':
		fe_help();
	case 'o':
		o->output = arg;
		break;
	case 'V':
		fe_version();
	case OPT_DUMP:
		set_mode(o, g, MODE_DUMP);
		break;
	case OPT_FORCE:
		o->replace = true;
		break;
	case OPT_GEOMETRY:
		set_mode(o, g, MODE_GEOMETRY);
		break;
	case OPT_INFO:
		set_mode(o, g, MODE_INFO);
		break;
	case OPT_LOAD:
		set_mode(o, g, MODE_LOAD);
		break;
	case OPT_SCORES:
		o->scores = (enum cl_trace_scores)fe_choice("--scores", arg,
		    scores);
		g->scores = "--scores";
		break;
	case OPT_SEED:
		o->seed = o->synth.seed = fe_u64("--seed", arg, 0, UINT64_MAX);
		g->seed = "--seed";
		break;
	case OPT_VERIFY:
		set_mode(o, g, MODE_VERIFY);
		break;
	case '?':
		fe_misuse("see %s --help", command.name);
	default:
		take_recording(o, g, c, arg);
		take_engine(o, g, c, arg);
		take_archive(o, g, c, arg);
		take_making(o, g, c, arg);
		take_loading(o, g, c, arg);
	}
}

/* An option that means nothing to the mode is a mistake to be told. */
static void
check_given(const struct trace_options *o, const struct given *g)
{
	bool recording = modes[o->mode].recording;
	bool making = modes[o->mode].making;
	const char *stray = NULL;

	if (g->recording != NULL && !recording)
		stray = g->recording;
	if (g->making != NULL && !making)
		stray = g->making;
	if (g->loading != NULL && !modes[o->mode].loading)
		stray = g->loading;
	if (g->seed != NULL && !recording && !making)
		stray = g->seed;
	if (g->scores != NULL && !recording && !making)
		stray = g->scores;
	if (g->file != NULL && !recording && !modes[o->mode].format)
		stray = g->file;
	if (stray != NULL)
		fe_misuse("%s means nothing to %s", stray,
		    modes[o->mode].name);
	if (o->noperands < modes[o->mode].least)
		fe_misuse("%s needs a %s", modes[o->mode].name,
		    o->mode == MODE_ADD ? "trace" : "model");
	if (o->mode == MODE_SYNTHETIC && o->noperands == 2 &&
	    cl_synth_mode_by_name(o->operand[0]) != 0)
		fe_misuse("--synthetic takes its mode behind =: "
		    "--synthetic=%s", o->operand[0]);
	if (o->noperands > modes[o->mode].most)
		fe_misuse("%s takes %d operand%s, not %d",
		    modes[o->mode].name, modes[o->mode].most,
		    modes[o->mode].most == 1 ? "" : "s", o->noperands);
}

/* --archive is made of a folder of prompts, or of traces. */
static void
check_archive(const struct trace_options *o)
{

	if (o->archive == NULL && o->mode == MODE_ADD)
		fe_misuse("--add needs --archive FILE");
	if (o->archive == NULL && o->prompts != NULL)
		fe_misuse("--prompts needs --archive FILE");
	if (o->archive == NULL && o->resume != NULL)
		fe_misuse("--resume needs --archive FILE");
	if (o->archive == NULL)
		return;
	if (o->mode != MODE_ADD && o->mode != MODE_RECORD)
		fe_misuse("--archive means nothing to %s",
		    modes[o->mode].name);
	if (o->output != NULL)
		fe_misuse("--archive and -o cannot be had together");
	if (o->mode == MODE_RECORD && o->prompts == NULL)
		fe_misuse("--archive needs --prompts DIR, or --add");
	if (o->prompts != NULL && o->nparallel > 1)
		fe_misuse("--prompts makes a trace of each prompt, and "
		    "--parallel means nothing to it");
	if (o->prompts != NULL && o->nprompts > 0)
		fe_misuse("--prompts and -p or -f cannot be had together");
}

static void
parse_options(struct trace_options *o, int argc, char **argv)
{
	struct given g = { 0 };
	int c;

	*o = (struct trace_options){
		.scores = CL_SCORES_F32,
		.tokens = true,
		.ngenerate = 128,
		.seed = 1,
		.nubatch = 512,
		.nthreads = 1,
		.nparallel = 1,
	};
	cl_synth_defaults(&o->synth);
	while ((c = getopt_long(argc, argv, "c:f:hn:o:p:t:u:V", long_options,
	    NULL)) != -1)
		take_option(o, &g, c, optarg);
	o->operand = argv + optind;
	o->noperands = argc - optind;
	if (o->synth.shift_len > 0 && !g.synth_mode)
		o->synth.mode = CL_SYNTH_FIXED;
	check_given(o, &g);
	check_archive(o);
	resolve_files(o);
}

static void
free_options(struct trace_options *o)
{
	size_t i;

	for (i = 0; i < o->nprompts; i++)
		free(o->prompt[i].text);
	free(o->prompt);
}

int
main(int argc, char **argv)
{
	struct trace_options o;
	int status;

	fe_init(&command);
	parse_options(&o, argc, argv);
	status = o.prompts != NULL ? trace_corpus(&o) :
	    modes[o.mode].act(&o);
	free_options(&o);
	return (status);
}
