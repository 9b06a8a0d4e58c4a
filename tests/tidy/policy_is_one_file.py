#!/usr/bin/env python3
"""A new policy is one file in src/place/policies/ and nothing else: adds one to a copy of the repository, and runs it.

  policy_is_one_file.py --source FOLDER --work FOLDER [--cmake COMMAND] [ARGUMENT OF CMAKE...]

The copy is built without the new file first. Then the file comes, only `cmake --build` is called, and the conformance
suite must list one policy more and pass under it. Copy and build stay in the work folder for the next run.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from tree import Tree

PROGRAM = "weir_conformance_test"
FILE = "src/place/policies/by_worker.cpp"
NAME = "by-worker"
POLICY = """\
// by-worker: a ready task goes to a node chosen by who made it ready: what one worker makes ready stays together.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class by_worker final : public policy {
 public:
  wish place(const task_view&, const asker& who) override {
    const std::size_t node = static_cast<std::size_t>(who.index) * 2654435761u % machine().has_worker.size();
    return machine().has_worker[node] != 0 ? wish(static_cast<int>(node)) : wish();
  }
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(by_worker, ::weir::place::by_worker, "by-worker")
"""


def refuse(message):
    sys.exit(f"policy-is-one-file: {message}")


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode != 0:
        refuse(f"'{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stdout[-8000:]}")
    return done.stdout


def is_same(a, b):
    return b.is_file() and a.read_bytes() == b.read_bytes()


def copy_repository(source, to):
    """What is the same keeps its time, and is not compiled again. What is strange goes: the last run's policy."""
    names = Tree(source).files
    for name in names:
        target = to / name
        if not is_same(source / name, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
    for strange in set(files_in(to)) - set(names):
        (to / strange).unlink()


def files_in(folder):
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def configure(cmake, copy, folder, arguments):
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={copy}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the work folder has been moved
    run(cmake, "-S", copy, "-B", folder, *arguments)


def build(cmake, folder):
    run(cmake, "--build", folder, "-j", str(len(os.sched_getaffinity(0))), "--target", PROGRAM)


def tests_by_policy(folder):
    """{policy, - for its name's _: number of its tests}, as the suite lists them"""
    found = {}
    listed = run(folder / "bin" / PROGRAM, "--gtest_list_tests")
    for policy in re.findall(r"^  \w+/(\w+?)_on_\w+", listed, re.MULTILINE):
        found[policy.replace("_", "-")] = found.get(policy.replace("_", "-"), 0) + 1
    return found


def passed_tests(folder):
    output = run(folder / "bin" / PROGRAM, f"--gtest_filter=*/{NAME.replace('-', '_')}_on_*")
    passed = re.search(r"^\[  PASSED  \] ([0-9]+) tests?\.", output, re.MULTILINE)
    if "[  SKIPPED ]" in output or not passed:
        refuse(f"the suite did not run:\n{output[-8000:]}")
    return int(passed[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    options, of_cmake = parser.parse_known_args()
    work, start = options.work.resolve(), time.monotonic()
    copy, folder = work / "weir", work / "build"

    copy_repository(options.source, copy)
    configure(options.cmake, copy, folder, of_cmake)
    build(options.cmake, folder)
    policies, files = tests_by_policy(folder), files_in(copy)

    if FILE in files or NAME in policies:
        refuse(f"there is a policy of that name: {FILE}, {NAME}")
    (copy / FILE).write_text(POLICY)
    build(options.cmake, folder)
    with_new, tests = tests_by_policy(folder), passed_tests(folder)

    new_files = files_in(copy)
    changed = sorted(f for f in new_files | files if new_files.get(f) != files.get(f))
    if changed != [FILE]:
        refuse(f"expected {FILE} to be all that is new; changed: {', '.join(changed)}")
    if sorted(with_new) != sorted([*policies, NAME]):
        refuse(f"expected {NAME} beside {', '.join(policies)}; listed: {', '.join(with_new)}")
    if tests == 0 or tests != with_new[NAME] or len(set(with_new.values())) != 1:
        refuse(f"expected as many tests for every policy; passed under {NAME}: {tests}; listed: {with_new}")
    print(f"policy-is-one-file: {NAME} is one file; {tests} tests passed under it ({time.monotonic() - start:.1f} s)")


if __name__ == "__main__":
    main()
