#!/usr/bin/env bats
# tests/check-layers on a small tree that keeps the rules, broken rule by rule.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p lib/base lib/stream lib/trace lib/io include/cl cmd build
	printf '# a comment of words\n#\n# base\nerr\t101\nvec\t102\n' \
	    >lib/LAYERS
	printf '# stream\nzio\t201\n# trace\ntrace\t301\n' >>lib/LAYERS
	printf 'trace_read\t312\ntap\t322\n# io\nio\t401\n' >>lib/LAYERS
	file include/cl/err.h '#include <stddef.h>' 'int cl_err_code(int);'
	file include/cl/vec.h 'struct cl_err;' 'int cl_vec_grow(int);'
	file include/cl/zio.h 'int cl_zio_open(int);'
	file include/cl/trace.h '#include "cl/vec.h"' 'int cl_trace_len(int);'
	file include/cl/trace_read.h '#include "cl/trace.h"' \
	    'int cl_trace_next(int);'
	file lib/base/err.c '#include "cl/err.h"' \
	    'int cl_err_code(int a) { return (a); }'
	file lib/base/vec.c '#include "cl/err.h"' '#include "cl/vec.h"' \
	    'static const char *const words[] = { "a", "b" };' \
	    'int cl_vec_grow(int a) { return (words[a & 1][0]); }'
	file lib/stream/zio.c '#include "cl/err.h"' '#include "cl/zio.h"' \
	    'int cl_zio_open(int a) { return (cl_err_code(a)); }'
	file lib/trace/trace_int.h '#include "cl/trace.h"'
	file lib/trace/trace_read.c '#include "cl/trace_read.h"' \
	    '#include "cl/zio.h"' '#include "trace_int.h"' \
	    'int cl_trace_next(int a) { return (a); }'
}

file()
{
	local path=$1

	shift
	printf '%s\n' "$@" >"$path"
}

built()
{
	local source objects=

	for source in lib/*/*.c; do
		gcc -c -w -Iinclude -o "build/$(basename "$source" .c).o" \
		    "$source" || return 1
	done
	ar rcs build/libcl.a build/*.o
}

# The tree passes but for the rule whose sentence holds $1, which says $2.
breaks()
{
	built
	run "$ROOT/tests/check-layers" "$PWD"
	echo "$output"
	[ "$(grep -c '^not ok' <<<"$output")" -eq 1 ]
	[[ $output == *"not ok "?" - $1"* ]]
	[[ $output == *"# $2"* ]]
}

@test "a tree that keeps the rules passes" {
	built
	run "$ROOT/tests/check-layers" "$PWD"
	status_is 0
	[ "$(grep -c '^ok' <<<"$output")" -eq 10 ]
	[[ $output != *"not ok"* ]]
}

@test "what is not built is not passed" {
	run "$ROOT/tests/check-layers" "$PWD"
	[ "$status" -ne 0 ]
	[[ $output != *"ok 1"* ]]
}

@test "an include of a larger number is caught" {
	file lib/base/err.c '#include "cl/vec.h"' \
	    'int cl_err_code(int a) { return (a); }'
	breaks "includes go" \
	    "lib/base/err.c:1: err (101) may not include cl/vec.h (102)"
}

@test "an include of the same number from a header is caught" {
	file include/cl/vec.h ' # include  "cl/zio.h"' 'int cl_vec_grow(int);'
	breaks "includes go" \
	    "include/cl/vec.h:1: vec (102) may not include cl/zio.h (201)"
}

@test "a header without a number is caught where it is included" {
	sed -i '/^zio/d' lib/LAYERS
	built
	run "$ROOT/tests/check-layers" "$PWD"
	[[ $output == *"include/cl/zio.h: no number in lib/LAYERS"* ]]
	[[ $output == *"trace_read.c:2: cl/zio.h has no number"* ]]
}

@test "another module's internal header is caught" {
	file lib/trace/tap.c '#include "trace_int.h"' \
	    'int cl_tap_x(int a) { return (a); }'
	breaks "includes go" \
	    "lib/trace/tap.c:1: trace_int.h is for the files of trace alone"
}

@test "an include by path is caught" {
	file lib/base/vec.c '#include "../stream/zio.c"' \
	    'int cl_vec_grow(int a) { return (a); }'
	sed -i '/cl_zio_open/d' lib/stream/zio.c
	breaks "includes go" 'lib/base/vec.c:1: "../stream/zio.c" is neither'
}

@test "a module in another's room is caught" {
	mv lib/stream/zio.c lib/trace/
	breaks "every file has a module" \
	    "lib/trace/zio.c: zio belongs in lib/stream"
}

@test "a number that does not rise is caught" {
	sed -i 's/^vec.*/vec 101/' lib/LAYERS
	file lib/base/vec.c '#include "cl/vec.h"' \
	    'int cl_vec_grow(int a) { return (a); }'
	breaks "lib/LAYERS" "lib/LAYERS:5: vec does not rise above 101"
}

@test "a foreign header away from home is caught" {
	file lib/base/vec.c '#include "cl/vec.h"' '#include <pthread.h>' \
	    'int cl_vec_grow(int a) { return (a); }'
	breaks "a foreign header" \
	    "lib/base/vec.c:2: pthread.h has its home elsewhere"
}

@test "a foreign header at home is not, a variant's home included" {
	file lib/io/io_threads.c '#include <pthread.h>' \
	    'int cl_io_x(int a) { return (a); }'
	built
	run "$ROOT/tests/check-layers" "$PWD"
	[[ $output != *"not ok"* ]]
}

@test "an export of another name is caught" {
	file lib/base/vec.c 'int vec_grow(int a) { return (a); }'
	breaks "libcl exports" "vec.o exports vec_grow"
}

@test "a mutable global is caught, in a function too" {
	file lib/base/vec.c 'int cl_vec_grow(int a)' \
	    '{ static int n; return (n += a); }'
	breaks "lib/ keeps no mutable" "vec.o keeps n.0 in .bss"
}

@test "a mutable global with a value is caught" {
	file lib/base/vec.c 'static int many = 3;' \
	    'int cl_vec_grow(int a) { return (many += a); }'
	breaks "lib/ keeps no mutable" "vec.o keeps many in .data"
}

@test "a library that prints is caught, whatever the compiler makes of it" {
	file lib/base/vec.c '#include <stdio.h>' \
	    'int cl_vec_grow(int a) { printf("grown\n"); return (a); }'
	breaks "lib/ does not print" "vec.o uses puts"
}

@test "a library that reads the environment is caught" {
	file lib/base/vec.c '#include <stdlib.h>' \
	    'int cl_vec_grow(int a) { return (getenv("A") != 0); }'
	breaks "lib/ does not print" "vec.o uses getenv"
}

@test "a command that dies by itself is caught" {
	file cmd/cl-report.c '#include <stdlib.h>' \
	    'int main(int n, char **a) { if (n) exit(2); return (0); }'
	mkdir build/cmd
	gcc -c -o build/cmd/cl-report.o cmd/cl-report.c
	breaks "the commands speak" "build/cmd/cl-report.o uses exit"
}

@test "a report that reaches threads is caught" {
	file cmd/report.c '#include <pthread.h>' \
	    'static void *f(void *p) { return (p); }' \
	    'int main(void) { pthread_t t;' \
	    'return (pthread_create(&t, 0, f, 0)); }'
	gcc -pthread -o build/cl-report cmd/report.c
	rm cmd/report.c
	breaks "cl-report and cl-diff" "cl-report reaches pthread_create"
}

@test "a line, a function or a file that is too long is found" {
	breaks_sizes()
	{
		run "$ROOT/tests/check-layers" "$PWD"
		echo "$output"
		[ "$(grep -c '^not ok' <<<"$output")" -eq 1 ]
		[[ $output == *"not ok 10 - lines, functions"*"# $1"* ]]
	}

	built
	printf '/*\n * %077d\n */\n' 0 >cmd/long.h
	run "$ROOT/tests/check-layers" "$PWD"
	[[ $output != *"not ok"* ]]
	printf '/*\n * %078d\n */\n' 0 >cmd/long.h
	breaks_sizes "cmd/long.h:2: 81 columns"
	printf '\tint\tx;\t/* %058d */\n' 0 >cmd/long.h
	breaks_sizes "cmd/long.h:1: 88 columns"
	{ echo '{'; yes 'x' | head -60; echo '}'; } >cmd/long.h
	run "$ROOT/tests/check-layers" "$PWD"
	[[ $output != *"not ok"* ]]
	{ echo '{'; yes 'x' | head -61; echo '}'; } >cmd/long.h
	breaks_sizes "cmd/long.h:63: a function of 61 lines"
	yes '' | head -701 >cmd/long.h
	breaks_sizes "cmd/long.h: 701 lines"
}
