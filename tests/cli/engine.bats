# The engine: prefetch, dense weights, compute, and the same decisions and
# bytes however it reads.

load helpers

TRACE=$ROOT/traces/speech.clt
DEVICE=read=7G,latency=80us,depth=32

# Of the one run in a stat stream: jq of it.
of()
{
	cl-report -f json "$1" | jq -r ".runs[0] | $2"
}

@test "every prefetch mode with every policy decides the same without reads" {
	cl-trace --synthetic --tokens 60 "$MODEL" >syn.clt
	for policy in $(cl-replay --list-policies | tail -n +2 | cut -f 1); do
		for ahead in previous popular ahead oracle:recall=0.6; do
			set -- --policy "$policy" --prefetch $ahead \
			    --cache 15% syn.clt
			cl-replay --io none "$@" >none.cls
			cl-replay --threads 3 --model "$MODEL" "$@" >real.cls
			run --separate-stderr cl-diff -q none.cls real.cls
			status_is 0
		done
	done
}

@test "so it is with caches that are carried on, rounds and retain" {
	set -- "$TRACE" "$ROOT/traces/manual.clt"
	while read -r options; do
		cl-replay --io none $options "$@" >none.cls
		cl-replay --io model --device $DEVICE --model "$MODEL" \
		    $options "$@" >model.cls
		cl-replay --threads 3 --verify-bytes --model "$MODEL" \
		    $options "$@" >real.cls
		cl-diff -q none.cls model.cls
		cl-diff -q none.cls real.cls
		cl-report -f json --expect-runs 2 real.cls | jq -e '.runs |
		    all(.totals.stage_hits > 10) and
		    ([.[].totals.cold] | add) <= .[0].experts'
	done <<-'END'
		--warm --cache 15% --prefetch previous
		--warm --cache 10% --prefetch popular --contract retain
		--warm --cache 12% --prefetch oracle --partition class
		--warm --cache 8% --prefetch oracle --contract serial --stage 3
		--warm --cache 15% --prefetch previous --tokens 2000 --dense ring
		--warm --cache 9% --prefetch oracle --contract retain --policy lfu
	END
}

@test "so do threads, ways of reading and a modelled device" {
	for ahead in off popular; do
		set -- --prefetch $ahead --dense ring --cache 20% "$TRACE"
		cl-replay --io none "$@" >none.cls
		cl-replay --io model --device $DEVICE "$@" >model.cls
		run --separate-stderr cl-diff -q none.cls model.cls
		status_is 0
		for how in "1 keep" "2 drop" "8 direct" "16 keep"; do
			cl-replay --model "$MODEL" --threads ${how% *} \
			    --os-cache ${how#* } --backend pread "$@" >r.cls
			run --separate-stderr cl-diff -q none.cls r.cls
			status_is 0
			of r.cls .measured.checksum >>sums
		done
	done
	[ "$(sort -u sums | wc -l)" -eq 1 ]
	[ "$(wc -l <sums)" -eq 8 ]
}

@test "what direct reads bring beyond what was asked is counted to the byte" {
	set -- --model "$MODEL" --dense skip --events --cache 20% --tokens 100 \
	    "$TRACE"
	cl-replay --os-cache keep "$@" >k.cls
	cl-replay --os-cache direct=require "$@" >d.cls || skip "no direct reads"
	cl-report --events d.cls | awk -F '\t' '$8 == "cold" ||
	    $8 == "capacity" { print $5, $7 }' | sort | uniq -c >reads
	want=$(cl-trace --geometry -f json "$MODEL" | jq -r '.layers[] |
	    .layer as $l | .slabs[] | [$l, .offset, .stride, .bytes] | @tsv' |
	    awk -v size="$(stat -c %s "$MODEL")" \
	    -v align="$(of d.cls .machine.read_align)" '
	    FNR == NR { slab[$1, n[$1]++] = $2 " " $3 " " $4; next }
	    {
		for (i = 0; i < n[$2]; i++) {
			split(slab[$2, i], s, " ")
			from = s[1] + $3 * s[2]
			to = from + s[3]
			to += (align - to % align) % align
			to = to > size ? size : to
			sum += $1 * (to - from + from % align - s[3])
		}
	    }
	    END { print sum }' - reads)
	[ "$want" -gt 1000000 ]
	[ "$(of d.cls .measured.surplus_bytes)" -eq "$want" ]
	cl-report d.cls | grep -q '^beyond what was asked '
	[ "$(of k.cls .measured.surplus_bytes)" -eq 0 ]
	cl-replay --io model --device $DEVICE --model "$MODEL" \
	    --os-cache direct "$TRACE" >m.cls
	[ "$(of m.cls .measured.surplus_bytes)" -eq 0 ]
}

@test "what is issued is useful, wasted or left, and --stage bounds it" {
	for stage in 1 3 64; do
		cl-replay --io none --cache 10% --prefetch popular --width 4 \
		    --stage $stage "$TRACE" >s.cls
		[ "$(of s.cls '.totals | .prefetch_issued > 100 and
		    .prefetch_issued == .prefetch_useful + .prefetch_wasted +
		    .prefetch_left and .stage_hits == .prefetch_useful')" = \
		    true ]
		of s.cls .totals.prefetch_refused >>refused
	done
	sort -rnu refused | diff -u - refused
	[ "$(of s.cls '"\(.prefetch) \(.width) \(.stage)"')" = \
	    "popular 4 64" ]
}

@test "an oracle that knows all leaves no more misses than its slots" {
	cl-replay --io none --cache 10% --prefetch oracle --prefill skip \
	    "$TRACE" >all.cls
	cl-replay --io none --cache 10% --prefetch oracle:recall=0 \
	    --prefill skip "$TRACE" >none.cls
	cl-replay --io none --cache 10% --prefill skip "$TRACE" >off.cls
	[ "$(of none.cls .totals.misses)" = "$(of off.cls .totals.misses)" ]
	# What is left are first layers, and what no slot was free for.
	[ "$(of all.cls '.layers[1:] | map(.misses) | add')" -le \
	    "$(of all.cls .totals.prefetch_refused)" ]
	[ "$(of all.cls .totals.prefetch_wasted)" = 0 ]
}

@test "a forecast that the trace does not have is refused" {
	run --separate-stderr cl-replay --io none --prefetch ahead "$TRACE"
	status_is 2
	stderr_is "cl-replay: $TRACE: --prefetch ahead needs a trace with a second row of scores, and this one has none"
	run --separate-stderr cl-replay --io none --stage 3 "$TRACE"
	status_is 2
}

@test "a ring reads the dense weights of every pass again" {
	cl-replay --io none --dense ring --prefill token "$TRACE" >s.cls
	passes=$(of s.cls '.totals.events / .moe_layers')
	cl-trace --geometry -f json "$MODEL" >g.json
	layers=$(jq '[.layers[].dense_bytes] | add' g.json)
	[ "$(of s.cls .totals.dense_bytes)" -eq $((passes * layers)) ]
	cl-replay --dense resident --model "$MODEL" "$TRACE" >s.cls
	[ "$(of s.cls '"\(.dense) \(.totals.dense_bytes)"')" = "resident 0" ]
}

@test "a checksum tells another seed, another kind, and none" {
	for how in "kernel --seed 1" "kernel --seed 2" checksum; do
		cl-replay --compute $how --model "$MODEL" "$TRACE" >s.cls
		of s.cls .measured.checksum >>sums
	done
	[ "$(sort -u sums | wc -l)" -eq 3 ]
	cl-replay --compute none --model "$MODEL" "$TRACE" >s.cls
	[ "$(of s.cls .measured.checksum)" = null ]
}

@test "--verify-bytes holds every byte, and tells one that is not the file's" {
	mkgguf pattern m.gguf >/dev/null
	cl-trace --synthetic --tokens 40 m.gguf >t.clt
	for how in keep direct; do
		cl-replay --verify-bytes --os-cache $how --prefetch popular \
		    --cache 5e --threads 8 t.clt >s.cls
		[ "$(of s.cls '.totals.stage_hits > 0')" = true ]
	done
}

@test "peak memory is within 2 MiB of what was said, without major faults" {
	need plain
	while read -r options; do
		reclaims=$(awk '/^pgscan_direct/ { n += $2 } END { print n }' \
		    /proc/vmstat)
		cl-replay $options --model "$MODEL" --warmup 20 "$TRACE" >s.cls
		echo "$options: $(of s.cls '.measured |
		    "\(.rss_predicted) said, \(.rss_peak) at most"')"
		[ "$(of s.cls '.measured | .rss_predicted - .rss_peak |
		    fabs < 2097152')" = true ]
		# Where memory is taken back, faults are not ours.
		[ "$reclaims" = "$(awk '/^pgscan_direct/ { n += $2 }
		    END { print n }' /proc/vmstat)" ] || continue
		[ "$(of s.cls '.measured.major_faults * 100 <=
		    .totals.tokens')" = true ]
	done <<-'OPTIONS'
		--cache 10% --prefetch popular
		--cache 100% --prefetch previous
		--cache 10% --backend pread --threads 1
		--cache 50% --backend pread --threads 16 --compute none
		--cache 50% --os-cache direct --prefetch oracle
		--cache 2e --dense ring --stage 200 --prefetch popular
		--cache 30% --dense resident --compute checksum
		--policy belady --verify-bytes
	OPTIONS
}

# The run waits for whoever reads its windows; meanwhile the file changes.
@test "--verify-bytes names the bytes that are not those of the file" {
	cp "$MODEL" m.gguf
	{
		status=0
		cl-replay --verify-bytes --cache 100% --window 1 --model m.gguf \
		    --warmup 450 --tokens 3000 "$TRACE" 2>err || status=$?
		echo $status >status
	} | {
		dd bs=1 count=1 of=first 2>dd.err
		shred -n 1 -s "$(stat -c %s m.gguf)" m.gguf
		cat >rest
	}
	[ "$(cat status)" -eq 2 ]
	grep -Eqx 'cl-replay: layer [0-7] expert [0-9]+, (gate|up|down): m\.gguf: offset [0-9]+: the file has .. there, and .. was served' \
	    err
}

# Each policy goes with the next mode and way of reading, so that all of them
# are met by some policy, and lru is met by all.
@test "every policy counts the same however it reads" {
	cl-trace --synthetic --tokens 24 "$MODEL" >syn.clt
	cl-trace --synthetic --tokens 24 --seed 2 "$MODEL" >fit.clt
	modes=("" "--prefetch previous" "--smart delta:0.5"
	    "--prefetch popular" "--smart rank:16,keep=2" "--prefetch ahead"
	    "--smart prior:0.5 --prefetch popular" "--prefetch oracle"
	    "--drop 0.5" "--dense ring" "--contract serial")
	hows=("--backend pread --threads 1" "--backend auto --threads 2"
	    "--backend pread --threads 8 --os-cache drop"
	    "--backend auto --threads 16 --os-cache direct")
	try()
	{
		set -- $1 --cache 12% "${2:-syn.clt}"
		cl-replay --io none "$@" >none.cls
		cl-replay --io model --device $DEVICE "$@" >model.cls
		cl-diff -q none.cls model.cls
		cl-replay --model "$MODEL" ${hows[n % 4]} "$@" >a.cls
		cl-diff -q none.cls a.cls
		n=$((n + 1))
		cl-replay --model "$MODEL" ${hows[n % 4]} "$@" >b.cls
		cl-diff -q none.cls b.cls
		[ "$(of a.cls .measured.checksum)" = \
		    "$(of b.cls .measured.checksum)" ]
	}
	n=0
	for mode in "${modes[@]}"; do
		try "$mode"
		[[ $mode == *ahead* ]] || try "--tokens 40 $mode" "$TRACE"
	done
	i=0
	for policy in $(cl-replay --list-policies | tail -n +2 | cut -f 1); do
		case $policy in
		static)		policy=static:fit.clt ;;
		belady*)	modes=("${modes[@]/#--smart*/--prefetch oracle}")
				modes=("${modes[@]/#--drop*/--dense ring}") ;;
		esac
		try "--policy $policy ${modes[i++ % ${#modes[@]}]}"
	done
	[ "$n" -gt 30 ]
}
