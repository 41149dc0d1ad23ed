#!/usr/bin/env python3
"""Checks that names of a library's sources do not conflict when several sources are one translation unit (FERRY_UNITY).

    tools/check_batches.py [compiler]

Compiles all C++ sources of each library together, for syntax alone. Equal names in unnamed namespaces are errors.
Folders that need a package which is not installed are left out.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BELOW = {"core": ["core"], "unified": ["core", "unified"], "multigpu": ["core", "unified", "multigpu"]}
# Folders of sources that need a package: a header of it, and where that may be. With the header, the source is compiled
# as with the package: FERRY_HAS_CUDA and so on.
NEEDS = {"cuda": "cuda_runtime.h", "nccl": "cuda_runtime.h", "cupti": "cupti.h", "mpi": "mpi.h", "hwloc": "hwloc.h",
         "nvml": "nvml.h"}
FOLDERS = ["/usr/include", "/usr/local/cuda/include", "/usr/local/cuda/extras/CUPTI/include",
           "/usr/lib/x86_64-linux-gnu/openmpi/include"]


def is_there(header):
    return any((pathlib.Path(f) / header).exists() for f in FOLDERS)


def errors_of(compiler, module):
    """Lines with errors for all sources of a module in one translation unit."""
    src = ROOT / module / "src"
    missing = {folder for folder, header in NEEDS.items() if not is_there(header)}
    sources = [s for s in sorted(src.rglob("*.cpp"))
               if s.name != "absent.cpp" and not missing & set(s.relative_to(src).parts)]
    flags = [f"-DFERRY_HAS_{folder.upper()}=1" for folder in set(NEEDS) - missing]
    flags += [f"-I{ROOT / m / 'include'}" for m in BELOW[module]] + [f"-I{src}"] + [f"-isystem{f}" for f in FOLDERS[1:]]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
        unit.write("".join(f'#include "{s}"\n' for s in sources))
        unit.flush()
        run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", "-DFERRY_INTERNAL", "-DOMPI_SKIP_MPICXX=1",
                              "-DMPICH_SKIP_MPICXX=1", *flags, unit.name], capture_output=True, text=True)
    if run.returncode == 0:
        return []
    lines = run.stderr.splitlines()
    return [line for line in lines if "error" in line] or lines or [f"{compiler} ended with status {run.returncode}"]


def main():
    compiler = sys.argv[1] if len(sys.argv) > 1 else "g++"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        errors = dict(zip(BELOW, pool.map(lambda module: errors_of(compiler, module), BELOW)))
    for module, lines in errors.items():
        if lines:
            print(f"{module}: its sources do not compile as one:", *lines[:10], sep="\n  ")
    return 1 if any(errors.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
