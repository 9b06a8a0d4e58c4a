#!/usr/bin/env python3
"""Each C++ and C block of the Markdown files compiles without a warning; whole programs are linked and run as well.

  documents.py [--cxx COMPILER] [--cc COMPILER] [--link ARGUMENT]... [FILE]...

A block that is no whole program may need something before it. A comment on the line before the block says what; braces
that it opens are closed behind the block:

  <!-- compiled behind: void f(weir::runtime& rt) { -->
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

import compiler

sys.path.insert(0, str(compiler.ROOT / "tests" / "tidy"))
from tree import Tree  # noqa: E402: it lies beside this folder

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic"]
LANGUAGES = {"cpp": "c++", "c": "c"}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEHIND = re.compile(r"<!-- compiled behind: (.*?) -->\n$", re.DOTALL)
LOOKS_LIKE_CODE = re.compile(r"weir::\w|^#include ", re.MULTILINE)


class Block(NamedTuple):
    file: str
    line: int
    language: str
    behind: str
    code: str

    @property
    def is_program(self):
        return re.search(r"^int main\(", self.code, re.MULTILINE) is not None

    def source(self):
        """Includes stay in front, so that what comes before the block may use them."""
        front = "\n".join(line if line.startswith("#include") else "" for line in self.code.split("\n"))
        rest = "\n".join("" if line.startswith("#include") else line for line in self.code.split("\n"))
        closing = "}" * (self.behind.count("{") - self.behind.count("}"))
        at = f'#line {self.line} "{self.file}"\n'
        return f"{at}{front}\n{self.behind}\n{at}{rest}\n{closing}\n"


def blocks_of(file, text):
    """Blocks in a language we compile, and those that should say in which they are."""
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        behind = BEHIND.search(text, 0, match.start())
        if match[1] in LANGUAGES or (not match[1] and LOOKS_LIKE_CODE.search(match[2])):
            yield Block(file, line, match[1], behind[1] if behind else "", match[2])


def run(block, cxx, link):
    """What is wrong with a program when it is linked and run; empty if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        made = cxx.run("-O1", "-x", "c++", "-", "-x", "none", *link, "-o", str(program), source=block.source())
        if made.returncode or made.stderr:
            return made.stderr or "cannot be linked"
        ended = subprocess.run([str(program)], capture_output=True, text=True, timeout=compiler.SECONDS, check=False)
        return "" if ended.returncode == 0 else f"exit status {ended.returncode}\n{ended.stdout}{ended.stderr}"


def problem(block, compilers, link):
    if block.language not in LANGUAGES:
        return "this is code; say in which language, ```cpp or ```c"
    used = compilers[LANGUAGES[block.language]]
    if block.is_program and block.language == "cpp" and link:
        return run(block, used, link)
    return used.messages(block.source(), LANGUAGES[block.language])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--link", action="append", default=[],
                        help="a library that programs need; without any they are only compiled")
    parser.add_argument("files", nargs="*", help="default: all of the repository")
    options = parser.parse_args()
    tree = Tree(compiler.ROOT)
    files = options.files or tree.with_suffix(".md")
    blocks = [block for file in files for block in blocks_of(file, tree.text(file))]
    compilers = {"c++": compiler.Compiler(options.cxx, WARNINGS),
                 "c": compiler.Compiler(options.cc, WARNINGS, standard="c11")}
    found = compiler.each(lambda block: problem(block, compilers, options.link), blocks)
    for block, text in zip(blocks, found):
        if text:
            print(f"{block.file}:{block.line}: {text}")
    bad = sum(map(bool, found))
    print(f"{len(blocks)} blocks of code in {len(files)} files: {bad} do not compile or run")
    return 1 if bad or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
