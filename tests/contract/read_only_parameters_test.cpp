// Arrays without in() are read-only only if the functor's parameter is const: for ordering, for CPU accesses and for
// placement.
#include <memory>
#include <vector>

#include "contract/fixture.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/busy_stream.hpp"
#include "support/counting_backend.hpp"

using namespace contract;

namespace contract_of_read_only_parameters {
namespace {

using const_line = fr::mdspan<const int, 1>;

struct by_pointer {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] = x[i]; }
};
struct by_span {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const_line x, int* y) const { y[i] = x(i); }
};
struct by_reference {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const const_line& x, fr::mdspan<int, 1> y) const { y(i) = x(i); }
};
struct generic {
  template <class X, class Y>
  FERRY_HOST_DEVICE void operator()(std::size_t i, X x, Y y) const {
    y[i] = x[i];
  }
};
struct writer {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x, int* y) const { y[i] = x[i]++; }
};
struct of_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, const int* x, int* y) const { y[t.row] = x[t.row]; }
};
struct value {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* x) const { return x[i]; }
};
struct of_soa {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<const int, const float> x, int* y) const {
    y[i] = x.get<0>(i);
  }
};
struct of_mutable_soa {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<const int, float> x, int* y) const {
    y[i] = x.get<0>(i);
  }
};

constexpr std::size_t n = 8;

// Two streams of a simulated device, one of them busy, in a runtime whose backend calls are counted.
struct two_streams {
  fr::simulation sim;
  support::call_counts calls;
  fr::runtime_scope counted;
  fr::stream first, second;
  fr::device_array<int> y, z;
  explicit two_streams(std::size_t seed)
      : sim("devices=1;schedule=random:" + std::to_string(seed)),
        counted(std::make_unique<support::counting_backend>(sim.get().backend(), calls)),
        y({n}),
        z({n}) {
    fr::fill(y, 0);
    fr::fill(z, 0);
    settle();
  }
  void settle() {
    first.synchronize();
    second.synchronize();
    fr::default_stream(fr::default_device()).synchronize();
  }
  // The number of stream waits that the call on the second stream makes while the same call on the first one has not
  // begun.
  template <class Call>
  long waits_of(Call call) {
    settle();
    support::busy_stream busy(first);
    call(first, y);
    const long before = calls.stream_waits;
    call(second, z);
    const long waits = calls.stream_waits - before;
    BOOST_TEST(busy.is_busy());
    busy.release();
    settle();
    return waits;
  }
};

}  // namespace
}  // namespace contract_of_read_only_parameters

BOOST_AUTO_TEST_SUITE(contract_of_read_only_parameters)

BOOST_AUTO_TEST_CASE(readers_do_not_wait_for_each_other) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    two_streams t(seed);
    fr::device_array<int> x({n});
    fr::fill(x, 3);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, by_pointer{}, x, y); }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, {n}, by_span{}, x, y); }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, by_reference{}, x, y); }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, by_reference{}, x.slice({0, n}), y); }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) {
      fr::parallel_for(s, fr::tiles{{n, 1}, 1, 1}, of_tile{}, x, y);
    }) == 0);
    std::vector<fr::scalar<int>> results;  // the second call must not reuse their memory
    if (fr::runtime::current().pools().default_kind() != fr::pool_kind::driver)  // its allocations are work on streams
      BOOST_TEST(t.waits_of([&](auto& s, auto&) {
        results.push_back(fr::parallel_reduce(s, n, value{}, fr::maximum{}, x));
      }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) {
      fr::submit(
          s, [](fr::native_stream, const int*, int*) {}, x, y);
    }) == 0);
    BOOST_TEST(fr::to_vector(t.z) == std::vector<int>(n, 3));
  }
}

BOOST_AUTO_TEST_CASE(a_structure_of_arrays_is_read_where_all_members_are_const) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    two_streams t(seed);
    fr::basic_soa<fr::memory_kind::device, int, float> x(n);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, of_soa{}, x, y); }) == 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, of_mutable_soa{}, x, y); }) > 0);
  }
}

BOOST_AUTO_TEST_CASE(what_may_write_waits) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    two_streams t(seed);
    fr::device_array<int> x({n});
    fr::fill(x, 3);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, writer{}, x, y); }) > 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, by_pointer{}, fr::inout(x), y); }) > 0);
    // Its parameters do not declare the access.
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, generic{}, x, y); }) > 0);
    BOOST_TEST(t.waits_of([&](auto& s, auto& y) { fr::parallel_for(s, n, generic{}, fr::in(x), y); }) == 0);
    BOOST_TEST(fr::to_vector(x) == std::vector<int>(n, 5));
  }
}

BOOST_AUTO_TEST_CASE(the_cpu_reads_while_kernels_read) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    two_streams t(seed);
    fr::host_array<int> x({n});
    fr::fill(x, 3);
    t.settle();
    support::busy_stream busy(t.first);
    fr::parallel_for(t.first, n, by_pointer{}, x, t.y);
    BOOST_TEST(*x.cbegin() == 3);
    BOOST_TEST(busy.is_busy());
    busy.release();
  }
}

// The backend records the stream, and so the device, of each kernel.
BOOST_AUTO_TEST_CASE(work_goes_to_the_device_of_what_it_writes) {
  struct noting_backend final : support::counting_backend {
    using support::counting_backend::counting_backend;
    void launch(fr::native_stream s, const fr::detail::host_kernel& k) override {
      at = s;
      counting_backend::launch(s, k);
    }
    fr::native_stream at;
  };
  const fr::simulation sim("devices=2");
  support::call_counts calls;
  auto noting = std::make_unique<noting_backend>(fr::runtime::current().backend(), calls);
  const noting_backend& noted = *noting;
  const fr::runtime_scope scope(std::move(noting));
  const fr::device zero(0), one(1);
  fr::unified_array<int> x({n}, one), y({n}, zero);
  fr::fill(x, 1);
  fr::parallel_for(n, by_pointer{}, x, y);
  BOOST_TEST((noted.at == fr::default_stream(zero).native()));
  fr::parallel_for(n, by_pointer{}, fr::inout(x), y);
  BOOST_TEST((noted.at == fr::default_stream(one).native()));
  fr::parallel_for(n, generic{}, x, y);
  BOOST_TEST((noted.at == fr::default_stream(one).native()));
  fr::parallel_for({n}, generic{}, fr::in(x), y);
  BOOST_TEST((noted.at == fr::default_stream(zero).native()));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct row_and_column {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> y) const {
    y(i, j) = static_cast<int>(10 * i + j);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j) const { return static_cast<int>(10 * i + j); }
};
struct three_indices {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> y) const {
    y(i, j, k) = static_cast<int>(100 * i + 10 * j + k);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(contract_of_spaces_in_braces, clean)

BOOST_AUTO_TEST_CASE(are_extents) {
  const int rows = 3;
  const std::size_t columns = 4;
  fr::unified_array<int, 2> y({3, 4}, 0);
  fr::stream s;
  fr::parallel_for({rows, columns}, row_and_column{}, y);
  BOOST_TEST(y(2, 3) == 23);
  fr::fill(y, 0);
  fr::parallel_for(s, {rows, columns}, row_and_column{}, y);
  BOOST_TEST(y(2, 3) == 23);
  fr::unified_array<int, 3> z({2, 3, 4}, 0);
  fr::parallel_for({2, rows, columns}, three_indices{}, z);
  BOOST_TEST(z(1, 2, 3) == 123);
  fr::fill(z, 0);
  fr::parallel_for(s, {2, rows, columns}, three_indices{}, z);
  BOOST_TEST(z(1, 2, 3) == 123);
  BOOST_TEST((fr::parallel_reduce({rows, columns}, row_and_column{}, fr::maximum{}).value() == 23));
  BOOST_TEST((fr::parallel_reduce(s, {rows, columns}, row_and_column{}, fr::maximum{}).value() == 23));
  BOOST_CHECK_THROW(fr::parallel_for({rows, -1}, row_and_column{}, y), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
