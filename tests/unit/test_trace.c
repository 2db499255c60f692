/*
 * The writer and the reader of traces by what they promise: what goes in
 * comes out, what the rule gives is left out, what cannot be is refused.
 */

#include <math.h>
#include <stdio.h>

#include "cl/err.h"
#include "trace_head.h"
#include "trace_make.h"

static void
all_kinds_are_read(void)
{
	struct cl_trace_counts c;
	struct cl_err err = { 0 };
	struct cl_buf b;
	struct make m;
	uint64_t tokens, traces;
	unsigned i;

	for (i = 0; i < 144; i++) {
		m = any;
		m.seed = i;
		m.scores = (enum cl_trace_scores)(i % 3);
		m.tokens = (i & 1) != 0;
		m.weights = (i & 2) != 0;
		m.forecast = (i & 4) != 0 && m.scores != CL_SCORES_NONE;
		m.strange = (i & 8) != 0;
		m.block_tokens = 1 + i % 12;
		m.ntokens = i % 5 * 11;
		cl_buf_init(&b);
		make_trace(&m, &b, &c);
		assert(c.tokens == m.ntokens && c.end == CL_END_COMPLETE);
		if (read_all(b.p, b.n, 1 + i, CL_TRACE_CHECK |
		    CL_TRACE_WEIGHTS, &tokens, &traces, &err) != CL_END)
			fprintf(stderr, "# %s\n", err.msg);
		assert(err.code == CL_OK);
		assert(tokens == m.ntokens && traces == 1);
		assert(read_all(b.p, b.n, 9999, CL_TRACE_SKIM, &tokens,
		    &traces, &err) == CL_END);
		assert(tokens == m.ntokens && traces == 1);
		cl_buf_free(&b);
	}
}

/* The routing fingerprint of one seed's choices, as ids or scores are held. */
static uint64_t
routing_of(enum cl_trace_scores scores, const float rows[][8], size_t nrows)
{
	struct make m = { .scores = scores, .block_tokens = 3 };
	struct cl_trace_head *h = make_head(&m);
	struct cl_trace_token t = { .token = -1 };
	struct cl_trace_cell cell = { 0 };
	struct cl_trace_writer *w;
	struct cl_dst *dst;
	struct cl_buf b;
	uint64_t routing, tokens, traces;
	uint32_t seq;
	size_t i;

	cl_buf_init(&b);
	dst = mem_dst(&b);
	w = cl_trace_writer_new(dst, h, NULL);
	assert(w != NULL);
	assert(cl_trace_write_seq(w, "", &seq, NULL) == CL_OK);
	for (i = 0; i < nrows; i++) {
		t.pos = (uint32_t)i;
		cell.scores = rows[i];
		assert(cl_trace_write_token(w, &t, NULL) == CL_OK);
		assert(cl_trace_write_cell(w, 0, &cell, NULL) == CL_OK);
	}
	assert(cl_trace_writer_finish(w, CL_END_COMPLETE, NULL) == CL_OK);
	assert(cl_trace_writer_counts(w)->mismatches == 0);
	routing = cl_trace_writer_counts(w)->routing;
	cl_trace_writer_free(w);
	cl_dst_free(dst);
	cl_trace_head_free(h);
	assert(read_all(b.p, b.n, 99, CL_TRACE_CHECK, &tokens, &traces,
	    NULL) == CL_END);
	cl_buf_free(&b);
	return (routing);
}

static void
fingerprints_do_not_depend_on_scores(void)
{
	float rows[40][8];
	uint64_t rng = 5, routing;
	size_t i, j;

	for (i = 0; i < 40; i++)	/* close, so that rounding makes ties */
		for (j = 0; j < 8; j++)
			rows[i][j] = (float)(1 + cl_rng_unit(&rng) / 500);
	routing = routing_of(CL_SCORES_F32, (const float (*)[8])rows, 40);
	assert(routing_of(CL_SCORES_F16, (const float (*)[8])rows, 40) ==
	    routing);
	assert(routing_of(CL_SCORES_NONE, (const float (*)[8])rows, 40) ==
	    routing);
	rows[39][7] = 2;
	assert(routing_of(CL_SCORES_NONE, (const float (*)[8])rows, 40) !=
	    routing);
}

/* A writer of one token, for the tests to put cells into. */
struct one {
	struct cl_trace_head *head;
	struct cl_buf	 out;
	struct cl_dst	*dst;
	struct cl_trace_writer *w;
};

static void
one_open(struct one *o, enum cl_trace_scores scores, bool weights)
{
	struct make m = { .scores = scores, .weights = weights,
	    .block_tokens = 8 };
	struct cl_trace_token t = { .token = -1 };
	uint32_t seq;

	o->head = make_head(&m);
	cl_buf_init(&o->out);
	o->dst = mem_dst(&o->out);
	o->w = cl_trace_writer_new(o->dst, o->head, NULL);
	assert(o->w != NULL);
	assert(cl_trace_write_seq(o->w, "", &seq, NULL) == CL_OK);
	assert(cl_trace_write_token(o->w, &t, NULL) == CL_OK);
}

static void
one_close(struct one *o)
{

	cl_trace_writer_free(o->w);
	cl_dst_free(o->dst);
	cl_trace_head_free(o->head);
	cl_buf_free(&o->out);
}

/* The block of a finished writer; the reader must be freed. */
static struct cl_trace_reader *
one_read(struct one *o, unsigned wants, const struct cl_trace_rec **rec)
{
	struct cl_trace_reader *r;

	assert(cl_trace_writer_finish(o->w, CL_END_COMPLETE, NULL) == CL_OK);
	r = cl_trace_reader_new(mem_src(o->out.p, o->out.n, 99), wants, NULL);
	assert(r != NULL);
	do
		assert(cl_trace_read(r, rec, NULL) == CL_OK);
	while ((*rec)->kind != CL_TRACE_BLOCK);
	return (r);
}

static const float eight[8] = { 0, 1, 5, 2, 4, 3, -1, -2 }; /* 2, 4 win */

static void
the_rules_choice_is_left_out(void)
{
	static const uint16_t ids[] = { 2, 4 };
	static const float weights[] = { 0.75f, 0.25f };
	struct cl_trace_cell cell = { .scores = eight, .ids = ids,
	    .weights = weights, .n = 2 };
	const struct cl_trace_column *c;
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct one o;

	one_open(&o, CL_SCORES_F32, true);
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 0);
	r = one_read(&o, CL_TRACE_WEIGHTS, &rec);
	c = &rec->block->columns[0];
	assert(c->given[0] == 0 && c->first[0] == 0 && c->first[1] == 2);
	assert(c->ids[0] == 2 && c->ids[1] == 4);
	/* The rule's own weights: e^5 : e^4. */
	assert(fabs(c->weights[0] - 0.7310586) < 1e-6);
	assert(memcmp(c->scores + 8 * c->row[0], eight, sizeof(eight)) == 0);
	assert(rec->block->columns[1].first[0] ==
	    rec->block->columns[1].first[1]);
	cl_trace_reader_free(r);
	one_close(&o);
}

static void
another_choice_is_kept_and_counted(void)
{
	static const uint16_t ids[] = { 4, 2, 7 };
	static const float weights[] = { 0.5f, NAN, 0.25f };
	struct cl_trace_cell cell = { .scores = eight, .ids = ids,
	    .weights = weights, .n = 3 };
	const struct cl_trace_column *c;
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct one o;

	one_open(&o, CL_SCORES_F32, true);
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 1);
	r = one_read(&o, CL_TRACE_WEIGHTS, &rec);
	c = &rec->block->columns[0];
	assert(c->given[0] == 1 && c->first[1] == 3);
	assert(memcmp(c->ids, ids, sizeof(ids)) == 0);
	assert(memcmp(c->weights, weights, sizeof(weights)) == 0);
	assert(cl_trace_read(r, &rec, NULL) == CL_OK);
	assert(rec->counts->mismatches == 1);
	cl_trace_reader_free(r);
	one_close(&o);
}

static void
rounding_is_no_mismatch(void)
{
	static const float close[8] = { 1, 1.0001f, 1.0002f, 0, 0, 0, 0, 0 };
	static const uint16_t ids[] = { 2, 1 };
	struct cl_trace_cell cell = { .scores = close, .ids = ids, .n = 2 };
	const struct cl_trace_column *c;
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct one o;

	one_open(&o, CL_SCORES_F16, false);
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 0);
	r = one_read(&o, 0, &rec);
	c = &rec->block->columns[0];
	assert(c->given[0] == 1 && c->ids[0] == 2 && c->ids[1] == 1);
	assert(c->scores[1] == 1 && c->scores[2] == 1);
	cl_trace_reader_free(r);
	one_close(&o);
}

static void
ids_alone_get_the_rules_weights(void)
{
	static const uint16_t ids[] = { 2, 4 }, others[] = { 4, 2 };
	struct cl_trace_cell cell = { .scores = eight, .ids = ids, .n = 2 };
	const struct cl_trace_column *c;
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct one o;

	one_open(&o, CL_SCORES_NONE, true);
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 0);
	r = one_read(&o, 0, &rec);
	c = &rec->block->columns[0];
	assert(c->scores == NULL && c->given[0] == 1);
	assert(fabs(c->weights[0] - 0.7310586) < 1e-6);
	cl_trace_reader_free(r);
	one_close(&o);
	one_open(&o, CL_SCORES_NONE, false);
	cell.ids = others;	/* scores that are not held still tell */
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 1);
	cl_trace_writer_mismatches(o.w, 0);
	assert(cl_trace_writer_counts(o.w)->mismatches == 0);
	one_close(&o);
}

/* Round to the nearest half by the arithmetic of its definition. */
static float
nearest_half(float f)
{
	double quantum, r;
	int e;

	if (isnan(f) || isinf(f))
		return (f);
	(void)frexp(f, &e);
	quantum = ldexp(1, (e < -13 ? -13 : e) - 11);
	r = rint(f / quantum) * quantum;	/* ties to even */
	return ((float)(fabs(r) >= 65520 ? copysign(INFINITY, r) : r));
}

/* All halves, what lies half-way between them, and next to that. */
static void
halves_are_rounded_to_even(void)
{
	struct cl_trace_cell cell = { 0 };
	struct cl_trace_token t = { .token = -1 };
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	static float rows[512][300];
	struct one o;
	uint32_t i, j, n = 0;
	float f, got, wanted;

	for (i = 0; i < 512 * 300; i++) {
		f = ldexpf((float)(1024 + i % 1024) +
		    (float)(i / 1024 % 4) * 0.25f, (int)(i / 4096) - 27);
		rows[i / 300][i % 300] = i % 3 == 0 ? -f : f;
		if (i % 1000 == 7)
			rows[i / 300][i % 300] = 0x1p-24f * (float)(i % 977) +
			    0x1p-25f;
	}
	rows[0][0] = NAN;
	rows[0][1] = -INFINITY;
	rows[0][2] = 65519.996f;
	rows[0][3] = 65520;
	rows[0][4] = -0.0f;
	rows[0][5] = 1e-30f;
	one_open(&o, CL_SCORES_F16, false);
	for (i = 0; i < 512; i++) {
		cell.scores = rows[i];
		if (i > 0)
			assert(cl_trace_write_token(o.w, &t, NULL) == CL_OK);
		assert(cl_trace_write_cell(o.w, 2, &cell, NULL) == CL_OK);
	}
	r = one_read(&o, 0, &rec);
	for (; rec->kind == CL_TRACE_BLOCK;
	    assert(cl_trace_read(r, &rec, NULL) == CL_OK))
		for (i = 0; i < rec->block->ntokens; i++, n++)
			for (j = 0; j < 300; j++) {
				got = rec->block->columns[2].scores[i * 300 +
				    j];
				wanted = nearest_half(rows[n][j]);
				assert((isnan(got) && isnan(wanted)) ||
				    memcmp(&got, &wanted, 4) == 0);
			}
	assert(n == 512);
	cl_trace_reader_free(r);
	one_close(&o);
}

/* What a cell is refused for; the failure sticks. */
static void
cell_refused(enum cl_trace_scores scores, bool weights, uint32_t column,
    const struct cl_trace_cell *cell, const char *why)
{
	struct cl_err err = { 0 };
	struct one o;

	one_open(&o, scores, weights);
	assert(cl_trace_write_cell(o.w, column, cell, &err) == CL_EINVAL);
	if (strstr(err.msg, why) == NULL)
		fprintf(stderr, "# %s\n", err.msg);
	assert(strstr(err.msg, why) != NULL);
	assert(cl_trace_writer_finish(o.w, CL_END_COMPLETE, NULL) ==
	    CL_EINVAL);
	one_close(&o);
}

static void
bad_cells_are_refused(void)
{
	static const uint16_t good[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0 };
	static const uint16_t twice[] = { 3, 5, 3 }, high[] = { 8 };
	struct cl_trace_cell cell = { .ids = good, .n = 8 };

	cell_refused(CL_SCORES_F32, false, 0, &cell, "scores that the head");
	cell_refused(CL_SCORES_NONE, true, 0, &cell, "weights that the head");
	cell_refused(CL_SCORES_NONE, false, 4, &cell, "there are 4 columns");
	cell.n = 9;
	cell_refused(CL_SCORES_NONE, false, 0, &cell, "9 experts chosen of 8");
	cell.n = 0;
	cell_refused(CL_SCORES_NONE, false, 0, &cell, "0 experts chosen of 8");
	cell = (struct cl_trace_cell){ .ids = twice, .n = 3 };
	cell_refused(CL_SCORES_NONE, false, 0, &cell,
	    "layer 1: expert 3 is chosen twice");
	cell = (struct cl_trace_cell){ .ids = high, .n = 1 };
	cell_refused(CL_SCORES_NONE, false, 0, &cell,
	    "layer 1: expert 8, and there are 8");
	cell = (struct cl_trace_cell){ 0 };
	cell_refused(CL_SCORES_NONE, false, 0, &cell, "neither experts nor");
}

static void
a_cell_comes_once(void)
{
	struct cl_trace_cell cell = { .scores = eight };
	struct cl_err err = { 0 };
	struct one o;

	one_open(&o, CL_SCORES_F32, false);
	assert(cl_trace_write_cell(o.w, 0, &cell, &err) == CL_OK);
	assert(cl_trace_write_cell(o.w, 0, &cell, &err) == CL_EINVAL);
	assert(strstr(err.msg, "layer 1: a second cell") != NULL);
	one_close(&o);
}

static void
bad_tokens_are_refused(void)
{
	struct cl_trace_token t = { .seq = 1 };
	struct cl_err err = { 0 };
	struct one o;

	one_open(&o, CL_SCORES_F32, false);
	assert(cl_trace_write_token(o.w, &t, &err) == CL_EINVAL);
	assert(strstr(err.msg, "sequence 1, which was not") != NULL);
	one_close(&o);
	one_open(&o, CL_SCORES_F32, false);
	memset(&err, 0, sizeof(err));
	t = (struct cl_trace_token){ .token = -2 };
	assert(cl_trace_write_token(o.w, &t, &err) == CL_EINVAL);
	assert(strstr(err.msg, "token id -2") != NULL);
	one_close(&o);
}

static struct cl_trace_head *
large_head(uint32_t nlayers, bool forecast)
{
	struct cl_model *m = cl_model_new(nlayers, NULL);
	struct cl_trace_head *h;
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < nlayers; i++)
		make_moe(&m->layers[i], CL_RULE_EXPERTS_MAX, 8);
	h = cl_trace_head_new(m, NULL);
	assert(h != NULL);
	h->scores = CL_SCORES_F32;
	h->forecast = forecast;
	h->block_tokens = CL_TRACE_BLOCK_MAX;
	return (h);
}

static void
blocks_stay_below_a_records_limit(void)
{
	struct cl_trace_head *h = large_head(50, true);
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_trace_writer *w;
	struct cl_dst *dst;
	struct cl_buf b;
	uint64_t token;

	cl_buf_init(&b);
	dst = mem_dst(&b);
	w = cl_trace_writer_new(dst, h, NULL);
	assert(w != NULL);
	cl_trace_writer_free(w);
	r = cl_trace_reader_new(mem_src(b.p, b.n, 99), 0, NULL);
	assert(r != NULL && cl_trace_read(r, &rec, NULL) == CL_OK);
	/* scores, forecast and ids of all experts, bits and fields */
	token = 17 + 50 * (3 + UINT64_C(16384) * (4 + 4 + 2));
	assert(rec->head->block_tokens == ((256u << 20) - 16 - 150) / token);
	cl_trace_reader_free(r);
	cl_dst_free(dst);
	cl_buf_free(&b);
	cl_trace_head_free(h);
	h = large_head(CL_MODEL_LAYERS_MAX, true);
	head_gives(h, CL_ENOTSUP, "and a block holds at most 268435456");
	cl_trace_head_free(h);
}

/* Each block is there for a reader at once: its bytes decode before others. */
static void
blocks_are_flushed(void)
{
	struct cl_trace_token t = { .token = -1 };
	struct cl_trace_cell cell = { .scores = eight };
	struct cl_err err = { 0 };
	uint64_t tokens, traces;
	struct one o;
	int i;

	one_open(&o, CL_SCORES_F32, false);
	for (i = 1; i < 9; i++) {
		assert(cl_trace_write_token(o.w, &t, NULL) == CL_OK);
		assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	}
	assert(read_all(o.out.p, o.out.n, 99, 0, &tokens, &traces, &err) ==
	    CL_ECUT);
	assert(tokens == 8);
	assert(strcmp(err.msg, "mem: incomplete: ends after token 8") == 0);
	one_close(&o);
}

/* A full disk, say. */
static int
no_write(void *ctx, const void *p, size_t n, struct cl_err *err)
{

	(void)ctx;
	(void)p;
	(void)n;
	return (cl_fail(err, CL_EIO, "no space"));
}

static void
a_failed_sink_is_told(void)
{
	static const struct cl_dst_ops ops = { no_write, mem_done, mem_done,
	    mem_keep };
	struct cl_trace_head *h = make_head(&any);
	struct cl_dst *dst = cl_dst_new(&ops, NULL, NULL);
	struct cl_err err = { 0 };

	assert(dst != NULL);
	assert(cl_trace_writer_new(dst, h, &err) == NULL);
	assert(err.code == CL_EIO && strcmp(err.msg, "no space") == 0);
	cl_dst_free(dst);
	cl_trace_head_free(h);
}

/* A rule by token id cannot be applied: ids are given, and kept. */
static void
tables_need_ids(void)
{
	static const uint16_t ids[] = { 2, 4 };
	struct cl_trace_cell cell = { .scores = eight, .ids = ids, .n = 2 };
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_err err = { 0 };
	struct one o;

	one_open(&o, CL_SCORES_F32, false);
	o.head->model->layers[1].rule.select = CL_SELECT_TABLE;
	cl_trace_writer_free(o.w);
	cl_buf_clear(&o.out);
	o.w = cl_trace_writer_new(o.dst, o.head, NULL);
	assert(o.w != NULL);
	assert(cl_trace_write_seq(o.w, "", &(uint32_t){ 0 }, NULL) == CL_OK);
	assert(cl_trace_write_token(o.w, &(struct cl_trace_token){ 0 },
	    NULL) == CL_OK);
	assert(cl_trace_write_cell(o.w, 0, &cell, NULL) == CL_OK);
	assert(cl_trace_writer_counts(o.w)->mismatches == 0);
	r = one_read(&o, CL_TRACE_WEIGHTS, &rec);
	assert(rec->block->columns[0].given[0] == 1);
	assert(rec->block->columns[0].ids[0] == 2);
	assert(fabs(rec->block->columns[0].weights[0] - 0.7310586) < 1e-6);
	cl_trace_reader_free(r);
	one_close(&o);
	one_open(&o, CL_SCORES_F32, false);
	o.head->model->layers[1].rule.select = CL_SELECT_TABLE;
	cell.ids = NULL;
	assert(cl_trace_write_cell(o.w, 0, &cell, &err) == CL_EINVAL);
	assert(strstr(err.msg, "neither experts nor scores") != NULL);
	one_close(&o);
}

/* As many layers as there may be, each with a cell in every other token. */
static void
deep_models_are_read(void)
{
	struct cl_model *m = cl_model_new(CL_MODEL_LAYERS_MAX, NULL);
	struct cl_trace_head *h;
	struct cl_trace_cell cell = { .n = 1 };
	struct cl_trace_token t = { .token = -1 };
	struct cl_trace_writer *w;
	struct cl_dst *dst;
	struct cl_buf b;
	uint64_t tokens, traces;
	uint32_t i, j, seq;
	uint16_t id = 1;

	assert(m != NULL);
	cl_buf_init(&b);
	cell.ids = &id;
	for (i = 0; i < m->nlayers; i++)
		make_moe(&m->layers[i], 2 + i % 3 * 200, 1);
	h = cl_trace_head_new(m, NULL);
	assert(h != NULL);
	dst = mem_dst(&b);
	w = cl_trace_writer_new(dst, h, NULL);
	assert(w != NULL);
	assert(cl_trace_write_seq(w, "", &seq, NULL) == CL_OK);
	for (i = 0; i < 20; i++) {
		assert(cl_trace_write_token(w, &t, NULL) == CL_OK);
		for (j = 0; i % 2 == 0 && j < m->nlayers; j++)
			assert(cl_trace_write_cell(w, j, &cell, NULL) ==
			    CL_OK);
	}
	assert(cl_trace_writer_finish(w, CL_END_COMPLETE, NULL) == CL_OK);
	assert(cl_trace_writer_counts(w)->cells == 10 * CL_MODEL_LAYERS_MAX);
	cl_trace_writer_free(w);
	cl_dst_free(dst);
	cl_trace_head_free(h);
	assert(read_all(b.p, b.n, 4096, CL_TRACE_CHECK, &tokens, &traces,
	    NULL) == CL_END);
	assert(tokens == 20 && traces == 1);
	cl_buf_free(&b);
}

/* After a while of skimming, blocks are decoded again; and no check is made. */
static void
wants_may_change(void)
{
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_buf b;
	uint64_t tokens = 0;
	int status;

	cl_buf_init(&b);
	make_trace(&any, &b, NULL);
	r = cl_trace_reader_new(mem_src(b.p, b.n, 999), CL_TRACE_SKIM |
	    CL_TRACE_CHECK, NULL);
	assert(r != NULL);
	while ((status = cl_trace_read(r, &rec, NULL)) == CL_OK) {
		if (rec->kind != CL_TRACE_BLOCK)
			continue;
		tokens += rec->block->ntokens;
		assert(cl_trace_reader_tokens(r) == tokens);
		if (tokens > 8)
			assert(rec->block->tokens[0].pos < 3);
		cl_trace_reader_want(r, tokens > 3 ? CL_TRACE_WEIGHTS |
		    CL_TRACE_CHECK : CL_TRACE_SKIM);
	}
	assert(status == CL_END && tokens == any.ntokens);
	cl_trace_reader_free(r);
	cl_buf_free(&b);
}

static const struct unit units[] = {
	{ "traces of all kinds are read as they were written",
	    all_kinds_are_read },
	{ "the routing fingerprint does not depend on what is held",
	    fingerprints_do_not_depend_on_scores },
	{ "what the rule gives is left out and worked out again",
	    the_rules_choice_is_left_out },
	{ "another choice is kept, with its weights, and counted",
	    another_choice_is_kept_and_counted },
	{ "a difference that rounding makes is kept and not counted",
	    rounding_is_no_mismatch },
	{ "ids alone get the weights of scores that are not held",
	    ids_alone_get_the_rules_weights },
	{ "halves are rounded to the nearest, ties to even",
	    halves_are_rounded_to_even },
	{ "bad cells are refused, and the writer with them",
	    bad_cells_are_refused },
	{ "a token has one cell in a layer", a_cell_comes_once },
	{ "bad tokens are refused", bad_tokens_are_refused },
	{ "blocks of large models hold fewer tokens",
	    blocks_stay_below_a_records_limit },
	{ "each block can be read once it is full", blocks_are_flushed },
	{ "rules by token id need ids, and keep them", tables_need_ids },
	{ "models of 4096 layers are read", deep_models_are_read },
	{ "what a reader works out may change", wants_may_change },
	{ "a failed sink is told", a_failed_sink_is_told },
};

UNIT_MAIN(units)
