"""Boots a guest under QEMU, runs commands in it, and ends it: no process and no file is left, whatever happens."""
import contextlib
import ctypes
import os
import pathlib
import re
import secrets
import selectors
import signal
import subprocess
import sys
import time
from typing import NamedTuple

from kernel import BUSYBOX, QEMU, kernel_image, require_tools

PROGRAMS = "/programs"   # the guest's folder for programs; commands start there and find them by name
CONSOLE_LINES = 50       # of the kernel's messages, shown when a guest ends before its time


class GuestError(Exception):
    """The guest did not get to the end of its commands: it did not start, crashed, or took too long."""


class Result(NamedTuple):
    """What became of one command."""
    command: str
    status: int
    output: str       # standard output and standard error together
    seconds: float    # by this machine's clock


# Commands run one after the other, each in a shell of its own. Output goes through the second serial port, apart from
# the kernel's messages. wait/poweroff: the last line must be out before the machine is gone.
INIT = f"""#!{BUSYBOX} sh
export PATH={PROGRAMS}:/bin HOME=/tmp LC_ALL=C.UTF-8
busybox() {{ {BUSYBOX} "$@"; }}
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
busybox mount -t devtmpfs none /dev
busybox mkdir -p /dev/shm
busybox mount -t tmpfs none /dev/shm
busybox mount -t cgroup2 none /sys/fs/cgroup
busybox --install -s /bin
ip link set lo up
exec </dev/null >/dev/ttyS1 2>&1
stty -F /dev/ttyS1 raw
cd {PROGRAMS}
. /commands
poweroff -f
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


def command_script(commands, token):
    """The shell script that runs the commands and says where the output of each begins and ends."""
    lines = []
    for number, command in enumerate(commands):
        lines += [f"echo; echo '{token} begin {number}'", f"(\n{command}\n)", f"status=$?; echo; echo \"{token} end {number} $status\""]
    return "\n".join(lines) + "\n"


def qemu_arguments(layout, kernel, initrd, console):
    """The emulated machine. One thread per CPU; nothing in it but two serial ports."""
    with_cpus = [c for c in layout.cpus if c]
    arguments = [QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-accel", "tcg,thread=multi",
                 # 5-level page tables would make every page walk of the emulator longer, for nothing.
                 "-cpu", "max,la57=off", "-m", f"{sum(layout.memory_mib)}M",
                 "-smp", f"cpus={sum(with_cpus)},sockets={len(with_cpus)},cores={with_cpus[0]},threads=1"]
    for node, mib in enumerate(layout.memory_mib):
        cpus = layout.cpus_of(node)
        arguments += ["-object", f"memory-backend-ram,id=memory{node},size={mib}M"]
        arguments += ["-numa", f"node,nodeid={node},memdev=memory{node}" + (f",cpus={cpus[0]}-{cpus[-1]}" if cpus else "")]
    for a, row in enumerate(layout.distance):
        arguments += [word for b, d in enumerate(row) if a != b for word in ("-numa", f"dist,src={a},dst={b},val={d}")]
    return arguments + ["-kernel", str(kernel), "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable numa_balancing=disable",
                        "-serial", f"file:{console}", "-chardev", "stdio,id=output,signal=off", "-serial", "chardev:output"]


class MemoryFile:
    """A file that exists only while this process and its children do, so that nothing can be left behind."""

    def __init__(self, name, content=b""):
        self.descriptor = os.memfd_create(name)
        self.path = f"/proc/self/fd/{self.descriptor}"   # in the child, which inherits the descriptor
        with os.fdopen(os.dup(self.descriptor), "wb") as f:
            f.write(content)

    def text(self):
        return pathlib.Path(self.path).read_bytes().decode(errors="replace").replace("\r", "")

    def close(self):
        os.close(self.descriptor)


def die_with_parent():
    """In the child: ends it if this process is killed and cannot clean up."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)   # PR_SET_PDEATHSIG


@contextlib.contextmanager
def running(arguments, files):
    """QEMU as a process that is gone when the block is left. A session of its own: Ctrl-C is for us to handle."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               pass_fds=[f.descriptor for f in files], start_new_session=True, preexec_fn=die_with_parent)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def lines_of(process, deadline):
    """Lines QEMU writes, as they come, until it ends. Raises TimeoutError at the deadline (monotonic seconds)."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise TimeoutError
            piece = os.read(process.stdout.fileno(), 1 << 16)
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line.decode(errors="replace").rstrip("\r") for line in lines)
            if not piece:
                return


class Transcript:
    """Sorts a guest's lines by the command they belong to."""

    def __init__(self, commands, token, show):
        self.results = []
        self._commands, self._show = commands, show
        self._mark = re.compile(re.escape(token) + r" (begin|end) (\d+) ?(\d*)$")
        self._lines, self._start = None, 0.0

    def running(self):
        """The command that has begun and not ended, or None."""
        return None if self._lines is None else self._commands[len(self.results)]

    def unfinished_output(self):
        return "\n".join(self._lines or [])

    def take(self, line):
        found = self._mark.match(line)
        if found is None:
            self._take_output(line)
        elif found[1] == "begin":
            self._lines, self._start = [], time.monotonic()
            self._show(f"$ {self.running()}")
        else:
            self._end(int(found[3]))

    def _take_output(self, line):
        if self._lines is not None:
            self._lines.append(line)
            self._show(line)

    def _end(self, status):
        if self._lines and self._lines[-1] == "":
            self._lines.pop()   # the one before the mark, which makes sure that the mark begins a line
        self.results.append(Result(self.running(), status, "\n".join(self._lines), time.monotonic() - self._start))
        self._lines = None


def with_room_for(layout, archive):
    """The layout with more memory on node 0, where the kernel puts the archive and what it unpacks."""
    more_mib = 128 + (3 * len(archive) >> 20)
    return layout._replace(memory_mib=[layout.memory_mib[0] + more_mib, *layout.memory_mib[1:]])


def system_files(files, commands, token):
    """Adds what every guest needs: the shell, the first program, the commands."""
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/bin", PROGRAMS):
        files.folder(folder)
    files.program(BUSYBOX, BUSYBOX)
    files.text("/init", INIT, 0o755)
    files.text("/bin/narrow", NARROW, 0o755)
    files.text("/commands", command_script(commands, token))


def run_guest(layout, files, commands, cache, timeout, show=lambda line: None):
    """Boots one guest and runs shell commands in it, one after the other; a failing one does not stop the next.

    files: an Initramfs, to which the system's own files are added. cache: folder of the kernel. timeout: seconds for
    all of it. show: called with every line of output as it comes. Returns a Result per command. Raises Unavailable
    (no QEMU, no kernel) and GuestError. Takes some five seconds and two CPUs.
    """
    require_tools()
    kernel = kernel_image(cache)
    token = f"@@{secrets.token_hex(8)}"
    system_files(files, commands, token)
    archive = files.archive()
    transcript = Transcript(commands, token, show)
    initrd, console = MemoryFile("initramfs", archive), MemoryFile("console")
    try:
        arguments = qemu_arguments(with_room_for(layout, archive), kernel, initrd.path, console.path)
        with running(arguments, [initrd, console]) as process:
            try:
                for line in lines_of(process, time.monotonic() + timeout):
                    transcript.take(line)
            except TimeoutError:
                raise GuestError(explain(f"was not done after {timeout:g} s", transcript, console)) from None
            complaint = process.stderr.read().decode(errors="replace").strip()
            if len(transcript.results) < len(commands):
                raise GuestError(explain(f"ended before its time {complaint}".strip(), transcript, console))
    finally:
        initrd.close()
        console.close()
    return transcript.results


def explain(what, transcript, console):
    """What is known about a guest that did not get to its end."""
    command = transcript.running()
    during = f"while it ran: {command}\n{transcript.unfinished_output()}" if command else f"after {len(transcript.results)} commands"
    kernel = "\n".join(console.text().splitlines()[-CONSOLE_LINES:])
    return f"the guest {what}, {during}\nlast messages of its kernel:\n{kernel}"


def end_on_signals():
    """Makes the signals that ask a program to end run the clean-up that Ctrl-C runs."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: sys.exit(128 + received))
