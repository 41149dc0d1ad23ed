// Sources of generated kernels, and the shapes that determine them. Needs no device.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "generator_fixture.hpp"

namespace generator_texts {
namespace {

constexpr const char* text_of_a_sum = R"(struct arguments {
  const char* p0;
  const char* p1;
  char* q0;
  unsigned long long n0;
  unsigned long long positions;
};
__device__ __forceinline__ void element(const arguments& g, float v0, float v1, float& y0) {
  const float r0 = v0;
  const float r1 = v1;
  const float r2 = r0 + r1;
  y0 = r2;
}
extern "C" __global__ void __launch_bounds__(256) ferry_kernel(const __grid_constant__ arguments g) {
  const index first = (index)blockIdx.x * 256u + threadIdx.x;
  const index end = (index)g.positions;
  index i0[1];
  lanes<float, 4> v0[1];
  lanes<float, 4> v1[1];
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
    index at = first + u * 256u;
    if (at >= end) continue;
    i0[u] = at;
    if (i0[u] < (index)(g.n0 / 4)) {
      v0[u] = *(const lanes<float, 4>*)(g.p0 + offset(i0[u], 16));
      v1[u] = *(const lanes<float, 4>*)(g.p1 + offset(i0[u], 16));
    } else {
      for (int l = 0; l < (int)(g.n0 % 4); ++l) {
      v0[u].v[l] = ((const float*)(g.p0 + offset(i0[u], 16)))[l];
      v1[u].v[l] = ((const float*)(g.p1 + offset(i0[u], 16)))[l];
    }
    }
  }
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
    if (first + u * 256u >= end) continue;
    lanes<float, 4> y0;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      element(g, v0[u].v[l], v1[u].v[l], y0.v[l]);
    }
    if (i0[u] < (index)(g.n0 / 4))
      *(lanes<float, 4>*)(g.q0 + offset(i0[u], 16)) = y0;
    else
      for (int l = 0; l < 4; ++l)
        if (true && i0[u] * 4ull + l < g.n0) ((float*)(g.q0 + offset(i0[u], 16)))[l] = y0.v[l];
  }
}
)";

}  // namespace
}  // namespace generator_texts

BOOST_AUTO_TEST_SUITE(generator_texts)

BOOST_AUTO_TEST_CASE(the_text_of_a_sum) {
  sum_of_two s(1 << 20, 1, {1, 0}, {1, 0});
  const std::string text = kernel_text_of(s.view());
  const std::size_t from = text.find("struct arguments");
  BOOST_TEST_REQUIRE((from != std::string::npos));
  BOOST_TEST(text.substr(from) == text_of_a_sum);
  const kernel_plan plan(s.view());
  BOOST_TEST(plan.lanes == 4);
  BOOST_TEST(plan.blocks() == std::size_t{1024});
  BOOST_TEST(generator::shape_text(s.view(), plan) == "float y0 = add(v0, v1) | rank 1, lanes 4 x 1, float:c float:c");
}

BOOST_AUTO_TEST_CASE(extents_and_addresses_do_not_change_the_shape_but_alignment_does) {
  sum_of_two one(1 << 20, 1, {1, 0}, {1, 0}), other(77777, 1, {1, 0}, {1, 0}, 5 << 20),
      unaligned(1 << 20, 1, {1, 0}, {1, 0}, (1 << 20) + 4);
  const kernel_plan a(one.view()), b(other.view()), c(unaligned.view());
  BOOST_TEST((a.shape() == b.shape()));
  BOOST_TEST(kernel_text_of(one.view()) == kernel_text_of(other.view()));
  BOOST_TEST((a.shape() != c.shape()));
  BOOST_TEST(c.lanes == 1);
}

BOOST_AUTO_TEST_CASE(masked_vectors_are_stored_whole_where_all_their_elements_are) {
  sum_of_two s(512, 256, {1, 512}, {1, 512});
  BOOST_TEST(has(kernel_text_of(s.view()), "    *(lanes<float, 4>*)"));
  s.code.push_back({operation::less, scalar_type::boolean, scalar_type::float32, 0, 1});
  s.outputs[0].mask = 3;
  BOOST_TEST(has(kernel_text_of(s.view()), "if (w0[0] && w0[1] && w0[2] && w0[3])\n"));
}

// A kernel is found by its shape: equal shapes have equal sources, and other sources other shapes.
BOOST_AUTO_TEST_CASE(shapes_determine_sources) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const evaluation& e) {
    const kernel_plan p(e);
    const jit::kernel_source source = generator::kernel_source_for(e, p);
    all.emplace_back(p.shape(), source.options.front() + source.text);
  };
  for (const std::size_t n0 : {std::size_t{512}, std::size_t{510}, std::size_t{1} << 32})
    for (const std::size_t n1 : {1, 256})
      for (const std::ptrdiff_t inner : {0, 1, 2, 256})
        for (const std::ptrdiff_t outer : {1, 512, 513})
          for (const std::size_t at : {1 << 20, (1 << 20) + 4, (1 << 20) + 8}) {
            sum_of_two s(n0, n1, {inner, outer}, {1, 512}, at);
            add(s.view());
            s.e.fast_math = true;
            add(s.view());
            s.e.fast_math = false;
            s.code[2].what = operation::multiply;
            add(s.view());
            s.code.push_back({operation::less, scalar_type::boolean, scalar_type::float32, 0, 1});
            add(s.view());
            s.outputs[0].mask = 3;
            add(s.view());
            s.outputs[0].value = 1;
            add(s.view());
            s.operands[1].type = scalar_type::int32;
            add(s.view());
            s.outputs[0].to.type = scalar_type::int32;
            s.code[1] = {operation::load, scalar_type::int32, scalar_type::int32, 1};
            add(s.view());
          }
  std::size_t equal = 0;
  for (std::size_t i = 0; i != all.size(); ++i)
    for (std::size_t j = 0; j != i; ++j) {
      BOOST_REQUIRE(((all[i].first == all[j].first) == (all[i].second == all[j].second)));
      equal += all[i].first == all[j].first;
    }
  BOOST_TEST(equal > 100u);
}

BOOST_AUTO_TEST_CASE(constants_of_several_types_may_share_bytes) {
  sum_of_two s(64, 1, {1, 0}, {1, 0});
  s.code.push_back({operation::constant, scalar_type::float32, scalar_type::float32, 0});
  s.code.push_back({operation::constant, scalar_type::int32, scalar_type::int32, 0});
  const program_constant zero{};
  evaluation e = s.view();
  e.constants = {&zero, 1};
  const std::string text = kernel_text_of(e);
  BOOST_TEST(has(text, "value_of<float>(g.c0)"));
  BOOST_TEST(has(text, "value_of<int>(g.c0)"));
}

BOOST_AUTO_TEST_CASE(contraction_is_allowed_by_fast_math_alone) {
  sum_of_two s(64, 1, {1, 0}, {1, 0});
  evaluation e = s.view();
  BOOST_TEST((generator::kernel_source_for(e, kernel_plan(e)).options == std::vector<std::string>{"--fmad=false"}));
  const std::string plain(kernel_plan(e).shape());
  e.fast_math = true;
  BOOST_TEST((generator::kernel_source_for(e, kernel_plan(e)).options == std::vector<std::string>{"--use_fast_math"}));
  BOOST_TEST((kernel_plan(e).shape() != plain));
}

BOOST_AUTO_TEST_SUITE_END()
