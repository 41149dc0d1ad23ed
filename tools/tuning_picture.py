#!/usr/bin/env python3
"""Draws the trials of a tuner as one SVG picture.

    tuning_picture.py RESULT.json [-o PICTURE.svg]

ferry::tune_result::save_json writes the result. Without -o, the picture is written beside it, with the suffix .svg.
Exit status: 1 if a file cannot be read or written, or is no result of a tuner.
"""
import argparse
import json
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, LONGEST_BAR = 20, 390, 1080, 420
STYLE = """.title{font-size:16px;font-weight:bold}.head{font-weight:bold;fill:#222}.policy{text-anchor:end;fill:#333}
.note{fill:#333}.note.rejected{fill:#a33}.note.chosen{fill:#17663a;font-weight:bold}
rect.tried{fill:#b8c4d6}rect.chosen{fill:#2f9e5f}rect.rejected{fill:#f3d9d9;stroke:#c77}
.spread{stroke:#333;stroke-width:2}.automatic{stroke:#555;stroke-dasharray:3 3}"""


def escaped(text):
    """Text for XML, which allows no control characters."""
    return escape(re.sub("[\x00-\x1f\ufffe\uffff]", " ", text), {'"': "&quot;"})


def shortened(text, most):
    return text if len(text) <= most else text[:most - 3] + "..."


def number(value):
    return f"{value:.4g}"


def pixels(value):
    return f"{value:.1f}"


def automatic_trial(result):
    """The trial of automatic for all arrays; None if it was not run."""
    return next((t for t in result["trials"] if not t["array"] and t["policy"] == "automatic"), None)


def result_line(result):
    line = f"a step takes {number(result['best_milliseconds'])} ms"
    if not result["best"]:
        return line + ": automatic is best for all arrays"
    automatic = automatic_trial(result)
    if automatic and automatic["rejected"]:
        return line + " with the policies chosen, automatic was rejected"
    return line + f" with the policies chosen, {number(result['automatic_milliseconds'])} ms without"


def bar(trial, y, length, automatic):
    """One trial as a row of the picture. length(ms) is in pixels; automatic is its time, 0 if unknown."""
    median, spread, rejected = trial["median"], trial["spread"], trial["rejected"]
    kind = "rejected" if rejected else "chosen" if trial["chosen"] else "tried"
    title = f"{trial['policy']}: {number(median)} ms, spread {number(spread)}" + (f", {rejected}" if rejected else "")
    end = length(median + spread / 2)
    rows = [f"<g><title>{escaped(title)}</title>",
            f'<text x="{LEFT - 10}" y="{y + 14}" class="policy">{escaped(shortened(trial["policy"], 60))}</text>',
            f'<rect x="{LEFT}" y="{y + 3}" width="{pixels(length(median))}" height="14" class="{kind}"/>']
    if spread > 0:
        start = length(max(0, median - spread / 2))
        rows.append(f'<path d="M{pixels(LEFT + start)} {y + 10}H{pixels(LEFT + end)}" class="spread"/>')
    if automatic > 0:
        rows.append(f'<path d="M{pixels(LEFT + length(automatic))} {y}v{ROW}" class="automatic"/>')
    notes = [f"{number(median)} ms"] if trial["milliseconds"] else []
    notes += ["chosen"] if trial["chosen"] else []
    notes += [shortened(rejected, 40)] if rejected else []
    rows.append(f'<text x="{pixels(LEFT + max(end, length(automatic)) + 8)}" y="{y + 14}" class="note {kind}">'
                f'{escaped("  ".join(notes))}</text></g>')
    return rows


def picture(result):
    """The SVG text of a tuner's result."""
    longest = max([t["median"] + t["spread"] / 2 for t in result["trials"]] + [1e-9])
    of_all = automatic_trial(result)
    automatic = of_all["median"] if of_all else 0
    body, y, last = [], 40, None
    for trial in result["trials"]:
        if trial["array"] != last:
            last = trial["array"]
            y += 14
            heading = f"array {last}" if last else "all arrays"
            body.append(f'<text x="16" y="{y + 15}" class="head">{escaped(shortened(heading, 100))}</text>')
            y += ROW
        body += bar(trial, y, lambda ms: ms / longest * LONGEST_BAR, automatic)
        y += ROW
    title = f"Milliseconds a step of {result['program']} {result['version']}".rstrip()
    below = result_line(result) + ". Dashed: automatic for all arrays. Lines on bars: the spread."
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 44}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<style>\n{STYLE}\n</style>", '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="16" y="28" class="title">{escaped(title)}</text>', *body,
        f'<text x="16" y="{y + 28}">{escaped(below)}</text>', "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    try:
        text = picture(json.loads(options.result.read_text(encoding="utf-8")))
        (options.output or options.result.with_suffix(".svg")).write_text(text, encoding="utf-8")
    except OSError as e:
        sys.exit(f"tuning_picture.py: {e}")
    except ValueError as e:
        sys.exit(f"tuning_picture.py: {options.result} is no JSON: {e}")
    except (KeyError, TypeError) as e:
        sys.exit(f"tuning_picture.py: {options.result} is no result of a tuner: {type(e).__name__}: {e}")


if __name__ == "__main__":
    main()
