// The cost of ordering, counted in backend calls, and rules that random programs rarely exercise.
#include <memory>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/counting_backend.hpp"

namespace fr = ferry;

namespace ordering {
namespace {

using u32 = std::uint32_t;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] += 1; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const { y[i] += x[i]; }
};
// Computes rows of y from three rows of x, on a grid of which the span shows some rows.
struct jacobi {
  std::size_t above;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const u32, 2> x,
                                    fr::mdspan<u32, 2> y) const {
    const std::size_t r = i + above, last = x.extent(0) - 1;
    y(i, j) = x(r ? r - 1 : 0, j) + 3 * x(r, j) + 5 * x(r < last ? r + 1 : last, j);
  }
};

// The process's runtime with its backend calls counted.
struct counted_machine {
  support::call_counts calls;
  fr::detail::backend& below = fr::runtime::current().backend();
  fr::runtime_scope scope{std::make_unique<support::counting_backend>(below, calls), {.kind = fr::pool_kind::split}};

  struct seen {
    long records, stream_waits, cpu_waits;
  };
  template <class Body>
  seen count(Body body) {
    const long r = calls.records, s = calls.stream_waits, c = calls.cpu_waits;
    body();
    return {calls.records - r, calls.stream_waits - s, calls.cpu_waits - c};
  }
};

fr::stream stream_on(std::size_t device) { return fr::stream(fr::devices()[device % fr::devices().size()]); }

}  // namespace
}  // namespace ordering

BOOST_AUTO_TEST_SUITE(ordering)

BOOST_FIXTURE_TEST_CASE(arrays_of_one_stream_cost_no_call, counted_machine) {
  fr::stream s = stream_on(0);
  fr::device_array<u32> x({1000}), y({1000});
  fr::fill(s, x, 1u), fr::fill(s, y, 0u);
  const seen n = count([&] {
    for (int i = 0; i < 100; ++i) fr::parallel_for(s, y.size(), add_from{}, y, fr::in(x));
  });
  BOOST_TEST(n.records == 0);
  BOOST_TEST(n.stream_waits == 0);
  BOOST_TEST(n.cpu_waits == 0);
  BOOST_TEST(fr::to_vector(y)[999] == 100u);
}

BOOST_FIXTURE_TEST_CASE(disjoint_slices_never_wait, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(0);
  fr::device_array<u32> x({1000}, 0u);
  default_stream(fr::devices()[0]).synchronize();
  auto left = x.slice({0, 500}), right = x.slice({500, 1000});
  const seen n = count([&] {
    for (int i = 0; i < 50; ++i) fr::parallel_for(a, 500, add_one{}, left), fr::parallel_for(b, 500, add_one{}, right);
  });
  BOOST_TEST(n.stream_waits == 0);
  BOOST_TEST(n.cpu_waits == 0);
  const auto v = fr::to_vector(x);
  BOOST_TEST((v[0] == 50 && v[499] == 50 && v[500] == 50 && v[999] == 50));
}

BOOST_FIXTURE_TEST_CASE(readers_never_wait_for_readers, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(1);
  fr::unified_array<u32> x({100}, 1u), y({100}, 0u), z({100}, 0u);
  default_stream(fr::devices()[0]).synchronize();
  const seen n = count([&] {
    for (int i = 0; i < 20; ++i)
      fr::parallel_for(a, 100, add_from{}, y, fr::in(x)), fr::parallel_for(b, 100, add_from{}, z, fr::in(x));
  });
  BOOST_TEST(n.stream_waits == 0);
  BOOST_TEST((y[99] == 20 && z[0] == 20));
}

// Each hand-over costs one event record, right after the submission that is waited for, and one wait.
BOOST_FIXTURE_TEST_CASE(shared_arrays_cost_one_record_and_one_wait_a_hand_over, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(1);
  fr::unified_array<u32> x({100}, 0u);
  const auto turns = [&] {
    for (int i = 0; i < 10; ++i) fr::parallel_for(a, 100, add_one{}, x), fr::parallel_for(b, 100, add_one{}, x);
  };
  turns();
  const seen n = count(turns);
  BOOST_TEST(n.records == 20);
  BOOST_TEST(n.stream_waits == 20);
  BOOST_TEST(n.cpu_waits == 0);
  BOOST_TEST(x[50] == 40u);
}

// When no other stream waits for an array any more, its submissions stop recording events.
BOOST_FIXTURE_TEST_CASE(marks_stop_when_sharing_stops, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(1);
  fr::unified_array<u32> x({100}, 0u);
  fr::parallel_for(a, 100, add_one{}, x), fr::parallel_for(b, 100, add_one{}, x);
  for (int i = 0; i < 4; ++i) fr::parallel_for(b, 100, add_one{}, x);
  const seen n = count([&] {
    for (int i = 0; i < 10; ++i) fr::parallel_for(b, 100, add_one{}, x);
  });
  BOOST_TEST(n.records == 0);
}

// A wait that another wait implies is skipped: c waits for b, and b waited for a.
BOOST_FIXTURE_TEST_CASE(clocks_skip_waits_already_made, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(1), c = stream_on(2);
  fr::unified_array<u32> x({100}, 0u), y({100}, 0u);
  default_stream(fr::devices()[0]).synchronize();
  fr::parallel_for(a, 100, add_one{}, x);
  fr::parallel_for(b, 100, add_from{}, y, fr::in(x));
  const seen first = count([&] { fr::parallel_for(c, 100, add_one{}, y); });
  BOOST_TEST(first.stream_waits == 1);
  const seen second = count([&] { fr::parallel_for(c, 100, add_one{}, x); });  // after a through b
  BOOST_TEST(second.stream_waits == 0);
  BOOST_TEST((x[0] == 2 && y[0] == 2));
}

BOOST_FIXTURE_TEST_CASE(what_the_cpu_waited_for_is_finished_for_every_stream, counted_machine) {
  fr::stream a = stream_on(0), b = stream_on(1);
  fr::unified_array<u32> x({100}, 0u);
  fr::parallel_for(a, 100, add_one{}, x);
  BOOST_TEST(x[7] == 1u);
  const seen n = count([&] { fr::parallel_for(b, 100, add_one{}, x); });
  BOOST_TEST(n.stream_waits == 0);
  BOOST_TEST(x[7] == 2u);
}

// Shards of one allocation, one per stream, with halo rows: the minimum of 2 (D - 1) waits per iteration.
BOOST_FIXTURE_TEST_CASE(jacobi_shards_wait_for_their_neighbours_only, counted_machine) {
  constexpr std::size_t rows = 60, columns = 40;
  for (const std::size_t parts : {2u, 3u, 4u, 8u}) {
    std::vector<fr::stream> streams;
    for (std::size_t d = 0; d < parts; ++d) streams.push_back(stream_on(d));
    fr::unified_array<u32, 2> x({rows, columns}), y({rows, columns});
    std::vector<u32> expect(rows * columns), before;
    for (std::size_t i = 0; i < expect.size(); ++i) x.begin()[i] = expect[i] = static_cast<u32>(i * i);
    const auto iterate = [&](int times) {
      for (int n = 0; n < times; ++n) {
        for (std::size_t d = 0; d < parts; ++d) {
          const std::size_t lo = rows * d / parts, hi = rows * (d + 1) / parts, above = lo > 0;
          fr::parallel_for(streams[d], fr::extents<2>{hi - lo, columns}, jacobi{above},
                           fr::in(x.slice({lo - above, std::min(hi + 1, rows)})), fr::out(y.slice({lo, hi})));
        }
        swap(x, y);
        before = expect;
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j)
            expect[i * columns + j] = before[(i ? i - 1 : 0) * columns + j] + 3 * before[i * columns + j] +
                                      5 * before[std::min(i + 1, rows - 1) * columns + j];
      }
    };
    iterate(4);
    const seen n = count([&] { iterate(10); });
    BOOST_TEST(n.stream_waits == static_cast<long>(10 * 2 * (parts - 1)), parts << " shards: " << n.stream_waits);
    BOOST_TEST(n.records == static_cast<long>(10 * parts), parts << " shards: " << n.records);
    BOOST_TEST(n.cpu_waits == 0);
    BOOST_TEST(fr::to_vector(x) == expect, boost::test_tools::per_element());
  }
}

BOOST_FIXTURE_TEST_CASE(waits_of_the_cpu_are_for_the_point_only, counted_machine) {
  fr::stream a = stream_on(0);
  fr::unified_array<u32> x({100}, 0u), y({100}, 0u);
  fr::parallel_for(a, 100, add_one{}, x);
  const seen n = count([&] {
    for (int i = 0; i < 3; ++i) BOOST_TEST(x[3] == 1u);  // one access check, then cached
  });
  BOOST_TEST(n.cpu_waits == 1);
  const seen reads = count([&] {
    fr::parallel_for(a, 100, add_from{}, y, fr::in(x));
    BOOST_TEST(std::as_const(x)[3] == 1u);  // a GPU read does not block a CPU read
  });
  BOOST_TEST(reads.cpu_waits == 0);
  a.synchronize();
}

BOOST_AUTO_TEST_SUITE_END()
