# What happens to a pipeline and its files: signals, full disks, outputs that
# are no files.

load helpers

TRACE=$ROOT/traces/novel.clt

# Wait up to 5 s until a command succeeds.
await()
{
	for _ in {1..500}; do
		"$@" && return 0
		sleep 0.01
	done
	return 1
}

# Wait for a background job; its status is in $status.
ended()
{
	status=0
	wait "$1" || status=$?
}

has_temp()
{
	compgen -G "$1.*" >/dev/null
}

@test "a signal that ends a command leaves no half-made file" {
	mkfifo rows
	sleep 10 >rows 3>&- &
	feeder=$!
	for signal in TERM HUP; do
		cl-trace --load -o rows.clt rows 3>&- &
		await has_temp rows.clt
		kill -$signal $!
		ended $!
		[ "$status" -gt 128 ]
		! has_temp rows.clt || false
		[ ! -e rows.clt ]
	done
	kill $feeder
}

@test "what is no regular file is written to, and stays what it is" {
	mkfifo out
	cl-replay --io none "$TRACE" >want.cls
	for force in '' --force; do
		cat out >got.cls 3>&- &
		cl-replay --io none $force -o out "$TRACE"
		wait $!
		[ -p out ]
		cmp want.cls got.cls
	done
	mkdir folder
	run --separate-stderr cl-replay --io none --force -o folder "$TRACE"
	status_is 2
	stderr_is "cl-replay: folder: cannot open: Is a directory"
	run --separate-stderr cl-replay --io none -o /dev/full "$TRACE"
	status_is 2
	stderr_is "cl-replay: /dev/full: cannot write: No space left on device"
}

@test "a limit on file sizes is told like a full disk, not died of" {
	run --separate-stderr prlimit --fsize=1000 \
	    cl-replay --io none -o s.cls "$TRACE"
	status_is 2
	stderr_is "cl-replay: s.cls: cannot write: File too large"
	[ ! -e s.cls ]
	! has_temp s.cls || false
}

@test "an input in trouble does not keep the ones behind it from replay" {
	head -c 1000000 "$TRACE" >cut.clt
	echo rows >no.clt
	run --separate-stderr cl-replay --io none -o s.cls \
	    cut.clt no.clt "$TRACE"
	status_is 2
	stderr_is "cl-replay: cut.clt: incomplete: ends after token 544
cl-replay: no.clt: not a router trace: no zstd data"
	run --separate-stderr cl-report -f json s.cls
	status_is 2
	[ "$(jq -c '[.runs[].end]' <<<"$output")" = \
	    '["incomplete","complete"]' ]
}

@test "a full disk is told once, by every command" {
	cl-replay --io none "$TRACE" >s.cls
	for command in "cl-replay --io none $TRACE" "cl-trace --dump $TRACE" \
	    "cl-trace --verify $TRACE" "cl-trace --info $TRACE" \
	    "cl-trace --geometry $MODEL" "cl-trace --synthetic $MODEL" \
	    "cl-report s.cls" "cl-report -f json s.cls" \
	    "cl-diff s.cls s.cls"; do
		for full in '>/dev/full' '>&-'; do
			run --separate-stderr bash -c "$command $full"
			status_is 2
			[[ $stderr == *"standard output: cannot write: "* ]]
			[ "$(wc -l <<<"$stderr")" -eq 1 ]
		done
	done
}

@test "closed descriptors are not taken for files" {
	cl-replay --io none "$TRACE" >want.cls
	cl-replay --io none "$TRACE" <&- >got.cls
	cmp want.cls got.cls
	cl-replay --io none "$TRACE" 2>&- >got.cls
	cmp want.cls got.cls
	cl-replay --model "$MODEL" "$TRACE" <&- 2>&- >got.cls
	cl-diff -q want.cls got.cls
	for command in "cl-replay --io none" cl-report "cl-trace --info" \
	    "cl-trace --load" "cl-diff - want.cls"; do
		run --separate-stderr bash -c "$command <&-"
		status_is 2
		[[ $stderr == *"standard input: cannot read: "* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

@test "whichever stage is ended, those behind it say so and fail" {
	need libllama
	for stage in trace replay; do
		mkfifo t s
		cl-trace -n 1000 --ignore-eos "$MODEL" >t 2>trace.err 3>&- &
		trace=$!
		cl-replay --io none --window 16 <t >s 2>replay.err 3>&- &
		replay=$!
		tee s.cls <s 2>&1 3>&- | cl-report >report 2>report.err 3>&- &
		report=$!
		await test -s s.cls
		[ $stage = trace ] && kill -TERM $trace || kill -KILL $replay
		ended $trace
		[ "$status" -eq $([ $stage = trace ] && echo 2 || echo 141) ]
		ended $replay
		[ "$status" -eq $([ $stage = trace ] && echo 2 || echo 137) ]
		ended $report
		[ "$status" -eq 2 ]
		[ "$(grep -c INCOMPLETE report)" -eq 2 ]
		rm t s s.cls
	done
}
