#!/usr/bin/env bats
# Archives of traces: made, listed, verified, replayed, gone on from; and what
# comes of hostile ones.

load helpers

TRACES="$ROOT/traces/manual.clt $ROOT/traces/novel.clt $ROOT/traces/speech.clt"
PROMPTS=$ROOT/tests/models/prompts

# An archive of three traces.
corpus()
{
	cl-trace --add --archive corpus.tar.zst $TRACES
}

# Every run without what names its trace or measures time, one a line.
runs()
{
	cl-report -f json "$@" | jq -c '.runs[] |
	    del(.trace, .member, .member_name, .measured, .machine, .ratios,
		.windows[].wall_ns?)'
}

@test "an archive lists and verifies, and replays as its traces do" {
	corpus
	run --separate-stderr cl-trace --archive-list corpus.tar.zst
	status_is 0
	stderr_is ""
	[ "$(cut -f 1,3 <<<"$output" | tr '\t\n' '  ')" = "member kind$(
	    for name in manual novel speech; do
		printf ' %s.clt trace %s.json sidecar' $name $name
	    done) index.tsv index " ]
	[ "$(awk '$1 == "novel.clt" { print $2 }' <<<"$output")" = \
	    "$(stat -c %s "$ROOT/traces/novel.clt")" ]
	run --separate-stderr cl-trace --archive-verify corpus.tar.zst
	status_is 0
	stderr_is ""
	[ "${lines[-1]}" = "6 members, as the index says" ]
	cl-replay --io none corpus.tar.zst >archive.cls
	cl-replay --io none $TRACES >single.cls
	diff <(runs single.cls) <(runs archive.cls)
	[ "$(cl-report -f json archive.cls | jq -r '.runs[1] |
	    "\(.trace) \(.member) \(.member_name)"')" = \
	    "corpus.tar.zst 2 novel.clt" ]
}

@test "an archive is the same bytes each time, and tar reads it" {
	corpus
	mkdir other
	(cd other && cl-trace --add --archive again.tar.zst $TRACES)
	cmp corpus.tar.zst other/again.tar.zst
	mkdir out
	zstd -qdc corpus.tar.zst | tar -C out -xf -
	for trace in $TRACES; do
		cmp "$trace" "out/${trace##*/}"
	done
	(cd out && sed 1,2d index.tsv |
	    awk '{ print $3 "  " $1 }' | sha256sum -c --quiet -)
	jq -e '.sha256 == $sha and .traces[0].tokens == 826 and
	    .prompt == null' --arg sha "$(sha256sum <out/novel.clt |
	    cut -d ' ' -f 1)" out/novel.json
}

@test "a tar in any filter, from a pipe too, and zip and 7z from files" {
	mkdir t
	cp $TRACES t/
	cl-replay --io none t/*.clt | runs >expected
	tar -cf t.tar t/manual.clt t/novel.clt t/speech.clt
	gzip -k t.tar
	zstd -qk t.tar
	files="t.tar t.tar.gz t.tar.zst"
	if command -v bzip2 >/dev/null; then
		bzip2 -k t.tar
		files="$files t.tar.bz2"
	fi
	if command -v xz >/dev/null; then
		xz -0k t.tar
		files="$files t.tar.xz"
	fi
	for file in $files; do
		cl-replay --io none $file | runs | diff expected -
		pipe "cat $file | cl-replay --io none" | runs | diff expected -
	done
	if command -v zip >/dev/null; then
		zip -q t.zip t/manual.clt t/novel.clt t/speech.clt
		cl-replay --io none t.zip | runs | diff expected -
		cl-replay --io none - <t.zip | runs | diff expected -
		run --separate-stderr pipe 'cat t.zip | cl-replay --io none'
		status_is 2
		stdout_is ""
		stderr_is "cl-replay: standard input: zip needs a file, not a $(
		    )pipe: its directory is at its end"
	fi
	if command -v bsdtar >/dev/null; then
		bsdtar --format 7zip -cf t.7z t/*.clt
		cl-replay --io none t.7z | runs | diff expected -
		run --separate-stderr pipe 'cat t.7z | cl-replay --io none'
		status_is 2
		stdout_is ""
		stderr_is "cl-replay: standard input: 7z needs a file, not a $(
		    )pipe: its directory is at its end"
	fi
}

@test "a glob selects members, and one that selects nothing is trouble" {
	corpus
	cl-replay --io none 'corpus.tar.zst:*n*' >a.cls
	[ "$(cl-report -f json a.cls | jq -r '.runs[].member_name' |
	    tr '\n' ' ')" = "manual.clt novel.clt " ]
	run --separate-stderr cl-replay --io none 'corpus.tar.zst:x*'
	status_is 2
	stderr_is 'cl-replay: corpus.tar.zst: no member matches "x*"'
	run --separate-stderr cl-replay --io none "$ROOT/traces/novel.clt:x"
	status_is 2
	[[ $stderr == *'no archive, so that "x" selects nothing in it' ]]
	run --separate-stderr cl-replay --io none no-such:x
	status_is 2
	stdout_is ""
	[[ $stderr == *"no-such:x: cannot open"* ]]
}

@test "a file whose name has a colon is taken as it is" {
	cp "$ROOT/traces/novel.clt" a:b.clt
	cl-replay --io none a:b.clt >a.cls
	cl-trace --add --archive c:d.tar.zst a:b.clt
	cl-replay --io none 'c:d.tar.zst:a:*' | runs | diff - <(runs a.cls)
}

@test "--info, --verify and --dump take members" {
	corpus
	cl-trace --info -f json corpus.tar.zst |
	    jq -r '.traces[].input' >names
	diff names - <<-'END'
		corpus.tar.zst:manual.clt
		corpus.tar.zst:novel.clt
		corpus.tar.zst:speech.clt
	END
	run --separate-stderr cl-trace --verify 'corpus.tar.zst:novel.clt'
	status_is 0
	stdout_is "corpus.tar.zst:novel.clt: trace 1 is whole: 826 tokens, $(
	    )routing 33fea5eb43e35fe7"
	cl-trace --dump corpus.tar.zst:novel.clt |
	    cmp - <(cl-trace --dump "$ROOT/traces/novel.clt")
}

@test "runs that differ in their traces alone are summed" {
	corpus
	cl-replay --io none corpus.tar.zst >a.cls
	cl-report -f json a.cls | jq -e '.total.runs == 3 and
	    .total.complete and (.total.tokens ==
	    ([.runs[].totals.tokens] | add)) and (.total.misses ==
	    ([.runs[].totals.misses] | add)) and .total.wall_ns == null'
	run cl-report a.cls
	[[ ${lines[-1]} == "all  3 traces "*" 1,944 "* ]]
	cl-replay --io none --cache 64e corpus.tar.zst >b.cls
	cl-report -f json a.cls b.cls | jq -e '.total == null'
	run cl-report a.cls b.cls
	[[ ${lines[-1]} != all* ]]
	cl-replay --io none "$ROOT/traces/novel.clt" |
	    cl-report -f json | jq -e '.total == null'
}

@test "--warm carries the cache on, whether bytes are read or not" {
	corpus
	cl-replay --io none --warm corpus.tar.zst >warm.cls
	cl-replay --warm --model "$MODEL" corpus.tar.zst >real.cls
	cl-replay --io none corpus.tar.zst >cold.cls
	digests='[.runs[].digest]'
	[ "$(cl-report -f json warm.cls | jq -c "$digests")" = \
	    "$(cl-report -f json real.cls | jq -c "$digests")" ]
	jq -e -n --slurpfile w <(cl-report -f json warm.cls) \
	    --slurpfile c <(cl-report -f json cold.cls) '
	    $w[0].runs as $w | $c[0].runs as $c |
	    $w[0].digest == $c[0].digest and $w[1].digest != $c[1].digest and
	    ([$w[].totals.cold] | add) <= $w[0].experts and
	    ([$c[].totals.cold] | add) > $w[0].experts and
	    all($w[]; .warm) and all($c[]; .warm == null)'
	# one run after another is what one input of both would be
	cat "$ROOT"/traces/{novel,speech}.clt >both.clt
	[ "$(cl-replay --io none --warm both.clt | cl-report -f json |
	    jq -c "$digests")" = "$(cl-replay --io none --warm \
	    "$ROOT"/traces/{novel,speech}.clt | cl-report -f json |
	    jq -c "$digests")" ]
}

@test "--warm refuses a trace of another model" {
	mkgguf small small.gguf
	cl-trace --synthetic --tokens 8 small.gguf >small.clt
	run --separate-stderr cl-replay --io none --warm \
	    "$ROOT/traces/novel.clt" small.clt
	status_is 2
	[[ $stderr == *"small.clt: --warm carries the cache from trace to $(
	    )trace, and this one is of another model" ]]
}

@test "a member that is damaged does not hide the others" {
	mkdir t
	cp $TRACES t/
	printf 'x' | dd of=t/novel.clt bs=1 seek=5000 conv=notrunc 2>/dev/null
	tar -cf t.tar -C t manual.clt novel.clt speech.clt
	run --separate-stderr bash -c 'cl-replay --io none t.tar >t.cls'
	status_is 2
	[[ $stderr == *"t.tar:novel.clt"* ]]
	[ "$(cl-report -f json t.cls | jq -r '.runs[] |
	    "\(.member_name) \(.end)"' | grep -v '^novel' |
	    tr '\n' ' ')" = "manual.clt complete speech.clt complete " ]
}

@test "links and devices are named, nothing is written, no name is a path" {
	mkdir t
	cp "$ROOT/traces/novel.clt" t/a.clt
	ln -s /etc/passwd t/link.clt
	mkfifo t/fifo.clt
	tar -cf t.tar -C t a.clt link.clt fifo.clt
	tar -rf t.tar --transform 's|a.clt|../../up.clt|' -P -C t a.clt
	tar -rf t.tar --transform "s|a.clt|$PWD/abs.clt|" -P -C t a.clt
	rm -r t
	mkdir -p down/in
	mv t.tar down/
	cd down/in
	run --separate-stderr bash -o pipefail -c 'cl-replay --io none ../t.tar |
	    cl-report | grep -c "^run [0-9]"'
	status_is 0
	stdout_is 3
	stderr_is "cl-replay: ../t.tar:link.clt: a symbolic link: not read
cl-replay: ../t.tar:fifo.clt: a FIFO: not read"
	[ -z "$(ls -A)" ]
	[ "$(ls -A ..)" = "$(printf 'in\nt.tar')" ]
	run --separate-stderr cl-trace --archive-list ../t.tar
	status_is 0
	[ "$(cut -f 1,3 <<<"$output" | tail -n +2)" = "$(printf \
	    'a.clt\ttrace\nlink.clt\ta symbolic link\nfifo.clt\ta FIFO
../../up.clt\ttrace\n%s/abs.clt\ttrace' "${PWD%/down/in}")" ]
}

@test "what is no trace is named, and an archive without one is trouble" {
	echo hello >README
	tar -cf t.tar README -C "$ROOT/traces" novel.clt
	run --separate-stderr bash -c 'cl-replay --io none t.tar >t.cls'
	status_is 0
	stderr_is "cl-replay: t.tar:README: no trace: not read"
	tar -cf t.tar README
	run --separate-stderr cl-replay --io none t.tar
	status_is 2
	[ "${stderr_lines[-1]}" = \
	    "cl-replay: t.tar: no trace among its members" ]
	# what begins as zstd data do is meant to be a trace
	echo hello | zstd -q >README.zst
	tar -cf t.tar README.zst
	run --separate-stderr cl-replay --io none t.tar
	status_is 2
}

@test "text, zeros and nothing are no archives, and are refused as traces" {
	printf 'layer,experts\n0,1\n' >a.csv
	head -c 1048576 /dev/zero >zeros
	: >empty
	for file in a.csv zeros empty; do
		run --separate-stderr cl-replay --io none $file
		status_is 2
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr != *archive* ]]
		run --separate-stderr cl-trace --archive-list $file
		status_is 2
		[[ $stderr == *"$file: not an archive" ]]
	done
}

@test "a second member of a name and an encrypted one are refused" {
	cp "$ROOT/traces/novel.clt" .
	tar -cf t.tar novel.clt
	tar -rf t.tar novel.clt
	run --separate-stderr bash -c 'cl-replay --io none t.tar >t.cls'
	status_is 2
	[[ $stderr == *"t.tar:novel.clt: a second member of that name" ]]
	command -v zip >/dev/null || skip "no zip"
	zip -q -P secret t.zip novel.clt
	run --separate-stderr cl-replay --io none t.zip </dev/null
	status_is 2
	stderr_is "cl-replay: t.zip:novel.clt: the member is encrypted"
}

@test "an archive that is not what its index says is not verified" {
	corpus
	mkdir t
	zstd -qdc corpus.tar.zst | tar -C t -xf -
	names="manual.clt manual.json novel.clt novel.json speech.clt
	    speech.json"
	# without the index
	tar -cf t.tar -C t $names
	run --separate-stderr cl-trace --archive-verify t.tar
	status_is 2
	[[ $stderr == *"t.tar: no index (index.tsv): nobody can tell"* ]]
	# without a member
	tar -cf t.tar -C t ${names#* * } index.tsv
	run --separate-stderr cl-trace --archive-verify t.tar
	status_is 2
	[[ $stderr == *"member 1 is novel.clt, and manual.clt by the index" ]]
	# with a member more, behind the index
	cp t/novel.clt t/more.clt
	tar -cf t.tar -C t $names index.tsv more.clt
	run --separate-stderr cl-trace --archive-verify t.tar
	status_is 2
	# with a whole trace in the place of another
	cp t/manual.clt t/novel.clt
	tar -cf t.tar -C t $names index.tsv
	run --separate-stderr cl-trace --archive-verify t.tar
	status_is 2
	[[ $stderr == *"t.tar:novel.clt: other bytes than the index says" ]]
	# with an index that is none
	for line in '# cl-archive 2 complete' '# cl-archive 1 done' ''; do
		echo "$line" >t/index.tsv
		tar -cf t.tar -C t $names index.tsv
		run --separate-stderr cl-trace --archive-verify t.tar
		status_is 2
		[[ $stderr == *"index.tsv: the first line is not that of an $(
		    )index"* ]]
	done
}

@test "an archive cut anywhere is trouble, and verifies nowhere" {
	corpus
	size=$(stat -c %s corpus.tar.zst)
	for ((i = 1; i < 12; i++)); do
		head -c $((size * i / 12)) corpus.tar.zst >cut.tar.zst
		run cl-trace --archive-verify cut.tar.zst
		status_is 2
		run bash -c 'cl-replay --io none cut.tar.zst >cut.cls'
		status_is 2
	done
	head -c -1 corpus.tar.zst >cut.tar.zst
	run cl-trace --archive-verify cut.tar.zst
	status_is 2
}

# Where libarchive, as tar, takes the end of the file for the end mark.
@test "a tar cut between two members is trouble, and says what is lost" {
	cp $TRACES .
	tar -b 1 -cf t.tar manual.clt novel.clt speech.clt
	end=0
	for name in manual novel; do
		size=$(stat -c %s $name.clt)
		end=$((end + 512 + (size + 511) / 512 * 512))
		head -c $end t.tar >cut.tar
		run --separate-stderr bash -c \
		    'cl-replay --io none cut.tar >cut.cls'
		status_is 2
		stderr_is "cl-replay: cut.tar: the archive ends without its end mark: what stood behind its last member is lost"
		# what was whole is replayed all the same
		[ "$(cl-report -f json cut.cls |
		    jq -r '.runs[-1] | .member_name + " " + .end')" = \
		    "$name.clt complete" ]
		for command in --archive-list --archive-verify; do
			run --separate-stderr cl-trace $command cut.tar
			status_is 2
			[[ $stderr == *"ends without its end mark"* ]]
		done
	done
}

@test "a window above 128 MiB is refused in an archive, too" {
	tar -cf - -C "$ROOT/traces" novel.clt | zstd -qc --long=28 >wide.tar.zst
	run --separate-stderr cl-replay --io none wide.tar.zst
	status_is 2
	stdout_is ""
	stderr_is "cl-replay: wide.tar.zst: the zstd frame needs a window above 2^27 bytes; compress it again without --long above 27"
}

# A member without a sidecar is not resumed from, and need not be there.
@test "killed at any moment, there is a whole archive or none" {
	for ((i = 0; i < 20; i++)); do
		rm -f corpus.tar.zst*
		cl-trace --add --archive corpus.tar.zst $TRACES \
		    2>/dev/null &
		sleep "0.0$((RANDOM % 90 + 10))"
		kill -KILL $! 2>/dev/null || true
		wait $! || true
		if [ -e corpus.tar.zst ]; then
			cl-trace --archive-verify corpus.tar.zst
		fi
		# what it was writing has nothing but whole members
		for left in corpus.tar.zst.*; do
			[ -s "$left" ] || continue
			cl-trace --archive-list "$left" >list 2>/dev/null ||
			    true
			[ "$(grep -c trace list)" -ge \
			    "$(grep -c sidecar list)" ]
		done
	done
}

@test "peak memory does not grow with an archive" {
	need plain
	for i in 1 2 3; do
		cat "$ROOT"/traces/{mixed,novel,scripture}.clt >m$i.clt
	done
	tar -cf - m?.clt | zstd -q1 >small.tar.zst
	cat m?.clt m?.clt >big.clt
	tar -cf - m?.clt big.clt | zstd -q1 >big.tar.zst
	for archive in small big; do
		cl-replay --window 0 --model "$MODEL" $archive.tar.zst |
		    cl-report -f json | jq '[.runs[].measured.rss_peak] | max
		    ' >$archive.peak
	done
	[ "$(cat big.peak)" -lt $((32 << 20)) ]
	[ "$(cat big.peak)" -lt $(($(cat small.peak) + (4 << 20))) ]
}

@test "more inputs than descriptors are no trouble" {
	mkgguf small small.gguf
	cl-trace --synthetic --tokens 2 small.gguf >a.clt
	for i in $(seq 60); do
		ln a.clt "a$i.clt"
	done
	bash -c 'ulimit -n 40; cl-replay --io none a?*.clt' >a.cls
	[ "$(cl-report -f json a.cls | jq '.runs | length')" -eq 60 ]
	bash -c 'ulimit -n 40; cl-trace --add --archive a.tar.zst a?*.clt'
	[ "$(cl-trace --archive-verify a.tar.zst | tail -n 1)" = \
	    "120 members, as the index says" ]
}

@test "an archive is not replaced, nor made to a terminal's harm" {
	corpus
	cp corpus.tar.zst before
	run --separate-stderr cl-trace --add --archive corpus.tar.zst $TRACES
	status_is 2
	stdout_is ""
	cmp corpus.tar.zst before
	cl-trace --add --archive - $TRACES | cmp - before
	cl-trace --add --force --archive corpus.tar.zst $TRACES
	cmp corpus.tar.zst before
	run --separate-stderr cl-trace --add --archive new.tar.zst \
	    $TRACES $TRACES
	status_is 2
	[[ $stderr == *"manual.clt: a second member of that name" ]]
	[ ! -e new.tar.zst ]
	[ -z "$(find . -name '*cl-trace*')" ]
}

@test "what is no whole trace does not become a member" {
	mkdir d
	cd d
	head -c 5000 "$ROOT/traces/novel.clt" >cut.clt
	run --separate-stderr cl-trace --add --archive new.tar.zst cut.clt
	status_is 2
	[ ! -e new.tar.zst ]
	[ "$(ls)" = cut.clt ]
}

@test "options that make no archive together are misuse" {
	for args in "--add a.clt" "--prompts d $MODEL" \
	    "--resume x -n 1 $MODEL" "--archive x $MODEL" \
	    "--archive x --info a" "--archive x --prompts d -p y $MODEL" \
	    "--archive x -o y --prompts d $MODEL" "--prompts d --info a" \
	    "--archive x --add" "--archive-list a b"; do
		run --separate-stderr cl-trace $args
		status_is 2
		stdout_is ""
		[[ $stderr == *"usage: cl-trace"* ]]
	done
}

# A folder of three prompts, one of them in a folder of its own.
few_prompts()
{
	mkdir -p p/chat
	cp "$PROMPTS/speech.txt" p/chat/b.txt
	cp "$PROMPTS/manual.txt" p/a.txt
	cp "$PROMPTS/code-c.txt" p/z
	echo hidden >p/.hidden
}

@test "a folder of prompts becomes the traces that each would become" {
	need libllama
	few_prompts
	run --separate-stderr cl-trace "$MODEL" -n 4 --prompts p \
	    --archive c.tar.zst
	status_is 0
	[ "$(cl-trace --archive-list c.tar.zst | cut -f 1 | tr '\n' ' ')" = \
	    "member a.clt a.json chat/b.clt chat/b.json z.clt z.json $(
	    )index.tsv " ]
	cl-trace --archive-verify c.tar.zst
	mkdir out
	zstd -qdc c.tar.zst | tar -C out -xf -
	cl-trace "$MODEL" -n 4 -f p/chat/b.txt | cmp - out/chat/b.clt
	cl-trace "$MODEL" -n 4 -f p/z | cmp - out/z.clt
	jq -e '.prompt == "chat/b.txt" and .prompt_sha256 == $sha and
	    .traces[0].notes.generate == "4"' --arg sha \
	    "$(sha256sum <p/chat/b.txt | cut -d ' ' -f 1)" out/chat/b.json
}

@test "resumed from what was interrupted or killed, it is the same bytes" {
	need libllama
	few_prompts
	cl-trace "$MODEL" -n 4 --prompts p --archive c.tar.zst
	# cut at any byte of the file, as a crash would
	size=$(stat -c %s c.tar.zst)
	for i in 1 2 4; do
		head -c $((size * i / 5)) c.tar.zst >cut.tar.zst
		cl-trace "$MODEL" -n 4 --prompts p --archive r.tar.zst \
		    --force --resume cut.tar.zst
		cmp r.tar.zst c.tar.zst
	done
	cl-trace "$MODEL" -n 4 --prompts p --archive r.tar.zst --force \
	    --resume c.tar.zst
	cmp r.tar.zst c.tar.zst
}

@test "resumed with a prompt that was changed, that one is recorded again" {
	need libllama
	few_prompts
	cl-trace "$MODEL" -n 4 --prompts p --archive old.tar.zst
	echo "and so on" >>p/chat/b.txt
	cl-trace "$MODEL" -n 4 --prompts p --archive c.tar.zst
	rm p/a.txt
	run --separate-stderr cl-trace "$MODEL" -n 4 --prompts p \
	    --archive r.tar.zst --resume old.tar.zst
	status_is 0
	[[ $stderr == *"old.tar.zst:a.clt: no such prompt: left out"* ]]
	[[ $stderr == *"chat/b.txt: the prompt is another one now"* ]]
	cl-trace --dump c.tar.zst:chat/b.clt |
	    cmp - <(cl-trace --dump r.tar.zst:chat/b.clt)
	cl-trace --archive-verify r.tar.zst
	[[ $(cl-trace --archive-list r.tar.zst) != *a.clt* ]]
}

@test "a signal ends an archive behind what is whole, and says so" {
	need libllama
	few_prompts
	# long enough to be met by the signal
	cl-trace "$MODEL" -n 1500 --ignore-eos --prompts p \
	    --archive i.tar.zst 2>err &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		! grep -q '^cl-trace: a.clt' err || break
		sleep 0.1
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 2 ]
	grep -q '^cl-trace: interrupted: ' err
	run --separate-stderr cl-trace --archive-verify i.tar.zst
	status_is 2
	stderr_is "cl-trace: i.tar.zst: the archive is interrupted: its $(
	    )writer stopped early"
	[[ ${lines[0]} == "a.clt"*"whole" ]]
	cl-replay --io none i.tar.zst | cl-report -f json |
	    jq -e '.runs[0].member_name == "a.clt"'
	run --separate-stderr cl-trace "$MODEL" -n 4 --prompts p \
	    --archive r.tar.zst --resume i.tar.zst
	status_is 2
	[[ $stderr == *"a.clt: recorded with generate=1500, which is 4 now" ]]
	[ ! -e r.tar.zst ]
}

@test "a prompt that cannot be recorded is left out, and that is told" {
	need libllama
	few_prompts
	run --separate-stderr cl-trace "$MODEL" -n 4 -c 200 --prompts p \
	    --archive c.tar.zst
	status_is 2
	[[ $stderr == *"a.clt: prompt a.txt: "*"need a context of"* ]]
	run --separate-stderr cl-trace --archive-verify c.tar.zst
	status_is 2
	[[ $stderr == *"the archive is incomplete"* ]]
}

@test "two prompts of one member, and a folder without any, are refused" {
	mkdir p e
	echo x >p/a
	echo x >p/a.txt
	run --separate-stderr cl-trace "$MODEL" --prompts p --archive c.tar.zst
	status_is 2
	[[ $stderr == *"a and a.txt would both be a.clt"* ||
	    $stderr == *"a.txt and a would both be a.clt"* ]]
	run --separate-stderr cl-trace "$MODEL" --prompts e --archive c.tar.zst
	status_is 2
	[[ $stderr == *"--prompts e: no file in it"* ]]
	[ ! -e c.tar.zst ]
}
