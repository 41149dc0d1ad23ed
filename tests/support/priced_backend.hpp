// A simulated backend with a deterministic cost model for page migration and remote access: costs are computed, not
// measured.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <ferry/core/detail/backend/sim_options.hpp>
#include <ferry/core/runtime.hpp>

#include "sim/sim_backend.hpp"
#include "support/counting_backend.hpp"

namespace support {

namespace detail {
struct priced_parts {
  explicit priced_parts(std::unique_ptr<ferry::detail::backend> b) : sim(std::move(b)) {}
  std::unique_ptr<ferry::detail::backend> sim;
  call_counts calls;
};
}  // namespace detail

// Eager schedules only: requires that a kernel is complete when launch() returns.
class priced_backend final : private detail::priced_parts, public counting_backend {
 public:
  // Milliseconds per MiB. by_fault counts the whole pages that the faults move.
  static constexpr double by_prefetch = 1, by_fault = 6, remote = 1.5, duplicate = 1;

  explicit priced_backend(std::string_view options)
      : priced_parts(ferry::detail::sim::make_backend(ferry::detail::sim::parse_options(options))),
        counting_backend(*sim, calls) {}

  double milliseconds() const { return other_ + mebibytes(look().moved().prefetched) * by_prefetch; }
  // Adds the cost of a CPU write whose page faults fetch the bytes, because the simulator does not see CPU accesses.
  void cpu_writes(const void* p, std::size_t bytes) {
    other_ += mebibytes(bytes_not_on(-1, {static_cast<const std::byte*>(p), bytes, true, true})) * by_fault;
  }

  ferry::native_stream create_stream(int device, int priority) override {
    const ferry::native_stream s = counting_backend::create_stream(device, priority);
    devices_[s.handle] = device;
    return s;
  }
  void launch(ferry::native_stream s, const ferry::detail::host_kernel& k) override {
    const std::vector<ferry::detail::kernel_use> uses(k.uses.begin(), k.uses.end());
    const int device = devices_.at(s.handle);
    std::vector<std::size_t> before;
    for (const ferry::detail::kernel_use& u : uses) before.push_back(bytes_not_on(device, u));
    counting_backend::launch(s, k);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::size_t came = before[i] - bytes_not_on(device, uses[i]);
      other_ += mebibytes((came + page - 1) / page * page) * by_fault;
      reach(device, uses[i]);
    }
  }
  void advise(void* p, std::size_t n, ferry::memory_advice a, ferry::memory_location at) override {
    counting_backend::advise(p, n, a, at);
    const auto* b = static_cast<const std::byte*>(p);
    if (a == ferry::memory_advice::read_mostly) read_mostly_.insert({b, b + n});
    if (a == ferry::memory_advice::unset_read_mostly)
      std::erase_if(read_mostly_, [&](const auto& r) { return overlap(r, {b, b + n}); });
  }

 private:
  using range = std::pair<const std::byte*, const std::byte*>;
  static constexpr std::size_t page = std::size_t{2} << 20;
  static bool overlap(range a, range b) { return a.first < b.second && b.first < a.second; }
  static double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
  const ferry::detail::sim::inspector& look() const { return dynamic_cast<const ferry::detail::sim::inspector&>(*sim); }

  std::size_t bytes_not_on(int who, const ferry::detail::kernel_use& u) const {
    std::size_t elsewhere = 0;
    for (const auto& [device, n] : look().residency(u.begin, u.bytes)) elsewhere += device == who ? 0 : n;
    return elsewhere;
  }
  // Adds the cost of reading bytes that are elsewhere: remote access, or one duplication if the range is read-mostly
  // and only read.
  void reach(int who, const ferry::detail::kernel_use& u) {
    const range bytes{u.begin, u.begin + u.bytes};
    if (u.writes) std::erase_if(copies_, [&](const auto& c) { return overlap(c.second, bytes); });
    const std::size_t elsewhere = bytes_not_on(who, u);
    if (elsewhere == 0) return;
    const bool copied = !u.writes && std::any_of(read_mostly_.begin(), read_mostly_.end(), [&](const range& r) {
      return r.first <= bytes.first && bytes.second <= r.second;
    });
    if (!copied)
      other_ += mebibytes(elsewhere) * remote;
    else if (copies_.insert({who, bytes}).second)
      other_ += mebibytes(elsewhere) * duplicate;
  }

  std::map<void*, int> devices_;
  std::set<range> read_mostly_;
  std::set<std::pair<int, range>> copies_;
  double other_ = 0;
};

}  // namespace support
