"""weir eval on a small emulated machine: two programs in one guest. Argument: the weir command."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEIR = os.path.abspath(sys.argv.pop(1))
SKIPPED = 77

PLAN = """
title = "a small machine"
source = "a test"
machine = "two.toml"
[machines.two]
emulate = "--cores 1 --cache-kib 32"
[[experiments]]
name = "latency"
commands = ["weir bench latency --buffer-kib 128 --json", "weir bench jacobi-1d --size 4096 --block 512 --iterations 2 --policy local,steal --json"]
[[figures]]
title = "latency"
axis = "time"
unit = "ms"
group = "{distance}"
value = "time_ms"
bars = [{where = {program = "latency"}, series = "{access}", per = "visited_lines"}]
"""
PEERS = """
title = "rows under other runtimes"
source = "a test"
machine = "two.toml"
[machines.two]
[[experiments]]
name = "rows"
regions = {factor = 0, solve = 2}
commands = [
  "weir solve --matrix cube:8 --method none --alone --coarsen C --json",
  "peers/solver-tasks --matrix cube:8 --coarsen none,C --runtime weir,onetbb,openmp,levels --repeat 2 --json",
  "peers/solver-tasks --matrix cube:8 --coarsen C --runtime onetbb --alone --memory interleave --json",
]
[[figures]]
title = "factorisation"
axis = "time"
unit = "ms"
group = "{runtime}"
value = "factor_time_ms"
bars = [{where = {coarsen = "C"}, series = "{coarsen}"}]
"""
MACHINE = """
name = "two"
source = "a test"
[[nodes]]
count = 2
memory = "1 GiB"
cpus = 1
[distances]
classes = ["here", "there"]
slit = [10, 20]
read_ns = [100, 200]
write_ns = [150, 250]
"""


class Small(unittest.TestCase):
    def evaluated(self, plan):
        """The one chart, and the lines of results."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "two.toml").write_text(MACHINE)
            (folder / "small.toml").write_text(plan)
            done = subprocess.run([WEIR, "eval", "small.toml", "--json", "--out", "out"], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, check=False)
            if "cannot emulate here" in done.stderr:
                print(f"skipped: {done.stderr.strip()}")
                sys.exit(SKIPPED)
            self.assertEqual(done.returncode, 0, done.stderr)
            _, *lines = map(json.loads, (folder / "out" / "results.jsonl").read_text().splitlines())
            chart, = json.loads(done.stdout)["charts"]
            return chart, lines

    def test_two_programs_in_one_guest(self):
        chart, lines = self.evaluated(PLAN)
        self.assertEqual([line.get("policy") for line in lines], [None] * 8 + ["local", "steal"])
        self.assertGreater(lines[-1]["virtual_ms"], 0)
        names = [s["name"] for s in chart["series"]]
        self.assertEqual((chart["groups"], names), (["here", "there"], ["read", "write"]))
        for series, expected in zip(chart["series"], ([100, 200], [150, 250])):
            for value, ns in zip(series["values"], expected):
                self.assertEqual(value["n"], 2)
                self.assertAlmostEqual(value["median"] / ns, 1, delta=0.1)

    @unittest.skipUnless(pathlib.Path(WEIR).with_name("peers").joinpath("solver-tasks").exists(),
                         "solver-tasks was not built")
    def test_rows_under_other_runtimes(self):
        chart, lines = self.evaluated(PEERS)
        runtimes = ["weir", "weir", "onetbb", "onetbb", "openmp", "openmp", "levels", "levels"]
        self.assertEqual([line.get("runtime") for line in lines], [None, "sequential", *runtimes, "onetbb"])
        self.assertEqual(chart["groups"], ["weir", "onetbb", "openmp", "levels"])
        self.assertEqual([lines[i]["sequential_factor_seconds"] is None for i in (0, 1, -1)], [True, False, True])
        for line in lines:
            lines_seen = line["factor_lines"] + line["factor_shared_cache_hits"]
            self.assertGreater(min(line["factor_time_ms"], line["solve_time_ms"], lines_seen), 0, line)


if __name__ == "__main__":
    unittest.main()
