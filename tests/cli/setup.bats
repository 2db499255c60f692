#!/usr/bin/env bats
# .ci/deps in a tree of its own, with stand-ins for what it asks.

load helpers

PACKAGE=@node-llama-cpp/linux-x64

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p tree/.ci bin
	cp "$ROOT/.ci/deps" tree/.ci/
	PATH=$PWD/bin:$PATH
	export SCRATCH=$PWD
	: >calls

	# A machine that has all but what is in the file "absent".
	: >absent
	stand_in id 'echo "${STAND_IN_UID:-0}"'
	stand_in uname 'echo Linux x86_64'
	stand_in dpkg-query 'for name; do :; done
	    grep -qx "$name" "$SCRATCH/absent" && exit 1
	    grep -x "$name .*" "$SCRATCH/old" 2>/dev/null |
	        sed "s/.* /installed /" | grep . || echo "installed 99:1.0"'
	stand_in apt-get 'echo "apt-get $*" >>"$SCRATCH/calls"
	    case $* in *install*) : >"$SCRATCH/absent" ;; esac'
	stand_in npm 'echo "npm $*" >>"$SCRATCH/calls"; exit 1'
}

stand_in()
{
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

have_llama()
{
	mkdir -p tree/build/deps
	sed -n 's/^LLAMA_VERSION=//p' tree/.ci/deps |
	    sed "s|^|$PACKAGE |" >tree/build/deps/stamp
}

@test "where nothing is missing, nothing is run and nothing said" {
	have_llama
	run --separate-stderr tree/.ci/deps
	status_is 0
	stdout_is ""
	stderr_is ""
	[ ! -s calls ]
}

@test "an unprivileged user gets the exact command, and a failure" {
	have_llama
	printf 'jq\nbats\n' >absent
	export STAND_IN_UID=1000
	run --separate-stderr tree/.ci/deps
	status_is 1
	stdout_is ""
	stderr_is "deps: missing packages; as root, run
apt-get update && apt-get install -y --no-install-recommends bats jq"
	[ ! -s calls ]
}

@test "root installs what is missing and nothing else" {
	have_llama
	printf 'jq\nbats\n' >absent
	run --separate-stderr tree/.ci/deps
	status_is 0
	[ "$(cat calls)" = "apt-get update -qq
apt-get install -y -qq --no-install-recommends bats jq" ]
}

@test "a package below its least version counts as missing" {
	have_llama
	echo "libzstd-dev 1.3.8+dfsg-3" >old
	export STAND_IN_UID=1000
	run --separate-stderr tree/.ci/deps
	status_is 1
	[[ $stderr == *" libzstd-dev" ]]
}

@test "a package that stays too old is a failure, not a loop" {
	have_llama
	echo "libzstd-dev 1.3.8+dfsg-3" >old
	run --separate-stderr tree/.ci/deps
	status_is 1
	[[ $stderr == *"still missing or too old: libzstd-dev" ]]
	[ "$(grep -c install calls)" -eq 1 ]
}

@test "without a network the set-up still succeeds, and says what it lacks" {
	run --separate-stderr tree/.ci/deps
	status_is 0
	[[ $stderr == *"what needs libllama is skipped"* ]]
	[ ! -e tree/build/deps ]
	[ -z "$(ls tree/build)" ]
}

@test "a libllama of other bytes is refused and not unpacked" {
	stand_in npm 'while [ "$1" != --pack-destination ]; do shift; done
	    echo other | gzip >"$2/llama.tgz"'
	run --separate-stderr tree/.ci/deps
	status_is 1
	[[ $stderr == *"$PACKAGE "*": not the bytes that are expected"* ]]
	[ -z "$(ls tree/build)" ]
}

@test "a libllama of the right bytes is unpacked, once" {
	mkdir -p package/bins/linux-x64
	echo llama >package/bins/linux-x64/libllama.so
	tar -czf llama.tgz package
	sum=$(sha512sum llama.tgz | cut -d ' ' -f 1 | sed 's/../\\x&/g')
	sum=$(printf "$sum" | base64 -w 0)
	sed -i "s|^LLAMA_SHA512=.*|LLAMA_SHA512=$sum|" tree/.ci/deps
	stand_in npm 'echo npm >>"$SCRATCH/calls"
	    while [ "$1" != --pack-destination ]; do shift; done
	    cp "$SCRATCH/llama.tgz" "$2"'
	run --separate-stderr tree/.ci/deps
	status_is 0
	cmp package/bins/linux-x64/libllama.so \
	    tree/build/deps/package/bins/linux-x64/libllama.so
	run --separate-stderr tree/.ci/deps
	status_is 0
	stderr_is ""
	[ "$(cat calls)" = npm ]
	[ "$(ls tree/build)" = deps ]
}

@test "other releases are fetched on demand, each of its own bytes, once" {
	have_llama
	mkdir -p package/bins/linux-x64
	for version in 1.0.0 1.1.0; do
		echo $version >package/bins/linux-x64/libllama.so
		tar -czf llama-$version.tgz package
		sum=$(sha512sum llama-$version.tgz | cut -d ' ' -f 1 |
		    sed 's/../\\x&/g')
		echo "$version	$(printf "$sum" | base64 -w 0)"
	done >releases
	sed -i -e '/^LLAMA_RELEASES=/,/^.$/d' tree/.ci/deps
	sed -i -e "1r /dev/stdin" tree/.ci/deps <<-EOF
	LLAMA_RELEASES='$(cat releases)'
	EOF
	stand_in npm 'echo npm >>"$SCRATCH/calls"
	    while [ "$1" != --pack-destination ]; do shift; done; to=$2
	    for name; do :; done
	    cp "$SCRATCH/llama-${name##*@}.tgz" "$to"'
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	stderr_is "deps: fetching $PACKAGE 1.0.0
deps: fetching $PACKAGE 1.1.0"
	for version in 1.0.0 1.1.0; do
		[ "$(cat tree/build/deps-$version/package/bins/linux-x64/*)" \
		    = $version ]
	done
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	stderr_is ""
	[ "$(cat calls)" = "npm
npm" ]
	[ "$(ls tree/build | paste -sd ' ')" = "deps deps-1.0.0 deps-1.1.0" ]
}

@test "without a network the first release missed is the last tried" {
	have_llama
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	[[ $stderr == *"deps: no $PACKAGE "*": its tests are skipped" ]]
	[ "$(grep -c "^npm" calls)" -eq 1 ]
	[ "$(ls tree/build)" = deps ]
}

@test "what some tests can do without is installed for them alone" {
	have_llama
	printf 'qemu-user\ngcc-aarch64-linux-gnu\n' >absent
	run --separate-stderr tree/.ci/deps
	status_is 0
	stderr_is ""
	[ ! -s calls ]
	sed -i '/^LLAMA_RELEASES=/,/^.$/d' tree/.ci/deps
	sed -i '1a LLAMA_RELEASES=' tree/.ci/deps
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	stderr_is "deps: installing gcc-aarch64-linux-gnu qemu-user"
	[ ! -s absent ]
}

@test "where it cannot be installed, that is said and no failure" {
	have_llama
	sed -i '/^LLAMA_RELEASES=/,/^.$/d' tree/.ci/deps
	sed -i '1a LLAMA_RELEASES=' tree/.ci/deps
	echo qemu-user >absent
	export STAND_IN_UID=1000
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	stderr_is "deps: some tests are skipped without qemu-user"
	export STAND_IN_UID=0
	stand_in apt-get 'exit 100'
	run --separate-stderr tree/.ci/deps releases
	status_is 0
	[[ $stderr == *"deps: some tests are skipped without qemu-user" ]]
}

@test "another processor is told that there is no libllama for it" {
	stand_in uname 'echo Linux aarch64'
	run --separate-stderr tree/.ci/deps
	status_is 0
	stderr_is "deps: Linux aarch64: no libllama to fetch; what needs it\
 is skipped"
	[ ! -s calls ]
}

@test "an installation holds the commands and their pages" {
	cd "$ROOT"
	make -s "O=$BATS_TEST_TMPDIR/build" \
	    "DESTDIR=$BATS_TEST_TMPDIR/dest" PREFIX=/usr install
	cd "$BATS_TEST_TMPDIR/dest/usr"
	for command in cl-trace cl-replay cl-report cl-diff; do
		[ "$(bin/$command -V)" = "$("$BUILD/$command" -V)" ]
		cmp "$ROOT/man/$command.1" share/man/man1/$command.1
	done
	cmp "$ROOT/man/cl-trace.5" share/man/man5/cl-trace.5
	cmp "$ROOT/man/cl.7" share/man/man7/cl.7
}

@test "objects follow their flags, so that no build is a mixture" {
	cd "$ROOT"
	object=$BATS_TEST_TMPDIR/build/lib/base/num.o
	make -s "O=$BATS_TEST_TMPDIR/build" "$object"
	before=$(cksum <"$object")
	make -s "O=$BATS_TEST_TMPDIR/build" CFLAGS=-O0 "$object"
	[ "$(cksum <"$object")" != "$before" ]
	touch -r "$object" "$BATS_TEST_TMPDIR/stamp"
	make -s "O=$BATS_TEST_TMPDIR/build" CFLAGS=-O0 "$object"
	[ ! "$object" -nt "$BATS_TEST_TMPDIR/stamp" ]
}
