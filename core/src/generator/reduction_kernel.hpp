// The generated kernel of a reduction, a scan or a count, and its launches.
#pragma once
#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "generator/count_plan.hpp"
#include "generator/reduction_plan.hpp"
#include "generator/scan_plan.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Valid as long as the description. Blocks have reduction_threads threads.
class reduction_kernel {
 public:
  explicit reduction_kernel(const reduction_evaluation& r) : r_(r), plan_(plan_of(r)) {}

  std::size_t scratch_bytes() const {
    return with([](const auto& p) { return p.scratch_bytes; });
  }
  // The first bytes of the scratch memory, which are 0 before the first launch.
  std::size_t cleared_bytes() const {
    return with([](const auto& p) { return p.cleared_bytes; });
  }
  std::size_t launches() const {
    return with([](const auto& p) { return p.launches(); });
  }
  std::size_t blocks(std::size_t launch) const {
    return with([&](const auto& p) { return p.blocks(launch); });
  }
  // The structure that is the kernel's only parameter.
  std::string arguments(std::size_t launch) const {
    return reduction_arguments(r_, with([&](const auto& p) { return p.numbers(launch); }));
  }
  // Bytes that determine the source.
  std::string shape() const;
  jit::kernel_source source() const;

 private:
  using any_plan = std::variant<reduction_plan, scan_plan, count_plan>;
  static any_plan plan_of(const reduction_evaluation& r);
  template <class F>
  std::invoke_result_t<F, const reduction_plan&> with(F f) const {
    return std::visit(f, plan_);
  }

  const reduction_evaluation& r_;
  any_plan plan_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
