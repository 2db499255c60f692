/*
 * The head of a trace as a value, the names of its numbers, and the routing
 * fingerprint, which writer and reader compute over the same block.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/model.h"
#include "cl/trace.h"
#include "cl/vec.h"
#include "trace_int.h"

static const char *const origin_names[] = { NULL, "recorded", "SYNTHETIC",
    "imported", "edited" };
static const char *const end_names[] = { NULL, "complete", "incomplete",
    "interrupted" };
static const char *const scores_names[] = { "ids", "f16", "f32" };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct cl_trace_head *
cl_trace_head_new(struct cl_model *model, struct cl_err *err)
{
	struct cl_trace_head *h;

	if ((h = calloc(1, sizeof(*h))) == NULL) {
		cl_fail_nomem(err, "the head of a trace");
		cl_model_free(model);
		return (NULL);
	}
	h->origin = CL_ORIGIN_IMPORTED;
	h->block_tokens = CL_TRACE_BLOCK_BULK;
	h->model = model;
	return (h);
}

static struct cl_trace_note *
find_note(const struct cl_trace_head *h, const char *key)
{
	uint32_t i;

	for (i = 0; i < h->nnotes; i++)
		if (strcmp(h->notes[i].key, key) == 0)
			return (&h->notes[i]);
	return (NULL);
}

int
cl_trace_head_note(struct cl_trace_head *h, const char *key,
    const char *value, struct cl_err *err)
{
	struct cl_trace_note *note = find_note(h, key), *notes;
	char *v, *k;

	if (note == NULL && h->nnotes == CL_TRACE_NOTES_MAX)
		return (cl_fail(err, CL_EINVAL, "a trace with more than %d "
		    "notes", CL_TRACE_NOTES_MAX));
	if ((v = cl_vec_strndup(value, strlen(value), err)) == NULL)
		return (CL_ENOMEM);
	if (note != NULL) {
		free(note->value);
		note->value = v;
		return (CL_OK);
	}
	if ((k = cl_vec_strndup(key, strlen(key), err)) == NULL)
		goto free_value;
	notes = realloc(h->notes, (h->nnotes + 1) * sizeof(*notes));
	if (notes == NULL)
		goto free_key;
	h->notes = notes;
	h->notes[h->nnotes++] = (struct cl_trace_note){ k, v };
	return (CL_OK);

free_key:
	free(k);
free_value:
	free(v);
	return (cl_fail_nomem(err, "a note"));
}

const char *
cl_trace_head_find(const struct cl_trace_head *h, const char *key)
{
	const struct cl_trace_note *note = find_note(h, key);

	return (note == NULL ? NULL : note->value);
}

const char *
cl_trace_head_text(const struct cl_trace_head *h, char *buf, size_t cap)
{
	static const char more[] = "...";
	size_t n = 0;
	uint32_t i;
	int put;

	buf[0] = '\0';
	for (i = 0; i < h->nnotes && n < cap; i++) {
		put = snprintf(buf + n, cap - n, "%s%s=%s", i == 0 ? "" : " ",
		    h->notes[i].key, h->notes[i].value);
		n += put < 0 ? 0 : (size_t)put;
	}
	if (n >= cap && cap > sizeof(more))
		memcpy(buf + cap - sizeof(more), more, sizeof(more));
	return (buf);
}

void
cl_trace_head_free(struct cl_trace_head *h)
{
	uint32_t i;

	if (h == NULL)
		return;
	for (i = 0; i < h->nnotes; i++) {
		free(h->notes[i].key);
		free(h->notes[i].value);
	}
	free(h->notes);
	cl_model_free(h->model);
	free(h);
}

int
cl_trace_layers(const struct cl_model *m, uint32_t **layers,
    uint32_t *nlayers, struct cl_err *err)
{
	uint32_t i, n = 0, *p;

	if ((p = calloc(m->nlayers, sizeof(*p))) == NULL)
		return (cl_fail_nomem(err, "a list of layers"));
	for (i = 0; i < m->nlayers; i++)
		if (m->layers[i].nexperts > 0 && !m->layers[i].extra)
			p[n++] = i;
	*layers = p;
	*nlayers = n;
	return (CL_OK);
}

const char *
cl_trace_origin_name(enum cl_trace_origin o)
{

	return ((size_t)o < COUNT(origin_names) ? origin_names[o] : NULL);
}

const char *
cl_trace_end_name(enum cl_trace_end e)
{

	return ((size_t)e < COUNT(end_names) ? end_names[e] : NULL);
}

const char *
cl_trace_scores_name(enum cl_trace_scores s)
{

	return ((size_t)s < COUNT(scores_names) ? scores_names[s] : NULL);
}

uint8_t
cl_trace_token_flags(const struct cl_trace_token *t)
{

	return ((uint8_t)((t->decode ? TRACE_TOKEN_DECODE : 0) |
	    (t->padding ? TRACE_TOKEN_PADDING : 0) |
	    (t->begins ? TRACE_TOKEN_BEGINS : 0)));
}

unsigned
cl_trace_score_bytes(enum cl_trace_scores s)
{

	return (s == CL_SCORES_F32 ? 4 : (s == CL_SCORES_F16 ? 2 : 0));
}

static void
put(uint8_t *p, uint32_t v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* The cell of token t in one column, in pieces that need no memory. */
static void
routing_cell(struct cl_hash *h, const struct cl_trace_column *c, uint32_t t)
{
	uint8_t piece[64];
	uint32_t i;
	size_t n = 6;

	put(piece, c->layer, 4);
	put(piece + 4, c->first[t + 1] - c->first[t], 2);
	for (i = c->first[t]; i < c->first[t + 1]; i++) {
		put(piece + n, c->ids[i], 2);
		if ((n += 2) == sizeof(piece)) {
			cl_hash_add(h, piece, n);
			n = 0;
		}
	}
	cl_hash_add(h, piece, n);
}

void
cl_trace_routing_add(struct cl_hash *h, const struct cl_trace_block *b)
{
	const struct cl_trace_column *c;
	uint8_t piece[9];
	uint32_t t, i;

	for (t = 0; t < b->ntokens; t++) {
		put(piece, b->tokens[t].seq, 4);
		put(piece + 4, b->tokens[t].pos, 4);
		piece[8] = cl_trace_token_flags(&b->tokens[t]);
		cl_hash_add(h, piece, sizeof(piece));
		for (i = 0; i < b->ncolumns; i++) {
			c = &b->columns[i];
			if (c->first[t] != c->first[t + 1])
				routing_cell(h, c, t);
		}
	}
}
