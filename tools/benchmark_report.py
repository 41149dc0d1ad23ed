#!/usr/bin/env python3
"""Writes the table of benchmark results into README.md, between <!-- benchmarks:begin --> and <!-- benchmarks:end -->.

    tools/benchmark_report.py [--results DIR] [--readme FILE] [--check] [--print]

Reads DIR/*.jsonl, one result a line. Of each benchmark on each machine the newest result counts: by date, then by place
in the files in the order of their names. --check changes nothing, and fails if the README differs from the results.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
NEEDED = {"name", "value", "unit", "baseline", "ratio", "bound", "holds", "machine", "devices", "driver", "date", "commit"}


def read(folder):
    """The newest result of each (machine, name), in the order in which they first appeared."""
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
            key = result["machine"], result["name"]
            if key not in newest or result["date"] >= newest[key]["date"]:
                newest[key] = result
    return list(newest.values())


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(text):
    return str(text).replace("|", "\\|")


def row(result):
    baseline, ratio = result["baseline"], result["ratio"]
    against = f"{number(baseline['value'])} {result['unit']} ({baseline['what']})" if baseline else ""
    verdict = {True: "holds", False: "**fails**", None: ""}[result["holds"]]
    cells = [result["name"], f"{number(result['value'])} {result['unit']}".strip(), against,
             "" if ratio is None else f"{ratio:.3f}", result["bound"], verdict]
    return "| " + " | ".join(cell(c) for c in cells) + " |"


def table(results):
    lines = []
    for machine in dict.fromkeys(r["machine"] for r in results):
        here = [r for r in results if r["machine"] == machine]
        stamps = dict.fromkeys(", ".join(filter(None, [r["date"], f"commit {r['commit']}", r["driver"]])) for r in here)
        lines += [f"**{machine}**, devices: {here[-1]['devices']} ({'; '.join(stamps)})", "",
                  "| benchmark | ferry | baseline | ratio | bound | |", "|---|---|---|---|---|---|", *map(row, here), ""]
    return "\n".join(lines) or "No results yet.\n"


def replaced(text, body):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"the README needs one {BEGIN} and, after it, one {END}")
    return text[:text.index(BEGIN) + len(BEGIN)] + "\n" + body + text[text.index(END):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=ROOT / "benchmarks" / "results")
    parser.add_argument("--readme", default=ROOT / "README.md", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the table, and change nothing")
    options = parser.parse_args()
    body = table(read(options.results))
    if options.print:
        print(body, end="")
        return
    before = options.readme.read_text()
    after = replaced(before, body)
    if options.check and after != before:
        sys.exit(f"{options.readme} differs from the results: run tools/benchmark_report.py")
    if after != before:
        options.readme.write_text(after)


if __name__ == "__main__":
    main()
