# For every bats file: `load helpers`.  A test runs in a folder of its own
# ($BATS_TEST_TMPDIR) with the commands of the build under test on its PATH.
#
#	run --separate-stderr CMD	then status_is, stdout_is, stderr_is
#	pipe 'A | B'			a pipeline whose every stage counts
#	need THING			or skip, with the reason

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=${CL_BUILD:-$ROOT/build}
SHARED=$ROOT/../shared			# what is not part of the project
MODEL=$ROOT/tests/models/cl-moe-8x64.gguf
PATH=$BUILD:$BUILD/tests/gen:$PATH
export LC_ALL=C
if [ -z "${CL_LLAMA:-}" ] && [ -d "$ROOT/build/deps/package" ]; then
	export CL_LLAMA=$ROOT/build/deps
fi
unset POSIXLY_CORRECT MAKEFLAGS MFLAGS MAKELEVEL

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Skip unless there is: libllama, shared, strace, root or plain (a build
# without sanitizers).
need()
{
	case $1 in
	libllama)
		[ -n "${CL_LLAMA:-}" ] || skip "no libllama: run make deps"
		;;
	shared)
		[ -e "$SHARED/$2" ] || skip "no ../shared/$2"
		;;
	strace)
		strace -o /dev/null true 2>/dev/null || skip "no strace here"
		;;
	root)
		[ "$(id -u)" -eq 0 ] || skip "not root"
		;;
	plain)
		[ -z "${CL_SANITIZE:-}" ] || skip "a sanitizer is in the way"
		;;
	*)
		echo "need: $1?"
		return 1
		;;
	esac
}

pipe()
{
	bash -o pipefail -c "$1"
}

# strace in a way that lets leak checking be: both want to be the tracer.
traced()
{
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace "$@"
}

status_is()
{
	[ "$status" -eq "$1" ] && return 0
	echo "status $status, not $1"
	echo "stdout: $output"
	echo "stderr: ${stderr:-}"
	return 1
}

stdout_is()
{
	diff -u <(echo "$1") <(echo "$output")
}

stderr_is()
{
	diff -u <(echo "$1") <(echo "${stderr:-}")
}
