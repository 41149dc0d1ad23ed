// Is fr::transform with a functor as fast as cub::DeviceTransform?
#include <benchmark/benchmark.h>

#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#if defined(__CUDACC__)
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#endif

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

struct triad {
  template <class T>
  FERRY_HOST_DEVICE T operator()(T a, T b) const {
    return a + 3 * b;
  }
};

bool is_right(std::size_t n) {
  fr::device_array<float> a({n}), b({n}), y({n});
  a = fr::cast<float>(fr::index(0) % 97), b = fr::cast<float>(fr::index(0) % 31);
  fr::transform(fr::out(y), triad{}, fr::in(a), fr::in(b));
  const std::vector<float> got = fr::to_vector(y);
  for (std::size_t i = 0; i < n; ++i)
    if (got[i] != static_cast<float>(i % 97) + 3 * static_cast<float>(i % 31)) return false;
  return true;
}

#if defined(__CUDACC__)
template <class T>
struct three_arrays {
  three_arrays(std::size_t n, const fr::stream& stream) : a({n}), b({n}), y({n}) {
    fr::assign(stream, a, fr::cast<T>(fr::index(0) % 97));
    fr::assign(stream, b, fr::cast<T>(fr::index(0) % 31));
  }
  fr::device_array<T> a, b, y;
};

template <class T>
void compare(bm::suite& s, const fr::stream& stream, three_arrays<T>& v, const char* name) {
  const auto native = static_cast<cudaStream_t>(bm::raw_handle(stream));
  const std::size_t n = v.y.size();
  s.add({name, "GB/s",
         bm::on_stream(stream, [&] { fr::transform(stream, fr::out(v.y), triad{}, fr::in(v.a), fr::in(v.b)); }),
         "cub::DeviceTransform",
         bm::on_stream(stream,
                       [&v, native, n] {
                         const T *a = v.a.unsynchronized_data(), *b = v.b.unsynchronized_data();
                         static_cast<void>(cub::DeviceTransform::Transform(
                             cuda::std::make_tuple(a, b), v.y.unsynchronized_data(), n, triad{}, native));
                       }),
         bm::bound::ratio_at_least(0.985), 3.0 * static_cast<double>(n * sizeof(T))});
}
#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  if (!is_right(100003)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(__CUDACC__)
  const fr::stream stream(fr::device(0));
  const std::size_t n = std::size_t{1} << 28;
  three_arrays<float> floats(n, stream);
  three_arrays<double> doubles(n / 2, stream);
  three_arrays<short> shorts(n * 2, stream);
  fr::synchronize();
  compare(s, stream, floats, "transform of a + 3 b, 1 GiB of floats");
  compare(s, stream, doubles, "transform of a + 3 b, 1 GiB of doubles");
  compare(s, stream, shorts, "transform of a + 3 b, 1 GiB of shorts");
#endif
  return s.run();
}
