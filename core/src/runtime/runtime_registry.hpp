// The registry of runtimes. It is never destroyed, so that threads and static arrays may end at any time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail::runtime_registry {

// Installs a runtime and returns the previous one. null: the next use chooses a runtime.
std::shared_ptr<runtime> exchange(std::shared_ptr<runtime> m);
// Makes the runtime that the environment selects. Defined in assembly/, because it needs every layer.
std::shared_ptr<runtime> make_chosen();
void keep_forever(std::shared_ptr<runtime> m);
// Calls f(runtime) if the runtime of that serial number still exists, current or not. f holds a reference meanwhile.
void if_alive(std::uint64_t serial, const std::function<void(runtime&)>& f);

}  // namespace ferry::inline FERRY_ABI::detail::runtime_registry
