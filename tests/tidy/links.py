"""Dead links in Markdown: files, folders and headings of this repository. The network is never asked."""
import pathlib
import re
import urllib.parse

from layers import normal
from tree import Violation

TARGETS = [re.compile(r"\]\(\s*<?([^)\s>]+)"), re.compile(r"^\s*\[[^\]]+\]:\s+<?([^\s>]+)"), re.compile(r'\b(?:src|href)="([^"]+)"')]
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
FENCE = re.compile(r"\s*(```|~~~)")


def prose(lines):
    """(number, line) outside code blocks."""
    fence = None
    for number, line in enumerate(lines, 1):
        if match := FENCE.match(line):
            fence = match[1] if fence is None else None if fence == match[1] else fence
        elif fence is None:
            yield number, line


def without_code(line):
    return re.sub(r"(`+).*?\1", "", line)


def headings(lines):
    """The anchors GitHub gives a page."""
    anchors, seen = set(), {}
    for _, line in prose(lines):
        if match := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            anchors.add(slug if count == 0 else f"{slug}-{count}")
        anchors.update(re.findall(r'\b(?:id|name)="([^"]+)"', line))
    return anchors


def complaint(tree, page, target):
    """What is wrong with a link, or None."""
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    if path.startswith("/"):
        return "make it relative to this file"
    full = normal(pathlib.PurePosixPath(page).parent / path) if path else page
    if not (full == "" or tree.has_file(full) or tree.has_folder(full)):
        return f"there is no {full}"
    if anchor and full.endswith(".md") and anchor not in headings(tree.lines(full)):
        return f"{full} has no heading '#{anchor}'"
    return None


def dead_link(tree):
    for page in tree.with_suffix(".md"):
        for number, line in prose(tree.lines(page)):
            line = without_code(line)
            for target in (m for pattern in TARGETS for m in pattern.findall(line)):
                if not ELSEWHERE.match(target) and (wrong := complaint(tree, page, target)):
                    yield Violation(page, number, "dead-link", f"correct or remove the link to {target}: {wrong}")


RULES = {"dead-link": dead_link}
