// Index spaces of four to six dimensions: every index is passed once, in its order, to loops and reductions.
#include <random>

#include "contract/fixture.hpp"
#include "support/seeds.hpp"

using namespace contract;

namespace contract_of_many_dimensions {
namespace {

// Adds the number of the element in row-major order, plus 1: an index that is passed twice or never differs.
struct add_number {
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                    fr::mdspan<unsigned, 4> p) const {
    p(a, b, c, d) += static_cast<unsigned>(((a * p.extent(1) + b) * p.extent(2) + c) * p.extent(3) + d + 1);
  }
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                    fr::mdspan<unsigned, 5> p) const {
    const std::size_t outer = ((a * p.extent(1) + b) * p.extent(2) + c) * p.extent(3) + d;
    p(a, b, c, d, e) += static_cast<unsigned>(outer * p.extent(4) + e + 1);
  }
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                    std::size_t f, fr::mdspan<unsigned, 6> p) const {
    const std::size_t outer = (((a * p.extent(1) + b) * p.extent(2) + c) * p.extent(3) + d) * p.extent(4) + e;
    p(a, b, c, d, e, f) += static_cast<unsigned>(outer * p.extent(5) + f + 1);
  }
};
// Differs for each order of the indices.
struct mixed_index {
  template <class... Index>
  FERRY_HOST_DEVICE std::uint64_t operator()(Index... index) const {
    std::uint64_t h = 1;
    ((h = (h + index) * 0x9e3779b97f4a7c15ull, h ^= h >> 29), ...);
    return h;
  }
};
struct one_too_far {
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                    fr::mdspan<unsigned, 4> p) const {
    p(a, b, c, d + (a == 1 && b == 2 && c == 0 && d == 3)) = 1;
  }
};

template <std::size_t Rank, class View>
void check_view(View view, const char* what) {
  fr::parallel_for(view.extents(), add_number{}, fr::inout(view));
  std::size_t wrong = 0, i = 0;
  for (const unsigned x : fr::to_vector(view)) wrong += x != static_cast<unsigned>(++i);
  BOOST_TEST(wrong == 0u, wrong << " elements of " << what << " of " << view.extents().text() << " are wrong");
}
template <std::size_t Rank>
std::uint64_t expected_sum(const fr::extents<Rank>& e) {
  std::uint64_t sum = 0;
  std::size_t at[Rank];
  for (std::size_t n = 0; n < e.count(); ++n) {
    std::size_t rest = n;
    for (std::size_t d = Rank; d-- > 0; rest /= e[d]) at[d] = rest % e[d];
    sum += std::apply(mixed_index(), std::to_array(at));
  }
  return sum;
}
template <std::size_t Rank>
void check_space(const fr::extents<Rank>& e) {
  fr::device_array<unsigned, Rank> a(e, 0u), turned(e, 0u);
  check_view<Rank>(a.slice(fr::all_of), "the array");
  check_view<Rank>(turned.transpose(), "the transpose");
  fr::extents<Rank> wide = e;
  wide[Rank - 1] *= 2, wide[1] += 1;
  fr::device_array<unsigned, Rank> odd(wide, 0u);
  const auto cut = [&]<std::size_t... D>(std::index_sequence<D...>) {
    return odd.slice({(D == 1          ? fr::slice(1, e[1] + 1)
                       : D == Rank - 1 ? fr::slice(0, wide[Rank - 1], 2)
                                       : fr::slice(0, wide[D]))...});
  };
  check_view<Rank>(cut(std::make_index_sequence<Rank>()), "every second element");
  const std::uint64_t sum = fr::parallel_reduce(e, mixed_index{}, fr::plus{});
  BOOST_TEST(sum == expected_sum(e), "the sum over " << e.text() << " is wrong");
}

std::size_t large(std::size_t on_gpus, std::size_t simulated) {
  return fr::runtime::current().is_simulated() ? simulated : on_gpus;
}

}  // namespace
}  // namespace contract_of_many_dimensions

BOOST_AUTO_TEST_SUITE(contract_of_many_dimensions)

BOOST_AUTO_TEST_CASE(all_shapes) {
  for (const fr::extents<4> e : {fr::extents<4>(1, 1, 1, 1), {2, 3, 4, 5}, {5, 1, 7, 33}, {1, 9, 3, 130}})
    check_space(e);
  for (const fr::extents<5> e : {fr::extents<5>(1, 1, 1, 1, 1), {2, 3, 4, 5, 6}, {3, 1, 2, 1, 70}}) check_space(e);
  for (const fr::extents<6> e : {fr::extents<6>(1, 1, 1, 1, 1, 1), {2, 3, 2, 3, 2, 3}, {3, 2, 1, 4, 5, 31}})
    check_space(e);
  check_space(fr::extents<4>(large(31, 5), 29, large(37, 7), large(181, 19)));
  check_space(fr::extents<5>(large(1009, 59), 3, 5, 7, 11));
  check_space(fr::extents<6>(2, 3, large(11, 3), 3, 2, large(6007, 67)));
}

BOOST_AUTO_TEST_CASE(random_shapes) {
  for (std::size_t seed = 0; seed < support::seeds(20); ++seed) {
    std::mt19937_64 random(seed);
    const auto extent = [&](std::size_t most) { return 1 + random() % most; };
    check_space(fr::extents<4>(extent(9), extent(9), extent(9), extent(40)));
    check_space(fr::extents<5>(extent(5), extent(5), extent(5), extent(5), extent(20)));
    check_space(fr::extents<6>(extent(4), extent(4), extent(4), extent(4), extent(4), extent(9)));
  }
}

BOOST_AUTO_TEST_CASE(spaces_in_all_forms) {
  fr::stream s;
  const std::size_t n = 2;
  fr::device_array<unsigned, 4> a({2, 3, 4, 5}, 0u);
  fr::parallel_for({n, 3, 4u, 5}, add_number{}, a);
  fr::parallel_for(s, {n, 3, 4u, 5}, add_number{}, a);
  fr::parallel_for(s, a.extents(), add_number{}, a);
  fr::parallel_for(a.extents(), add_number{}, a);
  fr::device_array<unsigned, 5> b({2, 3, 4, 5, 6}, 0u);
  fr::parallel_for({n, 3, 4, 5, 6}, add_number{}, b);
  fr::parallel_for(s, {n, 3, 4, 5, 6}, add_number{}, b);
  fr::device_array<unsigned, 6> c({2, 3, 4, 5, 6, 7}, 0u);
  fr::parallel_for({n, 3, 4, 5, 6, 7}, add_number{}, c);
  fr::parallel_for(s, {n, 3, 4, 5, 6, 7}, add_number{}, c);
  for (unsigned i = 0; i < 5040; ++i) {
    if (i < 120) BOOST_TEST(fr::to_vector(a)[i] == 4 * (i + 1));
    if (i < 720 && i % 97 == 0) BOOST_TEST(fr::to_vector(b)[i] == 2 * (i + 1));
    if (i % 997 == 0) BOOST_TEST(fr::to_vector(c)[i] == 2 * (i + 1));
  }
  const std::uint64_t sum = expected_sum(fr::extents<5>(2, 3, 4, 5, 6));
  BOOST_TEST(fr::parallel_reduce({n, 3, 4, 5, 6}, mixed_index{}, fr::plus{}).value() == sum);
  BOOST_TEST(fr::parallel_reduce(s, {n, 3, 4, 5, 6}, mixed_index{}, fr::plus{}).value() == sum);
  BOOST_TEST(fr::parallel_reduce(s, fr::extents(2, 3, 4, 5, 6), mixed_index{}, fr::plus{}).value() == sum);
  fr::precompile_for(s, {n, 3, 4, 5}, add_number{}, a);
  fr::precompile_for({n, 3, 4, 5, 6, 7}, add_number{}, c);
  fr::precompile_reduce(s, {n, 3, 4, 5}, mixed_index{}, fr::plus{});
  fr::precompile_reduce({n, 3, 4, 5, 6, 7}, mixed_index{}, fr::plus{});
}

BOOST_AUTO_TEST_CASE(empty_spaces) {
  fr::device_array<unsigned, 4> a({2, 2, 2, 2}, 7u);
  fr::parallel_for({2, 0, 2, 2}, add_number{}, a);
  fr::parallel_for({2, 2, 2, 0}, add_number{}, a);
  CHECK_EQUAL(fr::to_vector(a), std::vector<unsigned>(16, 7u));
  BOOST_TEST(fr::parallel_reduce({0, 3, 3, 3}, mixed_index{}, fr::plus{}).value() == 0u);
  BOOST_TEST(fr::parallel_reduce({3, 3, 3, 3, 0}, mixed_index{}, fr::minimum{}).value() == ~std::uint64_t{0});
}

BOOST_AUTO_TEST_CASE(errors) {
  check_error<fr::invalid_argument>(
      [] {
        fr::parallel_for({2, -3, 2, 2}, mixed_index{});
      },
      {"an extent is negative: -3"});
  const std::size_t n = std::size_t{1} << 20;
  check_error<fr::invalid_argument>(
      [&] {
        fr::parallel_for({n, n, n, n}, mixed_index{});
      },
      {"the shape 1048576 x 1048576 x 1048576 x 1048576 has too many elements"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::parallel_for(fr::stream(), {n, n, n, n}, mixed_index{});
      },
      {"has too many elements"});
}

BOOST_AUTO_TEST_CASE(too_many_blocks, *needs_cuda()) {
  const std::size_t n = std::size_t{1} << 12;
  check_error<fr::invalid_argument>(
      [&] {
        fr::parallel_for({n, n, n, n}, mixed_index{});
      },
      {"4096 x 4096 x 4096 x 4096 calls", "split it"});
}

BOOST_AUTO_TEST_CASE(failures_name_all_indices) {
  const fr::simulation sim("devices=1;schedule=random:3");
  const fr::stream s;
  fr::device_array<unsigned, 4> a({2, 3, 1, 4}, 0u);
  a.name("phase_space");
  fr::parallel_for(s, a.extents(), one_too_far{}, a);
  check_error<fr::device_error>([&] { s.synchronize(); },
                                {"index 4", "dimension 3", "'phase_space'", "called with index (1, 2, 0, 3)"});
}

BOOST_AUTO_TEST_SUITE_END()
