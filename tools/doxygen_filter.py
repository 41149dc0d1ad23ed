#!/usr/bin/env python3
"""Filter of docs/Doxyfile: prints a header or a Markdown page as Doxygen 1.9.4 reads it correctly.

Headers: the inline namespaces FERRY_ABI and FERRY_UNIT are removed, so that names are ferry::name.
Markdown: headings get the anchors that GitHub gives them, links to pages and anchors become @ref, and links to anything
that is not a page (sources, folders) become their text.
docs/topics.dox: `@subpages folder` becomes a list of the folder's pages.
Otherwise lines do not move, so that warnings state the right ones.
"""
import os
import re
import sys

MAIN_PAGE = "README.md"
PAGE = re.compile(r"(docs/.*|((core|unified|multigpu)/)?README|CONTRIBUTING)\.md$")
LINK = re.compile(r"(?<!!)\[([^\]\[]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")


def page_id(path):
    if path == MAIN_PAGE:
        return "index"
    return "page_" + re.sub(r"\W", "_", os.path.splitext(path)[0].removeprefix("docs/"))


def anchor(path, title):
    """The anchor of a heading as GitHub forms it, made unique by the page."""
    return page_id(path) + "__" + re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")).replace("-", "_")


def is_page(path):
    """True if docs/Doxyfile reads the file; docs/topics.dox has a page for the decisions."""
    return path == "docs/decisions" or bool(PAGE.match(path)) and path != "docs/mutants.md"


def link(path):
    def replace(match):
        text, target = match.groups()
        if re.match(r"\w+:", target):
            return match.group()
        file, _, fragment = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not is_page(file):
            return text
        if re.match(r"[\w./-]+\.md$", text):
            text = title_of(file)
        return f'@ref {anchor(file, fragment) if fragment else page_id(file)} "{text.strip("`")}"'

    return replace


def title_of(path):
    with open(path, encoding="utf-8") as lines:
        return next((m.group(2) for m in map(HEADING.match, lines) if m), path)


def markdown(path, text):
    lines, fenced, first = [], False, True
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            line = LINK.sub(link(path), line)
            heading = HEADING.match(line)
            if heading and not (first and path == MAIN_PAGE):
                line = f"{line} {{#{page_id(path) if first else anchor(path, heading.group(2))}}}"
            first = first and not heading
        lines.append(line)
    return "\n".join(lines)


def header(text):
    text = text.replace("::inline FERRY_ABI", "")
    text = re.sub(r"^inline namespace FERRY_UNIT \{$", "", text, flags=re.M)
    return re.sub(r"^\}  // namespace FERRY_UNIT$", "", text, flags=re.M)


def topics(text):
    def list_of_pages(match):
        files = (os.path.join(match.group(1), name) for name in sorted(os.listdir(match.group(1))))
        # Doxygen would read "1. Title" as an item of a numbered list.
        titles = ((file, re.sub(r"^\d+[.:] *", "", title_of(file))) for file in files)
        return "\n".join(f'- @subpage {page_id(file)} "{title}"' for file, title in titles)

    return re.sub(r"^@subpages (\S+)$", list_of_pages, text, flags=re.M)


def main():
    path = os.path.relpath(sys.argv[1])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        text = markdown(path, text)
    elif path.endswith(".dox"):
        text = topics(text)
    else:
        text = header(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
