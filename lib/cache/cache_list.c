/*
 * Lists of policies, whose parameters are parted by commas as well.  An item
 * that is the name of a policy, or has a colon before any equals sign, begins
 * a policy; every other is a parameter of the one before.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"

/* Does a policy begin with this item of n bytes? */
static bool
begins(const char *item, size_t n)
{
	const struct cl_cache_policy_info *info;
	size_t i;

	for (i = 0; i < n && item[i] != '='; i++)
		if (item[i] == ':')
			return (true);
	for (i = 0; (info = cl_cache_policy((unsigned)i)) != NULL; i++)
		if (strlen(info->name) == n &&
		    memcmp(item, info->name, n) == 0)
			return (true);
	return (false);
}

int
cl_cache_policy_next(const char **list, struct cl_cache_policy *p,
    struct cl_err *err)
{
	char text[CL_CACHE_POLICY_TEXT];
	const char *from = *list;
	size_t n, end;

	if (from == NULL)
		return (CL_END);
	end = strcspn(from, ",");
	/* Only a policy with a colon goes on. */
	while (memchr(from, ':', end) != NULL && from[end] == ',') {
		n = strcspn(from + end + 1, ",");
		if (begins(from + end + 1, n))
			break;
		end += 1 + n;
	}
	if (end >= sizeof(text))
		return (cl_fail(err, CL_EINVAL, "a policy of more than %u "
		    "bytes", CL_CACHE_POLICY_TEXT - 1));
	memcpy(text, from, end);
	text[end] = '\0';
	*list = from[end] == '\0' ? NULL : from + end + 1;
	return (cl_cache_policy_parse(text, p, err));
}
