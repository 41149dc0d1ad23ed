#!/usr/bin/env python3
"""Compiles with clang++, without generating code, each source and each header under include/ alone.

    tools/check_syntax.py [--jobs N]

The commands are those of the preset clang. A header that a source includes before all else is compiled with that
source. The other sources share the standard library's headers precompiled, which halves their time. Prints what the
compiler says. Exit status: 0 all compile, 1 some do not.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/clang"


def includes_of(entry):
    """The names in the #include lines of an entry's file, in order."""
    return re.findall(r'^#include ["<](.*)[">]', pathlib.Path(entry["file"]).read_text(), re.M)


def header_of(entry):
    """The header that a source of CMake's header sets includes; none for other sources."""
    found = re.search(r"_verify_interface_header_sets/(.*)\.cxx$", entry["file"])
    return found[1] if found else None


def first_include(entry):
    """The name in the first line of a source that is for the preprocessor; none if that is no #include."""
    line = re.search(r"^#.*", pathlib.Path(entry["file"]).read_text(), re.M)
    found = re.match(r'#include ["<](.*)[">]', line[0]) if line else None
    return found[1] if found else None


def chosen(entries):
    """The entries to compile without precompiled headers, each of which checks a header, and the other sources."""
    alone = {header_of(e): e for e in entries if header_of(e)}
    others = []
    for e in entries:
        if header_of(e):
            continue
        name = first_include(e)
        if name in alone and header_of(alone[name]):  # the first source of this header
            alone[name] = e
        else:
            others.append(e)
    return list(alone.values()), others


def words_of(entry):
    """The command without its output, its caching, and what precompiled headers must agree in."""
    words = shlex.split(entry["command"])
    while pathlib.Path(words[0]).name == "ccache":
        del words[0]
    at = words.index("-o")
    return [w for w in words[:at] + words[at + 2:] if w not in ("-fPIC", "-fPIE")]


def precompile(sources):
    """Precompiles the standard library's headers that sources include; returns the file."""
    names = sorted({name for e in sources for name in includes_of(e) if re.fullmatch(r"[a-z_]+", name)})
    header, precompiled = BUILD / "standard.hpp", BUILD / "standard.pch"
    header.write_text("".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in names))
    compiler = words_of(sources[0])[0]
    subprocess.run([compiler, "-std=c++20", "-O0", "-g0", "-x", "c++-header", str(header), "-o", str(precompiled)],
                   check=True)
    return precompiled


def check(entry, options):
    """`options` name the precompiled headers, if any. A source whose own flags do not agree with them fails, and is
    compiled again without them."""
    for more in [options, []] if options else [[]]:
        done = subprocess.run(words_of(entry) + ["-fsyntax-only", *more], cwd=entry["directory"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            break
    return done.returncode, entry["file"], done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    subprocess.run(["cmake", "--preset", "clang", "--log-level=WARNING"], cwd=ROOT, stdout=subprocess.DEVNULL,
                   check=True)
    alone, others = chosen(json.loads((BUILD / "compile_commands.json").read_text()))
    if not alone or not others:
        sys.exit("the preset clang has no headers or no sources")
    with_standard = ["-include-pch", str(precompile(others))]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [pool.submit(check, e, []) for e in alone] + [pool.submit(check, e, with_standard) for e in others]
        for result in results:
            status, file, text = result.result()
            bad += status != 0
            if text:
                print(f"{file}\n{text}", flush=True)
    total = len(alone) + len(others)
    print(f"{total - bad} of {total} compile: {len(alone)} for a header, {len(others)} other sources")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
