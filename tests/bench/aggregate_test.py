"""weir bench aggregate from outside: what it prints, and what it refuses. Usage: aggregate_test.py PATH-OF-WEIR"""
import json
import subprocess
import sys
import unittest

WEIR = sys.argv.pop(1)


def aggregate(*arguments, before=()):
    return subprocess.run([WEIR, "bench", *before, "aggregate", *arguments], capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)


class Results(unittest.TestCase):
    def test_json(self):
        result = aggregate("--matrix", "cube:12,nested:9", "--coarsen", "S,F(4),CD(4),auto", "--repeat", "2", "--workers", "2", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([(r["matrix"], r["coarsen"]) for r in rows], [(m, c) for m in ["cube:12", "nested:9"] for c in ["none", "S", "F(4)", "CD(4)", "auto"]])
        for r in rows:
            side = int(r["matrix"].split(":")[1])
            self.assertEqual((r["tasks"], r["edges"], r["workers"]), (side ** 3, 3 * side * side * (side - 1), 2))
            self.assertGreater(r["solve_seconds"], 0)
            if r["coarsen"] != "none":
                self.assertGreater(r["aggregates"], 0)
                self.assertGreater(r["aggregate_seconds"], 0)
        cube = {r["coarsen"]: r for r in rows if r["matrix"] == "cube:12"}
        self.assertEqual((cube["CD(4)"]["aggregates"], cube["CD(4)"]["algorithms"]), (36, "CD(4)"))
        self.assertEqual(cube["S"]["aggregates"], 12 ** 3)
        self.assertNotEqual(cube["auto"]["algorithms"], "auto")

    def test_table(self):
        result = aggregate("--matrix", "cube:6", "--coarsen", "CD(4)", "--repeat", "1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for part in ["cube:6: 216 tasks, 540 edges", "(sequential)", "(none)", "CD(4)", "peak B/task"]:
            self.assertIn(part, result.stdout)

    def test_every_policy(self):
        for policy in ["node-queues", "fifo", "local"]:
            result = aggregate("--matrix", "cube:8", "--coarsen", "F(3)", "--repeat", "2", "--policy", policy, "--machine", "nodes:2 cpus:2", "--workers", "4")
            self.assertEqual((result.returncode, result.stderr), (0, ""))


class Refusals(unittest.TestCase):
    def refused(self, *arguments, says, before=()):
        result = aggregate(*arguments, before=before)
        self.assertEqual((result.returncode, result.stdout), (2, ""), (arguments, result))
        self.assertTrue(result.stderr.startswith("weir: "), result.stderr)
        for part in says:
            self.assertIn(part, result.stderr)
        return result.stderr.splitlines()

    def test_coarse_strings_are_pointed_at(self):
        lines = self.refused("--matrix", "cube:4", "--coarsen", "SX(3)", says=["there is no algorithm 'X'"])
        self.assertEqual(lines[1:], ["  SX(3)", "   ^"])
        self.refused("--matrix", "cube:4", "--coarsen", "D(1)", says=["must be 2 to"])
        self.refused("--matrix", "cube:4", "--coarsen", "S,,S", says=["--coarsen"])

    def test_options(self):
        for matrix in ["cube", "cube:", "cube:0", "cube:401", "cube:x", "cube:4x", "ball:4", "", "cube:-1"]:
            lines = self.refused("--matrix", matrix, says=["--matrix"])
            self.assertEqual(len(lines), 1, lines)
        self.refused("--repeat", "0", says=["--repeat"])
        self.refused("--workers", "-1", says=["--workers"])
        self.refused("--policy", "nobody", "--matrix", "cube:4", says=["\"nobody\"", "node-queues"])
        self.refused(before=["--policy", "steal"], says=["--policy"])


if __name__ == "__main__":
    unittest.main()
