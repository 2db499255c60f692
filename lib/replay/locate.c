/*
 * Places are tried in order.  A model that is there and is another one does
 * not end the search, but is what the error tells of: it is the likelier
 * mistake.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/locate.h"
#include "cl/model.h"
#include "cl/trace.h"
#include "cl/vec.h"

/* `path` without its folders. */
static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash == NULL ? path : slash + 1);
}

/* The file called like path in the folder of trace; the caller's to free. */
static char *
beside(const char *trace, const char *path, struct cl_err *err)
{
	size_t n = (size_t)(base_name(trace) - trace), cap;
	char *s;

	cap = n + strlen(base_name(path)) + 1;
	if ((s = malloc(cap)) == NULL) {
		cl_fail_nomem(err, "a file name");
		return (NULL);
	}
	(void)snprintf(s, cap, "%.*s%s", (int)n, trace, base_name(path));
	return (s);
}

/*
 * Have both the same experts in the same layers?  A recording may know better
 * than the file which layers are extra.
 */
static bool
same_layers(const struct cl_model *a, const struct cl_model *b, bool extra)
{
	uint32_t i;

	if (a->nlayers != b->nlayers)
		return (false);
	for (i = 0; i < a->nlayers; i++)
		if (a->layers[i].nexperts != b->layers[i].nexperts ||
		    (extra && a->layers[i].extra != b->layers[i].extra))
			return (false);
	return (true);
}

/* Do their experts have the same bytes? */
static bool
same_bytes(const struct cl_model *a, const struct cl_model *b)
{
	uint32_t i;

	for (i = 0; i < a->nlayers; i++)
		if (a->layers[i].expert_bytes != b->layers[i].expert_bytes)
			return (false);
	return (true);
}

/*
 * A trace may claim any fingerprint: what it says of experts sizes the buffers
 * that the model's own are read into, and is held against them.
 */
static int
match(const struct cl_model *want, const struct cl_model *m, const char *path,
    struct cl_err *err)
{

	if (want->fingerprint == 0)
		return (same_layers(want, m, true) ? CL_OK : cl_fail(err,
		    CL_EINVAL, "%s: its layers and experts are not those of "
		    "the trace", path));
	if (want->fingerprint != m->fingerprint)
		return (cl_fail(err, CL_EINVAL, "%s: not the model of the "
		    "trace: its fingerprint is %016llx, and the trace's "
		    "%016llx", path, (unsigned long long)m->fingerprint,
		    (unsigned long long)want->fingerprint));
	if (!same_layers(want, m, false) || !same_bytes(want, m))
		return (cl_fail(err, CL_EFORMAT, "%s: the trace has this "
		    "model's fingerprint, and other experts, or experts of "
		    "other bytes", path));
	return (CL_OK);
}

/* The model at path if it is there and the right one; else err may say why. */
static struct cl_model *
try(const char *path, const struct cl_model *want, struct cl_err *err)
{
	struct cl_model *m;

	if (path == NULL || *path == '\0' || access(path, F_OK) != 0)
		return (NULL);
	if ((m = cl_model_open(path, err)) == NULL)
		return (NULL);
	if (match(want, m, path, err) == CL_OK)
		return (m);
	cl_model_free(m);
	return (NULL);
}

struct cl_model *
cl_locate_model(const struct cl_trace_head *head, const char *trace,
    const char *given, struct cl_err *err)
{
	const struct cl_model *want = head->model;
	const char *path = want->nshards > 0 ? want->shards[0].path : NULL;
	struct cl_err why = { 0 };
	struct cl_model *m;
	char *near = NULL;

	if (path != NULL && trace != NULL &&
	    (near = beside(trace, path, err)) == NULL)
		return (NULL);
	if ((m = try(path, want, &why)) == NULL &&
	    (m = try(near, want, &why)) == NULL)
		m = try(given, want, &why);
	if (m != NULL || why.code != CL_OK)
		goto done;
	if (given != NULL)
		cl_fail(&why, CL_EINVAL, "%s: no such model", given);
	else if (path == NULL)
		cl_fail(&why, CL_EINVAL, "the trace names no model to read "
		    "from; give --model FILE, or --io none to count without "
		    "reading");
	else
		cl_fail(&why, CL_EINVAL, "the model %s is neither there nor "
		    "beside the trace; give --model FILE, or --io none to "
		    "count without reading", path);
done:
	if (m == NULL)
		cl_fail(err, why.code, "%s", why.msg);
	free(near);
	return (m);
}
