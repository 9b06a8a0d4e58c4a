#!/bin/bash
# spin.sh [FOLDER]: has Spin go through every state of the Promela models, and then of the same models with one error
# each, made on purpose, in which it must find something. One line each: what came of it, the states stored, the seconds
# the search took. Exit status 1 if a model fails, an error is not found, or a search does not come to its end. FOLDER,
# by default a temporary one, is where the searches are built.
set -euo pipefail
export LC_ALL=C.UTF-8
source_folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

for tool in spin gcc; do
  command -v "$tool" >/dev/null && continue
  printf 'spin.sh: %s is missing (Debian package %s)\n' "$tool" "$tool" >&2
  exit 2
done
if (($#)); then
  folder=$1
  mkdir -p -- "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf -- "$folder"' EXIT
fi

most_megabytes=1024     # a model that needs more has become too large: make it smaller
most_seconds=600        # of one search; some ten times what the longest takes
safety_depth=100000     # steps on one path; the longest has 700
liveness_depth=4000000  # the longest has 2.2 million
failed=0

# search EXPECTED MODEL CLAIM DEFINES...: builds and runs one search in the subfolder `run`; what Spin says is in
# run/log.
# Errors are looked for from the other end: with steps tried in reverse order the dearest takes an eighth of the states.
search() {
  local expected=$1 model=$2 claim=$3 run=$folder/run; shift 3
  rm -rf -- "$run"
  mkdir -- "$run"
  cp -- "$source_folder/$model" "$run/model.pml"
  local compile=(-O1 -w -DCOLLAPSE -DMEMLIM="$most_megabytes") options=(-c1)
  if [[ $expected == fails ]]; then compile+=(-DT_REVERSE); fi
  if [[ $claim == - ]]; then
    compile+=(-DSAFETY)
    options+=(-m"$safety_depth")
  else
    compile+=(-DNFAIR=3)
    options+=(-a -f -N "$claim" -m"$liveness_depth")
  fi
  (
    cd -- "$run" && spin "$@" -a model.pml && gcc "${compile[@]}" -o pan pan.c &&
      timeout "$most_seconds" ./pan "${options[@]}"
  ) >"$run/log" 2>&1 </dev/null
}

# field PATTERN: the first match's group in the log.
field() { sed -nE "s/$1/\\1/p" "$folder/run/log" | head -n 1; }

# said STATUS: what came of a search: "holds", what was found, or why it says nothing.
said() {
  local log=$folder/run/log found
  found=$(field '^pan:[0-9]+: (assertion violated|invalid end state|acceptance cycle).*')
  if [[ $found ]]; then echo "$found"
  elif (($1 == 124)); then echo "not done after $most_seconds s"
  elif grep -q 'reached -DMEMLIM bound' "$log"; then echo "not done in $most_megabytes MB"
  elif grep -q 'max search depth too small' "$log"; then echo "not done: longer paths than it may follow"
  elif (($1 == 0)) && grep -q 'errors: 0$' "$log" && ! grep -qi 'not completed' "$log"; then echo holds
  else echo "no result"
  fi
}

# check EXPECTED MODEL CLAIM WHAT DEFINES...: EXPECTED is holds or fails.
check() {
  local expected=$1 model=$2 claim=$3 what=$4 status=0 result verdict=; shift 4
  search "$expected" "$model" "$claim" "$@" || status=$?
  result=$(said "$status")
  case $expected:$result in
    holds:holds | fails:assertion* | fails:invalid* | fails:acceptance*) ;;
    *) verdict='  <-- WRONG'
       failed=1 ;;
  esac
  printf '%-8s  %-60s  %-18s  %10s states  %5s s%s\n' "$(basename -- "$model" .pml)" "$what" "$result" \
    "$(field '^ *([0-9.e+]+) states, stored.*')" "$(field '^pan: elapsed time ([0-9.]+).*')" "$verdict"
  if [[ $verdict ]]; then
    echo "  spin.sh: $model, options: $*" >&2
    if [[ $expected == holds && -s $folder/run/model.pml.trail ]]; then
      (cd -- "$folder/run" && spin "$@" -t -p -g model.pml | tail -n 100) >&2
    else tail -n 20 -- "$folder/run/log" >&2
    fi
  fi
}
holds() { check holds "$@"; }

sleep=sched/sleep.pml
two_tasks=(-DWORKERS=2 -DEACH=2)
no_doze=(-DMAY_DOZE=false)
for_one=(-DWORKERS=2 -DCALLERS=1)
holds $sleep - 'three workers, a thread that publishes twice, nobody dozes' -DWORKERS=3 -DEACH=2 "${no_doze[@]}"
holds $sleep - 'two workers, two threads that publish' -DWORKERS=2 -DFOREIGN=2
holds $sleep - 'two workers, work for anybody and work for one' "${for_one[@]}"
holds $sleep - 'two workers, a task that publishes another' -DWORKERS=2 -DCHILDREN=1
holds $sleep - 'light fences: two workers, two threads that publish, nobody dozes' -DWORKERS=2 -DFOREIGN=2 -DUNSURE "${no_doze[@]}"
holds $sleep - 'light fences: two workers, a thread that publishes twice' "${two_tasks[@]}" -DUNSURE
holds $sleep - 'light fences: two workers, a task that publishes another' -DWORKERS=2 -DCHILDREN=1 -DUNSURE
holds $sleep taken 'for ever: work for anybody is taken at some time' "${for_one[@]}" -DENDLESS
holds $sleep answered 'for ever: work for one is taken at some time' "${for_one[@]}" -DENDLESS

# sleep_fails CLAIM MUTANT WHAT DEFINES...
sleep_fails() { check fails $sleep "$1" "error: $3" "${@:4}" -DMUTANT="$2"; }
sleep_fails - LOOKS_BEFORE_IT_PUBLISHES 'publishes after looking for sleepers' "${two_tasks[@]}"
sleep_fails - NO_SECOND_LOOK 'no second look before blocking' "${two_tasks[@]}"
sleep_fails - SECOND_LOOK_TOO_EARLY 'the second look before saying that it sleeps' "${two_tasks[@]}"
sleep_fails - NO_HAND_OVER 'no hand-over by the last searcher' "${two_tasks[@]}"
sleep_fails - HAND_OVER_BY_AN_OLD_COUNT 'the last searcher by a count read before' "${two_tasks[@]}"
sleep_fails - LAST_TO_DOZE_NOT_TOLD 'the last one is not told if it dozes' "${two_tasks[@]}"
sleep_fails - LAST_TO_SLEEP_NOT_TOLD 'the last one is not told if it sleeps' "${two_tasks[@]}" "${no_doze[@]}"
sleep_fails - LAST_BY_AN_OLD_COUNT 'the last one to sleep by a count read before' "${two_tasks[@]}" "${no_doze[@]}"
sleep_fails - LAST_BEFORE_ITS_WORD 'who is last to count itself is told' "${two_tasks[@]}" "${no_doze[@]}"
sleep_fails - CANCEL_ALWAYS_COUNTS 'cancelling counts though a waker was faster' "${two_tasks[@]}"
sleep_fails - CLAIM_WITHOUT_EXCHANGE 'claims by a load and a store' "${two_tasks[@]}"
sleep_fails - NO_FUTEX_WAKE 'claims and does not wake' "${two_tasks[@]}"
sleep_fails - NO_HEAVY_FENCE 'no heavy fence after the first part of a sleep' "${two_tasks[@]}" -DUNSURE
sleep_fails - NO_LOOK_AFTER_THE_FIRST_PART 'no look after the first part of a sleep' "${two_tasks[@]}" -DUNSURE
sleep_fails - LIGHT_FENCE_BESIDE_SLEEPERS 'a publisher that sees sleepers passes no full fence' -DWORKERS=2 -DFOREIGN=2 -DUNSURE
sleep_fails - FENCE_THAT_HAD_BEGUN 'a fence serves who asks while it is under way' \
  -DWORKERS=2 -DFOREIGN=2 -DEACH=2 -DUNSURE "${no_doze[@]}"
sleep_fails taken NO_HAND_OVER 'for ever, no hand-over by the last searcher' "${for_one[@]}" -DENDLESS
sleep_fails answered NO_SECOND_LOOK 'for ever, no second look before blocking' "${for_one[@]}" -DENDLESS

versions=flow/versions.pml
two_reads=(-DVERSIONS=2 -DREADERS=1 -DVIEWS=0)
given_up=(-DGIVES_UP=1 -DFROM_VALUES=false)
one_frame=("${two_reads[@]}" -DPRODUCERS=1)
alone=(-DBEGINS=1 -DREADERS=1 -DVIEWS=0)
holds $versions - 'two readers, a view and a successor'
holds $versions - 'a task that reads what two tasks write' "${two_reads[@]}"
holds $versions - 'a task that reads what one task writes' "${one_frame[@]}"
holds $versions - 'a reader of two; an heir of one that reads the other' "${two_reads[@]}" -DHEIR_READS=true
holds $versions - 'two readers, a view and a successor of what is given up' "${given_up[@]}"
holds $versions - 'a task that reads two versions that are given up' "${given_up[@]}" "${two_reads[@]}" -DUPDATES_AT_ONCE=false
holds $versions - 'somebody becomes alone: a reader and a successor' "${alone[@]}"
holds $versions - 'somebody becomes alone: a view and a successor' -DBEGINS=1 -DREADERS=0
holds $versions - 'somebody becomes alone: a reader, a view and a successor' -DBEGINS=1 -DREADERS=1 -DFROM_VALUES=false
holds $versions - 'somebody becomes alone: a reader of what is given up' "${alone[@]}" "${given_up[@]}"

# versions_fail MUTANT WHAT DEFINES...
versions_fail() { check fails $versions - "error: $2" "${@:3}" -DMUTANT="$1"; }
versions_fail CURRENT_WEIGHS_ONE 'being current weighs as much as a reader'
versions_fail RETIRES_IN_TWO_STEPS 'current no longer first, readers added then'
versions_fail HEIR_WRITTEN_AFTER_RETIRING 'the heir is written after retiring'
versions_fail NEXT_READ_AFTER_TELLING "a waiter's successor is read after telling it"
versions_fail VIEWS_DO_NOT_KEEP 'unused is buried though views are left'
versions_fail LAST_VIEW_ALWAYS_BURIES 'the last view buries, whoever else is left'
versions_fail HEIR_DOES_NOT_KEEP 'buried as soon as the heir is told'
versions_fail SUBSCRIBES_BY_A_STORE 'subscribes by a store'
versions_fail PUBLISHES_IN_TWO_STEPS 'takes the list, then leaves the mark'
versions_fail HEIR_ALWAYS_TAKES_OVER 'the heir takes over without looking for views'
versions_fail LOOKS_AT_THE_LOW_HALF_ONLY 'who leaves looks at the low half only'
versions_fail PENDING_IN_TWO_STEPS 'counts what a task waits for by a load and a store'
versions_fail NEXT_INPUT_NOTED_TOO_LATE 'notes the read it waits for after subscribing' "${two_reads[@]}"
versions_fail FRAME_COUNT_IN_TWO_STEPS "counts a frame's versions by a load and a store" "${one_frame[@]}"
versions_fail VIEW_WITHOUT_THE_LOCK 'takes a view without the lock'
versions_fail BURIED_BEFORE_IT_IS_PUBLISHED 'buried by the last user though not published'
versions_fail UNWANTED_BY_A_STORE 'leaves the unwanted mark by a store'
versions_fail HEIR_TOLD_BEFORE_PUBLICATION 'the heir is told though the version is not published'
versions_fail PRODUCER_LOOKS_BACK 'the producer looks at what it has published'
versions_fail GIVEN_UP_UNWANTED 'given up, and kept, though nobody is left' "${given_up[@]}"
versions_fail GIVEN_UP_COUNTS_AS_A_USER 'given up, and kept as by a reader' "${given_up[@]}"
versions_fail UPDATE_COUNTED_AFTER_MATCHING 'counts what an update waits for after it was matched'
versions_fail UPDATE_LOOKED_AT_AFTER_MATCHING 'looks at an update after it was matched'
versions_fail VISIT_ENDS_NO_SOLITUDE 'a visit does not end the solitude of another' "${alone[@]}"
versions_fail BEGINS_WITHOUT_A_FENCE 'begins to be alone without a heavy fence' "${alone[@]}"
versions_fail BEGINS_WITHOUT_WAITING 'begins to be alone beside who is inside' "${alone[@]}"
versions_fail ENDS_WITHOUT_A_FENCE 'ends solitude without a heavy fence' "${alone[@]}"
versions_fail ENDS_WITHOUT_WAITING 'ends solitude beside who is inside' "${alone[@]}"
versions_fail SHARED_BEFORE_IT_IS_OUTSIDE 'lets others in before who was alone is outside' "${alone[@]}"
versions_fail ALONE_BETWEEN_VISITS 'goes by what an earlier visit found' "${alone[@]}"

exit $failed
