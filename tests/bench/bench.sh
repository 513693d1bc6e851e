#!/bin/bash
# make bench: what a simulation costs. Machine instructions, counted by callgrind, do not depend on
# how busy the machine is; start-up cancels in the difference of two runs. Aims: one pass under 200
# machine instructions per host-program instruction, event engine under 500, a folded compare of
# Llama-2 7B under 20 ms, a sweep 5,000 rows of 32 blocks a second and core with their CSV, a trace read at
# 0.7 of the rate of bare yajl in under 64 MiB.
set -euo pipefail

engine=tests/bench/engine_bench
scenario=llama2-7b-2xdgx-a100
more_runs=10

command -v valgrind >/dev/null || { echo 'bench: valgrind is needed' >&2; exit 1; }

machine_instructions ()
{
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

engine_line ()
{
  local executor=$1 ranks=$2 aim=$3 n one many
  n=$("$engine" "$executor" "$ranks" 1)
  one=$(machine_instructions "$engine" "$executor" "$ranks" 1)
  many=$(machine_instructions "$engine" "$executor" "$ranks" $((1 + more_runs)))
  printf '%-9s %-6s %8d host instructions x ranks  %6d machine instructions each  (aim: under %d)\n' \
    "$executor" "$ranks" "$n" $(((many - one) / more_runs / n)) "$aim"
}

# Rows of a sweep: a second of processor time (the best of three runs), machine instructions, and
# how many times those of a bare loop: one pass over a program that is there already.
sweep_line ()
{
  local what=$1 few many bare seconds best=
  local command=(./fsdpsim sweep "$scenario" -s simulation.compute_slowdown="$2" -j 1 -q -f csv)
  few=$(machine_instructions "${command[@]}" --vary training.seq_len=512)
  many=$(machine_instructions "${command[@]}" --vary training.seq_len=512..3072+256)
  bare=$(machine_instructions "$engine" one_pass folded $((1 + more_runs)))
  bare=$(((bare - $(machine_instructions "$engine" one_pass folded 1)) / more_runs))
  for _ in 1 2 3; do
    seconds=$( (TIMEFORMAT='%U %S'
      time "${command[@]}" --vary training.seq_len=256..4096+256 --vary training.micro_batch=1..50 \
        >/dev/null || true) 2>&1 | awk '{ print $1 + $2 }')
    best=$(awk -v a="$seconds" -v b="${best:-$seconds}" 'BEGIN { print a < b ? a : b }')
  done
  awk -v what="$what" -v per=$(((many - few) / 40)) -v bare="$bare" -v best="$best" 'BEGIN {
    printf "sweep, %-28s %6d rows a second and core  %8d machine instructions each, %.1f of a bare loop\n",
      what, 3200 / best, per, per / bare }'
}

# Reading a trace of 200 MB beside a bare pass over its tokens: processor time, of each the best of
# five, in turns, and peak memory.
trace_line ()
{
  local folder bench=tests/bench/trace_bench
  folder=$(mktemp -d)
  "$bench" generate 200 >"$folder/trace.json"
  for _ in 1 2 3 4 5; do
    printf 'bare %s\n' "$("$bench" measure "$bench" bare "$folder/trace.json")"
    printf 'trace %s\n' "$("$bench" measure ./fsdpsim trace "$folder/trace.json")"
  done | awk '
    !($1 in best) || $2 < best[$1] { best[$1] = $2 }
    $3 > most[$1] { most[$1] = $3 }
    END {
      printf "trace of 200 MB: %d MB/s, %.2f of the rate of bare yajl (aim: 0.7), %.1f MiB (aim: under 64)\n",
        200 / best["trace"], best["bare"] / best["trace"], most["trace"] / 1024 }'
  rm -r "$folder"
}

# How many times faster -j N is than -j 1 on a sweep that takes seconds, so that the start of the program does not
# count; as ever, the best of three.
scaling_line ()
{
  local jobs=$1 elapsed best one line
  one=""
  line=""
  for n in 1 "$jobs"; do
    best=""
    for _ in 1 2 3; do
      elapsed=$( (TIMEFORMAT=%R; time ./fsdpsim sweep "$scenario" -j "$n" -q -f csv \
        -s simulation.ranks=all --vary training.seq_len=256..4096+256 \
        --vary training.micro_batch=1..24 >/dev/null || true) 2>&1)
      best=$(awk -v a="$elapsed" -v b="${best:-$elapsed}" 'BEGIN { print a < b ? a : b }')
    done
    one=${one:-$best}
    line="$line  -j $n $best s"
  done
  awk -v line="$line" -v one="$one" -v best="$best" -v jobs="$jobs" 'BEGIN {
    printf "sweep, all ranks:%s  %.2f times as fast (of %d)\n", line, one / best, jobs }'
}

printf 'machine: %s, %d processors, %s\n' \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -sr)"
printf 'scenario: %s, first variant, collectives do not slow kernels\n' "$scenario"
engine_line one_pass folded 200
engine_line one_pass all 200
engine_line events folded 500
engine_line events all 500

printf '\n'
sweep_line 'one pass' 0%
sweep_line 'kernels slowed (event engine)' auto
scaling_line "$(nproc)"

printf '\n'
trace_line

printf '\nfsdpsim compare %s, all variants, folded: %s million machine instructions\n' "$scenario" \
  $(($(machine_instructions ./fsdpsim compare "$scenario") / 1000000))
if command -v hyperfine >/dev/null; then
  hyperfine --style basic -N --warmup 3 "./fsdpsim compare $scenario" './fsdpsim --version'
else
  time ./fsdpsim compare "$scenario" >/dev/null
fi
