#!/usr/bin/env bats
# Budgets at their edges, with every policy: less than a slot, exactly one,
# exactly all, and one byte less.  None hangs, each access is of one class.

load helpers

TRACE=$ROOT/traces/novel.clt
SLOT=12288
ALL=$((512 * SLOT))

# sweep BUDGET,...: every policy with each of them, as JSON.
sweep()
{
	local all

	all=$(cl-replay --list-policies | tail -n +2 | cut -f 1 |
	    paste -sd ,)
	timeout 60 cl-replay --io none --window 0 --policy "$all" \
	    --cache "$1" "$TRACE" 2>errors | cl-report -f json >all.json
	[ "$(jq '.runs | length' all.json)" -ge 20 ]
}

# Whoever holds everything whatever the budget is not asked about slots.
bounded='.runs[] | select(.policy != "infinite")'

@test "less than a slot is one slot, for every policy, and told" {
	sweep 1,$((SLOT - 1)),$SLOT
	run jq -r "[$bounded.cache_experts] | unique | @tsv" all.json
	[ "$output" = 1 ]
	run jq '[.runs[].totals | .hits + .stage_hits + .misses ==
	    .accesses and .cold + .capacity == .misses and
	    .bypass <= .misses and .cold <= 512] | all' all.json
	[ "$output" = true ]
	grep -q 'is less than one expert takes; one slot is used' errors
	# The same slot, whatever it was called.
	run jq -r '[.runs[]] | group_by(.policy) | map(map(.digest) |
	    unique | length) | unique | @tsv' all.json
	[ "$output" = 1 ]
}

@test "what holds all experts exactly misses each once, a byte less not all" {
	sweep $ALL,$((ALL - 1))
	run jq -r "[$bounded.cache_experts] | unique | @tsv" all.json
	[ "$output" = $'511\t512' ]
	run jq -r '[.runs[] | select(.cache_experts == 512 and
	    (.policy | test("^(none|static)") | not)) | .totals |
	    [.cold, .capacity, .evictions]] | unique | @json' all.json
	[ "$output" = '[[512,0,0]]' ]
	# Who always admits, and cannot know better, pays for the byte.
	run jq '[.runs[] | select(.cache_experts == 511 and
	    (.policy | test("^(lru|fifo|clock|sieve|lfu|random)"))) |
	    .totals.capacity > 0] | all' all.json
	[ "$output" = true ]
}
