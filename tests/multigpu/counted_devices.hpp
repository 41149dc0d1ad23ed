// Simulated devices whose submissions are recorded and counted, and a sharded array for tests by hand.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "multigpu/shards.hpp"
#include "support/counting_backend.hpp"

namespace shards {

// 10 i + j.
inline fr::sharded_array<float, 2> numbered(const fr::team& t, const fr::extents<2>& e, const fr::shard_options& o) {
  fr::sharded_array<float, 2> a(t, e, o, -1.f);
  a = 10.f * fr::cast<float>(fr::index(0)) + fr::cast<float>(fr::index(1));
  return a;
}

// Records what is enqueued on each stream.
class noting_backend final : public support::counting_backend {
 public:
  enum class what { evaluation, kernel, wait };
  noting_backend(fr::detail::backend& below, support::call_counts& calls) : counting_backend(below, calls) {}
  void wait(fr::native_stream s, fr::native_event e) override {
    given[s.handle].push_back(what::wait);
    counting_backend::wait(s, e);
  }
  void launch(fr::native_stream s, const fr::detail::host_kernel& k) override {
    given[s.handle].push_back(what::kernel), ++kernels;
    counting_backend::launch(s, k);
  }
  void evaluate(fr::native_stream s, int d, const fr::detail::evaluation& e,
                std::span<const fr::detail::kernel_use> uses) override {
    given[s.handle].push_back(what::evaluation), ++evaluations;
    counting_backend::evaluate(s, d, e, uses);
  }
  void reduce(fr::native_stream s, int d, const fr::detail::reduction_evaluation& r,
              std::span<const fr::detail::kernel_use> uses) override {
    ++reductions;
    counting_backend::reduce(s, d, r, uses);
  }
  bool prepare_evaluation(int d, const fr::detail::evaluation& e) override {
    ++prepared;
    return counting_backend::prepare_evaluation(d, e);
  }
  std::map<void*, std::vector<what>> given;
  int evaluations = 0, kernels = 0, reductions = 0, prepared = 0;
};

// Simulated devices whose submissions are counted.
struct counted_devices {
  explicit counted_devices(const std::string& how) : sim(how) {
    auto owned = std::make_unique<noting_backend>(sim.get().backend(), calls);
    notes = owned.get();
    scope.emplace(std::move(owned));
  }
  // Numbers of submissions of a call: programs, then kernels of exchanges.
  template <class Call>
  std::pair<int, int> count(Call call) {
    notes->evaluations = notes->kernels = notes->reductions = 0;
    notes->given.clear();
    call();
    return {notes->evaluations, notes->kernels};
  }
  fr::simulation sim;
  support::call_counts calls;
  noting_backend* notes = nullptr;
  std::optional<fr::runtime_scope> scope;
};

}  // namespace shards
