#!/bin/bash
# All checks of a built tree, or those named: tests/checks.sh [CHECK...].
# What each prints goes to checks/CHECK.log, shown where it fails. Ends with
# "N passed, N failed": every unit test and test script, and every other check.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
mkdir -p checks

passed=0
failed=0
jobs=$(nproc)
all=(tests distribution sanitizers valgrind format tidy cppcheck shell manual)

# ---- the checks ----

check_tests ()
{
  make -j"$jobs" check VERBOSE=1
}

# The tarball builds, tests, installs and uninstalls from a read-only source
# tree with no warning, and holds every file that git tracks.
check_distribution ()
{
  make distcheck DISTCHECK_CONFIGURE_FLAGS="--enable-werror --disable-fuzz-replay CFLAGS=-O0" MAKEFLAGS="-j$jobs" || return
  [ -d .git ] || return 0
  tar tf fsdpsim-*.tar.xz | sed 's,^[^/]*/,,' | LC_ALL=C sort >checks/shipped
  git ls-files | grep -v '/\.gitkeep$' | LC_ALL=C sort | LC_ALL=C comm -23 - checks/shipped >checks/missing
  sed 's/^/not in the tarball: /' checks/missing
  [ ! -s checks/missing ]
}

# Builds in checks/$1 from a copy of the sources, since this tree is configured.
build_apart ()
{
  local name=$1
  shift
  make -s distdir && rm -rf checks/source "checks/$name" &&
    mv fsdpsim-[0-9]*[0-9]/ checks/source && mkdir "checks/$name" && cd "checks/$name" &&
    ../source/configure "$@" && make -j"$jobs" && make -j"$jobs" check VERBOSE=1
}

# By clang, so that this is the second compiler as well. Of the published runs a sample: all of them
# take minutes here and are predicted by the other builds.
check_sanitizers ()
{
  SAMPLE=8 build_apart sanitizers --enable-sanitizers --enable-werror --disable-fuzz-replay CC=clang CFLAGS='-g -O1'
}

check_valgrind ()
{
  local scenario
  for scenario in scenarios/*.ini; do
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
      ./fsdpsim compare "$scenario" >/dev/null
    [ $? -le 1 ] || return 1
  done
}

check_format ()
{
  find src tests -name '*.[ch]' -exec clang-format --dry-run -Werror '{}' +
}

check_tidy ()
{
  local flags
  read -ra flags <<<"$(pkg-config --cflags glib-2.0 gio-2.0 json-glib-1.0 yajl nlopt cmocka)"
  find src -name '*.c' | LC_ALL=C sort | xargs -P "$jobs" -I '{}' clang-tidy --quiet '{}' -- -std=gnu11 -DHAVE_CONFIG_H -I. -Isrc \
    -DG_LOG_DOMAIN='"fsdpsim"' -DFSDPSIM_DATA_DIR='"/usr/share/fsdpsim"' "${flags[@]}"
}

check_cppcheck ()
{
  cppcheck --quiet -j "$jobs" --error-exitcode=1 --std=c11 --library=gtk -I src -I . \
    --enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem \
    --suppress=memleak -D'G_DEFINE_QUARK(name,function)=' -D'G_GNUC_PRINTF(format,first)=' src tests
}

check_shell ()
{
  shellcheck bootstrap .ci/run scenarios/*.sbatch tests/*.sh tests/*.test tests/bench/*.sh && shellcheck -s bash completions/fsdpsim
}

# help2man dates the page by its month, which mandoc takes for no date.
check_manual ()
{
  ! mandoc -Tlint -Wwarning man/fsdpsim.1 man/fsdpsim-scenario.5 | grep -v 'cannot parse date'
}

# ---- counting ----

# Adds the tests of make check: each test of a cmocka program, each script.
count_tests ()
{
  local result log ok bad
  for result in tests/*.trs; do
    log=${result%.trs}.log
    ok=$(grep -c '^\[       OK \]' "$log")
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$log")
    if grep -q '^:test-result: PASS' "$result"; then
      passed=$((passed + (ok ? ok : 1)))
    elif ! grep -q '^:test-result: SKIP' "$result"; then
      passed=$((passed + ok))
      failed=$((failed + (bad ? bad : 1)))
    fi
  done
}

run_check ()
{
  local name=$1 start=$SECONDS status
  ("check_$name") </dev/null >"checks/$name.log" 2>&1
  status=$?
  [ "$name" != tests ] || sed -n '/^# TOTAL/,/^# ERROR/p' checks/tests.log
  if [ "$status" -eq 0 ]; then
    printf 'ok      %-13s %4d s\n' "$name" $((SECONDS - start))
  else
    tail -n 200 "checks/$name.log"
    printf 'FAILED  %-13s %4d s  (all of it: checks/%s.log)\n' "$name" $((SECONDS - start)) "$name"
  fi
  if [ "$name" = tests ]; then
    count_tests
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  elif [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}

[ $# -gt 0 ] || set -- "${all[@]}"
for name; do
  [ "$(type -t "check_$name")" = function ] ||
    { printf 'checks.sh: no check %s; there are: %s\n' "$name" "${all[*]}" >&2; exit 2; }
  run_check "$name"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
