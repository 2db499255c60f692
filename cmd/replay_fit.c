/*
 * What static pins: how often a trace uses each expert, counted by the same
 * events as the replay's; or how often its tokens choose each, as the table
 * expert_use of a stat stream says.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/src.h"
#include "cl/stats_read.h"
#include "cl/trace_read.h"
#include "fe.h"
#include "replay.h"

struct fit {
	const struct cl_keys *keys;
	const struct cl_model *model;
	enum cl_prefill	 prefill;
	struct replay_fit *to;
	struct cl_events *events;
	bool		 over;
};

static int
count_pass(void *arg, const struct cl_pass *pass, struct cl_err *err)
{
	struct fit *f = arg;
	uint32_t i, k;

	(void)err;
	for (i = 0; i < f->keys->ncolumns && !pass->skipped; i++)
		for (k = 0; k < pass->event[i].n; k++)
			f->to->uses[pass->event[i].keys[k]]++;
	return (CL_OK);
}

/* Are its experts those that are replayed? */
static int
check(const struct fit *f, const struct cl_model *m, struct cl_err *err)
{
	const struct cl_model *want = f->model;
	bool same = m->nlayers == want->nlayers && (m->fingerprint == 0 ||
	    want->fingerprint == 0 || m->fingerprint == want->fingerprint);
	uint32_t i;

	for (i = 0; i < m->nlayers && same; i++)
		same = m->layers[i].nexperts == want->layers[i].nexperts &&
		    m->layers[i].extra == want->layers[i].extra;
	return (same ? CL_OK : cl_fail(err, CL_EINVAL, "it is of another "
	    "model than what is replayed"));
}

static int
take(struct fit *f, const struct cl_trace_rec *rec, struct cl_err *err)
{
	struct cl_events_sink sink = { .pass = count_pass, .arg = f };
	int status;

	switch (rec->kind) {
	case CL_TRACE_HEAD:
		if (f->over)
			return (cl_fail(err, CL_EINVAL, "it holds several "
			    "traces; pins are chosen by one"));
		if ((status = check(f, rec->head->model, err)) != CL_OK)
			return (status);
		f->events = cl_events_new(f->keys, f->prefill, CL_CELLS_NONE,
		    &sink, err);
		return (f->events == NULL ? err->code : CL_OK);
	case CL_TRACE_SEQ:
		break;
	case CL_TRACE_BLOCK:
		return (cl_events_block(f->events, rec->block, err));
	case CL_TRACE_TRAILER:
		f->over = true;
		f->to->routing = rec->counts->routing;
		f->to->end = rec->counts->end;
		return (cl_events_finish(f->events, err));
	}
	return (CL_OK);
}

static int
read_trace(struct fit *f, struct cl_src *src, struct cl_err *err)
{
	struct cl_trace_reader *reader;
	const struct cl_trace_rec *rec;
	int status;

	if ((reader = cl_trace_reader_new(src, CL_TRACE_CHECK, err)) == NULL)
		return (err->code);
	while ((status = cl_trace_read(reader, &rec, err)) == CL_OK)
		if ((status = take(f, rec, err)) != CL_OK)
			break;
	cl_trace_reader_free(reader);
	cl_events_free(f->events);
	return (status == CL_END ? CL_OK : status);
}

/* Is it a stat stream?  Whatever else it is, a trace reader tells. */
static bool
is_stats(struct cl_src *src)
{
	static const char magic[4] = { 'C', 'L', 'S', '\032' };
	const uint8_t *p;
	size_t n;

	return (cl_src_peek(src, sizeof(magic), &p, &n, NULL) == CL_OK &&
	    n >= sizeof(magic) && memcmp(p, magic, sizeof(magic)) == 0);
}

static int
begin_stats(struct fit *f, const struct cl_stats_conds *conds,
    struct cl_err *err)
{
	const struct cl_stats_cond *c = cl_stats_find(conds,
	    "model_fingerprint");

	if (f->over)
		return (cl_fail(err, CL_EINVAL, "it holds several runs; pins "
		    "are chosen by one"));
	if (c != NULL && c->type == CL_STATS_HASH && c->u != 0 &&
	    f->model->fingerprint != 0 && c->u != f->model->fingerprint)
		return (cl_fail(err, CL_EINVAL, "it is of another model than "
		    "what is replayed"));
	return (CL_OK);
}

static bool
is_use(const struct cl_stats_table *t)
{
	static const char *const names[] = { "layer", "expert", "uses" };
	size_t i, n = sizeof(names) / sizeof(names[0]);

	if (strcmp(t->name, "expert_use") != 0 || t->ncolumns != n)
		return (false);
	for (i = 0; i < n; i++)
		if (t->column[i].type != CL_STATS_U64 ||
		    strcmp(t->column[i].name, names[i]) != 0)
			return (false);
	return (true);
}

static int
take_use(struct fit *f, const struct cl_stats_value *cell, struct cl_err *err)
{
	const struct cl_keys_column *col = f->keys->column;
	uint32_t i;

	for (i = 0; i < f->keys->ncolumns; i++, col++)
		if (cell[0].there && cell[0].u == col->layer)
			break;
	if (i == f->keys->ncolumns || !cell[1].there ||
	    cell[1].u >= col->nexperts)
		return (cl_fail(err, CL_EINVAL, "it has an expert that the "
		    "model has not"));
	f->to->uses[col->base + cell[1].u] = cell[2].u;
	return (CL_OK);
}

static int
take_stats(struct fit *f, const struct cl_stats_rec *rec, bool *found,
    struct cl_err *err)
{

	if (rec->kind == CL_STATS_REC_RUN)
		return (begin_stats(f, rec->conds, err));
	if (rec->kind == CL_STATS_REC_TABLE && is_use(rec->table))
		*found = true;
	else if (rec->kind == CL_STATS_REC_CELLS && is_use(rec->table))
		return (take_use(f, rec->cells, err));
	else if (rec->kind == CL_STATS_REC_TRAILER) {
		f->over = true;
		f->to->routing = rec->end->routing;
		f->to->end = (enum cl_trace_end)rec->end->end;
	}
	return (CL_OK);
}

static int
read_stats(struct fit *f, struct cl_src *src, struct cl_err *err)
{
	struct cl_stats_reader *reader;
	const struct cl_stats_rec *rec;
	bool found = false;
	int status;

	if ((reader = cl_stats_reader_new(src, err)) == NULL)
		return (err->code);
	while ((status = cl_stats_read(reader, &rec, err)) == CL_OK)
		if ((status = take_stats(f, rec, &found, err)) != CL_OK)
			break;
	cl_stats_reader_free(reader);
	if (status == CL_END && !found)
		return (cl_fail(err, CL_EINVAL, "it has no table expert_use; "
		    "cl-replay --stats makes one"));
	return (status == CL_END ? CL_OK : status);
}

/* What there was of it serves, and is told. */
static void
judge(struct replay_fit *fit, const char *path)
{

	if (fit->end == CL_END_COMPLETE || fit->told)
		return;
	fe_warn("static:%s: the trace is %s: experts are chosen by what there "
	    "is of it", path, cl_trace_end_name(fit->end));
	fit->told = true;
}

int
replay_fit(struct replay_fit *to, const char *path, const struct cl_model *m,
    const struct cl_keys *keys, enum cl_prefill prefill, struct cl_err *err)
{
	struct fit f = { .keys = keys, .model = m, .prefill = prefill,
	    .to = to };
	struct cl_err why = { 0 };
	struct cl_src *src;
	int status;

	if ((to->uses = calloc(keys->nkeys, sizeof(*to->uses))) == NULL)
		return (cl_fail_nomem(err, "the pinned experts"));
	if ((src = cl_src_file(path, fe_stop(), &why)) == NULL)
		status = why.code;
	else if (is_stats(src))
		status = read_stats(&f, src, &why);
	else
		status = read_trace(&f, src, &why);
	if (status != CL_OK)
		return (cl_fail(err, status, "static:%s: %s", path, why.msg));
	judge(to, path);
	return (CL_OK);
}
