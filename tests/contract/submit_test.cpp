// Work that ferry does not launch itself: submit, launch and raw pointers, and streams of the user.
#include "contract/fixture.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

using namespace contract;

namespace contract_of_submissions {
namespace {

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};

// A stream that the program created itself.
class own_stream {
 public:
  explicit own_stream(fr::device d)
      : native_(fr::runtime::current().backend().create_stream(d.index(), 0)),
        device_(d) {}
  ~own_stream() { destroy(); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  fr::stream_ref ref() const { return fr::stream_ref::from_native(device_, native_); }
  fr::native_stream native() const { return native_; }
  void destroy() {
    if (native_.handle) fr::runtime::current().backend().destroy_stream(native_);
    native_ = {};
  }

 private:
  fr::native_stream native_;
  fr::device device_;
};

#if defined(__CUDACC__)
__global__ void scale(const int* x, fr::mdspan<int, 1> y, int by, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = x[i] * by;
}
#endif

}  // namespace
}  // namespace contract_of_submissions

BOOST_FIXTURE_TEST_SUITE(contract_of_submissions, clean)

BOOST_AUTO_TEST_CASE(submit_orders_declared_arrays) {
  const fr::stream s{fr::devices().front()}, t{fr::devices().back()};
  fr::host_array<int> a({1000}, 1);
  const auto b = counted<int, 1, memory_kind::host>(fr::extents<1>(1000));
  fr::submit(
      s,
      [&](fr::native_stream n, int* p, const int* q, std::size_t count) {
        BOOST_TEST((n == s.timeline().stream()));
        BOOST_TEST((p == a.unsynchronized_data() && q == b.unsynchronized_data() && count == 1000));
        set_ints(n, p, count, 5);
      },
      fr::inout(a), fr::in(b), std::size_t{1000});
  fr::parallel_for(t, 1000, add{1}, a);
  CHECK_EQUAL(a, std::vector<int>(1000, 6));
  fr::submit(
      t,
      [&](fr::native_stream n, fr::mdspan<int, 1> v) {
        BOOST_TEST((v.extent(0) == 3 && v.stride(0) == -2));
        set_ints(n, v.data(), 1, 9);
      },
      a.slice({0, 6, -2}));
  BOOST_TEST((a[5] == 9 && a[4] == 6));
  int calls = 0;
  fr::submit(s, [&](fr::native_stream) { ++calls; });  // no array: ordered by its stream only
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(submissions_that_throw_or_call_ferry) {
  const fr::stream s;
  fr::unified_array<int> a({10}, 1), b({10}, 2);
  BOOST_CHECK_THROW(fr::submit(
                        s, [](fr::native_stream, int*) { throw 5; }, a),
                    int);
  const auto nested = [&](auto call) {
    check_error<fr::invalid_argument>(
        [&] {
          fr::submit(
              s, [&](fr::native_stream, int*) { call(); }, a);
        },
        {"from inside a submission"});
  };
  nested([&] { fr::fill(b, 1); });
  nested([&] { fr::parallel_for(10, add{1}, b); });
  nested([&] { fr::to_vector(b); });
  nested([&] { fr::copy(a, b); });
  nested([&] { b[3] = 1; });
  nested([&] { fr::pointer(b, s); });
  nested([&] { s.synchronize(); });
  nested([&] { fr::device_array<int> c({100}); });
  nested([&] { fr::capture(s, [] {}); });
  fr::parallel_for(s, 10, add{1}, a);  // and the program continues
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(10, 2));
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(10, 2));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(raw_pointers_are_open_uses, K, host_kinds) {
  const fr::stream s{fr::devices().back()};
  fr::basic_array<int, 1, K::value> a({1000}, 1, s.where());
  for (int i = 2; i < 8; ++i) {
    int* p = fr::pointer(a, s);
    BOOST_TEST(p == a.unsynchronized_data());
    set_ints(s.native(), p, 1000, -1);
    set_ints(s.native(), p, 1000, i);  // the pointer covers all the stream's work until another use
    if (i % 2) fr::parallel_for(1000, add{100}, a);
    CHECK_EQUAL(std::as_const(a), std::vector<int>(1000, i % 2 ? i + 100 : i));
  }
  const int* q = fr::pointer(std::as_const(a), s);
  fr::host_array<int> seen({1000}, 0);
  int* to = fr::pointer(seen, s);
  fr::runtime::current().backend().copy(s.native(), to, q, 4000);
  fr::fill(a, 0);  // after the untracked read
  CHECK_EQUAL(seen, std::vector<int>(1000, 107));
  BOOST_TEST(fr::pointer(a.slice({5, 7}), s) == a.unsynchronized_data() + 5);
}

BOOST_AUTO_TEST_CASE(streams_of_the_user) {
  const fr::device last = fr::devices().back();
  fr::unified_array<int> a({1000}, 1, last), b({1000}, 10, last);
  own_stream mine(last);
  const fr::stream_ref s = mine.ref();
  BOOST_TEST((s == mine.ref()));  // the same timeline each time
  BOOST_TEST((s.where() == last));
  BOOST_TEST((s.native() == mine.native()));
  const fr::stream ours{last};
  fr::parallel_for(s, 1000, add{1}, a);
  fr::parallel_for(ours, 1000, add_from{}, fr::in(a), b);
  fr::parallel_for(s, 1000, add_from{}, fr::in(b), a);
  CHECK_EQUAL(std::as_const(a), std::vector<int>(1000, 14));
  set_ints(mine.native(), fr::pointer(a, s), 1000, 3);
  mine.ref().release();  // closes the open uses
  mine.destroy();
  CHECK_EQUAL(std::as_const(a), std::vector<int>(1000, 3));
  check_error<fr::invalid_argument>([&] { fr::parallel_for(s, 1000, add{1}, a); }, {"released", "from_native"});
  check_error<fr::invalid_argument>([&] { fr::pointer(a, s); }, {"released"});
  s.synchronize();
  own_stream other(last);
  fr::parallel_for(other.ref(), 1000, add_from{}, fr::in(b), a);
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, 15));
  other.ref().release();
  check_error<fr::invalid_argument>(
      [&] {
        fr::stream t;
        t.release();
      },
      {"from_native", "destructor"});
}

BOOST_AUTO_TEST_CASE(launch_and_cuda_streams_need_cuda) {
  const fr::simulation sim("devices=1");
  const fr::stream s;
  fr::device_array<int> a({10}, 1);
  check_error<fr::not_supported>(
      [&] {
        fr::submit(
            s, [](int*, int*) {}, a);
      },
      {"CUDA stream", "FERRY_BACKEND=cuda"});
#if defined(__CUDACC__)
  check_error<fr::not_supported>(
      [&] {
        fr::launch(s, {1, 32}, scale, fr::in(a), a, 2, std::size_t{10});
      },
      {"simulated", "parallel_for", "FERRY_BACKEND=cuda"});
#endif
  check_error<fr::invalid_argument>([] { (void)fr::launch_size{0, 32}; }, {"launch dimension of 0"});
  check_error<fr::invalid_argument>(
      [] {
        (void)fr::launch_size{std::size_t{1} << 40, 32};
      },
      {"launch dimension of 1099511627776"});
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(10, 1));
}

#if defined(__CUDACC__)
BOOST_AUTO_TEST_CASE(launch_runs_global_functions, *needs_cuda()) {
  for (const fr::device d : fr::devices()) {
    const fr::stream s{d};
    const auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(1000), d);
    fr::unified_array<int> y({2000}, 0, d);
    fr::launch(s, {8, 128}, scale, fr::in(x), y.slice({0, 2000, 2}), 3, std::size_t{1000});
    for (std::size_t i = 0; i < 2000; ++i) BOOST_TEST(std::as_const(y)[i] == (i % 2 ? 0 : 3 * static_cast<int>(i / 2)));
    check_error<fr::invalid_argument>(
        [&] {
          fr::launch(s, {1, 2048}, scale, fr::in(x), fr::out(y), 3, std::size_t{10});
        },
        {"ferry::launch"});
    fr::launch(s, {1, 32}, scale, fr::in(x), fr::inout(y), 5, std::size_t{10});  // and the program continues
    BOOST_TEST(y[9] == 45);
  }
}

BOOST_AUTO_TEST_CASE(submit_gives_cuda_streams_and_the_device_is_current, *needs_cuda()) {
  for (const fr::device d : fr::devices()) {
    const fr::stream s{d};
    fr::device_array<int> a({1000}, 1, d);
    fr::submit(
        s,
        [&](cudaStream_t n, int* p) {
          int now = -1;
          BOOST_TEST((cudaGetDevice(&now) == cudaSuccess && now == d.index()));
          BOOST_TEST((cudaMemsetAsync(p, 0, 4000, n) == cudaSuccess));
        },
        fr::out(a));
    fr::parallel_for(1000, add{1}, a);
    CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, 1));
  }
}

BOOST_AUTO_TEST_CASE(cuda_streams_of_the_user_and_default_streams, *needs_cuda()) {
  fr::unified_array<int> a({1000}, 1);
  BOOST_TEST((cudaSetDevice(0) == cudaSuccess));
  cudaStream_t raw = nullptr;
  BOOST_REQUIRE((cudaStreamCreate(&raw) == cudaSuccess));
  auto s = fr::stream_ref::from_native(fr::device(0), {raw});
  fr::parallel_for(s, 1000, add{1}, a);
  CHECK_EQUAL(std::as_const(a), std::vector<int>(1000, 2));
  fr::parallel_for(s, 1000, add{1}, a);
  s.release();
  BOOST_TEST((cudaStreamDestroy(raw) == cudaSuccess));
  for (const cudaStream_t special : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
    const auto t = fr::stream_ref::from_native(fr::device(0), {special});
    fr::parallel_for(t, 1000, add{1}, a);
    fr::parallel_for(1000, add{1}, a);
    check_error<fr::invalid_argument>([&] { fr::pointer(a, t); }, {"default stream", "from_native"});
  }
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, 9));
  BOOST_TEST((cudaSetDevice(static_cast<int>(fr::devices().size()) - 1) == cudaSuccess));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
