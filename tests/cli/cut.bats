# Input that stops early, at every stage of the pipe: each says so, none
# succeeds, and nothing that was whole is lost.

load helpers

# A trace of a few KB, with scores, for a model of few experts.
small_trace()
{
	mkgguf small small.gguf
	cl-trace --synthetic --tokens 6 small.gguf >small.clt
}

# Each byte with plain builds; sanitizers are slow and see a part of them.
step()
{
	if [ -z "${CL_SANITIZE:-}" ]; then echo "$1"; else echo "$2"; fi
}

# Replay and report what is in the file; both must fail, and tell.
must_be_incomplete()
{
	statuses=$(bash -c 'cl-replay --io none "$1" 2>replay.err |
	    cl-report >report 2>report.err
	    echo "${PIPESTATUS[*]}"' sh "$1")
	if [ "$statuses" != "2 2" ]; then
		echo "cut at $2: $statuses"
		return 1
	fi
	[ -s replay.err ] && [ -s report.err ] || return 1
	[ ! -s report ] || grep -qi incomplete report
}

@test "a trace cut at any byte fails every stage behind it" {
	small_trace
	size=$(stat -c %s small.clt)
	[ "$size" -gt 1000 ]
	for ((cut = 0; cut < size; cut += $(step 1 101))); do
		head -c "$cut" small.clt >cut.clt
		must_be_incomplete cut.clt "$cut"
	done
	for cut in $((size - 1)) $((size - 2)) $((size - 4)); do
		head -c "$cut" small.clt >cut.clt
		must_be_incomplete cut.clt "$cut"
	done
}

@test "a decoded trace cut between records and compressed again fails, too" {
	small_trace
	zstd -qdc small.clt >raw
	size=$(stat -c %s raw)
	records=0
	for ((off = 8; off < size; off += 12 + length)); do
		head -c "$off" raw | zstd -qc >cut.clt
		must_be_incomplete cut.clt "$off"
		length=$(od -An -tu4 -j $((off + 4)) -N 4 raw)
		records=$((records + 1))
	done
	[ "$off" -eq "$size" ]
	[ "$records" -ge 5 ]
	zstd -qc raw >whole.clt
	cl-replay --io none whole.clt | cl-report >report
}

@test "what was whole before the cut is replayed" {
	trace=$ROOT/traces/manual.clt
	zstd -qdc "$trace" >raw
	size=$(stat -c %s raw)
	cl-replay --io none "$trace" | cl-report -f json >whole.json
	head -c $((size - 40)) raw | zstd -qc >cut.clt	# inside the trailer
	cl-replay --io none cut.clt 2>err | cl-report -f json >cut.json 2>err2 ||
	    true
	grep -q 'after token 544' err
	diff -u <(jq '.runs[0].totals' whole.json) \
	    <(jq '.runs[0].totals' cut.json)
	[ "$(jq -r '.runs[0].end' cut.json)" = incomplete ]
}

@test "a stat stream cut at any byte is shown as far as it goes, and fails" {
	small_trace
	cl-replay --io none --window 2 small.clt >small.cls
	cp small.cls whole.cls
	size=$(stat -c %s small.cls)
	for ((cut = 0; cut < size; cut += $(step 1 211))); do
		head -c "$cut" small.cls >cut.cls
		run --separate-stderr cl-report cut.cls
		status_is 2
		[ -n "$stderr" ]
		[ -z "$output" ] || [[ $output == *INCOMPLETE* ]]
		run --separate-stderr cl-diff whole.cls cut.cls
		status_is 2
	done
}

@test "a producer that is killed leaves no plausible figures behind" {
	trace=$ROOT/traces/mixed.clt
	mkfifo fifo
	{ head -c 3000000 "$trace"; sleep 30; } >fifo 2>/dev/null &
	producer=$!
	cl-replay --io none <fifo >s.cls 2>err &
	replay=$!
	for _ in {1..100}; do
		[ "$(stat -c %s s.cls)" -gt 0 ] && break
		sleep 0.05
	done
	pkill -KILL -P $producer || true
	kill -KILL $producer || true	# it may have ended with its child
	status=0
	wait $replay || status=$?
	[ "$status" -eq 2 ]
	grep -q incomplete err
	run --separate-stderr cl-report s.cls
	status_is 2
	[[ $output == *INCOMPLETE* ]]
}

@test "a recorder's unfinished trace is passed on as incomplete" {
	small_trace
	# A trailer that says "interrupted", as a signal makes it.
	cl-trace --dump small.clt |
	    sed 's/^# end\tcomplete/# end\tinterrupted/' |
	    cl-trace --load >interrupted.clt
	cl-trace --info interrupted.clt | grep 'end  *interrupted'
	run --separate-stderr cl-replay --io none -o s.cls interrupted.clt
	status_is 2
	[[ $stderr == *interrupted* ]]
	run --separate-stderr cl-report s.cls
	status_is 2
	[[ $output == *INCOMPLETE* ]]
}
