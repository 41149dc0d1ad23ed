#include "cuda/jit/expression_kernels.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "generator/kernel_text.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

void* expression_kernels::request(int device, const evaluation& e, const generator::kernel_plan& p) {
  if (!service_.is_on()) return nullptr;
  return service_.request(device, p.shape(), [&] { return generator::kernel_source_for(e, p); }).function();
}

void* expression_kernels::finish(int device, std::string_view shape, const std::function<jit::kernel_source()>& make) {
  if (!service_.is_on()) return nullptr;
  const jit::kernel& k = service_.request(device, shape, make);
  service_.finish(k);
  return k.function();
}

void* expression_kernels::finish(int device, const evaluation& e, const generator::kernel_plan& p) {
  return finish(device, p.shape(), [&] { return generator::kernel_source_for(e, p); });
}

std::string expression_kernels::why_not(int device, std::string_view shape) const {
  if (!service_.is_on()) return "FERRY_JIT=off";
  const jit::kernel* const k = service_.find(device, shape);
  return k ? k->text() : "it was not requested";
}

std::string expression_kernels::text(int device, std::string_view shape, const jit::kernel_source& source,
                                     std::string_view launch, std::string_view without) const {
  const jit::kernel* const k = service_.find(device, shape);
  std::string state = k ? k->text() : "not requested yet";
  if (!service_.is_on()) state = "FERRY_JIT=off";
  if (!service_.is_on() || (k && !k->function())) state = concat(without, ": ", state);
  std::string text =
      concat("  kernel: ", state, "\n  shape: ", source.shape, "\n  launch: ", launch, " threads, options");
  for (const std::string& option : source.options) text += " " + option;
  return text + "\n" + source.text;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
