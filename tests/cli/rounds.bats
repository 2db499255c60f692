# Rounds: more tokens than a trace holds replay it again, as if it were longer
# and its sequences new ones.

load helpers

TRACE=$ROOT/traces/speech.clt

# rounds N TRACE: the trace N times over in one, each with its own sequences.
rounds()
{
	cl-trace --dump "$2" | awk -F '\t' -v OFS='\t' -v n="$1" '
	/^# sequence/ { name[$2] = $3; seqs++; next }
	/^# (end|rows)/ { last[++nlast] = $0; next }
	/^#/ { print; next }
	$1 == "seq" { print; next }
	{ row[nrows++] = $0; if ($5 >= passes) passes = $5 + 1 }
	END {
		for (i = 0; i < n; i++)
			for (j = 0; j < seqs; j++)
				print "# sequence", i * seqs + j, name[j]
		for (i = 0; i < n; i++)
			for (j = 0; j < nrows; j++) {
				$0 = row[j]
				$1 += i * seqs
				$5 += i * passes
				print
			}
		for (j = 1; j <= nlast; j++)
			print last[j]
	}' | cl-trace --load
}

# What was counted, digest included, of every run of a stat stream.
counted()
{
	cl-report -f json "$@" | jq -S '[.runs[] |
	    (.measured // {} | keys | map([.])) as $measured |
	    [.totals, .phases, .layers, .windows] |
	    walk(if type == "object" then delpaths($measured) else . end)]'
}

@test "three rounds count what a trace three times as long does" {
	cl-trace --synthetic --tokens 60 "$MODEL" >one.clt
	rounds 3 one.clt >three.clt
	while read -r options; do
		set -- --io none --window 13 --tokens 170 $options
		cl-replay "$@" one.clt >one.cls
		cl-replay "$@" three.clt >three.cls
		counted one.cls >one.json
		counted three.cls | diff -u - one.json
		[ "$(jq '.[0][0].tokens' one.json)" -eq 170 ]
	done <<-'OPTIONS'
		--policy lru --prefetch previous --cache 10%
		--policy lru --prefetch popular --cache 10%
		--policy sieve --prefetch oracle:recall=0.5 --cache 10%
		--policy belady
		--policy static --cache 10%
		--policy belady --prefetch previous --cache 10%
		--policy 2q --contract serial
		--smart prior:0.2 --dense ring
		--warmup 5 --contract retain
	OPTIONS
	# A warm-up may take more than a round, too.
	set -- --io none --warmup 110 --tokens 60 --prefetch previous
	counted <(cl-replay "$@" one.clt) >one.json
	counted <(cl-replay "$@" three.clt) | diff -u - one.json
}

@test "prefill passes and real reads go round as well" {
	rounds 3 "$TRACE" >three.clt
	for how in --io\ none "--model $MODEL --threads 3 --prefetch popular"; do
		set -- $how --warmup 100 --tokens 1500 --prefill token
		cl-replay "$@" "$TRACE" >one.cls
		counted one.cls >one.json
		cl-replay "$@" three.clt >three.cls
		counted three.cls | diff -u - one.json
		cl-report -f json one.cls three.cls |
		    jq '.runs[].measured.checksum' | sort -u >sums
		[ "$(wc -l <sums)" -eq 1 ]
	done
}

@test "each trace of an input goes round alone, wherever it is" {
	cl-trace --synthetic --tokens 60 "$MODEL" >a.clt
	cl-trace --synthetic --tokens 40 --seed 2 "$MODEL" >b.clt
	cat a.clt b.clt a.clt >c.clt
	tar -czf c.tgz b.clt c.clt
	set -- --io none --tokens 150
	for trace in b a b a; do
		cl-replay "$@" $trace.clt
	done >alone.cls
	counted alone.cls >alone.json
	cl-replay "$@" c.tgz >tar.cls
	counted tar.cls | diff -u alone.json -
	cl-replay "$@" b.clt - <c.clt >stdin.cls
	counted stdin.cls | diff -u alone.json -
	set -- --warm "$@" --warmup 70
	cl-replay "$@" a.clt b.clt >warm.cls
	rounds 4 a.clt >a4.clt
	rounds 6 b.clt >b6.clt
	cl-replay "$@" a4.clt b6.clt >long.cls
	counted long.cls >long.json
	counted warm.cls | diff -u long.json -
}

@test "sweeps and curves go round as replays do" {
	cl-trace --synthetic --tokens 60 "$MODEL" >a.clt
	set -- --tokens 150 --warmup 10 --window 0
	for policy in lru belady; do
		for cache in 5% 20%; do
			cl-replay --io none "$@" --policy $policy --cache $cache a.clt
		done
	done >alone.cls
	cl-replay "$@" --policy lru,belady --cache 5%,20% a.clt |
	    cmp - alone.cls
	cl-replay --curve "$@" a.clt | cl-report -f json >c.json
	hits=$(counted alone.cls | jq '.[1][0].hits')
	rounds 3 a.clt | cl-replay --curve "$@" | cl-report -f json |
	    jq -S .runs[0].tables >three.json
	jq -S .runs[0].tables c.json | diff -u three.json -
	grep -q "$hits" c.json
}

@test "a pipe that ends short is told, and what it had is counted" {
	cl-trace --synthetic --tokens 60 "$MODEL" >a.clt
	for how in "--io none" "--policy lru,lfu" --curve; do
		pipe "cat a.clt | cl-replay $how --tokens 60" |
		    cl-report >/dev/null
		cat a.clt | {
			run --separate-stderr cl-replay $how --tokens 61 \
			    -o "short$how.cls"
			status_is 2
			stderr_is "cl-replay: standard input: --tokens asks for more than its 60 tokens, and a pipe cannot be read again"
		}
	done
	run --separate-stderr cl-report -f json "short--io none.cls"
	status_is 2
	[ "$(jq -r '.runs[0] | "\(.end) \(.totals.tokens)"' <<<"$output")" = \
	    "incomplete 60" ]
}

# Its windows fill the pipe long before a round is over, and so it waits.
@test "a file that is another one in the next round is told" {
	cl-trace --synthetic --tokens 1500 --scores ids "$MODEL" >t.clt
	cl-trace --synthetic --tokens 1500 --scores ids --seed 2 "$MODEL" \
	    >b.clt
	{
		status=0
		cl-replay --io none --tokens 4000 --window 1 t.clt 2>err ||
		    status=$?
		echo $status >status
	} | {
		dd bs=1 count=1 of=first 2>dd.err
		mv b.clt t.clt
		cat >rest
	}
	[ "$(cat status)" -eq 2 ]
	[ "$(cat err)" = "cl-replay: t.clt: it was changed while it was replayed" ]
}

@test "a signal ends rounds, and what was done is whole" {
	cl-trace --synthetic --tokens 60 "$MODEL" >a.clt
	cl-replay --io none --tokens 400000000 a.clt >out.cls 2>err &
	pid=$!
	until [ "$(stat -c %s out.cls)" -gt 100000 ]; do
		kill -0 $pid
		sleep 0.01
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	status_is 2
	[ "$(cat err)" = "cl-replay: a.clt: interrupted" ]
	run --separate-stderr cl-report -f json out.cls
	status_is 2
	[ "$(jq -r '.runs[0] | "\(.end) \(.totals.tokens > 60)"' \
	    <<<"$output")" = "interrupted true" ]
}

@test "a round without a token to replay is the last one" {
	cl-trace --synthetic --tokens 20 "$MODEL" | cl-trace --dump |
	    sed 's/\tdecode\t/\tprefill\t/' | cl-trace --load >p.clt
	cl-replay --io none --prefill skip --tokens 5 p.clt >s.cls
	cl-report s.cls | grep -q 'no data'
}

@test "the report says that a trace was replayed again" {
	for n in 5000 100; do
		cl-replay --io none --tokens $n "$ROOT/traces/mixed.clt" |
		    cl-report >$n
	done
	grep -q '^complete: 3,143 tokens .* again in rounds$' 5000
	grep -q '^complete: .* were read$' 100
	cl-replay --io none --prefill skip --tokens 200 \
	    "$ROOT/traces/mixed.clt" | cl-report | grep -q 'again in rounds$'
	cl-replay --stats --warmup 9999 "$ROOT/traces/mixed.clt" |
	    cl-report | grep -q '^complete: .* were read$'
}
