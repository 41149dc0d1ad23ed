#!/usr/bin/env python3
"""Runs NVIDIA's Jacobi samples and ferry's on the same system, and appends their times as JSON lines.

    benchmarks/jacobi/against_nvidia.py SAMPLES FERRY [--results FILE] [--build-only] [--rounds N] [--iterations N]
                                        [--size N]

SAMPLES is a checkout of https://github.com/NVIDIA/multi-gpu-programming-models; no part of it is included in ferry.
FERRY is examples/jacobi, built for CUDA. Samples that need only CUDA are built with nvcc, and those of NCCL if mpicxx
and NCCL are installed. Samples that cannot be built are skipped with a message. Existing programs are not rebuilt, so a
folder built elsewhere (--build-only) may be copied to the system with GPUs. Needs only python3.

All programs compute the same: a field of N x N floats on all GPUs, with the norm of the change at each iteration. They
run alternately, in rounds; as in NVIDIA's bench.sh, the best time of each counts.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# With a thread per GPU, or one for all.
CUDA_ALONE = ["single_threaded_copy", "multi_threaded_copy", "multi_threaded_copy_overlap", "multi_threaded_p2p",
              "multi_threaded_p2p_opt", "multi_threaded_um"]
WITH_NCCL = ["nccl", "nccl_overlap", "nccl_graphs"]    # a process per GPU
ONE_GPU = "single_gpu"
CUDA_FLAGS = ["-DHAVE_CUB", "-O3", "-std=c++17"]       # as in their Makefiles; CUB of CUDA 13 needs C++17
TIMES_FASTER = {4: 2.5}                                # the required speedup, by number of GPUs


def run(command, folder=None, **more):
    done = subprocess.run([str(c) for c in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={**os.environ, **more})
    return done.returncode, done.stdout


def find_nccl():
    """The folders of nccl.h and of libnccl.so.2, or None."""
    homes = [pathlib.Path(p) for p in (os.environ.get("NCCL_HOME"), "/usr/local/cuda", "/usr") if p]
    for header in (h / "include" for h in homes):
        for library in (h / d for h in homes for d in ("lib64", "lib", "lib/x86_64-linux-gnu")):
            if (header / "nccl.h").is_file() and (library / "libnccl.so.2").exists():
                return header, library
    return None


def build(folder, architecture):
    """Builds the sample in a folder; returns the error, or nothing."""
    if (folder / "jacobi").is_file():
        return ""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    cuda = pathlib.Path(nvcc).resolve().parent.parent
    flags = [*CUDA_FLAGS, f"-arch={architecture}"]
    if (cuda / "include/nvtx3/nvToolsExt.h").is_file():
        flags.append("-DUSE_NVTX")
    if (folder / "jacobi.cu").is_file():
        commands = [[nvcc, *flags, "-Xcompiler", "-fopenmp", "jacobi.cu", "-o", "jacobi", "-ldl"]]
    else:
        nccl = find_nccl()
        if not nccl or not shutil.which("mpicxx"):
            return "needs mpicxx and NCCL"
        commands = [[nvcc, *flags, "-c", "jacobi_kernels.cu"],
                    ["mpicxx", "-O3", "-std=c++17", f"-I{cuda}/include", f"-I{nccl[0]}", "jacobi.cpp",
                     "jacobi_kernels.o", "-o", "jacobi", f"-L{cuda}/lib64", f"-L{nccl[1]}", f"-Wl,-rpath,{nccl[1]}",
                     "-lcudart", "-l:libnccl.so.2", "-ldl"]]
    for command in commands:
        status, text = run(command, folder)
        if status:
            return f"cannot be built: {' '.join(map(str, command))}\n{text.strip()}"
    return ""


def command_of(name, folder, o, gpus):
    command = [folder / "jacobi", "-csv", "-nx", o.size, "-ny", o.size, "-niter", o.iterations]
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", gpus, *command] if name in WITH_NCCL else command


def sample_time(name, folder, o, gpus):
    """Milliseconds per iteration; prints the reason if there are none."""
    # Threads are bound to their cores, as in bench.sh. No NVLink multicast.
    status, text = run(command_of(name, folder, o, gpus), folder, OMP_PROC_BIND="TRUE", NCCL_NVLS_ENABLE="0")
    line = re.search(rf"^{name}, (.*)$", text, re.MULTILINE)
    if status or not line:
        print(f"{name} failed with status {status}: {text.strip()[-400:]}")
        return None
    fields = [float(f) for f in line.group(1).split(",")]
    if fields[:4] != [o.size, o.size, o.iterations, 1] or (name != ONE_GPU and fields[4] != gpus):
        print(f"{name} ran something else: {line.group(0)}")
        return None
    return 1e3 * (fields[4] if name == ONE_GPU else fields[6]) / o.iterations


def ferry_time(program, o, gpus, *how):
    status, text = run([program, "--rows", o.size, "--columns", o.size, "--iterations", o.iterations,
                        "--devices", gpus, *how], FERRY_BACKEND="cuda", NCCL_NVLS_ENABLE="0")
    found = re.search(r"^time\s+(\S+) ms", text, re.MULTILINE)
    devices = re.search(r"^devices\s+(\d+) \(CUDA\)", text, re.MULTILINE)
    if status or not found or not devices or int(devices.group(1)) != gpus:
        sys.exit(f"ferry's jacobi failed with status {status}: {text.strip()[-400:]}")
    return float(found.group(1))


def place(gpus):
    status, text = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    if status:
        sys.exit(f"no GPU: {text.strip()}")
    name, driver = text.splitlines()[0].rsplit(", ", 1)
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {"machine": f"{name} / {cpu.group(1) if cpu else ''}", "devices": gpus, "driver": driver.strip(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "commit": os.environ.get("FERRY_COMMIT", "unknown")}


def spread(times):
    middle = sorted(times)[len(times) // 2]
    return sorted(abs(t / middle - 1) for t in times)[len(times) // 2]


def row(name, times, sample, theirs, gpus, where):
    ours, limit = min(times), TIMES_FASTER.get(gpus)
    return {"name": name, "value": round(ours, 6), "unit": "ms",
            "baseline": {"what": f"NVIDIA's best sample, {sample}", "value": round(theirs, 6)},
            "ratio": round(ours / theirs, 6), "spread": round(spread(times), 6),
            "bound": f"ratio <= {1 / limit:.4g} x" if limit else "stated",
            "holds": ours <= theirs / limit if limit else None, **where}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("ferry", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--architecture", default="native", help="of the GPUs, as nvcc names it: sm_90")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--size", type=int, default=20480)
    o = parser.parse_args()
    o.ferry, o.samples = o.ferry.resolve(), o.samples.resolve()

    folders = {n: o.samples / n for n in [ONE_GPU, *CUDA_ALONE, *WITH_NCCL] if (o.samples / n).is_dir()}
    if not folders:
        sys.exit(f"{o.samples} holds none of the samples: give a checkout of NVIDIA's multi-gpu-programming-models")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as builders:
        reasons = dict(zip(folders, builders.map(lambda f: build(f, o.architecture), folders.values())))
    for name, why in reasons.items():
        if why:
            print(f"{name} is left out: {why}")
            del folders[name]
    if o.build_only:
        return

    gpus = len([line for line in run(["nvidia-smi", "-L"])[1].splitlines() if line.startswith("GPU ")])
    where = place(gpus)
    ours, alone, theirs = [], [], {n: [] for n in folders}
    for _ in range(o.rounds):
        for name in list(theirs):
            if name != ONE_GPU and gpus == 1:
                del theirs[name]
                continue
            if (time := sample_time(name, folders[name], o, gpus)) is not None:
                theirs[name].append(time)
            else:
                del theirs[name]    # it would fail the next time, too
        alone.append(ferry_time(o.ferry, o, 1))
        if gpus > 1:
            ours.append(ferry_time(o.ferry, o, gpus, "--threads"))

    for name, times in sorted(theirs.items(), key=lambda item: min(item[1])):
        print(f"{name:30} {min(times):8.4f} ms an iteration")
    print(f"{'ferry, 1 GPU':30} {min(alone):8.4f} ms an iteration")
    field, rows = f"Jacobi {o.size}^2 with norm", []
    if ONE_GPU in theirs:
        rows.append(row(f"{field}, 1 GPU, as a program", alone, ONE_GPU, min(theirs[ONE_GPU]), 1, where))
    several = {n: min(t) for n, t in theirs.items() if n != ONE_GPU}
    if ours:
        print(f"{f'ferry, {gpus} GPUs':30} {min(ours):8.4f} ms an iteration")
    if ours and several:
        best = min(several, key=several.get)
        rows.append(row(f"{field}, {gpus} GPUs, a thread each, as a program", ours, best, several[best], gpus, where))
    for r in rows:
        print(f"{r['name']}: {1 / r['ratio']:.2f} x as fast as {r['baseline']['what']}")
    if o.results:
        with o.results.open("a") as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)


if __name__ == "__main__":
    main()
