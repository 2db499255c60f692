# The benchmarks: that they build, start and end as they should.  What they find
# is of no matter here.

load helpers

PATH=$BUILD/tests/bench:$PATH
TRACE=$ROOT/traces/novel.clt

# runs PROGRAM ARGUMENT...: it does, whether or not it misses a figure.
runs()
{
	run --separate-stderr timeout 120 "$@"
	[ "$status" -le 1 ] || status_is 0
}

@test "each benchmark says how it is used" {
	for source in "$ROOT"/tests/bench/bench_*.c; do
		name=$(basename "$source" .c)
		run --separate-stderr "$name" a b c d e f g
		status_is 2
		stdout_is ""
		[[ $stderr == "usage: $name "* ]]
	done
	run --separate-stderr bench_replay -x a b
	status_is 2
	[[ $stderr == *"usage: bench_replay "* ]]
	run --separate-stderr bench_replay -n 399999 a b
	status_is 2
	[[ $stderr == "bench_replay -n: "*"from 400000 "* ]]
}

@test "fewer samples than a median needs are refused" {
	for command in "bench_gguf $MODEL" "bench_kernel none" \
	    "bench_model $BUILD $MODEL $TRACE" "bench_read a $MODEL auto 1" \
	    "bench_sweep cl-replay $TRACE" "bench_tap none $MODEL 16" \
	    bench_wait; do
		run --separate-stderr $command 4
		status_is 2
		[[ $stderr == *"from 5 to 101"* ]]
	done
}

@test "those that need little run, and print their rows" {
	need plain
	runs bench_gguf "$MODEL" 5
	[ "$(cut -f 1 <<<"$output")" = $'head_ms\nmodel_ms' ]
	runs bench_sweep "$BUILD/cl-replay" "$TRACE" 5
	[[ $output == *$'\n'"two threads / one"$'\t'* ]]
	for policy in lru belady static; do
		runs bench_replay -n 400000 -p $policy "$BUILD/cl-replay" .
		[[ $output == *$'\n'"$policy "* ]]
	done
}

@test "capturing is measured where there is a libllama" {
	need libllama
	need plain
	runs bench_tap "$CL_LLAMA" "$MODEL" 16 5
	[ "$(grep -c $'\t' <<<"$output")" -ge 3 ]
}
