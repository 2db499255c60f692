# Traces as nobody should have made them: told by name, in little memory, and
# never with figures that look right.

load helpers

# The bytes of a trace of rows without scores: layer and experts, as loaded.
rows()
{
	{ printf 'layer\texperts\n'; printf '%b' "$@"; }
}

# A replay in little memory must be enough to refuse it.
@test "a small trace of 67 million experts is refused in little memory" {
	rows '0\t1\n' | cl-trace --load --layers 4096 --experts 16384 \
	    --used 1 >huge.clt
	[ "$(stat -c %s huge.clt)" -lt 50000 ]
	[ -n "${CL_SANITIZE:-}" ] || ulimit -v 200000
	run --separate-stderr cl-replay --io none huge.clt
	status_is 2
	stdout_is ""
	stderr_is "cl-replay: layers 0 to 64 have 1064960 experts; a replay holds at most 1048576"
}

@test "a million experts are replayed" {
	rows '0\t1\n' '63\t16383\n' '0\t1\n' | cl-trace --load --layers 64 \
	    --experts 16384 --used 1 >large.clt
	run pipe 'cl-replay --io none --cache 100% large.clt |
	    cl-report -f json | jq -c ".runs[0] | [.experts, .totals.hits,
	    .totals.misses]"'
	[ "$output" = "[1048576,1,2]" ]
}

# HEAD of 256 MiB of zeros, as many as a record may have, in 10 KB.
@test "the largest record that can be claimed costs no more than it has" {
	{ printf 'CLT\x1a\1\0\0\0\1\0\0\0\0\0\0\x10\0\0\0\0'
	    head -c 268435456 /dev/zero; } | zstd -q -19 -c >zeros.clt
	[ "$(stat -c %s zeros.clt)" -lt 50000 ]
	[ -n "${CL_SANITIZE:-}" ] || ulimit -v 400000
	run --separate-stderr cl-replay --io none zeros.clt
	status_is 2
	stdout_is ""
	stderr_is "cl-replay: zeros.clt: byte 8: the checksum of a record of type 1 does not match its bytes (after token 0)"
	[ -z "${CL_SANITIZE:-}" ] || return 0
	ulimit -v 100000
	run --separate-stderr cl-replay --io none zeros.clt
	status_is 2
	[[ $stderr == "cl-replay: zeros.clt: out of memory for "*" bytes of input"* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

# +inf, finite, -inf, NaN, and the lower expert of equals.
@test "scores that are no numbers choose experts as the page says" {
	printf 'layer\texperts\tscores\n' >rows
	while read -r scores experts; do
		printf '0\t-\t%s\n' "$scores" >>rows
		echo "$experts" >>want
	done <<-'END'
	nan,nan,nan,nan 0,1
	-inf,-inf,-inf,-inf 0,1
	inf,inf,inf,inf 0,1
	0,0,0,0 0,1
	-0,0,-0,0 0,1
	nan,-inf,1,inf 3,2
	nan,nan,-inf,nan 2,0
	1,1.0000001,1,1 1,0
	END
	cl-trace --load --layers 1 --experts 4 --used 2 rows >odd.clt
	cl-trace --verify odd.clt
	cl-trace --dump odd.clt | grep -v '^[#s]' | cut -f 7 | diff -u want -
	run pipe 'cl-replay --io none odd.clt | cl-report -f json |
	    jq ".runs[0].totals | .hits + .misses == .accesses"'
	[ "$output" = true ]
}

@test "frames are cut anywhere, and empty and skippable ones stand between" {
	zstd -qdc "$ROOT/traces/novel.clt" >plain
	for n in 5 333333; do
		split -b "$(($(stat -c %s plain) / 3 + n))" plain part.
		printf '\x50\x2a\x4d\x18\4\0\0\0skip' >frames.clt
		for part in part.*; do
			zstd -qc "$part" >>frames.clt
			: | zstd -qc >>frames.clt
		done
		cl-trace --verify "$ROOT/traces/novel.clt" |
		    sed 's/.*: trace/trace/' >want
		cl-trace --verify frames.clt | sed 's/.*: trace/trace/' |
		    diff -u want -
		rm part.*
	done
}

@test "a bit that is wrong anywhere is found" {
	cl-trace --synthetic --tokens 2 --scores ids "$MODEL" >t.clt
	cl-replay --io none t.clt >s.cls
	for file in t.clt s.cls; do
		command="cl-replay --io none"
		[ $file = t.clt ] || command=cl-report
		size=$(stat -c %s $file)
		for ((at = 200; at < size; at += size / 40)); do
			byte=$(od -An -tu1 -j $at -N 1 $file)
			cp $file bad
			printf "\\x$(printf %x $((byte ^ 16)))" |
			    dd of=bad bs=1 seek=$at conv=notrunc status=none
			run --separate-stderr bash -c "$command bad >out"
			status_is 2
			[ "$(wc -l <<<"$stderr")" -eq 1 ]
		done
	done
}

@test "a trace without a token that counts gives no figures" {
	rows '0\t0,1\n' | sed '1s/^/phase\t/; 2,$s/^/decode+pad\t/' |
	    cl-trace --load >pad.clt
	rows '0\t0,1\n' '0\t2,3\n' | cl-trace --load >all.clt
	{ cl-replay --io none pad.clt; cl-replay --io none --warmup 2 all.clt
	    cl-replay --io none --warmup 99 all.clt; } >s.cls
	run --separate-stderr cl-report -f json s.cls
	status_is 0
	[ "$(jq -c '[.runs[] | .totals.tokens, .totals.accesses,
	    .ratios.hit_rate, .ratios.tokens_per_s, .end]' <<<"$output")" = \
	    "[$(for _ in 1 2 3; do printf '0,0,null,null,"complete",'; done |
	    sed 's/,$//')]" ]
	[ "$(jq .runs[0].totals.padding <<<"$output")" = 1 ]
	run --separate-stderr cl-report s.cls
	status_is 0
	[ "$(grep -c 'no data' <<<"$output")" -ge 3 ]
	[[ $output != *nan* ]]
}

@test "names of any bytes steer no terminal and break no form" {
	name=$'a\xff\xc2\x9b\e[2J"\\,=\xed\xa0\x80'
	rows '0\t0,1\n' | cl-trace --load >"$name"
	cl-replay --io none "$name" >s.cls
	run --separate-stderr cl-report -f json s.cls
	status_is 0
	jq -e '.runs[0].trace | contains("\\,=")' <<<"$output"
	cl-report -f tsv s.cls >s.tsv
	awk -F '\t' 'NF != 6 { exit 1 }' s.tsv
	for command in "cl-report" "cl-report -f tsv" "cl-report -f json" \
	    "cl-diff -f tsv s.cls" "cl-diff --force -f json s.cls" \
	    "cl-diff s.cls"; do
		$command s.cls >out
		run grep -c $'[\x01-\x08\x0b-\x1f\x7f]' out
		[ "$output" -eq 0 ]
	done
	for command in "cl-replay --io none" cl-report "cl-trace --info" \
	    "cl-trace --geometry" "cl-trace --load"; do
		run --separate-stderr $command "no $name"
		status_is 2
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		run grep -c $'[\x01-\x08\x0b-\x1f\x7f-\xff]' <<<"$stderr"
		[ "$output" -eq 0 ]
	done
}

# version FILE N: raw records that claim another version of their format.
version()
{
	printf "\\x$(printf %x $(($2 & 255)))\\x$(printf %x $(($2 >> 8)))" |
	    dd of="$1" bs=1 seek=4 conv=notrunc status=none
}

@test "another version is refused with both numbers, and the kind of stream" {
	rows '0\t0,1\n' | cl-trace --load >t.clt
	cl-replay --io none t.clt >s.cls
	for n in 0 2 65535; do
		zstd -qdc t.clt >raw
		version raw $n
		zstd -qc raw >v.clt
		for command in "cl-replay --io none" "cl-trace --info" \
		    "cl-trace --verify" "cl-trace --dump"; do
			run --separate-stderr $command v.clt
			status_is 2
			stdout_is ""
			stderr_is "${command%% *}: v.clt: a router trace of version $n; this program reads version 1"
		done
		cp s.cls v.cls
		version v.cls $n
		for command in cl-report "cl-diff s.cls"; do
			run --separate-stderr $command v.cls
			status_is 2
			stdout_is ""
			stderr_is "${command%% *}: v.cls: a stat stream of version $n; this program reads version 1"
		done
		run --separate-stderr cl-replay --io none v.cls
		status_is 2
		stderr_is "cl-replay: v.cls: this is a stat stream, and a router trace is wanted"
	done
}

# The name is a field of five bytes, "small".
@test "a model may be called anything" {
	mkgguf small plain.gguf
	name='\xff"\\\n\x00'
	LC_ALL=C sed "s/small/$name/" plain.gguf >odd.gguf
	[ "$(stat -c %s odd.gguf)" -eq "$(stat -c %s plain.gguf)" ]
	cl-trace --synthetic --tokens 4 odd.gguf >odd.clt
	cl-trace --dump odd.clt | cl-trace --load | cmp - odd.clt
	cl-replay --io none odd.clt >odd.cls
	for json in "cl-trace --geometry -f json odd.gguf" \
	    "cl-trace --info -f json odd.clt" "cl-report -f json odd.cls"; do
		$json >got
		iconv -f utf-8 -t utf-8 got >again
		cmp got again
		jq -e --argjson want "\"�\\\"\\\\\\n?\"" \
		    '[.. | .model? | strings] | unique == [$want]' got
	done
	for command in "cl-trace --geometry odd.gguf" \
	    "cl-trace --info odd.clt" "cl-report odd.cls" \
	    "cl-report -f tsv odd.cls" "cl-diff odd.cls odd.cls"; do
		$command >got
		run grep -c $'[\x01-\x08\x0b-\x1f\x7f-\xff]' got
		[ "$output" -eq 0 ]
	done
	# by the same name, its runs are partners
	cl-diff -q odd.cls odd.cls
	cl-replay --io none odd.clt odd.clt >twice.cls
	cl-diff -f json twice.cls twice.cls |
	    jq -e '.pairs | length == 2 and all(.same)'
}

@test "bytes of a run that asks for more than 4 GiB add up" {
	mkgguf small m.gguf embd=4096 ff=2048
	cl-trace --synthetic --tokens 1000 m.gguf >m.clt
	cl-replay --io none --cache 1e m.clt >s.cls
	# a single slot hits nothing: 1000 tokens, 4 layers, 2 of 8 experts
	cl-report -f json s.cls | jq -e '.runs[0] |
	    (.expert_bytes / 32 * 8000) as $want |
	    $want > 200000000000 and .totals.misses == 8000 and
	    .totals.demand_bytes == $want and
	    ([.windows[].demand_bytes] | add) == $want and
	    ([.layers[].demand_bytes] | add) == $want'
}

@test "a comma for a point in the locale changes no number" {
	command -v localedef >/dev/null || skip "no localedef"
	localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 || skip "no source of de_DE"
	export LOCPATH=$PWD
	[ "$(env LC_ALL=de_DE.UTF-8 /usr/bin/printf %.1f 1,5)" = 1,5 ] ||
	    skip "the locale takes no effect"
	mkgguf small m.gguf
	for locale in C de_DE.UTF-8; do
		export LC_ALL=$locale
		cl-trace --synthetic --tokens 20 --locality 0.5 \
		    --predict-corr 0.25 m.gguf >$locale.clt
		cl-trace --dump $locale.clt >$locale.tsv
		cl-trace --load $locale.tsv | cmp - $locale.clt
		cl-replay --io none --cache 12.5% $locale.clt |
		    cl-report -f json | grep -v '"trace"' >$locale.json
		cl-report -f tsv <(cl-replay --io none $locale.clt) |
		    grep -v '	trace	' >$locale.report
	done
	cmp C.clt de_DE.UTF-8.clt
	diff C.json de_DE.UTF-8.json
	diff C.report de_DE.UTF-8.report
	grep -q '	hit_rate	0\.' C.report
}

# A frame with a content size of 2^60: what is there decides, not the claim.
@test "a size that a zstd frame claims costs no memory" {
	rows '0\t0,1\n' | cl-trace --load | zstd -qdc >raw
	frame() { zstd -qc --no-check <raw | tail -c +7; }
	{ printf '\x28\xb5\x2f\xfd\xc0\x58\0\0\0\0\0\0\0\x10'; frame; } >t.clt
	[ -n "${CL_SANITIZE:-}" ] || ulimit -v 200000
	for command in "cl-replay --io none" "cl-trace --info"; do
		run --separate-stderr $command t.clt
		status_is 2
		[[ $stderr == "${command%% *}: t.clt: byte "*": damaged zstd data: "* ]]
	done
	# the same in a single segment, which must be held as a whole
	{ printf '\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x10'; frame; } >t.clt
	run --separate-stderr cl-replay --io none t.clt
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-replay: t.clt: the zstd frame needs a window"* ]]
}
