// Kernels of functors with a text compile by NVRTC, and its errors name the lines of the program. Needs no device.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "cuda/jit/functor_source.hpp"
#include "cuda/jit/nvrtc_compiler.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/atomic_ref.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/kernels/kernel_bodies.hpp"
#include "ferry/core/detail/kernels/kernel_types.hpp"
#include "ferry/core/soa_span.hpp"
#include "ferry/core/transform.hpp"
#include "support/check_error.hpp"

namespace cuda_logic_functors {
namespace {

namespace fr = ferry;
using namespace ferry::detail;

FERRY_FUNCTOR(move, {
  float by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<float, const float> p) const {
    FERRY_ASSERT(i < p.size(), "a particle that exists");
    p.get<0>(i) += by * p.get<1>(i);
  }
});
FERRY_FUNCTOR(halves, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const fr::half* x, fr::mdspan<fr::bfloat16, 1> y) const {
    y(i) = fr::bfloat16(2 * static_cast<float>(x[i]));
  }
});
FERRY_FUNCTOR(largest, {
  FERRY_HOST_DEVICE float operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<const float, 3> u) const {
    return std::fabs(u(i, j, k)) + std::numeric_limits<float>::min();
  }
});
FERRY_FUNCTOR(copy_all, {
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                    std::size_t f, fr::mdspan<const double, 6> x, fr::mdspan<double, 6> y) const {
    y(a, b, c, d, e, f) = x(a, b, c, d, e, f);
  }
});
FERRY_FUNCTOR(of_four, {
  FERRY_HOST_DEVICE int operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                   fr::mdspan<const int, 4> x) const {
    return x(a, b, c, d);
  }
});
FERRY_FUNCTOR(of_the_standard_library, {
  template <class T>
  FERRY_HOST_DEVICE static T limited(T x) {
    return std::clamp(x, T(-1), std::min(T(1), std::max(T(0), std::numeric_limits<T>::max())));
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::array<double, 2> c, double* y) const {
    const auto line = [&](double x) { return c[0] + c[1] * x; };
    y[i] = limited(line(std::sin(y[i])));
  }
});
FERRY_FUNCTOR(count_up, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, unsigned* counts, double* sums) const {
    fr::atomic_ref<unsigned>(counts[x[i]]).fetch_add(1u);
    fr::atomic_ref<double>(sums[x[i]]).fetch_add(0.5);
  }
});
// NVRTC does not know this function.
[[maybe_unused]] int of_the_program(int x) { return x; }
const unsigned line_of_wrong = __LINE__ + 1;
FERRY_FUNCTOR(wrong, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] = of_the_program(1); }
});

FERRY_FUNCTOR(wrong_value, {
  FERRY_HOST_DEVICE int operator()(int x) const { return of_the_program(x); }
});
FERRY_FUNCTOR(scaled_sum, {
  float a;
  FERRY_HOST_DEVICE float operator()(float x, float y) const { return a * x + y; }
});
FERRY_FUNCTOR(half_and_count, {
  fr::half half;
  short count;
});
FERRY_FUNCTOR_USING((half_and_count), halves_and_counts, {
  FERRY_HOST_DEVICE half_and_count operator()(double x) const {
    return {fr::half(static_cast<float>(x / 2)), static_cast<short>(1 / x)};
  }
});

// The machine code, or the text of the error. Without NVRTC the error ends the test: machines that build for CUDA have
// it.
std::string compiled(const kernel_text& k) {
  try {
    return cuda::nvrtc_compiler().compile(cuda::functor_source(k), {9, 0});
  } catch (const jit::compile_error& e) {
    return e.what();
  }
}
bool compiles(const kernel_text& k) { return compiled(k).find("does not compile") == std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_logic_functors)

BOOST_AUTO_TEST_CASE(types_of_parameters) {
  using particles = fr::soa_span<float, const float>;
  BOOST_TEST(compiles(kernel_text_of<over_line, move, space_1d, unsigned, move, particles>()),
             (compiled(kernel_text_of<over_line, move, space_1d, unsigned, move, particles>())));
  BOOST_TEST(compiles(kernel_text_of<over_line, halves, space_1d, unsigned, halves, const fr::half*,
                                     unit_strided<fr::mdspan<fr::bfloat16, 1>>>()));
  using cube = fr::mdspan<const float, 3>;
  BOOST_TEST(compiles(kernel_text_of<reducing_space, largest, space_3d, largest, fr::maximum, float, float*, cube>()));
  using six = fr::mdspan<double, 6>;
  using const_six = fr::mdspan<const double, 6>;
  const kernel_text copies = kernel_text_of<over_blocks, copy_all, space_nd<6>, block_layout, copy_all,
                                            unit_strided<const_six>, unit_strided<six>>();
  BOOST_TEST(compiles(copies), compiled(copies));
  BOOST_TEST(compiles(
      kernel_text_of<over_blocks, copy_all, space_nd<6, from_first<6>>, block_layout, copy_all, const_six, six>()));
  BOOST_TEST(compiles(kernel_text_of<reducing_space, of_four, space_nd<4>, of_four, fr::plus, std::int64_t,
                                     std::int64_t*, fr::mdspan<const int, 4>>()));
  BOOST_TEST(compiles(kernel_text_of<reducing_values, largest, const float*, unsigned, fr::maximum, float, float*>()));
}

BOOST_AUTO_TEST_CASE(the_language_and_the_standard_library) {
  using f = of_the_standard_library;
  const std::string text =
      compiled(kernel_text_of<over_line, f, space_1d, unsigned, f, std::array<double, 2>, double*>());
  BOOST_TEST(text.find("does not compile") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(atomic_operations) {
  const std::string text =
      compiled(kernel_text_of<over_line, count_up, space_1d, unsigned, count_up, const int*, unsigned*, double*>());
  BOOST_TEST(text.find("does not compile") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(values_of_elements) {
  const fr::simulation sim("devices=1;nvrtc=on");  // throws if a kernel does not compile
  const fr::device d(0);
  fr::device_array<float> x({1000}, 1.f, d), y({1000}, 2.f, d);
  fr::transform(fr::out(y), scaled_sum{2}, fr::in(x), fr::in(y));
  auto tail = y.slice({1, 999});
  fr::transform(fr::out(tail), scaled_sum{2}, fr::in(x.slice({2, 1000})), fr::in(tail));
  BOOST_TEST(fr::to_vector(y)[0] == 4.f);
  BOOST_TEST(fr::to_vector(y)[1] == 6.f);
  fr::device_array<double, 2> u({20, 30}, 0.5, d);
  fr::device_array<fr::half, 2> v({30, 20}, fr::half(0.f), d);
  fr::device_array<short, 2> w({30, 20}, short{0}, d);
  auto v_turned = v.transpose();
  auto w_turned = w.transpose();
  fr::transform(fr::out(v_turned), fr::out(w_turned), halves_and_counts{}, fr::in(u));
  BOOST_TEST(static_cast<float>(fr::to_vector(v)[0]) == 0.25f);
  BOOST_TEST(fr::to_vector(w)[599] == 2);
  fr::device_array<int> z({10}, 0, d);
  support::check_error<fr::not_supported>([&] { fr::transform(fr::out(z), wrong_value{}, fr::in(z)); },
                                          {"loop with wrong_value (", "of_the_program"});
}

BOOST_AUTO_TEST_CASE(errors_name_the_line_of_the_program) {
  const std::string text = compiled(kernel_text_of<over_line, wrong, space_1d, unsigned, wrong, int*>());
  BOOST_TEST(
      text.find("cuda_logic_functors_test.cpp(" + std::to_string(line_of_wrong) + "): error") != std::string::npos,
      text);
  BOOST_TEST(text.find("of_the_program") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(equal_functors_of_two_places_have_kernels_of_their_own) {
  const kernel_text a = kernel_text_of<over_line, wrong, space_1d, unsigned, wrong, int*>();
  const kernel_text b = kernel_text_of<over_line, wrong, space_1d, unsigned, wrong, unsigned*>();
  BOOST_TEST(cuda::functor_source(a).text != cuda::functor_source(b).text);
  BOOST_TEST(cuda::functor_source(a).text.find("cuda_logic_functors_test.cpp") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_logic_functors
