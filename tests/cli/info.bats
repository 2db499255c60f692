# cl-trace --info and --verify: what a trace holds, and whether it is whole.

load helpers

TRACE=$ROOT/traces/manual.clt

# A trace that knows no model.
bare_trace()
{
	printf 'layer\texperts\n0\t1,2\n1\t0,3\n0\t2,1\n' |
	    cl-trace --load --experts 4 -o "$1"
}

@test "what a recording holds is told, and the same as JSON" {
	run --separate-stderr cl-trace --info "$TRACE"
	status_is 0
	stderr_is ""
	[ "${lines[0]}" = "$TRACE: trace 1" ]
	[[ ${lines[1]} == "  origin       recorded "*"engine=libllama"* ]]
	text=$output
	cl-trace --info -f json "$TRACE" >info.json
	jq -r '.traces[0] | "\(.model) (\(.architecture)), fingerprint " +
	    "\(.model_fingerprint)", "\(.tokens): \(.prefill) prefill, " +
	    "\(.decode) decode, \(.padding) padding", .routing_fingerprint,
	    "\(.cells), \(.choices) experts chosen, \(.mismatches) mismatches"
	    ' info.json >lines
	[ "$(wc -l <lines)" -eq 4 ]
	while read -r line; do
		grep -qxE "  [a-z]+ +$(sed 's/[()]/\\&/g' <<<"$line")" <<<"$text"
	done <lines
	jq -e '.traces[0] | .tokens == .prefill + .decode + .padding and
	    (.sequences | map(.prefill + .decode) | add) == .tokens and
	    .end == "complete"' info.json
}

@test "what a trace does not know is called unknown, and null" {
	bare_trace bare.clt
	run --separate-stderr cl-trace --info bare.clt
	status_is 0
	[ "${lines[2]}" = "  model        unnamed (architecture unknown),\
 fingerprint unknown" ]
	[ "${lines[4]}" = "  experts      8, unknown bytes in all; a token uses 4" ]
	run cl-trace --info -f json bare.clt
	[ "$(jq -c '.traces[0] | [.model_fingerprint, .expert_bytes]' \
	    <<<"$output")" = '[null,null]' ]
}

@test "traces that follow one another are told one by one" {
	bare_trace bare.clt
	cat "$TRACE" bare.clt >both.clt
	run --separate-stderr cl-trace --info -f json both.clt bare.clt
	status_is 0
	[ "$(jq -c '[.traces[] | [.input, .member, .origin]]' \
	    <<<"$output")" = '[["both.clt",1,"recorded"],'\
'["both.clt",2,"imported"],["bare.clt",1,"imported"]]' ]
}

@test "of a trace that is cut, what is there is told" {
	head -c -100 "$TRACE" >cut.clt
	run --separate-stderr cl-trace --info cut.clt
	status_is 2
	[[ $stderr == "cl-trace: cut.clt: incomplete: ends after token "* ]]
	[[ $output == *"  end          INCOMPLETE: there is no trailer" ]]
	run --separate-stderr cl-trace --info -f json cut.clt
	status_is 2
	[ "$(jq -c '.traces[0] | [.end, .cells]' <<<"$output")" = \
	    '["incomplete",null]' ]
}

@test "a whole trace is verified, one that is not is named" {
	head -c -100 "$TRACE" >cut.clt
	cp "$TRACE" t.clt
	run --separate-stderr cl-trace --verify t.clt cut.clt t.clt
	status_is 2
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} =~ ^t\.clt:\ trace\ 1\ is\ whole:\ [0-9]+\ tokens,\ routing\ [0-9a-f]{16}$ ]]
	[ "${lines[0]}" = "${lines[1]}" ]
	[[ $stderr == "cl-trace: cut.clt: incomplete: ends after token "* ]]
}

@test "constant runs and scores that are no numbers are remarked on" {
	{ printf 'token\tlayer\texperts\n'
	    for i in {1..20}; do printf '7\t0\t1,2\n'; done
	    printf '8\t0\t2,3\n'; } | cl-trace --load --layers 1 \
	    --experts 4 --used 2 >run.clt
	cl-trace --info run.clt >text
	grep -q '^  remark       20 tokens in a row are the same' text
	[ "$(cl-trace --info -f json run.clt |
	    jq -c '.traces[0] | [.longest_run, .nan_cells]')" = '[20,0]' ]
	mkgguf small small.gguf
	cl-trace --synthetic --tokens 3 small.gguf | cl-trace --dump |
	    awk -F '\t' -v OFS='\t' '/^[0-9]/ { sub(/^[^,]*/, "nan", $9) } 1' |
	    cl-trace --load >nan.clt
	run cl-trace --info nan.clt
	[[ $output == *"cells have scores that are no numbers"* ]]
	[ "$(cl-trace --info -f json nan.clt |
	    jq '.traces[0] | .nan_cells > 0 and .nan_cells <= .cells')" = true ]
	run cl-trace --info "$TRACE"
	[[ $output != *remark* ]]
}
