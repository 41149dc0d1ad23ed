// Where and when a measurement ran.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <ferry/core/runtime.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

#ifndef FERRY_COMMIT
#define FERRY_COMMIT "unknown"
#endif

namespace benchmarks {

// The text after `key` on the first line of a file that contains it; empty if there is none.
inline std::string text_after(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (const auto at = line.find(key); at != line.npos)
      return line.substr(line.find_first_not_of(" \t:", at + key.size()));
  return {};
}

inline std::string cpu_model() { return text_after("/proc/cpuinfo", "model name"); }

// The names of the GPUs, or what takes their place, and of the CPU.
inline std::string machine_name() {
  ferry::runtime& m = ferry::runtime::current();
  if (m.properties(0).name == "CPU 0")
    return "the CPU as the device, " + std::to_string(std::thread::hardware_concurrency()) + " cores / " + cpu_model();
  return (m.is_simulated() ? "simulated" : m.properties(0).name) + " / " + cpu_model();
}

// The driver's version, or else the CUDA version that it supports; empty without CUDA.
inline std::string driver_version() {
  if (ferry::runtime::current().is_simulated()) return {};
  if (const std::string v = text_after("/proc/driver/nvidia/version", "Module"); !v.empty()) {
    const auto digits = v.find_first_of("0123456789", v.find("  ") == v.npos ? 0 : v.find("  "));
    if (digits != v.npos) return v.substr(digits, v.find(' ', digits) - digits);
  }
#if defined(__CUDACC__)
  if (int v = 0; cudaDriverGetVersion(&v) == cudaSuccess && v > 0)
    return "CUDA " + std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
#endif
  return {};
}

inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

inline std::string commit() {
  const char* given = std::getenv("FERRY_COMMIT");
  return given && *given ? given : FERRY_COMMIT;
}

// The process's own runtime, whatever runtimes a benchmark creates later.
struct place {
  std::string runtime = machine_name(), driver = driver_version(), date = today(), commit = benchmarks::commit();
  std::size_t devices = ferry::devices().size();
};

}  // namespace benchmarks
