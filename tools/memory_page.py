#!/usr/bin/env python3
"""Draws a memory snapshot as one page for a browser. The page contains the data and loads no other resource.

    memory_page.py SNAPSHOT.json [-o PAGE.html]

ferry::save_memory_snapshot writes the snapshot. Without -o, the page is written beside it, with the suffix .html. The
template is memory_page.html, beside this script. Exit status: 1 if a file cannot be read or written, or is no snapshot.
"""
import argparse
import json
import pathlib
import sys

TEMPLATE = pathlib.Path(__file__).resolve().with_suffix(".html")
PLACE = "SNAPSHOT"  # in the template, where the data go


def page(snapshot):
    """The page of a snapshot's JSON text."""
    data = json.loads(snapshot)
    lacks = [key for key in ("usage", "labels", "pools", "before", "history")
             if not isinstance(data, dict) or key not in data]
    if lacks:
        raise ValueError("it lacks " + ", ".join(lacks))
    before, _, after = TEMPLATE.read_text(encoding="utf-8").partition(PLACE)
    # In JSON, '<' occurs in strings only. Without it, no string ends the script element that holds the data.
    return before + snapshot.replace("<", "\\u003c") + after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    try:
        text = page(options.snapshot.read_text(encoding="utf-8"))
        (options.output or options.snapshot.with_suffix(".html")).write_text(text, encoding="utf-8")
    except OSError as e:
        sys.exit(f"memory_page.py: {e}")
    except ValueError as e:
        sys.exit(f"memory_page.py: {options.snapshot} is no memory snapshot: {e}")


if __name__ == "__main__":
    main()
