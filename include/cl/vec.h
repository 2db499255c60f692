#ifndef CL_VEC_H
#define CL_VEC_H

/*
 * Growth of plain arrays.  The caller owns the array and its count; capacity
 * doubles, so that appending is cheap and memory stays within twice the need.
 */

#include <stddef.h>

struct cl_err;

/*
 * Make *p (of *cap elements of size bytes) hold need elements; what was there
 * stays, what is new is zero.  CL_OK, or CL_ENOMEM with *p as it was.
 */
int	cl_vec_grow(void *p, size_t *cap, size_t need, size_t size,
	    struct cl_err *);

/*
 * The same, but what is new is left as it is: of a large array, memory that is
 * not used yet is not touched either.
 */
int	cl_vec_room(void *p, size_t *cap, size_t need, size_t size,
	    struct cl_err *);

/* A copy of n bytes with a NUL behind them, the caller's to free; or NULL. */
char	*cl_vec_strndup(const char *, size_t n, struct cl_err *);

#endif /* CL_VEC_H */
