/*
 * report/json: the bytes it writes, compared with the bytes it should.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cl/dst.h"
#include "cl/err.h"
#include "cl/json.h"
#include "memio.h"
#include "unit.h"

static struct cl_buf out;

static struct cl_dst *
start(struct cl_json *j)
{
	struct cl_dst *dst = mem_dst(&out);

	cl_json_init(j, dst);
	return (dst);
}

static void
expect(struct cl_dst *dst, struct cl_json *j, const char *want)
{
	struct cl_err err = { 0 };
	const char *got;

	cl_json_finish(j);
	assert(cl_dst_finish(dst, &err) == CL_OK);
	cl_dst_free(dst);
	got = mem_text(&out);
	if (strcmp(got, want) != 0)
		fprintf(stderr, "got:\n%swanted:\n%s", got, want);
	assert(strcmp(got, want) == 0);
	cl_buf_free(&out);
}

static void
containers_indent(void)
{
	struct cl_json j;
	struct cl_dst *dst = start(&j);

	cl_json_object(&j, NULL);
	cl_json_array(&j, "runs");
	cl_json_object(&j, NULL);
	cl_json_str(&j, "policy", "lru");
	cl_json_null(&j, "none");
	cl_json_bool(&j, "yes", true);
	cl_json_end(&j);
	cl_json_u64(&j, NULL, 7);
	cl_json_end(&j);
	cl_json_array(&j, "empty");
	cl_json_end(&j);
	cl_json_array_row(&j, "row");
	cl_json_u64(&j, NULL, 1);
	cl_json_object(&j, NULL);
	cl_json_i64(&j, "a", -1);
	cl_json_bool(&j, "b", false);
	cl_json_end(&j);
	cl_json_end(&j);
	cl_json_object_row(&j, "o");
	cl_json_end(&j);
	cl_json_end(&j);
	expect(dst, &j,
	    "{\n"
	    "  \"runs\": [\n"
	    "    {\n"
	    "      \"policy\": \"lru\",\n"
	    "      \"none\": null,\n"
	    "      \"yes\": true\n"
	    "    },\n"
	    "    7\n"
	    "  ],\n"
	    "  \"empty\": [],\n"
	    "  \"row\": [1, {\"a\": -1, \"b\": false}],\n"
	    "  \"o\": {}\n"
	    "}\n");
}

static void
strings_are_escaped(void)
{
	static const char raw[] = "a\"b\\c\n\t\x01\x7f\0z/\xc3\xa9";
	struct cl_json j;
	struct cl_dst *dst = start(&j);

	cl_json_array_row(&j, NULL);
	cl_json_strn(&j, NULL, raw, sizeof(raw) - 1);
	cl_json_end(&j);
	expect(dst, &j, "[\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\\u0000z/"
	    "\xc3\xa9\"]\n");
}

static void
broken_utf8_is_replaced(void)
{
	struct cl_json j;
	struct cl_dst *dst = start(&j);

	cl_json_array_row(&j, NULL);
	cl_json_str(&j, NULL, "x\xffy");
	cl_json_str(&j, NULL, "\xe2\x82");		/* cut short */
	cl_json_str(&j, NULL, "\xed\xa0\x80");		/* a surrogate */
	cl_json_str(&j, NULL, "\xc0\xaf");		/* overlong */
	cl_json_str(&j, NULL, "\xf0\x9f\x98\x80");	/* whole */
	cl_json_end(&j);
	expect(dst, &j, "[\"x\xef\xbf\xbdy\", "
	    "\"\xef\xbf\xbd\xef\xbf\xbd\", "
	    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", "
	    "\"\xef\xbf\xbd\xef\xbf\xbd\", \"\xf0\x9f\x98\x80\"]\n");
}

static void
numbers_are_exact(void)
{
	struct cl_json j;
	struct cl_dst *dst = start(&j);

	cl_json_array_row(&j, NULL);
	cl_json_u64(&j, NULL, UINT64_MAX);
	cl_json_i64(&j, NULL, INT64_MIN);
	cl_json_double(&j, NULL, 0.1);
	cl_json_double(&j, NULL, 1.0 / 3);
	cl_json_f32(&j, NULL, 0.1f);
	cl_json_double(&j, NULL, (double)NAN);
	cl_json_double(&j, NULL, (double)INFINITY);
	cl_json_f32(&j, NULL, -INFINITY);
	cl_json_hex64(&j, NULL, 0xab);
	cl_json_end(&j);
	expect(dst, &j, "[18446744073709551615, -9223372036854775808, 0.1, "
	    "0.3333333333333333, 0.1, null, null, null, "
	    "\"00000000000000ab\"]\n");
}

static const struct unit units[] = {
	{ "containers are indented, rows stay on a line", containers_indent },
	{ "strings are escaped", strings_are_escaped },
	{ "each broken byte of UTF-8 becomes U+FFFD",
	    broken_utf8_is_replaced },
	{ "integers are exact, doubles shortest, no number is null",
	    numbers_are_exact },
};

UNIT_MAIN(units)
