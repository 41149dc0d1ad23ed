#!/usr/bin/env python3
"""Turns the ```cpp blocks of Markdown pages into C++ sources, so that a test can compile them.

All blocks share one source, each in its own namespace: its #include lines go to the top, its leading declarations
(namespaces, types, templates, functions, using) stay at namespace scope, and the statements after them become the body
of a function. A block with `int main` is a whole program, and also becomes a source of its own, which shows that its
own #include lines suffice. Errors name the page and its line.

Comments directly above a block change that:
    <!-- snippet: skip reason -->        not compiled
    <!-- snippet: cuda -->               CUDA builds only (a separate source, *_cuda.cpp)
    <!-- snippet: continues -->          continues the statements of the previous block
    <!-- snippet: declarations -->       everything at namespace scope
    <!-- snippet: with statements -->    hidden statements that run before the block's own
"""
import argparse
import pathlib
import re
import sys
import tempfile

PRELUDE = ["#include <ferry/ferry.hpp>", "namespace fr = ferry;"]
DIRECTIVE = re.compile(r"^\s*<!--\s*snippet:\s*(\w+)\s*(.*?)\s*-->\s*$")
DECLARATION = re.compile(r"^(namespace|struct|class|enum|union|template|using|static_assert|extern|#)\b|^#")
FUNCTION = re.compile(r"^(?!(if|for|while|switch|do|else|try|return)\b)[^=;]+\([^;]*\)[^=;()]*\{[^;]*(;.*\})?$")


class Block:
    def __init__(self, page, line, lines, directives):
        self.page, self.line, self.lines = page, line, lines
        self.cuda = "cuda" in directives
        self.continues = "continues" in directives
        self.preamble = directives.get("with", "")
        self.is_program = any(re.match(r"\s*(int|auto) main\s*\(", text) for text in lines)
        self.declarations_only = self.is_program or "declarations" in directives

    def numbered(self):
        return [(self.line + i, text) for i, text in enumerate(self.lines)]


def blocks_of(page, text):
    """The cpp blocks of one page that must compile."""
    found, directives, opened, language, lines = [], {}, None, "", []
    for number, text_line in enumerate(text.splitlines(), 1):
        if opened is not None:
            if text_line.strip() == "```":
                if language == "cpp" and "skip" not in directives:
                    found.append(Block(page, opened + 1, lines, directives))
                opened, directives = None, {}
            else:
                lines.append(text_line)
            continue
        match = DIRECTIVE.match(text_line)
        if match:
            word, rest = match.groups()
            if word not in ("skip", "cuda", "continues", "declarations", "with"):
                sys.exit(f"{page}:{number}: unknown snippet directive '{word}'")
            if word == "skip" and not rest:
                sys.exit(f"{page}:{number}: 'snippet: skip' needs a reason")
            directives[word] = rest
        elif text_line.lstrip().startswith("```"):
            opened, language, lines = number, text_line.strip()[3:].strip(), []
        elif text_line.strip():
            directives = {}
    if opened is not None:
        sys.exit(f"{page}:{opened}: the block is not closed")
    return found


def code_of(text):
    """The line without strings and comments."""
    return re.sub(r"//.*$|/\*.*?\*/", "", re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', "0", text)).rstrip()


def split_declarations(numbered):
    """The leading declarations, and the statements after them."""
    end = i = 0
    while i < len(numbered):
        code = code_of(numbered[i][1])
        if not code.strip():
            i += 1
            continue
        if not (DECLARATION.match(code) or FUNCTION.match(code)):
            break
        depth = 0
        while i < len(numbered):
            code = code_of(numbered[i][1])
            depth += code.count("{") - code.count("}")
            i += 1
            if depth == 0 and (code.endswith((";", "}")) or code.startswith("#")):
                break
        end = i
    return numbered[:end], numbered[end:]


def located(page, numbered):
    """The lines after a #line directive with their place in the page."""
    return [f'#line {numbered[0][0]} "{page}"', *[text for _, text in numbered]] if numbered else []


def joined_source(blocks):
    """One source for all blocks."""
    includes, body = list(PRELUDE[:1]), []
    open_function = False
    for block in blocks:
        numbered = block.numbered()
        for _, text in numbered:
            if text.startswith("#include") and text not in includes:
                includes.append(text)
        numbered = [(n, "" if text.startswith("#include") else text) for n, text in numbered]
        declarations, statements = (numbered, []) if block.declarations_only else split_declarations(numbered)
        if block.continues and open_function:
            declarations, statements = [], numbered
        else:
            if open_function:
                body.append("}  }")
            name = re.sub(r"\W", "_", f"{block.page}_{block.line}")
            body += [f"namespace snippet_{name} {{", *located(block.page, declarations), "void block() {"]
        body += [block.preamble] if block.preamble else []
        body += located(block.page, statements)
        open_function = True
    return "\n".join([*includes, *PRELUDE[1:], *body, "}  }" if open_function else "", ""])


def sources_of(blocks):
    """Names and texts of the sources for these blocks."""
    sources = {}
    for cuda, suffix in ((False, ""), (True, "_cuda")):
        chosen = [b for b in blocks if b.cuda == cuda]
        if chosen:
            sources[f"blocks{suffix}.cpp"] = joined_source(chosen)
        for block in chosen:
            if block.is_program:
                name = re.sub(r"\W", "_", f"{block.page}_{block.line}")
                sources[f"{name}{suffix}.cpp"] = "\n".join([*located(block.page, block.numbered()), ""])
    return sources


def write(out, sources):
    """Writes changed sources, removes obsolete ones, prints all paths."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.cpp"):
        if old.name not in sources:
            old.unlink()
    for name, text in sorted(sources.items()):
        path = out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        print(path)


def self_test():
    page = "\n".join([
        "<!-- snippet: skip it is an outline -->", "```cpp", "nonsense", "```",
        "```cpp", "#include <vector>", "namespace {", "struct axpy {", "  void operator()(int i) const {}", "};", "}",
        "int twice(int i) {", "  return 2 * i;", "}", "for (int i = 0; i < 3; ++i) {", "  twice(i);", "}", "```",
        "text", "<!-- snippet: continues -->", "```cpp", "axpy{}(1);", "```",
        "```sh", "./dev test", "```",
        "<!-- snippet: cuda -->", "```cpp", "__global__ void k();", "```",
        "```cpp", "int main() {}", "```"])
    found = blocks_of("a.md", page)
    assert [b.line for b in found] == [6, 22, 29, 32], [b.line for b in found]
    sources = sources_of(found)
    assert sorted(sources) == ["a_md_32.cpp", "blocks.cpp", "blocks_cuda.cpp"], sorted(sources)
    joined = sources["blocks.cpp"]
    assert "nonsense" not in joined and "__global__" not in joined
    before, after, program = joined.split("void block() {")
    assert "#include <vector>" in before.split("namespace snippet")[0]
    assert "struct axpy" in before and "int twice" in before and "for (" not in before
    assert "for (" in after and "axpy{}(1);" in after and '#line 22 "a.md"' in after
    assert "int main() {}" in after and "main" not in program
    assert joined.count("{") == joined.count("}")
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder), sources)
        assert len(list(pathlib.Path(folder).iterdir())) == 3
    for wrong in ("<!-- snippet: skip -->", "<!-- snippet: sometimes -->", "```cpp"):
        try:
            blocks_of("a.md", wrong)
        except SystemExit:
            continue
        raise AssertionError(f"accepted: {wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the sources")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path.cwd(), help="pages are named relative to it")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    blocks = []
    for page in arguments.pages:
        blocks += blocks_of(str(page.resolve().relative_to(arguments.root.resolve())), page.read_text())
    write(arguments.out, sources_of(blocks))


if __name__ == "__main__":
    main()
