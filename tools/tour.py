#!/usr/bin/env python3
"""Writes the porting tour into README.md: the first program's loop, and the lines that each next program changes.

    tools/tour.py [--readme FILE] [--examples DIR] [--check | --self-test]

The programs are DIR/1_*.cpp, 2_*.cpp and so on. Each begins with a comment of one or more lines, "// N. What this step
does", which becomes the text above its lines. Lines of the build (`// as: host`) are not shown. They go between
<!-- tour:begin --> and <!-- tour:end -->. --check changes nothing, and fails if the README differs from the programs.
"""
import argparse
import difflib
import itertools
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- tour:begin -->", "<!-- tour:end -->"
TITLE = re.compile(r"// (\d+)\. (.+)")
LOOP = re.compile(r"  (for|while) \(double ")


def programs(folder):
    """(path, title, lines below the title) of each step, in order."""
    found = sorted(folder.glob("[0-9]*_*.cpp"), key=lambda path: int(path.name.split("_")[0]))
    steps = []
    for number, path in enumerate(found, 1):
        lines = path.read_text().splitlines()
        head = list(itertools.takewhile(lambda line: line.startswith("// ") and not line.startswith("// as: "), lines))
        title = TITLE.fullmatch(" ".join(head[:1] + [line[3:] for line in head[1:]]))
        if not path.name.startswith(f"{number}_") or not title or int(title[1]) != number:
            sys.exit(f"{path}: must be {number}_*.cpp and begin with '// {number}. What this step does'")
        steps.append((path, title[2], [line for line in lines[len(head):] if not line.startswith("// as: ")]))
    if len(steps) < 2:
        sys.exit(f"{folder}: a tour needs at least two programs")
    return steps


def loop_of(lines):
    """The loop over the time steps, without the enclosing function."""
    first = next((i for i, line in enumerate(lines) if LOOP.match(line)), None)
    if first is None:
        sys.exit("the first program has no loop over time steps")
    last = next(i for i, line in enumerate(lines) if i > first and line == "  }")
    return [line[2:] for line in lines[first:last + 1]]


def changes(before, after):
    """The lines of a diff with one line of context, without empty ones; a " ..." line separates distant changes."""
    shown = []
    for line in list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]:
        if line.startswith("@@"):
            shown += [" ..."] if shown else []
        elif line[1:].strip():
            shown.append(line)
    return shown


def step(number, path, text):
    """What a step does, as Markdown of at most 120 columns."""
    return textwrap.fill(f"**[Step {number}](examples/{path.name}).** {text}", 120, break_on_hyphens=False)


def block(language, lines):
    return [f"```{language}", *lines, "```", ""]


def tour(folder):
    steps = programs(folder)
    (path, title, first), *others = steps
    text = [step(1, path, f"{title} Its loop:"), "",
            f"<!-- snippet: skip it is a part of examples/{path.name}, which is built -->",
            *block("cpp", loop_of(first))]
    before = first
    for number, (path, title, lines) in enumerate(others, 2):
        text += [step(number, path, title), "", *block("diff", changes(before, lines))]
        before = lines
    return "\n".join(text)


def replaced(text, body, name="README.md"):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{name} needs one {BEGIN} and, after it, one {END}")
    return text[:text.index(BEGIN) + len(BEGIN)] + "\n" + body + text[text.index(END):]


def self_test():
    before = ["a", "b", "c", "d", "e", "f", "g"]
    after = ["a", "b", "C", "d", "e", "f", "g", "h"]
    assert changes(before, after) == [" b", "-c", "+C", " d", " ...", " g", "+h"], changes(before, after)
    assert changes(before, before) == []
    assert changes(["", "a", ""], ["", "b"]) == ["-a", "+b"]
    loop = ["int main() {", "  for (double x = 1; x > 0;) {", "    y();", "    for (;;) {", "    }", "  }", "}"]
    assert loop_of(loop) == ["for (double x = 1; x > 0;) {", "  y();", "  for (;;) {", "  }", "}"]
    assert replaced(f"1\n{BEGIN}\nold\n{END}\n2", "new\n") == f"1\n{BEGIN}\nnew\n{END}\n2"
    assert step(2, pathlib.Path("2_b.cpp"), 20 * "some ").endswith(" some\nsome some some"), "not broken at 120 columns"
    for wrong in ("", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}"):
        try:
            replaced(wrong, "new")
        except SystemExit:
            continue
        raise AssertionError(f"accepted: {wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readme", default=ROOT / "README.md", type=pathlib.Path)
    parser.add_argument("--examples", default=ROOT / "examples", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    before = options.readme.read_text()
    after = replaced(before, tour(options.examples), options.readme)
    if after == before:
        return None
    if options.check:
        sys.exit(f"{options.readme} differs from the programs: run tools/tour.py")
    options.readme.write_text(after)


if __name__ == "__main__":
    main()
