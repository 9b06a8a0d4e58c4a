"""Compilers, asked what they say about a source."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 300  # for one source: more than any here takes on a machine that is busy with other things


class Compiler:
    """A command, and what every call of it has in common."""

    def __init__(self, command, flags=(), standard="c++20"):
        self.command = command
        folders = ("include", "solver/include", "src")
        self.flags = [f"-std={standard}", *(f"-I{ROOT / folder}" for folder in folders), *flags]
        self._folder = None
        self._first = []

    def run(self, *arguments, source=""):
        environment = {**os.environ, "LC_ALL": "C"}
        command = [self.command, *self.flags, *self._first, *arguments]
        return subprocess.run(command, input=source, capture_output=True, text=True, timeout=SECONDS, env=environment)

    def begin_with(self, header):
        """Sources begin with this text from now on, which is compiled once."""
        self._folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self._folder.name) / "header.hpp"
        path.write_text(header)
        clang = is_clang(self.command)
        compiled = path.with_suffix(".hpp.pch" if clang else ".hpp.gch")
        made = self.run("-x", "c++-header", str(path), "-o", str(compiled))
        if made.returncode:
            raise RuntimeError(f"{self.command} does not compile what all sources begin with:\n{made.stderr}")
        self._first = ["-include-pch", str(compiled)] if clang else ["-include", str(path)]

    def messages(self, source, language="c++"):
        """What the compiler says about a source; empty if nothing."""
        return self.run("-fsyntax-only", "-x", language, "-", source=source).stderr


def is_clang(command):
    return "clang" in subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout


def commands(first):
    """The compiler of the build, and clang where that is another one and there is one."""
    names = ["clang++", *(f"clang++-{n}" for n in range(30, 15, -1))]
    clang = next(filter(None, map(shutil.which, names)), None)
    return [first] if clang is None or is_clang(first) else [first, clang]


def errors(messages):
    return [line for line in messages.split("\n") if re.search(r"\berror: ", line)]


def each(function, items):
    """[function(item), ...], as many at a time as there are CPUs for this process."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))
