/*
 * The error record: the first failure wins, because what follows it is
 * usually its consequence.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cl/err.h"

static int	record(struct cl_err *, int, const char *, va_list)
		    __attribute__((format(printf, 3, 0)));

static int
record(struct cl_err *err, int code, const char *fmt, va_list ap)
{

	if (err == NULL)
		return (code);
	if (err->code == CL_OK) {
		err->code = code;
		(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	}
	return (err->code);
}

int
cl_fail(struct cl_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	code = record(err, code, fmt, ap);
	va_end(ap);
	return (code);
}

int
cl_fail_errno(struct cl_err *err, const char *fmt, ...)
{
	char reason[128];
	int saved = errno, first = err != NULL && err->code == CL_OK;
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	(void)record(err, CL_EIO, fmt, ap);
	va_end(ap);
	if (first) {
		if (strerror_r(saved, reason, sizeof(reason)) != 0)
			(void)snprintf(reason, sizeof(reason), "error %d",
			    saved);
		n = strlen(err->msg);
		(void)snprintf(err->msg + n, sizeof(err->msg) - n, ": %s",
		    reason);
	}
	return (err == NULL ? CL_EIO : err->code);
}

int
cl_fail_nomem(struct cl_err *err, const char *what)
{

	return (cl_fail(err, CL_ENOMEM, "out of memory for %s", what));
}

void
cl_err_prefix(struct cl_err *err, const char *prefix)
{
	char copy[sizeof(err->msg)];

	memcpy(copy, err->msg, sizeof(copy));
	(void)snprintf(err->msg, sizeof(err->msg), "%.400s: %.590s", prefix,
	    copy);
}
