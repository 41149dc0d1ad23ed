#!/usr/bin/env python3
"""Breaks the ordering rules one at a time, in a copy of the sources: each time a test must fail.

    tools/mutants.py [--sample N [--rotation R]] [--only TEXT]... [--all-tests] [--list] [--jobs N] [--seeds N] [--compiler CXX]
                     [--results FILE] [--until SECONDS]

The planted bugs are in tools/mutants_table.py and tools/mutants_several.py; each replaces a text that must occur exactly once
in its file. The first table uses the tests of tests/race; the second those of tests/multigpu and of copies. They are built
without CUDA. Each test case runs in its own process: a failed check, a crash and a hang count as caught. Fast cases run first,
until one catches the bug; --all-tests runs all, and lists those that catch it. The random programs of two threads run last.
If they do not catch the bug, either, the random programs run again with more seeds.
A run of all bugs writes docs/mutants.md. --sample chooses N of them, different ones every day; R repeats a choice.
--results continues a run: it skips the bugs that FILE lists, and appends a line of JSON for each other one. --until plants
no more bugs after SECONDS. A static_assert that fails counts as caught.
Exit status: 0 all caught, 1 some survived, 2 the tests fail without a bug, a bug's text is not in its
file, or it does not compile.
"""
import argparse
import collections
import concurrent.futures
import ctypes.util
import datetime
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mutants_expressions
import mutants_jit
import mutants_moving
import mutants_reductions
import mutants_several
import mutants_sorting
import mutants_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "mutants.md"
MODULES = ["core", "unified", "multigpu"]
FOLDERS = [*(f"{module}/{part}" for module in MODULES for part in ("include", "src")),
           *(f"tests/{name}" for name in ("core", "race", "unified", "multigpu", "contract", "support", "tools")), "benchmarks/support", "tools"]
FOLDERS_OF_CORE = sorted(d.name for d in (ROOT / "core/src").iterdir() if d.is_dir() and d.name != "cuda")
CORE = ["adapt", "copy_lane", "cpu_streams", "cpu_workers", "driver_pool", "ghosts", "kernels/cpu_kernels", "kernels/cpu_loops", "kernels/host_tasks", "kernels/index_checks_off", "kernels/index_checks_on", "kernels/struct_arguments", "numa", "pool_blocks", "sim_options"]
UNIFIED = ["automatic_host", "batch_memory", "batch_pipeline", "host_guard", "migration", "policy_file", "report", "kernels/adapted_batches", "kernels/advice", "kernels/advice_scopes", "kernels/automatic",
           "kernels/batches", "kernels/lossy_links", "kernels/policies", "kernels/span_lines", "kernels/traffic", "kernels/tuner"]
COPIES = ["contract/copy", "contract/cpu_memory", "contract/elements", "contract/fixture", "contract/kept_scalars", "contract/peer_links", "contract/peer_memory", "contract/read_only_parameters", "contract/routes", "core/large_copies"]
SEVERAL = ["axes_reductions", "precompiled_reductions", "sharded_expressions", "sharded_print", "sharded_programs", "sharded_sorting", "totals", "ghosts", "halo", "grids", "halo_choice", "reshard", "shard_copies", "shard_options", "kernels/components", "kernels/cpu_loops", "kernels/each_member", "kernels/exchange_plan", "kernels/gate", "kernels/ghost_loops", "kernels/grid_loops", "kernels/halo_validity", "kernels/many_dimensions", "kernels/overlap", "kernels/read_only_parameters", "kernels/region", "kernels/shard_arguments", "kernels/sharded", "kernels/reduction_types", "collectives/collectives", "collectives/graphs", "collectives/ordered_keys",
           "collectives/random_collectives"]
LIBRARY = [*(f"core/src/{folder}/*.cpp" for folder in FOLDERS_OF_CORE), "unified/src/*/*.cpp", "tests/support/*.cpp"]
# The sources to build for each table's bugs.
SOURCES = {mutants_table: [*LIBRARY, "tests/race/*.cpp", *(f"tests/core/{name}_test.cpp" for name in CORE), *(f"tests/unified/{name}_test.cpp" for name in UNIFIED)],
           mutants_several: [*LIBRARY, "multigpu/src/*/*.cpp",
                             *(f"tests/{name}_test.cpp" for name in COPIES), *(f"tests/multigpu/{name}_test.cpp" for name in SEVERAL)],
           mutants_expressions: [*LIBRARY, "tests/core/expressions_*_test.cpp",
                                 *(f"tests/core/{name}_test.cpp" for name in ("functions", "generator_functions", "kernels/transform"))],
           mutants_jit: [*(f"core/src/{folder}/*.cpp" for folder in ("support", "operations", "jit", "generator")), "tests/tools/mutants_jit_main.cpp",
                         "tests/core/jit_*_test.cpp", "tests/core/generator_test.cpp"],
           mutants_reductions: [*LIBRARY, "tests/core/reductions_*_test.cpp"],
           mutants_moving: [*LIBRARY, "tests/core/moving_*_test.cpp"],
           mutants_sorting: [*LIBRARY, "tests/core/sorting_*_test.cpp", "tests/core/compare_test.cpp", "tests/core/print_test.cpp"]}
# -g1: line numbers, which show the objects that contain the code of a header's line. Some bugs use <thread>.
FLAGS = ["-std=c++20", "-include", "thread", "-O1", "-g1", "-pthread", "-D_GLIBCXX_ASSERTIONS", "-DFERRY_INTERNAL",
         *(f"-I{module}/{part}" for module in MODULES for part in ("include", "src")), "-Itests",
         '-DFERRY_UNIFIED_PAGE="docs/unified.md"']
LIBRARIES = ["-pthread"]
TEST_LIBRARY = "boost_unit_test_framework"  # without the library its headers suffice
ONE_THREAD, TWO_THREADS = "random_programs/one_thread", "random_programs/two_threads"
SHORTEST_LIMIT = 30                        # seconds until a test counts as hanging; longer for slow tests

Mutant = collections.namedtuple("Mutant", "table rule name edits")
Outcome = collections.namedtuple("Outcome", "test how seconds")       # of a failed test


def fail(text):
    print(f"mutants: {text}", file=sys.stderr)
    sys.exit(2)


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Stale(Exception):
    pass


class Uncompiled(Exception):
    """A source, and what the compiler says."""


def planted(tree, mutant):
    """The new text of each file that the mutant changes, and the replaced lines: {file: (text, [(first, last)])}."""
    changed = {}
    for file, old, new in mutant.edits:
        original = (tree / file).read_text()
        text, lines = changed.get(file, (original, []))
        if text.count(old) != 1:
            raise Stale(f"'{mutant.name}' is stale: {file} has this {text.count(old)} times, not once:\n{old}")
        first = original.count("\n", 0, max(original.find(old), 0)) + 1
        lines.append((first, first + old.count("\n")))
        changed[file] = text.replace(old, new), lines
    return changed


def use_test_library():
    if ctypes.util.find_library(TEST_LIBRARY):
        FLAGS.append("-DBOOST_TEST_DYN_LINK")
        LIBRARIES.append(f"-l{TEST_LIBRARY}")


class Program:
    """One table's tests without a bug: objects, their dependencies, and the test cases with their times in seconds."""

    def __init__(self, work, options, table):
        self.work, self.options = work / table.__name__, options
        self.work.mkdir()
        self.tree, self.objects = work / "unbroken", work / "objects"      # for all tables
        if not self.tree.exists():
            self.objects.mkdir()
            for folder in FOLDERS:
                shutil.copytree(ROOT / folder, self.tree / folder, ignore=shutil.ignore_patterns("cuda"))
        self.sources = [str(f.relative_to(self.tree)) for pattern in SOURCES[table] for f in sorted(self.tree.glob(pattern))]
        self.compiler = (["ccache"] if shutil.which("ccache") else []) + [options.compiler]
        self.lines = {}

    def compile(self, tree, source, to):
        map_here = f"-ffile-prefix-map={tree}=."
        command = self.compiler + FLAGS + [map_here, "-MMD", "-c", source, "-o", str(to)]
        status, text = run(command, tree)
        if status:
            raise Uncompiled(source, text)

    def link(self, objects, to):
        status, text = run([self.options.compiler, *map(str, objects), "-o", str(to), *LIBRARIES], self.work)
        if status:
            fail(f"the tests do not link\n{text}")

    def object(self, source, folder=None):
        return (folder or self.objects) / (source.replace("/", "_") + ".o")

    def build(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            missing = [s for s in self.sources if not self.object(s).exists()]
            try:
                list(pool.map(lambda s: self.compile(self.tree, s, self.object(s)), missing))
            except Uncompiled as e:
                fail("{} does not compile\n{}".format(*e.args))
        self.link([self.object(s) for s in self.sources], self.work / "tests")

    def check(self):
        self.cases, suite = {}, ""
        listed = run([self.work / "tests", "--list_content"], self.work)[1]
        for line in listed.splitlines():
            if found := re.fullmatch(r"( *)(\w+)(<.*>)?\*?", line):
                if not found[1]:
                    suite = found[2]
                else:  # a template's cases are one
                    self.cases[f"{suite}/{found[2]}" + ("*" if found[3] else "")] = 0
        if not self.cases:
            fail(f"the tests list no test case:\n{listed}")

        def timed(case):
            started = time.monotonic()
            return case, self.run_case(self.work / "tests", case, 600), time.monotonic() - started

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for case, how, seconds in pool.map(timed, list(self.cases)):
                if how:
                    fail(f"{case} fails unbroken: {how}")
                self.cases[case] = seconds

    def run_case(self, program, case, limit, seeds=None, first=0):
        """The failure of a test case; empty if it passed."""
        environment = dict(os.environ)
        environment.pop("FERRY_SIM", None)
        for variable, value in (("FERRY_TEST_SEEDS", seeds), ("FERRY_TEST_FIRST_SEED", first or None)):
            environment.pop(variable, None)
            if value is not None:
                environment[variable] = str(value)
        command = [str(program), f"--run_test={case}", "--catch_system_errors=no", "--color_output=no"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment) as child:
            try:
                text, _ = child.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                return "hangs"
        if child.returncode == 0:
            return ""
        seed = re.search(r"\bseed (\d+)", text)
        if seed:
            return f"seed {seed[1]}"
        return "crashes" if child.returncode < 0 else "fails"

    def holders(self, header, lines, all_including):
        """The sources whose objects contain code near these lines of a header; if there are none, or `all_including`, all
        that include it: code that is inlined may have no lines."""
        including = []
        for s in self.sources:
            if re.search(rf"(^|[ /]){re.escape(header)}\b", self.object(s).with_suffix(".d").read_text(), re.M):
                including.append(s)
        name = pathlib.Path(header).name
        wanted = {n for first, last in lines for n in range(first - 2, last + 3)}      # some lines have no code
        holding = [s for s in including if wanted & self.lines_of(s, name)]
        return including if all_including or not holding else holding

    def lines_of(self, source, name):
        if source not in self.lines:
            found = collections.defaultdict(set)
            _, text = run(["objdump", "--dwarf=decodedline", str(self.object(source))], self.work)
            for file, line in re.findall(r"^(\S+\.hpp) +(\d+) +0", text, re.M):
                found[file].add(int(line))
            self.lines[source] = found
        return self.lines[source][name]

    def broken(self, mutant, worker, all_including):
        """Builds the tests with the mutant planted, in the worker's copy of the sources."""
        tree, objects = self.work / f"tree{worker}", self.work / f"objects{worker}"
        if not tree.exists():
            shutil.copytree(self.tree, tree)
            objects.mkdir()
        changed = planted(self.tree, mutant)
        sources = set()
        for file, (_, lines) in changed.items():
            sources.update([file] if file in self.sources else self.holders(file, lines, all_including))
        try:
            for file, (text, _) in changed.items():
                (tree / file).write_text(text)
            for s in sorted(sources):
                self.compile(tree, s, self.object(s, objects))
        finally:
            for file in changed:
                shutil.copyfile(self.tree / file, tree / file)
        program = self.work / f"tests{worker}"
        self.link([self.object(s, objects if s in sources else None) for s in self.sources], program)
        return program

    def try_out(self, mutant, worker):
        """The test cases that catch a mutant."""
        outcomes = self.try_build(mutant, worker, False)
        in_header = any(file not in self.sources for file, *_ in mutant.edits)
        return outcomes or (self.try_build(mutant, worker, True) if in_header else [])

    def try_build(self, mutant, worker, all_including):
        program = self.broken(mutant, worker, all_including)
        outcomes = []

        def attempt(case, limit, seeds=None, first=0):
            started = time.monotonic()
            if how := self.run_case(program, case, limit, seeds, first):
                outcomes.append(Outcome(case, how, time.monotonic() - started))

        for case, usual in sorted(self.cases.items(), key=lambda c: (c[0] == TWO_THREADS, c[1])):
            if outcomes and (not self.options.all_tests or case == TWO_THREADS or outcomes[-1].how == "hangs"):
                break                      # slow, and the bug is already caught
            attempt(case, max(SHORTEST_LIMIT, 10 * usual))
        for case in (ONE_THREAD, TWO_THREADS):
            if not outcomes and case in self.cases:
                attempt(case, 300, self.options.seeds, 1000)
        return outcomes


def cell(text):
    return text.replace("|", "\\|")


def caught_by(outcomes):
    return ", ".join(f"`{o.test}`" + ("" if o.how == "fails" else f" ({o.how})") for o in outcomes) or "**SURVIVED**"


def page(results):
    rows = [f"| {m.rule} | {cell(m.name)} | {cell(caught_by(outcomes))} |" for m, outcomes in results]
    return "\n".join([
        "# Planted bugs", "",
        "Written by `./dev mutants`, which plants each of these bugs in a copy of the sources and runs tests on the simulator: for",
        "those with a rule of ordering (`tools/mutants_table.py`) `tests/race` and some of `tests/unified`, for those of several",
        "devices (`tools/mutants_several.py`) those of `tests/multigpu`, copies and peers. Fast ones come first: named is the first",
        "that caught it (`--all-tests`: all that do), in brackets the first seed that saw it; with two threads seeds differ from run",
        "to run.", "", f"{sum(bool(o) for _, o in results)} of {len(results)} are caught.", "",
        "| rule | bug | caught by |", "|---|---|---|", *rows, ""])


def choose(mutants, options):
    def matches(m, text):
        return text in (m.rule, m.table.__name__) or text.lower() in m.name.lower()

    if options.only:
        for text in options.only:
            if not any(matches(m, text) for m in mutants):
                fail(f"'{text}' is no rule, no table and in no name: see --list")
        mutants = [m for m in mutants if any(matches(m, text) for text in options.only)]
    if options.sample and options.sample < len(mutants):
        rotation = options.rotation if options.rotation is not None else datetime.date.today().toordinal()
        print(f"a sample of {options.sample}: --rotation {rotation} repeats it")
        mutants = [mutants[(rotation * options.sample + i) % len(mutants)] for i in range(options.sample)]
    return mutants


def read_results(file, every):
    """The bugs that a file of --results lists, with their outcomes."""
    named = {(m.table.__name__, m.name): m for m in every}
    lines = map(json.loads, file.read_text().splitlines()) if file and file.exists() else []
    return {named[line["table"], line["name"]]: [Outcome(*o) for o in line["outcomes"]]
            for line in lines if (line["table"], line["name"]) in named}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, metavar="N", help="N of the bugs, others every day")
    parser.add_argument("--rotation", type=int, metavar="R", help="which sample")
    parser.add_argument("--only", metavar="TEXT", action="append", help="the bugs with TEXT in their names, of the rule TEXT, or of the table TEXT")
    parser.add_argument("--all-tests", action="store_true", help="name all tests that catch a bug, not only the first")
    parser.add_argument("--list", action="store_true", help="list the bugs, and check that each can be planted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seeds", type=int, default=3000, help="of the random programs, where a bug survives at first")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="continue the run whose results FILE has")
    parser.add_argument("--until", type=float, metavar="SECONDS", default=float("inf"), help="begin no bug later")
    options = parser.parse_args()

    every = [Mutant(table, rule, name, tuple(edits)) for table in SOURCES for rule, name, *edits in table.MUTANTS]
    stale = []
    for m in every:
        try:
            planted(ROOT, m)
        except Stale as text:
            stale.append(str(text))
    if stale:
        fail("\n".join(stale))
    if options.list:
        for m in every:
            print(f"{m.rule or '-':11} {m.name}")
        return
    chosen = choose(every, options)
    results = read_results(options.results, every)
    mutants = [m for m in chosen if m not in results]
    use_test_library()
    os.environ["FERRY_BACKEND"] = "sim"

    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ferry-mutants-") as folder:
        programs = {table: Program(pathlib.Path(folder), options, table) for table in SOURCES if any(m.table is table for m in mutants)}
        for program in programs.values():
            began = time.monotonic()
            program.build()
            built = time.monotonic()
            program.check()
            print(f"{len(program.cases)} test cases; built in {built - began:.0f} s, pass in {time.monotonic() - built:.0f} s",
                  flush=True)
        workers = queue.SimpleQueue()
        for i in range(options.jobs):
            workers.put(i)
        done, unbuilt, printing = 0, [], threading.Lock()

        def attempt(m):
            nonlocal done
            worker, began = workers.get(), time.monotonic()
            if began - started > options.until:
                workers.put(worker)
                return
            try:
                outcomes = programs[m.table].try_out(m, worker)
            except Uncompiled as e:
                source, text = e.args
                if "static assertion failed" not in text:
                    unbuilt.append(f"{m.name}: {source}\n{text}")
                    return
                outcomes = [Outcome(source, "static_assert", 0)]
            finally:
                workers.put(worker)
            with printing:
                done += 1
                results[m] = outcomes
                if options.results:
                    with options.results.open("a") as file:
                        print(json.dumps({"table": m.table.__name__, "name": m.name, "outcomes": outcomes}), file=file)
                print(f"[{done}/{len(mutants)}] {m.rule:3} {m.name}: {caught_by(outcomes)}, "
                      f"{time.monotonic() - began:.0f} s", flush=True)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(attempt, mutants))
    tried = [(m, results[m]) for m in chosen if m in results]
    survivors = [m.name for m, outcomes in tried if not outcomes]
    print(f"{len(tried) - len(survivors)} of {len(tried)} planted bugs are caught, in {time.monotonic() - started:.0f} s")
    for name in survivors:
        print(f"SURVIVED: {name}")
    for name in unbuilt:
        print(f"DOES NOT COMPILE: {name}")
    if len(tried) < len(chosen):
        print(f"{len(chosen) - len(tried)} were not tried")
    elif len(chosen) == len(every):
        PAGE.write_text(page(tried))
    sys.exit(2 if unbuilt else 1 if survivors else 0)


if __name__ == "__main__":
    main()
