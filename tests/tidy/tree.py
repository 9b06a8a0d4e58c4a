"""The files the rules look at, and what a rule reports."""
import os
import pathlib
import re
import subprocess
from typing import NamedTuple

# Never part of the repository, whether git is there to say so or not.
IGNORED_FOLDER = re.compile(r"(\.git|build(-.*)?|__pycache__|\.cache|\.vscode|\.idea)$")


class Violation(NamedTuple):
    path: str
    line: int
    rule: str
    what_to_do: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.what_to_do}"


class Tree:
    """The repository at `root`: relative paths with forward slashes, and their text."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.folders = []
        walked = []
        for folder, names, files in os.walk(self.root):
            names[:] = sorted(n for n in names if not IGNORED_FOLDER.match(n))
            here = pathlib.Path(folder).relative_to(self.root)
            self.folders.append(here.as_posix())
            walked += [(here / f).as_posix() for f in files]
        self.files = sorted(self._known_to_git() or walked)
        self._file_set = set(self.files)
        self._lines = {}

    def _known_to_git(self):
        """Tracked files and new ones that git does not ignore; None where git has no say."""
        if not (self.root / ".git").exists():
            return None
        try:
            listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
        names = {n for n in listed.decode(errors="surrogateescape").split("\0") if n}
        return [n for n in names if (self.root / n).is_file()]

    def has_file(self, path):
        return path in self._file_set

    def has_folder(self, path):
        return any(f.startswith(path + "/") for f in self.files)

    def with_suffix(self, *suffixes):
        return [f for f in self.files if pathlib.PurePosixPath(f).suffix in suffixes]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def lines(self, path):
        """Lines without their ends, numbered from 1 by enumerate(lines, 1)."""
        if path not in self._lines:
            self._lines[path] = self.text(path).split("\n")
        return self._lines[path]
