/*
 * What reading an archive of traces takes: bytes hashed as they pass, and the
 * index.  The index is bounded text; each of its lines must be as it should.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/src.h"
#include "cl/text.h"
#include "cl/vec.h"
#include "corpus.h"

#define FIRST_LINE	"# cl-archive 1 "
#define SECOND_LINE	"member\tbytes\tsha256"

struct hashed {
	struct cl_src	*lower;
	struct cl_sha256 *sha;		/* the caller's */
};

static int
hashed_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct hashed *h = ctx;
	const uint8_t *p;
	size_t n;
	int status;

	if ((status = cl_src_peek(h->lower, 1, &p, &n, err)) != CL_OK)
		return (status);
	*got = n < cap ? n : cap;
	if (*got > 0)
		memcpy(buf, p, *got);
	cl_sha256_add(h->sha, p, *got);
	cl_src_consume(h->lower, *got);
	return (CL_OK);
}

static void
hashed_close(void *ctx)
{
	struct hashed *h = ctx;

	cl_src_close(h->lower);
	free(h);
}

struct cl_src *
corpus_hashed(struct cl_src *lower, struct cl_sha256 *sha,
    struct cl_err *err)
{
	static const struct cl_src_ops ops = { hashed_read, hashed_close };
	struct hashed *h;
	struct cl_src *s;

	if ((h = malloc(sizeof(*h))) == NULL) {
		cl_fail_nomem(err, "a hash");
		cl_src_close(lower);
		return (NULL);
	}
	cl_sha256_init(sha);
	h->lower = lower;
	h->sha = sha;
	if ((s = cl_src_new(&ops, h, cl_src_name(lower), err)) != NULL)
		cl_src_stack(s, lower);
	return (s);
}

int
corpus_drain(struct cl_src *src, struct cl_err *err)
{
	const uint8_t *p;
	size_t n;
	int status;

	while ((status = cl_src_peek(src, 1, &p, &n, err)) == CL_OK && n > 0)
		cl_src_consume(src, n);
	return (status);
}

/* One row: a name, a size, a digest.  The line is ours to cut up. */
static int
take_row(struct corpus_list *l, char *line, struct cl_err *err)
{
	char *bytes = strchr(line, '\t'), *sha = NULL;
	uint64_t nbytes;

	if (bytes != NULL) {
		*bytes++ = '\0';
		if ((sha = strchr(bytes, '\t')) != NULL)
			*sha++ = '\0';
	}
	if (sha == NULL || *line == '\0' ||
	    strlen(sha) != CL_SHA256_TEXT - 1 ||
	    strspn(sha, "0123456789abcdef") != CL_SHA256_TEXT - 1 ||
	    cl_text_u64(bytes, 0, UINT64_MAX, &nbytes, NULL) != CL_OK)
		return (cl_fail(err, CL_EFORMAT, "%s: a line that is no row: "
		    "%.60s", CORPUS_INDEX, line));
	return (corpus_list_add(l, line, nbytes, sha, err));
}

/* How the archive ended, out of the first line. */
static int
take_end(const char *line, char end[16], struct cl_err *err)
{
	static const char *const ends[] = { "complete", "incomplete",
	    "interrupted" };
	size_t i;

	if (strncmp(line, FIRST_LINE, strlen(FIRST_LINE)) == 0)
		for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (strcmp(line + strlen(FIRST_LINE), ends[i]) == 0) {
				memcpy(end, ends[i], strlen(ends[i]) + 1);
				return (CL_OK);
			}
	return (cl_fail(err, CL_EFORMAT, "%s: the first line is not that of "
	    "an index: %.60s", CORPUS_INDEX, line));
}

static int
take_lines(char *text, struct corpus_list *l, char end[16],
    struct cl_err *err)
{
	char *line = text, *next;
	size_t n;
	int status;

	for (n = 0; (next = strchr(line, '\n')) != NULL; n++) {
		*next = '\0';
		if (n == 0)
			status = take_end(line, end, err);
		else if (n == 1)
			status = strcmp(line, SECOND_LINE) == 0 ? CL_OK :
			    cl_fail(err, CL_EFORMAT, "%s: the second line does "
			    "not name the columns", CORPUS_INDEX);
		else
			status = take_row(l, line, err);
		if (status != CL_OK)
			return (status);
		line = next + 1;
	}
	if (n < 2 || *line != '\0')
		return (cl_fail(err, CL_EFORMAT, "%s: cut off",
		    CORPUS_INDEX));
	return (CL_OK);
}

int
corpus_read_index(struct cl_src *src, struct corpus_list *l, char end[16],
    struct cl_err *err)
{
	const uint8_t *p;
	char *text;
	size_t n, want = 4096;
	int status;

	/* by doubling: memory follows the bytes that are there */
	while ((status = cl_src_peek(src, want, &p, &n, err)) == CL_OK &&
	    n >= want && want < CORPUS_INDEX_MAX)
		want *= 2;
	if (status != CL_OK)
		return (status);
	if (n >= want)
		return (cl_fail(err, CL_ENOTSUP, "%s: %u bytes and more",
		    CORPUS_INDEX, CORPUS_INDEX_MAX));
	if (memchr(p, '\0', n) != NULL)
		return (cl_fail(err, CL_EFORMAT, "%s: not text",
		    CORPUS_INDEX));
	if ((text = cl_vec_strndup((const char *)p, n, err)) == NULL)
		return (CL_ENOMEM);
	cl_src_consume(src, n);
	status = take_lines(text, l, end, err);
	free(text);
	return (status);
}
