// Kernels of loops before they are needed, on simulated devices that compile the texts of functors. Needs no device.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/functor.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/precompile.hpp"
#include "support/check_error.hpp"

namespace cuda_logic_precompile {
namespace {

namespace fr = ferry;

using support::check_error;

FERRY_FUNCTOR(add, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 1> x, fr::mdspan<int, 1> y) const {
    y(i) += x(i);
  }
});
FERRY_FUNCTOR(element, {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::mdspan<const int, 2> x) const { return x(i, j); }
});
FERRY_FUNCTOR(touch_tile, {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<int, 2> x) const { x(t.row, t.column) = 1; }
});
FERRY_FUNCTOR(touch_cube, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> x) const {
    x(i, j, k) = 1;
  }
});
FERRY_FUNCTOR(touch_four, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, std::size_t l,
                                    fr::mdspan<int, 4> x) const {
    x(i, j, k, l) = 1;
  }
});
[[maybe_unused]] int of_the_program(int x) { return x; }
FERRY_FUNCTOR(wrong, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] = of_the_program(1); }
});
FERRY_FUNCTOR(wrong_value, {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* y) const { return of_the_program(y[i]); }
});

constexpr const char* machine = "devices=2;nvrtc=on";
constexpr const char* remedy = "captures compile nothing: precompile it before the capture (fr::precompile_for";

// Captures f on s. A capture that throws is ended.
template <class F>
void capture(fr::stream& s, F f) {
  const fr::graph g = fr::capture(s, f);
}

}  // namespace
}  // namespace cuda_logic_precompile

BOOST_AUTO_TEST_SUITE(cuda_logic_precompile)
using namespace cuda_logic_precompile;

BOOST_AUTO_TEST_CASE(a_capture_needs_a_kernel) {
  const fr::simulation sim(machine);
  fr::stream s(fr::device(0));
  fr::device_array<int> x({100}, 1, fr::device(0)), y({100}, 2, fr::device(0));
  const auto loop = [&] { fr::parallel_for(s, 100, add{}, fr::in(x), fr::inout(y)); };
  check_error<fr::not_supported>([&] { capture(s, loop); }, remedy);
  check_error<fr::not_supported>([&] { capture(s, loop); }, "loop with add (");
  fr::precompile_for(s, 100, add{}, fr::in(x), fr::inout(y));
  BOOST_TEST((fr::to_vector(y) == std::vector<int>(100, 2)));  // nothing ran
  fr::graph g = fr::capture(s, loop);
  g.launch(s);
  BOOST_TEST((fr::to_vector(y) == std::vector<int>(100, 3)));
}

BOOST_AUTO_TEST_CASE(each_device_and_each_stride_has_a_kernel) {
  const fr::simulation sim(machine);
  fr::stream s(fr::device(0)), other(fr::device(1));
  fr::device_array<int> x({100}, 1, fr::device(0)), y({100}, 2, fr::device(0)), far({100}, 3, fr::device(1));
  fr::precompile_for(100, add{}, fr::in(x), fr::inout(y));  // of the written array's device
  capture(s, [&] { fr::parallel_for(s, 7, add{}, fr::in(x), fr::inout(y)); });
  check_error<fr::not_supported>(
      [&] { capture(other, [&] { fr::parallel_for(other, 100, add{}, fr::in(far), fr::inout(far)); }); }, remedy);
  auto odd = y.slice(fr::slice(1, 100, 2));
  const auto strided = [&] { fr::parallel_for(s, 50, add{}, fr::in(x.slice({0, 50})), fr::inout(odd)); };
  check_error<fr::not_supported>([&] { capture(s, strided); }, remedy);
  fr::precompile_for(s, 50, add{}, fr::in(x.slice({0, 50})), fr::inout(odd));
  capture(s, strided);
}

BOOST_AUTO_TEST_CASE(spaces) {
  const fr::simulation sim(machine);
  fr::stream s(fr::device(0));
  fr::device_array<int, 2> x({30, 20}, 0, fr::device(0));
  fr::device_array<int, 3> v({3, 4, 5}, 0, fr::device(0));
  fr::precompile_for(fr::tiles{x.extents(), 4, 4}, touch_tile{}, x);
  fr::device_array<int, 4> w({3, 4, 5, 6}, 0, fr::device(0));
  fr::precompile_for({3, 4, 5}, touch_cube{}, v);
  fr::precompile_for(s, {3, 4, 5, 6}, touch_four{}, w);
  capture(s, [&] {
    fr::parallel_for(s, fr::tiles{x.extents(), 4, 4}, touch_tile{}, x);
    fr::parallel_for(s, v.extents(), touch_cube{}, v);
    fr::parallel_for(s, w.extents(), touch_four{}, w);
  });
}

BOOST_AUTO_TEST_CASE(reductions) {
  const fr::simulation sim(machine);
  fr::stream s(fr::device(0));
  fr::device_array<int, 2> x({30, 20}, 2, fr::device(0));
  std::optional<fr::scalar<std::int64_t>> sum;
  const auto reduce = [&] { sum = fr::parallel_reduce(s, {30, 20}, element{}, fr::plus{}, fr::in(x)); };
  check_error<fr::not_supported>([&] { capture(s, reduce); }, remedy);
  fr::precompile_reduce(s, {30, 20}, element{}, fr::maximum{}, fr::in(x));
  check_error<fr::not_supported>([&] { capture(s, reduce); }, remedy);  // of another operation
  fr::precompile_reduce({30, 20}, element{}, fr::plus{}, fr::in(x));
  fr::graph g = fr::capture(s, reduce);
  g.launch(s);
  BOOST_TEST(sum->value() == 1200);
}

BOOST_AUTO_TEST_CASE(kernels_that_do_not_compile) {
  const fr::simulation sim(machine);
  fr::device_array<int> x({10}, 1, fr::device(0));
  check_error<fr::not_supported>([&] { fr::precompile_for(10, wrong{}, fr::out(x)); }, "of_the_program");
  check_error<fr::not_supported>([&] { fr::parallel_for(10, wrong{}, fr::out(x)); }, "its kernel cannot be compiled");
  check_error<fr::not_supported>([&] { fr::precompile_reduce(10, wrong_value{}, fr::plus{}, fr::in(x)); },
                                 "loop with wrong_value (");
  check_error<fr::not_supported>([&] { fr::parallel_reduce(10, wrong_value{}, fr::plus{}, fr::in(x)).value(); },
                                 "of_the_program");
  BOOST_TEST((fr::to_vector(x) == std::vector<int>(10, 1)));
}

BOOST_AUTO_TEST_SUITE_END()
