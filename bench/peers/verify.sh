#!/bin/sh
# verify.sh PROGRAM [SHAPE]...: runs a peer program in each of its modes, with each of its ways to initialise arrays,
# and compares with the sequential program; bad options must end with status 2 and one line. A shape is a few options.
set -u
program=$1
shift
if [ $# -eq 0 ]; then
  set -- "--size 100x130 --block 16x33" "--size 40 --block 40" "--size 9x1 --block 1" "--size 1x9 --block 1x2"
fi
values() { "$program" --help | sed -n "s/.*--$1 \([^]]*\).*/\1/p" | tr '|' ' '; }
modes=$(values mode)
inits=$(values init)
iterations=
[ -z "$(values iterations)" ] || iterations="--iterations 5"
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# Not every mode knows every way: it must say so, and another must.
for init in $inits; do
  ran=0
  for mode in $modes; do
    for shape in "$@"; do
      # shellcheck disable=SC2086
      line=$("$program" --mode "$mode" --init "$init" $shape $iterations --verify 2>&1)
      case $?,$line in
        0,*'"verified":true}') ran=$((ran + 1)) ;;
        2,*"--init $init needs --mode"*) ;;
        *) fail "$mode $init $shape: $line" ;;
      esac
    done
  done
  [ $ran -ge $# ] || fail "$init: in no mode"
done

for bad in "--size 0" "--size -1" "--size 4x" "--size 99999999999999999999" \
  "--size 4 --block 5000" "--mode none" "--init none" "--seed x" "--none" "--size"; do
  # shellcheck disable=SC2086
  message=$("$program" $bad 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] || fail "$bad: exit status $status, expected 2"
  [ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] && [ -n "$message" ] || fail "$bad: expected one line, got: $message"
done
if [ -n "$iterations" ]; then
  "$program" --iterations 0 >/dev/null 2>&1
  [ $? -eq 2 ] || fail "--iterations 0: expected status 2"
fi

[ "$failures" -eq 0 ] && echo "ok: $modes"
exit "$failures"
