// Kernels that write outside their arguments: the error names array, kernel and distance, and the heap stays intact.
#include <algorithm>
#include <thread>
#include <utility>

#include "sim_fixture.hpp"

using namespace sim_test;

namespace sim_overruns {
namespace {

fr::detail::kernel_use named(const int* p, std::size_t n, bool reads, bool writes, const char* name) {
  fr::detail::kernel_use u = use(p, n, reads, writes);
  u.array = fr::detail::array_label(name);
  return u;
}

// A kernel with n ints at p as argument writes one int at p + at.
void write_one(sim_machine& m, fr::native_stream s, int* p, std::size_t n, std::ptrdiff_t at, const char* name = "u") {
  const std::vector uses{named(p, n, true, true, name)};
  m.b.launch(s, {"stray", uses, [=](const fr::detail::relocation& where) { where(p)[at] += 1; }});
  m.b.synchronize(s);
}

// Including the eager schedule, which runs kernels in place.
constexpr int seeds = 4;
std::string schedule(int seed) { return seed == 0 ? "schedule=eager" : random_machine(seed); }

}  // namespace
}  // namespace sim_overruns

BOOST_AUTO_TEST_SUITE(sim_overruns)

BOOST_AUTO_TEST_CASE(the_error_names_array_kernel_and_distance) {
  for (int seed = 0; seed < seeds; ++seed)
    for (const auto& [at, text] : {std::pair<std::ptrdiff_t, const char*>{10, "directly past the end of array 'u'"},
                                   {12, "8 bytes past the end of array 'u', of which it was given 40 bytes"},
                                   {60, "200 bytes past the end of array 'u'"},
                                   {-1, "4 bytes before the beginning of array 'u'"},
                                   {-50, "200 bytes before the beginning of array 'u'"}})
      BOOST_TEST_CONTEXT("seed " << seed << ", element " << at) {
        sim_machine m(schedule(seed));
        int* const p = m.ints(10);
        const auto s = m.stream();
        check_throws<fr::device_error>([&, at = at] { write_one(m, s, p, 10, at); }, text);
        check_throws<fr::device_error>([&] { m.b.synchronize(s); }, "kernel 'stray': wrote outside its arguments");
        m.look.reset_errors();
        write_one(m, s, p, 10, 9);  // the runtime continues to work
      }
}

// Arrays that share a block of a pool: the bytes after one array belong to another.
BOOST_AUTO_TEST_CASE(a_neighbour_in_the_same_block_is_protected) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      sim_machine m(schedule(seed));
      int* const block = m.ints(1000);
      const auto s = m.stream();
      set(m, s, block, 1000, 1);
      check_throws<fr::device_error>([&] { write_one(m, s, block + 500, 100, 100); }, "directly past the end");
      m.look.reset_errors();
      check_throws<fr::device_error>([&] { write_one(m, s, block + 500, 100, -3, ""); },
                                     "12 bytes before the beginning of an unnamed array");
    }
}

// Two adjacent uses: each may be written up to the other.
BOOST_AUTO_TEST_CASE(uses_side_by_side) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      sim_machine m(schedule(seed));
      int* const p = m.ints(100);
      const auto s = m.stream();
      const std::vector uses{named(p, 50, false, true, "low"), named(p + 50, 50, false, true, "high")};
      const auto fill = [&](std::ptrdiff_t extra) {
        m.b.launch(s, {"fill", uses, [=](const fr::detail::relocation& where) {
                         std::fill_n(where(p), 50, 1);
                         std::fill_n(where(p + 50), 50 + extra, 2);
                       }});
        m.b.synchronize(s);
      };
      fill(0);
      BOOST_TEST((fetch(m, s, p, 100)[49] == 1 && fetch(m, s, p, 100)[50] == 2));
      check_throws<fr::device_error>([&] { fill(1); }, "array 'high'");
    }
}

// A bounding range of which only parts are declared, such as a shard's: the gaps must not be written.
BOOST_AUTO_TEST_CASE(gaps_between_uses) {
  for (int seed = 1; seed < seeds; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      sim_machine m(schedule(seed));
      int* const p = m.ints(100);
      const auto s = m.stream();
      const std::vector uses{named(p, 100, false, false, "shard"), use(p, 10, true, true), use(p + 90, 10, true, true)};
      const auto write = [&](std::size_t at) {
        m.b.launch(s, {"edges", uses, [=](const fr::detail::relocation& where) { where(p)[at] = 5; }});
        m.b.synchronize(s);
      };
      write(9), write(90);
      check_throws<fr::device_error>([&] { write(10); }, "first changed byte is byte 40 of array 'shard'");
      m.look.reset_errors();
      check_throws<fr::device_error>([&] { write(89); }, "first changed byte is byte 356 of array 'shard'");
    }
}

// After an overrun all simulator state is intact: other blocks, and the program's heap.
BOOST_AUTO_TEST_CASE(nothing_else_changes) {
  for (int seed = 1; seed < 20; ++seed) {
    sim_machine m(random_machine(seed));
    std::vector<int*> others;
    const auto s = m.stream();
    for (int i = 0; i < 20; ++i) set(m, s, others.emplace_back(m.ints(64)), 64, i);
    m.b.synchronize(s);
    check_throws<fr::device_error>([&] { write_one(m, s, others[10], 64, 64 + 100 * (seed % 8)); }, "past the end");
    m.look.reset_errors();
    for (int i = 0; i < 20; ++i)
      BOOST_TEST((fetch(m, s, others[static_cast<std::size_t>(i)], 64) == std::vector<int>(64, i)), "seed " << seed);
  }
}

// Kernels in graphs are checked, too.
BOOST_AUTO_TEST_CASE(graphs) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      sim_machine m(schedule(seed));
      int *const p = m.ints(10), *const q = m.ints(10);
      const auto s = m.stream();
      m.b.begin_capture(s);
      set(m, s, q, 10, 1);
      const std::vector uses{named(p, 10, true, true, "u")};
      m.b.launch(s, {"stray", uses, [=](const fr::detail::relocation& where) { where(p)[11] = 1; }});
      const auto g = m.b.end_capture(s);
      check_throws<fr::device_error>([&] { m.b.launch_graph(g, s), m.b.synchronize(s); },
                                     "4 bytes past the end of array 'u'");
    }
}

// Kernels of other threads write next to a range at the same time: that is no overrun.
BOOST_AUTO_TEST_CASE(threads_side_by_side_are_no_overrun) {
  sim_machine m("schedule=eager");
  constexpr std::size_t each = 64;
  int* const p = m.ints(4 * each);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto s = m.stream();
      for (int k = 0; k < 2000; ++k) set(m, s, p + t * each, each, k);
    });
  threads.clear();
  const auto s = m.stream();
  BOOST_TEST((fetch(m, s, p, 4 * each) == std::vector<int>(4 * each, 1999)));
}

BOOST_AUTO_TEST_SUITE_END()
