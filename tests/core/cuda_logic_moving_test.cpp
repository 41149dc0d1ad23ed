// Kernels that read elements at computed indices compile by NVRTC: all types, vectors, tiles, reductions, and checked
// indices. Needs no device.
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstdlib>
#include <string>

#include "cuda/jit/nvrtc_compiler.hpp"
#include "expressions/bound_program.hpp"
#include "ferry/core/moving.hpp"
#include "generator/kernel_text.hpp"
#include "generator/reduction_kernel.hpp"

namespace cuda_logic_moving {
namespace {

namespace fr = ferry;
using namespace ferry::detail;
constexpr jit::architecture target{9, 0};

// The kernel for an assignment of an expression to a new array.
template <class T, std::size_t Rank, class F>
auto with_kernel(const fr::expression<T, Rank>& e, F f) {
  expression_program p = e.program();
  program_operand to;
  to.data = reinterpret_cast<const std::byte*>(1 << 20);
  to.shape = p.shape;
  to.type = scalar_type_of<T>();
  auto stride = static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::size_t d = 0; d != to.shape.rank; ++d) {
    to.stride_bytes[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(to.shape.extent[d]);
  }
  const bound_output output{&to, p.converted(p.root, computed_as(to.type))};
  const bound_program bound(p, {&output, 1}, true);
  const evaluation view = bound.view();
  return f(view, generator::kernel_plan(view));
}

template <class T, std::size_t Rank>
std::string compile(const fr::expression<T, Rank>& e) {
  const jit::kernel_source source = with_kernel(
      e, [](const evaluation& view, const generator::kernel_plan& p) { return generator::kernel_source_for(view, p); });
  try {
    BOOST_TEST(!cuda::nvrtc_compiler().compile(source, target).empty());
  } catch (const jit::compile_error& error) {
    BOOST_ERROR(error.what() << "\n" << source.text);
  }
  return source.text;
}

template <class T>
void compile_type() {
  const fr::device_array<T, 2> a({64, 48});
  const fr::device_array<int> i({37}, 1);
  compile(fr::take(a, i, 1));
  compile(fr::pad(a, {{1, 2}}, T()));
}

}  // namespace
}  // namespace cuda_logic_moving

BOOST_AUTO_TEST_SUITE(cuda_logic_moving)

BOOST_AUTO_TEST_CASE(all_types_compile) {
  const fr::simulation sim;
  compile_type<bool>(), compile_type<std::int8_t>(), compile_type<std::uint16_t>(), compile_type<int>();
  compile_type<std::uint64_t>(), compile_type<fr::half>(), compile_type<fr::bfloat16>(), compile_type<float>();
  compile_type<double>(), compile_type<std::complex<float>>(), compile_type<std::complex<double>>();
}

BOOST_AUTO_TEST_CASE(all_traversals_compile) {
  const fr::simulation sim;
  const fr::device_array<float, 2> a({64, 64}, 1.f);
  const fr::device_array<std::int64_t> i({64}, 1);
  compile(fr::take(a, i, 0) + a.transpose());                      // tiles
  compile(fr::take(a.transpose(), i, 0) * 2 + fr::take(a, i, 1));  // strided
  compile(fr::pad(a, {{3, 4}, {0, 5}}, fr::pad_mode::reflect));
  compile(fr::pad(a, {{3, 4}}, fr::pad_mode::wrap) + 1);
  compile(fr::repeat(a, 3) + fr::tiled(a, {1, 3}));
  compile(fr::concatenate(1, a, a.slice({{}, {0, 3}}), a));
  compile(fr::stack(2, a, a));
  with_kernel(fr::take(a, i, 1) + a, [](const evaluation& e, const generator::kernel_plan& p) {
    BOOST_TEST(p.lanes == 2);
    BOOST_TEST(needs_compiled_kernel(e));
  });
}

BOOST_AUTO_TEST_CASE(vectors_do_not_read_behind_the_end) {
  const fr::simulation sim;
  const fr::device_array<float> a({1002}, 1.f);
  const fr::device_array<int> i({1002}, 1);
  with_kernel(fr::take(a, i) + a, [](const evaluation&, const generator::kernel_plan& p) { BOOST_TEST(p.lanes == 4); });
  const std::string text = compile(fr::take(a, i) + a);
  BOOST_TEST((text.find("if (i0[u] * 4ull + l >= g.n0) continue;") != text.npos), text);
}

BOOST_AUTO_TEST_CASE(reductions_compile) {
  const fr::simulation sim;
  const fr::device_array<float, 2> a({64, 64}, 1.f);
  const fr::device_array<int> i({64}, 1);
  with_kernel(fr::take(a, i, 1) + 1, [](const evaluation& view, const generator::kernel_plan&) {
    const reduction_output sum{{reinterpret_cast<std::byte*>(4 << 20), {}, scalar_type::float32},
                               view.outputs[0].value,
                               reduction_operation::sum};
    reduction_evaluation r;
    r.input = view;
    r.input.outputs = {};
    r.results = {&sum, 1};
    r.is_reduced = {true, true};
    const jit::kernel_source source = generator::reduction_kernel(r).source();
    BOOST_TEST(!cuda::nvrtc_compiler().compile(source, target).empty());
  });
}

BOOST_AUTO_TEST_CASE(checked_indices_trap) {
  const fr::simulation sim;
  const fr::device_array<float> a({1000}, 1.f);
  const fr::device_array<int> i({1000}, 1);
  const char* const set = std::getenv("FERRY_CHECK");
  const std::string before = set ? set : "";
  ::setenv("FERRY_CHECK", "on", 1);
  const std::string text = compile(fr::take(a, i) * 2);
  set ? ::setenv("FERRY_CHECK", before.c_str(), 1) : ::unsetenv("FERRY_CHECK");
  BOOST_TEST((text.find("__trap") != text.npos), text);
}

BOOST_AUTO_TEST_SUITE_END()
