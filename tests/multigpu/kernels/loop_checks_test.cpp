// Errors of loops over shards: addresses in functors, and cells used differently from the declaration.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

using namespace contract;
using support::failure_of;
using support::has;

namespace checked_loops {
namespace {

struct add_captured {
  const int* raw;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const { a(i, j) += *raw; }
};
struct cell_and_captured {
  const int* raw;
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> a) const {
    return a(i, j) + *raw;
  }
};
struct leave_out {
  std::size_t i, j;
  FERRY_HOST_DEVICE void operator()(std::size_t row, std::size_t column, fr::shard_span<double, 2> a) const {
    if (row != i || column != j) a(row, column) = 1;
  }
};
struct write_input {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> in,
                                    fr::shard_span<int, 2> out) const {
    out(i, j) = in(i, j);
    if (i == 5 && j == 2) const_cast<int&>(in(i, j)) = 9;
  }
};

constexpr const char* schedules[] = {"", ";schedule=random:1", ";schedule=random:2", ";schedule=random:3"};

}  // namespace
}  // namespace checked_loops

BOOST_AUTO_TEST_SUITE(checked_loops)

BOOST_AUTO_TEST_CASE(captured_pointers_are_refused) {
  for (const std::string how : schedules) {
    const fr::simulation sim("devices=3" + how);
    const fr::team t = fr::team::all();
    fr::sharded_array<int, 2> a(t, {9, 4}, {.axis = 0, .halo = 1}, 0);
    fr::device_array<int> table({4}, 1);
    table.name("table");
    const int* const raw = table.unsynchronized_data();
    for (const std::string& text :
         {failure_of([&] { fr::parallel_for(fr::owned(a), add_captured{raw}, a); }),
          failure_of([&] { fr::parallel_for(fr::sweep(a), add_captured{raw}, a); }),
          failure_of([&] { (void)fr::parallel_reduce(fr::owned(a), cell_and_captured{raw}, fr::plus{}, fr::in(a)); })})
      BOOST_TEST((has(text, "captured") && has(text, "device array 'table'")), text);
    const int on_stack = 1;
    BOOST_TEST(
        has(failure_of([&] { fr::parallel_for(fr::owned(a), add_captured{&on_stack}, a); }), "memory of the CPU"));
    BOOST_TEST(fr::to_vector(a) == std::vector<int>(36, 0));
  }
}

// Indices are global, in each part of a region.
BOOST_AUTO_TEST_CASE(cells_that_are_not_written_are_named) {
  const support::quiet_stderr quiet;
  for (const std::string how : schedules)
    for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 0}, {4, 3}, {8, 1}})
      for (const std::size_t axis : {0u, 1u}) {
        const std::string text = failure_of<fr::device_error>([&, i = i, j = j] {
          const fr::simulation sim("devices=3;check=on" + how);
          const fr::team t = fr::team::all();
          fr::sharded_array<double, 2> a(t, {9, 6}, {.axis = axis, .halo = 1}, 0);
          a.name("a");
          fr::parallel_for(fr::boundary(a), leave_out{i, j}, fr::out(a));
          fr::parallel_for(fr::interior(a), leave_out{i, j}, fr::out(a));
          (void)fr::to_vector(a);
        });
        const std::string index = "index (" + std::to_string(i) + ", " + std::to_string(j) + ")";
        BOOST_TEST((has(text, "array 'a'") && has(text, index) && has(text, "did not write 1")), how + ": " + text);
      }
}

BOOST_AUTO_TEST_CASE(input_that_is_written_is_named) {
  const support::quiet_stderr quiet;
  for (const std::string how : schedules) {
    const std::string text = failure_of<fr::device_error>([&] {
      const fr::simulation sim("devices=3;check=on" + how);
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {9, 4}, {.axis = 0, .halo = 1}, 0), b(t, {9, 4}, {.axis = 0, .halo = 1}, 0);
      a.name("a");
      fr::parallel_for(fr::owned(a), write_input{}, fr::in(a), fr::out(b));
      (void)fr::to_vector(b);
    });
    BOOST_TEST((has(text, "array 'a'") && has(text, "index (5, 2)") && has(text, "inout(a)")), how + ": " + text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
