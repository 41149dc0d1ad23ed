#!/usr/bin/env python3
"""Writes the tables of docs/porting.md: the lines that each step of examples/porting changes, and the time of each step.

    tools/porting_table.py [--build DIR] [--runs N]      both tables; runs DIR/bin/porting/*
    tools/porting_table.py --lines | --check | --self-test

Times go between <!-- porting:begin simulated --> and its end, or those of `gpu`: whatever devices the programs find, so
that a run on one machine leaves the other's table as it is. Lines go between the markers of `lines`; --lines writes only
these and runs nothing, --check changes nothing and fails if they differ from the programs. What a line is: neither blank nor
a comment nor the name of the step's namespace.
"""
import argparse
import datetime
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODES = {"flood": "Flood", "cg": "Conjugate gradients", "particles": "Particles in cells"}
# A simulated device is one thread of the CPU, and checks every index. On GPUs: the programs' own sizes.
SIMULATED = {"flood": ["--size", "256", "--steps", "20"], "cg": ["--size", "64", "--steps", "10000"],
             "particles": ["--size", "128", "--steps", "20"]}
NAMESPACE = re.compile(r"(}  // )?namespace step_\d|porting::result run")


def code_lines(text):
    """The lines that count."""
    lines = (line.split("//")[0].strip() if not NAMESPACE.match(line) else "" for line in text.splitlines())
    return [line for line in lines if line]


def changed(before, after):
    """(lines added, lines removed)."""
    diff = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return sum(line.startswith("+") for line in diff), sum(line.startswith("-") for line in diff)


def steps_of(folder):
    """The lines of each step of one code, in order."""
    files = sorted(folder.glob("[0-9]_*.hpp"))
    if [file.name[0] for file in files] != list("12345"):
        sys.exit(f"{folder}: needs the steps 1_*.hpp to 5_*.hpp")
    return [code_lines(file.read_text()) for file in files]


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def lines_table(folder):
    text = [row(["code", "lines of step 1", *(f"step {n}" for n in range(2, 6))]), row(["---"] * 6)]
    for code, title in CODES.items():
        steps = steps_of(folder / code)
        moves = [changed(before, after) for before, after in zip(steps, steps[1:])]
        text.append(row([f"[{title}](../examples/porting/{code})", len(steps[0]), *(f"+{a} -{r}" for a, r in moves)]))
    return "\n".join(text) + "\n"


def measured(program, arguments, devices=None):
    """What a program says of its steps, on all devices or the first few."""
    few = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(devices))), "FERRY_SIM": f"devices={devices}"} if devices else {}
    run = subprocess.run([program, "--json", *arguments], capture_output=True, text=True, check=False,
                         env={**os.environ, **few})
    if run.returncode:
        sys.exit(f"{program} {' '.join(arguments)} failed:\n{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def agreement(result):
    if result["bound"] == 0:
        return "equal, bit for bit"
    return f"within {result['difference']:.0e}" if result["difference"] else "equal"


def what(result):
    if result["step"] < 5:
        return f"{result['step']}. {result['what']}"
    return f"5. {result['devices']} GPU{'s' if result['devices'] > 1 else ''}"


def times_table(results, where):
    """`results`: of each code, those of its steps, of the last one for several numbers of devices."""
    text = [where, "", row(["code", "step", "ms a time step or iteration", "result, against step 1"]), row(["---"] * 4)]
    for code, steps in results.items():
        for result in steps:
            size = f"{CODES[code]}, {result['size']} x {result['size']}" if result["step"] == 1 else ""
            text.append(row([size, what(result), f"{result['ms']:.3g}",
                             agreement(result) if result["step"] > 1 else ""]))
    return "\n".join(text) + "\n"


def place(one, runs):
    today, cores = datetime.date.today().isoformat(), len(os.sched_getaffinity(0))
    if one["simulated"]:
        return (f"{one['devices']} simulated devices, which one thread plays on a machine of {cores} CPU cores; medians of "
                f"{runs} runs, {today}. **These are no speeds of GPUs**: simulated kernels run one index after the other, "
                "with every index checked. They show that each step runs, and what it costs to test it.")
    plural = f"{one['devices']} x " if one["devices"] > 1 else ""
    return f"{plural}{one['device']}; medians of {runs} runs, {today}."


def replaced(text, section, body):
    begin, end = f"<!-- porting:begin {section} -->", f"<!-- porting:end {section} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        sys.exit(f"the page needs one {begin} and, after it, one {end}")
    return text[:text.index(begin) + len(begin)] + "\n" + body + text[text.index(end):]


def self_test():
    text = "// 1. Title\nnamespace step_1 {\n\n  int a;  // why\n  // what\n}  // namespace step_1\nint b;\n"
    assert code_lines(text) == ["int a;", "int b;"], code_lines(text)
    assert changed(["a", "b", "c"], ["a", "B", "c", "d"]) == (2, 1)
    assert changed(["a"], ["a"]) == (0, 0)
    page = "1\n<!-- porting:begin x -->\nold\n<!-- porting:end x -->\n2"
    assert "old" not in replaced(page, "x", "new\n") and "\nnew\n" in replaced(page, "x", "new\n")
    for wrong in ("", "<!-- porting:end x --><!-- porting:begin x -->"):
        try:
            replaced(wrong, "x", "new")
        except SystemExit:
            continue
        raise AssertionError(f"accepted: {wrong}")
    one = {"code": "cg", "step": 1, "what": "CPU", "size": 9, "ms": 0.12345, "difference": 0, "bound": 1e-9}
    table = times_table({"cg": [one, {**one, "step": 5, "difference": 2.34e-14, "devices": 2}]}, "here")
    assert "| Conjugate gradients, 9 x 9 | 1. CPU | 0.123 |  |" in table and "| 5. 2 GPUs | 0.123 | within 2e-14 |" in table, table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "host", type=pathlib.Path)
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--page", default=ROOT / "docs" / "porting.md", type=pathlib.Path)
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    before = options.page.read_text()
    after = replaced(before, "lines", lines_table(ROOT / "examples" / "porting"))
    if options.check:
        return sys.exit(f"{options.page} differs from the programs: run tools/porting_table.py --lines"
                        if after != before else 0)
    if not options.lines:
        results = {}
        for code in CODES:
            program = options.build / "bin" / "porting" / code
            probe = measured(program, ["--step", "1", "--size", "8", "--steps", "1000"])[0]
            sizes = SIMULATED[code] if probe["simulated"] else []
            arguments = ["--runs", str(options.runs), *sizes]
            *steps, last = measured(program, arguments)
            fewer = [n for n in (1, 2, 4, 8, 16) if n < last["devices"]]
            results[code] = [*steps, *(measured(program, ["--step", "5", *arguments], n)[0] for n in fewer), last]
        after = replaced(after, "simulated" if probe["simulated"] else "gpu",
                         times_table(results, place(probe, options.runs)))
    options.page.write_text(after)
    return None


if __name__ == "__main__":
    main()
