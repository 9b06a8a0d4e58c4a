#!/usr/bin/env python3
"""Runs programs on a NUMA machine that is not there: a stock Debian kernel under QEMU, with nodes, CPUs and distances.

  guest.py --nodes 8 --program build/bin/weir --run 'weir topo --explain'
  guest.py --machine machines/cxl.toml --program build/bin/weir -- weir topo

mbind, move_pages, get_mempolicy, first touch and cpusets are the kernel's own. Times inside mean nothing.
Exit status: 0 if all commands gave 0, 1 if one did not or the guest did not get to its end, 2 for bad input, 77 if
guests cannot run on this machine.
"""
import argparse
import os
import shlex
import shutil
import sys

from boot import PROGRAMS, GuestError, end_on_signals, run_guest
from initramfs import FileError, Initramfs
from kernel import Unavailable, kernel_image
from layout import LayoutError, from_counts, from_machine_file

FAILED, BAD_INPUT, SKIPPED = 1, 2, 77
HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_CACHE = os.path.join(HERE, "..", "..", "build", "guest")
LAUNCHER = "without_mbind"


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, help="nodes with CPUs (default: 2)")
    p.add_argument("--cpus-per-node", type=int, default=1, metavar="C", help="CPUs of each of them (default: 1)")
    p.add_argument("--memory-only", type=int, default=0, metavar="K", help="further nodes without CPUs")
    p.add_argument("--machine", metavar="FILE", help="nodes and distances of a file of machines/ instead")
    p.add_argument("--memory", type=int, default=256, metavar="MIB", help="memory of each node in MiB (default: 256)")
    p.add_argument("--program", action="append", default=[], metavar="PATH", help="program to copy in, with its libraries; found by its name")
    p.add_argument("--file", action="append", default=[], metavar="PATH[:GUEST]", help="file or folder to copy in, to the same path or to GUEST")
    p.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable for the commands")
    p.add_argument("--cpuset", metavar="CPUS:NODES", help="run the commands in this cpuset, such as 0-1:0")
    p.add_argument("--no-mbind", metavar="LAUNCHER", help="refuse the commands the system calls that place memory; LAUNCHER: path of without_mbind")
    p.add_argument("--run", action="append", default=[], metavar="COMMAND", help="shell command; may be given several times")
    p.add_argument("--timeout", type=float, default=300, metavar="S", help="seconds for all of it (default: 300)")
    p.add_argument("--cache", default=DEFAULT_CACHE, metavar="FOLDER", help="where the kernel is kept (default: build/guest)")
    p.add_argument("--fetch", action="store_true", help="only fetch the kernel into the cache")
    p.add_argument("command", nargs=argparse.REMAINDER, help="after --: one more command, word by word")
    return p


def layout_of(options):
    if options.machine:
        if options.nodes is not None or options.memory_only:
            raise LayoutError("--machine has its own nodes: it goes without --nodes and --memory-only")
        return from_machine_file(options.machine, options.cpus_per_node, options.memory)
    nodes = 2 if options.nodes is None else options.nodes
    return from_counts(nodes, options.cpus_per_node, options.memory_only, options.memory)


def files_of(options):
    files = Initramfs()
    for path in options.program + ([options.no_mbind] if options.no_mbind else []):
        found = shutil.which(path)
        if found is None:
            raise FileError(f"{path}: expected a program")
        files.program(found, f"{PROGRAMS}/{os.path.basename(path)}")
    for item in options.file:
        host, _, guest = item.partition(":")
        files.file(host, guest or None)
    return files


def prefix_of(options):
    """What comes before a command: the cpuset and the launcher."""
    words = []
    if options.cpuset:
        cpus, colon, nodes = options.cpuset.partition(":")
        if not (cpus and colon and nodes):
            raise LayoutError(f"--cpuset {options.cpuset}: expected CPUS:NODES, such as 0-1:0")
        words += ["narrow", cpus, nodes]
    if options.no_mbind:
        words.append(os.path.basename(options.no_mbind))
    return words


def commands_of(options):
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    commands = options.run + ([shlex.join(words)] if words else [])
    if not commands:
        raise LayoutError("nothing to run: expected --run COMMAND, or a command after --")
    exports = ""
    for item in options.env:
        name, equals, value = item.partition("=")
        if not (name.isidentifier() and equals):
            raise LayoutError(f"--env {item}: expected NAME=VALUE")
        exports += f"export {name}={shlex.quote(value)}; "
    prefix = prefix_of(options)
    return [exports + (shlex.join(prefix + ["sh", "-c", command]) if prefix else command) for command in commands]


def main():
    options = parser().parse_args()
    end_on_signals()
    try:
        if options.fetch:
            print(kernel_image(options.cache))
            return 0
        commands = commands_of(options)
        results = run_guest(layout_of(options), files_of(options), commands, options.cache, options.timeout, show=lambda line: print(line, flush=True))
    except (LayoutError, FileError) as e:
        print(f"guest: {e}", file=sys.stderr)
        return BAD_INPUT
    except Unavailable as e:
        print(f"guest: skipped: {e}", file=sys.stderr)
        return SKIPPED
    except GuestError as e:
        print(f"guest: {e}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130
    for r in results:
        print(f"guest: status {r.status} after {r.seconds:.1f} s: {r.command}", file=sys.stderr)
    return FAILED if any(r.status for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
