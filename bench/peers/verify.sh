#!/bin/sh
# verify.sh PROGRAM: runs a peer program in each of its modes and compares with the sequential sweep; bad options must
# end with status 2 and one line.
set -u
program=$1
modes=$("$program" --help | sed 's/.*--mode \([^]]*\).*/\1/' | tr '|' ' ')
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

for mode in $modes; do
  for init in first-touch interleave; do
    for shape in "--size 100x130 --block 16x33" "--size 40 --block 40" "--size 9x1 --block 1" "--size 1x9 --block 1x2"; do
      # shellcheck disable=SC2086
      line=$("$program" --mode "$mode" --init $init $shape --iterations 5 --verify 2>/dev/null) || fail "$mode $init $shape: exit status"
      case $line in *'"verified":true}') ;; *) fail "$mode $init $shape: $line" ;; esac
    done
  done
done

for bad in "--size 0" "--size -1" "--size 4x" "--size 99999999999999999999" "--block 5000" "--mode none" "--init none" "--iterations 0" "--none" "--size"; do
  # shellcheck disable=SC2086
  message=$("$program" $bad 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] || fail "$bad: exit status $status, expected 2"
  [ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] && [ -n "$message" ] || fail "$bad: expected one line, got: $message"
done

[ "$failures" -eq 0 ] && echo "ok: $modes"
exit "$failures"
