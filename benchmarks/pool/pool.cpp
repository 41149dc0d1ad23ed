// as: host
// Costs of memory management: an allocation and its free, arrays, several threads, and RMM's pattern of random
// allocations, with the peak that each pool reserves. Baselines are the driver's pool (cudaMallocAsync), and PyTorch's
// allocator if FERRY_PYTORCH_RESULTS names a file written by pytorch_baseline.py.
#include <benchmark/benchmark.h>

#include <barrier>
#include <thread>

#include <ferry/core.hpp>
#include <ferry/core/leaks.hpp>

#include "../support/null_backend.hpp"
#include "../support/suite.hpp"
#include "driver_calls.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "pytorch_results.hpp"
#include "random_pattern.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// One repetition by `threads` threads is one by each. The result is the time of all threads' repetitions divided by
// their number.
template <class Body>
bm::timed by_threads(unsigned threads, Body body) {
  return [=](std::size_t n) {
    std::barrier start(static_cast<std::ptrdiff_t>(threads) + 1);
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < threads; ++t)
      all.emplace_back([&] {
        body();
        start.arrive_and_wait();
        for (std::size_t i = 0; i < n; ++i) body();
      });
    start.arrive_and_wait();
    const auto begin = std::chrono::steady_clock::now();
    all.clear();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / threads;
  };
}

// Uses the array on a stream, so that its access history is not empty.
void use(const fr::stream& s, const fr::detail::allocation_ref& bytes) {
  fr::detail::access one{&bytes.get(), bytes.get().range(), true};
  fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&one, 1}));
}

class questions {
 public:
  questions(std::string below, fr::pool_kind kind)
      : below_(std::move(below)),
        kind_(kind),
        stream_(fr::device(0)),
        pool_(fr::device(0), {.kind = kind}),
        memory_(pool_.of(fr::memory_kind::device)) {}

  void add_to(bm::suite& s, bm::driver_calls* driver, const bm::pytorch_results& pytorch) {
    for (const std::size_t bytes : {4 * KiB, MiB, 100 * MiB}) {
      // As in a program: each time on the stream that used the block last, whose work may still be pending as far as
      // ferry has observed.
      const auto ours = [this, bytes, pairs = bm::on_cpu([this, bytes] { memory_.allocate(bytes); })](std::size_t n) {
        use(stream_, memory_.allocate(bytes));
        return pairs(n);
      };
      const std::string what = "allocate and free " + size(bytes);
      const bm::bound most = fast() ? bm::bound::value_at_most(100, "ns") : bm::bound::none();
      if (driver)
        s.add({name(what), "ns", ours, "cudaMallocAsync, cudaFreeAsync",
               bm::on_cpu([driver, bytes] { driver->free(driver->allocate(bytes)); }), most});
      else
        s.add({name(what), "ns", ours, "", {}, most});
      if (driver && fast())
        s.add({name(what + ", against the driver"), "ns", ours, "cudaMallocAsync, cudaFreeAsync",
               bm::on_cpu([driver, bytes] { driver->free(driver->allocate(bytes)); }), bm::bound::ratio_at_most(0.25)});
      if (const auto t = pytorch.value("allocate and free " + size(bytes)); t && fast())
        s.add({name(what + ", against PyTorch"), "ns", ours, "PyTorch's C++ allocator",
               [t = *t](std::size_t n) { return t * 1e-9 * static_cast<double>(n); },
               bm::bound::ratio_at_most(1 / 2.4)});
    }
    s.add({name("device_array, made and destroyed"),
           "ns",
           bm::on_cpu([this] {
             fr::pool_scope scope(pool_);
             fr::device_array<float> a({1024});
             benchmark::DoNotOptimize(a.unsynchronized_data());
           }),
           "",
           {},
           fast() ? bm::bound::value_at_most(200, "ns") : bm::bound::none()});
    const unsigned cores = std::thread::hardware_concurrency();
    const auto pair = [this] { memory_.allocate(4 * KiB); };
    // Threads without streams: nothing to wait for.
    const auto settled = [this](bm::timed threads) {
      return [this, threads](std::size_t n) {
        stream_.synchronize();
        return threads(n);
      };
    };
    s.add({name("8 threads that allocate and free, one of all"), "ns", settled(by_threads(8, pair)), "1 thread",
           settled(by_threads(1, pair)), fast() && cores >= 8 ? bm::bound::ratio_at_most(0.25) : bm::bound::none()});
  }

 private:
  bool fast() const { return kind_ == fr::pool_kind::split || kind_ == fr::pool_kind::binned; }
  static std::string size(std::size_t bytes) {
    return bytes < MiB ? std::to_string(bytes / KiB) + " KiB" : std::to_string(bytes / MiB) + " MiB";
  }
  std::string name(const std::string& what) const {
    return what + " (" + fr::pool_kind_name(kind_) + ", " + below_ + ")";
  }
  const std::string below_;
  const fr::pool_kind kind_;
  fr::stream stream_;
  fr::pool pool_;
  fr::detail::memory_pool& memory_;
};

// Two runtimes on the null backend: one had leak tracking with stacks on before, the other never had.
void allocations_after_tracking(bm::suite& s) {
  fr::runtime_scope without(std::make_unique<bm::null_backend>(), {.kind = fr::pool_kind::split});
  fr::runtime_scope with(std::make_unique<bm::null_backend>(), {.kind = fr::pool_kind::split});
  const auto pairs = [](fr::runtime_scope& m) {
    fr::detail::memory_pool& pool = m.get().pool(fr::memory_kind::device, 0);
    return bm::on_cpu([&pool] { pool.allocate(4 * KiB); });
  };
  fr::track_leaks(fr::leak_mode::stacks);
  (void)pairs(with)(1000);
  fr::track_leaks(fr::leak_mode::off);
  const bm::comparison question{
      "allocate and free 4 KiB, after leaks were tracked with stacks and switched off again (split, null)",
      "ns",
      pairs(with),
      "never tracked",
      pairs(without),
      bm::bound::ratio_at_most(1.05)};
  bm::rounds measured(question, 0.5e-3);
  for (int i = 0; i < 401; ++i) (void)measured.once();
  s.state(measured.get());
}

// Time in seconds and peak reserved bytes of one run of the pattern, in a pool that has already run it once.
struct random_result {
  double seconds = 0, cold_seconds = 0;
  std::size_t peak = 0;
};
template <class Allocate, class Free, class Reserved>
random_result measure(const bm::random_pattern& pattern, Allocate allocate, Free free, Reserved reserved) {
  random_result r;
  const auto once = [&](auto get) {
    const auto begin = std::chrono::steady_clock::now();
    pattern.run(get, free);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  r.cold_seconds = once(allocate);
  r.seconds = once(allocate);
  r.peak = reserved();
  return r;
}

std::size_t most_held(const bm::random_pattern& pattern) {
  std::size_t now = 0, most = 0;
  pattern.run([&](std::size_t n) { return now += n, most = std::max(most, now), n; }, [&](std::size_t n) { now -= n; });
  return most;
}

void random_allocations(bm::suite& s, bm::driver_calls& driver, const bm::pytorch_results& pytorch) {
  const std::size_t memory = fr::devices()[0].memory().free_bytes;
  for (const std::size_t mib : {std::size_t{1}, std::size_t{64}, std::size_t{1024}}) {
    bm::random_pattern pattern;
    pattern.largest = mib * MiB;
    pattern.most_held = std::min(memory / 8 * 5, 87 * GiB);
    const auto held = static_cast<double>(most_held(pattern));
    const std::string to = "random sizes to " + std::to_string(mib) + " MiB";
    const random_result theirs = measure(
        pattern, [&](std::size_t n) { return driver.allocate(n); }, [&](void* p) { driver.free(p); },
        [&] { return driver.most_reserved(); });
    driver.trim();
    const auto state = [&](const std::string& what, double value, const char* unit, const std::string& baseline,
                           double other, bm::bound limit) {
      s.state({what, unit, value, baseline, other, other > 0 ? value / other : 0, 0, limit});
    };
    state("time, " + to + " (driver)", theirs.seconds * 1e9 / 1e5, "ns", "", 0, bm::bound::none());
    state("peak, " + to + " (driver)", static_cast<double>(theirs.peak) / held, "", "", 0, bm::bound::none());
    for (const fr::pool_kind kind : {fr::pool_kind::split, fr::pool_kind::binned}) {
      fr::pool pool(fr::device(0), {.kind = kind});
      fr::detail::memory_pool& from = pool.of(fr::memory_kind::device);
      std::size_t peak = 0;
      const bool split = kind == fr::pool_kind::split;
      random_result ours;
      try {
        ours = measure(
            pattern, [&](std::size_t n) { return from.allocate(n); }, [&](fr::detail::allocation_ref& r) { r = {}; },
            [&] { return from.statistics().reserved_bytes; });
      } catch (const fr::out_of_memory&) {  // rounded up to powers of two, the sizes may not fit
        std::printf("%s: out of memory, %s\n", to.c_str(), fr::pool_kind_name(kind));
        pool.trim();
        continue;
      }
      peak = ours.peak;
      const std::string who = std::string(" (") + fr::pool_kind_name(kind) + ")";
      state("time, " + to + who, ours.seconds * 1e9 / 1e5, "ns", "driver", theirs.seconds * 1e9 / 1e5,
            bm::bound::ratio_at_most(0.5));
      state("time when new, " + to + who, ours.cold_seconds * 1e9 / 1e5, "ns", "driver",
            theirs.cold_seconds * 1e9 / 1e5, bm::bound::none());
      const double share = static_cast<double>(peak) / held;
      const double rival = std::max(static_cast<double>(theirs.peak), pytorch.value(to + " peak").value_or(0)) / held;
      bm::bound most = bm::bound::none();
      if (split)
        most = mib == 1024 ? bm::bound::ratio_at_most(1) : bm::bound::value_at_most(mib == 1 ? 1.05 : 1.25, "");
      state("peak, " + to + who, share, "", "driver or PyTorch", rival, most);
      if (const auto t = pytorch.value(to + " time"))
        state("time, " + to + who + " against PyTorch", ours.seconds * 1e9 / 1e5, "ns", "PyTorch", *t,
              bm::bound::none());
      pool.trim();
    }
  }
}

}  // namespace

// On simulated devices there is no baseline: measures ferry's own cost with the null backend.
int main(int argc, char** argv) {
  bm::suite s(argc, argv, {});
  fr::runtime& real = fr::runtime::current();
  const bool simulated = real.is_simulated();
  allocations_after_tracking(s);
  std::unique_ptr<fr::runtime_scope> nothing;
  if (simulated) nothing = std::make_unique<fr::runtime_scope>(std::make_unique<bm::null_backend>());
  std::unique_ptr<bm::driver_calls> driver;
  if (!simulated) driver = std::make_unique<bm::driver_calls>(real.backend());
  const bm::pytorch_results pytorch;
  std::vector<std::unique_ptr<questions>> all;
  for (const fr::pool_kind k : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::driver}) {
    if (simulated && k == fr::pool_kind::driver) continue;
    all.push_back(std::make_unique<questions>(simulated ? "null" : "cuda", k));
    all.back()->add_to(s, driver.get(), pytorch);
  }
  if (driver) random_allocations(s, *driver, pytorch);
  return s.run();
}
