#!/usr/bin/env bats
# The same weights in other files: in shards, a tensor per expert, gate and up
# fused.  Nothing but the places of bytes may differ.

load helpers

# of FILTER FILE: what jq makes of the geometry.
of()
{
	cl-trace --geometry -f json "$2" | jq -cr "$1"
}

# What does not depend on where bytes lie.
SHAPE='[.model_fingerprint, .experts, .expert_bytes, .token_demand_bytes,
    .dense_bytes, .size_classes, [.layers[] | del(.slabs)]]'

# refused FILE LINE: status 2, nothing on stdout, one line.
refused()
{
	run --separate-stderr cl-trace --geometry "$1"
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: $2"
}

# layouts KNOB...: the pattern preset in each layout; their names.
layouts()
{
	mkgguf pattern whole.gguf "$@"
	mkgguf pattern each.gguf each=1 "$@"
	mkgguf pattern fused.gguf fused=1 "$@"
	mkgguf pattern s.gguf shards=3 "$@"
	mkgguf pattern e.gguf each=1 shards=5 "$@"
}

FILES="whole.gguf each.gguf fused.gguf s-00001-of-00003.gguf
    e-00004-of-00005.gguf"

@test "every layout has one geometry up to places, and one fingerprint" {
	local f want

	layouts embd=64 ff=64 experts=12 alt_experts=5 used=3 alt_used=2
	want=$(of "$SHAPE" whole.gguf)
	for f in $FILES; do
		[ "$(of "$SHAPE" $f)" = "$want" ]
	done
	[ "$(of '[.layers[0].slabs[] | .places | length]' each.gguf)" = \
	    "[12,12,12]" ]
	[ "$(of '[.layers[1].slabs[] | .kind]' fused.gguf)" = \
	    '["down","gate_up"]' ]
	[ "$(of '.shards | length' e-00004-of-00005.gguf)" = 5 ]
	[ "$(of '[.layers[].slabs[].places[].shard] | unique | length > 2' \
	    e-00004-of-00005.gguf)" = true ]
	mkgguf pattern other.gguf embd=64 ff=64 experts=12 alt_experts=5 \
	    used=3 alt_used=2 seed=2
	[ "$(of "$SHAPE" other.gguf)" != "$want" ]
}

@test "expert 10 is expert 10, not the one behind expert 1" {
	mkgguf each m.gguf experts=12 layers=1
	[ "$(of '.layers[0].slabs[0].places | map(.offset) |
	    . == sort and length == 12' m.gguf)" = true ]
}

# Counters and digests of a report, and which model it is about.
counts()
{
	cl-report -f tsv "$1" | grep -E '	logical	|fingerprint|demand'
}

@test "every layout replays alike, with reads and without" {
	local f

	layouts embd=64 ff=64 experts=12 alt_experts=5 used=3 alt_used=2
	for f in $FILES; do
		cl-trace --synthetic --tokens 64 --seed 7 -o "$f.clt" $f
		cl-trace --verify "$f.clt"
		cl-replay --cache 30% "$f.clt" >"$f.cls"
		cl-replay --cache 30% --io none "$f.clt" >"$f.none.cls"
		counts "$f.cls" >"$f.tsv"
		diff -u whole.gguf.tsv "$f.tsv"
		diff -u whole.gguf.tsv <(counts "$f.none.cls")
	done
	grep -q '	logical	digest	' whole.gguf.tsv
	grep -q '	condition	model_fingerprint	' whole.gguf.tsv
}

@test "a trace takes its model in any other layout" {
	local f

	layouts embd=64 ff=64
	mkdir away
	mv whole.gguf away
	cl-trace --synthetic --tokens 64 -o a.clt away/whole.gguf
	rm away/whole.gguf
	cl-replay --cache 4e --io none a.clt >a.cls
	counts a.cls >want
	for f in ${FILES/whole.gguf/}; do
		cl-replay --cache 4e --model $f a.clt >b.cls
		diff -u want <(counts b.cls)
		cl-report -f tsv b.cls | grep -q '	model_path	'
	done
}

@test "places of experts survive a dump and a load" {
	mkgguf each m.gguf experts=12 layers=2 shards=3
	cl-trace --synthetic --tokens 4 -o a.clt m-00002-of-00003.gguf
	cl-trace --dump a.clt >a.tsv
	[ "$(grep -c '^# slab	.*	-	[0-9]*$' a.tsv)" -eq 6 ]
	cl-trace --load a.tsv | cl-trace --dump >b.tsv
	cmp a.tsv b.tsv
}

@test "a model in shards is found from any of them, wherever one stands" {
	local i want

	mkdir -p far/away
	mkgguf small far/away/m.gguf shards=3
	want=$(of "$SHAPE" far/away/m-00001-of-00003.gguf)
	for i in 1 2 3; do
		[ "$(of "$SHAPE" far/away/m-0000$i-of-00003.gguf)" = "$want" ]
	done
	cd far
	[ "$(of '[.shards[].path]' away/m-00003-of-00003.gguf)" = \
	    '["away/m-00001-of-00003.gguf","away/m-00002-of-00003.gguf","away/m-00003-of-00003.gguf"]' ]
	cd away
	[ "$(of "$SHAPE" ./m-00002-of-00003.gguf)" = "$want" ]
}

@test "a replay finds shards beside the trace" {
	mkdir made moved
	mkgguf small made/m.gguf shards=3
	cl-trace --synthetic --tokens 9 -o made/a.clt \
	    made/m-00003-of-00003.gguf
	mv made/* moved
	cl-replay --cache 25% moved/a.clt >a.cls
	cl-report -f tsv a.cls |
	    grep -q '	model_path	moved/m-00001-of-00003.gguf$'
	rm moved/m-00001-of-00003.gguf
	run --separate-stderr cl-replay --cache 25% moved/a.clt
	status_is 2
	stdout_is ""
	[[ $stderr == *"made/m-00001-of-00003.gguf is neither there nor beside the trace"* ]]
}

@test "shards that link to blobs named by hash are found by their links" {
	local i

	mkdir -p snapshots/x blobs
	mkgguf small m.gguf shards=3
	for i in 1 2 3; do
		mv m-0000$i-of-00003.gguf blobs/hash$i
		ln -s ../../blobs/hash$i snapshots/x/m-0000$i-of-00003.gguf
	done
	[ "$(of '.shards[2].path' snapshots/x/m-00002-of-00003.gguf)" = \
	    snapshots/x/m-00003-of-00003.gguf ]
	cl-trace --synthetic --tokens 9 -o a.clt \
	    snapshots/x/m-00002-of-00003.gguf
	cl-replay --cache 25% a.clt >a.cls
	rm blobs/hash3
	refused snapshots/x/m-00001-of-00003.gguf "snapshots/x/m-00001-of-00003.gguf: shard 3 of 3: snapshots/x/m-00003-of-00003.gguf: cannot open: No such file or directory"
	ln -sf hash3 blobs/hash3
	refused snapshots/x/m-00001-of-00003.gguf "snapshots/x/m-00001-of-00003.gguf: shard 3 of 3: snapshots/x/m-00003-of-00003.gguf: cannot open: Too many levels of symbolic links"
}

@test "a missing shard is named before anything is recorded or read" {
	mkgguf small m.gguf shards=3
	cl-trace --synthetic --tokens 9 -o a.clt m-00001-of-00003.gguf
	rm m-00002-of-00003.gguf
	run --separate-stderr cl-trace -o b.clt m-00003-of-00003.gguf
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: m-00003-of-00003.gguf: shard 2 of 3: m-00002-of-00003.gguf: cannot open: No such file or directory"
	[ ! -e b.clt ]
	run --separate-stderr cl-replay --cache 25% a.clt
	status_is 2
	stdout_is ""
	[[ $stderr == *"shard 2 of 3: m-00002-of-00003.gguf: cannot open: "* ]]
}

@test "a shard under another name is refused with the name that is wanted" {
	mkgguf small m.gguf shards=3
	mv m-00002-of-00003.gguf second.gguf
	refused second.gguf "second.gguf: shard 2 of 3 by its keys: its name must end in -00002-of-00003.gguf, so that the others are found"
	cp second.gguf m-00002-of-00003.gguf
	mv m-00003-of-00003.gguf m-00003-of-00004.gguf
	refused m-00003-of-00004.gguf "m-00003-of-00004.gguf: shard 3 of 3 by its keys: its name must end in -00003-of-00003.gguf, so that the others are found"
}

@test "a shard cut short or of another model is refused by its name" {
	local size

	mkgguf small m.gguf shards=3
	size=$(stat -c %s m-00003-of-00003.gguf)
	truncate -s -1 m-00003-of-00003.gguf
	run --separate-stderr cl-trace --geometry m-00001-of-00003.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: m-00001-of-00003.gguf: shard 3 of 3: m-00003-of-00003.gguf: the tensor "*" needs a file of $size bytes, and this one has $((size - 1))" ]]
	mkgguf small n.gguf shards=3 layers=5
	cp n-00003-of-00003.gguf m-00003-of-00003.gguf
	run --separate-stderr cl-trace --geometry m-00001-of-00003.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: m-00003-of-00003.gguf: a shard of another model: split.tensors.count is "* ]]
}

@test "a recording of a model in shards is that of the model in one file" {
	need libllama
	mkgguf loadable one.gguf
	mkgguf loadable m.gguf shards=3
	echo "Any shard will do." >prompt
	cl-trace -f prompt -n 4 -o one.clt one.gguf 2>/dev/null
	cl-trace -f prompt -n 4 -o m.clt m-00002-of-00003.gguf 2>said
	grep -q ', 0 mismatches' said
	diff -u <(cl-trace --dump one.clt | grep -v '^#') \
	    <(cl-trace --dump m.clt | grep -v '^#')
	cl-replay --cache 25% m.clt >m.cls
	cl-report -f tsv m.cls | grep -q '	model_path	m-00001-of-00003.gguf$'
}
