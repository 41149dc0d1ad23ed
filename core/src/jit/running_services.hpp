// The services whose threads must end before the process does.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

class kernel_service;

// Adds a service to the list. When the process exits, each service in the list is stopped.
void add_running(kernel_service& s);
void remove_running(kernel_service& s);
// Registers the function that stops them again. exit() calls registered functions in reverse order. So a function that
// is registered after a library was loaded runs before the destructors of that library.
void stop_before_libraries_end();

}  // namespace ferry::inline FERRY_ABI::detail::jit
