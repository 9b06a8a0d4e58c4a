"""Instructions per task of weir, against those of instructions.json. Usage: instructions.py OVERHEAD-WEIR [--update]

Counted by callgrind on one worker, as a difference between two numbers of tasks: what a run costs beside its tasks
cancels. Exit status 1 if a pattern costs more than 10 % above what the file says; --update writes the file.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXPECTATIONS = pathlib.Path(__file__).with_name("instructions.json")
ALLOWED = 1.10   # two builds of one source by different compilers of a kind differ by some percent

# Both numbers of tasks are above runtime_options::backlog, so that creating and executing take turns in both.
FEW, MANY = 8000, 24000

ROWS = {name: ["--pattern", name] for name in
        ["independent", "chains", "stencil", "fib", "reduction-tree", "fft", "all-to-all", "random-graph"]}
ROWS |= {f"dependences-{d}": ["--pattern", "dependences", "--dependences", str(d)] for d in [0, 1, 2, 4, 8, 16]}


def refuse(message):
    print(f"instructions.py: {message}", file=sys.stderr)
    sys.exit(2)


def count(program, options, tasks):
    """(instructions of the process, tasks it ran, those of the untimed first run included)"""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        # WEIR_SPIN=0: an idle thread that looks for work would count as work.
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, "--workers", "1",
                               "--tasks", str(tasks), *options], capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, env={**os.environ, "WEIR_SPIN": "0"})
        if done.returncode != 0:
            refuse(f"{program} {' '.join(options)} failed under valgrind: {done.stderr.strip().splitlines()[-1:]}")
        total = re.search(r"^(?:totals|summary): (\d+)$", out.read_text(), re.MULTILINE)
    return int(total[1]), 2 * json.loads(done.stdout)["tasks"]


def instructions_per_task(program, options):
    (few, few_tasks), (many, many_tasks) = count(program, options, FEW), count(program, options, MANY)
    return (many - few) / (many_tasks - few_tasks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        refuse(f"{arguments.program} is not there; build it first")

    expected = json.loads(EXPECTATIONS.read_text())["instructions_per_task"] if EXPECTATIONS.exists() else {}
    now, above = {}, []
    print(f"instructions per task, 1 worker\n{'':<18}{'expected':>9}{'now':>9}{'change':>9}")
    for name, options in ROWS.items():
        now[name] = round(instructions_per_task(arguments.program, options))
        if name in expected:
            print(f"{name:<18}{expected[name]:>9}{now[name]:>9}{now[name] / expected[name] - 1:>+9.1%}", flush=True)
        else:
            print(f"{name:<18}{'-':>9}{now[name]:>9}", flush=True)
        if name not in expected or now[name] > ALLOWED * expected[name]:
            above.append(name)

    if arguments.update:
        EXPECTATIONS.write_text(json.dumps({"instructions_per_task": now}, indent=2) + "\n")
        print(f"written: {EXPECTATIONS.name}")
    elif above:
        print(f"more than {ALLOWED - 1:.0%} above what {EXPECTATIONS.name} says, or not in it: {', '.join(above)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
