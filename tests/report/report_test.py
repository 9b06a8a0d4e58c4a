"""weir report: what it refuses, and the page it writes, in a browser. Usage: report_test.py PATH-OF-WEIR [TEST...]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import browser

WEIR = os.path.abspath(sys.argv.pop(1))

KERNEL = {"kernel": "jacobi-2d", "policy": "local", "workers": 4, "nodes": 2, "machine": "two", "size": [64, 64], "seconds": 0.5, "locality": 0.75, "peak_buffer_bytes": 1 << 20}


def kernel_lines():
    """Two kernels under two policies, three runs each; medians are the middle ones."""
    for kernel, scale in [("jacobi-2d", 1), ("kmeans", 3)]:
        for policy, seconds in [("steal", [0.4, 0.5, 0.8]), ("local", [0.2, 0.25, 0.3])]:
            for s in seconds:
                yield {**KERNEL, "kernel": kernel, "policy": policy, "seconds": s * scale, "locality": 0.5 if policy == "steal" else 0.9}


def trace(workers=4, nodes=2, tasks=40):
    """A trace as weir writes it: tasks of 1 us each, one after the other, on each worker; half of the bytes local on odd
    workers. Every tenth is stolen from the worker before it."""
    events, worker_nodes = [], [w * nodes // workers for w in range(workers)]
    for i in range(tasks):
        for w in range(workers):
            begin, end = 1000 + 2000 * i, 2000 + 2000 * i
            args = {"id": f"{w}.{end}", "node": worker_nodes[w], "home": worker_nodes[w], "read_local": 800, "read_remote": 800 if w % 2 else 0}
            if i % 10 == 5:
                args["stolen_from"] = (w - 1) % workers
            if i > 0:
                args["after"] = [f"{w}.{end - 2000}"]
            events.append({"ph": "X", "pid": 1 + worker_nodes[w], "tid": 1 + w, "ts": begin / 1000, "dur": (end - begin) / 1000, "cat": "task", "name": "even" if i % 2 == 0 else "odd", "args": args})
    for n in range(nodes):
        for t in range(5):
            events.append({"ph": "C", "pid": 1 + n, "tid": 0, "ts": 1 + 10 * t, "name": "bytes in buffers", "args": {"bytes": (n + 1) * t << 20}})
    events.append({"ph": "X", "pid": 1, "tid": 1, "ts": 1 + 2 * tasks, "dur": 5, "cat": "sleep", "name": "sleep"})
    about = {"format": "weir trace", "version": 1, "policy": "local", "machine": "two", "nodes": nodes, "workers": workers, "tasks": tasks * workers, "tasks_lost": 0, "run_ns": 2000 * tasks + 6000,
             "worker_nodes": worker_nodes, "bytes_read": [[10 * (a == b) + 1 for b in range(nodes)] for a in range(nodes)], "bytes_written": [[5 * (a == b) for b in range(nodes)] for a in range(nodes)]}
    return {"otherData": about, "displayTimeUnit": "ns", "traceEvents": events}


def text_of(trace):
    """One event a line, as weir writes it."""
    lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in trace["traceEvents"])
    return f'{{"otherData":{json.dumps(trace["otherData"])},\n"displayTimeUnit":"ns",\n"traceEvents":[\n{lines}\n]}}\n'


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def put(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def weir(self, *arguments):
        return subprocess.run([WEIR, *arguments], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=self.folder.name)

    def refused(self, *arguments, says):
        before = sorted(os.listdir(self.folder.name))
        result = self.weir(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), (arguments, result))
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for part in says:
            self.assertIn(part, result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)


class Traces(Files):
    def test_summary(self):
        self.put("t.json", text_of(trace()))
        result = self.weir("trace", "summary", "t.json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"policy local, 4 workers on 2 nodes \(two\): 160 tasks in 79\.0 us")
        self.assertRegex(result.stdout, r"(?m)^even +80 +1\.0\d us +1\.00 us +80\.0 us +50\.0 % +66\.7 % .* 0 +0$")
        self.assertRegex(result.stdout, r"(?m)^odd +80 .* 16 +0$")
        self.assertRegex(result.stdout, r"(?m)^worker 0 \(node 0\) +40 +50\.6 % ")
        self.assertRegex(result.stdout, r"(?m)^0 -> 0 +4 +0$")
        self.assertIn("critical path: 40 tasks, 40.0 us", result.stdout)
        summary = json.loads(self.weir("trace", "summary", "t.json", "--json").stdout)
        self.assertEqual((summary["all"]["count"], summary["all"]["stolen"], summary["critical_path"]), (160, 16, {"tasks": 40, "ns": 40000}))
        self.assertAlmostEqual(summary["all"]["locality"], 2 / 3)
        self.assertAlmostEqual(summary["all"]["median_ns"], 1000, delta=20)
        self.assertEqual([w["busy_ns"] for w in summary["per_worker"]], [40000] * 4)

    def test_a_task_that_waits_is_busy_once(self):
        t = trace(1, 1, 1)
        args = lambda end, **more: {"id": f"0.{end}", "node": 0, **more}
        t["otherData"]["tasks"] = 2
        slices = [("inner", 10, 30, "task", args(40000, nested=True)), ("sleep", 50, 20, "sleep", {"nested": True}), ("outer", 0, 100, "task", args(100000))]
        t["traceEvents"] = [{"ph": "X", "pid": 1, "tid": 1, "ts": begin, "dur": length, "cat": kind, "name": name, "args": a} for name, begin, length, kind, a in slices]
        self.put("t.json", text_of(t))
        worker = json.loads(self.weir("trace", "summary", "t.json", "--json").stdout)["per_worker"][0]
        self.assertEqual((worker["tasks"], worker["busy_ns"], worker["asleep_ns"]), (2, 80000, 20000))

    def test_who_sleeps_before_and_after_all_tasks_does_not_count(self):
        t = trace(2, 1, 1)
        t["otherData"]["tasks"] = 1
        sleeps = [("sleep", 0, 150, "sleep", 2, {}), ("sleep", 160, 10, "sleep", 2, {}), ("t", 100, 100, "task", 1, {"id": "0.200000", "node": 0}), ("sleep", 190, 110, "sleep", 2, {})]
        t["traceEvents"] = [{"ph": "X", "pid": 1, "tid": tid, "ts": begin, "dur": length, "cat": kind, "name": name, "args": a} for name, begin, length, kind, tid, a in sleeps]
        workers = json.loads(self.summary_of(t))["per_worker"]
        self.assertEqual([w["asleep_ns"] for w in workers], [0, 70000])

    def run_of(self, slices, workers=2, nodes=1):
        """Summary of a run of (worker, begin, end in ns, fields of the task)."""
        worker_nodes = [w * nodes // workers for w in range(workers)]
        t = trace(workers, nodes, 1)
        t["otherData"]["tasks"] = len(slices)
        t["traceEvents"] = [
            {"ph": "X", "pid": 1 + worker_nodes[w], "tid": 1 + w, "ts": begin / 1000, "dur": (end - begin) / 1000,
             "cat": "task", "name": "t", "args": {"id": f"{w}.{end}", "node": worker_nodes[w], **fields}}
            for w, begin, end, fields in sorted(slices, key=lambda s: s[2])]
        self.put("t.json", text_of(t))
        one_sided = json.loads(self.weir("trace", "summary", "t.json", "--json").stdout)["one_sided"]
        text = self.weir("trace", "summary", "t.json").stdout
        self.assertEqual("while others were idle:" in text, one_sided is not None, text)
        if one_sided is not None:
            self.assertTrue(text.endswith("\n\n" + one_sided["text"] + "\n"), text)
        return one_sided

    def assert_one_sided(self, one_sided, reason, worker=0, node=0, share=1):
        self.assertIsNotNone(one_sided)
        self.assertEqual([one_sided[key] for key in ("reason", "worker", "node")], [reason, worker, node], one_sided)
        self.assertAlmostEqual(one_sided["share"], share)

    def test_one_worker_did_nearly_all(self):
        def row(n, length, gap, worker=0, **fields):
            return [(worker, 1000 + i * (length + gap), 1000 + i * (length + gap) + length, fields) for i in range(n)]

        def chain(slices):
            ids = [f"{w}.{end}" for w, _, end, _ in slices]
            return [(w, begin, end, {**f, **({"after": [ids[i - 1]]} if i > 0 else {})})
                    for i, (w, begin, end, f) in enumerate(slices)]

        long, short = row(100, 200_000, 100), row(20_000, 100, 100)
        local = {"read_local": 4096, "read_remote": 0}
        self.assert_one_sided(self.run_of(chain(long)), "dependent")
        self.assert_one_sided(self.run_of(row(100, 20_000, 100_000)), "uncreated")
        self.assert_one_sided(self.run_of(row(1, 20_000_000, 0) + row(10, 1000, 0, worker=1)), "one task",
                              share=20 / 20.01)
        self.assert_one_sided(self.run_of(row(100, 200_000, 100, required=True), nodes=2), "required")
        self.assert_one_sided(self.run_of(short), "small")
        self.assert_one_sided(self.run_of(row(100, 200_000, 100, **local), nodes=2), "distant")
        pieces = [(0, b + i * 200_000, e + i * 200_000, f) for i in range(100) for _, b, e, f in row(4, 5000, 100)]
        self.assert_one_sided(self.run_of(pieces), "brief")
        self.assert_one_sided(self.run_of(long), None)
        # Neighbours could take these, so neither reason holds.
        for fields in [local, {"required": True}]:
            self.assert_one_sided(self.run_of(row(100, 200_000, 100, **fields), workers=4, nodes=2), None)
        # What a creator runs itself is none of its own time.
        inside = [(w, begin, end, {**f, "nested": True}) for w, begin, end, f in short]
        self.assert_one_sided(self.run_of(inside + [(0, 0, 5_000_000, {})]), "small")
        # A node's workers, or one at a time.
        pair = row(100, 200_000, 100, **local) + row(100, 200_000, 100, worker=1, **local)
        self.assert_one_sided(self.run_of(pair, workers=4, nodes=2), "distant", worker=None)
        hops = chain([(i % 2, 1000 + i * 300_000, 201_000 + i * 300_000, {}) for i in range(100)])
        self.assert_one_sided(self.run_of(hops), "dependent", worker=None, node=None)

    def test_balanced_or_little_says_nothing(self):
        both = [(w, 1000 + i * 1_000_000, 901_000 + i * 1_000_000, {}) for i in range(20) for w in range(2)]
        self.assertIsNone(self.run_of(both))
        self.assertIsNone(self.run_of([s for s in both if s[0] == 0], workers=1))
        self.assertIsNone(self.run_of([(0, 0, 999_999, {})]))
        self.assertIsNone(json.loads(self.summary_of(trace()))["one_sided"])

    def summary_of(self, t):
        self.put("t.json", text_of(t))
        return self.weir("trace", "summary", "t.json", "--json").stdout

    def test_graph(self):
        self.put("t.json", text_of(trace(1, 1, 3)))
        dot = self.weir("trace", "dot", "t.json").stdout
        self.assertEqual(re.findall(r'"(\S+)" -> "(\S+)"', dot), [("0.2000", "0.4000"), ("0.4000", "0.6000")])
        self.assertEqual(len(re.findall(r"\[label=", dot)), 3)

    def test_arrows_are_passed_over(self):
        t = trace(2, 1, 3)
        arrow = lambda phase: {"ph": phase, "pid": 1, "tid": 1, "ts": 1, "id": 1, "cat": "dep", "name": "dep"}
        for place in [0, 3, len(t["traceEvents"]) + 2]:
            t["traceEvents"][place:place] = [arrow("s"), arrow("f")]
        self.put("t.json", text_of(t))
        self.assertEqual(json.loads(self.weir("trace", "summary", "t.json", "--json").stdout)["all"]["count"], 6)

    def test_refusals(self):
        good = text_of(trace())
        other = lambda **more: text_of({**trace(), "otherData": {**trace()["otherData"], **more}})
        for name, text, says in [
            ("empty", "", ["empty"]), ("half", good[:len(good) // 2], ["truncated"]), ("cut", good[:good.rindex("\n]}")], ["truncated"]), ("words", "hello\n", ["no trace"]),
            ("foreign", '{"traceEvents":[]}', ["otherData"]), ("list", "[]", ["otherData"]), ("later", other(version=2), ["version 2", "version 1"]), ("format", other(format="x"), ["no trace"]),
            ("count", other(tasks=7), ["160 tasks", "7"]), ("nodes", other(nodes=3), ["fit together"]), ("damaged", good.replace('"ph":"X"', '"ph":X', 1), ["damaged"]),
            ("worker", good.replace('"tid":1', '"tid":99', 1), ["no worker"]), ("id", good.replace('"after":["0.2000"]', '"after":["x"]', 1), ["WORKER.NANOSECONDS"]),
        ]:
            with self.subTest(name):
                self.put(name + ".json", text)
                for command in [["trace", "summary"], ["trace", "dot"]]:
                    self.refused(*command, name + ".json", says=[name + ".json", *says])
        self.refused("trace", "summary", "none.json", says=["none.json", "No such file"])
        self.refused("trace", "summary", ".", says=["expected a file"])
        self.refused("trace", says=["a command is missing", "summary"])


def has_library():
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "r.html")
        with open(os.path.join(folder, "r.jsonl"), "w") as f:
            f.write(json.dumps(KERNEL) + "\n")
        done = subprocess.run([WEIR, "report", os.path.join(folder, "r.jsonl"), "-o", page], capture_output=True, text=True)
        return done.returncode == 0 or "plotting library" not in done.stderr


HAS_LIBRARY = has_library()


class Charts(Files):
    def test_as_json(self):
        self.put("r.jsonl", "".join(json.dumps({**KERNEL, "policy": p, "seconds": s}) + "\n" for p, s in [("steal", 4), ("local", 1), ("local", 3), ("local", 2)]))
        done = self.weir("report", "--json", "r.jsonl", "-o", "page.html")
        self.assertEqual((done.returncode, done.stderr, os.listdir(self.folder.name)), (0, "", ["r.jsonl"]))
        [section] = json.loads(done.stdout)
        speed_up = next(c for c in section["charts"] if c["title"] == "Speed-up over steal")
        of_local = next(s for s in speed_up["series"] if s["name"] == "local")["values"]
        self.assertEqual((speed_up["unit"], of_local[0]["median"], of_local[0]["n"]), ("ratio", 2, 3))
        # 4 / 1, 4 / 3 and 4 / 2: of the ratios, not of the times.
        self.assertAlmostEqual(of_local[0]["deviation"], 1.387777, places=5)

    def test_of_unknown_locality(self):
        self.put("r.jsonl", json.dumps({**KERNEL, "locality": None}) + "\n")
        done = self.weir("report", "--json", "r.jsonl")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("Locality", [chart["title"] for chart in json.loads(done.stdout)[0]["charts"]])

    def test_refusals(self):
        self.put("half.jsonl", json.dumps(KERNEL)[:40])
        self.put("t.json", text_of(trace()))
        self.refused("report", "--json", "half.jsonl", says=["half.jsonl", "line 1"])
        self.refused("report", "--json", "t.json", says=["t.json", "a trace", "expected results"])


@unittest.skipUnless(HAS_LIBRARY, "weir was built without the plotting library")
class Reports(Files):
    def test_refusals(self):
        line = json.dumps(KERNEL) + "\n"
        without = lambda key: json.dumps({k: v for k, v in KERNEL.items() if k != key}) + "\n"
        for name, text, says in [
            ("empty", "", ["empty"]), ("blank", "\n\n", ["empty"]), ("half", line + line[:40], ["line 2", "truncated"]), ("words", "hello\nworld\n", ["line 1", "no JSON"]), ("number", "7\n", ["line 1", "neither"]),
            ("foreign", '{"x":1}\n', ["line 1", "neither", "this version"]), ("policy", without("policy"), ['"policy"', "this version"]), ("time", line + without("seconds"), ["line 2", '"seconds"']),
            ("negative", json.dumps({**KERNEL, "seconds": -1}) + "\n", ['"seconds"']), ("cost", '{"pattern":"fib","runtime":"weir","workers":1}\n', ['"ns_per_task"']),
        ]:
            with self.subTest(name):
                self.put(name + ".jsonl", text)
                self.refused("report", name + ".jsonl", "-o", "page.html", says=[name + ".jsonl", *says])
        self.put("good.jsonl", line)
        self.put("old.json", text_of({**trace(), "otherData": {**trace()["otherData"], "version": 0}}))
        self.refused("report", "good.jsonl", "old.json", "-o", "page.html", says=["old.json", "version 0"])
        self.refused("report", "none.jsonl", says=["none.jsonl", "No such file"])
        self.refused("report", "good.jsonl", "-o", "no/page.html", says=["no/page.html", "No such file"])
        self.refused("report", says=["FILE is missing"])

    def test_nothing_is_fetched_and_nothing_escapes(self):
        self.put("r.jsonl", json.dumps({**KERNEL, "kernel": "</script><b>@DATA@"}) + "\n")
        self.assertEqual(self.weir("report", "r.jsonl", "--title", "a < b & @DATA@").returncode, 0)
        with open(self.path("report.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertIn("<title>a &lt; b &amp; @DATA@</title>", page)
        self.assertEqual(page.count("</script>"), 3)
        self.assertIn("Content-Security-Policy\" content=\"default-src 'none';", page)   # and in the browser nothing is asked for

    def test_what_weir_prints_is_read(self):
        run = self.weir("bench", "jacobi-2d", "--size", "64x64", "--block", "16x16", "--iterations", "3", "--policy", "local,steal", "--repeat", "2", "--json")
        self.put("r.jsonl", run.stdout)
        self.weir("bench", "jacobi-2d", "--size", "64x64", "--block", "16x16", "--iterations", "3", "--workers", "2", "--trace", "t.json")
        done = self.weir("report", "r.jsonl", "t.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "written: report.html\n", ""))
        with open(self.path("report.html"), encoding="utf-8") as f:
            data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', f.read())[1])
        self.assertEqual([c["title"] for c in data["groups"][0]["charts"]], ["Time", "Speed-up over steal", "Locality", "Peak memory in version buffers"])
        summary = json.loads(self.weir("trace", "summary", "t.json", "--json").stdout)
        self.assertEqual(sum(sum(lane["count"]) for lane in data["traces"][0]["lanes"]), summary["all"]["count"])

    def test_variants_stand_apart(self):
        variants = [{}, {"memory": "private", "shared": False}, {"memory": "shared", "shared": True}, {"memory": "own"}]
        self.put("r.jsonl", "".join(json.dumps({**KERNEL, **variant}) + "\n" for variant in variants))
        self.assertEqual(self.weir("report", "r.jsonl").returncode, 0)
        with open(self.path("report.html"), encoding="utf-8") as f:
            page = f.read()
        for named in ['"jacobi-2d 64x64"', '"jacobi-2d 64x64, shared"', '"jacobi-2d 64x64, own memory"']:
            self.assertIn(named, page)

    def test_long_traces_are_summed_up(self):
        self.put("t.json", text_of(trace(2, 1, 110_000)))
        self.assertEqual(self.weir("report", "t.json").returncode, 0)
        with open(self.path("report.html"), encoding="utf-8") as f:
            data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', f.read())[1])
        lanes = data["traces"][0]["lanes"]
        self.assertEqual(sum(sum(lane["count"]) for lane in lanes), 220_000)
        self.assertEqual(sum(sum(lane["bytes"]) for lane in lanes), 110_000 * (800 + 1600))
        self.assertLess(sum(len(lane["count"]) for lane in lanes), 200_000)


@unittest.skipUnless(HAS_LIBRARY, "weir was built without the plotting library")
@unittest.skipIf(browser.missing(), browser.missing())
class Page(Files):
    """One page, looked at as a person would: hover, zoom, switch."""

    def setUp(self):
        super().setUp()
        self.put("r.jsonl", "".join(json.dumps(line) + "\n" for line in kernel_lines()))
        self.put("t.json", text_of(trace()))
        self.assertEqual(self.weir("report", "r.jsonl", "t.json").returncode, 0)

    def show(self, b, chart):
        """Scrolls a chart into view and returns its rectangle."""
        b.run("document.getElementById(arguments[0]).scrollIntoView({block: 'center'})", chart)
        return b.run("const r = document.getElementById(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", chart)

    def pixel(self, b, chart, value):
        """Where a chart has a value, in the window."""
        x, y, *_ = self.show(b, chart)
        px = b.run("const f = weirPage.figures.find(f => f.id === arguments[0]); return f.chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, arguments[1])", chart, value)
        return x + px[0], y + px[1]

    def tooltip(self, b, chart, words):
        return b.until("const t = [...document.getElementById(arguments[0]).children].find(e => e.innerText && e.style.visibility !== 'hidden' && e.innerText.includes(arguments[1])); return t && t.innerText", chart, words)

    def test_page(self):
        with browser.Browser() as b:
            b.open(self.path("report.html"))
            b.until("return document.readyState === 'complete' && weirPage.timelines.length === 1")
            with self.subTest("no error, no request"):
                self.assertEqual(b.messages(), [])
                self.assertEqual(b.run("return performance.getEntriesByType('resource').length"), 0)
            with self.subTest("bars show medians, whiskers the extremes"):
                option = b.run("const o = weirPage.figures[0].chart.getOption(); return [o.xAxis[0].data, o.series.map(s => [s.name, s.type, s.data])]")
                self.assertEqual(option[0], ["jacobi-2d 64x64", "kmeans 64x64"])
                self.assertEqual(option[1][:2], [["steal", "bar", [0.5e9, 1.5e9]], ["local", "bar", [0.25e9, 0.75e9]]])
                self.assertEqual([[round(x) for x in d[:3]] for d in option[1][2][2]], [[0, 400e6, 800e6], [1, 1200e6, 2400e6], [0, 200e6, 300e6], [1, 600e6, 900e6]])
            with self.subTest("hover over a bar"):
                b.hover(*self.pixel(b, "bars-0", [1, 0.1e9]))
                text = self.tooltip(b, "bars-0", "kmeans")
                self.assertIn("1.50 s (1.20 s to 2.40 s, 3 runs, deviation 624 ms)", text)
            with self.subTest("speed-up"):
                self.assertEqual(b.run("return weirPage.figures[1].chart.getOption().series[1].data"), [2, 2])
            with self.subTest("heat map"):
                b.hover(*self.pixel(b, "heat-0", [1, 1]))
                text = self.tooltip(b, "heat-0", "node 1 accesses node 1")
                self.assertRegex(text, r"read\s+11\.0 B\s+written\s+5\.00 B\s+of all bytes\s+47\.1 %")
            with self.subTest("memory"):
                b.hover(*self.pixel(b, "memory-0", [35_000, 0]))
                text = self.tooltip(b, "memory-0", "node 1")
                self.assertRegex(text, r"node 0\s+3\.00 MiB\s+node 1\s+6\.00 MiB\s+all\s+9\.00 MiB")
            self.timeline(b)
            self.schemes(b)
            self.assertEqual(b.messages(), [])

    def timeline(self, b):
        state = lambda: b.run("return weirPage.timelines[0].state()")
        with self.subTest("the whole run"):
            whole = state()
            self.assertEqual((whole["tasks"], whole["stolen"], whole["arrows"], whole["from"], whole["to"]), (160, 16, 16, 0, 79_000))
        with self.subTest("hover over a task"):
            b.hover(*self.pixel(b, "timeline-0", [10_500, 1]))
            text = self.tooltip(b, "timeline-0", "odd")
            self.assertRegex(text, r"on\s+worker 1, node 0\s+from\s+10\.0 \S+s, for 1\.00 \S+s\s+bytes\s+1\.56 KiB\s+of these local\s+50\.0 %\s+home\s+node 0\s+stolen from\s+worker 0, node 0")
        with self.subTest("zoom by the wheel, around the pointer"):
            at = self.pixel(b, "timeline-0", [40_000, 2])
            for _ in range(6):
                b.wheel(*at, -240)
            zoomed = b.until("const s = weirPage.timelines[0].state(); return s.to - s.from < 60000 && s")
            self.assertLess(zoomed["tasks"], whole["tasks"])
            self.assertLess(zoomed["from"], 40_000)
            self.assertGreater(zoomed["to"], 40_000)
            first, last = [sum(1 for i in range(40) if 2000 * i < zoomed["to"] and 2000 * i + 1000 >= zoomed["from"] + d) for d in (2, -2)]
            self.assertTrue(4 * first <= zoomed["tasks"] <= 4 * last, zoomed)
        with self.subTest("and back"):
            button = lambda text: b.run("const r = [...document.querySelectorAll('button')].find(e => e.textContent === arguments[0]).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]", text)
            b.click(*button("whole run"))
            self.assertEqual(b.until("const s = weirPage.timelines[0].state(); return s.to - s.from > 78999 && s")["tasks"], 160)
            b.click(*button("arrows"))
            self.assertEqual(state()["arrows"], 0)
            b.click(*button("arrows"))
            self.assertEqual(state()["arrows"], 16)

    def schemes(self, b):
        with self.subTest("dark and light"):
            b.run("scrollTo(0, 0)")
            ground = "return getComputedStyle(document.documentElement).backgroundColor"
            before = b.run(ground)
            b.click(*b.run("const r = document.getElementById('scheme').getBoundingClientRect(); return [r.x + 5, r.y + 5]"))
            self.assertEqual({before, b.run(ground)}, {"rgb(255, 255, 255)", "rgb(18, 22, 29)"})
            self.assertEqual(b.run("return weirPage.timelines[0].state()")["tasks"], 160)


if __name__ == "__main__":
    unittest.main()
