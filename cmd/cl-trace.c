/*
 * cl-trace: record, make, show and load router traces.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/model.h"
#include "cl/vec.h"
#include "fe.h"
#include "options.h"
#include "trace.h"

#define TOKENS_MAX	(1u << 30)	/* positions are 32 bits */
#define THREADS_MAX	512
#define OPERANDS_MAX	INT_MAX		/* as many as there are */
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

/* What can be done, and how many operands it takes. */
static const struct {
	const char	*name;
	int		 least;		/* operands */
	int		 most;
	int		(*act)(const struct trace_options *);
} modes[] = {
	[MODE_RECORD] = { "recording", 1, 1, trace_record },
	[MODE_SYNTHETIC] = { "--synthetic", 1, 1, trace_synthetic },
	[MODE_GEOMETRY] = { "--geometry", 1, 1, trace_geometry },
	[MODE_INFO] = { "--info", 0, OPERANDS_MAX, trace_info },
	[MODE_VERIFY] = { "--verify", 0, OPERANDS_MAX, trace_verify },
	[MODE_DUMP] = { "--dump", 0, OPERANDS_MAX, trace_dump },
	[MODE_LOAD] = { "--load", 0, 1, trace_load },
	[MODE_ADD] = { "--add", 1, OPERANDS_MAX, trace_add },
	[MODE_ARCHIVE_LIST] = { "--archive-list", 0, 1, trace_archive_list },
	[MODE_ARCHIVE_VERIFY] = { "--archive-verify", 0, 1,
	    trace_archive_verify },
};

/* Those that an option means something to. */
enum {
	RECORDING = 1 << MODE_RECORD,
	MAKING = 1 << MODE_SYNTHETIC,
	LOADING = 1 << MODE_LOAD,
	ADDING = 1 << MODE_ADD,
	FORMATTED = 1 << MODE_GEOMETRY | 1 << MODE_INFO
};

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

/* -f names a prompt's file, but for what prints text or JSON: its format. */
static void
resolve_files(struct trace_options *o)
{
	static const char *const formats[] = { "text", "json", NULL };
	bool format = (1u << o->mode & FORMATTED) != 0;
	struct trace_prompt *p;

	for (p = o->prompt; p < o->prompt + o->nprompts; p++)
		if (p->path != NULL && format)
			o->json = fe_choice("-f", p->path, formats) == 1;
		else if (p->path != NULL)
			trace_read_prompt(p);
	o->builtin = o->mode == MODE_RECORD && o->nprompts == 0 &&
	    o->prompts == NULL;
	if (o->builtin)
		add_text(o, "built-in prompt", trace_prompt_builtin);
}

static void
take_mode(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;
	enum trace_mode mode = MODE_SYNTHETIC;

	(void)arg;
	while (strcmp(modes[mode].name + 2, row->name) != 0)
		mode++;
	if (o->mode != MODE_RECORD && o->mode != mode)
		fe_misuse("%s and %s cannot be had together",
		    modes[o->mode].name, modes[mode].name);
	o->mode = mode;
}

static void
take_synthetic(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;

	take_mode(row, options, NULL);
	o->synth_said = arg != NULL;
	if (arg != NULL)
		o->synth.mode = cl_synth_mode_by_name(
		    row->names[fe_choice("--synthetic", arg, row->names)]);
}

static void
take_file(const struct options_row *row, void *options, const char *arg)
{

	(void)row;
	new_prompt(options)->path = arg;
}

static void
take_prompt(const struct options_row *row, void *options, const char *arg)
{

	(void)row;
	add_text(options, "-p", arg);
}

static void
take_locality(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;

	(void)row;
	o->locality_said = true;
	o->synth.locality = fe_f64("--locality", arg, 0,
	    CL_SYNTH_LOCALITY_MAX);
}

static void
take_predict_corr(const struct options_row *row, void *options,
    const char *arg)
{
	struct trace_options *o = options;

	(void)row;
	o->synth.predict_corr = fe_f64("--predict-corr", arg, -1, 1);
}

static void
take_scores(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;

	o->scores = (enum cl_trace_scores)fe_choice("--scores", arg,
	    row->names);
}

static void
take_seed(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;

	(void)row;
	o->seed = o->synth.seed = fe_u64("--seed", arg, 0, UINT64_MAX);
}

static void
take_shift(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;
	const char *colon = strchr(arg, ':');
	char at[24];

	(void)row;
	if (colon == NULL || (size_t)(colon - arg) >= sizeof(at))
		fe_misuse("--shift \"%.60s\": AT:LEN is wanted", arg);
	memcpy(at, arg, (size_t)(colon - arg));
	at[colon - arg] = '\0';
	o->synth.shift_at = fe_u64("--shift", at, 0, TOKENS_MAX);
	o->synth.shift_len = fe_u64("--shift", colon + 1, 1, TOKENS_MAX);
}

static void
take_temp(const struct options_row *row, void *options, const char *arg)
{
	struct trace_options *o = options;

	(void)row;
	o->temperature = fe_f64("--temp", arg, 0, 100);
}

static const char *const scores[] = { "ids", "f16", "f32", NULL };
static const char *const synths[] = { "drift", "fixed", "noise", NULL };

#define O	struct trace_options

static const struct options_row rows[] = {
	{ "add", 0, 0, .take = take_mode },
	{ "archive", 0, RECORDING | ADDING, OPTIONS_TEXT(O, archive) },
	{ "archive-list", 0, 0, .take = take_mode },
	{ "archive-verify", 0, 0, .take = take_mode },
	{ NULL, 'c', RECORDING, OPTIONS_U32(O, nctx, 1, TOKENS_MAX) },
	{ "chat", 0, RECORDING, OPTIONS_FLAG(O, chat) },
	{ "dump", 0, 0, .take = take_mode },
	{ "experts", 0, LOADING,
	    OPTIONS_U32(O, experts, 1, CL_RULE_EXPERTS_MAX) },
	{ NULL, 'f', RECORDING | FORMATTED, OPTIONS_CALL(take_file) },
	{ "force", 0, 0, OPTIONS_FLAG(O, replace) },
	{ "geometry", 0, 0, .take = take_mode },
	{ "gpu-layers", 0, RECORDING,
	    OPTIONS_U32(O, gpu_layers, 0, INT32_MAX),
	    .said = OPTIONS_AT(O, has_gpu_layers, bool) },
	OPTIONS_HELP,
	{ "ignore-eos", 0, RECORDING, OPTIONS_FLAG(O, ignore_eos) },
	{ "info", 0, 0, .take = take_mode },
	{ "layers", 0, LOADING,
	    OPTIONS_U32(O, layers, 1, CL_MODEL_LAYERS_MAX) },
	{ "llama", 0, RECORDING, OPTIONS_TEXT(O, llama) },
	{ "load", 0, 0, .take = take_mode },
	{ "locality", 0, MAKING, OPTIONS_CALL(take_locality) },
	{ "model", 0, LOADING, OPTIONS_TEXT(O, model) },
	{ NULL, 'n', RECORDING, OPTIONS_U32(O, ngenerate, 0, TOKENS_MAX) },
	{ "no-flash-attn", 0, RECORDING, OPTIONS_FLAG(O, no_flash_attn) },
	{ "no-repack", 0, RECORDING, OPTIONS_FLAG(O, no_repack) },
	{ "no-tokens", 0, RECORDING, OPTIONS_FLAG(O, no_tokens) },
	{ NULL, 'o', 0, OPTIONS_TEXT(O, output) },
	{ NULL, 'p', RECORDING, OPTIONS_CALL(take_prompt) },
	{ "parallel", 0, RECORDING,
	    OPTIONS_U32(O, nparallel, 1, PARALLEL_MAX) },
	{ "predict-corr", 0, MAKING, OPTIONS_CALL(take_predict_corr) },
	{ "prompts", 0, RECORDING, OPTIONS_TEXT(O, prompts) },
	{ "resume", 0, RECORDING, OPTIONS_TEXT(O, resume) },
	{ "scores", 0, RECORDING | MAKING, OPTIONS_CALL(take_scores),
	    .names = scores },
	{ "seed", 0, RECORDING | MAKING, OPTIONS_CALL(take_seed) },
	{ "shift", 0, MAKING, OPTIONS_CALL(take_shift) },
	{ "synthetic", 0, 0, .argument = OPTIONS_ALLOWED,
	    .take = take_synthetic, .names = synths },
	{ NULL, 't', RECORDING, OPTIONS_U32(O, nthreads, 1, THREADS_MAX) },
	{ "temp", 0, RECORDING, OPTIONS_CALL(take_temp) },
	{ "tokens", 0, MAKING,
	    OPTIONS_U64(O, synth.ntokens, 1, CL_SYNTH_TOKENS_MAX) },
	{ NULL, 'u', RECORDING, OPTIONS_U32(O, nubatch, 1, TOKENS_MAX) },
	{ "used", 0, LOADING, OPTIONS_U32(O, used, 1, CL_RULE_EXPERTS_MAX) },
	{ "verify", 0, 0, .take = take_mode },
	OPTIONS_VERSION,
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

/* As many operands as it takes. */
static void
check_operands(const struct trace_options *o)
{

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
	bool given[NROWS] = { false };
	int first;

	*o = (struct trace_options){
		.scores = CL_SCORES_F32,
		.ngenerate = 128,
		.seed = 1,
		.nubatch = 512,
		.nthreads = 1,
		.nparallel = 1,
	};
	cl_synth_defaults(&o->synth);
	first = options_take(rows, NROWS, given, o, argc, argv);
	o->operand = argv + first;
	o->noperands = argc - first;
	if (o->synth.shift_len > 0 && !o->synth_said)
		o->synth.mode = CL_SYNTH_FIXED;
	options_check(rows, NROWS, given, 1u << o->mode,
	    modes[o->mode].name);
	if (o->locality_said && o->synth.mode == CL_SYNTH_NOISE)
		fe_misuse("--locality means nothing to --synthetic=noise");
	check_operands(o);
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
