// How generated kernels traverse memory: vectors, tiles, blocks, and the size of indices. Needs no device.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "generator/reduction_kernel.hpp"
#include "generator_fixture.hpp"

BOOST_AUTO_TEST_SUITE(generator_texts)

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

BOOST_AUTO_TEST_CASE(reductions_use_all_blocks_for_one_cell_and_threads_for_many) {
  sum_of_two s(1 << 12, 1 << 12, {1, 1 << 12}, {1, 1 << 12});
  const reduction_output sum{{address(4 << 20), {}, scalar_type::float32}, 2, reduction_operation::sum};
  reduction_evaluation r;
  r.input = s.view();
  r.input.outputs = {};
  r.results = {&sum, 1};
  r.is_reduced = {true, true};
  const generator::reduction_plan all(r);
  BOOST_TEST(all.outputs == 1u);
  BOOST_TEST(all.reduced == std::size_t{1} << 24);
  BOOST_TEST(all.along == generator::reduction_threads);
  BOOST_TEST(all.blocks(0) > 100u);
  BOOST_TEST(all.launches() == 2u);
  BOOST_TEST(all.blocks(1) == 1u);
  BOOST_TEST(all.scratch_bytes >= all.parts * sizeof(float));
  r.is_reduced = {true, false};
  const generator::reduction_plan rows(r);
  const std::string shape_of_rows = generator::reduction_kernel(r).shape();
  BOOST_TEST(rows.outputs == std::size_t{1} << 12);
  BOOST_TEST(rows.is_run);
  BOOST_TEST(rows.launches() == 1u);
  BOOST_TEST(rows.scratch_bytes == 0u);
  r.is_reduced = {false, true};
  const generator::reduction_plan columns(r);
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
