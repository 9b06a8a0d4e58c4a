"""weir solve from outside: what it prints, and what it refuses. Usage: command_test.py PATH-OF-WEIR FOLDER-OF-REAL-MATRICES"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MATRICES = pathlib.Path(sys.argv.pop(2))
WEIR = sys.argv.pop(1)

HEADER = "%%MatrixMarket matrix coordinate real general\n"
GOOD = HEADER + "3 3 5\n1 1 4\n2 2 5\n3 3 6\n1 3 1\n3 1 2\n"
KEYS = ["rows", "nonzeros", "tasks", "edges", "aggregated_tasks", "aggregate_seconds", "factor_seconds", "sequential_factor_seconds",
        "solve_seconds", "sequential_solve_seconds", "solve_bytes", "read_bytes_seconds", "sequential_read_bytes_seconds", "iterations", "residual"]


def weir(*arguments):
    return subprocess.run([WEIR, "solve", *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def vector(path):
    header, size, *values = pathlib.Path(path).read_text().split("\n")
    assert header == "%%MatrixMarket matrix array real general" and size.split()[1] == "1"
    return [float(v) for v in values if v]


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def file(self, text, name="a.mtx"):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)


class Refusals(InFolder):
    def refused(self, *arguments, says, lines_said=1):
        result = weir(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result))
        self.assertEqual(result.stdout, "", arguments)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), lines_said, (arguments, result.stderr))
        self.assertTrue(lines[0].startswith("weir: "), lines)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, lines[0])

    def test_no_matrix_or_two(self):
        self.refused(says="--matrix")
        self.refused(self.file(GOOD), "--matrix", "cube:3", says="one matrix")
        self.refused(self.path("none.mtx"), says="none.mtx")
        self.refused(self.folder.name, says="cannot be")

    def test_generators(self):
        for bad in ["cube", "cube:", "cube:0", "cube:-1", "cube:x", "cube:3x3", "spe10-like:3x3", "sphere:9", "spe10:" + self.path("none")]:
            self.refused("--matrix", bad, says="")

    def test_options(self):
        for option, bad in [("--order", "random"), ("--method", "jacobi"), ("--ilu", "-1"), ("--ilu", "many"), ("--tol", "0"), ("--tol", "1"), ("--tol", "nan"), ("--restart", "0"),
                            ("--iterations", "-1"), ("--shift", "-1"), ("--shift", "inf"), ("--policy", "locale"), ("--workers", "-1"), ("--repeat", "0"), ("--frobnicate", "1"), ("--rhs", self.path("none.mtx")), ("--memory", "everywhere")]:
            self.refused("--matrix", "cube:3", option + "=" + bad, says="")
        for coarsen in ["CD(4", "X(3)", "D(0)", "D"]:
            self.refused("--matrix", "cube:3", "--coarsen=" + coarsen, says="coarse string", lines_said=3)  # the string, and a caret

    def test_single_rows_are_not_distributed(self):
        self.refused("--matrix", "cube:3", "--memory", "distribute", "--coarsen", "none", says=["--memory distribute", "coarse string"])

    def test_no_method_no_solution(self):
        for option in ["-o", "--report"]:
            self.refused("--matrix", "cube:3", "--method", "none", option, self.path("x"), says="--method none")

    def test_files(self):
        for text, says in [
                ("", ":1:"), ("junk\n", "header"), (HEADER, "missing"),
                ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "pattern"),
                ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "complex"),
                (HEADER + "2 3 2\n1 1 1\n2 2 1\n", ["a.mtx:2:", "square"]),
                (HEADER + "2 2 4\n1 1 1.00000\n2 2 1.00000\n1 2 1.00000\n", ["a.mtx:5:", "too few"]),
                (HEADER + "2 2 2\n1 1 1\n2 3 1\n", ["a.mtx:4:", "expected 1 to 2"]),
                (HEADER + "2 2 3\n1 1 1\n2 2 1\n2 2 1\n", ["a.mtx:5:", "twice"]),
                (HEADER + "2 2 2\n1 1 nan\n2 2 1\n", ["a.mtx:3:", "finite"]),
                (HEADER + "2 2 2\n1 1 1\n2 1 1\n", "structurally singular"),
                (HEADER + "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n", ["row 2", "--shift"])]:
            self.refused(self.file(text), says=says)

    def test_right_sides(self):
        matrix = self.file(GOOD)
        for text, says in [("%%MatrixMarket matrix array real general\n2 1\n1\n2\n", "expected 3"), (GOOD, "vector"), ("%%MatrixMarket matrix array real general\n3 1\n1.0\n2.0\n", "too few")]:
            self.refused(matrix, "--rhs", self.file(text, "b.mtx"), says=["b.mtx", says])

    def test_the_row_of_a_zero_pivot_is_the_matrix_own(self):
        # Row 2 is beside row 3 alone, and they cannot be eliminated in any order without an exchange.
        text = HEADER + "4 4 6\n1 1 3\n1 4 1\n4 1 1\n2 3 1\n3 2 1\n4 4 5\n"
        for order in ["natural", "rcm", "nd"]:
            result = weir(self.file(text), "--order", order)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, r"^weir: .*a.mtx: the pivot of row [23] is zero to rounding: .*\n$")

    def test_output_that_cannot_be_written_is_found_first_and_leaves_nothing(self):
        before = sorted(os.listdir(self.folder.name))
        for option in ["-o", "--report"]:
            self.refused("--matrix", "cube:4", option, self.path("no/such/file"), says="such/file")
        self.refused("--matrix", "sphere:4", "-o", self.path("x.mtx"), "--report", self.path("r.html"), says="sphere")
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_not_converged(self):
        result = weir("--matrix", "cube:12", "--iterations", "2")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not converged", result.stdout)
        self.assertRegex(result.stderr, r"^weir: cube:12: gmres did not converge to 1e-08: .*\n$")


class Runs(InFolder):
    def solved(self, *arguments):
        result = weir(*arguments, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return json.loads(result.stdout)

    def test_json(self):
        j = self.solved("--matrix", "cube:10", "--ilu", "1", "--workers", "2", "--coarsen", "CD(4)")
        self.assertEqual([key for key in KEYS if key not in j], [])
        self.assertEqual((j["rows"], j["nonzeros"], j["tasks"], j["workers"]), (1000, 6400, 1000, 2))
        self.assertEqual(j["edges"], (j["factor_nonzeros"] - 1000) // 2)
        self.assertLess(j["aggregated_tasks"], 200)
        # An entry is a number and its column, a row begins in either triangle and has a pivot; four times a vector is passed.
        self.assertEqual(j["solve_bytes"], 2 * j["edges"] * 12 + 1000 * 8 + 2 * 1001 * 4 + 4 * 1000 * 8)
        self.assertLessEqual(j["residual"], 1e-8)
        self.assertEqual(len(j["history"]), j["iterations"] + 1)
        for key in j:
            if key.endswith("_seconds"):
                self.assertGreater(j[key], 0, key)
        self.assertEqual(self.solved("--matrix", "cube:10", "--coarsen", "none")["aggregated_tasks"], 1000)

    def test_every_method_order_and_aggregation(self):
        iterations = {}
        for method in ["gmres", "cg", "bicgstab"]:
            for order in ["natural", "rcm", "nd"]:
                for coarsen in ["none", "CD(4)", "D(40)", "F(4)"]:
                    j = self.solved("--matrix", "cube:8", "--method", method, "--order", order, "--coarsen", coarsen, "--workers", 3)
                    iterations.setdefault((method, order), set()).add(j["iterations"])
        # Aggregation changes when rows are computed, not what comes out.
        self.assertEqual([key for key, found in iterations.items() if len(found) != 1], [])

    def test_auto_says_what_it_chose(self):
        for chosen in [[], ["--coarsen", "auto"]]:
            j = self.solved("--matrix", "cube:12", *chosen, "--workers", 2)
            self.assertRegex(j["coarsen"], r"^auto: .")
        self.assertGreaterEqual(j["aggregated_tasks"], 1)
        self.assertEqual(j["iterations"], self.solved("--matrix", "cube:12", "--coarsen", "none", "--workers", 2)["iterations"])

    def test_blocks(self):
        j = self.solved("--matrix", "spe10-like:6x7x8,seed=3", "--ilu", "1", "--order", "nd", "--iterations", "3000", "--restart", "100")
        self.assertEqual((j["rows"], j["block"], j["tasks"]), (981, 3, 327))  # 336 cells, of which 9 have no pores

    def test_policies(self):
        for policy in ["fifo", "steal", "local"]:
            self.assertEqual(self.solved("--matrix", "cube:6", "--policy", policy)["policy"], policy)

    def test_memory(self):
        for memory in ["first-touch", "distribute"]:
            j = self.solved("--matrix", "cube:10", "--policy", "node-queues", "--memory", memory)
            self.assertEqual(j["memory"], memory)
            self.assertEqual(j["iterations"], self.solved("--matrix", "cube:10")["iterations"])
            self.assertEqual(sum(j["pages"].values()) > 0, memory == "distribute")
        interleaved = weir("--matrix", "cube:10", "--memory", "interleave", "--json")
        if interleaved.returncode == 2 and "refuses" in interleaved.stderr:
            self.skipTest("the system refuses to interleave memory")
        self.assertEqual(json.loads(interleaved.stdout)["memory"], "interleave")

    def test_no_method(self):
        j = self.solved("--matrix", "cube:10", "--method", "none")
        self.assertEqual((j["method"], j["iterations"]), ("none", 0))
        self.assertGreater(j["solve_seconds"], 0)
        self.assertNotIn("residual", weir("--matrix", "cube:10", "--method", "none").stdout)

    def test_tasks_alone(self):
        j = self.solved("--matrix", "cube:10", "--method", "none", "--alone")
        self.assertGreater(min(j["factor_seconds"], j["solve_seconds"]), 0)
        for what in ["factor", "solve", "read_bytes"]:
            self.assertIsNone(j[f"sequential_{what}_seconds"], what)
        self.assertIsNone(j["read_bytes_seconds"])
        report = self.path("r.html")
        table = weir("--matrix", "cube:10", "--alone", "--report", report).stdout
        self.assertRegex(table, r"(?m)^triangular solves +[\d.]+ \w+ *$")
        for text in [table, pathlib.Path(report).read_text()]:
            self.assertNotRegex(text, r"reading|which is|[\d.]x\b")

    def test_solution_of_a_file(self):
        out = self.path("x.mtx")
        rhs = self.file("%%MatrixMarket matrix array real general\n3 1\n7\n10\n20\n", "b.mtx")
        for order in ["natural", "rcm", "nd"]:
            self.solved(self.file(GOOD), "--rhs", rhs, "-o", out, "--tol", "1e-12", "--order", order)
            for found, expected in zip(vector(out), [1, 2, 3], strict=True):
                self.assertAlmostEqual(found, expected)
        self.solved(self.file(GOOD), "-o", out, "--tol", "1e-12")
        for found, expected in zip(vector(out), [1, 2, 3], strict=True):
            self.assertAlmostEqual(found, expected)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.mtx", "b.mtx", "x.mtx"])

    def test_shift(self):
        # Regular, but its first pivot is zero.
        matrix = self.file(HEADER + "2 2 3\n1 2 1\n2 1 1\n2 2 1\n")
        self.assertEqual(self.solved(matrix, "--shift", "0.5")["shifted_pivots"], 1)

    def test_table(self):
        result = weir("--matrix", "cube:10", "--ilu", "1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^matrix +cube:10: 1,000 rows, 6,400 nonzeros +[\d.]+ (us|ms|s)$")
        self.assertRegex(result.stdout, r"(?m)^gmres +\d+ iterations, residual [\d.]+e-\d+ ")
        self.assertRegex(result.stdout, r"(?m)^triangular solves +[\d.]+ \w+ +[\d.]+ \w+ +[\d.]+x$")
        self.assertRegex(result.stdout, r"(?m)^reading their bytes ")
        self.assertRegex(result.stdout, r"(?m)^which is +[\d.]+ GB/s +[\d.]+ GB/s$")

    def test_report(self):
        report = self.path("<r>.html")
        self.solved("--matrix", "cube:10", "--report", report)
        page = pathlib.Path(report).read_text()
        self.assertIn("cube:10: 1,000 rows", page)
        points = re.search(r"<polyline class='residual' points='([^']*)'", page)[1].split()
        self.assertGreater(len(points), 5)
        heights = [float(p.split(",")[1]) for p in points]
        self.assertEqual(heights, sorted(heights))  # residuals of GMRES fall, and downwards is more
        self.assertNotIn("nan", page)
        # Also where nothing was iterated.
        weir("--matrix", "cube:3", "--iterations", "0", "--report", report)
        self.assertIn("</html>", pathlib.Path(report).read_text())


class RealMatrices(InFolder):
    def test_gmres_with_ilu_1_solves_them(self):
        files = sorted(MATRICES.glob("*.mtx"))
        if not files:
            self.skipTest("no matrices there: ./dev setup fetches them")
        for file in files:
            for order in ["natural", "nd"]:
                result = weir(file, "--ilu", "1", "--order", order, "--json", "--repeat", "1")
                self.assertEqual(result.returncode, 0, (file, order, result))
                self.assertLessEqual(json.loads(result.stdout)["residual"], 1e-8, file)


if __name__ == "__main__":
    unittest.main()
