"""weir bench main from outside: what it prints, and what it refuses. Usage: main_test.py PATH-OF-WEIR"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

WEIR = sys.argv.pop(1)
RUNTIMES = ["weir", "onetbb", "libgomp", "libomp", "taskflow", "libfork"]
ROWS = ["one-task", "loop", "reduce", "empty-loop", "tasks", "read", "loops", "triad", "uneven", "sorted", "pipeline",
        "short-pipeline", "graph", "start-stop", "start-loop-stop", "tree-2", "tree-4", "tree-10", "fib", "integrate",
        "queens"]
RECURSIONS = ROWS[ROWS.index("tree-2"):]
WITH_SERIAL = ["loop", "reduce", "loops", "triad", "uneven", "sorted", "pipeline", "short-pipeline", "graph",
               *RECURSIONS]
KEYS = ["row", "from", "runtime", "workers", "size", "ns", "lowest_ns", "highest_ns", "serial_ns", "overhead_ns",
        "one_by_two", "cpu_ns_a_call", "runs"]
# Where there are more threads than CPUs, waiting actively takes the CPU from whoever is waited for.
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL,
                          env=ENVIRONMENT)


def bench_main(*arguments, weir=WEIR):
    return run(weir, "bench", "main", *arguments)


def program(runtime):
    return os.path.join(os.path.dirname(WEIR), "peers", "main-" + runtime)


def built():
    return [r for r in RUNTIMES if os.access(program(r), os.X_OK)]


def left_out(runtimes):
    return [f"weir: {r} is left out: it was not installed when weir was built" for r in RUNTIMES if r not in runtimes]


class Refusals(unittest.TestCase):
    def refused(self, result, beginning, says):
        self.assertEqual((result.returncode, result.stdout), (2, ""), result)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith(beginning + ": "), lines)
        for part in says:
            self.assertIn(part, lines[0])

    def test_the_command(self):
        for arguments, says in [
                (["--rows", "loups"], ["\"loups\"", *ROWS]), (["--rows", "loop,"], ["--rows"]),
                (["--runtimes", "cilk"], ["\"cilk\"", *RUNTIMES]), (["--row", "loop"], ["--row", "--rows"]),
                (["--workers", "-1"], ["--workers"]), (["--workers", "40000"], ["--workers", "32767"]),
                (["--repeat", "0"], ["--repeat"]), (["--repeat", "1.5"], ["--repeat"]),
                (["--policy", "steal"], ["--policy"]), (["jacobi-2d"], ["jacobi-2d"])]:
            with self.subTest(arguments=arguments):
                self.refused(bench_main(*arguments), "weir", says)
        self.refused(run(WEIR, "bench", "--verify", "main"), "weir", ["main", "--verify"])

    def test_the_programs(self):
        for runtime in built():
            lines = [
                ("", "--row is missing"), ("--row tree-2", "tree-2:main"), ("--row", "needs a value"),
                ("--ro tree-2:main", "--ro"), ("--row tree-2:main --workers 0", "from 1"),
                ("--row tree-2:main --size 0", "from 1"), ("--row tree-10:main --size 10", "at most 9"),
                ("--row fib:main --size 46", "at most 45"), ("--row queens:main --size 17", "at most 16"),
                ("--row tree-2:main --iterations x", "whole number"), ("--row tree-2:main --least-ms 0", "from 1")]
            if runtime != "libfork":  # it has recursions only
                lines.append(("--row one-task:main --size 5", "no --size"))
            for line, says in lines:
                with self.subTest(runtime=runtime, line=line):
                    self.refused(run(program(runtime), *line.split()), program(runtime), [says])

    def test_without_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            weir = shutil.copy(WEIR, os.path.join(folder, "weir"))
            for arguments in [[], ["--runtimes", "weir"]]:
                self.refused(bench_main(*arguments, weir=weir), "weir", [os.path.join(folder, "peers")])


class Runs(unittest.TestCase):
    def test_every_row_of_every_program(self):
        result = bench_main("--quick", "--repeat", "1", "--workers", "3", "--json")
        self.assertEqual((result.returncode, result.stderr.splitlines()), (0, left_out(built())))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual({(line["runtime"], line["row"], line["from"]) for line in lines},
                         {(runtime, *part.split(":")) for runtime in built()
                          for part in run(program(runtime), "--list").stdout.split()})
        for line in lines:
            with self.subTest(line=line):
                self.hold(line)

    def hold(self, line):
        recursion = line["row"] in RECURSIONS
        self.assertEqual(list(line), KEYS)
        self.assertGreater(line["ns"], 0)
        self.assertEqual((line["lowest_ns"], line["highest_ns"], line["runs"]), (line["ns"], line["ns"], 1))
        self.assertIn(line["workers"], [1, 2] if recursion else [3])
        self.assertEqual(line["one_by_two"] is not None, recursion and line["workers"] == 2)
        self.assertEqual(line["cpu_ns_a_call"] is not None, recursion)
        self.assertEqual(line["serial_ns"] is not None, line["row"] in WITH_SERIAL)
        if line["row"] in ("loop", "reduce"):
            self.assertAlmostEqual(line["overhead_ns"], line["ns"] - line["serial_ns"], places=3)
        else:
            self.assertIsNone(line["overhead_ns"])

    def test_all_of_weir_is_measured(self):
        parts = run(program("weir"), "--list").stdout.split()
        self.assertEqual(list(dict.fromkeys(part.split(":")[0] for part in parts)), ROWS)

    def test_table(self):
        result = bench_main("--quick", "--repeat", "2", "--workers", "1", "--runtimes", "weir", "--rows",
                            "tree-2,reduce,one-task")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        number = r" +-?\d[\d.]*"
        for line in [r".*: 1 worker, medians of 2 runs in turn", r" +serial +weir", r"one empty task, and wait for it",
                     rf"  from main\(\) +us +-{number}", r"sum of 1,000 numbers", rf"  in a task +us{number * 2}",
                     rf"    more than serial +us{number}", r"tree, 2 children a task, 1,024 leaves",
                     rf"  one worker +ms{number * 2}", rf"  two workers +ms{number}", rf"  one by two +x{number}",
                     rf"  a call, one worker +ns{number}"]:
            self.assertRegex(result.stdout, rf"(?m)^{line}$")
        self.assertLess(max(map(len, result.stdout.splitlines())), 121)

    def test_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            weir = shutil.copy(WEIR, os.path.join(folder, "weir"))
            os.mkdir(os.path.join(folder, "peers"))
            scripts = {"weir": "echo '{\"ns\": 5, \"serial_ns\": null, \"calls\": null}'", "onetbb": "echo lost >&2; exit 3",
                       "libgomp": "echo nonsense"}
            for runtime, what in scripts.items():
                path = os.path.join(folder, "peers", "main-" + runtime)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\nif [ $1 = --list ]; then echo one-task:main; else {what}; fi\n")
                os.chmod(path, 0o755)
            result = bench_main("--workers", "1", "--json", "--rows", "one-task", weir=weir)
            self.assertEqual(result.returncode, 1)
            said = result.stderr.splitlines()
            self.assertEqual(said[:-1], [*left_out(scripts), "weir: one-task:main under onetbb, 1 worker: lost"])
            self.assertIn("nonsense", said[-1])
            self.assertEqual([json.loads(line)["runtime"] for line in result.stdout.splitlines()], ["weir"])

    def test_list_mentions_it(self):
        self.assertRegex(run(WEIR, "bench", "--list").stdout, r"(?m)^main ")


if __name__ == "__main__":
    unittest.main()
