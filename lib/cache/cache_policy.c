/*
 * The table of policies, and a policy out of what people write.  Strict: what
 * is not known, given twice or out of bounds is refused, by a message that
 * says what the policy takes.
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
#define LIST_MAX	512

static const struct policy *const table[] = {
	&cl_cache_lru,
	&cl_cache_wtinylfu,
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

/* What is wrong with a parameter, and what the policy takes. */
static int
refuse(const struct cl_cache_policy_info *info, const char *text, size_t n,
    const char *why, struct cl_err *err)
{
	const struct cl_cache_param *p = info->param;
	char list[LIST_MAX], vis[VIS_MAX];
	size_t at = 0;
	unsigned i;

	if (nparams(info) == 0)
		(void)snprintf(list, sizeof(list), "no parameters");
	for (i = 0; i < nparams(info) && at < sizeof(list); i++, p++)
		at += (size_t)snprintf(list + at, sizeof(list) - at,
		    "%s%s=%" PRIu64 " (%s, %" PRIu64 " to %" PRIu64 ")",
		    i == 0 ? "" : ", ", p->name, p->value, p->unit, p->lo,
		    p->hi);
	return (cl_fail(err, CL_EINVAL, "\"%s\" %s: policy %s takes %s",
	    cl_text_vis(vis, sizeof(vis), text, n), why, info->name, list));
}

/* One "name=value" of n bytes; a bit of *given for each that was there. */
static int
take_param(struct cl_cache_policy *p, const char *text, size_t n,
    unsigned *given, struct cl_err *err)
{
	const struct cl_cache_policy_info *info = p->info;
	const char *equals = memchr(text, '=', n);
	size_t nname = equals == NULL ? n : (size_t)(equals - text);
	size_t nvalue = equals == NULL ? 0 : n - nname - 1;
	char value[VALUE_MAX + 1];
	unsigned i = 0;

	while (i < nparams(info) && !is(text, nname, info->param[i].name))
		i++;
	if (i == nparams(info))
		return (refuse(info, text, n, "is none of its parameters",
		    err));
	if (*given & 1u << i)
		return (refuse(info, text, n, "is there twice", err));
	*given |= 1u << i;
	if (nvalue > VALUE_MAX)
		nvalue = 0;
	memcpy(value, text + n - nvalue, nvalue);
	value[nvalue] = '\0';
	if (cl_text_u64(value, info->param[i].lo, info->param[i].hi,
	    &p->value[i], NULL) != CL_OK)
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
	return (text[n] == '\0' ? CL_OK : take_params(p, text + n + 1, err));
}

const char *
cl_cache_policy_text(const struct cl_cache_policy *p,
    char buf[CL_CACHE_POLICY_TEXT])
{
	size_t at = 0;
	unsigned i;

	at += (size_t)snprintf(buf, CL_CACHE_POLICY_TEXT, "%s",
	    p->info->name);
	for (i = 0; i < nparams(p->info) && at < CL_CACHE_POLICY_TEXT; i++)
		at += (size_t)snprintf(buf + at, CL_CACHE_POLICY_TEXT - at,
		    "%c%s=%" PRIu64, i == 0 ? ':' : ',',
		    p->info->param[i].name, p->value[i]);
	return (buf);
}
