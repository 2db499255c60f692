/*
 * cl-diff: two replays side by side.
 */

#include <string.h>

#include "cl/compare.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/render.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "fe.h"
#include "options.h"

static const struct fe_command command = {
	.name = "cl-diff",
	.synopsis = "[-ahqV] [-f text|tsv|json] [--force] a b",
	.help =
"Compare two replays: conditions, counters, measurements, layers.\n"
"\n"
"  -a, --all           show every row of long tables, every event\n"
"  -f, --format text|tsv|json\n"
"                      for people, for awk, for programs (text)\n"
"  --force             compare runs of different traces, models or contracts\n"
"  -h, --help          show this\n"
"  -q, --quiet         print nothing; the exit status says it\n"
"  -V, --version       show the version\n"
"\n"
"One of a and b may be -, standard input.  Several runs are paired by what\n"
"varies within a side: trace, budget, policy or any other option.\n"
"Exit status: 0 logical counters and digests are the same, 1 they are not or\n"
"a run has no partner, 2 trouble (an incomplete run is trouble).\n"
};

struct options {
	unsigned	 form;
	bool		 force;
	bool		 quiet;
	struct cl_render_options render;
};

static const struct options_row rows[] = {
	{ "all", 'a', 0, OPTIONS_FLAG(struct options, render.all) },
	{ "force", 0, 0, OPTIONS_FLAG(struct options, force) },
	{ "format", 'f', 0,
	    OPTIONS_CHOICE(struct options, form, cl_compare_forms) },
	OPTIONS_HELP,
	{ "quiet", 'q', 0, OPTIONS_FLAG(struct options, quiet) },
	OPTIONS_VERSION,
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

/* Returns the two inputs. */
static char *const *
parse_args(struct options *o, int argc, char **argv)
{
	bool given[NROWS] = { false };
	int first = options_take(rows, NROWS, given, o, argc, argv);

	if (argc - first != 2)
		fe_misuse("two inputs are wanted, not %d", argc - first);
	o->render.bold = o->form == 0 && fe_colour();
	return (argv + first);
}

/* All runs of an input; says which of them are not of a whole trace. */
static int
load(struct cl_compare_side *side, const char *path, bool logs)
{
	struct cl_err err = { 0 };
	struct cl_stats_reader *in;
	size_t i;
	int status = FE_DONE;

	side->name = strcmp(path, "-") == 0 ? "standard input" : path;
	in = cl_stats_reader_new(fe_input(path), &err);
	if (in == NULL)
		fe_die(&err);
	cl_stats_reader_want(in, logs);
	if (cl_compare_load(side, in, &err) != CL_OK)
		fe_die(&err);
	cl_stats_reader_free(in);
	for (i = 0; i < side->n; i++) {
		if (side->run[i].end.end == 1)
			continue;
		fe_warn("%s: run %zu is %s", side->name, i + 1,
		    cl_run_end(&side->run[i]));
		status = FE_TROUBLE;
	}
	return (status);
}

/* Nothing is printed before it is clear that all pairs may be compared. */
static void
check(const struct cl_compare_side *a, const struct cl_compare_side *b,
    const struct cl_compare_pairs *pairs)
{
	struct cl_err why = { 0 }, err = { 0 };
	size_t i;

	for (i = 0; i < pairs->n; i++) {
		if (cl_compare_check(&pairs->pair[i], &why) == CL_OK)
			continue;
		(void)cl_fail(&err, why.code, "%s and %s: %s; --force compares "
		    "them all the same", a->name, b->name, why.msg);
		fe_die(&err);
	}
}

static int
compare(const struct options *o, struct cl_compare *c,
    const struct cl_compare_pairs *pairs)
{
	const struct cl_compare_pair *p;
	struct cl_compare_verdict v;
	struct cl_err err = { 0 }, note;
	int status = FE_DONE;

	if (pairs->nonly_a + pairs->nonly_b > 0)
		status = FE_NEGATIVE;
	for (p = pairs->pair; p < pairs->pair + pairs->n; p++) {
		memset(&note, 0, sizeof(note));
		(void)cl_compare_check(p, &note);
		if (!o->quiet && cl_compare_pair(c, p,
		    note.code == CL_OK ? NULL : note.msg, &err) != CL_OK)
			fe_die(&err);
		cl_compare_judge(p, &v);
		if (!v.same)
			status = FE_NEGATIVE;
	}
	if (!o->quiet && cl_compare_end(c, &err) != CL_OK)
		fe_die(&err);
	return (status);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cl_compare_side a = { 0 }, b = { 0 };
	struct cl_compare_pairs pairs;
	struct cl_compare *c = NULL;
	struct cl_err err = { 0 };
	struct cl_dst *out;
	char *const *input;
	int trouble, status;

	fe_init(&command);
	input = parse_args(&o, argc, argv);
	trouble = load(&a, input[0], !o.quiet);
	if (load(&b, input[1], !o.quiet) != FE_DONE)
		trouble = FE_TROUBLE;
	if (cl_compare_pair_up(&a, &b, &pairs, &err) != CL_OK)
		fe_die(&err);
	if (!o.force)
		check(&a, &b, &pairs);
	out = fe_output(NULL, false, false);
	if (!o.quiet && (c = cl_compare_new(o.form, out, &o.render, &a, &b,
	    &pairs, &err)) == NULL)
		fe_die(&err);
	status = compare(&o, c, &pairs);
	cl_compare_free(c);
	cl_compare_pairs_free(&pairs);
	cl_compare_side_free(&a);
	cl_compare_side_free(&b);
	return (fe_finish(out, trouble != FE_DONE ? trouble : status));
}
