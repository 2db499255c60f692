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
