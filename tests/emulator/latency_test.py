"""The latencies a program measures inside are those of the paper's tables. Usage: latency_test.py BIN MACHINE"""
import pathlib
import sys
import tomllib
import unittest

from emulated import PROBE, main, measured

SOURCES = pathlib.Path(__file__).resolve().parents[2]
MACHINE = sys.argv.pop(1)
# Milliseconds for 2^24 lines, by distance: "Scalable Task Parallelism for NUMA" (PACT 2016), Tables 1 and 2.
TABLES = {"opteron-64": {"read": [1288.5, 2328.4, 2781.4, 5601.6], "write": [2256.9, 2717.6, 3934.6, 5601.3]},
          "sgi-192": {"read": [934.82, 4563.1, 5820.48, 6991.24], "write": [1307.4, 5282.38, 6473.38, 7673.14]}}
TOLERANCE = 0.03


class Latency(unittest.TestCase):
    def test_every_pair_of_nodes(self):
        matrix = tomllib.loads((SOURCES / "machines" / f"{MACHINE}.toml").read_text())["distances"]["matrix"]
        data, printed = measured("--roi", "--machine", MACHINE, "--cache-kib", "64", "--", PROBE, "latency", "1024")
        pairs = [tuple(map(int, line.split())) for line in printed.splitlines()]
        self.assertEqual(len(pairs), len(matrix) ** 2)
        worst = 0
        for kind, number in (("read", 0), ("write", 1)):
            runs = [r for r in data["regions"] if r["number"] == number]
            self.assertEqual(len(runs), len(pairs))
            for (from_node, to_node, lines), run in zip(pairs, runs):
                expected = TABLES[MACHINE][kind][matrix[from_node][to_node]] / 2**24
                error = run["virtual_ms"] / lines / expected - 1
                worst = max(worst, abs(error))
                self.assertLess(abs(error), TOLERANCE, f"{kind} from node {from_node} to {to_node}: {run['virtual_ms'] / lines * 1e6:.1f} ns, expected {expected * 1e6:.1f}")
        print(f"{MACHINE}: {len(pairs)} pairs of nodes, read and written; largest difference {worst:.2%}")


if __name__ == "__main__":
    main()
