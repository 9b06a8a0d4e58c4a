"""Results that cannot be shown or kept are no success. Usage: output_test.py PATH-OF-WEIR"""
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

WEIR = os.path.abspath(sys.argv.pop(1))
PR_CAPBSET_DROP, CAP_SYS_ADMIN, CAP_SYS_RESOURCE = 24, 21, 24  # linux/prctl.h, linux/capability.h
KERNEL = "bench jacobi-2d --size 32x32 --block 8x8 --iterations 2".split()
MIGRATION = "bench migration --pages small --iterations 1 --buffer-kib 64 --changes 2"
SHOWING = [["--version"], ["--help"], ["help", "bench"], ["bench", "--help"], ["bench", "--list"], KERNEL,
           ["bench", "latency", "--buffer-kib", "128"], MIGRATION.split(),
           "bench main --quick --repeat 1 --rows tasks --runtimes weir".split(),
           "bench aggregate --matrix cube:6 --coarsen S --repeat 1".split(),
           ["topo"], ["topo", "--explain"], ["solve", "--matrix", "cube:5"],
           ["trace", "summary", "t.json"], ["trace", "dot", "t.json"], ["eval", "--list"]]
WITH_JSON = [c for c in SHOWING if c[0] in ("topo", "solve") or c[:2] == ["trace", "summary"]
             or (c[0] == "bench" and c[1] not in ("--list", "--help"))]


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def run_in_shell(self, redirection, command, **more):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", WEIR, *command], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **more)

    def make_trace(self):
        self.assertEqual(self.run_in_shell("", [*KERNEL, "--trace", "t.json"]).returncode, 0)


class StandardOutput(InFolder):
    def refused(self, redirection, reason):
        self.make_trace()
        for command in [*SHOWING, *([*c, "--json"] for c in WITH_JSON)]:
            with self.subTest(command=command, redirection=redirection):
                result = self.run_in_shell(redirection, command)
                self.assertEqual((result.returncode, result.stderr),
                                 (1, f"weir: standard output cannot be written: {reason}\n"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_full(self):
        self.refused(">/dev/full", "No space left on device")

    def test_closed(self):
        self.refused(">&-", "Bad file descriptor")

    def test_a_closed_one_does_not_become_the_first_file(self):
        self.assertEqual(self.run_in_shell(">&-", ["solve", "--matrix", "cube:3", "-o", "x.mtx"]).returncode, 1)
        with open(os.path.join(self.folder, "x.mtx"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual((lines[0], lines[1].split(), len(lines)),
                         ("%%MatrixMarket matrix array real general", ["27", "1"], 29))

    def test_a_reader_that_is_gone_ends_the_command_quietly(self):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            result = subprocess.run([WEIR, "bench", "--list"], stdout=pipe, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))


@unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
class Files(InFolder):
    def refused(self, command, **more):
        result = self.run_in_shell("", command, **more)
        self.assertNotEqual(result.returncode, 0, command)
        self.assertRegex(result.stderr, r"\Aweir: [^\n]*/dev/full[^\n]*: No space left on device\n\Z")
        return result

    def test_what_commands_write(self):
        self.make_trace()
        self.refused(["solve", "--matrix", "cube:3", "-o", "/dev/full"])
        self.refused(["solve", "--matrix", "cube:3", "--report", "/dev/full"])
        if "cannot write reports" not in self.run_in_shell("", ["report", "t.json"]).stderr:
            self.refused(["report", "t.json", "-o", "/dev/full"])

    def test_traces(self):
        result = self.refused([*KERNEL, "--trace", "/dev/full", "--json"])
        self.assertIn('"kernel":"jacobi-2d"', result.stdout)  # the run itself was as it should be
        self.refused([*KERNEL, "--warm-up", "0"], env={**os.environ, "WEIR_TRACE": "/dev/full"})


class Threads(InFolder):
    """A system that refuses threads."""

    @staticmethod
    def forbid_threads():
        # Root has no such limit. Another real user has one, but with the capabilities that lift it.
        if os.geteuid() == 0:
            for capability in (CAP_SYS_ADMIN, CAP_SYS_RESOURCE):
                ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
            os.setresuid(54321, 0, 0)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    def forbidden(self, command):
        return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                              preexec_fn=self.forbid_threads)

    def setUp(self):
        super().setUp()
        probe = ("import sys, threading\ntry:\n  threading.Thread(target=print).start()\n"
                 "except RuntimeError:\n  sys.exit(3)")
        try:
            if self.forbidden([sys.executable, "-c", probe]).returncode != 3:
                self.skipTest("the system lets any number of threads start")
            if self.forbidden([WEIR, "--version"]).returncode != 0:
                self.skipTest("the command is built with what needs a thread of its own")
        except (PermissionError, subprocess.SubprocessError):
            self.skipTest("the system lets nobody change the limit of threads")

    def test_one_sentence(self):
        for command in ["topo --measure --measure-mib 1 --measure-runs 1", "topo --explain",
                        "bench latency --buffer-kib 64", MIGRATION, "bench jacobi-2d", "solve --matrix cube:3"]:
            with self.subTest(command=command):
                result = self.forbidden([WEIR, *command.split()])
                self.assertIn(result.returncode, (1, 2))
                self.assertRegex(result.stderr, r"\Aweir: [^\n]*thread[^\n]* cannot be started[^\n]*expected[^\n]*\n\Z")


if __name__ == "__main__":
    unittest.main()
