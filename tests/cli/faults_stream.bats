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
