#!/usr/bin/env bats
# The pages against the commands: options, synopsis, examples.

load helpers

COMMANDS="cl-trace cl-replay cl-report cl-diff"

# Options as -x and --name, one a line, from what --help prints.
options_of_help()
{
	"$1" --help | sed 1,/^$/d | grep -oE '(^|[ ,|])--?[A-Za-z][a-z-]*' |
	    sed 's/^[ ,|]//' | sort -u
}

# The same from the page: every option that has an entry of its own.
options_of_page()
{
	awk '/^\.It Fl/ {
		flag = 0
		for (i = 2; i <= NF; i++)
			if ($i == "Fl")
				flag = 1
			else if ($i ~ /^(Ar|Cm|Ns|Op)$/)
				flag = 0
			else if (flag && $i != ",")
				print "-" $i
	}' "$ROOT/man/$1.1" | sort -u
}

# The examples of a page as one shell script, a "$ " line a command.
examples_of()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh/p' "$ROOT/man/$1.1" |
	    awk '
	/^\.Dl / { sub(/^\.Dl /, ""); print; next }
	/^\.Bd /, /^\.Ed/ { if (!/^\.[BE]d/) print }' |
	    sed 's/\\&//g; s/\\e/\\/g; s/^\$ //; s|/tmp/||g'
}

@test "what --help names has an entry in the page, and the other way round" {
	for command in $COMMANDS; do
		diff -u <(options_of_help $command) <(options_of_page $command)
	done
}

@test "-h is --help, on stdout, and -V is one line" {
	for command in $COMMANDS; do
		run --separate-stderr $command -h
		status_is 0
		stderr_is ""
		[ "$output" = "$($command --help)" ]
		[[ ${lines[0]} == "usage: $command "* ]]
		[ "$(wc -l <<<"$output")" -le 24 ]
		run --separate-stderr $command -V
		status_is 0
		stderr_is ""
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == "$command "[0-9]* ]]
	done
}

@test "misuse prints the synopsis to stderr and nothing else" {
	for command in $COMMANDS; do
		run --separate-stderr $command --no-such-option
		status_is 2
		stdout_is ""
		[[ $stderr == *"$($command -h | head -n 1)"* ]]
	done
}

# A negative answer of cl-diff is one, and no trouble.
@test "the examples of cl-trace(1) and cl-replay(1) work" {
	need libllama
	ln -s "$ROOT/tests" "$ROOT/traces" .
	for command in cl-trace cl-replay; do
		{
			echo 'cl-diff() { command cl-diff "$@" || [ $? -eq 1 ]; }'
			examples_of $command
		} >examples
		[ "$(wc -l <examples)" -gt 3 ]
		bash -e -o pipefail examples >out || {
			echo "$command(1): $(cat examples)"
			return 1
		}
		[ -s out ]
	done
}
