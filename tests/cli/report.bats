#!/usr/bin/env bats
# cl-report on streams whose every number is known: report/NAME.in says them
# to mkcls, and report/NAME.text, .tsv and .json are what must come of them.

load helpers

IN=$BATS_TEST_DIRNAME/report

# stream NAME: NAME.cls in the folder of the test.
stream()
{
	mkcls <"$IN/$1.in" >"$1.cls"
}

# golden NAME FORM STATUS: the report is what is written down, to the byte.
golden()
{
	local status=0

	stream "$1"
	cl-report -f "$2" <"$1.cls" >got 2>errors || status=$?
	[ "$status" -eq "$3" ] || { cat errors; return 1; }
	diff -u "$IN/$1.$2" got
}

@test "a run for people, with 30 hits, 10 misses and 5 of them bypassed" {
	golden known text 0
	[ ! -s errors ]
}

@test "the same run as a table of tabs and lines" {
	golden known tsv 0
	[ ! -s errors ]
}

@test "the same run as JSON" {
	golden known json 0
	[ ! -s errors ]
	jq -e '.runs[0].totals | .hits == 30 and .misses == 10 and
	    .bypass == 5 and .accesses == .hits + .stage_hits + .misses' got
	jq -e '.runs[0].ratios.hit_rate == 0.75' got
}

@test "the hit rate is the same in every form" {
	stream known
	cl-report known.cls | grep -q '^  hits / accesses .* 75\.00%$'
	cl-report -f tsv known.cls | grep -qx $'1\trun\t\tratio\thit_rate\t0.75'
}

@test "a synthetic trace below demand, interrupted, with long tables" {
	golden synthetic text 2
	[ "$(cat errors)" = "cl-report: standard input: run 1 is interrupted:\
 the replay was stopped by a signal" ]
	head -1 got | grep -q SYNTHETIC
	golden synthetic json 2
	jq -e '.runs[0] | .cache_bytes == null and .totals.demand_bytes == null
	    and .measured == null and .routing_fingerprint == null' got
}

@test "--all shows the rows that long tables leave out" {
	stream synthetic
	run cl-report --all synthetic.cls
	[ "$(grep -c '^ *[0-9]* *50  48.00%' <<<"$output")" -eq 25 ]
	[ "$(grep -c '^ *\.\.\.' <<<"$output")" -eq 0 ]
	run cl-report synthetic.cls
	[ "$(grep -c '^ *[0-9]* *50  48.00%' <<<"$output")" -eq 20 ]
	[ "$(grep -c '^ *\.\.\.' <<<"$output")" -eq 2 ]
}

@test "a run without a measured token has no figures" {
	golden nodata text 0
	golden nodata tsv 0
	golden nodata json 0
	jq -e '.runs[0].ratios | .hit_rate == null and .tokens_per_s == null' got
}

@test "large numbers stay exact, no numbers are none, names do no harm" {
	golden hard text 2
	! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' got || false
	golden hard tsv 2
	[ "$(awk -F '\t' 'NF != 6' got | wc -l)" -eq 0 ]
	golden hard json 2
	grep -q '"accesses": 9007199254740993,' got
	jq -e '.runs[0].inf == null and .runs[0].totals.dropped_mass == null' got
}

@test "tables of any columns are shown in every form, and alone" {
	golden tables text 0
	golden tables tsv 0
	golden tables json 0
	cl-report -f tsv --table reuse tables.cls tables.cls >got
	diff -u - got <<-'END'
	run	scope	rank	n	share
	1	all	0	12	0.75
	1	all	1	4	
	2	all	0	12	0.75
	2	all	1	4	
	END
	cl-report -f json --table odd tables.cls |
	    jq -e '. == [[{a: "00000000000000ff", b: null, c: "x"},
	        {a: null, b: 0.25, c: null}]]'
	cl-report --table none tables.cls >got
	diff -u - got <<-'END'
	run 1: t.clt, stats

	none: no rows
	END
}

@test "a table that no run has is misuse, and is told which there are" {
	stream tables
	stream known
	names=$(cl-report -f json tables.cls |
	    jq -r '.runs[0].tables | keys_unsorted | join(", ")')
	for form in text tsv json; do
		run --separate-stderr cl-report -f $form --table use \
		    tables.cls known.cls tables.cls
		status_is 2
		stderr_is "cl-report: --table \"use\": no run has it;\
 there are $names"
	done
	run --separate-stderr cl-report --table reuse known.cls
	status_is 2
	stdout_is ""
	stderr_is "cl-report: --table \"reuse\": no run has it;\
 there are no tables"
	run --separate-stderr cl-report --table reuse known.cls tables.cls
	status_is 0
	[ "${lines[0]}" = "run 2: t.clt, stats" ]
	cl-replay --io model --device read=7G,latency=80us,depth=32 \
	    --cache 25% "$ROOT/traces/novel.clt" |
	    cl-report --table read_latency | sed -n 1p >got
	grep -qx 'run 1: .*novel.clt, lru, 128 experts cached.*' got
}

@test "modelled times say so, and reads, routing and memory what they were" {
	golden model text 0
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
	stream known
	cl-report model.cls known.cls | sed -n '/^  1 /,/^  2 /p' >got
	diff -u - got <<-'END'
	  1  SYNTHETIC t.clt   lru           8      10  40.00%   117 KiB  MODELLED 2000
	  2  traces/novel.clt  lru         128       8  75.00%  1.37 MiB           2667
	END
	cl-report -f json model.cls | jq -e '.runs[0].phases |
	    .prefill.wall_ns == 2000000 and .decode.compute_ns == 200'
}

@test "quantiles of latencies are those of their ranks" {
	for n in 1 2 10 999 1000 1001; do
		{
			printf 'columns logical tokens:u64\n'
			printf 'row logical run 0 1 1\ntable measured '
			printf 'read_latency 2 queue:u64 low_ns:u64 '
			printf 'high_ns:u64 count:u64\n'
			for ((i = 1; i <= n; i++)); do
				echo cells 0 $i $i 1
			done
			echo end 1 1 0
		} | mkcls >n.cls
		ceil() { echo $((($1 * n + 999) / 1000)); }
		want="$(ceil 500) $(ceil 900) $(ceil 990) $(ceil 999) $n"
		got=$(cl-report n.cls | awk '$1 == "demand" {
		    print $3, $5, $7, $9, $11 }')
		[ "${got//1.00/1000}" = "${want//1001/1000}" ]
	done
}

@test "a curve says what is needed for which share of hits" {
	golden curve text 0
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
	[ "$(cl-report -f tsv --table curve curve.cls | wc -l)" -eq 131 ]
}

# point TRACE POLICY EXPERTS HITS: a run of 40 accesses, as a stat stream.
point()
{
	mkcls <<-END
	cond trace str $1
	cond policy str $2
	cond cache_experts u64 $3
	cond budget str $3e
	columns logical tokens:u64 accesses:u64 hits:u64 misses:u64
	row logical run 0 8 8 40 $4 $((40 - $4))
	end 1 8 beef
	END
}

@test "runs that differ in policy and budget alone are a matrix" {
	{
		point t.clt lru 128 20
		point t.clt lru 16 0
		point t.clt sieve 16 4
		point t.clt belady 16 10
		point t.clt belady 128 40
		point t.clt sieve 128 20
		point t.clt sieve 64 10
	} >sweep.cls
	cl-report --sweep sweep.cls >got
	diff -u - got <<-'END'
	sweep of t.clt: hits / accesses

	experts cached       16      64      128
	lru               0.00%           50.00%
	sieve           *10.00%  25.00%   50.00%
	belady +         25.00%          100.00%
	* best of its budget, but for what knows the future
	+ knows the future, or was fitted on this trace
	END
	cl-report sweep.cls | tail -8 | diff -u got -
	cl-report --sweep -f tsv sweep.cls | sed -n 1,2p >got
	diff -u - got <<-'END'
	trace	policy	cache_experts	tokens	accesses	hits	misses	hit_rate	contract	partition	prefill	budget	complete	decode_accesses	decode_hits	decode_hit_rate
	t.clt	lru	128	8	40	20	20	0.5		global		128e	1	0	0	
	END
	cl-report --sweep -f json sweep.cls | jq -e 'length == 7 and .[1] ==
	    {trace: "t.clt", policy: "lru", cache_experts: 16, tokens: 8,
	    accesses: 40, hits: 0, misses: 40, hit_rate: 0, contract: null,
	    partition: "global", prefill: null, budget: "16e", complete: true,
	    decode_accesses: 0, decode_hits: 0, decode_hit_rate: null}'
}

@test "policies are told apart by their whole names, however long" {
	long=/a/very/long/path/to/some/folder
	for p in "static:$long/a.clt" "static:$long/b.clt" \
	    wtinylfu:window=10,period=100,sketch={1,2}; do
		point t.clt "$p" 16 $((++n))
	done >long.cls
	cl-report --sweep long.cls >got
	diff -u - got <<-'END'
	sweep of t.clt: hits / accesses

	experts cached                           16
	static:/a/ver...e/folder/a.clt [1]    2.50%
	static:/a/ver...e/folder/b.clt [2]    5.00%
	wtinylfu:wind...d=100,sketch=1 [3]    7.50%
	wtinylfu:wind...d=100,sketch=2 [4]  *10.00%
	* best of its budget, but for what knows the future
	[1] static:/a/very/long/path/to/some/folder/a.clt
	[2] static:/a/very/long/path/to/some/folder/b.clt
	[3] wtinylfu:window=10,period=100,sketch=1
	[4] wtinylfu:window=10,period=100,sketch=2
	END
	cl-report --sweep -f tsv long.cls | cut -f 2 >got
	diff -u - got <<-END
	policy
	static:$long/a.clt
	static:$long/b.clt
	wtinylfu:window=10,period=100,sketch=1
	wtinylfu:window=10,period=100,sketch=2
	END
	cl-report --sweep -f json long.cls |
	    jq -e "[.[].policy] | unique | length == 4"
}

@test "budgets are headed by what was asked for, or by their share" {
	cl-replay --policy lru,infinite --cache 10%,64e,4M \
	    "$ROOT/traces/novel.clt" >asked.cls
	cl-report --sweep asked.cls | sed -n '4,7p' >got
	diff -u - got <<-'END'
	experts cached      51      64     341
	of a budget of     10%  12.50%      4M
	lru              0.00%  20.33%  78.66%
	infinite +      94.44%  94.44%  94.44%
	END
	cl-replay --io none --policy infinite "$ROOT/traces/novel.clt" |
	    cl-report --sweep | grep -q '^experts cached *512$'
}

@test "decode has a matrix of its own where there is a prefill" {
	t=$ROOT/traces/novel.clt
	cl-replay --policy lru,lirs --cache 10%,25% "$t" >both.cls
	cl-report --sweep both.cls >got
	[ "$(grep -c '^sweep of' got)" -eq 1 ]
	for p in lru lirs; do
		sed -n '/^decode alone: /,$p' got | grep "^$p" |
		    grep -o '[0-9.]*%' >shown
		cl-report -f json both.cls | jq -r ".runs[] |
		    select(.policy | startswith(\"$p\")) | .phases.decode |
		    \"\(.hits) \(.accesses)\"" |
		    awk '{ printf "%.2f%%\n", 100 * $1 / $2 }' >true
		diff -u true shown
		[ "$(wc -l <shown)" -eq 2 ]
	done
	! cl-replay --policy lru,lirs --prefill skip "$t" |
	    cl-report --sweep | grep -q 'decode alone' || false
}

@test "matrices and lists say in what their runs differ" {
	t=$ROOT/traces/novel.clt
	{
		cl-replay --contract serial --cache 10%,20% "$t"
		cl-replay --io none --warmup 100 "$t"
		cl-replay --curve --contract serial "$t"
		cl-replay --curve --contract event "$t"
		cl-replay --stats "$t"
		cat "$t" "$t" | cl-replay --io none
	} >mixed.cls
	cl-report --sweep mixed.cls | grep -A 1 '^sweep of' >got
	diff -u - got <<-END
	sweep of $t: hits / accesses
	  contract=serial prefill=union warmup=0
	--
	sweep of $t: hits / accesses
	  contract=event prefill=union warmup=100
	--
	sweep of standard input: hits / accesses
	  contract=event prefill=union warmup=0
	--
	sweep of standard input (2): hits / accesses
	  contract=event prefill=union warmup=0
	END
	cl-report mixed.cls | sed -n '/^run  trace/,/^$/p' >got
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
	grep -q '^  4 .* curve lru serial  *-  *[0-9]*  *-' got
	grep -q '^  5 .* curve lru event  *-  *[0-9]*  *-' got
	grep -q '^  6 .* stats  *-  *[0-9]*  *-' got
	grep '^runs* [0-9]' got >told
	diff -u - told <<-'END'
	runs 1-2 have contract=serial warmup=0
	run 3 has contract=event warmup=100
	run 4 has contract=serial warmup=0
	run 5 has contract=event warmup=0
	runs 7-8 have contract=event warmup=0
	END
	cl-replay --stats "$t" "$t" "$ROOT/traces/speech.clt" |
	    cl-report | grep '^all  3 traces ' >got
	! grep -q '%' got || false
}

@test "a sweep without a replay is told, and is trouble" {
	stream curve
	cat curve.cls curve.cls >two.cls
	for form in text tsv json; do
		run --separate-stderr cl-report --sweep -f $form two.cls
		status_is 2
		stdout_is ""
		stderr_is "cl-report: --sweep: 2 runs came, and none is a\
 replay with a cache"
	done
}

@test "a real sweep is one matrix, and what has hindsight is best of nothing" {
	t=$ROOT/traces/novel.clt
	cl-replay --policy "lru,static,static:$t" --cache 5%,10% "$t" |
	    cl-report --sweep >got
	[ "$(grep -c '^sweep of' got)" -eq 1 ]
	[ "$(grep -c '^static.* + .*%' got)" -eq 4 ]
	! grep '^static' got | grep -qF '*' || false
}

@test "each trace has a matrix of its own, and few runs have none unasked" {
	{
		point a.clt lru 16 1
		point b.clt lru 16 2
		point a.clt lru 32 3
	} >two.cls
	cl-report --sweep two.cls >got
	diff -u - got <<-'END'
	sweep of a.clt: hits / accesses

	experts cached     16     32
	lru             2.50%  7.50%

	sweep of b.clt: hits / accesses

	experts cached     16
	lru             5.00%
	END
	! cl-report two.cls | grep -q '^sweep' || false
	run --separate-stderr cl-report --sweep --table curve two.cls
	status_is 2
	[ "${stderr_lines[0]}" = \
	    "cl-report: --events, --sweep and --table are reports of their own" ]
}

@test "a matrix of many budgets is broken to the width of a page" {
	for n in {1..20}; do
		point t.clt wtinylfu:window=25,and=more,parameters=yes $n $n
	done >many.cls
	cl-report --sweep many.cls >got
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
	[ "$(grep '^experts cached' got | cut -c 15- | xargs)" = \
	    "$(echo {1..20})" ]
}

@test "a policy that was fitted on its own trace says so" {
	sed '1i cond hindsight bool 1' "$IN/known.in" | mkcls >fitted.cls
	cl-report fitted.cls | grep -q '^ *HINDSIGHT: fitted on the trace '
	sed '1i cond hindsight bool 0' "$IN/known.in" | mkcls >fitted.cls
	! cl-report fitted.cls | grep -q HINDSIGHT || false
}

# A stream with the rows of standard input.
sums()
{
	{
		printf 'columns logical tokens:u64\nrow logical run 0 1 1\n'
		printf 'table logical %s\n' "$1"
		cat
		echo end 1 1 0
	} | mkcls >sums.cls
	cl-report sums.cls | sed -n '/^[a-z ]*\(foresight\|reuse\|recall\)/,$p' |
	    grep -v '^complete'
}

@test "counts by layer, rank and predictor are summed up as shares" {
	sums 'foresight 2 predictor:str layer:u64 choices:u64 foretold:u64 right:u64' \
	    >got <<-'END'
	cells popular 1 10 20 5
	cells previous 0 10 5 1
	cells popular 0 10 20 1
	END
	diff -u - got <<-'END'
	foresight: right of all choices (recall), and of what was foretold (precision)
	  predictor  choices  foretold  right  recall  precision
	  popular         20        40      6  30.00%     15.00%
	  previous        10         5      1  10.00%     20.00%

	recall by layer
	  layer  popular  previous
	      0   10.00%    10.00%
	      1   50.00%         -

	END
	sums 'reuse_distance 2 layer:u64 tokens_from:u64 uses:u64' >got <<-'END'
	cells 0 1 3
	cells 0 16 1
	cells 1 - 2
	cells 1 1 2
	END
	diff -u - got <<-'END'
	reuse distance: uses by the tokens since the one before
	  tokens_from  uses  of all
	            -     2  25.00%
	            1     5  62.50%
	           16     1  12.50%

	END
}

@test "a predictor of some layers alone has its column" {
	sums 'foresight_rank 3 predictor:str layer:u64 rank:u64 choices:u64 right:u64' \
	    >got <<-'END'
	cells popular 0 0 10 1
	cells ahead 0 0 10 2
	cells popular 0 1 10 3
	cells transition 0 1 10 4
	END
	diff -u - <(grep -v '^recall' got) <<-'END'
	  rank   ahead  popular  transition
	     0  20.00%   10.00%           -
	     1       -   30.00%      40.00%

	END
	for i in {10..25}; do
		echo "cells p$i 0 0 10 1"
	done | sums 'foresight_rank 3 predictor:str layer:u64 rank:u64 choices:u64 right:u64' >got
	[ "$(grep -c '^  p[0-9]' got)" -eq 16 ]
}

@test "counts of that name in other columns are shown as they are" {
	sums 'foresight_rank 1 rank:f64 predictor:u64 choices:u64 right:u64' \
	    >got <<<'cells 0.5 1 2 3'
	diff -u - got <<-'END'
	foresight_rank
	  rank  predictor  choices  right
	   0.5          1        2      3

	END
	sums 'reuse 1 layer:u64 choices:u64 repeated:u64' \
	    </dev/null | grep -qx 'reuse: no rows'
	columns='layer:u64 rank:u64 choices:u64 repeated:u64 same_rank:u64'
	sums "reuse 2 $columns by_chance:f64" >got <<-'END'
	cells 0 0 18446744073709551615 1 0 0.75
	cells 0 1 1 1 0 0.75
	END
	grep -q '18,446,744,073,709,551,615 *2 *0 *2 *<0.01% *0.00% *<0.01%$' \
	    got
}

@test "a wide table is broken, with its keys in every part" {
	{
		printf 'columns logical tokens:u64\nrow logical run 0 1 1\n'
		printf 'table logical wide 1 key:str'
		for i in {1..17}; do printf ' c%d:u64' $i; done
		echo
		echo cells a {1..17}
		echo end 1 1 0
	} | mkcls >wide.cls
	cl-report --table wide wide.cls >got
	[ "$(grep -c '^  key  ' got)" -eq 3 ]
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
	[ "$(grep '^  a ' got | tr -d a | xargs)" = "$(echo {1..17})" ]
}

@test "all JSON is strict" {
	for name in known synthetic nodata hard tables; do
		stream "$name"
		cl-report -f json "$name.cls" >"$name.json" 2>/dev/null || true
		jq -e . "$name.json" >/dev/null
		! grep -v '"inf"' "$name.json" | grep -iwE 'nan|inf' || false
		if command -v node >/dev/null; then
			node -e 'JSON.parse(require("fs").readFileSync(0))' \
			    <"$name.json"
		fi
	done
}

@test "no name stands twice in JSON, whatever conditions are called" {
	sed '1i cond totals str evil\ncond layers u64 1\ncond end str complete' \
	    "$IN/known.in" | mkcls >twice.cls
	cl-report -f json twice.cls >twice.json
	stream known
	cl-report -f json known.cls | diff -u - twice.json
	cl-report -f tsv twice.cls | grep -q "condition	totals	evil"
}

@test "a report fits 80 columns" {
	stream known
	stream synthetic
	cl-report known.cls >got
	cl-report synthetic.cls >>got || true
	[ "$(awk 'length > 80' got | wc -l)" -eq 0 ]
}

@test "several inputs and streams put together give every run, and a summary" {
	stream known
	stream nodata
	cat known.cls nodata.cls >both.cls
	cl-report both.cls >one
	cl-report known.cls nodata.cls >two
	cl-report known.cls - <nodata.cls >three
	diff -u one two
	diff -u one three
	sed -n '/^run  trace/,$p' one >got
	diff -u - got <<-'END'
	run  trace             policy  experts  tokens    hits    demand  tokens/s
	  1  traces/novel.clt  lru         128       8  75.00%  1.37 MiB      2667
	  2  short.clt         lru           4       0       -       0 B         -
	run 1 has model=cl-moe-8x64 prefill=union warmup=0 io=real threads=4
	    os_cache=keep
	run 2 has warmup=100
	END
	cl-report -f json known.cls nodata.cls | jq -e '.runs | length == 2'
}

@test "a run that was lost between two others is missed" {
	stream known
	stream nodata
	cat known.cls nodata.cls known.cls >three.cls
	cl-report --expect-runs 3 three.cls
	cl-report --expect-runs 4 three.cls nodata.cls
	cl-report --expect-runs 3 <three.cls
	for n in 0 2 4 18446744073709551615; do
		run --separate-stderr cl-report --expect-runs $n three.cls
		status_is 2
		stderr_is "cl-report: 3 runs came, and $n were expected"
		[ "$(grep -c '^run [0-9]*: ' <<<"$output")" -eq 3 ]
	done
	run --separate-stderr cl-report -f json --expect-runs 2 known.cls
	status_is 2
	stderr_is "cl-report: 1 run came, and 2 were expected"
	jq -e '.runs | length == 1' <<<"$output"
	for n in '' -1 x 1.5 18446744073709551616; do
		run --separate-stderr cl-report --expect-runs "$n" three.cls
		status_is 2
		stdout_is ""
		[[ ${stderr_lines[0]} == \
		    "cl-report: --expect-runs \"$n\": "* ]]
	done
}

@test "the summary tells policies' parameters and partitions apart" {
	cp "$ROOT/traces/novel.clt" .
	for p in lru,wtinylfu:window=25 "static:$PWD/novel.clt"; do
		cl-replay --io none --policy $p --partition layer novel.clt
	done >layer.cls
	cl-report layer.cls >got
	grep -q '^  1  novel.clt  lru by layer  ' got
	grep -q '^  2  novel.clt  wtinylfu:window=25 by layer  ' got
	for p in lru,wtinylfu:window=25 "static:$PWD/novel.clt"; do
		cl-replay --io none --policy $p --partition layer \
		    "$PWD/novel.clt"
	done >long.cls
	cl-report long.cls >got
	sed -n '/^run  trace/,$p' got | awk 'length > 80 { exit 1 }'
	grep -q '^  2  .*\.\.\..*l.clt  wtin.*by layer  ' got
	grep -q '^  3  .*\.\.\..*l.clt  stat.*by layer  ' got
	[ "$(grep '^run 1: ' got | wc -L)" -le 80 ]
	grep -q "^trace  *$PWD/novel.clt" got
}

@test "a stream cut at any byte shows what is intact, marked, and is trouble" {
	stream known
	size=$(stat -c %s known.cls)
	cl-report -f tsv known.cls >whole
	for ((n = 0; n < size; n += 1 + (n > 300) * 12)); do
		head -c "$n" known.cls >cut.cls
		status=0
		cl-report -f tsv cut.cls >got 2>errors || status=$?
		[ "$status" -eq 2 ]
		[ "$(wc -l <errors)" -eq 1 ]
		grep -q '^cl-report: cut.cls: ' errors
		# Nothing is there that is not in the whole, but for the end
		# and ratios that have no base yet.
		grep -v $'\tend\t\|\tratio\t' got | LC_ALL=C sort >a
		LC_ALL=C sort whole | LC_ALL=C comm -23 a - >more
		[ ! -s more ]
	done
	# The last cut only lacks the trailer.
	diff <(grep -v $'\tend\t' whole) <(grep -v $'\tend\t' got)
	grep -qx $'1\trun\t\tend\tend\tcut' got
}

@test "the mark of a cut run stands above and below, and JSON stays whole" {
	stream known
	head -c 2000 known.cls >cut.cls
	run --separate-stderr cl-report cut.cls
	status_is 2
	[ "$(grep -c '^\*\*\* INCOMPLETE' <<<"$output")" -eq 2 ]
	[ "${lines[-1]:0:14}" = "*** INCOMPLETE" ]
	run --separate-stderr cl-report -f json known.cls cut.cls
	status_is 2
	jq -e '.runs | length == 2 and .[0].end == "complete" and
	    .[1].end == "cut"' <<<"$output"
}

@test "a damaged stream is refused after what is intact" {
	stream known
	printf '\377' | dd of=known.cls bs=1 seek=1912 conv=notrunc 2>/dev/null
	run --separate-stderr cl-report known.cls
	status_is 2
	[ "${stderr#*checksum}" != "$stderr" ]
	[ "$(grep -c '^\*\*\* INCOMPLETE' <<<"$output")" -eq 2 ]
}

@test "other kinds of input are refused by name" {
	printf '\050\265\057\375abcd' >trace.clt
	run --separate-stderr cl-report trace.clt
	status_is 2
	stdout_is ""
	stderr_is "cl-report: trace.clt: byte 0: a stat stream is wanted here,\
 and this is zstd data, as traces are"
	: >empty
	run --separate-stderr cl-report empty
	status_is 2
	stderr_is "cl-report: empty: empty; a stat stream is wanted"
	stream known
	printf '\002' | dd of=known.cls bs=1 seek=4 conv=notrunc 2>/dev/null
	run --separate-stderr cl-report known.cls
	status_is 2
	stderr_is "cl-report: known.cls: a stat stream of version 2;\
 this program reads version 1"
}

@test "a file that is not there is told before anything is printed" {
	stream known
	run --separate-stderr cl-report known.cls absent.cls
	status_is 2
	stdout_is ""
	stderr_is "cl-report: absent.cls: cannot open: No such file or directory"
}

@test "misuse says how to use it" {
	usage="usage: cl-report [options] [stats ...]"
	run --separate-stderr cl-report -f html
	status_is 2
	stdout_is ""
	stderr_is "cl-report: --format \"html\": one of text, tsv, json is wanted
$usage"
	run --separate-stderr cl-report - - </dev/null
	status_is 2
	[ "${stderr##*$'\n'}" = "$usage" ]
}

@test "--help fits a screen, -V a line" {
	run --separate-stderr cl-report --help
	status_is 0
	stderr_is ""
	[ "${#lines[@]}" -le 24 ]
	help=$output
	run --separate-stderr cl-report -h
	stdout_is "$help"
	run --separate-stderr cl-report --version
	status_is 0
	[[ $output =~ ^cl-report\ [0-9.]+$ ]]
}

@test "a full disk is trouble" {
	stream known
	for form in text tsv json; do
		run --separate-stderr bash -c \
		    "cl-report -f $form known.cls >/dev/full"
		status_is 2
		stderr_is "cl-report: standard output: cannot write: No space\
 left on device"
	done
}

@test "a reader that leaves early ends the report without a word" {
	for ((i = 0; i < 200; i++)); do
		mkcls <"$IN/synthetic.in"
	done >many.cls
	run --separate-stderr bash -c \
	    'cl-report --all many.cls 2>errors | head -1; echo ${PIPESTATUS[0]}'
	[ "${lines[1]}" = 141 ]
	[ -z "$(grep -v 'is interrupted' errors)" ]
}

@test "bold is for terminals, and not with NO_COLOR" {
	command -v script >/dev/null || skip "no script"
	stream known
	cl-report known.cls >plain
	! grep -q $'\033' plain || false
	script -qec "env -u NO_COLOR cl-report known.cls" /dev/null >bold
	grep -q $'\033\[1m' bold
	script -qec "NO_COLOR=1 cl-report known.cls" /dev/null |
	    tr -d '\r' >none
	diff -u plain none
}

@test "the annotated stream of cl-stats(5) is what it says" {
	awk '/^\.Sh EXAMPLES/ { on = 1 }
	on && /^[0-9a-f][0-9a-f] / { sub(/   .*/, ""); print }' \
	    "$ROOT/man/cl-stats.5" >hex
	for byte in $(cat hex); do
		printf '%b' "\\x$byte"
	done >page.cls
	mkcls >made.cls <<-'END'
	cond contract str event
	cond cache_experts u64 4
	columns logical hits:u64 misses:u64 digest:hash
	event 0 0 decode 3 4:hit 300:hit
	event 1 1 decode 3 4:hit 5:cold>3.300
	row logical phase 1 2 3 1 -
	row logical run 0 2 3 1 4f4981ea67d00090
	table logical reuse 1 kind:str n:u64 share:f64
	cells never 2 -
	cells again 2 0.5
	end 1 2 feed
	END
	cmp page.cls made.cls
	cl-report -f tsv page.cls >got
	diff -u - got <<-'END'
	run	scope	index	kind	name	value
	1	run		condition	contract	event
	1	run		condition	cache_experts	4
	1	run		logical	hits	3
	1	run		logical	misses	1
	1	run		logical	digest	4f4981ea67d00090
	1	run		ratio	hit_rate	
	1	run		ratio	tokens_per_s	
	1	phase	decode	logical	hits	3
	1	phase	decode	logical	misses	1
	1	table:reuse	0	logical	kind	never
	1	table:reuse	0	logical	n	2
	1	table:reuse	0	logical	share	
	1	table:reuse	1	logical	kind	again
	1	table:reuse	1	logical	n	2
	1	table:reuse	1	logical	share	0.5
	1	run		end	end	complete
	1	run		end	tokens_read	2
	1	run		end	routing_fingerprint	000000000000feed
	END
	cl-report --events page.cls >got
	diff -u - got <<-'END'
	run	pass	token	phase	layer	rank	expert	class	kept	victim_layer	victim	instead
	1	0	0	decode	3	0	4	hit	1			
	1	0	0	decode	3	1	300	hit	1			
	1	1	1	decode	3	0	4	hit	1			
	1	1	1	decode	3	1	5	cold	1	3	300	
	END
}

@test "every counter is explained in cl-stats(5)" {
	names=$(sed -n 's/^\t\[CL_[NFM]_.*= "\([a-z_]*\)",*$/\1/p' \
	    "$ROOT/lib/stats/counters.c")
	[ "$(wc -w <<<"$names")" -ge 37 ]
	for name in $names; do
		grep -qx "\.It Li $name" "$ROOT/man/cl-stats.5" ||
		    { echo "$name"; false; }
	done
}

@test "every condition and fact is explained in cl-stats(5)" {
	cl-replay --model "$MODEL" "$ROOT/traces/manual.clt" |
	    cl-report -f tsv >run.tsv
	names=$(awk -F '\t' '$4 == "condition" || $4 == "machine" {
	    print $5 }' run.tsv)
	[ "$(wc -w <<<"$names")" -ge 30 ]
	for name in $names; do
		grep -qE "^\.(It )?Li ([a-z_]+ , )*$name( [,.].*)?$" \
		    "$ROOT/man/cl-stats.5" || { echo "$name"; false; }
	done
}

@test "an interrupt at the keyboard still ends in a report" {
	cl-replay --io none "$ROOT/traces/novel.clt" >s.cls
	mkfifo fifo
	# A job in the background is started with SIGINT ignored: undo that.
	env --default-signal=INT cl-report <fifo >report 2>err &
	pid=$!
	exec 7>fifo
	head -c 500 s.cls >&7
	sleep 0.5
	kill -INT $pid
	tail -c +501 s.cls >&7
	exec 7>&-
	status=0
	wait $pid || status=$?
	[ "$status" -eq 0 ]
	grep -q '^complete' report
}
