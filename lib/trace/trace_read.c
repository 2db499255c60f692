/*
 * The reader: a state for each place in a stream of traces.  All input is
 * checked here or below; what the caller sees obeys cl-trace(5).  A failure is
 * kept and told again at every later call.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/cur.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "cl/rec.h"
#include "cl/src.h"
#include "cl/trace_read.h"
#include "cl/vec.h"
#include "cl/zio.h"
#include "trace_int.h"

#define SNIFF	512			/* tar's magic is at byte 257 */

struct cl_trace_reader {
	struct cl_src	*src;		/* as given, then decoded */
	unsigned	 wants;
	enum {
		UNOPENED,		/* compressed bytes not looked at yet */
		BETWEEN,		/* a preamble or the end is due */
		INSIDE			/* HEAD has been read */
	}		 state;
	struct cl_err	 err;		/* the first failure */
	struct cl_err	 next;		/* what is wrong behind this trace */
	uint64_t	 ntraces;	/* begun */
	struct cl_trace_head *head;
	struct cl_trace_decoder *decoder;
	struct cl_trace_counts seen;
	struct cl_trace_counts trailer;
	struct cl_hash	 routing;
	bool		 hashed;	/* routing covers all blocks so far */
	char		*name;		/* of a sequence */
	size_t		 name_cap;
	struct cl_trace_rec rec;
};

struct cl_trace_reader *
cl_trace_reader_new(struct cl_src *src, unsigned wants, struct cl_err *err)
{
	struct cl_trace_reader *r;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		cl_fail_nomem(err, "a trace reader");
		cl_src_close(src);
		return (NULL);
	}
	r->src = src;
	r->wants = wants;
	return (r);
}

/* Not zstd data: say what it is instead, where that can be told. */
static int
refuse_raw(struct cl_src *src, struct cl_err *err)
{
	static const struct {
		const char *magic, *text;
		size_t at;
	} known[] = {
		{ "CLT\x1a", "a trace that is not compressed (zstd does it)",
		    0 },
		{ "CLS\x1a", "a stat stream, and a router trace is wanted",
		    0 },
		{ "GGUF", "a GGUF model, and a router trace is wanted", 0 },
		{ "PK\x03\x04", "a zip archive; give the trace in it", 0 },
		{ "7z\xbc\xaf", "a 7z archive; give the trace in it", 0 },
		{ "ustar", "a tar archive; give the trace in it", 257 },
		{ "\x1f\x8b", "gzip data, and traces are zstd data", 0 },
		{ "\xfd" "7zXZ", "xz data, and traces are zstd data", 0 },
		{ "# cl-trace", "a trace dumped as text; load it first", 0 },
	};
	const char *name = cl_src_name(src);
	const uint8_t *p;
	size_t n, len, i;
	int status;

	if ((status = cl_src_peek(src, SNIFF, &p, &n, err)) != CL_OK)
		return (status);
	if (n == 0)
		return (cl_fail(err, CL_ECUT, "%s: empty input, no trace",
		    name));
	if (n < 4)
		return (cl_fail(err, CL_ECUT, "%s: %zu byte%s of input, no "
		    "trace", name, n, n == 1 ? "" : "s"));
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		len = strlen(known[i].magic);
		if (n >= known[i].at + len &&
		    memcmp(p + known[i].at, known[i].magic, len) == 0)
			return (cl_fail(err, CL_EFORMAT, "%s: this is %s",
			    name, known[i].text));
	}
	return (cl_fail(err, CL_EFORMAT, "%s: not a router trace: no zstd "
	    "data", name));
}

static int
open_zstd(struct cl_trace_reader *r)
{
	struct cl_src *raw = r->src;
	int is_zstd = cl_zio_probe(raw, &r->err);

	if (is_zstd != 1)
		return (is_zstd < 0 ? is_zstd : refuse_raw(raw, &r->err));
	r->src = cl_zio_reader(raw, &r->err);
	r->state = BETWEEN;
	return (r->src == NULL ? r->err.code : CL_OK);
}

/* "NAME: trace 2: " in front of whatever is wrong with it. */
static int
fail_at(struct cl_trace_reader *r, const struct cl_err *why)
{
	char where[48] = "";

	if (r->ntraces > 1)
		(void)snprintf(where, sizeof(where), "trace %llu: ",
		    (unsigned long long)r->ntraces);
	return (cl_fail(&r->err, why->code, "%s: %s%s",
	    cl_src_name(r->src), where, why->msg));
}

/* The input stops: say after which token, which is what a reader has got. */
static int
fail_cut(struct cl_trace_reader *r)
{
	struct cl_err why = { 0 };

	if (r->seen.tokens == 0)
		(void)cl_fail(&why, CL_ECUT, "incomplete: ends before its "
		    "first token");
	else
		(void)cl_fail(&why, CL_ECUT, "incomplete: ends after token "
		    "%llu", (unsigned long long)r->seen.tokens);
	return (fail_at(r, &why));
}

/* What is wrong with a record, by its place in the decoded bytes. */
static int
fail_record(struct cl_trace_reader *r, const struct cl_rec *rec,
    const struct cl_err *why)
{
	static const char *const names[] = { NULL, "HEAD", "LAYER",
	    "SEQUENCE", "BLOCK", "TRAILER" };
	struct cl_err at = { 0 };

	(void)cl_fail(&at, why->code, "byte %llu: %s record: %s",
	    (unsigned long long)rec->off, names[rec->type], why->msg);
	return (fail_at(r, &at));
}

/*
 * The next record that is not to be skipped.  Messages of the framing name
 * the input already; what damaged input has cost is added to them.
 */
static int
next_record(struct cl_trace_reader *r, struct cl_rec *rec)
{
	struct cl_err why = { 0 };
	int status;

	for (;;) {
		status = cl_rec_next(r->src, rec, &why);
		if (status == CL_ECUT)
			return (fail_cut(r));
		if (status != CL_OK)
			return (cl_fail(&r->err, status, "%s (after token "
			    "%llu)", why.msg,
			    (unsigned long long)r->seen.tokens));
		r->seen.records++;
		if (rec->type >= TRACE_HEAD && rec->type <= TRACE_TRAILER)
			return (CL_OK);
		if ((rec->type & CL_REC_OPTIONAL) == 0 ||
		    r->seen.records == 1) {
			(void)cl_fail(&why, CL_ENOTSUP, "byte %llu: a record "
			    "of unknown type %u",
			    (unsigned long long)rec->off, rec->type);
			return (fail_at(r, &why));
		}
	}
}

static int
unexpected(struct cl_trace_reader *r, const struct cl_rec *rec,
    const char *wanted)
{
	struct cl_err why = { 0 };

	(void)cl_fail(&why, CL_EFORMAT, "not expected here, where %s is "
	    "wanted", wanted);
	return (fail_record(r, rec, &why));
}

static int
read_layers(struct cl_trace_reader *r)
{
	struct cl_model *m = r->head->model;
	struct cl_err why = { 0 };
	struct cl_rec rec;
	uint32_t i;
	int status;

	for (i = 0; i < m->nlayers; i++) {
		if ((status = next_record(r, &rec)) != CL_OK)
			return (status);
		if (rec.type != TRACE_LAYER)
			return (unexpected(r, &rec, "a LAYER record"));
		if (cl_trace_get_layer(&rec, i, m, &why) != CL_OK)
			return (fail_record(r, &rec, &why));
	}
	if (cl_model_check(m, &why) != CL_OK)
		return (fail_at(r, &why));
	return (CL_OK);
}

static void
forget_trace(struct cl_trace_reader *r)
{

	cl_trace_decoder_free(r->decoder);
	r->decoder = NULL;
	cl_trace_head_free(r->head);
	r->head = NULL;
	memset(&r->seen, 0, sizeof(r->seen));
}

/* CL_OK where another trace begins, CL_END where the stream is over. */
static int
find_trace(struct cl_trace_reader *r)
{
	struct cl_err why = { 0 };
	const uint8_t *p;
	size_t n;
	int status;

	why = r->next;
	if ((status = why.code) == CL_OK)
		status = cl_src_peek(r->src, 1, &p, &n, &why);
	if (status == CL_OK && n == 0 && r->ntraces > 0)
		return (CL_END);
	forget_trace(r);
	if (status == CL_OK && n == 0)
		return (cl_fail(&r->err, CL_ECUT, "%s: empty zstd data, no "
		    "trace", cl_src_name(r->src)));
	r->ntraces++;
	if (status == CL_OK)
		status = cl_rec_open(r->src, CL_REC_TRACE, &why);
	if (status == CL_ECUT)
		return (fail_cut(r));
	return (status == CL_OK ? CL_OK :
	    cl_fail(&r->err, status, "%s", why.msg));
}

/* A preamble, HEAD and its layers; CL_END at the end of a whole stream. */
static int
read_head(struct cl_trace_reader *r)
{
	struct cl_err why = { 0 };
	struct cl_rec rec;
	int status;

	if ((status = find_trace(r)) != CL_OK)
		return (status);
	if ((status = next_record(r, &rec)) != CL_OK)
		return (status);
	if (rec.type != TRACE_HEAD)
		return (unexpected(r, &rec, "a HEAD record"));
	if ((r->head = cl_trace_get_head(&rec, &why)) == NULL)
		return (fail_record(r, &rec, &why));
	if ((status = read_layers(r)) != CL_OK)
		return (status);
	if ((r->decoder = cl_trace_decoder_new(r->head, &r->err)) == NULL)
		return (r->err.code);
	cl_hash_init(&r->routing);
	r->hashed = true;
	r->state = INSIDE;
	r->rec.kind = CL_TRACE_HEAD;
	r->rec.head = r->head;
	return (CL_OK);
}

static int
read_sequence(struct cl_trace_reader *r, const struct cl_rec *rec,
    struct cl_err *why)
{
	struct cl_cur c;
	const char *s;
	uint32_t seq;
	size_t n;

	cl_cur_init(&c, rec->data, rec->len);
	seq = cl_cur_u32(&c);
	n = cl_cur_str(&c, &s);
	if (!cl_cur_ok(&c) || cl_cur_left(&c) != 0)
		return (cl_fail(why, CL_EFORMAT, "its fields do not fit its "
		    "length"));
	if (seq != r->seen.sequences || r->seen.sequences == UINT32_MAX)
		return (cl_fail(why, CL_EFORMAT, "sequence %u where sequence "
		    "%llu is due", seq,
		    (unsigned long long)r->seen.sequences));
	if (cl_vec_grow(&r->name, &r->name_cap, n + 1, 1, why) != CL_OK)
		return (CL_ENOMEM);
	memcpy(r->name, s, n);
	r->name[n] = '\0';
	r->seen.sequences++;
	r->rec.kind = CL_TRACE_SEQ;
	r->rec.seq = seq;
	r->rec.name = r->name;
	return (CL_OK);
}

static int
read_block(struct cl_trace_reader *r, const struct cl_rec *rec,
    struct cl_err *why)
{
	struct cl_trace_counts counts = r->seen;
	int status;

	status = cl_trace_decode(r->decoder, rec, r->wants, &counts,
	    &r->rec.block, why);
	if (status != CL_OK)
		return (status);
	r->seen = counts;
	r->hashed &= (r->wants & CL_TRACE_CHECK) != 0 &&
	    (r->wants & CL_TRACE_SKIM) == 0;
	if (r->hashed)
		cl_trace_routing_add(&r->routing, r->rec.block);
	r->rec.kind = CL_TRACE_BLOCK;
	return (CL_OK);
}

/* The trailer's counts against those of the records read. */
static int
check_counts(const struct cl_trace_counts *said,
    const struct cl_trace_counts *seen, struct cl_err *why)
{
	const struct {
		const char *name;
		uint64_t said, seen;
	} all[] = {
		{ "records", said->records, seen->records },
		{ "sequences", said->sequences, seen->sequences },
		{ "tokens", said->tokens, seen->tokens },
		{ "passes", said->passes, seen->passes },
		{ "cells", said->cells, seen->cells },
		{ "experts chosen", said->choices, seen->choices },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].said != all[i].seen)
			return (cl_fail(why, CL_EFORMAT, "%llu %s announced, "
			    "%llu read", (unsigned long long)all[i].said,
			    all[i].name, (unsigned long long)all[i].seen));
	if (said->mismatches > said->cells)
		return (cl_fail(why, CL_EFORMAT, "more mismatches than "
		    "cells"));
	return (CL_OK);
}

static int
read_trailer(struct cl_trace_reader *r, const struct cl_rec *rec,
    struct cl_err *why)
{
	struct cl_trace_counts *t = &r->trailer;
	uint64_t zero, routing = cl_hash_end(&r->routing);
	struct cl_cur c;
	int status;

	cl_cur_init(&c, rec->data, rec->len);
	t->end = (enum cl_trace_end)cl_cur_u8(&c);
	zero = cl_cur_uint(&c, 7);
	t->records = cl_cur_u64(&c);
	t->sequences = cl_cur_u64(&c);
	t->tokens = cl_cur_u64(&c);
	t->passes = cl_cur_u64(&c);
	t->cells = cl_cur_u64(&c);
	t->choices = cl_cur_u64(&c);
	t->mismatches = cl_cur_u64(&c);
	t->routing = cl_cur_u64(&c);
	if (!cl_cur_ok(&c) || cl_cur_left(&c) != 0)
		return (cl_fail(why, CL_EFORMAT, "its fields do not fit its "
		    "length"));
	if (cl_trace_end_name(t->end) == NULL || zero != 0)
		return (cl_fail(why, CL_EFORMAT, "an unknown kind of end, or "
		    "reserved bytes that are not 0"));
	if ((status = check_counts(t, &r->seen, why)) != CL_OK)
		return (status);
	if ((r->wants & CL_TRACE_CHECK) != 0 && r->hashed &&
	    t->routing != routing)
		return (cl_fail(why, CL_EFORMAT, "routing fingerprint "
		    "%016llx recorded, %016llx recomputed",
		    (unsigned long long)t->routing,
		    (unsigned long long)routing));
	r->state = BETWEEN;
	r->rec.kind = CL_TRACE_TRAILER;
	r->rec.counts = t;
	return (CL_OK);
}

/*
 * A trace is whole only if its compressed data are, checksum and all: look
 * behind it before saying so.  What is wrong there, and not with the frame
 * that the trace ends in, is told when the next trace is due.
 */
static int
look_ahead(struct cl_trace_reader *r)
{
	const uint8_t *p;
	size_t n;
	int status = cl_src_peek(r->src, 1, &p, &n, &r->next);

	if (status == CL_OK || cl_zio_settled(r->src))
		return (CL_OK);
	return (status == CL_ECUT ? fail_cut(r) :
	    cl_fail(&r->err, status, "%s", r->next.msg));
}

static int
read_inside(struct cl_trace_reader *r)
{
	struct cl_err why = { 0 };
	struct cl_rec rec;
	int status;

	if ((status = next_record(r, &rec)) != CL_OK)
		return (status);
	switch (rec.type) {
	case TRACE_SEQUENCE:
		status = read_sequence(r, &rec, &why);
		break;
	case TRACE_BLOCK:
		status = read_block(r, &rec, &why);
		break;
	case TRACE_TRAILER:
		status = read_trailer(r, &rec, &why);
		break;
	default:
		return (unexpected(r, &rec, "a SEQUENCE, BLOCK or TRAILER"));
	}
	if (status != CL_OK)
		return (fail_record(r, &rec, &why));
	return (rec.type == TRACE_TRAILER ? look_ahead(r) : CL_OK);
}

int
cl_trace_read(struct cl_trace_reader *r, const struct cl_trace_rec **rec,
    struct cl_err *err)
{
	int status = r->err.code;

	if (status == CL_OK && r->state == UNOPENED)
		status = open_zstd(r);
	if (status == CL_OK)
		status = r->state == BETWEEN ? read_head(r) : read_inside(r);
	*rec = &r->rec;
	if (status < 0)
		return (cl_fail(err, status, "%s", r->err.msg));
	return (status);
}

void
cl_trace_reader_want(struct cl_trace_reader *r, unsigned wants)
{

	r->wants = wants;
}

uint64_t
cl_trace_reader_tokens(const struct cl_trace_reader *r)
{

	return (r->seen.tokens);
}

uint64_t
cl_trace_reader_wait_ns(const struct cl_trace_reader *r)
{

	return (r->src == NULL ? 0 : cl_src_wait_ns(r->src));
}

void
cl_trace_reader_free(struct cl_trace_reader *r)
{

	if (r == NULL)
		return;
	forget_trace(r);
	cl_src_close(r->src);
	free(r->name);
	free(r);
}
