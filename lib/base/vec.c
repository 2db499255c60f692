/*
 * Growable arrays without a type of their own: pointer, capacity, need.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/vec.h"

int
cl_vec_room(void *pp, size_t *cap, size_t need, size_t size,
    struct cl_err *err)
{
	void *old, *p;
	size_t n = *cap;

	if (need <= n)
		return (CL_OK);
	while (n < need)
		n = n > SIZE_MAX / 2 ? need : (n == 0 ? 16 : 2 * n);
	memcpy(&old, pp, sizeof(old));
	if (n > SIZE_MAX / size || (p = realloc(old, n * size)) == NULL)
		return (cl_fail_nomem(err, "a growing array"));
	memcpy(pp, &p, sizeof(p));
	*cap = n;
	return (CL_OK);
}

int
cl_vec_grow(void *pp, size_t *cap, size_t need, size_t size,
    struct cl_err *err)
{
	size_t had = *cap;
	char *p;
	int status;

	if (need <= had)
		return (CL_OK);
	if ((status = cl_vec_room(pp, cap, need, size, err)) != CL_OK)
		return (status);
	memcpy(&p, pp, sizeof(p));
	memset(p + had * size, 0, (*cap - had) * size);
	return (CL_OK);
}

char *
cl_vec_strndup(const char *s, size_t n, struct cl_err *err)
{
	char *p;

	if (n == SIZE_MAX || (p = malloc(n + 1)) == NULL) {
		cl_fail_nomem(err, "a string");
		return (NULL);
	}
	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return (p);
}
