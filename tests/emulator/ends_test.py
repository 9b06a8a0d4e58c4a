"""However a program or this command ends: one line says so, QEMU is gone, and nothing is left behind."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from emulated import PATIENCE, PROBE, WEIR, emulate, main

ONE = ["--no-model", "--machine", "nodes:1 cpus:1"]


def children(pid):
    return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid):
    """A dead process that nobody has waited for is not alive."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition, seconds=60):
    """The condition's value as soon as it is true, or its last one."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return value


class Programs(unittest.TestCase):
    def ends(self, *arguments, status, says):
        done = emulate(*arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        for words in says:
            self.assertIn(words, lines[0])

    def test_a_crash(self):
        self.ends(*ONE, "--", PROBE, "crash", status=128 + signal.SIGSEGV, says=[PROBE, "signal 11", "Segmentation fault"])

    def test_a_program_that_never_ends(self):
        done = emulate(*ONE, "--timeout", "20", "--", PROBE, "hang")
        self.assertEqual((done.returncode, done.stdout), (2, "hanging\n"))
        self.assertEqual(done.stderr, f"weir: {PROBE} had not ended after 20 s (--timeout)\n")

    def test_a_guest_that_is_slow_to_boot(self):
        done = emulate("--json", *ONE, "--boot-timeout", "0.2", "--", PROBE, "leave", "3")
        self.assertEqual((done.returncode, json.loads(done.stdout)["boots"]), (3, 3))
        self.assertIn("weir: booted 3 times", done.stderr)

    def test_a_guest_that_never_begins_it(self):
        self.ends(*ONE, "--timeout", "0.3", "--", PROBE, "hang", status=2, says=[f"the guest had not begun {PROBE} after 0.3 s (--timeout): "])

    def test_a_program_that_needs_more_memory_than_there_is(self):
        self.ends(*ONE, "--memory", "160", "--", PROBE, "eat", "2000", status=128 + signal.SIGKILL, says=["signal 9", "memory had run out", "--memory"])

    def test_a_guest_that_dies_first(self):
        busybox = "/bin/busybox"
        if not os.access(busybox, os.X_OK):
            self.skipTest(f"there is no {busybox}")
        self.ends(*ONE, "--", busybox, "sh", "-c", "echo c >/proc/sysrq-trigger", status=2, says=["the guest ended before", "sysrq triggered crash"])

    def test_a_cpuset_that_cannot_be(self):
        self.ends(*ONE, "--cpuset", "0:7", "--", PROBE, "leave", "0", status=2, says=["cpuset", "7"])

    def test_a_kernel_that_is_none(self):
        self.ends(*ONE, "--kernel", PROBE, "--", PROBE, "leave", "0", status=2, says=["the guest ended before"])


class Ends(unittest.TestCase):
    """weir emulate is ended while its program hangs."""

    def hanging(self, folder):
        command = subprocess.Popen([WEIR, "emulate", *ONE, "--", PROBE, "hang"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder}, start_new_session=True)
        self.assertEqual(command.stdout.readline(), "hanging\n")
        emulators = [c for c in children(command.pid) if b"qemu" in pathlib.Path(f"/proc/{c}/cmdline").read_bytes()]
        self.assertEqual(len(emulators), 1)
        return command, emulators[0]

    def end_with(self, number):
        with tempfile.TemporaryDirectory() as folder:
            command, emulator = self.hanging(folder)
            command.send_signal(number)
            self.assertEqual(command.communicate(timeout=PATIENCE), ("", ""))
            self.assertTrue(eventually(lambda: not alive(emulator)), "QEMU is still there")
            self.assertEqual(os.listdir(folder), [])
        return command.returncode

    def test_interrupted(self):
        self.assertEqual(self.end_with(signal.SIGINT), 128 + signal.SIGINT)

    def test_terminated(self):
        self.assertEqual(self.end_with(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_killed(self):
        self.assertEqual(self.end_with(signal.SIGKILL), -signal.SIGKILL)

    def test_nobody_reads_any_more(self):
        command = subprocess.Popen([WEIR, "emulate", *ONE, "--", PROBE, "flood", "64"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        command.stdout.readline()
        emulator, = children(command.pid)
        command.stdout.close()
        command.wait(PATIENCE)
        self.assertNotEqual(command.returncode, 0)
        self.assertTrue(eventually(lambda: not alive(emulator)), "QEMU is still there")


if __name__ == "__main__":
    main()
