# cl-replay --events, and what becomes of the log.

load helpers

TRACE=$ROOT/traces/mixed.clt

# Counters of the run by awk from the listing: accesses, hits, cold, capacity,
# evictions, bypass.
by_awk()
{
	awk -F '\t' 'NR > 1 { n++; c[$8]++; ev += $11 != ""; by += $9 == 0 }
	    END { print n, c["hit"] + 0, c["cold"] + 0, c["capacity"] + 0,
		ev, by }' "$1"
}

by_report()
{
	cl-report -f tsv "$1" | awk -F '\t' '$2 == "run" { v[$5] = $6 }
	    END { print v["accesses"], v["hits"], v["cold"], v["capacity"],
		v["evictions"], v["bypass"] }'
}

@test "a log adds up to the counters of its run, and gives its digest" {
	local policy contract
	for policy in lru wtinylfu arc belady-bypass none; do
		for contract in event serial; do
			cl-replay --io none --events --policy $policy \
			    --contract $contract --partition layer --cache 15% \
			    --warmup 20 "$TRACE" >log.cls
			cl-report --events log.cls >log.tsv
			[ "$(by_awk log.tsv)" = "$(by_report log.cls)" ]
		done
	done
}

@test "a log changes nothing else, with real reads, modelled ones and none" {
	cl-replay --io none "$TRACE" >plain.cls
	cl-replay --io none --events "$TRACE" >none.cls
	cl-replay --model "$MODEL" --events "$TRACE" >real.cls
	cl-replay --io model --device read=7G,latency=80us,depth=32 \
	    --model "$MODEL" --events "$TRACE" >model.cls
	for io in none real model; do
		cl-diff -q plain.cls $io.cls
		cl-report --events $io.cls >$io.tsv
		cmp none.tsv $io.tsv
	done
	[ "$(wc -l <none.tsv)" -gt 1000 ]
}

@test "events are lines of JSON, too" {
	cl-replay --io none --events --tokens 1 --cache 8e "$TRACE" >s.cls
	cl-report --events s.cls >s.tsv
	cl-report --events -f json s.cls >s.json
	jq -r '. as $e | .members | to_entries[] | [$e.run, $e.pass, $e.token,
	    $e.phase, $e.layer, .key, .value.expert, .value.class,
	    (if .value.kept then 1 else 0 end), .value.victim_layer // "",
	    .value.victim // "", ""] | @tsv' s.json >by-jq
	tail -n +2 s.tsv | diff -u - by-jq
}

@test "a run without a log is said to have none, one with another is refused" {
	cl-replay --io none "$TRACE" >s.cls
	run --separate-stderr cl-report --events s.cls
	status_is 2
	stderr_is "cl-report: run 1 has no log of events: cl-replay --events makes one"
	mkcls >bad.cls <<-'END'
	columns logical digest:hash
	event 0 0 decode 3 4:hit
	row logical run 0 2 c0ffee
	end 1 2 feed
	END
	run --separate-stderr cl-report --events bad.cls
	status_is 2
	[ "$(wc -l <<<"$output")" -eq 2 ]
	[[ $stderr == *"the digest 0000000000c0ffee is not that of its log"* ]]
	cl-report bad.cls >text
}

@test "what copies another simulator has no log" {
	run --separate-stderr cl-replay --io none --events --contract serial \
	    --policy s3fifo:compat "$TRACE"
	status_is 2
	[[ $stderr == *"only counts: it cannot go with reads, prefetch, a log of events"* ]]
}

@test "a log has the choices that routing changed, and what they came to" {
	cl-trace --dump "$TRACE" | awk -F '\t' '/^[0-9]/ {
		if ($1 FS $2 != at)
			n++
		at = $1 FS $2
		print n - 1 "\t" $6 "\t" $7
	}' >choices
	while read -r options; do
		cl-replay --io none --cache 15% --events --prefill token \
		    $options "$TRACE" >log.cls
		cl-report --events log.cls >log.tsv
		for class in replaced dropped; do
			cut -f 8 log.tsv | grep -cx $class || true
		done | xargs >lines
		[ "$(cat lines)" = "$(cl-report -f json log.cls |
		    jq -r '.runs[0].totals | "\(.substituted) \(.dropped)"')" ]
		[ "$(cat lines)" != "0 0" ]
		# Each token is an event here: its choice, and what it used.
		cl-report --events -f json log.cls >log.json
		jq -r '.changes[]? as $c | [$c.token, .layer,
		    ($c.plain | join(","))] | @tsv' log.json >plain
		[ "$(grep -cxFf plain choices)" -eq "$(sort -u plain | wc -l)" ]
		jq -se 'all(.changes == null or
		    (.changes[0].used == [.members[].expert] and
		    (.changes[0] | (.used + .left_out | length) ==
		    (.plain | length))))' log.json
		# The same, line by line.
		jq -r 'select(.changes) as $e | .changes[] as $c |
		    ($c.used - $c.plain) as $new |
		    ($c.plain - $c.used - $c.left_out) as $old |
		    range($c.plain | length) as $i | $c.plain[$i] as $x |
		    select($c.used | index($x) | not) | [$c.token, $e.layer,
		    $i, $x, if $old | index($x) then "replaced" else "dropped"
		    end, if $old | index($x) then $new[$old | index($x)] else
		    "" end] | @tsv' log.json >by-jq
		awk -F '\t' -v OFS='\t' '$8 == "replaced" || $8 == "dropped" {
		    print $3, $5, $6, $7, $8, $12 }' log.tsv | diff -u by-jq -
	done <<-'END'
		--smart delta:0.8
		--drop 0.6
		--smart prior:0.4 --drop 0.5
		--smart rank:12,keep=1 --contract serial
		--drop 10000
	END
}

@test "logs that begin with an event of which all was left out are compared" {
	for kept in hit cold; do
		mkcls >$kept.cls <<-END
		columns logical digest:hash
		event 0 0 decode 5 =0:1>>1
		event 0 0 decode 6 4:$kept
		row logical run 0 2 ${#kept}
		end 1 2 feed
		END
	done
	run -0 cl-diff hit.cls hit.cls
	[[ $output == *$'\n'"log: 0 of 2 events differ; "* ]]
	run -1 cl-diff hit.cls cold.cls
	[[ $output == *$'\n'"log: 1 of 2 events differ; "* ]]
}

@test "a log of changed choices is the same with reads and without" {
	set -- --events --smart prior:0.4 --drop 0.4 --warmup 30 --cache 20% \
	    --prefetch previous "$TRACE"
	cl-replay --io none "$@" >none.cls
	cl-replay --model "$MODEL" --threads 3 "$@" >real.cls
	for io in none real; do
		cl-report --events $io.cls >$io.tsv
	done
	cmp none.tsv real.tsv
	run -0 cl-diff none.cls real.cls
	[[ $output == *$'\n'"log: 0 of "*" events differ; "* ]]
	cut -f 8 none.tsv | sort -u | xargs >classes
	[ "$(cat classes)" = "capacity class dropped hit replaced staged" ]
}

@test "cl-diff shows choices that alone differ" {
	for used in 7 9; do
		mkcls >$used.cls <<-END
		columns logical digest:hash
		event 0 0 decode 3 =1:4,5>4,6 =3:8,9>8>9 4:hit 6:cold!
		event 0 0 decode 4 =0:1,2>$used,2 2:hit
		event 0 0 decode 5 =0:1>>1
		row logical run 0 4 $used
		end 1 4 feed
		END
	done
	run -1 cl-diff 7.cls 9.cls
	[[ $output == *$'\n'"log: 1 of 3 events differ; "* ]]
	[[ $output == *" 4       -  other choices"* ]]
	run -1 cl-diff -f tsv 7.cls 9.cls
	[[ $output == *$'\t'"changes"$'\t'"0:1,2>7,2"$'\t'"0:1,2>9,2"* ]]
	run -1 cl-diff -f json 7.cls 9.cls
	[ "$(jq -c '.pairs[0].events.first[0] | [.a, .b] |
	    map(.changes[].used)' <<<"$output")" = '[[7,2],[9,2]]' ]
	# What the rule chose is no decision.
	sed 's/1,2>7/3,2>7/' <<-'END' | mkcls >other.cls
	columns logical digest:hash
	event 0 0 decode 3 =1:4,5>4,6 =3:8,9>8>9 4:hit 6:cold!
	event 0 0 decode 4 =0:1,2>7,2 2:hit
	event 0 0 decode 5 =0:1>>1
	row logical run 0 4 7
	end 1 4 feed
	END
	run -0 cl-diff 7.cls other.cls
	[[ $output == *$'\n'"log: 0 of 3 events differ; "* ]]
}

@test "sweeps have no log" {
	run --separate-stderr cl-replay --io none --events --cache 5%,10% \
	    "$TRACE"
	status_is 2
	[[ $stderr == "cl-replay: a sweep keeps no log and judges nothing: "* ]]
}

# The cells of a row of a table, the run's number left out: NAME KEY... .
cells_of()
{
	cl-report -f tsv --table "$1" q.cls | awk -F '\t' -v key="$2" \
	    '$2 == key { $1 = ""; print; exit }'
}

@test "quality changes no decision, and its bound is what belady misses" {
	local policy contract
	for policy in lru sieve belady; do
		for contract in event serial; do
			cl-replay --io none --cache 12% --contract $contract \
			    --warmup 30 --policy $policy "$TRACE" >plain.cls
			cl-replay --io none --cache 12% --contract $contract \
			    --warmup 30 --policy $policy --quality "$TRACE" \
			    >q.cls
			diff <(cl-report -f tsv plain.cls) \
			    <(cl-report -f tsv q.cls | grep -vE $'\ttable:(decision|eviction)_')
			misses=$(cl-replay --io none --cache 12% --warmup 30 \
			    --contract $contract --policy belady "$TRACE" |
			    cl-report -f tsv | awk -F '\t' '$2 == "run" &&
			    $5 == "misses" { print $6 }')
			[[ $(cells_of decision_bound belady) == *" $misses" ]]
		done
	done
	read -r evictions optimal regret rest < <(cells_of decision_quality "")
	[ "$evictions" -gt 100 ]
	[ "$evictions" = "$optimal" ]
	[ "$regret" = 0 ]
}

@test "quality is the same with real reads, and returns add up to evictions" {
	cl-replay --io none --quality "$TRACE" >q.cls
	cl-replay --model "$MODEL" --quality "$TRACE" >real.cls
	cl-diff -q q.cls real.cls
	read -r evictions rest < <(cells_of decision_quality "")
	[ "$evictions" = "$(cl-report -f tsv --table eviction_return q.cls |
	    awk -F '\t' 'NR > 1 { n += $3 } END { print n }')" ]
	[ "$evictions" = "$(cl-report -f tsv --table eviction_regret q.cls |
	    awk -F '\t' 'NR > 1 { n += $3 } END { print n }')" ]
}

# The number from 0 of each event of two listings that differs, pass and token
# aside.
differing()
{
	paste "$1" "$2" | awk -F '\t' 'NR > 1 {
		if ($2 FS $3 FS $5 != at || $6 == 0)
			n++
		at = $2 FS $3 FS $5
		same = 1
		for (i = 5; i <= 11; i++)
			same = same && $i == $(i + 12)
		if (!same && last != n)
			print n - 1
		if (!same)
			last = n
	}'
}

@test "cl-diff shows where logs part, and how often" {
	cl-replay --io none --events --cache 12% "$TRACE" >a.cls
	cl-replay --io none --events --cache 12% --policy sieve "$TRACE" >b.cls
	cl-report --events a.cls >a.tsv
	cl-report --events b.cls >b.tsv
	differing a.tsv b.tsv >numbers
	[ "$(wc -l <numbers)" -gt 100 ]
	run -1 cl-diff -f tsv -a a.cls b.cls
	awk -F '\t' '$2 == "event" && $5 == "layer" { print $3 }' \
	    <<<"$output" | diff -u numbers -
	[ "$(awk -F '\t' '$2 == "log" && $5 == "differ" { print $6 }' \
	    <<<"$output")" = "$(wc -l <numbers)" ]
	[ "$(awk -F '\t' '$5 == "hits_alone" { print $7 - $6 }' \
	    <<<"$output")" = "$(awk -F '\t' '$1 == 1 && $2 == "run" &&
	    $5 == "hits" { print $8 }' <<<"$output")" ]
	run -1 cl-diff -f json a.cls b.cls
	jq -r '.pairs[0].events.first[].event' <<<"$output" |
	    diff -u <(head -n 10 numbers) -
	# What it prints of an event is what cl-report does.
	first=$(head -n 1 numbers)
	jq -c '.pairs[0].events.first[0] | .a, .b' <<<"$output" >by-diff
	for side in a b; do
		cl-report --events -f json $side.cls |
		    jq -c "select(.run == 1) | del(.run)" |
		    sed -n "$((first + 1))p"
	done | diff -u - by-diff
	run -1 cl-diff a.cls b.cls
	[[ $output == *$'\n'"log: "*" events differ; "* ]]
	[[ $output == *$'\npass  token  layer  expert  a '* ]]
	[[ ${lines[*]} == *" ... "* ]]
}

@test "logs that are the same, shorter, of other members, or missing" {
	cl-replay --io none --events "$TRACE" >a.cls
	cl-replay --io none "$TRACE" >plain.cls
	run -0 cl-diff a.cls a.cls
	[[ $output == *$'\n'"log: 0 of "*" events differ; 0 accesses hit in a alone, 0 in b"* ]]
	run -0 cl-diff -f json a.cls plain.cls
	[ "$(jq -r '.pairs[0].events' <<<"$output")" = null ]
	cl-replay --io none --events --tokens 20 "$TRACE" >short.cls
	run cl-diff a.cls short.cls
	more=$(($(cl-report --events -f json a.cls | wc -l) -
	    $(cl-report --events -f json short.cls | wc -l)))
	[ "$more" -gt 0 ]
	[[ $output == *"log: "*" events differ, "*" only a has; 0 accesses"* ]]
	run cl-diff -f json short.cls a.cls
	[ "$(jq '.pairs[0].events.differ' <<<"$output")" = "$more" ]
	[ "$(jq '.pairs[0].events.first[0].a' <<<"$output")" = null ]
	cl-replay --io none --events "$ROOT/traces/manual.clt" >other.cls
	run cl-diff --force a.cls other.cls
	[[ $output == *" in their members"*$'\n'*"  other members"* ]]
}
