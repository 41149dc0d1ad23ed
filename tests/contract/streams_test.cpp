// Streams, events and measurements.
#include "contract/fixture.hpp"

#include <sstream>
#include <thread>

using namespace contract;

namespace contract_of_streams {
namespace {

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};

}  // namespace
}  // namespace contract_of_streams

BOOST_FIXTURE_TEST_SUITE(contract_of_streams, clean)

BOOST_AUTO_TEST_CASE(streams_have_a_device_and_a_priority) {
  for (const fr::device d : fr::devices()) {
    const fr::stream usual{d}, urgent{d, -1};
    BOOST_TEST((usual.where() == d && urgent.where() == d));
    BOOST_TEST((usual.priority() == 0 && urgent.priority() == -1));
    BOOST_TEST(!(usual == urgent));
    BOOST_TEST((fr::default_stream(d) == fr::default_stream(d)));
    fr::unified_array<int> a({100}, 1, d);
    fr::parallel_for(urgent, 100, add{2}, a);
    fr::parallel_for(usual, 100, add{3}, a);
    CHECK_EQUAL(a, std::vector<int>(100, 6));
  }
}

BOOST_AUTO_TEST_CASE(streams_move_and_return_to_the_stock) {
  fr::device_array<int> a({100}, 0);
  const fr::detail::timeline* line = nullptr;
  {
    fr::stream s;
    line = &s.timeline();
    fr::stream t(std::move(s)), u;
    u = std::move(t);
    BOOST_TEST(&u.timeline() == line);
    fr::parallel_for(u, 100, add{1}, a);
  }
  const fr::stream again;  // most likely the same stream; its work follows the earlier work
  fr::parallel_for(again, 100, add{1}, a);
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(100, 2));
}

BOOST_AUTO_TEST_CASE(threads_have_streams_of_their_own) {
  const fr::device last = fr::devices().back();
  const fr::detail::timeline* other = nullptr;
  fr::device_array<int> a({100}, 1, last);
  std::thread([&] {
    other = &fr::default_stream(last).timeline();
    fr::parallel_for(100, add{1}, a);
  }).join();
  BOOST_TEST(other != &fr::default_stream(last).timeline());
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(100, 2));
}

BOOST_AUTO_TEST_CASE(synchronize_and_is_done) {
  const fr::stream s{fr::devices().back()};
  fr::unified_array<int> a({1000}, 0, s.where());
  for (int i = 0; i < 20; ++i) fr::parallel_for(s, 1000, add{1}, a);
  s.synchronize();
  BOOST_TEST(s.is_done());
  BOOST_TEST(a.is_ready());
  BOOST_TEST(std::as_const(a)[999] == 20);
}

BOOST_AUTO_TEST_CASE(polling_comes_to_an_end) {
  const fr::stream s;
  fr::device_array<int> a({1000}, 0);
  fr::parallel_for(s, 1000, add{1}, a);
  const fr::event e = s.record();
  while (!e.is_done()) std::this_thread::yield();
  while (!a.is_ready()) std::this_thread::yield();
  while (!s.is_done()) std::this_thread::yield();
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, 1));
}

BOOST_AUTO_TEST_CASE(waiting_for_streams_and_events_orders_unseen_work) {
  const fr::stream a{fr::devices().front()}, b{fr::devices().back()};
  auto& backend = fr::runtime::current().backend();
  for (const bool by_event : {false, true, false, true, false, true, false, true}) {
    fr::host_array<int> x({1000}, 0), y({1000}, 0);
    a.synchronize(), b.synchronize(), fr::default_stream(fr::device(0)).synchronize();
    set_ints(a.native(), x.unsynchronized_data(), 1000, 7);
    if (by_event) {
      const fr::event e = a.record();
      b.wait(e);
    } else {
      b.wait(a);
    }
    backend.copy(b.native(), y.unsynchronized_data(), x.unsynchronized_data(), 4000);
    b.synchronize();
    CHECK_EQUAL(std::span<const int>(y.unsynchronized_data(), 1000), std::vector<int>(1000, 7));
    a.synchronize();
  }
}

BOOST_AUTO_TEST_CASE(events_move_and_measure) {
  const fr::stream s{fr::devices().back()};
  fr::device_array<int> a({1000}, 0, s.where());
  fr::event first(s);
  for (int i = 0; i < 10; ++i) fr::parallel_for(s, 1000, add{1}, a);
  fr::event moved(std::move(first)), last = s.record();
  fr::event assigned = s.record();
  assigned = std::move(last);
  const double ms = fr::milliseconds_between(moved, assigned);
  BOOST_TEST((ms >= 0 && ms < 60000));
  BOOST_TEST(assigned.is_done());
}

BOOST_AUTO_TEST_CASE(measure_counts) {
  const fr::stream s{fr::devices().back()};
  const auto from = counted<int, 1, memory_kind::device>(fr::extents<1>(1000), s.where());
  fr::device_array<int> to({1000}, s.where());
  const fr::measurement m = fr::measure(s, [&] {
    fr::copy(s, from, to);
    fr::copy(s, from.slice({0, 10}), to.slice({5, 15}));
    const fr::device_array<int> one({5}), two({5}), empty({0});
  });
  BOOST_TEST(m.copied_bytes == 4040u);
  BOOST_TEST(m.allocations == 2u);
  BOOST_TEST((m.device_milliseconds >= 0 && m.cpu_milliseconds > 0));
  std::ostringstream text;
  text << m;
  BOOST_TEST(contains(text.str(), " ms on the device, "));
  BOOST_TEST(contains(text.str(), "4040 bytes copied, 2 arrays made"));
  BOOST_CHECK_THROW(fr::measure(s, [] { throw 5; }), int);
}

BOOST_AUTO_TEST_SUITE_END()
