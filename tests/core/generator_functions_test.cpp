// Functions of the program in the sources of generated kernels. Needs no device.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "ferry/core/function.hpp"
#include "generator/kernel_text.hpp"
#include "generator/reduction_kernel.hpp"

namespace generator_functions {
namespace {

using namespace ferry::detail;

#line 100 "folder/my \"model\".cpp"
FERRY_FUNCTION(float, poly, (float x, float c), {
  // comments and lines are not in the text
  return x * x + c;
});
FERRY_FUNCTION_USING((poly), double, outer, (float x), { return poly(x, 2); });
namespace other {
FERRY_FUNCTION(float, poly, (float x, float c), { return x + c; });
}
FERRY_FUNCTION(ferry::half, shortened, (ferry::bfloat16 x, bool b), { return ferry::half(b ? x : 0.f); });
FERRY_FUNCTION(std::complex<float>, turned, (std::complex<float> z), { return -z; });
#line 30 "generator_functions_test.cpp"

std::byte* address(std::size_t n) { return reinterpret_cast<std::byte*>(n << 20); }

// y = f(x, x, ...), of a vector.
struct call_of {
  explicit call_of(const function_definition& f, const function_definition* second = nullptr) {
    const scalar_type t = computed_as(f.parameter[0]);
    operands.push_back({address(1), {static_cast<std::ptrdiff_t>(size_of(t))}, t});
    code.push_back({operation::load, t, t, 0});
    for (const function_definition* g : {&f, second}) {
      if (!g) continue;
      const scalar_type r = computed_as(g->result);
      code.push_back({operation::call, r, r, static_cast<std::uint8_t>(calls.size())});
      calls.push_back({g, {}});
    }
    const scalar_type to = code.back().type;
    outputs.push_back(
        {{address(2), {static_cast<std::ptrdiff_t>(size_of(to))}, to}, static_cast<std::uint8_t>(code.size() - 1)});
    e.rank = 1;
    e.extent[0] = 4096;
  }
  const evaluation& view() {
    e.code = code, e.operands = operands, e.calls = calls, e.outputs = outputs;
    return e;
  }
  evaluation e;
  std::vector<instruction> code;
  std::vector<evaluation_operand> operands;
  std::vector<function_call> calls;
  std::vector<evaluation_output> outputs;
};

jit::kernel_source source_for(const evaluation& e) {
  return generator::kernel_source_for(e, generator::kernel_plan(e));
}
// In a macro of several lines, __LINE__ is the last of them for clang++, and the first for other compilers.
#if defined(__clang__)
const std::string line_of_poly = "103";
#else
const std::string line_of_poly = "100";
#endif
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace
}  // namespace generator_functions

BOOST_AUTO_TEST_SUITE(generator_functions)

BOOST_AUTO_TEST_CASE(the_text_of_functions) {
  call_of c(outer.definition());
  const std::string text = source_for(c.view()).text;
  const std::size_t from = text.find("namespace function0"), end = text.find("struct arguments");
  BOOST_TEST_REQUIRE((from != text.npos && end != text.npos));
  std::string functions = text.substr(from, end - from);
  const std::size_t last = functions.rfind("#line ");
  BOOST_TEST(functions.substr(0, last) == std::string("namespace function0 {\n") + "#line " + line_of_poly +
                                              " \"folder/my \\\"model\\\".cpp\"\n"
                                              "__device__ inline float poly(float x, float c) { return x * x + c; }\n"
                                              "}\n"
                                              "namespace function1 {\n"
                                              "using function0::poly;\n"
                                              "#line 104 \"folder/my \\\"model\\\".cpp\"\n"
                                              "__device__ inline double outer(float x) { return poly(x, 2); }\n"
                                              "}\n");
  const std::size_t lines =
      static_cast<std::size_t>(std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n'));
  BOOST_TEST(functions.substr(last) == "#line " + std::to_string(lines + 1) + " \"ferry_kernel.cu\"\n");
  BOOST_TEST(has(text, "const double r1 = function1::outer(r0);"));
}

BOOST_AUTO_TEST_CASE(functions_of_one_name_have_their_own_texts) {
  call_of one(poly.definition(), &other::poly.definition()), same(poly.definition(), &poly.definition());
  const std::string text = source_for(one.view()).text;
  BOOST_TEST(has(text, "function0::poly(r0, r0)"));
  BOOST_TEST(has(text, "function1::poly(r0, r0)"));
  BOOST_TEST(count_of(source_for(same.view()).text, "__device__ inline float poly(") == 1u);
}

BOOST_AUTO_TEST_CASE(types_of_registers_become_those_of_parameters) {
  call_of halves(shortened.definition()), complex(turned.definition());
  const std::string text = source_for(halves.view()).text;
  BOOST_TEST(has(text, "const float r1 = float(function0::shortened(ferry::bfloat16(r0), r0));"));
  BOOST_TEST(has(text, "class bfloat16"));
  BOOST_TEST(!has(text, "class complex"));
  const std::string turned_text = source_for(complex.view()).text;
  BOOST_TEST(has(turned_text, "const complex<float> r1 = function0::turned(std::complex<float>(r0)).plain();"));
  BOOST_TEST(has(turned_text, "class complex"));
}

BOOST_AUTO_TEST_CASE(shapes_depend_on_the_texts_of_functions) {
  call_of a(poly.definition()), b(other::poly.definition()), again(poly.definition());
  const generator::kernel_plan of_a(a.view()), of_b(b.view()), of_again(again.view());
  BOOST_TEST((of_a.shape() != of_b.shape()));
  BOOST_TEST((of_a.shape() == of_again.shape()));
  BOOST_TEST(source_for(a.view()).shape ==
             std::string("float y0 = poly(v0, v0) | rank 1, lanes 4 x 2, float:c | poly (folder/my \"model\".cpp:") +
                 line_of_poly + ")");
  const auto shape_of_sum = [](call_of& c) {
    reduction_output sum{{address(4), {}, scalar_type::float32}, 1, reduction_operation::sum};
    reduction_evaluation r;
    r.input = c.view();
    r.input.outputs = {};
    r.results = {&sum, 1};
    r.is_reduced = {true};
    const generator::reduction_kernel kernel(r);
    const jit::kernel_source source = kernel.source();
    BOOST_TEST(has(source.text, "r1 = function0::poly(r0, r0);"));
    BOOST_TEST(has(source.shape, "poly (folder/my \"model\".cpp:"));
    return kernel.shape();
  };
  BOOST_TEST((shape_of_sum(a) != shape_of_sum(b)));
  BOOST_TEST((shape_of_sum(a) == shape_of_sum(again)));
}

BOOST_AUTO_TEST_SUITE_END()
