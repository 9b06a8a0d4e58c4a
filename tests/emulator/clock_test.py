"""A program in a guest, and the runtime in it, read the emulated machine's clock; elsewhere the system's."""
import os
import statistics
import subprocess
import unittest

from emulated import BIN, emulate, main, measured

PROBE = os.path.join(BIN, "emulator_clock_probe")
TWO = ["--machine", "nodes:2 cpus:2"]
EIGHT = ["--machine", "opteron-64"]
TASK_NS = 20_000
INSTRUCTIONS = 80_000   # of 0.25 ns


def numbers_of(text):
    return [int(word) for word in text.split()]


def printed(*arguments):
    """The numbers that the probe prints in a guest with the model."""
    return numbers_of(measured("--roi", *arguments)[1])


class Clock(unittest.TestCase):
    def test_a_task_takes_as_long_as_its_instructions(self):
        lines = measured("--roi", *TWO, "--", PROBE, "tasks", "9", INSTRUCTIONS)[1].splitlines()
        self.assertEqual(len(lines), 18)
        for where in ("outside", "inside"):
            for clock in (1, 2):
                usual = statistics.median(int(line.split()[clock]) for line in lines if line.startswith(where))
                message = f"{where} of a region, clock {clock}: {lines}"
                self.assertAlmostEqual(usual, TASK_NS, delta=0.02 * TASK_NS, msg=message)

    def test_no_thread_sees_it_go_back(self):
        for machine, threads in ((TWO, 3), (EIGHT, 12)):
            backward, apart = printed(*machine, "--", PROBE, "threads", threads, "100")
            print(f"clocks of two CPUs were {apart / 1000:.1f} us apart at most")
            self.assertEqual(backward, 0)

    def test_a_timed_sleep_lasts_as_long_as_it_says(self):
        for machine in (TWO, EIGHT):
            for beside in ("alone", "beside"):
                slept = printed(*machine, "--", PROBE, "wait", "1000", "5", beside)
                self.assertEqual(len(slept), 5)
                self.assertGreaterEqual(min(slept), 1_000_000)
                self.assertLess(statistics.median(slept), 3_000_000, f"{beside} on {machine}")

    def test_without_a_region_it_runs_too(self):
        emulated, _, of_public, own, _ = printed(*TWO, "--", PROBE, "system")
        self.assertEqual(emulated, 1)
        self.assertLessEqual(of_public, own)
        self.assertLess(own - of_public, 10_000)

    def test_without_the_model_it_is_the_systems(self):
        self.is_the_systems(emulate("--no-model", *TWO, "--", PROBE, "system").stdout)

    def test_without_the_emulator_it_is_the_systems(self):
        self.is_the_systems(subprocess.run([PROBE, "system"], capture_output=True, text=True, check=True).stdout)

    def is_the_systems(self, text):
        emulated, *times = numbers_of(text)
        self.assertEqual(emulated, 0)
        self.assertEqual(times, sorted(times), "system, public, own, system")


if __name__ == "__main__":
    main()
