# cl-replay --io model: the decisions of every run, and times that can be
# reckoned by hand.

load helpers

TRACE=$ROOT/traces/novel.clt

# A measured value of a modelled run of the trace: modelled NAME OPTION...
modelled()
{
	local name=$1

	shift
	cl-replay --io model "$@" "$TRACE" >m.cls || return
	cl-report -f json m.cls | jq ".runs[0].measured.$name"
}

# The same of its logical totals, of m.cls.
total()
{
	cl-report -f json m.cls | jq ".runs[0].totals.$1"
}

@test "a modelled run decides like one that counts" {
	for trace in "$ROOT"/traces/*.clt; do
		cl-replay --io none "$trace" >none.cls
		for threads in 1 16; do
			cl-replay --io model --threads $threads \
			    --device read=2G,latency=80us,depth=8 \
			    "$trace" >m.cls
			run cl-diff none.cls m.cls
			status_is 0
		done
	done
}

@test "a modelled run is the same bytes every time, from a file and a pipe" {
	device=read=2G,latency=80us,depth=8,compute=100us,kernel=8G
	cl-replay --io model --device $device "$TRACE" >a.cls
	cl-replay --io model --device $device "$TRACE" >b.cls
	cmp a.cls b.cls
	cl-replay --io model --device $device - <"$TRACE" >c.cls
	cl-report -f json a.cls | jq .runs[0].measured >a.json
	cl-report -f json c.cls | jq .runs[0].measured >c.json
	diff -u a.json c.json
}

# Three slabs an expert; at 1 GB a second a byte takes a nanosecond.
@test "one reader waits for latency and bytes of each slab in turn" {
	wall=$(modelled wall_ns --threads 1 --cache 1e --contract serial \
	    --device read=1GB,latency=1ms,depth=32)
	[ "$wall" = $(($(total misses) * 3000000 + $(total demand_bytes))) ]
	[ "$(total misses)" -gt 1000 ]
}

@test "every wait that found its read under way takes a wake-up" {
	wall=$(modelled wall_ns --threads 1 --cache 1e --contract serial \
	    --device read=1GB,latency=1ms,depth=32,wake=70us)
	[ "$wall" = $(($(total misses) * 3070000 + $(total demand_bytes))) ]
}

@test "a device of depth one is one reader, whatever the threads" {
	one=$(modelled wall_ns --threads 1 \
	    --device read=1GB,latency=1ms,depth=32)
	many=$(modelled wall_ns --threads 16 \
	    --device read=1GB,latency=1ms,depth=1)
	[ "$one" = "$many" ]
}

@test "without latency the link is all that is waited for" {
	wall=$(modelled io_wait_ns --threads 16 \
	    --device read=1GB,latency=0ns,depth=32)
	[ "$wall" = "$(total demand_bytes)" ]
}

@test "computing takes its time for each event, and for bytes if told so" {
	wait=$(modelled io_wait_ns --device read=1GB,latency=1us,depth=32)
	wall=$(modelled wall_ns \
	    --device read=1GB,latency=1us,depth=32,compute=1.5ms)
	[ "$wall" = $((wait + $(total events) * 1500000)) ]
	compute=$(modelled compute_ns \
	    --device read=1GB,latency=1us,depth=32,kernel=1GB)
	bytes=$(cl-report -f json m.cls | jq '[.runs[0].layers[] |
	    .demand_bytes / .misses * .accesses] | add')
	[ "$compute" = "$bytes" ]
}

@test "windows, and runs with a warm cache, have the times of the model" {
	modelled wall_ns --warm --warmup 100 --threads 16 \
	    --device read=1GB,latency=0ns,depth=32 "$TRACE" >walls
	cl-report -f json m.cls | jq -e '.runs | length == 2 and
	    all(.measured.wall_ns == .totals.demand_bytes) and
	    all(([.windows[].wall_ns] | add) == .measured.wall_ns)'
}

@test "a modelled run says that it is one, and on which device" {
	cl-replay --io model --device depth=8,latency=0.5ms,read=2048M \
	    "$TRACE" >m.cls
	run --separate-stderr cl-report m.cls
	status_is 0
	grep -qx MODELLED <<<"$output"
	! grep -q 'page cache\|major faults\|peak memory' <<<"$output"
	cl-report -f json m.cls | jq -e '.runs[0] |
	    .io == "model" and .threads == 4 and
	    .machine == { backend: "model", trace_from_pipe: false,
	        device: "read=2G,latency=500us,depth=8" }'
}

@test "a model needs a device, and nothing else has one" {
	run --separate-stderr cl-replay --io model "$TRACE"
	status_is 2
	[[ $stderr == *"--io model needs a --device"* ]]
	run --separate-stderr cl-replay --device read=1G,latency=1us,depth=1 \
	    "$TRACE"
	status_is 2
	[[ $stderr == *"--device is of --io model"* ]]
	run --separate-stderr cl-replay --io model --device read=1G "$TRACE"
	status_is 2
	[[ $stderr == *"--device: latency is missing"* ]]
}
