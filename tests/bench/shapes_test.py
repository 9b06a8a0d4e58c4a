"""The programs of bench/shapes from outside: every shape's result is verified under every policy and runtime, with
1, 2 and 4 workers. Usage: shapes_test.py PATH-OF-WEIR"""
import json
import os
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(sys.argv.pop(1)), "peers")
POLICIES = ["fifo", "steal", "push-inputs", "push-outputs", "push-weighted", "deferred", "local", "interleave",
            "node-queues"]
RUNTIMES = ["weir", "libgomp", "libomp"]
KEYS = ["shape", "runtime", "policy", "workers", "task_us", "data", "size", "bytes", "run", "tasks", "seconds",
        "verified"]
# Where there are more threads than CPUs, waiting actively takes the CPU from whoever is waited for.
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}


def program(runtime):
    return os.path.join(FOLDER, "shapes-" + runtime)


def built():
    return [r for r in RUNTIMES if os.access(program(r), os.X_OK)]


def run(runtime, *arguments):
    return subprocess.run([program(runtime), *arguments], capture_output=True, text=True, timeout=250,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT)


def shapes(runtime):
    return [line.split()[0] for line in run(runtime, "--list").stdout.splitlines()]


class Shapes(unittest.TestCase):
    def verified(self, runtime, *arguments):
        """The lines of all shapes, small and short."""
        done = run(runtime, "--shape", "all", "--task-us", "0", "--bytes", "128", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(all(line["verified"] for line in lines), lines)
        return lines

    def test_policies(self):
        for i, policy in enumerate(POLICIES):
            for workers in (1, 2, 4):
                with self.subTest(policy=policy, workers=workers):
                    data = ("node0", "near")[(i + workers // 2) % 2]
                    lines = self.verified("weir", "--policy", policy, "--workers", str(workers), "--runs", "2",
                                          "--data", data)
                    self.assertEqual([line["shape"] for line in lines[::2]], shapes("weir"))
                    self.assertEqual({line["policy"] for line in lines}, {policy})
                    self.assertEqual({line["data"] for line in lines}, {data, "none"})

    def test_other_runtimes(self):
        for runtime in built()[1:]:
            for workers, data in ((1, "near"), (2, "node0"), (4, "near")):
                with self.subTest(runtime=runtime, workers=workers):
                    lines = self.verified(runtime, "--workers", str(workers), "--runs", "1", "--data", data)
                    self.assertEqual([line["shape"] for line in lines], shapes("weir"))
                    self.assertEqual({line["runtime"] for line in lines}, {runtime})

    def test_what_a_line_says(self):
        done = run("weir", "--shape", "chains,fib", "--task-us", "1", "--runs", "3", "--workers", "2")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([list(line) for line in lines], [KEYS] * 6)
        self.assertEqual([line["run"] for line in lines], [0, 1, 2] * 2)
        self.assertEqual((lines[0]["tasks"], lines[0]["size"], lines[0]["bytes"], lines[0]["workers"]),
                         (1280, 64, 4096, 2))

    def test_sizes(self):
        for shape in shapes("weir"):
            for size in ("1", "3"):
                with self.subTest(shape=shape, size=size):
                    done = run("weir", "--shape", shape, "--size", size, "--task-us", "0", "--runs", "1",
                               "--workers", "2")
                    self.assertEqual(done.returncode, 0, done)


class Refusals(unittest.TestCase):
    def test_what_makes_no_sense(self):
        for arguments, says in [
            ([], "--shape is missing"), (["--shape", "none"], "none"), (["--shape"], "needs a value"),
            (["--shape", "fib", "--workers", "0"], "from 1"), (["--shape", "fib", "--data", "far"], "node0 or near"),
            (["--shape", "fib", "--bytes", "100"], "multiple of 64"), (["--shape", "fib", "--none"], "--none"),
            (["--shape", "all", "--size", "3"], "single shape"),
        ]:
            for runtime in built():
                with self.subTest(runtime=runtime, arguments=arguments):
                    done = run(runtime, *arguments)
                    self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done)
                    self.assertIn(says, done.stderr)

    def test_policies(self):
        self.assertEqual(run("weir", "--shape", "fib", "--policy", "none").returncode, 2)
        for runtime in built()[1:]:
            self.assertEqual(run(runtime, "--shape", "fib", "--policy", "local").returncode, 2)


if __name__ == "__main__":
    unittest.main()
