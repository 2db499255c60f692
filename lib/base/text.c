/*
 * Parsing is strict: the whole string is one number with an optional unit, in
 * range, or it is refused with the reason.  Printing is exact where a machine
 * reads it and rounded only in cl_text_bytes().
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/num.h"
#include "cl/text.h"

#define SCALE_DIGITS	9		/* decimals kept of a fraction */
#define VIS_SHOWN	60		/* of an argument in a message */

static int
refuse(struct cl_err *err, const char *s, const char *why)
{
	char vis[VIS_SHOWN];

	return (cl_fail(err, CL_EINVAL, "\"%s\": %s",
	    cl_text_vis(vis, sizeof(vis), s, strlen(s)), why));
}

static bool
isdigit_c(char c)
{

	return (c >= '0' && c <= '9');
}

/* Digits into *v; returns what follows, or NULL on none or overflow. */
static const char *
digits(const char *s, uint64_t *v)
{
	uint64_t r = 0;
	const char *p = s;

	for (; isdigit_c(*p); p++)
		if (!cl_mul(r, 10, &r) ||
		    !cl_add(r, (uint64_t)(*p - '0'), &r))
			return (NULL);
	*v = r;
	return (p == s ? NULL : p);
}

int
cl_text_u64(const char *s, uint64_t lo, uint64_t hi, uint64_t *v,
    struct cl_err *err)
{
	const char *end;
	char why[80];

	if ((end = digits(s, v)) != NULL && *end == '\0' &&
	    *v >= lo && *v <= hi)
		return (CL_OK);
	(void)snprintf(why, sizeof(why), hi == UINT64_MAX ?
	    "a whole number of at least %llu is wanted" :
	    "a whole number from %llu to %llu is wanted",
	    (unsigned long long)lo, (unsigned long long)hi);
	return (refuse(err, s, why));
}

int
cl_text_f64(const char *s, double lo, double hi, double *v,
    struct cl_err *err)
{
	const char *p = s;
	char *end, why[80];
	bool digit = false;

	for (p += *p == '-'; isdigit_c(*p) || *p == '.'; p++)
		digit |= *p != '.';
	if (digit && *p == '\0') {
		*v = strtod(s, &end);
		if (*end == '\0' && *v >= lo && *v <= hi)
			return (CL_OK);
	}
	(void)snprintf(why, sizeof(why), "a number from %g to %g is wanted",
	    lo, hi);
	return (refuse(err, s, why));
}

/*
 * "12.34" as a whole part and billionths; returns what follows, or NULL.
 * Digits beyond the ninth are below any unit's resolution and are dropped.
 */
static const char *
decimal(const char *s, uint64_t *whole, uint64_t *billionths)
{
	const char *p = digits(s, whole);
	int n = 0;

	*billionths = 0;
	if (p == NULL || *p != '.')
		return (p);
	if (!isdigit_c(*++p))
		return (NULL);
	for (; isdigit_c(*p); p++)
		if (n < SCALE_DIGITS) {
			*billionths = *billionths * 10 + (uint64_t)(*p - '0');
			n++;
		}
	for (; n < SCALE_DIGITS; n++)
		*billionths *= 10;
	return (p);
}

/* What a unit multiplies by, or 0 where there is no such unit. */
static uint64_t
unit(const char *s)
{
	static const char upper[] = "KMGTPE", lower[] = "kmgtp";
	const char *p;
	uint64_t base = 1024, m = 1;
	size_t i, n;

	if (*s == '\0' || strcmp(s, "B") == 0)
		return (1);
	if ((p = strchr(upper, *s)) != NULL)
		n = (size_t)(p - upper) + 1;
	else if ((p = strchr(lower, *s)) != NULL)
		n = (size_t)(p - lower) + 1;
	else
		return (0);
	if (strcmp(s + 1, "B") == 0)
		base = 1000;
	else if (s[1] != '\0' && strcmp(s + 1, "iB") != 0)
		return (0);
	for (i = 0; i < n; i++)
		m *= base;
	return (m);
}

int
cl_text_size(const char *s, uint64_t *v, struct cl_err *err)
{
	uint64_t whole, part, m, r;
	const char *p;

	if ((p = decimal(s, &whole, &part)) == NULL || (m = unit(p)) == 0)
		return (refuse(err, s, "not a size (4G and 4GiB are "
		    "4 x 1024^3 bytes, 4GB is 4 x 1000^3)"));
	if (m == 1 && part != 0)
		return (refuse(err, s, "a fraction of a byte"));
	if (!cl_mul(whole, m, &r) ||
	    !cl_add(r, cl_muldiv(part, m, 1000000000), v))
		return (refuse(err, s, "a size of 2^64 bytes or more"));
	return (CL_OK);
}

int
cl_text_ns(const char *s, uint64_t *v, struct cl_err *err)
{
	static const struct {
		const char	*name;
		uint64_t	 ns;
	} unit_of[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }
	};
	const char *p;
	uint64_t whole, part, r;
	size_t i;

	if ((p = decimal(s, &whole, &part)) == NULL)
		return (refuse(err, s, "not a time (80us, 1.2ms)"));
	for (i = 0; i < sizeof(unit_of) / sizeof(unit_of[0]); i++)
		if (strcmp(p, unit_of[i].name) == 0)
			break;
	if (i == sizeof(unit_of) / sizeof(unit_of[0]))
		return (refuse(err, s, "a time needs a unit: ns, us, ms or "
		    "s"));
	if (i == 0 && part != 0)
		return (refuse(err, s, "a fraction of a nanosecond"));
	if (!cl_mul(whole, unit_of[i].ns, &r) ||
	    !cl_add(r, cl_muldiv(part, unit_of[i].ns, 1000000000), v))
		return (refuse(err, s, "a time of 2^64 ns or more"));
	return (CL_OK);
}

int
cl_text_budget(const char *s, struct cl_budget *b, struct cl_err *err)
{
	uint64_t whole, part;
	const char *p = decimal(s, &whole, &part), *point = strchr(s, '.');

	if (p != NULL && strcmp(p, "%") == 0) {
		if (point != NULL && p - point > 3)
			return (refuse(err, s, "more than two decimals"));
		if (whole > 100 || (whole == 100 && part != 0))
			return (refuse(err, s, "more than 100%"));
		b->unit = CL_BUDGET_PERCENT;
		b->amount = whole * 100 + part / 10000000;
		return (CL_OK);
	}
	if (p != NULL && strcmp(p, "e") == 0 && part == 0) {
		b->unit = CL_BUDGET_EXPERTS;
		b->amount = whole;
		return (CL_OK);
	}
	b->unit = CL_BUDGET_BYTES;
	return (cl_text_size(s, &b->amount, err));
}

const char *
cl_text_bytes(char buf[CL_TEXT_SIZE_MAX], uint64_t nbytes)
{
	static const char *const name[] = { "KiB", "MiB", "GiB", "TiB",
	    "PiB", "EiB" };
	double v = (double)nbytes;
	size_t i = 0;

	if (nbytes < 1024) {
		(void)snprintf(buf, CL_TEXT_SIZE_MAX, "%u B",
		    (unsigned)nbytes);
		return (buf);
	}
	for (v /= 1024; v >= 1023.995 && i < 5; i++)
		v /= 1024;
	(void)snprintf(buf, CL_TEXT_SIZE_MAX, "%.*f %s",
	    v < 10 ? 2 : (v < 100 ? 1 : 0), v, name[i]);
	return (buf);
}

const char *
cl_text_count(char buf[32], uint64_t v)
{
	char plain[24];
	size_t n, i, o = 0;

	n = (size_t)snprintf(plain, sizeof(plain), "%llu",
	    (unsigned long long)v);
	for (i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf[o++] = ',';
		buf[o++] = plain[i];
	}
	buf[o] = '\0';
	return (buf);
}

size_t
cl_text_utf8(const char *s, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = (unsigned char)*s;
	uint32_t v;
	size_t len, i;

	if (c < 0x80)
		return (1);
	len = c >= 0xf0 ? 4 : (c >= 0xe0 ? 3 : 2);
	if (c < 0xc2 || c > 0xf4 || len > n)
		return (0);
	v = c & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		c = (unsigned char)s[i];
		if ((c & 0xc0) != 0x80)
			return (0);
		v = v << 6 | (c & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return (0);
	return (len);
}

/* Does a control character begin at s, which has len bytes (0: broken)? */
static bool
is_control(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;

	return (c < 0x20 || c == 0x7f ||
	    (len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0));
}

const char *
cl_text_vis(char *dst, size_t cap, const char *src, size_t n)
{
	size_t i = 0, o = 0, len, take;

	for (; i < n; i += take) {
		len = cl_text_utf8(src + i, n - i);
		take = len == 0 ? 1 : len;
		if (o + take >= cap)
			break;
		if (len == 0 || is_control(src + i, len))
			dst[o++] = '?';
		else {
			memcpy(dst + o, src + i, len);
			o += len;
		}
	}
	dst[o] = '\0';
	return (dst);
}

size_t
cl_text_escape(char buf[8], const char *s, size_t n)
{
	static const char special[] = "\t\n\r\\", letters[] = "tnr\\";
	size_t len = cl_text_utf8(s, n);
	const char *p = *s == '\0' ? NULL : strchr(special, *s);

	if (p != NULL)
		(void)snprintf(buf, 8, "\\%c", letters[p - special]);
	else if (len > 0 && !is_control(s, len)) {
		memcpy(buf, s, len);
		buf[len] = '\0';
		return (len);
	} else
		(void)snprintf(buf, 8, "\\x%02x", (unsigned char)*s);
	return (1);
}

const char *
cl_text_f32(char buf[32], float v)
{
	int digits10;

	for (digits10 = 6; digits10 < 9; digits10++) {
		(void)snprintf(buf, 32, "%.*g", digits10, (double)v);
		if (!isfinite(v) || strtof(buf, NULL) == v)
			return (buf);
	}
	(void)snprintf(buf, 32, "%.9g", (double)v);
	return (buf);
}

const char *
cl_text_double(char buf[32], double v)
{
	int digits10;

	for (digits10 = 15; digits10 < 17; digits10++) {
		(void)snprintf(buf, 32, "%.*g", digits10, v);
		if (!isfinite(v) || strtod(buf, NULL) == v)
			return (buf);
	}
	(void)snprintf(buf, 32, "%.17g", v);
	return (buf);
}
