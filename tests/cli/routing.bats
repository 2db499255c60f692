#!/usr/bin/env bats
# What goes wrong in routing, and does not here: scores that are no numbers,
# ties, k, layers that differ, padding, order, sequences.

load helpers

# edit TRACE AWK: a trace with its rows changed; in the program, a row's fields
# are $1 seq $2 pos $3 token $4 phase $5 pass $6 layer $7 experts $8 weights
# $9 scores $10 forecast.
edit()
{
	cl-trace --dump "$1" |
	    awk -F '\t' -v OFS='\t' '/^#/ || $1 == "seq" { print; next }
		'"$2"' { print }' | cl-trace --load
}

# totals STATS: hits, misses and all accesses of the first run.
totals()
{
	cl-report -f json "$1" | jq -r '.runs[0].totals |
	    "\(.hits) \(.misses) \(.hits + .misses)"'
}

mismatches()
{
	cl-trace --info "$1" | sed -n 's/.* \([0-9]*\) mismatches$/\1/p'
}

@test "scores that are no numbers choose experts that there are" {
	mkgguf small m.gguf
	cl-trace --synthetic --tokens 20 m.gguf >s.clt
	nan=nan,nan,nan,nan,nan,nan,nan,nan
	edit s.clt '$2 % 2 { $7 = $8 = "-"; $9 = "'$nan'" }' >nan.clt
	cl-trace --verify nan.clt
	cl-trace --dump nan.clt | awk -F '\t' '!/^#/ && $2 % 2 == 1 {
		n++
		if ($7 != "0,1" || $8 != "nan,nan")
			exit 1
	} END { exit n != 40 }'
	[ "$(mismatches nan.clt)" -eq 0 ]
	# what the engine chose then is kept, and told as not by the rule
	edit s.clt '$2 % 2 { $7 = "6,7"; $9 = "'$nan'" }' >other.clt
	[ "$(mismatches other.clt)" -eq 40 ]
	cl-replay --io none --cache 8e nan.clt other.clt >nan.cls
	cl-report -f json nan.cls | jq -e '[.runs[].totals |
	    .hits + .misses] == [160, 160]'
}

@test "equal scores go to the lower experts, at the last place too" {
	mkgguf small m.gguf
	cl-trace --synthetic=noise --tokens 1000 m.gguf >s.clt
	edit s.clt '{ $7 = $8 = "-"; $9 = "2,2,2,2,2,2,2,2" }' >all.clt
	edit s.clt '{ $7 = $8 = "-"; $9 = "0,0,0,9,0,0,0,0" }' >last.clt
	edit s.clt '{ $7 = $8 = "-"; $9 = "-0,-0,0,0,-0,0,0,0" }' >zero.clt
	for tie in all:0,1 last:3,0 zero:0,1; do
		[ "$(cl-trace --dump ${tie%:*}.clt |
		    awk -F '\t' '!/^#/ && $1 != "seq" { print $7 }' |
		    sort | uniq -c | xargs)" = "4000 ${tie#*:}" ]
	done
	# another order of what ties is another choice, and kept
	edit s.clt '{ $7 = "1,0"; $8 = "-"; $9 = "2,2,2,2,2,2,2,2" }' >o.clt
	[ "$(mismatches o.clt)" -eq 4000 ]
}

@test "k is at least 1 and at most the experts" {
	rows=$'layer\texperts\n0\t1,2\n1\t0,3\n'
	for k in 1 8; do
		cl-trace --load --experts 8 --used $k <<<"${rows//[0-3],/}" |
		    cl-trace --verify
	done
	run --separate-stderr cl-trace --load --experts 8 --used 0 <<<"$rows"
	status_is 2
	[[ $stderr == "cl-trace: --used \"0\": a whole number from 1 to "* ]]
	run --separate-stderr cl-trace --load --experts 8 --used 9 <<<"$rows"
	status_is 2
	[[ $stderr == "cl-trace: "*" layers of 8 experts, 9 used; "* ]]
	mkgguf small m.gguf
	run --separate-stderr cl-trace --load --model m.gguf --used 3 \
	    <<<"$rows"
	status_is 2
	stderr_is "cl-trace: a model says its layers, experts and k itself"
	for k in 0 9; do
		mkgguf small k.gguf used=$k
		run --separate-stderr cl-trace --synthetic k.gguf
		status_is 2
		stdout_is ""
	done
}

@test "layers of 8, 16 and 1 experts are each as wide as they are" {
	mkgguf small wide.gguf alt_experts=16 alt_used=3
	mkgguf small one.gguf alt_experts=1 alt_used=1
	for model in wide one; do
		cl-trace --synthetic --tokens 100 $model.gguf >$model.clt
		cl-trace --verify $model.clt
		cl-trace --dump $model.clt >$model.tsv
		cl-trace --load $model.tsv | cmp - $model.clt
		cl-replay --io none --cache 50% $model.clt >file.cls
		pipe "cat $model.clt | cl-replay --io none --cache 50%" \
		    >pipe.cls
		[ "$(totals file.cls)" = "$(totals pipe.cls)" ]
	done
	awk -F '\t' '!/^#/ && $1 != "seq" {
		if (split($9, a, ",") != ($6 % 2 ? 16 : 8) ||
		    split($7, a, ",") != ($6 % 2 ? 3 : 2))
			exit 1
	}' wide.tsv
	awk -F '\t' '!/^#/ && $6 % 2 == 1 && $7 != 0 { exit 1 }' one.tsv
}

@test "padding is counted apart, and makes no expert look hot" {
	mkgguf small m.gguf
	cl-trace --synthetic --tokens 100 m.gguf >s.clt
	cl-trace --dump s.clt | awk -F '\t' -v OFS='\t' '
	/^#/ { next }
	$1 == "seq" { print $1, $2, $4, $6, $7; next }
	$2 < 40 { print $1, $2, $4, $6, $7; next }
	{ print $1, $2, $4 "+pad", $6, "0,1" }' >rows
	cl-trace --load --model m.gguf rows >pad.clt
	grep -v pad rows | cl-trace --load --model m.gguf >bare.clt
	sed 's/+pad//' rows | cl-trace --load --model m.gguf >hot.clt
	[[ $(cl-trace --info pad.clt) == *" 60 padding"* ]]
	for trace in pad bare hot; do
		cl-replay --io none --cache 8e $trace.clt >$trace.cls
	done
	[ "$(totals pad.cls)" = "$(totals bare.cls)" ]
	[ "$(totals pad.cls)" != "$(totals hot.cls)" ]
}

@test "a pass served at once or by tokens changes the prefill alone" {
	need libllama
	cl-trace -f "$ROOT/tests/models/prompts/manual.txt" -n 16 -o t.clt \
	    --ignore-eos "$MODEL"
	for way in union token; do
		cl-replay --io none --cache 100% --prefill $way t.clt \
		    >$way.cls
		cl-report -f json $way.cls | jq '.runs[0].totals.hits +
		    .runs[0].totals.misses' >$way.accesses
	done
	# all tokens of the pass use 8 of 64 experts in each of 8 layers
	[ "$(cat token.accesses)" -eq $((432 * 64)) ]
	[ "$(cat union.accesses)" -lt $((16 * 64 + 512 + 1)) ]
	[ "$(cat union.accesses)" -gt $((16 * 64)) ]
	[ "$(totals union.cls | cut -d ' ' -f 2)" -eq \
	    "$(totals token.cls | cut -d ' ' -f 2)" ]
}

@test "sequences that take turns are told from one after another" {
	mkgguf small m.gguf
	cl-trace --synthetic --tokens 60 --seed 1 m.gguf >a.clt
	cl-trace --synthetic --tokens 60 --seed 2 m.gguf >b.clt
	for t in a b; do
		cl-trace --dump $t.clt | awk -F '\t' -v s=$t -v OFS='\t' '
		!/^#/ && $1 != "seq" {
			print $2, s == "b", $4, $6, $7
		}' >$t.rows
	done
	header=$'seq\tpos\tphase\tlayer\texperts'
	order='{ print $2, $1, $3, $4, $5 }'
	{
		echo "$header"
		cat a.rows b.rows | awk -F '\t' -v OFS='\t' "$order"
	} | cl-trace --load --model m.gguf >after.clt
	{
		echo "$header"
		sort -s -n -k 1,1 a.rows b.rows |
		    awk -F '\t' -v OFS='\t' "$order"
	} | cl-trace --load --model m.gguf >turns.clt
	for t in after turns; do
		cl-trace --info $t.clt | grep -A 2 sequences >$t.seqs
		cl-replay --io none --cache 12e $t.clt >$t.cls
	done
	diff - turns.seqs <<-EOF
	  sequences    2
	    0: 0 prefill, 60 decode  
	    1: 0 prefill, 60 decode  
	EOF
	cmp after.seqs turns.seqs
	[ "$(totals after.cls | cut -d ' ' -f 3)" -eq 960 ]
	[ "$(totals turns.cls | cut -d ' ' -f 3)" -eq 960 ]
	[ "$(totals after.cls)" != "$(totals turns.cls)" ]
}

# prompts N: 512 tokens of prefill in passes of N, and 64 of decode.
prompts()
{
	awk -v n="$1" -v OFS='\t' 'BEGIN {
		srand(3)
		print "pos", "phase", "pass", "layer", "experts"
		for (t = 0; t < 576; t++)
			for (l = 0; l < 4; l++) {
				a = int(rand() * 8)
				b = (a + 1 + int(rand() * 7)) % 8
				print t, t < 512 ? "prefill" : "decode",
				    t < 512 ? int(t / n) : t, l, a "," b
			}
	}' | cl-trace --load --model m.gguf
}

# phase STATS NAME COUNTER: a counter of the first run's phase.
phase()
{
	cl-report -f tsv "$1" | awk -F '\t' -v p="$2" -v c="$3" \
	    '$2 == "phase" && $3 == p && $5 == c { print $6 }'
}

# With slots for 6 of the 8 experts that a prompt uses in each layer.
@test "prefill in chunks is counted as it is served, decode as ever" {
	mkgguf small m.gguf
	for n in 1 32 512; do
		prompts $n >$n.clt
		for way in union token; do
			cl-replay --io none --cache 24e --partition layer \
			    --prefill $way $n.clt >$n.$way.cls
			[ "$(cl-report -f json $n.$way.cls |
			    jq -r .runs[0].prefill)" = $way ]
			# 64 tokens, 4 layers, 2 experts, however it began
			[ "$(phase $n.$way.cls decode accesses)" -eq 512 ]
			[ "$(phase $n.$way.cls prefill tokens)" -eq 512 ]
		done
		# a union asks once for what its pass uses: all 8, if long
		[ "$(phase $n.union.cls prefill events)" -eq $((2048 / n)) ]
		[ "$(phase $n.token.cls prefill accesses)" -eq 4096 ]
		cl-report -f json $n.token.cls | jq .runs[0].totals >$n.totals
		diff 1.totals $n.totals
	done
	# token by token, chunks do not matter; a union of one is that token
	cl-report -f json 1.union.cls | jq .runs[0].totals | diff 1.totals -
	[ "$(phase 32.union.cls prefill accesses)" -eq $((16 * 4 * 8)) ]
	[ "$(phase 512.union.cls prefill accesses)" -eq $((4 * 8)) ]
	[ "$(phase 512.union.cls prefill misses)" -eq $((4 * 8)) ]
	[ "$(phase 1.token.cls prefill hits)" -gt 0 ]
	[ "$(phase 1.token.cls prefill misses)" -gt $((4 * 8)) ]
}
