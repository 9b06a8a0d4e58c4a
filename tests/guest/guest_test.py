#!/usr/bin/env python3
"""The project's programs inside guests, one scenario a run. Called by ctest; by hand see README.md.

  guest_test.py SCENARIO --bin build/bin [--program NAME]...

Exit status: 0 passed, 1 failed, 77 skipped with a reason because no guest can run here.
"""
import argparse
import json
import os
import sys

from guests import PROGRAMS, GuestError, Unavailable, end_on_signals, run_guest

SOURCES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MEMORY_MIB = 256
# Seconds for one guest; some fifty times of what it takes on two idle CPUs, so that only a hang is one.
TIMEOUT = 1800
SKIPPED = 77
TERSE = "--gtest_brief=1 --gtest_color=no"

# What test programs are told: repeat less, wait longer.
SLOWDOWN = 40
# Not about nodes, and too long for a guest: enumerations of thousands of small graphs, graphs' orders under every
# configuration, sums and their bits, which coarse string is chosen. A guest's nodes change nothing in them.
FILTERS = {"weir_oracle_test": "-small_graphs.two_*:small_graphs.three_*:small_graphs.four_*:small_graphs.six_*:streams.all_short_*",
           "weir_api_test": "-coarse_graph.gives_the_same_results_*:graph.tasks_come_after_*:bulk_graph.tasks_come_after_*:parallel_reduce.*:"
                         "task.with_a_thousand_accesses:errors.what_depends_on_a_failed_task_is_skipped_and_nothing_else",
           "weir_solver_test": "row_tasks.*distributed*:row_tasks.nothing_moves_*:row_tasks.precondition_*:row_tasks.under_several_*"}
# The conformance suite describes machines of its own to the runtime, and they are the same everywhere but for the one
# that a guest really is, or is most like.
CONFORMANCE = "weir_conformance_test"
WINDOWS = "weir_windows_test"
LONGEST = ("weir_api_test", "weir_oracle_test")
LIKE_TWO_NODES = "dual-nehalem"

# Problems that take about a second in a guest and still have many blocks of several pages.
KERNELS = {
    "jacobi-1d": "--size 65536 --block 2048 --iterations 3",
    "jacobi-2d": "--size 256x256 --block 32x32 --iterations 3",
    "jacobi-3d": "--size 32x32x32 --block 8x8x8 --iterations 3",
    "seidel-1d": "--size 65536 --block 2048 --iterations 3",
    "seidel-2d": "--size 256x256 --block 32x32 --iterations 3",
    "seidel-3d": "--size 32x32x32 --block 8x8x8 --iterations 3",
    "blur-roberts": "--size 256x256 --block 32x32",
    "kmeans": "--size 8192x4 --block 512 --clusters 4 --iterations 3",
    "bitonic": "--size 32768 --block 2048",
    "cholesky": "--size 256 --block 32",
}

# On their own memory: pages lie where a tile was written first, wherever it is updated later.
APPLICATIONS = {
    "jacobi-2d": KERNELS["jacobi-2d"],
    "seidel-2d": KERNELS["seidel-2d"],
    "red-black": "--size 256x256 --block 32x32 --iterations 3",
    "nstream": "--size 65536 --block 2048 --iterations 3",
    "conjugate-gradient": "--size 128x128 --block 4 --iterations 3",
    "integral-histogram": "--size 128x128 --block 32x32 --bins 4 --iterations 2",
    "qr": "--size 128 --block 32",
    "symmetric-inverse": "--size 128 --block 32",
}


class Failed(Exception):
    """A check of a scenario did not hold."""


class Scenario:
    """One guest: what is in it, what runs in it, and what its outputs must say."""

    def __init__(self, options, nodes, machine, *emulate, like=None, memory_mib=MEMORY_MIB):
        """nodes: that the machine has. emulate: further options of `weir emulate` that make it so. like: the machine of
        machines/ that is most like it, if it is none of them."""
        self.nodes, self._options, self._like = nodes, options, like or machine
        emulate = ["--machine", machine, *emulate]
        self.emulate = ["--memory", str(memory_mib), "--huge-pages", "always", *emulate]
        self.commands, self._checks = [], []
        # Test programs read machine descriptions where the build found them.
        self.files = {os.path.join(SOURCES, folder): os.path.join(SOURCES, folder) for folder in ("machines", "tests/topo/input")}
        # Once more where programs find those that come with weir.
        self.files[os.path.join(SOURCES, ".", "machines")] = f"{PROGRAMS}/share/weir/machines"

    def add(self, program):
        self.files[os.path.join(self._options.bin, program)] = f"{PROGRAMS}/{program}"

    def run(self, command, check=None):
        """Runs a shell command, which must give status 0 and output that passes `check`."""
        self.commands.append(command)
        self._checks.append(check)

    def _filter(self, program):
        return f"*_on_{self._like.replace('-', '_')}" if program == CONFORMANCE else FILTERS.get(program, "*")

    def tests(self, prefix="", only=None, without=()):
        """Runs the functional test programs of this build: all of them, or those named."""
        names = [name for name in self._options.program if (only is None or name in only) and name not in without]
        if not names:
            raise Failed("no test program to run: --program names none of this scenario's")
        for name in names:
            self.add(name)
            self.run(f"WEIR_TEST_SLOWDOWN={SLOWDOWN} {prefix}{name} {TERSE} --gtest_filter='{self._filter(name)}'", passed_tests)

    def pages(self):
        """Runs the test of where pages are, which is told what machine it must find."""
        self.add("weir_pages_test")
        self.run(f"WEIR_GUEST_NODES={self.nodes} weir_pages_test {TERSE}", passed_tests)

    def windows(self, programs):
        """Runs random programs under policies that see windows of tasks, so many under each, on the guest's nodes."""
        if self._options.windows:
            self.add(WINDOWS)
            self.run(f"WEIR_TEST_SLOWDOWN={SLOWDOWN} WEIR_GUEST_NODES={self.nodes} WEIR_TEST_PROGRAMS={programs} {WINDOWS} {TERSE}",
                     passed_tests)

    def explain(self, *expected, prefix=""):
        """`weir topo --explain` must work and say all of this."""
        self.add("weir")
        self.run(f"{prefix}weir topo --explain", lambda output: says(output, expected))

    def check(self, results):
        """Raises Failed if a command failed, or said something else than expected."""
        for result, check in zip(results, self._checks, strict=True):
            if result.status != 0:
                raise Failed(f"status {result.status}: {result.command}")
            if check is not None:
                try:
                    check(result.output)
                except Failed as e:
                    raise Failed(f"{result.command}: {e}") from e


def says(output, expected):
    for words in expected:
        if words not in output:
            raise Failed(f"expected to read: {words}")


def passed_tests(output):
    """A test program that selects no test, or stops half way, has not passed."""
    if "[  PASSED  ]" not in output or "[  PASSED  ] 0 tests" in output:
        raise Failed("expected a test program to end with tests passed")


def pages_are_placed(output):
    """Every JSON line counts pages, and none of them is misplaced."""
    runs = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if len(runs) != 2:
        raise Failed(f"expected 2 JSON objects, one a policy, got {len(runs)}")
    for run in runs:
        if run["pages_checked"] == 0 or run["pages_misplaced"] != 0:
            raise Failed(f"under {run['policy']} {run['pages_misplaced']} of {run['pages_checked']} pages are misplaced")


def results_are_right(output):
    """One JSON line, of a run on own memory whose result was the sequential program's."""
    runs = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if [(run["memory"], run["verified"]) for run in runs] != [("own", True)]:
        raise Failed("expected one JSON object, of a right result on own memory")


def rows_are_distributed(output):
    """`weir solve` put the factors, the matrix and its vectors where the tasks are, and still found the solution."""
    # The guest's console is a terminal, and the object follows a progress line that was wiped.
    run = next(json.loads(line[line.index("{"):]) for line in output.splitlines() if '{"matrix"' in line)
    pages = run["pages"]
    if run["memory"] != "distribute" or not run["converged"] or pages["refused"] != 0 or pages["moved"] + pages["promised"] < 300:
        raise Failed(f"memory {run['memory']}, pages {pages}, converged {run['converged']}")


def opteron(options):
    return Scenario(options, 8, "opteron-64")


def pages_of_both_sizes(s):
    """With huge pages wherever the kernel can, which is Debian's default, and without any."""
    for huge_pages in ("always", "never"):
        s.run(f"echo {huge_pages} >/sys/kernel/mm/transparent_hugepage/enabled")
        s.pages()


def two_nodes(options):
    s = Scenario(options, 2, "nodes:2 cpus:2", "--cores", "2", like=LIKE_TWO_NODES)
    s.explain("Nothing: all CPUs, memory and distances")
    s.tests()
    pages_of_both_sizes(s)
    s.add("weir")
    s.windows(20)
    s.run("weir solve --matrix cube:24 --ilu 1 --policy node-queues --coarsen C --repeat 1 --json", rows_are_distributed)
    return s


def eight_nodes(options):
    """What the number of nodes matters to most; eight_nodes_all has the rest."""
    s = opteron(options)
    s.tests(without=LONGEST)
    s.pages()
    s.windows(20)
    return s


def eight_nodes_all(options):
    s = opteron(options)
    s.tests(only=LONGEST)
    pages_of_both_sizes(s)
    return s


def eight_nodes_windows(options):
    if not options.windows:
        raise Failed(f"no {WINDOWS} to run")
    s = opteron(options)
    s.windows(500)
    return s


def eight_nodes_bench(options):
    s = opteron(options)
    s.add("weir")
    for kernel, problem in KERNELS.items():
        s.run(f"weir bench {kernel} {problem} --policy deferred,local --pages-check --verify --json", pages_are_placed)
    for kernel, problem in APPLICATIONS.items():
        s.run(f"weir bench {kernel} {problem} --memory own --init inside --annotate --verify --json",
              results_are_right)
    return s


def memory_only(options):
    """Two nodes with CPUs, one without, as with a CXL memory expander."""
    s = Scenario(options, 3, "cxl")
    s.explain("no CPU that may be used: no worker runs there")
    s.tests(only=["weir_api_test", "weir_oracle_test", "weir_conformance_test", "weir_memory_test"])
    s.pages()
    return s


def no_mbind(options):
    """The memory system calls refused, as in a container: pages are placed by touching them, nothing aborts."""
    s = Scenario(options, 4, "quad-opteron-8347", "--no-mbind")
    s.explain("mbind               refused", "get_mempolicy       refused", "move_pages          refused", "EPERM")
    s.tests()
    s.pages()
    return s


def narrow_cpuset(options):
    """One CPU and one memory node of eight; and a CPU whose own memory is out of reach."""
    s = opteron(options)
    near, far = "narrow 2 2 ", "narrow 1 6 "
    s.explain("Only 1 of 8 CPUs may be used (CPUs 2,", "Nodes 0-1,3-7 may not be used for memory (cpuset)", prefix=near)
    s.explain("Only 1 of 8 CPUs may be used (CPUs 1,", "Nodes 0-5,7 may not be used for memory (cpuset)", prefix=far)
    for prefix in (near, far):
        s.tests(prefix=prefix, only=["weir_api_test", "weir_oracle_test", "weir_conformance_test", "weir_memory_test"])
    return s


def many_nodes(options):
    s = Scenario(options, 24, "sgi-192")
    s.explain("Nothing: all CPUs, memory and distances")
    s.tests(only=["weir_api_test", "weir_oracle_test", "weir_conformance_test", "weir_memory_test", "weir_machine_test"])
    s.pages()
    return s


def node_was_full(output):
    """The result was right, and pages lay elsewhere than they should."""
    run = json.loads(output.splitlines()[-1])
    if run["pages_misplaced"] == 0:
        raise Failed("expected a node to run out of memory, and every page was placed")


def full_node(options):
    """The only CPU's node has less memory than the problem needs: pages go elsewhere, and the result is right."""
    s = Scenario(options, 2, "nodes:2 cpus:1", memory_mib=128)
    s.add("weir")
    s.run("narrow 1 0-1 weir bench jacobi-2d --size 2048x2048 --block 256x256 --iterations 2 --policy deferred --verify --pages-check --json", node_was_full)
    return s


SCENARIOS = {
    "two-nodes": two_nodes,
    "eight-nodes": eight_nodes,
    "eight-nodes-all": eight_nodes_all,
    "eight-nodes-windows": eight_nodes_windows,
    "eight-nodes-bench": eight_nodes_bench,
    "memory-only": memory_only,
    "no-mbind": no_mbind,
    "narrow-cpuset": narrow_cpuset,
    "full-node": full_node,
    "many-nodes": many_nodes,
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("scenario", choices=SCENARIOS)
    p.add_argument("--bin", required=True, metavar="FOLDER", help="where the programs are")
    p.add_argument("--program", action="append", default=[], metavar="NAME", help="functional test program")
    p.add_argument("--windows", action="store_true", help=f"there is {WINDOWS}")
    options = p.parse_args()
    end_on_signals()
    try:
        scenario = SCENARIOS[options.scenario](options)
        weir = os.path.join(options.bin, "weir")
        results = run_guest(weir, scenario.emulate, scenario.files.items(), scenario.commands, TIMEOUT, show=lambda line: print(line, flush=True))
        for r in results:
            print(f"guest: status {r.status}: {r.command}")
        scenario.check(results)
    except Unavailable as e:
        print(f"guest: skipped: {e}")
        return SKIPPED
    except (Failed, GuestError) as e:
        print(f"guest: FAILED: {e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
