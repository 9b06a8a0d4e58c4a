"""Wrong command lines: each is answered in one sentence that says what was wrong and what was expected, with status 2,
and leaves nothing behind. Usage: refusals_test.py PATH-OF-WEIR; with --print it prints the transcript instead."""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

WEIR = os.path.abspath(sys.argv.pop(1))
SOLVE = "solve --matrix cube:3 "
BENCH = "bench jacobi-2d --size 32x32 --block 8x8 "

# A command line, with variables before it as in a shell, and what its answer names.
LINES = [
    ("", ["a command is missing", "expected", "bench", "solve", "topo"]),
    ("bogus", ["no command bogus", "expected", "bench", "solve"]),
    ("bensh", ["no command bensh", "did you mean bench?"]),
    ("--versio", ["no option --versio", "did you mean --version?"]),
    ("help bensh", ["no command bensh", "did you mean bench?"]),
    ("help topo nodes", ["weir topo", "nodes", "expected"]),
    ("topo nodes", ["topo", "nodes", "expected options only"]),
    ("topo --machine opteron", ["opteron", "altix-uv100", "did you mean opteron-64?"]),
    ("topo --machine no/such.toml", ["no/such.toml", "expected a machine file", "No such file"]),
    ("topo --machine nodes:2", ["nodes:2", "expected nodes:N cpus:K", "cpus is missing"]),
    ("topo --measure-runs 3", ["--measure-runs", "--measure"]),
    ("topo --measure --measure-order random", ["--measure-order random", "ascending or shuffled"]),
    ("topo --write machine.json", ["machine.json", "expected", ".toml"]),
    ("trace", ["trace: a command is missing", "summary or dot"]),
    ("trace sumary t.json", ["no command sumary", "did you mean summary?"]),
    ("trace summary", ["trace summary: FILE is missing", "expected"]),
    ("trace summary none.json", ["none.json", "No such file"]),
    ("report", ["report: FILE is missing", "expected"]),
    ("bench", ["bench needs the name of a kernel", "--list"]),
    ("bench jacobi-2b", ["jacobi-2b", "jacobi-1d", "did you mean jacobi-2d?"]),
    ("bench jacobi-2d seidel-2d", ["seidel-2d is one argument too many", "KERNEL[,KERNEL...]"]),
    ("bench jacobi-2d --sise 4", ["bench: there is no option --sise", "did you mean --size?"]),
    ("bench jacobi-2d --size", ["--size needs a value", "expected N[xM[xK]]"]),
    ("bench jacobi-2d --size 64", ["--size 64", "expected ROWSxCOLUMNS"]),
    (BENCH + "--iterations 1e3", ["--iterations 1e3", "expected a whole number from 1 to"]),
    (BENCH + "--workers 40000", ["--workers 40000", "from 0 to 32767"]),
    (BENCH + "--policy locale", ["locale", "known:", "local"]),
    (BENCH + "--control chaotic", ["--control chaotic", "expected sequential, parallel, stolen or scattered"]),
    ("bench cholesky --control stolen", ["cholesky has no --control stolen"]),
    (BENCH + "--load-store --shared", ["--load-store needs --memory private"]),
    ("bench cholesky --load-store", ["cholesky has no --load-store"]),
    (BENCH + "--verify=perhaps", ["--verify takes no value"]),
    (BENCH + "--repeat 2 --repeat 3", ["--repeat is given 2 times", "expected it once"]),
    (BENCH + "--trace no/such/t.json", ["no/such/t.json", "No such file"]),
    (BENCH + "--machine sgi-129", ["sgi-129", "did you mean sgi-192?"]),
    ("bench latency --buffer-kib many", ["--buffer-kib many", "expected a whole number"]),
    ("bench migration --pages large", ["--pages large", "expected default, small or huge"]),
    ("bench main --row loop", ["bench main: there is no option --row", "did you mean --rows?"]),
    ("bench overhead --paterns fib", ["bench overhead: there is no option --paterns", "did you mean --patterns?"]),
    ("solve", ["one matrix", "cube:N"]),
    ("solve none.mtx", ["none.mtx", "No such file"]),
    ("solve --matrix sphere:9", ["sphere:9", "expected"]),
    (SOLVE + "--tol abc", ["--tol abc", "expected a number between 0 and 1"]),
    (SOLVE + "--tol 2", ["--tol 2", "expected a number between 0 and 1"]),
    (SOLVE + "--order random", ["random", "expected natural, rcm or nd"]),
    (SOLVE + "-o no/such/x.mtx", ["no/such/x.mtx", "No such file"]),
    ("eval", ["eval needs the name", "--list"]),
    ("eval pact17", ["pact17", "pact16"]),
    ("emulate", ["emulate", "expected a program after --"]),
    ("emulate --cores none -- true", ["--cores none", "expected a whole number"]),
    ("WEIR_WORKERS=two " + BENCH, ["WEIR_WORKERS=two", "expected 0", "32767"]),
    ("WEIR_STATS=yes " + BENCH, ["WEIR_STATS=yes", "expected 0 or 1"]),
    ("WEIR_BIND=off " + BENCH, ["WEIR_BIND=off", "expected 0 or 1"]),
    ("WEIR_MACHINE=opteron " + SOLVE, ["WEIR_MACHINE", "opteron", "did you mean opteron-64?"]),
]


def answer(line, folder):
    words = shlex.split(line)
    variables = dict(word.split("=", 1) for word in words if word.startswith("WEIR_"))
    arguments = [word for word in words if not word.startswith("WEIR_")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_")}
    return subprocess.run([WEIR, *arguments], cwd=folder, env={**environment, **variables}, capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL)


def shell_line(line):
    variables = [word for word in line.split() if word.startswith("WEIR_")]
    arguments = [word for word in line.split() if not word.startswith("WEIR_")]
    return " ".join([*variables, "weir", *arguments])


class Refusals(unittest.TestCase):
    def test_one_sentence_status_2_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            for line, named in LINES:
                with self.subTest(line=line):
                    result = answer(line, folder)
                    self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                    self.assertRegex(result.stderr, r"\Aweir: [^\n]+\n\Z")
                    for part in named:
                        self.assertIn(part, result.stderr)
                    self.assertEqual(os.listdir(folder), [])


def print_transcript():
    with tempfile.TemporaryDirectory() as folder:
        for line, _ in LINES:
            result = answer(line, folder)
            print(f"$ {shell_line(line)}\n{result.stdout}{result.stderr}[status {result.returncode}]\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print_transcript()
    else:
        unittest.main()
