#!/usr/bin/env python3
"""Writes the tables of docs/porting.md: the lines that each step of examples/porting changes, and each step's time.

    tools/porting_table.py --measure FILE [--build DIR] [--runs N]   runs DIR/bin/porting/*, and writes the results to
                                                                     FILE; on GPUs, on the CPU, or as FERRY_BACKEND says
    tools/porting_table.py --report-of PROGRAM                       stores the excerpt of the flood's --report output
    tools/porting_table.py                                           writes the stored results and the lines into the
                                                                     guide
    tools/porting_table.py --check [--report-of PROGRAM] | --self-test

The stored results are in examples/porting/results: a file of JSON lines per system, and the excerpt. The guide has one
table of times for each of these files, between <!-- porting:begin times --> and its end; lines and the excerpt have
their own markers. --check changes nothing. It fails if the guide differs from the stored results or from the programs,
or, with --report-of, from the program's output. Blank lines, comments and the names of the steps' namespaces do not
count as lines.
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
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "examples" / "porting" / "results"
EXCERPT = RESULTS / "report_of_flood.txt"
CODES = {"flood": "Flood", "cg": "Conjugate gradients", "particles": "Particles in cells",
         "fluid": "Fluid on a lattice", "gas": "Gas on a mesh", "heat3d": "Heat in a block"}
DIMENSIONS = {"heat3d": 3}                 # of the space; 2 for the others
# A simulated device is one CPU thread, and checks every index. On GPUs: the programs' default sizes.
SIMULATED = {"flood": ["--size", "256", "--steps", "20"], "cg": ["--size", "64", "--steps", "10000"],
             "particles": ["--size", "128", "--steps", "20"], "fluid": ["--size", "128", "--steps", "20"],
             "gas": ["--size", "128", "--steps", "20"], "heat3d": ["--size", "40", "--steps", "20"]}
NAMESPACE = re.compile(r"(}  // )?namespace step_\d|porting::result run")


def code_lines(text):
    """The lines that count as code."""
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
    """A program's results for its steps, on all devices or the first few."""
    few = {}
    if devices:
        few = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(devices))), "FERRY_SIM": f"devices={devices}"}
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


def faster(result, first):
    """The speedup compared with step 1, with significant digits only."""
    times = first["ms"] / result["ms"]
    return f"{times:.0f} x" if times >= 10 else f"{times:.2g} x"


def milliseconds(ms):
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def times_table(results):
    """The table of one system: for each code its steps in order, the last one for several numbers of devices."""
    text = [textwrap.fill(place(results), 120, break_on_hyphens=False), "",
            row(["code", "step", "ms a time step or iteration", "times as fast as step 1", "result, against step 1"]),
            row(["---"] * 5)]
    for code in CODES:
        steps = [r for r in results if r["code"] == code]
        for result in steps:
            is_first = result["step"] == 1
            shape = " x ".join([str(result["size"])] * DIMENSIONS.get(code, 2))
            size = f"{CODES[code]}, {shape}, {result['steps']} steps" if is_first else ""
            text.append(row([size, what(result), milliseconds(result["ms"]),
                             "" if is_first else faster(result, steps[0]), "" if is_first else agreement(result)]))
    return "\n".join(text) + "\n"


def place(results):
    one, most = results[0], max(r["devices"] for r in results)
    runs = "one run" if one["runs"] == 1 else f"medians of up to {one['runs']} runs"
    when = f"{runs}, {one['date']}, commit {one['commit']}."
    if one["device"].startswith("CPU"):
        return (f"The CPU as the device (`FERRY_BACKEND=cpu`), {one['cores']} cores; {when} Kernels run on all cores, "
                "without checks of indices.")
    if one["simulated"]:
        return (f"{most} simulated devices, which one thread plays on a machine of {one['cores']} CPU cores; {when} "
                "**These are no speeds of GPUs**: simulated kernels run one index after the other, with every index "
                "checked. They show that each step runs, and what it costs to test it.")
    return f"{f'{most} x ' if most > 1 else ''}{one['device']}; {when}"


def kept(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def all_times(folder):
    """All tables: GPUs first, larger numbers of them before smaller ones."""
    machines = sorted((kept(file) for file in folder.glob("*.jsonl")),
                      key=lambda results: (results[0]["simulated"], -max(r["devices"] for r in results)))
    return "\n".join(map(times_table, machines))


def measure(build, runs, file):
    """Runs all steps of all codes, the last one also on 1, 2, 4, ... devices."""
    commit = os.environ.get("FERRY_COMMIT") or subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    about = {"runs": runs, "date": datetime.date.today().isoformat(), "commit": commit or "unknown",
             "cores": len(os.sched_getaffinity(0))}
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for code in CODES:
            program = build / "bin" / "porting" / code
            probe = measured(program, ["--step", "1", "--size", "8", "--steps", "1000"])[0]
            arguments = ["--runs", str(runs), "--reference", f"{scratch}/{code}",
                         *(SIMULATED[code] if probe["simulated"] else [])]
            *steps, last = measured(program, arguments)
            fewer = [n for n in (1, 2, 4, 8, 16) if n < last["devices"]]
            lines += [*steps, *(measured(program, ["--step", "5", *arguments], n)[0] for n in fewer), last]
            pathlib.Path(f"{scratch}/{code}").unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line | about) + "\n" for line in lines))


def excerpt(program):
    """The report of step 3 of the flood on three arrays, without the columns that do not fit on a page."""
    command = [program, "--step", "3", "--size", "512", "--steps", "5", "--report"]
    run = subprocess.run(command, capture_output=True, text=True, check=False,
                         env={**os.environ, "FERRY_BACKEND": "sim"})
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{run.stderr}")
    lines, wanted = [], False
    for line in run.stdout.splitlines():
        if line[:1] not in ("", " "):
            wanted = line.split()[0] in ("flux", "terrain", "water")
        if wanted and line.strip():
            cells = re.match(r"(\S+(?:\s+[\d.]+){3})\s", line)
            lines.append(f"{cells[1]} ..." if cells else re.sub(r"\S*/(?=\d_\w+\.hpp)", "", line))
    return "\n".join(lines) + "\n"


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
    one = {"code": "cg", "step": 1, "what": "CPU", "size": 9, "steps": 7, "ms": 0.12345, "difference": 0, "bound": 1e-9,
           "devices": 1, "device": "GPU", "simulated": False, "runs": 3, "date": "today", "commit": "abc", "cores": 2}
    assert [milliseconds(t) for t in (0.0123, 99.96, 999.6, 1067.2)] == ["0.0123", "100", "1000", "1067"]
    assert place([{**one, "runs": 1}]) == "GPU; one run, today, commit abc.", place([{**one, "runs": 1}])
    table = times_table([one, {**one, "step": 5, "ms": 0.01, "difference": 2.34e-14, "devices": 2}])
    assert "| Conjugate gradients, 9 x 9, 7 steps | 1. CPU | 0.123 |  |  |" in table, table
    assert "| 5. 2 GPUs | 0.01 | 12 x | within 2e-14 |" in table, table
    assert table.startswith("2 x GPU; medians of up to 3 runs"), table
    assert "| Heat in a block, 9 x 9 x 9, 7 steps | 1. CPU |" in times_table([{**one, "code": "heat3d"}])
    with tempfile.TemporaryDirectory() as folder:
        for name, more in (("a", {"simulated": True}), ("b", {}), ("c", {"devices": 4}),
                           ("d", {"simulated": True, "device": "CPU 0"})):
            (pathlib.Path(folder) / f"{name}.jsonl").write_text(json.dumps({**one, **more}) + "\n")
        text = all_times(pathlib.Path(folder))
        assert text.startswith("4 x GPU"), text
        assert text.index("4 x GPU") < text.index("\nGPU; ") < text.index("1 simulated"), text
        assert text.count("1 simulated") == 1 and text.count("\nThe CPU as the device") == 1, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--measure", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--report-of", metavar="PROGRAM", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "docs" / "porting.md", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.measure:
        return measure(options.build, options.runs, options.measure)
    if options.report_of:
        said = excerpt(options.report_of)
        if options.check and said != EXCERPT.read_text():
            sys.exit(f"{EXCERPT} differs from what the program says: run tools/porting_table.py --report-of\n{said}")
        if not options.check:
            EXCERPT.write_text(said)
    before = options.page.read_text()
    after = replaced(before, "lines", lines_table(ROOT / "examples" / "porting"))
    after = replaced(after, "report", f"```text\n{EXCERPT.read_text()}```\n")
    after = replaced(after, "times", all_times(RESULTS))
    if options.check:
        return sys.exit(f"{options.page} differs from the programs or their results: run tools/porting_table.py"
                        if after != before else 0)
    options.page.write_text(after)
    return None


if __name__ == "__main__":
    main()
