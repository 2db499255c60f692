# What disks and kernels do wrong while cl-replay reads a model: a clear error
# or a fallback that is told, and never a hang.

load helpers

TRACE=$ROOT/traces/novel.clt
RUN='timeout 120 cl-replay --cache 20% --tokens 150 --model m.gguf'

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	cp "$MODEL" m.gguf
}

# Ways to read that this machine has: "--backend B --os-cache C" a line.
ways()
{
	local backend os_cache

	for backend in pread uring; do
		for os_cache in keep drop direct=require; do
			$RUN --backend $backend --os-cache $os_cache \
			    --tokens 1 "$TRACE" >/dev/null 2>&1 &&
			    echo "--backend $backend --os-cache $os_cache"
		done
	done
}

# A condition, or a measured value, of the run in x.cls.
condition()
{
	cl-report -f json x.cls | jq -r ".runs[0].machine.$1 // empty"
}

measured()
{
	cl-report -f json x.cls | jq -r ".runs[0].measured.$1"
}

# inject SYSCALL:WHAT OPTION...: what is done to calls on the model.
inject()
{
	local what=$1

	shift
	run --separate-stderr traced -f -qq -o /dev/null -P "$PWD/m.gguf" \
	    -e "inject=$what" $RUN -o x.cls --force "$@" "$TRACE"
}

# The same to calls whatever they are on.
inject_any()
{
	local what=$1

	shift
	run --separate-stderr traced -f -qq -o /dev/null \
	    -e "inject=$what" $RUN -o x.cls --force "$@" "$TRACE"
}

uring_or_skip()
{
	$RUN --backend uring --tokens 1 "$TRACE" >/dev/null 2>&1 ||
	    skip "no io_uring here"
}

@test "one EIO is an error that says what was wanted and what came" {
	need strace
	for threads in 1 4; do
		inject pread64:error=EIO:when=200 --backend pread \
		    --threads $threads
		status_is 2
		echo "$stderr"
		sed 's/[0-9][0-9]*/N/g' <<<"$stderr" >told
		diff -u - told <<-'END'
			cl-replay: layer N expert N: m.gguf: offset N: cannot read N bytes, got N: Input/output error
		END
		[ ! -e x.cls ]
	done
}

@test "EIO is tried again as often as was asked, and counted" {
	need strace
	cl-replay --io none --cache 20% --tokens 150 "$TRACE" >want.cls
	inject pread64:error=EIO:when=200+300 --backend pread --retry 2
	status_is 0
	[ "$(measured read_retries)" -gt 0 ]
	run cl-diff want.cls x.cls
	status_is 0
}

@test "so it is where weights and pins are read before the clock starts" {
	need strace
	for options in "--dense resident --tokens 1" \
	    "--dense skip --policy static --tokens 1 --prefill skip"; do
		cl-replay --io none --cache 20% $options "$TRACE" >want.cls
		run --separate-stderr traced -f -qq -o calls -P "$PWD/m.gguf" \
		    -e inject=pread64:error=EIO:when=40+40 \
		    cl-replay --cache 20% --model m.gguf --threads 1 \
		    --backend pread --retry 2 -o x.cls --force $options \
		    "$TRACE"
		status_is 0
		n=$(grep -c '^.*pread64.*INJECTED' calls)
		[ "$n" -ge 3 ]
		[ "$(measured read_retries)" -eq "$n" ]
		cl-report -f json x.cls | jq -e '.runs[0] |
		    .measured.read_retries as $all | .phases |
		    map(.read_retries // 0) | add == $all'
		cl-report -f json x.cls |
		    jq -e '.runs[0].phases.prefill.read_retries > 0'
		run cl-diff want.cls x.cls
		status_is 0
	done
}

@test "EIO for ever ends, however often it may be tried again" {
	need strace
	inject pread64:error=EIO:when=200+ --backend pread --retry 3
	status_is 2
	[[ $stderr == *"Input/output error" ]]
}

@test "short counts are read on, and counts of nothing are an error" {
	need strace
	cl-replay --io none --cache 20% --tokens 150 "$TRACE" >want.cls
	inject pread64:retval=100:when=100+3 --backend pread --compute none
	status_is 0
	run cl-diff want.cls x.cls
	status_is 0
	inject pread64:retval=0:when=200 --backend pread --compute none
	status_is 2
	[[ $stderr == *"m.gguf: offset "*": wanted "*" bytes, got "*": the file \
is shorter than it was" ]]
}

@test "short reads bring the same bytes, past the page cache and through it" {
	need plain
	cat >short.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <unistd.h>

		/* Two thirds of what was asked for, and 7 bytes less. */
		ssize_t
		pread(int fd, void *buf, size_t n, off_t off)
		{
			ssize_t (*real)(int, void *, size_t, off_t) =
			    (ssize_t (*)(int, void *, size_t, off_t))
			    dlsym(RTLD_NEXT, "pread");
			size_t i, want = n > 30000 ? n / 3 * 2 - 7 : n;
			ssize_t got = real(fd, buf, n, off);

			if (got < 0 || (size_t)got <= want)
				return (got);
			for (i = want; i < (size_t)got; i++)
				((char *)buf)[i] = 85;
			return ((ssize_t)want);
		}
	END
	cc -shared -fPIC -o short.so short.c -ldl
	$RUN --backend pread --compute checksum "$TRACE" >x.cls
	want=$(measured checksum)
	[ "$want" != 0 ]
	for os_cache in keep drop direct; do
		for threads in 1 4; do
			LD_PRELOAD=$PWD/short.so $RUN --backend pread \
			    --threads $threads --os-cache $os_cache \
			    --compute checksum --verify-bytes "$TRACE" >x.cls
			[ "$(measured checksum)" = "$want" ]
		done
	done
}

@test "the same bytes arrive whichever way they are read" {
	$RUN --compute checksum --threads 1 "$TRACE" >x.cls
	want=$(measured checksum)
	ways | while read -r way; do
		for threads in 1 4 16; do
			$RUN $way --threads $threads --compute checksum \
			    --prefetch previous "$TRACE" >x.cls
			[ "$(measured checksum)" = "$want" ]
		done
	done
}

@test "without io_uring auto takes pread and says why; uring is refused" {
	need strace
	for error in EPERM ENOSYS ENOMEM; do
		inject_any io_uring_setup:error=$error --backend auto
		status_is 0
		[ "$(condition backend)" = pread ]
		[[ $(condition backend_why) == "io_uring cannot be had: "* ]]
		inject_any io_uring_setup:error=$error --backend uring
		status_is 2
		[[ $stderr == "cl-replay: io_uring cannot be had: "* ]]
	done
}

@test "a ring that is set up and serves nobody is none" {
	need strace
	uring_or_skip
	for error in EPERM ENOSYS EBADF; do
		inject_any io_uring_enter:error=$error --backend auto
		status_is 0
		[ "$(condition backend)" = pread ]
		inject_any io_uring_enter:error=$error --backend uring
		status_is 2
	done
}

@test "a ring that fails while it is in use is an error, not a hang" {
	need strace
	uring_or_skip
	for error in EBADF EIO ENOMEM; do
		inject_any io_uring_enter:error=$error:when=50+ --backend uring
		status_is 2
		[[ $stderr == *"m.gguf: offset "*": cannot read "* ]]
	done
}

@test "a ring that is interrupted, or busy for once, goes on" {
	need strace
	uring_or_skip
	cl-replay --io none --cache 20% --tokens 150 "$TRACE" >want.cls
	for error in EINTR EAGAIN EBUSY; do
		inject_any io_uring_enter:error=$error:when=20+7 --backend uring
		status_is 0
		run cl-diff want.cls x.cls
		status_is 0
	done
}

@test "what cannot be registered is used unregistered, and told" {
	need strace
	uring_or_skip
	for error in ENOMEM EPERM; do
		inject_any io_uring_register:error=$error:when=2+ \
		    --backend uring
		status_is 0
		[ "$(condition backend)" = uring ]
		[ -n "$(condition buffers_why)" ]
	done
}

@test "no memory that may be locked is no trouble" {
	command -v prlimit >/dev/null || skip "no prlimit"
	cl-replay --io none --cache 20% --tokens 150 "$TRACE" >want.cls
	for bytes in 0 65536; do
		prlimit --memlock=$bytes:$bytes $RUN --threads 16 "$TRACE" \
		    >x.cls
		run cl-diff want.cls x.cls
		status_is 0
	done
}

@test "where direct reads are refused, reads go through the page cache" {
	need strace
	inject fcntl:error=EINVAL --os-cache direct
	status_is 0
	[ "$(condition os_cache_used)" = keep ]
	[[ $(condition os_cache_why) == "m.gguf: no direct reads: "* ]]
	[[ $stderr == *"no direct reads"* ]]
	inject fcntl:error=EINVAL --os-cache direct=require
	status_is 2
	[[ $stderr == "cl-replay: m.gguf: no direct reads: "* ]]
}

@test "a file cut short during the run is an error that names it" {
	mkfifo fifo
	for way in "--backend pread" "--backend auto" "--os-cache direct"; do
		cp "$MODEL" m.gguf
		timeout 120 cl-replay --cache 2e --model m.gguf $way fifo \
		    >x.cls 2>err &
		pid=$!
		exec 7>fifo
		head -c 1000000 "$TRACE" >&7
		truncate -s 1M m.gguf
		tail -c +1000001 "$TRACE" >&7 2>/dev/null || true
		exec 7>&-
		status=0
		wait $pid || status=$?
		cat err
		[ "$status" -eq 2 ]
		grep -q "m.gguf: offset [0-9]*: wanted [0-9]* bytes, got" err
	done
}

@test "disks of 4096-byte sectors are read past the page cache" {
	need root
	mkdir mnt
	truncate -s 64M disk
	loop=$(losetup -b 4096 -f --show disk 2>&1) ||
	    skip "no loop device: $loop"
	if ! mkfs.ext4 -q "$loop" || ! mount "$loop" mnt; then
		losetup -d "$loop"
		skip "cannot mount a loop device"
	fi
	cp "$MODEL" mnt/m.gguf
	status=0
	$RUN --compute checksum "$TRACE" >x.cls
	want=$(measured checksum)
	timeout 120 cl-replay --cache 20% --tokens 150 --model mnt/m.gguf \
	    --os-cache direct=require --compute checksum "$TRACE" >x.cls ||
	    status=$?
	umount -l mnt			# a ring may hold it for a moment
	losetup -d "$loop"
	status_is 0
	[ "$(measured checksum)" = "$want" ]
}

@test "a signal amid reads leaves a whole stream that says so" {
	for backend in pread auto; do
		mkfifo fifo.$backend
		$RUN --tokens 100000 --backend $backend --prefetch previous \
		    --window 8 fifo.$backend >x.cls 2>err &
		pid=$!
		exec 7>fifo.$backend
		head -c -1000 "$TRACE" >&7
		for _ in {1..200}; do	# until windows have come
			[ "$(stat -c %s x.cls)" -gt 4000 ] && break
			sleep 0.1
		done
		kill -TERM $pid
		status=0
		wait $pid || status=$?
		exec 7>&-
		[ "$status" -eq 2 ] || [ "$status" -eq 124 ]
		run --separate-stderr cl-report x.cls
		[[ $output == *INTERRUPTED* ]]
	done
}
