"""Which function the lines came to: --profile, from outside."""
import json
import os
import signal
import unittest

from emulated import BIN, emulate, main

PROBE = os.path.join(BIN, "profile_probe")
FIXED = os.path.join(BIN, "profile_probe_fixed")   # static, linked to fixed addresses
LIBRARY = os.path.join(BIN, "libprofile_library.so")
LINES = (256 << 10) // 64
TWO = ["--roi", "--machine", "nodes:2 cpus:1", "--cache-kib", "64", "--profile"]


class Functions(unittest.TestCase):
    def profiled(self, *arguments, status=0):
        """The region, and its functions by the beginning of their names."""
        done = emulate("--json", *TWO, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        region, = json.loads(done.stdout)["regions"]
        names = [f["function"].replace("(anonymous namespace)::", "").split("(")[0] for f in region["functions"]]
        return region, dict(zip(names, region["functions"]))

    def check(self, region, functions, program):
        for name, lines, own in (("read_own", LINES, LINES), ("read_other", 2 * LINES, 0)):
            f = functions[name]
            self.assertEqual(f["file"], program)
            self.assertAlmostEqual(f["read_lines"], lines, delta=0.02 * lines)
            self.assertAlmostEqual(f["own_node_lines"], own, delta=0.02 * LINES)
            self.assertEqual(f["write_lines"], 0)
            self.assertGreater(f["instructions"], 2 * lines)
        self.assertGreater(functions["read_other"]["wait_us"], 2.5 * functions["read_own"]["wait_us"])
        self.assertEqual(sum(f["read_lines"] + f["write_lines"] for f in region["functions"]), region["lines"])
        waits = [f["wait_us"] for f in region["functions"]]
        self.assertEqual(waits, sorted(waits, reverse=True))

    def test_lines_came_to_the_functions_that_read_them(self):
        region, functions = self.profiled("--file", LIBRARY, "--", PROBE, "exit", LIBRARY)
        self.check(region, functions, PROBE)
        self.assertAlmostEqual(functions["read_in_library"]["read_lines"], LINES, delta=0.02 * LINES)
        self.assertEqual(functions["read_in_library"]["file"], LIBRARY)

    def test_a_program_at_fixed_addresses(self):
        self.check(*self.profiled("--", FIXED), FIXED)

    def test_however_the_program_ends(self):
        self.check(*self.profiled("--", PROBE, "thread"), PROBE)
        self.check(*self.profiled("--", PROBE, "signal", status=128 + signal.SIGSEGV), PROBE)

    def test_one_cpu(self):
        busy, _ = self.profiled("--profile-cpu", "0", "--", PROBE)
        idle, functions = self.profiled("--profile-cpu", "1", "--", PROBE)
        self.assertGreater(sum(f["read_lines"] for f in busy["functions"]), 2.9 * LINES)
        self.assertNotIn("read_own", functions)
        self.assertGreater(idle["lines"], 2.9 * LINES)

    def test_the_table_for_people(self):
        done = emulate(*TWO, "--profile-rows", "1", "--", PROBE)
        lines = done.stdout.splitlines()
        head = next(k for k, line in enumerate(lines) if line.split()[:1] == ["function"])
        self.assertEqual([line.split("  ")[1].split(" (")[0] for line in lines[head + 2:]], ["others", "total"])
        self.assertIn("  read_other  ", lines[head + 1])
        self.assertEqual({len(line) for line in lines[head:]}, {len(lines[head])})


if __name__ == "__main__":
    main()
