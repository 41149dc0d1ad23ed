// Ordering of work on borrowed memory, workspace blocks and checked blocks, under many schedules.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/counting_backend.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace foreign_memory {
namespace {

using u32 = std::uint32_t;
constexpr std::size_t n = 200;
constexpr std::size_t bytes = n * sizeof(u32);

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] += 1; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const u32* x, u32* y) const { y[i] += x[i]; }
};
struct set_to {
  u32 value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] = value; }
};

fr::detail::backend& backend() { return fr::runtime::current().backend(); }
fr::stream stream_on(std::size_t device) { return fr::stream(fr::devices()[device % fr::devices().size()]); }

// Simulated: runs the body in a new runtime for each seed, until one fails. On real devices: runs it five times.
template <class Body>
void over_seeds(unsigned count, Body body) {
  const bool simulated = fr::runtime::current().is_simulated();
  for (unsigned seed = 0; seed < (simulated ? support::seeds(count) : 5); ++seed) {
    std::unique_ptr<fr::simulation> sim;
    if (simulated) sim = std::make_unique<fr::simulation>("devices=2;schedule=random:" + std::to_string(seed));
    const bool right = body();
    BOOST_TEST(right, "other elements than expected, seed " << seed);
    if (!right) return;
  }
}

// Backend memory that belongs to no array.
struct foreign {
  u32* p = static_cast<u32*>(backend().allocate(memory_kind::device, 0, bytes));
  foreign() = default;
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;
  ~foreign() {
    if (p) backend().release(memory_kind::device, 0, p, bytes);
  }
};

// Work that ferry does not track.
void set_unseen(fr::stream_ref s, u32* p, u32 value) {
  backend().fill_strided(s.native(), {reinterpret_cast<std::byte*>(p), {4}}, {4, 1, {n}}, &value);
}
void busy(fr::stream_ref s) {
  for (u32 i = 0; i < 4; ++i) backend().run_on_host(s.native(), [] {});
}
std::vector<u32> seen_on(fr::stream_ref s, const u32* p) {
  std::vector<u32> v(n);
  backend().copy(s.native(), v.data(), p, bytes);
  s.synchronize();
  return v;
}
bool all_are(const std::vector<u32>& v, u32 value) { return v == std::vector<u32>(n, value); }

// Calls a function, once, when ferry queries a pointer's attributes or is about to wait for an event.
class interrupted_backend : public support::counting_backend {
 public:
  using counting_backend::counting_backend;
  std::function<void()> when_asked;
  fr::detail::pointer_attributes attributes(const void* p) override {
    if (when_asked) std::exchange(when_asked, nullptr)();
    return counting_backend::attributes(p);
  }
  std::function<void()> when_waiting;  // before it waits for an event
  void synchronize(fr::native_event e) override {
    if (when_waiting) std::exchange(when_waiting, nullptr)();
    counting_backend::synchronize(e);
  }
  using counting_backend::synchronize;
};

// Captures a stream on another thread, from construction to destruction.
class captured_elsewhere {
 public:
  explicit captured_elsewhere(fr::stream_ref s) {
    thread_ = std::jthread([this, s] {
      try {
        (void)fr::capture(s, [&] {
          for (began_ = true; !over_;) std::this_thread::yield();
        });
      } catch (const fr::error& e) {
        BOOST_ERROR(e.what());
      }
      began_ = true;
    });
    while (!began_) std::this_thread::yield();
  }
  captured_elsewhere(const captured_elsewhere&) = delete;
  captured_elsewhere& operator=(const captured_elsewhere&) = delete;
  ~captured_elsewhere() { over_ = true; }

 private:
  std::atomic<bool> began_{false}, over_{false};
  std::jthread thread_;  // joined first
};

}  // namespace
}  // namespace foreign_memory

BOOST_AUTO_TEST_SUITE(foreign_memory)

BOOST_AUTO_TEST_CASE(a_borrow_comes_after_the_stream_that_it_names) {
  over_seeds(40, [] {
    const foreign memory;
    fr::stream theirs = stream_on(0), ours = stream_on(0);
    busy(theirs);
    set_unseen(theirs, memory.p, 7);
    auto v = fr::borrow(memory.p, n, {.stream = theirs});
    fr::parallel_for(ours, n, add_one{}, v);
    return all_are(fr::to_vector(v), 8);
  });
}

// R18: while a borrow names a user's stream, another thread captures or releases that stream. The borrow then records
// no event: the stream's last event covers all its work.
BOOST_AUTO_TEST_CASE(a_borrow_does_not_mark_a_stream_that_rests_by_then) {
  for (const bool captured : {true, false})
    for (std::size_t seed = 0; seed < support::seeds(10); ++seed) {
      const fr::simulation below("devices=2;schedule=random:" + std::to_string(seed));
      support::call_counts calls;
      auto made = std::make_unique<interrupted_backend>(backend(), calls);
      interrupted_backend& interrupted = *made;
      const fr::runtime_scope scope(std::move(made));
      const foreign memory;
      const fr::native_stream native = backend().create_stream(0, 0);
      const fr::stream_ref theirs = fr::stream_ref::from_native(fr::devices()[0], native);
      fr::stream ours = stream_on(0);
      busy(theirs);
      set_unseen(theirs, memory.p, 7);
      std::unique_ptr<captured_elsewhere> capture;
      long records = 0;
      interrupted.when_asked = [&] {
        if (captured)
          capture = std::make_unique<captured_elsewhere>(theirs);
        else
          fr::stream_ref(theirs).release(), backend().destroy_stream(native);
        records = calls.records;
      };
      auto v = fr::borrow(memory.p, n, {.stream = theirs});
      BOOST_TEST_REQUIRE(calls.records == records, (captured ? "captured" : "released") << ", seed " << seed);
      fr::parallel_for(ours, n, add_one{}, v);
      BOOST_TEST(all_are(fr::to_vector(v), 8), (captured ? "captured" : "released") << ", seed " << seed);
    }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_borrow_waits_for_its_work) {
  over_seeds(40, [] {
    const foreign memory;
    fr::stream a = stream_on(0), other = stream_on(0);
    {
      auto v = fr::borrow(memory.p, n);
      busy(a);
      fr::parallel_for(a, n, set_to{5}, fr::out(v));
    }
    return all_are(seen_on(other, memory.p), 5);  // a stream without dependencies
  });
}

BOOST_AUTO_TEST_CASE(a_borrow_that_is_handed_back_comes_before_the_stream) {
  over_seeds(40, [] {
    const foreign memory;
    fr::stream theirs = stream_on(0), a = stream_on(0);
    auto v = fr::borrow(memory.p, n, {.stream = theirs});
    busy(a);
    fr::parallel_for(a, n, set_to{5}, fr::out(v));
    v.give_back(theirs);
    return all_are(seen_on(theirs, memory.p), 5);
  });
}

BOOST_AUTO_TEST_CASE(borrows_of_the_same_bytes_are_ordered) {
  over_seeds(40, [] {
    const foreign memory;
    fr::stream a = stream_on(0), b = stream_on(0);
    auto whole = fr::borrow(memory.p, n);
    auto again = fr::borrow(memory.p, n);
    busy(a);
    fr::parallel_for(a, n, set_to{5}, fr::out(whole));
    fr::parallel_for(b, n, add_one{}, again);
    return all_are(fr::to_vector(whole), 6);
  });
}

// Another thread borrows the same bytes again and names the stream, while this thread enqueues work on it.
BOOST_AUTO_TEST_CASE(a_second_borrow_hides_no_work_given_meanwhile) {
  constexpr u32 times = 60;
  over_seeds(60, [] {
    const foreign memory, total;
    fr::stream s = stream_on(0), t = stream_on(0);
    set_unseen(s, memory.p, 0), set_unseen(t, total.p, 0);
    auto v = fr::borrow(memory.p, n, {.stream = s});
    auto sum = fr::borrow(total.p, n, {.stream = t});
    std::thread other([&] {
      for (u32 i = 0; i < times; ++i) const auto again = fr::borrow(memory.p, n, {.stream = s});
    });
    for (u32 i = 0; i < times; ++i) {
      fr::parallel_for(s, n, add_one{}, v);
      fr::parallel_for(t, n, add_from{}, fr::in(v), sum);
    }
    other.join();
    return all_are(fr::to_vector(sum), times * (times + 1) / 2);
  });
}

// A borrow with pending work ends while a larger borrow of the same bytes begins: as a new one, or by growing an
// existing one.
BOOST_AUTO_TEST_CASE(a_larger_borrow_comes_after_those_that_are_ending) {
  for (const bool grows : {false, true})
    for (unsigned seed = 0; seed < support::seeds(20); ++seed) {
      const fr::simulation below("devices=2;schedule=random:" + std::to_string(seed));
      support::call_counts calls;
      auto made = std::make_unique<interrupted_backend>(fr::runtime::current().backend(), calls);
      interrupted_backend& driver = *made;
      const fr::runtime_scope scope(std::move(made));
      auto* const p = static_cast<u32*>(driver.allocate(memory_kind::host, 0, 2 * bytes));
      {
        const fr::stream s{fr::device(0)}, t{fr::device(1)};
        using borrowed = decltype(fr::borrow<memory_kind::host>(p, n));
        std::optional<borrowed> left, all;
        if (grows) {
          left.emplace(fr::borrow<memory_kind::host>(p, n));
          fr::fill(*left, 1U);
          BOOST_TEST(std::as_const(*left)[0] == 1U);
        }
        auto right = fr::borrow<memory_kind::host>(p + n, n);
        fr::host_array<u32> copied({n}, 0U);
        fr::parallel_for(s, n, set_to{1}, right);
        BOOST_TEST(std::as_const(right)[0] == 1U);
        for (int i = 0; i < 10; ++i) fr::parallel_for(s, n, set_to{7}, right);
        bool interrupted = false;
        driver.when_waiting = [&] {
          interrupted = true;
          all.emplace(fr::borrow<memory_kind::host>(p, 2 * n));
          fr::copy(t, all->slice({n, 2 * n}), copied);
          BOOST_TEST(std::as_const(*all)[2 * n - 1] == 7U);
        };
        right.give_back();
        driver.when_waiting = nullptr;
        BOOST_TEST((seed > 0 || interrupted));
        if (interrupted) BOOST_TEST(std::as_const(copied)[0] == 7U);
      }
      driver.release(memory_kind::host, 0, p, 2 * bytes);
    }
}

BOOST_AUTO_TEST_CASE(a_deleter_runs_when_the_work_is_over) {
  over_seeds(40, [] {
    auto memory = std::make_unique<foreign>();
    std::vector<u32> last(n);
    fr::stream a = stream_on(0), other = stream_on(0);
    bool called = false;
    {
      auto x = fr::adopt(memory->p, n, [&](u32* p) {
        last = seen_on(other, p);
        called = true;
      });
      busy(a);
      fr::parallel_for(a, n, set_to{9}, fr::out(x));
    }
    a.synchronize();
    return called && all_are(last, 9);
  });
}

BOOST_AUTO_TEST_CASE(a_deleter_gets_a_stream_that_comes_after_the_work) {
  over_seeds(40, [] {
    const foreign memory;
    std::vector<u32> last(n);
    fr::stream a = stream_on(0);
    {
      auto x = fr::adopt(memory.p, n, [&](u32* p, fr::stream_ref s) { last = seen_on(s, p); });
      busy(a);
      fr::parallel_for(a, n, set_to{9}, fr::out(x));
    }
    return all_are(last, 9);
  });
}

// The two pins share a registration, which is split while one of them is in use.
BOOST_AUTO_TEST_CASE(a_pin_that_goes_leaves_the_work_of_others_alone) {
  over_seeds(40, [] {
    std::vector<u32> v(2 * n, 1);
    fr::stream a = stream_on(0);
    fr::device_array<u32> x({n}, 3u);
    auto left = fr::pin(std::span(v).subspan(0, n + 10));
    auto right = std::make_unique<fr::pinned<u32>>(fr::pin(std::span(v).subspan(n, n)));
    busy(a);
    fr::copy(a, x, left.slice({0, n}));
    right.reset();  // `left` is registered again, after the copy
    return all_are({left.cbegin(), left.cbegin() + n}, 3);
  });
}

BOOST_AUTO_TEST_CASE(blocks_of_workspaces_are_ordered_by_their_logs) {
  over_seeds(40, [] {
    fr::workspace w;
    fr::stream a = stream_on(0), b = stream_on(1);
    fr::device_array<u32> sum({n}, fr::device(0));
    fr::fill(sum, 0);
    for (u32 step = 0; step < 6; ++step) {
      const fr::workspace_scope use(w);
      fr::device_array<u32> x({n}, fr::device(0));
      fr::parallel_for(step % 2 ? a : b, n, set_to{step}, fr::out(x));
      fr::parallel_for(step % 3 ? a : b, n, add_from{}, fr::in(x), sum);
    }
    return all_are(fr::to_vector(sum), 15);
  });
}

// Poison fills and red-zone copies run after all uses, and before the next owner's work.
BOOST_AUTO_TEST_CASE(checked_blocks_are_ordered_by_their_logs) {
  over_seeds(60, [] {
    const fr::memory_checks_scope on(fr::memory_checks{.quarantine_blocks = 1});
    fr::stream a = stream_on(0), b = stream_on(1);
    fr::device_array<u32> sum({n}, 0u, fr::device(0));
    for (u32 step = 0; step < 6; ++step) {
      fr::device_array<u32> x({n}, fr::device(0));
      busy(step % 2 ? a : b);
      fr::parallel_for(step % 2 ? a : b, n, set_to{step}, fr::out(x));
      fr::parallel_for(step % 3 ? a : b, n, add_from{}, fr::in(x), sum);
    }
    const bool right = all_are(fr::to_vector(sum), 15);
    return right && fr::check_memory().empty();
  });
}

BOOST_AUTO_TEST_SUITE_END()
