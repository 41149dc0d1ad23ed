#!/usr/bin/env python3
"""Writes the results of examples/tune/measure.sh into docs/tuning.md.

    tools/tuning_page.py [--check | --self-test]

The text goes between <!-- tuning:begin --> and <!-- tuning:end -->. For each examples/tune/results/NAME.txt: place and
date, the measurements for all arrays, the chosen policies, the time of a step without and with them, and the picture of
all trials, NAME.svg. --check changes nothing, and fails if the page differs.
"""
import argparse
import pathlib
import re
import statistics
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "examples" / "tune" / "results"
PAGE = ROOT / "docs" / "tuning.md"
BEGIN, END = "<!-- tuning:begin -->", "<!-- tuning:end -->"


def steps(lines, what):
    """The median time of a step, ms."""
    pattern = re.compile(what + r" policies: .*, ([\d.]+) ms a step")
    times = [float(found[1]) for line in lines if (found := pattern.match(line))]
    if not times:
        sys.exit(f"there is no line '{what} policies: ..., 1.2 ms a step'")
    return statistics.median(times)


def section(name, text):
    when, *lines = text.splitlines()
    saved = next(line for line in lines if line.startswith("saved as "))
    found = next(line for line in lines if line.startswith("a step takes "))
    kept = [line.rstrip() for line in lines
            if re.match(r"array |\(all arrays\)", line) or line.rstrip().endswith("  chosen")]
    times = (f"{saved.split(', for ')[1]}, {when}: {found}. The program alone, medians of runs of 20 steps: "
             f"{steps(lines, 'without'):.3g} ms a step, {steps(lines, 'with'):.3g} ms with `FERRY_TUNE`.")
    return "\n".join([
        textwrap.fill(times, 120, break_on_hyphens=False), "",
        "```text", *kept, "```", "", f"![All trials](../examples/tune/results/{name}.svg)", ""])


def page(text, folder):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"the page needs one {BEGIN} and, after it, one {END}")
    body = "\n".join(section(file.stem, file.read_text()) for file in sorted(folder.glob("*.txt")))
    return text[:text.index(BEGIN) + len(BEGIN)] + "\n" + body + text[text.index(END):]


def self_test():
    text = """2026-01-02, commit abc
array         policy        ms a step     spread
(all arrays)  explicit              9        0.1
edges         prefetch              2        0.1  chosen
edges         read_mostly           3        0.1
a step takes 2 ms with the policies chosen, 4 ms without
saved as x.policies, for 2 x GPU
without policies: 1 left, 4.0 ms a step
with policies: 1 left, 2.0 ms a step
without policies: 1 left, 5.0 ms a step
without policies: 1 left, 9.0 ms a step
"""
    written = section("x", text)
    assert written.startswith("2 x GPU, 2026-01-02, commit abc: a step takes 2 ms with"), written
    assert "5 ms a step, 2 ms with" in written.replace("\n", " "), written
    assert "prefetch              2        0.1  chosen" in written, written
    assert "read_mostly" not in written and "results/x.svg" in written, written
    for wrong in ("", END + BEGIN):
        try:
            page(wrong, RESULTS)
        except SystemExit:
            continue
        raise AssertionError(f"accepted: {wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    before = PAGE.read_text()
    after = page(before, RESULTS)
    if options.check:
        return sys.exit(f"{PAGE} differs from {RESULTS}: run tools/tuning_page.py" if after != before else 0)
    PAGE.write_text(after)
    return None


if __name__ == "__main__":
    main()
