#!/bin/bash
# make mutations: random mutations of each fuzz target's own corpus through its parser, under ASan
# and UBSan. MEGABYTES (100) of them for each, SEED (1), TARGETS (all). Of what
# fails the input stays as mutation-TARGET.
set -euo pipefail
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for target in ${TARGETS:-$(cd tests/fuzz && ls ./*_fuzz)}; do
  name=$(basename "$target" _fuzz)
  cd "$work"
  # Reports and the targets' messages go to the log; what matters of it is its end.
  if nice -n 19 "$build/tests/fuzz/${name}_fuzz" "-mutate=${MEGABYTES:-100}" "-seed=${SEED:-1}" \
    "$source/tests/fuzz/corpus/$name" >log 2>&1; then
    printf '%-14s %s\n' "$name" "$(tail -n 1 log)"
  else
    failed=1
    [ ! -e mutation ] || cp mutation "$build/mutation-$name"
    printf '%-14s failed; the input is in mutation-%s\n' "$name" "$name"
    tail -n 30 log
  fi
  cd "$build"
done
exit $failed
