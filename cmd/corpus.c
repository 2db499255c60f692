/*
 * An archive of traces: cl-archive(5).  Members are spooled, since a tar wants
 * their sizes first; a trace is read whole out of its spool before it is
 * written, so that what is in an archive was a trace.
 */

#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/info.h"
#include "cl/json.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/trace_read.h"
#include "cl/vec.h"
#include "corpus.h"
#include "fe.h"

struct corpus {
	struct cl_pack_writer *pack;
	struct corpus_list list;
};

char *
corpus_name(const char *of, const char *drop, const char *suffix)
{
	struct cl_err err = { 0 };
	size_t n = strlen(of), ndrop = strlen(drop);
	const char *p;
	char *name;

	for (p = of; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			fe_misuse("%s: a control character in the name of a "
			    "member", of);
	if (n > ndrop && strcmp(of + n - ndrop, drop) == 0)
		n -= ndrop;
	if (n + strlen(suffix) > CL_PACK_NAME_MAX)
		fe_misuse("%s: a longer name than a member can have", of);
	if ((name = malloc(n + strlen(suffix) + 1)) == NULL) {
		cl_fail_nomem(&err, "the name of a member");
		fe_die(&err);
	}
	memcpy(name, of, n);
	memcpy(name + n, suffix, strlen(suffix) + 1);
	return (name);
}

int
corpus_spool(const char *path)
{
	struct cl_err err = { 0 };
	const char *dir = fe_scratch(), *slash;
	char temp[4200];
	int fd, n;

	slash = path == NULL ? NULL : strrchr(path, '/');
	if (path == NULL)
		n = snprintf(temp, sizeof(temp), "%s/cl-trace.XXXXXX", dir);
	else
		n = snprintf(temp, sizeof(temp), "%.*s.cl-trace.XXXXXX",
		    slash == NULL ? 0 : (int)(slash - path + 1), path);
	if (n < 0 || (size_t)n >= sizeof(temp)) {
		cl_fail(&err, CL_EINVAL, "%s: too long a name", path);
		fe_die(&err);
	}
	if ((fd = mkstemp(temp)) == -1) {
		cl_fail_errno(&err, "%s: cannot make a temporary file", temp);
		fe_die(&err);
	}
	(void)unlink(temp);
	return (fd);
}

void
corpus_spool_clear(int fd)
{

	/* what fails here makes a member of the wrong size, and that is told */
	(void)!ftruncate(fd, 0);
	(void)lseek(fd, 0, SEEK_SET);
}

int
corpus_spool_fill(int fd, struct cl_src *src, struct cl_err *err)
{
	struct cl_dst *dst = NULL;
	const uint8_t *p;
	size_t n;
	int status;

	corpus_spool_clear(fd);
	if (src == NULL ||
	    (dst = cl_dst_fd(fd, "a temporary file", err)) == NULL) {
		cl_src_close(src);
		return (err->code);
	}
	while ((status = cl_src_peek(src, 1, &p, &n, err)) == CL_OK && n > 0) {
		cl_dst_write(dst, p, n);
		cl_src_consume(src, n);
	}
	if (status == CL_OK)
		status = cl_dst_finish(dst, err);
	cl_dst_free(dst);
	cl_src_close(src);
	return (status);
}

struct corpus *
corpus_new(struct cl_dst *dst, struct cl_err *err)
{
	struct corpus *c;

	if ((c = calloc(1, sizeof(*c))) == NULL) {
		cl_fail_nomem(err, "an archive");
		return (NULL);
	}
	if ((c->pack = cl_pack_writer_new(dst, err)) == NULL) {
		free(c);
		return (NULL);
	}
	return (c);
}

bool
corpus_has(const struct corpus *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->list.n; i++)
		if (strcmp(c->list.entry[i].name, name) == 0)
			return (true);
	return (false);
}

int
corpus_list_add(struct corpus_list *l, const char *name, uint64_t nbytes,
    const char *sha256, struct cl_err *err)
{
	struct corpus_entry *e;
	int status;

	if ((status = cl_vec_grow(&l->entry, &l->cap, l->n + 1,
	    sizeof(*l->entry), err)) != CL_OK)
		return (status);
	e = &l->entry[l->n];
	if ((e->name = cl_vec_strndup(name, strlen(name), err)) == NULL)
		return (CL_ENOMEM);
	e->nbytes = nbytes;
	(void)snprintf(e->sha256, sizeof(e->sha256), "%s", sha256);
	l->n++;
	return (CL_OK);
}

void
corpus_list_free(struct corpus_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->entry[i].name);
	free(l->entry);
	memset(l, 0, sizeof(*l));
}

/* A spool from its beginning, under the name of what it will be. */
static struct cl_src *
read_spool(int fd, const char *name, uint64_t *nbytes, struct cl_err *err)
{
	struct stat st;

	if (fstat(fd, &st) == -1 || lseek(fd, 0, SEEK_SET) == -1) {
		cl_fail_errno(err, "%s: its temporary file cannot be read",
		    name);
		return (NULL);
	}
	*nbytes = (uint64_t)st.st_size;
	return (cl_src_fd(fd, name, NULL, err));
}

/* Write a spool as a member; its digest is in the last entry then. */
int
corpus_put(struct corpus *c, const char *name, int fd, struct cl_err *err)
{
	char text[CL_SHA256_TEXT];
	struct cl_sha256 sha;
	struct cl_src *src;
	uint64_t nbytes;
	int status;

	if (corpus_has(c, name))
		return (cl_fail(err, CL_EINVAL, "%s: a second member of that "
		    "name", name));
	if ((src = read_spool(fd, name, &nbytes, err)) == NULL ||
	    (src = corpus_hashed(src, &sha, err)) == NULL)
		return (err->code);
	status = cl_pack_put(c->pack, name, nbytes, src, err);
	cl_src_close(src);
	corpus_spool_clear(fd);
	if (status != CL_OK)
		return (status);
	return (corpus_list_add(&c->list, name, nbytes,
	    cl_sha256_end(&sha, text), err));
}

int
corpus_digest(int fd, const char *name, uint64_t *nbytes,
    char sha256[CL_SHA256_TEXT], struct cl_err *err)
{
	struct cl_sha256 sha;
	struct cl_src *src;
	int status;

	if ((src = read_spool(fd, name, nbytes, err)) == NULL ||
	    (src = corpus_hashed(src, &sha, err)) == NULL)
		return (err->code);
	status = corpus_drain(src, err);
	cl_src_close(src);
	(void)cl_sha256_end(&sha, sha256);
	return (status);
}

/* Describe a spooled trace, read and verified for it, into another spool. */
static int
describe(const char *name, int trace, int sidecar, const char *prompt,
    const char *prompt_sha256, struct cl_err *err)
{
	struct cl_trace_reader *reader;
	char sha256[CL_SHA256_TEXT];
	struct cl_src *src;
	struct cl_dst *dst;
	struct cl_json j;
	uint64_t nbytes;
	int status;

	status = corpus_digest(trace, name, &nbytes, sha256, err);
	if (status != CL_OK)
		return (status);
	if ((dst = cl_dst_fd(sidecar, "a temporary file", err)) == NULL)
		return (err->code);
	if ((src = read_spool(trace, name, &nbytes, err)) == NULL ||
	    (reader = cl_trace_reader_new(src, CL_TRACE_CHECK, err)) ==
	    NULL) {
		cl_dst_free(dst);
		return (err->code);
	}
	cl_json_init(&j, dst);
	cl_json_object(&j, NULL);
	cl_json_u64(&j, "bytes", nbytes);
	cl_json_str(&j, "sha256", sha256);
	if (prompt != NULL)
		cl_json_str(&j, "prompt", prompt);
	else
		cl_json_null(&j, "prompt");
	if (prompt_sha256 != NULL)
		cl_json_str(&j, "prompt_sha256", prompt_sha256);
	else
		cl_json_null(&j, "prompt_sha256");
	cl_json_str(&j, "build", "cl-trace " CL_VERSION);
	cl_json_array(&j, "traces");
	status = cl_info_json(reader, name, &j, err);
	cl_json_end(&j);
	cl_json_end(&j);
	cl_json_finish(&j);
	cl_trace_reader_free(reader);
	if (status == CL_OK)
		status = cl_dst_finish(dst, err);
	cl_dst_free(dst);
	return (status);
}

int
corpus_put_trace(struct corpus *c, const char *name, int trace, int sidecar,
    const char *prompt, const char *prompt_sha256, struct cl_err *err)
{
	char *beside;
	int status;

	corpus_spool_clear(sidecar);
	status = describe(name, trace, sidecar, prompt, prompt_sha256, err);
	if (status != CL_OK)
		return (status);
	if ((status = corpus_put(c, name, trace, err)) != CL_OK)
		return (status);
	beside = corpus_name(name, ".clt", ".json");
	status = corpus_put(c, beside, sidecar, err);
	free(beside);
	return (status);
}

int
corpus_finish(struct corpus *c, const char *end, int spool,
    struct cl_err *err)
{
	const struct corpus_entry *e;
	struct cl_dst *dst;
	size_t i;
	int status;

	corpus_spool_clear(spool);
	if ((dst = cl_dst_fd(spool, "a temporary file", err)) == NULL)
		return (err->code);
	cl_dst_printf(dst, "# cl-archive 1 %s\nmember\tbytes\tsha256\n", end);
	for (i = 0; i < c->list.n; i++) {
		e = &c->list.entry[i];
		cl_dst_printf(dst, "%s\t%llu\t%s\n", e->name,
		    (unsigned long long)e->nbytes, e->sha256);
	}
	status = cl_dst_finish(dst, err);
	cl_dst_free(dst);
	if (status == CL_OK)
		status = corpus_put(c, CORPUS_INDEX, spool, err);
	return (status == CL_OK ? cl_pack_writer_finish(c->pack, err) :
	    status);
}

void
corpus_free(struct corpus *c)
{

	if (c == NULL)
		return;
	cl_pack_writer_free(c->pack);
	corpus_list_free(&c->list);
	free(c);
}
