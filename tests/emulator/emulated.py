"""Runs weir emulate. First argument of every test here: the folder of the programs."""
import json
import os
import subprocess
import sys
import unittest

BIN = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin")
WEIR = os.path.join(BIN, "weir")
PROBE = os.path.join(BIN, "emulator_probe")
PATIENCE = 600   # seconds until a guest counts as hung
CANNOT = "weir: cannot emulate here: "
SKIPPED = 77


def emulate(*arguments, **how):
    """The finished process of `weir emulate ARGUMENTS`."""
    return subprocess.run([WEIR, "emulate", *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False, **how)


def measured(*arguments):
    """The JSON of a run that must end with status 0, and what its program printed on both channels.

    A guest that has not begun in time is booted again, and that is said; it is no failure."""
    done = emulate("--json", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    printed = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith("weir: booted ")]
    return json.loads(done.stdout), "".join(printed)


def main():
    """unittest.main, or a skip with a reason where no guest can run."""
    # What is lacking is said before a guest boots, so there is no need to wait for one.
    done = emulate("--no-model", "--machine", "nodes:1 cpus:1", "--timeout", "0.1", "--", PROBE, "leave", "0")
    if done.stderr.startswith(CANNOT):
        print(f"skipped: {done.stderr.removeprefix(CANNOT).strip()}")
        sys.exit(SKIPPED)
    unittest.main()
