"""Every header compiles alone. Results are kept by the content of the header and of all it includes from here."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

from layers import includes
from tree import Violation


def seam_of(header):
    """Where what stands in for parts of weir lies, for what model tests share."""
    folder = re.match(r"src/(?!base/)\w+/model(?=/\w+\.hpp$)", header)
    return ["-Isrc/base/model/seam", f"-I{folder[0]}"] if folder else []


class Compiler:
    """`cxx` and, beside it, a C compiler for the headers that end in .h. `cache`: a folder, or None."""

    def __init__(self, cxx="c++", cc="cc", cache=None):
        self.cxx, self.cc = cxx, cc
        self.file = pathlib.Path(cache) / "headers.json" if cache else None
        self.flags = self._flags_of_dependencies()
        self.version = subprocess.run([cxx, "--version"], capture_output=True, text=True, check=True).stdout
        self.passed = self._load()

    @staticmethod
    def _flags_of_dependencies():
        if not shutil.which("pkg-config"):
            return []
        found = subprocess.run(["pkg-config", "--cflags", "hwloc"], capture_output=True, text=True)
        return found.stdout.split() if found.returncode == 0 else []

    def _load(self):
        try:
            return set(json.loads(self.file.read_text())) if self.file else set()
        except (OSError, ValueError):
            return set()

    def save(self, keys):
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps(sorted(keys)))
            part.replace(self.file)

    def key(self, tree, header):
        digest = hashlib.sha256(repr((self.version, self.flags, header)).encode())
        for path in closure(tree, header):
            digest.update(path.encode() + b"\0" + (tree.root / path).read_bytes() + b"\0")
        return digest.hexdigest()

    def errors(self, tree, header):
        """What the compiler says about a file that includes nothing but this header; empty if it likes it."""
        commands = [[self.cxx, "-x", "c++", "-std=c++20"]]
        if header.endswith(".h"):
            commands.append([self.cc, "-x", "c", "-std=c11"])
        for command in commands:
            done = subprocess.run([*command, "-fsyntax-only", *seam_of(header), "-Isrc", "-Iinclude", *self.flags, "-"], cwd=tree.root, capture_output=True, text=True,
                                  input=f'#include "{header}"\n', env={**os.environ, "LC_ALL": "C.UTF-8"})
            if done.returncode:
                return done.stderr
        return ""


def closure(tree, header):
    """The header and every file of the repository it includes, directly or not, in a fixed order."""
    found, waiting = [], [header]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += [target for _, _, target in includes(tree, path) if target]
    return sorted(found)


def first_error(header, said):
    """(line in the header, message): the line is 1 where the error is reported in a file it includes."""
    if match := re.search(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", said, re.MULTILINE):
        inside = match[1] == header or match[1].endswith("/" + header)
        return int(match[2]) if inside else 1, match[3] if inside else f"{match[1]}:{match[2]}: {match[3]}"
    return 1, said.strip().split("\n")[-1]


def opening_include(tree, header):
    """The header of the repository that this one begins with, before anything else; or None."""
    before = next(((line, target) for line, _, target in includes(tree, header)), None)
    if before is None or not header.endswith(".hpp") or not (before[1] or "").endswith(".hpp"):
        return None
    text = "\n".join(tree.lines(header)[:before[0] - 1])
    return before[1] if re.fullmatch(r"(\s|//.*|#pragma once)*", text) else None


def chains(tree, headers):
    """[header, what it begins with, what that begins with, ...]: lists that hold each header once or more. If the first of a
    list compiles alone, so do the others: the compiler has seen each of them with nothing before it."""
    opening = {header: opening_include(tree, header) for header in headers}
    first = [header for header in headers if header not in opening.values()]
    found = []
    for header in [*first, *headers]:   # headers that begin with each other in a circle have no first one
        if any(header in chain for chain in found):
            continue
        chain = []
        while header in opening and header not in chain:
            chain.append(header)
            header = opening[header]
        found.append(chain)
    return found


def said_of(tree, compiler, headers):
    """{header: what the compiler says of it alone}. Where the first of a chain does not compile the others are asked about."""
    said, left = {}, list(headers)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        while left:
            lists = chains(tree, left)
            for chain, errors in zip(lists, pool.map(lambda chain: compiler.errors(tree, chain[0]), lists)):
                said.update({chain[0]: errors} if errors else dict.fromkeys(chain, ""))
            left = [header for header in left if header not in said]
    return said


def header_alone(tree, compiler):
    headers = [f for f in tree.with_suffix(".hpp", ".h") if f.startswith(("include/", "src/"))]
    keys = {header: compiler.key(tree, header) for header in headers}
    due = [header for header in headers if keys[header] not in compiler.passed]
    said = said_of(tree, compiler, due)
    compiler.save(key for header, key in keys.items() if not said.get(header))
    for header in due:
        if said[header]:
            line, message = first_error(header, said[header])
            yield Violation(header, line, "header-alone", f"include what the header uses, so that it compiles alone: {message}")
