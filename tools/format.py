#!/usr/bin/env python3
"""Formats sources by clang-format 14, with the functors of FERRY_FUNCTOR as the classes that they are.

    tools/format.py FILE... | --check FILE... | --columns FILE... | --self-test

clang-format 14 takes the braces in the macro's arguments for lists of values, and does not break comments behind code.
--check changes nothing, lists the files that are not formatted and the lines of more than 120 columns, and fails if
there are any. --columns does not ask clang-format: it lists the long lines of Markdown, CMake and Python.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

OPENING = re.compile(r"^FERRY_FUNCTOR\(\s*\w+\s*,\s*(?=\{)|"
                     r"^FERRY_FUNCTOR_USING\(\s*\([\w:\s,]*\),\s*\w+\s*,\s*(?=\{)", re.M)
STAND_IN = re.compile(r"^struct ferry_functor_(\d+) \{", re.M)
COLUMNS = 120                      # as ColumnLimit in .clang-format
# Rows of these tables quote lines of sources, each in one string, so that a search for the line finds it here.
TABLES_OF_BUGS = re.compile(r"tools/mutants_\w+\.py$")
# What a search for braces skips: comments, strings and characters.
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])'|[{}]", re.S)


def end_of_braces(text, at):
    """The position after the brace that closes the one at `at`."""
    depth = 0
    for token in TOKEN.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


def replaced(text, pattern, end, opening, closing):
    """Each match of the pattern and the end of its braces become opening(match) and `closing`."""
    result, at = [], 0
    for match in pattern.finditer(text):
        brace = text.index("{", match.start())
        last = end_of_braces(text, brace)
        if match.start() < at or last is None or not text.startswith(end, last):
            continue
        result += [text[at:match.start()], opening(match), text[brace:last], closing]
        at = last + len(end)
    return "".join(result) + text[at:]


def formatted(text, name):
    heads = []

    def stand_in(match):
        heads.append(re.sub(r"\s+", " ", match[0]).strip())
        return f"struct ferry_functor_{len(heads) - 1} "

    hidden = replaced(text, OPENING, ");", stand_in, ";")
    shown = subprocess.run(["clang-format-14", f"--assume-filename={name}"], input=hidden, stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    return replaced(shown, STAND_IN, ";", lambda match: heads[int(match[1])] + " ", ");")


def may_be_long(name, number, line, language):
    """True if the line cannot be broken. `language` is that of the Markdown block of code around it, or None."""
    if name.endswith(".md"):
        is_row = language is None and line.lstrip().startswith("|")
        mark = 1 if language == "diff" else 0         # the column before each line of a change
        return is_row or len(line.split()) == 1 or len(line) <= COLUMNS + mark
    if name.endswith(".py"):
        return bool(TABLES_OF_BUGS.search(name)) and line.startswith("    ")
    # The first lines of examples are paragraphs of the tour.
    return line.startswith("// expect:") or number <= 2 and bool(re.match(r"examples/.*\.(cpp|cu|hpp)$", name))


def long_lines(text, name):
    """Lines that are too long, as "file:line". A row of a table and a single word of Markdown may be long."""
    found, language = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if name.endswith(".md") and line.lstrip().startswith("```"):
            language = line.strip().strip("`") if language is None else None
        if len(line) > COLUMNS and not may_be_long(name, number, line, language):
            found.append(f"{name}:{number}: {len(line)} columns, more than {COLUMNS}")
    return found


def format_file(name, check):
    """Formats the file, or only returns what is wrong with it."""
    path = pathlib.Path(name)
    text = path.read_text()
    good = formatted(text, name)
    if check:
        return long_lines(text, name) if good == text else [name]
    if good != text:
        path.write_text(good)
    return []


def self_test():
    functor = ("FERRY_FUNCTOR(product, {\n  double operator()(std::size_t i, const double* a) const {\n"
               "    const char brace = '}';  // }\n    return brace ? a[i] : 0;\n  }\n});\n")
    using = "FERRY_FUNCTOR_USING((a, b), both, {\n  a first;\n  b second;\n});\n"
    assert formatted(functor + using, "x.cpp") == functor + using, formatted(functor + using, "x.cpp")
    messy = "FERRY_FUNCTOR( one , {int   a;\n});\nint   x;\n"
    assert formatted(messy, "x.cpp") == "FERRY_FUNCTOR( one , {\n  int a;\n});\nint x;\n", formatted(messy, "x.cpp")
    words = 60 * "x " + "x"
    long, too_long = f"\n{words}\n", ["2: 121 columns, more than 120"]

    def columns(text, name):
        return [line.removeprefix(f"{name}:") for line in long_lines(text, name)]

    for name in ("x.cpp", "x.md", "CMakeLists.txt", "x.cmake", "x.py", "examples/x.py", "tools/mutants.py"):
        assert columns(long, name) == too_long, name
        assert columns(long.replace("x\n", "\n"), name) == [], name
    assert columns("// " + words, "examples/1_a.cpp") == columns("// expect: " + words, "x.cpp") == []
    assert columns(f"\n{words[2:]}é \n", "x.md") == too_long, "bytes were counted, not columns"
    assert columns("| " + words, "x.md") == columns(words.replace(" ", "x"), "x.md") == []
    assert columns(f"```diff\n{words}\n```\n", "x.md") == []
    assert columns(f"```diff\n{words}x\n```\n", "x.md") == ["2: 122 columns, more than 120"]
    assert columns(f"```sh\n{words}\n```\n", "x.md") == columns("```sh\n| " + words[2:], "x.md") == too_long
    assert columns(f"```\n```\n{words}", "x.md") == ["3: 121 columns, more than 120"]
    assert columns(f"x = (\n    {words}", "tools/mutants_x.py") == []
    assert columns(long, "tools/mutants_x.py") == columns(f"\n    {words[4:]}", "tools/x.py") == too_long
    macro = "#define FERRY_FUNCTOR(name, ...) struct name __VA_ARGS__\n"
    assert formatted(macro, "x.cpp") == macro


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.columns:
        wrong = [line for name in options.files for line in long_lines(pathlib.Path(name).read_text(), name)]
        return sys.exit("\n".join(wrong)) if wrong else None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [what for all in pool.map(lambda name: format_file(name, options.check), options.files) for what in all]
    if options.check and wrong:
        sys.exit("\n".join(sorted(wrong)))
    return None


if __name__ == "__main__":
    main()
