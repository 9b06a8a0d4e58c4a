"""Several shell commands in one guest: `weir emulate` runs a script, whose output is cut into the commands' outputs."""
import contextlib
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import NamedTuple

PROGRAMS = "/programs"   # the guest's folder for programs; commands find them by name
BUSYBOX = "/bin/busybox"
CANNOT = "weir: cannot emulate here: "

PREAMBLE = f"""exec 2>&1
{BUSYBOX} --install -s /bin
cd {PROGRAMS}
"""

# narrow CPUS NODES COMMAND...: runs the command in a cpuset of its own.
NARROW = """#!/bin/sh
set -e
group=/sys/fs/cgroup/narrow.$$
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo $1 >$group/cpuset.cpus
echo $2 >$group/cpuset.mems
echo $$ >$group/cgroup.procs
shift 2
exec "$@"
"""


class Unavailable(Exception):
    """Guests cannot run here; says why. A reason to skip, not to fail."""


class GuestError(Exception):
    """The guest did not get to the end of its commands."""


class Result(NamedTuple):
    """What became of one command."""
    command: str
    status: int
    output: str       # standard output and standard error together


def script(commands, token):
    """The shell script that runs the commands, each in a shell of its own, and marks where its output ends."""
    lines = [PREAMBLE]
    for number, command in enumerate(commands):
        lines += [f"(\n{command}\n)", f"status=$?; echo; echo \"{token} {number} $status\""]
    return "\n".join(lines) + "\n"


def results_of(lines, commands, token, show):
    """A Result for each command whose end was seen."""
    mark = re.compile(re.escape(token) + r" (\d+) (\d+)$")
    results, output = [], []
    for line in lines:
        if found := mark.match(line):
            if output and output[-1] == "":
                output.pop()   # the one before the mark, which makes sure that the mark begins a line
            results.append(Result(commands[int(found[1])], int(found[2]), "\n".join(output)))
            output = []
        else:
            output.append(line)
            show(line)
    return results


@contextlib.contextmanager
def ended(arguments, errors):
    """The process; it is asked to end, and waited for, when the block is left. It takes QEMU with it."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace")
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def run_guest(weir, options, files, commands, timeout, show=lambda line: None):
    """Boots one guest and runs shell commands in it, one after the other; a failing one does not stop the next.

    options: of `weir emulate`. files: (path here, path in the guest). timeout: seconds for all of it. show: called with
    every line of output as it comes. Returns a Result per command. Raises Unavailable and GuestError.
    """
    if shutil.which(BUSYBOX) is None:
        raise Unavailable(f"there is no {BUSYBOX}; Debian has it in busybox-static")
    token = f"@@{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        own = {"commands": script(commands, token), "narrow": NARROW}
        for name, text in own.items():
            pathlib.Path(folder, name).write_text(text)
            pathlib.Path(folder, name).chmod(0o755)
        everything = [*files, (f"{folder}/commands", "/commands"), (f"{folder}/narrow", "/bin/narrow")]
        arguments = [weir, "emulate", "--no-model", "--timeout", str(timeout), *options, *(f"--file={here}:{there}" for here, there in everything)]
        with ended([*arguments, "--", BUSYBOX, "sh", "/commands"], errors) as process:
            results = results_of((line.rstrip("\n") for line in process.stdout), commands, token, show)
            status = process.wait()
        errors.seek(0)
        complaint = errors.read().strip()
    if complaint.startswith(CANNOT):
        raise Unavailable(complaint.removeprefix(CANNOT))
    if len(results) < len(commands):
        raise GuestError(f"status {status} after {len(results)} of {len(commands)} commands: {complaint or 'no complaint'}")
    return results


def end_on_signals():
    """Makes the signals that ask a program to end run the clean-up that Ctrl-C runs."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: sys.exit(128 + received))
