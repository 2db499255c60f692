/*
 * The table of policies, in the order of cl-policies(7), and a policy out of
 * what people write.  Strict: what is not known, given twice or out of bounds
 * is refused, by a message that says what the policy takes.
 */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cl/err.h"
#include "cl/text.h"
#include "cache_int.h"

#define VALUE_MAX	20		/* digits of a number */
#define VIS_MAX		64		/* of what was written, in messages */
#define LIST_MAX	384

static const struct policy *const table[] = {
	&cl_cache_lru,
	&cl_cache_fifo,
	&cl_cache_clock,
	&cl_cache_sieve,
	&cl_cache_s3fifo,
	&cl_cache_lfu,
	&cl_cache_lfu_ghost,
	&cl_cache_lfu_aged,
	&cl_cache_lfru,
	&cl_cache_slru,
	&cl_cache_twoq,
	&cl_cache_arc,
	&cl_cache_lirs,
	&cl_cache_lecar,
	&cl_cache_wtinylfu,
	&cl_cache_least_stale,
	&cl_cache_random,
	&cl_cache_none,
	&cl_cache_static,
	&cl_cache_belady,
	&cl_cache_belady_bypass,
	&cl_cache_infinite,
};

#define NPOLICIES	(sizeof(table) / sizeof(table[0]))

const struct cl_cache_policy_info *
cl_cache_policy(unsigned i)
{

	return (i < NPOLICIES ? &table[i]->info : NULL);
}

const struct policy *
cl_cache_policy_find(const struct cl_cache_policy_info *info)
{
	size_t i = 0;

	while (&table[i]->info != info) {
		i++;
		assert(i < NPOLICIES);
	}
	return (table[i]);
}

/* Is the text of n bytes this name? */
static bool
is(const char *text, size_t n, const char *name)
{

	return (strlen(name) == n && memcmp(text, name, n) == 0);
}

/* How many parameters a policy has. */
static unsigned
nparams(const struct cl_cache_policy_info *info)
{
	unsigned n = 0;

	while (n < CL_CACHE_PARAMS_MAX && info->param[n].name != NULL)
		n++;
	return (n);
}

static int
unknown_policy(const char *text, size_t n, struct cl_err *err)
{
	char list[LIST_MAX], vis[VIS_MAX];
	size_t i, at = 0;

	for (i = 0; i < NPOLICIES && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
		    i == 0 ? "" : ", ", table[i]->info.name);
	return (cl_fail(err, CL_EINVAL, "no cache policy is called \"%s\"; "
	    "there are %s", cl_text_vis(vis, sizeof(vis), text, n), list));
}

/* One parameter as people are told of it. */
static size_t
describe(const struct cl_cache_param *p, char *buf, size_t size)
{
	int n = 0;

	switch (p->kind) {
	case CL_CACHE_NUMBER:
		n = snprintf(buf, size, "%s=%" PRIu64 " (%s, %" PRIu64
		    " to %" PRIu64 ")", p->name, p->value, p->unit, p->lo,
		    p->hi);
		break;
	case CL_CACHE_FLAG:
	case CL_CACHE_FILE:
		n = snprintf(buf, size, "%s (%s)", p->name, p->unit);
		break;
	}
	return ((size_t)n);
}

const char *
cl_cache_policy_takes(const struct cl_cache_policy_info *info,
    char buf[CL_CACHE_TAKES_TEXT])
{
	size_t at = 0, size = CL_CACHE_TAKES_TEXT;
	unsigned i;

	buf[0] = '\0';
	for (i = 0; i < nparams(info); i++) {
		if (i > 0)
			at += (size_t)snprintf(buf + at, size - at, ", ");
		assert(at < size);
		at += describe(&info->param[i], buf + at, size - at);
		assert(at < size);
	}
	return (buf);
}

/* What is wrong with a parameter, and what the policy takes. */
static int
refuse(const struct cl_cache_policy_info *info, const char *text, size_t n,
    const char *why, struct cl_err *err)
{
	char takes[CL_CACHE_TAKES_TEXT], vis[VIS_MAX];

	return (cl_fail(err, CL_EINVAL, "\"%s\" %s: policy %s takes %s",
	    cl_text_vis(vis, sizeof(vis), text, n), why, info->name,
	    nparams(info) == 0 ? "no parameters" :
	    cl_cache_policy_takes(info, takes)));
}

/* Which parameter "name", "name=value" or a path is for, or nparams(). */
static unsigned
find_param(const struct cl_cache_policy_info *info, const char *text, size_t n)
{
	const char *equals = memchr(text, '=', n);
	size_t nname = equals == NULL ? n : (size_t)(equals - text);
	unsigned i, file = nparams(info);

	for (i = 0; i < nparams(info); i++)
		if (info->param[i].kind == CL_CACHE_FILE)
			file = n > 0 ? i : file;
		else if (is(text, nname, info->param[i].name))
			return (i);
	return (file);
}

/* The value of a number, of n bytes; 0 bytes are none. */
static int
take_number(const struct cl_cache_param *p, const char *text, size_t n,
    uint64_t *value)
{
	char digits[VALUE_MAX + 1];

	if (n > VALUE_MAX)
		return (CL_EINVAL);
	memcpy(digits, text, n);
	digits[n] = '\0';
	return (cl_text_u64(digits, p->lo, p->hi, value, NULL));
}

static int
take_file(struct cl_cache_policy *p, const char *text, size_t n,
    struct cl_err *err)
{

	if (n >= sizeof(p->file))
		return (refuse(p->info, text, n, "is too long a path", err));
	memcpy(p->file, text, n);
	p->file[n] = '\0';
	return (CL_OK);
}

/* One parameter of n bytes; a bit of *given for each that was there. */
static int
take_param(struct cl_cache_policy *p, const char *text, size_t n,
    unsigned *given, struct cl_err *err)
{
	const struct cl_cache_policy_info *info = p->info;
	unsigned i = find_param(info, text, n);
	size_t nname;

	if (i == nparams(info))
		return (refuse(info, text, n, "is none of its parameters",
		    err));
	if (*given & 1u << i)
		return (refuse(info, text, n,
		    info->param[i].kind == CL_CACHE_FILE ?
		    "is a second file" : "is there twice", err));
	*given |= 1u << i;
	if (info->param[i].kind == CL_CACHE_FILE)
		return (take_file(p, text, n, err));
	nname = strlen(info->param[i].name);
	if (info->param[i].kind == CL_CACHE_FLAG) {
		p->value[i] = 1;
		return (n == nname ? CL_OK : refuse(info, text, n,
		    "takes no value", err));
	}
	nname += n > nname;			/* the equals sign */
	if (take_number(&info->param[i], text + nname, n - nname,
	    &p->value[i]) != CL_OK)
		return (refuse(info, text, n, "is not such a number", err));
	return (CL_OK);
}

static int
take_params(struct cl_cache_policy *p, const char *text, struct cl_err *err)
{
	unsigned given = 0;
	size_t n;
	int status;

	for (;;) {
		n = strcspn(text, ",");
		if ((status = take_param(p, text, n, &given, err)) != CL_OK)
			return (status);
		if (text[n] == '\0')
			return (CL_OK);
		text += n + 1;
	}
}

int
cl_cache_policy_parse(const char *text, struct cl_cache_policy *p,
    struct cl_err *err)
{
	size_t n = strcspn(text, ":"), i = 0;

	while (i < NPOLICIES && !is(text, n, table[i]->info.name))
		i++;
	if (i == NPOLICIES)
		return (unknown_policy(text, n, err));
	p->info = &table[i]->info;
	for (i = 0; i < CL_CACHE_PARAMS_MAX; i++)
		p->value[i] = p->info->param[i].value;
	p->file[0] = '\0';
	return (text[n] == '\0' ? CL_OK : take_params(p, text + n + 1, err));
}

bool
cl_cache_policy_compat(const struct cl_cache_policy *p)
{
	unsigned i;

	for (i = 0; i < nparams(p->info); i++)
		if (is("compat", strlen("compat"), p->info->param[i].name))
			return (p->value[i] != 0);
	return (false);
}

bool
cl_cache_policy_equal(const struct cl_cache_policy *a,
    const struct cl_cache_policy *b)
{

	return (a->info == b->info &&
	    memcmp(a->value, b->value, sizeof(a->value)) == 0 &&
	    strcmp(a->file, b->file) == 0);
}

const char *
cl_cache_policy_text(const struct cl_cache_policy *p,
    char buf[CL_CACHE_POLICY_TEXT])
{
	const struct cl_cache_param *param = p->info->param;
	size_t at, size = CL_CACHE_POLICY_TEXT;
	char sep = ':';
	unsigned i;

	at = (size_t)snprintf(buf, size, "%s", p->info->name);
	for (i = 0; i < nparams(p->info); i++, param++) {
		if (param->kind == CL_CACHE_FLAG && p->value[i] == 0)
			continue;
		if (param->kind == CL_CACHE_FILE && p->file[0] == '\0')
			continue;
		if (param->implied && p->value[i] == param->value)
			continue;
		assert(at < size);
		at += (size_t)snprintf(buf + at, size - at, "%c%s", sep,
		    param->kind == CL_CACHE_FILE ? p->file : param->name);
		assert(at < size);
		if (param->kind == CL_CACHE_NUMBER)
			at += (size_t)snprintf(buf + at, size - at,
			    "=%" PRIu64, p->value[i]);
		sep = ',';
	}
	assert(at < size);
	return (buf);
}
