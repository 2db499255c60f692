/*
 * The files that one model is in.  A split file says in its keys which shard
 * of how many it is, and in its name where the others are: the numbers in
 * "-00002-of-00003.gguf" are changed in the name as it was given, never in
 * what a link leads to, since that may be a blob named by its hash.  Shards
 * must agree on the set that they are of, and no tensor may be in it twice.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/gguf.h"
#include "cl/text.h"
#include "cl/vec.h"

#include "model_int.h"

#define VIS_MAX		80		/* of a name, in messages */
#define ENDING_MAX	48		/* "-00002-of-00003.gguf" */

struct split {				/* what a shard says of itself */
	uint32_t	 no;
	uint32_t	 count;		/* 0 or 1: not split */
	uint32_t	 tensors;	/* of all shards; 0: not said */
};

/* Put the file's name before a message. */
static int
blame(const struct cl_gguf *g, const struct cl_err *own, struct cl_err *err)
{
	struct cl_err named = *own;

	cl_err_prefix(&named, cl_gguf_path(g));
	return (cl_fail(err, named.code, "%s", named.msg));
}

static int
read_split(const struct cl_gguf *g, struct split *s, struct cl_err *err)
{
	int status;

	if ((status = cl_gguf_u32(g, "split.count", 0, &s->count, err)) !=
	    CL_OK ||
	    (status = cl_gguf_u32(g, "split.no", 0, &s->no, err)) != CL_OK ||
	    (status = cl_gguf_u32(g, "split.tensors.count", 0, &s->tensors,
	    err)) != CL_OK)
		return (status);
	if (s->count > CL_MODEL_SHARDS_MAX)
		return (cl_fail(err, CL_EFORMAT, "one of %u shards; at most "
		    "%d are understood", s->count, CL_MODEL_SHARDS_MAX));
	if (s->count > 1 && !cl_gguf_has(g, "split.no"))
		return (cl_fail(err, CL_EFORMAT, "one of %u shards, but no "
		    "key split.no", s->count));
	if (s->no > 0 && s->no >= s->count)
		return (cl_fail(err, CL_EFORMAT, "the key split.no is %u, of "
		    "%u shards that count from 0", s->no, s->count));
	return (CL_OK);
}

/* How the name of shard no ends, counted from 0. */
static const char *
ending(char buf[ENDING_MAX], uint32_t no, uint32_t count)
{

	(void)snprintf(buf, ENDING_MAX, "-%05" PRIu32 "-of-%05" PRIu32
	    ".gguf", no + 1, count);
	return (buf);
}

/* The length of path before its ending. */
static int
stem_length(const char *path, const struct split *s, size_t *n,
    struct cl_err *err)
{
	char buf[ENDING_MAX];
	size_t len = strlen(path), nend = strlen(ending(buf, s->no, s->count));

	if (len < nend || strcmp(path + len - nend, buf) != 0)
		return (cl_fail(err, CL_EINVAL, "shard %u of %u by its keys: "
		    "its name must end in %s, so that the others are found",
		    s->no + 1, s->count, buf));
	*n = len - nend;
	return (CL_OK);
}

/* Shard no, beside the one at path whose stem has n bytes. */
static struct cl_gguf *
open_sibling(const char *path, size_t n, uint32_t no, uint32_t count,
    struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct cl_gguf *g;
	char what[40], *name;

	if ((name = malloc(n + ENDING_MAX)) == NULL) {
		cl_fail_nomem(err, "a file name");
		return (NULL);
	}
	memcpy(name, path, n);
	(void)ending(name + n, no, count);
	if ((g = cl_gguf_open(name, &own)) == NULL) {
		(void)snprintf(what, sizeof(what), "shard %u of %u", no + 1,
		    count);
		cl_err_prefix(&own, what);
		(void)cl_fail(err, own.code, "%s", own.msg);
	}
	free(name);
	return (g);
}

/* The file at path is s->no; find the others. */
static int
open_siblings(struct model_set *set, struct cl_gguf *given,
    const struct split *s, struct cl_err *err)
{
	uint32_t i, n = s->count > 1 ? s->count : 1;
	size_t stem = 0;
	int status;

	if (n > 1 && (status = stem_length(cl_gguf_path(given), s, &stem,
	    err)) != CL_OK)
		return (status);
	if ((set->g = calloc(n, sizeof(*set->g))) == NULL)
		return (cl_fail_nomem(err, "the shards of a model"));
	set->n = n;
	set->g[s->no] = given;
	for (i = 0; i < n; i++)
		if (i != s->no && (set->g[i] = open_sibling(
		    cl_gguf_path(given), stem, i, n, err)) == NULL)
			return (err->code);
	return (CL_OK);
}

/* Both are strings that may be absent: then there is nothing to compare. */
static int
check_key(const struct cl_gguf *a, const struct cl_gguf *b, const char *key,
    struct cl_err *err)
{
	char *x, *y, seen[VIS_MAX], want[VIS_MAX];
	int status = CL_OK;

	if (!cl_gguf_has(a, key) || !cl_gguf_has(b, key))
		return (CL_OK);
	x = cl_gguf_strdup(a, key, "", err);
	y = cl_gguf_strdup(b, key, "", err);
	if (x == NULL || y == NULL)
		status = err->code;
	else if (strcmp(x, y) != 0)
		status = cl_fail(err, CL_EFORMAT, "a shard of another model: "
		    "%s is %s, and in the first shard %s", key,
		    cl_text_vis(seen, sizeof(seen), y, strlen(y)),
		    cl_text_vis(want, sizeof(want), x, strlen(x)));
	free(x);
	free(y);
	return (status);
}

/* Is shard i the one that it was taken for? */
static int
check_shard(const struct model_set *set, uint32_t i, uint32_t tensors,
    struct cl_err *err)
{
	const struct cl_gguf *g = set->g[i];
	struct split s;
	int status;

	if ((status = read_split(g, &s, err)) != CL_OK)
		return (status);
	if (s.count != set->n || s.no != i)
		return (cl_fail(err, CL_EFORMAT, "shard %u of %u by its keys, "
		    "and %u of %u by its name", s.no + 1, s.count, i + 1,
		    set->n));
	if (s.tensors != tensors)
		return (cl_fail(err, CL_EFORMAT, "a shard of another model: "
		    "split.tensors.count is %u, and in the first shard %u",
		    s.tensors, tensors));
	if ((status = check_key(set->g[0], g, "general.architecture",
	    err)) != CL_OK)
		return (status);
	return (check_key(set->g[0], g, "general.name", err));
}

static int
check_shards(const struct model_set *set, struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct split first;
	uint32_t i;

	if (read_split(set->g[0], &first, &own) != CL_OK)
		return (blame(set->g[0], &own, err));
	for (i = 0; i < set->n; i++)
		if (check_shard(set, i, first.tensors, &own) != CL_OK)
			return (blame(set->g[i], &own, err));
	if (first.tensors == 0 || first.tensors == set->ntensors)
		return (CL_OK);
	(void)cl_fail(&own, CL_EFORMAT, "split.tensors.count is %u, and the "
	    "%u shards hold %zu tensors", first.tensors, set->n,
	    set->ntensors);
	return (blame(set->g[0], &own, err));
}

static int
name_order(const void *a, const void *b)
{
	const struct model_tensor *x = a, *y = b;
	int c = strcmp(x->t->name, y->t->name);

	return (c != 0 ? c : (x->shard > y->shard) - (x->shard < y->shard));
}

static int
check_names(const struct model_set *set, struct cl_err *err)
{
	const struct model_tensor *t = set->tensors;
	char name[VIS_MAX];
	size_t i;

	for (i = 1; i < set->ntensors; i++, t++)
		if (strcmp(t[0].t->name, t[1].t->name) == 0)
			return (cl_fail(err, CL_EFORMAT, "the tensor %s stands "
			    "in %s at byte %" PRIu64 " and again in %s at "
			    "byte %" PRIu64, cl_text_vis(name, sizeof(name),
			    t->t->name, strlen(t->t->name)),
			    cl_gguf_path(set->g[t[0].shard]), t[0].t->at,
			    cl_gguf_path(set->g[t[1].shard]), t[1].t->at));
	return (CL_OK);
}

static int
list_tensors(struct model_set *set, struct cl_err *err)
{
	struct model_tensor *to;
	size_t i, n = 0;
	uint32_t s;

	for (s = 0; s < set->n; s++)
		n += cl_gguf_ntensors(set->g[s]);
	if (n == 0)
		return (CL_OK);
	if ((to = calloc(n, sizeof(*to))) == NULL)
		return (cl_fail_nomem(err, "the tensors of a model"));
	set->tensors = to;
	set->ntensors = n;
	for (s = 0; s < set->n; s++)
		for (i = 0; i < cl_gguf_ntensors(set->g[s]); i++, to++) {
			to->t = cl_gguf_tensor(set->g[s], i);
			to->shard = s;
		}
	if (set->n > 1)
		qsort(set->tensors, n, sizeof(*to), name_order);
	return (CL_OK);
}

int
cl_model_set_open(struct model_set *set, const char *path, struct cl_err *err)
{
	struct cl_err own = { 0 };
	struct cl_gguf *given;
	struct split s;
	int status;

	memset(set, 0, sizeof(*set));
	if ((given = cl_gguf_open(path, err)) == NULL)
		return (err->code);
	if (read_split(given, &s, &own) != CL_OK ||
	    open_siblings(set, given, &s, &own) != CL_OK) {
		status = blame(given, &own, err);
		if (set->g == NULL)
			cl_gguf_close(given);
	} else if ((status = list_tensors(set, err)) == CL_OK && set->n > 1 &&
	    (status = check_shards(set, err)) == CL_OK) {
		status = check_names(set, err);
	}
	if (status != CL_OK)
		cl_model_set_close(set);
	return (status);
}

void
cl_model_set_close(struct model_set *set)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		cl_gguf_close(set->g[i]);
	free(set->g);
	free(set->tensors);
	memset(set, 0, sizeof(*set));
}

int
cl_model_set_read(const struct model_set *set, const struct model_tensor *t,
    uint64_t off, void *buf, size_t n, struct cl_err *err)
{
	const struct cl_gguf *g = set->g[t->shard];
	struct cl_err own = { 0 };

	if (cl_gguf_read(g, t->t->off + off, buf, n, &own) == CL_OK)
		return (CL_OK);
	if (set->n > 1)
		return (blame(g, &own, err));
	return (cl_fail(err, own.code, "%s", own.msg));
}
