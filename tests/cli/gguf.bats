#!/usr/bin/env bats
# What cl-trace makes of GGUF files, right, wrong and malicious.

load helpers

# refused FILE WORDS: status 2, nothing on stdout, one line that names the file.
refused()
{
	run --separate-stderr cl-trace --geometry "$1"
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: $1: $2"
}

# of FILTER FILE: what jq makes of the geometry.
of()
{
	cl-trace --geometry -f json "$2" | jq -cr "$1"
}

# le BYTES VALUE: a little-endian number.
le()
{
	local i hex

	hex=$(printf "%0$((2 * $1))x" "$2")
	for ((i = $1 - 1; i >= 0; i--)); do
		printf '%b' "\\x${hex:2 * i:2}"
	done
}

# head NTENSORS NKEYS: the fixed part of a head.
head_of()
{
	printf GGUF
	le 4 3
	le 8 "$1"
	le 8 "$2"
}

@test "the geometry of the shipped model is as its README says" {
	cp "$MODEL" m.gguf
	run --separate-stderr cl-trace --geometry m.gguf
	status_is 0
	stderr_is ""
	[ "${lines[1]}" = "architecture  qwen3moe" ]
	[ "${lines[4]}" = "layers        8: 8 MoE, 0 dense, 0 extra" ]
	[ "${lines[5]}" = "experts       512, 3.62 MiB (3,801,088 bytes)" ]
	[ "${lines[7]}" = "demand        64 experts a token, 464 KiB (475,136 bytes)" ]
	[ "$(of '[.layers[] | .expert_bytes] | unique' m.gguf)" = "[6912,8960]" ]
	[ "$(of '[.layers[] | .k] | add' m.gguf)" = 64 ]
	[ "$(of '.layers[0].rule.assumed' m.gguf)" = \
	    '["gate","select","groups","norm","scale"]' ]
}

@test "JSON and text say the same sums" {
	mkgguf mixed-types m.gguf
	[ "$(of .token_demand_bytes m.gguf)" = \
	    "$(of '[.layers[] | .k * .expert_bytes] | add' m.gguf)" ]
	[ "$(of .expert_bytes m.gguf)" = \
	    "$(of '[.layers[] | .experts * .expert_bytes] | add' m.gguf)" ]
	[ "$(of '[.size_classes[] | .bytes * .experts] | add' m.gguf)" = \
	    "$(of .expert_bytes m.gguf)" ]
	[ "$(of '.size_classes' m.gguf)" = \
	    '[{"bytes":110592,"experts":16},{"bytes":161280,"experts":16}]' ]
}

@test "dense layers lead, alternate and trail under their own numbers" {
	local want

	while read -r name want; do
		mkgguf "$name" m.gguf
		[ "$(of '[.layers[] | .moe]' m.gguf)" = "$want" ]
	done <<-END
		dense-first [false,false,true,true]
		interleaved [false,true,false,true]
		dense-last [true,true,true,false]
	END
	mkgguf all-dense m.gguf
	refused m.gguf "no MoE layers: none of the 4 layers has routed experts"
}

@test "k and the number of experts may differ from layer to layer" {
	mkgguf per-layer-k m.gguf
	[ "$(of '[.layers[] | .k]' m.gguf)" = "[2,3,2,3]" ]
	mkgguf per-layer-experts m.gguf
	[ "$(of '[.layers[] | .experts]' m.gguf)" = "[8,16,8,16]" ]
	mkgguf small m.gguf used=0
	refused m.gguf "layer 0: k is 0 with 8 experts"
	mkgguf small m.gguf used=9
	refused m.gguf "layer 0: k is 9 with 8 experts"
	mkgguf small m.gguf used=8
	[ "$(of .token_demand_experts m.gguf)" = 32 ]
}

@test "extra prediction layers are left out of sums" {
	mkgguf mtp m.gguf
	[ "$(of '[.layers[] | .extra]' m.gguf)" = "[false,false,false,true]" ]
	[ "$(of .experts m.gguf)" = 24 ]
}

@test "the gating function is read, or assumed and said so" {
	mkgguf small m.gguf
	[ "$(of '.layers[0].rule | [.gate, (.assumed | index("gate") != null)]' \
	    m.gguf)" = '["softmax",true]' ]
	mkgguf small m.gguf gating=1
	[ "$(of '.layers[0].rule | [.gate, (.assumed | index("gate") != null)]' \
	    m.gguf)" = '["softmax",false]' ]
	mkgguf small m.gguf gating=2 bias=1
	[ "$(of '.layers[0].rule | [.gate, .sel_bias]' m.gguf)" = \
	    '["sigmoid",true]' ]
	mkgguf small m.gguf gating=9
	refused m.gguf \
	    "the key qwen3moe.expert_gating_func is 9, a gating function that is not known"
}

@test "gate and up fused have the bytes and the fingerprint of both apart" {
	mkgguf small a.gguf
	mkgguf fused b.gguf
	[ "$(of '[.model_fingerprint, .expert_bytes, .token_demand_bytes]' a.gguf)" = \
	    "$(of '[.model_fingerprint, .expert_bytes, .token_demand_bytes]' b.gguf)" ]
	[ "$(of '[.layers[0].slabs[] | .kind]' b.gguf)" = '["down","gate_up"]' ]
}

@test "new types have their bytes; an unknown one matters in experts only" {
	mkgguf mxfp4 m.gguf
	[ "$(of '.layers[0].slabs[0] | [.type, .bytes]' m.gguf)" = \
	    '["mxfp4",2176]' ]
	mkgguf nvfp4 m.gguf
	[ "$(of '.layers[0].slabs[0] | [.type, .bytes]' m.gguf)" = \
	    '["nvfp4",2304]' ]
	mkgguf unknown-attention m.gguf
	[ "$(of .experts m.gguf)" = 32 ]
	mkgguf unknown-experts m.gguf
	refused m.gguf "the tensor blk.0.ffn_down_exps.weight is of unknown type 200, so the bytes of an expert are not known"
}

@test "versions and byte orders are told apart by name" {
	mkgguf v2 m.gguf
	[ "$(of .experts m.gguf)" = 32 ]
	mkgguf v1 m.gguf
	refused m.gguf "GGUF version 1; 2 and 3 are understood"
	mkgguf big-endian m.gguf
	refused m.gguf \
	    "a big-endian file; only little-endian GGUF is understood"
}

@test "a head that claims more than the file holds costs no memory" {
	need plain
	ulimit -v 65536
	head_of 0 $((1 << 32)) >m.gguf
	refused m.gguf "4294967296 keys are claimed; the 0 bytes left cannot hold more than 0"
	head_of $((1 << 60)) 0 >m.gguf
	refused m.gguf "1152921504606846976 tensors are claimed; the 0 bytes left cannot hold more than 0"
	head_of $((1 << 63)) $((1 << 63)) >m.gguf
	refused m.gguf "9223372036854775808 keys are claimed; the 0 bytes left cannot hold more than 0"
	{ head_of 0 1; le 8 $((0xffffffffffff)); printf 12345678; } >m.gguf
	refused m.gguf "key 0 at byte 24: 281474976710655 bytes are needed and 8 are left"
	{ head_of 0 1; le 8 -1; printf 12345678; } >m.gguf
	refused m.gguf "key 0 at byte 24: 18446744073709551615 bytes are needed and 8 are left"
}

@test "an alignment of 0 is refused" {
	{ head_of 0 1; le 8 17; printf general.alignment; le 4 4; le 4 0; } >m.gguf
	refused m.gguf "general.alignment is 0; it must be a power of two, at most 16777216"
}

@test "a file cut short is refused with the length that it needs" {
	local size

	mkgguf small m.gguf
	size=$(stat -c %s m.gguf)
	head -c $((size - 1)) m.gguf >cut.gguf
	refused cut.gguf "the tensor blk.3.ffn_down_exps.weight [64 x 64 x 8] needs a file of $size bytes, and this one has $((size - 1))"
	head -c $((size / 2)) m.gguf >cut.gguf
	run --separate-stderr cl-trace --geometry cut.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == *" needs a file of "*", and this one has $((size / 2))" ]]
	head -c 100 m.gguf >cut.gguf
	run --separate-stderr cl-trace --geometry cut.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: cut.gguf: "*" keys are claimed; the 76 bytes left cannot hold more than 5" ]]
}

@test "links to blobs are followed, and a dangling one is named as given" {
	mkdir -p snapshots/x blobs
	mkgguf small blobs/0123abcd
	ln -s ../../blobs/0123abcd snapshots/x/m.gguf
	[ "$(of '.shards[0].path' snapshots/x/m.gguf)" = snapshots/x/m.gguf ]
	rm blobs/0123abcd
	refused snapshots/x/m.gguf "cannot open: No such file or directory"
	ln -s 0123abcd blobs/0123abcd
	refused snapshots/x/m.gguf \
	    "cannot open: Too many levels of symbolic links"
	mkfifo pipe.gguf
	refused pipe.gguf "not a regular file"
	refused blobs "not a regular file"
}

@test "an interrupted read goes on, a failed one names its place" {
	need strace
	mkgguf small m.gguf
	cl-trace --geometry m.gguf >want
	run --separate-stderr traced -qq -o log -P "$(realpath m.gguf)" \
	    -e inject=read,pread64:error=EINTR:when=1+2 \
	    cl-trace --geometry m.gguf
	status_is 0
	stderr_is ""
	grep -q INJECTED log
	diff -u want <(echo "$output")
	run --separate-stderr traced -qq -o log -P "$(realpath m.gguf)" \
	    -e inject=read:error=EIO cl-trace --geometry m.gguf
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: m.gguf: cannot read at byte 0: Input/output error"
	run --separate-stderr traced -qq -o log -P "$(realpath m.gguf)" \
	    -e inject=pread64:error=EIO cl-trace --geometry m.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: m.gguf: cannot read "*" bytes at byte "*": Input/output error" ]]
}

@test "keys behind a vocabulary of 200,000 tokens arrive whole" {
	mkgguf large-vocabulary m.gguf
	[ "$(of '[.layers[] | .k] | [length, add]' m.gguf)" = "[128,320]" ]
}

@test "a file that is no GGUF is refused" {
	: >m.gguf
	refused m.gguf "header 0 at byte 0: 4 bytes are needed and 0 are left"
	echo "not a model at all" >m.gguf
	refused m.gguf "not a GGUF file"
}
