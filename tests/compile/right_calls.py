#!/usr/bin/env python3
"""The calls of right_calls.cpp compile, without a warning where warnings are many.

  right_calls.py [--cxx COMPILER]
"""
import argparse
import pathlib
import sys

import compiler

FILE = pathlib.Path(__file__).with_name("right_calls.cpp")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="c++", help="compiler of the build; clang is tried as well where there is one")
    failed = 0
    for command in compiler.commands(parser.parse_args().cxx):
        messages = compiler.Compiler(command, WARNINGS).messages(FILE.read_text())
        print(f"{command}: {FILE.name}: {messages or 'nothing to say'}")
        failed += bool(messages)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
