"""Both papers' evaluations as on a host with two nodes: in a guest that nothing is modelled of. Arguments: the weir
command, names of evaluations (default: all).

The guest's processor has no counters, as in virtual machines; it is root there, so the kernel's numa_balancing can be
switched. With --show it prints what weir eval prints, and nothing else.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
MACHINE = ["--machine", "nodes:2 cpus:2", "--cores", "2", "--memory", "768"]
PEERS = {"pact16": ["cholesky-libgomp"], "taggre": ["solver-tasks"]}
# PETSc starts Open MPI, which loads parts of itself, and starts a daemon unless it is told that it is alone.
MPI_PARTS = ["/usr/lib/x86_64-linux-gnu/openmpi", "/usr/share/openmpi"]
MPI_ALONE = "OMPI_MCA_ess_singleton_isolated=1"
NO_COUNTERS = "not drawn: it needs counters that this machine does not have"


def in_guest(weir, name, *options):
    """weir eval NAME on the guest as host."""
    build = pathlib.Path(weir).resolve().parent.parent
    peers = [build / "bin" / "peers" / peer for peer in PEERS[name]]
    files = ["/bin/sh", build / "share" / "weir" / "eval", *peers, *MPI_PARTS]
    command = [weir, "emulate", "--no-model", *MACHINE, "--timeout", "1500", "--env", MPI_ALONE]
    for path in filter(os.path.exists, files):
        command += ["--file", str(path)]
    command += ["--", weir, "eval", name, "--machine", "host", "--quick", "--out", "/tmp/out", *options]
    return command


class Host(unittest.TestCase):
    def figures(self, name):
        """Titles of what was drawn up to their colons, and the sentences on what was not."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(in_guest(WEIR, name, "--json"), capture_output=True, text=True, cwd=folder,
                                  check=False, stdin=subprocess.DEVNULL)
        if "cannot emulate here" in done.stderr:
            print(f"skipped: {done.stderr.strip()}")
            sys.exit(SKIPPED)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"title"')]
        self.assertEqual(len(lines), 1, done)
        figures = lines[0]
        return [chart["title"].split(":")[0] for chart in figures["charts"]], figures.get("not_drawn", [])

    def test_pact16(self):
        if "pact16" not in NAMES:
            self.skipTest("not asked for")
        drawn, others = self.figures("pact16")
        for number in ("Tables 1 and 2", "Figure 6", "Figure 8", "Figure 9", "Figure 10", "Figure 11", "Figure 12"):
            self.assertIn(number, drawn)
        self.assertEqual([other.split(":")[0] for other in others], ["Figure 5", "Figure 7"])
        for other in others:
            self.assertIn(NO_COUNTERS, other)

    def test_taggre(self):
        if "taggre" not in NAMES:
            self.skipTest("not asked for")
        drawn, others = self.figures("taggre")
        for number in ("III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XII", "XIII", "XIV", "XV"):
            self.assertIn("Table " + number, drawn)
        self.assertEqual([other.split(",")[0] for other in others], ["Locality of factorisations on two nodes"] * 2)
        for other in others:
            self.assertIn(NO_COUNTERS, other)
        if os.path.exists(pathlib.Path(WEIR).parent / "peers" / "solver-tasks"):
            self.assertIn("Table XI", drawn)


if __name__ == "__main__":
    show = "--show" in sys.argv
    WEIR, *NAMES = [word for word in sys.argv[1:] if word != "--show"]
    WEIR = os.path.abspath(WEIR)
    NAMES = NAMES or list(PEERS)
    if show:
        sys.exit(max([subprocess.run(in_guest(WEIR, name), check=False).returncode for name in NAMES]))
    unittest.main(argv=sys.argv[:1])
