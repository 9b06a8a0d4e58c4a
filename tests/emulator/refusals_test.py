"""What cannot be emulated is refused in one line, before anything boots."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from emulated import PROBE, WEIR, emulate

EM_AARCH64, EM_386 = 183, 3


def elf(machine, bits=64):
    """A header and nothing behind it."""
    return b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1) + bytes(44)


def machine_file(slit="[10, 20]", nodes='[[nodes]]\ncount = 2\nmemory = "1 GiB"\ncpus = 2\n', more=""):
    return f'name = "odd"\nsource = "a test"\n{nodes}[distances]\n{more}slit = {slit}\n'


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Refusals(InFolder):
    def file(self, name, content, mode=0o755):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def refused(self, *arguments, says, **how):
        done = emulate(*arguments, **how)
        self.assertEqual((done.returncode, done.stdout), (2, ""), (arguments, done))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("weir: "), lines)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, lines[0])

    def test_programs(self):
        self.refused(says="expected a program after --")
        self.refused("--", "./none", says=["./none", "no such file"])
        self.refused("--", "no-such-program", says=["no-such-program", "PATH has none"])
        self.refused("--", self.folder, says="it is no file")
        self.refused("--", self.file("plain", "text", 0o644), says="may not be executed")
        self.refused("--", self.file("script", "#!/bin/sh\n"), says=["it is none", "interpreter"])
        self.refused("--", self.file("empty", ""), says="it is none")
        self.refused("--", self.file("arm", elf(EM_AARCH64)), says="built for AArch64")
        self.refused("--", self.file("old", elf(EM_386, 32)), says="built for 32-bit x86")

    def test_a_missing_library_is_named(self):
        library, program = self.folder / "libgone.so", self.folder / "program"
        for arguments, source in ((["-shared", "-o", library], "int gone() { return 0; }"), (["-o", program, f"-L{self.folder}", "-lgone"], "int gone(); int main() { return gone(); }")):
            subprocess.run([os.environ.get("CXX", "c++"), "-x", "c++", "-", "-x", "none", *arguments], input=source, text=True, check=True)
        library.unlink()
        self.refused("--", program, says=["libraries are all there", "libgone.so"])

    def test_machines(self):
        def machine(name, text):
            return ["--machine", self.file(name, text), "--", PROBE, "leave", "0"]
        self.refused(*machine("a.toml", machine_file(more='matrix = [[0, 1], [2, 0]]\nclasses = ["local", "there", "back"]\n', slit="[10, 16, 22]")), says=["symmetric", "node 0 to node 1 is 16", "22"])
        two = '[[nodes]]\nmemory = {}\ncpus = {}\n[[nodes]]\nmemory = {}\ncpus = {}\n'
        self.refused(*machine("b.toml", machine_file(more='classes = ["local", "remote"]\n', nodes=two.format('"1 GiB"', 1, "0", 1))), says="node 1 has no memory")
        self.refused(*machine("c.toml", machine_file(more='classes = ["local", "remote"]\n', nodes=two.format('"1 GiB"', 0, '"1 GiB"', 1))), says="node 0 has no CPU")
        nodes = two.format('"1 GiB"', 1, '"1 GiB"', 0) + '[[nodes]]\nmemory = "1 GiB"\ncpus = 1\n'
        self.refused(*machine("e.toml", machine_file(more='classes = ["local", "remote"]\n', nodes=nodes)), says="expected nodes without CPUs to come last")
        self.refused(*machine("d.toml", "name = 3\n"), says="d.toml")
        self.refused("--machine", "opteron", "--", PROBE, says=["opteron", "comes with weir", "opteron-64", "sgi-192"])
        self.refused("--machine", "none.toml", "--", PROBE, says="none.toml")

    def test_machines_that_are_too_large(self):
        self.refused("--machine", "nodes:64 cpus:8", "--cores", "8", "--", PROBE, says=["512 CPUs", "at most 255"])
        self.refused("--machine", "nodes:65 cpus:1", "--", PROBE, says=["65 nodes", "at most 64"])
        self.refused("--machine", "nodes:2 cpus:2", "--cores", "3", "--", PROBE, says=["--cores 3", "2 CPUs at most"])
        self.refused("--memory", "1000000", "--", PROBE, "leave", "0", says=["1000000 MiB", "available", "--memory"])
        self.refused("--memory", "10", "--", PROBE, says="64 MiB a node or more")

    def test_options(self):
        for option, value in (("--cores", "0"), ("--cache-kib", "0"), ("--cache-kib", "many"), ("--timeout", "-1"),
                              ("--huge-pages", "some"), ("--frobnicate", "1"), ("--shared-cache-ns", "-1"),
                              ("--page-fault-ns", "-1"), ("--skew-us", "0"),
                              ("--profile-rows", "0"), ("--profile-cpu", "-1")):
            self.refused(option, value, "--", PROBE, says=option)
        self.refused("--numa-balancing-scan-ms", "50", "--", PROBE, says="needs --numa-balancing")
        self.refused("--profile", "--no-model", "--", PROBE, says=["--profile", "--no-model"])
        self.refused("--profile-rows", "5", "--", PROBE, says="--profile-rows needs --profile")
        self.refused("--profile-cpu", "0", "--", PROBE, says="--profile-cpu needs --profile")
        self.refused("--profile", "--profile-cpu", "2", "--machine", "nodes:2 cpus:1", "--", PROBE,
                     says=["--profile-cpu 2", "from 0 to 1"])
        for option, value, words in (("--env", "A", "NAME=VALUE"), ("--env", "=A", "NAME=VALUE"), ("--cpuset", "1", "CPUS:NODES"), ("--name", "first", "NUMBER=NAME"), ("--name", "256=x", "0 to 255"),
                                     ("--file", "none", "there is none"), ("--kernel", "none", "expected a Linux kernel")):
            self.refused(option, value, "--", PROBE, says=[words])


class Equipment(InFolder):
    """weir somewhere else, with other tools: a name and the text of its script."""

    def elsewhere(self, tools, *arguments):
        place, path = self.folder / "prefix" / "bin", self.folder / "tools"
        for folder in (place, path):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        shutil.copy(WEIR, place / "weir")
        for name, script in {"sh": 'exec /bin/sh "$@"', **tools}.items():
            (path / name).write_text(f"#!/bin/sh\n{script}\n")
            (path / name).chmod(0o755)
        env = {"PATH": str(path), "HOME": str(self.folder / "home")}
        return subprocess.run([place / "weir", "emulate", *arguments], capture_output=True, text=True, env=env, timeout=60, check=False)

    def lacks(self, tools, *arguments, says):
        done = self.elsewhere(tools, *arguments)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
        for words in says:
            self.assertIn(words, done.stderr)

    def test_what_is_missing_is_said_and_how_to_get_it(self):
        program = ["--machine", "nodes:1 cpus:1", "--", os.path.abspath(PROBE)]
        qemu = {"qemu-system-x86_64": ""}
        self.lacks({}, *program, says=["cannot emulate here", "no qemu-system-x86_64", "Debian has it in"])
        self.lacks(qemu, *program, says=["cannot emulate here", "no kernel", "--fetch-kernel"])
        self.lacks(qemu, "--kernel", PROBE, *program, says=["cannot emulate here", "guest-init"])
        self.lacks(qemu, "--profile", *program, says=["cannot emulate here", "no addr2line", "has it in binutils"])

    def test_fetching_fails_with_a_reason_and_leaves_nothing(self):
        knows = "echo '  Depends: linux-image-1-cloud-amd64'"
        for apt_cache, apt_get, reason in (("exit 1", "", "apt-cache depends failed"), ("", "", "apt's lists name none"), (knows, "echo no network >&2; exit 100", "no network"), (knows, "", "left no package")):
            self.lacks({"apt-cache": apt_cache, "apt-get": apt_get}, "--fetch-kernel", says=["no kernel", reason])
            self.assertEqual(list((self.folder / "home" / ".cache" / "weir").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
