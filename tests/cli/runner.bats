#!/usr/bin/env bats
# tests/run in a tree of its own: nothing that goes wrong may look right.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p tests/unit tests/cli build/tests/unit
	cp "$ROOT/tests/run" tests/
	export O=build
	unset CL_BUILD CL_SANITIZE
}

# A unit program that is the shell script on standard input.
unit()
{
	: >"tests/unit/test_$1.c"
	{ echo '#!/bin/sh'; cat; } >"build/tests/unit/test_$1"
	chmod +x "build/tests/unit/test_$1"
}

# What the whole run comes to: its status and its last line.
comes_to()
{
	run --separate-stderr tests/run "${3:-unit}"
	[ "$status" -eq "$1" ] && [ "${lines[-1]}" = "$2" ] && return 0
	echo "status $status: ${lines[-1]}"
	echo "$stderr"
	return 1
}

@test "what passes and what is skipped is counted, the reasons are named" {
	unit a <<<'echo 1..2; echo ok 1 - a; echo "ok 2 - b # skip no disk"'
	unit b <<<'echo "1..0 # SKIP no libllama"'
	comes_to 0 "1 passed, 0 failed, 2 skipped"
	[[ $output == *"skipped 1: no disk"* ]]
	[[ $output == *"skipped 1: no libllama"* ]]
	[ "$(cat build/check/summary)" = "${lines[-1]}" ]
}

@test "a failed test is counted, and shown with what it said" {
	unit a <<<'echo 1..2; echo not ok 1 - a; echo "# why"; echo ok 2 - b'
	comes_to 1 "1 passed, 1 failed, 0 skipped"
	stderr_is "FAILED: test_a: not ok 1 - a
    # why"
}

@test "a program that dies has failed what it did not reach" {
	unit a <<<'echo 1..3; echo ok 1 - a; echo assertion >&2; kill -6 $$'
	comes_to 1 "1 passed, 2 failed, 0 skipped"
	[[ $stderr == *"ended after 1 of 3 tests, status 134"*assertion* ]]
}

@test "a program that says nothing has failed" {
	unit a <<<'exit 0'
	comes_to 1 "0 passed, 1 failed, 0 skipped"
}

@test "a program that is not there has failed" {
	: >tests/unit/test_a.c
	comes_to 1 "0 passed, 1 failed, 0 skipped"
}

@test "a job whose runner is killed has failed, and so has what came after" {
	unit a <<<'kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)'
	unit b <<<'echo 1..1; echo ok 1 - b'
	run --separate-stderr tests/run unit
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} != *" 0 failed"* ]]
}

@test "a status other than 0 after good tests is a failure" {
	unit a <<<'echo 1..1; echo ok 1 - a; exit 99'
	comes_to 1 "1 passed, 1 failed, 0 skipped"
}

@test "more tests than were planned are a failure" {
	unit a <<<'echo 1..1; echo ok 1 - a; echo ok 2 - b'
	comes_to 1 "2 passed, 1 failed, 0 skipped"
}

@test "a bats file is counted like a program" {
	sed 's/^%/@/' >tests/cli/a.bats <<-'END'
		%test "holds" { true; }
		%test "does not" { echo because; false; }
		%test "cannot" { skip "no moon"; }
	END
	comes_to 1 "1 passed, 1 failed, 1 skipped" cli
	[[ $stderr == *"not ok 2 does not"*because* ]]
}

@test "a bats file that cannot be read is a failure" {
	echo '@test "open {' >tests/cli/a.bats
	run --separate-stderr tests/run cli
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} != *" 0 failed"* ]]
}

@test "a build that fails is counted, and its reason shown" {
	printf 'everything:\n\t@echo no such thing >&2; exit 1\n' >Makefile
	mkdir lib man include
	cp "$ROOT"/tests/check-* tests/
	run --separate-stderr tests/run check
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} != *" 0 failed"* ]]
	[[ $stderr == *"FAILED: build-gcc"*"no such thing"* ]]
}

@test "a sanitizer's report is a failure even where no test looked" {
	unit a <<<'echo 1..1
	    echo race >"${TSAN_OPTIONS##*log_path=}.1"
	    echo ok 1 - a'
	comes_to 1 "1 passed, 1 failed, 0 skipped"
	[[ $stderr == *race* ]]
}

@test ".ci/run closes with the counts, whether they are good or bad" {
	mkdir .ci
	cp "$ROOT/.ci/run" .ci/
	printf 'check:\n\t@O=build tests/run unit\n' >Makefile
	unit a <<<'echo 1..1; echo ok 1 - a'
	run .ci/run
	status_is 0
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
	unit b <<<'echo 1..1; echo not ok 1 - b'
	run .ci/run
	[ "$status" -ne 0 ]
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]
	printf 'check:\n\tfalse\n' >Makefile
	run .ci/run
	[ "$status" -ne 0 ]
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
}
