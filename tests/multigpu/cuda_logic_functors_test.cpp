// Kernels of loops and reductions over shards, of functors with a text, compile by NVRTC. Needs no device.
#include <boost/test/unit_test.hpp>
#include <string>

#include "cuda/jit/functor_source.hpp"
#include "cuda/jit/nvrtc_compiler.hpp"
#include "ferry/multigpu/detail/exchanges/gathered_argument.hpp"
#include "ferry/multigpu/detail/loops/shard_kernel_types.hpp"

namespace cuda_logic_functors_of_shards {
namespace {

namespace fr = ferry;
using namespace ferry::detail;

FERRY_FUNCTOR(mean_of_two, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const float, 1> u, fr::shard_span<float, 1> v) const {
    v(i) = (u(i - 1) + u(i + 1)) / 2;
  }
});
FERRY_FUNCTOR(cell, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> u) const {
    return u(i, j);
  }
});
FERRY_FUNCTOR(corner, {
  FERRY_HOST_DEVICE int operator()(fr::tile t, fr::shard_span<const int, 2> u) const { return u(t.row, t.column); }
});
FERRY_FUNCTOR(difference, {
  FERRY_HOST_DEVICE void operator()(std::size_t e, fr::shard_span<const int, 2> ends,
                                    fr::gathered_span<const double, 1> u, fr::gathered_span<const float, 2> v,
                                    fr::shard_span<double, 1> y) const {
    y(e) = u(ends(e, 0)) - u[ends(e, 1)] + v(ends(e, 0), v.extent(1) - 1);
  }
});
FERRY_FUNCTOR(copy_of_five, {
  FERRY_HOST_DEVICE int operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                   fr::shard_span<const int, 5> u, fr::shard_span<int, 5> v) const {
    return v(a, b, c, d, e) = u(a, b, c, d, e);
  }
});

// The text of the error, or nothing. Without NVRTC its error ends the test: machines that build for CUDA have it.
std::string error_of(const kernel_text& k) {
  try {
    (void)cuda::nvrtc_compiler().compile(cuda::functor_source(k), {9, 0});
    return {};
  } catch (const jit::compile_error& e) {
    return e.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_logic_functors_of_shards)

BOOST_AUTO_TEST_CASE(loops_and_reductions) {
  using line = fr::shard_span<const float, 1>;
  using plane = fr::shard_span<const double, 2>;
  using numbers = fr::shard_span<const int, 2>;
  BOOST_TEST(error_of(kernel_text_of<over_line, mean_of_two, part_space_1d, unsigned, mean_of_two, unit_strided<line>,
                                     unit_strided<fr::shard_span<float, 1>>>()) == "");
  BOOST_TEST(error_of(kernel_text_of<reducing_part, cell, part_space_2d, block_layout, cell, fr::plus, double, double*,
                                     unsigned*, plane>()) == "");
  BOOST_TEST(error_of(kernel_text_of<reducing_part, corner, part_space_of_tiles, block_layout, corner, fr::maximum, int,
                                     int*, unsigned*, numbers>()) == "");
  using five = fr::shard_span<int, 5>;
  using const_five = fr::shard_span<const int, 5>;
  BOOST_TEST(error_of(kernel_text_of<over_blocks, copy_of_five, space_nd<5, stretches<5>>, block_layout, copy_of_five,
                                     const_five, five>()) == "");
  BOOST_TEST(error_of(kernel_text_of<reducing_part, copy_of_five, space_nd<5, stretches<5>>, block_layout, copy_of_five,
                                     fr::plus, int, int*, unsigned*, const_five, five>()) == "");
  BOOST_TEST(error_of(kernel_text_of<over_line, difference, part_space_1d, unsigned, difference, numbers,
                                     fr::gathered_span<const double, 1>, fr::gathered_span<const float, 2>,
                                     fr::shard_span<double, 1>>()) == "");
  BOOST_TEST(error_of(kernel_text_of<reducing_parts, cell, const double*, unsigned, fr::plus, double, double*,
                                     unsigned*, double*>()) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_logic_functors_of_shards
