// Arrays destroyed inside a submission never wait, whatever other threads do to memory meanwhile.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ferry/core.hpp>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "support/busy_stream.hpp"

namespace fr = ferry;

namespace memory_deferred_frees {
namespace {

using namespace std::chrono_literals;

// Another thread in the middle of an operation that ends with the stream's work. The destructor, or a timeout of two
// seconds, releases the stream, so that a wait fails the test instead of hanging.
class long_work {
 public:
  template <class F>
  long_work(support::busy_stream& busy, F f) : busy_(busy),
                                               worker_(f) {
    std::this_thread::sleep_for(100ms);  // it holds its locks here
    watch_ = std::jthread([this](const std::stop_token& stop) {
      for (int i = 0; i < 200 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(10ms);
      busy_.release();
    });
  }
  long_work(const long_work&) = delete;
  long_work& operator=(const long_work&) = delete;
  ~long_work() { watch_.request_stop(); }

 private:
  support::busy_stream& busy_;
  std::jthread worker_, watch_;
};

// Destroys arrays where no work can be enqueued.
template <class... Arrays>
void destroy_inside_a_submission(Arrays&... gone) {
  const fr::stream s;
  fr::device_array<int> y({10});
  fr::submit(
      s, [&](fr::native_stream, int*) { (gone.reset(), ...); }, y);
}

}  // namespace
}  // namespace memory_deferred_frees

BOOST_AUTO_TEST_SUITE(memory_deferred_frees)

BOOST_AUTO_TEST_CASE(beside_a_thread_that_checks_memory) {
  fr::simulation sim("devices=1;memory=64MiB;schedule=random:1");
  fr::workspace w;
  const fr::stream slow, other;
  fr::device_array<int> plain({10});
  {
    const fr::memory_checks_scope on;
    fr::device_array<int> x({1000});
    std::optional<fr::device_array<int>> a(fr::extents<1>(1000)), of_workspace;
    a->name("a");
    {
      const fr::workspace_scope iteration(w);
      of_workspace.emplace(fr::extents<1>(1000));
    }
    support::busy_stream busy(slow);
    fr::fill(slow, x, 1);
    {
      const long_work checking(busy, [] { (void)fr::check_memory(); });
      fr::submit(
          other, [&](fr::native_stream, int*) { a.reset(), of_workspace.reset(); }, plain);
      BOOST_TEST(busy.is_busy());
    }
    busy.release();
    slow.synchronize();
    const auto next = fr::device_array<int>({1000});  // the freed blocks enter the quarantine
    BOOST_TEST(fr::memory_use().devices[0].kinds[0].quarantined_bytes > 0u);
    BOOST_TEST(w.statistics().in_use == 0u);
    BOOST_TEST(fr::check_memory().empty());
  }
  w.clear();
}

BOOST_AUTO_TEST_CASE(beside_a_thread_that_ends_a_borrow) {
  fr::simulation sim("devices=1;memory=64MiB;schedule=random:1");
  fr::detail::backend& backend = sim.get().backend();
  constexpr std::size_t n = 300, bytes = n * sizeof(int);
  std::vector<int> v(n);
  const std::span<int> all(v);
  const fr::stream slow;
  int deleted = 0;
  const auto adopt = [&](auto deleter) {
    return std::optional(fr::adopt(static_cast<int*>(backend.allocate(fr::memory_kind::device, 0, bytes)), n, deleter));
  };
  const auto give_back = [&](int* p) {
    backend.release(fr::memory_kind::device, 0, p, bytes);
    ++deleted;
  };
  auto a = adopt(give_back), b = adopt([&](int*p, fr::stream_ref s) { s.synchronize(), give_back(p); });
  auto first = fr::pin(all.first(200));
  std::optional<fr::pinned<int>> second = fr::pin(all.subspan(100));  // shares a registration with the first
  {
    support::busy_stream busy(slow);
    auto used = first.slice({0, 50});
    fr::fill(slow, used, 1);
    const long_work ending(busy, [&] { second.reset(); });
    destroy_inside_a_submission(a, b);
    BOOST_TEST(busy.is_busy());
    BOOST_TEST(deleted == 0);
    busy.release();
  }
  slow.synchronize();
  const auto last = adopt(give_back);  // runs the deferred deleters
  BOOST_TEST(deleted == 2);
}

BOOST_AUTO_TEST_SUITE_END()
