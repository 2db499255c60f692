/*
 * Lines, fields, numbers.  A line ends in LF or CR LF, the last one may end
 * with the input.  Everything is (pointer, length) into the source's buffer.
 */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/import_tsv.h"
#include "cl/num.h"
#include "cl/src.h"
#include "import_tsv_int.h"

#define NUMBER_MAX	48		/* characters of a float; 17 will do */

int
cl_import_fail(const struct tsv_lines *l, struct cl_err *err,
    const char *fmt, ...)
{
	char why[600];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return (cl_fail(err, CL_EFORMAT, "%s: line %llu: %s",
	    cl_src_name(l->src), (unsigned long long)l->no, why));
}

/* Look only at what was not searched yet, so that slow pipes cost no more. */
int
cl_import_line(struct tsv_lines *l, struct cl_err *err)
{
	const char *end = NULL;
	const uint8_t *p;
	size_t n = 0, searched;
	int status;

	if (l->again) {
		l->again = false;
		return (CL_OK);
	}
	cl_src_consume(l->src, l->taken);
	l->taken = 0;
	l->no++;
	do {
		searched = n;
		status = cl_src_peek(l->src, searched + 1, &p, &n, err);
		if (status != CL_OK)
			return (status);
		if (n > searched)
			end = memchr(p + searched, '\n', n - searched);
	} while (end == NULL && n > searched && n <= TSV_LINE_MAX);
	if (n == 0)
		return (CL_END);
	l->p = (const char *)p;
	l->n = end == NULL ? n : (size_t)(end - l->p);
	if (l->n > TSV_LINE_MAX)
		return (cl_import_fail(l, err, "longer than %u bytes",
		    TSV_LINE_MAX));
	l->taken = end == NULL ? n : l->n + 1;
	if (l->n > 0 && l->p[l->n - 1] == '\r')
		l->n--;
	return (CL_OK);
}

int
cl_import_split(const struct tsv_lines *l, const char *p, size_t n,
    struct tsv_field *f, size_t max, size_t *nfields, struct cl_err *err)
{
	const char *tab;
	size_t i;

	for (i = 0; i < max; i++) {
		tab = n == 0 ? NULL : memchr(p, '\t', n);
		f[i].p = p;
		f[i].n = tab == NULL ? n : (size_t)(tab - p);
		if (tab == NULL) {
			*nfields = i + 1;
			return (CL_OK);
		}
		p = tab + 1;
		n -= f[i].n + 1;
	}
	return (cl_import_fail(l, err, "more than %zu fields", max));
}

bool
cl_import_is(const struct tsv_field *f, const char *s)
{

	return (f->n == strlen(s) && memcmp(f->p, s, f->n) == 0);
}

bool
cl_import_u64(const struct tsv_field *f, uint64_t hi, uint64_t *v)
{
	uint64_t r = 0;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->p[i] < '0' || f->p[i] > '9' || !cl_mul(r, 10, &r) ||
		    !cl_add(r, (uint64_t)(f->p[i] - '0'), &r))
			return (false);
	*v = r;
	return (f->n > 0 && r <= hi);
}

bool
cl_import_hex(const struct tsv_field *f, uint64_t *v)
{
	static const char digits[] = "0123456789abcdef";
	const char *d;
	size_t i;

	*v = 0;
	for (i = 0; i < f->n; i++) {
		d = memchr(digits, f->p[i], sizeof(digits) - 1);
		if (d == NULL)
			return (false);
		*v = *v << 4 | (uint64_t)(d - digits);
	}
	return (f->n == 16);
}

/* n characters, one float: decimal, or nan, inf, -inf.  Overflow is none. */
static bool
get_float(const char *p, size_t n, float *v)
{
	char text[NUMBER_MAX], *end;

	if (n == 0 || n >= sizeof(text))
		return (false);
	memcpy(text, p, n);
	text[n] = '\0';
	if (strspn(text, "+-.0123456789eE") == n) {
		*v = strtof(text, &end);
		return (*end == '\0' && isfinite(*v));
	}
	if (strcmp(text, "nan") == 0)
		*v = NAN;
	else if (strcmp(text, "inf") == 0)
		*v = INFINITY;
	else if (strcmp(text, "-inf") == 0)
		*v = -INFINITY;
	else
		return (false);
	return (true);
}

uint32_t
cl_import_count(const struct tsv_field *f)
{
	uint32_t n = 1;
	size_t i;

	for (i = 0; i < f->n; i++)
		n += f->p[i] == ',';
	return (n);
}

bool
cl_import_item(struct tsv_field *rest, struct tsv_field *item)
{
	const char *comma;

	if (rest->p == NULL)
		return (false);
	comma = rest->n == 0 ? NULL : memchr(rest->p, ',', rest->n);
	item->p = rest->p;
	item->n = comma == NULL ? rest->n : (size_t)(comma - rest->p);
	rest->p = comma == NULL ? NULL : comma + 1;
	rest->n -= comma == NULL ? rest->n : item->n + 1;
	return (true);
}

bool
cl_import_floats(const struct tsv_field *f, float *v, uint32_t max,
    uint32_t *n)
{
	struct tsv_field rest = *f, item;

	for (*n = 0; cl_import_item(&rest, &item); (*n)++)
		if (*n == max || !get_float(item.p, item.n, &v[*n]))
			return (false);
	return (true);
}

bool
cl_import_ids(const struct tsv_field *f, uint16_t *v, uint32_t max,
    uint32_t *n)
{
	struct tsv_field rest = *f, item;
	uint64_t id;

	for (*n = 0; cl_import_item(&rest, &item); (*n)++) {
		if (*n == max || !cl_import_u64(&item, UINT16_MAX, &id))
			return (false);
		v[*n] = (uint16_t)id;
	}
	return (true);
}
