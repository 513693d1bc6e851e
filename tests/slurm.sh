#!/bin/bash
# scenarios/sweep-array.sbatch against a Slurm of its own: munge, one controller and one node
# on loopback, from Debian's packages slurmctld, slurmd, slurm-client and munge.
# `make check-slurm` runs it. It starts its daemons in a temporary folder, with its own
# key and ports, and ends them by their process ids; an installed Slurm is left alone.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
FSDPSIM=${FSDPSIM:-$PWD/fsdpsim}
export FSDPSIM
PATH=$PATH:/usr/sbin:/sbin

for program in munged slurmctld slurmd sbatch squeue scancel; do
  command -v $program >/dev/null || {
    echo "$program is missing: apt-get install slurmctld slurmd slurm-client munge" >&2
    exit 77
  }
done

work=$(mktemp -d)
pids=()
end ()
{
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null
  done
  wait
  rm -rf "$work"
}
trap end EXIT

die ()
{
  printf 'FAILED: %s\n' "$*" >&2
  tail -n 20 "$work"/*.log "$work"/slurm-*.out >&2
  exit 1
}

# until_done SECONDS COMMAND...: repeats the command until it succeeds
until_done ()
{
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}

# A port that nobody listens on.
free_port ()
{
  local port
  for port in $(shuf -i 20000-60000 -n 50); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

# ---- munge, controller, node ----

mkdir "$work/state" "$work/spool"
chmod 711 "$work"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --foreground --force --socket="$work/munge.socket" --key-file="$work/munge.key" \
  --pid-file="$work/munge.pid" --seed-file="$work/munge.seed" >"$work/munge.log" 2>&1 &
pids+=($!)

user=$(id -un)
cat >"$work/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SchedulerParameters=sched_interval=1
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
until_done 10 test -S "$work/munge.socket" || die 'munged does not start'
slurmctld -D >"$work/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D -N node1 >"$work/slurmd.log" 2>&1 &
pids+=($!)
until_done 60 sh -c 'sinfo -h -o %T | grep -qx idle' || die 'the node does not come up'
sinfo

# ---- the array as the script's head says ----

grid=(llama2-7b-2xdgx-a100 --vary 'cluster.nodes=1..4*2' --vary 'training.micro_batch=1..4'
      --vary 'training.grad_accum=1,2,4,8,16')
# FILE: whether it has all the rows, and they are those of one sweep on one machine
"$FSDPSIM" sweep "${grid[@]}" -q -f csv -o "$work/alone" >/dev/null
[ $? -le 1 ] || die 'the sweep itself fails'
[ "$(wc -l <"$work/alone/summary.csv")" -eq 241 ] || die 'not 60 cells of 4 variants'

cd "$work" || exit 99
submit ()
{
  sbatch --wait --array="$1" "$srcdir/scenarios/sweep-array.sbatch" 3 "$work/out" "${grid[@]}"
}

submit 1,3 || die 'the array fails'
"$FSDPSIM" sweep --merge "$work"/out/shard-* -q -o "$work/out" >/dev/null 2>"$work/merge.log" &&
  die 'a merge without one of the shards'
grep -q 'missing: shard 2/3' "$work/merge.log" || die 'does not name the lost shard'
submit 2 || die 'the lost task fails'
"$FSDPSIM" sweep --merge "$work"/out/shard-* -q -o "$work/out" >/dev/null
cmp "$work/alone/summary.csv" "$work/out/summary.csv" || die 'the shards differ from one sweep'

# A task that cannot run is a failed task.
sbatch --wait --array=1 "$srcdir/scenarios/sweep-array.sbatch" 3 "$work/bad" no-such-scenario &&
  die 'an unknown scenario goes unnoticed'
echo 'slurm: 3 shards in a job array, merged: the same bytes as one sweep'
