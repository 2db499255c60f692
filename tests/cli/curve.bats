# cl-replay --curve: what replays of each capacity find, in one pass.

load helpers

TRACE=$ROOT/traces/speech.clt

# The hits of caches of so many experts, by the curve in curve.json.
curve_hits()
{
	jq -r --argjson c "$1" '[.runs[0].tables.curve[] |
	    select(.layer == null and .capacity_experts <= $c)] |
	    if . == [] then 0 else .[-1].hits end' curve.json
}

# Replays of these capacities have as many hits as the curve says.
same_as_replays()
{
	local capacity

	for capacity in "$@"; do
		[ "$(cl-replay --io none --policy $policy --contract "$contract" \
		    --prefill "$prefill" --cache "${capacity}e" "$TRACE" |
		    cl-report -f json | jq .runs[0].totals.hits)" = \
		    "$(curve_hits "$capacity")" ] || return 1
	done
}

curve()
{
	contract=$1 prefill=$2 policy=${3:-lru}
	cl-replay --curve $policy --contract "$1" --prefill "$2" "$TRACE" |
	    cl-report -f json >curve.json
}

@test "a curve is what replays of single capacities find" {
	curve event union
	same_as_replays 1 2 5 8 20 47 48 49 63 64 65 66 80 128 200 256 400 \
	    500 511 512
	curve event token
	same_as_replays 1 2 7 8 9 40 63 64 65 100 512
	curve serial union
	same_as_replays 1 2 47 48 49 63 64 65 100 300 512
	curve serial skip
	same_as_replays 1 64 65 200
	curve retain union
	same_as_replays 1 5 40 63 64 65 100 300 512
}

@test "a list of contracts is a run of each, as it is alone" {
	local novel=$ROOT/traces/novel.clt trace

	for trace in "$TRACE" "$novel"; do
		for contract in serial event retain; do
			cl-replay --curve --contract $contract --window 8 \
			    --warmup 20 "$trace"
		done
	done >alone
	cl-replay --curve --contract serial,event,retain --window 8 \
	    --warmup 20 "$TRACE" "$novel" >list
	cmp alone list
	cl-replay --curve belady --contract event --tokens 900 "$TRACE" >alone
	cl-replay --curve belady --contract serial --tokens 900 "$TRACE" \
	    >>alone
	cl-replay --curve belady --contract event,serial --tokens 900 \
	    "$TRACE" >list
	cmp alone list
}

@test "a list of contracts is of curves, and has each once" {
	run --separate-stderr cl-replay --io none --contract event,serial \
	    "$TRACE"
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-replay: a list of contracts is of --curve: "* ]]
	run --separate-stderr cl-replay --curve --contract event,serial,event \
	    "$TRACE"
	status_is 2
	[[ $stderr == "cl-replay: --contract: event twice"* ]]
	run --separate-stderr cl-replay --curve --contract serial, "$TRACE"
	status_is 2
	[[ $stderr == *'--contract "": one of event, serial, retain '* ]]
}

@test "the curve of belady is none of retain" {
	run --separate-stderr cl-replay --curve belady --contract retain \
	    "$TRACE"
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-replay: --curve belady is of --contract event or "* ]]
	run --separate-stderr cl-replay --curve belady \
	    --contract event,retain "$TRACE"
	status_is 2
	[[ $stderr == "cl-replay: --curve belady is of --contract event or "* ]]
}

@test "the curve of belady is what replays with that policy find" {
	curve event union belady
	same_as_replays 1 2 5 47 48 49 63 64 65 100 300 512
	curve serial token belady
	same_as_replays 1 2 8 63 64 65 100 300 512
}

@test "the layers of a curve are replays with a pool for each" {
	cl-replay --curve "$TRACE" | cl-report -f json >curve.json
	for share in 1 3 8 20 64; do
		cl-replay --io none --partition layer \
		    --cache $((share * 8))e "$TRACE" | cl-report -f json |
		    jq -c '[.runs[0].layers[] | [.layer, .hits]]' >replay
		jq -c --argjson c $share '[.runs[0].tables.curve |
		    group_by(.layer)[] | select(.[0].layer != null) |
		    [.[0].layer, ([.[] | select(.capacity_experts <= $c)] |
		    if . == [] then 0 else .[-1].hits end)]]' curve.json >own
		cmp replay own
	done
}

@test "capacities for a share of hits are the least that have it" {
	curve event union
	run jq -c '.runs[0] as $r | [$r.tables.capacities[] |
	    select(.layer == null and .capacity_experts != null) | . as $p |
	    ([$r.tables.curve[] | select(.layer == null and
	        100 * .hits >= $p.percent * $r.totals.accesses)] |
	        .[0].capacity_experts) == $p.capacity_experts] |
	    [length > 2, all]' curve.json
	[ "$output" = '[true,true]' ]
}

@test "the working set grows to what was ever used" {
	cl-replay --curve --window 16 "$TRACE" | cl-report -f json >curve.json
	run jq -c '.runs[0] as $r | $r.tables.working_set |
	    [length > 5, ([.[].new] | add) == .[-1].seen,
	    all(.used >= .new), .[-1].tokens == $r.totals.tokens,
	    .[-1].seen == ([$r.tables.curve[] |
	        select(.layer == null)] | .[-1].misses)]' curve.json
	[ "$output" = '[true,true,true,true,true]' ]
}

@test "a curve and a bound say how many bytes their caches have" {
	cl-replay --curve "$TRACE" | cl-report >got
	experts=$(awk '$1 == "80%" { print $2; exit }' got)
	bytes=$(cl-replay --io none --cache "${experts}e" "$TRACE" |
	    cl-report -f json | jq '.runs[0].cache_bytes')
	[ "$(awk '$1 == "80%" { print $3, $4; exit }' got)" = \
	    "$(awk -v n="$bytes" 'BEGIN {
	        printf "%.2f MiB\n", n / 1048576 }')" ]
	cl-replay --bound --cache "${experts}e" "$TRACE" | cl-report >bound
	grep -Eq "^ +$experts +[0-9.]+ MiB .*% .*%$" bound
	! grep -q hits_demand bound
}

@test "the cliff is that of lru alone" {
	cl-replay --curve "$TRACE" | cl-report | grep -q 'a global LRU falls off'
	cl-replay --curve belady "$TRACE" | cl-report >got
	grep -q '^  demand ' got
	! grep -q 'falls off' got
}

@test "a curve of a trace that was cut says so" {
	head -c 20000 "$TRACE" >cut.clt
	run --separate-stderr bash -o pipefail -c \
	    'cl-replay --curve --contract event,serial cut.clt >cut.cls'
	[ "$status" -eq 2 ]
	[ -n "$stderr" ]
	run --separate-stderr cl-report -f json cut.cls
	[ "$(jq -c '[.runs[] | .contract, .end, (.tables.curve | length > 5)]' \
	    <<<"$output")" = \
	    '["event","incomplete",true,"serial","incomplete",true]' ]
}

# The bound of these budgets is what replays with both policies find; the other
# options are for all of them.
same_as_belady()
{
	local capacity policy budgets=$1

	shift
	cl-replay --bound --cache "$budgets" "$@" "$TRACE" |
	    cl-report -f json >bound.json
	for capacity in $(jq '.runs[0].tables.bound[].capacity_experts' \
	    bound.json); do
		for policy in belady belady-bypass; do
			cl-replay --io none --contract serial "$@" \
			    --policy $policy --cache "${capacity}e" -o one.cls \
			    --force "$TRACE" || return 1
			cl-report -f json one.cls |
			    jq -c ".runs[0].totals | [.accesses, .cold, .hits]"
		done
	done >replays
	jq -c '.runs[0].tables.bound[] | [.accesses, .cold] as $n |
	    $n + [.hits_demand], $n + [.hits_bypass]' bound.json >bound
	cmp replays bound
}

@test "a bound is what replays of both belady policies find" {
	same_as_belady 1e,2e,10%..50%/20%,100%
	[ "$(wc -l <bound)" -eq 12 ]
	same_as_belady 5%,30% --warmup 100 --tokens 200
	same_as_belady 20% --prefill token
	same_as_belady 20% --prefill skip
	same_as_belady 20% --tokens 1500
	[ -s bound ]
}

@test "a bound has each capacity once, in order, under serial" {
	cl-replay --bound --cache 50%,64e,2e,256e "$TRACE" |
	    cl-report -f json >bound.json
	run jq -c '.runs[0] | [.contract,
	    [.tables.bound[].capacity_experts]]' bound.json
	[ "$output" = '["serial",[2,64,256]]' ]
}

@test "a bound is of no other contract, and of no policy" {
	run --separate-stderr cl-replay --bound --contract event "$TRACE"
	[ "$status" -eq 2 ]
	[[ $stderr == *"--bound is of --contract serial"* ]]
	run --separate-stderr cl-replay --bound --policy lru,lfu "$TRACE"
	[ "$status" -eq 2 ]
	[[ $stderr == *"--policy means nothing to --bound"* ]]
	[ -z "$output" ]
}

@test "what cannot stand behind --curve is not taken for a missing trace" {
	for word in arc lru,belady; do
		run --separate-stderr cl-replay --curve $word "$TRACE"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "${stderr_lines[0]}" = "cl-replay: --curve takes lru or $(
		    )belady, and $word is no file" ]
	done
	cp "$TRACE" lru
	cl-replay --curve ./lru | cl-report | grep -q '^run 1: ./lru, curve'
	cp "$TRACE" arc
	cl-replay --curve arc | cl-report | grep -q '^run 1: arc, curve'
}
