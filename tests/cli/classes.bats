#!/usr/bin/env bats
# Experts of several sizes: half of the layers have larger down projections,
# one layer is F16.  Slots by class waste nothing and stay within the budget,
# and reads count as no reads do.

load helpers

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	mkgguf sizes m.gguf
	cl-trace --synthetic --tokens 60 m.gguf >t.clt
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return 1
}

# conditions OPTION ...: the effective budget of a run without reads.
conditions()
{
	cl-replay --io none "$@" t.clt | cl-report -f json |
	    jq -r '.runs[0] | [.cache_experts, .cache_bytes, .stride_bytes,
	        .slot_waste_bytes] | @tsv'
}

# Q4_K: 36864 bytes a tensor of 256 x 256; Q6_K: 53760; F16: 131072.
@test "the sizes of experts are listed, with the slots of each by class" {
	cl-replay --io none --cache 50% --partition class t.clt >s.cls
	run cl-report -f json s.cls
	jq -r '.runs[0].tables.size_classes[] | [.expert_bytes, .layers,
	    .experts, .slots, .stride_bytes] | @tsv' <<<"$output" >got
	printf '%d\t%d\t%d\t%d\t%d\n' 110592 3 24 12 110592 \
	    127488 4 32 16 131072 393216 1 8 4 393216 | diff -u - got
	run cl-report s.cls
	[[ $output == *"slots of up to 384 KiB; of a full cache 56.0 KiB "* ]]
	[[ $output == *"size_classes"* ]]
}

@test "a budget in bytes is kept by class, and buys more experts" {
	[ "$(conditions --cache 1M)" = $'2\t786432\t393216\t477696' ]
	[ "$(conditions --cache 1M --partition layer)" = \
	    $'2\t786432\t393216\t548352' ]
	read -r slots bytes _ waste <<<"$(conditions --cache 1M \
	    --partition class)"
	[ "$slots" -eq 8 ] && [ "$bytes" -le 1048576 ]
	[ "$waste" -lt $((bytes / 25)) ]
}

@test "the bytes of all slots hold everything, and a byte less does not" {
	all=$((24 * 110592 + 32 * 131072 + 8 * 393216))
	used=$(cl-replay --io none --cache "$all" --partition class t.clt |
	    cl-report -f json |
	    jq '.runs[0] | .cache_experts, .totals.capacity')
	[ "$used" = $'64\n0' ]
	[ "$(conditions --cache $((all - 1)) --partition class | cut -f 1)" \
	    = 63 ]
}

@test "reads count by class as no reads do, within the budget" {
	for prefetch in off previous; do
		for budget in 1 500000 1M 3M 100%; do
			for io in none real; do
				cl-replay --io $io --cache $budget \
				    --partition class --prefetch $prefetch \
				    --dense skip \
				    --model m.gguf t.clt >$io.cls \
				    2>$io.err || return 1
				cl-report -f json $io.cls >$io.json
				jq '.runs[0].totals' $io.json >$io
			done
			diff -u none real
			# Two slots of staging in each class, two bypasses.
			stage=$(((110592 + 131072 + 393216) * 4))
			[ $prefetch = previous ] || stage=0
			[ "$(jq '.runs[0] | .machine.arena_bytes -
			    .cache_bytes' real.json)" -eq \
			    $((stage + 2 * 393216)) ]
		done
	done
}

@test "belady is exact by class and layer, and a heuristic in one pool" {
	for partition in global layer class; do
		cl-replay --io none --cache 1M --partition $partition \
		    --policy belady t.clt
	done | cl-report -f json | jq -r '.runs[].foresight' >got
	printf '%s\n' heuristic exact exact | diff -u - got
}

@test "a sweep by class is the runs one by one" {
	cl-replay --io none --partition class --policy lru,belady \
	    --cache 1M,50% --window 0 t.clt >sweep.cls
	for policy in lru belady; do
		for budget in 1M 50%; do
			cl-replay --io none --partition class --window 0 \
			    --policy $policy --cache $budget t.clt
		done
	done >single.cls
	cl-report -f json sweep.cls | jq '.runs[] | .totals,
	    .tables.size_classes' >a
	cl-report -f json single.cls | jq '.runs[] | .totals,
	    .tables.size_classes' >b
	diff -u a b
}

@test "static by class keeps what is used most of each size" {
	cl-trace --geometry -f json m.gguf | jq -r '.layers[] |
	    [.layer, .expert_bytes] | @tsv' >sizes
	cl-replay --io none --partition class --policy static --cache 40% \
	    --prefill token t.clt | cl-report -f json >got.json
	jq -r '.runs[0].tables.size_classes[] | [.expert_bytes, .slots] |
	    @tsv' got.json >slots
	cl-trace --dump t.clt | awk -F '\t' '/^[0-9]/ {
	    n = split($7, id, ","); for (i = 1; i <= n; i++)
		print $6 "\t" id[i] }' | sort | uniq -c |
	    awk 'FILENAME == "sizes" { size[$1] = $2; next }
		{ print size[$2], $1 }' sizes - | sort -k 1,1n -k 2,2nr |
	    awk 'FILENAME == "slots" { left[$1] = $2; next }
		left[$1]-- > 0 { hits += $2 } END { print hits }' slots - \
	    >wanted
	jq '.runs[0].totals.hits' got.json | diff -u wanted -
	for budget in 1e 5e 40%; do
		cl-replay --model m.gguf --partition class --policy static \
		    --cache $budget --verify-bytes t.clt >real.cls
	done
}
