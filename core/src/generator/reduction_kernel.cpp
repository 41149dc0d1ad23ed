#include "generator/reduction_kernel.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "generator/function_text.hpp"
#include "generator/kernel_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

std::string text_of(const reduction_evaluation& r, const reduction_plan& p) { return reduction_text(r, p); }
std::string text_of(const reduction_evaluation& r, const scan_plan& p) { return scan_text(r, p); }
std::string text_of(const reduction_evaluation& r, const count_plan& p) { return count_text(r, p); }

}  // namespace

reduction_kernel::any_plan reduction_kernel::plan_of(const reduction_evaluation& r) {
  if (r.kind == reduction_kind::scan) return scan_plan(r);
  if (r.kind == reduction_kind::count) return count_plan(r);
  return reduction_plan(r);
}

std::string reduction_kernel::shape() const {
  std::string text = with([](const auto& p) { return p.shape(); });
  append_reduction_shape(text, r_);
  return text;
}

jit::kernel_source reduction_kernel::source() const {
  const auto [name, text] = with([&](const auto& p) { return std::pair(p.shape(), text_of(r_, p)); });
  std::string shape =
      concat(name, ", rank ", r_.input.rank, ", ", r_.results.size(), r_.results.size() == 1 ? " result" : " results");
  if (const std::string places = places_of_functions(r_.input); !places.empty()) shape += " | " + places;
  jit::kernel_source source{text, kernel_name, std::move(shape), {}};
  source.options.push_back(r_.input.fast_math ? "--use_fast_math" : "--fmad=false");
  return source;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
