#!/usr/bin/env python3
"""Compares ferry's expressions with those of PyTorch (eager and torch.compile) and JAX (jit) on one GPU.

    benchmarks/expressions/frameworks.py FILE

FILE has results of the benchmarks `expressions` and `reductions`, which ran before on the same machine. For each row
that has a counterpart below, the script times the frameworks that python3 has, and appends a row with ferry's value,
the framework's value as the baseline, and their ratio. Times are medians of 15 rounds of 10 evaluations each, of the
wall clock between synchronizations: no framework waits between evaluations. Each framework runs in a process of its
own, so that it has the memory of the GPU for itself.
"""
import json
import statistics
import subprocess
import sys
import time

COUNT, SIDE = 1 << 28, 1 << 14
FLOATS = 4 * COUNT
ROUNDS, EVALUATIONS = 15, 10
# A row of ferry's; bytes that it moves; the same in a framework, of a, b and the library; least ratio to eager PyTorch.
ROWS = [
    ("a + b, 1 GiB of floats", 3 * FLOATS, lambda lib, a, b: a + b, None),
    ("b + 2 sin(a), 1 GiB of floats", 3 * FLOATS, lambda lib, a, b: b + 2 * lib.sin(a), 1.6),
    ("transposed a + 1, 16384 x 16384 floats", 2 * FLOATS, lambda lib, a, b: a.reshape(SIDE, SIDE).T + 1, None),
    ("sum, 1 GiB of floats", FLOATS, lambda lib, a, b: lib.sum(a), None),
    ("sum(a b), 2 GiB of floats", 2 * FLOATS, lambda lib, a, b: lib.sum(a * b), None),
    ("var, 1 GiB of floats", FLOATS, lambda lib, a, b: lib.var(a), None),
    ("cumsum, 1 GiB of floats", 2 * FLOATS, lambda lib, a, b: lib.cumsum(a, 0), None),
]


def rate(evaluate, wait, moved):
    """GB/s of an evaluation."""
    for _ in range(3):
        wait(evaluate())
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(EVALUATIONS):
            result = evaluate()
        wait(result)
        times.append((time.perf_counter() - begin) / EVALUATIONS)
    return moved / statistics.median(times) / 1e9


def torch_rates(compiled):
    import torch

    a, b = torch.rand(COUNT, device="cuda"), torch.rand(COUNT, device="cuda")
    for name, moved, f, _ in ROWS:
        def plain(a, b, f=f):
            # The transposed sum is asked for in the order of rows, as ferry's destination is.
            return f(torch, a, b).contiguous()

        call = torch.compile(plain) if compiled else plain
        yield name, rate(lambda call=call: call(a, b), lambda _: torch.cuda.synchronize(), moved)


def jax_rates():
    import jax
    import jax.numpy as numpy

    if jax.default_backend() != "gpu":
        raise RuntimeError("JAX has no GPU here")
    a, b = (jax.random.uniform(jax.random.PRNGKey(k), (COUNT,)) for k in (1, 2))
    for name, moved, f, _ in ROWS:
        call = jax.jit(lambda a, b, f=f: f(numpy, a, b))
        yield name, rate(lambda call=call: call(a, b), lambda r: r.block_until_ready(), moved)


FRAMEWORKS = {
    "PyTorch": lambda: torch_rates(False),
    "torch.compile": lambda: torch_rates(True),
    "JAX's jit": jax_rates,
}


def measured(framework):
    """The rates of a framework by row, measured in another process."""
    run = subprocess.run([sys.executable, __file__, "--only", framework], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    rates = dict(json.loads(line) for line in run.stdout.splitlines() if line.startswith("["))
    if run.returncode != 0:
        reason = run.stderr.strip().splitlines()[-1:] or ["no message"]
        print(f"{framework}: {len(rates)} of {len(ROWS)} rows were measured, then: {reason[0]}", file=sys.stderr)
    return rates


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--only":
        for row in FRAMEWORKS[sys.argv[2]]():
            print(json.dumps(row), flush=True)
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        ours = {r["name"]: r for r in map(json.loads, filter(str.strip, file))}
    rows = []
    for framework in FRAMEWORKS:
        for name, theirs in measured(framework).items():
            if name not in ours:
                continue
            least = next(bound for n, _, _, bound in ROWS if n == name)
            row = dict(ours[name], name=f"{name}, beside {framework}",
                       baseline={"what": framework, "value": round(theirs, 2)})
            row["ratio"] = round(row["value"] / theirs, 4)
            if framework == "PyTorch" and least is None:
                row["bound"], row["holds"] = "stated", None
            else:
                least = least if framework == "PyTorch" else 1.0
                row["bound"], row["holds"] = f"ratio >= {least:g} x", row["ratio"] >= least
            rows.append(row)
            print(f"{row['name']:72} {row['value']:8.1f} {theirs:8.1f} {row['ratio']:7.3f}")
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
