#include "ferry/core/detail/backend/backend.hpp"

#include <utility>

#include "ferry/core/detail/operations/functor_definition.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI {

const char* kind_name(memory_kind k) {
  switch (k) {
    case memory_kind::device: return "device";
    case memory_kind::unified: return "unified";
    case memory_kind::host: return "host";
  }
  return "?";
}

namespace detail {

void backend::launch_compiled(native_stream, int, const compiled_launch& kernel) {
  throw not_supported(concat("kernel '", kernel.name, "' was compiled for CUDA, and the backend is '", name(),
                             "': run it by parallel_for, which has a form for every backend"));
}

void backend::evaluate(native_stream, int, const evaluation&, std::span<const kernel_use>) {
  throw not_supported(concat("array expressions cannot be evaluated by the backend '", name(),
                             "': use parallel_for, or simulated devices (FERRY_BACKEND=sim)"));
}

void* backend::compile_functor(native_stream, int, const kernel_text& kernel) {
  throw not_supported(concat("the backend '", name(), "' compiles no kernels: ", kernel.name));
}

bool backend::prepare_evaluation(int, const evaluation&) { return false; }

bool backend::prepare_reduction(int, const reduction_evaluation&) { return false; }

std::string backend::explain_reduction(int, const reduction_evaluation&) { return {}; }

std::size_t backend::scratch_bytes(const reduction_evaluation&) { return 0; }

void backend::reduce(native_stream, int, const reduction_evaluation&, std::span<const kernel_use>) {
  throw not_supported(concat("array expressions cannot be reduced by the backend '", name(),
                             "': use parallel_reduce, or simulated devices (FERRY_BACKEND=sim)"));
}

void backend::sort(native_stream, int, const sorting_task&, std::span<const kernel_use>) {
  throw not_supported(
      concat("arrays cannot be sorted by the backend '", name(),
             "': copy them to the CPU by ferry::to_vector, or use simulated devices (FERRY_BACKEND=sim)"));
}

void backend::scatter(native_stream, int, const scatter_task&, std::span<const kernel_use>) {
  throw not_supported(concat("elements cannot be scattered by the backend '", name(), "'"));
}

std::size_t backend::sorting_scratch(int, const sorting_task&) { return 0; }

std::string backend::explain_evaluation(int, const evaluation&) { return {}; }

void backend::join_rendezvous(native_stream, std::shared_ptr<rendezvous> m, std::span<const kernel_use>) {
  throw not_supported(concat("the joint operation '", m->name, "' runs on simulated devices, and the backend is '",
                             name(), "': give it to the streams by the library that has it"));
}

void backend::run_on_host_using(native_stream s, std::function<void()> task, std::span<const kernel_use>) {
  run_on_host(s, std::move(task));
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
