# What the tests of the command line share: sourced, with $FSDPSIM the program.
# A check that fails is printed at once; `exit $failed` ends a test.
# shellcheck shell=sh disable=SC2034
set -u
srcdir=${srcdir:-.}
srcdir=$(cd "$srcdir" && pwd)
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scenario=llama2-7b-2xdgx-a100

fail ()
{
  printf 'FAILED: %s\n' "$*"
  failed=1
}

# exits STATUS ARGUMENT...: runs the program; output lands in $work/out and $work/err
exits ()
{
  wanted=$1
  shift
  "$FSDPSIM" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ $status -eq "$wanted" ] && return
  fail "fsdpsim $*: exit status $status, not $wanted"
  cat "$work/err"
}

# refuses STATUS TEXT ARGUMENT...: fails so, says TEXT on standard error and nothing on standard output
refuses ()
{
  wanted_status=$1
  text=$2
  shift 2
  exits "$wanted_status" "$@"
  [ ! -s "$work/out" ] || fail "fsdpsim $*: an error that prints on standard output"
  grep -qF -e "$text" "$work/err" || { fail "fsdpsim $*: does not say: $text"; cat "$work/err"; }
}

# says TEXT: standard output of the last run has it
says ()
{
  grep -qF -e "$1" "$work/out" || { fail "standard output does not say: $1"; cat "$work/out"; }
}
