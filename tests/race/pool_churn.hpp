// Random work on arrays of pools, which finds bytes that a pool reuses too early; and a backend that counts refusals.
#pragma once
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ferry/core.hpp>
#include <ferry/core/detail/backend/pool_backend.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/counting_backend.hpp"
#include "support/forwarding_pools.hpp"

namespace fr = ferry;

namespace pools {

using u32 = std::uint32_t;
using view = fr::array_view<u32, 1, fr::memory_kind::device>;

struct count_from {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* x) const { x[i] = k + static_cast<u32>(i); }
};
struct differs {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const u32* x, u32* bad) const {
    if (x[i] != k + static_cast<u32>(i)) *bad = 1;
  }
};

inline constexpr fr::pool_kind kinds[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                          fr::pool_kind::none};
inline constexpr fr::memory_kind memory_kinds[] = {fr::memory_kind::device, fr::memory_kind::unified,
                                                   fr::memory_kind::host};

// A pool that drops the access history of its bytes, as pools without stream order do.
class blind_pool final : public fr::detail::memory_pool {
 public:
  explicit blind_pool(fr::detail::memory_pool& below)
      : memory_pool(fr::runtime::current().memory(), below.kind(), below.device(), below.options()),
        below_(below) {}
  fr::detail::allocation_ref allocate(std::size_t bytes) override {
    fr::detail::allocation_ref r = below_.allocate(bytes);
    r.get().history.clip_to({});
    return r;
  }
  void deallocate(fr::detail::allocation& a) noexcept override { below_.deallocate(a); }
  std::size_t release_cached(fr::detail::release_depth how) override { return below_.release_cached(how); }
  fr::detail::request_cost cost_of(std::size_t bytes) const override { return below_.cost_of(bytes); }
  fr::detail::trimmable_bytes trimmable() const override { return below_.trimmable(); }
  fr::detail::source_state state() const override { return below_.state(); }
  fr::pool_statistics statistics() const override { return below_.statistics(); }

 private:
  fr::detail::memory_pool& below_;
};

// Randomly allocates from the pools, fills, reads and frees, on streams of several devices. Each read records whether
// it found the written value. Apart from memory reuse by the pools, the operations never conflict.
class churn {
 public:
  churn(fr::detail::memory_pool& pool, u32 seed, std::size_t operations)
      : churn(std::vector{&pool}, seed, operations) {}
  churn(std::vector<fr::detail::memory_pool*> pools, u32 seed, std::size_t operations)
      : pools_(std::move(pools)),
        random_(seed),
        operations_(operations),
        bad_({operations}, 0u) {
    for (std::size_t i = 0; i < 4; ++i) streams_.emplace_back(fr::devices()[i % fr::devices().size()]);
  }
  // Returns how many reads found wrong values.
  std::size_t run() {
    for (std::size_t i = 0; i < operations_; ++i) {
      const auto dice = below(100);
      if (live_.empty() || (dice < 45 && live_.size() < 16))
        add(static_cast<u32>(i) * 65536);
      else if (dice < 65)
        read(below(live_.size()), i);
      else
        drop(below(live_.size()), i);
      if (i % 1000 == 999) any_stream().synchronize();  // limits the pending simulated work
    }
    live_.clear();
    std::size_t count = 0;
    for (const u32 b : std::as_const(bad_)) count += b;
    return count;
  }

 private:
  struct held {
    view v;
    u32 k;
  };
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  fr::stream_ref any_stream() { return streams_[below(streams_.size())]; }
  void add(u32 k) {
    const std::size_t n = 1 + below(below(4) ? 64 : 3000);
    fr::detail::memory_pool& pool = pools_.size() == 1 ? *pools_.front() : *pools_[below(pools_.size())];
    fr::detail::allocation_ref bytes = pool.allocate(n * sizeof(u32));
    auto* const data = reinterpret_cast<u32*>(bytes.get().begin);
    live_.push_back({view(std::move(bytes), data, fr::extents<1>{n}, {1}), k});
    fr::parallel_for(any_stream(), n, count_from{k}, fr::out(live_.back().v));
  }
  void read(std::size_t which, std::size_t note) {
    const held& h = live_[which];
    auto flag = bad_.slice({note, note + 1});
    fr::parallel_for(any_stream(), h.v.size(), differs{h.k}, fr::in(h.v), flag);
  }
  void drop(std::size_t which, std::size_t note) {
    if (below(2)) read(which, note);
    std::swap(live_[which], live_.back());
    live_.pop_back();
  }
  const std::vector<fr::detail::memory_pool*> pools_;
  std::mt19937 random_;
  const std::size_t operations_;
  fr::unified_array<u32> bad_;
  std::vector<fr::stream> streams_;
  std::vector<held> live_;
};

// The simulator, with its allocations and refusals counted.
class asked_backend : public support::counting_backend {
 public:
  struct counts {
    std::size_t all = 0, refused = 0;
    template <class Ask>
    void* ask(Ask ask) {
      ++all;
      try {
        return ask();
      } catch (const fr::out_of_memory&) {
        ++refused;
        throw;
      }
    }
  };
  asked_backend(fr::detail::backend& below, counts& asked)
      : counting_backend(below, calls_),
        asked_(asked),
        pools_(*below.pools(), asked) {}
  void* allocate(fr::memory_kind k, int d, std::size_t bytes) override {
    return asked_.ask([&] { return counting_backend::allocate(k, d, bytes); });
  }
  fr::detail::pool_backend* pools() override { return &pools_; }

 private:
  class asked_pools : public support::forwarding_pools {
   public:
    asked_pools(fr::detail::pool_backend& below, counts& asked) : forwarding_pools(below), asked_(asked) {}
    void* allocate(fr::detail::native_pool p, std::size_t bytes, fr::native_stream s) override {
      return asked_.ask([&] { return forwarding_pools::allocate(p, bytes, s); });
    }

   private:
    counts& asked_;
  };
  support::call_counts calls_;
  counts& asked_;
  asked_pools pools_;
};

inline fr::pool_options small(fr::pool_kind k) {
  fr::pool_options o{64, 1024, 16384};
  o.kind = k;
  return o;
}

inline std::string random_devices(u32 seed) { return "devices=3;memory=16MiB;schedule=random:" + std::to_string(seed); }

// Describes what is left in a pool after everything was freed and trimmed.
inline std::string left_in(fr::detail::memory_pool& pool) {
  pool.trim();
  const fr::pool_statistics s = pool.statistics();
  if (s.allocated_bytes == 0 && s.reserved_bytes == 0 && s.allocations == 0 && s.blocks == 0) return "";
  return std::to_string(s.allocated_bytes) + " bytes allocated, " + std::to_string(s.reserved_bytes) + " reserved, " +
         std::to_string(s.allocations) + " allocations, " + std::to_string(s.blocks) + " blocks";
}

template <class Body>
void each_pool(Body body) {
  for (const fr::pool_kind k : kinds)
    for (const fr::memory_kind m : memory_kinds) {
      BOOST_TEST_CONTEXT(fr::pool_kind_name(k) << " pool of " << fr::kind_name(m) << " memory") body(k, m);
    }
}

}  // namespace pools
