"""Instructions per task of weir, against those of instructions.json. Usage: instructions.py OVERHEAD-WEIR [--update]

Counted by callgrind on one worker, as a difference between two numbers of tasks: what a run costs beside its tasks
cancels. Not counted is what a worker does that has nothing to run: how often it looks for tasks before it sleeps is a
matter of time, and what that differs by from run to run is as much as 3 instructions a task.

A change may cost at most 3 instructions a task and 2 for each datum that a task names, in any pattern: that pays for a
check. What costs more is to be made up for elsewhere. Exit status 1 if a pattern costs more than that above what the
file says; --update writes the file.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

EXPECTATIONS = pathlib.Path(__file__).with_name("instructions.json")
ALLOWED_PER_TASK, ALLOWED_PER_ACCESS = 3, 2
NOTHING_TO_RUN = "weir::engine::engine::idle(*"

# Both numbers of tasks are above twice runtime_options::backlog: until then a single worker executes nothing of a kind that
# it knows nothing of, and after that creating and executing take turns.
FEW, MANY = 16000, 32000


@dataclass
class Row:
    pattern: str
    options: list = field(default_factory=list)
    # Data that a task writes beside those that it reads: those are the dependences that the program reports.
    outputs: int = 1


ROWS = {
    "independent": Row("independent", outputs=0),
    "chains": Row("chains", outputs=0),  # updates the datum it reads
    "stencil": Row("stencil"),
    "fib": Row("fib", outputs=0),
} | {name: Row(name) for name in ["reduction-tree", "fft", "all-to-all", "random-graph"]} | {
    f"dependences-{d}": Row("dependences", ["--dependences", str(d)]) for d in [0, 1, 2, 4, 8, 16]}


@dataclass
class Cost:
    instructions: float  # per task
    accesses: float      # data that a task names, on average


def refuse(message):
    print(f"instructions.py: {message}", file=sys.stderr)
    sys.exit(2)


def count(program, row, tasks):
    """(instructions of the process, what the program says of its run)"""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        options = ["--pattern", row.pattern, *row.options]
        # WEIR_SPIN=0: an idle thread that looks for work would count as work.
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect={NOTHING_TO_RUN}",
                               "--collect-atstart=yes", f"--callgrind-out-file={out}", program, "--workers", "1",
                               "--tasks", str(tasks), *options], capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, env={**os.environ, "WEIR_SPIN": "0"})
        if done.returncode != 0:
            refuse(f"{program} {' '.join(options)} failed under valgrind: {done.stderr.strip().splitlines()[-1:]}")
        total = re.search(r"^(?:totals|summary): (\d+)$", out.read_text(), re.MULTILINE)
    return int(total[1]), json.loads(done.stdout)


def measure(program, row):
    (few, few_run), (many, many_run) = count(program, row, FEW), count(program, row, MANY)
    tasks = 2 * (many_run["tasks"] - few_run["tasks"])  # the untimed first run counts, too
    return Cost((many - few) / tasks, many_run["dependences"] + row.outputs)


def allowance(cost):
    return ALLOWED_PER_TASK + ALLOWED_PER_ACCESS * cost.accesses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        refuse(f"{arguments.program} is not there; build it first")

    expected = json.loads(EXPECTATIONS.read_text())["instructions_per_task"] if EXPECTATIONS.exists() else {}
    now, above = {}, []
    print(f"instructions per task, 1 worker\n{'':<18}{'expected':>9}{'allowed':>9}{'now':>9}{'change':>9}")
    for name, row in ROWS.items():
        cost = measure(arguments.program, row)
        now[name] = round(cost.instructions)
        may_add = f"{allowance(cost):+.0f}"
        if name in expected:
            change = now[name] - expected[name]
            print(f"{name:<18}{expected[name]:>9}{may_add:>9}{now[name]:>9}{change:>+9}", flush=True)
        else:
            print(f"{name:<18}{'-':>9}{may_add:>9}{now[name]:>9}", flush=True)
        if name not in expected or now[name] > expected[name] + allowance(cost):
            above.append(name)

    if arguments.update:
        EXPECTATIONS.write_text(json.dumps({"instructions_per_task": now}, indent=2) + "\n")
        print(f"written: {EXPECTATIONS.name}")
    elif above:
        print(f"above what {EXPECTATIONS.name} says by more than {ALLOWED_PER_TASK} a task and {ALLOWED_PER_ACCESS} a "
              f"datum, or not in it: {', '.join(above)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
