// Do loops over batches saturate the link to the device, and does work on one piece overlap with the upload of the
// next?
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include <ferry/unified.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// A configurable amount of arithmetic on every element.
struct work_on {
  int times;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const {
    float v = x[i];
    for (int k = 0; k < times; ++k) v = v * 1.0001f + 0.5f;
    x[i] = v;
  }
};

double seconds_of(auto body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Repeats a body; CPU time until the device is done.
template <class F>
bm::timed to_the_end(fr::stream& s, F body) {
  return [&s, body](std::size_t n) mutable {
    return seconds_of([&] {
      for (std::size_t i = 0; i < n; ++i) body();
      s.synchronize();
    });
  };
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite suite(argc, argv, {.rounds = 9, .milliseconds = 100});
  const bool simulated = fr::runtime::current().is_simulated();
  const std::size_t piece = simulated ? 1000 : std::size_t{8} << 20, pieces = simulated ? 5 : 32, n = pieces * piece;
  const fr::device d(0);
  fr::stream s(d);
  fr::host_array<float> pinned({n}, d);
  std::iota(pinned.begin(), pinned.end(), 0.f);
  std::vector<float> pageable(pinned.cbegin(), pinned.cend());
  fr::device_array<float> whole({n}, d);

  int times = 0;
  // The stream waits for the upload of every piece, and works on all of it, or on one element.
  const auto walk = [&](const auto& from) {
    for (auto&& x : fr::batches(from, {.size = piece, .on = d}))
      fr::parallel_for(s, times ? x.size() : 1, work_on{times ? times : 1}, fr::inout(x));
  };
  const auto upload = to_the_end(s, [&] { fr::copy(s, pinned, whole); });
  const auto compute = to_the_end(s, [&] {
    for (std::size_t i = 0; i < n; i += piece)
      fr::parallel_for(s, piece, work_on{times}, fr::inout(whole.slice(fr::slice{i, i + piece})));
  });

  std::vector<float> back(n);
  times = 1;
  for (auto&& [x, to] : fr::batches(pageable, fr::out(back), {.size = piece, .on = d})) {
    fr::copy(s, x, to);
    fr::parallel_for(s, x.size(), work_on{1}, fr::inout(to));
  }
  for (std::size_t i = 0; i < n; i += n / 1000)
    if (std::abs(back[i] - pageable[i] * 1.0001f - 0.5f) > 1e-6f * std::abs(pageable[i]) + 1e-6f)
      return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

  // Enough work for a piece to take as long as its upload.
  times = 100;
  (void)compute(1);
  const double goal = std::min(upload(1), upload(1));
  for (int k = 0; k < 4; ++k) times = std::max(1, static_cast<int>(times * goal / compute(1)));
  const int equal = times;

  const auto bytes = static_cast<double>(n * sizeof(float));
  const auto with = [&times](int t, bm::timed body) {
    return [&times, t, body](std::size_t count) mutable {
      times = t;
      return body(count);
    };
  };
  const auto either = [=](std::size_t count) mutable { return std::max(upload(count), compute(count)); };
  suite.add({"batches, pinned, 32 MiB pieces", "GB/s", with(0, to_the_end(s, [&] { walk(pinned); })),
             "one copy of pinned memory", upload, bm::bound::ratio_at_least(0.95), bytes});
  suite.add({"batches, pinned, work as long as the upload", "GB/s", with(equal, to_the_end(s, [&] { walk(pinned); })),
             "the longer of upload and work", with(equal, either), bm::bound::ratio_at_least(0.95), bytes});
  suite.add({"batches, std::vector, 32 MiB pieces", "GB/s", with(0, to_the_end(s, [&] { walk(pageable); })),
             "one copy of pinned memory", upload, bm::bound::ratio_at_least(0.95), bytes});
  std::vector<float> registered = pageable;
  {
    const auto held = fr::pin(registered);
    suite.add({"batches, std::vector that was pinned, 32 MiB pieces", "GB/s",
               with(0, to_the_end(s, [&] { walk(registered); })), "one copy of pinned memory", upload,
               bm::bound::ratio_at_least(0.95), bytes});
    suite.add({"pin and unpin a std::vector of 1 GiB", "ms", bm::on_cpu([&] { (void)fr::pin(back); }),
               "its way through batches once", with(0, to_the_end(s, [&] { walk(pageable); })), bm::bound::none(), 0, 1,
               5});
    return suite.run();
  }
}
