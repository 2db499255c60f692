/*
 * From text to tokens.  Both libllama's functions here tell in a first call
 * that did not fit how much room a second one needs.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/vec.h"
#include "tap_int.h"

int
cl_tap_tokenize(struct cl_tap *tap, const char *text, size_t nbytes,
    bool marks, int32_t **tokens, size_t *ntokens, struct cl_err *err)
{
	int32_t n, cap;
	int32_t *p = NULL, *q;

	if (nbytes > INT32_MAX / 2)
		return (cl_fail(err, CL_EINVAL, "a text of %zu bytes; %d can "
		    "be tokenised", nbytes, INT32_MAX / 2));
	cap = (int32_t)nbytes + 16;	/* mostly enough at the first try */
	for (;;) {
		if ((q = realloc(p, (size_t)cap * sizeof(*p))) == NULL) {
			free(p);
			return (cl_fail_nomem(err, "the tokens of a text"));
		}
		p = q;
		n = tap->lib.tokenize(tap->vocab, text, (int32_t)nbytes, p,
		    cap, true, marks);
		if (n >= 0)
			break;
		if (n == INT32_MIN || -n <= cap) {
			free(p);
			return (cl_fail(err, CL_ENOTSUP, "%s cannot tokenise "
			    "a text of %zu bytes", tap->lib.engine, nbytes));
		}
		cap = -n;
	}
	*tokens = p;
	*ntokens = (size_t)n;
	return (CL_OK);
}

/* The message in the template; what it needs, or negative. */
static int32_t
apply(const struct cl_tap *tap, const char *template, const char *text,
    char *buf, size_t cap)
{
	struct tap_message m = { "user", text };

	return (tap->lib.chat_apply(template, &m, 1, true, buf,
	    (int32_t)cap));
}

int
cl_tap_chat(struct cl_tap *tap, const char *text, size_t nbytes,
    char **chat, size_t *n, struct cl_err *err)
{
	const struct tap_lib *lib = &tap->lib;
	const char *template;
	char *message, *buf = NULL;
	int32_t need = -1;

	if (nbytes > INT32_MAX / 4 || memchr(text, '\0', nbytes) != NULL)
		return (cl_fail(err, CL_EINVAL, "a message of %zu bytes, or "
		    "with a NUL", nbytes));
	if (lib->chat_template == NULL || lib->chat_apply == NULL)
		return (cl_fail(err, CL_ENOTSUP, "%s applies no chat "
		    "templates", lib->engine));
	if ((template = lib->chat_template(tap->model, NULL)) == NULL)
		return (cl_fail(err, CL_ENOTSUP, "the model has no chat "
		    "template"));
	if ((message = cl_vec_strndup(text, nbytes, err)) == NULL)
		return (err->code);
	if ((need = apply(tap, template, message, NULL, 0)) >= 0 &&
	    (buf = malloc((size_t)need + 1)) != NULL)
		need = apply(tap, template, message, buf, (size_t)need + 1);
	free(message);
	if (need >= 0 && buf == NULL)
		return (cl_fail_nomem(err, "a message"));
	if (need < 0) {
		free(buf);
		return (cl_fail(err, CL_ENOTSUP, "%s does not know the "
		    "model's chat template", lib->engine));
	}
	buf[need] = '\0';
	*chat = buf;
	*n = (size_t)need;
	return (CL_OK);
}
