#ifndef CL_TEXT_H
#define CL_TEXT_H

/*
 * Numbers and names as people write and read them.  The program never calls
 * setlocale(), so a decimal point is a point in every environment.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;

/* A cache budget as written on a command line; what it means needs a model. */
struct cl_budget {
	enum cl_budget_unit {
		CL_BUDGET_BYTES,	/* amount bytes */
		CL_BUDGET_PERCENT,	/* amount hundredths of a percent */
		CL_BUDGET_EXPERTS	/* amount experts */
	}		unit;
	uint64_t	amount;
};

/* A decimal number between lo and hi; nothing before or after it. */
int	cl_text_u64(const char *, uint64_t lo, uint64_t hi, uint64_t *,
	    struct cl_err *);

/* A finite decimal fraction between lo and hi. */
int	cl_text_f64(const char *, double lo, double hi, double *,
	    struct cl_err *);

/*
 * A size in bytes.  K M G T P E (and KiB ..., and the lower-case letters k m
 * g t p) are powers of 1024; KB MB GB TB PB EB are powers of 1000.  A fraction
 * is rounded down.  No blank, no sign.
 */
int	cl_text_size(const char *, uint64_t *, struct cl_err *);

/* A time with its unit, ns, us, ms or s.  A fraction is rounded down. */
int	cl_text_ns(const char *, uint64_t *, struct cl_err *);

/* A size, "N%" of all experts with up to two decimals, or "Ne" experts. */
int	cl_text_budget(const char *, struct cl_budget *, struct cl_err *);

#define CL_TEXT_SIZE_MAX 16

/* Bytes for people, in powers of 1024 with the unit's true name: "1.50 GiB". */
const char	*cl_text_bytes(char buf[CL_TEXT_SIZE_MAX], uint64_t nbytes);

/* An exact number with its digits in threes: "12,345". */
const char	*cl_text_count(char buf[32], uint64_t);

/*
 * n bytes of src made safe for a terminal: control bytes and broken UTF-8
 * become '?'.  dst always ends in NUL; returns dst.
 */
const char	*cl_text_vis(char *dst, size_t cap, const char *src, size_t n);

/*
 * The first character of s (n > 0 bytes) as it may stand in a line between
 * tabs: as it is, or as \t, \n, \r, \\, and \xHH for each byte of other
 * control characters and broken UTF-8.  Returns the bytes that it stands for.
 */
size_t	cl_text_escape(char buf[8], const char *s, size_t n);

/* The length of the UTF-8 character at s (n > 0 bytes), or 0 if broken. */
size_t	cl_text_utf8(const char *s, size_t n);

/* The shortest decimal form that reads back as the same value. */
const char	*cl_text_f32(char buf[32], float);
const char	*cl_text_double(char buf[32], double);

#endif /* CL_TEXT_H */
