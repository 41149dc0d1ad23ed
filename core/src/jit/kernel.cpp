#include "jit/kernel.hpp"

#include "ferry/core/detail/support/plain_text.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

std::string kernel::text() const {
  switch (state()) {
    case kernel_state::requested: return "being compiled";
    case kernel_state::failed: return failure;
    case kernel_state::ready: break;
  }
  return (origin == kernel_origin::disk ? "from disk in " : "compiled in ") + fixed_text(milliseconds, 1) + " ms";
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
