/*
 * Recording: what a trace made from the shipped model holds, that it is the
 * engine's own to the bit (against tests/capture), and how it ends when it is
 * stopped.  Skipped where no libllama is found (CL_LLAMA, build/deps).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/record.h"
#include "cl/rule.h"
#include "cl/src.h"
#include "cl/tap.h"
#include "cl/trace.h"
#include "cl/trace_read.h"
#include "unit.h"

#define MODEL	"tests/models/cl-moe-8x64.gguf"
#define PROMPTS	"tests/models/prompts/"
#define NCTX	4096
#define NUBATCH	256
#define NLAYERS	8
#define E	64
#define NFILES	7
#define MOST	12000			/* tokens of one trace here */
#define NGENERATE 20

static const char *places[] = { NULL, NULL };
static const char *program;		/* our own path */

/* A trace read back whole; sequences stand one after another. */
struct trace {
	struct cl_trace_token tokens[MOST];
	float		 scores[MOST][NLAYERS][E];
	uint32_t	 n;
	uint32_t	 nseqs;
	char		 names[NFILES][16];
	uint32_t	 given;		/* cells with explicit ids */
	struct cl_trace_counts counts;
	uint64_t	 nbytes;	/* of the file */
};

static struct cl_record_prompt prompts[NFILES];
static struct trace traces[2];
static atomic_bool stop;
static uint64_t stop_at;
static uint64_t seen_done, seen_total;
static uint32_t nseq = 1;		/* of the tap */

/* Read the shipped prompts: a long one and a short one first. */
static void
read_prompts(void)
{
	static const char *const names[NFILES] = { "novel.txt", "code-c.txt",
	    "code-py.txt", "manual.txt", "mixed.txt", "scripture.txt",
	    "speech.txt" };
	static char texts[NFILES][8000];
	struct cl_record_prompt *p = prompts;
	char path[100];
	uint32_t i;
	FILE *f;

	for (i = 0; i < NFILES; i++) {
		(void)snprintf(path, sizeof(path), PROMPTS "%s", names[i]);
		assert((f = fopen(path, "r")) != NULL);
		p[i].name = names[i];
		p[i].text = texts[i];
		p[i].nbytes = fread(texts[i], 1, sizeof(texts[i]), f);
		assert(p[i].nbytes > 0 && p[i].nbytes < sizeof(texts[i]));
		(void)fclose(f);
	}
}

static void
see_progress(void *arg, uint64_t done, uint64_t total)
{

	assert(arg == &traces && done > seen_done && done <= total);
	seen_done = done;
	seen_total = total;
	if (stop_at != 0 && done >= stop_at)
		atomic_store(&stop, true);
}

static struct cl_record_options
options(uint32_t nprompts, uint32_t ngenerate)
{
	struct cl_record_options o = { .prompts = prompts,
	    .nprompts = nprompts, .ngenerate = ngenerate, .ignore_eos = true,
	    .progress = see_progress, .progress_arg = &traces,
	    .stop = &stop };

	atomic_store(&stop, false);
	stop_at = seen_done = seen_total = 0;
	return (o);
}

static struct cl_tap *
open_tap(struct cl_err *err)
{
	struct cl_tap_options o = { .places = places, .must = places[0],
	    .nctx = nseq == 1 ? NCTX : 0, .nbatch = NUBATCH,
	    .nubatch = NUBATCH, .nseq = nseq, .nthreads = 1,
	    .capture = true };

	return (cl_tap_open(&o, MODEL, err));
}

/* Record into a temporary file, whose descriptor is returned. */
static int
record(const struct cl_record_options *o, struct cl_trace_counts *counts,
    int *status, struct cl_err *err)
{
	char path[] = "/tmp/cl-test-record-XXXXXX";
	int fd = mkstemp(path);
	struct cl_dst *dst = cl_dst_fd(fd, path, err);
	struct cl_tap *tap = open_tap(err);
	struct cl_model *model = cl_model_open(MODEL, err);
	struct cl_trace_head *head = cl_trace_head_new(model, err);

	assert(fd != -1 && dst != NULL && tap != NULL && head != NULL);
	(void)unlink(path);
	head->origin = CL_ORIGIN_RECORDED;
	head->scores = CL_SCORES_F32;
	head->tokens = true;
	head->block_tokens = CL_TRACE_BLOCK_LIVE;
	*status = cl_record_run(tap, head, dst, o, counts, err);
	assert(cl_dst_finish(dst, err) == CL_OK || *status != CL_OK);
	cl_dst_free(dst);
	cl_trace_head_free(head);
	cl_tap_close(tap);
	return (fd);
}

static void
check_head(const struct cl_trace_head *head)
{
	const struct cl_model *m = head->model;
	uint32_t i;

	assert(head->origin == CL_ORIGIN_RECORDED);
	assert(strncmp(cl_trace_head_find(head, "engine"), "libllama ", 9) ==
	    0);
	assert(m->nlayers == NLAYERS);
	for (i = 0; i < NLAYERS; i++) {
		assert(m->layers[i].k == 8 && !m->layers[i].extra);
		assert(m->layers[i].rule.assumed == 0);
		assert(m->layers[i].rule.gate == CL_GATE_SOFTMAX &&
		    m->layers[i].rule.norm);
	}
}

static void
take_block(struct trace *t, const struct cl_trace_block *b)
{
	const struct cl_trace_column *c;
	uint32_t i, l;

	assert(b->ncolumns == NLAYERS && t->n + b->ntokens <= MOST);
	for (i = 0; i < b->ntokens; i++, t->n++) {
		t->tokens[t->n] = b->tokens[i];
		for (l = 0; l < NLAYERS; l++) {
			c = &b->columns[l];
			assert(c->layer == l && c->nexperts == E);
			assert(c->first[i + 1] - c->first[i] == 8);
			t->given += c->given != NULL && c->given[i] != 0;
			memcpy(t->scores[t->n][l], c->scores + (size_t)E *
			    c->row[i], sizeof(t->scores[0][0]));
		}
	}
}

static void
read_back(int fd, struct trace *t)
{
	const struct cl_trace_rec *rec;
	struct cl_err err = { 0 };
	struct cl_trace_reader *r;
	int status;

	memset(t, 0, sizeof(*t));
	t->nbytes = (uint64_t)lseek(fd, 0, SEEK_END);
	assert(lseek(fd, 0, SEEK_SET) == 0);
	r = cl_trace_reader_new(cl_src_fd(fd, "trace", NULL, &err),
	    CL_TRACE_CHECK, &err);
	assert(r != NULL);
	while ((status = cl_trace_read(r, &rec, &err)) == CL_OK) {
		if (rec->kind == CL_TRACE_HEAD)
			check_head(rec->head);
		else if (rec->kind == CL_TRACE_SEQ && t->nseqs < NFILES)
			(void)snprintf(t->names[t->nseqs++], 16, "%s",
			    rec->name);
		else if (rec->kind == CL_TRACE_BLOCK)
			take_block(t, rec->block);
		else
			t->counts = *rec->counts;
	}
	if (status != CL_END)
		fprintf(stderr, "%s\n", err.msg);
	assert(status == CL_END);
	cl_trace_reader_free(r);
	(void)close(fd);
}

static void
record_whole(const struct cl_record_options *o, struct trace *t)
{
	struct cl_err err = { 0 };
	struct cl_trace_counts counts;
	int fd, status;

	fd = record(o, &counts, &status, &err);
	if (status != CL_OK)
		fprintf(stderr, "%s\n", err.msg);
	assert(status == CL_OK);
	read_back(fd, t);
	assert(counts.tokens == t->counts.tokens &&
	    counts.mismatches == t->counts.mismatches &&
	    counts.end == t->counts.end);
}

/* Tokens of a sequence that are prefill, from token `from` on. */
static uint32_t
prefill_length(const struct trace *t, uint32_t from)
{
	uint32_t n = 0;

	while (from + n < t->n && !t->tokens[from + n].decode)
		n++;
	return (n);
}

static void
trace_holds_every_token(void)
{
	struct cl_record_options o = options(2, NGENERATE);
	struct trace *t = &traces[0];
	uint32_t i, at, p, seq;

	record_whole(&o, t);
	assert(t->nseqs == 2 && strcmp(t->names[0], "novel.txt") == 0 &&
	    strcmp(t->names[1], "code-c.txt") == 0);
	assert(t->counts.end == CL_END_COMPLETE && t->counts.sequences == 2);
	assert(t->counts.mismatches == 0 && t->given == 0);
	assert(t->counts.cells == (uint64_t)t->n * NLAYERS);
	for (seq = at = 0; seq < 2; seq++, at += p + NGENERATE) {
		p = prefill_length(t, at);
		assert(p > 0 && (seq > 0 || p > NUBATCH));
		for (i = 0; i < p + NGENERATE; i++) {
			assert(t->tokens[at + i].seq == seq);
			assert(t->tokens[at + i].pos == i);
			assert(t->tokens[at + i].token >= 0);
			assert(t->tokens[at + i].decode == (i >= p));
			assert(t->tokens[at + i].begins ==
			    (i >= p || i % NUBATCH == 0));
		}
	}
	assert(at == t->n && t->n == t->counts.tokens);
	assert(seen_done == seen_total && seen_total == t->n);
}

/* The scores that tests/capture gets for n tokens of one sequence. */
static void
capture(const struct cl_trace_token *tokens, uint32_t n, uint32_t prefill,
    float *scores)
{
	char path[] = "/tmp/cl-test-tokens-XXXXXX", command[2000];
	int fd = mkstemp(path), len;
	size_t want = (size_t)n * NLAYERS * E;
	uint32_t i;
	FILE *f = fdopen(fd, "w");

	assert(f != NULL);
	for (i = 0; i < n; i++)
		fprintf(f, "%d\n", tokens[i].token);
	(void)fclose(f);
	len = snprintf(command, sizeof(command), "lib=$(find -L '%s' "
	    "-name 'libllama.*so*' | sort | head -n 1) && '%.*s../capture/"
	    "capture' \"$lib\" " MODEL " %d %d %u < %s", places[0],
	    (int)(strrchr(program, '/') + 1 - program), program, NCTX,
	    NUBATCH, prefill, path);
	assert(len > 0 && (size_t)len < sizeof(command));
	assert((f = popen(command, "r")) != NULL);
	assert(fread(scores, sizeof(*scores), want, f) == want);
	assert(fgetc(f) == EOF && pclose(f) == 0);
	(void)unlink(path);
}

static void
scores_are_the_engines_to_the_bit(void)
{
	static float alone[MOST][NLAYERS][E];
	struct cl_record_options o = options(NFILES, NGENERATE);
	struct trace *t = &traces[0];
	uint32_t at, n, p;

	record_whole(&o, t);
	assert(t->nseqs == NFILES && t->counts.mismatches == 0);
	for (at = 0; at < t->n; at += n) {
		p = prefill_length(t, at);
		n = p + NGENERATE;
		capture(t->tokens + at, n, p, alone[0][0]);
		assert(memcmp(alone, t->scores[at], n * sizeof(alone[0])) ==
		    0);
	}
}

/* The row of a sequence's position in a trace. */
static uint32_t
find_row(const struct trace *t, uint32_t seq, uint32_t pos)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->tokens[i].seq == seq && t->tokens[i].pos == pos)
			return (i);
	abort();
}

/*
 * Scores of another batch shape are not the same bits (other kernels, a
 * half-precision cache), but far nearer than those of another token.
 */
static bool
near(float (*a)[E], float (*b)[E])
{
	double d = 0, m = 0;
	uint32_t i, l;

	for (l = 0; l < NLAYERS; l++)
		for (i = 0; i < E; i++) {
			d += fabs((double)a[l][i] - (double)b[l][i]);
			m += fabs((double)a[l][i]);
		}
	return (d <= 0.2 * m);
}

/*
 * Each pass is of prefill or of decode, and a decode pass has at most a token
 * of each sequence; the number of passes with several sequences.
 */
static uint32_t
mixed_passes(const struct trace *t)
{
	uint32_t i, from = 0, n = 0, seqs = 0;

	for (i = 0; i < t->n; i++) {
		if (t->tokens[i].begins) {
			from = i;
			seqs = 0;
		}
		assert(t->tokens[i].decode == t->tokens[from].decode);
		if (t->tokens[i].decode && i > from)
			assert(t->tokens[i].seq > t->tokens[i - 1].seq);
		assert(i - from < NUBATCH);
		if (t->tokens[i].seq != t->tokens[from].seq)
			n += seqs++ == 0;
	}
	return (n);
}

/*
 * Several prompts under way, as long as there are any: every token is there
 * as if alone, though the engine regroups what it is given.
 */
static void
sequences_run_side_by_side(void)
{
	struct cl_record_options o = options(NFILES, NGENERATE);
	struct trace *alone = &traces[0], *t = &traces[1];
	uint32_t i, at, parted = 0, seq;

	record_whole(&o, alone);
	nseq = 3;
	seen_done = 0;
	record_whole(&o, t);
	nseq = 1;
	assert(t->n == alone->n && t->nseqs == NFILES);
	assert(t->counts.mismatches == 0 && seen_done == t->n);
	assert(mixed_passes(t) > NGENERATE && mixed_passes(alone) == 0);
	for (i = 0; i < alone->n; i++) {
		seq = alone->tokens[i].seq;
		assert(strcmp(alone->names[seq], t->names[seq]) == 0);
		at = find_row(t, seq, alone->tokens[i].pos);
		assert(t->tokens[at].decode == alone->tokens[i].decode);
		if (t->tokens[at].token != alone->tokens[i].token) {
			/* near outputs had the likeliest apart */
			assert(alone->tokens[i].decode);
			parted++;
			while (i + 1 < alone->n &&
			    alone->tokens[i + 1].seq == seq)
				i++;
			continue;
		}
		assert(near(alone->scores[i], t->scores[at]));
	}
	assert(parted < NFILES);
	assert(!near(alone->scores[0], alone->scores[1]));
}

static void
more_sequences_than_a_pass_takes_are_refused(void)
{
	struct cl_record_options o = options(1, 0);
	struct cl_trace_counts counts;
	struct cl_err err = { 0 };
	int fd, status;

	nseq = NUBATCH + 1;
	fd = record(&o, &counts, &status, &err);
	nseq = 1;
	assert(status == CL_EINVAL && strcmp(err.msg, "257 sequences have no "
	    "room in a pass of 256 tokens") == 0);
	(void)close(fd);
}

static bool
same_tokens(const struct trace *a, const struct trace *b)
{
	uint32_t i;

	if (a->n != b->n)
		return (false);
	for (i = 0; i < a->n; i++)
		if (a->tokens[i].token != b->tokens[i].token)
			return (false);
	return (true);
}

static void
the_seed_decides(void)
{
	struct cl_record_options o = options(1, 16);

	o.temp = 1;
	o.seed = 7;
	record_whole(&o, &traces[0]);
	seen_done = 0;
	record_whole(&o, &traces[1]);
	assert(traces[0].nbytes == traces[1].nbytes);
	assert(memcmp(traces[0].scores, traces[1].scores,
	    sizeof(traces[0].scores)) == 0);
	assert(same_tokens(&traces[0], &traces[1]));
	o.seed = 8;
	seen_done = 0;
	record_whole(&o, &traces[1]);
	assert(!same_tokens(&traces[0], &traces[1]));
}

static void
a_stop_ends_the_trace_as_interrupted(void)
{
	struct cl_record_options o = options(2, NGENERATE);
	struct trace *t = &traces[0];

	stop_at = 2 * NUBATCH + 1;
	record_whole(&o, t);
	assert(t->counts.end == CL_END_INTERRUPTED);
	assert(t->n == seen_done && t->n >= stop_at && t->nseqs == 1);
	assert(seen_done < seen_total);
}

static void
a_stop_before_anything_writes_nothing(void)
{
	struct cl_record_options o = options(2, NGENERATE);
	struct cl_trace_counts counts;
	struct cl_err err = { 0 };
	int fd, status;

	atomic_store(&stop, true);
	fd = record(&o, &counts, &status, &err);
	assert(status == CL_EIO && strcmp(err.msg,
	    "interrupted before anything was recorded") == 0);
	assert(lseek(fd, 0, SEEK_END) == 0 && counts.tokens == 0);
	(void)close(fd);
}

static void
a_prompt_too_long_is_refused_first(void)
{
	struct cl_record_options o = options(2, 4090);
	struct cl_trace_counts counts;
	struct cl_err err = { 0 };
	int fd, status;

	fd = record(&o, &counts, &status, &err);
	assert(status == CL_EINVAL);
	assert(strncmp(err.msg, "prompt novel.txt: ", 18) == 0);
	assert(strstr(err.msg, " tokens and 4090 to generate need a context "
	    "of ") != NULL);
	assert(strstr(err.msg, ", which has 4096") != NULL);
	assert(lseek(fd, 0, SEEK_END) == 0 && seen_done == 0);
	(void)close(fd);
}

static const struct unit units[] = {
	{ "a trace holds every token of every prompt, with its pass",
	    trace_holds_every_token },
	{ "scores of the shipped prompts are the engine's to the bit",
	    scores_are_the_engines_to_the_bit },
	{ "sequences that run side by side are recorded as if alone",
	    sequences_run_side_by_side },
	{ "more sequences than a pass takes tokens are refused",
	    more_sequences_than_a_pass_takes_are_refused },
	{ "the seed decides what is generated, to the byte",
	    the_seed_decides },
	{ "a stop ends the trace as interrupted",
	    a_stop_ends_the_trace_as_interrupted },
	{ "a stop before anything was recorded writes nothing",
	    a_stop_before_anything_writes_nothing },
	{ "a prompt too long for the context is refused before it runs",
	    a_prompt_too_long_is_refused_first },
};

int
main(int argc, char **argv)
{
	struct cl_err err = { 0 };
	struct cl_tap *tap;
	const char *env = getenv("CL_LLAMA");

	assert(argc == 1 && strchr(argv[0], '/') != NULL);
	program = argv[0];
	read_prompts();
	places[0] = env != NULL && *env != '\0' ? env : "build/deps";
	if ((tap = open_tap(&err)) == NULL) {
		if (strncmp(err.msg, "there is no libllama", 20) != 0) {
			fprintf(stderr, "%s\n", err.msg);
			return (1);
		}
		printf("1..0 # SKIP %s; run `make deps`\n", err.msg);
		return (0);
	}
	cl_tap_close(tap);
	return (unit_run(units, sizeof(units) / sizeof(units[0])));
}
