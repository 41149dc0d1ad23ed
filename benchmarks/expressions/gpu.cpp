// Are expressions as fast as the kernels of CUB and those written by hand, and what does one cost the CPU? With
// FERRY_JIT=off, the same of expressions that are interpreted.
// as: host
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <string>
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

// Small numbers, different everywhere.
template <class T>
void write_values(fr::stream_ref s, fr::device_array<T>& a, int seed) {
  fr::assign(s, a, fr::cast<T>((fr::index(0) + seed) % 97));
}

bool are_right(const fr::device_array<float>& y, std::size_t begin, std::size_t count) {
  const std::vector<float> got = fr::to_vector(y.slice({begin, begin + count}));
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>((begin + i + 3) % 97), b = static_cast<float>((begin + i + 5) % 97);
    if (std::abs(got[i] - (b + 2 * std::sin(a))) > 1e-4f) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  const bool simulated = fr::runtime::current().is_simulated();
  const std::size_t n = simulated ? 10000 : std::size_t{1} << 28, part = 5000;
  const fr::device d(0);
  fr::stream stream(d);
  fr::device_array<float> a({n}, d), b({n}, d), y({n}, d);
  write_values(stream, a, 3), write_values(stream, b, 5);
  fr::assign(stream, y, b + 2 * fr::sin(a));
  for (const std::size_t begin : {std::size_t{0}, n / 2, n - part})
    if (!are_right(y, begin, part)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(FERRY_HAS_CUDA)
  void* const native = bm::raw_handle(stream);
  const auto timed = [&](auto body) { return bm::on_stream(stream, body); };
  const auto at = [](auto& x) { return x.unsynchronized_data(); };
  const double floats = static_cast<double>(n * sizeof(float));
  const char* const jit = std::getenv("FERRY_JIT");
  const bool is_off = jit && std::string(jit) == "off";
  bool compiled = true;
  const auto ready = [&](auto& to, auto e) {  // what is timed is compiled before
    fr::assign(stream, to, e);
    fr::synchronize();
    const bool is_now = fr::precompile(e);
    if (!is_now && compiled && !is_off) std::puts("an expression cannot be compiled: it is interpreted");
    compiled = is_now;
  };
  const auto named = [&](const std::string& what) { return what + (compiled ? "" : ", interpreted"); };
  const auto at_least = [&](double ratio) { return bm::bound::ratio_at_least(is_off ? 0.75 : ratio); };

  ready(y, a + b);
  s.add({named("a + b, 1 GiB of floats"), "GB/s", timed([&] { fr::assign(stream, y, a + b); }), "cub::DeviceTransform",
         timed([&] { bm::add_by_cub(native, n, at(a), at(b), at(y)); }), at_least(0.985), 3 * floats});
  ready(y, b + 2 * fr::sin(a));
  s.add({named("b + 2 sin(a), 1 GiB of floats"), "GB/s", timed([&] { fr::assign(stream, y, b + 2 * fr::sin(a)); }),
         "cub::DeviceTransform", timed([&] { bm::sine_by_cub(native, n, at(a), at(b), at(y)); }), at_least(0.985),
         3 * floats});

  fr::device_array<float> c({n}, d), p({n}, d), q({n}, d);
  write_values(stream, c, 7), write_values(stream, p, 9), write_values(stream, q, 11);
  const float* const five[] = {at(a), at(b), at(c), at(p), at(q)};
  ready(y, a * b + c * p - q);
  s.add({named("a b + c p - q, 1 GiB of floats"), "GB/s", timed([&] { fr::assign(stream, y, a * b + c * p - q); }),
         "cub::DeviceTransform", timed([&] { bm::five_by_cub(native, n, five, at(y)); }), at_least(0.985), 6 * floats});

  const std::size_t m = n / 2;
  fr::device_array<double> da({m}, d), db({m}, d), dy({m}, d);
  write_values(stream, da, 3), write_values(stream, db, 5);
  ready(dy, da + db);
  s.add({named("a + b, 1 GiB of doubles"), "GB/s", timed([&] { fr::assign(stream, dy, da + db); }),
         "cub::DeviceTransform", timed([&] { bm::add_by_cub(native, m, at(da), at(db), at(dy)); }), at_least(0.985),
         3 * floats});
  ready(dy, db + 2 * fr::sin(da));
  s.add({named("b + 2 sin(a), 1 GiB of doubles"), "GB/s", timed([&] { fr::assign(stream, dy, db + 2 * fr::sin(da)); }),
         "cub::DeviceTransform", timed([&] { bm::sine_by_cub(native, m, at(da), at(db), at(dy)); }), at_least(0.985),
         3 * floats});

  const std::size_t side = std::size_t{1} << 14;
  auto a2 = a.reshape(fr::extents<2>{side, side}), y2 = y.reshape(fr::extents<2>{side, side});
  fr::device_array<float> line({side}, d);
  write_values(stream, line, 1);
  auto column = line.reshape(fr::extents<2>{side, 1});
  ready(y2, a2 + line);
  s.add({named("a + row, 16384 x 16384 floats"), "GB/s", timed([&] { fr::assign(stream, y2, a2 + line); }),
         "kernel by hand", timed([&] { bm::add_row_by_hand(native, side, side, at(a), at(line), at(y)); }),
         at_least(0.985), 2 * floats});
  ready(y2, a2 + column);
  s.add({named("a + column, 16384 x 16384 floats"), "GB/s", timed([&] { fr::assign(stream, y2, a2 + column); }),
         "kernel by hand", timed([&] { bm::add_column_by_hand(native, side, side, at(a), at(line), at(y)); }),
         at_least(0.985), 2 * floats});
  const auto turned = a2.transpose();
  ready(y2, turned + 1);
  s.add({named("transposed a + 1, 16384 x 16384 floats"), "GB/s", timed([&] { fr::assign(stream, y2, turned + 1); }),
         "driver's copy", timed([&] { bm::copy_by_driver(native, n * sizeof(float), at(a), at(y)); }), at_least(0.85),
         2 * floats});

  // Few enough pending launches that the driver's queue is never full.
  struct small_arrays {
    small_arrays(std::size_t size, fr::device on) : n(size), a({n}, on), b({n}, on), y({n}, on) {}
    std::size_t n;
    fr::device_array<float> a, b, y;
  };
  std::deque<small_arrays> all;
  for (const std::size_t few : {std::size_t{1000}, std::size_t{100000}}) {
    small_arrays& v = all.emplace_back(few, d);
    write_values(stream, v.a, 3), write_values(stream, v.b, 5);
    const std::string size = std::to_string(few);
    const auto on_cpu = [&](auto body) { return bm::on_cpu_drained(128, body, [] { fr::synchronize(); }); };
    ready(v.y, v.b + 2 * fr::sin(v.a));
    ready(v.y, v.a + v.b);
    const auto by_hand = [&v, native] {
      bm::add_by_hand(native, v.n, v.a.unsynchronized_data(), v.b.unsynchronized_data(), v.y.unsynchronized_data());
    };
    s.add({named("b + 2 sin(a), " + size + " floats, CPU time"), "us",
           on_cpu([&v, &stream] { fr::assign(stream, v.y, v.b + 2 * fr::sin(v.a)); }), "kernel<<<>>> by hand",
           on_cpu(by_hand), is_off ? bm::bound::none() : bm::bound::excess_at_most(0.5, "us")});
    s.add({named("a + b, " + size + " floats, back to back"), "us",
           timed([&v, &stream] { fr::assign(stream, v.y, v.a + v.b); }), "kernel<<<>>> by hand", timed(by_hand),
           is_off ? bm::bound::none() : bm::bound::ratio_at_most(1.15)});
  }
#endif
  return s.run();
}
