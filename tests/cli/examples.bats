#!/usr/bin/env bats
# The examples of the manual are run as they stand, from the root of a clone
# with the build on the path, but for files below /tmp, which are put aside.

load helpers

# examples PAGE: its commands, as one script.
examples()
{
	awk '/^\.Sh/ { on = $2 == "EXAMPLES" }
	on && sub(/^\.Dl \$ /, "") { print }
	/^\.Ed/ { literal = 0 }
	on && literal { sub(/^\$ /, ""); print }
	/^\.Bd -literal/ { literal = 1 }' "$ROOT/man/$1" |
	    sed -e 's/\\(dq/"/g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g' \
		-e "s|/tmp/|$BATS_TEST_TMPDIR/|g"
}

# run_examples PAGE: all of them run without a word on stderr; $output has
# what they print.
run_examples()
{
	local need script

	script=$(examples "$1")
	[ -n "$script" ]
	for need in $(grep -o 'traces/[a-z]*\.clt' <<<"$script" | sort -u); do
		[ -e "$ROOT/$need" ] || skip "no $need"
	done
	cd "$ROOT"
	run --separate-stderr bash -o pipefail -c "$script"
	status_is 0
	stderr_is ""
}

@test "the examples of cl-report(1)" {
	run_examples cl-report.1
	grep -q '^run 1: ' <<<"$output"
	grep -qE '^[0-9]+ [0-9]+$' <<<"$output"
	grep -qE '^\["lru",[0-9]+,[0-9]+\]$' <<<"$output"
}

@test "the examples of cl(7)" {
	run_examples cl.7
	grep -q '^run  trace  *policy  *experts ' <<<"$output"
	grep -q '^total: 6 pairs, 0 the same, 6 different, 0 runs ' <<<"$output"
	[ "$(grep -cE \
	    $'^traces/[a-z]*.clt\t(global|layer)\t0\\.[0-9]+$' \
	    <<<"$output")" -ge 6 ]
	grep -q '^run 1: standard input, lru, 6 experts cached$' <<<"$output"
}

@test "the examples of cl-diff(1)" {
	run_examples cl-diff.1
	grep -q '^different: ' <<<"$output"
	[ "${lines[-1]}" = no ]
}
