#!/usr/bin/env bats
# Small models with random weights, a kind of router each (tests/gen/mkrouter):
# what is recorded is what the graph did, in every release that knows the model.

load helpers

KINDS="deepseek2 ernie glm4moe gpt-oss llama4 mixtral nemotron olmoe qwen2moe"
TEXT="It was the best of times, it was the worst of times; a hundred tokens."

# releases: the folder of each that is here, the one for users first.
releases()
{
	echo "$CL_LLAMA"
	for version in 3.22.1 3.14.5 3.6.0; do
		if [ -d "$ROOT/build/deps-$version" ]; then
			echo "$ROOT/build/deps-$version"
		fi
	done
}

# record LLAMA KIND [knob ...]: KIND.clt, and what was said of it.
record()
{
	mkrouter "$2" "$2.gguf" "${@:3}"
	cl-trace --llama "$1" -p "$TEXT" -n 8 --ignore-eos --force \
	    -o "$2.clt" "$2.gguf" 2>&1
}

# The rule of a trace's last layer, then experts:k of every layer.
rule_of()
{
	cl-trace --dump "$1" | awk -F '\t' '
	$1 == "# layer" { layers = layers " " $3 ":" $4 }
	$1 == "# rule" {
		rule = $3 " " $4 " " $5 ", groups " $6 "/" $7 ", scale " $8
		assumed = $9
	}
	/^# (gate|sel)_bias/ { bias = ", " substr($1, 3) }
	END { print rule bias (assumed == "-" ? "" : ", assumed") ";" layers }'
}

@test "each kind of router has its rule read from the graph" {
	need libllama
	for kind in $KINDS; do
		record "$CL_LLAMA" $kind >/dev/null
		echo "$kind: $(rule_of $kind.clt)"
	done >rules
	diff -u - rules <<-EOF
	deepseek2: sigmoid probs norm, groups 4/2, scale 2.5, sel_bias; 0:0 32:4 32:4 32:4
	ernie: softmax probs norm, groups 1/1, scale 1, sel_bias; 0:0 32:4 32:4 32:4
	glm4moe: sigmoid probs norm, groups 1/1, scale 1.8, sel_bias; 0:0 32:4 32:4 32:4
	gpt-oss: softmax_weight probs softmax, groups 1/1, scale 1, gate_bias; 32:4 32:4 32:4 32:4
	llama4: sigmoid logits -, groups 1/1, scale 1; 32:4 32:4 32:4 32:4
	mixtral: softmax probs norm, groups 1/1, scale 1; 32:4 32:4 32:4 32:4
	nemotron: sigmoid probs norm, groups 1/1, scale 2.5, sel_bias; 0:0 32:5 0:0 32:3
	olmoe: softmax probs -, groups 1/1, scale 1; 32:4 32:4 32:4 32:4
	qwen2moe: softmax probs -, groups 1/1, scale 1; 32:4 32:4 32:4 32:4
	EOF
}

@test "each kind is recorded without a mismatch by the releases that know it" {
	need libllama
	local unknown=0

	for llama in $(releases); do
		for kind in $KINDS; do
			said=$(record "$llama" $kind) || {
				[[ $said == *" cannot load it: "* ]]
				[ ! -e $kind.clt ]
				echo "$llama $kind: $said"
				unknown=$((unknown + 1))
				continue
			}
			[[ $said == *" cells, 0 mismatches" ]]
			cl-trace --verify $kind.clt >/dev/null
			rm $kind.clt
		done
	done
	# b7347 does not know nemotron_h_moe, nor b4753 most of them.
	if [ -d "$ROOT/build/deps-3.14.5" ] && [ -d "$ROOT/build/deps-3.6.0" ]
	then
		[ "$unknown" -eq 7 ]
	fi
}

@test "where a saturated router ties, the engine's choice is kept and told" {
	need libllama
	for kind in mixtral olmoe qwen2moe; do
		said=$(record "$CL_LLAMA" $kind gain=5000)
		n=$(sed -n 's/.* \([0-9]*\) mismatches$/\1/p' <<<"$said")
		[ "$n" -gt 0 ]
		cl-trace --verify $kind.clt
		cl-trace --info $kind.clt | grep -q " $n mismatches$"
		# text carries the choices, and they are what they were
		cl-trace --dump $kind.clt >$kind.tsv
		cl-trace --load $kind.tsv >again.clt
		cl-trace --dump again.clt | cmp - $kind.tsv
		cl-trace --info again.clt | grep -q " $n mismatches$"
	done
}

# beside N KIND: five prompts, two of them alike, N at a time, as N.tsv: the
# sequence, position, layer, token and scores of each row.
beside()
{
	cl-trace --parallel $1 -n 8 --ignore-eos -p "it was" -p "It was the" \
	    -p "it was not" -p "$TEXT" -p "It was the" -o $1.clt --force \
	    $2.gguf 2>$1.err
	[[ $(cat $1.err) == *" cells, 0 mismatches" ]]
	cl-trace --verify $1.clt >/dev/null
	cl-trace --dump $1.clt | awk -F '\t' -v OFS='\t' '
	!/^#/ && $1 != "seq" { print $1, $2, $6, $3, $9 }' |
	    sort -s -t $'\t' -k 1,1n -k 2,2n -k 3,3n >$1.tsv
}

@test "each kind is recorded side by side as one at a time, but for rounding" {
	need libllama
	for kind in $KINDS; do
		mkrouter $kind $kind.gguf
		beside 1 $kind
		beside 3 $kind
		[[ $(cl-trace --info 3.clt) == *" parallel=3 "* ]]
		diff <(cut -f 1-4 1.tsv) <(cut -f 1-4 3.tsv)
		paste 1.tsv 3.tsv | awk -F '\t' '{
			n = split($5, a, ",")
			split($10, b, ",")
			off = size = 0
			for (i = 1; i <= n; i++) {
				d = a[i] - b[i]
				off += d < 0 ? -d : d
				size += a[i] < 0 ? -a[i] : a[i]
			}
			if (off > size / 100)
				exit 1
		} END { exit NR < 270 }'
	done
}

@test "sequences that a release does not tell apart are refused" {
	need libllama
	llama=$ROOT/build/deps-3.6.0
	[ -d "$llama" ] || skip "no libllama 3.6.0: run make deps-releases"
	mkrouter mixtral mixtral.gguf
	run --separate-stderr cl-trace --llama "$llama" --parallel 2 -n 0 \
	    -p "it was" -p "it was" mixtral.gguf
	status_is 2
	[[ $stderr == "cl-trace: libllama of unknown release regroups the\
 tokens of 2 sequences in a way that is not understood; one at a time will do" ]]
}

@test "a context too small for all says what each sequence has" {
	need libllama
	mkrouter mixtral mixtral.gguf
	run --separate-stderr cl-trace --parallel 2 -c 200 -n 90 -p "$TEXT" \
	    -p "it was" mixtral.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: prompt -p: "*" tokens and 90 to generate\
 need a context of "*", which has 100 for each sequence" ]]
	run --separate-stderr cl-trace --parallel 2 -u 1 -p a -p b mixtral.gguf
	status_is 2
	stderr_is "cl-trace: 2 sequences have no room in a pass of 1 tokens"
}

@test "noise has no locality, and refuses one" {
	run --separate-stderr cl-trace --synthetic=noise --locality 2 "$MODEL"
	status_is 2
	stdout_is ""
	[ "${stderr_lines[0]}" = \
	    "cl-trace: --locality means nothing to --synthetic=noise" ]
}
