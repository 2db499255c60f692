# cl-replay --stats and --predict: against awk over what --dump prints.

load helpers

TRACE=$ROOT/traces/mixed.clt

# What the tables should be, as "table key... value..." lines.
by_awk()
{
	cl-trace --dump "$1" | awk -F '\t' '
	    /^#/ || $1 == "seq" { next }
	    {
		n = split($7, id, ",")
		seq = $1; l = $6
		if (seq SUBSEP $2 != token) { token = seq SUBSEP $2; now++ }
		choices[l] += n
		# previous
		m = split(last[seq, l], prev, ",")
		delete was
		for (i = 1; i <= m; i++) was[prev[i]] = i
		for (i = 1; i <= n; i++) {
			if (m > 0) {
				behind[l, i]++
				rep[l, i] += id[i] in was
				same[l, i] += prev[i] == id[i]
			}
			right["previous", l] += id[i] in was
		}
		told["previous", l] += m
		# popular
		delete best; delete taken
		for (j = 1; j <= n; j++) {
			b = -1
			for (e = 0; e < 64; e++)
				if (!(e in taken) && use[l, e] > 0 &&
				    (b < 0 || use[l, e] > use[l, b])) b = e
			if (b >= 0) { taken[b]; told["popular", l]++ }
		}
		for (i = 1; i <= n; i++)
			right["popular", l] += id[i] in taken
		# transition
		if (l > 0) {
			k = split(here, before, ",")
			delete sum; delete taken
			for (i = 1; i <= k; i++)
				for (e = 0; e < 64; e++)
					sum[e] += follow[l, before[i], e]
			for (j = 1; j <= n; j++) {
				b = -1
				for (e = 0; e < 64; e++)
					if (!(e in taken) && sum[e] > 0 &&
					    (b < 0 || sum[e] > sum[b])) b = e
				if (b >= 0) { taken[b]; told["transition", l]++ }
			}
			for (i = 1; i <= n; i++)
				right["transition", l] += id[i] in taken
			delete was
			for (i = 1; i <= k; i++) {
				was[before[i]]
				for (j = 1; j <= n; j++)
					follow[l, before[i], id[j]]++
			}
			for (i = 1; i <= n; i++) shared[l - 1] += id[i] in was
		}
		# uses and rests
		for (i = 1; i <= n; i++) {
			if ((l, id[i]) in seen) {
				d = now - seen[l, id[i]]; p = 1
				while (2 * p <= d) p *= 2
				rest[l, p]++
			} else first[l]++
			use[l, id[i]]++
			seen[l, id[i]] = now
		}
		last[seq, l] = $7; here = $7
	    }
	    END {
		for (l = 0; l < 8; l++) {
			for (i = 1; i <= 8; i++)
				print "reuse", l, i - 1, behind[l, i] + 0,
				    rep[l, i] + 0, same[l, i] + 0
			print "reuse_distance", l, "null", first[l]
			for (p = 1; p < 1e6; p *= 2)
				if (rest[l, p]) print "reuse_distance", l, p,
				    rest[l, p]
			for (e = 0; e < 64; e++)
				print "expert_use", l, e, use[l, e] + 0
			if (l < 7) print "layer_overlap", l, l + 1,
			    choices[l], choices[l + 1], shared[l]
			for (q in told) {
				split(q, name, SUBSEP)
				if (name[2] == l)
					print "foresight", name[1], l,
					    choices[l], told[q], right[q]
			}
		}
	    }' | sort
}

by_study()
{
	cl-replay --stats "$1" | cl-report -f json |
	    jq -r '.runs[0].tables | to_entries[] | .key as $t |
	    if $t == "skew" or $t == "prefixes" then empty
	    else .value[] | [$t] + [to_entries[] |
	        select(.key != "by_chance") | .value | tostring] |
	        join(" ") end'
	cl-replay --predict "$1" | cl-report -f json |
	    jq -r '.runs[0].tables.foresight[] | select(.foretold > 0) |
	    ["foresight", .predictor, .layer, .choices, .foretold,
	    .right | tostring] | join(" ")'
}

@test "the statistics of a trace are what its rows say" {
	by_awk "$TRACE" >awk
	by_study "$TRACE" | sort >study
	[ "$(wc -l <awk)" -gt 600 ]
	diff awk study
}

@test "reuse by chance is what tokens that choose anything would have" {
	cl-replay --stats "$TRACE" >t.cls
	[ "$(cl-report -f json --table reuse t.cls | jq '[.[0][] |
	    .by_chance * 64 == .choices * 8] | length > 60 and all')" = true ]
	cl-report t.cls | sed -n '/^reuse: /,/^$/p' >got
	grep -Eq '^ +layer .* chance$' got
	[ "$(grep -c ' 12\.50%$' got)" -eq 8 ]
}

# There is no forecast in it, and nothing goes before the first layer.
@test "a predictor that foretells nothing is not said to be wrong" {
	cl-replay --predict "$TRACE" >t.cls
	cl-report t.cls >got
	! grep -q ahead got
	[ "$(sed -n '/^recall by layer/,/^$/p' got |
	    awk '$1 == "0" { print $NF }')" = - ]
	! grep -q '[^0-9.]0\.00%' got
	for table in foresight foresight_rank; do
		[ "$(cl-report -f json --table $table t.cls | jq -c '.[0] |
		    map(select(.predictor == "transition").layer) |
		    unique')" = '[1,2,3,4,5,6,7]' ]
	done
}

# One token: nothing goes before it but the layer below.
@test "a trace in which nothing can be foretold has no table of it" {
	printf 'layer\texperts\n0\t0,1\n' | cl-trace --load --experts 4 >t.clt
	run --separate-stderr bash -o pipefail -c \
	    'cl-replay --predict t.clt | cl-report'
	status_is 0
	[[ $output == *"foresight: no rows"* ]]
}

@test "what is too long for people is left to --table" {
	cl-replay --stats "$TRACE" >t.cls
	cl-report t.cls | grep -qx \
	    'expert_use: 512 rows, which --table expert_use shows'
	[ "$(cl-report -f tsv --table expert_use t.cls | wc -l)" -eq 513 ]
	cl-replay --curve "$TRACE" >t.cls
	[ "$(cl-report t.cls | grep -c '^capacities')" -eq 0 ]
	[ "$(cl-report -f tsv --table capacities t.cls | wc -l)" -gt 5 ]
}

@test "skew is of uses: entropy, cover, what was never used" {
	printf 'layer\texperts\n0\t0,1\n0\t0,1\n0\t0,2\n0\t0,1\n' |
	    cl-trace --load --experts 8 >t.clt
	run bash -c 'cl-replay --stats t.clt | cl-report -f json |
	    jq -c ".runs[0].tables.skew[0] | [.experts, .used, .never, .uses,
	        .most, .cover_50, .cover_90, .uniform_bits, .entropy_bits]"'
	# 4, 3 and 1 of 8: 1/2 + 3/8 log2(8/3) + 3/8 bits
	[ "$output" = '[8,3,5,8,4,1,3,3,1.4056390622295665]' ]
}

@test "shared beginnings and whole repetitions are told apart" {
	{
		printf 'seq\tpos\ttoken\tlayer\texperts\n'
		# a, a again, its first two tokens and another, all new
		for row in '0 5,6,7,8' '1 5,6,7,8' '2 5,6,9' '3 1,2'; do
			set -- $row
			pos=0
			for token in ${2//,/ }; do
				printf '%d\t%d\t%d\t0\t0,1\n' "$1" $pos $token
				pos=$((pos + 1))
			done
		done
	} | cl-trace --load --experts 4 >t.clt
	run bash -c 'cl-replay --stats t.clt | cl-report -f json |
	    jq -c ".runs[0].tables.prefixes | map([.shared_from, .sequences,
	        .repeated, .tokens, .shared_tokens])"'
	[ "$output" = '[[0,2,0,6,0],[2,1,0,3,2],[4,1,1,4,4]]' ]
}

@test "a sequence of the warm-up is known to later ones and not counted" {
	{
		printf 'seq\tpos\ttoken\tlayer\texperts\n'
		for seq in 0 1; do
			for pos in 0 1 2 3; do
				printf '%d\t%d\t%d\t0\t0,1\n' $seq $pos $pos
			done
		done
	} | cl-trace --load --experts 4 >t.clt
	run bash -c 'for n in 0 2 4; do cl-replay --stats --warmup $n t.clt |
	    cl-report -f json | jq -c "[.runs[0].tables.prefixes[] |
	        [.shared_from, .sequences, .repeated]]"; done'
	[ "${lines[0]}" = '[[0,1,0],[4,1,1]]' ]
	[ "${lines[1]}" = '[[2,1,0]]' ]
	[ "${lines[2]}" = '[[4,1,1]]' ]
}

@test "a forecast that is the truth foretells all" {
	cl-trace --synthetic --predict-corr 1 --tokens 64 -o t.clt "$MODEL"
	run bash -c 'cl-replay --predict t.clt | cl-report -f json |
	    jq -c "[.runs[0].tables.foresight[] |
	        select(.predictor == \"ahead\" and .layer > 0)] |
	        [length > 1, all(.right == .choices and
	        .foretold == .choices)]"'
	[ "$output" = '[true,true]' ]
}

@test "the warm-up is learned from and not counted" {
	cl-replay --stats --warmup 100 "$TRACE" | cl-report -f json >warm.json
	cl-replay --stats "$TRACE" | cl-report -f json >all.json
	run jq -n -c --slurpfile w warm.json --slurpfile a all.json '
	    [$w[0].runs[0].totals.tokens < $a[0].runs[0].totals.tokens,
	    ([$w[0].runs[0].tables.expert_use[].uses] | add) ==
	        $w[0].runs[0].totals.tokens * 64]'
	[ "$output" = '[true,true]' ]
}

@test "an option that means nothing to a study is refused, not passed over" {
	while read -r mode option; do
		run --separate-stderr cl-replay --$mode $option "$TRACE"
		status_is 2
		stdout_is ""
		option=${option%% *}
		[ "${stderr_lines[0]}" = \
		    "cl-replay: $option means nothing to --$mode" ]
	done <<-'END'
		curve --cache 10%
		curve --warm
		curve --io none
		stats --policy lru
		stats --window 8
		stats --contract serial
		stats --partition layer
		stats --smart delta:1
		predict --prefetch ahead
		predict --drop 1
		predict --threads 2
		list-policies --policy lru
		calibrate --model m.gguf
		calibrate --prefill skip
	END
	run --separate-stderr cl-replay --curve --stats "$TRACE"
	status_is 2
	[ "${stderr_lines[0]}" = "cl-replay: --curve means nothing to --stats" ]
	run --separate-stderr cl-replay --samples 5 "$TRACE"
	status_is 2
	[ "${stderr_lines[0]}" = "cl-replay: --samples means nothing to a replay" ]
}

@test "predictors foretell as many experts as are asked for" {
	run bash -c 'cl-replay --predict --width 3 "$1" | cl-report -f json |
	    jq -c ".runs[0] | [.width, ([.tables.foresight[] |
	        select(.predictor == \"previous\")] |
	        all(.foretold == 3 * .cells and .cells > 0))]"' - "$TRACE"
	[ "$output" = '[3,true]' ]
}

# Two tokens and the head of a giant: a count for each of its pairs of experts
# would take 68 GB.
@test "memory of --predict follows the trace, not the layers that its head claims" {
	need plain
	awk 'BEGIN {
		print "token\tlayer\texperts"
		for (token = 0; token < 2; token++)
			for (layer = 0; layer < 64; layer++)
				print token "\t" layer "\t" 7 * layer ",16383,5"
	}' | cl-trace --load --layers 64 --experts 16384 >giant.clt
	ulimit -v 262144
	cl-replay --predict giant.clt >giant.cls
	[ "$(cl-report -f json giant.cls | jq '[.runs[0].tables.foresight[] |
	    select(.predictor == "transition") | .right] | add')" = \
	    $((63 * 3)) ]
}

# What a study does not heed would look as if it were heeded.
@test "the conditions of a study are those that mean something to it" {
	always=$(printf '%s\n' architecture expert_bytes experts member model \
	    model_dense_bytes model_fingerprint moe_layers origin origin_text \
	    prefill token_demand_bytes token_demand_experts tokens trace \
	    warmup what)
	while IFS='|' read -r study names; do
		cl-replay --$study "$TRACE" | cl-report -f tsv |
		    awk -F '\t' '$4 == "condition" { print $5 }' | sort >got
		diff -u <(printf '%s\n' $always $names | sort) got
	done <<-'END'
		stats|
		predict|
		predict --width 3|width
		bound|contract stride_bytes
		curve|contract policy stride_bytes window
		curve belady|contract policy stride_bytes window
	END
}

# What is said of a cache below demand, and of a load that is no miss.
@test "a cache that throws nobody out is not said to" {
	while IFS='|' read -r policy options text; do
		cl-replay --io none --policy "$policy" $options "$TRACE" |
		    cl-report >got
		sed -n '/BELOW DEMAND/,/^options/p' got | sed '$d' |
		    tr -s ' \n' ' ' >said
		[ "$(sed 's/ $//' said)" = "$text" ] || { cat said; return 1; }
	done <<-END
		static:$TRACE|--cache 40e| BELOW DEMAND: the cache holds less than one token uses.
		none|--cache 40e|
		infinite|--cache 40e|
		fifo|--cache 40e --partition class| BELOW DEMAND: the cache holds less than one token uses, so that each token throws out some of what the next one wants. The smallest budget that is not below demand is 64e, at most 768 KiB.
	END
}

@test "an initial load stands below the hits, and bounds are said not to hold" {
	cl-replay --io none --policy "static:$TRACE" --cache 64e "$TRACE" |
	    cl-report >got
	grep -A2 '^  hits / accesses' got | grep -q '^experts preloaded .* 64$'
	grep -q '^note .* no miss' got
	cl-replay --io none --cache 64e "$TRACE" | cl-report >got
	! grep -Eq 'preloaded|^note' got
	for policy in belady belady-bypass; do
		cl-replay --io none --policy $policy --partition class \
		    --cache 64e "$TRACE" | cl-report | tr -s ' \n' ' ' |
		    grep -q 'caches that start empty and fetch on demand'
	done
}
