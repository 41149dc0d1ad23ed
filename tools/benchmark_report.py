#!/usr/bin/env python3
"""Writes the tables of benchmark results into docs/benchmarks.md, and the number of bounds that hold into README.md.

    tools/benchmark_report.py [--results DIR] [--check] [--print]

In both pages the text goes between <!-- benchmarks:begin --> and <!-- benchmarks:end -->. Reads DIR/*.jsonl, one result
per line. For each benchmark, system and number of devices, the newest result counts: by date, then by position in the
files in the order of their names. --check changes nothing, and fails if a page differs from the results.
"""
import argparse
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
NEEDED = {"name", "value", "unit", "baseline", "ratio", "bound", "holds", "machine", "devices", "driver", "date",
          "commit"}


def read(folder):
    """The newest result of each (machine, devices, name), in the order in which they first appeared."""
    newest = {}
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.strip():
                continue
            try:
                result = json.loads(line)
            except json.JSONDecodeError as error:
                sys.exit(f"{file}:{number}: not JSON: {error}")
            if missing := NEEDED - result.keys():
                sys.exit(f"{file}:{number}: lacks {', '.join(sorted(missing))}")
            key = result["machine"], result["devices"], result["name"]
            if key not in newest or result["date"] >= newest[key]["date"]:
                newest[key] = result
    return list(newest.values())


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(text):
    return str(text).replace("|", "\\|")


def wrapped(text, indent=""):
    """The text in lines of at most 120 columns. None begins with an operator, which Markdown may read as a list."""
    text = re.sub(r" ([-+*<>]=? )", r"\0\1", text)
    return textwrap.fill(text, 120, break_on_hyphens=False, subsequent_indent=indent).replace("\0", " ")


def row(result):
    baseline, ratio = result["baseline"], result["ratio"]
    against = f"{number(baseline['value'])} {result['unit']} ({baseline['what']})" if baseline else ""
    verdict = {True: "holds", False: "**fails**", None: ""}[result["holds"]]
    cells = [result["name"], f"{number(result['value'])} {result['unit']}".strip(), against,
             "" if ratio is None else f"{ratio:.3f}", result["bound"], verdict]
    return "| " + " | ".join(cell(c) for c in cells) + " |"


def places(results):
    """(heading, results) of each machine and number of devices."""
    for machine, devices in dict.fromkeys((r["machine"], r["devices"]) for r in results):
        here = [r for r in results if (r["machine"], r["devices"]) == (machine, devices)]
        stamps = dict.fromkeys(", ".join(filter(None, [r["date"], f"commit {r['commit']}", r["driver"]])) for r in here)
        yield f"{machine}, {devices} device{'s' if devices != 1 else ''}", "; ".join(stamps), here


def tables(results):
    lines = []
    for place, stamps, here in places(results):
        lines += [f"## {place}", "", wrapped(stamps), "", "| benchmark | ferry | baseline | ratio | bound | |",
                  "|---|---|---|---|---|---|", *map(row, here), ""]
    return "\n".join(lines) or "No results yet.\n"


def summary(results):
    lines = []
    for place, _, here in places(results):
        bound = [r for r in here if r["holds"] is not None]
        failing = [f"{cell(r['name'])} ({number(r['value'])} {r['unit']}; {r['bound']})"
                   for r in bound if not r["holds"]]
        lines.append(wrapped(f"- {place}: {len(bound) - len(failing)} of {len(bound)} bounds hold"
                             + (f". Not: {'; '.join(failing)}" if failing else ""), "  "))
    return "\n".join(lines) + "\n"


def replaced(text, body):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"the page needs one {BEGIN} and, after it, one {END}")
    return text[:text.index(BEGIN) + len(BEGIN)] + "\n" + body + text[text.index(END):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=ROOT / "benchmarks" / "results")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the tables, and change nothing")
    options = parser.parse_args()
    results = read(options.results)
    if options.print:
        print(tables(results), end="")
        return
    for page, body in ((ROOT / "docs" / "benchmarks.md", tables(results)), (ROOT / "README.md", summary(results))):
        before = page.read_text()
        after = replaced(before, body)
        if options.check and after != before:
            sys.exit(f"{page} differs from the results: run tools/benchmark_report.py")
        if after != before:
            page.write_text(after)


if __name__ == "__main__":
    main()
