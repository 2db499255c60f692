# cl-replay --calibrate: a device for --io model, out of enough samples.

load helpers

@test "what calibrating prints is a device for a modelled run" {
	run --separate-stderr cl-replay --calibrate --samples 5 "$MODEL"
	status_is 0
	[ "${#lines[@]}" -eq 1 ]
	[[ $output =~ ^read=[0-9]+[KMG]?,latency=[0-9]+[num]?s,depth=[124] ]]
	device=$output
	cl-replay --io model --device "$device" "$ROOT/traces/novel.clt" \
	    >m.cls
	cl-report -f json m.cls | jq -e --arg device "$device" '.runs[0] |
	    .machine.device == $device and .measured.wall_ns > 0'
}

@test "a calibrated device computes as it is asked to, and may go to a file" {
	run --separate-stderr cl-replay --calibrate --samples 5 \
	    --compute none --compute-us 7 -o device "$MODEL"
	status_is 0
	stdout_is ""
	[[ $stderr != *kernel* ]]
	[[ $(<device) =~ ,compute=7us$ ]]
}

@test "each figure of a calibration tells its samples and their spread" {
	run --separate-stderr cl-replay --calibrate --samples 5 --threads 2 \
	    "$MODEL"
	status_is 0
	# Two sizes of experts, 1 to 16 of each, with one reader and with two.
	[ "$(grep -c ' bytes, threads [12]: .*, modelled .* us (5 samples)$' \
	    <<<"$stderr")" = 20 ]
	[ "$(grep -c '16 experts at once, .* threads 2: ' <<<"$stderr")" = 2 ]
	grep -q ': kernel, .*(5 samples)$' <<<"$stderr"
	grep -q ': dense weights, .*(5 samples)$' <<<"$stderr"
}

@test "a device computes for as long as was told, and as fast as was measured" {
	run --separate-stderr cl-replay --calibrate --samples 5 \
	    --compute checksum --compute-us 20 "$MODEL"
	status_is 0
	[[ $output == *,compute=20us,kernel=* ]]
	grep -q ': checksum, .*(5 samples)$' <<<"$stderr"
	run --separate-stderr cl-replay --calibrate --samples 5 \
	    --compute none "$MODEL"
	status_is 0
	[[ $output != *compute=* && $output != *kernel=* ]]
	[[ $stderr != *kernel* ]]
}

@test "no figure is made of fewer than five samples" {
	run --separate-stderr cl-replay --calibrate --samples 4 "$MODEL"
	status_is 2
	stdout_is ""
	[[ $stderr == *"--samples"*"a whole number from 5 "* ]]
}

@test "calibrating takes one model, and says what is wrong with it" {
	run --separate-stderr cl-replay --calibrate
	status_is 2
	[[ $stderr == *"--calibrate takes one model"* ]]
	run --separate-stderr cl-replay --calibrate "$MODEL" "$MODEL"
	status_is 2
	[[ $stderr == *"--calibrate takes one model"* ]]
	run --separate-stderr cl-replay --calibrate nowhere.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == *"nowhere.gguf"* ]]
	mkgguf all-dense dense.gguf
	run --separate-stderr cl-replay --calibrate dense.gguf
	status_is 2
	stdout_is ""
	[[ $stderr == *"dense.gguf"* ]]
}
