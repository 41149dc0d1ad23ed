#!/usr/bin/env python3
"""Measures PyTorch's C++ caching allocator in the same way as bench_pool measures ferry's pools.

    benchmarks/pool/pytorch_baseline.py FILE

Builds a small extension (needs a compiler), so that no Python code is measured. Writes lines of a name, a tab and a
number: nanoseconds for times, bytes for peaks. FERRY_PYTORCH_RESULTS=FILE bench_pool then compares its results with
them.
"""
import pathlib
import sys

import torch
from torch.utils.cpp_extension import load_inline

HERE = pathlib.Path(__file__).resolve().parent

SOURCE = """
#include <c10/cuda/CUDACachingAllocator.h>
#include <chrono>
#include <random_pattern.hpp>

using seconds = std::chrono::duration<double>;

double pair_nanoseconds(std::int64_t bytes, std::int64_t n) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < n; ++i) allocator::raw_delete(allocator::raw_alloc(static_cast<std::size_t>(bytes)));
  return seconds(std::chrono::steady_clock::now() - begin).count() * 1e9 / static_cast<double>(n);
}

double random_nanoseconds(std::int64_t largest, std::int64_t most_held) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  benchmarks::random_pattern pattern;
  pattern.largest = static_cast<std::size_t>(largest);
  pattern.most_held = static_cast<std::size_t>(most_held);
  const auto begin = std::chrono::steady_clock::now();
  pattern.run([](std::size_t n) { return allocator::raw_alloc(n); }, [](void* p) { allocator::raw_delete(p); });
  return seconds(std::chrono::steady_clock::now() - begin).count() * 1e9 / static_cast<double>(pattern.operations);
}
"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    module = load_inline("ferry_pool_baseline", SOURCE, functions=["pair_nanoseconds", "random_nanoseconds"],
                         extra_include_paths=[str(HERE)], extra_cflags=["-O2", "-std=c++20"], with_cuda=True)
    lines = []
    for name, size in (("4 KiB", 4 << 10), ("1 MiB", 1 << 20), ("100 MiB", 100 << 20)):
        module.pair_nanoseconds(size, 1000)
        times = sorted(module.pair_nanoseconds(size, 2000) for _ in range(101))
        lines.append((f"allocate and free {name}", times[50]))
    most_held = min(torch.cuda.mem_get_info()[0] // 8 * 5, 87 << 30)
    for mebibytes in (1, 64, 1024):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            module.random_nanoseconds(mebibytes << 20, most_held)
            time = module.random_nanoseconds(mebibytes << 20, most_held)
        except torch.OutOfMemoryError as error:
            print(f"random sizes to {mebibytes} MiB: {error}", file=sys.stderr)
            continue
        lines.append((f"random sizes to {mebibytes} MiB time", time))
        lines.append((f"random sizes to {mebibytes} MiB peak", torch.cuda.max_memory_reserved()))
    pathlib.Path(sys.argv[1]).write_text("".join(f"{name}\t{value}\n" for name, value in lines))
    print("".join(f"{name}: {value:.6g}\n" for name, value in lines), end="")


if __name__ == "__main__":
    main()
