#!/usr/bin/env bats
# The kernel's forms for 64-bit ARM, cross-built and run in an emulator.

load helpers

setup()
{
	for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
		command -v $tool >/dev/null ||
			skip "no $tool: run make deps-releases"
	done
	test=$BATS_FILE_TMPDIR/tests/unit/test_compute
	run --separate-stderr make -s -C "$ROOT" "O=$BATS_FILE_TMPDIR" \
	    CC=aarch64-linux-gnu-gcc WERROR=1 PKG_CONFIG=false LDFLAGS=-static \
	    CL_LIBS= ROOMS="base compute" "$test"
	status_is 0
	stdout_is ""
	stderr_is ""
}

# passes_on CPU FORMS...: all tests do, having seen these forms.
passes_on()
{
	local cpu=$1

	shift
	run --separate-stderr qemu-aarch64 -cpu "$cpu" "$test"
	status_is 0
	stderr_is ""
	[ "$(sed -n 's/^# //p' <<<"$output" | paste -sd ' ')" = "$*" ]
	[ "1..$(grep -c '^ok ' <<<"$output")" = "${lines[0]}" ]
}

@test "where the processor has the dot product, all forms agree" {
	passes_on max neon-dot neon portable
}

@test "where it has not, that form is not used" {
	passes_on cortex-a53 neon portable
}
