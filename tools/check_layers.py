#!/usr/bin/env python3
"""Checks that includes follow the layers: none points upwards, and no cycle is large.

    tools/check_layers.py [--graph] [--root FOLDER] [--self-test]

The layers of a module are the table under "## Layers" in its README, lowest first: the folder's name, its purpose, and
its public headers. A file belongs to the folder that contains it: src/<folder>/, or
include/ferry/<module>/detail/<folder>/. A unit is a header with its source. Includes are #include "..." and
#include <ferry/...>. These are errors:
- an include of a higher layer, of a higher module, or of a missing file
- a cycle of more than 3 units
- a file or public header in no layer, and a layer without files
- a public header that <ferry/<module>.hpp> does not include (except those that need Eigen)
- a header of detail/ without the check that refuses programs (INTERNAL)
- a call outside the source that ONLY_IN names for it
- a file that "## Walks" of a README names, and that does not exist
--graph prints the edges between folders. Exit status: 1 if there are errors.
"""
import argparse
import collections
import pathlib
import re
import sys
import tempfile

MODULES = ["core", "unified", "multigpu"]  # lowest first
SUFFIXES = {".hpp", ".cpp", ".cu", ".inc"}
LARGEST_CYCLE = 3
ONLY_IN = {"getenv": "core/src/support/environment.cpp", "dlopen": "core/src/support/dynamic_library.cpp",
           "dlsym": "core/src/support/dynamic_library.cpp"}
INTERNAL = '#include "ferry/core/detail/support/internal.hpp"'
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<(ferry/[^>]+)>)')
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


def expanded(name):
    """The names of a brace form: a.hpp and a.cpp for a.{hpp,cpp}."""
    match = re.fullmatch(r"(.*?)\{([^{}]*)\}(.*)", name)
    if not match:
        return [name]
    return [n for part in match[2].split(",") for n in expanded(match[1] + part.strip() + match[3])]


def walks_of(folder):
    """The files that the section "## Walks" of a README names, each with the number of its line."""
    found, inside = [], False
    for number, line in enumerate((folder / "README.md").read_text().splitlines(), 1):
        if line.startswith("## "):
            inside = line == "## Walks"
        names = [name for quoted in re.findall(r"`([^`]+)`", line) for name in expanded(quoted)] if inside else []
        found += [(number, name) for name in names if pathlib.PurePath(name).suffix in SUFFIXES]
    return found


def includes_of(f):
    """The text of each include of a file, with the number of its line."""
    matches = ((number, INCLUDE.match(line)) for number, line in enumerate(f.read_text().splitlines(), 1))
    return [(number, match[1] or match[2]) for number, match in matches if match]


class Module:
    def __init__(self, root, name):
        root = root.resolve()
        self.name, self.root = name, root
        self.include = root / name / "include" / "ferry" / name
        self.source = root / name / "src"
        self.lower, self.higher = MODULES[:MODULES.index(name)], MODULES[MODULES.index(name) + 1:]
        self.folders, self.public = layers_of(root / name)
        every = (f for base in (self.include, self.source) for f in sorted(base.rglob("*")))
        self.files = [f for f in every if f.suffix in SUFFIXES]
        self.errors = []
        self.edges = collections.defaultdict(list)  # (unit, unit): where it is included
        for f in self.files:
            self.read(f)
        for f in sorted(self.include.parent.glob("*.hpp")):  # <ferry/core.hpp> and others that belong to no layer
            for number, text in includes_of(f):
                self.refuses(f"{f.relative_to(self.root)}:{number}", text, f)

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
        """The header of this module that an include names; None for another module's. Like compilers, searches the
        including file's folder first."""
        prefix = f"ferry/{self.name}/"
        if text.startswith(prefix):
            return self.include / text[len(prefix):]
        if text.startswith("ferry/"):
            return None
        beside = (by.parent / text).resolve() if by else None
        return beside if beside and beside.is_file() else self.source / text

    def refuses(self, where, text, by):
        """True, with an error, if an include names a file of a higher module."""
        target = self.find(text, by)
        for name in self.higher:
            folder = self.root / name
            if (text.startswith(f"ferry/{name}/") or (folder / "include" / text).is_file()
                    or target and target.resolve().is_relative_to(folder)):
                self.errors.append(f"{where}: includes {text} of {name}, a module above {self.name}")
                return True
        return False

    def read(self, f):
        here = self.unit(f)
        name = f.relative_to(self.root).as_posix()
        if "/detail/" in name and f.name != "internal.hpp" and INTERNAL not in f.read_text().splitlines():
            self.errors.append(f"{name}: does not include support/internal.hpp, which refuses programs that include it")
        for number, line in enumerate(f.read_text().splitlines(), 1):
            call = CALL.search(line.partition("//")[0])
            if call and name != ONLY_IN[call[1]]:
                self.errors.append(f"{name}:{number}: calls {call[1]}(): use what {ONLY_IN[call[1]]} declares")
        for number, text in includes_of(f):
            target = None if self.refuses(f"{name}:{number}", text, f) else self.find(text, f)
            if target is None:
                continue
            if not target.is_file():
                self.errors.append(f"{name}:{number}: there is no {text} in this module")
                continue
            there = self.unit(target)
            if there != here:
                self.edges[here, there].append(f"{name}:{number}")

    def brought(self):
        """The names of all headers that including the whole module includes."""
        seen, queue = set(), [self.include.parent / f"{self.name}.hpp"]
        while queue:
            for _, text in includes_of(queue.pop()):
                f = self.find(text)
                if f and f.is_file() and f not in seen:
                    seen.add(f)
                    queue.append(f)
        return {f.name for f in seen if f.parent == self.include}

    def needs_eigen(self, header):
        return re.search(r'^#include [<"](Eigen/|ferry/eigen)', (self.include / header).read_text(), re.M)

    def names_a_file(self, name):
        """True if a file that "## Walks" names exists: in this module, in a lower one, or in the module that it names.
        A name without a folder is a public header."""
        if name.split("/")[0] in MODULES:
            return (self.root / name).is_file()
        for module in [self.name, *self.lower]:
            include = self.root / module / "include" / "ferry" / module
            folders = [include / "detail", self.root / module / "src"] if "/" in name else [include]
            if any((folder / name).is_file() for folder in folders):
                return True
        return False

    def check(self):
        rank = {folder: i for i, folder in enumerate(self.folders)}
        for (here, there), where in self.edges.items():
            if rank.get(there[0], 0) > rank.get(here[0], 0):
                self.errors.append(f"{where[0]}: includes {'/'.join(there)}, which is above {here[0]}/")
        for cycle in cycles(self.edges):
            if len(cycle) > LARGEST_CYCLE:
                self.errors.append(f"{self.name}: a cycle of {len(cycle)} units: {path_of(cycle, self.edges)}")
        brought = self.brought()
        for header in sorted(self.public):
            if not (self.include / header).is_file():
                self.errors.append(f"{self.name}/README.md: there is no public header {header}")
            elif header not in brought and not self.needs_eigen(header):
                self.errors.append(f"{self.name}: <ferry/{self.name}.hpp> does not bring {header}")
        used = {self.unit(f)[0] for f in self.files}
        unused = [folder for folder in self.folders if folder not in used]
        self.errors += [f"{self.name}/README.md: {folder}/ has no files" for folder in unused]
        self.errors += [f"{self.name}/README.md:{number}: there is no {name}, which ## Walks names"
                        for number, name in walks_of(self.root / self.name) if not self.names_a_file(name)]
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


def modules_of(root):
    """The modules that a tree has, lowest first."""
    return [Module(root, name) for name in MODULES if (root / name).is_dir()]


README = """# core

## Layers

| folder | for | public headers |
|---|---|---|
| `low/` | things | `error.hpp` |
| `high/` | more | |
"""


HIGH = "core/include/ferry/core/detail/high/c.hpp"
DETAIL = {"core/README.md": README.replace("| `low/`", "| `support/` | all | |\n| `low/`"),
          "core/include/ferry/core/detail/support/internal.hpp": "",
          HIGH: INTERNAL + "\n"}
GOOD = {"core/README.md": README,
        "core/include/ferry/core.hpp": '#include "ferry/core/error.hpp"\n',
        "core/include/ferry/core/error.hpp": "",
        "core/src/low/a.cpp": '#include "ferry/core/error.hpp"\n',
        "core/src/high/b.cpp": '#include "low/a.hpp"\n',
        "core/src/low/a.hpp": "#include <vector>\n"}
UNIFIED = {"unified/README.md": "# unified\n\n## Layers\n\n| `moves/` | moves | `policy.hpp` |\n",
           "unified/include/ferry/unified.hpp": "#include <ferry/unified/policy.hpp>\n",
           "unified/include/ferry/unified/policy.hpp": "#include <ferry/core/error.hpp>\n",
           "unified/src/moves/m.hpp": ""}


def include_cases():
    """Cases of includes: changes to GOOD, and the only error expected, or None."""
    b = {"core/src/high/b.hpp": ""}
    ring = {f"core/src/low/{x}.hpp": f'#include "low/{y}.hpp"\n' for x, y in ("pq", "qr", "rs", "sp")}
    around = "a cycle of 4 units: low/p -> low/q -> low/r -> low/s -> low/p"
    return [
        ({}, None),
        ({**b, "core/src/low/a.cpp": '#include "high/b.hpp"\n'},
         "core/src/low/a.cpp:1: includes high/b, which is above low/"),
        ({**b, "core/src/low/a.cpp": '#include "../high/b.hpp"\n'}, "includes high/b, which is above low/"),
        ({**b, "core/src/low/text.inc": '\n#include "high/b.hpp"\n'},
         "core/src/low/text.inc:2: includes high/b, which is above low/"),
        ({**DETAIL, HIGH: ""}, "detail/high/c.hpp: does not include support/internal.hpp"),
        ({**DETAIL, "core/include/ferry/core/error.hpp": '#include "ferry/core/detail/high/c.hpp"\n'},
         "includes high/c, which is above low/"),
        ({**DETAIL, "core/src/low/a.cpp": "\n#include <ferry/core/detail/high/c.hpp>\n"},
         "core/src/low/a.cpp:2: includes high/c, which is above low/"),
        ({**DETAIL, "core/src/low/a.cpp": "#include<ferry/core/detail/high/c.hpp>\n"},
         "includes high/c, which is above low/"),
        (ring, around),
        ({name: text.replace("low/s", "low/p") for name, text in ring.items() if "/s." not in name}, None),
        ({name: text.replace("low/", "") for name, text in ring.items()}, around),
        ({"core/src/low/a.cpp": '#include "gone.hpp"\n'}, "core/src/low/a.cpp:1: there is no gone.hpp in this module"),
        ({"core/src/low/a.cpp": "#include <ferry/core/gone.hpp>\n"},
         "core/src/low/a.cpp:1: there is no ferry/core/gone.hpp in this module"),
        ({"core/include/ferry/core.hpp": ""}, "core: <ferry/core.hpp> does not bring error.hpp"),
        ({"core/include/ferry/core.hpp": "#include <ferry/core/error.hpp>\n"}, None)]


def module_cases():
    """Cases of includes of other modules."""
    core_hpp = GOOD["core/include/ferry/core.hpp"]
    policy_hpp = "unified/include/ferry/unified/policy.hpp"
    return [
        (UNIFIED, None),
        ({"core/src/low/a.cpp": "\n#include <ferry/unified/policy.hpp>\n"},
         "core/src/low/a.cpp:2: includes ferry/unified/policy.hpp of unified, a module above core"),
        ({"core/src/low/a.cpp": '#include "ferry/multigpu/team.hpp"\n'},
         "core/src/low/a.cpp:1: includes ferry/multigpu/team.hpp of multigpu, a module above core"),
        ({**UNIFIED, "core/src/low/a.cpp": "#include <ferry/unified.hpp>\n"}, "includes ferry/unified.hpp of unified"),
        ({**UNIFIED, "core/src/low/a.cpp": "#include <ferry/eigen.hpp>\n", "unified/include/ferry/eigen.hpp": ""},
         "includes ferry/eigen.hpp of unified"),
        ({**UNIFIED, "core/src/low/a.cpp": '#include "../../../unified/src/moves/m.hpp"\n'},
         "core/src/low/a.cpp:1: includes ../../../unified/src/moves/m.hpp of unified, a module above core"),
        ({"core/include/ferry/core.hpp": core_hpp + '#include "ferry/unified/policy.hpp"\n'},
         "core/include/ferry/core.hpp:2: includes ferry/unified/policy.hpp of unified"),
        ({**UNIFIED, policy_hpp: "#include <ferry/multigpu/team.hpp>\n"},
         f"{policy_hpp}:1: includes ferry/multigpu/team.hpp of multigpu, a module above unified")]


def call_and_layer_cases():
    """Cases of calls, and of files and headers in no layer."""
    return [
        ({"core/src/low/a.cpp": "// getenv() is\nauto x = std::getenv(name);\n"},
         "core/src/low/a.cpp:2: calls getenv()"),
        ({"core/README.md": README + "| `support/` | calls | |\n",
          "core/src/support/environment.cpp": "std::getenv(name);\n"}, None),
        ({"core/src/other/d.cpp": ""}, "core/src/other/d.cpp: is in no layer"),
        ({"core/include/ferry/core/new.hpp": ""}, "core/include/ferry/core/new.hpp: is in no layer"),
        ({"core/README.md": README + "| `top/` | nothing | |\n"}, "top/ has no files"),
        ({"core/README.md": README.replace("error.hpp", "error.hpp`, `gone.hpp")},
         "there is no public header gone.hpp")]


def walk_cases():
    """Cases of the names in "## Walks"."""
    def walks(names, module="core", readme=README):
        return {f"{module}/README.md": readme.replace("## Layers", f"## Walks\n\n| a launch | {names} |\n\n## Layers")}

    unified = UNIFIED["unified/README.md"]
    return [
        (walks("`error.hpp`, `low/a.hpp` or `high/b.cpp`, `low/a.{hpp,cpp}`, `core/src/low/a.cpp`, `timeline`"), None),
        ({**DETAIL, **walks("`high/c.hpp`", readme=DETAIL["core/README.md"])}, None),
        ({**DETAIL, **walks("`detail/high/c.hpp`", readme=DETAIL["core/README.md"])}, "there is no detail/high/c.hpp"),
        (walks("`error.hpp`, `kernels/launch_text.hpp`"), "core/README.md:5: there is no kernels/launch_text.hpp"),
        (walks("`low/a.{hpp,cu}`"), "core/README.md:5: there is no low/a.cu"),
        (walks("`a.hpp`"), "core/README.md:5: there is no a.hpp"),
        (walks("`low/error.hpp`"), "core/README.md:5: there is no low/error.hpp"),
        (walks("`unified/src/moves/m.cpp`"), "core/README.md:5: there is no unified/src/moves/m.cpp"),
        ({**UNIFIED, **walks("`moves/m.hpp`")}, "core/README.md:5: there is no moves/m.hpp"),
        ({**UNIFIED, **walks("`unified/src/moves/m.hpp`")}, None),
        ({**UNIFIED, **walks("`policy.hpp`, core's `low/a.cpp`", "unified", unified)}, None),
        ({**UNIFIED, **walks("core's `low/m.cpp`", "unified", unified)}, "unified/README.md:5: there is no low/m.cpp")]


def self_test():
    """Plants each kind of error in a small tree, and checks that it is found."""
    for changes, expected in include_cases() + module_cases() + call_and_layer_cases() + walk_cases():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**GOOD, **changes}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            errors = [error for module in modules_of(root) for error in module.check()]
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
    for module in modules_of(given.root):
        errors += module.check()
        if given.graph:
            between = sorted({(here[0], there[0]) for here, there in module.edges if here[0] != there[0]})
            print(*(f"{module.name}: {here} -> {there}" for here, there in between), sep="\n")
    print(*errors, sep="\n", end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
