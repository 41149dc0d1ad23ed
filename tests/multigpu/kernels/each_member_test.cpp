// Loops that run once on each member, over spaces of one to six dimensions.
#include <ferry/ferry.hpp>
#include <numeric>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;

namespace each_member {
namespace {

// Adds 1 + the row-major number of its index to the element with that number.
struct add_number {
  std::size_t extent[6];
  template <class... Index>
  FERRY_HOST_DEVICE void operator()(std::size_t first, Index... more_and_array) const {
    add(first, 1, more_and_array...);
  }

 private:
  template <class... More>
  FERRY_HOST_DEVICE void add(std::size_t at, int d, std::size_t next, More... more) const {
    add(at * extent[d] + next, d + 1, more...);
  }
  FERRY_HOST_DEVICE void add(std::size_t at, int, fr::mdspan<int, 1> y) const { y(at) += 1 + static_cast<int>(at); }
};

// Runs the loop on both members, and checks the copy of each.
template <class Space>
void check_each(const fr::team& t, const fr::on_each_member<Space>& space, const add_number& f, std::size_t cells) {
  BOOST_TEST_CONTEXT("space of " << cells) {
    fr::replicated_array<int> y(t, {cells + 1}, 0);
    fr::parallel_for(space, f, y);
    std::vector<int> expected(cells + 1);
    std::iota(expected.begin(), expected.end() - 1, 1);
    for (std::size_t m = 0; m != t.size(); ++m) CHECK_EQUAL(fr::to_vector(y.copy_of(m)), expected);
  }
}

}  // namespace
}  // namespace each_member

BOOST_AUTO_TEST_SUITE(loops_on_each_member)

BOOST_AUTO_TEST_CASE(take_one_to_six_extents_in_braces) {
  using each_member::add_number, each_member::check_each;
  for (const char* how : {"devices=2", "devices=3;schedule=random:5", "devices=2;peers=none"}) {
    const fr::simulation sim(how);
    const fr::team t = fr::team::all();
    check_each(t, fr::each_member(t, 5), add_number{{5}}, 5);
    check_each(t, fr::each_member(t, {5}), add_number{{5}}, 5);
    check_each(t, fr::each_member(t, {5, 3}), add_number{{5, 3}}, 15);
    check_each(t, fr::each_member(t, {5, 3, 4}), add_number{{5, 3, 4}}, 60);
    check_each(t, fr::each_member(t, {2, 3, 4, 5}), add_number{{2, 3, 4, 5}}, 120);
    check_each(t, fr::each_member(t, {2, 3, 4, 3, 2}), add_number{{2, 3, 4, 3, 2}}, 144);
    check_each(t, fr::each_member(t, {2, 3, 1, 3, 2, 4}), add_number{{2, 3, 1, 3, 2, 4}}, 144);
    check_each(t, fr::each_member(t, fr::extents<4>{2, 3, 4, 5}), add_number{{2, 3, 4, 5}}, 120);
  }
}

BOOST_AUTO_TEST_CASE(take_extents_of_several_types) {
  using each_member::add_number, each_member::check_each;
  const fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  const std::size_t a = 2;
  const int b = 3;
  const std::uint8_t c = 4;
  check_each(t, fr::each_member(t, {a, b}), add_number{{2, 3}}, 6);
  check_each(t, fr::each_member(t, {a, b, c, 2L}), add_number{{2, 3, 4, 2}}, 48);
  check_each(t, fr::each_member(t, {a, b, 0, c}), add_number{{2, 3, 0, 4}}, 0);
  const int negative = -1;
  check_error<fr::invalid_argument>([&] { (void)fr::each_member(t, {a, a, a, negative}); }, {"-1"});
}

BOOST_AUTO_TEST_SUITE_END()
