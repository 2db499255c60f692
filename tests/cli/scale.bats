#!/usr/bin/env bats
# The recipes of cl(7) for sweeps in parts, as they stand there: by several
# processes, by hosts over ssh, by a batch system.

load helpers

POLICIES=lru,wtinylfu,belady
SIZES=2%..60%/2%

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$ROOT/traces" traces
	pids= nodes=
}

teardown()
{
	local node

	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	for node in $nodes; do
		ip netns del $node
	done
	wait
}

# recipe N: the n-th of them.
recipe()
{
	awk -v n="$1" '/^\.S[sh]/ { on = $2 == "Sweeps" && $4 == "parts" }
	on && /^\.Ed/ { shown = 0 }
	on && shown { print }
	on && /^\.Bd -literal/ { shown = ++i == n }' "$ROOT/man/cl.7" |
	    sed 's/\\e$/\\/'
}

need_commands()
{
	local name

	for name; do
		command -v "$name" >/dev/null || skip "no $name"
	done
}

# eventually COMMAND: within some seconds it succeeds.
eventually()
{
	local i

	for i in $(seq 100); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

@test "several processes make one sweep, to the byte" {
	need_commands parallel
	cl-replay --policy $POLICIES --cache $SIZES traces/novel.clt >one.cls
	recipe 1 >recipe.sh
	HOME=$PWD bash -eu recipe.sh 2>err
	cmp one.cls sweep.cls
	cl-report --expect-runs 90 sweep.cls >/dev/null
}

# node N: a network namespace with an sshd of its own, and a link to it.
node()
{
	local net

	net=10.$((64 + $$ % 64)).$(($$ / 64 % 256))
	ip netns add cl-$$-$1
	nodes="$nodes cl-$$-$1"
	ip link add cl$1-$$ type veth peer name eth0 netns cl-$$-$1
	ip addr add $net.$((4 * $1 + 1))/30 dev cl$1-$$
	ip link set cl$1-$$ up
	ip -n cl-$$-$1 addr add $net.$((4 * $1 + 2))/30 dev eth0
	ip -n cl-$$-$1 link set eth0 up
	cat >sshd$1.conf <<-EOF
	ListenAddress $net.$((4 * $1 + 2))
	HostKey $PWD/host.key
	AuthorizedKeysFile $PWD/key.pub
	PidFile none
	StrictModes no
	UsePAM no
	PermitRootLogin prohibit-password
	SetEnv PATH=$PATH
	EOF
	cat >>ssh.conf <<-EOF
	Host node$1
		HostName $net.$((4 * $1 + 2))
	EOF
	# Its folder is made out of sight of the machine.
	ip netns exec cl-$$-$1 sh -c '
		mount -t tmpfs none /run && mkdir -p /run/sshd &&
		exec "$0" -D -e -f "$1"' "$(command -v sshd)" \
	    "$PWD/sshd$1.conf" 2>sshd$1.log 3>&- &
	pids="$pids $!"
}

@test "hosts over ssh make one sweep, to the byte" {
	need root
	need_commands ip ssh sshd ssh-keygen
	ip netns add cl-$$-0 2>/dev/null || skip "no network namespaces here"
	ip netns del cl-$$-0
	ssh-keygen -q -t ed25519 -N "" -f key
	ssh-keygen -q -t ed25519 -N "" -f host.key
	node 1
	node 2
	cat >>ssh.conf <<-EOF
	Host *
		User root
		IdentityFile $PWD/key
		IdentitiesOnly yes
		BatchMode yes
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
	EOF
	mkdir bin
	printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" \
	    "$PWD/ssh.conf" >bin/ssh
	chmod +x bin/ssh
	PATH=$PWD/bin:$PATH
	eventually ssh node1 true || skip "sshd: $(tail -n 1 sshd1.log)"
	eventually ssh node2 true
	cl-replay --policy $POLICIES --cache $SIZES <traces/novel.clt >one.cls
	recipe 2 >recipe.sh
	bash -eu recipe.sh
	cmp one.cls sweep.cls
	grep -q "Accepted publickey" sshd1.log
	grep -q "Accepted publickey" sshd2.log
}

# A cluster of one node, whose daemons are ours.
cluster()
{
	local host

	host=$(hostname -s)
	mkdir state spool
	head -c 1024 /dev/urandom >munge.key
	chmod 400 munge.key
	munged -F --force --key-file=munge.key --socket="$PWD/munge.sock" \
	    --pid-file="$PWD/munge.pid" --seed-file="$PWD/munge.seed" \
	    --log-file="$PWD/munge.log" >munged.out 2>&1 3>&- &
	pids="$pids $!"
	export SLURM_CONF=$PWD/slurm.conf
	cat >slurm.conf <<-EOF
	ClusterName=cl
	SlurmctldHost=$host(127.0.0.1)
	SlurmctldPort=$1
	SlurmdPort=$(($1 + 1))
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$PWD/munge.sock
	StateSaveLocation=$PWD/state
	SlurmdSpoolDir=$PWD/spool
	SlurmctldPidFile=$PWD/slurmctld.pid
	SlurmdPidFile=$PWD/slurmd.pid
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SwitchType=switch/none
	MpiDefault=none
	SchedulerType=sched/builtin
	ReturnToService=2
	NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
	PartitionName=cl Nodes=$host Default=YES MaxTime=5 State=UP
	EOF
	eventually munge -n -S "$PWD/munge.sock" || return 1
	slurmctld -D >slurmctld.log 2>&1 3>&- &
	pids="$pids $!"
	slurmd -D >slurmd.log 2>&1 3>&- &
	pids="$pids $!"
	eventually bash -c 'sinfo -h -o %T | grep -qx idle'
}

@test "an array of a batch system makes one sweep, to the byte" {
	need root
	need plain
	need_commands munged munge slurmctld slurmd sbatch sinfo
	cluster $((20000 + $$ % 20000)) || skip \
	    "no cluster: $(tail -qn 1 munged.out slurm*.log 2>/dev/null)"
	cl-replay --policy $POLICIES --cache $SIZES traces/novel.clt >one.cls
	recipe 3 >sweep.sh
	timeout 120 sbatch -Q --wait -o job.%a sweep.sh
	cat part.1 part.2 part.3 part.4 >sweep.cls
	cmp one.cls sweep.cls
}
