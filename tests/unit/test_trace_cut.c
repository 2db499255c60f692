/*
 * Traces that stop before their end, anywhere, and input that is none.
 */

#include <stdio.h>

#include "cl/err.h"
#include "trace_bytes.h"
#include "trace_make.h"

/* It stops after so many tokens: all of them came, and it is told. */
static void
stops(const uint8_t *p, size_t n, uint64_t *tokens)
{
	struct cl_err err = { 0 };
	char wanted[100];
	uint64_t traces;
	int status;

	status = read_all(p, n, 50, CL_TRACE_CHECK, tokens, &traces, &err);
	if (*tokens == 0)
		(void)snprintf(wanted, sizeof(wanted), "mem: incomplete: ends "
		    "before its first token");
	else
		(void)snprintf(wanted, sizeof(wanted), "mem: incomplete: ends "
		    "after token %llu", (unsigned long long)*tokens);
	if (n == 0)
		(void)snprintf(wanted, sizeof(wanted), "mem: empty input, no "
		    "trace");
	else if (n < 4)
		(void)snprintf(wanted, sizeof(wanted), "mem: %zu byte%s of "
		    "input, no trace", n, n == 1 ? "" : "s");
	if (status != CL_ECUT || strcmp(err.msg, wanted) != 0)
		fprintf(stderr, "# at %zu: %d %s\n", n, status, err.msg);
	assert(status == CL_ECUT && strcmp(err.msg, wanted) == 0);
	assert(traces == 0);
}

static void
input_may_stop_anywhere(void)
{
	uint64_t tokens, before = 0;
	struct cl_buf b;
	size_t i, n;

	for (i = 0; i < NKINDS; i++) {
		cl_buf_init(&b);
		make_trace(&kinds[i], &b, NULL);
		before = 0;
		for (n = 0; n < b.n; n += n < 3000 ? 1 : 97) {
			stops(b.p, n, &tokens);
			assert(tokens >= before);
			before = tokens;
		}
		assert(before >= kinds[i].ntokens -
		    kinds[i].ntokens % kinds[i].block_tokens);
		cl_buf_free(&b);
	}
}

static void
whole_frames_may_stop_anywhere(void)
{
	struct cl_err err = { 0 };
	struct cl_buf b, plain, again;
	uint64_t tokens = 0, traces;
	size_t at[200], n, i;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	make_trace(&kinds[0], &b, NULL);
	unzip(&b, &plain);
	n = find_records(&plain, at, 200);
	for (i = 0; i < n; i++) {
		cl_buf_init(&again);
		zip(plain.p, at[i], at[i], &again);
		stops(again.p, again.n, &tokens);
		cl_buf_free(&again);
	}
	assert(tokens == kinds[0].ntokens);
	for (i = 1; i < plain.n; i += 13) {
		cl_buf_init(&again);
		zip(plain.p, i, i, &again);
		stops(again.p, again.n, &tokens);
		cl_buf_free(&again);
	}
	cl_buf_init(&again);
	zip(plain.p, 0, 1, &again);
	assert(read_all(again.p, again.n, 9, 0, &tokens, &traces, &err) ==
	    CL_ECUT);
	assert(strcmp(err.msg, "mem: empty zstd data, no trace") == 0);
	cl_buf_free(&again);
	cl_buf_free(&b);
	cl_buf_free(&plain);
}

static void
a_cut_costs_no_trace_before_it(void)
{
	struct cl_err err;
	struct cl_buf b;
	uint64_t tokens, traces;
	size_t first, n;

	cl_buf_init(&b);
	make_trace(&kinds[3], &b, NULL);
	first = b.n;
	make_trace(&kinds[1], &b, NULL);
	for (n = first + 1; n < b.n; n += n < first + 800 ? 1 : 101) {
		memset(&err, 0, sizeof(err));
		assert(read_all(b.p, n, 50, CL_TRACE_CHECK, &tokens, &traces,
		    &err) < 0);
		assert(traces == 1 && tokens >= kinds[3].ntokens);
		if (n - first < 4)
			assert(strstr(err.msg, "what follows") != NULL);
		else
			assert(err.code == CL_ECUT && strstr(err.msg,
			    "mem: trace 2: incomplete: ends ") != NULL);
	}
	cl_buf_free(&b);
}

static void
frames_are_cut_anywhere(void)
{
	static const size_t sizes[] = { 1, 2, 7, 100, 4096, 65536 };
	struct cl_buf b, plain, again;
	uint64_t tokens, traces;
	size_t i;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	make_trace(&kinds[2], &b, NULL);
	make_trace(&kinds[1], &b, NULL);
	unzip(&b, &plain);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cl_buf_init(&again);
		zip(plain.p, plain.n, sizes[i], &again);
		assert(read_all(again.p, again.n, 4096, CL_TRACE_CHECK,
		    &tokens, &traces, NULL) == CL_END);
		assert(traces == 2);
		assert(tokens == kinds[1].ntokens + kinds[2].ntokens);
		cl_buf_free(&again);
	}
	cl_buf_free(&b);
	cl_buf_free(&plain);
}

static void
what_follows_must_be_a_trace(void)
{
	static const char *const behind[] = { "garbage", "\n", "\x28",
	    "\x28\xb5\x2f", "\x28\xb5\x2f\xfd", "\0\0\0\0\0\0\0\0" };
	struct cl_err err;
	struct cl_buf b;
	uint64_t tokens, traces;
	size_t i, n;

	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		cl_buf_init(&b);
		make_trace(&kinds[3], &b, NULL);
		n = strlen(behind[i]);
		cl_buf_bytes(&b, behind[i], n == 0 ? 8 : n);
		memset(&err, 0, sizeof(err));
		assert(read_all(b.p, b.n, 99, 0, &tokens, &traces, &err) < 0);
		assert(traces == 1 && tokens == kinds[3].ntokens);
		cl_buf_free(&b);
	}
	cl_buf_init(&b);
	make_trace(&kinds[3], &b, NULL);
	zip((const uint8_t *)"CLT?", 4, 4, &b);
	memset(&err, 0, sizeof(err));
	assert(read_all(b.p, b.n, 99, 0, &tokens, &traces, &err) ==
	    CL_EFORMAT);
	assert(traces == 1);
	cl_buf_free(&b);
}

static void
other_input_is_named(void)
{
	static const struct {
		const char *magic, *why;
	} other[] = {
		{ "CLS\x1a\1\0\0\0", "this is a stat stream" },
		{ "CLT\x1a\1\0\0\0", "this is a trace that is not compr" },
		{ "GGUF\3\0\0\0", "this is a GGUF model" },
		{ "PK\x03\x04....", "this is a zip archive" },
		{ "7z\xbc\xaf\x27\x1c..", "this is a 7z archive" },
		{ "\x1f\x8b......", "this is gzip data" },
		{ "# cl-trace\t1\n", "this is a trace dumped as text" },
		{ "seq\tpos\n", "not a router trace: no zstd data" },
	};
	struct cl_err err;
	uint64_t tokens, traces;
	uint8_t tar[512] = "name";
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert(read_all(other[i].magic, 8 + (i == 6 ? 5 : 0), 3, 0,
		    &tokens, &traces, &err) == CL_EFORMAT);
		if (strstr(err.msg, other[i].why) == NULL)
			fprintf(stderr, "# %s\n", err.msg);
		assert(strstr(err.msg, other[i].why) != NULL);
	}
	memcpy(tar + 257, "ustar", 5);
	memset(&err, 0, sizeof(err));
	assert(read_all(tar, 512, 100, 0, &tokens, &traces, &err) ==
	    CL_EFORMAT);
	assert(strstr(err.msg, "this is a tar archive") != NULL);
}

static const struct unit units[] = {
	{ "input that stops at any byte is incomplete, and nothing is lost",
	    input_may_stop_anywhere },
	{ "so is input of whole frames", whole_frames_may_stop_anywhere },
	{ "a cut behind a trace leaves it whole",
	    a_cut_costs_no_trace_before_it },
	{ "frames may be cut anywhere, and traces stand in a row",
	    frames_are_cut_anywhere },
	{ "what follows a trace is a trace or refused",
	    what_follows_must_be_a_trace },
	{ "input of another kind is named", other_input_is_named },
};

UNIT_MAIN(units)
