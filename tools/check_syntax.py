#!/usr/bin/env python3
"""Compiles with clang++, without generating code, each source alone and each public header that no source includes first.

    tools/check_syntax.py [--jobs N]

The commands are those of the preset clang. Sources, not headers, share the standard library's headers precompiled: that halves
their time. Prints what the compiler says. Exit status: 0 all compile, 1 some do not.
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


def chosen(entries):
    """The sources, then the headers that no source includes before all others."""
    sources = [e for e in entries if not header_of(e)]
    proven = {name for e in sources for name in includes_of(e)[:1]}
    return sources, [e for e in entries if header_of(e) and header_of(e) not in proven]


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
    subprocess.run([compiler, "-std=c++20", "-O0", "-g0", "-x", "c++-header", str(header), "-o", str(precompiled)], check=True)
    return precompiled


def check(entry, options):
    """`options` name the precompiled headers, if any. A source whose own flags do not agree with them fails; it has a second try."""
    for more in [options, []] if options else [[]]:
        done = subprocess.run(words_of(entry) + ["-fsyntax-only", *more], cwd=entry["directory"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            break
    return done.returncode, entry["file"], done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    subprocess.run(["cmake", "--preset", "clang", "--log-level=WARNING"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    sources, headers = chosen(json.loads((BUILD / "compile_commands.json").read_text()))
    if not sources or not headers:
        sys.exit("the preset clang has no sources or no headers")
    with_standard = ["-include-pch", str(precompile(sources))]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [pool.submit(check, e, with_standard) for e in sources] + [pool.submit(check, e, []) for e in headers]
        for result in results:
            status, file, text = result.result()
            bad += status != 0
            if text:
                print(f"{file}\n{text}", flush=True)
    total = len(sources) + len(headers)
    print(f"{total - bad} of {total} compile: {len(sources)} sources, {len(headers)} headers")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
