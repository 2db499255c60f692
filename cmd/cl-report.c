/*
 * cl-report: what a replay counted and measured, for people and programs.
 */

#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/listing.h"
#include "cl/render.h"
#include "cl/run.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "fe.h"
#include "options.h"

static const struct fe_command command = {
	.name = "cl-report",
	.synopsis = "[options] [stats ...]",
	.help =
"Report what cl-replay counted and measured.\n"
"\n"
"  -a, --all           show every row of long tables\n"
"  --events            what became of each access, a row a line, or JSON lines\n"
"  --expect-runs N     it is trouble if there are not just N runs in all\n"
"  -f, --format text|tsv|json\n"
"                      for people, for awk, for programs (text)\n"
"  -h, --help          show this\n"
"  --sweep             runs as matrices: hits by policy and budget\n"
"  --table NAME        that table alone, a row a line\n"
"  -V, --version       show the version\n"
"\n"
"One of --events, --sweep and --table.  Without a file, or with -, standard\n"
"input is read.\n"
"Exit status: 0 done, 2 trouble (an incomplete run is trouble).\n"
};

struct options {
	unsigned	 form;
	bool		 events;	/* are listed, and nothing else */
	bool		 expects;	/* a number of runs: */
	uint64_t	 nruns;
	struct cl_render_options render;
};

static const struct options_row rows[] = {
	{ "all", 'a', 0, OPTIONS_FLAG(struct options, render.all) },
	{ "events", 0, 0, OPTIONS_FLAG(struct options, events) },
	{ "expect-runs", 0, 0,
	    OPTIONS_U64(struct options, nruns, 0, UINT64_MAX),
	    .said = OPTIONS_AT(struct options, expects, bool) },
	{ "format", 'f', 0,
	    OPTIONS_CHOICE(struct options, form, cl_render_forms) },
	OPTIONS_HELP,
	{ "sweep", 0, 0, OPTIONS_FLAG(struct options, render.sweep) },
	{ "table", 0, 0, OPTIONS_TEXT(struct options, render.table) },
	OPTIONS_VERSION,
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

/* Returns where the inputs begin. */
static int
parse_args(struct options *o, int argc, char **argv)
{
	bool given[NROWS] = { false };
	int first = options_take(rows, NROWS, given, o, argc, argv);

	if (o->events + o->render.sweep + (o->render.table != NULL) > 1)
		fe_misuse("--events, --sweep and --table are reports of "
		    "their own");
	fe_check_inputs(argv + first, argc - first);
	o->render.bold = o->form == 0 && fe_colour();
	return (first);
}

/* A run that is whole may still be one of an incomplete trace. */
static int
judge(const struct cl_run *run, const char *name, unsigned long number)
{

	if (!run->whole || run->end.end == 1)
		return (FE_DONE);
	fe_warn("%s: run %lu is %s: %s", name, number, cl_run_end(run),
	    run->end.end == 2 ? "its trace stopped before its end" :
	    "the replay was stopped by a signal");
	return (FE_TROUBLE);
}

static void
show(struct cl_render *render, const struct cl_run *run)
{
	struct cl_err err = { 0 };

	if (cl_render_run(render, run, &err) != CL_OK)
		fe_die(&err);
}

/* How runs are printed: as a report, or as what became of their accesses. */
struct printer {
	struct cl_render *render;
	struct cl_listing *listing;	/* or NULL */
	struct cl_stats_reader *in;	/* of the input at hand */
};

/* Print the next run, which is then only good to be judged. */
static int
print_next(struct printer *p, struct cl_run *run, struct cl_err *err)
{
	int got;

	if (p->listing != NULL) {
		memset(run, 0, sizeof(*run));
		got = cl_listing_run(p->listing, p->in, &run->end, err);
		run->begun = run->whole = got == CL_OK;
		return (got);
	}
	got = cl_run_next(p->in, run, err);
	if (run->begun)
		show(p->render, run);
	return (got);
}

/*
 * Every run of one input, counted in *nruns; what is intact is printed before
 * an error is.
 */
static int
report(struct printer *p, const char *path, uint64_t *nruns)
{
	struct cl_err err = { 0 };
	struct cl_src *src = fe_input(path);
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	struct cl_run run;
	unsigned long n = 0;
	int got, status = FE_DONE;

	if ((p->in = cl_stats_reader_new(src, &err)) == NULL)
		fe_die(&err);
	cl_stats_reader_want(p->in, p->listing != NULL);
	do {
		got = print_next(p, &run, &err);
		*nruns += run.begun;
		if (got == CL_OK && judge(&run, name, ++n) != FE_DONE)
			status = FE_TROUBLE;
		cl_run_free(&run);
	} while (got == CL_OK);
	cl_stats_reader_free(p->in);
	if (got == CL_END)
		return (status);
	fe_warn("%s", err.msg);
	return (FE_TROUBLE);
}

/* A run that nobody would miss: are there as many as there should be? */
static int
judge_number(const struct options *o, uint64_t nruns)
{

	if (!o->expects || nruns == o->nruns)
		return (FE_DONE);
	fe_warn("%llu run%s came, and %llu were expected",
	    (unsigned long long)nruns, nruns == 1 ? "" : "s",
	    (unsigned long long)o->nruns);
	return (FE_TROUBLE);
}

static void
open_printer(struct printer *p, const struct options *o, struct cl_dst *out)
{
	struct cl_err err = { 0 };

	if (o->events)
		p->listing = cl_listing_new(strcmp(cl_render_forms[o->form],
		    "json") == 0, out, &err);
	else
		p->render = cl_render_new(o->form, out, &o->render, &err);
	if (p->listing == NULL && p->render == NULL)
		fe_die(&err);
}

static void
close_printer(struct printer *p)
{
	struct cl_err err = { 0 };

	if (p->render != NULL && cl_render_end(p->render, &err) != CL_OK)
		fe_die(&err);
	cl_render_free(p->render);
	cl_listing_free(p->listing);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cl_dst *out;
	struct printer p = { 0 };
	uint64_t nruns = 0;
	int i, status = FE_DONE;

	fe_init(&command);
	i = parse_args(&o, argc, argv);
	out = fe_output(NULL, false, false);
	open_printer(&p, &o, out);
	if (i == argc) {
		fe_outlive_interrupt();
		status = report(&p, "-", &nruns);
	}
	for (; i < argc; i++)
		if (report(&p, argv[i], &nruns) != FE_DONE)
			status = FE_TROUBLE;
	if (judge_number(&o, nruns) != FE_DONE)
		status = FE_TROUBLE;
	close_printer(&p);
	return (fe_finish(out, status));
}
