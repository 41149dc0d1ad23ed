#include "ferry/core/backend.hpp"

#include "ferry/core/error.hpp"

namespace ferry {

void backend::meet(native_stream, std::shared_ptr<meeting> m, std::span<const kernel_use>) {
  throw not_supported("the joint operation '" + m->name + "' runs on simulated devices, and the backend is '" +
                      std::string(name()) + "': give it to the streams by the library that has it");
}

}  // namespace ferry
