#!/usr/bin/env python3
"""Each call of wrong_calls.cpp is refused by the compiler with one error, which is the sentence it names.

  wrong_calls.py [--cxx COMPILER] [--transcript] [--only WORDS]
"""
import argparse
import pathlib
import re
import sys
from typing import NamedTuple

import compiler

FILE = pathlib.Path(__file__).with_name("wrong_calls.cpp")
BATCH = 12  # cases a call of a compiler: more save little, fewer take longer


class Case(NamedTuple):
    name: str
    sentence: str
    line: int
    code: str


def read_cases():
    """What stands before the first case, and the cases."""
    head, *blocks = re.split(r"^// --- ", FILE.read_text(), flags=re.MULTILINE)
    cases, line = [], head.count("\n") + 1
    for block in blocks:
        name, sentence, code = block.split("\n", 2)
        cases.append(Case(name, sentence.removeprefix("// error: "), line + 2, code.strip()))
        line += block.count("\n")
    return head, cases


def source_of(case, number=0):
    """The case as a member function of what the file's head calls `context`."""
    begin = f"struct case_{number} : context {{\n  void call();\n}};\nvoid case_{number}::call() {{\n"
    return f"{begin}#line {case.line} \"{FILE.name}\"\n{case.code}\n}}\n"


def batches(cases):
    """Cases that one call of a compiler can tell apart: none has the sentence of another, or a part of it."""
    left = list(cases)
    while left:
        batch = []
        for case in left:
            alike = (case.sentence in c.sentence or c.sentence in case.sentence for c in batch)
            if len(batch) < BATCH and not any(alike):
                batch.append(case)
        left = [c for c in left if c not in batch]
        yield batch


def as_expected(batch, messages):
    """There are as many errors as cases, and each sentence is in one of them."""
    errors = compiler.errors(messages)
    return len(errors) == len(batch) and all(sum(case.sentence in e for e in errors) == 1 for case in batch)


def problems(batch, cxx):
    """What is wrong with a batch; if anything, its cases are compiled one by one to see."""
    if len(batch) > 1 and as_expected(batch, cxx.messages("".join(source_of(case, n) for n, case in enumerate(batch)))):
        return
    for case in batch:
        messages = cxx.messages(source_of(case))
        if not as_expected([case], messages):
            where = f"{cxx.command}: {FILE.name}:{case.line}: {case.name}"
            yield f"{where}: expected one error, \"{case.sentence}\"\n{messages}"


def transcript(cases, cxx):
    for case, messages in zip(cases, compiler.each(lambda case: cxx.messages(source_of(case)), cases)):
        print(f"--- {case.name} ({pathlib.Path(cxx.command).name})\n{case.code}\n\n{messages}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="c++", help="compiler of the build; clang is tried as well where there is one")
    parser.add_argument("--transcript", action="store_true", help="print what the compilers say")
    parser.add_argument("--only", default="", help="cases whose name has these words")
    options = parser.parse_args()
    head, cases = read_cases()
    cases = [c for c in cases if options.only in c.name]
    found = []
    commands = compiler.commands(options.cxx)
    for cxx in map(compiler.Compiler, commands):
        cxx.begin_with(head)
        if options.transcript:
            transcript(cases, cxx)
        for problem in compiler.each(lambda batch: list(problems(batch, cxx)), list(batches(cases))):
            found += problem
    sum_up = f"{len(cases)} wrong calls, {', '.join(commands)}: {len(found)} not refused as they should be"
    print(*found, sum_up, sep="\n")
    return 1 if found or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
