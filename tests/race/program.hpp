// Random programs over arrays of several kinds on several devices, streams and CPU threads, with the expected results.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <ferry/core/detail/backend/backend.hpp>

namespace race {

using u32 = std::uint32_t;

// Numbers of arrays and streams of a program: streams shared by the threads, two per thread, and one foreign stream per
// thread.
inline constexpr int slots = 9, shared_streams = 4, streams = 10, shards = 3;
inline constexpr int own_stream(int thread, int which) { return shared_streams + 2 * thread + which; }
inline constexpr int foreign_stream(int thread) { return 8 + thread; }

enum class op {
  map,
  set,
  fill,
  copy,
  upload,
  turn,
  strided,
  accumulate,
  host_read,
  host_scan,
  host_write,
  renew,
  raw_take,
  raw_launch,
  shard,
  renew_stream,
  synchronize,
  trim,
  temporary,
  reduce,
  graph,
  freed,
  count
};

struct step {
  op what = op::trim;
  int y = 0, x = 0, z = 0;  // slots: written, read, read
  int stream = 0, other = 0, device = 0;
  std::size_t lo = 0, n = 0, lx = 0, lz = 0;
  u32 k = 0;
  bool flag = false;
  ferry::memory_kind kind = ferry::memory_kind::unified;
  std::vector<u32> expect;
};

// The arithmetic of each operation, for the oracle and for the kernels.
inline constexpr u32 map_of(u32 y, u32 x, u32 z, u32 k) { return y * 3 + x * 5 + z + k; }
inline constexpr u32 set_of(u32 x, u32 k) { return x * 7 + k; }
inline constexpr u32 raw_of(u32 y, u32 x, u32 k) { return y * 9 + x + k; }
inline constexpr u32 stencil_of(u32 left, u32 here, u32 right) { return left + 2 * here + 3 * right; }

// One phase: the steps of each of two threads, which may run concurrently.
struct phase {
  std::array<std::vector<step>, 2> of_thread;
  std::vector<step> check;  // afterwards, on one thread
};

// Array sizes. tiny: a few words. pages: up to several of the driver's 2 MiB pages, and smaller arrays that share a
// page.
enum class sizes { tiny, pages };

class generator {
 public:
  generator(u32 seed, int threads, int devices, sizes large = sizes::tiny);
  // Creates every array, then makes `operations` steps in several phases.
  std::vector<phase> make(int operations);

 private:
  std::size_t below(std::size_t n) { return n ? static_cast<std::size_t>(random_() % n) : 0; }
  step fresh(int y);
  step read_all(int y);
  void deal_roles();
  void add(int thread, phase& into);
  void finish_raw(int thread, phase& into);
  bool apply(int thread, step& s);
  int mine(int thread) { return own_[thread][below(own_[thread].size())]; }
  int any(int thread);

  std::mt19937 random_;
  int threads_, devices_;
  sizes sizes_;
  std::array<std::vector<u32>, slots> value_;
  std::array<ferry::memory_kind, slots> kind_{};
  std::array<std::vector<int>, 2> own_;
  std::vector<int> shared_, accumulators_;
  std::array<std::optional<std::pair<int, step>>, 2> raw_;  // an open raw pointer: (steps until its launch, the launch)
};

}  // namespace race
