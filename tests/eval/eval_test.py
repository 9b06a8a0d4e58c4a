"""weir eval without anything to measure: what is run, what is kept, and what is refused. Argument: the weir command."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEIR = os.path.abspath(sys.argv.pop(1))
STUB = pathlib.Path(__file__).resolve().with_name("stub.py")
PATIENCE = 120

PLAN = """
title = "a trial"
source = "a test"
machine = "opteron-64"
[parameters]
repeat = 2
sizes = "a={repeat} a=x"
[quick]
scaling = "quickly"
parameters = {repeat = 1}
[machines.opteron-64]
scaling = "small"
emulate = "--cores 1"
[machines.host]
[cases]
both = [{kernel = "one", more = "b=1"}, {kernel = "two", more = "b=2 b=3"}]
[[experiments]]
name = "first"
cases = "both"
emulate = "--cache-kib 64"
commands = "weir {sizes} {more}"
[[experiments]]
name = "second"
machines = ["opteron-64"]
quick = false
commands = "weir c=1"
[[figures]]
title = "Figure 1: times"
axis = "time"
unit = "ms"
group = "{kernel}"
value = "time_ms"
bars = [{where = {experiment = "first"}, series = "measured"}]
quoted = [{series = "elsewhere", values = [{group = "one", value = 5}]}]
[[figures]]
title = "Figure 2: speed-up over second"
note = "a note"
paper = {opteron-64 = "more."}
axis = "speed-up"
unit = "ratio"
group = "all"
value = "time_ms"
bars = [{where = {experiment = "first", kernel = ["one"]}, series = "{kernel}", baseline = {experiment = "second"}}]
"""


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        shutil.copy(STUB, self.folder / "bin" / "weir")
        self.log = self.folder / "log"
        self.environment = {**os.environ, "STUB_LOG": str(self.log), "TMPDIR": str(self.folder)}
        self.plan(PLAN)

    def plan(self, text):
        (self.folder / "trial.toml").write_text(text)

    def arguments(self, *more):
        return [WEIR, "eval", "trial.toml", "--command", str(self.folder / "bin" / "weir"), "--out", "out", *more]

    def eval(self, *more, status=0):
        done = subprocess.run(self.arguments(*more), capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.folder, env=self.environment, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, status, done)
        return done

    def refused(self, *more, says, status=2):
        done = self.eval(*more, status=status)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done)
        for words in says:
            self.assertIn(words, done.stderr)

    def runs(self):
        """What the stub was asked to do since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line.split(" -- ")[-1] for line in lines]

    @property
    def results(self):
        return self.folder / "out" / "results.jsonl"

    def lines(self):
        return [json.loads(line) for line in self.results.read_text().splitlines()]


ALL = ["a=2 a=x b=1", "a=2 a=x b=2 b=3", "c=1"]


class Runs(InFolder):
    def test_results_and_figures(self):
        done = self.eval()
        asked = self.log.read_text().splitlines()
        self.assertEqual(self.runs(), [f"{self.folder}/bin/weir {words}" for words in ALL])
        self.assertIn("emulate --json --roi --machine opteron-64 --timeout 1800 --cores 1 --cache-kib 64 --", asked[0])
        header, *lines = self.lines()
        self.assertEqual((header["eval"], header["version"], header["machine"], header["quick"], header["scaling"]), ("trial", 1, "opteron-64", False, "small"))
        self.assertEqual([line["experiment"] for line in lines], ["first"] * 7 + ["second"])
        self.assertEqual((lines[1]["kernel"], lines[1]["a"], lines[1]["virtual_ms"], lines[1]["time_ms"], lines[1]["memory_locality"], lines[1]["runs"]), ("one", "x", 11, 11, 0.5, 3))
        self.assertEqual(done.stderr, "")
        for words in ("a trial on opteron-64", "small", "Figure 1: times", "11.00 ms", "11.50 ms", "5.00 ms", "a note Paper: more.", "0.91x", "written: out/results.jsonl"):
            self.assertIn(words, done.stdout)
        self.assertTrue(set(os.listdir(self.folder / "out")) <= {"results.jsonl", "report.html"})

    def test_figures_as_json(self):
        figures = json.loads(self.eval("--json").stdout)
        times, speedups = figures["charts"]
        self.assertEqual((times["unit"], times["groups"], [s["name"] for s in times["series"]]), ("ns", ["one", "two"], ["measured", "elsewhere"]))
        one, two = times["series"][0]["values"]
        self.assertEqual(one, {"median": 11e6, "low": 10e6, "high": 12e6, "n": 3, "deviation": 1e6})
        self.assertAlmostEqual(two.pop("deviation"), 1e6 * (5 / 3) ** 0.5, places=3)
        self.assertEqual(two, {"median": 11.5e6, "low": 10e6, "high": 13e6, "n": 4})
        self.assertEqual(times["series"][1]["values"][1], None)
        self.assertAlmostEqual(speedups["series"][0]["values"][0]["high"], 1)

    def test_lines_by_what_another_field_says(self):
        where = 'where = {experiment = "first", kernel = ["two", "{wanted}"]}'
        self.plan(PLAN.replace('where = {experiment = "first"}', where)
                  .replace('"b=1"}', '"b=1", wanted = "one"}').replace('kernel = "two"', 'kernel = "three"'))
        times, _ = json.loads(self.eval("--json").stdout)["charts"]
        self.assertEqual(times["groups"], ["one"])

    def test_the_report_draws_the_same(self):
        self.eval()
        done = subprocess.run([WEIR, "report", self.results, "-o", self.folder / "page.html"], capture_output=True, text=True, check=False)
        if "plotting library" in done.stderr:
            self.skipTest("weir was built without the plotting library")
        self.assertEqual(done.returncode, 0, done)
        for page in (self.folder / "page.html", self.folder / "out" / "report.html"):
            self.assertIn("Figure 2: speed-up over second", page.read_text())
        header = self.lines()[0]
        self.results.write_text(json.dumps({**header, "version": 9}) + "\n")
        done = subprocess.run([WEIR, "report", self.results, "-o", self.folder / "page.html"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("version 9", done.stderr)

    def test_quick_and_only_and_dry_run(self):
        self.eval("--quick")
        self.assertEqual([r.split("weir ")[1] for r in self.runs()], ["a=1 a=x b=1", "a=1 a=x b=2 b=3"])
        self.assertEqual(self.lines()[0]["scaling"], "small quickly")
        shutil.rmtree(self.folder / "out")
        self.eval("--only", "second")
        self.assertEqual([r.split("weir ")[1] for r in self.runs()], ["c=1"])
        shutil.rmtree(self.folder / "out")
        done = self.eval("--dry-run")
        self.assertEqual(done.stdout.splitlines()[0], "weir emulate --roi --machine opteron-64 --cores 1 --cache-kib 64 -- weir a=2 a=x b=1")
        self.assertEqual((self.runs(), self.results.exists()), ([], False))

    def test_on_the_host(self):
        self.eval("--machine", "host")
        self.assertEqual(self.runs(), ["a=2 a=x b=1", "a=2 a=x b=2 b=3"])

    def test_what_the_host_cannot_run_is_left_out_and_said(self):
        asks = 'machines = ["opteron-64"]\nquick = false'
        self.plan(PLAN.replace(asks, "host = {least_nodes = 2000}"))
        done = self.eval("--machine", "host")
        self.assertEqual(self.runs(), ["a=2 a=x b=1", "a=2 a=x b=2 b=3"])
        self.assertIn("weir: second is left out: it needs 2000 nodes with CPUs, and this machine has ", done.stderr)
        reason = "Figure 2: speed-up over second: not drawn: second was not run: it needs 2000 nodes with CPUs, and "
        self.assertIn(reason, done.stdout)
        self.assertNotIn("Figure 2: speed-up over second\n", done.stdout)
        dry = self.eval("--machine", "host", "--dry-run")
        self.assertEqual(len(dry.stdout.splitlines()), 2)
        self.assertIn("second is left out", dry.stderr)
        self.assertEqual(self.eval("--machine", "host", "--json").stderr, done.stderr)
        self.assertEqual(self.runs(), [])

    def test_bound_to_nodes_of_the_host(self):
        self.plan(PLAN.replace('machines = ["opteron-64"]\nquick = false', "host = {nodes = 1}"))
        bound = self.eval("--machine", "host", "--dry-run").stdout.splitlines()[-1]
        self.assertRegex(bound, r"^taskset -c [0-9,-]+ weir c=1$")
        self.eval("--machine", "host")
        self.assertEqual(self.lines()[-1]["command"], bound)

    def test_counters_that_are_missing(self):
        self.plan(PLAN.replace('value = "time_ms"', 'value = "lines"', 1)
                  .replace('more = "b=1"', 'more = "counters_missing=some"'))
        done = self.eval("--machine", "host")
        reason = "Figure 1: times: not drawn: it needs counters that this machine does not have: some."
        self.assertIn(reason, done.stdout)

    def test_lines_without_what_bars_are_named_by(self):
        self.plan(PLAN.replace('series = "measured"', 'series = "b = {b}"'))
        note = "Incomplete: lines of first have no field b, which its bars are named by."
        self.assertIn(note, self.eval().stdout)
        self.plan(PLAN.replace('series = "measured"', 'series = "{step}"'))
        reason = "Figure 1: times: not drawn: lines of first have no field step, which its bars are named by."
        self.assertIn(reason, self.eval().stdout)

    def test_about_how_long(self):
        self.plan(PLAN.replace('name = "second"', 'name = "second"\nseconds = {other = 600, host = 7}')
                  .replace('scaling = "quickly"', 'scaling = "quickly"\npace = 0.5'))
        said = self.eval("--dry-run").stderr
        self.assertEqual(said, "weir: 3 groups of runs, about 12 min in all: a guess from the times in the file, which "
                               "are for two CPUs\n")
        self.assertIn("2 groups of runs, about 60 s in all", self.eval("--dry-run", "--quick").stderr)

    def test_full_sizes(self):
        self.plan(PLAN.replace("[quick]", '[full]\nmachines = ["host"]\nscaling = "large"\npace = 3\n'
                                          "parameters = {repeat = 9}\n[quick]"))
        self.eval("--machine", "host", "--full")
        self.assertEqual(self.runs(), ["a=9 a=x b=1", "a=9 a=x b=2 b=3"])
        self.assertEqual((self.lines()[0]["scaling"], self.lines()[0]["full"]), ("large", True))
        self.refused("--machine", "host", says=["--full: true, not null"])
        self.refused("--full", says=["--full is for machine host, not opteron-64"])
        self.refused("--machine", "host", "--full", "--quick", says=["--quick and --full exclude each other"])
        self.plan(PLAN)
        self.refused("--machine", "host", "--full", says=["--full", "no other sizes"])

    def test_several_programs_at_one_go(self):
        self.plan(PLAN.replace('commands = "weir {sizes} {more}"', 'together = 2\ncommands = ["weir {sizes}", "weir {more}"]'))
        self.eval("--machine", "host", "--only", "first")
        self.assertEqual(self.runs(), ["a=2 a=x", "b=1", "a=2 a=x", "b=2 b=3"])
        self.assertEqual({line["runs"] for line in self.lines()[1:]}, {7})

    def test_a_run_that_fails_is_said_and_the_others_go_on(self):
        self.plan(PLAN.replace('more = "b=1"', 'more = "b=1 fail"'))
        done = self.eval(status=1)
        self.assertEqual(len(self.runs()), 3)
        self.assertEqual([line["experiment"] for line in self.lines()[1:]], ["first"] * 4 + ["second"])
        self.assertIn("first: --cores 1 --cache-kib 64 -- weir a=2 a=x b=1 fail: it was told to fail", done.stderr)
        self.assertIn("2 of 3 groups of runs are done", done.stderr)
        for words, reason in (("noregions", "3 results and marked region 0 0 times"), ("garbage", "no JSON")):
            self.plan(PLAN.replace('more = "b=1"', f'more = "b=1 {words}"'))
            shutil.rmtree(self.folder / "out")
            self.assertIn(reason, self.eval(status=1).stderr)

    def test_a_program_that_was_not_built(self):
        self.plan(PLAN.replace('commands = "weir c=1"', 'commands = "peers/none c=1"'))
        self.refused(says=["second", "peers/none is not there"])
        self.plan(PLAN.replace('commands = "weir c=1"', 'commands = "peers/none c=1"\noptional = true'))
        self.assertIn("second is left out", self.eval().stderr)


CELLS = PLAN.replace("[[experiments]]", """[[cells.all]]
kind = ["x", "y"]
length = [1, 2]
[[cells.all]]
kind = "z"
length = 3
[[quick.cells.all]]
kind = "x"
length = 1
[[experiments]]
name = "cells"
cases = [{by = "own"}, {by = "other"}]
turns = 2
cells = "all"
commands = "weir by={by} kind={kind} length={length}"
[[experiments]]""", 1) + """
[[comparisons]]
title = "cells compared"
cell = "{kind}"
contender = "{by}"
repeat = "{turn}"
value = "virtual_ms"
without = {length = ["2", "3"]}
subject = "own"
rivals = "other"
"""


class Cells(InFolder):
    def setUp(self):
        super().setUp()
        self.plan(CELLS)

    def cells(self, *more):
        """What was run under each contender, in turn."""
        self.eval("--only", "cells", "--machine", "host", *more)
        return self.runs()

    def turns(self, cells):
        """What is to be run."""
        return [f"by={by} {cell}" for by in ("own", "other", "own", "other") for cell in cells]

    def test_all_of_them_in_each_group(self):
        every = ["kind=x length=1", "kind=x length=2", "kind=y length=1", "kind=y length=2", "kind=z length=3"]
        self.assertEqual(self.cells(), self.turns(every))
        self.assertEqual({line["runs"] for line in self.lines()[1:]}, {15})
        self.assertEqual([line["turn"] for line in self.lines()[1:]], [1] * 30 + [2] * 30)
        self.assertEqual(self.cells(), [])
        kept = self.results.read_text().splitlines(keepends=True)
        self.results.write_text("".join(kept[:-1]))
        self.assertEqual(self.cells(), self.turns(every)[-5:])

    def test_a_choice(self):
        for choice, expected in (("x", ["kind=x length=1", "kind=x length=2"]), ("y/2", ["kind=y length=2"]),
                                 ("x/1,z", ["kind=x length=1", "kind=z length=3"])):
            self.assertEqual(self.cells("--cells", choice), self.turns(expected))
            shutil.rmtree(self.folder / "out")
        self.assertEqual(self.cells("--quick"), self.turns(["kind=x length=1"]))
        shutil.rmtree(self.folder / "out")
        self.refused("--cells", "x/3", says=["x/3", "no such cell"])

    def test_the_folder_of_a_choice(self):
        arguments = self.arguments("--only", "cells", "--cells", "y/1,z")
        arguments[5:7] = []
        subprocess.run(arguments, capture_output=True, cwd=self.folder, env=self.environment, check=True)
        self.assertEqual(os.listdir(self.folder / "weir-eval"), ["trial-opteron-64-y-1-z"])

    def test_comparison(self):
        done = self.eval("--only", "cells")
        for words in ("cells compared", "best rival", "geometric mean of"):
            self.assertIn(words, done.stdout)
        compared, = json.loads(self.eval("--only", "cells", "--json").stdout)["comparisons"]
        self.assertEqual((compared["subject"], compared["rivals"]), ("own", ["other"]))

    def test_what_is_wrong(self):
        for old, new, says in (
            ('cells = "all"', 'cells = "none"', ["cells", "[cells]"]),
            ('rivals = "other"', "", ["rivals"]),
            ('kind = ["x", "y"]', 'kind = [["x"]]', ["kind"]),
        ):
            with self.subTest(new):
                self.plan(CELLS.replace(old, new, 1))
                self.refused(says=["trial.toml:", *says])


class Resuming(InFolder):
    def test_what_is_there_is_not_run_again(self):
        self.eval("--only", "second")
        self.eval()
        self.assertEqual(len(self.runs()), 3)
        before = self.results.read_bytes()
        done = self.eval()
        self.assertEqual((self.runs(), self.results.read_bytes()), ([], before))
        self.assertIn("Figure 1", done.stdout)

    def test_a_line_that_was_cut_off(self):
        self.eval()
        whole = self.results.read_text()
        self.runs()
        # After the middle of the last group, of the second one, and of the header.
        for kept, again in ((len(whole) - 10, 1), (whole.index('"b": "2"') if '"b": "2"' in whole else whole.index('"b":"2"'), 2), (20, 3)):
            self.results.write_text(whole[:kept])
            self.eval()
            self.assertEqual(len(self.runs()), again)
            self.assertEqual(len(self.lines()), 9)
            self.assertEqual(set(os.listdir(self.folder / "out")) - {"report.html"}, {"results.jsonl"})

    def test_other_results_are_refused_and_left_alone(self):
        self.eval()
        header, *lines = self.lines()
        other = lambda **more: "\n".join(map(json.dumps, [{**header, **more}, *lines])) + "\n"
        for text, says in (
            (other(version=2), ["version 2", "version 1"]), (other(weir="9.9.9"), ["9.9.9"]), (other(eval="else"), ["evaluation else, not trial"]), (other(machine="sgi-192"), ["machine sgi-192, not opteron-64"]),
            (other(quick=True), ["--quick"]), ("hello\n", ["line 1"]), ("hello", ["line 1"]), ('{"kernel":"x"}\n', ["line 1"]), (other() + "middle\n" + json.dumps(lines[0]) + "\n", ["line 10"]),
            (other() + json.dumps({**lines[0], "command": "weir else"}) + "\n", ["line 10", "weir else", "no run of trial"]),
        ):
            with self.subTest(says):
                self.results.write_text(text)
                self.runs()
                self.refused(says=["results.jsonl", "--out", *says])
                self.assertEqual((self.runs(), self.results.read_text()), ([], text))

    def test_new_figures_of_old_runs(self):
        self.eval()
        self.runs()
        self.plan(PLAN.replace("Figure 1: times", "Figure 1: the times"))
        self.assertIn("Figure 1: the times", self.eval().stdout)
        self.assertEqual((self.runs(), self.lines()[0]["figures"][0]["title"]), ([], "Figure 1: the times"))


class Refusals(InFolder):
    def test_plans(self):
        for old, new, says in (
            ('title = "a trial"', "title = ", ["trial.toml:2", "TOML"]), ('title = "a trial"\n', "", ['"title" is missing']), ('name = "second"', 'name = "second"\nspeed = 1', ["trial.toml:24", '"speed"']),
            ("weir {sizes}", "weir {size}", ["{size}", "not known"]), ('sizes = "a={repeat} a=x"', 'sizes = "{sizes}"', ["contains itself"]), ('cases = "both"', 'cases = "all"', ["trial.toml:19", '"all"']),
            ('unit = "ms"', 'unit = "s"', ["unit", "one of ms"]), ("repeat = 2", "repeat = [2]", ["trial.toml:6", '"repeat"']), ('commands = "weir c=1"', "commands = 7", ["commands"]), ('commands = "weir c=1"', 'regions = {x = 300}\ncommands = "weir c=1"', ["0 to 254"]),
        ):
            with self.subTest(new):
                self.plan(PLAN.replace(old, new, 1))
                self.refused(says=["trial.toml:", *says])
        self.plan("")
        self.refused(says=["trial.toml:1"])
        (self.folder / "trial.toml").unlink()
        self.refused(says=["trial.toml", "No such file"])
        self.assertEqual((self.runs(), self.results.exists()), ([], False))

    def test_options(self):
        self.refused("--machine", "epyc-nps4", says=["epyc-nps4", "host, opteron-64"])
        self.refused("--only", "third", says=["third", "first, second"])
        done = subprocess.run([WEIR, "eval", "trial.toml", "--out", "trial.toml/x", "--machine", "host", "--command", str(self.folder / "bin" / "weir")], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
        self.assertIn("trial.toml/x: cannot be made", done.stderr)
        done = subprocess.run([WEIR, "eval", "none"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
        self.assertIn('no evaluation "none"; there are ', done.stderr)
        self.assertIn("pact16", done.stderr)
        self.assertEqual(subprocess.run([WEIR, "eval"], capture_output=True, check=False).returncode, 2)

    def test_two_at_a_time(self):
        self.plan(PLAN.replace('more = "b=1"', 'more = "b=1 hang"'))
        first = subprocess.Popen(self.arguments(), cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + PATIENCE
            while not self.log.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            self.refused(says=["another weir eval"])
        finally:
            first.terminate()
            first.wait(PATIENCE)

    def test_what_comes_with_weir(self):
        for name, machines in (("pact16", ["opteron-64", "sgi-192", "epyc-nps4", "host"]), ("demo", ["opteron-64"]),
                               ("taggre", ["dual-nehalem", "host"]),
                               ("shapes", ["opteron-64", "sgi-192"]),
                               ("rip", ["altix-uv100-2b", "opteron-64", "sgi-192"])):
            for machine in machines:
                for quick in ([], ["--quick"]) + ((["--full"],) if machine == "host" else ()):
                    done = subprocess.run([WEIR, "eval", name, "--machine", machine, "--dry-run", *quick], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done)
                    self.assertGreater(len(done.stdout.splitlines()), 1)


class Ends(InFolder):
    """Ended while a program hangs: it ends, too, and what was finished is kept."""

    def test_signals(self):
        self.plan(PLAN.replace('more = "b=2 b=3"', 'more = "b=2 b=3 hang"'))
        for number in (signal.SIGINT, signal.SIGTERM):
            running = subprocess.Popen(self.arguments(), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + PATIENCE
            while not (self.log.exists() and "hang" in self.log.read_text()) and time.monotonic() < deadline:
                time.sleep(0.05)
            child, = map(int, pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split())
            running.send_signal(number)
            out, errors = running.communicate(timeout=PATIENCE)
            self.assertEqual((running.returncode, out), (128 + number, ""))
            self.assertIn("1 of 3 groups of runs are done", errors)
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists())
            self.assertEqual(len(self.lines()), 1 + 3)
            self.assertEqual(os.listdir(self.folder / "out"), ["results.jsonl"])
            self.runs()

    def test_under_nohup_a_lost_terminal_ends_nothing(self):
        self.plan(PLAN.replace('more = "b=2 b=3"', 'more = "b=2 b=3 hang"'))
        ignored = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        running = subprocess.Popen(self.arguments(), cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ignored)
        deadline = time.monotonic() + PATIENCE
        while not (self.log.exists() and "hang" in self.log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(PATIENCE), 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
