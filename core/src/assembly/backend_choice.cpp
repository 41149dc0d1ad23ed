#include "assembly/backend_choice.hpp"

#include <cstdio>
#include <optional>
#include <string>

#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_limits.hpp"
#include "sim/sim_backend.hpp"
#if FERRY_HAS_CUDA
#include "cuda/cuda_backend.hpp"
#endif

namespace ferry::inline FERRY_ABI::detail {

std::unique_ptr<backend> make_simulator(std::string_view options) {
#if FERRY_HAS_CUDA
  return sim::make_backend(sim::parse_options(options), cuda::check_functor);
#else
  return sim::make_backend(sim::parse_options(options));
#endif
}

std::unique_ptr<backend> make_cpu(std::string_view options) {
  return sim::make_backend(sim::parse_cpu_options(options, system_memory_bytes()));
}

namespace {

// For programs that ask for no backend, where there is no GPU. reason: why not.
std::unique_ptr<backend> make_default(const std::string& reason) {
  if (const std::optional<std::string> options = environment("FERRY_SIM")) {
    std::fprintf(stderr, "ferry: %s: using simulated devices, because FERRY_SIM is set\n", reason.c_str());
    return make_simulator(*options);
  }
  std::fprintf(stderr, "ferry: %s: using the CPU as the device (FERRY_BACKEND=cpu; tests: FERRY_BACKEND=sim)\n",
               reason.c_str());
  return make_cpu(environment("FERRY_CPU").value_or(""));
}

}  // namespace

std::unique_ptr<backend> choose_backend() {
  const std::string asked = environment("FERRY_BACKEND").value_or("");
  if (asked == "sim") return make_simulator(environment("FERRY_SIM").value_or(""));
  if (asked == "cpu") return make_cpu(environment("FERRY_CPU").value_or(""));
  if (!asked.empty() && asked != "cuda") refuse_variable("FERRY_BACKEND", asked, "cuda, cpu and sim");
#if FERRY_HAS_CUDA
  const cuda::presence found = cuda::probe();
  if (found == cuda::presence::usable) return cuda::make_backend();
  const std::string lack = found == cuda::presence::no_driver ? "no CUDA driver" : "no CUDA device";
  if (asked == "cuda")
    throw not_supported("FERRY_BACKEND=cuda, but " + lack +
                        " was found on this machine: install the driver, or unset it to use the CPU");
  return make_default(lack + " was found");
#else
  if (asked == "cuda")
    throw not_supported("FERRY_BACKEND=cuda, but ferry was built without CUDA: build it with -DFERRY_CUDA=ON");
  return make_default("built without CUDA");
#endif
}

}  // namespace ferry::inline FERRY_ABI::detail
