#!/usr/bin/env python3
"""Lists the public names: what the public headers declare in namespace ferry, and their macros.

    tools/public_names.py [--check | --update | --self-test]

Public headers are those that are not under detail/. Without an option the names are printed, a line for each header.
--check compares them with tests/public_names.txt and prints the differences; --update writes that file. A change of the
list is a change of the interface: it belongs into CHANGELOG.md. Exit status: 1 if the list differs.
"""
import argparse
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "public_names.txt"
NOT_CODE = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*(?:.|\n)*?\*/')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*$", re.M)
NO_NAMES = {"requires", "decltype", "noexcept", "alignas", "static_assert", "sizeof", "__attribute__", "explicit"}


def balanced(text, at, opening, closing):
    """The position after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    raise ValueError(f"no '{closing}' closes '{text[at:at + 60]}'")


def without_template(text):
    """A declaration without its template head, attributes and constraints."""
    while True:
        text = re.sub(r"^\s*(\[\[[^\]]*\]\]|alignas\s*\([^)]*\)|inline|constexpr|consteval|constinit|static|extern|"
                      r"thread_local)\s*", "", text)
        head = re.match(r"\s*template\s*<", text)
        constraint = re.match(r"\s*requires\s*(\()?", text)
        if head:
            depth, i = 0, head.end() - 1
            while True:
                depth += (text[i] == "<") - (text[i] == ">" and text[i - 1] != "-")
                i += 1
                if depth == 0:
                    break
            text = text[i:]
        elif constraint and constraint[1]:
            text = text[balanced(text, constraint.end() - 1, "(", ")"):]
        elif constraint:               # requires requires (...) { ... }, or a concept: ends at the declaration's type
            inner = re.match(r"\s*requires\s+requires\s*\(", text)
            if not inner:
                text = re.sub(r"^\s*requires\s+[\w:]+\s*(<[^;{]*?>)?\s", "", text, count=1)
                continue
            text = text[balanced(text, inner.end() - 1, "(", ")"):].lstrip()
            if text.startswith("{"):
                text = text[balanced(text, 0, "{", "}"):]
        elif re.match(r"\s*(inline|constexpr|consteval|constinit|static|extern|thread_local|\[\[|alignas)\b", text):
            continue
        else:
            return text.strip()


def name_of(declaration):
    text = without_template(declaration)
    if not text or text.startswith(("friend", "static_assert", "using namespace", "template", "~")):
        return None
    typed = re.match(r"(?:class|struct|union|enum(?:\s+class)?|concept)\s+"
                     r"(?:\[\[[^\]]*\]\]\s*|alignas\s*\([^)]*\)\s*)*([\w:]+)(\s*<)?", text)
    if typed:
        return None if typed[2] or "::" in typed[1] else typed[1]     # specializations name what is named elsewhere
    alias = re.match(r"using\s+(\w+)\s*=", text)
    if alias:
        return alias[1]
    using = re.match(r"using\s+[\w:]+::(\w+)$", text)
    if using:
        return using[1]
    if "operator" in text:
        return None
    for call in re.finditer(r"([\w:]+)\s*\(", text):
        if call[1] not in NO_NAMES:
            return None if "::" in call[1] else call[1]
    variable = re.match(r"[\w:<>,\s*&]*?\b([A-Za-z_]\w*)\s*(?:<[^=]*>)?\s*(?:=|\[|$)", text)
    return variable[1] if variable else None


def names_in(text):
    """The names of namespace ferry, and of its namespaces but detail, that a header declares, and its macros."""
    found = {m for m in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(FERRY_\w+)", text, re.M)}
    text = NOT_CODE.sub(lambda m: '""' if m[0][0] in "\"'R" else " ", text)
    text = DIRECTIVE.sub("", text).replace("::inline FERRY_ABI", "")
    scopes, at, begin = [], 0, 0
    while at < len(text):
        c = text[at]
        if c == "(":
            at = balanced(text, at, "(", ")")
            continue
        if c in "{;}":
            declaration = text[begin:at].strip()
            space = re.fullmatch(r"(inline\s+)?namespace\s+([\w:]*)", declaration)
            inner = [s.removeprefix("ferry").removeprefix("::") for s in scopes]
            is_public = (scopes and scopes[0].split("::")[0] == "ferry"
                         and not any("detail" in s.split("::") for s in inner))
            if c == "{" and space:
                scopes.append("" if space[1] else space[2])
            elif c == "}":
                if scopes:
                    scopes.pop()
            else:
                if c == "{" and re.search(r"\brequires\s+requires\s*\([^{]*$|\brequires\s*(\([^(){]*\))?\s*$",
                                          declaration):
                    at = balanced(text, at, "{", "}")     # a requires expression within a declaration
                    continue
                is_value = re.search(r"=\s*$", declaration) or (c == "{" and re.search(r"\bconcept\b", declaration))
                is_forward = c == ";" and re.search(r"(^|>\s*)(class|struct)\s+\w+$", declaration)
                name = name_of(declaration) if is_public and not is_forward else None
                if name:
                    found.add("::".join([s for s in inner if s] + [name]))
                if c == "{":
                    at = balanced(text, at, "{", "}")
                    while at < len(text) and (is_value or text[at:at + 1].isspace()):
                        if text[at] == ";":
                            break
                        at += 1
                    begin = at = at + (text[at:at + 1] == ";")
                    continue
            begin = at + 1
        at += 1
    return sorted(found)


def listed():
    headers = sorted(h for module in ("core", "unified", "multigpu") for h in (ROOT / module / "include").rglob("*.hpp")
                     if "detail" not in h.parts)
    lines = []
    for h in headers:
        names = names_in(h.read_text())
        path = h.as_posix().partition("/include/")[2]
        lines += [f"{path}: {name}" for name in names]
    return lines


SAMPLE = """
#define FERRY_SAMPLE 1
namespace ferry::inline FERRY_ABI {
class zero;  // no "class two"
class one { };
struct three : one { int hidden; void also_hidden(); };
template <class T, class U = std::vector<T>> requires(sizeof(T) > 1) class four { };
enum class five : int { a, b };
template <class T> concept six = requires(T t) { t.f(); };
using seven = int;
template <class T> inline constexpr bool eight = false;
inline constexpr int nine[] = {1, 2};
template <class T> [[nodiscard]] auto ten(const T& t, int x = f(3)) -> decltype(t + 1) { return t + 1; }
bool operator==(const one&, const one&);
template <> struct four<int> {};
namespace detail { struct eleven {}; }
inline namespace FERRY_UNIT { void twelve(); }
namespace more { class fourteen { }; }
template <class F> requires requires(F f) { f(); } void thirteen(F f);
}
namespace std { template <> struct hash<int> {}; }
"""


def self_test():
    got = names_in(SAMPLE)
    expected = sorted(["FERRY_SAMPLE", "one", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve",
                       "thirteen", "more::fourteen"])
    if got != expected:
        print("missing:", sorted(set(expected) - set(got)), "too many:", sorted(set(got) - set(expected)))
    return got == expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return 0 if self_test() else 1
    lines = listed()
    if options.update:
        LIST.write_text("\n".join(lines) + "\n")
    elif options.check:
        before = LIST.read_text().splitlines() if LIST.exists() else []
        changes = list(difflib.unified_diff(before, lines, "tests/public_names.txt", "the headers", lineterm="", n=0))
        if changes:
            print("\n".join(changes))
            print("the public names have changed: if that is meant, run tools/public_names.py --update, and say so in "
                  "CHANGELOG.md")
            return 1
    else:
        print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
