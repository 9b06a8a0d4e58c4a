#!/bin/sh
# verify.sh PROGRAM: runs each pattern of an overhead program with tasks that check that their predecessors have run, on
# few and on more workers than there may be CPUs; bad options must end with status 2 and one line.
set -u
program=$1
failures=0
# Where there are more threads than CPUs, waiting actively takes the CPU from whoever is waited for.
export OMP_WAIT_POLICY=passive

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

verified() {
  lines=$("$program" "$@" --repeat 2 --verify 2>&1) || fail "$*: exit status $?"
  [ "$(printf '%s\n' "$lines" | grep -c '"verified":true}$')" -eq 2 ] || fail "$*: $lines"
}

patterns=$("$program" --list | cut -d ' ' -f 1)
[ -n "$patterns" ] || fail "no patterns"
# A runtime may know that it cannot have so many workers here. It says so, and the test goes on with fewer.
counts=
for workers in 1 2 5; do
  if refusal=$("$program" --pattern independent --tasks 0 --workers $workers 2>&1); then counts="$counts $workers"; else echo "$workers workers: $refusal"; fi
done
case $counts in " 1"*) ;; *) fail "does not even run with 1 worker" ;; esac

for workers in $counts; do
  for pattern in $patterns; do
    case $pattern in
      independent | fib | ref-fresh) verified --pattern "$pattern" --workers "$workers" --tasks 500 ;;
      dependences) for d in 0 1 2 3 6 8 16; do verified --pattern "$pattern" --workers "$workers" --tasks 333 --dependences $d; done ;;
      creators | ref-creators)
        for c in 1 3 16; do verified --pattern "$pattern" --workers "$workers" --tasks 333 --creators $c; done ;;
      *) verified --pattern "$pattern" --workers "$workers" --tasks 333
         verified --pattern "$pattern" --workers "$workers" --tasks 50 --width 1
         verified --pattern "$pattern" --workers "$workers" --tasks 50 --width 3 ;;
    esac
  done
done
for pattern in $patterns; do
  verified --pattern "$pattern" --tasks 0
  "$program" --pattern "$pattern" --tasks 10 --task-ns 1000 --workers 2 >/dev/null || fail "$pattern: --task-ns"
done

refused() {
  message=$("$program" "$@" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] || fail "$*: exit status $status, expected 2"
  [ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] && [ -n "$message" ] || fail "$*: expected one line, got: $message"
}

refused
refused --pattern none
refused --pattern
refused --none
for bad in "--workers 0" "--workers x" "--tasks -1" "--width 0" "--repeat 0" "--task-ns 1e3" "--seed -1" "--dependences 33" "--verify --task-ns 5"; do
  # shellcheck disable=SC2086
  refused --pattern dependences $bad
done
refused --pattern independent --width 8
refused --pattern stencil --dependences 2
refused --pattern stencil --seed 3
refused --pattern stencil --creators 2
refused --pattern stencil --width 65537
case $patterns in *creators*)
  refused --pattern creators --creators 0
  refused --pattern creators --creators 17
  refused --pattern creators --metg ;;
esac
# weir's own: no task runs before all are created.
case $("$program" --help) in *--held*)
  for workers in $counts; do
    for pattern in chains stencil reduction-tree random-graph dependences ref-chains ref-stencil ref-tiles ref-halo; do
      lines=$("$program" --pattern $pattern --held --tasks 333 --repeat 2 --workers "$workers") || fail "--held: status $?"
      [ "$(printf '%s\n' "$lines" | grep -c '"creation_ns_per_task":[0-9.]*,"cpu_ns_per_task":[0-9.]*,')" -eq 2 ] ||
        fail "--held of $pattern: $lines"
    done
  done
  "$program" --pattern chains --held --tasks 0 >/dev/null || fail "--held without tasks"
  refused --pattern independent --held
  refused --pattern replay-stencil --held
  refused --pattern creators --held
  refused --pattern commutative --held
  refused --pattern stencil --held --verify
  refused --pattern stencil --held --metg ;;
*) refused --pattern stencil --held ;;
esac
refused --pattern independent --metg
refused --pattern stencil --metg --tasks 10

[ "$failures" -eq 0 ] && echo "ok:" $patterns
exit "$failures"
