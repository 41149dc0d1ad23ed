// Does the tile form of a 5-point stencil come near the bandwidth of a copy of the field?
#include <benchmark/benchmark.h>

#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "stencils.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

using field = fr::device_array<float, 2>;

// Small integers, so that the result does not depend on the order of additions.
FERRY_HOST_DEVICE float value_at(std::size_t i, std::size_t j) {
  return static_cast<float>(((i * 40503u + j) * 2654435761u >> 9) % 61);
}
struct write_values {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<float, 2> u) const {
    u(i, j) = value_at(i, j);
  }
};

void by_tiles(fr::stream_ref s, const field& u, field& v) {
  using tile = bm::five_point_tile;
  fr::parallel_for(s, fr::tiles{u.extents(), tile::rows, tile::columns}, tile{}, fr::in(u), fr::out(v));
}
void by_elements(fr::stream_ref s, const field& u, field& v) {
  fr::parallel_for(s, u.extents(), bm::five_point{}, fr::in(u), fr::out(v));
}

// True if rows [begin, end) of v are the stencil of the values.
bool is_right(const field& v, std::size_t begin, std::size_t end) {
  const std::size_t rows = v.extent(0), columns = v.extent(1);
  const std::vector<float> got = fr::to_vector(v.slice({begin, end}));
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const bool edge = i == 0 || j == 0 || i + 1 == rows || j + 1 == columns;
      const float expected =
          edge ? value_at(i, j)
               : 0.25f * (value_at(i - 1, j) + value_at(i + 1, j) + value_at(i, j - 1) + value_at(i, j + 1));
      if (got[(i - begin) * columns + j] != expected) return false;
    }
  return true;
}

// Checks both forms on fields whose sides are not multiples of a tile's, over all rows.
bool small_fields_are_right(fr::stream_ref s) {
  for (const auto& e : {fr::extents<2>{101, 77}, fr::extents<2>{70, 64}, fr::extents<2>{4, 4}, fr::extents<2>{1, 9}})
    for (const auto form : {by_tiles, by_elements}) {
      field u(e, s.where()), v(e, -1.f, s.where());
      fr::parallel_for(s, e, write_values{}, fr::out(u));
      form(s, u, v);
      if (!is_right(v, 0, e[0])) return false;
    }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  fr::stream stream{fr::device(0)};
  if (!small_fields_are_right(stream)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

  const std::size_t side = 20480;
  field u({side, side}, stream.where()), v({side, side}, -1.f, stream.where());
  fr::parallel_for(stream, u.extents(), write_values{}, fr::out(u));
  by_tiles(stream, u, v);
  for (const std::size_t begin : {std::size_t{0}, side / 2, side - 8})
    if (!is_right(v, begin, begin + 8)) return std::puts("wrong results: nothing was timed"), 1;

  const double bytes = 2.0 * static_cast<double>(u.size_bytes());
  fr::detail::backend& backend = fr::runtime::current().backend();
  const auto copy = bm::on_stream(stream, [&] {
    backend.copy(stream.timeline().stream(), v.unsynchronized_data(), u.unsynchronized_data(), u.size_bytes());
  });
  s.add({"5-point stencil of 20480 x 20480 floats, tiles", "GB/s",
         bm::on_stream(stream, [&] { by_tiles(stream, u, v); }), "the driver's copy of the field", copy,
         bm::bound::ratio_at_least(0.90), bytes});
  s.add({"5-point stencil of 20480 x 20480 floats, elements", "GB/s",
         bm::on_stream(stream, [&] { by_elements(stream, u, v); }), "the driver's copy of the field", copy,
         bm::bound::ratio_at_least(0.70), bytes});

  const fr::extents<3> cube{768, 768, 768};
  fr::device_array<float, 3> from(cube, 1.f, stream.where()), to(cube, stream.where());
  const auto of_cubes = [&] { fr::parallel_for(stream, cube, bm::seven_point{}, fr::in(from), fr::out(to)); };
  s.add({"7-point stencil of 768 x 768 x 768 floats, elements", "GB/s", bm::on_stream(stream, of_cubes),
         "the driver's copy of the field",
         bm::on_stream(stream,
                       [&] {
                         backend.copy(stream.timeline().stream(), to.unsynchronized_data(), from.unsynchronized_data(),
                                      from.size_bytes());
                       }),
         bm::bound::none(), 2.0 * static_cast<double>(from.size_bytes())});
  return s.run();
}
