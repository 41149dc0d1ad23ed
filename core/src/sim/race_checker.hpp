// Detects unordered accesses, independently of the order that the schedule took.
//
// Happens-before comes only from backend calls: stream order, events, joint operations, graphs, and waits of the CPU.
// Each queue has a vector clock (Fidge 1988, Mattern 1989). For each byte the checker stores the last write and the
// reads after it, as in FastTrack (Flanagan and Freund 2009).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// Vector clock: latest observed tick of each line.
class vector_clock {
 public:
  bool knows(std::size_t line, std::uint64_t tick) const { return tick <= of(line); }
  std::uint64_t of(std::size_t line) const { return line < ticks_.size() ? ticks_[line] : 0; }
  void set(std::size_t line, std::uint64_t tick) {
    if (ticks_.size() <= line) ticks_.resize(line + 1);
    ticks_[line] = tick;
  }
  void join(const vector_clock& other);

 private:
  std::vector<std::uint64_t> ticks_;  // by line
};

// The accesses of one operation.
struct footprint {
  std::string verb, name;  // "kernel", "axpy"
  std::vector<kernel_use> uses;
  bool begins_life = false;  // the bytes are newly allocated: earlier accesses do not count
};

class race_checker;

// A line of the clocks: operations in order, one behind the other. Reused after no queue or graph refers to it, and the
// CPU has observed completion of its operations.
struct clock_line {
  clock_line(race_checker& whose, std::size_t number, std::uint64_t last) : of(whose), index(number), tick(last) {}
  ~clock_line();
  clock_line(const clock_line&) = delete;
  clock_line& operator=(const clock_line&) = delete;
  race_checker& of;
  const std::size_t index;
  std::uint64_t tick;  // of its latest operation
};

class race_checker {
 public:
  race_checker() { cpu.set(cpu_line, 0); }
  std::shared_ptr<clock_line> open();

  struct actor {
    std::size_t line = 0;
    std::uint64_t tick = 0;
    std::shared_ptr<const footprint> what;
    std::uint64_t stream = 0;
    int device = 0;  // -1: the CPU
  };
  // The description of a race, empty if there is none, and the device of the first access.
  struct finding {
    std::string text;
    int device = -1;
  };
  // Records an access, and returns its race with accesses that `known` does not cover.
  finding touch(const actor& who, const vector_clock& known);
  // The same for an access of the CPU at this moment. Later accesses through the same address are not seen.
  finding touch_from_cpu(const std::shared_ptr<const footprint>& what);
  // Returns a race if the CPU releases bytes that operations use, and has not observed their completion. Ignores
  // devices for which works() is false.
  template <class Works>
  finding release(const void* p, std::size_t bytes, Works works);
  void forget(const void* p, std::size_t bytes);

  vector_clock cpu;  // joint clock of all CPU threads' waits

 private:
  struct cell {
    std::uintptr_t end = 0;
    std::optional<actor> write = {};
    std::vector<actor> reads = {};  // after the write
  };
  using cells = std::map<std::uintptr_t, cell>;  // by first byte; no two overlap
  void cut(std::uintptr_t at);
  finding use(const actor& who, const vector_clock& known, const kernel_use& u);
  static finding in_use(const actor& by, bool writes, std::uintptr_t begin, std::uintptr_t end);

  cells cells_;
  friend struct clock_line;
  struct closed_line {
    std::size_t index;
    std::uint64_t tick;
  };
  static constexpr std::size_t cpu_line = 0;
  std::uint64_t cpu_tick_ = 0;
  std::size_t lines_ = 1;
  std::vector<closed_line> closed_;
};

template <class Works>
race_checker::finding race_checker::release(const void* p, std::size_t bytes, Works works) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p), end = begin + bytes;
  const auto is_open = [&](const actor& a) { return !cpu.knows(a.line, a.tick) && works(a.device); };
  cut(begin), cut(end);
  for (auto c = cells_.lower_bound(begin); c != cells_.end() && c->first < end; ++c) {
    if (c->second.write && is_open(*c->second.write)) return in_use(*c->second.write, true, c->first, c->second.end);
    for (const actor& r : c->second.reads)
      if (is_open(r)) return in_use(r, false, c->first, c->second.end);
  }
  return {};
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
