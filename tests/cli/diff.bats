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

@test "runs that are alike in all that varies are paired by their order" {
	variant c 's/^row logical run 0 8 8 16 40 30/row logical run 0 8 8 16 40 31/'
	cat a.cls c.cls >two.cls
	cat a.cls a.cls >same.cls
	run --separate-stderr cl-diff two.cls same.cls
	status_is 1
	grep -qx 'pair 1 of 2' <<<"$output"
	grep -q '^b  same.cls: run 2: traces/novel.clt, lru, 128' <<<"$output"
	grep -qx 'the same: all 14 counters, 2 layers' <<<"$output"
	grep -qx 'different: 1 of 14 counters, 0 of 2 layers' <<<"$output"
	cl-diff -q same.cls same.cls
}

# run_of POLICY EXPERTS [TRACE [ROUTING [BUDGET]]]: a run like a.in.
run_of()
{
	sed -e "s/policy str lru/policy str $1/" \
	    -e "s/cache_experts u64 128/cache_experts u64 $2/" \
	    -e "s/cache_bytes u64 .*/cache_bytes u64 $(($2 * 147456))/" \
	    -e "s|traces/novel.clt|${3:-traces/novel.clt}|" \
	    -e "s/^end 1 8 feed/end 1 8 ${4:-feed}/" \
	    -e "s/budget str 25%/budget str ${5:-${2}e}/" "$IN/a.in" | mkcls
}

# pairs A B: what is paired, as "policy experts trace" of both, sorted; then
# the numbers of the runs that are not.
pairs()
{
	local status=0 i

	cl-diff --force -f json "$1" "$2" >p.json 2>errors || status=$?
	[ "$status" -le 1 ]
	cl-diff --force "$1" "$2" >p.text || true
	awk '/^[ab]  / && !done {
		sub(/^[ab]  [^:]*:( run [0-9]*:)? /, "")
		sub(/ experts cached$/, "")
		printf "%s%s", $0, ++n % 2 ? " | " : "\n"
	}
	/^without/ { done = 1 }' p.text
	jq -r '.unpaired | "alone \([.a[].run] | @csv) | \([.b[].run] | @csv)"' \
	    p.json
}

@test "runs are paired by whatever varies within a side" {
	{ run_of lru 64; run_of lru 128; run_of lru 256; } >a
	{ run_of other 256; run_of other 64; run_of other 512; } >b
	pairs a b | diff -u - <(cat <<-'END'
	traces/novel.clt, lru, 64 | traces/novel.clt, other, 64
	traces/novel.clt, lru, 256 | traces/novel.clt, other, 256
	alone 2 | 3
	END
	)
	{ run_of lru 64; run_of other 64; } >a
	{ run_of other 256; run_of lru 256; } >b
	pairs a b | diff -u - <(cat <<-'END'
	traces/novel.clt, lru, 64 | traces/novel.clt, lru, 256
	traces/novel.clt, other, 64 | traces/novel.clt, other, 256
	alone  | 
	END
	)
	{ run_of lru 64 x.clt 1; run_of lru 64 y.clt 2; } >a
	{ run_of other 64 y.clt 2; run_of other 64 z.clt 1; } >b
	pairs a b | diff -u - <(cat <<-'END'
	x.clt, lru, 64 | z.clt, other, 64
	y.clt, lru, 64 | y.clt, other, 64
	alone  | 
	END
	)
	{ run_of lru 64; run_of lru 128; } >a
	run_of other 128 >b
	pairs a b | diff -u - <(cat <<-'END'
	traces/novel.clt, lru, 128 | traces/novel.clt, other, 128
	alone 1 | 
	END
	)
}

@test "what varies in several ways is paired by all of them" {
	for experts in 64 128; do
		for policy in lru other; do
			run_of $policy $experts x.clt 1
			run_of $policy $experts y.clt 2
		done
	done >a
	for policy in other lru; do
		for experts in 128 64; do
			run_of $policy $experts y.clt 2
			run_of $policy $experts x.clt 1
		done
	done >b
	pairs a b >got
	[ "$(wc -l <got)" -eq 9 ]
	[ "$(awk -F ' \\| ' '$1 == $2' got | wc -l)" -eq 8 ]
	cl-diff -q a b
}

@test "a budget is what it holds, and else what was asked for" {
	{ run_of lru 64 x 1 10%; run_of lru 128 x 1 25%; } >a
	{ run_of other 128 x 1 128e; run_of other 64 x 1 64e; } >b
	pairs a b | diff -u - <(cat <<-'END'
	x, lru, 64 | x, other, 64
	x, lru, 128 | x, other, 128
	alone  | 
	END
	)
	{ run_of other 200 x 1 25%; run_of other 90 x 1 10%; } >b
	pairs a b | diff -u - <(cat <<-'END'
	x, lru, 64 | x, other, 90
	x, lru, 128 | x, other, 200
	alone  | 
	END
	)
	# The budget that follows from the trace does not pair.
	{ run_of lru 64 x 1 10%; run_of lru 128 y 2 10%; } >a
	{ run_of lru 160 x 1 25%; run_of lru 320 y 2 25%; } >b
	pairs a b | diff -u - <(cat <<-'END'
	x, lru, 64 | x, lru, 160
	y, lru, 128 | y, lru, 320
	alone  | 
	END
	)
}

@test "traces that are not known to be the same are paired by name" {
	{ run_of lru 64 x 0; run_of lru 64 y 2; } >a
	{ run_of lru 64 y 0; run_of lru 64 x 1; } >b
	pairs a b | diff -u - <(cat <<-'END'
	x, lru, 64 | x, lru, 64
	y, lru, 64 | y, lru, 64
	alone  | 
	END
	)
	# Others of the same name are refused, unless forced.
	{ run_of lru 64 x 1; run_of lru 64 y 2; } >a
	{ run_of lru 64 x 1; run_of lru 64 y 3; } >b
	run --separate-stderr cl-diff a b
	status_is 2
	stdout_is ""
	[[ $stderr == *"different traces, "*"--force compares them"* ]]
	run --separate-stderr cl-diff --force a b
	status_is 0
	[ "$(grep -c '^FORCED: different traces, ' <<<"$output")" -eq 1 ]
}

@test "runs without a partner are listed, are a difference, and sums a line" {
	{ run_of lru 64; run_of lru 128; run_of lru 256; } >a.cls
	{ run_of lru 128; run_of lru 256; run_of lru 512; } >b.cls
	run --separate-stderr cl-diff a.cls b.cls
	status_is 1
	stderr_is ""
	tail -7 <<<"$output" | diff -u - <(cat <<-'END'

	without a partner
	a  a.cls: run 1: traces/novel.clt, lru, 64 experts cached
	b  b.cls: run 3: traces/novel.clt, lru, 512 experts cached

	total: 2 pairs, 2 the same, 0 different, 2 runs without a partner
	       hits 60 to 60, misses 20 to 20
	END
	)
	run cl-diff -q a.cls b.cls
	status_is 1
	cl-diff -f tsv a.cls b.cls >got || true
	grep -v $'^[0-9]' got | tail -n +2 | diff -u - <(printf '%b' \
	    '\trun\t\tunpaired\trun\t1\t\t\n\trun\t\tunpaired\trun\t\t3\t\n' \
	    'total\trun\t\tlogical\thits\t60\t60\t0\n' \
	    'total\trun\t\tlogical\tmisses\t20\t20\t0\n' \
	    'total\trun\t\tverdict\tpairs\t2\t2\t0\n' \
	    'total\trun\t\tverdict\tsame\t2\t2\t0\n')
	[ "$(awk -F '\t' 'NF != 8' got | wc -l)" -eq 0 ]
	cl-diff -f json a.cls b.cls >got || true
	jq -e '.unpaired == {a: [{run: 1, trace: "traces/novel.clt",
	    member: 1, policy: "lru", cache_experts: 64}],
	    b: [{run: 3, trace: "traces/novel.clt", member: 1,
	    policy: "lru", cache_experts: 512}]} and .total.pairs == 2' got
}

@test "where no run has a partner there is nothing to compare" {
	{ run_of lru 64; run_of lru 128; } >a.cls
	{ run_of lru 256; run_of lru 512; } >b.cls
	run --separate-stderr cl-diff a.cls b.cls
	status_is 2
	stdout_is ""
	stderr_is "cl-diff: no run of a.cls has a partner in b.cls: none are\
 alike in what varies within a side"
}

@test "thousands of runs find their partners" {
	for ((i = 0; i < 3000; i++)); do
		echo "cond member u64 $i"
		echo "cond contract str event"
		echo "columns logical hits:u64 misses:u64"
		echo "row logical run 0 1 $i 1"
		echo "end 1 1 $((i + 1))"
	done >many.in
	mkcls <many.in >a.cls
	mkcls <<<"$(sed 's/row logical run 0 1 7 1/row logical run 0 1 8 1/' \
	    many.in)" >b.cls
	cl-diff a.cls b.cls >got || [ $? -eq 1 ]
	tail -2 got | diff -u - <(cat <<-'END'
	total: 3000 pairs, 2999 the same, 1 different, 0 runs without a partner
	       hits 4,498,500 to 4,498,501 (+1), misses 3,000 to 3,000
	END
	)
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

# tables NAME SED: the stream of report/tables.in, changed, as NAME.cls.
tables()
{
	sed "$2" "$BATS_TEST_DIRNAME/report/tables.in" | mkcls >"$1.cls"
}

@test "logical tables are compared row by row, by their keys" {
	tables a ''
	tables b 's/0 12 0.75/0 13 0.75/; s/^cells all 1 4/cells all 2 4/'
	run --separate-stderr cl-diff a.cls b.cls
	status_is 1
	grep -qx 'table reuse: 3 of 3 rows differ' <<<"$output"
	grep -qx 'all 0  n       12  13      +1  +8.33%' <<<"$output"
	grep -qx 'all 1  n        4   -  only a' <<<"$output"
	grep -qx 'all 2  n        -   4  only b' <<<"$output"
	[ "${lines[-1]}" = "different: 0 of 2 counters, 0 of 0 layers, 1 of 2\
 tables" ]
	cl-diff -f tsv a.cls b.cls >got || true
	grep -qx $'1\ttable:reuse\t0\tlogical\tn\t12\t13\t1' got
	cl-diff -f json a.cls b.cls >got || true
	jq -e '.pairs[0] | .same == false and (.tables.reuse | length == 3
	    and .[0].n == {a: 12, b: 13, change: 1}
	    and .[1].n == {a: 4, b: null, change: null})
	    and .tables.none == []' got
}

@test "rows may stand in any order, measured tables do not count" {
	tables a ''
	tables b '/^cells all 0/d; s/^cells all 1.*/&\ncells all 0 12 0.75/'
	run --separate-stderr cl-diff a.cls b.cls
	status_is 0
	[ "${lines[-1]}" = "the same: all 2 counters, 0 layers, 2 tables" ]
	tables b 's/cells ff/cells fe/; s/- 0.25/- 0.5/'
	run cl-diff -q a.cls b.cls
	status_is 0
	# A table that a side lacks is a difference, and so is another column.
	tables b '/^table logical none/d'
	run cl-diff a.cls b.cls
	status_is 1
	grep -qx 'table none, only a: 0 of 0 rows differ' <<<"$output"
	[ "${lines[-1]##*, }" = "1 of 2 tables" ]
	tables b 's/share:f64/part:f64/'
	run cl-diff -q a.cls b.cls
	status_is 1
}

@test "runs of other kinds are not compared unless forced" {
	tables a ''
	tables b 's/what str stats/what str curve/'
	run --separate-stderr cl-diff a.cls b.cls
	status_is 2
	stdout_is ""
	[[ $stderr == *"different kinds of run, stats and curve:"* ]]
	run cl-diff -q --force a.cls b.cls
	status_is 0
}
