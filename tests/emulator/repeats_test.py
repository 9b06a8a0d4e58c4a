"""The same work gives the same figures: again and again in one guest, and in ten guests."""
import statistics
import unittest

from emulated import PROBE, main, measured

TIMES = 10
TOLERANCE = 0.02
MACHINE = ["--roi", "--machine", "opteron-64", "--cache-kib", "128"]
WORK = ["--", PROBE, "repeat"]


class Repeats(unittest.TestCase):
    def check(self, runs):
        times, locality = [r["virtual_ms"] for r in runs], [r["locality"] for r in runs]
        print(f"virtual ms: {' '.join(f'{t:.3f}' for t in times)}; locality {min(locality):.4f} to {max(locality):.4f}")
        self.assertEqual(len(runs), TIMES)
        middle = statistics.median(times)
        for t in times:
            self.assertLess(abs(t / middle - 1), TOLERANCE, times)
        self.assertLess(max(locality) - min(locality), TOLERANCE)

    def test_in_one_guest(self):
        # The first finds caches empty and every line new to its writer, which costs it a fifth more; the others go on with
        # what the one before left.
        self.check(measured(*MACHINE, *WORK, TIMES + 1, "512")[0]["regions"][1:])

    def test_in_ten_guests(self):
        self.check([measured(*MACHINE, *WORK, "1", "512")[0]["regions"][0] for _ in range(TIMES)])


if __name__ == "__main__":
    main()
