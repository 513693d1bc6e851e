#!/bin/bash
# make bench-scale: many ranks, each with its own clock, and the engine's queue; beside a bare
# binary-heap loop timed in the same process. Aims: Llama-3 8B on 16,384 ranks in one pass no slower
# than a heap loop of 225 operations a rank, under 512 MiB; Llama-3 405B under 3 s and 1 GiB; with
# kernels slowed by collectives (event engine) at most 10 times one pass; twice the ranks at most 2.2
# times the time; the queue at no less than 0.8 of the bare heap.
set -euo pipefail

bench=tests/bench/scale_bench
few=llama3-8b-1-to-64-nodes
many=llama3-405b-goodput

printf 'machine: %s, %d processors, %s, load %s\n' \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -sr)" \
  "$(cut -d ' ' -f 1-3 /proc/loadavg)"
for ranks in 8 64 512 4096 8192 16384 32768 65536 131072; do
  printf '8B   one pass  '; $bench $few $ranks one_pass
done
for ranks in 8 64 512 4096 8192 16384; do
  printf '8B   events    '; $bench $few $ranks events
done
printf '405B one pass  '; $bench $many 16384 one_pass
for pending in 64 1024 16384 131072; do
  $bench queue $pending
done
