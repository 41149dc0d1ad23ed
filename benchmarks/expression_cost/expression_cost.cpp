// What does an assignment of an expression cost the CPU, apart from the driver? Uses a null backend that does what the
// backend of CUDA does before the launch: it plans the kernel, finds it in the table, and writes its arguments. Needs
// no GPU.
// as: host
#include <benchmark/benchmark.h>

#include <deque>
#include <memory>
#include <string>

#include <ferry/core.hpp>

#include "../support/null_backend.hpp"
#include "../support/suite.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/kernel_plan.hpp"
#include "generator/recent_kernels.hpp"
#include "jit/kernel_table.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

class planning_backend : public bm::null_backend {
 public:
  void evaluate(fr::native_stream, int device, const fr::detail::evaluation& e,
                std::span<const fr::detail::kernel_use>) override {
    using fr::detail::generator::recent_kernels;
    const recent_kernels::kernel* known = recent_kernels::of_thread().find(1, device, e);
    if (!known) {
      const fr::detail::generator::kernel_plan plan(e);
      if (!kernels_.find(device, plan.shape()))
        kernels_.add(plan.shape(), all_.emplace_back(device, fr::detail::jit::kernel_source{}));
      recent_kernels::of_thread().put(1, device, e, plan, this);
      return;
    }
    alignas(16) std::byte arguments[fr::detail::generator::most_argument_bytes];
    fr::detail::generator::write_arguments(e, known->plan, arguments);
    benchmark::DoNotOptimize(&arguments);
  }

 private:
  fr::detail::jit::kernel_table kernels_;
  std::deque<fr::detail::jit::kernel> all_;
};

struct some_arrays {
  explicit some_arrays(fr::device d) : a({1000}, d), b({1000}, d), y({1000}, d), stream(d) {}
  fr::device_array<float> a, b, y;
  fr::stream stream;
};

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 51, .milliseconds = 1});
  const fr::runtime_scope null_runtime(std::make_unique<planning_backend>());
  some_arrays v(fr::device(0));
  const auto add = [&](const char* name, auto body) {
    s.add({name, "ns", bm::on_cpu(body), "", {}, bm::bound::none()});
  };
  const auto kept = v.b + 2.f * fr::sin(v.a);
  add("submit of three arrays", [&] {
    fr::submit(
        v.stream, [](auto&&...) {}, fr::in(v.a), fr::in(v.b), fr::out(v.y));
  });
  add("b + 2 sin(a), not assigned", [&] { benchmark::DoNotOptimize(v.b + 2.f * fr::sin(v.a)); });
  add("y = b + 2 sin(a)", [&] { v.y = v.b + 2.f * fr::sin(v.a); });
  add("y = b + 2 sin(a), on a stream", [&] { fr::assign(v.stream, v.y, v.b + 2.f * fr::sin(v.a)); });
  add("y = an expression that is kept", [&] { v.y = kept; });
  add("y = a + b", [&] { v.y = v.a + v.b; });
  add("y += a", [&] { v.y += v.a; });
  return s.run();
}
