#!/usr/bin/env python3
"""Measures what ferry's headers cost a translation unit, and compares it with committed figures.

    tools/compile_time.py [--check] [--update] [--compiler g++ | nvcc]... [--rounds N]

CPU seconds and lines after preprocessing of three sources: the usual standard headers, <ferry/ferry.hpp> alone, and a
program of five calls. The figures are ratios to the standard headers in the same run. --check fails if a ratio of lines
is above 1.1 times the committed one (benchmarks/results/compile_time.json). Ratios of seconds are printed beside the
committed ones, and decide nothing: on loaded systems they vary by a quarter. The fastest of N rounds (default 3)
counts. --update writes the file. Compilers that are not installed are skipped with a message.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "benchmarks" / "results" / "compile_time.json"
SLACK = 1.1
STANDARD = "".join(f"#include <{h}>\n" for h in ("algorithm", "array", "functional", "map", "memory", "mutex",
                                                 "optional", "span", "string", "vector"))
FERRY = "#include <ferry/ferry.hpp>\n"
CALLS = FERRY + """
struct axpy {
  double a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const double* x, double* y) const { y[i] += a * x[i]; }
};
double five_calls() {
  ferry::unified_array<double> x({1000}, 1.0);
  ferry::device_array<double> y({1000}, 2.0);
  ferry::parallel_for(x.size(), axpy{2}, ferry::in(x), ferry::inout(y));
  ferry::copy(y, x);
  return x[5];
}
"""
SOURCES = {"standard": STANDARD, "include": FERRY, "five_calls": CALLS}


def compilers():
    found = {"g++": [shutil.which("g++"), "-std=c++20", "-O2"]}
    found["nvcc"] = [shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"), "-std=c++20", "-O2",
                     "--extended-lambda", "-arch=sm_90", "-x", "cu"]
    return found


def cpu_seconds(command):
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(command, rounds):
    """The fewest seconds of each source, and its lines."""
    includes = [f"-I{ROOT / module / 'include'}" for module in ("core", "unified", "multigpu")]
    seconds, lines = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            (pathlib.Path(folder) / f"{name}.cpp").write_text(text)
        for _ in range(rounds):
            for name in SOURCES:
                source = pathlib.Path(folder) / f"{name}.cpp"
                taken = cpu_seconds([*command, "-c", *includes, str(source), "-o", str(source.with_suffix(".o"))])
                seconds[name] = min(seconds.get(name, taken), taken)
        for name in SOURCES:
            source = pathlib.Path(folder) / f"{name}.cpp"
            text = subprocess.run([*command, "-E", *includes, str(source)], check=True, capture_output=True,
                                  text=True).stdout
            lines[name] = sum(1 for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return seconds, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--compiler", action="append", choices=sorted(compilers()))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    committed = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    failed = False
    for name, command in compilers().items():
        if options.compiler and name not in options.compiler:
            continue
        if command[0] is None:
            print(f"{name:5} is not installed: not measured")
            continue
        seconds, lines = measure(command, options.rounds)
        print(f"{name:5} {'standard':10} {seconds['standard']:6.2f} s {lines['standard']:7} lines")
        found = {}
        for what in ("include", "five_calls"):
            found[what] = {"seconds": round(seconds[what] / seconds["standard"], 2),
                           "lines": round(lines[what] / lines["standard"], 3)}
            before = committed.get(name, {}).get(what, {})
            limit = before.get("lines", float("inf")) * SLACK
            is_longer = options.check and found[what]["lines"] > limit
            failed = failed or is_longer
            print(f"{name:5} {what:10} {seconds[what]:6.2f} s {lines[what]:7} lines; times the standard headers: "
                  f"seconds {found[what]['seconds']:.2f} (committed {before.get('seconds', 0):.2f}), "
                  f"lines {found[what]['lines']:.3f} (at most {limit:.3f})" + (": TOO MANY" if is_longer else ""))
        if options.update:
            committed[name] = found
    if options.update:
        FIGURES.write_text(json.dumps(committed, indent=2) + "\n")
    if options.check and not FIGURES.exists():
        print(f"{FIGURES.relative_to(ROOT)} is missing: run tools/compile_time.py --update", file=sys.stderr)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
