"""What a guest is, what a program in it sees, and what is counted."""
import os
import pathlib
import tempfile
import unittest

from emulated import PROBE, emulate, main, measured

TWO = ["--machine", "nodes:2 cpus:2"]
MEMORY_ONLY = """
name = "expander"
source = "a test"
[[nodes]]
memory = "1 GiB"
cpus = 3
[[nodes]]
memory = "1 GiB"
cpus = 1
[[nodes]]
memory = "1 GiB"
cpus = 0
[distances]
classes = ["local", "expander", "socket"]
matrix = [[0, 2, 1], [2, 0, 2], [1, 2, 0]]
slit = [10, 14, 21]
read_ns = [100, 200, 300]
write_ns = [150, 250, 350]
"""


def regions_of(*arguments):
    return measured("--roi", *arguments)[0]["regions"]


class Programs(unittest.TestCase):
    def test_output_folder_environment_and_status(self):
        with tempfile.TemporaryDirectory() as folder:
            done = emulate("--no-model", *TWO, "--env", "GREETING=good day", "--", os.path.abspath(PROBE), "say", "to out", "to err", cwd=folder)
            self.assertEqual((done.returncode, done.stderr), (0, "to err\n"))
            self.assertEqual(done.stdout.splitlines(), ["to out", os.path.realpath(folder), "good day", "2"])

    def test_the_programs_status_is_ours(self):
        self.assertEqual(emulate("--no-model", *TWO, "--", PROBE, "leave", "7").returncode, 7)

    def test_files_come_along(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sub").mkdir()
            for name in ("one", "sub/two"):
                pathlib.Path(folder, name).write_text(f"this is {name}\n")
            done = emulate("--no-model", *TWO, "--file", folder, "--file", f"{folder}/one:/elsewhere/three", "--", PROBE, "show", f"{folder}/one", f"{folder}/sub/two", "/elsewhere/three")
            self.assertEqual(done.stdout.splitlines(), ["this is one", "this is sub/two", "this is one"])

    def test_much_output_on_both_channels_arrives(self):
        done = emulate("--no-model", *TWO, "--", PROBE, "flood", "1")
        self.assertEqual((len(done.stdout), len(done.stderr)), (1 << 20, 1 << 20))

    def test_a_narrow_cpuset(self):
        done = emulate("--no-model", *TWO, "--cores", "2", "--cpuset", "2-3:0", "--", PROBE, "show", "/proc/self/status")
        allowed = dict(line.split(":\t") for line in done.stdout.splitlines() if "_allowed_list" in line)
        self.assertEqual(allowed, {"Cpus_allowed_list": "2-3", "Mems_allowed_list": "0"})

    def test_memory_calls_can_be_refused(self):
        done = emulate("--no-model", *TWO, "--no-mbind", "--", PROBE, "fault", "1")
        self.assertEqual((done.returncode, done.stderr), (2, "emulator_probe: mbind: Operation not permitted\n"))

    def test_the_kernel_is_set_as_asked(self):
        for balancing, pages in ((["--numa-balancing"], "never"), ([], "always")):
            done = emulate("--no-model", *TWO, *balancing, "--huge-pages", pages, "--", PROBE, "show", "/proc/sys/kernel/numa_balancing", "/sys/kernel/mm/transparent_hugepage/enabled")
            self.assertEqual(done.stdout.split()[0], "1" if balancing else "0")
            self.assertIn(f"[{pages}]", done.stdout)

    def test_the_kernel_looks_at_pages_as_often_as_asked(self):
        folder = "/sys/kernel/debug/sched/numa_balancing"
        done = emulate("--no-model", *TWO, "--numa-balancing", "--numa-balancing-scan-ms", "50", "--", PROBE, "show", *(f"{folder}/{name}" for name in ("scan_delay_ms", "scan_period_min_ms", "scan_period_max_ms")))
        self.assertEqual(done.stdout.split(), ["50", "50", "100000"], done)

    def test_a_machine_file_with_a_node_without_cpus(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder, "expander.toml")
            machine.write_text(MEMORY_ONLY)
            nodes = [f"/sys/devices/system/node/node{n}" for n in range(3)]
            done = emulate("--no-model", "--machine", machine, "--cores", "2", "--", PROBE, "show", *(f"{n}/{what}" for what in ("distance", "cpulist") for n in nodes))
            self.assertEqual(done.stdout.splitlines(), ["10 21 14", "21 10 21", "14 21 10", "0-1", "2", ""])
            data, _ = measured("--roi", "--machine", machine, "--cores", "2", "--cache-kib", "64", "--", PROBE, "latency", "512")
            # Each node with CPUs reads, then writes the 8192 lines of every node once.
            served = [sum(r["lines_served_by_node"][n] for r in data["regions"]) for n in range(3)]
            self.assertEqual(data["cpus"], [2, 1, 0])
            for lines in served:
                self.assertAlmostEqual(lines, 2 * 2 * 8192, delta=200)


class Counts(unittest.TestCase):
    def test_page_faults(self):
        few, many = (regions_of(*TWO, "--", PROBE, "fault", str(pages))[0]["page_faults"] for pages in (100, 600))
        self.assertEqual(many - few, 500)

    def test_page_faults_cost_what_they_are_given(self):
        cheap, dear = (regions_of(*TWO, "--page-fault-ns", ns, "--", PROBE, "fault", "600")[0] for ns in ("0", "100000"))
        self.assertAlmostEqual((dear["virtual_ms"] - cheap["virtual_ms"]) / (0.1 * dear["page_faults"]), 1, delta=0.1)

    def test_moved_pages_and_where_their_lines_come_from_then(self):
        moving, reading = regions_of(*TWO, "--cache-kib", "64", "--", PROBE, "move", "200")
        self.assertEqual(moving["pages_moved"], 200)
        self.assertAlmostEqual(moving["read_lines_by_pair"][0][0], 200 * 64, delta=100)   # the copy, by the CPU that asks
        self.assertAlmostEqual(moving["write_lines_by_pair"][0][1], 200 * 64, delta=300)   # 256 more, each time; why is not known
        self.assertEqual(reading["pages_moved"], 0)
        self.assertAlmostEqual(reading["read_lines_by_pair"][0][1], 200 * 64, delta=64)

    def test_regions_nest_and_have_names(self):
        found = regions_of(*TWO, "--name", "4=first half", "--", PROBE, "regions")
        self.assertEqual([r["region"] for r in found], ["first half", "region 5", "region 3", "region 6"])
        self.assertEqual([r["complete"] for r in found], [True, True, True, False])
        lines = [sum(r["write_lines_by_class"]) for r in found[:3]]
        self.assertAlmostEqual(lines[0], 512, delta=16)
        self.assertAlmostEqual(lines[1], 256, delta=16)
        self.assertAlmostEqual(lines[2], 768, delta=32)

    def test_without_roi_the_whole_program_is_a_region(self):
        data, _ = measured(*TWO, "--", PROBE, "leave", "0")
        whole = data["regions"][-1]
        self.assertEqual((whole["region"], whole["complete"]), ("program", True))
        self.assertGreater(whole["page_faults"], 50)
        self.assertGreater(whole["system_calls"], 20)

    def test_a_shared_cache_serves_lines(self):
        with_none, with_one = (regions_of(*TWO, "--cores", "2", "--cache-kib", "64", "--shared-cache-kib", kib, "--", PROBE, "repeat", "1", "128")[0] for kib in ("0", "4096"))
        self.assertEqual(with_none["shared_cache_hits"], 0)
        self.assertGreater(with_one["shared_cache_hits"], 3 * 4 * 2048)   # from the second sweep on
        self.assertLess(with_one["lines"], with_none["lines"] / 2)

    def test_the_report_for_people(self):
        done = emulate("--roi", *TWO, "--", PROBE, "regions")
        for words in ("2 nodes, 2 CPUs with 1024 KiB of cache each", "region 3", "virtual time", "locality", "page faults", "follow the distances", "region 6, not ended by the program"):
            self.assertIn(words, done.stdout)
        self.assertIn("marked no region", emulate("--roi", *TWO, "--", PROBE, "leave", "0").stdout)


if __name__ == "__main__":
    main()
