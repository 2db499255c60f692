# cl-replay: the same decisions however it reads, and the truth about what it
# did not get.

load helpers

TRACE=$ROOT/traces/novel.clt

# The logical totals of a stat stream, one name and value a line.
totals()
{
	cl-report -f json "$1" | jq -r '.runs[] | .totals | to_entries[] |
	    "\(.key) \(.value)"'
}

# All policies, and static with a file, too.
policies()
{
	cl-replay --list-policies | tail -n +2 | cut -f 1
	echo "static:$TRACE"
}

# The experts' bytes times the misses of each layer must be what is demanded.
@test "demand bytes are the misses' bytes, by layer and in total" {
	cl-replay --io none --cache 20% "$TRACE" >s.cls
	cl-trace --geometry -f json "$MODEL" >g.json
	cl-report -f json s.cls >r.json
	run jq -n --slurpfile g g.json --slurpfile r r.json '
	    ($g[0].layers | map({key: (.layer | tostring),
	        value: .expert_bytes}) | from_entries) as $bytes |
	    $r[0].runs[0] as $run |
	    ($run.layers | all(.demand_bytes ==
	        .misses * $bytes[.layer | tostring])) and
	    ($run.layers | map(.demand_bytes) | add) ==
	        $run.totals.demand_bytes and
	    $run.totals.misses > 1000'
	[ "$output" = true ]
}

@test "counting and reading decide alike, with any number of threads" {
	for trace in "$ROOT"/traces/*.clt; do
		cl-replay --io none "$trace" >none.cls
		for threads in 1 8; do
			cl-replay --model "$MODEL" --threads $threads \
			    "$trace" >real.cls
			run cl-diff none.cls real.cls
			status_is 0
		done
	done
}

@test "so they do with every policy, partition and contract" {
	cp "$MODEL" .
	model=$(basename "$MODEL")
	for policy in $(policies); do
		for options in --partition=global --partition=layer \
		    "--partition=layer --cache=3e" \
		    "--partition=layer --contract=serial" \
		    --contract=serial; do
			set -- --policy "$policy" $options "$TRACE"
			cl-replay --io none "$@" >none.cls
			cl-replay --model "$model" --threads 3 "$@" >real.cls
			run --separate-stderr cl-diff -q none.cls real.cls
			status_is 0
		done
	done
}

@test "a run says its policy in full, and its partition" {
	cl-replay --io none --policy wtinylfu "$TRACE" >s.cls
	cl-replay --io none --partition layer --policy wtinylfu:window=30 \
	    "$TRACE" >>s.cls
	cl-report -f json s.cls | jq -r '.runs[] |
	    "\(.policy) \(.partition)"' | diff -u - <(cat <<-'END'
	wtinylfu:window=1 global
	wtinylfu:window=30 layer
	END
	)
	# The window is there: its size changes what is decided.
	cl-replay --io none --policy wtinylfu:window=30 "$TRACE" >w.cls
	cl-replay --io none --policy wtinylfu "$TRACE" >v.cls
	run cl-diff -q v.cls w.cls
	status_is 1
}

# 8 layers of 64 experts, all of the same use: a pool each, and no one's loss.
@test "slots are dealt to layers, the remainder to the first" {
	cl-trace --synthetic --tokens 400 "$MODEL" >t.clt
	cl-replay --io none --partition layer --cache 21e t.clt |
	    cl-report -f json >r.json
	# A layer of s slots is full after s admissions: what it evicts shows s.
	jq -c '[.runs[0].layers[] | .misses - .bypass - .evictions]' r.json >got
	[ "$(cat got)" = "[3,3,3,3,3,2,2,2]" ]
	cl-replay --io none --partition layer --cache 3e t.clt |
	    cl-report -f json >r.json
	jq -c '[.runs[0].layers[] | .misses - .bypass - .evictions]' r.json >got
	[ "$(cat got)" = "[1,1,1,0,0,0,0,0]" ]
	jq -e '[.runs[0].layers[3:][] | .hits == 0 and
	    .bypass == .misses] | all' r.json
}

@test "a layer with fewer experts than its share leaves the rest to others" {
	{
		printf 'layer\texperts\n'
		for ((t = 0; t < 200; t++)); do
			printf '0\t%d\n1\t%d\n2\t%d\n' $((t % 2)) \
			    $((t % 40)) $((t % 39))
		done
	} | cl-trace --load --experts 40 | cl-trace --dump |
	    awk -F '\t' -v OFS='\t' '/^# layer\t0/ { $3 = 2 } { print }' |
	    cl-trace --load >t.clt
	cl-replay --io none --partition layer --cache 31e t.clt |
	    cl-report -f json >r.json
	jq -c '[.runs[0].layers[] | .misses - .bypass - .evictions]' r.json >got
	[ "$(cat got)" = "[2,15,14]" ]
}

@test "policies are listed with their parameters, and others refused" {
	run --separate-stderr cl-replay --list-policies "$TRACE"
	status_is 2
	stdout_is ""
	[ "${stderr_lines[0]}" = \
	    "cl-replay: --list-policies takes no operand" ]
	run --separate-stderr cl-replay --list-policies
	status_is 0
	stderr_is ""
	[ "$(awk -F '\t' 'NF != 5' <<<"$output" | wc -l)" -eq 0 ]
	[ "${lines[0]}" = $'policy\tparameters\tsummary\tpaper\tretain' ]
	[[ ${lines[1]} == $'lru\t'* ]]
	[[ $output == *$'\nwtinylfu\twindow=1 (percent of the slots, 0 to 100)'*\
$'\tarXiv 1512.00727'* ]]
	tail -n +2 <<<"$output" | cut -f 1 | paste -sd , | sed 's/,/, /g' >names
	run --separate-stderr cl-replay --policy lrru "$TRACE"
	status_is 2
	stdout_is ""
	[ "${stderr_lines[0]}" = 'cl-replay: --policy: no cache policy is'\
" called \"lrru\"; there are $(cat names)" ]
	run --separate-stderr cl-replay --policy wtinylfu:win=3 "$TRACE"
	status_is 2
	stdout_is ""
	[[ ${stderr_lines[0]} == 'cl-replay: --policy: "win=3" is none of its'\
' parameters: policy wtinylfu takes window=1 (percent of the slots, 0 to 100),'* ]]
	run --separate-stderr cl-replay --partition expert "$TRACE"
	status_is 2
	[[ $stderr == *"one of global, layer, class is wanted"* ]]
}

@test "20 runs decide alike" {
	cl-replay --io none "$TRACE" >first.cls
	totals first.cls >first
	for _ in {1..20}; do
		cl-replay --model "$MODEL" --threads 8 --os-cache drop \
		    "$TRACE" >again.cls
		totals again.cls | diff -u first -
	done
}

@test "a trace from a slow pipe decides as the file does" {
	cl-replay --io none "$TRACE" >file.cls
	{ head -c 1 "$TRACE"; sleep 0.1; tail -c +2 "$TRACE" | head -c 7
	    sleep 0.1; tail -c +9 "$TRACE" | head -c 65537; sleep 0.1
	    tail -c +65546 "$TRACE"; } | cl-replay --io none >pipe.cls
	run cl-diff file.cls pipe.cls
	status_is 0
}

@test "descriptors, FIFOs and substitutions are inputs like any other" {
	cl-replay --io none "$TRACE" | cl-report -f json |
	    jq .runs[0].digest >want
	cl-replay --io none /dev/stdin <"$TRACE" | cl-report -f json |
	    jq .runs[0].digest | diff -u want -
	cl-replay --io none <(cat "$TRACE") | cl-report -f json |
	    jq .runs[0].digest | diff -u want -
	mkfifo fifo
	cat "$TRACE" >fifo &
	cl-replay --io none fifo | cl-report -f json |
	    jq .runs[0].digest | diff -u want -
}

@test "traces one after another are runs of their own" {
	cat "$TRACE" "$ROOT/traces/manual.clt" | cl-replay --io none >both.cls
	run cl-report -f json both.cls
	[ "$(jq '.runs | length' <<<"$output")" -eq 2 ]
	cl-replay --io none "$TRACE" >a.cls
	cl-replay --io none "$ROOT/traces/manual.clt" >b.cls
	cat a.cls b.cls | cl-report -f json >want.json
	diff -u <(jq '.runs[] | .totals, .digest' want.json) \
	    <(jq '.runs[] | .totals, .digest' <<<"$output")
}

@test "a budget that holds everything misses each expert once" {
	cl-replay --io none --cache 100% "$TRACE" >s.cls
	run totals s.cls
	[[ $output == *"misses 512"* ]]
	[[ $output == *"capacity 0"* ]]
	cl-replay --io none --cache 511e "$TRACE" >s.cls
	run totals s.cls
	[[ $output != *"capacity 0"* ]]
}

@test "budgets say what they became" {
	stride=12288
	while read -r budget slots; do
		cl-replay --io none --cache "$budget" "$TRACE" >s.cls
		run cl-report -f json s.cls
		[ "$(jq .runs[0].cache_experts <<<"$output")" -eq "$slots" ]
		[ "$(jq .runs[0].cache_bytes <<<"$output")" -eq \
		    $((slots * stride)) ]
	done <<-END
	1M 85
	1MB 81
	1 1
	12287 1
	24576 2
	4G 512
	50% 256
	0.2% 1
	7e 7
	9999e 512
	END
}

@test "a budget that holds no expert is raised to one slot, and told" {
	run --separate-stderr cl-replay --io none --cache 64 -o s.cls "$TRACE"
	status_is 0
	[[ $stderr == "cl-replay: --cache 64 is less than one expert"* ]]
	[ "$(cl-report -f json s.cls | jq .runs[0].cache_experts)" -eq 1 ]
	run --separate-stderr cl-replay --io none --cache 12K -o s.cls --force \
	    "$TRACE"
	status_is 0
	[ -z "$stderr" ]
}

@test "sizes that are none are refused with their reason" {
	for size in '' -1G '4 G' 16E 4Gx 101% 1.234% 0x10 4.; do
		run --separate-stderr cl-replay --cache "$size" "$TRACE"
		status_is 2
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == 'cl-replay: --cache "'* ]]
	done
}

# CRC-32C of hexadecimal bytes on stdin, as its four bytes.
crc32c()
{
	local crc=$((0xffffffff)) byte bit

	while read -r byte; do
		crc=$((crc ^ 0x$byte))
		for bit in 1 2 3 4 5 6 7 8; do
			crc=$((crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1))
		done
	done
	crc=$((crc ^ 0xffffffff))
	printf '\\x%02x' $((crc & 255)) $((crc >> 8 & 255)) \
	    $((crc >> 16 & 255)) $((crc >> 24))
}

# The trailer is sound, and its routing fingerprint is of other choices.
@test "a replay is of the choices that were recorded, or is trouble" {
	cl-trace --synthetic --tokens 30 "$MODEL" | zstd -qdc >raw
	at=$(($(stat -c %s raw) - 84))
	bytes=$(od -An -v -tx1 -w1 -j $at raw | tr -d ' ')
	sum=$({ sed -n 1,8p <<<"$bytes"; sed -n '13,$p' <<<"$bytes"; } |
	    crc32c)
	[ "$(printf "$sum" | od -An -tx1)" = \
	    "$(od -An -tx1 -j $((at + 8)) -N 4 raw)" ]
	last=$(tail -n 1 <<<"$bytes")
	last=$(printf %02x $((0x$last ^ 1)))
	sum=$({ sed -n 1,8p <<<"$bytes"; sed -n '13,$p' <<<"$bytes" |
	    sed '$d'; echo "$last"; } | crc32c)
	printf "$sum" | dd of=raw bs=1 seek=$((at + 8)) conv=notrunc status=none
	printf "\\x$last" |
	    dd of=raw bs=1 seek=$((at + 83)) conv=notrunc status=none
	zstd -qc raw >other.clt
	run --separate-stderr cl-replay --io none -o s.cls other.clt
	status_is 2
	[[ $stderr == *"routing fingerprint "*" recorded, "*" recomputed" ]]
	run --separate-stderr cl-report -f json s.cls
	[ "$(jq -c '.runs[0] | [.totals.tokens, .end, .routing_fingerprint]' \
	    <<<"$output")" = '[30,"incomplete",null]' ]
}

@test "a trace cut anywhere is told, and what was whole is replayed" {
	size=$(stat -c %s "$TRACE")
	for cut in 0 1 3 4 100 1000 $((size / 3)) $((size / 2)) \
	    $((size - 1)); do
		head -c "$cut" "$TRACE" >cut.clt
		run --separate-stderr cl-replay --io none -o cut.cls --force \
		    cut.clt
		status_is 2
		[[ $stderr == cl-replay:\ cut.clt:* ]]
		[ -e cut.cls ] || continue
		run --separate-stderr cl-report cut.cls
		status_is 2
		[[ $output$stderr == *[Ii][Nn][Cc][Oo][Mm][Pp][Ll][Ee]* ]] ||
		    [[ $stderr == *empty* ]]
	done
}

@test "garbage behind a trace is told" {
	for tail in 'x' '(' $'\n'; do
		{ cat "$TRACE"; printf %s "$tail"; } >t.clt
		run --separate-stderr cl-replay --io none t.clt
		status_is 2
		[[ $stderr == *"what follows"* ]]
	done
	head -c 4194304 /dev/zero | cat "$TRACE" - >t.clt
	run --separate-stderr cl-replay --io none t.clt
	status_is 2
}

@test "what is no trace is told by what it is" {
	cl-replay --io none "$TRACE" >s.cls
	run --separate-stderr cl-replay --io none s.cls
	status_is 2
	[[ $stderr == *"stat stream"* ]]
	run --separate-stderr cl-replay --io none "$MODEL"
	status_is 2
	[[ $stderr == *GGUF* ]]
	run --separate-stderr cl-replay --io none /dev/null
	status_is 2
	[[ $stderr == *empty* ]]
	run --separate-stderr cl-report "$TRACE"
	status_is 2
	[[ $stderr == *zstd* ]]
}

@test "the model is found by its path, beside the trace, then by --model" {
	mkdir near far
	cp "$TRACE" near/t.clt
	run --separate-stderr cl-replay near/t.clt
	status_is 2
	[[ $stderr == *"--model FILE"* ]]
	cp "$MODEL" far/other-name.gguf
	cl-replay --model far/other-name.gguf near/t.clt >a.cls
	cp "$MODEL" near/
	cl-replay near/t.clt >b.cls
	run cl-diff a.cls b.cls
	status_is 0
	(cd "$ROOT" && cl-replay traces/novel.clt) >c.cls
	run cl-diff a.cls c.cls
	status_is 0
}

@test "another model is refused by its fingerprint" {
	mkgguf loadable other.gguf layers=8 experts=64 used=8
	run --separate-stderr cl-replay --model other.gguf "$TRACE"
	status_is 2
	[[ $stderr == *fingerprint* ]]
	[ -z "$output" ]
	cp "$MODEL" short.gguf
	truncate -s -1 short.gguf
	run --separate-stderr cl-replay --model short.gguf "$TRACE"
	status_is 2
}

# The fingerprint is right, and what the trace says of the experts is not.
@test "a trace whose experts are not the model's is refused" {
	cl-trace --synthetic --tokens 20 "$MODEL" | cl-trace --dump >rows
	for edit in '/^# slab/ { next } /^# layer/ { $5 = 100 }' \
	    '/^# slab/ { next } /^# layer/ { $5 = 0 }' \
	    '/^# layer\t7/ { $5 /= 2 } /^# slab\t7/ { $7 /= 2; $8 /= 2 }'; do
		awk -F '\t' -v OFS='\t' "$edit { print }" rows |
		    cl-trace --load >edited.clt
		run --separate-stderr cl-replay edited.clt
		status_is 2
		[[ $stderr == *"experts of other bytes" ]]
		[ -z "$output" ]
	done
}

@test "a read that fails is told with expert, file and offset" {
	need strace
	cp "$MODEL" m.gguf
	run --separate-stderr traced -f -o /dev/null -P m.gguf \
	    -e inject=pread64:error=EIO:when=200 \
	    cl-replay --model m.gguf --backend pread --threads 2 -o out.cls \
	    "$TRACE"
	status_is 2
	[[ $stderr == *cl-replay:\ layer\ *\ expert\ *:\ m.gguf:\ offset\ * ]]
	[[ $stderr == *"Input/output error"* ]]
	[ ! -e out.cls ]
}

@test "a trace that cannot be read on is replayed as far as it came" {
	need strace
	cp "$TRACE" t.clt
	run --separate-stderr traced -o /dev/null -P t.clt \
	    -e inject=read:error=EIO:when=3 cl-replay --io none -o s.cls t.clt
	status_is 2
	[[ $stderr == *"t.clt: cannot read: Input/output error (after token"* ]]
	run --separate-stderr cl-report -f json s.cls
	status_is 2
	[ "$(jq -r '.runs[0].end' <<<"$output")" = incomplete ]
	[ "$(jq '.runs[0].totals.tokens' <<<"$output")" -gt 100 ]
}

@test "interrupted and short reads change nothing" {
	need strace
	cp "$MODEL" m.gguf
	cl-replay --io none "$TRACE" >want.cls
	traced -f -o /dev/null -P m.gguf -P "$TRACE" \
	    -e inject=read,pread64:error=EINTR:when=3+5 \
	    cl-replay --model m.gguf "$TRACE" >got.cls
	run cl-diff want.cls got.cls
	status_is 0
}

@test "a window is a row, and windows add up" {
	cl-replay --io none --window 100 "$TRACE" | cl-report -f json >r.json
	run jq '.runs[0] | (.windows | map(.hits) | add) == .totals.hits and
	    (.windows | length) > 3 and
	    .phases.prefill.hits + .phases.decode.hits == .totals.hits' r.json
	[ "$output" = true ]
	cl-replay --io none --window 0 "$TRACE" | cl-report -f json >r.json
	[ "$(jq '.runs[0].windows | length' r.json)" -eq 0 ]
}

@test "tokens and warm-up are counted where a pass ends" {
	cl-replay --io none --warmup 700 --tokens 50 "$TRACE" |
	    cl-report -f json >r.json
	[ "$(jq .runs[0].totals.tokens r.json)" -eq 50 ]
	[ "$(jq .runs[0].phases.prefill.tokens r.json)" -eq 0 ]
	run cl-replay --io none --warmup 100000 "$TRACE"
	status_is 0
	cl-replay --io none --warmup 100000 "$TRACE" | cl-report >r.txt
	grep -q 'no data' r.txt
	run grep -i nan r.txt
	status_is 1
}

@test "memory does not grow with the trace" {
	need plain
	cl-trace --synthetic --tokens 20000 --scores ids "$MODEL" >s.clt
	cl-trace --synthetic --tokens 100000 --scores ids "$MODEL" >l.clt
	small=$(peak s.clt)
	large=$(peak l.clt)
	echo "peak $small kB for 20000 tokens, $large kB for 100000"
	[ "$large" -lt $((small + 512)) ]
}

# Peak resident kilobytes of a replay, as it reports them of itself.
peak()
{
	cp "$MODEL" .
	cl-replay --window 0 --model "$(basename "$MODEL")" "$1" |
	    cl-report -f json | jq '.runs[0].measured.rss_peak / 1024 | floor'
}

@test "an interrupted replay leaves a whole stream that says so" {
	mkfifo fifo
	cl-replay --io none --window 8 fifo >s.cls 2>err &
	pid=$!
	exec 7>fifo
	head -c -1000 "$TRACE" >&7
	for _ in {1..100}; do		# until windows have come
		[ "$(stat -c %s s.cls)" -gt 4000 ] && break
		sleep 0.1
	done
	kill -TERM $pid			# while it waits for more
	status=0
	wait $pid || status=$?
	exec 7>&-
	[ "$status" -eq 2 ]
	[ "$(cat err)" = "cl-replay: fifo: interrupted" ]
	run --separate-stderr cl-report s.cls
	[[ $output == *INTERRUPTED* ]]
}

@test "binary output to a terminal is refused" {
	run script -qec "cl-replay --io none $TRACE" /dev/null
	[ "$status" -eq 2 ]
	[[ $output == *"is a terminal"* ]]
}

@test "a full disk is not success" {
	[ -e /dev/full ] || skip "no /dev/full"
	run --separate-stderr bash -c "cl-replay --io none $TRACE >/dev/full"
	status_is 2
	[[ $stderr == *"No space left"* ]]
}

@test "an output file is made whole, and replaced only by force" {
	echo precious >s.cls
	run --separate-stderr cl-replay --io none -o s.cls "$TRACE"
	status_is 2
	[ "$(cat s.cls)" = precious ]
	cl-replay --io none -o s.cls --force "$TRACE"
	cl-replay --io none "$TRACE" | cmp - s.cls
	[ -z "$(find . -name 's.cls?*')" ]
}

@test "an input that is not there is told before anything is done" {
	for command in "cl-replay --io none" "cl-trace --info" \
	    "cl-trace --dump" "cl-trace --verify" cl-report; do
		run --separate-stderr $command - absent <"$TRACE"
		status_is 2
		stdout_is ""
		stderr_is \
		    "${command%% *}: absent: cannot open: No such file or directory"
	done
}

@test "a mistake found late costs nothing that was done, and leaves no file" {
	cl-replay --io none "$TRACE" >whole.cls
	run --separate-stderr cl-replay --io none -o s.cls - - <"$TRACE"
	status_is 2
	[[ $stderr == "cl-replay: standard input can be read only once"* ]]
	[ -z "$(find . -name 's.cls*')" ]
	cl-replay --io none - - <"$TRACE" 2>/dev/null >got.cls || true
	cl-diff whole.cls got.cls
	run --separate-stderr cl-trace --info - - <"$TRACE"
	status_is 2
	[[ $output == *"end          complete" ]]
}

@test "a reader that goes away ends it quietly" {
	run bash -c "cl-replay --io none --window 1 $TRACE $TRACE $TRACE |
	    head -c 100 | wc -c; echo \${PIPESTATUS[0]}"
	[ "${lines[0]}" -eq 100 ]
	[ "${lines[1]}" -eq 141 ] || [ "${lines[1]}" -eq 0 ]
}

@test "what stood before damaged bytes is replayed" {
	for at in 300000 700000 1100000; do
		cp "$TRACE" damaged.clt
		printf 'XXXX' | dd of=damaged.clt bs=1 seek=$at conv=notrunc \
		    status=none
		run --separate-stderr cl-replay --io none -o s.cls --force \
		    damaged.clt
		status_is 2
		[[ $stderr == *damaged* ]]
		after=$(sed 's/.*token \([0-9]*\).*/\1/' <<<"$stderr")
		head -c "$at" "$TRACE" >cut.clt
		run --separate-stderr cl-replay --io none -o s.cls --force \
		    cut.clt
		whole=$(sed 's/.*token \([0-9]*\).*/\1/' <<<"$stderr")
		[ "$after" -eq "$whole" ]
	done
}

@test "--prefill skip passes over prompts and counts their tokens" {
	run --separate-stderr bash -o pipefail -c \
	    "cl-replay --io none --prefill skip $TRACE | cl-report -f json"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(jq -c '.runs[0] | [.phases.prefill.tokens,
	    .phases.prefill.accesses, .totals.skipped > 0,
	    .totals.tokens > 0]' <<<"$output")" = \
	    '[0,0,true,true]' ]
}

@test "what knows the future decides alike from a file, a pipe and a slow one" {
	for policy in belady belady-bypass; do
		cl-replay --io none --policy $policy "$TRACE" >file.cls
		cl-replay --io none --policy $policy <"$TRACE" >pipe.cls
		(head -c 200000 "$TRACE"; sleep 0.1; tail -c +200001 "$TRACE") |
		    cl-replay --io none --policy $policy >slow.cls
		for cls in pipe slow; do
			run cl-diff -q file.cls $cls.cls
			status_is 0
		done
	done
}

@test "nothing misses less than what knows the future" {
	for contract in event serial; do
		set -- --io none --cache 15% --contract $contract "$TRACE"
		least=$(cl-replay --policy belady-bypass "$@" |
		    cl-report -f json | jq .runs[0].totals.misses)
		for policy in $(policies | grep -v '^infinite$'); do
			n=$(cl-replay --policy "$policy" "$@" |
			    cl-report -f json | jq '.runs[0].totals |
			    .misses + .preload')
			[ "$n" -ge "$least" ]
		done
	done
}

# rows N: so many tokens of two layers, each using two of 16 experts.
rows()
{
	awk -v n="$1" 'BEGIN {
		srand(7)
		print "layer\texperts"
		for (i = 0; i < 2 * n; i++) {
			a = int(rand() * 8)
			print i % 2 "\t" a "," a + 1 + int(rand() * 7)
		}
	}'
}

@test "what lies behind the tokens that are counted is no part of the future" {
	local policy

	rows 300 | cl-trace --load >long.clt
	rows 120 | cl-trace --load >short.clt
	for policy in belady belady-bypass static; do
		set -- --io none --cache 6e --policy $policy --warmup 20
		cl-replay "$@" --tokens 100 long.clt | totals - >long
		cl-replay "$@" short.clt | totals - >short
		[ "$(awk '$1 == "capacity" { print $2 }' long)" -gt 20 ]
		diff -u short long
	done
}

@test "with --warm what stayed is judged by the trace that goes on" {
	rows 300 | cl-trace --load >one.clt
	rows 120 | cl-trace --load >two.clt
	cl-replay --io none --cache 6e --policy belady --warm one.clt two.clt |
	    cl-report -f json >warm.json
	cl-replay --io none --cache 6e --policy belady two.clt |
	    cl-report -f json >cold.json
	[ "$(jq .runs[1].totals.misses warm.json)" -lt \
	    "$(jq .runs[0].totals.misses cold.json)" ]
}

@test "a cut trace's future is what is there of it" {
	head -c 1450000 "$TRACE" >cut.clt
	run --separate-stderr cl-replay --io none --policy belady -o cut.cls \
	    cut.clt
	status_is 2
	tokens=$(cl-report -f json cut.cls 2>/dev/null |
	    jq .runs[0].totals.tokens)
	[ "$tokens" -gt 0 ]
	cl-replay --io none --policy belady --tokens "$tokens" "$TRACE" |
	    totals - >whole
	cl-report -f json cut.cls 2>/dev/null | jq -r '.runs[] | .totals |
	    to_entries[] | "\(.key) \(.value)"' >cut
	diff -u whole cut
}

@test "knowing the future is exact with experts of one size, else a heuristic" {
	printf 'layer\texperts\n0\t0,1\n1\t2,3\n' |
	    cl-trace --load --layers 2 --experts 4 --used 2 >plain.clt
	cl-replay --io none --policy belady plain.clt >p.cls
	[ "$(cl-report -f json p.cls | jq -r .runs[0].foresight)" = exact ]
	cl-report p.cls | tr -s ' \n' ' ' >p.txt
	grep -q 'a bound for' p.txt
	cl-replay --io none plain.clt | cl-report -f json >lru.json
	[ "$(jq -r .runs[0].foresight lru.json)" = null ]
	cl-replay --io none --policy belady "$TRACE" >h.cls
	[ "$(cl-report -f json h.cls | jq -r .runs[0].foresight)" = heuristic ]
	cl-report h.cls | tr -s ' \n' ' ' >h.txt
	grep -q 'experts, which differ in size' h.txt
	cl-replay --io none --policy belady --partition layer "$TRACE" >l.cls
	[ "$(cl-report -f json l.cls | jq -r .runs[0].foresight)" = exact ]
}

@test "static keeps what a trace uses most, and nothing else" {
	printf 'layer\texperts\n0\t0,1\n1\t2,3\n0\t0,2\n1\t2,1\n' |
	    cl-trace --load --layers 2 --experts 4 --used 2 >fit.clt
	printf 'layer\texperts\n0\t0,3\n1\t2,0\n0\t0,1\n1\t3,1\n' |
	    cl-trace --load --layers 2 --experts 4 --used 2 >t.clt
	cl-replay --io none --cache 3e --policy static:fit.clt t.clt >s.cls
	totals s.cls >got
	for row in 'accesses 8' 'hits 4' 'misses 4' 'bypass 4' 'evictions 0' \
	    'preload 3'; do
		grep -qx "$row" got
	done
	cl-report s.cls >s.txt
	run grep HINDSIGHT s.txt
	status_is 1
	cl-replay --io none --cache 3e --policy static:t.clt t.clt |
	    cl-report >h.txt
	grep -q HINDSIGHT h.txt
}

# hindsight OPTION...: static without a file counts, under these options, what
# it does where the trace is named, and says that it could not be known.
hindsight()
{
	cl-replay --io none --policy "static:$TRACE" "$@" "$TRACE" >named.cls
	cl-replay --io none --policy static "$@" "$TRACE" >plain.cls
	for name in named plain; do
		cl-report -f json $name.cls | jq -S '.runs | map(.totals,
		    .phases, .layers, .windows, .digest)' >$name.json
		cl-report $name.cls | grep -c '^ *HINDSIGHT: fitted on' >$name
	done
	diff -u named.json plain.json
	cmp named plain
	[ "$(jq '.[0].preload' plain.json)" -gt 0 ]
	cl-report -f json plain.cls | jq -e '.runs | all(.policy == "static"
	    and .hindsight == true and .fitted_routing == null)'
}

@test "static without a file is hindsight, and counts what it does with it" {
	for options in --cache=1e --cache=10% --contract=serial --cache=90% \
	    --cache=1%,20%,60% --partition=layer --partition=class \
	    "--prefill=token --window=50" --prefill=skip --warmup=100 \
	    "--prefetch popular" "--quality --warmup=30"; do
		hindsight $options
	done
	cat "$TRACE" | cl-replay --io none --policy static >pipe.cls
	cl-replay --io none --policy static "$TRACE" >file.cls
	cl-diff pipe.cls file.cls
	run --separate-stderr cl-replay --io none --policy static: "$TRACE"
	status_is 2
}

@test "what hindsight loads is what was used most, and so its hits" {
	cl-trace --dump "$TRACE" | awk -F '\t' '/^[0-9]/ {
		n = split($7, id, ",")
		for (i = 1; i <= n; i++)
			uses[$6 ":" id[i]]++
	}
	END { for (e in uses) print uses[e] }' | sort -rn >uses
	for slots in 1 7 100 400; do
		cl-replay --io none --prefill token --policy static \
		    --cache ${slots}e "$TRACE" | totals - >got
		grep -qx "hits $(head -n $slots uses |
		    awk '{ n += $1 } END { print n }')" got
		grep -qx "preload $slots" got
	done
}

@test "with --warm hindsight is of the first trace, and others are told so" {
	one=$TRACE two=$ROOT/traces/speech.clt
	set -- --io none --cache 10% --warm
	for policy in static static,lru; do
		cl-replay "$@" --policy $policy "$one" "$two" |
		    cl-report -f json | jq -c '.runs[] |
		    select(.policy == "static")' >got
		cl-replay "$@" --policy "static:$one" "$one" "$two" |
		    cl-report -f json | jq -c '.runs[]' >wanted
		for file in got wanted; do
			jq -c '[.totals, .digest]' $file >$file.totals
		done
		diff -u wanted.totals got.totals
		jq -se --arg one "$(jq -r .fitted_routing wanted |
		    sort -u)" 'map([.hindsight, .fitted_routing]) ==
		    [[true, null], [null, $one]]' got
	done
	# The second is of a trace that ended before it was over.
	head -c 1450000 "$one" >cut.clt
	run --separate-stderr cl-replay "$@" --policy static -o cut.cls \
	    cut.clt "$two"
	status_is 2
	cl-report -f json cut.cls 2>/dev/null | jq -e '.runs | length == 2 and
	    .[0].hindsight == true and .[1].hindsight == null and
	    .[1].fitted_routing == null'
}

@test "static is chosen by the statistics of a trace, too" {
	set -- --io none --cache 10%,30% --prefill token
	cl-replay --stats "$TRACE" >fit.cls
	cl-replay "$@" --policy static:fit.cls "$TRACE" >s.cls
	cl-replay "$@" --policy "static:$TRACE" "$TRACE" >t.cls
	for name in s t; do
		cl-report -f json $name.cls | jq -c '[.runs[] |
		    .totals.hits, .totals.preload, .digest]' >$name.json
	done
	cmp s.json t.json
	cl-replay --io none --policy static:fit.cls "$TRACE" | cl-report >h.txt
	grep -q HINDSIGHT h.txt
}

@test "static refuses statistics without uses, of many, or of another model" {
	cl-replay --curve "$TRACE" >no.cls
	cl-replay --stats "$TRACE" "$TRACE" >two.cls
	printf 'layer\texperts\n9\t0,1\n' | cl-trace --load |
	    cl-replay --stats >other.cls
	while read -r file why; do
		run --separate-stderr cl-replay --io none \
		    --policy static:$file "$TRACE"
		status_is 2
		[[ $stderr == *"static:$file: "*"$why"* ]]
	done <<-'END'
		no.cls expert_use
		two.cls several runs
		other.cls an expert that the model has not
	END
	head -c 1000 two.cls >cut.cls
	run --separate-stderr cl-replay --io none --policy static:cut.cls \
	    "$TRACE"
	status_is 2
}

# A trailer that says "interrupted", as a signal makes it, and the statistics
# of such a trace.
@test "static tells of a trace that its writer did not finish, and is trouble" {
	cl-trace --dump "$TRACE" | sed 's/^# end\tcomplete/# end\tinterrupted/' |
	    cl-trace --load >half.clt
	cl-replay --stats -o half.cls half.clt 2>err || [ $? -eq 2 ]
	for file in half.clt half.cls; do
		how=interrupted
		[ $file = half.clt ] || how=$(cl-report -f json half.cls \
		    2>err | jq -r '.runs[0].end')
		for cache in 20% 20%,30%; do
			run --separate-stderr cl-replay --io none -o s.cls \
			    --force --cache $cache --policy static:$file \
			    "$TRACE" "$TRACE"
			status_is 2
			stderr_is "cl-replay: static:$file: the trace is $how: experts are chosen by what there is of it"
			cl-report -f json s.cls | jq -e --arg how $how '.runs |
			    all(.fitted_end == $how and .end == "complete")'
			cl-report s.cls | grep -q "fitted on a trace that is $how"
		done
	done
	cl-replay --io none --policy "static:$TRACE" "$TRACE" >s.cls
	cl-report -f json s.cls | jq -e '.runs[0].fitted_end == "complete"'
	! cl-report s.cls | grep -q 'fitted on a trace' || false
}

@test "what static loads is counted behind a warm-up, too, once with --warm" {
	set -- --io none --policy "static:$TRACE"
	for warmup in 0 100 100000; do
		cl-replay "$@" --warmup $warmup "$TRACE" | totals - >got
		grep -qx 'preload 128' got
	done
	cl-replay "$@" --warm "$TRACE" "$TRACE" | cl-report -f json >w.json
	[ "$(jq -c '[.runs[].totals.preload]' w.json)" = '[128,0]' ]
	[ "$(jq -c '[.runs[].totals.cold]' w.json)" = '[384,0]' ]
}

@test "static refuses a trace that is not there, not one, or of another model" {
	run --separate-stderr cl-replay --io none --policy static:no.clt \
	    "$TRACE"
	status_is 2
	[[ $stderr == *static:no.clt* ]]
	cat "$TRACE" "$TRACE" >two.clt
	run --separate-stderr cl-replay --io none --policy static:two.clt \
	    "$TRACE"
	status_is 2
	[[ $stderr == *'several traces'* ]]
	printf 'layer\texperts\n0\t0,1\n' | cl-trace --load >other.clt
	run --separate-stderr cl-replay --io none --policy static:other.clt \
	    "$TRACE"
	status_is 2
	[[ $stderr == *'another model'* ]]
}

@test "a shift has windows that show it, unless they are asked for" {
	cl-trace --synthetic=fixed --tokens 300 --shift 100:60 "$MODEL" >s.clt
	cl-replay --io none --cache 20% s.clt | cl-report -f json >s.json
	[ "$(jq '.runs[0].window' s.json)" -eq 10 ]
	[ "$(jq '.runs[0].windows | length' s.json)" -eq 30 ]
	# Hits before it, in it, and when it has been over for a while.
	jq -e '.runs[0].windows | map(.hits) |
	    (.[5:10] | add) > 2 * (.[11:16] | add) and
	    (.[20:25] | add) > 2 * (.[11:16] | add)' s.json
	cl-replay --io none --window 64 s.clt | cl-report -f json >s.json
	[ "$(jq '.runs[0].window' s.json)" -eq 64 ]
	cl-replay --curve s.clt | cl-report -f json >s.json
	[ "$(jq '.runs[0].window' s.json)" -eq 10 ]
}

# Nothing is opened for it: there is no such trace, and no pipe is read.
@test "options that cannot go together are misuse, before any input is opened" {
	misuse()
	{
		run --separate-stderr cl-replay "${@:2}" nowhere.clt
		status_is 2
		stdout_is ""
		[ "${stderr_lines[0]}" = "cl-replay: $1" ] || {
			echo "$stderr"
			return 1
		}
		[[ ${stderr_lines[1]} == "usage: cl-replay "* ]]
		[ "${#stderr_lines[@]}" -eq 2 ]
	}
	order="no total order over experts, which contract retain needs"
	misuse "policy clock is $order" --policy clock --contract retain
	misuse "policy s3fifo is $order" --io none --policy lru,s3fifo \
	    --contract retain
	future="knows the future, which routing by what is resident would change"
	misuse "policy belady $future" --policy belady --smart delta:1
	misuse "policy belady-bypass $future" --io none --drop 0.2 \
	    --policy belady-bypass
	misuse "policy static $future" --policy static --smart rank:9
	misuse "routing by what is resident cannot go with the quality of decisions: what will be used is not known" \
	    --smart prior:1 --quality
	misuse "policy lirs:compat copies a simulator that serves one access at a time: it takes the contract serial" \
	    --policy lirs:compat --io none
	counts="only counts: it cannot go with reads, prefetch, a log of events or their quality"
	misuse "policy lirs:compat $counts" --policy lirs:compat
	misuse "policy lirs:compat $counts" --policy lirs:compat --io none \
	    --contract serial --prefetch previous
	misuse "--curve belady is of --contract event or serial: under retain, replay --policy belady" \
	    --curve belady --contract retain
	misuse "--bound is of --contract serial" --bound --contract retain
	run --separate-stderr cl-replay --policy lirs:compat --io none \
	    --contract serial "$TRACE"
	status_is 0
	stderr_is ""
}
