#ifndef CL_ERR_H
#define CL_ERR_H

/*
 * base/: the ground every other room stands on; knows no file format.
 *
 * Status codes and the one error record.  A fallible call returns CL_OK,
 * CL_END where a sequence can end, or a negative CL_E*; its last argument is
 * the caller's struct cl_err, which keeps the first failure recorded in it.
 * A call that returns a handle returns NULL in place of a negative code.
 * Any thread may use an error record of its own.
 */

#include <stddef.h>

enum {
	CL_OK = 0,
	CL_END = 1,		/* the sequence is over, and was whole */
	CL_EFORMAT = -1,	/* input breaks its format's rules */
	CL_ECUT = -2,		/* input ends before its trailer */
	CL_EIO = -3,		/* the system refused a read, write or open */
	CL_ENOMEM = -4,
	CL_ENOTSUP = -5,	/* well-formed, but not understood here */
	CL_EINVAL = -6		/* the caller asked for what cannot be */
};

struct cl_err {
	int	code;		/* CL_OK until something failed */
	char	msg[1000];	/* one line, no newline, no program name */
};

/*
 * Record a failure unless one is recorded already; returns the code recorded,
 * so that "return cl_fail(err, CL_EFORMAT, ...)" reads well.  err may be NULL.
 */
int	cl_fail(struct cl_err *, int, const char *, ...)
	    __attribute__((format(printf, 3, 4)));

/* The same with ": " and the text of errno behind it; the code is CL_EIO. */
int	cl_fail_errno(struct cl_err *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

/* "out of memory" as CL_ENOMEM, with what it was wanted for. */
int	cl_fail_nomem(struct cl_err *, const char *);

/* Put "prefix: " before the message recorded; for naming a file or member. */
void	cl_err_prefix(struct cl_err *, const char *);

#endif /* CL_ERR_H */
