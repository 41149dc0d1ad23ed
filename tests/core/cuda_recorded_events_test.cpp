// Events that are recorded again while a thread waits for them: CUDA's behaviour, and ferry's use of it.
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include <cuda_runtime_api.h>

#include <ferry/core.hpp>

#include "cuda_fixture.hpp"

using namespace cuda_test;

namespace cuda_recorded_events {
namespace {

// Blocks a stream until opened.
struct gate {
  std::atomic<bool> open{false};
  void in_the_way_of(native_stream s) {
    runtime::current().backend().run_on_host(s, [this] {
      while (!open) nap(1);
    });
  }
};

// Tests whether call() returns within 3 s on its own thread. The thread is joined after the gates are open.
class attempt {
 public:
  explicit attempt(const std::function<void()>& call)
      : thread_([this, call] {
          call();
          done_ = true;
        }) {}
  bool returns() const {
    for (int ms = 0; ms < 3000 && !done_; ++ms) nap(1);
    return done_;
  }
  void join() { thread_.join(); }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace
}  // namespace cuda_recorded_events

BOOST_AUTO_TEST_SUITE(cuda_recorded_events, *utf::precondition(needs_devices{1}))

// From the documentation of cudaEventRecord: an API call uses the event's most recent record at the time of the call.
// So cudaEventSynchronize waits for the first record only, and a later cudaEventQuery reports on the second.
BOOST_AUTO_TEST_CASE(an_event_recorded_again_stands_for_the_later_work) {
  backend& b = runtime::current().backend();
  gate first, second;
  const native_stream s = b.create_stream(0, 0);
  const native_event e = b.create_event(0, false);
  first.in_the_way_of(s);
  b.record(e, s);
  attempt by_cuda([&] { BOOST_TEST(cudaEventSynchronize(static_cast<cudaEvent_t>(e.handle)) == cudaSuccess); });
  attempt by_ferry([&] { b.synchronize(e); });
  nap(50);  // both wait
  second.in_the_way_of(s);
  b.record(e, s);
  first.open = true;
  BOOST_TEST(by_cuda.returns());
  BOOST_TEST(!b.is_done(e));
  BOOST_TEST(!by_ferry.returns());  // as the backend interface documents synchronize(event)
  second.open = true;
  by_cuda.join(), by_ferry.join();
  BOOST_TEST(b.is_done(e));
  b.destroy_event(e);
  b.destroy_stream(s);
}

// The handle of the per-thread default stream names a different stream in another thread, which is idle.
BOOST_AUTO_TEST_CASE(a_default_stream_of_another_thread_is_not_taken_for_the_own) {
  gate first;
  const int before = runtime::current().backend().exchange_current_device(0);
  host_array<int> x({64}, 0);
  default_stream(device(0)).synchronize();
  std::optional<stream_ref> of_other;
  std::atomic<bool> over{false};
  std::thread other([&] {
    runtime::current().backend().exchange_current_device(0);
    of_other = stream_ref::from_native(device(0), {cudaStreamPerThread});
    first.in_the_way_of({cudaStreamPerThread});
    fill(*of_other, x, 1);
    over = true;
    while (!first.open) nap(1);
    of_other->synchronize();
  });
  while (!over) nap(1);
  BOOST_TEST(!of_other->is_done());
  BOOST_TEST(!x.is_ready());
  attempt waiting([&] { of_other->synchronize(); });
  nap(50);
  BOOST_TEST(!x.is_ready());
  first.open = true;
  BOOST_TEST(waiting.returns());
  BOOST_TEST(std::as_const(x)[5] == 1);
  waiting.join(), other.join();
  runtime::current().backend().exchange_current_device(before);
}

// R6: ferry does not re-record an event that a thread waits for, so a wait on a busy stream ends.
BOOST_AUTO_TEST_CASE(a_wait_on_a_busy_stream_ends) {
  gate first, second;
  stream s{device(0)};
  host_array<int> x({64}, 0), y({64}, 0);
  default_stream(device(0)).synchronize();
  first.in_the_way_of(s.native());
  fill(s, x, 1);
  attempt reader([&] { BOOST_TEST(std::as_const(x)[5] == 1); });
  nap(50);
  const auto work = [&] {
    for (int i = 0; i < 40; ++i) fill(s, y, i), s.timeline().record_event();  // reuses all events of the ring
  };
  work();
  second.in_the_way_of(s.native());
  work();
  first.open = true;
  BOOST_TEST(reader.returns());
  BOOST_TEST(!y.is_ready());
  second.open = true;
  reader.join();
  BOOST_TEST(y[5] == 39);
}

BOOST_AUTO_TEST_SUITE_END()
