#!/usr/bin/env python3
"""Checks that includes follow the layers: none points upwards, and no cycle is large.

    tools/check_layers.py [--graph] [--root FOLDER] [--self-test]

The layers of a module are the table under "## Layers" in its README, lowest first: the folder's name, its purpose, and its
public headers. A file belongs to the folder that contains it: src/<folder>/, or include/ferry/<module>/detail/<folder>/.
A unit is a header with its source. These are errors:
- an include of a higher layer, or of a missing file
- a cycle of more than 3 units
- a file or public header in no layer, and a layer without files
- a public header that <ferry/<module>.hpp> does not include (except those that need Eigen)
- a header of detail/ without the check that refuses programs (INTERNAL)
- a call outside the source that ONLY_IN names for it
--graph prints the edges between folders. Exit status: 1 if there are errors.
"""
import argparse
import collections
import pathlib
import re
import sys
import tempfile

MODULES = ["core", "unified", "multigpu"]
SUFFIXES = {".hpp", ".cpp", ".cu"}
LARGEST_CYCLE = 3
ONLY_IN = {"getenv": "core/src/support/environment.cpp", "dlopen": "core/src/support/dynamic_library.cpp",
           "dlsym": "core/src/support/dynamic_library.cpp"}
INTERNAL = '#include "ferry/core/detail/support/internal.hpp"'
CALL = re.compile(r"\b(" + "|".join(ONLY_IN) + r")\s*\(")


def layers_of(folder):
    """The folders of a module in order, and the folder of each public header."""
    text = (folder / "README.md").read_text()
    section = text.partition("\n## Layers\n")[2].partition("\n## ")[0]
    folders, public = [], {}
    for name, headers in re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", section, re.M):
        folders.append(name)
        public.update({header: name for header in re.findall(r"`([\w.]+)`", headers)})
    return folders, public


class Module:
    def __init__(self, root, name):
        self.name, self.root = name, root
        self.include = root / name / "include" / "ferry" / name
        self.source = root / name / "src"
        self.folders, self.public = layers_of(root / name)
        self.files = [f for base in (self.include, self.source) for f in sorted(base.rglob("*")) if f.suffix in SUFFIXES]
        self.errors = []
        self.edges = collections.defaultdict(list)  # (unit, unit): where it is included
        for f in self.files:
            self.read(f)

    def unit(self, f):
        """The folder and the name of a file without its suffix."""
        if f.is_relative_to(self.source):
            inner = f.relative_to(self.source)
        elif f.is_relative_to(self.include / "detail"):
            inner = f.relative_to(self.include / "detail")
        else:
            inner = pathlib.Path(self.public.get(f.name, "?")) / f.name
        if inner.parts[0] not in self.folders:
            self.errors.append(f"{f.relative_to(self.root)}: is in no layer of {self.name}/README.md")
        return inner.parts[0], inner.stem

    def find(self, text, by=None):
        """The header of this module that a quoted include names; None for another module's. Like compilers, searches the
        including file's folder first."""
        prefix = f"ferry/{self.name}/"
        if text.startswith(prefix):
            return self.include / text[len(prefix):]
        if text.startswith("ferry/"):
            return None
        beside = (by.parent / text).resolve() if by else None
        return beside if beside and beside.is_file() else self.source / text

    def read(self, f):
        here = self.unit(f)
        name = f.relative_to(self.root).as_posix()
        if "/detail/" in name and f.name != "internal.hpp" and INTERNAL not in f.read_text().splitlines():
            self.errors.append(f"{name}: does not include support/internal.hpp, which refuses programs that include it")
        for number, line in enumerate(f.read_text().splitlines(), 1):
            call = CALL.search(line.partition("//")[0])
            if call and name != ONLY_IN[call[1]]:
                self.errors.append(f"{name}:{number}: calls {call[1]}(): use what {ONLY_IN[call[1]]} declares")
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            target = self.find(match[1], f) if match else None
            if target is None:
                continue
            if not target.is_file():
                self.errors.append(f"{name}:{number}: there is no {match[1]} in this module")
                continue
            there = self.unit(target)
            if there != here:
                self.edges[here, there].append(f"{name}:{number}")

    def brought(self):
        """The names of all headers that including the whole module includes."""
        seen, queue = set(), [self.include.parent / f"{self.name}.hpp"]
        while queue:
            for text in re.findall(r'^#include "([^"]+)"', queue.pop().read_text(), re.M):
                f = self.find(text)
                if f and f.is_file() and f not in seen:
                    seen.add(f)
                    queue.append(f)
        return {f.name for f in seen if f.parent == self.include}

    def needs_eigen(self, header):
        return re.search(r'^#include [<"](Eigen/|ferry/eigen)', (self.include / header).read_text(), re.M)

    def check(self):
        rank = {folder: i for i, folder in enumerate(self.folders)}
        for (here, there), where in self.edges.items():
            if rank.get(there[0], 0) > rank.get(here[0], 0):
                self.errors.append(f"{where[0]}: includes {'/'.join(there)}, which is above {here[0]}/")
        for cycle in cycles(self.edges):
            if len(cycle) > LARGEST_CYCLE:
                self.errors.append(f"{self.name}: a cycle of {len(cycle)} units: {path_of(cycle, self.edges)}")
        for header in sorted(self.public):
            if not (self.include / header).is_file():
                self.errors.append(f"{self.name}/README.md: there is no public header {header}")
            elif header not in self.brought() and not self.needs_eigen(header):
                self.errors.append(f"{self.name}: <ferry/{self.name}.hpp> does not bring {header}")
        used = {self.unit(f)[0] for f in self.files}
        self.errors += [f"{self.name}/README.md: {folder}/ has no files" for folder in self.folders if folder not in used]
        return sorted(set(self.errors))


def cycles(edges):
    """The strongly connected components of more than one unit (Tarjan, 1972)."""
    after = collections.defaultdict(list)
    for here, there in edges:
        after[here].append(there)
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on_stack.add(v)
        for w in after[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
                on_stack.discard(component[-1])
            if len(component) > 1:
                found.append(component)

    sys.setrecursionlimit(10000)
    for v in list(after):
        if v not in index:
            visit(v)
    return found


def path_of(cycle, edges):
    """A path through the cycle back to its first unit, with the including files."""
    inside, start = set(cycle), min(cycle)
    before, queue = {}, collections.deque([start])
    while queue:
        v = queue.popleft()
        for here, there in edges:
            if here == v and there in inside and there not in before:
                before[there] = v
                queue.append(there)
    way = [start]
    while len(way) == 1 or way[-1] != start:
        way.append(before[way[-1]])
    way.reverse()
    return " -> ".join("/".join(unit) for unit in way) + f"; in it: {', '.join('/'.join(u) for u in sorted(cycle))}"


README = """# core

## Layers

| folder | for | public headers |
|---|---|---|
| `low/` | things | `error.hpp` |
| `high/` | more | |
"""


def self_test():
    """Plants each kind of error in a small tree, and checks that it is found."""
    good = {"core/README.md": README, "core/include/ferry/core.hpp": '#include "ferry/core/error.hpp"\n', "core/include/ferry/core/error.hpp": "", "core/src/low/a.cpp": '#include "ferry/core/error.hpp"\n',
            "core/src/high/b.cpp": '#include "low/a.hpp"\n', "core/src/low/a.hpp": "#include <vector>\n"}
    detail = "core/include/ferry/core/detail"
    internal = {"core/README.md": README.replace("| `low/`", "| `support/` | all | |\n| `low/`"),
                f"{detail}/support/internal.hpp": ""}
    ring = {f"core/src/low/{x}.hpp": f'#include "low/{y}.hpp"\n' for x, y in ("pq", "qr", "rs", "sp")}
    cases = [({}, None),
             ({"core/src/low/a.cpp": '#include "high/b.hpp"\n', "core/src/high/b.hpp": ""}, "core/src/low/a.cpp:1: includes high/b, which is above low/"),
             ({**internal, f"{detail}/high/c.hpp": ""}, "detail/high/c.hpp: does not include support/internal.hpp"),
             ({**internal, "core/include/ferry/core/error.hpp": '#include "ferry/core/detail/high/c.hpp"\n',
               f"{detail}/high/c.hpp": INTERNAL + "\n"},
              "includes high/c, which is above low/"),
             (ring, "a cycle of 4 units: low/p -> low/q -> low/r -> low/s -> low/p"),
             ({name: text.replace("low/s", "low/p") for name, text in ring.items() if "/s." not in name}, None),
             ({"core/src/low/a.cpp": '#include "../high/b.hpp"\n', "core/src/high/b.hpp": ""}, "includes high/b, which is above low/"),
             ({name: text.replace("low/", "") for name, text in ring.items()}, "a cycle of 4 units: low/p -> low/q -> low/r -> low/s -> low/p"),
             ({"core/src/low/a.cpp": '#include "gone.hpp"\n'}, "core/src/low/a.cpp:1: there is no gone.hpp in this module"),
             ({"core/src/low/a.cpp": "// getenv() is\nauto x = std::getenv(name);\n"}, "core/src/low/a.cpp:2: calls getenv()"),
             ({"core/README.md": README + "| `support/` | calls | |\n", "core/src/support/environment.cpp": "std::getenv(name);\n"}, None),
             ({"core/src/other/d.cpp": ""}, "core/src/other/d.cpp: is in no layer"),
             ({"core/include/ferry/core.hpp": ""}, "core: <ferry/core.hpp> does not bring error.hpp"),
             ({"core/include/ferry/core/new.hpp": ""}, "core/include/ferry/core/new.hpp: is in no layer"),
             ({"core/README.md": README + "| `top/` | nothing | |\n"}, "top/ has no files"),
             ({"core/README.md": README.replace("error.hpp", "error.hpp`, `gone.hpp")}, "there is no public header gone.hpp")]
    for changes, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**good, **changes}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            errors = Module(root, "core").check()
            if len(errors) != (expected is not None) or (expected and expected not in errors[0]):
                sys.exit(f"check_layers: expected {expected!r}, found {errors}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    errors = []
    for name in (m for m in MODULES if (given.root / m).is_dir()):
        module = Module(given.root, name)
        errors += module.check()
        if given.graph:
            between = sorted({(here[0], there[0]) for here, there in module.edges if here[0] != there[0]})
            print(*(f"{name}: {here} -> {there}" for here, there in between), sep="\n")
    print(*errors, sep="\n", end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
