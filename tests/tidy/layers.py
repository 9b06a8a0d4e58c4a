"""Who may include what: the table, and the rules that hold it."""
import functools
import pathlib
import re

from tree import Violation

# src/, bottom to top. A folder includes itself and folders before it in this list.
ORDER = ["base", "toml", "os", "machine", "partition", "memory", "flow", "graph", "place", "sched", "trace", "engine", "runtime"]
SRC = ["src/" + folder for folder in ORDER]

# The parts of the repository, and the other parts each may include. Longest prefix wins.
MAY_INCLUDE = {
    "include": [],
    **{part: ["include"] + SRC[:i] for i, part in enumerate(SRC)},
    "solver": ["include"],
    "adapters": ["include"],
    "examples": ["include"],
    "bench": ["include"],
    "bench/solver": ["include", "bench", "solver"],
    "bench/partition": ["include", "bench"] + SRC,  # it calls the partitioners
    "bench/scheduling": ["include", "bench"] + SRC,  # it runs the scheduler without threads
    # `weir topo` prints machines, `weir trace` reads traces.
    "tools": ["include", "bench", "bench/partition", "solver", "src/machine", "src/toml", "src/trace"],
    "tests": ["include", "bench", "bench/partition", "solver", "tools"] + SRC,
}

# The model checker is no part of libweir, so base.hpp leaves it out: the models of other folders include it by name.
MODEL_CHECKER = "src/base/model/"
# Nor is the engine without threads, which experiments include by name.
SIMULATION = "src/engine/sim/"

STANDARD_HEADERS = set("""
    algorithm any array atomic barrier bit bitset charconv chrono compare complex concepts condition_variable coroutine
    deque exception execution expected filesystem format forward_list fstream functional future initializer_list iomanip
    ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
    optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span
    sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple
    type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
    cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio
    cstdlib cstring ctime cuchar cwchar cwctype stdint.h stddef.h stdbool.h time.h""".split())

CODE = (".hpp", ".h", ".cpp", ".cc", ".c")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(tree, path):
    """(line, name as written, the repository's file it means or None), one for each #include."""
    for number, line in enumerate(tree.lines(path), 1):
        if match := INCLUDE.match(line):
            yield number, match[2], resolve(tree, path, match[1] == '"', match[2])


def resolve(tree, path, quoted, name):
    beside = [pathlib.PurePosixPath(path).parent] if quoted else []
    for folder in [*beside, "src", "include", "solver/include", "."]:
        candidate = normal(pathlib.PurePosixPath(folder) / name)
        if tree.has_file(candidate):
            return candidate
    return None


def normal(path):
    parts = []
    for part in pathlib.PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


@functools.cache
def part_of(path):
    """The row of the table a file belongs to; None for a folder the table does not know."""
    known = [part for part in MAY_INCLUDE if path.startswith(part + "/")]
    return max(known, key=len, default=None)


def include_order(tree):
    for path in tree.with_suffix(*CODE):
        part = part_of(path)
        if part is None:
            yield Violation(path, 1, "include-order", "this folder is not in the table of tests/tidy/layers.py; add it there or move the file")
            continue
        for line, name, target in includes(tree, path):
            other = part_of(target) if target else None
            if other and other != part and other not in MAY_INCLUDE[part]:
                allowed = ", ".join(MAY_INCLUDE[part]) or "only itself"
                yield Violation(path, line, "include-order", f"{part} may not include {other} ({name}); it may include: {allowed}")


def is_model(path):
    return path.endswith(("_model.cpp", "_test.cpp")) or "model" in path.split("/")[2:-1]


def umbrella(tree):
    for part in SRC:
        folder = part.removeprefix("src/")
        inside = [f for f in tree.with_suffix(*CODE) if f.startswith(part + "/")]
        if inside and not tree.has_file(f"{part}/{folder}.hpp"):
            yield Violation(part, 1, "umbrella", f"add {part}/{folder}.hpp, the one header that other folders include")
    for path in tree.with_suffix(*CODE):
        for line, name, target in includes(tree, path):
            other = part_of(target) if target else None
            if target and target.startswith(MODEL_CHECKER) and is_model(path):
                continue
            if target and target.startswith(SIMULATION):
                continue
            if other in SRC and other != part_of(path) and target != f"{other}/{other[4:]}.hpp":
                yield Violation(path, line, "umbrella", f"include {other[4:]}/{other[4:]}.hpp instead of {name}")


def hermetic(tree):
    for path in tree.with_suffix(".hpp", ".h"):
        if part_of(path) != "include":
            continue
        for line, name, target in includes(tree, path):
            if target is None and name not in STANDARD_HEADERS:
                yield Violation(path, line, "hermetic", f"a public header may include only weir/ and the standard library, not {name}; move the use into src/")


RULES = {"include-order": include_order, "umbrella": umbrella, "hermetic": hermetic}
