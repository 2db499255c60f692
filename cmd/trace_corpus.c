/*
 * cl-trace on a folder of prompts: a trace of each, in an archive.
 *
 * The prompts are found first and taken by name, so that the same folder gives
 * the same bytes.  The engine is opened once.  A trace is recorded into a
 * spool and becomes a member when it is whole; a prompt that cannot be
 * recorded is named and left out, and the index says that it is not all.
 */

#include <sys/stat.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/model.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/tap.h"
#include "cl/trace_read.h"
#include "cl/vec.h"
#include "corpus.h"
#include "fe.h"
#include "trace.h"

#define DEPTH_MAX	16		/* of folders; links may go round */
#define PROMPTS_MAX	(1u << 20)

struct prompt {
	char		*name;		/* below the folder: "chat/a.txt" */
	char		*member;	/* "chat/a.clt" */
	bool		 done;
};

struct work {
	const struct trace_options *o;
	struct prompt	*prompt;
	size_t		 n;
	size_t		 cap;
	struct cl_tap	*tap;		/* NULL: to be opened */
	uint32_t	 nctx;		/* that the longest prompt needs */
	struct corpus	*corpus;
	int		 trace;		/* spools */
	int		 sidecar;
};

static char *
join(const char *dir, const char *name)
{
	size_t n = strlen(dir) + strlen(name) + 2;
	struct cl_err err = { 0 };
	char *path;

	if ((path = malloc(n)) == NULL) {
		cl_fail_nomem(&err, "the name of a prompt");
		fe_die(&err);
	}
	(void)snprintf(path, n, "%s%s%s", dir, *dir == '\0' ? "" : "/", name);
	return (path);
}

/* The name goes to the list, which owns it then. */
static void
add_prompt(struct work *w, char *name)
{
	struct cl_err err = { 0 };

	if (w->n == PROMPTS_MAX)
		fe_misuse("--prompts: more than %u files", PROMPTS_MAX);
	if (cl_vec_grow(&w->prompt, &w->cap, w->n + 1, sizeof(*w->prompt),
	    &err) != CL_OK)
		fe_die(&err);
	w->prompt[w->n].name = name;
	w->prompt[w->n++].member = corpus_name(name, ".txt", ".clt");
}

/* All files below a folder, but for hidden ones. */
static void
find_prompts(struct work *w, const char *below, unsigned depth)
{
	char *dir = join(w->o->prompts, below), *name, *path;
	struct cl_err err = { 0 };
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (depth > DEPTH_MAX)
		fe_misuse("%s: more than %u folders deep", dir, DEPTH_MAX);
	if ((d = opendir(dir)) == NULL) {
		cl_fail_errno(&err, "%s: cannot open", dir);
		fe_die(&err);
	}
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		name = join(below, e->d_name);
		path = join(w->o->prompts, name);
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			find_prompts(w, name, depth + 1);
		else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			add_prompt(w, name);
			name = NULL;
		} else
			fe_warn("%s: no file: left out", path);
		free(name);
		free(path);
	}
	(void)closedir(d);
	free(dir);
}

static int
by_member(const void *a, const void *b)
{

	return (strcmp(((const struct prompt *)a)->member,
	    ((const struct prompt *)b)->member));
}

static struct prompt *
find_member(const struct work *w, const char *member)
{
	union {				/* bsearch wants what it looks for */
		const char	*is;
		char		*as;
	} name = { member };
	struct prompt key = { NULL, name.as, false };

	return (bsearch(&key, w->prompt, w->n, sizeof(*w->prompt),
	    by_member));
}

static void
list_prompts(struct work *w)
{
	size_t i;

	find_prompts(w, "", 0);
	if (w->n == 0)
		fe_misuse("--prompts %s: no file in it", w->o->prompts);
	qsort(w->prompt, w->n, sizeof(*w->prompt), by_member);
	for (i = 1; i < w->n; i++)
		if (strcmp(w->prompt[i - 1].member, w->prompt[i].member) == 0)
			fe_misuse("--prompts: %s and %s would both be %s",
			    w->prompt[i - 1].name, w->prompt[i].name,
			    w->prompt[i].member);
}

/* A prompt's text and its digest. */
static void
read_text(const struct work *w, const struct prompt *p,
    struct trace_prompt *text, char sha256[CL_SHA256_TEXT])
{
	struct cl_sha256 sha;
	char *path = join(w->o->prompts, p->name);

	memset(text, 0, sizeof(*text));
	text->path = path;
	trace_read_prompt(text);
	/* as for a prompt that is given by itself */
	text->name = strrchr(p->name, '/');
	text->name = text->name == NULL ? p->name : text->name + 1;
	text->path = NULL;
	free(path);
	cl_sha256_init(&sha);
	cl_sha256_add(&sha, text->text, text->nbytes);
	(void)cl_sha256_end(&sha, sha256);
}

/* How many tokens a prompt becomes. */
static int
count_tokens(struct work *w, const struct trace_prompt *p, size_t *n,
    struct cl_err *err)
{
	const char *text = p->text;
	size_t nbytes = p->nbytes;
	char *chat = NULL;
	int32_t *tokens = NULL;
	int status;

	if (w->o->chat) {
		if ((status = cl_tap_chat(w->tap, text, nbytes, &chat, &nbytes,
		    err)) != CL_OK)
			return (status);
		text = chat;
	}
	status = cl_tap_tokenize(w->tap, text, nbytes, w->o->chat, &tokens, n,
	    err);
	if (status == CL_OK)
		free(tokens);
	free(chat);
	return (status);
}

/* The context that all prompts fit in that are to be recorded yet. */
static int
measure_prompts(struct work *w, struct cl_err *err)
{
	char sha256[CL_SHA256_TEXT];
	struct trace_prompt text;
	uint64_t most = 1;
	size_t i, n;
	int status = CL_OK;

	for (i = 0; i < w->n && status == CL_OK; i++) {
		if (w->prompt[i].done)
			continue;
		read_text(w, &w->prompt[i], &text, sha256);
		status = count_tokens(w, &text, &n, err);
		free(text.text);
		if (status != CL_OK)
			break;
		if ((uint64_t)n + w->o->ngenerate > most)
			most = (uint64_t)n + w->o->ngenerate;
	}
	w->nctx = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return (status);
}

static int
open_engine(struct work *w, struct cl_err *err)
{
	struct cl_model *m = cl_model_open(w->o->operand[0], err);
	struct trace_options one = *w->o;

	one.nprompts = 1;
	if (m != NULL)
		w->tap = trace_record_tap(&one, m, err);
	cl_model_free(m);
	return (w->tap == NULL ? err->code : CL_OK);
}

/* The engine, with a context for the longest prompt. */
static int
start_engine(struct work *w, struct cl_err *err)
{
	int status;

	if (w->tap == NULL && (status = open_engine(w, err)) != CL_OK)
		return (status);
	if (cl_tap_nctx(w->tap) != 0)
		return (CL_OK);
	if (w->nctx == 0 && (status = measure_prompts(w, err)) != CL_OK)
		return (status);
	return (cl_tap_context(w->tap, w->nctx, err));
}

/* Record a prompt into the spool; CL_END: a signal ended it before its end. */
static int
record(struct work *w, const struct prompt *p,
    const struct trace_prompt *text, struct cl_err *err)
{
	struct trace_options one = *w->o;
	struct trace_prompt copy = *text;
	struct cl_trace_head *head;
	struct cl_dst *dst;
	int status;

	one.prompt = &copy;
	one.nprompts = 1;
	corpus_spool_clear(w->trace);
	if ((status = start_engine(w, err)) != CL_OK)
		return (status);
	if ((head = trace_record_head(&one, err)) == NULL)
		return (err->code);
	if ((dst = cl_dst_fd(w->trace, "a temporary file", err)) != NULL)
		status = trace_record_run(&one, p->member, w->tap, head, dst,
		    err);
	if (dst != NULL && status == CL_OK)
		status = cl_dst_finish(dst, err);
	cl_dst_free(dst);
	cl_trace_head_free(head);
	return (err->code != CL_OK ? err->code : status);
}

/* One more member, or why not: CL_END where a signal came. */
static int
add_member(struct work *w, const struct prompt *p, struct cl_err *err)
{
	char sha256[CL_SHA256_TEXT];
	struct trace_prompt text;
	int status;

	read_text(w, p, &text, sha256);
	status = record(w, p, &text, err);
	free(text.text);
	if (status != CL_OK) {
		if (status != CL_END) {
			cl_tap_close(w->tap);	/* it may be unusable now */
			w->tap = NULL;
		}
		return (status);
	}
	return (corpus_put_trace(w->corpus, p->member, w->trace, w->sidecar,
	    p->name, sha256, err));
}

/*
 * All prompts that are not done.  Returns how the archive ends, or NULL where
 * it cannot be written.
 */
static const char *
record_all(struct work *w)
{
	const atomic_bool *stop = fe_stop();
	const char *end = "complete";
	struct cl_err err;
	size_t i;
	int status;

	for (i = 0; i < w->n; i++) {
		if (w->prompt[i].done)
			continue;
		memset(&err, 0, sizeof(err));
		status = atomic_load(stop) ? CL_END :
		    add_member(w, &w->prompt[i], &err);
		if (atomic_load(stop) && status != CL_OK) {
			fe_warn("interrupted: %s is not in the archive, nor "
			    "is what comes after it", w->prompt[i].member);
			return ("interrupted");
		}
		if (status == CL_OK)
			continue;
		fe_warn("%s: %s", w->prompt[i].member, err.msg);
		if (status == CL_EIO)
			return (NULL);
		end = "incomplete";
	}
	return (end);
}

/* The digest that a sidecar has under a key: cl-archive(5), one key a line. */
static bool
sidecar_says(int sidecar, const char *key, const char *sha256)
{
	char line[128], text[4096];
	ssize_t n;

	/* what is looked for stands before what grows with the trace */
	if ((n = pread(sidecar, text, sizeof(text) - 1, 0)) <= 0)
		return (false);
	text[n] = '\0';
	(void)snprintf(line, sizeof(line), "\n  \"%s\": \"%s\"", key,
	    sha256);
	return (strstr(text, line) != NULL);
}

/* Was the spooled trace recorded as it would be now? */
static int
same_options(struct work *w, const struct prompt *p, struct cl_err *err)
{
	struct trace_options one = *w->o;
	struct cl_trace_reader *reader = NULL;
	struct cl_trace_head *head;
	const struct cl_trace_rec *rec;
	struct cl_src *src;
	int status;

	one.nprompts = 1;
	if ((head = trace_record_head(&one, err)) == NULL)
		return (err->code);
	if (lseek(w->trace, 0, SEEK_SET) == -1)
		status = cl_fail_errno(err, "a temporary file");
	else if ((src = cl_src_fd(w->trace, p->member, NULL, err)) == NULL ||
	    (reader = cl_trace_reader_new(src, 0, err)) == NULL ||
	    (status = cl_trace_read(reader, &rec, err)) != CL_OK)
		status = err->code;
	else
		status = trace_record_same(rec->head, head, cl_tap_engine(
		    w->tap), err);
	cl_err_prefix(err, p->member);
	cl_trace_reader_free(reader);
	cl_trace_head_free(head);
	return (status);
}

/* A trace and its sidecar of the old archive become the new one's. */
static void
take(struct work *w, struct prompt *p)
{
	char prompt_sha[CL_SHA256_TEXT], sha[CL_SHA256_TEXT], *beside;
	struct trace_prompt text;
	struct cl_err err = { 0 };
	uint64_t nbytes;

	read_text(w, p, &text, prompt_sha);
	free(text.text);
	if (!sidecar_says(w->sidecar, "prompt_sha256", prompt_sha)) {
		fe_warn("%s: the prompt is another one now: it is recorded "
		    "again", p->name);
		return;
	}
	if (corpus_digest(w->trace, p->member, &nbytes, sha, &err) != CL_OK)
		fe_die(&err);
	if (!sidecar_says(w->sidecar, "sha256", sha)) {
		fe_warn("%s:%s: not the trace that its sidecar describes: it "
		    "is recorded again", w->o->resume, p->member);
		return;
	}
	beside = corpus_name(p->member, ".clt", ".json");
	if (same_options(w, p, &err) != CL_OK ||
	    corpus_put(w->corpus, p->member, w->trace, &err) != CL_OK ||
	    corpus_put(w->corpus, beside, w->sidecar, &err) != CL_OK)
		fe_die(&err);
	free(beside);
	p->done = true;
}

/*
 * One member of the old archive.  *held is the prompt whose trace is in the
 * spool and waits for its sidecar.
 */
static int
resume_member(struct work *w, struct cl_pack *pack,
    const struct cl_pack_member *m, struct prompt **held, struct cl_err *err)
{
	char *beside;
	int status = CL_OK;
	bool fits;

	if (m->other != NULL)
		return (CL_OK);
	if (corpus_is_trace(m->name)) {
		if ((*held = find_member(w, m->name)) == NULL)
			fe_warn("%s:%s: no such prompt: left out",
			    w->o->resume, m->name);
		return (*held == NULL ? CL_OK :
		    corpus_spool_fill(w->trace,
		    cl_pack_read(pack, err), err));
	}
	if (*held == NULL)
		return (CL_OK);
	beside = corpus_name((*held)->member, ".clt", ".json");
	fits = strcmp(beside, m->name) == 0;
	free(beside);
	if (fits && (status = corpus_spool_fill(w->sidecar,
	    cl_pack_read(pack, err), err)) == CL_OK)
		take(w, *held);
	*held = NULL;
	return (status);
}

/*
 * What the old archive has whole.  It may stop anywhere: a trace counts once
 * its sidecar has come.
 */
static void
resume(struct work *w)
{
	struct cl_src *src = fe_input(w->o->resume);
	const struct cl_pack_member *m;
	struct prompt *held = NULL;
	struct cl_err err = { 0 };
	struct cl_pack *pack;
	int status;

	if (open_engine(w, &err) != CL_OK ||
	    (pack = cl_pack_open(src, &err)) == NULL)
		fe_die(&err);
	while ((status = cl_pack_next(pack, &m, &err)) == CL_OK)
		if ((status = resume_member(w, pack, m, &held, &err)) !=
		    CL_OK)
			break;
	if (status != CL_END)
		fe_warn("%s; what was whole before is taken over", err.msg);
	cl_pack_close(pack);
}

int
trace_corpus(const struct trace_options *o)
{
	struct work w = { .o = o };
	struct cl_err err = { 0 };
	struct cl_dst *out;
	const char *end;
	size_t i;

	list_prompts(&w);
	out = fe_output(o->archive, o->replace, true);
	w.trace = corpus_spool(trace_archive_path(o));
	w.sidecar = corpus_spool(trace_archive_path(o));
	if ((w.corpus = corpus_new(out, &err)) == NULL)
		fe_die(&err);
	(void)fe_stop();
	if (o->resume != NULL)
		resume(&w);
	end = record_all(&w);
	if (end != NULL)
		(void)corpus_finish(w.corpus, end, w.sidecar, &err);
	if (err.code != CL_OK)
		fe_warn("%s", err.msg);
	cl_tap_close(w.tap);
	corpus_free(w.corpus);
	for (i = 0; i < w.n; i++) {
		free(w.prompt[i].name);
		free(w.prompt[i].member);
	}
	free(w.prompt);
	(void)close(w.trace);
	(void)close(w.sidecar);
	if (end == NULL || err.code != CL_OK)
		return (fe_abandon(out));
	return (fe_finish(out, strcmp(end, "complete") == 0 ? FE_DONE :
	    FE_TROUBLE));
}
