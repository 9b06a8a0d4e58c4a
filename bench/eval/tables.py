"""Tables of documents from the results that lie beside them: python3 tables.py WEIR [--check] DOCUMENT...

A table stands between two comments, the first of which says which figure of which results it shows:

    <!-- table pact16-opteron-64: Figure 7 -->
    <!-- end of table -->

pact16-opteron-64.jsonl.xz in results/ beside the document holds the lines that weir eval wrote; "Figure 7" is how the
title of one of their figures begins. WEIR, a weir command, draws the figures. Groups go down, series across; of several
runs the median and the sample standard deviation are shown. "Figure 7; with means" adds a line with the mean of each
series that has all groups. --check changes nothing, and fails if a table is not what its results make.
"""
import argparse
import json
import lzma
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

BEGIN, END, MEANS = "<!-- table ", "<!-- end of table -->", "; with means"
TABLE = re.compile(BEGIN + r"(?P<results>[\w.-]+): (?P<figure>[^\n]*?) -->\n((?!<!-- table ).)*?" + END, re.DOTALL)


class Wrong(Exception):
    """What a document asks for is not there."""


def figures_in(weir, results):
    """The charts of a file of results, as weir report --json prints them."""
    try:
        text = lzma.open(results, "rt", encoding="utf-8").read()
    except (OSError, EOFError, lzma.LZMAError) as e:
        raise Wrong(f"{results}: cannot be read: {e}") from e
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as plain:
        plain.write(text)
        plain.flush()
        done = subprocess.run([weir, "report", "--json", plain.name], capture_output=True, text=True)
    if done.returncode != 0:
        raise Wrong(f"{results}: {done.stderr.strip()}")
    return [chart for section in json.loads(done.stdout) for chart in section["charts"]]


def shown(value, unit):
    """The median, with the deviation of runs where there are several. 0 stands for what would only be zeros."""
    divisor, digits, name = scale(value["median"], unit)
    text = f"{value['median'] / divisor:.{digits}f}"
    if value["deviation"] is not None:
        deviation = f"{value['deviation'] / divisor:.{digits}f}"
        text += " ± " + (deviation if float(deviation) > 0 else "0")
    return text + (" " + name if name else "")


def scale(x, unit):
    """What a number of this size is divided by, the digits behind its point, and the unit it then has."""
    if unit == "share":
        return 0.01, 0, "%"
    if unit == "ratio":
        return 1, 2, ""
    if unit == "count":
        return 1, 0, ""
    if unit == "bytes":
        return 2**20, 1, "MiB"
    if x >= 1e6:
        return 1e6, 2, "ms"
    return (1e3, 1, "us") if x >= 1e4 else (1, 1, "ns")


def runs(chart):
    """Of how many runs a table's cells are."""
    counts = sorted({v["n"] for s in chart["series"] for v in s["values"] if v is not None and v["deviation"] is not None})
    if not counts:
        return ""
    count = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"\nMedians of {count} runs ± their standard deviation{', in points' if chart['unit'] == 'share' else ''}.\n"


def mean_of(series):
    """Of medians, without a deviation; None where a group is missing."""
    if any(v is None for v in series["values"]):
        return None
    return {"median": statistics.fmean(v["median"] for v in series["values"]), "deviation": None}


def table(chart, with_means):
    series = [s for s in chart["series"] if any(v is not None for v in s["values"])]
    lines = ["| | " + " | ".join(s["name"] for s in series) + " |", "| --- |" + " ---: |" * len(series)]
    rows = [(group, [s["values"][i] for s in series]) for i, group in enumerate(chart["groups"])]
    if with_means:
        rows.append(("mean", [mean_of(s) for s in series]))
    for name, values in rows:
        cells = ["" if v is None else shown(v, chart["unit"]) for v in values]
        lines.append(f"| {name} |" + "".join(f" {c} |" if c else " |" for c in cells))
    return "\n".join(lines) + "\n"


def redrawn(weir, document, text):
    """A document's text, each table made anew. Throws Wrong."""
    tables = len(TABLE.findall(text))
    if tables == 0 or not tables == text.count(BEGIN) == text.count(END):
        raise Wrong(f"{document}: {tables} tables, {text.count(BEGIN)} comments that begin one and {text.count(END)} that "
                    f"end one; expected one or more, and as many of each")
    known = {}

    def made(found):
        results, figure = found["results"], found["figure"].removesuffix(MEANS)
        if results not in known:
            known[results] = figures_in(weir, document.parent / "results" / (results + ".jsonl.xz"))
        charts = known[results]
        fit = [c for c in charts if c["title"] == figure] or [c for c in charts if c["title"].startswith(figure)]
        if len(fit) != 1:
            titles = "; ".join(c["title"] for c in charts)
            raise Wrong(f"{document}: {len(fit)} figures of {results} begin with \"{figure}\"; there are {titles}")
        made_of = table(fit[0], found["figure"].endswith(MEANS))
        return f"<!-- table {results}: {found['figure']} -->\n\n{made_of}{runs(fit[0])}\n<!-- end of table -->"

    return TABLE.sub(made, text)


def main():
    about, _, usage = __doc__.partition("\n")
    parser = argparse.ArgumentParser(description=about, epilog=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir", metavar="WEIR")
    parser.add_argument("documents", metavar="DOCUMENT", type=pathlib.Path, nargs="+")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    differ = 0
    for document in options.documents:
        try:
            text = document.read_text(encoding="utf-8")
            new = redrawn(options.weir, document, text)
        except (Wrong, OSError) as e:
            sys.exit(f"tables: {e}")
        if text == new:
            continue
        differ += 1
        if not options.check:
            document.write_text(new, encoding="utf-8")
            continue
        old_lines, new_lines = text.splitlines(), new.splitlines()
        same = [a == b for a, b in zip(old_lines, new_lines)]
        line = same.index(False) if False in same else len(same)
        print(f"tables: {document}:{line + 1}: not what its results make: expected\n  {(new_lines + [''])[line]}",
              file=sys.stderr)
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
