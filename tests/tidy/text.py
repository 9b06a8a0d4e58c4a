"""Rules about the text of files and about the folders they are in."""
import pathlib
import re

from layers import CODE
from tree import Violation

LONGEST_FILE = 600   # lines; longer files are two things, and nobody reads them from top to bottom
WRITTEN = (*CODE, ".py", ".sh", ".cmake", ".md", ".toml", ".yml", ".in")
# Both are put together from pieces so that this file passes its own rules.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
LOCAL_PATH = re.compile(r"(?<![\w./)}*-])/(?:home|Users|work|root)/\w")


def is_script(tree, path):
    return pathlib.PurePosixPath(path).suffix == "" and tree.text(path).startswith("#!")


def written(tree):
    """Files that people write: code, scripts, build files, documents. Not data, images or expected outputs."""
    for path in tree.files:
        if path.endswith(WRITTEN) or path.endswith(("CMakeLists.txt", "CMakePresets.json")) or is_script(tree, path):
            yield path


def file_length(tree):
    for path in written(tree):
        count = len(tree.lines(path)) - 1
        if count >= LONGEST_FILE:
            yield Violation(path, count, "file-length", f"split this file of {count} lines into parts of fewer than {LONGEST_FILE}")


def whitespace(tree):
    for path in written(tree):
        lines = tree.lines(path)
        for number, line in enumerate(lines, 1):
            if "\t" in line:
                yield Violation(path, number, "whitespace", "replace the tab by spaces")
            if line != line.rstrip():
                yield Violation(path, number, "whitespace", "remove the space at the end of the line")
        if lines[-1] != "" or lines[-2:] == ["", ""]:
            yield Violation(path, len(lines), "whitespace", "end the file with exactly one line end")


def pragma_once(tree):
    for path in tree.with_suffix(".hpp", ".h"):
        if "#pragma once" not in tree.lines(path):
            yield Violation(path, 1, "pragma-once", "put '#pragma once' below the opening comment")


def opening_comment(tree):
    for path in tree.files:
        if path.endswith(CODE):
            openings = ("//", "/*")
        elif path.endswith((".py", ".sh", ".cmake")) or is_script(tree, path):
            openings = ("#", '"""')
        else:
            continue
        lines = [line for line in tree.lines(path) if line.strip() and not line.startswith("#!")]
        if not lines or not lines[0].startswith(openings):
            yield Violation(path, 1, "opening-comment", "begin the file with a comment that says what it is")


def unfinished(tree):
    for path in written(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if match := UNFINISHED.search(line):
                yield Violation(path, number, "unfinished", f"do it or drop it: no {match[0]} marks")


def local_path(tree):
    for path in written(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if LOCAL_PATH.search(line):
                yield Violation(path, number, "local-path", "this path exists on one machine only; use a relative path or an argument")


def folder_readme(tree):
    folders = {"/".join(f.split("/")[:2]) for f in tree.files if f.startswith("src/") and f.count("/") >= 2}
    for folder in sorted(folders):
        if not tree.has_file(folder + "/README.md"):
            yield Violation(folder, 1, "folder-readme", "add README.md: what the folder is, what it may include, its invariants")


def empty_folder(tree):
    for folder in tree.folders:
        if folder != "." and not tree.has_folder(folder):
            yield Violation(folder, 1, "empty-folder", "remove the folder or put something in it")


def machine_source(tree):
    for path in tree.with_suffix(".toml"):
        if path.startswith("machines/") and not re.search(r'^\s*(#.*\bsource\b|source\s*=\s*"[^"]+)', tree.text(path), re.MULTILINE | re.IGNORECASE):
            yield Violation(path, 1, "machine-source", "say where the numbers come from: source = \"paper, data sheet or command\"")


RULES = {
    "file-length": file_length, "whitespace": whitespace, "pragma-once": pragma_once, "opening-comment": opening_comment,
    "unfinished": unfinished, "local-path": local_path, "folder-readme": folder_readme, "empty-folder": empty_folder,
    "machine-source": machine_source,
}
