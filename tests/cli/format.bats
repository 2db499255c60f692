#!/usr/bin/env bats
# The formats on disk: the trace that cl-trace(5) shows byte by byte, and what
# zstd tools do to traces.

load helpers

PAGE=$ROOT/man/cl-trace.5
TINY=$ROOT/tests/cli/format/tiny.tsv

# The lines "offset  hex bytes  meaning" of the page.
annotated()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$PAGE" |
	    grep -E '^[0-9a-f]{3}  '
}

# The bytes that they show.
bytes_of_page()
{
	local byte

	for byte in $(annotated | cut -c 6-28); do
		printf '%b' "\\x$byte"
	done
}

@test "the trace that the page shows has the rows that the page shows" {
	bytes_of_page | zstd -q >page.clt
	cl-trace --verify page.clt
	cl-trace --dump page.clt >page.tsv
	diff -u "$TINY" page.tsv
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$PAGE" |
	    grep '^0 ' | tr -s ' ' >rows
	diff -u rows <(grep '^0' page.tsv | tr '\t' ' ')
}

@test "the page's rows become the page's bytes" {
	cl-trace --load "$TINY" | zstd -dc >loaded
	bytes_of_page | cmp - loaded
}

@test "the page's offsets are those of its bytes" {
	local at=0 offset hex

	while read -r offset hex; do
		[ $((16#$offset)) -eq $at ]
		at=$((at + $(wc -w <<<"$hex")))
	done < <(annotated | cut -c 1-28)
	[ "$at" -eq "$(bytes_of_page | wc -c)" ]
	[ "$at" -gt 400 ]
}

@test "any zstd may compress a trace again" {
	local level

	cl-trace --load "$TINY" | zstd -dc >raw
	for level in -1 -19 --fast=5 '--ultra -22' --no-check --long=27; do
		zstd -qc $level <raw >again.clt
		cl-trace --dump again.clt | diff -u "$TINY" -
	done
	head -c 7 raw | zstd -q >two.clt
	tail -c +8 raw | zstd -q >>two.clt
	cl-trace --dump two.clt | diff -u "$TINY" -
}

@test "a window above 128 MiB is refused" {
	cl-trace --load "$TINY" | zstd -dc >raw
	zstd -qc --long=28 <raw >wide.clt
	run --separate-stderr cl-trace --dump wide.clt
	status_is 2
	stdout_is ""
	[[ $stderr == "cl-trace: wide.clt: the zstd frame needs a window"* ]]
}

@test "a gigabyte of zeros in a small file is refused in little memory" {
	need plain			# which wants terabytes of addresses
	head -c 1000000000 /dev/zero | zstd -q >bomb.clt
	run --separate-stderr bash -c 'ulimit -v 200000 &&
	    exec cl-trace --dump bomb.clt'
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: bomb.clt: byte 0: not a router trace"
}

@test "a trace that stops is dumped as far as it goes, and told" {
	cl-trace --load "$TINY" >whole.clt
	head -c -20 whole.clt >cut.clt
	run --separate-stderr cl-trace --dump cut.clt
	status_is 2
	[[ $stderr == "cl-trace: cut.clt: incomplete: ends "* ]]
	diff <(echo "$output") <(head -n "$(wc -l <<<"$output")" "$TINY")
}

@test "no input, and input of another kind, are told apart" {
	: >empty
	run --separate-stderr cl-trace --dump empty
	status_is 2
	stderr_is "cl-trace: empty: empty input, no trace"
	printf '(\265/' >three
	run --separate-stderr cl-trace --dump three
	status_is 2
	stderr_is "cl-trace: three: 3 bytes of input, no trace"
	printf '' | zstd -q >frame
	run --separate-stderr cl-trace --dump frame
	status_is 2
	stderr_is "cl-trace: frame: empty zstd data, no trace"
	run --separate-stderr cl-trace --dump "$TINY"
	status_is 2
	stderr_is "cl-trace: $TINY: this is a trace dumped as text; load it first"
}

@test "what follows a trace and is none is refused" {
	cl-trace --load "$TINY" >good.clt
	for tail in garbage '(' $'\n'; do
		{ cat good.clt; printf '%s' "$tail"; } >bad.clt
		run --separate-stderr cl-trace --dump bad.clt
		status_is 2
		stdout_is "$(cat "$TINY")"
		[[ $stderr == *"what follows the zstd data is no zstd frame" ]]
	done
}

@test "traces one after another are dumped and loaded one after another" {
	cl-trace --load "$TINY" >one.clt
	cat one.clt one.clt >two.clt
	cl-trace --dump two.clt | diff -u <(cat "$TINY" "$TINY") -
	cat "$TINY" "$TINY" | cl-trace --load - | cmp - two.clt
}

@test "rows that were changed make an edited trace, and it says so" {
	awk -F '\t' -v OFS='\t' '/^0\t2/ { $7 = "0,3" } { print }' "$TINY" |
	    cl-trace --load - >edited.clt
	cl-trace --dump edited.clt >edited.tsv
	grep -qx '# origin	edited' edited.tsv
	grep -qx '# note	was	recorded' edited.tsv
	cl-trace --load edited.tsv | cmp - edited.clt
}

@test "rows from a pipe of any pace are loaded as from a file" {
	while IFS= read -r line; do
		printf '%s' "${line:0:9}"
		printf '%s\n' "${line:9}"
	done <"$TINY" | cl-trace --load - >slow.clt
	cl-trace --load "$TINY" | cmp - slow.clt
}

@test "rows that cannot be are refused by line, and no trace is left" {
	printf 'layer\texperts\n0\t1\n0\t1,1\n' >bad.tsv
	run --separate-stderr cl-trace --load -o bad.clt bad.tsv
	status_is 2
	stdout_is ""
	stderr_is "cl-trace: bad.tsv: line 3: layer 0: expert 1 is chosen twice"
	[ ! -e bad.clt ]
}
