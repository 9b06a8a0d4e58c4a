#!/usr/bin/env python3
"""Holds the house rules of this repository: one line for each violation, exit status 1 if there is any.

  tests/tidy/tidy.py [--only RULE] [--cache FOLDER] [--cxx COMPILER] [--cc COMPILER] [ROOT]
"""
import argparse
import pathlib
import sys
import time

import headers
import layers
import links
import text
from tree import Tree

TEXT_RULES = {**layers.RULES, **text.RULES, **links.RULES}
RULES = [*TEXT_RULES, "header-alone"]


def check(tree, only=None, compiler=None):
    """All violations, by file and line. Without a compiler the rule header-alone is left out."""
    found = [v for name, rule in TEXT_RULES.items() if only in (None, name) for v in rule(tree)]
    if compiler and only in (None, "header-alone"):
        found += headers.header_alone(tree, compiler)
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parents[2], help="the repository; default: this one")
    parser.add_argument("--only", choices=RULES, help="check one rule")
    parser.add_argument("--cache", help="folder that remembers which headers compile")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    start = time.monotonic()
    tree = Tree(options.root)
    compiler = headers.Compiler(options.cxx, options.cc, options.cache) if options.only in (None, "header-alone") else None
    found = check(tree, options.only, compiler)
    for violation in found:
        print(violation)
    print(f"tidy: {len(tree.files)} files, {len(found)} violations ({time.monotonic() - start:.1f} s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
