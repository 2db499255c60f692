# cl-replay --smart and --drop: routing by what is resident, and its price.

load helpers

TRACE=$ROOT/traces/mixed.clt

# One total of a replay with these options.
total()
{
	local name=$1

	shift
	cl-replay "$@" "$TRACE" | cl-report -f json |
	    jq -r ".runs[0].totals.$name"
}

@test "every way decides alike whatever it reads with" {
	for way in '--smart delta:0.8' '--smart rank:14,keep=2' \
	    '--smart prior:0.25' '--drop 0.5' '--smart delta:1 --drop 0.4'; do
		cl-replay --io none --cache 20% $way "$TRACE" >none.cls
		for how in '--threads 1' '--threads 8 --backend pread' \
		    '--io model --device read=1G,latency=50us,depth=4'; do
			cl-replay --model "$MODEL" --cache 20% $way $how \
			    "$TRACE" >other.cls
			cl-diff none.cls other.cls >/dev/null ||
			    { echo "$way $how"; false; }
		done
	done
}

@test "with staging the decisions are still the same" {
	set -- --cache 20% --smart delta:0.8 --prefetch previous
	cl-replay --io none "$@" "$TRACE" >none.cls
	cl-replay --model "$MODEL" --threads 8 "$@" "$TRACE" >real.cls
	cl-diff none.cls real.cls >/dev/null
}

@test "what was staged for a layer that is left out does not stay" {
	for prefetch in previous popular oracle; do
		set -- --cache 20% --drop 2 --prefetch $prefetch --prefill skip
		cl-replay --io none "$@" "$TRACE" >none.cls
		cl-replay --model "$MODEL" --verify-bytes "$@" "$TRACE" \
		    >real.cls
		cl-diff none.cls real.cls >/dev/null
		cl-report -f json none.cls | jq -e '.runs[0].totals |
		    .prefetch_issued > 0 and .prefetch_issued ==
		    .prefetch_useful + .prefetch_wasted + .prefetch_left'
	done
}

@test "a way that can change nothing changes nothing" {
	plain=$(total digest --io none)
	[ "$(total digest --io none --smart rank:1)" = "$plain" ]
	[ "$(total digest --io none --smart rank:64,keep=8)" = "$plain" ]
	[ "$(total digest --io none --smart prior:0)" = "$plain" ]
	[ "$(total digest --io none --drop 0)" = "$plain" ]
	[ "$(total digest --io none --smart delta:0.5)" != "$plain" ]
}

@test "the more is accepted, the less is read, and the more it costs" {
	before=$(total misses --io none --cache 20%)
	mass=-1
	for delta in 0.1 0.4 1 3; do
		run bash -c "cl-replay --io none --cache 20% \
		    --smart delta:$delta '$TRACE' | cl-report -f json |
		    jq -r '.runs[0].totals | [.misses, .dropped_mass,
		    .max_delta, .substituted, .choices, .gate_total] | @tsv'"
		read -r misses lost gap substituted choices gates <<<"$output"
		[ "$misses" -lt "$before" ]
		before=$misses
		jq -n -e "$lost > $mass and $gap <= $delta and $gap > 0 and
		    $substituted < $choices and $lost < $gates" >/dev/null
		mass=$lost
	done
}

@test "what is left out is not read" {
	plain=$(total accesses --io none --prefill token)
	run bash -c "cl-replay --io none --prefill token --drop 0.6 '$TRACE' |
	    cl-report -f json | jq -r '.runs[0].totals |
	    .accesses + .dropped'"
	[ "$output" = "$plain" ]
	[ "$(total dropped --io none --drop 0.6)" -gt 100 ]
}

@test "the report names agreement, the gates kept, and what it is worth" {
	run --separate-stderr bash -c "cl-replay --io none --cache 20% \
	    --smart delta:0.8 '$TRACE' | cl-report"
	[ "$status" -eq 0 ]
	[[ "$output" == *agreement* ]]
	[[ "$output" == *"gate mass"* ]]
	[[ "$output" == *"open loop"* ]]
}

@test "choices alone, and a policy that knows the future, are refused" {
	printf 'layer\texperts\n0\t0,1\n0\t2,1\n' |
	    cl-trace --load --experts 4 >ids.clt
	run --separate-stderr cl-replay --io none --smart delta:1 ids.clt
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"ids.clt: --smart and --drop need a trace with scores"* ]]
	for policy in belady static; do
		run --separate-stderr cl-replay --io none --policy $policy \
		    --drop 0.2 "$TRACE"
		[ "$status" -eq 2 ]
		[[ "$stderr" == *"$policy knows the future"* ]]
	done
	cl-replay --io none --policy "static:$TRACE" --drop 0.2 "$TRACE" |
	    cl-report -f json | jq -e '.runs[0].totals.dropped > 0'
	run --separate-stderr cl-replay --smart delta:x "$TRACE"
	[ "$status" -eq 2 ]
	[[ "$stderr" == *--smart* ]]
}
