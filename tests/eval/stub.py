#!/usr/bin/env python3
"""Stands in for the weir command that weir eval measures. Writes its arguments into the file $STUB_LOG, a line each time.

As `emulate OPTIONS -- PROGRAM ARGUMENTS` it prints what a guest would: a result line for each of its program's arguments
of the form KEY=VALUE on standard error, and a region for each in one object on standard output. Arguments with other
meanings: fail, hang, noregions, garbage.
"""
import json
import os
import sys
import time


def results(program):
    words = " ".join(program).split()   # several programs come as one script
    return [{"program": "stub", "repeat": i, **dict([w.split("=")])} for i, w in enumerate(w for w in words if "=" in w)]


def region(number, run, line):
    return {"region": "region 0", "number": number, "run": run, "complete": True, "virtual_ms": 10.0 + run, "locality": 0.5, "lines": 100, "page_faults": 0, "value": line}


def main():
    words = sys.argv[1:]
    with open(os.environ["STUB_LOG"], "a", encoding="utf-8") as log:
        log.write(" ".join(words) + "\n")
    emulated = words[:1] == ["emulate"]
    options, program = (words[:words.index("--")], words[words.index("--") + 1:]) if emulated else ([], words)
    if "fail" in program:
        sys.exit("weir: it was told to fail")
    lines = results(program)
    out = sys.stderr if emulated else sys.stdout
    for line in lines:
        print(json.dumps(line), file=out, flush=True)
    if "garbage" in program:
        print("{no json", file=out)
    if "hang" in program:
        print("hanging", file=sys.stderr, flush=True)
        time.sleep(600)
    if emulated:
        regions = [] if "noregions" in program else [region(0, i, line) for i, line in enumerate(lines)]
        print(json.dumps({"machine": options[options.index("--machine") + 1], "regions": regions}))


main()
