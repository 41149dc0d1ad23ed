// Ghost cells of arrays over a team that spans processes: the same bits as on one device.
#include <ferry/ferry.hpp>

#include "needs_processes.hpp"
#include "support/check_error.hpp"

namespace ghosts_of_processes {
namespace {

namespace fr = ferry;

constexpr int rows = 13, columns = 9;

template <class A>
void set_boundaries(A& u) {
  fr::fill(fr::ghosts(u, {fr::side::low(0), fr::side::high(0)}, 1), fr::reflecting{});
  fr::fill(fr::ghosts(u, fr::side::low(1), 1), fr::fixed_value{1});
  fr::fill(fr::ghosts(u, fr::side::high(1), 1), fr::zero_gradient{});  // reads halos
}

}  // namespace
}  // namespace ghosts_of_processes

BOOST_AUTO_TEST_SUITE(ghosts_of_processes)
using namespace ghosts_of_processes;

BOOST_AUTO_TEST_CASE(equal_one_device) {
  fr::device_array<float, 2> u(fr::extents<2>{rows + 2, columns + 2}, 0.f);
  const auto cells = [&](int i, int j) { return u.slice({{1 + i, rows + 1 + i}, {1 + j, columns + 1 + j}}); };
  auto inside = cells(0, 0);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    fr::fill(u, 0);
    fr::sharded_array<float, 2> v(fr::team::world(), {rows, columns}, {.axis = axis, .halo = {1, 1}}, 0.f);
    for (int step = 0; step < 10; ++step) {
      set_boundaries(u), set_boundaries(v);
      inside = inside + 0.2f * (cells(-1, -1) + cells(1, 1) - 2 * inside);  // reads corners
      v = v + 0.2f * (fr::shift(v, {-1, -1}) + fr::shift(v, {1, 1}) - 2 * v);
    }
    BOOST_TEST(fr::to_vector(v) == fr::to_vector(inside), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(periodic_cells_of_other_processes_are_refused,
                     *boost::unit_test::precondition(needs_processes{})) {
  fr::sharded_array<float, 2> v(fr::team::world(), {rows, columns}, {.halo = {1, 1}}, 0.f);
  v.name("height");
  support::check_error<fr::not_supported>([&] { fr::fill(fr::ghosts(v, fr::all_sides), fr::periodic{}); },
                                          {"height", "side::low(0)", ".periodic = true"});
  BOOST_CHECK_NO_THROW(fr::fill(fr::ghosts(v, {fr::side::low(1), fr::side::high(1)}), fr::periodic{}));
  const auto members = static_cast<std::ptrdiff_t>(v.team().size());
  fr::sharded_array<float, 2> one_along(v.team(), {rows, columns},
                                        {.axis = {0, 1}, .grid = {members, 1}, .halo = {1, 1}}, 0.f);
  BOOST_CHECK_NO_THROW(fr::fill(fr::ghosts(one_along, {fr::side::low(1), fr::side::high(1)}), fr::periodic{}));
}

BOOST_AUTO_TEST_SUITE_END()
