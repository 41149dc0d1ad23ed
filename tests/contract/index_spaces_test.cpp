// Every index of a space is passed to the functor once, also where a thread of a device makes several calls.
#include <numeric>
#include <random>

#include "contract/fixture.hpp"
#include "support/seeds.hpp"

using namespace contract;

namespace contract_of_index_spaces {
namespace {

template <class T>
struct add_index_1d {
  FERRY_HOST_DEVICE void operator()(std::size_t i, T* p) const { p[i] = static_cast<T>(p[i] + i + 1); }
};
struct add_index_of_span {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<unsigned, 1> p) const {
    p(i) += static_cast<unsigned>(i + 1);
  }
};
struct add_index_2d {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<unsigned, 2> p) const {
    p(i, j) += static_cast<unsigned>(i * p.extent(1) + j + 1);
  }
};
struct add_index_3d {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<unsigned, 3> p) const {
    p(i, j, k) += static_cast<unsigned>((i * p.extent(1) + j) * p.extent(2) + k + 1);
  }
};

// True if element i is i + 1, modulo the values of T.
template <class T>
bool is_counted(const std::vector<T>& got) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != static_cast<T>(i + 1)) return false;
  return true;
}
template <class T>
void check_line(std::size_t n) {
  fr::device_array<T> a({n}, T(0));
  fr::parallel_for(n, add_index_1d<T>{}, a);
  BOOST_TEST(is_counted(fr::to_vector(a)), n << " elements of " << sizeof(T) << " bytes");
}
// A: the array in which `of` finds a view of the shape of the space.
template <class F, std::size_t Rank, class Of>
void check_view(const fr::extents<Rank>& in_memory, const F& f, const Of& of, const char* what) {
  fr::device_array<unsigned, Rank> a(in_memory, 0u);
  auto view = of(a);
  fr::parallel_for(view.extents(), f, fr::inout(view));
  const auto counted = is_counted(fr::to_vector(view));
  BOOST_TEST(counted, what << " of " << in_memory.text());
}
void check_plane(const fr::extents<2>& e) {
  check_view(
      e, add_index_2d{}, [](auto& a) { return a.slice(fr::all_of); }, "all");
  check_view(
      e, add_index_2d{}, [](auto& a) { return a.transpose(); }, "the transpose");
  check_view(
      fr::extents<2>(e[0], 2 * e[1]), add_index_2d{},
      [](auto& a) {
        return a.slice({fr::all_of, {0, a.extent(1), 2}});
      },
      "every second column");
}
void check_cube(const fr::extents<3>& e) {
  check_view(
      e, add_index_3d{}, [](auto& a) { return a.slice(fr::all_of); }, "all");
  check_view(
      e, add_index_3d{}, [](auto& a) { return a.transpose(); }, "the transpose");
}

// One that is a multiple of nothing, for a count that fills a GPU when each thread makes several calls.
std::size_t large(std::size_t on_gpus, std::size_t simulated) {
  return fr::runtime::current().is_simulated() ? simulated : on_gpus;
}

}  // namespace
}  // namespace contract_of_index_spaces

using namespace contract_of_index_spaces;

BOOST_AUTO_TEST_SUITE(index_spaces)

BOOST_AUTO_TEST_CASE(lines_of_elements_of_all_sizes) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{127}, std::size_t{4097}, large(10'000'019, 10'007)}) {
    check_line<std::uint8_t>(n);
    check_line<std::uint16_t>(n);
    check_line<std::uint32_t>(n);
    check_line<std::uint64_t>(n);
    check_view(
        fr::extents<1>(n), add_index_of_span{}, [](auto& a) { return a.slice(fr::all_of); }, "all");
    check_view(
        fr::extents<1>(3 * n), add_index_of_span{},
        [](auto& a) {
          return a.slice({{0, a.size(), 3}});
        },
        "every third element");
  }
}

BOOST_AUTO_TEST_CASE(planes_of_all_shapes) {
  for (const fr::extents<2> e : {fr::extents<2>(1, 1), {3, 5}, {4, 257}, {1031, 31}}) check_plane(e);
  check_plane(fr::extents<2>(large(1747, 47), large(1693, 93)));
  check_plane(fr::extents<2>(large(700'001, 7001), 7));
  check_plane(fr::extents<2>(3, large(1'200'007, 1207)));
}

BOOST_AUTO_TEST_CASE(cubes_of_all_shapes) {
  for (const fr::extents<3> e : {fr::extents<3>(1, 1, 1), {9, 3, 5}, {17, 5, 65}}) check_cube(e);
  check_cube(fr::extents<3>(large(181, 18), large(173, 17), large(179, 19)));
  check_cube(fr::extents<3>(large(100'003, 1003), 7, 11));
  check_cube(fr::extents<3>(5, 9, large(150'001, 151)));
}

BOOST_AUTO_TEST_CASE(random_shapes) {
  for (std::size_t seed = 0; seed < support::seeds(20); ++seed) {
    std::mt19937_64 random(seed);
    const auto extent = [&](std::size_t most) { return 1 + random() % most; };
    check_plane(fr::extents<2>(extent(300), extent(300)));
    check_cube(fr::extents<3>(extent(40), extent(40), extent(40)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
