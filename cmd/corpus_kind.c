/*
 * What a member is by its name.
 */

#include <string.h>

#include "corpus.h"

static bool
ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return (n > m && strcmp(name + n - m, suffix) == 0);
}

bool
corpus_is_trace(const char *member)
{

	return (ends_in(member, ".clt"));
}

bool
corpus_is_ours(const char *member)
{

	return (ends_in(member, ".json") || strcmp(member, CORPUS_INDEX) == 0);
}
