// Functions of the program compile by NVRTC: all types, all that a body may use, and errors with the user's line. Needs
// no device.
#include <boost/test/unit_test.hpp>
#include <string>

#include "cuda/jit/nvrtc_compiler.hpp"
#include "expressions/bound_program.hpp"
#include "ferry/core/function.hpp"
#include "ferry/core/math.hpp"
#include "generator/kernel_text.hpp"
#include "generator/reduction_kernel.hpp"

namespace cuda_logic_functions {
namespace {

namespace fr = ferry;
using namespace ferry::detail;
constexpr jit::architecture target{9, 0};

FERRY_FUNCTION(float, all_of_cmath, (float x, double y), {
  float a = abs(x) + acos(x) + acosh(x) + asin(x) + asinh(x) + atan(x) + atan2(x, x) + atanh(x) + cbrt(x) + ceil(x);
  a += copysign(x, x) + cos(x) + cosh(x) + erf(x) + erfc(x) + exp(x) + exp2(x) + expm1(x) + fabs(x) + fdim(x, x);
  a += floor(x) + fma(x, x, x) + fmax(x, x) + fmin(x, x) + fmod(x, x) + hypot(x, x) + lgamma(x) + log(x) + log10(x);
  a += log1p(x) + log2(x) + logb(x) + nearbyint(x) + nextafter(x, x) + pow(x, x) + remainder(x, x) + rint(x) + round(x);
  a += sin(x) + sinh(x) + sqrt(x) + tan(x) + tanh(x) + tgamma(x) + trunc(x) + ldexp(x, 2) + scalbn(x, 2);
  a += isnan(x) || isinf(x) || !isfinite(x) || signbit(x) ? 1.f : 0.f;
  a += static_cast<float>(ilogb(x)) + static_cast<float>(lround(x)) + static_cast<float>(llround(x));
  double b =
      std::abs(y) + std::acos(y) + std::atan2(y, y) + std::cbrt(y) + std::exp(y) + std::fmod(y, y) + std::pow(y, y);
  b += std::sin(y) + std::sqrt(y) + std::erf(y) + std::lgamma(y) + std::round(y) + std::hypot(y, y) + std::log1p(y);
  b += std::isnan(y) || std::isinf(y) || std::signbit(y) ? 1. : 0.;
  b += std::min(y, 2.) + std::max(y, 3.) + std::clamp(y, 0., 1.) + M_PI;
  std::swap(a, x);
  int e = 0;
  b += frexp(y, &e) + INFINITY + NAN + HUGE_VAL;
  return a + static_cast<float>(b) + static_cast<float>(e);
});
FERRY_FUNCTION(std::int64_t, integers,
               (std::int8_t a, std::uint8_t b, std::int16_t c, std::uint16_t d, std::int32_t e, std::uint32_t f,
                std::int64_t g, std::uint64_t h),
               {
                 std::int64_t sum = a + b + c + d + e + static_cast<std::int64_t>(f) + g + static_cast<std::int64_t>(h);
                 for (int64_t k = 0; k < 3; ++k) {
                   if (sum % 2 == 0) continue;
                   sum = sum / 2;
                 }
                 const int table[] = {1, 2, 3};
                 switch (sum & 1) {
                   case 0: return table[e & 1];
                   default: break;
                 }
                 return ~sum ^ abs(e);
               });
FERRY_FUNCTION(fr::half, halves, (fr::half a, ferry::bfloat16 b, bool c), {
  const fr::bfloat16 d(a + b);
  return c ? fr::half(a * b) : fr::half::from_bits(static_cast<std::uint16_t>(fr::half(d).bits() + 1));
});
FERRY_FUNCTION(std::complex<double>, complexes, (std::complex<double> z, std::complex<float> w, double t), {
  std::complex<double> r = z * t + std::complex<double>(w) / z - 1. + t;
  r += std::exp(z) + std::sqrt(z) + std::pow(z, t) + std::conj(z) + std::polar(t, t);
  r *= std::complex<double>(std::abs(z), std::arg(z));
  r /= 2.;
  return z == r ? -r : std::complex<double>(std::norm(r) + real(r), r.imag());
});
FERRY_FUNCTION_USING((all_of_cmath, complexes), double, combined, (double x), {
  return all_of_cmath(static_cast<float>(x), x) + complexes(x, {1, 2}, x).real();
});

#line 4711 "/home/user/my model.cpp"
FERRY_FUNCTION(float, forgets_to_state_what_it_uses, (float x), { return static_cast<float>(combined(x)); });
#line 70 "cuda_logic_functions_test.cpp"

// The kernel for an assignment of an expression to a new array.
template <class T, std::size_t Rank, class F>
auto with_kernel(const fr::expression<T, Rank>& e, F f) {
  expression_program p = e.program();
  program_operand to;
  to.data = reinterpret_cast<const std::byte*>(1 << 20);
  to.shape = p.shape;
  to.type = scalar_type_of<T>();
  to.stride_bytes[0] = sizeof(T);
  const bound_output output{&to, p.converted(p.root, computed_as(to.type))};
  const bound_program bound(p, {&output, 1}, false);
  const evaluation view = bound.view();
  return f(view);
}
template <class T, std::size_t Rank>
std::string compiled(const fr::expression<T, Rank>& e) {
  return with_kernel(e, [](const evaluation& view) {
    const jit::kernel_source source = generator::kernel_source_for(view, generator::kernel_plan(view));
    try {
      return cuda::nvrtc_compiler().compile(source, target);
    } catch (const jit::compile_error& error) {
      BOOST_ERROR(error.what() << "\n" << source.text);
      return std::string();
    }
  });
}

}  // namespace

struct simulated {
  fr::simulation scope;
};

}  // namespace cuda_logic_functions

BOOST_FIXTURE_TEST_SUITE(cuda_logic_functions, cuda_logic_functions::simulated)
using namespace cuda_logic_functions;

BOOST_AUTO_TEST_CASE(all_that_a_body_may_use_compiles) {
  const fr::device_array<float> x({1000}, 1.f);
  const fr::device_array<std::complex<double>> z({1000}, 1.);
  BOOST_TEST(!compiled(all_of_cmath(x, x)).empty());
  BOOST_TEST(!compiled(integers(x, x, x, x, x, x, x, x)).empty());
  BOOST_TEST(!compiled(halves(x, x, x)).empty());
  BOOST_TEST(!compiled(complexes(z, z, x)).empty());
  BOOST_TEST(!compiled(combined(x) + halves(x, 1, true) * fr::sin(x)).empty());
  BOOST_TEST(!compiled(fr::exp(complexes(z, 2, x)) + fr::cast<fr::bfloat16>(x)).empty());
}

BOOST_AUTO_TEST_CASE(reductions_of_calls_compile) {
  const fr::device_array<float> x({1000}, 1.f);
  with_kernel(combined(x), [](const evaluation& view) {
    const reduction_output sum{{reinterpret_cast<std::byte*>(4 << 20), {}, scalar_type::float64},
                               view.outputs[0].value,
                               reduction_operation::sum,
                               reduction_finish::mean};
    reduction_evaluation r;
    r.input = view;
    r.input.outputs = {};
    r.results = {&sum, 1};
    r.is_reduced = {true};
    const jit::kernel_source source = generator::reduction_kernel(r).source();
    BOOST_TEST(!cuda::nvrtc_compiler().compile(source, target).empty());
  });
}

BOOST_AUTO_TEST_CASE(errors_in_a_text_name_the_line_of_the_program) {
  const fr::device_array<float> x({1000}, 1.f);
  with_kernel(forgets_to_state_what_it_uses(x), [](const evaluation& view) {
    const jit::kernel_source source = generator::kernel_source_for(view, generator::kernel_plan(view));
    try {
      (void)cuda::nvrtc_compiler().compile(source, target);
      BOOST_ERROR("it compiles:\n" << source.text);
    } catch (const jit::compile_error& e) {
      const std::string text = e.what();
      BOOST_TEST((text.find("/home/user/my model.cpp(4711): error") != text.npos), text);
      BOOST_TEST((text.find("combined") != text.npos), text);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
