#!/usr/bin/env bats
# cl-diff on streams whose every number is known: diff/a.in and diff/b.in
# differ in policy, in some counters and in layer 1; variants are made by sed.

load helpers

IN=$BATS_TEST_DIRNAME/diff

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkcls <"$IN/a.in" >a.cls
	mkcls <"$IN/b.in" >b.cls
}

# variant NAME SED: a.in with a change, as NAME.cls.
variant()
{
	sed "$2" "$IN/a.in" >"$1.in"
	! cmp -s "$IN/a.in" "$1.in" || return 1
	mkcls <"$1.in" >"$1.cls"
}

# differs STATUS NAME: cl-diff of a.cls with it ends so, quietly.
differs()
{
	run --separate-stderr cl-diff -q a.cls "$2.cls"
	status_is "$1"
	stdout_is ""
}

golden()
{
	local status=0

	cl-diff -f "$1" a.cls b.cls >got 2>errors || status=$?
	[ "$status" -eq 1 ]
	[ ! -s errors ]
	diff -u "$IN/$1" got
}

@test "conditions that differ come first, then counters with their change" {
	golden text
}

@test "the same as a table of tabs and lines" {
	golden tsv
	[ "$(awk -F '\t' 'NF != 8' got | wc -l)" -eq 0 ]
}

@test "the same as strict JSON" {
	golden json
	jq -e '.pairs[0] | .same == false and .totals.hits.change == 1 and
	    .totals.misses.change == -1' got
	if command -v node >/dev/null; then
		node -e 'JSON.parse(require("fs").readFileSync(0))' <got
	fi
}

@test "the same runs are the same" {
	run --separate-stderr cl-diff a.cls - <a.cls
	status_is 0
	stderr_is ""
	[ "${lines[-1]}" = "the same: all 14 counters, 2 layers" ]
	grep -q '^all conditions are the same$' <<<"$output"
	cl-diff -f json a.cls a.cls | jq -e '.pairs[0] | .same and
	    .layers == [] and .conditions == {} and .parted == null'
}

@test "conditions and measurements do not count" {
	variant c 's/policy str lru/policy str other/'
	differs 0 c
	variant c 's/^row measured run .*/row measured run 0 8 1 2 3 4 5 6 7 8/'
	differs 0 c
	variant c '/^row measured/d; /^columns measured/d; /^fact/d'
	differs 0 c
	variant c 's/backend str pread/backend str uring/'
	differs 0 c
}

@test "any logical counter of any row counts" {
	variant c 's/^\(row logical run .*\) bb 0$/\1 cc 0/'
	differs 1 c
	variant c 's/^\(row logical run .*\) bb 0$/\1 bb 0.5/'
	differs 1 c
	variant c 's/^row logical phase 0 4 4 8 20 12/row logical phase 0 4 4 8 20 13/'
	differs 1 c
	variant c 's/^row logical layer 1 0 - - 20 15/row logical layer 1 0 - - 20 14/'
	differs 1 c
	variant c 's/^row logical window 0 4 4 8 20 12/row logical window 0 4 4 8 20 11/'
	differs 1 c
}

@test "what one side lacks is not taken for 0" {
	# In all rows admit_rejects is 0; here its column is unknown.
	variant c 's/^\(row logical .*\) 0 0 \([0-9]* [-0-9a-f]* [-0-9]*\)$/\1 - 0 \2/'
	differs 1 c
	variant c '/^row logical layer 1 /d'
	differs 1 c
	cl-diff -f tsv a.cls c.cls >got || true
	grep -qx $'1\tlayer\t1\tlogical\thits\t15\t\t' got
}

@test "windows of other bounds are not compared" {
	variant c '/^row [a-z]* window /d'
	differs 0 c
	variant c 's/window 0 4/window 0 5/'
	differs 0 c
}

@test "decisions are said to part where the digests do" {
	run cl-diff a.cls b.cls
	grep -qx 'decisions part between tokens 5 and 8' <<<"$output"
	variant c 's/ aa 0$/ ab 0/'
	run cl-diff a.cls c.cls
	grep -qx 'decisions part between tokens 1 and 4' <<<"$output"
	cl-diff -f json a.cls c.cls |
	    jq -e '.pairs[0].parted == {after_token: 0, up_to_token: 4}'
}

@test "other traces, models and contracts are refused, unless forced" {
	variant trace 's/^end 1 8 feed/end 1 8 beef/'
	variant model 's/fingerprint hash 0123/fingerprint hash 1123/'
	variant contract 's/contract str event/contract str serial/'
	for what in trace model contract; do
		run --separate-stderr cl-diff a.cls "$what.cls"
		status_is 2
		stdout_is ""
		[[ $stderr == "cl-diff: a.cls and $what.cls: different ${what}s, "*"; --force compares them all the same" ]]
		run --separate-stderr cl-diff --force a.cls "$what.cls"
		status_is 0
		stderr_is ""
		grep -q "^FORCED: different ${what}s, " <<<"$output"
		cl-diff --force -f json a.cls "$what.cls" |
		    jq -e '.pairs[0].forced | startswith("different ")'
	done
}

@test "a trace that was not read whole is compared, and that is said" {
	variant c 's/^end 1 8 feed/end 1 8 0/'
	run --separate-stderr cl-diff a.cls c.cls
	status_is 0
	grep -q '^not known to be of the same trace' <<<"$output"
}

@test "interrupted runs are compared and are trouble" {
	variant c 's/^end 1/end 3/'
	run --separate-stderr cl-diff a.cls c.cls
	status_is 2
	stderr_is "cl-diff: c.cls: run 1 is interrupted"
	grep -q '; the run is interrupted$' <<<"$output"
	differs 2 c
}

@test "a stream that is cut is not compared" {
	size=$(stat -c %s a.cls)
	for ((n = 0; n < size; n += 61)); do
		head -c "$n" a.cls >cut.cls
		run --separate-stderr cl-diff a.cls cut.cls
		status_is 2
		stdout_is ""
		[ "${stderr#cl-diff: cut.cls: }" != "$stderr" ]
	done
}

@test "several runs are paired by order where they are alike" {
	variant c 's/^row logical run 0 8 8 16 40 30/row logical run 0 8 8 16 40 31/'
	cat a.cls c.cls >two.cls
	cat a.cls a.cls >same.cls
	run --separate-stderr cl-diff two.cls same.cls
	status_is 1
	grep -qx 'pair 1 of 2' <<<"$output"
	grep -qx 'the same: all 14 counters, 2 layers' <<<"$output"
	grep -qx 'different: 1 of 14 counters, 0 of 2 layers' <<<"$output"
	cl-diff -q same.cls same.cls
	run --separate-stderr cl-diff two.cls a.cls
	status_is 2
	stdout_is ""
	stderr_is "cl-diff: two.cls has 2 runs and a.cls has 1: they cannot be\
 paired"
	cat b.cls b.cls >other.cls
	run --separate-stderr cl-diff same.cls other.cls
	status_is 2
	stderr_is "cl-diff: run 1 of same.cls and of other.cls differ in\
 \"policy\": several runs are paired by their order only where they are alike"
}

@test "SYNTHETIC stands beside a side whose trace is" {
	variant c 's/origin str recorded/origin str SYNTHETIC/'
	run cl-diff a.cls c.cls
	[ "${lines[1]}" = \
	    "b  c.cls: SYNTHETIC traces/novel.clt, lru, 128 experts cached" ]
}

@test "counters above 2^53 and names that bite" {
	mkcls <"$BATS_TEST_DIRNAME/report/hard.in" >hard.cls
	sed 's/ 9007199254740993 9007199254740992 / 9007199254740994 9007199254740992 /' \
	    "$BATS_TEST_DIRNAME/report/hard.in" | mkcls >harder.cls
	run cl-diff -f tsv hard.cls harder.cls
	grep -qx $'1\trun\t\tlogical\taccesses\t9007199254740993\t9007199254740994\t1' \
	    <<<"$output"
	! cut -f 8 <<<"$output" | grep -iE 'nan|inf' || false
	run cl-diff -f json hard.cls harder.cls
	jq -e . <<<"$(grep -v '^cl-diff: ' <<<"$output")"
	run cl-diff hard.cls harder.cls
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$output" || false
}

@test "misuse says how to use it" {
	usage="usage: cl-diff [-ahqV] [-f text|tsv|json] [--force] a b"
	run --separate-stderr cl-diff a.cls
	status_is 2
	stdout_is ""
	stderr_is "cl-diff: two inputs are wanted, not 1
$usage"
	run --separate-stderr cl-diff - - <a.cls
	status_is 2
	[ "${stderr##*$'\n'}" = "$usage" ]
	run --separate-stderr cl-diff a.cls absent.cls
	status_is 2
	stderr_is "cl-diff: absent.cls: cannot open: No such file or directory"
}

@test "--help fits a screen, -V a line" {
	run --separate-stderr cl-diff --help
	status_is 0
	stderr_is ""
	[ "${#lines[@]}" -le 24 ]
	help=$output
	run --separate-stderr cl-diff -h
	stdout_is "$help"
	run --separate-stderr cl-diff -V
	status_is 0
	[[ $output =~ ^cl-diff\ [0-9.]+$ ]]
}

@test "a full disk is trouble, whatever the runs are" {
	run --separate-stderr bash -c "cl-diff a.cls b.cls >/dev/full"
	status_is 2
	stderr_is "cl-diff: standard output: cannot write: No space left on\
 device"
}
