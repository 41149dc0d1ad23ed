#!/usr/bin/env python3
"""Breaks the ordering rules one at a time, in a copy of the sources: each time a test must fail.

    tools/mutants.py [--sample N [--rotation R]] [--only TEXT]... [--all-tests] [--list] [--jobs N] [--seeds N]
                     [--compiler CXX] [--results FILE] [--until SECONDS]

The planted bugs are in tools/mutants_*.py; each replaces a text that must occur exactly once in its file. Tests are
built without CUDA. Each test case runs in its own process: a failed check, a crash and a hang count as caught. First
runs the test that docs/mutants.md names, with the bug in the library and in that test's source. If it passes, or the
page does not list the bug, the bug is planted in one source after the other, then in all, and cases run, fast ones
first, until one catches it; --all-tests runs all, and lists those that catch it. The random programs of two threads run
last. If they do not catch the bug, either, the random programs run again with more seeds.
A run of all bugs writes docs/mutants.md. --sample chooses N of them, different ones every day; R repeats a choice.
--results continues a run: it skips the bugs that FILE lists, and appends a line of JSON for each other one. --until
plants no more bugs after SECONDS. A static_assert that fails counts as caught.
Exit status: 0 all caught, 1 some survived, 2 the tests fail without a bug, a bug's text is not in its file, or it does
not compile.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import queue
import re
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
from planting import ROOT, Mutant, Outcome, Program, Stale, Uncompiled, fail, planted, use_test_library

PAGE = ROOT / "docs" / "mutants.md"
FOLDERS_OF_CORE = sorted(d.name for d in (ROOT / "core/src").iterdir() if d.is_dir() and d.name != "cuda")
CORE = ["adapt", "copy_lane", "cpu_streams", "cpu_workers", "driver_pool", "ghosts", "kernels/cpu_kernels",
        "kernels/cpu_loops", "kernels/host_tasks", "kernels/index_checks_off", "kernels/index_checks_on",
        "kernels/struct_arguments", "numa", "pool_blocks", "sim_options"]
UNIFIED = ["automatic_host", "batch_memory", "batch_pipeline", "host_guard", "migration", "policy_file", "report",
           "kernels/adapted_batches", "kernels/advice", "kernels/advice_scopes", "kernels/automatic",
           "kernels/automatic_devices", "kernels/batches", "kernels/lossy_links", "kernels/policies",
           "kernels/span_lines", "kernels/traffic", "kernels/tuner"]
COPIES = ["contract/copy", "contract/cpu_memory", "contract/elements", "contract/fixture", "contract/kept_scalars",
          "contract/peer_links", "contract/peer_memory", "contract/read_only_parameters", "contract/routes",
          "contract/routes_elements", "core/large_copies"]
SEVERAL = ["axes_reductions", "precompiled_reductions", "sharded_expressions", "sharded_print", "sharded_programs",
           "sharded_sorting", "totals", "ghosts", "halo", "grids", "halo_choice", "reshard", "shard_copies",
           "shard_options", "kernels/components", "kernels/cpu_loops", "kernels/each_member", "kernels/exchange_plan",
           "kernels/gate", "kernels/ghost_loops", "kernels/grid_loops", "kernels/halo_validity",
           "kernels/many_dimensions", "kernels/overlap", "kernels/read_only_parameters", "kernels/region",
           "kernels/shard_arguments", "kernels/sharded", "kernels/sharded_loops", "kernels/sharded_structs",
           "kernels/sharded_structs_copies",
           "kernels/reduction_types", "collectives/collectives", "collectives/graphs", "collectives/ordered_keys",
           "collectives/random_collectives"]
LIBRARY = [*(f"core/src/{folder}/*.cpp" for folder in FOLDERS_OF_CORE), "unified/src/*/*.cpp", "tests/support/*.cpp"]
# The sources to build for each table's bugs.
SOURCES = {mutants_table: [*LIBRARY, "tests/race/*.cpp", "tests/contract/fixture_test.cpp",
                           "tests/contract/host_task_test.cpp", *(f"tests/core/{name}_test.cpp" for name in CORE),
                           *(f"tests/unified/{name}_test.cpp" for name in UNIFIED)],
           mutants_several: [*LIBRARY, "multigpu/src/*/*.cpp",
                             *(f"tests/{name}_test.cpp" for name in COPIES),
                             *(f"tests/multigpu/{name}_test.cpp" for name in SEVERAL)],
           mutants_expressions: [*LIBRARY, "tests/core/expressions_*_test.cpp",
                                 "tests/core/functions_test.cpp", "tests/core/generator_functions_test.cpp",
                                 "tests/core/kernels/transform_test.cpp"],
           mutants_jit: [*LIBRARY, "tests/core/jit_*_test.cpp", "tests/core/generator*_test.cpp"],
           mutants_reductions: [*LIBRARY, "tests/core/reductions_*_test.cpp"],
           mutants_moving: [*LIBRARY, "tests/core/moving_*_test.cpp"],
           mutants_sorting: [*LIBRARY, "tests/core/sorting_*_test.cpp", "tests/core/compare_test.cpp",
                             "tests/core/print_test.cpp"]}


def cell(text):
    return text.replace("|", "\\|")


def caught_by(outcomes):
    return ", ".join(f"`{o.test}`" + ("" if o.how == "fails" else f" ({o.how})") for o in outcomes) or "**SURVIVED**"


def page(results):
    rows = [f"| {m.rule} | {cell(m.name)} | {cell(caught_by(outcomes))} |" for m, outcomes in results]
    return "\n".join([
        "# Planted bugs", "",
        "`./dev mutants` writes this page. It plants each of these bugs in a copy of the sources, and runs tests on",
        "the simulator. For bugs with a rule of ordering (`tools/mutants_table.py`) these are `tests/race` and some",
        "of `tests/unified`; for bugs of several devices (`tools/mutants_several.py`) those of `tests/multigpu`,",
        "copies and peers.", "",
        "The last column has the first test that fails with the bug (`--all-tests`: all of them), and in brackets the",
        "first seed with which it fails. With two threads seeds differ from run to run. The next run tries this test",
        "first. Only if it passes, others run, fast ones before slow ones.", "",
        f"{sum(bool(o) for _, o in results)} of {len(results)} are caught.", "",
        "| rule | bug | caught by |", "|---|---|---|", *rows, ""])


def read_page():
    """The tests that caught each bug when the page was written: {(rule, name): [test]}."""
    rows = re.findall(r"^\| (.*?) \| (.*) \| (`.*) \|$", PAGE.read_text() if PAGE.exists() else "", re.M)
    found = {}
    for rule, name, tests in rows:
        found.setdefault((rule.strip(), name.replace("\\|", "|")), []).extend(re.findall(r"`(\S+)`", tests))
    return found


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


class Trial:
    """Plants bugs, several at a time, and notes the outcomes in `results`."""

    def __init__(self, work, options, results, started):
        self.work, self.options, self.results, self.started = work, options, results, started
        self.unbuilt, self.noting = {}, threading.Lock()

    def run(self, mutants, remembered=None):
        """`remembered`: the tests to try, and no others, of each rule and name."""
        programs, workers, plant = {}, queue.SimpleQueue(), lambda m, program, worker: program.try_out(m, worker)
        if remembered:
            plant = lambda m, program, worker: program.try_remembered(m, worker, remembered[m.rule, m.name])
        for table in {m.table: None for m in mutants}:
            cases = None
            if remembered:
                cases = {case for m in mutants if m.table is table for case in remembered[m.rule, m.name]}
            folder = self.work / (table.__name__ + ("_remembered" if remembered else ""))
            programs[table] = ready(Program(folder, self.options, SOURCES[table], cases))
        for i in range(self.options.jobs):
            workers.put(i)

        def attempt(m):
            if time.monotonic() - self.started > self.options.until:
                return
            worker, began, outcomes = workers.get(), time.monotonic(), None
            try:
                outcomes = plant(m, programs[m.table], worker)
            except Uncompiled as e:
                source, text = e.args
                if "static assertion failed" in text:
                    outcomes = [Outcome(source, "static_assert", 0)]
                else:
                    self.unbuilt[m] = f"{source}\n{text}"
            finally:
                workers.put(worker)
            if outcomes or outcomes is not None and not remembered:
                self.note(m, outcomes, time.monotonic() - began)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(attempt, mutants))

    def note(self, m, outcomes, seconds):
        with self.noting:
            self.results[m] = outcomes
            if self.options.results:
                with self.options.results.open("a") as file:
                    print(json.dumps({"table": m.table.__name__, "name": m.name, "outcomes": outcomes}), file=file)
            print(f"[{len(self.results)}] {m.rule:3} {m.name}: {caught_by(outcomes)}, {seconds:.0f} s", flush=True)


def ready(program):
    began = time.monotonic()
    program.build()
    built = time.monotonic()
    program.check()
    print(f"{len(program.cases)} test cases; built in {built - began:.0f} s, "
          f"pass in {time.monotonic() - built:.0f} s", flush=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, metavar="N", help="N of the bugs, others every day")
    parser.add_argument("--rotation", type=int, metavar="R", help="which sample")
    parser.add_argument("--only", metavar="TEXT", action="append",
                        help="the bugs with TEXT in their names, of the rule TEXT, or of the table TEXT")
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
    use_test_library()
    os.environ["FERRY_BACKEND"] = "sim"

    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ferry-mutants-") as folder:
        trial = Trial(pathlib.Path(folder), options, results, started)
        left = [m for m in chosen if m not in results]
        if not options.all_tests:
            remembered = read_page()
            trial.run([m for m in left if (m.rule, m.name) in remembered], remembered)
        trial.run([m for m in left if m not in results and m not in trial.unbuilt])
    unbuilt = trial.unbuilt
    tried = [(m, results[m]) for m in chosen if m in results]
    survivors = [m.name for m, outcomes in tried if not outcomes]
    print(f"{len(tried) - len(survivors)} of {len(tried)} planted bugs are caught, "
          f"in {time.monotonic() - started:.0f} s")
    for name in survivors:
        print(f"SURVIVED: {name}")
    for mutant, text in unbuilt.items():
        print(f"DOES NOT COMPILE: {mutant.name}: {text}")
    if len(tried) < len(chosen):
        print(f"{len(chosen) - len(tried)} were not tried")
    elif len(chosen) == len(every):
        PAGE.write_text(page(tried))
    sys.exit(2 if unbuilt else 1 if survivors else 0)


if __name__ == "__main__":
    main()
