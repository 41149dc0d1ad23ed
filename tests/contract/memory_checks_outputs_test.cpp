// Poison of outputs: a kernel that writes less than out() promised is detected, and a call that throws poisons nothing.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "contract/memory_checks_fixture.hpp"
#include "ferry/core/detail/runtime/peer.hpp"

using namespace contract;

namespace contract_of_memory_checks {
namespace {

struct set_span {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<float, 2> y) const { y(i, 0) = 1; }
};
struct copy_some {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y, const float* x) const { y[i] = x[i]; }
};
struct sum_and_set {
  FERRY_HOST_DEVICE float operator()(std::size_t i, float* y, const float* x) const { return y[i] = x[i]; }
};

}  // namespace
}  // namespace contract_of_memory_checks

BOOST_FIXTURE_TEST_SUITE(contract_of_memory_checks, checked)

// A kernel that writes less than out() promised is detected, for every kind of launch.
BOOST_AUTO_TEST_CASE_TEMPLATE(outputs_are_nan_until_they_are_written, K, kinds) {
  const fr::memory_checks_scope on;
  fr::basic_array<float, 1, K::value> y({100}, 7.f);
  fr::parallel_for(50, set_some{}, fr::out(y));
  const auto v = fr::to_vector(y);
  for (std::size_t i = 0; i < 100; ++i) BOOST_TEST((i % 2 == 0 ? v[i] == 1.f : std::isnan(v[i])));
  fr::fill(y, 7.f);
  fr::parallel_for(50, set_some{}, fr::inout(y));
  BOOST_TEST(fr::to_vector(y)[1] == 7.f);
  // Poisons the elements of a strided view, and not those between them.
  fr::basic_array<float, 2, K::value> m({10, 10}, 3.f);
  fr::parallel_for(10, set_span{}, fr::out(m.slice({{}, {2, 5}})));
  const auto w = fr::to_vector(m);
  for (std::size_t i = 0; i < 10; ++i) {
    BOOST_TEST((w[10 * i + 1] == 3.f && w[10 * i + 2] == 1.f && std::isnan(w[10 * i + 3]) &&
                std::isnan(w[10 * i + 4]) && w[10 * i + 5] == 3.f));
  }
  // Library calls, large elements, graphs.
  fr::stream s;
  fr::fill(y, 7.f);
  fr::submit(
      s, [](fr::native_stream, float*) {}, fr::out(y));
  BOOST_TEST(all_nan(fr::to_vector(y)));
  using wide = std::array<double, 3>;
  fr::basic_array<wide, 2, K::value> large({4, 4}, wide{1, 2, 3});
  fr::submit(
      s, [](fr::native_stream, fr::mdspan<wide, 2>) {}, fr::out(large.slice({{}, {0, 2}})));
  const auto l = fr::to_vector(large);
  BOOST_TEST((std::isnan(l[0][2]) && std::isnan(l[1][0]) && l[2][2] == 3));
  fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 50, set_some{}, fr::out(y)); });
  fr::fill(y, 7.f);
  g.launch(s);
  BOOST_TEST((fr::to_vector(y)[0] == 1.f && std::isnan(fr::to_vector(y)[1])));
}

// A call that throws runs nothing, and leaves its out() arrays unchanged.
BOOST_AUTO_TEST_CASE_TEMPLATE(calls_that_throw_leave_their_outputs_alone, K, kinds) {
  const fr::memory_checks_scope on;
  fr::stream s;
  fr::basic_array<float, 1, K::value> y({100}, 7.f);
  fr::basic_array<float, 2, K::value> m({10, 10}, 3.f);
  fr::device_array<float> freed({100}, 1.f);
  const fr::array_view<float, 1, memory_kind::device> view = freed;
  freed.free();
  const auto is_whole = [&] {
    return fr::to_vector(y) == std::vector<float>(100, 7.f) && fr::to_vector(m) == std::vector<float>(100, 3.f);
  };
  // A strided view for a pointer parameter.
  BOOST_CHECK_THROW(fr::parallel_for(s, 10, set_some{}, fr::out(m.slice({{}, {2, 5}}))), fr::invalid_argument);
  BOOST_TEST(is_whole());
  BOOST_CHECK_THROW(fr::submit(
                        s, [](fr::native_stream, float*, float*) {}, fr::out(y), fr::out(m.slice({{}, {2, 5}}))),
                    fr::invalid_argument);
  BOOST_TEST(is_whole());
  BOOST_CHECK_THROW((void)fr::parallel_reduce(s, 10, sum_and_set{}, fr::plus{}, fr::out(y), m.slice({{}, {2, 5}})),
                    fr::invalid_argument);
  BOOST_TEST(is_whole());
  // A freed array among the arguments.
  BOOST_CHECK_THROW(fr::parallel_for(s, 10, copy_some{}, fr::out(y), fr::in(view)), fr::use_after_free);
  BOOST_TEST(is_whole());
  // A call from inside a submission.
  fr::device_array<int> other({1});
  fr::submit(
      s,
      [&](fr::native_stream, int*) {
        BOOST_CHECK_THROW(fr::parallel_for(s, 50, set_some{}, fr::out(y)), fr::invalid_argument);
      },
      other);
  BOOST_TEST(is_whole());
  fr::parallel_for(s, 50, set_some{}, fr::out(y));
  BOOST_TEST(!is_whole());
}

// Without peer access: a refused call poisons nothing, and a staging copy is poisoned.
BOOST_AUTO_TEST_CASE(outputs_that_a_device_does_not_reach) {
  for (const char* schedule : {"", ";schedule=random:1", ";schedule=random:2"}) {
    const fr::simulation runtime("devices=2;peers=none" + std::string(schedule));
    fr::runtime::current().peers().kernels(fr::detail::peer_kernels::error);
    const fr::memory_checks_scope on;
    const fr::stream s(fr::devices()[1]);
    fr::device_array<float> y({100}, 7.f, fr::devices()[0]);
    BOOST_CHECK_THROW(fr::parallel_for(s, 50, set_some{}, fr::out(y)), fr::peer_access_error);
    BOOST_TEST((fr::to_vector(y) == std::vector<float>(100, 7.f)));
    fr::runtime::current().peers().kernels(fr::detail::peer_kernels::stage);
    fr::parallel_for(s, 50, set_some{}, fr::out(y));
    const auto v = fr::to_vector(y);
    for (std::size_t i = 0; i < 100; ++i) BOOST_TEST((i % 2 == 0 ? v[i] == 1.f : std::isnan(v[i])));
  }
}

BOOST_AUTO_TEST_SUITE_END()
