// precompile() of reductions and scans of sharded arrays prepares the kernels that evaluating them runs; explain().
#include <functional>
#include <set>

#include "generator/reduction_kernel.hpp"
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace precompiled_reductions {
namespace {

using support::check_error;
using kernels = std::set<std::pair<int, std::string>>;  // devices, and the shapes by which kernels are found

class kernel_backend final : public support::counting_backend {
 public:
  using counting_backend::counting_backend;
  bool prepare_reduction(int d, const fr::detail::reduction_evaluation& r) override {
    prepared.insert({d, fr::detail::generator::reduction_kernel(r).shape()});
    return true;
  }
  void reduce(fr::native_stream s, int d, const fr::detail::reduction_evaluation& r,
              std::span<const fr::detail::kernel_use> uses) override {
    run.insert({d, fr::detail::generator::reduction_kernel(r).shape()});
    counting_backend::reduce(s, d, r, uses);
  }
  void evaluate(fr::native_stream s, int d, const fr::detail::evaluation& e,
                std::span<const fr::detail::kernel_use> uses) override {
    ++evaluations;
    counting_backend::evaluate(s, d, e, uses);
  }
  kernels prepared, run;
  int evaluations = 0;
};

struct devices {
  explicit devices(const std::string& how) : sim(how) {
    auto owned = std::make_unique<kernel_backend>(sim.get().backend(), calls);
    notes = owned.get();
    scope.emplace(std::move(owned));
  }
  // precompile() prepares what `run` runs, and submits nothing.
  void check(bool is_compiled, const std::function<void()>& run, const std::string& what) {
    BOOST_TEST(is_compiled, what);
    BOOST_TEST(notes->run.empty(), what);
    BOOST_TEST(notes->evaluations == 0, what);
    run();
    BOOST_TEST((notes->run == notes->prepared),
               what << ": " << notes->prepared.size() << " kernels are prepared, " << notes->run.size() << " run");
    notes->run.clear(), notes->prepared.clear(), notes->evaluations = 0;
  }
  fr::simulation sim;
  support::call_counts calls;
  kernel_backend* notes = nullptr;
  std::optional<fr::runtime_scope> scope;
};

}  // namespace
}  // namespace precompiled_reductions

BOOST_AUTO_TEST_SUITE(precompiled_reductions)

BOOST_AUTO_TEST_CASE(kernels_that_run_are_prepared) {
  for (const char* how : {"devices=1", "devices=3", "devices=5;peers=none"}) {
    devices d(how);
    const fr::team t = fr::team::all();
    auto u = numbered(t, {4, 6}, {.axis = 0, .halo = 1});  // with five members, one has no cells
    d.notes->evaluations = 0;
    const auto total = [&](const auto&... r) {
      d.check(
          fr::precompile(r...), [&] { (void)fr::reduce_all(r...); }, how + (" " + (r.text() + ...)));
    };
    total(fr::sum(u)), total(fr::max(fr::abs(u))), total(fr::mean(fr::cast<int>(u)));
    total(fr::var(u)), total(fr::std(2 * u, fr::ddof{1})), total(fr::argmin(u)), total(fr::norm(u));
    total(fr::sum(u), fr::max(u)), total(fr::var(u), fr::count(u > 3), fr::argmax(-u));
    const auto along = [&](const auto& r) {
      using result = std::remove_cvref_t<decltype(r)>;
      const auto run = [&] {
        if (r.request().keeps(1)) {
          fr::sharded_array<typename result::value_type, result::rank> y(t, r.extents());
          y = r;
        } else {
          fr::replicated_array<typename result::value_type, result::rank> y(r);
        }
      };
      d.check(fr::precompile(r), run, how + (" " + r.text()));
    };
    along(fr::sum(u, fr::axes{0})), along(fr::sum(u, fr::axes{1})), along(fr::var(u, fr::axes{0}));
    along(fr::std(u, fr::axes{1})), along(fr::argmax(u, fr::axes{0})), along(fr::mean(u, fr::axes{0}, fr::keep_dims));
    const auto counts = fr::histogram(u, 4, 0., 50.);
    d.check(
        fr::precompile(counts), [&] { fr::replicated_array<std::uint64_t, 1> y(counts); }, how);
    for (const int axis : {0, 1}) {
      fr::sharded_array<float, 2> y(t, {4, 6});
      const auto scan = fr::cumsum(u, axis), before = fr::exclusive_scan(u, fr::plus{}, axis, 2.f);
      d.check(
          fr::precompile(scan), [&] { y = scan; }, how);
      d.check(
          fr::precompile(before), [&] { y = before; }, how);
    }
  }
}

BOOST_AUTO_TEST_CASE(explanations) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {4, 6}, {.axis = 0, .halo = 1});
  u.name("u");
  BOOST_TEST(!fr::precompile(fr::sum(u)));  // simulated devices compile nothing
  const auto shows = [](const std::string& text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view p : parts)
      BOOST_TEST((text.find(p) != text.npos), "'" << p << "' is missing: " << text);
  };
  shows(fr::explain(fr::cumsum(2 * u, 0)),
        {"scan cumsum(2 * u, 0) over a team of 2", "result: 4 x 6 of float",
         "each member adds the totals of those before it", "member 0: cells [0, 2) of axis 0", "in one pass"});
  BOOST_TEST(fr::explain(fr::cumsum(u, 1)).find("totals") == std::string::npos);
  shows(fr::explain(fr::max(u)), {"reduction max(u) over a team of 2", "readers join the parts"});
}

BOOST_AUTO_TEST_CASE(bad_input) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  fr::sharded_array<float, 1> u(t, {4}, {}, 1.f), small(t, {3}, {}, 1.f), foreign(other, {4}, {}, 1.f), none(t, {0});
  foreign.name("foreign"), small.name("small");
  using error = fr::invalid_argument;
  check_error<error>([&] { (void)fr::precompile(fr::sum(u), fr::sum(small)); }, {"'small'", "reshard"});
  check_error<error>([&] { (void)fr::precompile(fr::sum(u), fr::max(foreign)); }, {"'foreign'", "team"});
  check_error<error>([&] { (void)fr::precompile(fr::max(none)); }, {"is over no elements"});
}

BOOST_AUTO_TEST_SUITE_END()
