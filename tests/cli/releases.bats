#!/usr/bin/env bats
# The recorder against several releases of libllama (`make deps-releases`;
# 3.6.0 is b4753, 3.14.5 b7347, 3.21.1 v0.4.0, 3.22.1 v0.5.0), on two of the
# shipped prompts.
#
# Releases add up in another order where their kernels were rewritten.  So the
# same arithmetic is had by giving each the back end for any x86-64 alone, and
# by evaluating a token at a time: then scores agree to the bit.  A prefill
# pass of many tokens does not: v0.4.0 computes attention in tiles, which
# b7347 does not, and of 48,688 choices of the shipped prompts 1,120 (2.3 %)
# then have another expert.

load helpers

# release VERSION [CPU]: that libllama as ./VERSION, with one back end (but
# 3.6.0, which has none for any processor), or the test is skipped.
release()
{
	local from=$ROOT/build/deps-$1/package/bins/linux-x64

	[ "$1" != 3.21.1 ] || from=$ROOT/build/deps/package/bins/linux-x64
	[ -d "$from" ] || skip "no libllama $1: run make deps-releases"
	mkdir "$1"
	cp -P "$from"/*.so* "$1"
	[ -e "$1/libggml-cpu-${2:-x64}.so" ] || return 0
	find "$1" -name 'libggml-cpu-*' \
	    ! -name "libggml-cpu-${2:-x64}.so" -delete
}

# record VERSION NAME [option ...]
record()
{
	cl-trace --llama "$1" -o "$2.clt" -n 8 "${@:3}" \
	    -f "$ROOT/tests/models/prompts/manual.txt" \
	    -f "$ROOT/tests/models/prompts/speech.txt" "$MODEL" 2>"$2.err"
	cl-trace --dump "$2.clt" | grep -v '^#' >"$2.tsv"
}

# The tokens of a trace, one a line.
tokens()
{
	cl-trace --dump "$1" |
	    awk -F '\t' '!/^#/ && $6 == 0 { print $3 }'
}

@test "three releases record the same, to the bit, a token at a time" {
	release 3.14.5
	release 3.21.1
	release 3.22.1
	for version in 3.14.5 3.21.1 3.22.1; do
		record $version one-$version -u 1
		diff - one-$version.err <<-EOF
		cl-trace: 878 tokens in 878 passes, 7024 cells, 0 mismatches
		EOF
	done
	cmp one-3.14.5.tsv one-3.21.1.tsv
	cmp one-3.21.1.tsv one-3.22.1.tsv
	run cl-trace --info one-3.14.5.clt one-3.21.1.clt one-3.22.1.clt
	[ "$(grep -o 'engine=.*' <<<"$output")" = "engine=libllama b7347
engine=libllama v0.4.0
engine=libllama v0.5.0" ]
	[ "$(grep routing <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "without flash attention three releases choose the same experts" {
	release 3.14.5
	release 3.21.1
	release 3.22.1
	for version in 3.14.5 3.21.1 3.22.1; do
		cl-trace --llama $version --no-flash-attn -n 8 -o $version.clt \
		    $(printf -- '-f %s ' "$ROOT"/tests/models/prompts/*.txt) \
		    "$MODEL" 2>$version.err
		grep -q ' 48688 cells, [01] mismatches' $version.err
		cl-trace --info $version.clt | grep routing >$version.routing
	done
	cmp 3.14.5.routing 3.21.1.routing
	cmp 3.21.1.routing 3.22.1.routing
	release 3.6.0
	mkrouter mixtral mixtral.gguf
	run --separate-stderr cl-trace --llama 3.6.0 --no-flash-attn \
	    mixtral.gguf
	status_is 2
	[[ $stderr == *"flash attention is not known" ]]
}

@test "prefill passes are the same in two releases, and near in the third" {
	release 3.14.5
	release 3.21.1
	release 3.22.1
	for version in 3.14.5 3.21.1 3.22.1; do
		record $version many-$version
		grep -q '7024 cells, 0 mismatches' many-$version.err
	done
	cmp many-3.21.1.tsv many-3.22.1.tsv
	# Rows whose experts are others: some, and few.
	others=$(paste many-3.14.5.tsv many-3.21.1.tsv | awk -F '\t' '
	NR > 1 {
		delete of
		n = split($7, a, ",")
		for (i = 1; i <= n; i++)
			of[a[i]]
		split($17, b, ",")
		for (i = 1; i <= n && b[i] in of; i++)
			;
		others += i <= n
	}
	END { print others }')
	echo "$others rows of other experts"
	[ "$others" -gt 0 ] && [ "$others" -lt 350 ]	# of 7024
}

@test "--no-repack runs weights as the file has them, in every release" {
	grep -q avx2 /proc/cpuinfo || skip "no processor that repacks"
	mkgguf loadable q4_0.gguf type=q4_0 embd=256 ff=256
	for version in 3.14.5 3.21.1 3.22.1; do
		release $version haswell
		for option in -t1 --no-repack; do
			cl-trace --llama $version $option -u 1 -n 8 \
			    --ignore-eos -p "some words" -o $version.clt \
			    --force q4_0.gguf
			cl-trace --dump $version.clt | grep -v '^#' \
			    >$version$option.tsv
		done
		[[ $(cl-trace --info $version.clt) == *" repack=no "* ]]
		! cmp -s $version-t1.tsv $version--no-repack.tsv
		cmp $version--no-repack.tsv 3.14.5--no-repack.tsv
	done
}

@test "settings whose place is not known are refused by the release's name" {
	release 3.6.0
	mkrouter mixtral mixtral.gguf
	run --separate-stderr cl-trace --llama 3.6.0 --no-repack mixtral.gguf
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: libllama of unknown release: where it takes\
 whether to repack weights is not known"
}

@test "layers go on a GPU that is there, and nowhere else" {
	for version in 3.6.0 3.14.5 3.21.1 3.22.1; do
		release $version
		mkrouter mixtral mixtral.gguf
		cl-trace --llama $version --gpu-layers 0 -n 0 -p x -o 0.clt \
		    --force mixtral.gguf
		[[ $(cl-trace --info 0.clt) == *" gpu_layers=0 "* ]]
		run --separate-stderr cl-trace --llama $version \
		    --gpu-layers 2 -n 0 -p x mixtral.gguf
		status_is 2
		stdout_is ""
		[[ $stderr == "cl-trace: libllama "*" has no GPU to put\
 layers on" ]]
	done
}

@test "--chat puts prompts into the model's template, and says so" {
	for version in 3.14.5 3.21.1 3.22.1; do
		release $version
		mkgguf loadable chat.gguf chat=1
		cl-trace --llama $version --chat -n 0 -p "he<|endoftext|>" \
		    -o chat.clt --force chat.gguf
		cl-trace --llama $version -n 0 -o plain.clt --force \
		    -p $'<|im_start|>user\nhe<|im_end|>\n<|im_start|>assistant\n' \
		    chat.gguf
		[[ $(cl-trace --info chat.clt) == *" chat=yes "* ]]
		# The mark in the message is a token, and nothing else differs.
		diff <(tokens chat.clt) <(tokens plain.clt) >marks || true
		diff - marks <<-EOF
		19d18
		< 259
		EOF
		run --separate-stderr cl-trace --llama $version --chat -p x \
		    "$MODEL"
		status_is 2
		stdout_is ""
		stderr_is "cl-trace: the model has no chat template"
	done
}

@test "a libllama without a back end for this processor is told" {
	for version in 3.6.0 3.21.1; do
		release $version
		rm $version/libggml-cpu-*
		run --separate-stderr cl-trace --llama $version -n 0 -p x \
		    "$MODEL"
		status_is 2
		stdout_is ""
		[[ $stderr == "cl-trace: libllama "*" has no back end for\
 this processor beside it" ]]
	done
}

@test "a release that does not know the model says so, in its own words" {
	release 3.6.0
	run --separate-stderr cl-trace --llama 3.6.0 -n 0 -p x "$MODEL"
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: $MODEL: libllama of unknown release cannot load\
 it: unknown model architecture: 'qwen3moe'"
}
