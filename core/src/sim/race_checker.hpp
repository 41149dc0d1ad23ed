// Accesses that nothing orders, found whatever order the schedule took.
//
// Happens-before comes from the calls to the backend alone: the order of a stream, events, joint operations, graphs, and what
// the CPU has waited for. Each queue has a vector clock (Fidge 1988, Mattern 1989); of each byte are known the last write and
// the reads since, as in FastTrack (Flanagan and Freund 2009).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::sim {

// How far some lines have come, as far as somebody knows.
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

// What one operation touches.
struct footprint {
  std::string verb, name;  // "kernel", "axpy"
  std::vector<kernel_use> uses;
  bool begins_life = false;  // the bytes are new: nobody's earlier accesses count any more
};

class race_checker;

// A line of the clocks: operations in order, one behind the other. Serves again when nobody has it any more, and the CPU knows
// that they are over.
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
  // A race in words, empty if there is none, and the device of the access that came first.
  struct finding {
    std::string text;
    int device = -1;
  };
  // What is wrong with an access that comes after what `known` says.
  finding touch(const actor& who, const vector_clock& known);
  // The same for an access of the CPU, at this moment. What it does with the address later is not seen.
  finding touch_from_cpu(const std::shared_ptr<const footprint>& what);
  // What the CPU does not know to be over, of devices that work, and that uses bytes which the CPU takes away.
  template <class Works>
  finding release(const void* p, std::size_t bytes, Works works);
  void forget(const void* p, std::size_t bytes);

  vector_clock cpu;  // what its threads, all together, have waited for

 private:
  struct cell {
    std::uintptr_t end = 0;
    std::optional<actor> write = {};
    std::vector<actor> reads = {};  // since the write
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

}  // namespace ferry::sim
