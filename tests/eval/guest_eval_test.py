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
    def test_two_programs_in_one_guest(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "two.toml").write_text(MACHINE)
            (folder / "small.toml").write_text(PLAN)
            done = subprocess.run([WEIR, "eval", "small.toml", "--json", "--out", "out"], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, check=False)
            if "cannot emulate here" in done.stderr:
                print(f"skipped: {done.stderr.strip()}")
                sys.exit(SKIPPED)
            self.assertEqual(done.returncode, 0, done.stderr)
            _, *lines = map(json.loads, (folder / "out" / "results.jsonl").read_text().splitlines())
            self.assertEqual([line.get("policy") for line in lines], [None] * 8 + ["local", "steal"])
            self.assertGreater(lines[-1]["virtual_ms"], 0)
            chart, = json.loads(done.stdout)["charts"]
            self.assertEqual((chart["groups"], [s["name"] for s in chart["series"]]), (["here", "there"], ["read", "write"]))
            for series, expected in zip(chart["series"], ([100, 200], [150, 250])):
                for value, ns in zip(series["values"], expected):
                    self.assertEqual(value["n"], 2)
                    self.assertAlmostEqual(value["median"] / ns, 1, delta=0.1)


if __name__ == "__main__":
    unittest.main()
