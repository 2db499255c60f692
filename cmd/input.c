/*
 * Traces out of whatever holds them.  The first bytes tell an archive from a
 * trace, never the name.
 */

#include <sys/stat.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/err.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/vec.h"
#include "cl/zio.h"
#include "corpus.h"
#include "fe.h"
#include "input.h"

struct input {
	char		*path;		/* without the glob */
	const char	*glob;		/* in the operand, or NULL */
	char		*name;
	bool		 pipe;
	uint64_t	 off;		/* of stdin, where it is a file */
	bool		 quiet;		/* what is not read has been said */
	bool		 looked;	/* src or pack is what it is */
	struct cl_src	*src;		/* not given away yet */
	struct cl_pack	*pack;		/* NULL: a trace */
	const char	*member;
	uint64_t	 nfound;
};

static bool
is_there(const char *path)
{

	return (strcmp(path, "-") == 0 || access(path, F_OK) == 0);
}

/* The path in an operand, the caller's to free; *glob: what is behind it. */
static char *
split(const char *operand, const char **glob)
{
	struct cl_err err = { 0 };
	const char *colon = operand;
	char *path;

	*glob = NULL;
	while (!is_there(operand) &&
	    (colon = strchr(colon + 1, ':')) != NULL) {
		path = cl_vec_strndup(operand, (size_t)(colon - operand),
		    &err);
		if (path == NULL)
			fe_die(&err);
		if (is_there(path)) {
			*glob = colon + 1;
			return (path);
		}
		free(path);
	}
	if ((path = cl_vec_strndup(operand, strlen(operand), &err)) == NULL)
		fe_die(&err);
	return (path);
}

void
input_check(char *const *operands, int n)
{
	const char *glob;
	char *path;
	int i;

	for (i = 0; i < n; i++) {
		path = split(operands[i], &glob);
		fe_check_inputs(&path, 1);
		free(path);
	}
}

/* Look what the input is, and if it is an archive, read it as one. */
static int
look(struct input *in, struct cl_err *err)
{
	int is_archive = cl_pack_probe(in->src, err);
	struct cl_src *src = in->src;

	in->looked = true;
	if (is_archive < 0)
		return (is_archive);
	if (is_archive == 0 && in->glob != NULL)
		return (cl_fail(err, CL_EFORMAT, "%s: no archive, so that "
		    "\"%s\" selects nothing in it", in->name, in->glob));
	if (is_archive == 0)
		return (CL_OK);
	in->src = NULL;
	in->pack = cl_pack_open(src, err);
	return (in->pack == NULL ? err->code : CL_OK);
}

struct input *
input_open(const char *operand)
{
	struct cl_err err = { 0 };
	struct input *in;
	struct stat st;
	const char *name;

	if ((in = calloc(1, sizeof(*in))) == NULL) {
		cl_fail_nomem(&err, "an input");
		fe_die(&err);
	}
	in->path = split(operand, &in->glob);
	in->src = fe_input(in->path);
	name = cl_src_name(in->src);
	if ((in->name = cl_vec_strndup(name, strlen(name), &err)) == NULL)
		fe_die(&err);
	in->pipe = (input_path(in) == NULL ? fstat(STDIN_FILENO, &st) :
	    stat(in->path, &st)) != 0 || !S_ISREG(st.st_mode);
	if (!in->pipe && input_path(in) == NULL)
		in->off = (uint64_t)lseek(STDIN_FILENO, 0, SEEK_CUR);
	return (in);
}

struct input *
input_again(const struct input *first, struct cl_err *err)
{
	struct input *in;

	if (first->pipe) {
		(void)cl_fail(err, CL_ENOTSUP, "%s: a pipe cannot be read "
		    "again", first->name);
		return (NULL);
	}
	if ((in = calloc(1, sizeof(*in))) == NULL) {
		cl_fail_nomem(err, "an input");
		return (NULL);
	}
	in->glob = first->glob;
	in->quiet = true;
	in->path = cl_vec_strndup(first->path, strlen(first->path), err);
	in->name = cl_vec_strndup(first->name, strlen(first->name), err);
	if (in->path != NULL && in->name != NULL)
		in->src = input_path(in) == NULL ?
		    cl_src_fd_from(STDIN_FILENO, first->off, in->name,
		    fe_stop(), err) : cl_src_file(in->path, fe_stop(), err);
	if (in->src != NULL)
		return (in);
	input_close(in);
	return (NULL);
}

/* Is the member a trace, by its name or else by its first bytes? */
static int
is_trace(const char *member, struct cl_src *src, struct cl_err *err)
{

	if (corpus_is_trace(member))
		return (1);
	return (cl_zio_probe(src, err));
}

static int
take_member(struct input *in, const struct cl_pack_member *m,
    struct cl_src **src, struct cl_err *err)
{
	int take = 1;

	if (m->other != NULL) {
		if (!m->folder && !in->quiet)
			fe_warn("%s:%s: %s: not read", in->name, m->name,
			    m->other);
		return (0);
	}
	if (in->glob != NULL && (fnmatch(in->glob, m->name, 0) != 0 ||
	    corpus_is_ours(m->name)))
		return (0);
	if ((*src = cl_pack_read(in->pack, err)) == NULL)
		return (err->code);
	if (in->glob == NULL)
		take = is_trace(m->name, *src, err);
	if (take != 1)
		cl_src_close(*src);
	if (take == 0 && !in->quiet && !corpus_is_ours(m->name))
		fe_warn("%s:%s: no trace: not read", in->name, m->name);
	return (take);
}

static int
next_member(struct input *in, struct cl_src **src, struct cl_err *err)
{
	const struct cl_pack_member *m;
	int status;

	while ((status = cl_pack_next(in->pack, &m, err)) == CL_OK) {
		if ((status = take_member(in, m, src, err)) < 0)
			return (status);
		if (status == 1) {
			in->member = m->name;
			in->nfound++;
			return (CL_OK);
		}
	}
	if (status != CL_END || in->nfound > 0)
		return (status);
	if (in->glob != NULL)
		return (cl_fail(err, CL_EFORMAT, "%s: no member matches "
		    "\"%s\"", in->name, in->glob));
	return (cl_fail(err, CL_EFORMAT, "%s: no trace among its members",
	    in->name));
}

int
input_next(struct input *in, struct cl_src **src, struct cl_err *err)
{
	int status;

	in->member = NULL;
	if (!in->looked && (status = look(in, err)) != CL_OK)
		return (status);
	if (in->pack != NULL)
		return (next_member(in, src, err));
	*src = in->src;
	in->src = NULL;
	return (*src != NULL ? CL_OK : CL_END);
}

const char *
input_member(const struct input *in)
{

	return (in->member);
}

const char *
input_name(const struct input *in)
{

	return (in->name);
}

const char *
input_path(const struct input *in)
{

	return (strcmp(in->path, "-") == 0 ? NULL : in->path);
}

bool
input_pipe(const struct input *in)
{

	return (in->pipe);
}

void
input_close(struct input *in)
{

	cl_pack_close(in->pack);
	cl_src_close(in->src);
	free(in->path);
	free(in->name);
	free(in);
}
