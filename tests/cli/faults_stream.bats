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
