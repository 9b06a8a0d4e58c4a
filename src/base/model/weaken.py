"""Makes every memory order and fence of the lock-free protocols weaker, one at a time, and has the model tests find it.

Usage: weaken.py BUILD [--only TEXT] [--jobs N] [--runs N] [--seed N]

The model tests first say which operations they come to (WEIR_MODEL_PLACES), and with which memory order. Then each of
these is made one step weaker (seq_cst to acquire, release or acq_rel; these to relaxed; acq_rel to either half; a fence
to nothing), in the checker and not in the source (WEIR_MODEL_WEAKEN), until some test fails. Prints a line for each:
the place, what became of it, and the test that failed. Exit status 1 if a weaker one passes all tests and spared.toml
does not say why, or if that file names a place that is not spared any more.

Orders in the same files that no test comes to are errors too.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

SOURCE = pathlib.Path(__file__).resolve().parents[3]
SPARED = pathlib.Path(__file__).with_name("spared.toml")
PROGRAMS = ["weir_model_test", "weir_flow_model_test", "weir_loop_model_test"]

STEPS = {
    ("load", "seq_cst"): ["acquire"], ("load", "acquire"): ["relaxed"],
    ("failure", "seq_cst"): ["acquire"], ("failure", "acquire"): ["relaxed"],
    ("store", "seq_cst"): ["release"], ("store", "release"): ["relaxed"],
    ("fence", "seq_cst"): ["relaxed"], ("light_fence", "seq_cst"): ["relaxed"], ("heavy_fence", "seq_cst"): ["relaxed"],
}
for part in ("modify", "success"):
    STEPS |= {(part, "seq_cst"): ["acq_rel"], (part, "acq_rel"): ["acquire", "release"],
              (part, "acquire"): ["relaxed"], (part, "release"): ["relaxed"]}


def refuse(message):
    print(f"weaken.py: {message}", file=sys.stderr)
    sys.exit(2)


def run(program, tests, **environment):
    return subprocess.run([program, "--gtest_filter=" + ":".join(tests), "--gtest_fail_fast"], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment}, timeout=3600)


def failed_tests(done):
    if done.returncode < 0:  # a crash is a failure of the test that began last
        return re.findall(r"^\[ RUN      \] (\S+)$", done.stdout, re.MULTILINE)[-1:]
    return re.findall(r"^\[  FAILED  \] (\S+) \([0-9]+ ms\)$", done.stdout, re.MULTILINE)


def places_of(program, seed):
    """{place: [tests that come to it]}, the tests' own atomics left out"""
    found = collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "places"
        done = run(program, ["*"], WEIR_MODEL_PLACES=str(file), WEIR_MODEL_SEED=str(seed))
        if done.returncode != 0:
            refuse(f"{program.name} fails as it is: {', '.join(failed_tests(done)) or 'no test named'}")
        for line in file.read_text().splitlines():
            test, place = line.split(" ", 1)
            if not re.search(r"(_model|_test)\.cpp:|(^|/)model/", place):  # tests' and stand-ins' own
                found[place].add(test)
    return found


def lines_of(name):
    file = next(f for f in (SOURCE / "src" / name, SOURCE / "include" / name) if f.exists())
    return file.read_text().splitlines()


def source_line(place):
    name, line = place.split(":")[:2]
    return lines_of(name)[int(line) - 1].split("//")[0].strip()


def unreached(places):
    """[(place, line)]: orders written down in the files of these places, in lines that no test came to"""
    reached = collections.defaultdict(set)
    for place in places:
        name, line = place.split(":")[:2]
        reached[name].add(int(line))
    order = re.compile(r"memory_order_(?!relaxed)\w+|\b(light|heavy)_fence\(\)")
    return [(f"{name}:{number}", text.split("//")[0].strip())
            for name in sorted(reached) for number, text in enumerate(lines_of(name), 1)
            if order.search(text.split("//")[0]) and number not in reached[name]]


class mutant:
    def __init__(self, place, order, tests):
        self.place, self.order, self.tests = place, order, tests
        self.where, self.part, self.was = place.split(" ")
        self.found_by = None

    def try_all(self, seed, runs):
        """tests by program; the first that fails ends it"""
        environment = {"WEIR_MODEL_WEAKEN": f"{self.where} {self.part} {self.order}", "WEIR_MODEL_SEED": str(seed),
                       "WEIR_MODEL_RUNS": str(runs)}
        for program, tests in self.tests.items():
            done = run(program, sorted(tests), **environment)
            if done.returncode != 0:
                failed = failed_tests(done)
                if not failed:
                    refuse(f"{program.name} ended with {done.returncode} and names no test:\n"
                           f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
                self.found_by = failed[0]
                break
        return self

    def key(self):
        return f"{source_line(self.place)} [{self.part} {self.was} -> {self.order}]"


def mutants_of(build, only, seed):
    tests = collections.defaultdict(dict)
    for name in PROGRAMS:
        program = build / "bin" / name
        if not program.exists():
            refuse(f"{program} is not there; build it first")
        for place, names in places_of(program, seed).items():
            tests[place][program] = names
    made = [mutant(place, order, tests[place])
            for place in sorted(tests, key=by_position) if only in place
            for order in STEPS.get(tuple(place.split(" ")[1:]), [])]
    return made, [m for m in unreached(tests) if only in m[0]]


def by_position(place):
    name, line, column = place.split(" ")[0].split(":")
    return name, int(line), int(column), place


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="places that contain this, as sched/deque.hpp")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=20_000, help="WEIR_MODEL_RUNS; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    reasons = tomllib.loads(SPARED.read_text()) if SPARED.exists() else {}
    mutants, missing = mutants_of(arguments.build, arguments.only, arguments.seed)
    wrong = [f"{where}: no model test comes to this: {text}"
             for where, text in missing if f"{text} [not reached]" not in reasons]
    used = {f"{text} [not reached]" for _, text in missing}
    found = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for m in pool.map(lambda m: m.try_all(arguments.seed, arguments.runs), mutants):
            outcome = m.found_by or "PASSES ALL TESTS"
            found += m.found_by is not None
            if m.found_by is None:
                used.add(m.key())
                if m.key() in reasons:
                    outcome = "passes: " + reasons[m.key()]
                else:
                    wrong.append(f"{m.place} -> {m.order} passes all tests: {source_line(m.place)}")
            print(f"{m.where:<34} {m.part:<11} {m.was + ' -> ' + m.order:<20} {outcome}", flush=True)
    print(f"\n{found} of {len(mutants)} weaker ones made a test fail, seed {arguments.seed}")
    if not arguments.only:
        wrong += [f"spared.toml names what needs no sparing: {key}" for key in reasons if key not in used]
    for line in wrong:
        print(f"weaken.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
