"""weir bench from outside: what it prints, and what it refuses. Usage: command_test.py PATH-OF-WEIR"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

WEIR = sys.argv.pop(1)
SMALL = {"jacobi-2d": ["--size", "40x30", "--block", "8x8", "--iterations", "3"]}


def weir(*arguments):
    return subprocess.run([WEIR, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def png(width, height, grey):
    """An 8-bit grey PNG; grey(row, column) in 0..255."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = b"".join(b"\0" + bytes(grey(r, c) for c in range(width)) for r in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class Refusals(unittest.TestCase):
    def refused(self, *arguments, says):
        result = weir(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result))
        self.assertEqual(result.stdout, "", arguments)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, result.stderr))
        self.assertTrue(lines[0].startswith("weir: "), lines)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, lines[0])

    def test_memory_programs(self):
        self.refused("bench", "jacobi-2d", "--movable", says="--movable needs --shared")
        self.refused("bench", "jacobi-2d", "--movable", "--memory", "own", says="--movable needs --shared")
        self.refused("bench", "jacobi-2d", "--memory", "public", says="private, shared or own")
        self.refused("bench", "jacobi-2d", "--shared", "--memory", "own", says="--shared and --memory own")
        self.refused("bench", "bitonic", "--memory", "own", says="bitonic has no --memory own")
        self.refused("bench", "migration", "--pages", "large", says=["--pages large", "default, small or huge"])
        self.refused("bench", "migration", "--iterations", "1,0", says=["--iterations 0", "1 or more"])
        self.refused("bench", "migration", "--buffer-kib", "0", says="--buffer-kib")
        self.refused("bench", "latency", "--buffer-kib", "many", says="--buffer-kib")
        self.refused("bench", "latency", "--shared", says="--shared")

    def test_names(self):
        self.refused(says="")
        self.refused("dance", says="")
        self.refused("bench", says="--list")
        self.refused("bench", "jacobi", says=["\"jacobi\"", "jacobi-2d", "bitonic"])
        self.refused("bench", "jacobi-2d,", says="name is missing")
        self.refused("bench", "jacobi-2d", "--frobnicate", says="--frobnicate")
        self.refused("bench", "jacobi-2d", "--control", "chaotic", says="chaotic")

    def test_policies(self):
        self.refused("bench", "jacobi-2d", "--policy", "locale", says=["locale", "push-weighted"])
        self.refused("bench", "jacobi-2d", "--policy", "local,steal:in=1", says="in")
        self.refused("bench", "jacobi-2d", "--policy", "push-weighted:in=-1", says="in=-1")
        self.refused("bench", "jacobi-2d", "--policy", "in=1", says="without a policy")
        self.refused("bench", "jacobi-2d", "--policy", "", says="")

    def test_numbers(self):
        for size in ["0x8", "8x0", "-8x8", "8", "8x8x8", "8x", "8xx8", "eight", "1e3x8", "99999999999999999999x1", ""]:
            self.refused("bench", "jacobi-2d", "--size=" + size, says="")
        for block in ["0x8", "8", "100000x8", "x"]:
            self.refused("bench", "jacobi-2d", "--size", "64x64", "--block", block, says="--block")
        self.refused("bench", "jacobi-2d", "--size", "18446744073709551615x2", says=["--size", "memory"])
        self.refused("bench", "jacobi-1d", "--size", "1000000000000000", says=["--size", "available"])
        for option in ["--iterations", "--repeat"]:
            for value in ["0", "-1", "many", "1.5", "99999999999"]:
                self.refused("bench", "jacobi-2d", option, value, says=option)
        for value in ["-1", "x", "1000000"]:
            self.refused("bench", "jacobi-2d", "--workers", value, says="--workers")

    def test_options_a_kernel_does_not_have(self):
        self.refused("bench", "jacobi-2d", "--clusters", "3", says=["jacobi-2d", "--clusters"])
        self.refused("bench", "blur-roberts", "--iterations", "3", says=["blur-roberts", "--iterations"])
        self.refused("bench", "jacobi-2d", "--input", "x.png", says="--input")
        self.refused("bench", "blur-roberts", "--output", "x.png", says="--input")
        self.refused("bench", "jacobi-2d", "--pages-check", "--shared", says="--pages-check")
        self.refused("bench", "jacobi-2d", "--pages-check", "--machine", "nodes:2 cpus:1", says="--pages-check")
        self.refused("bench", "jacobi-2d", "--machine", "no/such/file.toml", says="no/such/file.toml")

    def test_own_memory_by_hand(self):
        self.refused("bench", "jacobi-2d", "--annotate", says="--annotate needs --memory own")
        self.refused("bench", "jacobi-2d", "--init", "one", "--shared", says="--init needs --memory own")
        self.refused("bench", "jacobi-3d", "--init", "one", "--memory", "own", says="jacobi-3d has no --init")
        self.refused("bench", "kmeans", "--annotate", "--memory", "own", says="kmeans has no --annotate")
        self.refused("bench", "nstream", "--init", "chunks", says=["chunks", "tasks, one or inside"])
        self.refused("bench", "nstream", "--memory", "private", says="nstream has no --memory private")
        self.refused("bench", "nstream", "--shared", says="nstream has no --shared")
        self.refused("bench", "nstream", "--bins", "3", says="nstream has no --bins")
        self.refused("bench", "integral-histogram", "--bins", "0", says="--bins 0")
        self.refused("bench", "conjugate-gradient", "--size", "64x64", "--block", "8x8",
                     says="rows of the grid are not cut")
        self.refused("bench", "conjugate-gradient", "--size", "100000x100000", says="more entries than 32 bits")
        for kernel in ["qr", "symmetric-inverse"]:
            self.refused("bench", kernel, "--size", "3000000000", says=["--size 3000000000", "BLAS"])
            self.refused("bench", kernel, "--iterations", "3", says=f"{kernel} has no --iterations")

    def test_bound(self):
        self.refused("bench", "kmeans", "--bound", says="--bound needs an application on its own memory")
        self.refused("bench", "jacobi-2d", "--bound", says="--bound needs --memory own")
        self.refused("bench", "nstream", "--bound", says="--bound needs --init inside")
        own = ["--init", "inside", "--bound"]
        self.refused("bench", "nstream", *own, "--control", "parallel", says="--bound needs --control sequential")
        self.refused("bench", "nstream", *own, "--annotate", says="--annotate")
        self.refused("bench", "nstream", *own, "--verify", says="--bound and --verify")
        self.refused("bench", "nstream", *own, "--policy", "dance", says="dance")

    def test_traces(self):
        for more in [["--policy", "all"], ["--policy", "local,steal"], ["--repeat", "2"]]:
            self.refused("bench", "jacobi-2d", "--trace", "t.json", *more, says=["--trace", "one run"])
        self.refused("bench", "jacobi-2d,seidel-2d", "--trace", "t.json", says=["--trace", "one run"])
        self.refused("bench", "jacobi-2d", "--trace", "no/such/t.json", says=["no/such/t.json", "No such file"])

    def test_a_mistake_in_the_second_kernel_stops_the_first(self):
        self.refused("bench", "jacobi-2d,jacobi-1d", "--size", "64x64", "--block", "8x8", says="jacobi-1d")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            with open(path("text.png"), "w") as f:
                f.write("not a picture\n")
            with open(path("cut.png"), "wb") as f:
                f.write(png(64, 64, lambda r, c: r ^ c)[:200])
            with open(path("good.png"), "wb") as f:
                f.write(png(64, 48, lambda r, c: r ^ c))
            self.refused("bench", "blur-roberts", "--input", path("none.png"), says="none.png")
            self.refused("bench", "blur-roberts", "--input", folder, says="")
            self.refused("bench", "blur-roberts", "--input", path("text.png"), says="text.png")
            self.refused("bench", "blur-roberts", "--input", path("cut.png"), says="cut.png")
            self.refused("bench", "blur-roberts", "--input", path("good.png"), "--size", "8x8", says="--size")
            self.refused("bench", "blur-roberts", "--input", path("good.png"), "--block", "49x8", says="larger")
            before = sorted(os.listdir(folder))
            self.refused("bench", "blur-roberts", "--input", path("good.png"), "--output", path("no/folder.png"), says="folder.png")
            self.refused("bench", "blur-roberts", "--input", path("cut.png"), "--output", path("out.png"), says="cut.png")
            self.assertEqual(sorted(os.listdir(folder)), before)



class Memory(unittest.TestCase):
    """The programs without tasks; how fast memory is, is this machine's affair."""

    def lines(self, *arguments):
        done = weir("bench", *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_latency(self):
        lines = self.lines("latency", "--buffer-kib", "512")
        self.assertEqual(len(lines) % 2, 0)
        self.assertEqual([line["access"] for line in lines], ["read", "write"] * (len(lines) // 2))
        for line in lines:
            self.assertEqual(line["visited_lines"], 8192)
            self.assertGreater(line["ns_per_line"], 0)

    def test_migration(self):
        lines = self.lines("migration", "--pages", "small,huge", "--iterations", "1,3", "--buffer-kib", "64", "--changes", "3", "--sets", "2", "--repeat", "2")
        self.assertEqual([(line["pages"], line["iterations"], line["repeat"]) for line in lines], [(p, i, r) for r in (0, 1) for p in ("small", "huge") for i in (1, 3)])
        self.assertEqual({line["verified"] for line in lines}, {True})

    def test_pages_that_may_move(self):
        line, = self.lines("seidel-1d", "--size", "4096", "--block", "512", "--iterations", "2", "--shared", "--movable", "--verify")
        self.assertTrue(line["verified"])


class Runs(unittest.TestCase):
    def test_memory_is_said(self):
        for options, memory in [([], "private"), (["--memory", "private"], "private"), (["--shared"], "shared"),
                                (["--memory", "shared", "--shared"], "shared"), (["--memory", "own"], "own")]:
            result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], *options, "--verify", "--json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            run = json.loads(result.stdout)
            self.assertEqual((run["memory"], run["shared"], run["verified"]), (memory, memory == "shared", True))
            self.assertEqual(run["locality"] is None, memory == "shared")
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--memory", "own")
        self.assertIn("  own memory  ", result.stdout.splitlines()[0])

    def test_own_memory_by_hand_is_said(self):
        for kernel, problem in [("jacobi-2d", [*SMALL["jacobi-2d"], "--memory", "own"]),
                                ("nstream", ["--size", "1000", "--block", "100", "--iterations", "3"]),
                                ("qr", ["--size", "90", "--block", "40"])]:
            for init in [None, "tasks", "one", "inside"]:
                usual = "chunks" if kernel == "jacobi-2d" else "tasks"
                options = [] if init is None else ["--init", init, "--annotate"]
                result = weir("bench", kernel, *problem, *options, "--verify", "--json")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                run = json.loads(result.stdout)
                self.assertEqual((run["memory"], run["init"], run["annotated"], run["verified"]),
                                 ("own", init or usual, init is not None, True))
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--json")
        self.assertEqual((json.loads(result.stdout)["init"], json.loads(result.stdout)["annotated"]), (None, False))
        result = weir("bench", "nstream", "--size", "1000", "--block", "100", "--annotate")
        self.assertIn("  own memory  init tasks  annotated  ", result.stdout.splitlines()[0])

    def test_bound_of_a_program_whose_parts_have_nothing_in_common(self):
        bench = ["bench", "nstream", "--size", "4096", "--block", "512", "--iterations", "3", "--init", "inside",
                 "--machine", "nodes:2 cpus:1", "--policy", "fifo,partition-follow", "--bound"]
        result = weir(*bench, "--repeat", "2", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        divisions = [row for row in rows if "partitioner" in row]
        self.assertEqual([row["policy"] for row in rows if "policy" in row], ["fifo", "partition-follow"])
        self.assertEqual([row["best"] for row in divisions].count(True), 1)
        for row in rows:
            # 8 blocks, of which a task writes three arrays; then it reads two of them and updates one, three times.
            self.assertEqual((row["kernel"], row["tasks"], row["links"], row["bytes"]),
                             ("nstream", 32, 72, 24 * 4 * 4096))
            self.assertLessEqual(row["bytes_between"], row["bytes"])
        for row in divisions:
            self.assertEqual((row["bytes_between"], row["times_best"], row["imbalance"]), (0, None, 0))
        table = weir(*bench).stdout.splitlines()
        self.assertEqual(len(table), 2 + len(rows) + 1)
        self.assertRegex(table[2], r"^  \S+ +(\(best\) )? *1 +0 B ")

    def test_bound_is_the_same_each_time(self):
        def divisions():
            result = weir("bench", "qr", "--size", "128", "--block", "32", "--init", "inside", "--bound", "--policy",
                          "local", "--machine", "opteron-64", "--workers", "8", "--json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return [row for row in map(json.loads, result.stdout.splitlines()) if "partitioner" in row]
        first = divisions()
        self.assertGreater(len(first), 1)
        self.assertEqual(first, divisions())

    def test_histogram_of_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "in.png")
            with open(source, "wb") as f:
                f.write(png(60, 40, lambda r, c: (r * 6) ^ c))
            result = weir("bench", "integral-histogram", "--input", source, "--block", "7x9", "--bins", "5",
                          "--verify", "--json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            run = json.loads(result.stdout)
            self.assertEqual((run["size"], run["bins"], run["verified"]), ([40, 60], 5, True))

    def test_json_is_one_object_a_run(self):
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--policy", "all", "--repeat", "2", "--verify", "--json", "--pages-check")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        runs = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(runs), 18)
        for run in runs:
            self.assertIs(run["verified"], True)
            self.assertEqual((run["kernel"], run["size"], run["block"], run["iterations"]), ("jacobi-2d", [40, 30], [8, 8], 3))
            self.assertGreater(run["seconds"], 0)
            self.assertGreater(run["pages_checked"] + run["pages_unknown"], 0)
        self.assertEqual([run["repeat"] for run in runs], [0] * 9 + [1] * 9)

    def test_each_round_begins_with_another_policy(self):
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--policy", "local,steal", "--repeat", "3", "--json")
        self.assertEqual([(run["repeat"], run["policy"]) for run in map(json.loads, result.stdout.splitlines())],
                         [(0, "local"), (0, "steal"), (1, "steal"), (1, "local"), (2, "local"), (2, "steal")])

    def test_rounds_to_warm_up_are_told_and_not_counted(self):
        for options, said in [([], "one run each, after 1 that does not count"), (["--warm-up", "0"], "one run each"),
                              (["--warm-up", "2", "--repeat", "3"], "medians of 3 rounds, after 2 that do not count")]:
            result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], *options)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout.splitlines()[1], "  " + said)
            lines = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], *options[:2], "--json").stdout.splitlines()
            self.assertEqual(len(lines), 1)

    def test_policies_with_parameters(self):
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--policy", "local,push-weighted:in=1,out=3,threshold=0,steal", "--json")
        self.assertEqual([json.loads(line)["policy"] for line in result.stdout.splitlines()], ["local", "push-weighted:in=1,out=3,threshold=0", "steal"])

    def test_table(self):
        result = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--policy", "local,steal", "--verify", "--control", "parallel")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^  local .* yes$")
        self.assertRegex(result.stdout, r"(?m)^  steal .* yes$")

    def test_nothing_is_local_where_no_bytes_are_known(self):
        for options, shown in [(["--shared"], r"-"), ([], r"[\d.]+%")]:
            table = weir("bench", "jacobi-2d", *SMALL["jacobi-2d"], "--policy", "local", *options).stdout.splitlines()
            end = table[2].index("locality") + len("locality")
            self.assertRegex(table[3][:end].split()[-1], f"^{shown}$")

    def test_list_and_version(self):
        self.assertIn("seidel-3d", weir("bench", "--list").stdout)
        self.assertRegex(weir("--version").stdout, r"^weir \d+\.\d+\.\d+\n$")

    def test_edges_of_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.png"), os.path.join(folder, "out.png")
            with open(source, "wb") as f:
                f.write(png(60, 40, lambda r, c: 255 if c >= 30 else 0))
            result = weir("bench", "blur-roberts", "--input", source, "--output", target, "--block", "7x9", "--verify")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(target, "rb") as f:
                self.assertEqual(f.read(8), b"\x89PNG\r\n\x1a\n")
                f.seek(16)
                self.assertEqual(struct.unpack(">II", f.read(8)), (60, 40))
            self.assertEqual(sorted(os.listdir(folder)), ["in.png", "out.png"])


if __name__ == "__main__":
    unittest.main()
