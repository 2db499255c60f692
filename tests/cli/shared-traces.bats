#!/usr/bin/env bats
# Traces that other people recorded, turned into rows by jq or awk and loaded:
# each policy hits and misses as a slow independent reference counted
# (shared-traces/counts.tsv), under both contracts and both partitions.

load helpers

HERE=$ROOT/tests/cli/shared-traces

# rows NAME: the rows of that trace, as cl-trace --load takes them.
rows()
{
	local in=$SHARED/traces

	case $1 in
	olmoe)
		printf 'layer\texperts\n'
		jq -r -f "$HERE/olmoe.jq" "$in/olmoe/trace_olmoe_299.jsonl"
		;;
	granite)
		printf 'seq\tphase\tlayer\texperts\n'
		jq -r -f "$HERE/granite.jq" \
		    "$in/granite/moe_expert_trace.json"
		;;
	gptoss120)
		awk -f "$HERE/gptoss120b.awk" \
		    "$in/gpt-oss-120b/gptoss.route.csv"
		;;
	gptoss20b)
		printf 'pos\tlayer\texperts\tweights\n'
		jq -r -f "$HERE/gptoss20b.jq" \
		    "$in/gpt-oss-20b/True_True_examples.json"
		;;
	esac
}

# counts_are NAME ROWS: so many rows of counts.tsv are of that trace, and each
# comes out exactly.
counts_are()
{
	local scope capacity contract policy

	awk -F '\t' -v OFS='\t' -v name="$1" '$1 == name {
	    print $2, $3, $4, $5, $6, $7, $8, $9, $10 }' \
	    "$HERE/counts.tsv" >wanted
	[ "$(wc -l <wanted)" -eq "$2" ]
	while IFS=$'\t' read -r scope capacity contract policy _; do
		cl-replay --io none --cache "${capacity}e" --window 0 \
		    --policy "$policy" --partition "$scope" \
		    --contract "$contract" "$1.clt"
	done <wanted >all.cls
	cl-report -f json --expect-runs "$2" all.cls | jq -r '.runs[] |
	    [.partition, .cache_experts, .contract,
	    (.policy | sub(":.*"; "")), (.totals |
	    .hits, .misses, .cold, .evictions, .bypass)] | @tsv' >got
	diff -u wanted got
}

@test "olmoe: counts are those of the reference" {
	need shared traces/olmoe
	rows olmoe | cl-trace --load --layers 16 --experts 64 --used 8 \
	    >olmoe.clt
	counts_are olmoe 84
}

@test "granite: counts are those of the reference" {
	need shared traces/granite
	rows granite | cl-trace --load --layers 24 --experts 32 --used 8 \
	    >granite.clt
	counts_are granite 56
}

@test "gpt-oss-120b: counts are those of the reference" {
	need shared traces/gpt-oss-120b
	rows gptoss120 | cl-trace --load --layers 36 --experts 128 --used 2 \
	    >gptoss120.clt
	counts_are gptoss120 84
}

@test "gpt-oss-20b: counts are those of the reference" {
	need shared traces/gpt-oss-20b
	rows gptoss20b | cl-trace --load --layers 24 --experts 32 --used 4 \
	    >gptoss20b.clt
	counts_are gptoss20b 56
}

# misses_are NAME: so many misses as libCacheSim has, with every policy and
# size of libcachesim.tsv.
misses_are()
{
	local policy capacity

	awk -F '\t' -v OFS='\t' -v name="$1" '$1 == name {
	    print $2, $3, $4, $5 }' "$HERE/libcachesim.tsv" >wanted
	[ "$(wc -l <wanted)" -eq "$2" ]
	while IFS=$'\t' read -r policy capacity _; do
		cl-replay --io none --cache "${capacity}e" --window 0 \
		    --policy "$policy" --contract serial "$1.clt"
	done <wanted >all.cls
	cl-report -f json --expect-runs "$2" all.cls | jq -r '.runs[] |
	    [.cache_experts, (.totals | .accesses, .misses)] | @tsv' >got
	cut -f 2- wanted | diff -u - got
}

# The traces that libCacheSim was given.
load_three()
{
	rows olmoe | cl-trace --load --layers 16 --experts 64 --used 8 \
	    >olmoe.clt
	rows granite | cl-trace --load --layers 24 --experts 32 --used 8 \
	    >granite.clt
	rows gptoss120 | cl-trace --load --layers 36 --experts 128 --used 2 \
	    >gptoss120.clt
}

@test "misses are those of libCacheSim" {
	need shared traces
	load_three
	misses_are olmoe 33
	misses_are granite 33
	misses_are gptoss120 33
}

@test "misses beside those of the copies are as cl-policies(7) has them" {
	need shared traces
	load_three
	awk '/^trace  *slots/ { on = 1; next } /^\.Ed/ { on = 0 } on {
	    $1 = $1; print }' "$ROOT/man/cl-policies.7" >wanted
	[ "$(wc -l <wanted)" -eq 9 ]
	while read -r name slots _; do
		cl-replay --io none --window 0 --contract serial --policy \
		    s3fifo,s3fifo:compat,lirs,lirs:compat,wtinylfu,wtinylfu:compat \
		    --cache "${slots}e" "$name.clt" | cl-report -f json |
		    jq -r --arg name "$name $slots" \
		    '[$name, .runs[].totals.misses] | join(" ")'
	done <wanted >got
	diff -u wanted got
}

@test "granite: decode counts of each expert are the published ones" {
	need shared traces/granite
	rows granite | cl-trace --load --experts 32 | cl-trace --dump |
	    awk -F '\t' '$4 == "decode" {
		n = split($7, id, ",")
		for (i = 1; i <= n; i++)
			count[$6, id[i]]++
	    }
	    END {
		for (layer = 0; layer < 24; layer++)
			for (e = 0; e < 32; e++)
				print count[layer, e] + 0
	    }' >got
	jq '.decode_counts[][]' \
	    "$SHARED/traces/granite/moe_router_skew_counts.json" >wanted
	[ "$(wc -l <wanted)" -eq 768 ]
	diff -u wanted got
}

@test "what was loaded from rows is dumped and loaded again as it was" {
	local name

	need shared traces
	for name in olmoe granite gptoss120 gptoss20b; do
		rows "$name" | cl-trace --load >one.clt
		cl-trace --dump one.clt >one.tsv
		cl-trace --load one.tsv >two.clt
		cl-trace --dump two.clt >two.tsv
		cmp one.clt two.clt
		cmp one.tsv two.tsv
	done
}
