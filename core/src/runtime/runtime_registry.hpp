// Which machines there are. Immortal, so that threads and static arrays may end at any time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "ferry/core/runtime.hpp"

namespace ferry::runtime_registry {

// Installs a machine (or none: then the next use chooses) and returns the one before.
std::shared_ptr<runtime> exchange(std::shared_ptr<runtime> m);
// The machine that the environment asks for. In assembly/, as it needs every layer.
std::shared_ptr<runtime> make_chosen();
void keep_forever(std::shared_ptr<runtime> m);
// Calls f(machine) if the machine of that serial number still exists, current or not; it stays alive meanwhile.
void if_alive(std::uint64_t serial, const std::function<void(runtime&)>& f);

}  // namespace ferry::runtime_registry
