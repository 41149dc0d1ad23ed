"""Builds tests with a bug planted in a copy of the sources, and runs their cases, for tools/mutants.py."""
import collections
import concurrent.futures
import ctypes.util
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["core", "unified", "multigpu"]
FOLDERS = [*(f"{module}/{part}" for module in MODULES for part in ("include", "src")),
           *(f"tests/{name}" for name in ("core", "race", "unified", "multigpu", "contract", "support")),
           "benchmarks/support", "tools"]
# -g1: line numbers, which show the objects that contain the code of a header's line.
FLAGS = ["-std=c++20", "-O1", "-g1", "-pthread", "-D_GLIBCXX_ASSERTIONS", "-DFERRY_INTERNAL",
         *(f"-I{module}/{part}" for module in MODULES for part in ("include", "src")), "-Itests",
         '-DFERRY_UNIFIED_PAGE="docs/unified.md"']
LIBRARIES = ["-pthread"]
# Precompiled for all sources: a third of the time of one goes into them. Some bugs use <thread>.
STANDARD_HEADERS = ("algorithm array atomic chrono complex condition_variable deque filesystem fstream functional "
                    "iomanip iostream map memory mutex numeric optional random set span sstream string string_view "
                    "thread unordered_map vector")
PRECOMPILED = "standard_headers.hpp"
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


def has_tests(source):
    """True if other sources link without this one. tests/contract/fixture_test.cpp has the fixture of others, too."""
    return source.startswith("tests/") and source.endswith("_test.cpp") and not source.endswith("fixture_test.cpp")


def defines(source, case):
    """Whether a source's text defines a test case, suite/name."""
    suite, _, name = case.rstrip("*").partition("/")
    return bool(re.search(rf"_SUITE\({suite}\b", source) and re.search(rf"_CASE\w*\(\s*{name}\b", source))


class Program:
    """Tests without a bug: objects, their dependencies, and the test cases with their times in seconds."""

    def __init__(self, work, options, patterns, cases=None):
        """`patterns` name the sources; of those with tests only the ones that define `cases`, or all."""
        self.work, self.options, self.wanted = work, options, cases
        self.work.mkdir()
        self.tree, self.objects = work.parent / "unbroken", work.parent / "objects"      # for all tables
        if not self.tree.exists():
            self.objects.mkdir()
            for folder in FOLDERS:
                shutil.copytree(ROOT / folder, self.tree / folder, ignore=shutil.ignore_patterns("cuda"))
            self.precompile()
        self.sources = [str(f.relative_to(self.tree)) for pattern in patterns for f in sorted(self.tree.glob(pattern))]
        if cases is not None:
            self.sources = [s for s in self.sources if not has_tests(s) or self.cases_of(s, cases)]
        self.compiler = [options.compiler]
        if shutil.which("ccache"):
            self.compiler = ["ccache", options.compiler, "-fpch-preprocess"]
        self.lines = {}

    def precompile(self):
        """Compiles the standard headers. The variables are for ccache, which identifies the result by the file .sum."""
        sloppiness = filter(None, [os.environ.get("CCACHE_SLOPPINESS"), "pch_defines,time_macros"])
        os.environ |= {"CCACHE_SLOPPINESS": ",".join(sloppiness), "CCACHE_PCH_EXTSUM": "1", "CCACHE_NOHASHDIR": "1"}
        header = self.tree / PRECOMPILED
        header.write_text("".join(f"#include <{h}>\n" for h in STANDARD_HEADERS.split()))
        compiled = header.with_suffix(".hpp.gch")
        command = [self.options.compiler, *FLAGS, "-x", "c++-header", PRECOMPILED, "-o", str(compiled)]
        status, text = run(command, self.tree)
        if status:
            fail(f"the standard headers do not compile\n{text}")
        read = run([self.options.compiler, *FLAGS, "-E", PRECOMPILED], self.tree)[1]
        compiled.with_suffix(".gch.sum").write_text(hashlib.sha256(read.encode()).hexdigest())

    def cases_of(self, source, cases):
        """Those of the cases that a source defines. One that a static_assert caught has the source's name."""
        text = (self.tree / source).read_text() if has_tests(source) else ""
        return [case for case in cases if case == source or defines(text, case)]

    def compile(self, tree, source, to):
        map_here = f"-ffile-prefix-map={tree}=."
        command = [*self.compiler, *FLAGS, "-include", PRECOMPILED, map_here, "-MMD", "-c", source, "-o", str(to)]
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
        if self.wanted is not None:
            self.cases = {case: 0 for case in self.cases if case in self.wanted}
        elif not self.cases:
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

    def holders(self, header, lines, among, all_including):
        """Those sources `among` them whose objects contain code near these lines of a header; if there are none, or
        `all_including`, all that include it: code that is inlined may have no lines."""
        including = []
        for s in among:
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

    def affected(self, mutant, all_including=False, case=None):
        """The sources to compile for a mutant; of those with tests only that of `case`, if given."""
        sources = set()
        among = [s for s in self.sources if not case or not has_tests(s) or self.cases_of(s, [case])]
        for file, (_, lines) in planted(self.tree, mutant).items():
            sources.update([file] if file in self.sources else self.holders(file, lines, among, all_including))
        return sources

    def broken(self, mutant, worker, sources, before=frozenset()):
        """Builds the tests with the mutant planted in `sources`, of which those in `before` are compiled already."""
        tree, objects = self.work / f"tree{worker}", self.work / f"objects{worker}"
        if not tree.exists():
            shutil.copytree(self.tree, tree)
            objects.mkdir()
        changed = planted(self.tree, mutant)
        try:
            for file, (text, _) in changed.items():
                (tree / file).write_text(text)
            for s in sorted(sources - before):
                self.compile(tree, s, self.object(s, objects))
        finally:
            for file in changed:
                shutil.copyfile(self.tree / file, tree / file)
        program = self.work / f"tests{worker}"
        # First those with the bug: of inline functions that several objects define, the linker takes the first.
        self.link([*(self.object(s, objects) for s in sorted(sources)),
                   *(self.object(s) for s in self.sources if s not in sources)], program)
        return program

    def attempt(self, program, case, limit=None, seeds=None, first=0):
        """The outcome of a test case, in a list; an empty one if it passed."""
        started = time.monotonic()
        how = self.run_case(program, case, limit or max(SHORTEST_LIMIT, 10 * self.cases[case]), seeds, first)
        return [Outcome(case, how, time.monotonic() - started)] if how else []

    def try_remembered(self, mutant, worker, cases):
        """The first of these test cases that catches a mutant. Of sources with tests only that of the case gets the
        bug."""
        for case in cases:
            if case in self.cases or case in self.sources:
                program = self.broken(mutant, worker, self.affected(mutant, case=case))
                if case in self.cases and (outcomes := self.attempt(program, case)):
                    return outcomes
        return []

    def try_out(self, mutant, worker):
        """The test cases that catch a mutant. One that is in many sources with tests is planted in one after the other,
        those first whose names have words of the mutant, and their own cases run; then all cases of all sources."""
        affected, compiled = self.affected(mutant), frozenset()
        in_header = any(file not in self.sources for file, *_ in mutant.edits)
        if in_header and not self.options.all_tests:
            words = {word.rstrip("s") for word in re.findall(r"\w{4,}", f"{mutant.rule} {mutant.name}".lower())}
            library = {s for s in affected if not has_tests(s)}
            for s in sorted(affected - library, key=lambda s: (-sum(word in s for word in words), s)):
                program = self.broken(mutant, worker, compiled | library | {s}, compiled)
                compiled = compiled | library | {s}
                for case in self.fast_first(self.cases_of(s, self.cases)):
                    if outcomes := self.attempt(program, case):
                        return outcomes
        outcomes = self.try_all(self.broken(mutant, worker, affected, compiled))
        if in_header and not outcomes:
            outcomes = self.try_all(self.broken(mutant, worker, self.affected(mutant, True), affected))
        return outcomes

    def fast_first(self, cases):
        return sorted(cases, key=lambda c: (c == TWO_THREADS, self.cases[c]))

    def try_all(self, program):
        outcomes = []
        for case in self.fast_first(self.cases):
            if outcomes and (not self.options.all_tests or case == TWO_THREADS or outcomes[-1].how == "hangs"):
                break                      # slow, and the bug is already caught
            outcomes += self.attempt(program, case)
        for case in (ONE_THREAD, TWO_THREADS):
            if not outcomes and case in self.cases:
                outcomes = self.attempt(program, case, 300, self.options.seeds, 1000)
        return outcomes
