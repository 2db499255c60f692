/*
 * Traces as text and back: random traces of every kind, what is refused, and
 * what plain rows are taken for.
 */

#include <math.h>
#include <stdio.h>

#include "cl/export_tsv.h"
#include "cl/import_tsv.h"
#include "trace_make.h"
#include "tsv_load.h"

static bool
same_float(float a, float b)
{

	return ((isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0);
}

static bool
same_floats(const float *a, const float *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!same_float(a[i], b[i]))
			return (false);
	return (true);
}

static void
same_rows(const float *a, const uint32_t *ra, const float *b,
    const uint32_t *rb, uint32_t t, uint32_t nexperts)
{

	assert((a == NULL) == (b == NULL));
	if (a == NULL)
		return;
	assert((ra[t] == UINT32_MAX) == (rb[t] == UINT32_MAX));
	if (ra[t] != UINT32_MAX)
		assert(same_floats(a + (size_t)ra[t] * nexperts,
		    b + (size_t)rb[t] * nexperts, nexperts));
}

static void
same_cell(const struct cl_trace_column *a, const struct cl_trace_column *b,
    uint32_t t)
{
	uint32_t n = a->first[t + 1] - a->first[t];

	assert(n == b->first[t + 1] - b->first[t]);
	assert(a->given[t] == b->given[t]);
	assert(n == 0 || memcmp(a->ids + a->first[t], b->ids + b->first[t],
	    n * sizeof(*a->ids)) == 0);
	assert((a->weights == NULL) == (b->weights == NULL));
	if (a->weights != NULL)
		assert(same_floats(a->weights + a->first[t],
		    b->weights + b->first[t], n));
	same_rows(a->scores, a->row, b->scores, b->row, t, a->nexperts);
	same_rows(a->forecast, a->forecast_row, b->forecast,
	    b->forecast_row, t, a->nexperts);
}

static void
same_block(const struct cl_trace_block *a, const struct cl_trace_block *b)
{
	const struct cl_trace_token *x, *y;
	uint32_t t, i;

	assert(a->ntokens == b->ntokens && a->ncolumns == b->ncolumns);
	for (t = 0; t < a->ntokens; t++) {
		x = &a->tokens[t];
		y = &b->tokens[t];
		assert(x->pass == y->pass && x->seq == y->seq &&
		    x->pos == y->pos && x->token == y->token &&
		    x->decode == y->decode && x->padding == y->padding &&
		    x->begins == y->begins);
		for (i = 0; i < a->ncolumns; i++)
			same_cell(&a->columns[i], &b->columns[i], t);
	}
}

static void
same_head(const struct cl_trace_head *a, const struct cl_trace_head *b)
{
	uint32_t i;

	assert(a->origin == b->origin && a->scores == b->scores &&
	    a->tokens == b->tokens && a->weights == b->weights &&
	    a->forecast == b->forecast && a->nnotes == b->nnotes &&
	    a->block_tokens == b->block_tokens);
	for (i = 0; i < a->nnotes; i++)
		assert(strcmp(a->notes[i].key, b->notes[i].key) == 0 &&
		    strcmp(a->notes[i].value, b->notes[i].value) == 0);
	assert(strcmp(a->model->name, b->model->name) == 0);
	assert(strcmp(a->model->shards[0].path,
	    b->model->shards[0].path) == 0);
	assert(a->model->fingerprint == b->model->fingerprint);
	assert(a->model->nlayers == b->model->nlayers);
	for (i = 0; i < a->model->nlayers; i++) {
		assert(cl_rule_equal(&a->model->layers[i].rule,
		    &b->model->layers[i].rule));
		assert(a->model->layers[i].rule.assumed ==
		    b->model->layers[i].rule.assumed);
		same_slabs(&a->model->layers[i], &b->model->layers[i]);
	}
}

/* The next record that is not of a sequence: those may stand elsewhere. */
static int
next(struct cl_trace_reader *r, const struct cl_trace_rec **rec)
{
	struct cl_err err = { 0 };
	int status;

	do
		status = cl_trace_read(r, rec, &err);
	while (status == CL_OK && (*rec)->kind == CL_TRACE_SEQ);
	assert(status >= 0);
	return (status);
}

static void
same_traces(const struct cl_buf *a, const struct cl_buf *b)
{
	const struct cl_trace_rec *x, *y;
	struct cl_trace_reader *r, *s;
	int status;

	r = cl_trace_reader_new(mem_src(a->p, a->n, 999), CL_TRACE_CHECK |
	    CL_TRACE_WEIGHTS, NULL);
	s = cl_trace_reader_new(mem_src(b->p, b->n, 999), CL_TRACE_CHECK |
	    CL_TRACE_WEIGHTS, NULL);
	assert(r != NULL && s != NULL);
	while ((status = next(r, &x)) == CL_OK) {
		assert(next(s, &y) == CL_OK);
		assert(x->kind == y->kind);
		if (x->kind == CL_TRACE_HEAD)
			same_head(x->head, y->head);
		else if (x->kind == CL_TRACE_BLOCK)
			same_block(x->block, y->block);
		else
			assert(memcmp(x->counts, y->counts,
			    sizeof(*x->counts)) == 0);
	}
	assert(next(s, &y) == status);
	cl_trace_reader_free(r);
	cl_trace_reader_free(s);
}

/* trace -> text -> trace -> text */
static void
round_trip(const struct make *m)
{
	struct cl_buf trace, text, again, twice;
	struct cl_err err = { 0 };
	const char *lines;

	cl_buf_init(&trace);
	cl_buf_init(&text);
	cl_buf_init(&again);
	cl_buf_init(&twice);
	make_trace(m, &trace, NULL);
	assert(dump(trace.p, trace.n, &text, &err) == CL_OK);
	if (load(text.p, text.n, 100, NULL, &again, &err) != CL_OK)
		fprintf(stderr, "# %s\n", err.msg);
	assert(err.code == CL_OK);
	assert(dump(again.p, again.n, &twice, &err) == CL_OK);
	assert(text.n == twice.n && memcmp(text.p, twice.p, text.n) == 0);
	same_traces(&trace, &again);
	cl_buf_u8(&text, 0);
	lines = (const char *)text.p;
	assert(strncmp(lines, "# cl-trace\t1\n# origin\trecorded\n", 31) == 0);
	cl_buf_free(&trace);
	cl_buf_free(&text);
	cl_buf_free(&again);
	cl_buf_free(&twice);
}

static void
all_kinds_survive(void)
{
	struct make m;
	unsigned i;

	for (i = 0; i < 96; i++) {
		memset(&m, 0, sizeof(m));
		m.seed = 1000 + i;
		m.scores = (enum cl_trace_scores)(i % 3);
		m.tokens = (i & 4) != 0;
		m.weights = (i & 8) != 0;
		m.forecast = (i & 16) != 0 && m.scores != CL_SCORES_NONE;
		m.strange = (i & 32) != 0;
		m.block_tokens = 1 + i % 13;
		m.ntokens = i % 7 == 0 ? 0 : i;
		round_trip(&m);
	}
}

/* Rows of the very same token, which only a row without a layer sets apart. */
static void
alike_tokens_stay_apart(void)
{
	struct make m = { .block_tokens = 3 };
	struct cl_trace_head *h = make_head(&m);
	struct cl_trace_token t = { .token = -1 };
	struct cl_buf out, text, again;
	struct cl_dst *dst;
	struct cl_trace_writer *w;
	struct cl_trace_cell cell = { .n = 1 };
	struct cl_err err = { 0 };
	uint16_t id = 0;
	uint32_t seq, i;

	cl_buf_init(&out);
	cl_buf_init(&text);
	cl_buf_init(&again);
	cell.ids = &id;
	dst = mem_dst(&out);
	w = cl_trace_writer_new(dst, h, &err);
	assert(w != NULL);
	assert(cl_trace_write_seq(w, "s", &seq, &err) == CL_OK);
	for (i = 0; i < 12; i++) {
		assert(cl_trace_write_token(w, &t, &err) == CL_OK);
		if (i % 6 != 5)		/* and some without any cell */
			assert(cl_trace_write_cell(w, i % 4, &cell,
			    &err) == CL_OK);
	}
	assert(cl_trace_writer_finish(w, CL_END_INTERRUPTED, &err) == CL_OK);
	cl_trace_writer_free(w);
	cl_dst_free(dst);
	cl_trace_head_free(h);
	assert(dump(out.p, out.n, &text, &err) == CL_OK);
	assert(load(text.p, text.n, 1, NULL, &again, &err) == CL_OK);
	same_traces(&out, &again);
	cl_buf_free(&out);
	cl_buf_free(&text);
	cl_buf_free(&again);
}

static void
streams_of_traces_survive(void)
{
	struct make a = { .seed = 1, .scores = CL_SCORES_F16,
	    .block_tokens = 4, .ntokens = 9 };
	struct make b = { .seed = 2, .weights = true, .block_tokens = 4,
	    .ntokens = 5 };
	struct cl_buf both, text, again;
	struct cl_err err = { 0 };

	cl_buf_init(&both);
	cl_buf_init(&text);
	cl_buf_init(&again);
	make_trace(&a, &both, NULL);
	make_trace(&b, &both, NULL);
	assert(dump(both.p, both.n, &text, &err) == CL_OK);
	assert(load(text.p, text.n, 1000, NULL, &again, &err) == CL_OK);
	same_traces(&both, &again);
	cl_buf_free(&both);
	cl_buf_free(&text);
	cl_buf_free(&again);
}

/* A dump of a small trace as a string. */
static char *
small_dump(void)
{
	struct make m = { .seed = 3, .tokens = true, .block_tokens = 4,
	    .ntokens = 6 };
	struct cl_buf trace, text;

	cl_buf_init(&trace);
	cl_buf_init(&text);
	make_trace(&m, &trace, NULL);
	assert(dump(trace.p, trace.n, &text, NULL) == CL_OK);
	cl_buf_free(&trace);
	cl_buf_u8(&text, 0);
	return ((char *)text.p);
}

/* text with the first old replaced by new; text is freed. */
static char *
replace(char *text, const char *old, const char *new)
{
	char *at = strstr(text, old), *p;

	assert(at != NULL);
	p = malloc(strlen(text) + strlen(new) + 1);
	assert(p != NULL);
	memcpy(p, text, (size_t)(at - text));
	strcpy(p + (at - text), new);
	strcat(p, at + strlen(old));
	free(text);
	return (p);
}

static void
changed_rows_are_edited(void)
{
	const struct cl_trace_head *h;
	struct cl_trace_reader *r;
	struct cl_buf out;
	char *text;

	cl_buf_init(&out);
	text = replace(small_dump(), "\tprefill\t", "\tdecode\t");
	assert(load(text, strlen(text), 7, NULL, &out, NULL) == CL_OK);
	r = open_head(&out, &h);
	assert(h->origin == CL_ORIGIN_EDITED);
	assert(strcmp(cl_trace_head_find(h, "was"), "recorded") == 0);
	assert(strcmp(cl_trace_head_find(h, "engine"), "unit test 1") == 0);
	cl_trace_reader_free(r);
	cl_buf_free(&out);
	free(text);
}

static void
line_ends_do_not_edit(void)
{
	const struct cl_trace_head *h;
	struct cl_trace_reader *r;
	struct cl_buf out, crlf;
	char *text = small_dump(), *p;

	cl_buf_init(&out);
	cl_buf_init(&crlf);
	for (p = text; p[0] != '\0' && p[1] != '\0'; p++) {
		if (*p == '\n')
			cl_buf_u8(&crlf, '\r');
		cl_buf_u8(&crlf, (uint8_t)*p);
	}					/* without the last newline */
	assert(load(crlf.p, crlf.n, 1, NULL, &out, NULL) == CL_OK);
	r = open_head(&out, &h);
	assert(h->origin == CL_ORIGIN_RECORDED);
	cl_trace_reader_free(r);
	cl_buf_free(&out);
	cl_buf_free(&crlf);
	free(text);
}

static void
cut_dumps_are_refused(void)
{
	char *text = small_dump(), *p;
	size_t n;

	refused("", 0, NULL, CL_ECUT, "mem: empty input, no rows");
	for (p = text; (p = strchr(p, '\n')) != NULL && p[1] != '\0'; p++) {
		n = (size_t)(p + 1 - text);
		refused(text, n, NULL, CL_ECUT,
		    "before the # rows line of its trace");
	}
	free(text);
}

static void
bad_heads_are_refused(void)
{
	static const struct {
		const char *old, *new, *why;
	} bad[] = {
		{ "# cl-trace\t1", "# cl-trace\t2", "line 1: \"2\" is not a "
		    "version" },
		{ "# origin\trecorded\n", "", "there was no # origin" },
		{ "# scores\tids", "# scores\tf64", "is not ids, f16 or f32" },
		{ "# holds\trows", "# holds\trows,cats", "\"cats\" is not" },
		{ "# block\t4", "# block\t0", "blocks of 0 tokens" },
		{ "# block\t4", "# block\t4\n# block\t4", "a second line of "
		    "# block" },
		{ "# model\t6", "# model\t0", "0 layers, 1 to" },
		{ "# model\t6", "# model\t7", "6 of 7 # layer lines" },
		{ "# layer\t1", "# layer\t2", "\"2\" is not the next layer" },
		{ "# slab\t1\tgate", "# slab\t1\tgoat", "\"goat\" is not a "
		    "kind" },
		{ "# slab\t1", "# slab\t4", "the layer of the last" },
		{ "\t30000,", "\t", "a slab without a stride has a shard "
		    "and an offset of each of the 5 experts" },
		{ "\t0,0,0,0,0\t", "\t0,0,0,0\t", "of each of the 5" },
		{ "\t0,0,0,0,0\t", "\t0,0,x,0,0\t", "\"x\" is not" },
		{ "\t0,0,0,0,0\t", "\t0,0,0,1,0\t", "up: expert 3, 50 "
		    "bytes at byte 27000, does not lie inside shard 1 of 1" },
		{ ",29000,", ",,", "\"\" is not a whole number" },
		{ ",26000\t-\t", ",26000\t1\t", "\"0,0,0,0,0\" is not" },
		{ "# rule\t1\tsoftmax", "# rule\t1\thardmax", "\"hardmax\"" },
		{ "# gate_bias\t3\t-0,", "# gate_bias\t3\t", "300 numbers" },
		{ "# sequence\t0", "# sequence\t1", "the next sequence" },
		{ "# note\tengine\tunit", "# note\tengine\\q\tunit",
		    "is not a string" },
		{ "# note\tengine\tunit", "# note\tengine\\x00\tunit",
		    "is not a string" },
		{ "# end\tcomplete", "# end\tsomehow", "is not an end" },
		{ "# end\tcomplete\t3\n", "", "there was no # end" },
		{ "# note\tengine", "# cats\tengine", "is not a # line" },
		{ "# note\tengine\t", "# note\tengine\t\t", "has 3 fields" },
		{ "# end\t", "# block\t9\n# end\t", "a second line" },
		{ "# rows\t", "# note\ta\tb\n# rows\t", "behind the header" },
		{ "# shard\t100000", "# shard\t1000", "does not lie inside" },
	};
	size_t i;
	char *text;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		text = replace(small_dump(), bad[i].old, bad[i].new);
		refused(text, strlen(text), NULL, CL_EFORMAT, bad[i].why);
		free(text);
	}
}

static void
bad_rows_are_refused(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "layer\texperts\n", "no rows in it" },
		{ "layer\texpert\n0\t1\n", "line 1: \"expert\" is no column" },
		{ "layer,experts\n0,1\n", "is no column" },
		{ "layer\tlayer\texperts\n", "two columns are called layer" },
		{ "layer\tpos\n", "no column is called experts" },
		{ "layer\texperts\n0\t1\n1\n", "line 3: 1 fields, and the "
		    "header line has 2" },
		{ "layer\texperts\n0\t1\t\n", "line 2: 3 fields" },
		{ "layer\texperts\n-1\t1\n", "column layer: \"-1\" is not a "
		    "whole number" },
		{ "layer\texperts\n4096\t1\n", "layer 4096, at most 4096" },
		{ "layer\texperts\n0\t1,x\n", "column experts: not numbers" },
		{ "layer\texperts\n0\t1,\n", "column experts: not numbers" },
		{ "layer\texperts\n0\t1,2,1\n", "line 2: layer 0: expert 1 "
		    "is chosen twice" },
		{ "layer\texperts\n0\t16384\n", "16385 experts" },
		{ "layer\texperts\n0\t-\n", "column experts: \"-\" needs" },
		{ "layer\texperts\tscores\n0\t-\t1,2\n", "layer 0 never has "
		    "any" },
		{ "layer\texperts\n-\t1\n", "\"-\" states a token alone" },
		{ "layer\texperts\n-\t-\n", "column layer: no row has one" },
		{ "seq\tlayer\texperts\n65537\t0\t1\n", "number them from 0" },
		{ "pos\tlayer\texperts\n1.5\t0\t1\n", "column pos: \"1.5\"" },
		{ "phase\tlayer\texperts\nwarm\t0\t1\n", "column phase: "
		    "\"warm\" is not prefill or decode" },
		{ "token\tlayer\texperts\n-2\t0\t1\n", "column token: \"-2\"" },
		{ "layer\texperts\tweights\n0\t1,2\t1\n", "not 2 numbers" },
		{ "layer\texperts\tweights\n0\t1,2\t1,1e99\n", "not 2 "
		    "numbers" },
		{ "layer\texperts\tweights\n0\t1\t-\n1\t1\t2\n", "column "
		    "weights: given here" },
		{ "layer\texperts\tweights\n0\t1\t2\n1\t1\t-\n", "without the "
		    "weights" },
		{ "layer\texperts\tscores\n0\t1\t2,0x1\n", "column scores: "
		    "not 2 numbers" },
		{ "layer\texperts\tscores\n0\t1\t2,3\n1\t1\t-\n", "without "
		    "the scores" },
		{ "layer\texperts\tscores\n0\t1\t-\n1\t1\t2,3\n", "column "
		    "scores: given here" },
		{ "layer\texperts\n0\t1\n# cl-trace\t1\n", "among rows" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(bad[i].text, strlen(bad[i].text), NULL,
		    i == 0 ? CL_ECUT : CL_EFORMAT, bad[i].why);
}

static void
options_are_held_to(void)
{
	static const char rows[] = "layer\texperts\n0\t1,3\n1\t2,0\n";
	struct cl_import_tsv opts = { .experts = 3 };
	char *text = small_dump();

	refused(rows, strlen(rows), &opts, CL_EFORMAT, "line 2: ");
	opts = (struct cl_import_tsv){ .layers = 1 };
	refused(rows, strlen(rows), &opts, CL_EFORMAT, "line 3: column "
	    "layer: layer 1 has no experts in this model of 1 layers");
	opts = (struct cl_import_tsv){ .experts = 4, .used = 5 };
	refused(rows, strlen(rows), &opts, CL_EINVAL, "5 used");
	opts = (struct cl_import_tsv){ .layers = 2 };
	refused("layer\texperts\n-\t-\n", 18, &opts, CL_EFORMAT,
	    "none of the 2 layers has routed experts");
	opts = (struct cl_import_tsv){ .layers = 6 };
	refused(text, strlen(text), &opts, CL_EINVAL, "a dumped trace");
	free(text);
}

static void
long_lines_are_refused(void)
{
	static const char head[] = "layer\texperts\t_note\n0\t1\t";
	const size_t most = 1u << 20;
	size_t n = sizeof(head) - 1, row = 4;
	struct cl_buf out;
	char *text = malloc(n + most + 1);

	assert(text != NULL);
	cl_buf_init(&out);
	memcpy(text, head, n);
	memset(text + n, 'x', most + 1);
	text[n + most - row] = '\n';
	assert(load(text, n + most - row + 1, 65536, NULL, &out,
	    NULL) == CL_OK);
	text[n + most - row] = 'x';
	text[n + most - row + 1] = '\n';
	refused(text, n + most - row + 2, NULL, CL_EFORMAT,
	    "line 2: longer than 1048576 bytes");
	cl_buf_free(&out);
	free(text);
}

static const struct unit units[] = {
	{ "traces of all kinds survive as text, and text as a trace",
	    all_kinds_survive },
	{ "tokens that look alike stay apart", alike_tokens_stay_apart },
	{ "streams of several traces survive", streams_of_traces_survive },
	{ "a changed row makes an edited trace", changed_rows_are_edited },
	{ "other line ends do not", line_ends_do_not_edit },
	{ "a dump cut at any line is refused", cut_dumps_are_refused },
	{ "bad # lines are refused by line", bad_heads_are_refused },
	{ "bad rows are refused by line and column", bad_rows_are_refused },
	{ "rows are held to what the options say", options_are_held_to },
	{ "lines may have a MiB and not a byte more", long_lines_are_refused },
};

UNIT_MAIN(units)
