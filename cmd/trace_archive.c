/*
 * cl-trace on archives of traces that exist: what is in one, whether it is all
 * as its index says, and a new one of traces.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/text.h"
#include "cl/trace_read.h"
#include "corpus.h"
#include "fe.h"
#include "trace.h"

static struct cl_pack *
open_archive(const struct trace_options *o, struct cl_err *err)
{
	struct cl_src *src = fe_input(o->noperands > 0 ? o->operand[0] : "-");
	struct cl_pack *p = cl_pack_open(src, err);

	if (p == NULL)
		fe_die(err);
	return (p);
}

/* A name on a line of its own has neither tabs nor ends of lines in it. */
static void
print_name(struct cl_dst *out, const char *name)
{
	char buf[8];
	size_t n, left = strlen(name);

	for (; left > 0; name += n, left -= n) {
		n = cl_text_escape(buf, name, left);
		cl_dst_printf(out, "%s", buf);
	}
}

/* The index of an archive that is being read: kept, to be held against it. */
struct index {
	bool		 seen;
	bool		 last;		/* nothing came after it */
	struct corpus_list rows;
	char		 end[16];
};

static int
read_index(struct cl_pack *p, struct index *x, struct cl_err *err)
{
	struct cl_src *src = cl_pack_read(p, err);
	int status;

	if (src == NULL)
		return (err->code);
	corpus_list_free(&x->rows);
	status = corpus_read_index(src, &x->rows, x->end, err);
	cl_src_close(src);
	x->seen = x->last = status == CL_OK;
	return (status);
}

static int
list_member(struct cl_pack *p, const struct cl_pack_member *m,
    struct index *x, struct cl_dst *out, struct cl_err *err)
{
	const char *kind = "other";
	struct cl_src *src;
	uint64_t nbytes;
	int status;

	print_name(out, m->name);
	if (m->other != NULL) {
		cl_dst_printf(out, "\t\t%s\n", m->other);
		return (CL_OK);
	}
	if (strcmp(m->name, CORPUS_INDEX) == 0) {
		cl_dst_printf(out, "\t%llu\tindex\n",
		    (unsigned long long)m->nbytes);
		return (read_index(p, x, err));
	}
	if (corpus_is_trace(m->name))
		kind = "trace";
	else if (corpus_is_ours(m->name))
		kind = "sidecar";
	if ((src = cl_pack_read(p, err)) == NULL)
		return (err->code);
	status = corpus_drain(src, err);
	nbytes = cl_src_off(src);
	cl_src_close(src);
	cl_dst_printf(out, "\t%llu\t%s\n", (unsigned long long)nbytes, kind);
	return (status);
}

int
trace_archive_list(const struct trace_options *o)
{
	const struct cl_pack_member *m;
	struct cl_err err = { 0 };
	struct index x = { 0 };
	struct cl_pack *p;
	struct cl_dst *out;
	int status;

	out = fe_output(o->output, o->replace, false);
	p = open_archive(o, &err);
	cl_dst_printf(out, "member\tbytes\tkind\n");
	while ((status = cl_pack_next(p, &m, &err)) == CL_OK)
		if ((status = list_member(p, m, &x, out, &err)) != CL_OK)
			break;
	if (status != CL_END)
		fe_warn("%s", err.msg);
	else if (x.seen && strcmp(x.end, "complete") != 0)
		fe_warn("the archive is %s: its writer stopped early", x.end);
	corpus_list_free(&x.rows);
	cl_pack_close(p);
	return (fe_finish(out, status == CL_END ? FE_DONE : FE_TROUBLE));
}

/* Are all traces in a source whole, and what their scores say? */
static int
verify_trace(struct cl_src *src, struct cl_dst *out, struct cl_err *err)
{
	struct cl_trace_reader *reader;
	const struct cl_trace_rec *rec;
	unsigned long long tokens = 0;
	int status;

	if ((reader = cl_trace_reader_new(src, CL_TRACE_CHECK, err)) == NULL)
		return (err->code);
	while ((status = cl_trace_read(reader, &rec, err)) == CL_OK) {
		if (rec->kind != CL_TRACE_TRAILER)
			continue;
		tokens += rec->counts->tokens;
		if (rec->counts->end != CL_END_COMPLETE)
			status = cl_fail(err, CL_ECUT, "%s: the trace is %s: "
			    "its writer stopped after token %llu",
			    cl_src_name(src),
			    cl_trace_end_name(rec->counts->end), tokens);
	}
	if (status == CL_END && err->code == CL_OK)
		cl_dst_printf(out, "\t%llu tokens, whole\n", tokens);
	cl_trace_reader_free(reader);
	return (err->code);
}

/* Read a member to its end, a trace as one, and note what it was. */
static int
verify_member(struct cl_pack *p, const struct cl_pack_member *m,
    struct corpus_list *found, struct cl_dst *out, struct cl_err *err)
{
	char text[CL_SHA256_TEXT];
	struct cl_src *src, *hashed;
	struct cl_sha256 sha;
	int status;

	if ((src = cl_pack_read(p, err)) == NULL ||
	    (hashed = corpus_hashed(src, &sha, err)) == NULL)
		return (err->code);
	if (corpus_is_trace(m->name)) {
		print_name(out, m->name);
		status = verify_trace(hashed, out, err);
		if (status != CL_OK)
			cl_dst_printf(out, "\tnot whole\n");
	} else {
		status = corpus_drain(hashed, err);
		cl_src_close(hashed);
	}
	if (status != CL_OK)
		return (status);
	return (corpus_list_add(found, m->name, sha.nbytes,
	    cl_sha256_end(&sha, text), err));
}

/* What the index says against what was found, row by row. */
static int
compare_index(const struct corpus_list *found, const struct index *x,
    const char *name)
{
	const struct corpus_list *rows = &x->rows;
	size_t i;

	if (!x->seen) {
		fe_warn("%s: no index (%s): nobody can tell whether this is "
		    "all", name, CORPUS_INDEX);
		return (FE_TROUBLE);
	}
	for (i = 0; i < rows->n || i < found->n; i++)
		if (i >= rows->n || i >= found->n ||
		    strcmp(rows->entry[i].name, found->entry[i].name) != 0) {
			fe_warn("%s: member %zu is %s, and %s by the index",
			    name, i + 1, i < found->n ? found->entry[i].name :
			    "missing", i < rows->n ? rows->entry[i].name :
			    "not there");
			return (FE_TROUBLE);
		} else if (rows->entry[i].nbytes != found->entry[i].nbytes ||
		    strcmp(rows->entry[i].sha256,
		    found->entry[i].sha256) != 0) {
			fe_warn("%s:%s: other bytes than the index says", name,
			    found->entry[i].name);
			return (FE_TROUBLE);
		}
	if (!x->last)
		fe_warn("%s: the index is not the last member", name);
	if (strcmp(x->end, "complete") != 0)
		fe_warn("%s: the archive is %s: its writer stopped early",
		    name, x->end);
	return (x->last && strcmp(x->end, "complete") == 0 ? FE_DONE :
	    FE_TROUBLE);
}

/*
 * All members; what is wrong with one does not hide the next.  Returns
 * CL_END, or what ended it early.
 */
static int
verify_members(struct cl_pack *p, struct corpus_list *found,
    struct index *x, struct cl_dst *out, int *exit_status,
    struct cl_err *err)
{
	const struct cl_pack_member *m;
	struct cl_err local;
	int status;

	while ((status = cl_pack_next(p, &m, err)) == CL_OK) {
		memset(&local, 0, sizeof(local));
		x->last = false;
		if (m->other != NULL) {
			if (!m->folder)
				fe_warn("%s: %s: not read", m->name, m->other);
			continue;
		}
		if (strcmp(m->name, CORPUS_INDEX) == 0)
			status = read_index(p, x, &local);
		else
			status = verify_member(p, m, found, out, &local);
		if (status != CL_OK) {
			fe_warn("%s", local.msg);
			*exit_status = FE_TROUBLE;
		}
	}
	return (status);
}

int
trace_archive_verify(const struct trace_options *o)
{
	const char *name = o->noperands > 0 ? o->operand[0] :
	    "standard input";
	struct corpus_list found = { 0 };
	struct cl_err err = { 0 };
	struct index x = { 0 };
	struct cl_pack *p;
	struct cl_dst *out;
	int status = FE_DONE;

	out = fe_output(o->output, o->replace, false);
	p = open_archive(o, &err);
	if (verify_members(p, &found, &x, out, &status, &err) != CL_END) {
		fe_warn("%s", err.msg);
		status = FE_TROUBLE;
	} else if (status == FE_DONE)
		status = compare_index(&found, &x, name);
	if (status == FE_DONE)
		cl_dst_printf(out, "%zu members, as the index says\n",
		    found.n);
	corpus_list_free(&found);
	corpus_list_free(&x.rows);
	cl_pack_close(p);
	return (fe_finish(out, status));
}

static int
add_file(struct corpus *c, const char *path, int trace, int sidecar,
    struct cl_err *err)
{
	const char *slash = strrchr(path, '/');
	char *name = corpus_name(slash == NULL ? path : slash + 1, ".clt",
	    ".clt");
	int status;

	if ((status = corpus_spool_fill(trace, fe_input(path), err)) == CL_OK)
		status = corpus_put_trace(c, name, trace, sidecar, NULL, NULL,
		    err);
	free(name);
	return (status);
}

int
trace_add(const struct trace_options *o)
{
	const atomic_bool *stop;
	struct cl_err err = { 0 };
	struct corpus *c;
	struct cl_dst *out;
	char *const *path;
	int trace, sidecar;

	fe_check_inputs(o->operand, o->noperands);
	out = fe_output(o->archive, o->replace, true);
	stop = fe_stop();
	trace = corpus_spool(trace_archive_path(o));
	sidecar = corpus_spool(trace_archive_path(o));
	if ((c = corpus_new(out, &err)) == NULL)
		fe_die(&err);
	for (path = o->operand; *path != NULL && !atomic_load(stop); path++)
		if (add_file(c, *path, trace, sidecar, &err) != CL_OK) {
			if (err.code == CL_ECUT && atomic_load(stop))
				memset(&err, 0, sizeof(err));
			break;
		}
	if (err.code == CL_OK)
		(void)corpus_finish(c, *path == NULL ? "complete" :
		    "interrupted", sidecar, &err);
	corpus_free(c);
	(void)close(trace);
	(void)close(sidecar);
	if (err.code != CL_OK) {
		fe_warn("%s", err.msg);
		return (fe_abandon(out));
	}
	if (*path != NULL)
		fe_warn("interrupted before %s", *path);
	return (fe_finish(out, *path == NULL ? FE_DONE : FE_TROUBLE));
}

const char *
trace_archive_path(const struct trace_options *o)
{

	return (strcmp(o->archive, "-") == 0 ? NULL : o->archive);
}
