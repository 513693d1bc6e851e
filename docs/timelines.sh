#!/bin/sh
# Usage: timelines.sh FILE.md
# Prints the file with its timelines drawn anew. One is drawn behind each line
#   <!-- timeline SECTION.KEY=VALUE ... -->
# from `fsdpsim run` with these settings over those of scenario() below.
set -eu
FSDPSIM=${FSDPSIM:-fsdpsim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scenario () {
  cat <<'END'
[model]
source = llama2-7b
layers = 3
[cluster]
source = dgx-a100-80g
nodes = 2
[timing]
forward = 4ms
recompute = 4ms
backward = 8ms
all_gather = 2ms
reduce_scatter = 2ms
all_reduce = 2ms
root_all_gather = 2ms
root_reduce_scatter = 2ms
root_all_reduce = 2ms
embed_all_gather = 2ms
embed_reduce_scatter = 2ms
head_all_gather = 2ms
head_reduce_scatter = 2ms
stack_all_gather = 2ms
stack_reduce_scatter = 2ms
encoder_norm_forward = 0s
encoder_norm_backward = 0s
embed_forward = 0s
head_forward = 0s
head_backward = 0s
embed_backward = 0s
grad_clip = 0s
optimizer_step = 0s
fsdp_copies = 0s
host_op = 0s
limiter_wakeup = 0s
[simulation]
compute_slowdown = 0%
END
}

# A column is a millisecond: op and unit, then dashes to the end.
draw () {
  awk -F, '
    BEGIN {
      letter["forward"] = "F"; letter["recompute"] = "R"; letter["backward"] = "B"
      letter["all_gather"] = "A"; letter["reduce_scatter"] = "S"; letter["all_reduce"] = "X"
    }
    function name (unit) {
      sub (/^block\./, "", unit); sub (/\.attention$/, "a", unit); sub (/\.mlp$/, "m", unit)
      return unit ~ /^[0-9]/ ? unit : substr (unit, 1, 1)
    }
    NR > 1 && $4 in letter && ($3 == "compute" || $3 ~ /^comm\./) {
      first = int ($8 / 1000 + 0.5); last = int ($9 / 1000 + 0.5)
      if (first < 0 || last <= first) next
      if (!($3 in row)) { lanes[++n] = $3; row[$3] = "" }
      cell = letter[$4] name ($5)
      while (length (cell) < last - first) cell = cell "-"
      while (length (row[$3]) < first) row[$3] = row[$3] " "
      row[$3] = row[$3] substr (cell, 1, last - first)
      if (last > end) end = last
    }
    END {
      for (i = 0; i <= end; i += 10) ruler = ruler sprintf ("%-10d", i)
      sub (/ +$/, "", ruler)
      printf "%-15s %s\n", "ms", ruler
      for (i = 1; i <= n; i++) {
        lane = lanes[i]
        printf "%-15s %s\n", lane, row[lane]
      }
    }' "$1"
}

skip=no
scenario >"$work/base.ini"
while IFS= read -r line; do
  case $line in
    '<!-- timeline'*'-->')
      printf '%s\n```\n' "$line"
      words=${line#<!-- timeline}
      set --
      for word in ${words%-->}; do set -- "$@" -s "$word"; done
      "$FSDPSIM" run "$work/base.ini" "$@" -q -o "$work/out" >"$work/log" || { cat "$work/log" >&2; exit 1; }
      draw "$work/out/timeline.csv"
      printf '```\n'
      skip=begin
      continue
      ;;
  esac
  case $skip$line in
    'begin```') skip=yes ;;
    'yes```') skip=no ;;
    begin*) skip=no; printf '%s\n' "$line" ;;
    no*) printf '%s\n' "$line" ;;
  esac
done <"$1"
