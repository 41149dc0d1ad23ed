// Kernels of loops over shards before they are needed, on simulated devices that compile the texts of functors. Needs
// no device.
#include <boost/test/unit_test.hpp>

#include "ferry/core/graph.hpp"
#include "ferry/multigpu.hpp"
#include "support/check_error.hpp"

namespace cuda_logic_precompile_of_shards {
namespace {

namespace fr = ferry;

using support::check_error;

FERRY_FUNCTOR(mean_of_two, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const float, 1> u, fr::shard_span<float, 1> v) const {
    v(i) = (u(i - 1) + u(i + 1)) / 2;
  }
});
FERRY_FUNCTOR(cell, {
  FERRY_HOST_DEVICE float operator()(std::size_t i, fr::shard_span<const float, 1> u) const { return u(i); }
});
FERRY_FUNCTOR(set_one, {
  FERRY_HOST_DEVICE void operator()(std::size_t, float* x) const { *x = 1; }
});

constexpr const char* remedy = "captures compile nothing: precompile it before the capture";

struct field {
  fr::simulation sim{"devices=2;nvrtc=on"};
  fr::team team{fr::devices().subspan(1, 1)};
  fr::sharded_array<float, 1> u{team, {100}, {.halo = 1, .periodic = true}, 1.f},
      v{team, {100}, {.halo = 1, .periodic = true}, 0.f};
  template <class Loop>
  void capture(Loop loop) {
    (void)fr::capture(team.stream(0), loop);
  }
};

}  // namespace
}  // namespace cuda_logic_precompile_of_shards

BOOST_AUTO_TEST_SUITE(cuda_logic_precompile_of_shards)
using namespace cuda_logic_precompile_of_shards;

BOOST_FIXTURE_TEST_CASE(loops, field) {
  const auto loop = [&] { fr::parallel_for(fr::owned(v), mean_of_two{}, fr::in(u), fr::out(v)); };
  check_error<fr::not_supported>([&] { capture(loop); }, remedy);
  fr::precompile_for(fr::owned(v), mean_of_two{}, fr::in(u), fr::out(v));
  BOOST_TEST(fr::to_vector(v)[0] == 0.f);
  capture(loop);
}

BOOST_FIXTURE_TEST_CASE(sweeps, field) {
  fr::precompile_for(fr::sweep(v), mean_of_two{}, fr::in(u), fr::out(v));
  fr::precompile_reduce(fr::sweep(u), cell{}, fr::plus{}, fr::in(u));
  capture([&] { fr::parallel_for(fr::owned(v), mean_of_two{}, fr::in(u), fr::out(v)); });
}

BOOST_FIXTURE_TEST_CASE(reductions, field) {
  const auto loop = [&] { (void)fr::parallel_reduce(fr::owned(u), cell{}, fr::plus{}, fr::in(u)); };
  check_error<fr::not_supported>([&] { capture(loop); }, remedy);
  fr::precompile_reduce(fr::owned(u), cell{}, fr::plus{}, fr::in(u));
  capture(loop);
}

BOOST_FIXTURE_TEST_CASE(once_on_each_member, field) {
  fr::replicated_array<float> x(team, {1});
  const auto loop = [&] { fr::parallel_for(fr::each_member(team, 1), set_one{}, fr::out(x)); };
  check_error<fr::not_supported>([&] { capture(loop); }, remedy);
  fr::precompile_for(fr::each_member(team, 1), set_one{}, fr::out(x));
  capture(loop);
}

BOOST_AUTO_TEST_SUITE_END()
