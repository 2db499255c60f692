/*
 * JSON as it is written: a stack of open containers, each of which knows
 * whether a comma is due and whether its members stand on lines of their own.
 * A container inside a row is a row too.  Keys where none belong, or none
 * where one does, are mistakes of ours and asserted.
 */

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/json.h"
#include "cl/text.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD in UTF-8 */

static void
put(struct cl_json *j, const char *s)
{

	cl_dst_write(j->dst, s, strlen(s));
}

static void
line(struct cl_json *j)
{
	unsigned i;

	put(j, "\n");
	for (i = 0; i < j->depth; i++)
		put(j, "  ");
}

/* The escape of a byte that may not stand in a string as it is, or NULL. */
static const char *
escape(char buf[8], unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *p;

	if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
		return (NULL);
	buf[0] = '\\';
	if (c != '\0' && (p = strchr(plain, c)) != NULL) {
		buf[1] = names[p - plain];
		buf[2] = '\0';
		return (buf);
	}
	memcpy(buf + 1, "u00", 3);
	buf[4] = hex[c >> 4];
	buf[5] = hex[c & 15];
	buf[6] = '\0';
	return (buf);
}

static void
string(struct cl_json *j, const char *s, size_t n)
{
	char buf[8];
	const char *esc;
	size_t i = 0, len, from = 0;

	put(j, "\"");
	while (i < n) {
		len = cl_text_utf8(s + i, n - i);
		esc = len == 0 ? REPLACEMENT : NULL;
		if (len == 1)
			esc = escape(buf, (unsigned char)s[i]);
		if (esc != NULL) {
			cl_dst_write(j->dst, s + from, i - from);
			put(j, esc);
			from = i + 1;
		}
		i += len == 0 ? 1 : len;
	}
	cl_dst_write(j->dst, s + from, n - from);
	put(j, "\"");
}

/* All that stands before a value: comma, line, key. */
static void
begin(struct cl_json *j, const char *key)
{
	bool row = j->level[j->depth].row;

	assert(j->level[j->depth].object == (key != NULL));
	if (j->level[j->depth].used)
		put(j, row ? ", " : ",");
	if (j->depth > 0 && !row)
		line(j);
	j->level[j->depth].used = true;
	if (key != NULL) {
		string(j, key, strlen(key));
		put(j, ": ");
	}
}

static void
open_level(struct cl_json *j, const char *key, bool object, bool row)
{

	assert(j->depth < CL_JSON_DEPTH_MAX);
	begin(j, key);
	put(j, object ? "{" : "[");
	row |= j->level[j->depth].row;
	j->depth++;
	j->level[j->depth].object = object;
	j->level[j->depth].row = row;
	j->level[j->depth].used = false;
}

void
cl_json_init(struct cl_json *j, struct cl_dst *dst)
{

	memset(j, 0, sizeof(*j));
	j->dst = dst;
}

void
cl_json_object(struct cl_json *j, const char *key)
{

	open_level(j, key, true, false);
}

void
cl_json_array(struct cl_json *j, const char *key)
{

	open_level(j, key, false, false);
}

void
cl_json_object_row(struct cl_json *j, const char *key)
{

	open_level(j, key, true, true);
}

void
cl_json_array_row(struct cl_json *j, const char *key)
{

	open_level(j, key, false, true);
}

void
cl_json_end(struct cl_json *j)
{
	bool object = j->level[j->depth].object;
	bool lines = j->level[j->depth].used && !j->level[j->depth].row;

	assert(j->depth > 0);
	j->depth--;
	if (lines)
		line(j);
	put(j, object ? "}" : "]");
}

void
cl_json_u64(struct cl_json *j, const char *key, uint64_t v)
{

	begin(j, key);
	cl_dst_printf(j->dst, "%" PRIu64, v);
}

void
cl_json_i64(struct cl_json *j, const char *key, int64_t v)
{

	begin(j, key);
	cl_dst_printf(j->dst, "%" PRId64, v);
}

void
cl_json_double(struct cl_json *j, const char *key, double v)
{
	char buf[32];

	begin(j, key);
	put(j, isfinite(v) ? cl_text_double(buf, v) : "null");
}

void
cl_json_f32(struct cl_json *j, const char *key, float v)
{
	char buf[32];

	begin(j, key);
	put(j, isfinite(v) ? cl_text_f32(buf, v) : "null");
}

void
cl_json_bool(struct cl_json *j, const char *key, bool v)
{

	begin(j, key);
	put(j, v ? "true" : "false");
}

void
cl_json_null(struct cl_json *j, const char *key)
{

	begin(j, key);
	put(j, "null");
}

void
cl_json_str(struct cl_json *j, const char *key, const char *s)
{

	cl_json_strn(j, key, s, strlen(s));
}

void
cl_json_strn(struct cl_json *j, const char *key, const char *s, size_t n)
{

	begin(j, key);
	string(j, s, n);
}

void
cl_json_hex64(struct cl_json *j, const char *key, uint64_t v)
{

	begin(j, key);
	cl_dst_printf(j->dst, "\"%016" PRIx64 "\"", v);
}

void
cl_json_finish(struct cl_json *j)
{

	assert(j->depth == 0);
	put(j, "\n");
}
