// How fast is sorting, compared with CUB?
// as: host
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#if defined(FERRY_HAS_CUDA)
#include "by_cub.hpp"
#endif

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// Integers without a pattern: bits 20 to 50 of products of the index by an odd number.
void write_keys(fr::stream_ref s, fr::device_array<int>& a) {
  const auto product = (fr::index(0) + 1) * 0x9e3779b97f4a7c15;
  fr::assign(s, a, fr::cast<int>((product >> 20) & 0x7fffffff) - (1 << 30));
}

bool is_sorted(const fr::device_array<int>& a) {
  const std::vector<int> v = fr::to_vector(fr::sort(a));
  std::vector<int> want = fr::to_vector(a);
  std::sort(want.begin(), want.end());
  return v == want;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 9, .milliseconds = 50});
  const fr::device d(0);
  const fr::stream_ref stream = fr::default_stream(d);
  fr::device_array<int> few({100000}, d);
  write_keys(stream, few);
  if (!is_sorted(few)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(FERRY_HAS_CUDA)
  const std::size_t n = std::size_t{1} << 28;
  fr::device_array<int> a({n}, d), y({n}, d);
  fr::device_array<float> x({n}, d), z({n}, d);
  fr::device_array<unsigned> positions({n}, d), order({n}, d);
  write_keys(stream, a);
  fr::assign(stream, x, fr::cast<float>(a));
  fr::assign(stream, positions, fr::cast<unsigned>(fr::index(0)));
  const std::size_t bytes = bm::cub_sorting_scratch(n);
  fr::device_array<std::byte> scratch({bytes}, d);
  fr::synchronize();
  void* const native = bm::raw_handle(stream);
  const auto timed = [&](auto body) { return bm::on_stream(stream, body); };
  const auto at = [](auto& v) { return v.unsynchronized_data(); };
  const double size = static_cast<double>(n) * 4;
  s.add({"sort, 2^28 ints", "GB/s", timed([&] { (void)fr::sort(a); }), "cub::DeviceRadixSort",
         timed([&] { bm::sort_by_cub(native, n, at(scratch), bytes, at(a), at(y)); }), bm::bound::ratio_at_least(0.97),
         size});
  s.add({"sort, 2^28 floats", "GB/s", timed([&] { (void)fr::sort(x); }), "cub::DeviceRadixSort",
         timed([&] { bm::sort_by_cub(native, n, at(scratch), bytes, at(x), at(z)); }), bm::bound::ratio_at_least(0.6),
         size});
  s.add({"argsort, 2^28 floats", "GB/s", timed([&] { (void)fr::argsort(x); }), "cub::DeviceRadixSort, pairs",
         timed([&] { bm::sort_pairs_by_cub(native, n, at(scratch), bytes, at(x), at(z), at(positions), at(order)); }),
         bm::bound::ratio_at_least(0.6), size});
#endif
  return s.run();
}
