"""Tables of documents from results. Arguments: the weir command, and tables.py."""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEIR, TABLES = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]

HEADER = {"eval": "trial", "version": 1, "weir": "0", "machine": "opteron-64", "quick": False, "title": "a trial", "source": "a test", "scaling": "", "figures": [
    {"title": "Figure 1: time", "axis": "time", "unit": "ms", "group": "{kernel}", "value": "time_ms", "bars": [{"where": {}, "series": "{policy}"}]},
    {"title": "Figure 12: share", "axis": "share", "unit": "share", "group": "{kernel}", "value": "near", "bars": [{"where": {}, "series": "{policy}"}]},
    {"title": "Figure 2: speed-up", "axis": "speed-up", "unit": "ratio", "group": "{kernel}", "value": "time_ms", "bars": [{"where": {}, "series": "{policy}", "baseline": {"policy": "steal"}}]}]}
LINES = [{"experiment": "e", "kernel": k, "policy": p, "time_ms": t, "near": n} for k, p, t, n in [
    ("a", "steal", 8, 0.25), ("a", "steal", 8, 0.25), ("a", "steal", 10, 0.5), ("a", "local", 4, 0.9), ("b", "steal", 0.5, 0.125)]]
PLACES = "# Figures\n\n<!-- table trial: Figure 1: -->\n<!-- end of table -->\nbetween\n<!-- table trial: Figure 12 -->\nold\n<!-- end of table -->\n<!-- table trial: Figure 2 -->\n<!-- end of table -->\nbehind\n"
TIMES = """<!-- table trial: Figure 1: -->

| | steal | local |
| --- | ---: | ---: |
| a | 8.00 ± 1.15 ms | 4.00 ms |
| b | 500.0 us | |

Medians of 3 runs ± their standard deviation.

<!-- end of table -->
"""


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "results").mkdir()
        self.results = self.folder / "results" / "trial.jsonl.xz"
        self.keep(LINES)
        self.document = self.folder / "document.md"
        self.document.write_text(PLACES, encoding="utf-8")

    def keep(self, lines):
        self.results.write_bytes(lzma.compress("".join(json.dumps(line) + "\n" for line in [HEADER, *lines]).encode()))

    def run_tables(self, *options):
        return subprocess.run([sys.executable, "-B", TABLES, WEIR, *options, str(self.document)], capture_output=True, text=True, timeout=60)

    def refused(self, *says):
        before = self.document.read_bytes()
        done = self.run_tables()
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done.stderr)
        for part in says:
            self.assertIn(part, done.stderr)
        self.assertEqual(self.document.read_bytes(), before)

    def test_are_made_and_stay(self):
        self.assertEqual(self.run_tables().returncode, 0)
        text = self.document.read_text(encoding="utf-8")
        self.assertIn(TIMES, text)
        self.assertIn("| a | 25 ± 14 % | 90 % |\n| b | 12 % | |\n\nMedians of 3 runs ± their standard deviation, in points.", text)
        self.assertIn("| a | 1.00 ± 0.12 | 2.00 |\n| b | 1.00 | |\n", text)
        self.assertNotIn("old", text)
        self.assertTrue(text.startswith("# Figures\n") and "\nbetween\n" in text and text.endswith("\nbehind\n"))
        self.assertEqual(self.run_tables("--check").returncode, 0)
        self.assertEqual(self.run_tables().returncode, 0)
        self.assertEqual(self.document.read_text(encoding="utf-8"), text)

    def test_means(self):
        self.document.write_text(PLACES.replace("Figure 2 -->", "Figure 2; with means -->"), encoding="utf-8")
        self.keep([*LINES, {**LINES[4], "time_ms": 2}])
        self.assertEqual(self.run_tables().returncode, 0)
        text = self.document.read_text(encoding="utf-8")
        self.assertIn("| a | 1.00 ± 0.12 | 2.00 |\n| b | 1.56 ± 1.33 | |\n| mean | 1.28 | |\n", text)
        self.assertEqual((self.run_tables("--check").returncode, text.count("| mean ")), (0, 1))

    def test_that_differ_are_found(self):
        self.assertEqual(self.run_tables().returncode, 0)
        text = self.document.read_text(encoding="utf-8")
        line = text[:text.index("| a | 8.00 ±")].count("\n") + 1
        for changed in [lambda: self.document.write_text(text.replace("8.00 ±", "7.00 ±"), encoding="utf-8"), lambda: self.keep([{**LINES[0], "time_ms": 10}, *LINES[1:]])]:
            with self.subTest():
                changed()
                before = self.document.read_bytes()
                done = self.run_tables("--check")
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"document.md:{line}: not what its results make", done.stderr)
                self.assertEqual(self.document.read_bytes(), before)
                self.document.write_text(text, encoding="utf-8")

    def test_deviations_too_small_to_show(self):
        self.keep([{**LINES[0], "time_ms": t, "near": n} for t, n in [(8, 0.25), (8.001, 0.251), (8, 0.25)]])
        self.assertEqual(self.run_tables().returncode, 0)
        text = self.document.read_text(encoding="utf-8")
        self.assertIn("| a | 8.00 ± 0 ms |", text)
        self.assertIn("| a | 25 ± 0 % |", text)

    def test_refusals(self):
        self.document.write_text(PLACES.replace("Figure 12", "Figure 3"), encoding="utf-8")
        self.refused("0 figures of trial", "\"Figure 3\"", "Figure 12: share")
        self.document.write_text(PLACES.replace("Figure 12", "Figure"), encoding="utf-8")
        self.refused("3 figures of trial")
        self.document.write_text("nothing\n", encoding="utf-8")
        self.refused("0 tables", "expected one or more")
        for broken in [PLACES.replace("<!-- end of table -->\nbetween", "between"), PLACES.replace("trial: Figure 2", "trial Figure 2")]:
            self.document.write_text(broken, encoding="utf-8")
            self.refused("2 tables", "as many of each")
        self.document.write_text(PLACES, encoding="utf-8")
        self.results.write_bytes(self.results.read_bytes()[:40])
        self.refused("trial.jsonl.xz", "cannot be read")
        self.results.write_bytes(lzma.compress(b"{\n"))
        self.refused("trial.jsonl.xz", "line 1")
        self.results.unlink()
        self.refused("trial.jsonl.xz", "No such file")


if __name__ == "__main__":
    unittest.main()
