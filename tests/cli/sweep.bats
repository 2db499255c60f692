#!/usr/bin/env bats
# cl-replay: every policy with every budget in one pass, and the same bytes
# however it is cut into threads, parts and hosts.

load helpers

TRACE=$ROOT/traces/novel.clt
OTHER=$ROOT/traces/speech.clt
POLICIES=lru,wtinylfu:window=2,static,belady,static:$OTHER,lfu-aged
SIZES=5%,10%..30%/10%,64e

sweep()
{
	cl-replay --policy "$POLICIES" --cache "$SIZES" "$@"
}

# loaded FILE EXPERTS: a trace of a layer's first EXPERTS, two at a time.
loaded()
{
	local out=$1 n=$2 i

	{
		printf 'layer\texperts\n'
		for i in $(seq $((n - 1))); do
			printf '0\t%d,%d\n' $((i - 1)) $i
		done
	} | cl-trace --load -o $out
}

# The runs of the sweep, one by one.
singles()
{
	local p c

	for p in lru wtinylfu:window=2 static belady static:$OTHER \
	    lfu-aged; do
		for c in 5% 10% 20% 30% 64e; do
			cl-replay --io none --policy $p --cache $c "$@"
		done
	done
}

@test "a sweep is its runs to the byte, policies outside, budgets inside" {
	sweep "$TRACE" >sweep.cls
	singles --window 0 "$TRACE" >singles.cls
	cmp sweep.cls singles.cls
	run cl-report --expect-runs 30 sweep.cls
	status_is 0
}

@test "so it is with every option of a run, for any number of jobs" {
	for options in --window=7 --contract=serial --partition=layer \
	    "--prefill=token --window=50" "--warmup=100 --tokens=300"; do
		singles --window 0 $options "$TRACE" >singles.cls
		for jobs in 1 2 7; do
			sweep --jobs $jobs $options "$TRACE" >sweep.cls
			cmp sweep.cls singles.cls
		done
	done
}

@test "so it is for each of several traces, and with caches carried on" {
	others="$ROOT/traces/speech.clt $ROOT/traces/novel.clt"
	for option in --force --warm; do
		for p in lru,lfru lfru,belady belady,static; do
			for c in 10% 70e; do
				for one in ${p/,/ }; do
					cl-replay --io none --window 0 \
					    $option --policy $one --cache $c \
					    $others >$one-$c.cls
				done
			done
			cl-replay --policy $p --cache 10%,70e $option \
			    $others >sweep.cls
			# Of each run alone, the n-th trace.
			for n in 1 2; do
				for one in ${p/,/ }; do
					for c in 10% 70e; do
						cl-report -f json \
						    $one-$c.cls |
						    jq -c ".runs[$n - 1]"
					done
				done
			done >singles
			cl-report -f json sweep.cls | jq -c '.runs[]' >runs
			[ "$(wc -l <runs)" -eq 8 ]
			diff <(jq -c 'del(.run)' singles) \
			    <(jq -c 'del(.run)' runs)
		done
	done
}


# 40 runs that each held the trace would need twice as much.
@test "what policies that know the future need is held once" {
	need plain
	cl-trace --synthetic --scores ids --tokens 20000 "$MODEL" >long.clt
	(ulimit -v 110000 && cl-replay --jobs 1 --policy belady,belady-bypass \
	    --cache 5%..100%/5% long.clt >sweep.cls)
	run cl-report --expect-runs 40 sweep.cls
	status_is 0
}

@test "lists may be given at once or one after another" {
	sweep "$TRACE" >once.cls
	cl-replay --policy lru --cache 5% \
	    --policy wtinylfu:window=2,static,belady --cache 10%..30%/10% \
	    --policy static:$OTHER,lfu-aged --cache 64e "$TRACE" >parts.cls
	cmp once.cls parts.cls
}

@test "the trace is read once, from a pipe as well" {
	need strace
	sweep --jobs 2 "$TRACE" >file.cls
	cat "$TRACE" | sweep --jobs 2 >pipe.cls
	cl-report -f json file.cls | jq '.runs[] | del(.trace)' >file
	cl-report -f json pipe.cls | jq '.runs[] | del(.trace)' >pipe
	diff file pipe
	traced -qq -f -o log -e trace=read -P "$TRACE" \
	    cl-replay --jobs 2 --policy "$POLICIES" --cache "$SIZES" \
	    "$TRACE" >strace.cls
	cmp file.cls strace.cls
	size=$(stat -c %s "$TRACE")
	run awk '{ n += $NF } END { print n }' log
	stdout_is "$size"
}

@test "a trace that a carried cache cannot go on with is passed over" {
	loaded one.clt 5
	loaded more.clt 8
	loaded two.clt 5
	why="more.clt: --warm carries the cache from trace to trace, and $(
	    )this one is of other layers and experts"
	# More runs than an array of them is first made for.
	seeds=$(seq -s , 40 | sed 's/[0-9]*/random:seed=&/g')
	for contract in event serial retain; do
		set -- --io none --warm --contract $contract
		for sizes in 2e 2e,3e; do
			rm -f alone.cls
			for seed in ${seeds//,/ }; do
				cl-replay "$@" --window 0 --policy $seed \
				    --cache 2e one.clt two.clt >>alone.cls
			done
			run --separate-stderr cl-replay "$@" \
			    --policy $seeds --cache $sizes -o $sizes.cls \
			    --force one.clt more.clt two.clt
			status_is 2
			stdout_is ""
			stderr_is "cl-replay: $why"
			cl-report -f json $sizes.cls | jq -c '.runs[] |
			    select(.budget == "2e") | [.trace, .policy, .digest,
			    .totals]' | sort >sweep
			cl-report -f json alone.cls | jq -c '.runs[] |
			    [.trace, .policy, .digest, .totals]' |
			    sort >alone
			[ "$(wc -l <alone)" -eq 80 ]
			diff alone sweep
		done
	done
}

@test "so it is for a run alone, and whatever the slots are shared by" {
	loaded one.clt 5
	loaded more.clt 8
	loaded two.clt 5
	for partition in global layer class; do
		for policy in lru belady static static:one.clt; do
			set -- --io none --warm --window 0 --cache 2e \
			    --partition $partition --policy
			cl-replay "$@" $policy one.clt two.clt >want.cls
			for list in $policy $policy,fifo; do
				run --separate-stderr cl-replay "$@" $list \
				    --force -o got.cls one.clt more.clt \
				    two.clt
				status_is 2
				[[ ${stderr_lines[0]} == "cl-replay: more.clt"* ]]
				[ ${#stderr_lines[@]} -eq 1 ]
				for f in want got; do
					cl-report -f json $f.cls | jq -c \
					    --arg p ${policy%:*} '.runs[] |
					    select(.policy | startswith($p)) |
					    del(.run)' >$f
				done
				[ "$(wc -l <want)" -eq 2 ]
				diff want got
			done
		done
	done
}

@test "a first trace that is refused leaves an empty cache to the next" {
	loaded one.clt 5
	for policies in lru lru,belady; do
		set -- --io none --warm --window 0 --policy $policies
		run --separate-stderr cl-replay "$@" --cache 8M --force \
		    -o got.cls one.clt "$TRACE" "$OTHER"
		status_is 2
		[ ${#stderr_lines[@]} -eq 1 ]
		cl-replay "$@" --cache 8M "$TRACE" "$OTHER" | cmp - got.cls
	done
}

@test "parts put together are the whole" {
	sweep "$TRACE" >whole.cls
	for n in 1 3 30 33; do
		for i in $(seq $n); do
			sweep --part $i/$n "$TRACE"
		done >parts.cls
		cmp whole.cls parts.cls
	done
	cl-replay --part 1/1 --cache 64e "$TRACE" >part.cls
	cl-replay --io none --window 0 --cache 64e "$TRACE" | cmp - part.cls
}

@test "a sweep that would read is refused with a hint, else none is meant" {
	run --separate-stderr cl-replay --policy lru,lfu --io real "$TRACE"
	status_is 2
	stdout_is ""
	[ "${stderr_lines[0]}" = "cl-replay: a sweep only counts: give --io none, or replay one policy with one budget at a time" ]
	run --separate-stderr cl-replay --cache 5%,6% --io model \
	    --device read=7G,latency=80us,depth=32 "$TRACE"
	status_is 2
	[[ ${stderr_lines[0]} == *"a sweep only counts"* ]]
	run --separate-stderr cl-replay --cache 5%,6% --prefetch previous \
	    "$TRACE"
	status_is 2
	[ "${stderr_lines[0]}" = "cl-replay: a sweep does not prefetch: replay one policy with one budget at a time" ]
	cl-replay --cache 5%,6% --io none "$TRACE" >said.cls
	cl-replay --cache 5%,6% "$TRACE" >meant.cls
	cmp said.cls meant.cls
}

@test "what is no list, range, part or number of jobs is misuse" {
	misuse()
	{
		run --separate-stderr cl-replay "${@:2}" "$TRACE"
		status_is 2
		stdout_is ""
		[ "${stderr_lines[0]}" = "cl-replay: $1" ] || {
			echo "$stderr"
			return 1
		}
	}
	misuse '--cache "5%..9%": a range needs a step (2%..60%/2%)' \
	    --cache 5%..9%
	misuse '--cache "5%..9e/1%": a range of several units' \
	    --cache 5%..9e/1%
	misuse '--part 3: not a part of so many (2/8)' --part 3
	for part in 0/2 3/2 1/0 1/99999 /2 1/ 1/2/3; do
		run --separate-stderr cl-replay --part $part "$TRACE"
		status_is 2
		stdout_is ""
		[[ ${stderr_lines[0]} == "cl-replay: --part "* ]]
	done
	run cl-replay --jobs 0 "$TRACE"
	status_is 2
	misuse "lists of policies or budgets, and parts of them, are replayed, not studied" \
	    --calibrate --cache 5%,6%
	misuse "2 policies with 10001 budgets are more than 16384 runs" \
	    --policy lru,lfu --cache 0e..10000e/1e
}

@test "a run that cannot be is named, and nothing is written" {
	printf 'layer\texperts\n0\t1,2\n1\t0,3\n' |
	    cl-trace --load --experts 4 >bare.clt
	run --separate-stderr cl-replay --cache 50%,1M bare.clt
	status_is 2
	stdout_is ""
	stderr_is "cl-replay: a budget in bytes needs a trace that knows its experts' bytes; give N% or Ne"
}

@test "a trace cut short leaves whole runs that say so" {
	head -c 150000 "$TRACE" >cut.clt
	run --separate-stderr cl-replay --policy lru,belady --cache 10%,20% \
	    -o sweep.cls cut.clt
	status_is 2
	cl-report -f json sweep.cls >r.json || true
	run jq -r '.runs[].end' r.json
	stdout_is "incomplete
incomplete
incomplete
incomplete"
}

@test "a signal leaves whole runs that say interrupted" {
	mkfifo fifo
	cl-replay --policy lru,belady --cache 10%,20% <fifo >sweep.cls \
	    2>err 3>&- &
	pid=$!
	exec 4>fifo
	head -c 150000 "$TRACE" >&4
	sleep 0.5
	kill -TERM $pid
	rc=0
	wait $pid || rc=$?
	exec 4>&-
	[ $rc -eq 2 ]
	grep -q interrupted err
	cl-report -f json sweep.cls >r.json || true
	run jq -r '.runs[].end' r.json
	stdout_is "interrupted
interrupted
interrupted
interrupted"
}

@test "long streams wait in a file that has no name" {
	cl-trace --synthetic --tokens 800 "$MODEL" >long.clt
	mkdir scratch
	TMPDIR=$PWD/scratch sweep --window 1 long.clt >sweep.cls
	[ -z "$(ls -A scratch)" ]
	singles --window 1 long.clt >singles.cls
	cmp sweep.cls singles.cls
	export TMPDIR=$PWD/nowhere
	run --separate-stderr sweep --window 1 -o none.cls long.clt
	status_is 2
	stdout_is ""
	stderr_is "cl-replay: $PWD/nowhere: cannot make a temporary file: No such file or directory"
}
