"""The harness itself: what it reports, and that it leaves nothing behind. Usage: harness_test.py KERNEL-CACHE"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import boot
import kernel
import layout
from initramfs import FileError, Initramfs

CACHE = sys.argv.pop(1)
GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest.py")
PATIENCE = 300   # seconds until a guest counts as hung


def guest_command(*arguments, cache=CACHE):
    return [sys.executable, "-B", GUEST, "--cache", str(cache), *arguments]


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


class Guests(unittest.TestCase):
    """Tests that boot. One guest does for all commands that do not end it."""

    def test_a_guest_is_what_was_asked_for(self):
        shape = layout.from_counts(2, 2, 1, 128)
        files = Initramfs()
        files.text("/data/greeting", "good morning\n")
        commands = ["cat /sys/devices/system/node/node*/distance", "cat /sys/devices/system/node/node*/cpulist", "cat /data/greeting", "printf 'no line end'",
                    "echo to stderr >&2; exit 3", "cd /", "pwd", "narrow 2-3 0,2 grep -E '(Cpus|Mems)_allowed_list' /proc/self/status", "nproc"]
        done = boot.run_guest(shape, files, commands, CACHE, PATIENCE)
        self.assertEqual([r.command for r in done], commands)
        self.assertEqual([r.status for r in done], [0, 0, 0, 0, 3, 0, 0, 0, 0])
        said = [r.output for r in done]
        self.assertEqual(said[0].splitlines(), [" ".join(map(str, row)) for row in shape.distance])
        self.assertEqual(said[1].split("\n"), ["0-1", "2-3", ""])
        self.assertEqual(said[2:7], ["good morning", "no line end", "to stderr", "", boot.PROGRAMS])
        self.assertEqual([line.split()[1] for line in said[7].splitlines()], ["2-3", "0,2"])
        self.assertEqual(said[8], "4")

    def test_a_crash_is_reported_with_the_kernels_last_words(self):
        with self.assertRaises(boot.GuestError) as raised:
            boot.run_guest(layout.from_counts(1, 1, 0, 128), Initramfs(), ["echo so far", "echo c >/proc/sysrq-trigger", "echo never"], CACHE, PATIENCE)
        for words in ("ended before its time", "while it ran: echo c", "sysrq triggered crash"):
            self.assertIn(words, str(raised.exception))

    def test_a_guest_that_takes_too_long_is_ended(self):
        before = children(os.getpid())
        with self.assertRaisesRegex(boot.GuestError, "was not done after 2 s"):
            boot.run_guest(layout.from_counts(1, 1, 0, 128), Initramfs(), ["sleep 1000"], CACHE, 2)
        self.assertEqual(children(os.getpid()), before)


class Ends(unittest.TestCase):
    """However the harness is ended, QEMU ends with it, and there is no new temporary file."""

    def end_with(self, number):
        with tempfile.TemporaryDirectory() as folder:
            harness = subprocess.Popen(guest_command("--nodes", "1", "--run", "sleep 1000"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "TMPDIR": folder}, start_new_session=True)
            emulators = eventually(lambda: [c for c in children(harness.pid) if b"qemu" in pathlib.Path(f"/proc/{c}/cmdline").read_bytes()])
            self.assertEqual(len(emulators), 1)
            harness.send_signal(number)
            status = harness.wait(PATIENCE)
            self.assertTrue(eventually(lambda: not alive(emulators[0])), "QEMU is still there")
            self.assertEqual(os.listdir(folder), [])
        return status

    def test_interrupted(self):
        self.assertEqual(self.end_with(signal.SIGINT), 130)

    def test_terminated(self):
        self.assertEqual(self.end_with(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_killed(self):
        self.assertEqual(self.end_with(signal.SIGKILL), -signal.SIGKILL)


class Unbootable(unittest.TestCase):
    """What is said where no guest can run, or none can be built. Nothing boots here."""

    def run_with_tools(self, tools, *arguments):
        """Runs guest.py where only these programs exist: a name and the text of its script, or None for the real one."""
        with tempfile.TemporaryDirectory() as folder:
            cache, path = pathlib.Path(folder, "cache"), pathlib.Path(folder, "bin")
            path.mkdir()
            for name, script in tools.items():
                (path / name).write_text(f"#!/bin/sh\n{script}\n")
                (path / name).chmod(0o755)
            done = subprocess.run(guest_command(*arguments, "--run", "true", cache=cache), capture_output=True, text=True, env={"PATH": str(path)}, timeout=60, check=False)
            left = sorted(p.name for p in cache.glob("*"))
        return done.returncode, done.stderr.strip(), left

    def test_without_an_emulator_guests_are_skipped(self):
        status, said, _ = self.run_with_tools({})
        self.assertEqual(status, 77)
        self.assertRegex(said, "^guest: skipped: there is no qemu")

    def test_without_a_kernel_guests_are_skipped(self):
        knows = "echo '  Depends: linux-image-1-cloud-amd64'"
        for apt_cache, apt_get, reason in (("exit 1", "", "apt-cache depends failed"), ("", "", "apt's lists name none"), (knows, "echo no network >&2; exit 100", "no network"),
                                           (knows, "", "left no package")):
            status, said, left = self.run_with_tools({kernel.QEMU: "", "ldd": "", "apt-cache": apt_cache, "apt-get": apt_get})
            self.assertEqual((status, left), (77, []), said)
            self.assertIn(reason, said)

    def test_bad_options_are_refused(self):
        for arguments, words in ((["--nodes", "0"], "node"), (["--nodes", "65"], "expected 1 to 64"), (["--nodes", "2", "--cpus-per-node", "200"], "400 CPUs"),
                                 (["--memory", "1"], "expected 64 or more"), (["--machine", "none.toml"], "none.toml"), (["--machine", GUEST], "guest.py"),
                                 (["--nodes", "2", "--machine", GUEST], "goes without --nodes"), (["--cpuset", "1"], "expected CPUS:NODES"), (["--env", "A"], "expected NAME=VALUE"),
                                 (["--program", "./none"], "expected a program"), (["--file", "none"], "none")):
            status, said, _ = self.run_with_tools({}, *arguments)
            self.assertEqual((status, len(said.splitlines())), (2, 1), said)
            self.assertIn(words, said)

    def test_a_missing_library_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            library, program = os.path.join(folder, "libgone.so"), os.path.join(folder, "program")
            for arguments, source in ((["-shared", "-o", library], "int gone() { return 0; }"), (["-o", program, library], "int gone(); int main() { return gone(); }")):
                subprocess.run([os.environ.get("CXX", "c++"), "-x", "c++", "-", "-x", "none", *arguments], input=source, text=True, check=True)
            os.unlink(library)
            with self.assertRaisesRegex(FileError, "libgone.so is not there"):
                Initramfs().program(program, "/programs/program")


if __name__ == "__main__":
    try:
        kernel.require_tools()
        kernel.kernel_image(CACHE)
    except kernel.Unavailable as e:
        print(f"guest: skipped: {e}")
        sys.exit(77)
    unittest.main(argv=sys.argv)
