"""The guest's file system: an archive in the kernel's cpio format, made in memory."""
import os
import pathlib
import stat
import subprocess


class FileError(Exception):
    """Something that cannot be put into a guest: what, and why."""


class Initramfs:
    """Files, folders and links for a guest, by their absolute path there. What is added twice is there once."""

    def __init__(self):
        self._entries = {}

    def folder(self, path):
        path = os.path.normpath(path)
        if path != "/" and path not in self._entries:
            self.folder(os.path.dirname(path))
            self._entries[path] = (stat.S_IFDIR | 0o755, b"")

    def text(self, path, content, mode=0o644):
        self.folder(os.path.dirname(path))
        self._entries[os.path.normpath(path)] = (stat.S_IFREG | mode, content.encode())

    def link(self, path, target):
        self.folder(os.path.dirname(path))
        self._entries[os.path.normpath(path)] = (stat.S_IFLNK | 0o777, target.encode())

    def file(self, host, path=None):
        """Copies a file, or a folder with all that is in it, by default to the path it has here."""
        path = os.path.normpath(path or os.path.abspath(host))
        try:
            if os.path.isdir(host):
                for name in sorted(os.listdir(host)):
                    self.file(os.path.join(host, name), os.path.join(path, name))
                self.folder(path)
                return
            content = pathlib.Path(host).read_bytes()
        except OSError as e:
            raise FileError(f"{host}: {e.strerror}") from e
        self.folder(os.path.dirname(path))
        mode = 0o755 if os.access(host, os.X_OK) else 0o644
        self._entries[path] = (stat.S_IFREG | mode, content)

    def program(self, host, path):
        """Copies a program, and its shared libraries to the paths at which they were found here."""
        self.file(host, path)
        for library in libraries(host):
            self.file(library)

    def archive(self):
        """The bytes for the kernel. Uncompressed: unpacking would take the guest longer than copying."""
        parts = [_entry(number, path[1:], mode, content) for number, (path, (mode, content)) in enumerate(self._entries.items(), 1)]
        return b"".join(parts) + _entry(0, "TRAILER!!!", 0, b"")


def libraries(program):
    """Paths of the shared libraries a program loads at its start, the loader included."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        if "not a dynamic executable" in listed.stderr + listed.stdout:
            return []
        raise FileError(f"{program}: ldd failed: {listed.stderr.strip()}")
    found = []
    for line in listed.stdout.splitlines():
        if "not found" in line:
            raise FileError(f"{program}: library {line.split()[0]} is not there")
        found += [word for word in line.split() if word.startswith("/")]
    return found


def _entry(number, name, mode, content):
    """One entry of the "newc" format: thirteen numbers of eight hexadecimal digits, name, content; aligned to 4."""
    links = 2 if stat.S_ISDIR(mode) else 1
    name = name.encode() + b"\0"
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
    return head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4)
