"""weir bench overhead from outside: what it prints, and what it refuses. Usage: overhead_test.py PATH-OF-WEIR"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

WEIR = sys.argv.pop(1)
RUNTIMES = ["weir", "libgomp", "libomp", "onetbb", "starpu", "taskflow"]


def overhead(*arguments, weir=WEIR):
    return subprocess.run([weir, "bench", "overhead", *arguments], capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)


def built():
    folder = os.path.join(os.path.dirname(WEIR), "peers")
    return [r for r in RUNTIMES if os.access(os.path.join(folder, "overhead-" + r), os.X_OK)]


class Refusals(unittest.TestCase):
    def refused(self, *arguments, says, before=()):
        result = subprocess.run([WEIR, "bench", *before, "overhead", *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual((result.returncode, result.stdout), (2, ""), (arguments, result))
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, result.stderr))
        self.assertTrue(lines[0].startswith("weir: "), lines)
        for part in says:
            self.assertIn(part, lines[0])

    def test_names(self):
        self.refused("--patterns", "stencils", says=["\"stencils\"", "stencil", "fib", "dependences-4"])
        self.refused("--patterns", "stencil,", says=["--patterns"])
        self.refused("--metg", "--patterns", "independent", says=["\"independent\"", "stencil_1d", "random_nearest"])
        self.refused("--runtimes", "cilk", says=["\"cilk\"", *RUNTIMES])
        self.refused("--frobnicate", says=["--frobnicate"])
        self.refused("jacobi-2d", says=["jacobi-2d"])

    def test_numbers(self):
        for workers in ["0", "-1", "x", "1,", "1,0", "99999999999", ""]:
            self.refused("--workers", workers, says=["--workers"])
        for option in ["--tasks", "--repeat"]:
            for value in ["0", "-1", "many", "1.5", "99999999999999999999"]:
                self.refused(option, value, says=[option])
        self.refused("--metg", "--tasks", "100", says=["--metg", "--tasks"])

    def test_options_of_the_kernels(self):
        self.refused(before=["jacobi-2d"], says=["overhead"])
        self.refused(before=["--policy", "steal"], says=["--policy"])
        self.refused("--policy", "steal", says=["--policy"])

    def test_a_runtime_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            weir = shutil.copy(WEIR, os.path.join(folder, "weir"))
            for arguments in [[], ["--runtimes", "weir"]]:
                result = overhead(*arguments, weir=weir)
                self.assertEqual(result.returncode, 2)
                self.assertIn(os.path.join(folder, "peers"), result.stderr)


class Runs(unittest.TestCase):
    def test_json(self):
        result = overhead("--quick", "--tasks", "500", "--repeat", "2", "--workers", "2,1", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual({line["runtime"] for line in lines}, set(built()))
        of_weir = {line["pattern"] for line in lines if line["runtime"] == "weir"}
        self.assertGreaterEqual(of_weir, {"independent", "chains", "stencil", "fib"})
        for line in lines:
            self.assertEqual(set(line), {"pattern", "runtime", "workers", "tasks", "ns_per_task", "lowest_ns", "highest_ns", "ratio_to_weir", "runs"})
            self.assertGreater(line["ns_per_task"], 0)
            self.assertEqual(line["runs"], 2)
            self.assertLessEqual(line["tasks"], 500)
            if line["pattern"] in of_weir:
                weir = next(w for w in lines if w["runtime"] == "weir" and (w["pattern"], w["workers"]) == (line["pattern"], line["workers"]))
                self.assertAlmostEqual(line["ratio_to_weir"], line["ns_per_task"] / weir["ns_per_task"], places=6)
            else:
                self.assertIsNone(line["ratio_to_weir"])
        for runtime in built():
            self.assertEqual({line["workers"] for line in lines if line["runtime"] == runtime}, {1, 2})

    def test_table(self):
        result = overhead("--patterns", "dependences-2,granularity-1us", "--runtimes", "weir", "--tasks", "300", "--repeat", "1", "--workers", "1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^1 worker +weir$")
        self.assertRegex(result.stdout, r"(?m)^dependences-2 +\d+$")
        self.assertRegex(result.stdout, r"(?m)^granularity-1us +\d{4,}$")

    def test_own_memory(self):
        rows = ["ref-chains", "ref-many", "ref-creators-4", "ref-stencil", "ref-blocks", "ref-tiles", "ref-halo",
                "ref-fresh"]
        result = overhead("--patterns", ",".join(rows), "--tasks", "300", "--repeat", "1", "--workers", "2", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        of = {runtime: [line["pattern"] for line in lines if line["runtime"] == runtime] for runtime in RUNTIMES}
        self.assertEqual(of["weir"], rows)
        for runtime in ["libgomp", "libomp", "taskflow"]:
            if runtime in built():
                self.assertEqual(of[runtime], [row for row in rows if "creators" not in row])
        for runtime in ["onetbb", "starpu"]:
            self.assertEqual(of[runtime], [])

    def test_metg(self):
        result = overhead("--metg", "--quick", "--patterns", "trivial,tree", "--runtimes", "weir", "--workers", "1", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["pattern"] for line in lines], ["trivial", "tree"])
        for line in lines:
            self.assertTrue(line["metg_ns"] is None or line["metg_ns"] > 0, line)
            self.assertNotIn("tasks", line)

    def test_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            weir = shutil.copy(WEIR, os.path.join(folder, "weir"))
            os.mkdir(os.path.join(folder, "peers"))
            scripts = {"weir": "echo '{\"tasks\": 500, \"ns_per_task\": 1e9}'", "libgomp": "echo lost >&2; exit 3", "libomp": "echo nonsense"}
            for runtime, what in scripts.items():
                path = os.path.join(folder, "peers", "overhead-" + runtime)
                with open(path, "w") as f:
                    f.write(f"#!/bin/sh\nif [ $1 = --list ]; then echo stencil; else {what}; fi\n")
                os.chmod(path, 0o755)
            result = overhead("--patterns", "stencil", "--workers", "1", "--json", weir=weir)
            self.assertEqual(result.returncode, 1)
            said = result.stderr.splitlines()
            self.assertEqual(len(said), 2, said)
            self.assertEqual(said[0], "weir: stencil under libgomp, 1 worker: lost")
            self.assertIn("nonsense", said[1])
            self.assertEqual([json.loads(line)["runtime"] for line in result.stdout.splitlines()], ["weir"])

    def test_list_mentions_it(self):
        result = subprocess.run([WEIR, "bench", "--list"], capture_output=True, text=True, timeout=60)
        self.assertRegex(result.stdout, r"(?m)^overhead ")


if __name__ == "__main__":
    unittest.main()
