// Sources of generated kernels, and how they traverse memory. Needs no device.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "ferry/core/error.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/kernel_text.hpp"
#include "generator/recent_kernels.hpp"
#include "generator/reduction_kernel.hpp"

namespace generator_texts {
namespace {

using namespace ferry::detail;
using generator::access_class;
using generator::kernel_plan;
using generator::recent_kernels;
using generator::reduction_plan;

std::byte* address(std::size_t n) { return reinterpret_cast<std::byte*>(n); }

// y = a + b of two dimensions; strides in elements of 4 bytes.
struct sum_of_two {
  sum_of_two(std::size_t n0, std::size_t n1, std::array<std::ptrdiff_t, 2> a, std::array<std::ptrdiff_t, 2> b,
             std::size_t at = 1 << 20)
      : operands{{address(at), {4 * a[0], 4 * a[1]}, scalar_type::float32},
                 {address(2 << 20), {4 * b[0], 4 * b[1]}, scalar_type::float32}},
        outputs{{{address(3 << 20), {4, static_cast<std::ptrdiff_t>(4 * n0)}, scalar_type::float32}, 2}} {
    e.rank = n1 == 1 ? 1 : 2;
    e.extent = {n0, n1};
  }
  evaluation view() {
    e.code = code, e.operands = operands, e.outputs = outputs;
    return e;
  }
  evaluation e;
  std::vector<instruction> code{{operation::load, scalar_type::float32, scalar_type::float32, 0},
                                {operation::load, scalar_type::float32, scalar_type::float32, 1},
                                {operation::add, scalar_type::float32, scalar_type::float32, 0, 1}};
  std::vector<evaluation_operand> operands;
  std::vector<evaluation_output> outputs;
};

std::string kernel_text_of(const evaluation& e) { return generator::kernel_source_for(e, kernel_plan(e)).text; }
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

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

BOOST_AUTO_TEST_CASE(rows_columns_and_transposed_operands_have_classes) {
  sum_of_two row(512, 256, {1, 512}, {1, 0}), column(512, 256, {1, 512}, {0, 1}), turned(512, 256, {1, 512}, {256, 1}),
      strided(512, 256, {1, 512}, {2, 1024});
  BOOST_TEST((kernel_plan(row.view()).of_operand(1) == access_class::contiguous));
  BOOST_TEST(kernel_plan(row.view()).lanes == 4);
  BOOST_TEST((kernel_plan(column.view()).of_operand(1) == access_class::broadcast));
  BOOST_TEST(kernel_plan(column.view()).lanes == 4);
  const kernel_plan tiled(turned.view());
  BOOST_TEST((tiled.of_operand(1) == access_class::transposed));
  BOOST_TEST(tiled.has_tiles());
  BOOST_TEST(tiled.tile_axis == 1);
  BOOST_TEST(has(kernel_text_of(turned.view()), "__syncthreads();"));
  BOOST_TEST((kernel_plan(strided.view()).of_operand(1) == access_class::strided));
  BOOST_TEST(kernel_plan(strided.view()).lanes == 1);
  BOOST_TEST(!has(kernel_text_of(strided.view()), "__shared__"));
}

BOOST_AUTO_TEST_CASE(vectors_are_aligned_in_each_row) {
  sum_of_two padded(512, 256, {1, 514}, {1, 512}), odd(512, 256, {1, 513}, {1, 512}),
      ragged(510, 256, {1, 512}, {1, 512}), flat(510, 1, {1, 0}, {1, 0});
  ragged.outputs[0].to.stride_bytes[1] = 4 * 512;
  BOOST_TEST(kernel_plan(padded.view()).lanes == 2);
  BOOST_TEST(kernel_plan(odd.view()).lanes == 1);
  BOOST_TEST(kernel_plan(ragged.view()).lanes == 2);  // a row has no incomplete vector
  BOOST_TEST(kernel_plan(flat.view()).lanes == 4);    // except in one dimension
}

BOOST_AUTO_TEST_CASE(masked_vectors_are_stored_whole_where_all_their_elements_are) {
  sum_of_two s(512, 256, {1, 512}, {1, 512});
  BOOST_TEST(has(kernel_text_of(s.view()), "    *(lanes<float, 4>*)"));
  s.code.push_back({operation::less, scalar_type::boolean, scalar_type::float32, 0, 1});
  s.outputs[0].mask = 3;
  BOOST_TEST(has(kernel_text_of(s.view()), "if (w0[0] && w0[1] && w0[2] && w0[3])\n"));
}

BOOST_AUTO_TEST_CASE(blocks_cover_all_elements) {
  for (const std::size_t n : {1, 3, 4, 5, 1023, 1024, 1025, 77777}) {
    sum_of_two s(n, 1, {1, 0}, {1, 0}), scattered(n, 1, {2, 0}, {3, 0});
    for (const kernel_plan& p : {kernel_plan(s.view()), kernel_plan(scattered.view())}) {
      const std::size_t block = std::size_t{kernel_plan::threads} * p.unroll * p.lanes;
      BOOST_TEST(p.blocks() * block >= n);
      BOOST_TEST((p.blocks() - 1) * block < n);
      BOOST_TEST(p.positions == (n + p.lanes - 1) / p.lanes);
    }
  }
}

// Three dimensions: a + b, where b is contiguous along one of the outer axes.
BOOST_AUTO_TEST_CASE(tiles_have_the_axis_along_which_operands_are_contiguous) {
  std::vector<std::string> shapes;
  for (const std::uint8_t axis : {1, 2}) {
    sum_of_two s(64, 64, {1, 64}, {4096, 0});
    evaluation e = s.view();
    e.rank = 3;
    e.extent = {64, 64, 64};
    s.operands[0].stride_bytes[2] = s.outputs[0].to.stride_bytes[2] = 4 * 4096;
    s.operands[1].stride_bytes[axis] = 4;
    s.operands[1].stride_bytes[3u - axis] = 4 * 64;
    const kernel_plan p(e);
    BOOST_TEST((p.of_operand(1) == access_class::transposed));
    BOOST_TEST(p.tile_axis == axis);
    BOOST_TEST(p.blocks() == 64u * (64 / p.tile) * (64 / p.tile));
    const std::string text = kernel_text_of(e), k = std::to_string(axis), other = std::to_string(3 - axis);
    BOOST_TEST(has(text, ("i" + k + " *= " + std::to_string(p.tile) + ";").c_str()));
    BOOST_TEST(!has(text, ("i" + other + " *= ").c_str()));
    BOOST_TEST(has(text, ("(g.p1 + offset(j0, g.s1_0) + offset(j" + k).c_str()) == (axis == 1));
    shapes.emplace_back(p.shape());
  }
  BOOST_TEST((shapes[0] != shapes[1]));
}

BOOST_AUTO_TEST_CASE(tiles_fit_the_shared_memory) {
  sum_of_two s(512, 512, {1, 512}, {1, 512});
  s.operands.clear();
  for (std::size_t k = 0; k != 9; ++k) {
    s.operands.push_back({address((k + 1) << 20), {8 * 512, 8}, scalar_type::float64});
    if (k > 1)
      s.code.push_back({operation::load, scalar_type::float64, scalar_type::float64, static_cast<std::uint8_t>(k)});
  }
  const kernel_plan p(s.view());
  std::size_t bytes = 0, tiles = 0;
  for (std::size_t k = 0; k != 9; ++k)
    if (p.of_operand(k) == access_class::transposed) bytes += sizeof(double) * p.tile * (p.tile + 1u), ++tiles;
  BOOST_TEST((tiles > 0 && tiles < 9));
  BOOST_TEST(bytes <= std::size_t{48} << 10);
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

BOOST_AUTO_TEST_CASE(indices_have_64_bits_only_where_32_do_not_suffice) {
  sum_of_two narrow(1 << 30, 1, {1, 0}, {1, 0}), wide((std::size_t{1} << 33) + 7, 1, {1, 0}, {1, 0}),
      far(1 << 10, 1 << 10, {1, std::ptrdiff_t{1} << 30}, {1, 0});
  BOOST_TEST(!kernel_plan(narrow.view()).is_wide);
  BOOST_TEST(has(kernel_text_of(narrow.view()), "using index = unsigned;"));
  BOOST_TEST(kernel_plan(wide.view()).is_wide);
  BOOST_TEST(has(kernel_text_of(wide.view()), "using index = unsigned long long;"));
  BOOST_TEST(kernel_plan(far.view()).is_wide);
  sum_of_two many(1 << 20, 1 << 20, {1, 1 << 20}, {1, 0}), longer(std::size_t{1} << 32, 1, {1, 0}, {1, 0});
  BOOST_TEST(kernel_plan(many.view()).is_wide);
  BOOST_TEST(kernel_plan(longer.view()).is_wide);
  BOOST_TEST(longer.e.extent[0] / 4 < std::size_t{1} << 31);  // its positions alone would fit
}

BOOST_AUTO_TEST_CASE(arguments_are_as_the_structure_declares_them) {
  sum_of_two s(512, 256, {1, 600}, {0, 1});
  const kernel_plan plan(s.view());
  // p0, s0_1, p1, s1_1, q0, t0_1, n0, n1, positions, m0, h0; padded to 16 bytes.
  BOOST_TEST_REQUIRE(generator::argument_bytes(s.view(), plan) == std::size_t{96});
  alignas(16) std::byte bytes[96];
  generator::write_arguments(s.view(), plan, bytes);
  std::uint64_t words[11];
  std::memcpy(words, bytes, sizeof words);
  const std::uint64_t expected[] = {1 << 20, 2400, 2 << 20, 4, 3 << 20, 2048, 512, 256, 128 * 256};
  for (std::size_t k = 0; k != std::size(expected); ++k) BOOST_TEST(words[k] == expected[k], "word " << k);
  BOOST_TEST((std::uint64_t{1000} * words[9] >> words[10]) == 1000u / 128);
}

BOOST_AUTO_TEST_CASE(constants_are_the_first_arguments) {
  sum_of_two s(64, 1, {1, 0}, {1, 0});
  program_constant constants[2] = {};
  constants[0].bytes[0] = std::byte{17}, constants[1].bytes[15] = std::byte{18};
  evaluation e = s.view();
  e.constants = constants;
  const kernel_plan plan(e);
  // c0, c1, p0, p1, q0, n0, positions; padded to 16 bytes.
  BOOST_TEST_REQUIRE(generator::argument_bytes(e, plan) == std::size_t{80});
  alignas(16) std::byte bytes[80];
  generator::write_arguments(e, plan, bytes);
  BOOST_TEST((bytes[0] == std::byte{17} && bytes[31] == std::byte{18}));
  std::uint64_t words[5];
  std::memcpy(words, bytes + 32, sizeof words);
  const std::uint64_t expected[] = {1 << 20, 2 << 20, 3 << 20, 64, 16};
  for (std::size_t k = 0; k != std::size(expected); ++k) BOOST_TEST(words[k] == expected[k], "word " << k);
}

BOOST_AUTO_TEST_CASE(dividers_divide_all_narrow_numbers) {
  for (const std::size_t by : {1u, 2u, 3u, 7u, 128u, 641u, 65537u, 2147483646u, 2147483647u}) {
    const generator::divider d = generator::divider_for(by);
    for (const std::uint64_t n :
         {0ull, 1ull, by - 1ull, by + 0ull, by + 1ull, 2 * by - 1ull, 2147483646ull, 2147483647ull})
      if (n < 1ull << 31) BOOST_TEST((n * d.multiplier >> d.shift) == n / by, n << " / " << by);
  }
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

BOOST_AUTO_TEST_CASE(recent_kernels_are_of_equal_evaluations) {
  recent_kernels recent;
  int function = 0;
  const program_constant constant{};
  const auto fresh = [&] {
    sum_of_two s(512, 256, {1, 512}, {1, 0});
    s.e.constants = {&constant, 1};
    return s;
  };
  sum_of_two first = fresh();
  const evaluation e = first.view();
  BOOST_TEST(!recent.find(1, 0, e));
  recent.put(1, 0, e, kernel_plan(e), &function);
  sum_of_two moved = fresh();
  moved.operands[0].data += 4096, moved.outputs[0].to.data += 256;
  const auto* const found = recent.find(1, 0, moved.view());
  BOOST_TEST_REQUIRE(found);
  BOOST_TEST((found->function == &function && found->plan.shape() == kernel_plan(moved.view()).shape()));
  BOOST_TEST((!recent.find(2, 0, e) && !recent.find(1, 1, e)));
  const auto differs = [&](auto change) {
    sum_of_two s = fresh();
    change(s);
    return recent.find(1, 0, s.view()) == nullptr;
  };
  BOOST_TEST(differs([](sum_of_two& s) { s.e.fast_math = true; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.rank = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.extent[0] = 508; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.extent[1] = 255; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.constants = {}; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.code[2].what = operation::multiply; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.code[2].a = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].data += 4; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].type = scalar_type::int32; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[0].stride_bytes[0] = 8; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].stride_bytes[1] = 4; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].to.data += 8; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].to.stride_bytes[1] = 4096; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].value = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].mask = 1; }));
  BOOST_TEST(!differs([](sum_of_two&) {}));
  sum_of_two large = fresh();
  for (int k = 0; k != 30; ++k)
    large.code.push_back({operation::negate, scalar_type::float32, scalar_type::float32, 2});
  recent.put(1, 0, large.view(), kernel_plan(large.view()), &function);
  BOOST_TEST(!recent.find(1, 0, large.view()));
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

BOOST_AUTO_TEST_CASE(reductions_use_all_blocks_for_one_cell_and_threads_for_many) {
  sum_of_two s(1 << 12, 1 << 12, {1, 1 << 12}, {1, 1 << 12});
  const reduction_output sum{{address(4 << 20), {}, scalar_type::float32}, 2, reduction_operation::sum};
  reduction_evaluation r;
  r.input = s.view();
  r.input.outputs = {};
  r.results = {&sum, 1};
  r.is_reduced = {true, true};
  const reduction_plan all(r);
  BOOST_TEST(all.outputs == 1u);
  BOOST_TEST(all.reduced == std::size_t{1} << 24);
  BOOST_TEST(all.along == generator::reduction_threads);
  BOOST_TEST(all.blocks(0) > 100u);
  BOOST_TEST(all.launches() == 2u);
  BOOST_TEST(all.blocks(1) == 1u);
  BOOST_TEST(all.scratch_bytes >= all.parts * sizeof(float));
  r.is_reduced = {true, false};
  const reduction_plan rows(r);
  const std::string shape_of_rows = generator::reduction_kernel(r).shape();
  BOOST_TEST(rows.outputs == std::size_t{1} << 12);
  BOOST_TEST(rows.is_run);
  BOOST_TEST(rows.launches() == 1u);
  BOOST_TEST(rows.scratch_bytes == 0u);
  r.is_reduced = {false, true};
  const reduction_plan columns(r);
  BOOST_TEST(!columns.is_run);
  BOOST_TEST(columns.kept >= 32u);  // neighbors in memory
  BOOST_TEST((generator::reduction_kernel(r).shape() != shape_of_rows));
}

// What the kernel relies on where lines have several tiles.
BOOST_AUTO_TEST_CASE(tiles_of_scans_cover_lines_and_have_a_warp_of_owners) {
  std::size_t cut = 0, chained = 0;
  for (const std::size_t rows : {1, 2, 3, 7, 100, 5000, 100000})
    for (const std::size_t columns : {1, 2, 3, 20, 33, 600, 9000})
      for (const bool is_run : {false, true}) {
        const auto stride = static_cast<std::ptrdiff_t>(columns);
        sum_of_two s(columns, rows, {1, stride}, {1, stride});
        const reduction_output sum{{address(4 << 20), {}, scalar_type::float32}, 2, reduction_operation::sum};
        reduction_evaluation r;
        r.input = s.view();
        r.input.outputs = {};
        r.results = {&sum, 1};
        r.kind = reduction_kind::scan;
        r.is_reduced = {is_run, !is_run};
        const generator::scan_plan p(r);
        BOOST_TEST(p.kept * p.groups * p.lanes == generator::reduction_threads);
        BOOST_TEST((p.tiles * p.tile() >= p.reduced && (p.tiles - 1) * p.tile() < p.reduced));
        BOOST_TEST(p.blocks(0) * p.kept >= p.outputs * p.tiles);
        BOOST_TEST((p.lanes == 1 || p.is_run));
        if (p.tiles == 1) continue;
        ++cut;
        BOOST_TEST((p.is_run ? p.kept == 1 && p.lanes == 32 : p.kept <= (p.is_chain ? 64 : 32)));
        chained += p.is_chain;
        BOOST_TEST(p.is_chain == (p.strips() >= generator::scan_plan::least_chained));
        BOOST_TEST((p.is_chain || (p.window >= p.groups * p.lanes / 4 && p.window % generator::scan_plan::spans == 0)));
        BOOST_TEST(p.sums() >= (p.is_chain ? 1u : p.tiles + p.tiles * generator::scan_plan::spans / p.window));
        BOOST_TEST(p.cleared_bytes == p.outputs * p.sums() * 16);
      }
  BOOST_TEST(cut > 10u);
  BOOST_TEST((chained > 3u && chained < cut));
}

BOOST_AUTO_TEST_SUITE_END()
