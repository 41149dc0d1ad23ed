#!/usr/bin/env python3
"""Measures what ferry's headers cost each translation unit, and compares that with committed figures.

    tools/compile_time.py [--check] [--update] [--compiler g++ | nvcc]... [--rounds N]

CPU seconds of three sources: the usual standard headers, <ferry/ferry.hpp> alone, and a program of five calls. The figures that
are compared are ratios to the standard headers in the same run, so that they depend little on the machine; of N rounds (3), the
fastest counts. --check fails if a ratio exceeds 1.3 times the committed one (benchmarks/results/compile_time.json); --update
writes the file. Compilers that are not installed are left out, and named.
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
SLACK = 1.3
STANDARD = "".join(f"#include <{h}>\n" for h in ("algorithm", "array", "functional", "map", "memory", "mutex", "optional", "span",
                                                 "string", "vector"))
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
    found = {"g++": [shutil.which("g++"), "-std=c++20", "-O2", "-c"]}
    found["nvcc"] = [shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"), "-std=c++20", "-O2", "--extended-lambda",
                     "-arch=sm_90", "-x", "cu", "-c"]
    return found


def cpu_seconds(command):
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(command, rounds):
    includes = [f"-I{ROOT / module / 'include'}" for module in ("core", "unified", "multigpu")]
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            (pathlib.Path(folder) / f"{name}.cpp").write_text(text)
        for _ in range(rounds):
            for name in SOURCES:
                source = pathlib.Path(folder) / f"{name}.cpp"
                seconds = cpu_seconds([*command, *includes, str(source), "-o", str(source.with_suffix(".o"))])
                best[name] = min(best.get(name, seconds), seconds)
    return best


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
        limits = {what: committed.get(name, {}).get(what, float("inf")) * SLACK for what in ("include", "five_calls")}
        for rounds in (options.rounds, 3):  # what seems slow is measured again: other work disturbs the figures
            seconds = measure(command, rounds)
            ratios = {what: round(seconds[what] / seconds["standard"], 2) for what in limits}
            if not options.check or all(ratios[what] <= limits[what] for what in limits):
                break
        print(f"{name:5} standard headers {seconds['standard']:.2f} s")
        for what, ratio in ratios.items():
            is_slow = options.check and ratio > limits[what]
            failed = failed or is_slow
            print(f"{name:5} {what:16} {seconds[what]:.2f} s, {ratio:.2f} times the standard headers, at most {limits[what]:.2f}"
                  + (": TOO SLOW" if is_slow else ""))
        if options.update:
            committed[name] = ratios
    if options.update:
        FIGURES.write_text(json.dumps(committed, indent=2) + "\n")
    if options.check and not FIGURES.exists():
        print(f"{FIGURES.relative_to(ROOT)} is missing: run tools/compile_time.py --update", file=sys.stderr)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
