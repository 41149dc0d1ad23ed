// Replays an allocation log on each kind of pool: time, peaks, fragmentation. The log comes from ferry::allocation_log,
// from FERRY_MEMORY_LOG=file or from RMM's logging_resource_adaptor. Without a log, a random one is generated.
// as: host
// test: --operations 3000 --largest 1MiB
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ferry/core.hpp>
#include <ferry/core/memory_size.hpp>
#include <random>
#include <string>
#include <vector>

#include "replay.hpp"

namespace fr = ferry;

namespace {

// RMM's pattern of random allocations: 73 % allocate, with sizes uniform up to the largest. When `most` are live, the
// oldest are freed.
std::vector<tools::logged_allocation> random_log(std::size_t operations, std::size_t largest, std::size_t most) {
  std::mt19937_64 random(42);
  std::vector<tools::logged_allocation> log, alive;
  std::size_t held = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    if (alive.empty() || random() % 100 < 73) {
      const tools::logged_allocation a{0, i + 1, 0, random() % largest + 1, false};
      while (!alive.empty() && held + a.bytes > most) {
        held -= alive.front().bytes;
        log.push_back(alive.front());
        log.back().is_free = true;
        alive.erase(alive.begin());
      }
      alive.push_back(a);
      held += a.bytes;
      log.push_back(a);
    } else {
      const auto at = alive.begin() + static_cast<std::ptrdiff_t>(random() % alive.size());
      held -= at->bytes;
      log.push_back(*at);
      log.back().is_free = true;
      alive.erase(at);
    }
  }
  return log;
}

fr::memory_kind kind_of(const std::string& name) {
  return name == "device"    ? fr::memory_kind::device
         : name == "unified" ? fr::memory_kind::unified
                             : fr::memory_kind::host;
}

void replay_on(const std::vector<tools::logged_allocation>& log, const std::string& pool_name, fr::memory_kind kind,
               fr::device device) {
  fr::pool_options options;
  options.kind = fr::parse_pool_kind(pool_name);
  fr::pool pool(device, options);
  const tools::replay_result r = tools::replay(log, pool, kind);
  std::printf("%-8s %9zu %9zu %8zu %11.3f %14s %14s %8.1f %%\n", pool_name.c_str(), r.allocations, r.frees, r.failures,
              r.seconds * 1e3, fr::bytes_text(r.peak_bytes).c_str(), fr::bytes_text(r.peak_reserved_bytes).c_str(),
              100 * r.fragmentation());
  pool.trim();
}

}  // namespace

int main(int argc, char** argv) try {
  std::string file, kind = "device", largest = "1MiB";
  std::vector<std::string> pools;
  std::size_t operations = 100000;
  int device = 0;
  CLI::App app{"Replays a log of allocations on pools of ferry"};
  app.add_option("log", file,
                 "CSV with the header Thread,Time,Action,Pointer,Size,Stream; a random one if there is none");
  app.add_option("--pool", pools, "driver, split, binned or none; several, or all of them if there is none");
  app.add_option("--kind", kind, "of memory")->check(CLI::IsMember({"device", "unified", "host"}));
  app.add_option("--device", device, "by its number");
  app.add_option("--operations", operations, "of the random log");
  app.add_option("--largest", largest, "size in the random log");
  CLI11_PARSE(app, argc, argv);
  const fr::device where(device);
  const auto log =
      file.empty() ? random_log(operations, fr::memory_size(largest).bytes_of(0), where.properties().memory_bytes / 2)
                   : tools::load_allocation_log(file);
  if (pools.empty()) pools = {"driver", "split", "binned", "none"};
  std::printf("pool      allocated     freed   failed   time in ms        at most       reserved  unused at peak\n");
  for (const std::string& p : pools) try {
      replay_on(log, p, kind_of(kind), where);
    } catch (const fr::not_supported& e) {
      std::printf("%-8s %s\n", p.c_str(), e.what());
    }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "replay: %s\n", e.what());
  return 1;
}
