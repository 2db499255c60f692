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

@test "binary data go to no terminal, and none are waited for from one" {
	command -v script >/dev/null || skip "no script"
	mkgguf small m.gguf
	for command in "cl-trace m.gguf" "cl-trace --synthetic m.gguf" \
	    "cl-trace --load /dev/null" "cl-replay --io none $TRACE"; do
		run script -qec "$command" /dev/null </dev/null
		status_is 2
		[[ $output == *"standard output is a terminal and would get binary data; redirect it, or give -o FILE"* ]]
	done
	for command in "cl-replay --io none -o s.cls" "cl-trace --dump" \
	    "cl-trace --info" "cl-report" "cl-diff - -"; do
		run timeout 20 script -qec "$command" /dev/null </dev/null
		status_is 2
		[[ $output == *"standard input is a terminal; a file or a pipe is wanted"* ]]
	done
	[ ! -e s.cls ]
}

@test "interrupted writes lose nothing" {
	need strace
	mkgguf small m.gguf
	cl-trace --synthetic --tokens 4 m.gguf >t.clt
	cl-replay --io none t.clt >s.cls
	for command in "cl-trace --synthetic --tokens 4 m.gguf" \
	    "cl-trace --dump t.clt" "cl-replay --io none t.clt" \
	    "cl-report s.cls" "cl-diff s.cls s.cls"; do
		$command >want
		traced -f -qq -o log -e trace=write \
		    -e inject=write:error=EINTR:when=1+2 $command >got
		grep -q INJECTED log
		cmp want got
	done
}

# On a file system of 16 KiB: what could be written is marked as not all.
@test "a disk that fills on the way leaves nothing that looks whole" {
	unshare -rm mount -t tmpfs none /mnt 2>/dev/null ||
	    skip "no file systems of one's own"
	mkdir disk
	cat >fill <<-'END'
	mount -t tmpfs -o size=16k none disk || exit 1
	cl-replay --io none --window 1 -o disk/s.cls "$1"
	echo "$?"
	ls -A disk
	cl-replay --io none --window 1 "$1" >disk/s.cls
	echo "$?"
	cl-report disk/s.cls >report
	echo "$?"
	END
	run --separate-stderr unshare -rm sh fill "$TRACE"
	status_is 0
	stdout_is "2
2
2"
	[[ $stderr == "cl-replay: disk/s.cls: cannot write: No space left on device
cl-replay: standard output: cannot write: No space left on device
cl-report: disk/s.cls: ends at byte "*", before its trailer" ]]
	grep -q INCOMPLETE report
}
